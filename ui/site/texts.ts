/** What the page itself says. */
export interface Texts {
  tagline: string;
  new_conversation: string;
  question: string;
  placeholder: string;
  hint: string;
  send: string;
  stop: string;
  characters_left: (count: number) => string;
  messages: string;
  you: string;
  answer: string;
  searching: string;
  using_tool: (tool: string | null) => string;
  sources: string;
  source: (number: number, title: string) => string;
  page: (page: number) => string;
  kinds: Record<string, string>;
  copy: string;
  copied: string;
  stopped: string;
  try_again: string;
  try_again_in: (wait_s: number) => string;
  errors: {
    unreachable: string;
    too_many: string;
    unavailable: string;
    upstream: string;
    refused: string;
    missing: string;
    other: string;
    history: string;
  };
  no_chat_title: string;
  no_chat: readonly [string, string];
  cannot_open_title: string;
  connect_title: string;
  connect_lead: readonly [string, string];
  mcp_title: string;
  mcp_lead: string;
  curl_title: string;
  curl_lead: string;
  example_question: string;
}

const en: Texts = {
  tagline: "Answers from a company’s calls, chats and documents, with sources.",
  new_conversation: "New conversation",
  question: "Your question",
  placeholder: "Ask a question",
  hint: "Enter sends, Shift+Enter starts a new line.",
  send: "Send",
  stop: "Stop the answer",
  characters_left: (count) => (count === 1 ? "1 character left." : `${count} characters left.`),
  messages: "Conversation",
  you: "You asked:",
  answer: "Answer:",
  searching: "Looking through the sources",
  using_tool: (tool) => (tool?.includes("communication") ? "Looking through the conversations" : "Looking further"),
  sources: "Sources",
  source: (number, title) => `Source ${number}: ${title}`,
  page: (page) => `p. ${page}`,
  kinds: {
    document: "Document",
    call: "Call",
    chat: "Chat",
    email: "E-mail",
    communication: "Conversation",
    memory: "Note",
  },
  copy: "Copy",
  copied: "Copied",
  stopped: "You stopped this answer.",
  try_again: "Try again",
  try_again_in: (wait_s) => `Try again in ${wait_s} s`,
  errors: {
    unreachable: "The server cannot be reached, or the connection broke off.",
    too_many: "That was a lot of questions at once. Please wait a moment.",
    unavailable: "The assistant is not ready yet. It may be starting.",
    upstream: "The language model did not answer as it should.",
    refused: "This chat may not be used here.",
    missing: "This chat no longer exists.",
    other: "Something went wrong.",
    history: "The earlier messages could not be loaded.",
  },
  no_chat_title: "No chat is set up yet",
  no_chat: ["Load the demo company with", "and open this page again."],
  cannot_open_title: "The chat could not be opened",
  connect_title: "Connect it to your work",
  connect_lead: ["The same answers for AI agents and programs. API_KEY and CHAT_ID of the demo account stand in", "."],
  mcp_title: "An AI agent, by MCP",
  mcp_lead: "For any client that takes a streamable HTTP server.",
  curl_title: "A program, by HTTP",
  curl_lead: "The answer streams in as server-sent events.",
  example_question: "How much is delivery?",
};

const ru: Texts = {
  tagline: "Ответы из звонков, переписки и документов — с источниками.",
  new_conversation: "Новый разговор",
  question: "Ваш вопрос",
  placeholder: "Задайте вопрос",
  hint: "Enter — отправить, Shift+Enter — новая строка.",
  send: "Отправить",
  stop: "Остановить ответ",
  characters_left: (count) => `Осталось символов: ${count}.`,
  messages: "Разговор",
  you: "Вы спросили:",
  answer: "Ответ:",
  searching: "Ищу в источниках",
  using_tool: (tool) => (tool?.includes("communication") ? "Смотрю разговоры" : "Ищу дальше"),
  sources: "Источники",
  source: (number, title) => `Источник ${number}: ${title}`,
  page: (page) => `с. ${page}`,
  kinds: {
    document: "Документ",
    call: "Звонок",
    chat: "Чат",
    email: "Письмо",
    communication: "Разговор",
    memory: "Заметка",
  },
  copy: "Копировать",
  copied: "Скопировано",
  stopped: "Вы остановили этот ответ.",
  try_again: "Попробовать ещё раз",
  try_again_in: (wait_s) => `Попробовать через ${wait_s} с`,
  errors: {
    unreachable: "Сервер недоступен или связь прервалась.",
    too_many: "Слишком много вопросов подряд. Подождите немного.",
    unavailable: "Ассистент ещё не готов. Возможно, он запускается.",
    upstream: "Языковая модель не смогла ответить.",
    refused: "Этим чатом здесь пользоваться нельзя.",
    missing: "Этого чата больше нет.",
    other: "Что-то пошло не так.",
    history: "Не удалось загрузить прошлые сообщения.",
  },
  no_chat_title: "Чат ещё не настроен",
  no_chat: ["Загрузите демонстрационную компанию командой", "и откройте эту страницу снова."],
  cannot_open_title: "Не удалось открыть чат",
  connect_title: "Подключите к своей работе",
  connect_lead: ["Те же ответы для ИИ-агентов и программ. API_KEY и CHAT_ID демонстрационного аккаунта лежат в", "."],
  mcp_title: "ИИ-агент, по MCP",
  mcp_lead: "Для любого клиента, который понимает streamable HTTP.",
  curl_title: "Программа, по HTTP",
  curl_lead: "Ответ приходит потоком server-sent events.",
  example_question: "Сколько стоит доставка?",
};

export const LANGUAGE: "ru" | "en" = navigator.language.toLowerCase().startsWith("ru") ? "ru" : "en";
/** For dates: the browser's own kind of the page's language. */
export const LOCALE = navigator.language.toLowerCase().startsWith(LANGUAGE) ? navigator.language : LANGUAGE;
export const texts: Texts = LANGUAGE === "ru" ? ru : en;

/** The page's words for a failed call. */
export function errorText(status: number): string {
  const { errors } = texts;
  if (status === 0) return errors.unreachable;
  if (status === 429) return errors.too_many;
  if (status === 503) return errors.unavailable;
  if (status === 502 || status === 504) return errors.upstream;
  if (status === 401 || status === 403) return errors.refused;
  return status === 404 ? errors.missing : errors.other;
}
