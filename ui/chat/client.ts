import { type AnswerEvent, fields, list, number, sourcesOf, text } from "./answers";
import { readEvents, StreamBroken } from "./event-stream";
import type { Session } from "./session";

export interface ChatConfig {
  header_title: string;
  greeting: string;
  suggestions: string[];
  language: string;
}

export interface HistoryMessage {
  role: "visitor" | "agent";
  text: string;
}

/** Why a call failed. `status` 0: no answer came, or it broke off. */
export class ChatError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string | null = null,
    readonly retry_after_s: number | null = null,
  ) {
    super(message);
  }
}

// An error inside a stream has no status of its own; its type goes with one.
const STATUS_OF_TYPE: Record<string, number> = { rate_limit_error: 429, unavailable_error: 503 };

/** The calls of one visitor under /widget/v1. All of them throw ChatError, or AbortError when stopped. */
export class ChatClient {
  constructor(
    private readonly key: string,
    private readonly session: Session,
  ) {}

  async config(): Promise<ChatConfig> {
    const found = fields(await json(await call(`/widget/v1/config?key=${encodeURIComponent(this.key)}`)));
    const suggestions = Array.isArray(found.suggestions) ? found.suggestions : [];
    return {
      header_title: text(found.header_title) ?? "",
      greeting: text(found.greeting) ?? "",
      suggestions: suggestions.filter((item) => typeof item === "string"),
      language: text(found.language) === "ru" ? "ru" : "en",
    };
  }

  /** The conversation so far; empty for a new visitor, and for one whose token has expired. */
  async history(): Promise<HistoryMessage[]> {
    if (!this.session.token) return [];
    try {
      const found = fields(await json(await call("/widget/v1/messages", { headers: this.authorization() })));
      return list(found.items).map((item) => ({
        role: item.role === "visitor" ? "visitor" : "agent",
        text: text(item.text) ?? "",
      }));
    } catch (error) {
      if (!isExpired(error)) throw error;
      this.session.begin(null);
      return [];
    }
  }

  /** Asks; the last event is `done`. An expired visitor becomes a new one, once. */
  async *ask(question: string, signal: AbortSignal): AsyncGenerator<AnswerEvent> {
    const is_new = this.session.token === null;
    if (is_new) await this.becomeVisitor(signal);
    let response: Response;
    try {
      response = await this.post(question, signal);
    } catch (error) {
      if (is_new || !isExpired(error)) throw error;
      await this.becomeVisitor(signal);
      response = await this.post(question, signal);
    }
    yield* this.answer(response);
  }

  private async *answer(response: Response): AsyncGenerator<AnswerEvent> {
    if (!response.body) throw new ChatError("The answer has no body.", 0);
    try {
      for await (const event of readEvents(response.body)) {
        const data = fields(parse(event.data));
        if (event.name === "status") {
          yield { type: "status", step: text(data.step) ?? "search", tool: text(data.tool) };
        } else if (event.name === "text") {
          yield { type: "text", delta: text(data.delta) ?? "" };
        } else if (event.name === "done") {
          const markdown = text(data.markdown) ?? "";
          const sources = sourcesOf(data.context);
          this.session.keepSources(markdown, sources);
          yield { type: "done", markdown, sources, found: data.found !== false };
          return;
        } else if (event.name === "error") {
          throw new ChatError(text(data.message) ?? "", STATUS_OF_TYPE[text(data.type) ?? ""] ?? 502, text(data.code));
        }
      }
    } catch (error) {
      if (error instanceof StreamBroken) throw new ChatError(error.message, 0);
      throw error;
    }
    throw new ChatError("The answer ended without its end.", 0);
  }

  private async becomeVisitor(signal: AbortSignal): Promise<void> {
    this.session.begin(null);
    const body = JSON.stringify({ public_key: this.key });
    const headers = { "Content-Type": "application/json" };
    const made = fields(await json(await call("/widget/v1/visitors", { method: "POST", headers, body, signal })));
    const token = text(made.token);
    if (!token) throw new ChatError("The server gave no token.", 502);
    this.session.begin(token);
  }

  private post(question: string, signal: AbortSignal): Promise<Response> {
    const headers = { ...this.authorization(), "Content-Type": "application/json", Accept: "text/event-stream" };
    const body = JSON.stringify({ text: question });
    return call("/widget/v1/messages", { method: "POST", headers, body, signal });
  }

  private authorization(): Record<string, string> {
    return { Authorization: `Bearer ${this.session.token}` };
  }
}

function isExpired(error: unknown): boolean {
  return error instanceof ChatError && error.status === 401;
}

async function call(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...options, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ChatError("The server did not answer.", 0);
  }
  if (response.ok) return response;
  const error = fields(fields(await json(response).catch(() => null)).error);
  const retry_after_s = number(Number.parseInt(response.headers.get("Retry-After") ?? "", 10));
  throw new ChatError(text(error.message) ?? "", response.status, text(error.code), retry_after_s);
}

async function json(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ChatError("The answer is not JSON.", 502);
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new ChatError("An event is not JSON.", 0);
  }
}
