"""What speaks for each intent in a conversation: cues by side and place, and likeness to sentences of its kind.

An intent is finer than a category and mostly of one scenario: category and scenario are read off the same evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Sides
from ingest.analysis.rules import categories_en, categories_examples_en, categories_examples_ru, categories_ru
from ingest.analysis.rules.categories_cues import Cue, compile_cues
from ingest.analysis.rules.categories_excerpt import Piece, read
from ingest.analysis.rules.categories_requests import REQUESTS
from ingest.analysis.rules.categories_sentences import SENTENCES

SMALL_TALK = "small_talk"  # names, numbers, courtesies: of no intent
EXAMPLES = (categories_examples_ru.EXAMPLES, categories_examples_en.EXAMPLES)

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

# Whose words they are, by nature; the rest is said by either side.
_CLIENTS = frozenset(
    {"sales_in", "leaving", "incident", "order_new", "booking", "status", "case", "cancel", "complaint"}
)
_COMPANYS = frozenset({"apology", "sales_out", "retention", "collection"})
# What people call about themselves; of whom the company calls, it is rarely the reason.
_CALLERS = frozenset({"sales_in", "incident", "howto", "order_new", "booking", "complaint"})
_CALLED = 0.5
_UNKNOWN_SIDE = 0.8
_OTHER_SIDE = 0.5
_PLACES = ((35, 3.0), (90, 1.6))  # words said so far, factor
_SUBJECT_FACTOR = 3.0
_REPEATS = (1.0, 0.5, 0.25)
_FADE = 0.7
_MAX_EMBEDDED = 96
_LIKENESS_WEIGHT = 25.0
_TOPS = 10
_RIDGE = 0.1
_NARROW = 4.0
_LEAST_LIKENESS = 0.15
_THEIR_WORDS = ((0, 30), (0, 70))
_ALL_WORDS = ((0, 100), (100, 220))
_LEAST_RUN = 6
_STRETCH_WEIGHT = 60.0
_LEAST_OF_STRETCH = 0.1


@dataclass(frozen=True)
class Evidence:
    """`scores` by intent; `given` what each piece, by its place among `pieces`, adds to an intent; `embedded` are the
    places of the pieces whose vectors are known, `vectors` those; `named` are the intents that words speak for, not
    likeness alone."""

    pieces: tuple[Piece, ...]
    scores: Mapping[str, float]
    given: Mapping[str, Mapping[int, float]]
    embedded: tuple[int, ...] = ()
    vectors: NDArray[np.float32] | None = None
    named: frozenset[str] = frozenset()

    def of(self, *intents: str) -> float:
        return sum(self.scores.get(intent, 0.0) for intent in intents)


@lru_cache(maxsize=2)
def _cues(language: str) -> tuple[Cue, ...]:
    return compile_cues(categories_en.CUES if language == "en" else categories_ru.CUES, language)


def _place(piece: Piece, conversation: Conversation) -> float:
    """The client's first words say why they came; of a call that the company makes, the operator's first ones do."""
    if piece.idx < 0:
        return _SUBJECT_FACTOR
    opening = "client" if conversation.direction == "out" else "employee"
    if piece.side == opening:  # courtesies, or what the other side's opening is met with
        return 1.0
    return next((factor for words, factor in _PLACES if piece.said < words), 1.0)


def _side(intent: str, piece: Piece, direction: str | None) -> float:
    called = _CALLED if direction == "out" and intent in _CALLERS else 1.0
    return called * _by_side(intent, piece)


def _by_side(intent: str, piece: Piece) -> float:
    if piece.side == "unknown":
        return _UNKNOWN_SIDE
    natural = "client" if intent in _CLIENTS else "employee" if intent in _COMPANYS else piece.side
    return 1.0 if piece.side == natural else _OTHER_SIDE


class _Tally:
    """What each piece gives to each intent."""

    def __init__(self) -> None:
        self._given: dict[str, list[tuple[float, int]]] = defaultdict(list)

    def add(self, intent: str, weight: float, at: int) -> None:
        self._given[intent].append((weight, at))

    def scores(self) -> dict[str, float]:
        """The strongest word counts whole, each further one less: much talk of invoices decides no more than one
        clear request."""
        return {
            intent: sum(weight * _FADE**rank for rank, (weight, _) in enumerate(sorted(given, reverse=True)))
            for intent, given in self._given.items()
        }

    def by_piece(self) -> dict[str, Mapping[int, float]]:
        found: dict[str, Mapping[int, float]] = {}
        for intent, given in self._given.items():
            sums: dict[int, float] = defaultdict(float)
            for weight, at in given:
                sums[at] += weight
            found[intent] = dict(sums)
        return found


def _count_cues(conversation: Conversation, pieces: Sequence[Piece], tally: _Tally) -> None:
    joined, starts = _joined(pieces)
    taken: set[tuple[str, int]] = set()
    for cue in _cues(conversation.language):
        for repeat, start in zip(_REPEATS, cue.starts(joined), strict=False):
            if (cue.intent, start) in taken:
                continue
            taken.add((cue.intent, start))
            at = int(np.searchsorted(starts, start, side="right")) - 1
            piece = pieces[at]
            tally.add(
                cue.intent,
                cue.weight * repeat * _place(piece, conversation) * _side(cue.intent, piece, conversation.direction),
                at,
            )


def _joined(pieces: Sequence[Piece]) -> tuple[str, NDArray[np.int64]]:
    """One text to search, and where each piece begins in it. A recogniser's full stop is no border, a turn is."""
    parts: list[str] = []
    starts, length = [], 0
    for at, piece in enumerate(pieces):
        same_turn = bool(at) and pieces[at - 1].idx == piece.idx
        parts.append(piece.words[1:] if same_turn else f"\n{piece.words}")
        starts.append(length)
        length += len(parts[-1])
    return "".join(parts), np.array(starts, dtype=np.int64)


