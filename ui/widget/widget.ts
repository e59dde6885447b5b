import { type Captcha, Client } from "./client";
import { paletteOf } from "./colours";
import type { FormState } from "./contact";
import { Conversation } from "./conversation";
import { type Failure, failureOf } from "./failures";
import { followKeyboard, keepFocusInside } from "./focus";
import type { Call, Launch } from "./launch";
import type { Config } from "./model";
import { shared } from "./pacing";
import { Reading } from "./reading";
import { chooseLanguage, type Texts } from "./texts";
import { Visitor } from "./visitor";

export type View = "chat" | "contact";
type Listener = (detail: unknown) => void;

const FULL_SCREEN = "(max-width: 520px), (max-height: 480px)";
const SECOND_MS = 1000;
const OFTEN_S = 6;
const SELDOM_S = 30; // where nobody of the company is expected
const MOST_WAITING = 20;
const RETRY_MS = 20_000;

/** The widget on its page: open or closed, its looks, its conversation, and the calls of the page. */
export class Widget {
  config: Config | null = null;
  failure: Failure | null = null;
  is_open = false;
  is_offline = !navigator.onLine;
  view: View = "chat";
  /** What the visitor has written and not yet sent. */
  words = "";
  form: FormState = {};
  reading = new Reading();
  /** Is the panel all that there is to see? */
  readonly full = matchMedia(FULL_SCREEN);
  conversation!: Conversation;
  /** Asks the server how this chat looks and what it says. */
  readonly begin = shared(() => this.fetchConfig());
  private client!: Client;
  private readonly captcha: Captcha = { hook: null, is_needed: false };
  private readonly listeners = new Map<string, Listener[]>();
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private unread = 0;
  /** The page's questions that wait for their turn. */
  private waiting: string[] = [];
  private age_s = 0;

  constructor(
    private readonly launch: Launch,
    private readonly root: HTMLElement,
    public texts: Texts,
    private readonly render: () => void,
  ) {
    this.beginConversation();
    this.dark.addEventListener("change", () => this.dress());
    this.full.addEventListener("change", () => this.draw());
    followKeyboard(root);
    for (const change of ["online", "offline"]) addEventListener(change, () => this.onNetwork());
    setInterval(() => this.tick(), SECOND_MS);
    launch.launcher.setAttribute("aria-controls", "panel");
    this.dress();
  }

  handle([name, ...rest]: Call): void {
    const [first, second] = rest;
    if (name === "open") this.open();
    else if (name === "close") this.close();
    else if (name === "toggle") this.is_open ? this.close() : this.open();
    else if (name === "send" && typeof first === "string") this.send(first);
    else if (name === "on" && typeof first === "string" && typeof second === "function") {
      this.listeners.set(first, [...(this.listeners.get(first) ?? []), second as Listener]);
      if (first === "ready" && this.config) (second as Listener)(undefined);
    } else if (name === "captcha" && typeof first === "function") this.captcha.hook = first as Captcha["hook"];
  }

  open(): void {
    if (this.is_open) return;
    this.is_open = true;
    this.setUnread(0);
    this.launch.launcher.setAttribute("aria-expanded", "true");
    if (!this.config) void this.begin();
    void this.load();
    this.draw();
    this.focus();
    this.emit("open");
  }

  close(): void {
    if (!this.is_open) return;
    this.is_open = false;
    this.launch.launcher.setAttribute("aria-expanded", "false");
    const had_focus = this.launch.shadow.activeElement !== null;
    this.draw();
    if (had_focus) this.launch.launcher.focus({ preventScroll: true });
    this.emit("close");
  }

  /** Asks a question in the visitor's place; while an answer is coming it waits for its turn. */
  send(text: string): void {
    const question = text.trim().slice(0, 4000);
    if (!question) return;
    this.open();
    if (this.waiting.length < MOST_WAITING) this.waiting.push(question);
    this.sendWaiting();
  }

  show(view: View): void {
    this.view = view;
    this.reading = new Reading();
    this.setForm({});
    if (view === "chat") this.focus();
  }

  setForm(form: FormState): void {
    this.form = form;
    this.draw();
  }

  onKeyDown(event: KeyboardEvent): void {
    event.stopPropagation(); // the page's own shortcuts mean the page
    if (event.key === "Escape" && !event.isComposing) {
      event.preventDefault();
      if (this.view === "contact") this.show("chat");
      else this.close();
    } else if (event.key === "Tab" && this.full.matches) keepFocusInside(event, this.panel);
  }

  /** Whoever stood on what is gone now, or pressed what may not be pressed any more, stays in the panel. */
  draw(): void {
    const { shadow } = this.launch;
    const stood = shadow.activeElement;
    this.render();
    if (stood && (!shadow.activeElement || stood.matches(":disabled"))) this.focus();
  }

