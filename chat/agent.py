"""The agent of a chat: its engine over the tools, with the tenant, the spaces, the tools and the model of the chat."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import anyio.to_thread
from pydantic import BaseModel
from pydantic_core import to_json

from chat.contract import Engine, Event, Message, Passage, Records
from chat.contract import ToolError as ChatToolError
from chat.engines import choose_engine
from chat.found_passages import passage_of
from chat.likeness import Likeness
from chat.spent import Spent
from chat.stored_records import StoredRecords
from ingest.workshop import Workshop
from mcp_server.call_log import Caller, CallLog
from mcp_server.readable import with_quoted_named
from mcp_server.registry import Registry, ToolContext, ToolError
from mcp_server.tools.communications import CommunicationPage
from mcp_server.tools.knowledge import DocumentPage
from mcp_server.tools.memory import MemoryPage
from rag.language_model import LanguageModel
from rag.model_choice import models_of_chats, resolve_model
from store.accounts import Tenant
from store.chats import Chat
from store.errors import Unavailable

PASSAGES_A_SEARCH = 8
SiteTool = Literal["search_communications", "get_communication"]
ChatTool = Literal[
    "search_documents",
    "list_kb_spaces",
    "search_communications",
    "get_communication",
    "search_memory",
    "search_speakers",
    "search_commitments",
    "rank_signals",
]
DOCUMENT_TOOLS: tuple[ChatTool, ...] = ("search_documents", "list_kb_spaces")
SITE_TOOLS: tuple[SiteTool, ...] = get_args(SiteTool)
"""What the owner of a chat may open to visitors beside documents."""
CHAT_TOOLS: tuple[ChatTool, ...] = get_args(ChatTool)
"""All that a chat of the company's own people can have."""
OWN_CHANNEL = "widget"


@dataclass(frozen=True, slots=True)
class Scope:
    """What one conversation may be answered from, and how. `space_ids` None: every space of the tenant; `model` None:
    the server's. No visitor of a site is told what is remembered of people, or what analysis made of conversations."""

    tenant: Tenant
    space_ids: tuple[str, ...] | None
    tools: tuple[str, ...]
    is_visitor: bool = False
    instructions: str = ""
    model: str | None = None


def scope_of(tenant: Tenant, chat: Chat, space_ids: tuple[str, ...] | None, *, is_visitor: bool) -> Scope:
    """What the company's own people, or the visitors of its site, are answered from in a chat. `space_ids` are those
    that this conversation may see."""
    if is_visitor:
        tools = (*DOCUMENT_TOOLS, *(name for name in SITE_TOOLS if name in chat.site_tools))
    else:
        tools = tuple(name for name in CHAT_TOOLS if chat.tools is None or name in chat.tools)
    return Scope(tenant, space_ids, tools, is_visitor, chat.instructions, chat.model)


class Agent:
    """Answers questions. A model's engine is made with the first question for it, and kept: what it needs is imported
    and started then."""

    def __init__(self, house: Workshop, registry: Registry, calls: CallLog) -> None:
        self._house = house
        self._registry = registry
        self._calls = calls
        self._models: list[LanguageModel] = []
        self._engines: dict[tuple[str, str, bool], Engine] = {}
        self._likeness = Likeness(house.indexes)
        self._choosing = threading.Lock()

    async def answer(
        self, scope: Scope, question: str, history: Sequence[Message], spent: Spent
    ) -> AsyncGenerator[Event, None]:
        """The events of one answer; closing the generator ends the model call. `spent` is told what it takes.

        Raises store.errors.UpstreamFailed where the model fails, Unavailable where none is ready.
        """
        box = _ToolBox(self._house, self._registry, self._calls, scope)
        engine = await anyio.to_thread.run_sync(self._choose_engine, scope)
        answer = engine.answer(question, history, box.retrieve, box, scope.instructions, spent)
        async with aclosing(answer) as events:
            async for event in events:
                yield event

    def model_name(self, scope: Scope) -> str | None:
        """The model that may be asked, by which a message is priced; None where answers are put together without
        one."""
        return resolve_model(self._house.settings, self._wanted(scope)).name or None

    async def aclose(self) -> None:
        for model in self._models:
            await model.aclose()

    def _wanted(self, scope: Scope) -> str | None:
        """The chat's own model. One that the operator has taken away since gives way to the server's."""
        if scope.model is None or scope.model not in models_of_chats(self._house.settings):
            return None
        return scope.model

    def _choose_engine(self, scope: Scope) -> Engine:
        wanted = self._wanted(scope)
        choice = resolve_model(self._house.settings, wanted)
        if choice.kind == "local" and choice.problem:
            raise Unavailable(choice.problem, retry_after_s=60)
        scorer = self._likeness if self._likeness.is_there else None
        key = (choice.kind, choice.name, scorer is not None)
        with self._choosing:
            engine = self._engines.get(key)
            if engine is None:
                model = self._house.models.open_chat(wanted)
                if model is not None:
                    self._models.append(model)
                engine = choose_engine(self._house.settings, model, scorer)
                self._engines[key] = engine
            return engine


