import { fields, number, text } from "./fields";
import { type Config, type History, readConfig, readHistory, type Vote } from "./model";
import { shared } from "./pacing";
import type { Visitor } from "./visitor";

/** Why a call failed. `status` 0: no answer came, or it broke off. */
export class CallError extends Error {
  constructor(
    readonly status: number,
    readonly code: string | null = null,
    message = "",
    readonly retry_after_s: number | null = null,
  ) {
    super(message);
  }
}

export interface Contact {
  name?: string;
  email?: string;
  phone?: string;
  message?: string;
}

/** Proves that a person is there, where the chat asks for that. */
export interface Captcha {
  /** Given by the page. */
  hook: (() => Promise<string>) | null;
  is_needed: boolean;
}

const CALL_MS = 20_000;
const MOST_CANCELS = 4;
const CANCEL_AGAIN_MS = 1000;

/** The calls of one visitor under /widget/v1. All of them throw CallError, or AbortError when stopped. */
export class Client {
  /** A new token; several calls at once wait for the same one. */
  private readonly begin = shared(() => this.beginNow());

  constructor(
    private readonly base: string,
    private readonly key: string,
    private readonly visitor: Visitor,
    private readonly captcha: Captcha,
  ) {}

  async config(): Promise<Config> {
    return readConfig(await json(await this.call(`config?key=${encodeURIComponent(this.key)}`)));
  }

  /** The conversation so far; null for a visitor who is new here. */
  async history(): Promise<History | null> {
    if (!this.visitor.is_known) return null;
    return readHistory(await json(await this.asVisitor("messages")));
  }

  /** Asks; with an id that was sent before it joins the answer to that. */
  send(id: string, question: string, signal: AbortSignal): Promise<Response> {
    return this.asVisitor("messages", { method: "POST", body: { id, text: question }, signal });
  }

  /** The events of an answer after number `last`. */
  resume(id: string, last: number, signal: AbortSignal): Promise<Response> {
    return this.asVisitor(`messages/${id}/events`, { headers: { "Last-Event-ID": String(last) }, signal });
  }

  /** Stops an answer. The question may still be on its way, and unknown to the server: then it is tried again. */
  async cancel(id: string, attempt = 1): Promise<void> {
    try {
      await this.asVisitor(`messages/${id}/cancel`, { method: "POST" });
    } catch (error) {
      if (!(error instanceof CallError && error.status === 404) || attempt >= MOST_CANCELS) throw error;
      await new Promise((resolve) => setTimeout(resolve, CANCEL_AGAIN_MS));
      await this.cancel(id, attempt + 1);
    }
  }

  async rate(message_id: string, value: Vote, comment?: string): Promise<void> {
    const body = { message_id, value, comment: comment || undefined };
    await this.asVisitor("feedback", { method: "POST", body });
  }

  async askForPerson(contact: Contact): Promise<void> {
    await this.asVisitor("contact", { method: "POST", body: contact });
  }

  private async asVisitor(path: string, options: CallOptions = {}): Promise<Response> {
    const send = async () => {
      const headers = { ...options.headers, Authorization: `Bearer ${this.visitor.token ?? (await this.begin())}` };
      return this.call(path, { ...options, headers });
    };
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof CallError && error.status === 401)) throw error;
      this.visitor.dropToken();
      return send();
    }
  }

  private async beginNow(): Promise<string> {
    const renewal = this.visitor.kept.renewal;
    try {
      return await this.become(renewal, this.captcha.is_needed && !renewal);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (error.code === "captcha_required" && this.captcha.hook) return this.become(renewal, true);
      if (error.status !== 401 || !renewal) throw error;
      this.visitor.forget(); // too old: the visitor is a new one
      return this.become(null, this.captcha.is_needed);
    }
  }

  private async become(renewal: string | null, with_captcha: boolean): Promise<string> {
    const captcha = with_captcha ? await this.captcha.hook?.() : undefined;
    const body = { public_key: this.key, renewal: renewal ?? undefined, captcha: captcha || undefined };
    const made = fields(await json(await this.call("visitors", { method: "POST", body })));
    const token = text(made.token);
    if (!token) throw new CallError(502);
    this.visitor.keep(token, number(made.expires_in) ?? 0, text(made.renewal));
    return token;
  }

  private async call(path: string, options: CallOptions = {}): Promise<Response> {
    const { method = "GET", body, headers = {}, signal } = options;
    let response: Response;
    try {
      response = await fetch(`${this.base}/widget/v1/${path}`, {
        method,
        headers: body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? AbortSignal.timeout(CALL_MS),
        cache: "no-store",
        credentials: "omit",
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new CallError(0);
    }
    if (response.ok) return response;
    const error = fields(fields(await json(response).catch(() => null)).error);
    const wait_s = number(Number.parseInt(response.headers.get("Retry-After") ?? "", 10));
    throw new CallError(response.status, text(error.code), text(error.message) ?? "", wait_s);
  }
}

interface CallOptions {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

async function json(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw new CallError(502);
  }
}
