import { CallError, type Client, type Contact } from "./client";
import { readEvents, StreamBroken } from "./event-stream";
import { AnswerFailed, answerFailed, type Failure, failureOf } from "./failures";
import { fields, number, text } from "./fields";
import { type Message, NOBODY, type Person, readCitations, type Vote } from "./model";
import { paced, pauseBefore } from "./pacing";
import type { Visitor } from "./visitor";

export interface Entry extends Message {
  /** Stays the same while the entry is shown. */
  key: string;
  /** What is done for an answer that has no words yet. */
  step: string | null;
  failure: Failure | null;
  /** The citation whose place is shown. */
  shown?: number | null;
  is_copied?: boolean;
  is_commenting?: boolean;
  /** What became of a vote. */
  said?: string;
}

export interface State {
  entries: readonly Entry[];
  person: Person;
  /** The question that is being answered. */
  asking: string | null;
  is_reconnecting: boolean;
  loading: "no" | "yes" | "failed";
  /** The last entry of those that were there from the beginning: nobody needs to hear them. */
  heard?: string | undefined;
}

export interface Listener {
  changed: () => void;
  asked: (question: string) => void;
  answered: (answer: Entry) => void;
}

const BEGINNING: State = { entries: [], person: NOBODY, asking: null, is_reconnecting: false, loading: "no" };
const MOST_ATTEMPTS = 40;

/** The conversation of one visitor: what was said, and the answer that is coming. */
export class Conversation {
  state: State = BEGINNING;
  private stopping: AbortController | null = null;
  private readonly changed: () => void;
  /** Is all that was said before here, so that what comes is new? */
  private is_loaded: boolean;

  constructor(
    private readonly client: Client,
    private readonly visitor: Visitor,
    private readonly listener: Listener,
  ) {
    this.changed = paced(listener.changed);
    this.is_loaded = !visitor.is_known;
  }

  /** Fetches what others said meanwhile; at first all that was said, and goes on with an answer still in work. */
  async load(): Promise<void> {
    if (this.state.loading === "yes") return;
    if (this.is_loaded) return this.refresh().catch(() => undefined); // it is asked again soon
    this.set({ loading: this.state.entries.length > 0 ? "no" : "yes" });
    try {
      await this.refresh();
      this.is_loaded = true;
      this.set({ loading: "no", heard: this.state.entries.at(-1)?.key });
    } catch {
      this.set({ loading: "failed" });
      return;
    }
    const open = this.state.entries.findLast((entry) => entry.role === "visitor" && entry.status === "answering");
    if (open?.id && !this.state.asking) void this.follow(open.id, open.text, true);
  }

  private async refresh(): Promise<void> {
    const history = await this.client.history();
    if (!history || this.visitor.is_past) return;
    const before = this.state.entries;
    const known = new Set(history.items.map((item) => item.id));
    const entries = history.items.flatMap((item) => {
      const mine = before.find((entry) => (item.role === "visitor" ? entry.id === item.id : isSame(entry, item)));
      const entry = mine ? { ...mine, ...item } : { ...item, key: item.id ?? newId(), step: null, failure: null };
      // The answer that streams in is ahead of what is kept of it.
      const local = before.find((each) => each.reply_to === item.id && each.role === "agent");
      const has_answer = history.items.some((each) => each.role === "agent" && each.reply_to === item.id);
      if (item.role !== "visitor" || has_answer) return [mine && this.isComing(mine) ? mine : entry];
      if (local) return [entry, local];
      const has_ended = item.status === "failed" || item.status === "cancelled";
      return has_ended ? [entry, answerTo(item.id, { status: item.status })] : [entry];
    });
    // What the server does not know of stays where it was.
    before.forEach((entry, index) => {
      const question = entry.role === "visitor" ? entry.id : entry.reply_to;
      if (question === null || known.has(question) || known.has(entry.id)) return;
      const neighbour = before[index - 1]?.key;
      entries.splice(neighbour ? entries.findIndex((each) => each.key === neighbour) + 1 : entries.length, 0, entry);
    });
    this.set({ entries, person: history.person });
    const seen = entries.findIndex((entry) => entry.id === this.visitor.kept.seen);
    for (const entry of entries.slice(seen + 1)) {
      if (entry.role === "operator" && !before.some((each) => each.key === entry.key)) this.listener.answered(entry);
    }
  }

  /** All that is here was shown to the visitor. */
  see(): void {
    const last = this.state.entries.findLast((entry) => entry.role === "operator");
    if (last) this.visitor.see(last.id);
  }

  ask(question: string): void {
    if (this.state.asking) return;
    const id = newId();
    this.listener.asked(question);
    const asked: Entry = { ...answerTo(null, {}), key: id, id, role: "visitor", text: question };
    this.set({ entries: [...this.state.entries, asked] });
    void this.follow(id, question, false);
  }

  /** Asks the same question again, under its own id, so that it is charged once. */
  retry(question_id: string | null): void {
    const asked = this.questionOf(question_id);
    if (asked?.id && !this.state.asking) void this.follow(asked.id, asked.text, false);
  }

  /** Asks the question of an answer anew. */
  askAgain(answer: Entry): void {
    const asked = this.questionOf(answer.reply_to);
    if (asked) this.ask(asked.text);
  }

  stop(): void {
    const id = this.state.asking;
    if (!id) return;
    this.stopping?.abort();
    void this.client.cancel(id).catch(() => undefined); // it was not begun, or is over
    this.end(id, { status: "cancelled" });
  }

  /** Ends for good: what is still under way comes to nothing. */
  leave(): void {
    this.stop();
    this.visitor.leave();
  }

