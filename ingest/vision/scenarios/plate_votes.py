"""One reading out of the many that a plate, or another short text, gets while it is in the picture."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reading:
    """`confidence`: the share of what was said for it, 0 to 1."""

    text: str
    confidence: float
    votes: int


@dataclass
class Votes:
    """Readings of one thing. The length with most weight is taken, and at each place of it the character with most."""

    _lengths: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    _places: defaultdict[tuple[int, int, str], float] = field(default_factory=lambda: defaultdict(float))
    votes: int = 0

    def add(self, text: str, confidence: float) -> None:
        """`confidence` of the reader, 0 to 1: a doubtful reading weighs little."""
        weight = max(0.0, min(1.0, confidence)) ** 2
        if not text or weight == 0:
            return
        self.votes += 1
        self._lengths[len(text)] += weight
        for place, character in enumerate(text):
            self._places[len(text), place, character] += weight

    def reading(self) -> Reading | None:
        """None before the first vote."""
        if not self._lengths:
            return None
        length = max(self._lengths, key=lambda each: (self._lengths[each], each))
        weight = self._lengths[length]
        text, agreed = "", 1.0
        for place in range(length):
            there = {
                character: said for (long, at, character), said in self._places.items() if (long, at) == (length, place)
            }
            best = max(there, key=lambda each: (there[each], each))
            text += best
            agreed = min(agreed, there[best] / weight)
        return Reading(text, agreed * weight / sum(self._lengths.values()), self.votes)
