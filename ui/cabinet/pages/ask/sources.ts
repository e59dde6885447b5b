/** One source of an answer, as `context` of the event `done` names it. */
export interface Source {
  number: number;
  kind: "communication" | "document" | "memory";
  title: string;
  snippet: string;
  /** Where it is in the cabinet. */
  to: string;
  /** Of a conversation: when it was, and how far into it. */
  at: string | null;
  startMs: number | null;
  page: number | null;
}

type Cited = { citation: number } & Record<string, unknown>;

export interface Context {
  communications: Cited[];
  documents: Cited[];
  memory: Cited[];
}

const MOST_QUOTED = 240;

const text = (value: unknown) => (typeof value === "string" ? value : "");
const number = (value: unknown) => (typeof value === "number" ? value : null);

/** The sources in the order of their numbers, each with its place in the cabinet. */
export function sourcesOf(context: Context, markdown: string): Source[] {
  const none = { at: null, startMs: null, page: null };
  const sources: Source[] = [
    ...context.communications.map((item): Source => {
      const startMs = number(item.start_ms);
      const quote = quoteBefore(markdown, item.citation) || (startMs === null ? firstLine(text(item.snippet)) : "");
      const place = new URLSearchParams({
        ...(startMs === null ? {} : { at: String(startMs) }),
        ...(quote ? { quote } : {}),
      });
      const to = `/communications/${encodeURIComponent(text(item.id))}${place.size ? `?${place}` : ""}`;
      return { ...shared(item, "communication"), ...none, to, startMs, at: text(item.occured_at) || null };
    }),
    ...context.documents.map((item): Source => {
      const to = `/documents/${encodeURIComponent(text(item.document_id))}#chunk-${encodeURIComponent(text(item.chunk_id))}`;
      return { ...shared(item, "document"), ...none, to, page: number(item.page) };
    }),
    ...context.memory.map((item): Source => {
      const to = `/people/${encodeURIComponent(text(item.speaker_id))}`;
      return { ...shared(item, "memory"), ...none, to, at: text(item.created_at) || null };
    }),
  ];
  return sources.sort((one, other) => one.number - other.number);
}

const shared = (item: Cited, kind: Source["kind"]) => ({
  number: item.citation,
  kind,
  title: text(item.title) || text(item.speaker_name),
  snippet: text(item.snippet) || text(item.content),
});

const firstLine = (snippet: string) => snippet.split("\n").find((line) => line.trim().length > 12) ?? "";

/** The words that the answer quotes for its citation: the longest line of the quotation that ends with it. */
function quoteBefore(markdown: string, citation: number): string {
  const lines = markdown.split("\n");
  let end = lines.findIndex((line) => /^\s*>/.test(line) && line.includes(`[${citation}]`));
  let longest = "";
  for (; end >= 0 && /^\s*>/.test(lines[end] ?? ""); end--) {
    const line = (lines[end] ?? "")
      .replace(/^\s*>\s?/, "")
      .replace(/\[\d{1,3}\]/g, "")
      .replace(/\\([!-/:-@[-`{-~])/g, "$1")
      .trim();
    if (line.length > longest.length) longest = line;
  }
  return longest.slice(0, MOST_QUOTED);
}
