import type { Forms } from "../../i18n/format";
import type { Texts } from "../../i18n/language";

/** What the pages of people share. */
export const roles: Texts<Record<string, string>> = {
  en: { client: "Client", sales: "Sales", support: "Support", employee: "Employee", unknown: "Unknown" },
  ru: { client: "Клиент", sales: "Продажи", support: "Поддержка", employee: "Сотрудник", unknown: "Неизвестно" },
};

export const ROLES = ["client", "sales", "support", "employee", "unknown"] as const;
export type Role = (typeof ROLES)[number];

// Those whose letters stand out enough from their ground.
export const AVATAR_COLOURS = ["blue", "green", "violet", "indigo", "grape"];

export const ROLE_COLOURS: Record<string, string> = {
  client: "blue",
  sales: "green",
  support: "green",
  employee: "green",
  unknown: "gray",
};

interface PersonTexts {
  back: string;
  noName: string;
  edit: string;
  merge: string;
  forget: string;
  more: string;
  contacts: Forms;
  firstContact: string;
  lastContact: string;
  department: string;
  externalId: string;
  known: string;
  figures: { communications: string; facts: string; open: string; overdue: string };
  tabs: { memory: string; communications: string; promises: string; voice: string };
  noFacts: string;
  noFactsText: string;
  fact: { said: (day: string) => string; earlier: string };
  noCommunications: string;
  noPromises: string;
  allCommunications: string;
  allPromises: string;
  voiceKnown: string;
  voiceText: (length: string, day: string) => string;
  voiceUnknown: string;
  voiceUnknownText: string;
  removeVoice: string;
  removeVoiceText: string;
  voiceRemoved: string;
  aliases: string;
  aliasText: (day: string) => string;
  name: string;
  role: string;
  save: string;
  saved: string;
  cancel: string;
  close: string;
  editTitle: string;
  roleHint: string;
  mergeTitle: (name: string) => string;
  mergeLead: string;
  mergeSearch: string;
  mergeChoose: string;
  mergeNobody: string;
  mergeAction: string;
  mergeConfirm: (gone: string, kept: string) => string;
  mergeFinal: string;
  merged: (gone: string, kept: string) => string;
  forgetTitle: (name: string) => string;
  forgetText: string;
  forgetAction: string;
  forgotten: string;
}

