import type { Texts } from "../../i18n/language";

type Name =
  | "title"
  | "lead"
  | "first"
  | "keyLead"
  | "keyName"
  | "makeKey"
  | "askOwner"
  | "once"
  | "second"
  | "fillIn"
  | "address"
  | "third"
  | "tryLead"
  | "key"
  | "tryNow"
  | "works"
  | "refused"
  | "tools"
  | "toolsLead"
  | "audit";

export const texts: Texts<Record<Name, string>> = {
  en: {
    title: "Connect agents",
    lead: "Claude, ChatGPT, Cursor or a program of yours reads your calls, people and documents over MCP. It only reads, and it costs nothing.",
    first: "1. A key of its own",
    keyLead: "One key for each agent, so that each can be limited and ended by itself.",
    keyName: "Which agent is it for?",
    makeKey: "Make a key",
    askOwner: "Only owners make keys: ask one for a key, and put it into the configuration below.",
    once: "The key is shown until you leave this page, and is filled in below. Copy it now.",
    second: "2. The configuration",
    fillIn: "Put your key in place of sk_live_..., or make one above.",
    address: "Address",
    third: "3. Does it work?",
    tryLead: "Asks for the list of tools, as your agent will.",
    key: "Key",
    tryNow: "Try the connection",
    works: "It works. Your agent finds these tools:",
    refused: "The server does not know this key, or it was ended.",
    tools: "What agents can ask",
    toolsLead: "Every call is written down:",
    audit: "tool calls in the audit",
  },
  ru: {
    title: "Подключение агентов",
    lead: "Claude, ChatGPT, Cursor или ваша программа читают звонки, людей и документы по протоколу MCP. Только чтение, и это бесплатно.",
    first: "1. Отдельный ключ",
    keyLead: "Каждому агенту свой ключ, чтобы ограничить или отозвать любой отдельно.",
    keyName: "Для какого агента?",
    makeKey: "Создать ключ",
    askOwner: "Ключи создают только владельцы: попросите ключ и подставьте его в настройки ниже.",
    once: "Ключ виден, пока вы не ушли с этой страницы, и уже подставлен ниже. Скопируйте его сейчас.",
    second: "2. Настройка",
    fillIn: "Подставьте свой ключ вместо sk_live_... или создайте его выше.",
    address: "Адрес",
    third: "3. Проверка",
    tryLead: "Запросит список инструментов так же, как это сделает агент.",
    key: "Ключ",
    tryNow: "Проверить подключение",
    works: "Работает. Агент увидит эти инструменты:",
    refused: "Сервер не знает такого ключа, или ключ отозван.",
    tools: "О чём агенты могут спросить",
    toolsLead: "Каждый вызов записывается:",
    audit: "вызовы в журнале",
  },
};

export const toolUses: Texts<Record<string, string>> = {
  en: {
    search_communications: "What was said, asked or agreed in calls, chats and mails",
    get_communication: "One conversation: summary, facts, promises, text",
    search_speakers: "A client or an employee by name, role or department",
    search_memory: "Lasting facts about clients",
    search_commitments: "What employees promised, by when, what is overdue",
    get_period_metrics: "How many and how long, by day, channel or category",
    rank_people: "People and departments by contacts, talk, quality and promises",
    rank_signals: "Objections, churn and other signals: which came up most",
    rank_qc: "Best and worst scores by person, scenario or criterion",
    get_qc_evaluation: "A conversation's checklist with the words that prove it",
    search_documents: "Your rules, prices and manuals",
    list_kb_spaces: "What the knowledge base is divided into",
    list_kb_documents: "The documents of a space",
    list_kb_chunks: "A document, passage by passage",
    search_product_docs: "How Parley itself works",
  },
  ru: {
    search_communications: "Что говорили, спрашивали и решили в звонках, чатах и письмах",
    get_communication: "Один разговор: резюме, факты, обещания, текст",
    search_speakers: "Клиент или сотрудник по имени, роли или отделу",
    search_memory: "Важные факты о клиентах",
    search_commitments: "Что обещали сотрудники, к какому сроку, что просрочено",
    get_period_metrics: "Сколько и как долго: по дням, каналам, категориям",
    rank_people: "Люди и отделы по контактам, речи, качеству и обещаниям",
    rank_signals: "Возражения, уход и другие сигналы: что встречается чаще",
    rank_qc: "Лучшие и худшие оценки по людям, сценариям, критериям",
    get_qc_evaluation: "Чек-лист разговора со словами, которые его подтверждают",
    search_documents: "Ваши правила, цены и инструкции",
    list_kb_spaces: "Из каких разделов состоит база знаний",
    list_kb_documents: "Документы раздела",
    list_kb_chunks: "Документ по фрагментам",
    search_product_docs: "Как устроен сам Parley",
  },
};
