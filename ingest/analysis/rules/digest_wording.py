"""How a summary words what was said: heads, days, and sentences without what only speech needs."""

from __future__ import annotations

import re
from datetime import datetime

from ingest.analysis.rules.categories_cues import plain
from ingest.analysis.rules.items_wording import capital

HEADS = {
    "ru": {
        "client": "Клиент",
        "employee": "Сотрудник",
        "about": "О чём",
        "offer": "Предложили",
        "objection": "Возражение",
        "competitors": "Другие поставщики",
        "agreement": "Договорились",
        "funnel_stage": "Этап",
        "churn_risk": "Риск ухода",
        "resolution": "Решение",
        "outcome": "Итог",
        "disputes": "Спорное",
        "order_status": "Заказ",
        "delivery_status": "Доставка",
        "constraints": "Условия",
        "documents": "Документы",
        "urgency": "Срочность",
        "severity": "Последствия",
        "requested_resolution": "Клиент требует",
        "escalation": "Эскалация",
        "decisions": "Решили",
        "next_touch_at": "Следующий контакт",
        "dial_hint": "Как дозвониться",
        "points": "Обсуждали",
        "promised": "Обещано",
        "nothing": "Содержательного разговора нет",
    },
    "en": {
        "client": "Client",
        "employee": "Employee",
        "about": "About",
        "offer": "Offered",
        "objection": "Objection",
        "competitors": "Other suppliers",
        "agreement": "Agreed",
        "funnel_stage": "Stage",
        "churn_risk": "Churn risk",
        "resolution": "Resolution",
        "outcome": "Outcome",
        "disputes": "Disputed",
        "order_status": "Order",
        "delivery_status": "Delivery",
        "constraints": "Conditions",
        "documents": "Documents",
        "urgency": "Urgency",
        "severity": "Consequences",
        "requested_resolution": "Client demands",
        "escalation": "Escalation",
        "decisions": "Decided",
        "next_touch_at": "Next contact",
        "dial_hint": "How to reach",
        "points": "Discussed",
        "promised": "Promised",
        "nothing": "There was no real conversation",
    },
}
MONTHS = {
    "ru": (
        "января",
        "февраля",
        "марта",
        "апреля",
        "мая",
        "июня",
        "июля",
        "августа",
        "сентября",
        "октября",
        "ноября",
        "декабря",
    ),
    "en": (
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
}
_SAME = 0.6


def content_words(text: str) -> set[str]:
    """To tell whether two say the same. Words of three letters and numbers count."""
    return {word for word in plain(text).split() if len(word) > 2 or word.isdigit()}


def says_same(words: set[str], others: set[str]) -> bool:
    """Whether one of them is mostly in the other."""
    return len(words & others) >= _SAME * max(1, min(len(words), len(others)))


# Words that set a limit; others name a moment.
_LIMIT = re.compile(
    r" (?:до|к|ко|не позже|не позднее|в течение|за|by|before|until|till|within|no later|end of|конца|latest) "
)
_PLAIN = frozenset(
    plain(
        "я мы он она оно они вы вам вас вечером утром завтра сегодня потом затем тоже "
        "и а в до к с по на за через как от "
        "we it he she they you your my our this that the a an by on in then also once as after before"
    ).split()
)


def until(deadline: str, words: str | None, said_at: datetime, language: str) -> str:
    """ "до 21 ноября", "by 21 November" for a limit, "21 ноября в 15:00" for a moment: by the `words` it was said in.
    The year only where it is another."""
    at = datetime.fromisoformat(deadline)
    in_english, limit = language == "en", words is None or bool(_LIMIT.search(plain(words)))
    day = f"{at.day} {MONTHS['en' if in_english else 'ru'][at.month - 1]}"
    if at.year != said_at.year:
        day += f" {at.year}"
    if "T" not in deadline:
        return (f"by {day}" if in_english else f"до {day}") if limit else day
    time = f"{at.hour}:{at.minute:02}"
    if in_english:
        return f"by {time} on {day}" if limit else f"{day} at {time}"
    return f"до {time} {day}" if limit else f"{day} в {time}"


def continued(text: str, said: str) -> str:
    """A sentence that goes on after a semicolon: with a small letter, but for names."""
    first = text.split(" ", 1)[0]
    small = first[:1].lower() + first[1:]
    if first.lower() in _PLAIN or f" {small} " in f" {said} ":
        return small + text[len(first) :]
    return text


def names_day(text: str, deadline: str, language: str) -> bool:
    """Whether the words themselves give the day as a date, so that it need not be told again."""
    at = datetime.fromisoformat(deadline)
    month = MONTHS["en" if language == "en" else "ru"][at.month - 1][:3].lower()
    return bool(re.search(rf" {at.day}(?:го|st|nd|rd|th)? {month}| {month}\w* {at.day}(?:st|nd|rd|th)? ", plain(text)))


def sentence(head: str, body: str) -> str:
    body = body.strip().rstrip(".,;:—–- ")
    if body.lower().startswith(head.lower()):  # "Decided: decided, ..."
        body = body[len(head) :].lstrip(" ,:;.-–—") or body
    return f"{head}: {capital(body)}{'' if body.endswith(('!', '?', '…')) else '.'}"
