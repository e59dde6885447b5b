import keyLabels from "../../../../ingest/analysis/key_labels.json";
import type { Texts } from "../../i18n/language";

/** What the keys of facts are called; the server's exports call them the same. */
export const keyNames: Texts<Record<keyof typeof keyLabels.en, string>> = keyLabels;

/** The keys by which customers signal something. */
export const SIGNALS = [
  "objection",
  "competitors",
  "churn_risk",
  "disputes",
  "urgency",
  "severity",
  "escalation",
  "requested_resolution",
  "constraints",
  "contact_outcome",
] as const satisfies readonly (keyof typeof keyLabels.en)[];
