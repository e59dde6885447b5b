import type { Forms } from "../../i18n/format";
import type { Texts } from "../../i18n/language";

export const STATES = ["overdue", "week", "later", "no_date", "done", "all"] as const;
export type State = (typeof STATES)[number];

export const texts: Texts<{
  title: string;
  lead: string;
  states: Record<State, string>;
  search: string;
  side: string;
  sides: Record<"all" | "ours" | "theirs", string>;
  person: string;
  anyPerson: string;
  nobody: string;
  clear: string;
  made: (from: string, to: string) => string;
  of: (name: string) => string;
  without: (what: string) => string;
  empty: Record<State, string>;
  emptyText: string;
  nothing: string;
  nothingText: string;
  due: { today: string; tomorrow: string; yesterday: string };
  at: (time: string) => string;
  late: Forms;
  noDay: string;
  by: (name: string) => string;
  to: (names: string) => string;
  unknownMaker: string;
  markDone: (content: string) => string;
  markedDone: string;
  markedUndone: string;
  undo: string;
  doneBy: (name: string, when: string) => string;
  you: string;
  quote: string;
}> = {
  en: {
    title: "Promises",
    lead: "What was promised in conversations, found by itself with its deadline. Tick off what was kept.",
    states: { overdue: "Overdue", week: "Next 7 days", later: "Later", no_date: "No date", done: "Done", all: "All" },
    search: "Words of the promise",
    side: "Whose",
    sides: { all: "All", ours: "Ours", theirs: "Theirs" },
    person: "Who promised",
    anyPerson: "Anybody",
    nobody: "Nobody",
    clear: "Clear the filters",
    made: (from, to) => `Made from ${from} to ${to}`,
    of: (name) => `By or to ${name}`,
    without: (what) => `Without: ${what}`,
    empty: {
      overdue: "Nothing is overdue",
      week: "Nothing is due in the next 7 days",
      later: "Nothing lies further ahead",
      no_date: "Every promise has its day",
      done: "Nothing was marked as done yet",
      all: "Nothing was promised yet",
    },
    emptyText: "Promises are found in calls, chats and mails as they are analysed.",
    nothing: "Nothing fits these filters",
    nothingText: "Try fewer words, or clear the filters.",
    due: { today: "today", tomorrow: "tomorrow", yesterday: "yesterday" },
    at: (time) => `, ${time}`,
    late: { one: "day late", other: "days late" },
    noDay: "no date",
    by: (name) => name,
    to: (names) => `with ${names}`,
    unknownMaker: "unknown voice",
    markDone: (content) => `Done: ${content}`,
    markedDone: "Marked as done",
    markedUndone: "Open again",
    undo: "Undo",
    doneBy: (name, when) => `Done ${when}, ${name}`,
    you: "cabinet",
    quote: "In the conversation",
  },
  ru: {
    title: "Обещания",
    lead: "Что обещали в разговорах: находится само, вместе со сроком. Отмечайте выполненное.",
    states: {
      overdue: "Просрочено",
      week: "Ближайшие 7 дней",
      later: "Позже",
      no_date: "Без срока",
      done: "Выполнено",
      all: "Все",
    },
    search: "Слова из обещания",
    side: "Чьи",
    sides: { all: "Все", ours: "Наши", theirs: "Клиентов" },
    person: "Кто обещал",
    anyPerson: "Кто угодно",
    nobody: "Никого",
    clear: "Сбросить условия",
    made: (from, to) => `Обещано с ${from} по ${to}`,
    of: (name) => `Кто или кому: ${name}`,
    without: (what) => `Без условия «${what}»`,
    empty: {
      overdue: "Просроченного нет",
      week: "На ближайшие 7 дней ничего нет",
      later: "Дальше ничего не обещано",
      no_date: "У каждого обещания есть срок",
      done: "Пока ничего не отмечено",
      all: "Пока ничего не обещано",
    },
    emptyText: "Обещания находятся в звонках, чатах и письмах при анализе.",
    nothing: "По этим условиям ничего нет",
    nothingText: "Уберите часть слов или сбросьте условия.",
    due: { today: "сегодня", tomorrow: "завтра", yesterday: "вчера" },
    at: (time) => `, ${time}`,
    late: { one: "день просрочки", few: "дня просрочки", many: "дней просрочки", other: "дня просрочки" },
    noDay: "без срока",
    by: (name) => name,
    to: (names) => `с кем: ${names}`,
    unknownMaker: "голос не опознан",
    markDone: (content) => `Выполнено: ${content}`,
    markedDone: "Отмечено выполненным",
    markedUndone: "Снова открыто",
    undo: "Вернуть",
    doneBy: (name, when) => `Выполнено ${when}, ${name}`,
    you: "кабинет",
    quote: "В разговоре",
  },
};
