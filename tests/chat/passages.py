"""Passages, a search over them and a tool box for the engines' tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from chat.contract import Records
from chat.engines import Done, Engine, Event, Message, Passage, Text, ToolBox, ToolError

DELIVERY = Passage(
    "document",
    "chunk-delivery",
    "Доставка и оплата",
    "Мы привозим заказы каждый будний день.\n"
    "Доставка по городу стоит 450 рублей. Заказы от 5 000 рублей везём бесплатно.\n"
    "Самовывоз — со склада на улице Маячной.",
    coverage=0.9,
    cosine=0.7,
    page=2,
    context_item={"document_id": "document-1"},
)
WARRANTY = Passage(
    "communication",
    "chunk-warranty",
    "Звонок о протечке",
    "АНДРЕЙ: Чем могу помочь?\nМАРИНА: Сколько длится гарантия на машину?\nАНДРЕЙ: Гарантия длится два года.",
    coverage=0.8,
    cosine=0.6,
    start_ms=83_000,
    context_item={"id": "communication-1"},
)
HOURS = Passage(
    "document",
    "chunk-hours",
    "Opening hours",
    "The workshop is open from 9:00 to 18:00 on weekdays. On Saturday it closes at 14:00.",
    coverage=0.85,
    cosine=0.65,
)
UNRELATED = Passage("document", "chunk-other", "Уход", "Протирайте корпус мягкой тканью.", coverage=0.05, cosine=0.1)


@dataclass
class Search:
    """Answers every query with the same passages, and remembers the queries."""

    passages: Sequence[Passage]
    queries: list[str] = field(default_factory=list)

    async def __call__(self, query: str) -> list[Passage]:
        self.queries.append(query)
        return list(self.passages)


@dataclass
class Tools:
    """A tool box: `search` finds `found`, `list_spaces` lists `listed`, `broken` fails, `slow` never ends."""

    found: Sequence[Passage] = ()
    listed: Sequence[str] = ()
    records: Records = field(default_factory=lambda: Records([], has_more=False))
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def promises(self, name: str, *, overdue: bool) -> Records:
        self.calls.append(("promises", {"name": name, "overdue": overdue}))
        return self.records

    async def complaints(self) -> Records:
        self.calls.append(("complaints", {}))
        return self.records

    def schemas(self) -> list[Mapping[str, Any]]:
        parameters = {"type": "object", "properties": {"query": {"type": "string"}}}
        return [
            {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}
            for name in ("search", "list_spaces", "broken", "slow")
        ]

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, list[Passage]]:
        self.calls.append((name, arguments))
        if name == "slow":
            await asyncio.Event().wait()
        if name == "list_spaces":
            return json.dumps({"items": list(self.listed)}), []
        if name != "search":
            raise ToolError(f"{name} does not work")
        return json.dumps({"items": [passage.text for passage in self.found]}, ensure_ascii=False), list(self.found)


async def all_events(
    engine: Engine,
    question: str,
    search: Search,
    *,
    history: Sequence[Message] = (),
    tools: ToolBox | None = None,
    instructions: str = "",
) -> list[Event]:
    async with aclosing(engine.answer(question, history, search, tools, instructions)) as events:
        return [event async for event in events]


async def ask(
    engine: Engine,
    question: str,
    search: Search,
    *,
    history: Sequence[Message] = (),
    tools: ToolBox | None = None,
    instructions: str = "",
) -> Done:
    """The answer, after checking what holds for every answer: the texts make up its Markdown."""
    events = await all_events(engine, question, search, history=history, tools=tools, instructions=instructions)
    done = events[-1]
    assert isinstance(done, Done)
    assert "".join(event.delta for event in events if isinstance(event, Text)) == done.markdown
    assert sum(isinstance(event, Done) for event in events) == 1
    return done
