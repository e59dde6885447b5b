"""Accounts with much in them, written in bulk past the API, and walks over every page of a tool."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from bench.bulk import fill_documents
from bench.mcp_data import Company, Filled, fill
from ingest.index_state import read_state
from rag.language_model import estimate_tokens
from store import index_work
from store.analysis import qc_evaluations, summaries, summary_items
from store.communications import communications, content_items
from store.kb_spaces import spaces
from store.knowledge import chunks, documents
from store.speakers import communication_speakers, speakers
from tests.contract.mcp import OLDEST, rpc
from tests.support.server import Account

MOST_TOKENS = 20_000
INDEX_S = 240.0
IDENTITIES = ("id", "chunk_id", "idx", "key", "code")
ZONE = ZoneInfo("Europe/Moscow")  # of every new account
TODAY = datetime.now(ZONE).date()
YEAR = {"from": (TODAY - timedelta(days=364)).isoformat(), "to": TODAY.isoformat()}

# Every tool, in the ways that give most.
ASKED: dict[str, list[dict[str, Any]]] = {
    "search_speakers": [{}, {"role": "client"}],
    "search_communications": [{}, {"channel_type": "phone", "direction": "in"}, {"query": "Когда привезут заказ"}],
    "search_commitments": [{}, {"order": "due"}, {"speaker_id": "{employee}"}, {"query": "заказ"}],
    "search_memory": [{}, {"query": "доставка заказа"}],
    "get_period_metrics": [{}, {"group_by": "category"}, {"group_by": "day", **YEAR}],
    "rank_people": [{}, {"by": "overdue_promises"}, {"group_by": "department"}],
    "rank_signals": [{}, {"group_by": "client"}, {"group_by": "value", "signal": "urgency"}],
    "rank_qc": [{"min_evaluations": 1}, {"group_by": "criterion"}, {"group_by": "scenario"}],
    "get_communication": [{"communication_id": "{long_call}"}, {"communication_id": "{call}"}],
    "get_qc_evaluation": [{"communication_id": "{call}"}, {"communication_id": "{long_call}"}],
    "search_documents": [{"query": "Доставка заказа до двери"}],
    "search_product_docs": [{"query": "Where do I send a recording of a call?"}],
    "list_kb_spaces": [{}],
    "list_kb_documents": [{"space_id": "{space}"}],
    "list_kb_chunks": [{"document_id": "{document}"}],
}


@dataclass(frozen=True)
class Archive:
    """`space_id` is that of all `document_ids`, `listed_id` a document elsewhere with many passages."""

    account: Account
    filled: Filled
    space_id: str
    document_ids: Sequence[str]
    listed_id: str

    def named(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments with ids in place of their names."""
        ids = {
            "{long_call}": self.filled.long_call_id,
            "{call}": self.filled.communication_ids[1],
            "{employee}": self.filled.staff_ids[0],
            "{space}": self.space_id,
            "{document}": self.listed_id,
        }
        return {name: ids.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}

    def count(self, query: sa.Select[Any]) -> int:
        with self.account.server.database.read() as connection:
            return connection.execute(query).scalar_one()

    def ids(self, column: sa.Column[Any], *where: sa.ColumnElement[bool]) -> set[str]:
        """What the account's rows have in a column."""
        query = sa.select(column).where(column.table.c.tenant_id == self.account.tenant_id, *where)
        with self.account.server.database.read() as connection:
            return set(connection.execute(query).scalars())


def make_archive(account: Account, company: Company, *, documents: int, chunks: int, spaces: int) -> Archive:
    """So many documents in a space, so many passages in another document, and so many spaces besides."""
    database, tenant_id = account.server.database, account.tenant_id
    filled = fill(database, tenant_id, company)
    space_id, document_ids = fill_documents(database, tenant_id, documents, chunks_each=1)
    _, (listed_id,) = fill_documents(database, tenant_id, 1, chunks_each=chunks)
    for _ in range(spaces):
        fill_documents(database, tenant_id, 0)
    return Archive(account, filled, space_id, document_ids, listed_id)


def index(archive: Archive) -> None:
    """Has the server put all of it into its index, and waits until it is there."""
    account = archive.account
    state = read_state(account.server.settings)
    assert state is not None
    with account.server.database.write() as connection:
        index_work.note_refill(connection, state.serving, account.tenant_id)
    table = index_work.index_work.c
    waiting = sa.select(sa.func.count()).where(table.tenant_id == account.tenant_id)
    deadline = time.monotonic() + INDEX_S
    while archive.count(waiting):
        assert time.monotonic() < deadline, account.server.log()[-4000:]
        time.sleep(0.1)


