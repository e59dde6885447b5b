interface Machine {
  name: string;
  use: string;
  price: string;
  points: string[];
}

/** What the demo site says: the invented company's words, and how to connect to it. */
interface Texts {
  page_title: string;
  other_language: string;
  /** By the `data-text` of the page's elements. */
  company: Record<string, string>;
  machines: Machine[];
  ask_about: (name: string) => string;
  question_about: (name: string) => string;
  no_chat_title: string;
  no_chat: readonly [string, string];
  copy: string;
  copied: string;
  connect_title: string;
  connect_lead: readonly [string, string];
  widget_title: string;
  widget_lead: string;
  mcp_title: string;
  mcp_lead: string;
  curl_title: string;
  curl_lead: string;
  example_question: string;
}

const en: Texts = {
  page_title: "Polar Owl — coffee machines to rent",
  other_language: "Русский",
  company: {
    brand: "Polar Owl",
    to_machines: "Machines",
    to_service: "Service",
    to_connect: "For developers",
    title: "Good coffee, and nothing to repair",
    lead: "We bring the machine, set it up, look after it and mend it. You press the button.",
    ask: "Ask about renting",
    see: "See the machines",
    machines_title: "Three machines, one rule: it works",
    machines_lead: "A month’s rent includes servicing. The shortest term is six months.",
    service_title: "What comes with the rent",
    service_1: "Delivery and set-up",
    service_1_text:
      "Free for Owl 20 and Owl 60. From the signature to the first cup it takes about three working days.",
    service_2: "Servicing every six months",
    service_2_text: "An engineer changes the seals and checks the water, without a bill.",
    service_3: "A machine in its place",
    service_3_text: "If a repair takes longer than two working days, we bring another machine.",
    answer_title: "Questions at night, too",
    answer_text:
      "The assistant in the corner answers from our tariffs, instructions and conversations, and shows where it read it. If it cannot help, it calls a person.",
    demo: "An invented company: this is the demonstration site of Parley.",
    parley: "What is Parley?",
    docs: "Documentation",
    api: "API",
  },
  machines: [
    {
      name: "Owl 20",
      use: "An office of up to 20 people",
      price: "4,900 ₽ a month",
      points: ["up to 40 cups a day", "deposit 4,900 ₽"],
    },
    {
      name: "Owl 60",
      use: "An office of up to 60 people",
      price: "9,500 ₽ a month",
      points: ["up to 150 cups a day", "deposit 9,500 ₽"],
    },
    {
      name: "Eagle Owl",
      use: "A café, restaurant or hotel",
      price: "18,500 ₽ a month",
      points: ["up to 300 cups a day", "deposit 37,000 ₽"],
    },
  ],
  ask_about: (name) => `Ask about ${name}`,
  question_about: (name) => `What does ${name} cost, and what is included?`,
  no_chat_title: "No chat is set up yet.",
  no_chat: ["Load the demo company with", "and open this page again."],
  copy: "Copy",
  copied: "Copied",
  connect_title: "Connect it to your work",
  connect_lead: [
    "The same answers for your own site, for AI agents and for programs. API_KEY and CHAT_ID of the demo account stand in",
    ".",
  ],
  widget_title: "A site, by one line",
  widget_lead: "Name the site’s address among the account’s allowed origins, and put this line into its pages.",
  mcp_title: "An AI agent, by MCP",
  mcp_lead: "For any client that takes a streamable HTTP server.",
  curl_title: "A program, by HTTP",
  curl_lead: "The answer streams in as server-sent events.",
  example_question: "How much is delivery?",
};

const ru: Texts = {
  page_title: "Полярная сова — аренда кофемашин",
  other_language: "English",
  company: {
    brand: "Полярная сова",
    to_machines: "Машины",
    to_service: "Сервис",
    to_connect: "Разработчикам",
    title: "Хороший кофе — и чинить ничего не нужно",
    lead: "Привозим кофемашину, настраиваем, обслуживаем и ремонтируем. Вы нажимаете на кнопку.",
    ask: "Спросить об аренде",
    see: "Посмотреть машины",
    machines_title: "Три машины и одно правило: работает",
    machines_lead: "Обслуживание входит в аренду. Минимальный срок — шесть месяцев.",
    service_title: "Что входит в аренду",
    service_1: "Доставка и установка",
    service_1_text: "Бесплатно для «Совы 20» и «Совы 60». От договора до первой чашки — около трёх рабочих дней.",
    service_2: "Профилактика раз в полгода",
    service_2_text: "Инженер меняет уплотнители и проверяет воду. Отдельно платить не нужно.",
    service_3: "Подменная машина",
    service_3_text: "Если ремонт длится дольше двух рабочих дней, привозим другую машину.",
    answer_title: "Ответим и ночью",
    answer_text:
      "Ассистент в углу страницы отвечает по нашим тарифам, инструкциям и разговорам и показывает, где это прочёл. Если не справится — позовёт человека.",
    demo: "Компания выдумана: это демонстрационный сайт Parley.",
    parley: "Что такое Parley?",
    docs: "Документация",
    api: "API",
  },
  machines: [
    {
      name: "«Сова 20»",
      use: "Офис до 20 человек",
      price: "4 900 ₽ в месяц",
      points: ["до 40 чашек в день", "залог 4 900 ₽"],
    },
    {
      name: "«Сова 60»",
      use: "Офис до 60 человек",
      price: "9 500 ₽ в месяц",
      points: ["до 150 чашек в день", "залог 9 500 ₽"],
    },
    {
      name: "«Филин»",
      use: "Кафе, ресторан, гостиница",
      price: "18 500 ₽ в месяц",
      points: ["до 300 чашек в день", "залог 37 000 ₽"],
    },
  ],
  ask_about: (name) => `Спросить про ${name}`,
  question_about: (name) => `Сколько стоит аренда машины ${name} и что в неё входит?`,
  no_chat_title: "Чат ещё не настроен.",
  no_chat: ["Загрузите демонстрационную компанию командой", "и откройте эту страницу снова."],
  copy: "Копировать",
  copied: "Скопировано",
  connect_title: "Подключите к своей работе",
  connect_lead: [
    "Те же ответы для вашего сайта, ИИ-агентов и программ. API_KEY и CHAT_ID демонстрационного аккаунта лежат в",
    ".",
  ],
  widget_title: "Сайт, одной строкой",
  widget_lead: "Добавьте адрес сайта в разрешённые адреса аккаунта и вставьте эту строку в его страницы.",
  mcp_title: "ИИ-агент, по MCP",
  mcp_lead: "Для любого клиента, который понимает streamable HTTP.",
  curl_title: "Программа, по HTTP",
  curl_lead: "Ответ приходит потоком server-sent events.",
  example_question: "Сколько стоит доставка?",
};

const asked = new URLSearchParams(location.search).get("lang");
const preferred = asked === "ru" || asked === "en" ? asked : navigator.language.toLowerCase().slice(0, 2);

export const LANGUAGE: "ru" | "en" = preferred === "ru" ? "ru" : "en";
export const OTHER = LANGUAGE === "ru" ? "en" : "ru";
export const texts: Texts = LANGUAGE === "ru" ? ru : en;