def _chosen(pieces: Sequence[Piece]) -> list[int]:
    """Which pieces are worth embedding: of enough words, the earliest of each voice first, then evenly to the end."""
    worth = [at for at, piece in enumerate(pieces) if piece.words.count(" ") > 3]
    if len(worth) <= _MAX_EMBEDDED:
        return worth
    first, rest = worth[: _MAX_EMBEDDED // 2], worth[_MAX_EMBEDDED // 2 :]
    step = -(-len(rest) // (_MAX_EMBEDDED // 2))
    return first + rest[::step]


class Same:
    """An embedder as a key: two `partial`s of the same model are the same."""

    def __init__(self, embed: Embed) -> None:
        self.embed = embed
        self._key = (embed.func, embed.args) if isinstance(embed, partial) else embed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@dataclass(frozen=True)
class Learned:
    """Kernel ridge regression: what of each intent a text has, by its nearness to all sentences of known intent."""

    intents: tuple[str, ...]
    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]

    def tell(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(_nearness(vectors, self.vectors) @ self.weights, dtype=np.float32)


def _nearness(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    """A Gaussian kernel of unit vectors: by far neighbours a linear one would mostly tell the language."""
    return np.asarray(np.exp(_NARROW * (one @ other.T - 1.0)), dtype=np.float32)


def learn(embed: Embed, said: Sequence[tuple[str, str]]) -> Learned:
    """Of pairs of an intent and a sentence."""
    intents = tuple(dict.fromkeys(intent for intent, _ in said))
    vectors = embed([line for _, line in said])
    is_of = np.array([[intent == each for each in intents] for intent, _ in said], dtype=np.float32)
    gram = _nearness(vectors, vectors) + _RIDGE * np.eye(len(said), dtype=np.float32)
    return Learned(intents, vectors, np.asarray(np.linalg.solve(gram, is_of), dtype=np.float32))


@lru_cache(maxsize=2)
def _known(by: Same) -> Learned:
    said = [(intent, line) for intent, lines in SENTENCES.items() for line in lines]
    for table in (REQUESTS, *EXAMPLES):
        said += [(intent, line) for intent, lines in table.items() for line in lines.strip().splitlines()]
    return learn(by.embed, said)


def likeness(embed: Embed, texts: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Intents, and (len(texts), intents): how much each text is like what is said with an intent, about 0 to 1."""
    learned = _known(Same(embed))
    return learned.intents, learned.tell(embed(texts))


def _count_likeness(
    conversation: Conversation,
    pieces: Sequence[Piece],
    chosen: Sequence[int],
    near: NDArray[np.float32],
    intents: Sequence[str],
    tally: _Tally,
) -> None:
    margin = np.maximum(0.0, near - _LEAST_LIKENESS)
    place = np.array([_place(pieces[at], conversation) for at in chosen])
    for column, name in enumerate(intents):
        if name in (SMALL_TALK, "no_contact"):  # the latter is told by who speaks: see `categories_presence`
            continue
        by_side = np.array([_side(name, pieces[at], conversation.direction) for at in chosen])
        weighed = margin[:, column] * place * by_side
        for row in np.argsort(-weighed)[:_TOPS]:
            if weighed[row] > 0:
                tally.add(name, float(weighed[row]) * _LIKENESS_WEIGHT, chosen[row])


def _stretches(conversation: Conversation, pieces: Sequence[Piece]) -> list[str]:
    """Longer runs of words: what the one who wanted something said first, and how the conversation began. A sentence
    alone often leaves open what it is about."""
    wanting = "employee" if conversation.direction == "out" else "client"
    known = any(piece.side == wanting for piece in pieces)
    theirs: list[str] = []
    everybodys: list[str] = []
    for piece in pieces:
        words = piece.text.split()
        everybodys += words
        if piece.side == wanting or (not known and piece.side == "unknown"):
            theirs += words
        if len(everybodys) > _ALL_WORDS[-1][1] and len(theirs) > _THEIR_WORDS[-1][1]:
            break
    runs = [theirs[start:end] for start, end in _THEIR_WORDS] + [everybodys[start:end] for start, end in _ALL_WORDS]
    return [" ".join(run) for run in runs if len(run) >= _LEAST_RUN]


def _of_stretches(conversation: Conversation, near: NDArray[np.float32], intents: Sequence[str]) -> dict[str, float]:
    scores = {}
    for intent, mean in zip(intents, near.mean(axis=0), strict=True):
        if intent in (SMALL_TALK, "no_contact"):
            continue
        called = _CALLED if conversation.direction == "out" and intent in _CALLERS else 1.0
        scores[intent] = _STRETCH_WEIGHT * called * max(0.0, float(mean) - _LEAST_OF_STRETCH)
    return scores


def gather(conversation: Conversation, sides: Sides, embed: Embed | None = None) -> Evidence:
    """All evidence of a conversation; work and memory are bounded, however long it is."""
    pieces = read(conversation, sides)
    tally = _Tally()
    if not pieces:
        return Evidence((), {}, {})
    _count_cues(conversation, pieces, tally)
    cued = tally.by_piece()
    named = frozenset(cued)
    chosen = tuple(_chosen(pieces))
    if embed is None or not chosen:
        return Evidence(tuple(pieces), tally.scores(), cued, named=named)
    learned, stretches = _known(Same(embed)), _stretches(conversation, pieces)
    vectors = embed([*(pieces[at].text for at in chosen), *stretches])
    near = learned.tell(vectors)
    _count_likeness(conversation, pieces, chosen, near[: len(chosen)], learned.intents, tally)
    scores = tally.scores()
    if stretches:
        for intent, weight in _of_stretches(conversation, near[len(chosen) :], learned.intents).items():
            scores[intent] = scores.get(intent, 0.0) + weight
    return Evidence(tuple(pieces), scores, tally.by_piece(), chosen, vectors[: len(chosen)], named)
