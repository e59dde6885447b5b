/** What the trial says while it works, beside what the server wrote into the page. */
export interface Texts {
  uploading: (percent: number) => string;
  waiting: string;
  listening: (percent: number) => string;
  summing: string;
  cancel: string;
  again: string;
  remove: string;
  removed: string;
  copy: string;
  copied: string;
  result: string;
  summary: string;
  noSummary: string;
  text: string;
  silent: string;
  player: string;
  play: (time: string) => string;
  until: (time: string) => string;
  tooLarge: string;
  tooMany: (minutes: number) => string;
  full: string;
  unreadable: string;
  gone: string;
  failed: string;
  network: string;
  voice: (number: number) => string;
  languages: Record<string, string>;
  categories: Record<string, string>;
}

const en: Texts = {
  uploading: (percent) => `Uploading, ${percent} %`,
  waiting: "Waiting for its turn",
  listening: (percent) => `Listening, ${percent} %`,
  summing: "Writing the summary",
  cancel: "Cancel",
  again: "Another recording",
  remove: "Delete now",
  removed: "Deleted: nothing of it is left on this server.",
  copy: "Copy link",
  copied: "Copied",
  result: "Your recording",
  summary: "Summary",
  noSummary: "Too little was said for a summary.",
  text: "What was said",
  silent: "No speech was found in it.",
  player: "The recording",
  play: (time) => `Play from ${time}`,
  until: (time) => `Kept until ${time}, then deleted.`,
  tooLarge: "The file is larger than 16 MB. A shorter piece, or one saved as MP3, will do.",
  tooMany: (minutes) => `Two recordings an hour are enough for a try. The next one can come in ${minutes} min.`,
  full: "Many visitors are trying at this moment. Please come back in a few minutes.",
  unreadable: "This file holds no sound that can be read. MP3, WAV, OGG, M4A and FLAC can.",
  gone: "This result is gone: they are deleted after a day.",
  failed: "The recording could not be recognised.",
  network: "The server cannot be reached. Check the connection and try again.",
  voice: (number) => `Voice ${number}`,
  categories: {
    no_contact: "No contact",
    sales: "Sales",
    renewal: "Renewal",
    support: "Support",
    billing: "Billing",
    supply: "Order and delivery",
    complaint: "Complaint",
    internal: "Internal meeting",
  },
  languages: { ru: "Russian", en: "English", de: "German", fr: "French", es: "Spanish", uk: "Ukrainian", kk: "Kazakh" },
};

const ru: Texts = {
  uploading: (percent) => `Загружаем, ${percent} %`,
  waiting: "Ждёт очереди",
  listening: (percent) => `Слушаем, ${percent} %`,
  summing: "Пишем краткое содержание",
  cancel: "Отменить",
  again: "Другая запись",
  remove: "Удалить сейчас",
  removed: "Удалено: на сервере ничего не осталось.",
  copy: "Скопировать ссылку",
  copied: "Скопировано",
  result: "Ваша запись",
  summary: "Краткое содержание",
  noSummary: "Сказано слишком мало, чтобы пересказывать.",
  text: "Что было сказано",
  silent: "Речи в записи не нашлось.",
  player: "Запись",
  play: (time) => `Слушать с ${time}`,
  until: (time) => `Хранится до ${time}, потом удалится.`,
  tooLarge: "Файл больше 16 МБ. Подойдёт фрагмент покороче или запись в MP3.",
  tooMany: (minutes) => `Для пробы хватит двух записей в час. Следующую можно прислать через ${minutes} мин.`,
  full: "Сейчас пробуют многие. Загляните через несколько минут.",
  unreadable: "В этом файле не нашлось звука. Подойдут MP3, WAV, OGG, M4A и FLAC.",
  gone: "Этого результата больше нет: через сутки они удаляются.",
  failed: "Запись не удалось распознать.",
  network: "Сервер не отвечает. Проверьте соединение и попробуйте ещё раз.",
  voice: (number) => `Голос ${number}`,
  categories: {
    no_contact: "Без контакта",
    sales: "Продажа",
    renewal: "Продление",
    support: "Поддержка",
    billing: "Оплата и счета",
    supply: "Заказ и доставка",
    complaint: "Жалоба",
    internal: "Внутренняя встреча",
  },
  languages: {
    ru: "русский",
    en: "английский",
    de: "немецкий",
    fr: "французский",
    es: "испанский",
    uk: "украинский",
    kk: "казахский",
  },
};

export const LANGUAGE = document.documentElement.lang === "ru" ? "ru" : "en";
export const texts: Texts = LANGUAGE === "ru" ? ru : en;
