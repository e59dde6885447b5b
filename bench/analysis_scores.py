"""Figures of analysis against labels: Cohen's kappa, accuracies, recall and precision of promises, bindings, facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.analysis.catalogs import CRITERIA
from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Binding, Commitment, Fact, KeyItem, Quote, Summary, Vote
from ingest.analysis.quotations import is_verbatim

_NULL = "null"


@dataclass(frozen=True)
class Findings:
    """What an engine made of one conversation."""

    summary: Summary
    scenario: str
    votes: dict[str, Vote]
    facts: tuple[Fact, ...]
    seconds: float = 0.0


@dataclass
class Ratio:
    """Hits of tries."""

    hits: int = 0
    of: int = 0

    def add(self, hit: bool) -> None:
        self.hits += hit
        self.of += 1

    @property
    def value(self) -> float:
        return self.hits / self.of if self.of else float("nan")

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.hits} of {self.of})"


@dataclass
class Scores:
    category: Ratio = field(default_factory=Ratio)
    scenario: Ratio = field(default_factory=Ratio)
    promised: Ratio = field(default_factory=Ratio)  # recall
    promises: Ratio = field(default_factory=Ratio)  # precision
    deadlines: Ratio = field(default_factory=Ratio)
    bound: Ratio = field(default_factory=Ratio)  # precision
    bindable: Ratio = field(default_factory=Ratio)  # recall
    facts: Ratio = field(default_factory=Ratio)  # precision
    known: Ratio = field(default_factory=Ratio)  # recall
    keys: Ratio = field(default_factory=Ratio)
    verbatim: Ratio = field(default_factory=Ratio)
    pairs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    tone_errors: list[float] = field(default_factory=list)
    seconds: float = 0.0
    missed: list[str] = field(default_factory=list)

    def add(self, conversation: Conversation, truth: dict[str, Any], labels: dict[str, str], found: Findings) -> None:
        """Counts one conversation in; what differs is noted in `missed`."""
        id_ = conversation.id
        self.seconds += found.seconds
        for name, ratio, is_value, wanted in (
            ("category", self.category, found.summary.category, truth["category"]),
            ("scenario", self.scenario, found.scenario, truth["scenario"]),
        ):
            ratio.add(is_value == wanted)
            if is_value != wanted:
                self.missed.append(f"{id_}: {name} {is_value}, not {wanted}")
        self._add_criteria(id_, truth["criteria"], found.votes)
        self._add_commitments(id_, truth.get("commitments", []), found.summary.commitments)
        self._add_bindings(id_, labels, found.summary.bindings)
        self._add_facts(id_, truth.get("facts", []), found.facts)
        self._add_items(truth.get("items", []), found.summary.items)
        for quote in _quotes(found):
            self.verbatim.add(is_verbatim(conversation, quote))

    def _add_criteria(self, id_: str, truth: dict[str, Any], votes: dict[str, Vote]) -> None:
        for code in CRITERIA:
            wanted, value = truth[code], votes[code].value
            if code == "tone_of_voice":
                if value is not None and wanted != _NULL:
                    self.tone_errors.append(abs(float(value) - float(wanted)))
                continue
            pair = (_shown(wanted), _shown(value))
            self.pairs.setdefault(code, []).append(pair)
            if pair[0] != pair[1]:
                self.missed.append(f"{id_}: {code} {pair[1]}, not {pair[0]}")

    def _add_commitments(self, id_: str, truth: list[dict[str, str]], found: Sequence[Commitment]) -> None:
        free = list(found)
        for wanted in truth:
            match = next((each for each in free if _meets(each.quote, wanted["quote"], wanted["by"])), None)
            self.promised.add(match is not None)
            if match is None:
                self.missed.append(f"{id_}: promise not found: {wanted['quote']}")
                continue
            free.remove(match)
            self.promises.add(True)
            is_right = _moment(match.deadline) == wanted["deadline"]
            self.deadlines.add(is_right)
            if not is_right:
                self.missed.append(f"{id_}: deadline {match.deadline}, not {wanted['deadline']!r}: {wanted['quote']}")
        for each in free:
            # A promise that is labelled once and was found in a repetition counts once.
            self.promises.add(False)
            self.missed.append(f"{id_}: no promise: {each.quote.text}")

    def _add_bindings(self, id_: str, labels: dict[str, str], found: Sequence[Binding]) -> None:
        made = {binding.person_id: binding.label for binding in found}
        for name, label in labels.items():
            if label:
                self.bindable.add(made.get(name) == label)
            if name in made:
                self.bound.add(made[name] == label)
            if made.get(name, "") != label:
                self.missed.append(f"{id_}: {name} is {made.get(name, 'unbound')}, not {label or 'unbound'}")

    def _add_facts(self, id_: str, truth: list[dict[str, str]], found: Sequence[Fact]) -> None:
        for wanted in truth:
            self.known.add(any(_meets(fact.quote, wanted["quote"]) for fact in found))
        for fact in found:
            is_right = any(_meets(fact.quote, wanted["quote"]) for wanted in truth)
            self.facts.add(is_right)
            if not is_right:
                self.missed.append(f"{id_}: no labelled fact: {fact.content}")

    def _add_items(self, truth: list[dict[str, str]], found: Sequence[KeyItem]) -> None:
        for wanted in truth:
            self.keys.add(
                any(
                    each.key == wanted["key"] and each.quote is not None and _meets(each.quote, wanted["quote"])
                    for each in found
                )
            )


def _quotes(found: Findings) -> Iterable[Quote]:
    given = [vote.quote for vote in found.votes.values()]
    given += [each.quote for each in found.summary.items]
    given += [each.quote for each in found.summary.commitments]
    given += [each.quote for each in found.facts]
    return [quote for quote in given if quote is not None]


def _shown(value: Any) -> str:
    if value is None or value == _NULL:
        return _NULL
    return str(value).lower() if isinstance(value, bool) else f"{value:.0f}"


def _moment(deadline: str | None) -> str:
    """As labels are written: a day, or a local time to the minute."""
    return deadline[:16] if deadline else ""


def _meets(quote: Quote, text: str, label: str | None = None) -> bool:
    """Whether both are of one person and share at least half of the shorter one's words."""
    if label is not None and quote.label != label:
        return False
    ours, theirs = _words(quote.text), _words(text)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    return shared * 2 >= min(len(ours), len(theirs)) > 0


def _words(text: str) -> list[str]:
    return [word.strip(".,!?…:;«»\"'()—-").lower() for word in text.split() if word.strip(".,!?…:;«»\"'()—-")]


def kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Cohen's kappa (Cohen 1960) of (label, answer); 1 where all agree on a single value."""
    agreed = sum(wanted == given for wanted, given in pairs) / len(pairs)
    wanted, given = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    by_chance = sum(wanted[value] * given[value] for value in wanted) / len(pairs) ** 2
    return 1.0 if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)
