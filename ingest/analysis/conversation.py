"""A conversation as analysis reads it: who takes part, what they say and when, what the account says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal
from zoneinfo import ZoneInfo

from ingest.analysis.catalogs import Language
from store.widget_roles import SIDES

Side = Literal["employee", "client", "unknown"]
EMPLOYEE_ROLES = ("sales", "support", "employee")
_WIDGET_SIDES: Mapping[str, Side] = {
    label: "client" if side == "client" else "employee" for label, side in SIDES.items()
}


@dataclass(frozen=True, slots=True)
class Turn:
    """What one voice or author says at once. `idx` is the content item's; `label` joins `Person.label`."""

    idx: int
    text: str
    label: str | None = None
    at: datetime | None = None
    start_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who the caller says takes part. `label` is theirs where it is known already: by voice, or given."""

    id: str
    name: str | None
    role: str  # one of store.speakers.ROLES
    label: str | None = None
    external_id: str | None = None

    @property
    def side(self) -> Side:
        if self.role == "client":
            return "client"
        return "employee" if self.role in EMPLOYEE_ROLES else "unknown"


@dataclass(frozen=True, slots=True)
class Company:
    """What an account says of itself: its names as they are spoken, its own phones, addresses and accounts, and the
    notices that have to be said, each in some words of its own."""

    names: tuple[str, ...] = ()
    contacts: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """Times are UTC; relative dates are meant in `time_zone`, from the turn's own time where it has one."""

    id: str
    kind: str
    channel_type: str
    direction: str | None
    language: Language
    subject: str
    occured_at: datetime
    time_zone: str
    company: Company
    turns: tuple[Turn, ...]
    people: tuple[Person, ...] = ()

    @cached_property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """In the order of first appearance."""
        return tuple(dict.fromkeys(turn.label for turn in self.turns if turn.label))

    @cached_property
    def known_sides(self) -> dict[str, Side]:
        """Of the labels whose people's roles, or whose channel, tell it."""
        known: dict[str, Side] = {
            person.label: person.side for person in self.people if person.label and person.side != "unknown"
        }
        return known if self.channel_type != "widget" else {**_WIDGET_SIDES, **known}

    @cached_property
    def words(self) -> int:
        return sum(len(turn.text.split()) for turn in self.turns)

    def of(self, *labels: str) -> tuple[Turn, ...]:
        """What is said under these labels."""
        return tuple(turn for turn in self.turns if turn.label in labels)

    def person_of(self, label: str | None) -> Person | None:
        return next((person for person in self.people if label and person.label == label), None)
