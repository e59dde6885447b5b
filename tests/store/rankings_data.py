"""A company's conversations by chance, always the same, and what rankings must count of them: in plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from store import accounts, analysis, communications, speakers
from store.analysis import CriterionResult, NewItem
from store.communications import ContentItem
from store.database import Connection
from store.figures import CRITERION_BITS
from store.signals import SIGNALS
from store.speakers import STAFF_ROLES, Attending, Speaker

START = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = 20
TODAY = date(2026, 3, 15)
_CRITERIA = tuple(CRITERION_BITS)[:6]
# The first three say the same.
_CONTENTS = ("Это дорого", "это  ДОРОГО!", "«Это дорого»…", "Ёлка мала", "елка мала", "Нужна скидка 5 %", "!!!")
_SAME = {content: min(at, 0) if at < 3 else 3 if at < 5 else at for at, content in enumerate(_CONTENTS)}
_NAMES = ("Анна", "анна", "Борис", "Zoë", "яна", None)
_DEPARTMENTS = ("Продажи", "Support", None)


@dataclass(frozen=True, slots=True)
class Person:
    profile: Speaker
    role: str  # there
    talk_ms: int | None
    promises: tuple[date | None, ...]


@dataclass(slots=True)
class Held:
    """A conversation as it was made."""

    id: str
    at: datetime
    kind: str
    channel_type: str
    direction: str | None
    category: str | None
    people: list[Person]
    all_talk_ms: int
    facts: list[tuple[str, str]]
    scenario: str | None = None
    score: float | None = None
    verdicts: dict[str, bool] = field(default_factory=dict)

    @property
    def signals(self) -> set[str]:
        return {key for key, _ in self.facts if key in SIGNALS}


def make_company(connection: Connection, *, conversations: int = 160, seed: int = 5) -> tuple[str, list[Held]]:
    """A new account's id, and what was held there."""
    chance = random.Random(seed)
    tenant = accounts.create_tenant(connection, name=f"company {seed}")
    assert tenant is not None
    tenant_id = tenant.id
    people = [
        speakers.upsert(
            tenant_id,
            connection,
            external_id=f"person-{number:02}",
            name=f"{name} {number % 4}" if (name := chance.choice(_NAMES)) else None,
            role=chance.choice(speakers.ROLES),
            department=chance.choice(_DEPARTMENTS),
        )
        for number in range(14)
    ]
    return tenant_id, [_hold(tenant_id, connection, chance, people) for _ in range(conversations)]


def _hold(tenant_id: str, connection: Connection, chance: random.Random, everybody: list[Speaker]) -> Held:
    # Many begin at the same moment, some outside of the period.
    at = START + timedelta(days=chance.randrange(-3, DAYS + 3), hours=chance.choice((0, 9, 23)))
    kind, channel_type = chance.choice((("call", "phone"), ("chat", "telegram"), ("email", "email")))
    direction, category = chance.choice(("in", "out", None)), chance.choice(("sales", "renewal", None))
    row = communications.create(
        tenant_id,
        connection,
        kind=kind,
        channel_type=channel_type,
        direction=direction,
        occured_at=at,
        title=f"О заказе {chance.randrange(100)}",
    )
    people, turns = [], []
    for number, profile in enumerate(chance.sample(everybody, chance.randrange(1, 5))):
        label = f"SPEAKER_{number:02}" if chance.random() < 0.8 else None
        talk = [chance.randrange(1, 90_000) for _ in range(chance.randrange(3))] if kind == "call" else []
        turns += [ContentItem("audio_utterance", "слова", label or f"SPEAKER_9{number}", 0, each) for each in talk]
        role = profile.role if chance.random() < 0.8 else chance.choice(speakers.ROLES)
        due = tuple(
            TODAY + timedelta(days=chance.randrange(-4, 5)) if chance.random() < 0.7 else None
            for _ in range(chance.choice((0, 0, 1, 2)))
        )
        speakers.attach(tenant_id, connection, row.id, [Attending(profile.id, role, label)])
        people.append(Person(profile, role, sum(talk) if label and talk else None, due))
    communications.replace_content(tenant_id, connection, row.id, turns)
    all_talk_ms = sum((turn.end_ms or 0) for turn in turns)
    keys = (*SIGNALS[:4], "topic", "offer")
    facts = [(chance.choice(keys), chance.choice(_CONTENTS)) for _ in range(chance.randrange(5))] if category else []
    held = Held(row.id, at, kind, channel_type, direction, category, people, all_talk_ms, facts)
    _analyse(tenant_id, connection, chance, held)
    return held


def _analyse(tenant_id: str, connection: Connection, chance: random.Random, held: Held) -> None:
    items = [NewItem("criteria", content, key, {"quote": f"«{content}»"}) for key, content in held.facts]
    for person in held.people:
        for day in person.promises:
            deadline = f"{day}T12:00:00+03:00" if day and chance.random() < 0.5 else day and str(day)
            items.append(NewItem("commitment", "перезвонит", None, {"deadline": deadline}, person.profile.id))
    analysis.put_summary(tenant_id, connection, held.id, text="", category=held.category, items=items)
    if chance.random() < 0.3:
        return
    held.scenario, held.score = chance.choice(("complaint", "retention")), chance.choice((0.0, 33.3, 50.0, 100.0, None))
    if held.score is not None:
        held.verdicts = {code: chance.random() < 0.6 for code in _CRITERIA if chance.random() < 0.7}
    analysis.put_qc(
        tenant_id,
        connection,
        held.id,
        scenario_code=held.scenario,
        score_pct=held.score,
        comment=None,
        status="success",
        criteria=[CriterionResult(code, "binary", value) for code, value in held.verdicts.items()],
    )


Keys = Callable[[Held], Iterable[Any]]


def groups(held: Iterable[Held], keys: Keys) -> dict[Any, list[Held]]:
    """The conversations of each group; one counts once in each."""
    found: dict[Any, list[Held]] = defaultdict(list)
    for each in held:
        for key in set(keys(each)) - {None}:
            found[key].append(each)
    return found


def people_of(role: str | None = None, by: str = "person") -> Keys:
    """The people of a conversation, or their departments, who have that role there."""
    return lambda held: [
        person.profile.id if by == "person" else person.profile.department
        for person in held.people
        if has_role(person, role)
    ]


def has_role(person: Person, role: str | None) -> bool:
    return role is None or person.role == role or (role == "staff" and person.role in STAFF_ROLES)


def values_of(signal: str) -> Keys:
    return lambda held: [_SAME[content] for key, content in held.facts if key == signal]


def value_of(content: str) -> int:
    return _SAME[content]


def in_order(figures: dict[Any, float | None], names: dict[Any, str], *, least: bool = False) -> list[Any]:
    """By figure, then name, then key; who has none comes last."""
    return sorted(
        figures,
        key=lambda key: (
            figures[key] is None,
            0 if (figure := figures[key]) is None else round(figure if least else -figure, 6),
            names.get(key, key),
            key,
        ),
    )


def names_of(held: Iterable[Held]) -> dict[str, str]:
    """What people are ordered by."""
    people = {person.profile.id: person.profile for each in held for person in each.people}
    return {id_: speakers.name_key(one.name) if one.name else one.external_id or "" for id_, one in people.items()}
