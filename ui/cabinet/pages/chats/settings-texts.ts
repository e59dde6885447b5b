import type { Texts } from "../../i18n/language";

interface SettingsTexts {
  about: string;
  name: string;
  nameHint: string;
  isDefault: string;
  isDefaultHint: string;
  isActive: string;
  isActiveHint: string;
  answering: string;
  model: string;
  modelHint: string;
  ownModel: (name: string) => string;
  noModel: string;
  instructions: string;
  instructionsHint: string;
  spaces: string;
  spacesHint: string;
  allSpaces: string;
  tools: string;
  toolsHint: string;
  allTools: string;
  toolNames: Record<string, string>;
  site: string;
  header: string;
  greeting: string;
  suggestions: string;
  suggestionsHint: string;
  accent: string;
  scheme: string;
  schemes: Record<"auto" | "light" | "dark", string>;
  position: string;
  positions: Record<"left" | "right", string>;
  languages: string;
  languagesHint: string;
  visitors: string;
  siteSpaces: string;
  siteSpacesHint: string;
  siteTools: string;
  siteToolsHint: string;
  perDay: string;
  perDayHint: string;
  origins: string;
  originsHint: string;
  snippet: string;
  snippetHint: string;
  copy: string;
  copied: string;
  rotate: string;
  rotateTitle: string;
  rotateText: string;
  rotated: string;
  remove: string;
  removeTitle: string;
  removeText: (name: string) => string;
  unsaved: string;
  save: string;
  discard: string;
  saved: string;
}

