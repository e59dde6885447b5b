"""An answer by a provider's model: numbered sources first, then as many tool calls as the bounds allow."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import structlog

from chat.citations import Citations, SentenceStream
from chat.claims import Support, without_source
from chat.contract import Done, Event, Message, Passage, Status, Text, ToolBox, ToolError
from chat.language import PHRASES, Language
from chat.numbers import numbers_in
from chat.prompts import (
    NOT_FOUND_MARK,
    bounded_history,
    question_message,
    says_not_found,
    source_block,
    system_prompt,
    tool_block,
)
from chat.small_talk import said_without_source, words_of
from chat.spent import Spent
from rag.language_model import LanguageModel, ToolCall, estimate_message_tokens, estimate_tokens
from rag.prompt_data import cut_to_tokens
from store.errors import ParleyError, UpstreamFailed

SOURCES = 8
ANSWER_TOKENS = 1000
MOST_CHARACTERS = 3_900  # an answer goes into the next question's history, whose items have 4,000
INSTRUCTIONS_SHARE = 4  # of a prompt: the longest instructions fit into the usual one
LEAST_RESULT_TOKENS = 300

_NO_ITEMS = re.compile(r'"items":\s*\[\]')
_LISTS = "list_"
"""What the names of tools begin with that tell what there is, and nothing of what it says."""
_SAYS_NOT_FOUND = re.compile(rf"{NOT_FOUND_MARK}(?!\w)")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Bounds of one answer. The time is that for calling tools; a model call has its own."""

    model_calls: int = 5
    tool_calls_a_step: int = 6
    tool_result_tokens: int = 3000
    tool_timeout_s: float = 30.0
    total_s: float = 120.0


