"""A summary made of what was said: why they talked, what came out, what was promised."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ingest.analysis.catalogs import category_label
from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Commitment, KeyItem, Sides
from ingest.analysis.rules.categories_evidence import Embed, Evidence, gather
from ingest.analysis.rules.categories_excerpt import Piece
from ingest.analysis.rules.digest_wording import (
    HEADS,
    content_words,
    continued,
    names_day,
    says_same,
    sentence,
    until,
)
from ingest.analysis.rules.items import best_piece, topic_piece
from ingest.analysis.rules.items_wording import clean

MAX_PROMISES = 3
_LEAST_SAID = 3
_BRIEF = frozenset({"outcome", "decisions"})  # "it works" is one
_SOMEBODY = re.compile(r"(?:он|она|оно|они|he|she|it|they)\b", re.IGNORECASE)
# How things will be is no promise worth a manager's time: "it will stay with you for a week".
_STATE = re.compile(
    r"(?:он|она|оно|они|это)\s+(?:\w{1,15}\s+)?буд(?:ет|ут)\s+\w{2,20}(?:ть|ться|ти)\b"
    r"|(?:it|they|that|this)(?:\s+will|'ll|’ll)\s+(?:be staying|stay|stand|sit|remain)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_MAX_COMPARED = 160
_LEAST_WORDS = 5
_MEETING_POINTS = 3
_LONG_PIECES = 150
_LONG_POINTS = 5

# In the order a manager reads them; the first of a group that is there and not told yet is taken.
_FINDINGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "sales": (("offer",), ("objection", "competitors"), ("agreement",), ("next_touch_at",)),
    "renewal": (("churn_risk",), ("offer",), ("agreement",), ("next_touch_at",)),
    "support": (("urgency",), ("resolution",), ("outcome",)),
    "billing": (("disputes",), ("outcome",)),
    "supply": (("order_status", "delivery_status"), ("constraints", "documents"), ("outcome",)),
    "complaint": (("severity",), ("requested_resolution",), ("escalation",)),
    "internal": (("decisions",), ("outcome",), ("next_touch_at",)),
    "no_contact": (("dial_hint",),),
}


def _central(pieces: Sequence[Piece], embed: Embed | None, count: int) -> list[Piece]:
    """The sentences that stand for a long talk, in their order: the likest to all the rest, unlike each other."""
    worth = [piece for piece in pieces if piece.idx >= 0 and piece.words.count(" ") > _LEAST_WORDS + 2]
    worth = worth[:: max(1, -(-len(worth) // _MAX_COMPARED))]
    if len(worth) <= count:
        return worth
    if embed is None:
        step = len(worth) / count
        parts = [worth[int(at * step) : int((at + 1) * step)] for at in range(count)]
        return [max(part, key=lambda piece: min(len(piece.words), 160)) for part in parts]
    vectors = embed([piece.text for piece in worth])
    near = vectors @ vectors.T
    value = near.mean(axis=1)
    chosen: list[int] = []
    for _ in range(count):
        repeated = near[:, chosen].max(axis=1) if chosen else np.zeros(len(worth), dtype=np.float32)
        order = np.argsort(-(value - 0.5 * repeated))
        chosen.append(next(int(at) for at in order if int(at) not in chosen))
    return [worth[at] for at in sorted(chosen)]


@dataclass
class _Told:
    """The lines so far; nothing is told twice."""

    lines: list[str] = field(default_factory=list)
    words: list[set[str]] = field(default_factory=list)

    def has(self, text: str) -> bool:
        words = content_words(text)
        return not words or any(says_same(words, each) for each in self.words)

    def includes(self, text: str) -> bool:
        """Whether all its words are in one that was told, or the other way round."""
        words = content_words(text)
        return any(words <= each or each <= words for each in self.words)

    def note(self, text: str) -> None:
        self.words.append(content_words(text))

    def tell(self, head: str, text: str) -> None:
        self.note(text)
        self.lines.append(sentence(head, text))


def _promises(commitments: Iterable[Commitment], conversation: Conversation) -> list[str]:
    """Each once, with its day; of the later ones those that say something new."""
    promises: list[str] = []
    seen: list[set[str]] = []
    deeds = [each for each in commitments if not _STATE.match(each.content)]
    # Who "he" is, one that names him tells.
    for commitment in sorted(deeds, key=lambda each: bool(_SOMEBODY.match(each.content))):
        text, words = clean(commitment.content).rstrip(".!…,;"), content_words(commitment.content)
        if any(says_same(words, each) for each in seen):
            continue
        seen.append(words)
        deadline, language = commitment.deadline, conversation.language
        if deadline and not names_day(text, deadline, language):
            said_at = conversation.occured_at.astimezone(conversation.zone)
            text = f"{text} ({until(deadline, commitment.deadline_text, said_at, language)})"
        promises.append(continued(text, commitment.quote.text) if promises else text)
    return promises[:MAX_PROMISES]


def digest(
    conversation: Conversation,
    sides: Sides,
    category: str | None,
    items: Sequence[KeyItem],
    commitments: Sequence[Commitment],
    embed: Embed | None = None,
    evidence: Evidence | None = None,
) -> str:
    """Two to six sentences in the conversation's language, the facts in the words they were said in; less where less
    was said."""
    evidence = evidence or gather(conversation, sides, embed)
    heads = HEADS["en" if conversation.language == "en" else "ru"]
    told = _Told()
    label = category_label(category, conversation.language)
    if category == "no_contact":
        outcome = next((item.content for item in items if item.key == "contact_outcome"), "")
        told.lines.append(f"{heads['nothing']}.")
        if outcome:
            told.tell(label or "", outcome)
    topic = topic_piece(category, conversation, evidence, embed) if category != "no_contact" else None
    if topic:
        head = heads[topic.side] if topic.side in ("client", "employee") and category != "internal" else heads["about"]
        told.tell(f"{label}. {head}" if label else head, clean(topic.text))
    promised = _promises(commitments, conversation)
    for commitment in commitments:  # what was promised is told as such, at the end
        told.note(commitment.quote.text)
    by_key = {item.key: item for item in items if item.quote}
    # No key of a renewal, and yet what it turns on.
    if category == "renewal" and (offer := best_piece("offer", evidence.pieces, conversation)):
        by_key["offer"] = KeyItem("offer", offer.text, offer.quote())
    for group in _FINDINGS.get(category or "", ()):
        for item in (by_key[key] for key in group if key in by_key):
            text = _worded(item, told)
            if text:
                told.tell(heads[item.key], text)
                break
    if category in (None, "internal") and len(evidence.pieces) > _MEETING_POINTS:
        count = _MEETING_POINTS if len(evidence.pieces) < _LONG_PIECES else _LONG_POINTS
        fresh = [piece for piece in evidence.pieces if not told.includes(piece.text)]
        points = [clean(piece.text).rstrip(".") for piece in _central(fresh, embed, count)]
        if points:
            told.lines.append(sentence(heads["points"], "; ".join(points)))
    if promised:
        told.lines.append(sentence(heads["promised"], "; ".join(promised)))
    return " ".join(told.lines)


def _worded(item: KeyItem, told: _Told) -> str:
    """The sentence, with what it answers where it is a bare yes and that was not told; nothing where all was told, or
    too little is said."""
    bare = clean(item.quote.text) if item.quote else ""
    text = bare if told.has(item.content) else clean(item.content)
    enough = len(text.split()) >= (1 if item.key in _BRIEF else _LEAST_SAID) or _DIGIT.search(text)
    return text if enough and not told.has(text) else ""
