import type { Reason } from "./failures";

/** What the widget itself says. */
export interface Texts {
  language: "ru" | "en";
  chat: string;
  open: string;
  open_unread: (count: number) => string;
  close: string;
  assistant: string;
  new_conversation: string;
  person: string;
  question: string;
  placeholder: string;
  placeholder_person: string;
  send: string;
  stop: string;
  characters_left: (count: number) => string;
  note: string;
  messages: string;
  suggestions: string;
  you: string;
  answer: string;
  steps: Record<string, string>;
  sources: string;
  source: (number: number, title: string) => string;
  page: (page: number) => string;
  kinds: Record<string, string>;
  open_source: string;
  close_source: string;
  new_tab: string;
  copy: string;
  copied: string;
  good: string;
  bad: string;
  what_was_wrong: string;
  send_comment: string;
  thanks: string;
  not_sent: string;
  stopped: string;
  ask_again: string;
  try_again: string;
  try_again_in: (wait_s: number) => string;
  failures: Record<Reason, string>;
  offline: string;
  reconnecting: string;
  loading: string;
  history_failed: string;
  cannot_open: string;
  to_the_end: string;
  contact_lead: string;
  name: string;
  email: string;
  phone: string;
  message: string;
  contact_send: string;
  contact_back: string;
  contact_missing: string;
  contact_email_wrong: string;
  contact_phone_wrong: string;
  person_requested: string;
  person_here: (name: string | null) => string;
}

export interface TextsModule {
  texts: Texts;
}

export type Language = Texts["language"];

const KNOWN: readonly Language[] = ["en", "ru"];

/** The first language that the widget knows and may speak: the snippet's, the page's, the visitor's, the account's. */
export function chooseLanguage(asked: string | undefined, allowed: readonly string[], account: string): Language {
  const wanted = [asked, document.documentElement.lang, ...navigator.languages, account, ...allowed];
  for (const each of wanted) {
    const language = KNOWN.find((known) => each?.toLowerCase().startsWith(known));
    if (language && (allowed.length === 0 || allowed.includes(language))) return language;
  }
  return "en";
}

/** The attributes of a text that others wrote: the language to read it in, by its letters, and its direction. */
export function wordsIn(text: string): { lang: Language; dir: "auto" } {
  const count = (letters: RegExp) => text.match(letters)?.length ?? 0;
  const cyrillic = count(/[а-яё]/gi);
  return { lang: cyrillic && cyrillic * 2 >= count(/[a-z]/gi) ? "ru" : "en", dir: "auto" };
}
