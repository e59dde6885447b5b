"""Small conversations for the tests of rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ingest.analysis.catalogs import CRITERIA, Language
from ingest.analysis.conversation import Company, Conversation, Person, Turn
from ingest.analysis.findings import Sides, Value, Vote
from ingest.analysis.quotations import is_verbatim
from ingest.analysis.rules.criteria import judge

OPERATOR, CLIENT = "SPEAKER_01", "SPEAKER_00"
SIDES = Sides({CLIENT: "client", OPERATOR: "employee"}, 1.0)


def talk(
    *lines: tuple[str, str],
    language: Language = "ru",
    kind: str = "call",
    company: Company | None = None,
    people: Sequence[Person] = (),
    direction: str | None = "in",
    subject: str = "",
) -> Conversation:
    turns = tuple(Turn(idx, text, label) for idx, (label, text) in enumerate(lines))
    at = datetime(2026, 3, 10, 8, 20, tzinfo=UTC)
    company = company or Company(("Ромашка",) if language == "ru" else ("Acme",))
    return Conversation(
        "c", kind, "phone", direction, language, subject, at, "Europe/Moscow", company, turns, tuple(people)
    )


def votes(conversation: Conversation, sides: Sides = SIDES) -> dict[str, Vote]:
    """All criteria; every evidence is checked to be verbatim and, but for an entity's number, the operator's."""
    found = judge(conversation, sides, CRITERIA)
    for code, vote in found.items():
        if vote.quote:
            assert is_verbatim(conversation, vote.quote), (code, vote.quote)
            assert code == "identify_entity" or vote.quote.label in sides.employees, (code, vote.quote)
    return found


def says(text: str, language: Language, code: str, *, client: str = "", kind: str = "call") -> Value:
    """What is decided of an operator who says this and nothing else."""
    yes = "да" if language == "ru" else "yes"
    said = talk((CLIENT, client or yes), (OPERATOR, text), (CLIENT, yes), language=language, kind=kind)
    return votes(said)[code].value
