"""Numbered citations: `[n]` of a model's prompt becomes the answer's own `[1]`, `[2]`, in the order of first use."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chat.contract import Passage
from rag.text_terms import terms

# What counts as a citation wherever one is read, looked past or made harmless. Its group is the numbers.
CITATION = re.compile(r"[\[［【]\s*(\d{1,3}(?:\s*[,;，；、]\s*\d{1,3})*)\s*[\]］】]")
_OPEN = re.compile(r"(?:[\[［【][\d\s,;，；、]{0,40})+$")
_LEAST_OVERLAP = 0.5
_SENTENCE = re.compile(
    rf".*?[.!?…]+[»\")*]*(?:\s*{CITATION.pattern})*[.!?]?\s+(?=[^\s\[［【])|.*?\n+(?=[^\s\[［【])", re.DOTALL
)


class Citations:
    """Maps the numbers that a model was shown to the answer's. Numbers that name no passage are left out."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.shown: list[Passage] = list(passages)
        self.used: list[Passage] = []
        self._pending = ""

    def show(self, passage: Passage) -> int:
        """The number under which the model sees `passage`, from 1; the same passage keeps its number."""
        for number, known in enumerate(self.shown, 1):
            if (known.kind, known.id) == (passage.kind, passage.id):
                return number
        self.shown.append(passage)
        return len(self.shown)

    def cite(self, passage: Passage) -> str:
        """The answer's citation of `passage`."""
        for number, known in enumerate(self.used, 1):
            if (known.kind, known.id) == (passage.kind, passage.id):
                return f"[{number}]"
        self.used.append(passage)
        return f"[{len(self.used)}]"

    def rewrite(self, text: str) -> str:
        """`text` with every citation in the answer's numbers."""

        def replaced(match: re.Match[str]) -> str:
            return "".join(self.cite(self.shown[number - 1]) for number in self._known(match))

        return CITATION.sub(replaced, self._without_unknown(text))

    def feed(self, delta: str) -> str:
        """The same for a stream: what may be the beginning of a citation waits for its end."""
        text = self._without_unknown(self._pending + delta)
        self._pending = ""
        opened = _OPEN.search(text)
        if opened is not None:
            text, self._pending = text[: opened.start()], text[opened.start() :]
        return self.rewrite(text)

    def _known(self, match: re.Match[str]) -> list[int]:
        numbers = [int(number) for number in re.findall(r"\d+", match[1])]
        return [number for number in numbers if 1 <= number <= len(self.shown)]

    def _without_unknown(self, text: str) -> str:
        """Until none is left: what stood around a citation that names nothing may look like one afterwards."""
        while True:
            dropped = CITATION.sub(lambda match: match[0] if self._known(match) else "", text)
            if dropped == text:
                return text
            text = dropped

    def flush(self) -> str:
        """What still waited, at the end of the stream."""
        text, self._pending = self._pending, ""
        return text

    def best_source(self, text: str) -> Passage | None:
        """The shown passage that has at least half of the words of `text`, the fullest one, or None."""
        wanted = set(terms(text))
        if not wanted:
            return None
        best, share = None, 0.0
        for passage in self.shown:
            overlap = len(wanted & set(terms(f"{passage.title}\n{passage.text}"))) / len(wanted)
            if overlap > share:
                best, share = passage, overlap
        return best if share >= _LEAST_OVERLAP else None


def has_citation(text: str) -> bool:
    return CITATION.search(text) is not None


def append_citation(text: str, citation: str) -> str:
    """`text` with a citation before its closing white space."""
    body = text.rstrip()
    return f"{body} {citation}{text[len(body) :]}"


class SentenceStream:
    """Cuts a stream of deltas into sentences with the citations and the white space behind them; loses nothing."""

    def __init__(self) -> None:
        self._buffer = ""

    def feed(self, delta: str) -> list[str]:
        self._buffer += delta
        sentences = []
        while match := _SENTENCE.match(self._buffer):
            sentences.append(match[0])
            self._buffer = self._buffer[match.end() :]
        return sentences

    def flush(self) -> str:
        rest, self._buffer = self._buffer, ""
        return rest
