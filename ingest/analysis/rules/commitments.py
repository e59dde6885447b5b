"""Promises of the company's people: what they will do, in their own words, and by when."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Commitment, Sides
from ingest.analysis.quotations import fold
from ingest.analysis.rules.commitments_turns import Promise, Reader
from ingest.analysis.rules.orders import is_ordered

_FILLERS = re.compile(
    r"(?:(?:ну|вот|так|значит|хорошо|ладно|окей|ок|да|угу|ага|смотрите|понял[аи]?|понятно|конечно|отлично|э+|эм+|м+|и|а|но|"
    r"то|тогда|okay|ok|so|well|um+|uh+|right|alright|yeah|yes|yep|sure|and|but|then|no problem)[\s,.:…!—–-]+){1,6}",
    re.IGNORECASE,
)
_SHORTEST = 8  # characters that have to stay
_MOST = 200
_REMEMBERED = 20
_ALIKE = 0.4


def find_commitments(conversation: Conversation, sides: Sides) -> tuple[Commitment, ...]:
    """What employees promise, in the order of speaking; a promise said again is one, with the deadline said last.

    Of a voice whose side nobody knows, only what is promised in the company's name counts.
    """
    internal = bool(sides.employees) and not sides.clients
    reader = Reader(conversation, internal)
    promises: list[Promise] = []
    for at, block in enumerate(reader.blocks):
        side = _side(conversation, block.label, sides)
        if side != "client":
            made = [one for one in reader.read(at) if side == "employee" or one.found.company]
            said = fold(block.text) if made else ""
            promises.extend(one for one in made if not is_ordered(said, one.start, one.end))
    return tuple(_commitment(promise) for promise in _merged(promises)[:_MOST])


def _side(conversation: Conversation, label: str | None, sides: Sides) -> str:
    if label in sides.of:
        return sides.of[label or ""]
    person = conversation.person_of(label)
    return person.side if person else "unknown"


def _merged(promises: Iterable[Promise]) -> list[Promise]:
    """Without those said again: what names the deadline stays, and of two that do the one said last."""
    kept: list[Promise] = []
    said: dict[tuple[str | None, str], list[int]] = {}
    for promise in promises:
        keys = [(promise.block.label, verb) for verb in promise.found.verbs]
        places = {at for key in keys for at in said.get(key, ())[-_REMEMBERED:]}
        same = next((at for at in sorted(places, reverse=True) if _same(kept[at], promise)), None)
        if same is None:
            for key in keys:
                said.setdefault(key, []).append(len(kept))
            kept.append(promise)
        elif promise.deadline is not None:
            kept[same] = promise
    return kept


def _same(first: Promise, second: Promise) -> bool:
    if first.block is second.block and first.deadline != second.deadline:
        return False
    topics, others = first.found.topics, second.found.topics
    if not topics or not others:
        return True
    return len(topics & others) / min(len(topics), len(others)) > _ALIKE


def _commitment(promise: Promise) -> Commitment:
    deadline = promise.deadline
    return Commitment(
        _clean(promise.block.text[promise.start : promise.end]),
        promise.block.quote(promise.start, promise.end),
        deadline.iso if deadline else None,
        deadline.text if deadline else None,
    )


def _clean(text: str) -> str:
    """A sentence: without what is said to win time, with a capital and a full stop."""
    text = " ".join(text.split())
    filler = _FILLERS.match(text)
    if filler and len(text) - filler.end() > _SHORTEST:
        text = text[filler.end() :]
    text = text.strip(" ,;:—–-")
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".!?…" else ".")
