import type { components } from "../../api/schema/public";

type Schemas = components["schemas"];
export type Chat = Schemas["ChatSettings"];
export type ChatPatch = Schemas["ChatPatch"];

/** What is on its way to be saved: the fields of a chat that its page changes. */
export type Draft = Pick<
  Chat,
  | "name"
  | "header_title"
  | "greeting"
  | "suggestions"
  | "instructions"
  | "model"
  | "default_space_ids"
  | "tools"
  | "site_tools"
  | "site_space_ids"
  | "theme"
  | "languages"
  | "allowed_origins"
  | "messages_per_day"
  | "is_default"
  | "is_active"
>;

const FIELDS = [
  "name",
  "header_title",
  "greeting",
  "suggestions",
  "instructions",
  "model",
  "default_space_ids",
  "tools",
  "site_tools",
  "site_space_ids",
  "theme",
  "languages",
  "allowed_origins",
  "messages_per_day",
  "is_default",
  "is_active",
] as const satisfies (keyof Draft)[];

export function draftOf(chat: Chat): Draft {
  return Object.fromEntries(FIELDS.map((name) => [name, chat[name]])) as unknown as Draft;
}

/** The fields of the draft that differ from the chat, as a PATCH takes them. */
export function changesOf(chat: Chat, draft: Draft): ChatPatch {
  const cleaned = {
    ...draft,
    suggestions: draft.suggestions.filter((line) => line.trim()),
    allowed_origins: draft.allowed_origins.filter((line) => line.trim()),
  };
  const changed = FIELDS.filter((name) => JSON.stringify(cleaned[name]) !== JSON.stringify(chat[name]));
  return Object.fromEntries(changed.map((name) => [name, cleaned[name]])) as ChatPatch;
}
