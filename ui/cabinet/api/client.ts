import createClient from "openapi-fetch";
import { session } from "../app/session";
import { tellSessionOver } from "../app/session-end";
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

/** Which account this page shows. The cookie is the whole browser's: where another tab has changed over to another
 * account, the server refuses instead of writing there. Goes with every request that is not one of `api`. */
export const accountHeaders = { "X-Parley-Account": session.tenant.id };

/** The typed client over every layer: `await read(api.GET("/public/v1/balance"))` is the balance. */
export const api = createClient<PublicPaths & SpeechPaths & VisionPaths>({
  baseUrl: "",
  credentials: "same-origin",
  headers: accountHeaders,
});

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

/** To be told of every answer that did not come through `api`. `isWanted`: somebody asked for it, not the page itself. */
export function watchSession(status: number, isWanted: boolean) {
  if (status === 401 && !isEnding) tellSessionOver(isWanted);
}

api.use({ onResponse: ({ request, response }) => watchSession(response.status, request.method !== "GET") });

/** A POST whose progress can be told, which `fetch` cannot. Throws ApiError for a refusal. */
export function send<T>(
  path: string,
  form: FormData,
  onSent: (share: number) => void,
  headers: Record<string, string> = {},
): { request: XMLHttpRequest; answer: Promise<T> } {
  const request = new XMLHttpRequest();
  const answer = new Promise<T>((resolve, reject) => {
    request.open("POST", path);
    for (const [name, value] of Object.entries({ ...accountHeaders, ...headers }))
      request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.onprogress = (event) => event.lengthComputable && onSent(event.loaded / event.total);
    request.onload = () => {
      watchSession(request.status, true);
      if (request.status < 300) resolve(request.response as T);
      else reject(failureOf(request.status, request.response));
    };
    request.onerror = () => reject(new TypeError("no answer"));
    request.send(form);
  });
  return { request, answer };
}

/** The data of an answer. Throws ApiError for a refusal. */
export async function read<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked;
  if (response.ok) return data as T;
  throw failureOf(response.status, error);
}

export function failureOf(status: number, body: unknown): ApiError {
  const said = (body as { error?: { message?: string; code?: string; param?: string } } | undefined)?.error;
  return new ApiError(status, said?.message ?? `HTTP ${status}`, said?.code ?? null, said?.param ?? null);
}
