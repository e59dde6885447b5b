"""What analysis finds in a conversation. Every finding carries the words it rests on, which `quotations` proves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ingest.analysis.conversation import Side

BUILT_IN = "built-in"
"""The engine of rules and embeddings; another one is called by its model."""

State = Literal["decided", "not_applicable", "undecided"]
Value = bool | float | None


@dataclass(frozen=True, slots=True)
class Quote:
    """Verbatim words of one turn."""

    text: str
    idx: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Sides:
    """Which labels are the company's and which the client's, as far as what is said tells, 0 to 1 sure."""

    of: Mapping[str, Side] = field(default_factory=dict)
    confidence: float = 0.0

    @property
    def employees(self) -> tuple[str, ...]:
        return tuple(label for label, side in self.of.items() if side == "employee")

    @property
    def clients(self) -> tuple[str, ...]:
        return tuple(label for label, side in self.of.items() if side == "client")


@dataclass(frozen=True, slots=True)
class Binding:
    """A label that is a person's. Only sure ones are made: the rest stays unbound."""

    label: str
    person_id: str
    reason: str  # for people: "says their name", "addressed by name", ...


@dataclass(frozen=True, slots=True)
class Commitment:
    """A promise of an employee. `deadline` is ISO 8601, a day or a local time with its offset; None where none was
    said, or it cannot be resolved. `deadline_text` are the words it was said in, perhaps in a turn beside."""

    content: str
    quote: Quote
    deadline: str | None = None
    deadline_text: str | None = None


@dataclass(frozen=True, slots=True)
class KeyItem:
    """A fact under a key of the category's row."""

    key: str
    content: str
    quote: Quote | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """`category` is None where nothing justifies one. `engines` says which engine each field is from."""

    text: str | None
    category: str | None
    items: tuple[KeyItem, ...] = ()
    commitments: tuple[Commitment, ...] = ()
    bindings: tuple[Binding, ...] = ()
    user_summary: str | None = None
    engines: Mapping[str, str] = field(default_factory=dict)
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Vote:
    """One engine's word on a criterion. `value` is None unless decided; `quote` is None where there is nothing to
    quote, as for what was not said."""

    engine: str
    state: State
    value: Value = None
    quote: Quote | None = None

    def __post_init__(self) -> None:
        assert (self.value is None) == (self.state != "decided")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A criterion with the vote that decides and all votes."""

    code: str
    vote: Vote
    votes: tuple[Vote, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`score_pct` is over the binary criteria that were decided; None where there was none."""

    scenario_code: str
    judgements: tuple[Judgement, ...]
    score_pct: float | None
    comment: str | None
    is_partial: bool
    engines: Mapping[str, str] = field(default_factory=dict)
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Fact:
    """Something about a client that outlives the contact. Facts of one person under one `key` exclude each other: a new
    one takes the old one's place. Keys are stable words such as `city`, `equipment:coffee machine`."""

    person_id: str
    key: str
    content: str
    quote: Quote


@dataclass(frozen=True, slots=True)
class Memory:
    facts: tuple[Fact, ...]
    engines: Mapping[str, str] = field(default_factory=dict)
    tokens: int = 0
