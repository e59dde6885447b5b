"""Conversations in a few words, for tests of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ingest.analysis.catalogs import Language
from ingest.analysis.conversation import Company, Conversation, Person, Turn
from ingest.analysis.findings import Sides

SAID_AT = datetime(2026, 3, 10, 8, 20, tzinfo=UTC)


def talk(lines: str, people: Sequence[Person] = (), language: Language = "ru", kind: str = "call") -> Conversation:
    """A line for each turn, "A: words"; the letter is the label."""
    said = [line.strip().partition(": ") for line in lines.strip().splitlines()]
    turns = tuple(Turn(idx, text, label) for idx, (label, _, text) in enumerate(said))
    return Conversation(
        "1", kind, "phone", None, language, "", SAID_AT, "Europe/Moscow", Company(("Ромашка",)), turns, tuple(people)
    )


def sure(employees: str = "", clients: str = "") -> Sides:
    """Sides by letters."""
    sides = Sides({**dict.fromkeys(employees, "employee"), **dict.fromkeys(clients, "client")}, 0.95)
    return sides if sides.of else Sides()
