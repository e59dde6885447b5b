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
  | "byServerStart"
  | "byRetention"
  | "byPlatform"
  | "byProvider"
  | "open"
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
    byServerStart: "the server's start",
    byRetention: "retention",
    byPlatform: "the server",
    byProvider: "payment provider",
    open: "Open",
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
    byServerStart: "запуск сервера",
    byRetention: "срок хранения",
    byPlatform: "сервер",
    byProvider: "платёжная система",
    open: "Открыть",
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

/** What the filter offers: the kinds of actions, which stand before their points, that belong together. */
export const kinds: Texts<Record<string, string>> = {
  en: {
    settings: "Settings",
    key: "API keys",
    operator: "People and roles",
    "session,session_link": "Signing in and out",
    "payment,payment_link": "Payments",
    "balance,tariff": "Balance and tariff",
    "communication,communications,audio": "Communications",
    speaker: "People (profiles)",
    commitment: "Promises",
    view: "Saved views",
    qc_scenarios: "Quality scenarios",
    "space,document,question,evaluation": "Knowledge base",
    "chat,conversation": "Chats",
    stream: "Cameras",
    delivery: "Webhooks",
    client: "Account",
    account: "Export and deletion",
  },
  ru: {
    settings: "Настройки",
    key: "API-ключи",
    operator: "Сотрудники и роли",
    "session,session_link": "Вход и выход",
    "payment,payment_link": "Платежи",
    "balance,tariff": "Баланс и тариф",
    "communication,communications,audio": "Коммуникации",
    speaker: "Люди (профили)",
    commitment: "Обещания",
    view: "Сохранённые виды",
    qc_scenarios: "Сценарии качества",
    "space,document,question,evaluation": "База знаний",
    "chat,conversation": "Чаты",
    stream: "Камеры",
    delivery: "Вебхуки",
    client: "Аккаунт",
    account: "Выгрузка и удаление",
  },
};

const names: Texts<Record<string, string>> = {
  en: {
    "account.deletion_warned": "Owners were told that the account will be deleted",
    "account.export_deleted": "An archive was deleted",
    "account.export_fetched": "An archive was downloaded",
    "account.exported": "Everything was exported",
    "audio.deleted": "Recordings were deleted",
    "balance.added": "Balance was added to",
    "chat.changed": "A chat was changed",
    "chat.created": "A chat was made",
    "chat.deleted": "A chat was deleted",
    "chat.key_rotated": "A chat's key was replaced",
    "client.created": "The account was made",
    "client.deactivated": "The account was paused",
    "client.reactivated": "The account was taken up again",
    "client.updated": "The account was changed",
    "commitment.done": "A promise was marked as kept",
    "commitment.undone": "A promise was marked as not kept",
    "communication.analysed": "A communication was sent to be analysed again",
    "communication.cancelled": "A transcription was cancelled",
    "communication.corrected": "A communication was corrected",
    "communication.deleted": "A communication was deleted",
    "communication.exported": "A communication was exported",
    "communication.imported": "Conversations were imported",
    "communication.uploaded": "A recording was uploaded",
    "communications.deleted": "Communications were deleted",
    "conversation.answered": "A visitor was answered",
    "conversation.released": "A conversation was given back to the agent",
    "conversation.taken_over": "A conversation was taken over",
    "delivery.resent": "A webhook was sent again",
    "document.added": "A document was added",
    "document.deleted": "A document was deleted",
    "document.reindexed": "A document was indexed again",
    "evaluation.begun": "A test of retrieval was begun",
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
    "question.changed": "A test question was changed",
    "question.created": "A test question was added",
    "question.deleted": "A test question was deleted",
    "session.ended": "Signed out",
    "session.opened": "Signed in",
    "session_link.created": "A link into the cabinet was made",
    "settings.changed": "Settings were changed",
    "space.changed": "A knowledge space was changed",
    "space.created": "A knowledge space was made",
    "space.deleted": "A knowledge space was deleted",
    "speaker.changed": "A profile was changed",
    "speaker.deleted": "A person was forgotten",
    "speaker.merged": "Two profiles were merged",
    "speaker.voice_deleted": "A voice was deleted",
    "stream.changed": "A camera was changed",
    "stream.created": "A camera was added",
    "stream.deleted": "A camera was deleted",
    "tariff.changed": "The tariff was changed",
    "view.deleted": "A saved view was deleted",
    "view.saved": "A view was saved",
  },
  ru: {
    "account.deletion_warned": "Владельцев предупредили об удалении аккаунта",
    "account.export_deleted": "Удалён архив",
    "account.export_fetched": "Скачан архив",
    "account.exported": "Выгружены все данные",
    "audio.deleted": "Удалены записи",
    "balance.added": "Пополнен баланс",
    "chat.changed": "Изменён чат",
    "chat.created": "Создан чат",
    "chat.deleted": "Удалён чат",
    "chat.key_rotated": "Заменён ключ чата",
    "client.created": "Создан аккаунт",
    "client.deactivated": "Аккаунт приостановлен",
    "client.reactivated": "Аккаунт возобновлён",
    "client.updated": "Изменён аккаунт",
    "commitment.done": "Обещание отмечено выполненным",
    "commitment.undone": "Обещание отмечено невыполненным",
    "communication.analysed": "Запущен повторный анализ коммуникации",
    "communication.cancelled": "Отменено распознавание",
    "communication.corrected": "Исправлена коммуникация",
    "communication.deleted": "Удалена коммуникация",
    "communication.exported": "Выгружена коммуникация",
    "communication.imported": "Загружены переписки",
    "communication.uploaded": "Загружена запись",
    "communications.deleted": "Удалены коммуникации",
    "conversation.answered": "Отправлен ответ посетителю",
    "conversation.released": "Разговор возвращён агенту",
    "conversation.taken_over": "Разговор взят на себя",
    "delivery.resent": "Вебхук отправлен снова",
    "document.added": "Добавлен документ",
    "document.deleted": "Удалён документ",
    "document.reindexed": "Документ проиндексирован заново",
    "evaluation.begun": "Запущена проверка поиска",
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
    "question.changed": "Изменён проверочный вопрос",
    "question.created": "Добавлен проверочный вопрос",
    "question.deleted": "Удалён проверочный вопрос",
    "session.ended": "Выход из кабинета",
    "session.opened": "Вход в кабинет",
    "session_link.created": "Создана ссылка в кабинет",
    "settings.changed": "Изменены настройки",
    "space.changed": "Изменён раздел знаний",
    "space.created": "Создан раздел знаний",
    "space.deleted": "Удалён раздел знаний",
    "speaker.changed": "Изменён профиль",
    "speaker.deleted": "Человек забыт",
    "speaker.merged": "Объединены два профиля",
    "speaker.voice_deleted": "Удалён голос",
    "stream.changed": "Изменена камера",
    "stream.created": "Добавлена камера",
    "stream.deleted": "Удалена камера",
    "tariff.changed": "Изменён тариф",
    "view.deleted": "Удалён сохранённый вид",
    "view.saved": "Сохранён вид",
  },
};

/** An action in words; one that is newer than these texts as it is. */
export const actionName = (action: string, language: Language): string => names[language][action] ?? action;
