import { CallError } from "./client";
import { type Fields, text } from "./fields";

export type Reason =
  | "unreachable"
  | "busy"
  | "limit"
  | "unavailable"
  | "upstream"
  | "refused"
  | "captcha"
  | "missing"
  | "other";

/** What the visitor is told of a failed call. */
export interface Failure {
  reason: Reason;
  /** No sooner may it be tried again. */
  not_before_ms: number;
  can_retry: boolean;
}

const REASONS: Record<number, Reason> = {
  0: "unreachable",
  401: "refused",
  403: "refused",
  404: "missing",
  429: "busy",
  502: "upstream",
  503: "unavailable",
  504: "upstream",
};

// An error inside a stream has no status of its own; its type goes with one.
const STATUS_OF_TYPE: Record<string, number> = { rate_limit_error: 429, unavailable_error: 503 };

export function failureOf(error: unknown): Failure {
  const { status, code, retry_after_s } = error instanceof CallError ? error : new CallError(-1);
  const reason = reasonOf(status, code);
  return {
    reason,
    not_before_ms: Date.now() + (reason === "limit" ? 0 : (retry_after_s ?? 0) * 1000),
    can_retry: !["limit", "refused", "missing"].includes(reason),
  };
}

/** The answer ended with an error that the server tells of: there is nothing to wait for. */
export class AnswerFailed extends CallError {}

export function answerFailed(error: Fields): AnswerFailed {
  return new AnswerFailed(STATUS_OF_TYPE[text(error.type) ?? ""] ?? 502, text(error.code));
}

function reasonOf(status: number, code: string | null): Reason {
  if (code === "daily_limit") return "limit";
  return code?.startsWith("captcha") ? "captcha" : (REASONS[status] ?? "other");
}