class _ToolBox:
    """The registry's tools for one conversation."""

    def __init__(self, house: Workshop, registry: Registry, calls: CallLog, scope: Scope) -> None:
        self._registry = registry
        self._calls = calls
        self._scope = scope
        # This agent's own conversations with visitors: what one of them asked, and what it said, is no source, and
        # nothing for another.
        own = (OWN_CHANNEL,)
        self._context = ToolContext(
            tenant=scope.tenant,
            database=house.database,
            retriever=house.retriever,
            public_url=house.settings.effective_public_url,
            space_ids=scope.space_ids,
            chat_quiet_s=house.settings.chat_quiet_s,
            sees_analysis=not scope.is_visitor,
            hidden_channels=own if scope.is_visitor else (),
        )
        self._searching = replace(self._context, hidden_channels=own)

    def schemas(self) -> Sequence[Mapping[str, Any]]:
        return [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
            }
            for tool in self._registry.list_tools(self._scope.tenant)
            if tool.name in self._scope.tools
        ]

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, list[Passage]]:
        if name not in self._scope.tools:
            raise ChatToolError(f"tool not found: {name[:100]}")
        try:
            result = await anyio.to_thread.run_sync(self._call_now, self._context, name, arguments)
        except ToolError as error:
            raise ChatToolError(str(error)) from error
        items = result.items if isinstance(result, (CommunicationPage, DocumentPage, MemoryPage)) else []
        return to_json(with_quoted_named(result)).decode(), [passage_of(item) for item in items]

    def _call_now(self, context: ToolContext, name: str, arguments: dict[str, Any]) -> BaseModel:
        actor = "visitor" if self._scope.is_visitor else "chat"
        with self._calls.recording(Caller(self._scope.tenant.id, actor), name, arguments) as measured:
            result = self._registry.call(context, name, arguments)
            measured.result(result)
        return result

    async def retrieve(self, query: str) -> list[Passage]:
        """The best passages of everything that this conversation may see."""
        arguments = {"query": query[:1000], "limit": PASSAGES_A_SEARCH}
        return await anyio.to_thread.run_sync(self._retrieve_now, arguments)

    async def promises(self, name: str, *, overdue: bool) -> Records:
        return await anyio.to_thread.run_sync(lambda: self._records().promises(name, overdue=overdue))

    async def complaints(self) -> Records:
        return await anyio.to_thread.run_sync(lambda: self._records().complaints())

    def _records(self) -> StoredRecords:
        there = {tool.name for tool in self._registry.list_tools(self._scope.tenant)}
        call = partial(self._call_now, self._searching)
        return StoredRecords(self._searching, call, there.intersection(self._scope.tools))

    def _retrieve_now(self, arguments: dict[str, Any]) -> list[Passage]:
        passages: list[Passage] = []
        # Without those of a feature that the account lacks.
        there = {tool.name for tool in self._registry.list_tools(self._scope.tenant)}
        for name in ("search_documents", "search_communications", "search_memory"):
            if name not in self._scope.tools or name not in there:
                continue
            page = self._call_now(self._searching, name, arguments)
            assert isinstance(page, (CommunicationPage, DocumentPage, MemoryPage))
            passages += [passage_of(item) for item in page.items]
        return passages
