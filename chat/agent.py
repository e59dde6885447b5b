"""The agent of a chat: its engine over the tools, with the tenant, the spaces and the sources that the chat allows."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio.to_thread
import numpy as np
from pydantic_core import to_json

from chat.contract import Engine, Event, Message, Passage
from chat.contract import ToolError as ChatToolError
from chat.engines import choose_engine
from ingest.workshop import Workshop
from mcp_server.registry import Registry, ToolContext, ToolError, ToolNotFound
from mcp_server.tools.communications import CommunicationPage
from mcp_server.tools.knowledge import DocumentPage
from mcp_server.tools.shapes import FoundCommunication, FoundDocument
from rag.language_model import LanguageModel, open_language_model, resolve_model
from store.accounts import Tenant
from store.errors import Unavailable

PASSAGES_A_SEARCH = 8


@dataclass(frozen=True, slots=True)
class Scope:
    """What one conversation may be answered from. `space_ids` None: every space of the tenant."""

    tenant: Tenant
    space_ids: tuple[str, ...] | None
    sees_communications: bool

    @property
    def tools(self) -> tuple[str, ...]:
        documents = ("search_documents", "list_kb_spaces")
        return (*documents, "search_communications", "get_communication") if self.sees_communications else documents


class Agent:
    """Answers questions. The engine is chosen at the first one: what it needs is imported and started then."""

    def __init__(self, house: Workshop, registry: Registry) -> None:
        self._house = house
        self._registry = registry
        self._model: LanguageModel | None = None
        self._engine: Engine | None = None
        self._choosing = threading.Lock()

    async def answer(self, scope: Scope, question: str, history: Sequence[Message]) -> AsyncGenerator[Event, None]:
        """The events of one answer; closing the generator ends the model call.

        Raises store.errors.UpstreamFailed where the model fails, Unavailable where none is ready.
        """
        box = _ToolBox(self._house, self._registry, scope)
        engine = await anyio.to_thread.run_sync(self._choose_engine)
        async with aclosing(engine.answer(question, history, box.retrieve, box)) as events:
            async for event in events:
                yield event

    def model_name(self) -> str | None:
        """The model that may be asked; None where answers are put together without one."""
        return resolve_model(self._house.settings).name or None

    async def aclose(self) -> None:
        if self._model is not None:
            await self._model.aclose()

    def _choose_engine(self) -> Engine:
        choice = resolve_model(self._house.settings)
        if choice.kind == "local" and choice.problem:
            raise Unavailable(choice.problem, retry_after_s=60)
        with self._choosing:
            if self._engine is None:
                self._model = open_language_model(self._house.settings)
                scorer = self._similarities if self._house.embedder is not None else None
                self._engine = choose_engine(self._house.settings, self._model, scorer)
            return self._engine

    async def _similarities(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return await anyio.to_thread.run_sync(self._similarities_now, query, list(texts))

    def _similarities_now(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        assert self._house.embedder is not None
        vectors = self._house.embedder.embed_queries([query, *texts])
        scores: list[float] = np.asarray(vectors[1:] @ vectors[0]).tolist()
        return scores


class _ToolBox:
    """The registry's tools for one conversation."""

    def __init__(self, house: Workshop, registry: Registry, scope: Scope) -> None:
        self._registry = registry
        self._scope = scope
        self._context = ToolContext(
            tenant=scope.tenant,
            database=house.database,
            searcher=house.searcher,
            public_url=house.settings.effective_public_url,
            space_ids=scope.space_ids,
            chat_quiet_s=house.settings.chat_quiet_s,
        )

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
            result = await anyio.to_thread.run_sync(partial(self._registry.call, self._context, name, arguments))
        except ToolError as error:
            raise ChatToolError(str(error)) from error
        items = result.items if isinstance(result, (CommunicationPage, DocumentPage)) else []
        return to_json(result).decode(), [_passage(item) for item in items]

    async def retrieve(self, query: str) -> list[Passage]:
        """The best passages of everything that this conversation may see."""
        arguments = {"query": query[:1000], "limit": PASSAGES_A_SEARCH}
        return await anyio.to_thread.run_sync(self._retrieve_now, arguments)

    def _retrieve_now(self, arguments: dict[str, Any]) -> list[Passage]:
        passages: list[Passage] = []
        for name in ("search_documents", "search_communications"):
            if name not in self._scope.tools:
                continue
            try:
                page = self._registry.call(self._context, name, arguments)
            except ToolNotFound:  # the account lacks the feature
                continue
            assert isinstance(page, (CommunicationPage, DocumentPage))
            passages += [_passage(item) for item in page.items if not _is_own(item)]
        return passages


def _is_own(item: FoundCommunication | FoundDocument) -> bool:
    """Earlier conversations with this very agent: what somebody asked it, and what it said, is no source."""
    return isinstance(item, FoundCommunication) and item.channel_type == "widget"


def _passage(item: FoundCommunication | FoundDocument) -> Passage:
    found = item.found
    is_document = isinstance(item, FoundDocument)
    return Passage(
        kind="document" if is_document else "communication",
        id=found.id if found else item.chunk_id if isinstance(item, FoundDocument) else item.id,
        title=item.title,
        text=found.text if found else item.snippet,
        score=found.score if found else 0.0,
        coverage=found.coverage if found else None,
        cosine=found.dense if found else None,
        page=item.page if isinstance(item, FoundDocument) else None,
        url=item.url,
        start_ms=item.start_ms if isinstance(item, FoundCommunication) else None,
        context_item=item.model_dump(mode="json"),
    )
