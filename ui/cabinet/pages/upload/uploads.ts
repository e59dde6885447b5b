import { ApiError, api, read, send as sendForm } from "../../api/client";
import { newKey } from "../../parts/new-key";
import { makeQueue } from "../../parts/upload-queue";
import { isInWork } from "../communications/kinds";

export interface Wishes {
  language: "" | "ru" | "en";
  voices: "channels" | "diarize" | "one";
  direction: "" | "in" | "out";
  when: "now" | "file";
  summary: boolean;
  client: string;
  employee: string;
  own: string;
}

export type State = "waiting" | "sending" | "recognising" | "analysing" | "done" | "failed";

export interface Upload {
  key: number;
  name: string;
  size: number;
  isExport: boolean;
  state: State;
  /** Of the bytes that were sent, then of the recognition, 0 to 1. */
  progress: number;
  communicationId: string | null;
  summary: string | null;
  /** It was recognised, and its analysis failed. */
  isUnanalysed: boolean;
  /** Of an export: how many conversations came in, and how many were there. */
  imported: number;
  known: number;
  /** What it failed of: the server's refusal, or what became of the recognition. */
  error: ApiError | Error | null;
}

interface Work {
  file: File;
  wishes: Wishes;
  /** Of this upload, however often it is sent: the server takes it once. */
  idempotencyKey: string;
  taskId: string | null;
  request: XMLHttpRequest | null;
}

const EXPORTS = /\.(eml|mbox|zip|json|html?|txt)$/i;
/** Mails, chats and their archives come in as text; all else is listened to. */
export const isExport = (file: File) => EXPORTS.test(file.name);

const works = new Map<number, Work>();
const queue = makeQueue<Upload>({ atOnce: 2, send, look });
const { change } = queue;
export const useUploads = queue.useAll;

export function add(files: File[], wishes: Wishes) {
  for (const file of files) {
    const made = {
      progress: 0,
      communicationId: null,
      summary: null,
      isUnanalysed: false,
      imported: 0,
      known: 0,
      error: null,
    };
    const upload = { name: file.name, size: file.size, isExport: isExport(file), state: "waiting", ...made } as const;
    works.set(queue.add(upload), { file, wishes, idempotencyKey: newKey(), taskId: null, request: null });
  }
  queue.sendNext();
}

export function again(key: number) {
  const work = works.get(key);
  // What was taken in and failed later is another work; with the same key its answer would only be told again.
  if (work?.taskId) works.set(key, { ...work, idempotencyKey: newKey(), taskId: null });
  queue.again(key, { progress: 0, communicationId: null });
}

/** Takes one off the list; what is being sent is broken off. */
export function dismiss(key: number) {
  works.get(key)?.request?.abort();
  works.delete(key);
  queue.remove((each) => each.key === key);
}

export function clear() {
  for (const each of queue.all()) if (each.state === "done") works.delete(each.key);
  queue.remove((each) => each.state === "done");
}

interface Accepted {
  task_id?: string;
  communication_id: string;
  imported?: number;
  known?: number;
}

async function send(upload: Upload) {
  const work = works.get(upload.key);
  if (!work) return;
  const answer = await post(upload, work);
  work.taskId = answer.task_id ?? null;
  const known = { communicationId: answer.communication_id, imported: answer.imported ?? 0, known: answer.known ?? 0 };
  change(upload.key, { ...known, progress: 0, state: upload.isExport ? "analysing" : "recognising" });
}

function formOf({ file, wishes }: Work, asExport: boolean): FormData {
  const form = new FormData();
  form.append("summary", String(wishes.summary));
  if (asExport) {
    if (wishes.own.trim()) form.append("own", wishes.own.trim());
  } else {
    form.append("timestamp_detail", "word");
    form.append("channel_speakers", String(wishes.voices !== "one"));
    form.append("diarize", String(wishes.voices === "diarize"));
    if (wishes.language) form.append("language", wishes.language);
    if (wishes.direction) form.append("direction", wishes.direction);
    if (wishes.when === "file") form.append("occured_at", new Date(file.lastModified).toISOString());
    const people = [
      { name: wishes.client.trim(), role: "client" },
      { name: wishes.employee.trim(), role: "employee" },
    ].filter((person) => person.name);
    if (people.length) form.append("speakers", JSON.stringify(people));
  }
  form.append("file", file);
  return form;
}

function post(upload: Upload, work: Work): Promise<Accepted> {
  const { request, answer } = sendForm<Accepted>(
    upload.isExport ? "/public/v1/communications" : "/v1/audio/transcriptions",
    formOf(work, upload.isExport),
    (progress) => change(upload.key, { progress }),
    { "Idempotency-Key": work.idempotencyKey },
  );
  work.request = request;
  return answer;
}

async function look(upload: Upload) {
  const work = works.get(upload.key);
  if (!work || !upload.communicationId) return;
  if (upload.state === "recognising" && work.taskId) {
    const task = await read(
      api.GET("/v1/audio/transcriptions/tasks/{task_id}", { params: { path: { task_id: work.taskId } } }),
    );
    if (task.transcription_status === "error") {
      const why = task.transcription_error_message ?? "";
      const error = why === "client_inactive" ? new ApiError(403, why, "client_inactive") : new ApiError(422, why);
      change(upload.key, { state: "failed", error });
    } else if (task.transcription_status === "success") change(upload.key, { state: "analysing", progress: 1 });
    else change(upload.key, { progress: task.progress });
    return;
  }
  const query = { id: upload.communicationId };
  const found = await read(api.GET("/public/v1/communications", { params: { query } }));
  if (isInWork(found)) return;
  const hasFailed = found.summary_generation_status === "error";
  change(upload.key, { state: "done", summary: found.summary_text, isUnanalysed: hasFailed });
}
