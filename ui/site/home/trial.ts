/** The trial's calls: upload with progress, and following it to its end. */

const PATH = "/trial/v1/transcriptions";
const POLL_MS = 1000;
const MOST_FAILURES = 20;

export interface Segment {
  start: number;
  end: number;
  text: string;
  speaker: string;
}

export interface Trial {
  id: string;
  status: "pending" | "processing" | "success" | "error";
  progress: number;
  error_message: string | null;
  file_name: string;
  language: string | null;
  duration_ms: number | null;
  segments: Segment[] | null;
  summary_status: string;
  summary: string | null;
  category: string | null;
  expires_at: string;
}

/** What the server, or the network (status 0), refused. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly retryAfterS: number,
  ) {
    super(code);
  }
}

export interface Upload {
  done: Promise<Trial>;
  cancel: () => void;
}

/** Sends the file; `told` hears the share that is there, 0 to 1. Of the two ways to send, only this one tells it. */
export function upload(file: File, told: (share: number) => void): Upload {
  const request = new XMLHttpRequest();
  const done = new Promise<Trial>((resolve, reject) => {
    request.upload.onprogress = (event) => told(event.lengthComputable ? event.loaded / event.total : 0);
    request.onload = () => {
      if (request.status === 202) resolve(request.response as Trial);
      else reject(refusal(request.status, request.response, request.getResponseHeader("Retry-After")));
    };
    request.onerror = () => reject(new Refused(0, "network", 0));
    request.onabort = () => reject(new Refused(0, "aborted", 0));
  });
  const form = new FormData();
  form.append("file", file);
  request.open("POST", PATH);
  request.responseType = "json";
  request.send(form);
  return { done, cancel: () => request.abort() };
}

export async function read(id: string): Promise<Trial> {
  return ask(id, "GET").then((answer) => answer.json());
}

export async function remove(id: string): Promise<void> {
  await ask(id, "DELETE");
}

export function audioOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}/audio`;
}

export function isOver(trial: Trial): boolean {
  if (trial.status === "error") return true;
  return trial.status === "success" && !["pending", "processing"].includes(trial.summary_status);
}

/** Every state of a trial until it is over. A network that is away for a while is waited for. */
export async function* follow(id: string, signal: AbortSignal): AsyncGenerator<Trial> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const trial = await read(id);
      failures = 0;
      yield trial;
      if (isOver(trial)) return;
    } catch (error) {
      const passing = error instanceof Refused && (error.status === 0 || error.status === 429 || error.status >= 500);
      failures += 1;
      if (!passing || failures > MOST_FAILURES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS * Math.min(1 + failures, 5)));
  }
}

async function ask(id: string, method: string): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(`${PATH}/${encodeURIComponent(id)}`, { method });
  } catch {
    throw new Refused(0, "network", 0);
  }
  if (!answer.ok) {
    const body = await answer.json().catch(() => null);
    throw refusal(answer.status, body, answer.headers.get("Retry-After"));
  }
  return answer;
}

function refusal(status: number, body: unknown, retryAfter: string | null): Refused {
  const code = (body as { error?: { code?: string } } | null)?.error?.code ?? "unknown";
  return new Refused(status, code, Number(retryAfter) || 0);
}
