import { type Texts, useTexts } from "../../i18n/language";

const OTHER = "internal_error";

const problems: Texts<Record<string, string>> = {
  en: {
    unsupported_type: "This kind of file is not read.",
    encrypted: "It is protected by a password, or by a shop.",
    empty: "There is no text in it.",
    too_large: "It is too large.",
    unreadable: "The file is damaged.",
    fetch_failed: "The link could not be fetched.",
    internal_error: "Something failed on our side; try again.",
  },
  ru: {
    unsupported_type: "Такие файлы не читаются.",
    encrypted: "Файл защищён паролем или магазином.",
    empty: "В нём нет текста.",
    too_large: "Он слишком велик.",
    unreadable: "Файл повреждён.",
    fetch_failed: "Не удалось загрузить страницу по ссылке.",
    internal_error: "Сбой на нашей стороне; попробуйте ещё раз.",
  },
};

/** Why a document could not be read, by the API's code, in words for who uploaded it. */
export function useProblem(): (document: { error_code: string | null }) => string {
  const t = useTexts(problems);
  return ({ error_code }) => t[error_code ?? OTHER] ?? t[OTHER] ?? "";
}
