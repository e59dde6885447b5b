"""Conversations for the tests of the models' analysis."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ingest.analysis.conversation import Company, Conversation, Person, Turn
from ingest.analysis.findings import Sides

SIDES = Sides({"A": "employee", "B": "client"}, 1.0)

RUSSIAN = (
    ("A", "Добрый день, компания Луч, меня зовут Анна."),
    ("B", "Здравствуйте, у нас в Казани три кофейни, не работает терминал."),
    ("A", "Поняла, посмотрю. Перезвоню вам завтра до обеда."),
    ("B", "Хорошо, я вам сам перезвоню завтра, если что."),
    ("A", "Спасибо за звонок, до свидания."),
)
ENGLISH = (
    ("A", "Good afternoon, Beam company, my name is Anna."),
    ("B", "Hello, we run three cafes in Leeds and the terminal does not work."),
    ("A", "I see, I will look at it. I will call you back tomorrow before noon."),
    ("B", "Fine, I will call you myself tomorrow if need be."),
    ("A", "Thank you for calling, goodbye."),
)


def conversation(lines: Sequence[tuple[str | None, str]] = RUSSIAN, **values: Any) -> Conversation:
    given: dict[str, Any] = {
        "id": "1",
        "kind": "call",
        "channel_type": "phone",
        "direction": "in",
        "language": "ru",
        "subject": "",
        "occured_at": datetime(2026, 3, 10, 8, 20, tzinfo=UTC),
        "time_zone": "Europe/Moscow",
        "company": Company(("Луч",)),
        "turns": tuple(Turn(idx, text, label) for idx, (label, text) in enumerate(lines)),
        "people": (Person("p1", "Анна", "support", "A"), Person("p2", "Пётр", "client", "B")),
    }
    return Conversation(**(given | values))
