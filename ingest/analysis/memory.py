"""What is remembered of people between contacts: facts are merged, not piled up."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.analysis.findings import Fact

MOST_FACTS_OF_A_PERSON = 300  # the oldest go first
MOST_CONTENT_CHARACTERS = 500
_MOST_REPLACED = 5  # steps of a fact's history that are kept
_KEPT = ("content", "communication_id", "at", "engine")
_NO_WORD = re.compile(r"[^\w@+]{1,1000}")


@dataclass(frozen=True, slots=True)
class Known:
    """A remembered fact as it is stored. `at` is when it was said; `meta` as `Remembered.meta` gave it."""

    id: str
    speaker_id: str
    key: str
    content: str
    communication_id: str | None
    at: datetime
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A fact to store, with its source. `meta` is JSON: `key`, `at`, `quote`, and under `replaces` the fact whose place
    it took: `content`, `communication_id`, `at` and perhaps `replaces` in turn."""

    speaker_id: str
    key: str
    content: str
    communication_id: str | None
    at: datetime
    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """What to do to what is known, at once: `forget` by id, then `add`, and set `meta` of the `confirmed`."""

    add: tuple[Remembered, ...] = ()
    forget: tuple[str, ...] = ()
    confirmed: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.add or self.forget or self.confirmed)


def merge(known: Sequence[Known], found: Sequence[Fact], at: datetime, communication_id: str) -> Changes:
    """What a contact at `at` changes of what is `known` of its people, whatever order contacts are analysed in.

    `found` is all that the contact taught: what an earlier run of the same contact learned and this one did not is
    forgotten, and what that had replaced is back. The second run of one contact changes nothing.
    """
    by_place: dict[tuple[str, str], list[Known]] = {}
    for item in sorted(known, key=lambda item: (item.at, item.id)):
        by_place.setdefault((item.speaker_id, item.key), []).append(item)
    said_of: dict[str, set[str]] = {}
    for item in known:
        said_of.setdefault(item.speaker_id, set()).add(_plain(item.content))

    latest = {(fact.person_id, fact.key): fact for fact in found if fact.content.strip()}  # the last word of a contact
    add: list[Remembered] = []
    forget: list[str] = []
    confirmed: list[tuple[str, Mapping[str, Any]]] = []
    for place, fact in latest.items():
        held = by_place.get(place, [])
        same = next((item for item in held if _plain(item.content) == _plain(fact.content)), None)
        if same is not None:
            if same.communication_id != communication_id and at > _last_said(same):
                confirmed.append(
                    (same.id, {**same.meta, "confirmed_at": at.isoformat(), "confirmed_in": communication_id})
                )
            continue
        if not held and _plain(fact.content) in said_of.get(fact.person_id, ()):
            continue  # the same words under another key
        if any(_last_said(item) > at and item.communication_id != communication_id for item in held):
            continue
        add.append(_remembered(fact, held, at, communication_id))
        forget += [item.id for item in held]
        said_of.setdefault(fact.person_id, set()).add(_plain(fact.content))
    for place, held in by_place.items():
        for item in held:
            if item.communication_id == communication_id and place not in latest:
                forget.append(item.id)
                add += _restored(item)
    forget += _too_many(known, add, forget)
    assert len(set(forget)) == len(forget)
    return Changes(tuple(add), tuple(forget), tuple(confirmed))


def _remembered(fact: Fact, held: Sequence[Known], at: datetime, communication_id: str) -> Remembered:
    meta: dict[str, Any] = {"key": fact.key, "at": at.isoformat(), "quote": fact.quote.text[:MOST_CONTENT_CHARACTERS]}
    if held:
        before = held[-1]
        # An earlier run of this contact is no fact of its own: what that had replaced is replaced now.
        replaced = before.meta.get("replaces") if before.communication_id == communication_id else _as_replaced(before)
        if isinstance(replaced, Mapping):
            meta["replaces"] = replaced
    content = fact.content.strip()[:MOST_CONTENT_CHARACTERS]
    return Remembered(fact.person_id, fact.key, content, communication_id, at, meta)


def _as_replaced(item: Known, depth: int = _MOST_REPLACED) -> dict[str, Any]:
    gone: dict[str, Any] = {
        "content": item.content,
        "communication_id": item.communication_id,
        "at": item.at.isoformat(),
    }
    if item.meta.get("engine"):
        gone["engine"] = item.meta["engine"]
    step, before = gone, item.meta.get("replaces")
    for _ in range(depth - 1):
        if not isinstance(before, Mapping):
            break
        step["replaces"] = {key: before[key] for key in _KEPT if key in before}
        step, before = step["replaces"], before.get("replaces")
    return gone


def _restored(item: Known) -> list[Remembered]:
    """What a fact had replaced, which holds again once that is gone."""
    before = item.meta.get("replaces")
    if not isinstance(before, Mapping) or not before.get("content") or not before.get("at"):
        return []
    at = datetime.fromisoformat(str(before["at"]))
    meta: dict[str, Any] = {"key": item.key, "at": at.isoformat()}
    if before.get("engine"):
        meta["engine"] = before["engine"]
    if isinstance(before.get("replaces"), Mapping):
        meta["replaces"] = before["replaces"]
    source = before.get("communication_id")
    return [Remembered(item.speaker_id, item.key, str(before["content"]), str(source) if source else None, at, meta)]


def _last_said(item: Known) -> datetime:
    said = item.meta.get("confirmed_at")
    return max(item.at, datetime.fromisoformat(said)) if isinstance(said, str) else item.at


def _too_many(known: Sequence[Known], add: Sequence[Remembered], forget: Sequence[str]) -> list[str]:
    """The oldest of each person who has more than is kept."""
    gone = set(forget)
    left: dict[str, list[Known]] = {}
    for item in known:
        if item.id not in gone:
            left.setdefault(item.speaker_id, []).append(item)
    surplus: list[str] = []
    for speaker_id, items in left.items():
        over = len(items) + sum(new.speaker_id == speaker_id for new in add) - MOST_FACTS_OF_A_PERSON
        items.sort(key=lambda item: (_last_said(item), item.id))
        surplus += [item.id for item in items[: max(over, 0)]]
    return surplus


def without_sources(meta: Mapping[str, Any], gone: Collection[str]) -> Mapping[str, Any]:
    """`meta` whose history has nothing of conversations that are gone."""
    before = meta.get("replaces")
    if not isinstance(before, Mapping):
        return meta
    kept = without_sources(before, gone)
    if kept.get("communication_id") in gone:
        kept = kept.get("replaces") or {}
    rest = {key: value for key, value in meta.items() if key != "replaces"}
    return {**rest, "replaces": kept} if kept else rest


def _plain(content: str) -> str:
    return _NO_WORD.sub(" ", content.lower().replace("ё", "е")).strip()
