import type { Language, Texts } from "../../i18n/language";

type Name =
  | "title"
  | "lead"
  | "actions"
  | "tools"
  | "who"
  | "what"
  | "nothing"
  | "emptyActions"
  | "emptyTools"
  | "emptyToolsText"
  | "byLink"
  | "byKey"
  | "byOperator"
  | "byPartner"
  | "tool"
  | "anyTool"
  | "outcome"
  | "anyOutcome"
  | "ok"
  | "error"
  | "ms"
  | "items"
  | "close"
  | "at"
  | "by"
  | "client"
  | "protocol"
  | "lasted"
  | "request"
  | "arguments";

export const texts: Texts<Record<Name, string>> = {
  en: {
    title: "Audit",
    lead: "Who did what in this account, and what agents asked for.",
    actions: "Actions",
    tools: "Tool calls of agents",
    who: "Who",
    what: "What",
    nothing: "Nothing fits the filter",
    emptyActions: "Nothing was done yet",
    emptyTools: "No agent has asked for anything yet",
    emptyToolsText: "Connect one under “Connect agents”: every call is listed here with its arguments and its outcome.",
    byLink: "by a session link",
    byKey: "key",
    byOperator: "the server's operator",
    byPartner: "partner",
    tool: "Tool",
    anyTool: "Any tool",
    outcome: "Outcome",
    anyOutcome: "Any outcome",
    ok: "Done",
    error: "Refused or failed",
    ms: "ms",
    items: "items",
    close: "Close",
    at: "When",
    by: "Who",
    client: "Client",
    protocol: "Protocol",
    lasted: "Took",
    request: "Request",
    arguments: "Arguments",
  },
  ru: {
    title: "Журнал",
    lead: "Кто и что делал в этом аккаунте и о чём спрашивали агенты.",
    actions: "Действия",
    tools: "Вызовы агентов",
    who: "Кто",
    what: "Что",
    nothing: "Под фильтр ничего не подходит",
    emptyActions: "Пока ничего не происходило",
    emptyTools: "Агенты ещё ни о чём не спрашивали",
    emptyToolsText:
      "Подключите агента в разделе «Подключение агентов»: здесь появится каждый вызов с параметрами и итогом.",
    byLink: "по ссылке в кабинет",
    byKey: "ключ",
    byOperator: "оператор сервера",
    byPartner: "партнёр",
    tool: "Инструмент",
    anyTool: "Любой инструмент",
    outcome: "Итог",
    anyOutcome: "Любой итог",
    ok: "Выполнено",
    error: "Отказ или ошибка",
    ms: "мс",
    items: "записей:",
    close: "Закрыть",
    at: "Когда",
    by: "Кто",
    client: "Клиент",
    protocol: "Протокол",
    lasted: "Заняло",
    request: "Запрос",
    arguments: "Параметры",
  },
};

/** What stands before the point of an action, as the filter offers it. */
export const kinds: Texts<Record<string, string>> = {
  en: {
    settings: "Settings",
    key: "API keys",
    operator: "People and roles",
    session: "Signing in and out",
    payment: "Payments",
    balance: "Balance",
    speaker: "People (profiles)",
    communications: "Communications",
    qc_scenarios: "Quality scenarios",
    stream: "Cameras",
    delivery: "Webhooks",
    client: "Account",
    account: "Export and deletion",
  },
  ru: {
    settings: "Настройки",
    key: "API-ключи",
    operator: "Сотрудники и роли",
    session: "Вход и выход",
    payment: "Платежи",
    balance: "Баланс",
    speaker: "Люди (профили)",
    communications: "Коммуникации",
    qc_scenarios: "Сценарии качества",
    stream: "Камеры",
    delivery: "Вебхуки",
    client: "Аккаунт",
    account: "Выгрузка и удаление",
  },
};

const names: Texts<Record<string, string>> = {
  en: {
    "account.exported": "Everything was exported",
    "balance.added": "Balance was added to",
    "client.created": "The account was made",
    "client.deactivated": "The account was paused",
    "client.reactivated": "The account was taken up again",
    "client.updated": "The account was changed",
    "communications.deleted": "Communications were deleted",
    "delivery.resent": "A webhook was sent again",
    "key.created": "A key was made",
    "key.revoked": "A key was ended",
    "key.rotated": "A partner's key was replaced",
    "operator.changed": "A person's role or name was changed",
    "operator.invited": "A person was invited",
    "operator.invited_again": "An invitation was sent again",
    "operator.removed": "A person was removed",
    "payment.received": "A payment was received",
    "payment_link.created": "A payment was begun",
    "qc_scenarios.changed": "Quality scenarios were changed",
    "session.ended": "Signed out",
    "session.opened": "Signed in",
    "session_link.created": "A link into the cabinet was made",
    "settings.changed": "Settings were changed",
    "speaker.changed": "A profile was changed",
    "speaker.deleted": "A person was forgotten",
    "speaker.merged": "Two profiles were merged",
    "speaker.voice_deleted": "A voice was deleted",
    "stream.changed": "A camera was changed",
    "stream.created": "A camera was added",
    "stream.deleted": "A camera was deleted",
    "tariff.changed": "The tariff was changed",
  },
  ru: {
    "account.exported": "Выгружены все данные",
    "balance.added": "Пополнен баланс",
    "client.created": "Создан аккаунт",
    "client.deactivated": "Аккаунт приостановлен",
    "client.reactivated": "Аккаунт возобновлён",
    "client.updated": "Изменён аккаунт",
    "communications.deleted": "Удалены коммуникации",
    "delivery.resent": "Вебхук отправлен снова",
    "key.created": "Создан ключ",
    "key.revoked": "Отозван ключ",
    "key.rotated": "Заменён ключ партнёра",
    "operator.changed": "Изменены роль или имя сотрудника",
    "operator.invited": "Приглашён сотрудник",
    "operator.invited_again": "Приглашение отправлено ещё раз",
    "operator.removed": "Удалён сотрудник",
    "payment.received": "Получен платёж",
    "payment_link.created": "Начат платёж",
    "qc_scenarios.changed": "Изменены сценарии качества",
    "session.ended": "Выход из кабинета",
    "session.opened": "Вход в кабинет",
    "session_link.created": "Создана ссылка в кабинет",
    "settings.changed": "Изменены настройки",
    "speaker.changed": "Изменён профиль",
    "speaker.deleted": "Человек забыт",
    "speaker.merged": "Объединены два профиля",
    "speaker.voice_deleted": "Удалён голос",
    "stream.changed": "Изменена камера",
    "stream.created": "Добавлена камера",
    "stream.deleted": "Удалена камера",
    "tariff.changed": "Изменён тариф",
  },
};

/** An action in words; one that is newer than these texts as it is. */
export const actionName = (action: string, language: Language): string => names[language][action] ?? action;
