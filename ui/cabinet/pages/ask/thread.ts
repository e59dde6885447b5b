import { useSyncExternalStore } from "react";
import { readEvents, StreamBroken } from "../../../widget/event-stream";
import { ApiError, accountHeaders, failureOf, watchSession } from "../../api/client";
import { newKey } from "../../parts/new-key";
import { type Context, type Source, sourcesOf } from "./sources";

// What the API takes.
export const MOST_CHARACTERS = 4000;
const MOST_HISTORY = 38;
const MOST_TRIES = 4;
const STEP_MS = 1000;

export interface Turn {
  role: "user" | "assistant";
  content: string;
}

export interface Exchange {
  /** Its Idempotency-Key too: a question that is sent again after a broken connection is answered and charged once. */
  key: string;
  chatId: string;
  question: string;
  markdown: string;
  sources: Source[];
  /** Null before the answer has ended. */
  isFound: boolean | null;
  state: "asking" | "done" | "failed" | "stopped";
  step: "" | "search" | "tool";
  error: unknown;
}

interface Thread {
  exchanges: Exchange[];
  /** Said ahead of the first question: what all of it is about. */
  opening: Turn[];
}

// Kept beside the pages, by what they are about: who opens a source comes back to the answer.
const threads = new Map<string, Thread>();
const running = new Map<string, AbortController>();
const listeners = new Set<() => void>();
const NOTHING: Exchange[] = [];

function change(about: string, key: string, values: Partial<Exchange>) {
  const thread = threads.get(about);
  if (!thread) return;
  const exchanges = thread.exchanges.map((each) => (each.key === key ? { ...each, ...values } : each));
  threads.set(about, { ...thread, exchanges });
  tell();
}

function tell() {
  for (const listener of listeners) listener();
}

export function useExchanges(about: string): Exchange[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => threads.get(about)?.exchanges ?? NOTHING,
  );
}

export function ask(about: string, chatId: string, question: string, opening: Turn[]) {
  const made: Exchange = {
    key: newKey(),
    chatId,
    question,
    markdown: "",
    sources: [],
    isFound: null,
    state: "asking",
    step: "",
    error: null,
  };
  threads.set(about, { exchanges: [...(threads.get(about)?.exchanges ?? []), made], opening });
  tell();
  void answer(about, made);
}

/** Asks the same once more, under the same key: what was answered meanwhile is only told again. */
export function again(about: string, exchange: Exchange) {
  change(about, exchange.key, { state: "asking", step: "", error: null, markdown: "" });
  void answer(about, exchange);
}

export function stop(about: string) {
  running.get(about)?.abort();
}

export function clear(about: string) {
  stop(about);
  threads.delete(about);
  tell();
}

function historyBefore(about: string, key: string): Turn[] {
  const thread = threads.get(about);
  if (!thread) return [];
  const turns: Turn[] = [];
  for (const each of thread.exchanges) {
    if (each.key === key) break;
    if (each.state !== "done" || !each.markdown.trim()) continue;
    turns.push({ role: "user", content: each.question });
    turns.push({ role: "assistant", content: each.markdown.slice(0, MOST_CHARACTERS) });
  }
  return [...thread.opening, ...turns.slice(thread.opening.length - MOST_HISTORY)];
}

async function answer(about: string, exchange: Exchange) {
  const { key } = exchange;
  const controller = new AbortController();
  running.set(about, controller);
  const body = JSON.stringify({ text: exchange.question, history: historyBefore(about, key) });
  const followed = new Followed((values) => change(about, key, values));
  try {
    for (let tries = 1; ; tries++) {
      try {
        await followed.follow(await post(exchange, body, followed.last, controller.signal));
        return;
      } catch (error) {
        if (controller.signal.aborted || !isBroken(error) || tries >= MOST_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, STEP_MS * tries));
      }
    }
  } catch (error) {
    change(about, key, controller.signal.aborted ? { state: "stopped" } : { state: "failed", error });
  } finally {
    if (running.get(about) === controller) running.delete(about);
  }
}

/** The connection, or another process that still works on the first try; not a refusal. */
const isBroken = (error: unknown) =>
  error instanceof ApiError ? error.code === "idempotency_in_progress" : error instanceof Error;

async function post({ key, chatId }: Exchange, body: string, last: number, signal: AbortSignal): Promise<Response> {
  const response = await fetch(`/public/v1/chats/${encodeURIComponent(chatId)}/messages`, {
    method: "POST",
    credentials: "same-origin",
    headers: {
      ...accountHeaders,
      Accept: "text/event-stream",
      "Content-Type": "application/json",
      "Idempotency-Key": key,
      ...(last ? { "Last-Event-ID": String(last) } : {}),
    },
    body,
    signal,
  });
  watchSession(response.status, true);
  if (!response.ok) throw failureOf(response.status, await response.json().catch(() => undefined));
  return response;
}

/** An answer as far as it has come, over as many connections as it takes. */
class Followed {
  /** The number of the last event that was read. */
  last = 0;
  private markdown = "";
  private readonly change: (values: Partial<Exchange>) => void;

  constructor(change: (values: Partial<Exchange>) => void) {
    this.change = change;
  }

  /** Reads to the end of the answer. Throws StreamBroken where the connection ends before it, and what went wrong. */
  async follow(response: Response): Promise<void> {
    if (!response.body) throw new StreamBroken();
    for await (const event of readEvents(response.body)) {
      if (!event.name) continue;
      const data = JSON.parse(event.data);
      if (event.name === "status") this.change({ step: data.step });
      else if (event.name === "text") {
        this.markdown = this.markdown.slice(0, data.offset) + data.delta;
        this.change({ markdown: this.markdown });
      } else if (event.name === "done") {
        const context = data.context as Context;
        const sources = sourcesOf(context, data.markdown);
        this.change({ markdown: data.markdown, sources, isFound: data.found, state: "done" });
        return;
      } else if (event.name === "error") throw failureOf(502, data);
      this.last = event.id ?? this.last;
    }
    throw new StreamBroken();
  }
}
