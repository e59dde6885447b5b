import type { Texts } from "../../i18n/language";

type Name =
  | "title"
  | "lead"
  | "ownersOnly"
  | "saved"
  | "save"
  | "undo"
  | "account"
  | "name"
  | "nameHint"
  | "zone"
  | "zoneHint"
  | "noZone"
  | "language"
  | "languageHint"
  | "analysis"
  | "memory"
  | "memoryHint"
  | "qc"
  | "qcHint"
  | "voices"
  | "voicesHint"
  | "widget"
  | "origins"
  | "originsHint";

export const texts: Texts<Record<Name, string>> = {
  en: {
    title: "Account",
    lead: "What everybody in this account shares.",
    ownersOnly: "Only owners change these settings.",
    saved: "Saved",
    save: "Save",
    undo: "Undo",
    account: "Name, time and language",
    name: "Name",
    nameHint: "Shown in the cabinet and in invitations.",
    zone: "Time zone",
    zoneHint: "Days of charts and lists, and deadlines of promises, are counted in it.",
    noZone: "No such zone",
    language: "Language of the account",
    languageHint:
      "Summaries, letters and payment pages are written in it. You choose your own for the cabinet in its menu.",
    analysis: "What communications are analysed for",
    memory: "Memory of people",
    memoryHint: "Lasting facts about clients, which agents and colleagues find before the next conversation.",
    qc: "Quality control",
    qcHint: "Conversations are scored by your scenarios, each verdict with its quotation.",
    voices: "Voices",
    voicesHint: "People are known again by their voice. Voices are biometric data: switching this off deletes them.",
    widget: "Chat on your site",
    origins: "Sites that may show the widget",
    originsHint: "Addresses such as https://shop.example, each by Enter.",
  },
  ru: {
    title: "Аккаунт",
    lead: "Что общее для всех в этом аккаунте.",
    ownersOnly: "Эти настройки меняют только владельцы.",
    saved: "Сохранено",
    save: "Сохранить",
    undo: "Отменить",
    account: "Название, время и язык",
    name: "Название",
    nameHint: "Видно в кабинете и в приглашениях.",
    zone: "Часовой пояс",
    zoneHint: "В нём считаются дни в графиках и списках и сроки обещаний.",
    noZone: "Такого пояса нет",
    language: "Язык аккаунта",
    languageHint: "На нём пишутся резюме, письма и страницы оплаты. Язык кабинета каждый выбирает себе в меню.",
    analysis: "Что находить в коммуникациях",
    memory: "Память о людях",
    memoryHint: "Важные факты о клиентах, которые агенты и коллеги найдут перед следующим разговором.",
    qc: "Контроль качества",
    qcHint: "Разговоры оцениваются по вашим сценариям, у каждого вывода есть цитата.",
    voices: "Голоса",
    voicesHint: "Люди узнаются по голосу. Голос — биометрия: если выключить, записанные голоса удаляются.",
    widget: "Чат на вашем сайте",
    origins: "Сайты, где работает виджет",
    originsHint: "Адреса вида https://shop.example, каждый через Enter.",
  },
};
