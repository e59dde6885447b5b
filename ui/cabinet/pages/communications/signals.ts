import type { Texts } from "../../i18n/language";

/** What customers signal, as analysis names it. */
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
] as const;

export const signalNames: Texts<Record<(typeof SIGNALS)[number], string>> = {
  en: {
    objection: "Objections",
    competitors: "Competitors",
    churn_risk: "Churn risk",
    disputes: "Disputes",
    urgency: "Urgency",
    severity: "Severity",
    escalation: "Escalation",
    requested_resolution: "What they ask for",
    constraints: "Constraints",
    contact_outcome: "Outcome",
  },
  ru: {
    objection: "Возражения",
    competitors: "Конкуренты",
    churn_risk: "Риск ухода",
    disputes: "Споры",
    urgency: "Срочность",
    severity: "Серьёзность",
    escalation: "Эскалация",
    requested_resolution: "Чего просят",
    constraints: "Ограничения",
    contact_outcome: "Итог контакта",
  },
};
