"""The questions of `demo/agent_questions.toml`, the scripted caller that answers them, and what counts as answered."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import mcp_types as types
from mcp.client.session import ClientSession

from api.demo import FOLDER
from rag.language_model import TokenUsage
from tests.contract.mcp import text_of

VERSION = "2025-11-25"
"""Its text is what agents read, and its structured content is the JSON."""
MOST_CALLS = 3

_DAY = re.compile(r"\{day-(\d+)\}")


@dataclass(frozen=True, slots=True)
class Fact:
    """What makes an answer right: one of `forms`, the first as the results say it; with a `place`, the number that
    the scripted caller's last result has there."""

    forms: tuple[str, ...]
    place: str | None = None
    value: int | float | None = None

    def is_in_answer(self, text: str) -> bool:
        said = plain(text)
        return any(_holds(said, plain(form)) for form in self.forms)


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    language: str
    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    facts: tuple[Fact, ...]


@dataclass(slots=True)
class Asked:
    """How a question went. `found`: facts that the tools gave; `said`: facts of the model's answer."""

    question: Question
    tools: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    structured: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    answer: str | None = None
    tokens: TokenUsage = field(default_factory=TokenUsage)

    @property
    def found(self) -> list[Fact]:
        return [fact for fact in self.question.facts if self.gives(fact)]

    @property
    def said(self) -> list[Fact]:
        return [fact for fact in self.question.facts if fact.is_in_answer(self.answer or "")]

    def gives(self, fact: Fact) -> bool:
        """Whether one result holds the fact, both in its text and in its JSON."""
        return any(is_given(fact, text, json_) for text, json_ in zip(self.texts, self.structured, strict=True))

    def take(self, tool: str, result: types.CallToolResult) -> str:
        """Notes a call and its result; what an agent reads of it."""
        text = text_of(result)
        self.tools.append(tool)
        if result.is_error or result.structured_content is None:
            self.problems.append(f"{tool}: {text}")
        else:
            self.texts.append(text)
            self.structured.append(result.structured_content)
        return text


def read_questions(today: date) -> list[Question]:
    """The set, its days counted back from `today`."""
    rows = tomllib.loads((FOLDER / "agent_questions.toml").read_text(encoding="utf-8"))["question"]
    return [_question(_dated(row, today)) for row in rows]


def _question(row: dict[str, Any]) -> Question:
    facts = [Fact(tuple(forms)) for forms in row.get("expects", ())]
    facts += [Fact((f"{value:g}",), place, value) for place, value in row.get("values", {}).items()]
    calls = tuple((call["tool"], call["with"]) for call in row["calls"])
    return Question(row["id"], row["language"], row["text"], calls, tuple(facts))


def _dated(value: Any, today: date) -> Any:
    if isinstance(value, str):
        return _DAY.sub(lambda found: (today - timedelta(days=int(found[1]))).isoformat(), value)
    if isinstance(value, list):
        return [_dated(each, today) for each in value]
    if isinstance(value, dict):
        return {name: _dated(each, today) for name, each in value.items()}
    return value


async def ask_scripted(session: ClientSession, question: Question) -> Asked:
    """Makes the calls that the question names."""
    asked = Asked(question)
    for tool, arguments in question.calls:
        try:
            filled = _filled(arguments, asked.structured)
        except (LookupError, StopIteration) as missing:
            asked.problems.append(f"{tool}: an earlier result lacks {missing}")
            break
        asked.take(tool, await session.call_tool(tool, filled))
        if asked.problems:
            break
    return asked


def _filled(value: Any, results: Sequence[Mapping[str, Any]]) -> Any:
    if isinstance(value, str) and value.startswith("$"):
        number, _, path = value[1:].partition("/")
        return at(results[int(number) - 1], path)
    if isinstance(value, list):
        return [_filled(each, results) for each in value]
    if isinstance(value, dict):
        return {name: _filled(each, results) for name, each in value.items()}
    return value


def at(value: Any, path: str) -> Any:
    """What stands at "items/0/id", or "items/name:Staff/id": of the first item whose name holds "Staff".

    Raises LookupError where there is nothing.
    """
    for part in path.split("/"):
        name, is_choice, wanted = part.partition(":")
        if is_choice:
            fitting = [each for each in value if wanted in str(each[name])]
            if not fitting:
                raise KeyError(part)
            value = fitting[0]
        else:
            value = value[int(part) if isinstance(value, list) else part]
    return value


def is_given(fact: Fact, text: str, structured: Mapping[str, Any]) -> bool:
    """Whether a result holds the fact, in its text and in its JSON; a number under its name, wherever it is."""
    if fact.place is None:
        wanted = plain(fact.forms[0])
        return wanted in plain(text) and any(wanted in plain(str(leaf)) for _, leaf in _leaves(structured))
    name = fact.place.rpartition("/")[2]
    in_text = re.search(rf"\b{name}: {fact.value}(?!\.?\d)", text)
    return in_text is not None and (name, fact.value) in _leaves(structured)


def plain(text: str) -> str:
    """For comparing: case, marks of quotation, blanks and separators of thousands aside."""
    text = re.sub(r"^\s*(?:> ?)+", "", text, flags=re.MULTILINE)
    text = " ".join(text.casefold().replace("ё", "е").replace("’", "'").split())
    return re.sub(r"(?<=\d)[ ,](?=\d{3}(?!\d))| (?=%)", "", text)


def _holds(text: str, form: str) -> bool:
    """A number is held as a whole; of a word its beginning is enough."""
    after = r"(?![\d]|[.,]\d)" if form[-1:].isdigit() else ""
    return re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(form)}{after}", text) is not None


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of the JSON that has no parts, under its name."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each, name)
    else:
        yield name, value
