"""The engine with a model: searches first, then gives the model numbered sources and holds its answer to them.

A provider's model may call tools (`chat.agent_loop`); the small local one gets extracts (`chat.local_answer`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from chat.agent_loop import AgentLimits, answer_with_tools
from chat.contract import Done, Event, Message, Retrieve, Scorer, Status, Text, ToolBox, Usage
from chat.evidence import RelevanceRule, find_evidence
from chat.language import PHRASES, language_of
from chat.local_answer import answer_locally
from chat.records import told_by_records
from chat.spent import Spent
from rag.language_model import LanguageModel


class ModelEngine:
    name = "model"

    def __init__(
        self,
        model: LanguageModel,
        scorer: Scorer | None = None,
        limits: AgentLimits | None = None,
        rule: RelevanceRule | None = None,
    ) -> None:
        self._model = model
        self._scorer = scorer
        self._limits = limits or AgentLimits()
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
        """See `Engine.answer`. Where nothing fits and there are no tools, the model is not asked."""
        spent = spent or Spent()
        yield Status("search")
        language = language_of(question, history)
        if self._model.is_local and (told := await told_by_records(question, history, language, tools)):
            yield Text(told.markdown)
            yield told
            return
        query, passages = await find_evidence(question, history, retrieve, self._rule, self._scorer)
        if tools is not None and (not tools.schemas() or not await self._model.supports_tools()):
            tools = None
        if not passages and tools is None:
            not_found = PHRASES[language].not_found
            yield Text(not_found)
            yield Done(not_found, [], False, Usage())
            return
        if self._model.is_local:
            answer = answer_locally(
                self._model, self._scorer, spent, question, query, history, passages, language, instructions
            )
        else:
            answer = answer_with_tools(
                self._model, self._limits, spent, question, history, passages, language, tools, instructions
            )
        async with aclosing(answer) as events:
            async for event in events:
                yield event