  startOver(): void {
    this.view = "chat";
    this.waiting = [];
    this.conversation.leave();
    this.beginConversation();
    this.draw();
  }

  /** Each conversation has a visitor of its own: what comes late for an earlier one changes nothing in this one. */
  private beginConversation(): void {
    const { base, key } = this.launch;
    const visitor = new Visitor(key);
    this.client = new Client(base, key, visitor, this.captcha);
    this.conversation = new Conversation(this.client, visitor, {
      changed: () => {
        this.draw();
        this.sendWaiting();
      },
      asked: (text) => this.emit("message", { text }),
      answered: (answer) => {
        if (this.is_open) this.conversation.see();
        else this.setUnread(this.unread + 1);
        this.emit("answer", { text: answer.text });
      },
    });
  }

  private async load(): Promise<void> {
    await this.conversation.load();
    this.sendWaiting();
  }

  private get panel(): HTMLElement {
    return this.root.firstElementChild as HTMLElement;
  }

  private focus(): void {
    if (!this.is_open) return;
    // Under a thumb the keyboard would cover what there is to read.
    const field = matchMedia("(hover: none)").matches ? null : this.panel.querySelector("textarea");
    (field ?? this.panel).focus({ preventScroll: true });
  }

  private sendWaiting(): void {
    const { asking, loading } = this.conversation.state;
    if (asking || !this.config || loading === "yes") return;
    const question = this.waiting.shift();
    if (question) this.conversation.ask(question);
  }

  private async fetchConfig(): Promise<void> {
    this.failure = null;
    this.draw();
    try {
      this.config = await this.client.config();
      this.captcha.is_needed = this.config.needs_captcha;
    } catch (error) {
      this.failure = failureOf(error);
      if (["refused", "missing"].includes(this.failure.reason)) return this.leave(error);
      setTimeout(() => !this.config && void this.begin(), RETRY_MS);
      this.dress();
      return this.draw();
    }
    const language = chooseLanguage(this.launch.attributes.language, this.config.languages, this.config.language);
    if (language !== this.texts.language) this.texts = await this.launch.loadTexts(language).catch(() => this.texts);
    this.dress();
    this.launch.frame.classList.add("ready");
    this.draw();
    this.focus();
    this.emit("ready");
    this.sendWaiting();
  }

  /** Nobody may talk here: the page is left as it was. */
  private leave(error: unknown): void {
    // biome-ignore lint/suspicious/noConsole: the only place where the page's maker can read why there is no chat
    console.warn(`Parley: ${error instanceof Error ? error.message : "the chat may not be shown here."}`);
    this.launch.shadow.host.remove();
  }

  private dress(): void {
    const { frame, launcher } = this.launch;
    const given = this.config?.scheme ?? "auto";
    const scheme = given === "auto" ? (this.dark.matches ? "dark" : "light") : given;
    for (const [name, colour] of Object.entries(paletteOf(this.config?.accent ?? null, scheme))) {
      frame.style.setProperty(`--${name}`, colour);
    }
    frame.classList.toggle("left", this.config?.position === "left");
    this.root.dataset.scheme = this.root.style.colorScheme = scheme;
    frame.lang = this.texts.language;
    frame.dir = this.launch.attributes.dir ?? "ltr";
    frame.setAttribute("aria-label", this.texts.chat);
    launcher.setAttribute("aria-label", this.unread ? this.texts.open_unread(this.unread) : this.texts.open);
  }

  private setUnread(count: number): void {
    this.unread = count;
    const { launcher } = this.launch;
    if (count > 0) launcher.setAttribute("data-unread", count > 9 ? "9+" : String(count));
    else {
      launcher.removeAttribute("data-unread");
      this.conversation.see();
    }
    this.dress();
  }

  /** Counts down to the next attempt, and looks for words of the company's people: often while one is expected. */
  private tick(): void {
    const { entries, person, asking } = this.conversation.state;
    this.age_s += 1;
    if ([this, ...entries].some(({ failure }) => failure && failure.not_before_ms > Date.now() - SECOND_MS))
      this.draw();
    const is_expected = person.taken_over || person.person_requested;
    if (asking || document.visibilityState !== "visible" || this.age_s % (is_expected ? OFTEN_S : SELDOM_S)) return;
    void this.load();
  }

  private onNetwork(): void {
    this.is_offline = !navigator.onLine;
    if (!this.is_offline && !this.config) void this.begin();
    this.draw();
  }

  private emit(name: string, detail?: unknown): void {
    for (const listener of this.listeners.get(name) ?? []) {
      try {
        listener(detail);
      } catch (error) {
        reportError(error); // the page's own mistake is the page's to see
      }
    }
  }
}
