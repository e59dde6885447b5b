"""An answer by a small local model: few extracts in, sentences out, each checked before anybody sees it.

A sentence with a number, a name or a day that no source has ends the model's answer; quotes of the sources take its
place. So they do where the model says that the sources hold no answer and more than enough speaks for one: it is small,
and overlooks many (`python -m bench.chat`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import structlog

from chat.citations import Citations, SentenceStream, append_citation, has_citation
from chat.claims import Support, without_source
from chat.contract import Done, Event, Message, Passage, Scorer, Text
from chat.evidence import Extract, best_extracts
from chat.extractive_engine import quote
from chat.language import PHRASES, Language
from chat.numbers import numbers_in
from chat.prompts import (
    bounded_history,
    question_message,
    says_not_found,
    source_block,
    system_prompt,
)
from chat.spent import Spent
from rag.language_model import LanguageModel, estimate_tokens
from rag.prompt_data import cut_to_tokens

SOURCES = 3
EXTRACT_CHARS = 800
EXTRACT_TOKENS = 420  # what a small model reads in about 5 s on 2 cores
ANSWER_TOKENS = 220
HISTORY_TURNS = 2
INSTRUCTIONS_CHARS = 600
SURE = 0.9
"""Log-odds over what an answer needs, from which on its passage is quoted though the model saw none in it."""

log = structlog.get_logger(__name__)


async def answer_locally(
    model: LanguageModel,
    scorer: Scorer | None,
    spent: Spent,
    question: str,
    query: str,
    history: Sequence[Message],
    passages: Sequence[Passage],
    language: Language,
    instructions: str = "",
) -> AsyncGenerator[Event, None]:
    """Text and Done events. `query` is what the passages were searched by; `passages` is not empty."""
    assert passages
    extracts = await best_extracts(query, passages, scorer, max_chars=EXTRACT_CHARS)
    shown, blocks = _blocks(extracts, min(EXTRACT_TOKENS, model.max_prompt_tokens // 2))
    messages = _messages(question, history, blocks, language, model.max_prompt_tokens, instructions)
    sources = [text for passage in shown for text in (passage.title, passage.text)]
    numbers = numbers_in([question, *sources])
    # Who asks and who answers may be called by their names.
    spoken = [message.content for message in history[-HISTORY_TURNS:] if message.role == "user"]
    support = Support.of(sources, [question, instructions, *spoken])
    citations, sentences = Citations(shown), SentenceStream()
    markdown, verdict = "", ""
    cited: Passage | None = None
    async with aclosing(spent.stream(model, messages, max_tokens=ANSWER_TOKENS)) as deltas:
        async for delta in deltas:
            ready = sentences.feed(delta.text)
            if delta.finish_reason is not None:
                ready.append(sentences.flush())
            for sentence in filter(None, ready):
                verdict = verdict or _check(sentence, markdown, numbers, support)
                if not verdict:
                    piece, cited = _cited(sentence, citations, cited)
                    markdown += piece
                    yield Text(piece)
            if verdict:
                break
    is_overlooked = verdict == "not found" and (passages[0].certainty or 0.0) >= SURE
    if verdict == "not found" and not is_overlooked:
        not_found = PHRASES[language].not_found
        yield Text(not_found)
        yield Done(not_found, [], False, spent.usage)
        return
    if verdict or not markdown.strip():
        log.info("local_answer_replaced", reason=verdict or "empty")
        quotes = quote(await best_extracts(query, shown, scorer), language, citations)
        phrases = PHRASES[language]
        lead = ("\n\n" if markdown.strip() else "") + (phrases.overlooked if is_overlooked else phrases.unsupported)
        for piece in [f"{lead}\n\n", *quotes]:
            markdown += piece
            yield Text(piece)
    yield Done(markdown, citations.used, True, spent.usage)


def _messages(
    question: str,
    history: Sequence[Message],
    blocks: Sequence[str],
    language: Language,
    max_tokens: int,
    instructions: str,
) -> list[dict[str, str]]:
    wishes = cut_to_tokens(instructions[:INSTRUCTIONS_CHARS], max_tokens // 6)
    system = system_prompt(language, is_local=True, has_tools=False, instructions=wishes)
    asked = question_message(language, blocks, cut_to_tokens(question, max_tokens // 4))
    left = max_tokens - estimate_tokens(system) - estimate_tokens(asked) - 20
    earlier = bounded_history(history[-HISTORY_TURNS:], min(left, max_tokens // 7), longest_chars=300)
    return [{"role": "system", "content": system}, *earlier, {"role": "user", "content": asked}]


def _blocks(extracts: Sequence[Extract], max_tokens: int) -> tuple[list[Passage], list[str]]:
    """The passages shown and their blocks, the best one longest."""
    shown: list[Passage] = []
    blocks: list[str] = []
    left = max_tokens
    for extract in extracts[:SOURCES]:
        share = min(left, max_tokens * 2 // 3 if not blocks else max_tokens // 3)
        if share < 60:
            break
        text = cut_to_tokens(" ".join(extract.text.split()), share - 30)
        block = source_block(len(shown) + 1, extract.passage, text)
        left -= estimate_tokens(block)
        shown.append(extract.passage)
        blocks.append(block)
    return shown, blocks


def _check(sentence: str, before: str, numbers: set[str], support: Support) -> str:
    """Why `sentence` must not be shown, or an empty string."""
    if not before.strip() and says_not_found(sentence):
        return "not found"
    return without_source(sentence, numbers, support)


def _cited(sentence: str, citations: Citations, last: Passage | None) -> tuple[str, Passage | None]:
    """`sentence` with the answer's citations, and the passage that it ends with.

    One without any gets the source that it shares most words with, unless the sentence before it (`last`) has it.
    """
    used = len(citations.used)
    rewritten = citations.rewrite(sentence)
    if has_citation(rewritten):
        return rewritten, citations.used[-1] if len(citations.used) > used else last
    source = citations.best_source(rewritten)
    if source is None or source is last:
        return rewritten, last
    return append_citation(rewritten, citations.cite(source)), source