async def answer_with_tools(
    model: LanguageModel,
    limits: AgentLimits,
    spent: Spent,
    question: str,
    history: Sequence[Message],
    passages: Sequence[Passage],
    language: Language,
    tools: ToolBox | None,
    instructions: str = "",
) -> AsyncGenerator[Event, None]:
    """Status, Text and Done events. Raises UpstreamFailed for an answer without a word.

    While nothing was found an answer goes out by sentences: the first that states anything has no source, and "not
    found" takes its place and that of the rest; a greeting and a question back go out. Where tools listed what there
    is, numbers, names and days of the lists may be stated too.
    """
    deadline = asyncio.get_running_loop().time() + limits.total_s
    wishes = cut_to_tokens(instructions, model.max_prompt_tokens // INSTRUCTIONS_SHARE)
    system = system_prompt(language, is_local=False, has_tools=tools is not None, instructions=wishes)
    left = model.max_prompt_tokens - (estimate_tokens(wishes) if wishes else 0)
    shown, blocks = _blocks(passages, left // (3 if tools is not None else 2))
    citations = Citations(shown)
    messages = _messages(system, question, history, blocks, language, left, has_tools=tools is not None)
    schemas = list(tools.schemas()) if tools is not None else []
    offered = {schema["function"]["name"] for schema in schemas}
    schema_tokens = estimate_tokens(json.dumps(schemas)) if schemas else 0
    markdown, step = "", 0
    has_found, has_no_source, is_cut = bool(shown), False, False
    ground = _Ground([question, instructions, *(each.content for each in history)])
    while True:
        step += 1
        room = model.max_prompt_tokens - estimate_message_tokens(messages) - schema_tokens
        late = asyncio.get_running_loop().time() >= deadline
        is_last = step == limits.model_calls or room < LEAST_RESULT_TOKENS or late
        calls: tuple[ToolCall, ...] = ()
        opening, sentences, said = _Opening(), SentenceStream(), ""
        separator = "\n\n" if markdown else ""
        stream = spent.stream(
            model,
            messages,
            tools=schemas or None,
            tool_choice="none" if is_last else "auto",
            max_tokens=ANSWER_TOKENS,
        )
        async with aclosing(stream) as deltas:
            async for delta in deltas:
                said += delta.text
                text = citations.feed(opening.feed(delta.text.replace("\0", "")))
                if delta.finish_reason is not None:
                    calls = delta.tool_calls
                    text += citations.feed(opening.flush()) + citations.flush()
                    is_cut = delta.finish_reason == "length"
                if text:
                    piece = (separator + text)[: MOST_CHARACTERS - len(markdown)]
                    separator = ""
                    for part in [piece] if has_found else sentences.feed(piece):
                        has_no_source = has_no_source or (not has_found and not ground.bears(part))
                        if not has_no_source:
                            markdown += part
                            yield Text(part)
                is_cut = is_cut or len(markdown) >= MOST_CHARACTERS
                if (is_cut or has_no_source) and delta.finish_reason is None:
                    break
        rest = sentences.flush()
        ends = has_no_source or is_cut or not calls or is_last
        # Before it looks it may say what it looks for.
        has_no_source = has_no_source or (ends and not ground.bears(rest))
        if rest and not has_no_source:
            markdown += rest
            yield Text(rest)
        if ends or tools is None:
            break
        for call in calls:
            if call.name in offered:
                yield Status("tool", call.name)
        results = await _call_tools(tools, calls, limits)
        spent.tool_calls += min(len(calls), limits.tool_calls_a_step)
        messages.append({"role": "assistant", "content": said or None, "tool_calls": [_as_openai(c) for c in calls]})
        share = min(limits.tool_result_tokens, max(LEAST_RESULT_TOKENS, room // (2 * len(calls))))
        for call, (result, found, is_error) in zip(calls, results, strict=True):
            if not is_error and _NO_ITEMS.search(result) is None:
                has_found = has_found or bool(found) or not call.name.startswith(_LISTS)
                ground.add(result)
            cited = [(citations.show(passage), passage) for passage in found]
            content = tool_block(cut_to_tokens(result, share), cited)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    if opening.says_not_found or has_no_source:
        piece = ("\n\n" if markdown and not markdown.endswith("\n") else "") + PHRASES[language].not_found
        yield Text(piece)
        yield Done(markdown + piece, citations.used, False, spent.usage)
        return
    if not markdown.strip():
        raise UpstreamFailed("The language model gave an empty answer.")
    found_one = not says_not_found(markdown)
    if found_one and has_found and not citations.used and not ground.has_results:
        found_one = citations.best_source(markdown) is not None  # else it tells nothing of what was found
    if found_one and not citations.used and (source := citations.best_source(markdown)) is not None:
        piece = f" {citations.cite(source)}"
        markdown += piece
        yield Text(piece)
    if is_cut:
        piece = f" …\n\n{PHRASES[language].cut}"
        markdown += piece
        yield Text(piece)
    yield Done(markdown, citations.used, found_one, spent.usage)


def _messages(
    system: str,
    question: str,
    history: Sequence[Message],
    blocks: Sequence[str],
    language: Language,
    max_tokens: int,
    *,
    has_tools: bool,
) -> list[dict[str, Any]]:
    """`max_tokens` are what the owner's instructions in `system` leave."""
    asked = question_message(language, blocks, cut_to_tokens(question, max_tokens // 3))
    left = max_tokens - estimate_tokens(system) - estimate_tokens(asked)
    earlier = bounded_history(history, min(max_tokens // (6 if has_tools else 4), left), longest_chars=4000)
    return [{"role": "system", "content": system}, *earlier, {"role": "user", "content": asked}]


def _blocks(passages: Sequence[Passage], max_tokens: int) -> tuple[list[Passage], list[str]]:
    """The passages that fit and their blocks."""
    shown: list[Passage] = []
    blocks: list[str] = []
    left = max_tokens
    for passage in passages[:SOURCES]:
        if left < 200 and shown:
            break
        block = source_block(len(shown) + 1, passage, cut_to_tokens(passage.text, max(left - 60, 100)))
        left -= estimate_tokens(block)
        shown.append(passage)
        blocks.append(block)
    return shown, blocks


async def _call_tools(
    tools: ToolBox, calls: Sequence[ToolCall], limits: AgentLimits
) -> list[tuple[str, list[Passage], bool]]:
    """A result for each call, in their order, with the passages in it and whether it is an error: what goes wrong
    becomes a result that says so."""
    allowed = calls[: limits.tool_calls_a_step]
    results = await asyncio.gather(*(_call_tool(tools, call, limits.tool_timeout_s) for call in allowed))
    return [*results, *[_error("too many calls at once") for _ in calls[len(allowed) :]]]


async def _call_tool(tools: ToolBox, call: ToolCall, timeout_s: float) -> tuple[str, list[Passage], bool]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return _error("the arguments are not JSON")
    if not isinstance(arguments, dict):
        return _error("the arguments are not a JSON object")
    try:
        async with asyncio.timeout(timeout_s):
            result, found = await tools.call(call.name, arguments)
            return result, found, False
    except TimeoutError:
        reason = "the tool took too long"
    except RecursionError:
        reason = "the arguments are nested too deeply"
    except ToolError as error:
        reason = str(error)
    except ParleyError as error:
        reason = error.message
    log.info("chat_tool_failed", tool=call.name, reason=reason)
    return _error(reason)


def _error(reason: str) -> tuple[str, list[Passage], bool]:
    return json.dumps({"error": reason}, ensure_ascii=False), [], True


def _as_openai(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


class _Ground:
    """What an answer may state while nothing was found."""

    def __init__(self, spoken: Sequence[str]) -> None:
        self._texts = list(spoken)
        self.has_results = False
        self._read()

    def _read(self) -> None:
        self._numbers, self._support = numbers_in(self._texts), Support.of(self._texts)
        self._words = words_of(self._texts)

    def add(self, listed: str) -> None:
        """A tool told this of what there is."""
        self._texts.append(listed)
        self.has_results = True
        self._read()

    def bears(self, sentence: str) -> bool:
        if without_source(sentence, self._numbers, self._support):
            return False
        return self.has_results or not said_without_source(sentence, self._words)


class _Opening:
    """Holds back the first characters of an answer while they may turn out to be NOT_FOUND."""

    def __init__(self) -> None:
        self._held = ""
        self._decided = False
        self.says_not_found = False

    def feed(self, delta: str) -> str:
        if self._decided:
            return "" if self.says_not_found else delta
        self._held += delta
        start = self._held.lstrip(" \n\t`*_\"'")
        if NOT_FOUND_MARK.startswith(start):
            return ""
        if _SAYS_NOT_FOUND.match(start):
            self._decided = self.says_not_found = True
            return ""
        self._decided = True
        return self._held

    def flush(self) -> str:
        """What was still held at the end."""
        if self._decided:
            return ""
        self.says_not_found = _SAYS_NOT_FOUND.match(self._held.lstrip(" \n\t`*_\"'")) is not None
        return "" if self.says_not_found else self._held
