import type { Language, Texts } from "../../i18n/language";

interface Balance {
  title: string;
  lead: string;
  now: string;
  active: string;
  paused: string;
  pausedText: string;
  held: (held: string, free: string) => string;
  credit: string;
  topUp: string;
  ownersOnly: string;
  noProvider: string;
  amount: string;
  amountHint: string;
  amountWrong: string;
  pay: string;
  providerFailed: string;
  waiting: string;
  waitingText: string;
  paid: (amount: string) => string;
  paidText: string;
  notPaid: string;
  notPaidText: string;
  close: string;
  spending: string;
  spendingLabel: (total: string) => string;
  period: string;
  days: (number: string) => string;
  noSpending: string;
  total: string;
  history: string;
  kind: string;
  anyKind: string;
  credits: string;
  debits: string;
  credit_line: string;
  from: string;
  to: string;
  nothing: string;
  emptyHistory: string;
  units: Record<string, string>;
  tariff: string;
  work: string;
  price: string;
  per: Record<string, string>;
}

export const texts: Texts<Balance> = {
  en: {
    title: "Balance",
    lead: "What there is, what it went for, and what work costs.",
    now: "On the balance",
    active: "active",
    paused: "paused",
    pausedText: "New work is not accepted. Top up the balance, and it goes on by itself.",
    held: (held, free) => `${held} is set aside for work in progress, ${free} is free.`,
    credit: "This account may go below zero.",
    topUp: "Top up",
    ownersOnly: "Only owners top up.",
    noProvider: "No payment system is connected to this server. Ask its operator to top up.",
    amount: "Amount, ₽",
    amountHint: "From 100 to 100,000 roubles.",
    amountWrong: "From 100 to 100,000 roubles.",
    pay: "Pay",
    providerFailed: "The payment system does not answer. Try again in a minute.",
    waiting: "Waiting for the payment to be confirmed",
    waitingText: "This usually takes a few seconds. The page refreshes by itself.",
    paid: (amount) => `Payment received: ${amount}`,
    paidText: "The money is on the balance.",
    notPaid: "The payment did not go through",
    notPaidText: "You have not been charged. Try again or pay another way.",
    close: "Close",
    spending: "Spending by day",
    spendingLabel: (total) => `Spending by day and product, ${total} in all`,
    period: "Period",
    days: (number) => `${number} d`,
    noSpending: "Nothing was spent in this time",
    total: "In all",
    history: "History",
    kind: "What",
    anyKind: "Everything",
    credits: "Top-ups",
    debits: "Charges",
    credit_line: "Top-up",
    from: "From",
    to: "To",
    nothing: "Nothing fits the filter",
    emptyHistory: "No money has moved yet",
    units: { second: "s", message: "msg", generation: "pcs", stream_day: "d" },
    tariff: "Prices",
    work: "Work",
    price: "Price",
    per: {
      minute: "a minute of audio",
      second: "a second of audio",
      message: "an answer",
      generation: "a communication",
      stream_day: "a camera and day",
    },
  },
  ru: {
    title: "Баланс",
    lead: "Сколько есть, на что ушло и сколько стоит работа.",
    now: "На балансе",
    active: "активен",
    paused: "на паузе",
    pausedText: "Новая работа не принимается. Пополните баланс, и она продолжится сама.",
    held: (held, free) => `${held} отложено под работу, которая идёт; свободно ${free}.`,
    credit: "Этот аккаунт может уходить в минус.",
    topUp: "Пополнение",
    ownersOnly: "Пополняют баланс только владельцы.",
    noProvider: "К этому серверу не подключена платёжная система. Попросите пополнить баланс того, кто им управляет.",
    amount: "Сумма, ₽",
    amountHint: "От 100 до 100 000 рублей.",
    amountWrong: "От 100 до 100 000 рублей.",
    pay: "Оплатить",
    providerFailed: "Платёжная система не отвечает. Повторите через минуту.",
    waiting: "Ждём подтверждения оплаты",
    waitingText: "Обычно это несколько секунд. Страница обновится сама.",
    paid: (amount) => `Оплата прошла: ${amount}`,
    paidText: "Деньги на балансе.",
    notPaid: "Оплата не прошла",
    notPaidText: "Деньги не списаны. Попробуйте ещё раз или выберите другой способ.",
    close: "Закрыть",
    spending: "Расходы по дням",
    spendingLabel: (total) => `Расходы по дням и видам работы, всего ${total}`,
    period: "Период",
    days: (number) => `${number} дн.`,
    noSpending: "За это время расходов не было",
    total: "Всего",
    history: "История",
    kind: "Что показать",
    anyKind: "Всё",
    credits: "Пополнения",
    debits: "Списания",
    credit_line: "Пополнение",
    from: "С",
    to: "По",
    nothing: "Под фильтр ничего не подходит",
    emptyHistory: "Движений пока не было",
    units: { second: "с", message: "отв.", generation: "шт.", stream_day: "дн." },
    tariff: "Тариф",
    work: "Работа",
    price: "Цена",
    per: {
      minute: "за минуту звука",
      second: "за секунду звука",
      message: "за ответ",
      generation: "за коммуникацию",
      stream_day: "за камеру в день",
    },
  },
};

const products: Texts<Record<string, string>> = {
  en: {
    transcription: "Transcription",
    chat: "Answers of chats",
    summary: "Summaries",
    qc: "Quality control",
    memory: "Memory of people",
    vision: "Cameras",
  },
  ru: {
    transcription: "Распознавание речи",
    chat: "Ответы чатов",
    summary: "Резюме",
    qc: "Контроль качества",
    memory: "Память о людях",
    vision: "Камеры",
  },
};

/** A kind of work in words; one that is newer than these texts as it is. */
export const productName = (product: string, language: Language): string => products[language][product] ?? product;
