"""The labelled conversations of `bench/labelled/`: scripts of our own, with what a careful reader finds in them.

Two halves: `development`, which the rules were written against, and `held-out`, written and labelled by somebody who
had not seen the rules, for the final figures only.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ingest.analysis.conversation import Company, Conversation, Person, Turn

FOLDER = Path(__file__).with_name("labelled")
HALVES = ("development", "held-out")
_LINE_BREAK = "⏎"


@dataclass(frozen=True)
class Labelled:
    """`truth` as the file has it: category, scenario, employee, criteria, commitments, facts, items."""

    conversation: Conversation
    truth: dict[str, Any]
    labels: dict[str, str]  # of people, by their names; empty where nothing said tells which voice is theirs

    @property
    def id(self) -> str:
        return self.conversation.id


def load(half: str) -> list[Labelled]:
    """The conversations of one half, in the order of their ids."""
    assert half in HALVES
    files = sorted((FOLDER / half).glob("*.toml"))
    assert files, f"bench/labelled/{half} is empty"
    return [_read(file) for file in files]


def _read(file: Path) -> Labelled:
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    occured_at = datetime.fromisoformat(data["occured_at"])
    conversation = Conversation(
        id=data["id"],
        kind=data["kind"],
        channel_type=data["channel_type"],
        direction=data["direction"] or None,
        language=data["language"],
        subject=data["subject"],
        occured_at=occured_at,
        time_zone=data["time_zone"],
        company=Company(names=(data["company"],)),
        turns=tuple(_turns(data["turns"], occured_at)),
        people=tuple(Person(person["name"], person["name"], person["role"]) for person in data["people"]),
    )
    return Labelled(conversation, data["truth"], {person["name"]: person["label"] for person in data["people"]})


def _turns(text: str, occured_at: datetime) -> list[Turn]:
    turns = []
    for idx, line in enumerate(text.strip().splitlines()):
        label, start, said = line.split("|", 2)
        minutes, seconds = start.split(":")
        start_s = int(minutes) * 60 + int(seconds)
        at = occured_at + timedelta(seconds=start_s)
        turns.append(Turn(idx, said.replace(_LINE_BREAK, "\n").strip(), label.strip(), at, start_s * 1000))
    return turns
