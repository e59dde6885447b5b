"""An answer by a provider's model: numbered sources first, then as many tool calls as the bounds allow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import structlog

from chat.citations import Citations
from chat.contract import Done, Event, Message, Passage, Status, Text, ToolBox, ToolError, Usage
from chat.language import PHRASES, Language
from chat.prompts import (
    NOT_FOUND_MARK,
    bounded_history,
    question_message,
    says_not_found,
    source_block,
    system_prompt,
    tool_block,
)
from rag.language_model import LanguageModel, TokenUsage, ToolCall, estimate_message_tokens, estimate_tokens
from rag.prompt_data import cut_to_tokens
from store.errors import ParleyError, UpstreamFailed

SOURCES = 8
ANSWER_TOKENS = 1000
INSTRUCTIONS_SHARE = 4  # of a prompt: the longest instructions fit into the usual one
LEAST_RESULT_TOKENS = 300

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
    question: str,
    history: Sequence[Message],
    passages: Sequence[Passage],
    language: Language,
    tools: ToolBox | None,
    instructions: str = "",
) -> AsyncGenerator[Event, None]:
    """Status, Text and Done events. Raises UpstreamFailed for an answer without a word."""
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
    markdown, tokens, tool_calls, step = "", TokenUsage(), 0, 0
    while True:
        step += 1
        room = model.max_prompt_tokens - estimate_message_tokens(messages) - schema_tokens
        late = asyncio.get_running_loop().time() >= deadline
        is_last = step == limits.model_calls or room < LEAST_RESULT_TOKENS or late
        calls: tuple[ToolCall, ...] = ()
        opening, said = _Opening(), ""
        separator = "\n\n" if markdown else ""
        stream = model.stream(
            messages,
            tools=schemas or None,
            tool_choice="none" if is_last else "auto",
            max_tokens=ANSWER_TOKENS,
        )
        async with aclosing(stream) as deltas:
            async for delta in deltas:
                said += delta.text
                text = citations.feed(opening.feed(delta.text))
                if delta.finish_reason is not None:
                    calls, tokens = delta.tool_calls, tokens + (delta.usage or TokenUsage())
                    text += citations.feed(opening.flush()) + citations.flush()
                if text:
                    markdown += separator + text
                    yield Text(separator + text)
                    separator = ""
        if not calls or is_last or tools is None:
            break
        for call in calls:
            if call.name in offered:
                yield Status("tool", call.name)
        results = await _call_tools(tools, calls, limits)
        tool_calls += min(len(calls), limits.tool_calls_a_step)
        messages.append({"role": "assistant", "content": said or None, "tool_calls": [_as_openai(c) for c in calls]})
        share = min(limits.tool_result_tokens, max(LEAST_RESULT_TOKENS, room // (2 * len(calls))))
        for call, (result, found) in zip(calls, results, strict=True):
            numbers = [(citations.show(passage), passage) for passage in found]
            content = tool_block(cut_to_tokens(result, share), numbers)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    usage = Usage(model.name, tokens, step, tool_calls)
    if opening.says_not_found:
        piece = separator + PHRASES[language].not_found
        yield Text(piece)
        yield Done(markdown + piece, citations.used, False, usage)
        return
    if not markdown.strip():
        raise UpstreamFailed("The language model gave an empty answer.")
    found_one = not says_not_found(markdown)
    if found_one and not citations.used and (source := citations.best_source(markdown)) is not None:
        piece = f" {citations.cite(source)}"
        markdown += piece
        yield Text(piece)
    yield Done(markdown, citations.used, found_one, usage)


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
) -> list[tuple[str, list[Passage]]]:
    """A result for each call, in their order. What goes wrong becomes a result that says so."""
    allowed = calls[: limits.tool_calls_a_step]
    results = await asyncio.gather(*(_call_tool(tools, call, limits.tool_timeout_s) for call in allowed))
    return [*results, *[_error("too many calls at once") for _ in calls[len(allowed) :]]]


async def _call_tool(tools: ToolBox, call: ToolCall, timeout_s: float) -> tuple[str, list[Passage]]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return _error("the arguments are not JSON")
    if not isinstance(arguments, dict):
        return _error("the arguments are not a JSON object")
    try:
        async with asyncio.timeout(timeout_s):
            return await tools.call(call.name, arguments)
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


def _error(reason: str) -> tuple[str, list[Passage]]:
    return json.dumps({"error": reason}, ensure_ascii=False), []


def _as_openai(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


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
        if start.startswith(NOT_FOUND_MARK):
            self._decided = self.says_not_found = True
            return ""
        if NOT_FOUND_MARK.startswith(start):
            return ""
        self._decided = True
        return self._held

    def flush(self) -> str:
        """What was still held at the end."""
        return "" if self._decided else self._held
