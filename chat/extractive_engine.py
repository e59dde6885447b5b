"""The engine without a model: quotes the sentences that fit best, with their sources, in the question's language."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence

from chat.citations import Citations, escape
from chat.contract import Done, Event, Message, Passage, Retrieve, Scorer, Status, Text, ToolBox, Usage
from chat.evidence import Extract, RelevanceRule, best_extracts, find_evidence
from chat.language import PHRASES, Language, Phrases, language_of
from chat.records import told_by_records
from chat.spent import Spent

MAX_SOURCES = 3
SECOND_SOURCE_SHARE = 0.7
_LINE_MARK = re.compile(r"^\s*(?:#{1,6}|[-*•])\s+")


class ExtractiveEngine:
    """Needs no model. `scorer` adds likeness in meaning to the choice of sentences."""

    name = "extractive"

    def __init__(self, scorer: Scorer | None = None, rule: RelevanceRule | None = None) -> None:
        self._scorer = scorer
        self._rule = rule or RelevanceRule()

    async def answer(
        self,
        question: str,
        history: Sequence[Message],
        retrieve: Retrieve,
        tools: ToolBox | None = None,
        instructions: str = "",
        spent: Spent | None = None,
    ) -> AsyncGenerator[Event, None]:
        """See `Engine.answer`. Of the tools only records are used, and instructions are not."""
        yield Status("search")
        language = language_of(question, history)
        if told := await told_by_records(question, history, language, tools):
            yield Text(told.markdown)
            yield told
            return
        query, passages = await find_evidence(question, history, retrieve, self._rule, self._scorer)
        extracts = await best_extracts(query, passages, self._scorer)
        if not extracts:
            not_found = PHRASES[language].not_found
            yield Text(not_found)
            yield Done(not_found, [], False, Usage())
            return
        citations = Citations([])
        markdown = ""
        for piece in quote(extracts, language, citations):
            markdown += piece
            yield Text(piece)
        yield Done(markdown, citations.used, True, Usage())


def quote(extracts: Sequence[Extract], language: Language, citations: Citations) -> list[str]:
    """The best extracts as Markdown, a piece each; joined they are the answer."""
    assert extracts
    phrases = PHRASES[language]
    worth = [extract for extract in extracts if extract.score >= extracts[0].score * SECOND_SOURCE_SHARE]
    pieces: list[str] = []
    for extract in worth[:MAX_SOURCES]:
        passage = extract.passage
        lead = phrases.also if pieces else _lead(passage, phrases)
        title = escape(" ".join(passage.title.split()))
        heading = lead.format(title=title, place=_place(passage, phrases))
        body = "\n".join(f"> {escape(_unmarked(line))}" for line in extract.text.splitlines() if line.strip())
        separator = "\n\n" if pieces else ""
        pieces.append(f"{separator}{heading}\n\n{body} {citations.cite(passage)}")
    return pieces


def _unmarked(line: str) -> str:
    """A line without the marks that make it a heading or a list item."""
    return _LINE_MARK.sub("", line)


def _lead(passage: Passage, phrases: Phrases) -> str:
    if passage.kind == "communication":
        return phrases.in_communication
    return phrases.in_memory if passage.kind == "memory" else phrases.in_document


def _place(passage: Passage, phrases: Phrases) -> str:
    if passage.page is not None:
        return phrases.page.format(page=passage.page)
    if passage.kind == "communication" and passage.start_ms is not None:
        minutes, seconds = divmod(passage.start_ms // 1000, 60)
        return f", {minutes}:{seconds:02}"
    return ""
