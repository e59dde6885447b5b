import { type Texts, useTexts } from "../../i18n/language";
import classes from "./page.module.css";

const texts: Texts<{ show: string }> = {
  en: { show: "Show in the conversation" },
  ru: { show: "Показать в разговоре" },
};

/** The words that prove something; they lead to where they were said. */
export function Quote({ text, idx, onShow }: { text: string; idx: number | null; onShow: (idx: number) => void }) {
  const t = useTexts(texts);
  if (!text) return null;
  if (idx === null) return <span className={classes.quote}>“{text}”</span>;
  return (
    <button type="button" className={classes.quote} title={t.show} onClick={() => onShow(idx)}>
      “{text}”
    </button>
  );
}
