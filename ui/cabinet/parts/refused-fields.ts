import { ApiError } from "../api/client";
import { type Texts, useTexts } from "../i18n/language";
import { refusalCodes } from "./refusal-codes";
import { useFailureText } from "./states";

/** What a field may hold, by the first part of its name. */
const fieldTexts: Texts<Record<string, string>> = {
  en: {
    name: "This name does not fit: it is empty, too long or taken.",
    title: "This title is empty or too long.",
    header_title: "This heading is empty or too long.",
    greeting: "This greeting is too long.",
    instructions: "These instructions are too long.",
    text: "This text is empty or too long.",
    quote: "Not a word of it is in the document.",
    email: "This is no e-mail address.",
    time_zone: "There is no such time zone.",
    rtsp_url: "This camera address cannot be used; it looks like rtsp://camera/stream.",
    webhook_url: "This address cannot be used: it is not public, or did not answer the test.",
    url: "This address cannot be used: a public page or file is needed.",
    widget_origins: "Addresses of sites are needed, such as https://shop.example, without a path.",
    allowed_origins: "Addresses of sites are needed, such as https://shop.example, without a path.",
    scenarios: "Choose at least one of them.",
    zones: "A zone does not fit: it needs a name of its own and three corners or more.",
    document_id: "Choose a document of this space.",
    default_space_ids: "One of these spaces is gone.",
    site_space_ids: "One of these spaces is gone.",
    model: "There is no such model.",
    theme: "A colour or a size does not fit.",
    suggestions: "A suggestion is empty or too long, or there are too many.",
    messages_per_day: "This number does not fit.",
    is_active: "The default chat cannot be switched off.",
    is_default: "A chat that is switched off cannot be the default.",
    file: "The server cannot use this file.",
  },
  ru: {
    name: "Название не подходит: пустое, слишком длинное или уже занято.",
    title: "Название пустое или слишком длинное.",
    header_title: "Заголовок пустой или слишком длинный.",
    greeting: "Приветствие слишком длинное.",
    instructions: "Указания слишком длинные.",
    text: "Текст пустой или слишком длинный.",
    quote: "В документе нет ни слова отсюда.",
    email: "Это не адрес электронной почты.",
    time_zone: "Такого часового пояса нет.",
    rtsp_url: "Адрес камеры не подходит; он выглядит как rtsp://камера/поток.",
    webhook_url: "Адрес не подходит: он не открыт из интернета или не ответил на проверку.",
    url: "Адрес не подходит: нужна открытая страница или файл.",
    widget_origins: "Нужны адреса сайтов вида https://shop.example, без пути.",
    allowed_origins: "Нужны адреса сайтов вида https://shop.example, без пути.",
    scenarios: "Выберите хотя бы один.",
    zones: "Зона не подходит: нужны своё название и не меньше трёх углов.",
    document_id: "Выберите документ этого раздела.",
    default_space_ids: "Одного из этих разделов больше нет.",
    site_space_ids: "Одного из этих разделов больше нет.",
    model: "Такой модели нет.",
    theme: "Цвет или размер не подходит.",
    suggestions: "Подсказка пустая или слишком длинная, или их слишком много.",
    messages_per_day: "Это число не подходит.",
    is_active: "Основной чат нельзя выключить.",
    is_default: "Выключенный чат не может быть основным.",
    file: "Сервер не смог принять этот файл.",
  },
};

/** Fields of which only the server's words say what exactly is wrong: they stand behind ours. */
const SAID_BY_SERVER = new Set(["rtsp_url", "webhook_url", "url", "model", "zones", "file"]);

const texts: Texts<{ other: (words: string) => string }> = {
  en: { other: (words) => `This does not fit: ${words}` },
  ru: { other: (words) => `Так не подходит: ${words}` },
};

const fieldOf = (error: unknown) => (error instanceof ApiError ? (error.param?.split(".")[0] ?? null) : null);

/** What went wrong, where a field of a form may be what was wrong. */
export function useRefusalText(): (error: unknown) => string {
  const t = useTexts(texts);
  const codes = useTexts(refusalCodes);
  const fields = useTexts(fieldTexts);
  const said = useFailureText();
  return (error) => {
    const field = fieldOf(error);
    if (!(error instanceof ApiError) || field === null || codes[error.code ?? ""]) return said(error);
    // Its label says the name of the field.
    const words = error.message.replace(`${error.param}: `, "");
    const known = fields[field];
    if (!known) return t.other(words);
    return SAID_BY_SERVER.has(field) ? `${known} (${words})` : known;
  };
}

/** What the server has against a field of a form, null where nothing: `wrong("name")`. */
export function useWrongField(error: unknown): (field: string) => string | null {
  const said = useRefusalText();
  return (field) => (fieldOf(error) === field ? said(error) : null);
}
