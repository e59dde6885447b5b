import type { Texts } from "../../i18n/language";

/** How quality control finds the tone of the staff, as the API's filter names it. */
export const TONES = ["friendly", "even", "unfriendly"] as const;

export const toneNames: Texts<Record<(typeof TONES)[number], string>> = {
  en: { friendly: "Friendly", even: "Even", unfriendly: "Unfriendly" },
  ru: { friendly: "Доброжелательный", even: "Ровный", unfriendly: "Недоброжелательный" },
};
