"""A later export beside what is stored of the same conversation: what is new in it, and what was edited since.

A message is the same one when the same author wrote it at the same moment. Mails of a thread may come one by one, in
any order; a chat may have been edited or cut since the last export. What is stored and not in the export stays.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ingest.messages.imported import ImportedConversation, ImportedPerson, ImportedTurn
from store.communications import ContentItem

_LABEL = "SPEAKER_{:02d}"


@dataclass(frozen=True, slots=True)
class Merge:
    """`fresh` are the turns that are not there yet, `edits` new texts by the place of a stored turn; labels are those
    that people have there."""

    fresh: tuple[ImportedTurn, ...]
    edits: Mapping[int, str]
    people: tuple[ImportedPerson, ...]

    def __bool__(self) -> bool:
        return bool(self.fresh or self.edits)


def merge(
    given: ImportedConversation, stored: Sequence[ContentItem], authors: Mapping[str, str | None]
) -> Merge | None:
    """`authors` are the external ids, or names, of who has which label there. None where times are missing, without
    which nothing can be told."""
    if any(turn.at is None for turn in given.turns) or any(item.at is None for item in stored):
        return None
    labels = _labels(given, authors)
    writer = {person.label: person.external_id or person.name for person in given.people if person.label}
    there: dict[tuple[object, object], deque[int]] = defaultdict(deque)
    for place, item in enumerate(stored):
        there[item.at, authors.get(item.label or "")].append(place)
    # A mail is not edited: its text differs when the mail that it quotes is not there to be recognised.
    may_edit = given.kind == "chat" and given.turns[-1].at >= stored[-1].at  # type: ignore[operator]
    fresh: list[ImportedTurn] = []
    edits: dict[int, str] = {}
    for turn in given.turns:
        places = there.get((turn.at, writer.get(turn.label or "")))
        if not places:
            fresh.append(replace(turn, label=labels.get(turn.label) if turn.label else None))
            continue
        place = places.popleft()
        if may_edit and turn.text and turn.text != stored[place].text:
            edits[place] = turn.text
    people = tuple(replace(person, label=labels[person.label] if person.label else None) for person in given.people)
    return Merge(tuple(fresh), edits, people)


def _labels(given: ImportedConversation, authors: Mapping[str, str | None]) -> dict[str | None, str]:
    """The export's labels as they are there: a new author gets the next free one."""
    by_author = {author: label for label, author in authors.items() if author}
    taken = set(authors)
    labels: dict[str | None, str] = {}
    for person in given.people:
        if person.label is None:
            continue
        label = by_author.get(person.external_id or person.name or "")
        if label is None:
            label = next(name for number in range(len(taken) + 1) if (name := _LABEL.format(number)) not in taken)
            taken.add(label)
        labels[person.label] = label
    return labels
