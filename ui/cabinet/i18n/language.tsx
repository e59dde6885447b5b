import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { session } from "../app/session";
import { type Format, makeFormat } from "./format";

export type Language = "ru" | "en";
/** The texts of one page or part in both languages; the Russian ones have every key of the English ones. */
export type Texts<T> = { en: T; ru: T };

const KEPT = "parley.language";

interface Speech {
  language: Language;
  setLanguage: (language: Language) => void;
  format: Format;
}

const SpeechContext = createContext<Speech | null>(null);

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(kept);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const value = useMemo(
    () => ({
      language,
      setLanguage: (next: Language) => {
        localStorage.setItem(KEPT, next);
        setLanguage(next);
      },
      format: makeFormat(language, session.tenant.time_zone),
    }),
    [language],
  );
  return <SpeechContext value={value}>{children}</SpeechContext>;
}

/** What was chosen here, else the first of ours that the browser asks for, else the account's. */
function kept(): Language {
  const wished = [localStorage.getItem(KEPT), ...navigator.languages.map((each) => each.split("-")[0])];
  return wished.find((each) => each === "ru" || each === "en") ?? session.tenant.language;
}

export function useLanguage(): Speech {
  const speech = useContext(SpeechContext);
  if (!speech) throw new Error("outside of LanguageProvider");
  return speech;
}

/** The texts in the language that is chosen. */
export function useTexts<T>(texts: Texts<T>): T {
  return texts[useLanguage().language];
}

/** Numbers, money, days and lengths as people of the language write them, in the account's time zone. */
export function useFormat(): Format {
  return useLanguage().format;
}
