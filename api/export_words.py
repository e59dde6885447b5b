"""The words of exports for people in both languages, and how days and moments are written there."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from ingest.analysis.rules.digest_wording import MONTHS

Language = Literal["ru", "en"]

HEADINGS = {
    "en": {
        "call": "Call",
        "chat": "Chat",
        "email": "Mail",
        "in": "incoming",
        "out": "outgoing",
        "subject": "Subject",
        "record": "Record",
        "category": "Category",
        "people": "People",
        "score": "Quality",
        "summary": "Summary",
        "report": "Report",
        "facts": "Facts",
        "commitments": "Promised",
        "by": "by",
        "met": "met",
        "missed": "not met",
        "undecided": "could not be decided",
        "not_applicable": "Does not apply here",
        "text": "Conversation",
        "client": "client",
        "sales": "sales",
        "support": "support",
        "employee": "employee",
        "unknown": "",
    },
    "ru": {
        "call": "Звонок",
        "chat": "Чат",
        "email": "Письма",
        "in": "входящий",
        "out": "исходящий",
        "subject": "Тема",
        "record": "Запись",
        "category": "Категория",
        "people": "Участники",
        "score": "Качество",
        "summary": "Резюме",
        "report": "Отчёт",
        "facts": "Факты",
        "commitments": "Обещано",
        "by": "до",
        "met": "выполнено",
        "missed": "не выполнено",
        "undecided": "не удалось решить",
        "not_applicable": "Здесь не применимо",
        "text": "Разговор",
        "client": "клиент",
        "sales": "продажи",
        "support": "поддержка",
        "employee": "сотрудник",
        "unknown": "",
    },
}


def quoted(text: str, language: Language) -> str:
    return f"«{text}»" if language == "ru" else f"“{text}”"


def shown_number(value: float, language: Language) -> str:
    """With one place after the comma at most: 3, or 0,8."""
    shown = f"{value:.1f}".removesuffix(".0")
    return shown.replace(".", ",") if language == "ru" else shown


def when(at: date, language: Language) -> str:
    """A day, "4 марта 2026" or "4 March 2026", and of a moment its time as well."""
    day = f"{at.day} {MONTHS[language][at.month - 1]} {at.year}"
    return f"{day}, {at:%H:%M}" if isinstance(at, datetime) else day


def clock(ms: int) -> str:
    """1:05, or 1:02:03."""
    seconds = ms // 1000
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours}:{minutes:02d}:{seconds % 60:02d}" if hours else f"{minutes}:{seconds % 60:02d}"
