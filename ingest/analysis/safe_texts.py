"""What a language model may read of a conversation, and may quote: sentences that speak to it are withheld."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from ingest.analysis import quotations
from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Quote
from ingest.analysis.hostile import ANY_NEED, WITHHELD, Checked, check_each, is_split_order
from ingest.analysis.quotations import Folded

_BATCH_CHARACTERS = 20_000  # checked at once, which costs less than turn by turn
_BATCH_TURNS = 256
_END = 400  # characters of a turn that may be half of an order
_SPLIT_WORDS = 20


class SafeTexts:
    """The turns' texts by their places, each made when it is first read, and once.

    `withheld` is what `withheld_texts` of the same conversation gave, from another process say; then nothing is left
    to do here. Use from one thread.
    """

    def __init__(self, conversation: Conversation, withheld: Mapping[int, str] | None = None) -> None:
        self.conversation = conversation
        self._withheld = withheld
        self._turns = conversation.turns
        self._places = {turn.idx: at for at, turn in enumerate(self._turns)}
        self._checked: dict[int, Checked] = {}
        self._pairs: dict[tuple[int, int], bool] = {}
        self._folded: dict[int, Folded] = {}
        self._before: list[set[int]] = [set() for _ in self._turns]
        self._after: list[set[int]] = [set() for _ in self._turns]
        if withheld is None:
            self._join_turns()

    def __iter__(self) -> Iterator[str]:
        return (self[at] for at in range(len(self._turns)))

    def __getitem__(self, at: int) -> str:
        """The text of the turn at this place: the very same where nothing is withheld."""
        if self._withheld is not None:
            return self._withheld.get(self._turns[at].idx, self._turns[at].text)
        text = self._check(at).safe
        if any(self._is_split(before, at) for before in self._before[at]):
            text = " ".join([WITHHELD, *text.split()[_SPLIT_WORDS:]])
        if any(self._is_split(at, after) for after in self._after[at]):
            text = " ".join([*text.split()[:-_SPLIT_WORDS], WITHHELD])
        return text

    def quote(self, text: str, labels: Collection[str] | None) -> Quote | None:
        """The turn's own words behind a model's quotation; None where they are withheld from it."""
        found = quotations.find(self.conversation, text, labels, self._fold) if text.strip() else None
        return found if found is not None and found.text in self[self._places[found.idx]] else None

    def _join_turns(self) -> None:
        """What is said over two turns is said in turns that follow each other, or in one voice's."""
        of_one: dict[str | None, list[int]] = {}
        for at, turn in enumerate(self._turns):
            of_one.setdefault(turn.label, []).append(at)
        for places in (range(len(self._turns)), *of_one.values()):
            for before, after in pairwise(places):
                self._before[after].add(before)
                self._after[before].add(after)

    def _check(self, at: int) -> Checked:
        if at not in self._checked:
            batch, size = [], 0
            for place in range(at, min(at + _BATCH_TURNS, len(self._turns))):
                if place in self._checked or (size and size + len(self._turns[place].text) > _BATCH_CHARACTERS):
                    break
                batch.append(place)
                size += len(self._turns[place].text)
            self._checked.update(zip(batch, check_each([self._turns[place].text for place in batch]), strict=True))
        return self._checked[at]

    def _is_split(self, before: int, after: int) -> bool:
        if (before, after) not in self._pairs:
            first, second = self._turns[before].text[-_END:], self._turns[after].text[:_END]
            needs = self._needs(before) | self._needs(after)
            self._pairs[before, after] = is_split_order(first, second, needs)
        return self._pairs[before, after]

    def _needs(self, at: int) -> int:
        return self._checked[at].needs if at in self._checked else ANY_NEED

    def _fold(self, idx: int, text: str) -> Folded:
        if idx not in self._folded:
            self._folded[idx] = quotations.fold_spaces(text)
        return self._folded[idx]


def withheld_texts(conversation: Conversation) -> dict[int, str]:
    """The texts, by the turns' `idx`, from which something is withheld; the other turns are safe as they are."""
    safe = SafeTexts(conversation)
    return {turn.idx: text for turn, text in zip(conversation.turns, safe, strict=True) if text is not turn.text}
