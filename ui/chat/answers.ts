/** A place that an answer stands on; `citation` is its number in the text. */
export interface Source {
  citation: number;
  kind: "document" | "communication" | "memory";
  title: string;
  snippet: string;
  page: number | null;
  start_ms: number | null;
  communication_kind: string | null;
  occurred_at: string | null;
}

export type AnswerEvent =
  | { type: "status"; step: string; tool: string | null }
  | { type: "text"; delta: string }
  | { type: "done"; markdown: string; sources: Source[]; found: boolean };

type Fields = Record<string, unknown>;

/** The sources of a `done` event's context, by their numbers. */
export function sourcesOf(context: unknown): Source[] {
  const lists = fields(context);
  const sources = [
    ...list(lists.documents).map((item) => source("document", item)),
    ...list(lists.communications).map((item) => source("communication", item)),
    ...list(lists.memory).map((item) => source("memory", item)),
  ];
  return sources.filter((item) => item.citation > 0).sort((one, other) => one.citation - other.citation);
}

function source(kind: Source["kind"], item: Fields): Source {
  return {
    citation: number(item.citation) ?? 0,
    kind,
    title: text(item.title) ?? "",
    snippet: text(item.snippet) ?? text(item.text) ?? "",
    page: number(item.page),
    start_ms: number(item.start_ms),
    communication_kind: text(item.kind),
    occurred_at: text(item.occured_at), // the contract's spelling
  };
}

export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

export function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
