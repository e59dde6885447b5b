"""What must hold of each request to the model and of each answer, whatever a poisoned text wanted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from chat.citations import CITATION
from chat.language import Language, detect_language
from chat.prompts import question_message, system_prompt

MARK = re.compile(r"<{3,}|>{3,}")
_ROLES = ("system", "user", "assistant", "tool")


def outside_of_data(content: str) -> str:
    """A message without its blocks of data. Fails where a block is opened within another, or closed twice."""
    kept: list[str] = []
    opened_at, closed_at = None, 0
    for mark in MARK.finditer(content):
        if mark[0][0] == "<":
            assert opened_at is None, f"a block within a block: {content[mark.start() - 100 : mark.end() + 100]}"
            opened_at = mark.start()
            kept.append(content[closed_at:opened_at])
        else:
            assert opened_at is not None, f"a block is closed twice: {content[mark.start() - 100 : mark.end()]}"
            opened_at, closed_at = None, mark.end()
    assert opened_at is None, "a block is left open"
    return "".join([*kept, content[closed_at:]])


def check_request(request: Mapping[str, Any], question: str, poison: str, *, asker_wrote_it: bool = False) -> None:
    """The server's own words, and poison in none of them: it stands within blocks of data, or in what its author said
    in this very conversation."""
    messages: Sequence[Mapping[str, Any]] = request["messages"]
    language: Language = detect_language(question)
    assert [message["role"] for message in messages].count("system") == 1
    assert messages[0]["role"] == "system"
    assert messages[0]["content"] == system_prompt(language, is_local=False, has_tools=True)
    asked = [message for message in messages if message["role"] == "user"][-1]
    for message in messages[1:]:
        assert message["role"] in _ROLES[1:], message
        # What the model itself said and called comes back to it as its own.
        if message["role"] == "assistant":
            continue
        content = str(message["content"])
        assert "<|" not in content
        rest = outside_of_data(content)
        if message["role"] == "tool":
            assert not rest, rest
        elif message is asked:
            blocks = [""] if "<<<" in content else []
            assert rest.split() == question_message(language, blocks, question).split(), rest
        else:
            assert rest == content, "only the question has sources"
        if not (asker_wrote_it and message["role"] == "user"):
            assert poison not in rest, f"poison outside of data: {rest[-500:]}"


def check_secrets(secrets: Iterable[str], *seen: object) -> None:
    text = json.dumps(seen, ensure_ascii=False, default=str)
    assert [secret for secret in secrets if secret in text] == []


def check_citations(markdown: str, context: Mapping[str, Any], own_spaces: set[str], own_ids: set[str]) -> None:
    """Each number of an answer names a source, and each source is one that may be seen."""
    sources = [*context["documents"], *context["communications"], *context["memory"]]
    numbers = {source["citation"] for source in sources}
    assert numbers == set(range(1, len(sources) + 1))
    cited = {int(number) for match in CITATION.finditer(markdown) for number in re.findall(r"\d+", match[1])}
    assert cited <= numbers, f"{cited - numbers} name nothing: {markdown[:300]}"
    assert {source["space_id"] for source in context["documents"]} <= own_spaces
    assert {source["id"] for source in context["communications"]} <= own_ids
    assert context["memory"] == []


def tool_results(request: Mapping[str, Any]) -> list[str]:
    return [str(message["content"]) for message in request["messages"] if message["role"] == "tool"]


def loot_of(request: Mapping[str, Any]) -> str:
    """All that a model was shown, as an address carries it: what an obeying model gives away."""
    shown = [str(message.get("content")) for message in request["messages"] if message["role"] != "system"]
    return quote("\n".join(text[:3000] for text in shown), safe="")
