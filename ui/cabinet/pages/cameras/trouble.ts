import { type Texts, useTexts } from "../../i18n/language";
import type { Stream } from "./kinds";

interface Words {
  login: string;
  path: string;
  unreachable: string;
  cut: string;
  picture: string;
  codec: string;
  network: string;
  elsewhere: string;
  looking: string;
  storing: string;
  money: string;
  plan: string;
  model: string;
  objects: string;
  poses: string;
  plates: string;
  ppe: string;
  fire: string;
  people: string;
  soon: string;
  room: string;
  nobody: string;
}

// The server says what it knows of a camera in English sentences without codes: these are the ones there are.
const SAID: [RegExp, keyof Words][] = [
  [/user name or password are refused/, "login"],
  [/no such path|no video is sent from this address/, "path"],
  [/connection is refused|address cannot be reached|no answer within|name c(an|ould )not be resolved/, "unreachable"],
  [/connection was (cut|closed)|camera ended the stream/, "cut"],
  [/no whole picture|no picture came|cannot be read as video/, "picture"],
  [/only H\.264 can be read/, "codec"],
  [/network where cameras may not be/, "network"],
  [/sends its viewers on to another address/, "elsewhere"],
  [/pictures cannot be looked at/, "looking"],
  [/what is found cannot be stored/, "storing"],
  [/balance does not bear|client is paused/, "money"],
  [/the plan has \d+ cameras|module is switched off/, "plan"],
  [/the model for \w+ cannot be used/, "model"],
  [/no detector of people and vehicles/, "objects"],
  [/no detector of poses/, "poses"],
  [/no detector of plates/, "plates"],
  [/no detector of protective equipment/, "ppe"],
  [/no detector of fire and smoke/, "fire"],
  [/no model to tell people apart/, "people"],
  [/waiting for a worker/, "soon"],
  [/no worker has room/, "room"],
  [/no worker is running/, "nobody"],
];

const texts: Texts<Words & { other: (words: string) => string }> = {
  en: {
    login: "The camera refuses the user name or the password.",
    path: "The camera sends no video from this address: look at the path.",
    unreachable: "The camera does not answer: is it switched on, and can the server reach it?",
    cut: "The camera broke the connection off.",
    picture: "No picture comes that can be read.",
    codec: "The camera sends another kind of video than H.264: change its settings.",
    network: "The address leads to a network where cameras may not be.",
    elsewhere: "The camera sends its viewers on to another address: register that one.",
    looking: "Its pictures cannot be looked at: the server's log says why.",
    storing: "What it sees cannot be stored yet: the server's log says why.",
    money: "The balance does not bear another day of this camera.",
    plan: "The plan of your account has no place for this camera.",
    model: "A detector of this camera cannot be used: the server's log says why.",
    objects: "No detector of people and vehicles is installed: nothing but codes and plates is read.",
    poses: "No detector of poses is installed: falls are not seen.",
    plates: "No detector of plates is installed: plates are not read.",
    ppe: "No detector of protective equipment is installed.",
    fire: "No detector of fire and smoke is installed.",
    people: "People are not told apart: who comes again is counted as another visitor.",
    soon: "In a moment somebody looks at this camera.",
    room: "The server watches as many cameras as it can: there is no room for this one.",
    nobody: "Nothing that watches cameras is running: the server's log says why.",
    other: (words) => `The server says of this camera: ${words}`,
  },
  ru: {
    login: "Камера не принимает имя пользователя или пароль.",
    path: "По этому адресу камера не отдаёт видео: проверьте путь.",
    unreachable: "Камера не отвечает: включена ли она и видна ли с сервера?",
    cut: "Камера прервала соединение.",
    picture: "Не приходит изображение, которое можно прочитать.",
    codec: "Камера шлёт не H.264: поменяйте её настройки.",
    network: "Адрес ведёт в сеть, где камер быть не может.",
    elsewhere: "Камера отправляет на другой адрес: укажите его.",
    looking: "Изображение не удаётся разобрать: причина в журнале сервера.",
    storing: "Увиденное пока не удаётся сохранить: причина в журнале сервера.",
    money: "Баланса не хватает на следующий день этой камеры.",
    plan: "В тарифе вашего аккаунта нет места для этой камеры.",
    model: "Детектор этой камеры не работает: причина в журнале сервера.",
    objects: "Детектор людей и машин не установлен: читаются только коды и номера.",
    poses: "Детектор поз не установлен: падения не видны.",
    plates: "Детектор номеров не установлен: номера не читаются.",
    ppe: "Детектор средств защиты не установлен.",
    fire: "Детектор огня и дыма не установлен.",
    people: "Люди не различаются: кто пришёл снова, считается новым посетителем.",
    soon: "Наблюдение за камерой вот-вот начнётся.",
    room: "Сервер смотрит столько камер, сколько может: для этой нет места.",
    nobody: "Наблюдение за камерами не запущено: причина в журнале сервера.",
    other: (words) => `Сервер сообщает об этой камере: ${words}`,
  },
};

/** What is the matter with a camera, in the person's language; what is not known here with the server's words. */
export function useTrouble(): (stream: Stream) => string[] {
  const t = useTexts(texts);
  const say = (words: string) => {
    const known = SAID.find(([said]) => said.test(words));
    return known ? t[known[1]] : t.other(words);
  };
  return ({ message, notes }) => [...new Set([message, ...notes].filter(Boolean).map(say))];
}
