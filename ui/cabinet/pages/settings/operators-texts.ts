import type { Role } from "../../app/session";
import type { Texts } from "../../i18n/language";

interface People {
  title: string;
  lead: string;
  invite: string;
  nobody: string;
  rolesTitle: string;
  roles: Record<Role, string>;
  may: Record<Role, string>;
  role: string;
  you: string;
  invited: string;
  notYet: string;
  here: string;
  seen: string;
  more: string;
  inviteAgain: string;
  remove: string;
  removeTitle: string;
  removeText: (name: string) => string;
  removed: string;
  changed: string;
  lastOwner: string;
  sent: string;
  sentAgain: string;
  logged: string;
  email: string;
  name: string;
  send: string;
  cancel: string;
  exists: string;
  noEmail: string;
  mailFailed: string;
  noMail: string;
}

export const texts: Texts<People> = {
  en: {
    title: "People and roles",
    lead: "Who works in this cabinet. Everybody signs in by a link to their e-mail: there are no passwords.",
    invite: "Invite",
    nobody: "Nobody is invited yet. This session came by a link from your system.",
    rolesTitle: "What each role may do",
    roles: { owner: "Owner", operator: "Operator", viewer: "Viewer" },
    may: {
      owner: "Everything: settings, keys, people, money, deletion.",
      operator: "Works with communications, people, knowledge, chats, cameras and uploads.",
      viewer: "Reads everything, changes nothing.",
    },
    role: "Role",
    you: "you",
    invited: "invited",
    notYet: "has not signed in yet",
    here: "here now",
    seen: "signed in",
    more: "More",
    inviteAgain: "Send the invitation again",
    remove: "Remove",
    removeTitle: "Remove from the account?",
    removeText: (name) => `${name} leaves the cabinet at once, on every device. You can invite them again.`,
    removed: "Removed",
    changed: "The role is changed",
    lastOwner: "An account keeps at least one owner: make somebody else one first.",
    sent: "The invitation is on its way. Its link works for a week.",
    sentAgain: "Sent again",
    logged: "The link is in the server's log.",
    email: "E-mail",
    name: "Name (may stay empty)",
    send: "Send the invitation",
    cancel: "Cancel",
    exists: "This e-mail works in the account already.",
    noEmail: "This is no e-mail address.",
    mailFailed: "The mail server did not take the letter, so nobody was added. Try again later.",
    noMail: "No mail is set up on this server: the link is written into its log.",
  },
  ru: {
    title: "Сотрудники и роли",
    lead: "Кто работает в этом кабинете. Все входят по ссылке на свою почту: паролей нет.",
    invite: "Пригласить",
    nobody: "Пока никто не приглашён. Эта сессия открыта ссылкой из вашей системы.",
    rolesTitle: "Что может каждая роль",
    roles: { owner: "Владелец", operator: "Оператор", viewer: "Наблюдатель" },
    may: {
      owner: "Всё: настройки, ключи, сотрудники, деньги, удаление.",
      operator: "Работает с коммуникациями, людьми, базой знаний, чатами, камерами и загрузками.",
      viewer: "Всё читает, ничего не меняет.",
    },
    role: "Роль",
    you: "это вы",
    invited: "приглашение",
    notYet: "ещё не входил(а)",
    here: "сейчас здесь",
    seen: "вход",
    more: "Ещё",
    inviteAgain: "Отправить приглашение ещё раз",
    remove: "Удалить",
    removeTitle: "Удалить из аккаунта?",
    removeText: (name) => `Доступ закроется сразу и на всех устройствах: ${name}. Пригласить можно будет снова.`,
    removed: "Доступ закрыт",
    changed: "Роль изменена",
    lastOwner: "В аккаунте остаётся хотя бы один владелец: сначала назначьте другого.",
    sent: "Приглашение отправлено. Ссылка в нём работает неделю.",
    sentAgain: "Отправлено ещё раз",
    logged: "Ссылка записана в журнал сервера.",
    email: "Электронная почта",
    name: "Имя (можно не указывать)",
    send: "Отправить приглашение",
    cancel: "Отмена",
    exists: "Этот адрес уже есть в аккаунте.",
    noEmail: "Это не адрес электронной почты.",
    mailFailed: "Почтовый сервер не принял письмо, поэтому никто не добавлен. Повторите позже.",
    noMail: "Почта на этом сервере не настроена: ссылка запишется в его журнал.",
  },
};
