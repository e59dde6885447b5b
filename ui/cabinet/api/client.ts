import createClient from "openapi-fetch";
import type { paths as PublicPaths } from "./schema/public";
import type { paths as SpeechPaths } from "./schema/speech";
import type { paths as VisionPaths } from "./schema/vision";

/** What the server said no with. `code` is for programs, `param` names the field that was wrong. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;

  constructor(status: number, message: string, code: string | null = null, param: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

/** The typed client over every layer: `await read(api.GET("/public/v1/balance"))` is the balance. */
export const api = createClient<PublicPaths & SpeechPaths & VisionPaths>({ baseUrl: "", credentials: "same-origin" });

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

let isEnding = false;
/** Whether the session ends by what is being done: the 401 of another call then leads nowhere. */
export const setEnding = (ending: boolean) => {
  isEnding = ending;
};

/** The data of an answer. Throws ApiError for a refusal, and leads to the entrance where the session has ended. */
export async function read<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked;
  if (response.ok) return data as T;
  const failure = failureOf(response.status, error);
  if (response.status === 401 && !isEnding) window.location.reload();
  throw failure;
}

export function failureOf(status: number, body: unknown): ApiError {
  const said = (body as { error?: { message?: string; code?: string; param?: string } } | undefined)?.error;
  return new ApiError(status, said?.message ?? `HTTP ${status}`, said?.code ?? null, said?.param ?? null);
}
