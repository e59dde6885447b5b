import { type Fields, fields, list, number, oneOf, text, texts } from "./fields";

export interface Config {
  title: string;
  greeting: string;
  suggestions: string[];
  language: string;
  /** Those that the widget may speak; none: all of them. */
  languages: string[];
  accent: string | null;
  scheme: "auto" | "light" | "dark";
  position: "right" | "left";
  needs_captcha: boolean;
}

/** A place that an answer stands on; `citation` is its number in the text. */
export interface Citation {
  citation: number;
  kind: string;
  title: string;
  url: URL | null;
  page: number | null;
  snippet: string;
}

export type Vote = "up" | "down" | null;
export type Status = "answering" | "answered" | "failed" | "cancelled" | "kept";

export interface Message {
  /** The widget's own for what the visitor says; the server's for the rest, null until it is known. */
  id: string | null;
  role: "visitor" | "agent" | "operator";
  text: string;
  status: Status;
  reply_to: string | null;
  author: string | null;
  citations: Citation[];
  feedback: Vote;
}

/** Who has the conversation. */
export interface Person {
  taken_over: boolean;
  operator_name: string | null;
  person_requested: boolean;
}

export interface History {
  items: Message[];
  person: Person;
}

export const NOBODY: Person = { taken_over: false, operator_name: null, person_requested: false };

export function readConfig(value: unknown): Config {
  const found = fields(value);
  const theme = fields(found.theme);
  return {
    title: text(found.header_title) ?? "",
    greeting: text(found.greeting) ?? "",
    suggestions: texts(found.suggestions),
    language: text(found.language) ?? "en",
    languages: texts(found.languages),
    accent: text(theme.accent),
    scheme: oneOf(theme.scheme, "light", "dark") ?? "auto",
    position: oneOf(theme.position, "left") ?? "right",
    needs_captcha: typeof found.captcha === "object" && found.captcha !== null,
  };
}

export function readHistory(value: unknown): History {
  const found = fields(value);
  const state = fields(found.state);
  return {
    items: list(found.items).map(readMessage),
    person: {
      taken_over: state.taken_over === true,
      operator_name: text(state.operator_name),
      person_requested: state.person_requested === true,
    },
  };
}

function readMessage(item: Fields): Message {
  const role = oneOf(item.role, "visitor", "operator") ?? "agent";
  // The status of a question tells what became of it; an answer that is kept is whole.
  const status = role === "visitor" ? oneOf(item.status, "answering", "failed", "cancelled", "kept") : null;
  return {
    id: text(item.id),
    role,
    text: text(item.text) ?? "",
    status: status ?? "answered",
    reply_to: text(item.reply_to),
    author: text(item.author),
    citations: readCitations(item.citations),
    feedback: oneOf(item.feedback, "up", "down"),
  };
}

export function readCitations(value: unknown): Citation[] {
  const found = list(value).map((item) => ({
    citation: number(item.citation) ?? 0,
    kind: text(item.kind) ?? "document",
    title: text(item.title) ?? "",
    url: httpAddress(text(item.source_url) ?? ""),
    page: number(item.page),
    snippet: text(item.snippet) ?? "",
  }));
  return found.filter((item) => item.citation > 0).sort((one, other) => one.citation - other.citation);
}

/** An address of the web, without a name and password, which are used to pass for another host. */
export function httpAddress(href: string): URL | null {
  try {
    const url = new URL(href); // URL.canParse is missing in browsers of 2023
    return /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : null;
  } catch {
    return null;
  }
}