  async rate(entry: Entry, value: Vote, comment?: string): Promise<void> {
    if (!entry.id) return;
    const before = entry.feedback;
    this.amend(entry.key, { feedback: value });
    try {
      await this.client.rate(entry.id, value, comment);
    } catch (error) {
      this.amend(entry.key, { feedback: before });
      throw error;
    }
  }

  async askForPerson(contact: Contact): Promise<void> {
    await this.client.askForPerson(contact);
    this.set({ person: { ...this.state.person, person_requested: true } });
    await this.load();
  }

  /** The answer as it comes; a connection that breaks is taken up where it broke. */
  private async follow(id: string, question: string, is_known: boolean): Promise<void> {
    const stop = new AbortController();
    this.stopping = stop;
    this.beginAnswer(id);
    let last = 0;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = is_known
          ? await this.client.resume(id, last, stop.signal)
          : await this.client.send(id, question, stop.signal);
        is_known = true;
        if (!response.body) throw new StreamBroken();
        for await (const event of readEvents(response.body)) {
          if (stop.signal.aborted) return;
          attempt = 1;
          last = event.id ?? last;
          if (!event.data) continue;
          if (this.state.is_reconnecting) this.set({ is_reconnecting: false });
          if (this.take(id, event.name, event.data)) return;
        }
        throw new StreamBroken();
      } catch (error) {
        if (stop.signal.aborted) return;
        const status = error instanceof CallError ? error.status : error instanceof StreamBroken ? 0 : -1;
        const is_gone = is_known && status === 404; // the server began anew: it is asked again under the same id
        const is_passing = status === 0 || is_gone || (is_known && status >= 502 && status <= 504);
        if (!is_passing || error instanceof AnswerFailed || attempt >= MOST_ATTEMPTS) return this.fail(id, error);
        if (is_gone) [is_known, last] = [false, 0];
        this.set({ is_reconnecting: true });
        await pauseBefore(attempt, stop.signal);
        if (stop.signal.aborted) return;
      }
    }
  }

  /** Takes in one event; true for the last. Throws CallError for an error that the server tells of. */
  private take(id: string, name: string, data: string): boolean {
    const found = fields(parse(data));
    const answer = this.answerOf(id);
    if (name === "status") this.amendAnswer(id, { step: text(found.step) ?? "search" });
    else if (name === "text") {
      const before = answer?.text ?? "";
      this.amendAnswer(id, {
        text: before.slice(0, number(found.offset) ?? before.length) + (text(found.delta) ?? ""),
      });
    } else if (name === "citations") this.amendAnswer(id, { citations: readCitations(found.items) });
    else if (name === "done") this.finish(id, found);
    else if (name === "error") throw answerFailed(fields(found.error ?? found));
    return name === "done";
  }

  private finish(id: string, done: Record<string, unknown>): void {
    if (done.handed_over === true) {
      const person = { ...this.state.person, taken_over: true };
      this.set({ entries: this.entriesWithoutAnswer(id), asking: null, person });
      return;
    }
    const markdown = text(done.markdown) ?? "";
    this.end(id, { text: markdown, status: "answered", id: text(done.reply_id) });
    const answer = this.answerOf(id);
    if (answer) this.listener.answered(answer);
  }

  private fail(id: string, error: unknown): void {
    const is_cancelled = error instanceof AnswerFailed && error.code === "cancelled"; // in another window
    this.end(id, { status: is_cancelled ? "cancelled" : "failed", failure: failureOf(error) });
  }

  private beginAnswer(id: string): void {
    const entries = this.entriesWithoutAnswer(id);
    const place = entries.findIndex((entry) => entry.id === id) + 1;
    this.set({ entries: entries.toSpliced(place, 0, answerTo(id, { status: "answering" })), asking: id });
  }

  private end(id: string, change: Partial<Entry>): void {
    this.amendAnswer(id, { ...change, step: null });
    this.set({ asking: null, is_reconnecting: false });
  }

  private entriesWithoutAnswer(id: string): Entry[] {
    const answer = this.answerOf(id);
    return this.state.entries.filter((entry) => entry !== answer);
  }

  private questionOf(id: string | null): Entry | undefined {
    return this.state.entries.find((entry) => entry.role === "visitor" && entry.id === id);
  }

  private answerOf(id: string): Entry | undefined {
    return this.state.entries.find((entry) => entry.role === "agent" && entry.reply_to === id);
  }

  private isComing(entry: Entry): boolean {
    return entry.role === "agent" && entry.reply_to === this.state.asking && entry.status === "answering";
  }

  private amendAnswer(id: string, change: Partial<Entry>): void {
    const answer = this.answerOf(id);
    if (answer) this.amend(answer.key, change);
  }

  /** Changes one entry; it is then another object. */
  amend(key: string, change: Partial<Entry>): void {
    const entries = this.state.entries.map((entry) => (entry.key === key ? { ...entry, ...change } : entry));
    this.set({ entries });
  }

  private set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    this.changed();
  }
}

function answerTo(question_id: string | null, change: Partial<Entry>): Entry {
  return {
    key: newId(),
    id: null,
    role: "agent",
    text: "",
    status: "answered",
    reply_to: question_id,
    author: null,
    citations: [],
    feedback: null,
    step: null,
    failure: null,
    ...change,
  };
}

function isSame(entry: Entry, item: Message): boolean {
  if (entry.id !== null && entry.id === item.id) return true;
  return item.role === "agent" && entry.role === "agent" && item.reply_to !== null && entry.reply_to === item.reply_to;
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new StreamBroken();
  }
}

/** A UUID of version 4; `crypto.randomUUID` is missing on pages that came by plain HTTP. */
function newId(): string {
  return "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) => {
    const [random = 0] = crypto.getRandomValues(new Uint8Array(1));
    return (Number(digit) ^ (random & (15 >> (Number(digit) / 4)))).toString(16);
  });
}