export const texts: Texts<PersonTexts> = {
  en: {
    back: "People",
    noName: "No name",
    edit: "Edit",
    merge: "Merge with another profile",
    forget: "Forget this person",
    more: "More actions",
    contacts: { one: "communication", other: "communications" },
    firstContact: "First contact",
    lastContact: "Last contact",
    department: "Department",
    externalId: "External id",
    known: "Known since",
    figures: { communications: "Communications", facts: "Facts remembered", open: "Open promises", overdue: "Overdue" },
    tabs: { memory: "Memory", communications: "Communications", promises: "Promises", voice: "Voice" },
    noFacts: "Nothing is remembered yet",
    noFactsText:
      "Facts that outlive one contact appear here by themselves: what somebody owns, where they are, what they prefer.",
    fact: { said: (day) => `Said on ${day}`, earlier: "Before" },
    noCommunications: "No communications yet",
    noPromises: "No open promises",
    allCommunications: "All communications",
    allPromises: "All promises",
    voiceKnown: "The voice is known",
    voiceText: (length, day) =>
      `Learned from ${length} of clear speech, last on ${day}. In new calls this person is recognised by it.`,
    voiceUnknown: "The voice is not known",
    voiceUnknownText: "It is learned from calls where voices are told apart, if the account keeps voices.",
    removeVoice: "Remove the voice",
    removeVoiceText:
      "The voice print and what it was learned from are deleted. The profile, its memory and calls stay.",
    voiceRemoved: "The voice was removed",
    aliases: "Merged profiles",
    aliasText: (day) => `merged on ${day}`,
    name: "Name",
    role: "Role",
    save: "Save",
    saved: "Saved",
    cancel: "Cancel",
    close: "Close",
    editTitle: "Edit the profile",
    roleHint: "It also becomes the role in conversations where it was unknown.",
    mergeTitle: (name) => `Merge into ${name}`,
    mergeLead:
      "Find the other profile of the same person. Its communications, memory, promises, voice and ids move here.",
    mergeSearch: "Name, phone or external id",
    mergeChoose: "Choose",
    mergeNobody: "Nobody was found",
    mergeAction: "Merge",
    mergeConfirm: (gone, kept) => `${gone} becomes a part of ${kept}.`,
    mergeFinal: "This cannot be undone.",
    merged: (gone, kept) => `${gone} was merged into ${kept}`,
    forgetTitle: (name) => `Forget ${name}?`,
    forgetText:
      "The profile, everything remembered, the voice and merged profiles are deleted, and the name is taken out of titles and summaries. What was said stays in its conversations, without the name. This cannot be undone.",
    forgetAction: "Forget",
    forgotten: "The person was forgotten",
  },
  ru: {
    back: "Люди",
    noName: "Без имени",
    edit: "Изменить",
    merge: "Объединить с другим профилем",
    forget: "Забыть человека",
    more: "Другие действия",
    contacts: { one: "коммуникация", few: "коммуникации", many: "коммуникаций", other: "коммуникации" },
    firstContact: "Первый контакт",
    lastContact: "Последний контакт",
    department: "Отдел",
    externalId: "Внешний идентификатор",
    known: "Известен с",
    figures: {
      communications: "Коммуникации",
      facts: "Фактов в памяти",
      open: "Открытые обещания",
      overdue: "Просрочено",
    },
    tabs: { memory: "Память", communications: "Коммуникации", promises: "Обещания", voice: "Голос" },
    noFacts: "Пока ничего не запомнено",
    noFactsText:
      "Факты, которые важны дольше одного разговора, появляются здесь сами: что у человека есть, где он, что предпочитает.",
    fact: { said: (day) => `Сказано ${day}`, earlier: "Раньше" },
    noCommunications: "Коммуникаций пока нет",
    noPromises: "Открытых обещаний нет",
    allCommunications: "Все коммуникации",
    allPromises: "Все обещания",
    voiceKnown: "Голос известен",
    voiceText: (length, day) =>
      `Собран из ${length} чистой речи, последний раз ${day}. По нему человека узнают в новых звонках.`,
    voiceUnknown: "Голос неизвестен",
    voiceUnknownText: "Он запоминается из звонков с разделением голосов, если аккаунт хранит голоса.",
    removeVoice: "Удалить голос",
    removeVoiceText: "Голосовой отпечаток и то, из чего он собран, удаляются. Профиль, память и звонки остаются.",
    voiceRemoved: "Голос удалён",
    aliases: "Объединённые профили",
    aliasText: (day) => `объединён ${day}`,
    name: "Имя",
    role: "Роль",
    save: "Сохранить",
    saved: "Сохранено",
    cancel: "Отмена",
    close: "Закрыть",
    editTitle: "Изменить профиль",
    roleHint: "Она станет ролью и в тех разговорах, где роль была неизвестна.",
    mergeTitle: (name) => `Объединить: ${name}`,
    mergeLead:
      "Найдите второй профиль того же человека. Его коммуникации, память, обещания, голос и идентификаторы перейдут сюда.",
    mergeSearch: "Имя, телефон или внешний идентификатор",
    mergeChoose: "Выбрать",
    mergeNobody: "Никого не нашлось",
    mergeAction: "Объединить",
    mergeConfirm: (gone, kept) => `${gone} станет частью профиля ${kept}.`,
    mergeFinal: "Отменить это нельзя.",
    merged: (gone, kept) => `Профили объединены: ${gone} → ${kept}`,
    forgetTitle: (name) => `Забыть: ${name}?`,
    forgetText:
      "Профиль, вся память, голос и объединённые профили удаляются, имя убирается из заголовков и кратких содержаний. Сказанное остаётся в разговорах без имени. Отменить это нельзя.",
    forgetAction: "Забыть",
    forgotten: "Человек забыт",
  },
};

/** What a fact is about, by the first part of its key; a key that is not here is not shown. */
export const topics: Texts<Record<string, string>> = {
  en: {
    contact: "Contact",
    family: "Family",
    company: "Company",
    work: "Work",
    health: "Health",
    home: "Home",
    preference: "Preference",
    plan: "Plan",
    name: "Name",
    schedule: "Hours",
    city: "City",
    pet: "Pet",
    equipment: "Equipment",
    phone: "Phone",
    address: "Address",
    size: "Size",
    email: "E-mail",
    car: "Car",
  },
  ru: {
    contact: "Связь",
    family: "Семья",
    company: "Компания",
    work: "Работа",
    health: "Здоровье",
    home: "Дом",
    preference: "Предпочтение",
    plan: "Планы",
    name: "Имя",
    schedule: "Часы работы",
    city: "Город",
    pet: "Питомец",
    equipment: "Оборудование",
    phone: "Телефон",
    address: "Адрес",
    size: "Размер",
    email: "Почта",
    car: "Автомобиль",
  },
};
