import type { Texts } from "../../i18n/language";

export const texts: Texts<{
  title: string;
  lead: string;
  keeping: string;
  keepingLead: string;
  audio: string;
  audioHint: string;
  texts: string;
  textsHint: string;
  cameras: string;
  camerasHint: string;
  forGood: string;
  asTexts: string;
  days: { one: string; few?: string; many?: string; other: string };
  otherDays: string;
  ownDays: string;
  save: string;
  saved: string;
  shorter: string;
  export: string;
  exportLead: string;
  order: string;
  ordered: string;
  making: (percent: string) => string;
  waits: string;
  ready: string;
  failed: string;
  until: (moment: string) => string;
  download: string;
  remove: string;
  cancel: string;
  by: (who: string) => string;
  deletion: string;
  deletionLead: string;
  deletionPoints: string[];
  deletionFirst: string;
  open: string;
  typeName: (name: string) => string;
  wrongName: string;
  deleteForGood: string;
  deleted: string;
  deletedLead: string;
  toSite: string;
  back: string;
  ownersOnly: string;
}> = {
  en: {
    title: "Data and privacy",
    lead: "How long what you have is kept, taking all of it along, and deleting it.",
    keeping: "How long it is kept",
    keepingLead: "What is over its time goes by itself: out of the database, the search index and the files.",
    audio: "Recordings",
    audioHint: "Of calls, and sound in messages. Their texts stay and can be searched.",
    texts: "Conversations",
    textsHint: "Calls, chats and mail with their text, analysis and recording.",
    cameras: "What cameras saw",
    camerasHint: "Events and snapshots. Figures of traffic stay, they show nobody.",
    forGood: "For good",
    asTexts: "As long as the text",
    days: { one: "day", other: "days" },
    otherDays: "Another number of days",
    ownDays: "Days",
    save: "Save",
    saved: "Saved",
    shorter: "A shorter time deletes what is older within minutes, and nothing brings it back.",
    export: "Take everything along",
    exportLead:
      "One archive with all conversations, people, knowledge, chats, cameras, settings and payments as text, and recordings, documents and snapshots as files. It stays here for a day.",
    order: "Make an archive",
    ordered: "The archive is being made",
    making: (percent) => `Being made, ${percent}`,
    waits: "Waiting for its turn",
    ready: "Ready",
    failed: "It could not be made",
    until: (moment) => `until ${moment}`,
    download: "Download",
    remove: "Delete",
    cancel: "Cancel",
    by: (who) => `asked for by ${who}`,
    deletion: "Delete the account",
    deletionLead: "This closes the account at once and deletes everything that it has. There is no way back.",
    deletionPoints: [
      "Conversations, recordings, people, documents, chats, cameras and payments history",
      "API keys stop working, the widget disappears from your sites, cameras are no longer watched",
      "Everybody’s access to this cabinet ends",
    ],
    deletionFirst: "If you need any of it later, download an archive first.",
    open: "Delete the account…",
    typeName: (name) => `To go on, type the account’s name: ${name}`,
    wrongName: "This is not the account’s name",
    deleteForGood: "Delete everything for good",
    deleted: "The account is closed",
    deletedLead: "What it had is being deleted. It takes a few minutes, and you need not wait.",
    toSite: "To the site",
    back: "Cancel",
    ownersOnly: "Only owners of the account change this.",
  },
  ru: {
    title: "Данные и приватность",
    lead: "Сколько хранится то, что у вас есть, как забрать всё с собой и как всё удалить.",
    keeping: "Сроки хранения",
    keepingLead: "Что старше срока, удаляется само: из базы, поискового индекса и файлов.",
    audio: "Записи",
    audioHint: "Звонки и звук в сообщениях. Тексты остаются, поиск по ним работает.",
    texts: "Разговоры",
    textsHint: "Звонки, чаты и письма вместе с текстом, разбором и записью.",
    cameras: "Что видели камеры",
    camerasHint: "События и снимки. Цифры посещаемости остаются: на них никого не видно.",
    forGood: "Всегда",
    asTexts: "Столько же, сколько текст",
    days: { one: "день", few: "дня", many: "дней", other: "дня" },
    otherDays: "Другое число дней",
    ownDays: "Дней",
    save: "Сохранить",
    saved: "Сохранено",
    shorter: "Если сократить срок, всё более старое удалится за несколько минут, и вернуть его будет нельзя.",
    export: "Забрать всё с собой",
    exportLead:
      "Один архив: разговоры, люди, база знаний, чаты, камеры, настройки и платежи — текстом, записи, документы и снимки — файлами. Хранится здесь сутки.",
    order: "Собрать архив",
    ordered: "Архив собирается",
    making: (percent) => `Собирается, ${percent}`,
    waits: "Ждёт очереди",
    ready: "Готов",
    failed: "Собрать не удалось",
    until: (moment) => `до ${moment}`,
    download: "Скачать",
    remove: "Удалить",
    cancel: "Отменить",
    by: (who) => `по запросу: ${who}`,
    deletion: "Удалить аккаунт",
    deletionLead: "Аккаунт закроется сразу, и всё, что в нём есть, будет удалено. Вернуть ничего нельзя.",
    deletionPoints: [
      "Разговоры, записи, люди, документы, чаты, камеры и история платежей",
      "Ключи API перестанут работать, виджет исчезнет с ваших сайтов, камеры больше не будут просматриваться",
      "Доступ в этот кабинет закроется для всех",
    ],
    deletionFirst: "Если что-то из этого может понадобиться, сначала скачайте архив.",
    open: "Удалить аккаунт…",
    typeName: (name) => `Чтобы продолжить, введите название аккаунта: ${name}`,
    wrongName: "Это не название аккаунта",
    deleteForGood: "Удалить всё навсегда",
    deleted: "Аккаунт закрыт",
    deletedLead: "Его данные удаляются. Это займёт несколько минут, ждать не нужно.",
    toSite: "На сайт",
    back: "Отмена",
    ownersOnly: "Менять это могут только владельцы аккаунта.",
  },
};
