"""Numbered citations: `[n]` of a model's prompt becomes the answer's own `[1]`, `[2]`, in the order of first use."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chat.contract import Passage
from rag.prompt_data import without_unseen
from rag.text_terms import terms

# What counts as a citation wherever one is read, looked past or made harmless. Its group is the numbers.
CITATION = re.compile(r"[\[［【]\s*(\d{1,3}(?:\s*[,;，；、]\s*\d{1,3})*)\s*[\]］】]")
# A citation with the blanks before it, or the comma after another one; and what at the end of a piece may be one, or be
# followed by one.
_SPACED = re.compile(rf"(?P<blank>(?:(?<=[\]］】])[,;，；、])?[ \t\u00a0]{{0,8}}){CITATION.pattern}")
_UNDECIDED = re.compile(r"[ \t\u00a0]{0,8}(?:[\[［【][\[［【\]］】\d\s,;，；、]{0,80})?$")
_CLOSING = frozenset('.,;:!?…»”")')
_LEAST_OVERLAP = 0.5
_MARKUP = re.compile(r"([\[\]<`\\])")
_SENTENCE = re.compile(
    rf".*?[.!?…]+[»\")*]*(?:\s*{CITATION.pattern})*[.!?]?\s+(?=[^\s\[［【])|.*?\n+(?=[^\s\[［【])", re.DOTALL
)


def escape(text: str) -> str:
    """Text of a source, so that its links, citations, pictures and tags are shown and not obeyed."""
    return _MARKUP.sub(r"\\\1", CITATION.sub(_without_wide_brackets, without_unseen(text)))


def _without_wide_brackets(citation: re.Match[str]) -> str:
    """Markdown has no escape for them, and readers take them for a citation's."""
    return citation[0] if (citation[0][0], citation[0][-1]) == ("[", "]") else f"({citation[1]})"


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
        """The same for a stream: what may become a citation, or loses its place with one, waits for what follows."""
        text = self._pending + delta
        undecided = _UNDECIDED.search(text)
        assert undecided is not None, "it matches an empty end"
        self._pending = undecided[0]
        return self.rewrite(text[: undecided.start()])

    def _known(self, match: re.Match[str]) -> list[int]:
        numbers = [int(number) for number in re.findall(r"\d+", match[0])]
        return [number for number in numbers if 1 <= number <= len(self.shown)]

    def _without_unknown(self, text: str) -> str:
        """Until none is left: what stood around a citation that names nothing may look like one afterwards. What
        joined it to the words before goes with it where a blank or a closing mark follows."""

        def replaced(match: re.Match[str]) -> str:
            if self._known(match):
                return match[0]
            behind = match.string[match.end() : match.end() + 1]
            return "" if not behind or behind.isspace() or behind in _CLOSING else match["blank"]

        while True:
            dropped = _SPACED.sub(replaced, text)
            if dropped == text:
                return text
            text = dropped

    def flush(self) -> str:
        """What still waited, at the end of the stream."""
        text, self._pending = self._pending, ""
        return self.rewrite(text)

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
