import { useSyncExternalStore } from "react";
import { ApiError, api, read, send as sendForm } from "../../api/client";
import { newKey } from "../../parts/new-key";
import { isInWork } from "../communications/kinds";

const AT_ONCE = 2;
const POLL_MS = 1500;

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

// Kept beside the pages: what was begun goes on while somebody looks elsewhere in the cabinet.
let uploads: Upload[] = [];
const works = new Map<number, Work>();
const listeners = new Set<() => void>();
let nextKey = 1;
let timer: number | null = null;

function change(key: number, values: Partial<Upload>) {
  uploads = uploads.map((each) => (each.key === key ? { ...each, ...values } : each));
  tell();
}

function tell() {
  for (const listener of listeners) listener();
  const isSending = uploads.some((each) => each.state === "waiting" || each.state === "sending");
  window.onbeforeunload = isSending ? (event) => event.preventDefault() : null;
}

export function useUploads(): Upload[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uploads,
  );
}

export function add(files: File[], wishes: Wishes) {
  for (const file of files) {
    const key = nextKey++;
    works.set(key, { file, wishes, idempotencyKey: newKey(), taskId: null, request: null });
    const made = { progress: 0, communicationId: null, summary: null, imported: 0, known: 0, error: null };
    uploads = [
      { key, name: file.name, size: file.size, isExport: isExport(file), state: "waiting", ...made },
      ...uploads,
    ];
  }
  tell();
  sendNext();
}

export function again(key: number) {
  const work = works.get(key);
  // What was taken in and failed later is another work; with the same key its answer would only be told again.
  if (work?.taskId) works.set(key, { ...work, idempotencyKey: newKey(), taskId: null });
  change(key, { state: "waiting", progress: 0, error: null, communicationId: null });
  sendNext();
}

/** Takes one off the list; what is being sent is broken off. */
export function dismiss(key: number) {
  works.get(key)?.request?.abort();
  works.delete(key);
  uploads = uploads.filter((each) => each.key !== key);
  tell();
  sendNext();
}

export function clear() {
  for (const each of uploads) if (each.state === "done") works.delete(each.key);
  uploads = uploads.filter((each) => each.state !== "done");
  tell();
}

function sendNext() {
  const busy = uploads.filter((each) => each.state === "sending").length;
  // The list has the newest first, and who came first goes first.
  const waiting = uploads.filter((each) => each.state === "waiting").reverse();
  for (const each of waiting.slice(0, Math.max(0, AT_ONCE - busy))) void send(each);
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
  change(upload.key, { state: "sending" });
  try {
    const answer = await post(upload, work);
    work.taskId = answer.task_id ?? null;
    const known = {
      communicationId: answer.communication_id,
      imported: answer.imported ?? 0,
      known: answer.known ?? 0,
    };
    change(upload.key, { ...known, progress: 0, state: upload.isExport ? "analysing" : "recognising" });
    follow();
  } catch (error) {
    change(upload.key, { state: "failed", error: error as Error });
  }
  sendNext();
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

function follow() {
  timer ??= window.setInterval(() => {
    const open = uploads.filter((each) => each.state === "recognising" || each.state === "analysing");
    if (!open.length && timer !== null) {
      window.clearInterval(timer);
      timer = null;
    }
    for (const each of open) void look(each);
  }, POLL_MS);
}

async function look(upload: Upload) {
  const work = works.get(upload.key);
  if (!work || !upload.communicationId) return;
  try {
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
    if (!isInWork(found)) change(upload.key, { state: "done", summary: found.summary_text });
  } catch {
    // The next look tells more.
  }
}
