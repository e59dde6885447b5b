import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, read, send as sendForm } from "../../api/client";
import { newKey } from "../../parts/new-key";
import { makeQueue } from "../../parts/upload-queue";
import type { KnowledgeDocument } from "./kinds";

export interface Upload {
  key: number;
  spaceId: string;
  file: File;
  /** Of this upload, however often it is sent: the server takes it once. */
  idempotencyKey: string;
  /** Of the bytes that were sent, from 0 to 1. */
  sent: number;
  state: "waiting" | "sending" | "reading" | "done" | "failed";
  document: KnowledgeDocument | null;
  error: unknown;
}

const queue = makeQueue<Upload>({ atOnce: 3, send, look });

/** Files on their way into a space: sent a few at a time, and followed until they can be found. */
export function useUploads(spaceId: string): Upload[] {
  const queries = useQueryClient();
  const uploads = queue.useAll().filter((each) => each.spaceId === spaceId);
  const states = uploads.map((each) => each.state).join();
  // The lists know of what was taken in, and of what can be found now.
  useEffect(() => {
    if (!states) return;
    void queries.invalidateQueries({ queryKey: ["documents", spaceId] });
    void queries.invalidateQueries({ queryKey: ["space", spaceId] });
  }, [states, spaceId, queries]);
  return uploads;
}

export function add(spaceId: string, files: File[]) {
  for (const file of files)
    queue.add({ spaceId, file, idempotencyKey: newKey(), sent: 0, state: "waiting", document: null, error: null });
  queue.sendNext();
}

/** Sends once more what did not arrive. */
export const again = (key: number) => queue.again(key, { sent: 0 });

export const clear = (spaceId: string) =>
  queue.remove((each) => each.spaceId === spaceId && (each.state === "done" || each.state === "failed"));

async function send({ key, spaceId, file, idempotencyKey }: Upload) {
  const form = new FormData();
  form.append("file", file);
  const path = `/public/v1/kb/spaces/${encodeURIComponent(spaceId)}/documents`;
  const onSent = (sent: number) => queue.change(key, { sent });
  const document = await sendForm<KnowledgeDocument>(path, form, onSent, { "Idempotency-Key": idempotencyKey }).answer;
  queue.change(key, { state: "reading", sent: 1, document });
}

async function look({ key, document }: Upload) {
  if (!document) return;
  const path = { document_id: document.id };
  const found = await read(api.GET("/public/v1/kb/documents/{document_id}", { params: { path } }));
  const state = found.status === "success" ? "done" : found.status === "error" ? "failed" : "reading";
  queue.change(key, { document: found, state });
}
