import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { api, read, send as sendForm } from "../../api/client";
import type { KnowledgeDocument } from "./kinds";

const AT_ONCE = 3;
const POLL_MS = 1500;

export interface Upload {
  key: number;
  name: string;
  /** Of the bytes that were sent, from 0 to 1. */
  sent: number;
  state: "waiting" | "sending" | "reading" | "done" | "failed";
  document: KnowledgeDocument | null;
  error: unknown;
}

/** Files on their way into a space: sent a few at a time, and followed until they can be found. */
export function useUploads(spaceId: string) {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const files = useRef(new Map<number, File>());
  const next = useRef(1);
  const queries = useQueryClient();
  const change = useCallback((key: number, values: Partial<Upload>) => {
    setUploads((all) => all.map((each) => (each.key === key ? { ...each, ...values } : each)));
  }, []);
  const add = useCallback((chosen: File[]) => {
    const added = chosen.map((file) => {
      const key = next.current++;
      files.current.set(key, file);
      return { key, name: file.name, sent: 0, state: "waiting", document: null, error: null } satisfies Upload;
    });
    setUploads((all) => [...all, ...added]);
  }, []);
  const clear = useCallback(() => {
    setUploads((all) => all.filter((each) => each.state !== "done" && each.state !== "failed"));
  }, []);

  // Sends the next ones as soon as there is room.
  useEffect(() => {
    const busy = uploads.filter((each) => each.state === "sending").length;
    for (const each of uploads.filter(({ state }) => state === "waiting").slice(0, Math.max(0, AT_ONCE - busy))) {
      const file = files.current.get(each.key);
      if (!file) continue;
      files.current.delete(each.key);
      change(each.key, { state: "sending" });
      send(spaceId, file, (sent) => change(each.key, { sent }))
        .then((document) => change(each.key, { state: "reading", sent: 1, document }))
        .catch((error: unknown) => change(each.key, { state: "failed", error }))
        .finally(() => void queries.invalidateQueries({ queryKey: ["documents", spaceId] }));
    }
  }, [uploads, spaceId, change, queries]);

  // Looks how far those are that are being read.
  const reading = uploads.filter((each) => each.state === "reading");
  const ids = reading.map((each) => each.document?.id).join(" ");
  useEffect(() => {
    if (!ids) return;
    const timer = setInterval(async () => {
      for (const each of reading) {
        if (!each.document) continue;
        const path = { document_id: each.document.id };
        const document = await read(api.GET("/public/v1/kb/documents/{document_id}", { params: { path } })).catch(
          () => null,
        );
        if (!document) continue;
        const state = document.status === "success" ? "done" : document.status === "error" ? "failed" : "reading";
        change(each.key, { document, state });
        if (state !== "reading") {
          void queries.invalidateQueries({ queryKey: ["documents", spaceId] });
          void queries.invalidateQueries({ queryKey: ["space", spaceId] });
        }
      }
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [ids, change]);

  const isBusy = uploads.some((each) => each.state === "waiting" || each.state === "sending");
  // What is half sent would be lost.
  useEffect(() => {
    if (!isBusy) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isBusy]);

  return { uploads, add, clear };
}

function send(spaceId: string, file: File, onSent: (share: number) => void): Promise<KnowledgeDocument> {
  const form = new FormData();
  form.append("file", file);
  const path = `/public/v1/kb/spaces/${encodeURIComponent(spaceId)}/documents`;
  return sendForm<KnowledgeDocument>(path, form, onSent).answer;
}
