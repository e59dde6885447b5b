"""Puts messages into threads: by the ids that they refer to, then by subject among the same people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ingest.messages.mail_index import Entry

_SAME_SUBJECT_WITHIN = timedelta(days=180)
_UNDATED = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Thread:
    """`root` is the id of its first message, which may itself be missing."""

    root: str
    entries: tuple[Entry, ...]


class _Sets:
    """Which ids belong together."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def find(self, key: str) -> str:
        root = key
        while (above := self._above.get(root, root)) != root:
            root = above
        while (above := self._above.get(key, key)) != root:
            self._above[key] = root
            key = above
        return root

    def join(self, one: str, other: str) -> None:
        one, other = self.find(one), self.find(other)
        if one != other:
            self._above[other] = one


def threads(entries: Iterable[Entry]) -> list[Thread]:
    """All of them, the oldest first; within each, messages by time, but an answer after what it answers."""
    ordered = sorted(entries, key=lambda entry: (entry.at or _UNDATED, entry.file, entry.offset))
    sets = _Sets()
    for entry in ordered:
        for ref in entry.refs:
            sets.join(ref, entry.id)
    _join_by_subject(ordered, sets)
    found: dict[str, list[Entry]] = {}
    for entry in ordered:
        found.setdefault(sets.find(entry.id), []).append(entry)
    return [Thread(_root(each), tuple(_after_what_they_answer(each))) for each in found.values()]


def _join_by_subject(ordered: list[Entry], sets: _Sets) -> None:
    """A reply that names no older message goes to the latest one of its subject among the same people."""
    latest: dict[str, list[Entry]] = {}
    for entry in ordered:
        if not entry.subject:
            continue
        earlier = latest.setdefault(entry.subject, [])
        if entry.is_reply and not entry.refs:
            for other in reversed(earlier):
                if _same_people(entry, other) and _close(entry, other):
                    sets.join(other.id, entry.id)
                    break
        earlier.append(entry)
        del earlier[:-50]


def _same_people(one: Entry, other: Entry) -> bool:
    small, large = sorted((one.participants, other.participants), key=len)
    return len(small) > 1 and small <= large


def _close(entry: Entry, earlier: Entry) -> bool:
    return entry.at is None or earlier.at is None or entry.at - earlier.at <= _SAME_SUBJECT_WITHIN


def _root(entries: list[Entry]) -> str:
    """The oldest id that the oldest message refers to, so that the name stays when older messages are found."""
    first = entries[0]
    return first.refs[0] if first.refs else first.id


def _after_what_they_answer(entries: list[Entry]) -> list[Entry]:
    """By time, but a message whose clock was wrong is not before the one that it answers. Circles are let be."""
    by_id = {entry.id: entry for entry in entries}
    placed: set[str] = set()
    result: list[Entry] = []
    for entry in entries:
        waiting, path = [entry], {entry.id}
        while waiting:
            top = waiting[-1]
            missing = next(
                (by_id[ref] for ref in top.refs[-3:] if ref in by_id and ref not in placed and ref not in path), None
            )
            if missing is not None:
                waiting.append(missing)
                path.add(missing.id)
                continue
            waiting.pop()
            if top.id not in placed:
                placed.add(top.id)
                result.append(top)
    return result
