import type { Texts } from "../../i18n/language";

type Status = "pending" | "delivered" | "failed";

interface Webhooks {
  title: string;
  lead: string;
  address: string;
  url: string;
  urlHint: string;
  save: string;
  saved: string;
  off: string;
  switchOff: string;
  test: string;
  tested: string;
  testFailed: string;
  notSaved: string;
  ms: string;
  log: string;
  empty: string;
  emptyText: string;
  nothing: string;
  status: string;
  event: string;
  anyStatus: string;
  anyEvent: string;
  statuses: Record<Status, string>;
  attempts: string;
  next: string;
  details: string;
  close: string;
  resend: string;
  resent: string;
  body: string;
  noAttempts: string;
  noAnswer: string;
  refresh: string;
}

export const texts: Texts<Webhooks> = {
  en: {
    title: "Webhooks",
    lead: "Your systems are told of what happens here: a signed POST for each event, repeated until it is taken.",
    address: "Where to",
    url: "Address of your receiver",
    urlHint: "Before it is saved, a test event is sent there: it must answer 2xx.",
    save: "Test and save",
    saved: "The receiver answered, and the address is saved",
    off: "Nothing is sent any more",
    switchOff: "Switch off",
    test: "Send a test event",
    tested: "The receiver took the event",
    testFailed: "The receiver did not take the event",
    notSaved: "That did not work",
    ms: "ms",
    log: "What was sent",
    empty: "Nothing was sent yet",
    emptyText: "Each event is listed here with every attempt, as soon as an address is set.",
    nothing: "No event fits the filter",
    status: "Status",
    event: "Event",
    anyStatus: "Any status",
    anyEvent: "Any event",
    statuses: { pending: "On its way", delivered: "Delivered", failed: "Failed" },
    attempts: "Attempts",
    next: "next attempt",
    details: "Details",
    close: "Close",
    resend: "Send again",
    resent: "It is sent again",
    body: "What is sent",
    noAttempts: "No attempt yet",
    noAnswer: "no answer",
    refresh: "Refresh",
  },
  ru: {
    title: "Вебхуки",
    lead: "Ваши системы узнают о событиях сразу: подписанный POST на каждое, с повторами, пока его не примут.",
    address: "Куда отправлять",
    url: "Адрес приёмника",
    urlHint: "Перед сохранением туда уйдёт тестовое событие: в ответ нужен код 2xx.",
    save: "Проверить и сохранить",
    saved: "Приёмник ответил, адрес сохранён",
    off: "Больше ничего не отправляется",
    switchOff: "Отключить",
    test: "Отправить тестовое событие",
    tested: "Приёмник принял событие",
    testFailed: "Приёмник не принял событие",
    notSaved: "Не получилось",
    ms: "мс",
    log: "Что отправлено",
    empty: "Пока ничего не отправлено",
    emptyText: "Как только будет указан адрес, здесь появится каждое событие со всеми попытками.",
    nothing: "Под фильтр ничего не подходит",
    status: "Состояние",
    event: "Событие",
    anyStatus: "Любое состояние",
    anyEvent: "Любое событие",
    statuses: { pending: "В пути", delivered: "Доставлено", failed: "Не доставлено" },
    attempts: "Попытки",
    next: "следующая попытка",
    details: "Подробнее",
    close: "Закрыть",
    resend: "Отправить снова",
    resent: "Отправляется снова",
    body: "Что отправляется",
    noAttempts: "Попыток ещё не было",
    noAnswer: "нет ответа",
    refresh: "Обновить",
  },
};
