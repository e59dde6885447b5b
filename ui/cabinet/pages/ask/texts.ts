import type { Forms } from "../../i18n/format";
import type { Texts } from "../../i18n/language";

interface AskTexts {
  title: string;
  lead: string;
  question: string;
  placeholder: string;
  placeholderAbout: string;
  send: string;
  stop: string;
  startOver: string;
  chat: string;
  begin: string;
  beginText: string;
  beginAbout: string;
  beginAboutText: string;
  suggested: string[];
  suggestedAbout: string[];
  conversation: string;
  you: string;
  answer: string;
  thinking: string;
  searching: string;
  reading: string;
  stopped: string;
  failed: string;
  again: string;
  topUp: string;
  noMoney: string;
  sources: Forms;
  kinds: Record<"communication" | "document" | "memory", string>;
  page: (page: number) => string;
  source: (number: number, title: string) => string;
  tryOthers: string;
  check: string;
  keys: string;
  about: string;
  leaveAbout: string;
  noChat: string;
  noChatText: string;
  toChats: string;
  mayNot: string;
  mayNotText: string;
  blind: (name: string) => string;
  toSettings: string;
  opening: (what: string) => string;
  openingReply: (id: string, day: string, summary: string) => string;
}

export const texts: Texts<AskTexts> = {
  en: {
    title: "Ask",
    lead: "Answers from your conversations and documents, each with the place where it was said.",
    question: "Your question",
    placeholder: "Ask about your conversations",
    placeholderAbout: "Ask about this conversation",
    send: "Ask",
    stop: "Stop",
    startOver: "Start over",
    chat: "Who answers",
    begin: "What would you like to know?",
    beginText:
      "Who promised what, why customers are unhappy, what the rules say. The numbers in an answer lead to its sources.",
    beginAbout: "What would you like to know about this conversation?",
    beginAboutText: "The numbers in an answer lead to the words it rests on.",
    suggested: [
      "What did we promise our customers?",
      "What do customers complain about?",
      "Which promises are overdue?",
    ],
    suggestedAbout: ["What was agreed?", "What did the customer ask for?", "What happens next, and when?"],
    conversation: "Questions and answers",
    you: "You asked",
    answer: "Answer",
    thinking: "Thinking…",
    searching: "Looking through conversations and documents…",
    reading: "Reading what was found…",
    stopped: "Stopped.",
    failed: "There is no answer",
    again: "Try again",
    topUp: "Top up the balance",
    noMoney: "The balance does not cover it.",
    sources: { one: "source", other: "sources" },
    kinds: { communication: "Conversation", document: "Document", memory: "Remembered" },
    page: (page) => `p. ${page}`,
    source: (number, title) => `Source ${number}: ${title}`,
    tryOthers: "Try other words, or name the person or the thing it is about.",
    check: "An answer can be wrong. Its sources show what was really said.",
    keys: "Enter asks, Shift+Enter begins a new line.",
    about: "About",
    leaveAbout: "Ask about everything",
    noChat: "There is no chat that answers",
    noChatText: "Make a chat agent, or switch one on: it answers here, too.",
    toChats: "Chat agents",
    mayNot: "Questions are for operators and owners",
    mayNotText: "Each one costs money. Ask an owner of this account for another role.",
    blind: (name) => `“${name}” may not look into conversations: it answers from documents alone.`,
    toSettings: "Its settings",
    opening: (what) => `My questions are about this conversation: ${what}.`,
    openingReply: (id, day, summary) => `I look at it (communication id ${id}, ${day}). ${summary}`,
  },
  ru: {
    title: "Спросить",
    lead: "Ответы по вашим разговорам и документам, каждый — с местом, где это было сказано.",
    question: "Ваш вопрос",
    placeholder: "Спросите о ваших разговорах",
    placeholderAbout: "Спросите об этом разговоре",
    send: "Спросить",
    stop: "Остановить",
    startOver: "Начать заново",
    chat: "Кто отвечает",
    begin: "Что вы хотите узнать?",
    beginText: "Кто что обещал, чем недовольны клиенты, что сказано в правилах. Номера в ответе ведут к источникам.",
    beginAbout: "Что вы хотите узнать об этом разговоре?",
    beginAboutText: "Номера в ответе ведут к словам, на которых он основан.",
    suggested: ["Что мы обещали клиентам?", "На что жалуются клиенты?", "Какие обещания просрочены?"],
    suggestedAbout: ["О чём договорились?", "О чём просил клиент?", "Что дальше и когда?"],
    conversation: "Вопросы и ответы",
    you: "Вы спросили",
    answer: "Ответ",
    thinking: "Думаю…",
    searching: "Ищу в разговорах и документах…",
    reading: "Читаю найденное…",
    stopped: "Остановлено.",
    failed: "Ответа нет",
    again: "Повторить",
    topUp: "Пополнить баланс",
    noMoney: "На балансе не хватает денег.",
    sources: { one: "источник", few: "источника", many: "источников", other: "источника" },
    kinds: { communication: "Разговор", document: "Документ", memory: "Из памяти" },
    page: (page) => `с. ${page}`,
    source: (number, title) => `Источник ${number}: ${title}`,
    tryOthers: "Попробуйте другие слова или назовите человека или предмет разговора.",
    check: "Ответ может быть неточным. Источники показывают, что было сказано на самом деле.",
    keys: "Enter — спросить, Shift+Enter — новая строка.",
    about: "Разговор",
    leaveAbout: "Спросить обо всём",
    noChat: "Отвечать некому",
    noChatText: "Создайте или включите чат-агента: он будет отвечать и здесь.",
    toChats: "Чат-агенты",
    mayNot: "Вопросы задают операторы и владельцы",
    mayNotText: "Каждый вопрос стоит денег. Попросите владельца аккаунта сменить вам роль.",
    blind: (name) => `«${name}» не видит разговоров и отвечает только по документам.`,
    toSettings: "Настройки чата",
    opening: (what) => `Мои вопросы об этом разговоре: ${what}.`,
    openingReply: (id, day, summary) => `Смотрю его (communication id ${id}, ${day}). ${summary}`,
  },
};
