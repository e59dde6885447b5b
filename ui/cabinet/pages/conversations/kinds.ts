import type { components } from "../../api/schema/public";

type Schemas = components["schemas"];
export type ListedConversation = Schemas["ListedConversation"];
export type Conversation = Schemas["ConversationDetails"];
export type Message = Schemas["ReadMessage"];

/** How often is looked for what visitors said. */
export const POLL_MS = 4000;

export type State = "waiting" | "taken" | "agent";

export function stateOf(row: { operator_name: string | null; person_requested_at: string | null }): State {
  if (row.operator_name) return "taken";
  return row.person_requested_at ? "waiting" : "agent";
}