export const settingsTexts: Texts<SettingsTexts> = {
  en: {
    about: "This chat",
    name: "Name",
    nameHint: "What it is called here and for agents.",
    isDefault: "Default chat",
    isDefaultHint: "The one that programs ask where they name none. Make another one the default to change it.",
    isActive: "Switched on",
    isActiveHint: "Off, it answers nobody and its widget does not appear.",
    answering: "How it answers",
    model: "Model",
    modelHint: "Without a model, answers are quotations from your documents.",
    ownModel: (name) => `The server's own (${name})`,
    noModel: "No model: quotations only",
    instructions: "Instructions",
    instructionsHint: "Tone and form: how to address people, how long answers are. Facts belong into documents.",
    spaces: "Spaces it answers from",
    spacesHint: "None chosen: all that it may see.",
    allSpaces: "All spaces",
    tools: "Tools for your own people",
    toolsHint: "None chosen: all of them.",
    allTools: "All tools",
    toolNames: {
      search_documents: "Search documents",
      list_kb_spaces: "List spaces",
      search_communications: "Search calls and mails",
      get_communication: "Read a call or mail",
      search_memory: "Search what is remembered of people",
      search_speakers: "Find people",
      search_commitments: "Search promises",
      rank_signals: "Count complaints, objections and the like",
    },
    site: "The widget",
    header: "Title",
    greeting: "Greeting",
    suggestions: "Suggested questions",
    suggestionsHint: "One a line, up to six.",
    accent: "Colour",
    scheme: "Look",
    schemes: { auto: "As the visitor's system", light: "Light", dark: "Dark" },
    position: "Corner",
    positions: { right: "Right", left: "Left" },
    languages: "Languages",
    languagesHint: "None chosen: both.",
    visitors: "What visitors may reach",
    siteSpaces: "Spaces for visitors",
    siteSpacesHint: "None chosen: those above.",
    siteTools: "Beside documents",
    siteToolsHint: "Opens your calls and mails to visitors. Leave it empty unless they are public.",
    perDay: "Questions a day",
    perDayHint: "How many the agent takes from visitors in a day; empty is no limit.",
    origins: "Sites that may show the widget",
    originsHint: "One a line, such as https://www.example.com. Empty: those of the account.",
    snippet: "Put it onto your site",
    snippetHint: "One line in your pages. The key opens this one chat and nothing else.",
    copy: "Copy",
    copied: "Copied",
    rotate: "Change the key",
    rotateTitle: "Give the chat another key?",
    rotateText: "The widget stops at once on every page that has the old key, until you put the new line there.",
    rotated: "The chat has a new key. Put the new line onto your site.",
    remove: "Delete the chat",
    removeTitle: "Delete this chat?",
    removeText: (name) => `“${name}” and its widget end at once. Its conversations stay.`,
    unsaved: "There are changes that are not saved.",
    save: "Save",
    discard: "Discard",
    saved: "Saved.",
  },
  ru: {
    about: "Этот чат",
    name: "Название",
    nameHint: "Как он называется здесь и для агентов.",
    isDefault: "Чат по умолчанию",
    isDefaultHint: "Его спрашивают программы, если не назвали другой. Чтобы сменить, назначьте другой чат.",
    isActive: "Включён",
    isActiveHint: "Выключенный никому не отвечает, и виджет не появляется.",
    answering: "Как он отвечает",
    model: "Модель",
    modelHint: "Без модели ответы — цитаты из ваших документов.",
    ownModel: (name) => `Модель сервера (${name})`,
    noModel: "Без модели: только цитаты",
    instructions: "Инструкции",
    instructionsHint: "Тон и форма: как обращаться, насколько подробно отвечать. Факты держите в документах.",
    spaces: "Разделы, из которых он отвечает",
    spacesHint: "Если не выбрать, то все, что ему видны.",
    allSpaces: "Все разделы",
    tools: "Инструменты для сотрудников",
    toolsHint: "Если не выбрать, то все.",
    allTools: "Все инструменты",
    toolNames: {
      search_documents: "Поиск по документам",
      list_kb_spaces: "Список разделов",
      search_communications: "Поиск по звонкам и письмам",
      get_communication: "Чтение звонка или письма",
      search_memory: "Поиск по памяти о людях",
      search_speakers: "Поиск людей",
      search_commitments: "Поиск обещаний",
      rank_signals: "Подсчёт жалоб, возражений и подобного",
    },
    site: "Виджет",
    header: "Заголовок",
    greeting: "Приветствие",
    suggestions: "Готовые вопросы",
    suggestionsHint: "По одному в строке, не больше шести.",
    accent: "Цвет",
    scheme: "Оформление",
    schemes: { auto: "Как в системе посетителя", light: "Светлое", dark: "Тёмное" },
    position: "Угол",
    positions: { right: "Справа", left: "Слева" },
    languages: "Языки",
    languagesHint: "Если не выбрать, то оба.",
    visitors: "Что доступно посетителям",
    siteSpaces: "Разделы для посетителей",
    siteSpacesHint: "Если не выбрать, то те же, что выше.",
    siteTools: "Кроме документов",
    siteToolsHint: "Открывает посетителям ваши звонки и письма. Оставьте пустым, если они не публичны.",
    perDay: "Вопросов в день",
    perDayHint: "Сколько вопросов посетителей принимает агент за день; пусто — без ограничения.",
    origins: "Сайты, где может быть виджет",
    originsHint: "По одному в строке, например https://www.example.com. Пусто — как в настройках аккаунта.",
    snippet: "Установка на сайт",
    snippetHint: "Одна строка на ваших страницах. Ключ открывает только этот чат.",
    copy: "Скопировать",
    copied: "Скопировано",
    rotate: "Сменить ключ",
    rotateTitle: "Выдать чату другой ключ?",
    rotateText:
      "На всех страницах со старым ключом виджет сразу перестанет работать, пока вы не вставите новую строку.",
    rotated: "У чата новый ключ. Вставьте новую строку на сайт.",
    remove: "Удалить чат",
    removeTitle: "Удалить чат?",
    removeText: (name) => `«${name}» и его виджет сразу перестанут работать. Диалоги останутся.`,
    unsaved: "Есть несохранённые изменения.",
    save: "Сохранить",
    discard: "Отменить",
    saved: "Сохранено.",
  },
};
