"""What every chat engine takes and gives. An engine answers from passages that were found; it knows nothing of HTTP.

`Engine.answer` is an async generator of events: `Status` while it works, `Text` as the answer grows, one `Done` at the
end. The texts joined are the answer's Markdown. Closing it ends the model call.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rag.language_model import TokenUsage

if TYPE_CHECKING:
    from chat.spent import Spent

PassageKind = Literal["document", "communication", "memory"]


@dataclass(frozen=True, slots=True)
class Message:
    """One earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(slots=True)
class Passage:
    """A found piece of a document or a communication, with the evidence that it fits the question.

    `coverage` is the share of the query's terms in the passage (0 to 1, rare terms weigh more), `cosine` the
    similarity of the embeddings; None where the search did not say. `term_weights` are the IDF of the query's terms in
    the whole index, empty where not known. `certainty` is how much more speaks for an answer in it than is needed
    (log-odds, as `chat.relevance.ANSWERS` has them); None where it was not judged so. `context_item` is what the
    answer's `context` shows.
    """

    kind: PassageKind
    id: str
    title: str
    text: str
    score: float = 0.0
    coverage: float | None = None
    cosine: float | None = None
    term_weights: Mapping[str, float] = field(default_factory=dict)
    certainty: float | None = None
    language: str | None = None
    page: int | None = None
    url: str | None = None
    start_ms: int | None = None
    context_item: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer took. Zero tokens where no model was asked."""

    model: str = ""
    tokens: TokenUsage = field(default_factory=TokenUsage)
    model_calls: int = 0
    tool_calls: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """What the engine is doing: `search`, or `tool` with the tool's name."""

    step: Literal["search", "tool"]
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """The next piece of the answer."""

    delta: str


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer. `[n]` in `markdown` is `used_passages[n - 1]`; nothing found means no passages."""

    markdown: str
    used_passages: list[Passage]
    found: bool
    usage: Usage


Event = Status | Text | Done
Retrieve = Callable[[str], Awaitable[list[Passage]]]
Scorer = Callable[[Sequence[str], Sequence[str]], Awaitable[Sequence[Sequence[float]]]]
"""Cosine similarities: a row for each query, in it one for each text."""


@dataclass(frozen=True, slots=True)
class Record:
    """What analysis noted in a conversation, and the passage that leads there. `label` is the signal of a complaint;
    `by` who made a promise, where that is known."""

    text: str
    passage: Passage
    label: str = ""
    by: str = ""
    due: date | None = None
    is_overdue: bool = False
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Records:
    """Some records in the order of a list, and whether it has more. `person` is whom they are about, "" for anybody."""

    items: list[Record]
    has_more: bool
    person: str = ""


class ToolError(Exception):
    """A tool call that did not work. The message is fed back to the model."""


class ToolBox(Protocol):
    """The tools that a chat allows, already bound to its tenant and spaces."""

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        """The tools as OpenAI takes them."""
        ...

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, list[Passage]]:
        """The result as JSON text, and the passages in it. Checks the arguments. Raises ToolError or ParleyError."""
        ...

    async def promises(self, name: str, *, overdue: bool) -> Records:
        """What was promised by or to the person of that name, or with "" what is not done yet, newest first. `overdue`:
        only what is, the longest overdue first. None where nobody is called so, or the chat may not look."""
        ...

    async def complaints(self) -> Records:
        """What customers of late were unhappy about, newest first; none where the chat may not look."""
        ...


class Engine(Protocol):
    name: str

    def answer(
        self,
        question: str,
        history: Sequence[Message],
        retrieve: Retrieve,
        tools: ToolBox | None = None,
        instructions: str = "",
        spent: Spent | None = None,
    ) -> AsyncGenerator[Event, None]:
        """`instructions` are the chat owner's wishes on tone and form; `spent` is told of model calls as they are made.

        Raises UpstreamFailed where the model provider fails, Unavailable where none is there.
        """
        ...