def stretch(archive: Archive, pattern: str, passage: int) -> None:
    """Makes every text that people or documents gave as long as it may be, or longer than any is; turns and chunks have
    `passage` characters."""
    tenant_id = archive.account.tenant_id

    def text(characters: int) -> str:
        return (pattern * (characters // len(pattern) + 1))[:characters]

    with archive.account.server.database.write() as connection:
        rows = connection.execute(sa.select(qc_evaluations).where(qc_evaluations.c.tenant_id == tenant_id)).all()
        for row in rows:
            criteria = [{**each, "evidence": text(5_000)} for each in row.criteria]
            of_row = sa.update(qc_evaluations).where(qc_evaluations.c.id == row.id)
            connection.execute(of_row.values(criteria=criteria, comment=text(20_000)))
        for table, values in (
            (communications, {"title": text(300)}),
            (content_items, {"text": text(passage)}),
            (speakers, {"name": text(200), "department": text(200)}),
            (summaries, {"text": text(20_000), "user_summary": text(20_000)}),
            (summary_items, {"content": text(5_000)}),
            (spaces, {"name": text(200), "description": text(2_000)}),
            (documents, {"title": text(300)}),
            (chunks, {"text": text(passage), "title_path": [text(300)] * 6}),
        ):
            connection.execute(sa.update(table).where(table.c.tenant_id == tenant_id).values(**values))


def pages(account: Account, tool: str, arguments: dict[str, Any], version: str = OLDEST) -> Iterator[dict[str, Any]]:
    """The results of a tool's calls, from page to page until there is no more."""
    asked = dict(arguments)
    while True:
        headers = {} if version == OLDEST else {"MCP_Protocol_Version": version}
        answer = rpc(account, "tools/call", {"name": tool, "arguments": asked}, **headers)
        assert "error" not in answer, (tool, asked, answer)
        assert not answer["result"]["isError"], (tool, asked, answer)
        yield answer["result"]
        found = found_in(answer["result"])
        if found.get("next_cursor") is None:
            return
        asked = {**arguments, "cursor": found["next_cursor"]}


def found_in(result: dict[str, Any]) -> dict[str, Any]:
    structured: dict[str, Any] | None = result.get("structuredContent")
    found: dict[str, Any] = structured if structured is not None else json.loads(result["content"][0]["text"])
    return found


def identity(item: dict[str, Any]) -> Any:
    """What tells an item from the others of its list."""
    return next((item[name] for name in IDENTITIES if item.get(name) is not None), json.dumps(item))


def walked(archive: Archive, tool: str, asked: dict[str, Any]) -> list[Any]:
    """The identities of all items on all pages."""
    seen: list[Any] = []
    for result in pages(archive.account, tool, largest(archive, tool, archive.named(asked))):
        assert estimate_tokens(result["content"][0]["text"]) <= MOST_TOKENS
        found = found_in(result)
        seen += [identity(item) for item in found.get("content" if tool == "get_communication" else "items", [])]
    return seen


def everything(archive: Archive, tool: str, asked: dict[str, Any]) -> set[Any] | None:
    """What all pages together must hold; None where that is not a list of rows."""
    promise = summary_items.c.item_type == "commitment"
    listed: dict[tuple[str, str], Any] = {
        ("search_speakers", "{}"): lambda: {*archive.filled.client_ids, *archive.filled.staff_ids},
        ("search_speakers", '{"role": "client"}'): lambda: set(archive.filled.client_ids),
        ("search_communications", "{}"): lambda: set(archive.filled.communication_ids),
        ("search_communications", '{"channel_type": "phone", "direction": "in"}'): lambda: archive.ids(
            communications.c.id, communications.c.channel_type == "phone", communications.c.direction == "in"
        ),
        ("search_commitments", "{}"): lambda: archive.ids(summary_items.c.id, promise),
        ("search_commitments", '{"order": "due"}'): lambda: archive.ids(
            summary_items.c.id, promise, summary_items.c.due_on >= datetime.now(ZONE).date()
        ),
        ("rank_people", "{}"): lambda: archive.ids(communication_speakers.c.speaker_id),
        ("search_memory", "{}"): lambda: archive.ids(summary_items.c.id, summary_items.c.item_type == "memory"),
        ("get_communication", '{"communication_id": "{long_call}"}'): lambda: archive.ids(
            content_items.c.idx, content_items.c.communication_id == archive.filled.long_call_id
        ),
        ("list_kb_spaces", "{}"): lambda: archive.ids(spaces.c.id),
        ("list_kb_documents", '{"space_id": "{space}"}'): lambda: set(archive.document_ids),
        ("list_kb_chunks", '{"document_id": "{document}"}'): lambda: archive.ids(
            chunks.c.id, chunks.c.document_id == archive.listed_id
        ),
    }
    expected = listed.get((tool, json.dumps(asked)))
    return expected() if expected is not None else None


def largest(archive: Archive, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with as many items a page as the tool's schema allows."""
    tools = rpc(archive.account, "tools/list")["result"]["tools"]
    schema = next(each["inputSchema"] for each in tools if each["name"] == tool)
    limit = schema["properties"].get("limit")
    return arguments if limit is None else {**arguments, "limit": limit["maximum"]}
