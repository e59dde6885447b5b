"""What a query finds, page by page, to where the search looks no deeper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest

from mcp_server.registry import ToolContext, ToolError
from mcp_server.tools.communications import SearchCommunications, search_communications
from rag import retrieval
from rag.index import Point
from rag.qdrant_edge_index import EdgeIndex
from rag.retrieval import Retriever
from rag.search import Searcher
from store import accounts, communications
from store.database import Database, now
from store.migrate import migrate
from store.settings import load_settings
from tests.mcp_server.test_registry import context

DEEPEST = 200
PASSAGES_EACH = 10


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ToolContext]:
    """A search that looks at DEEPEST passages at most, over an account of its own."""
    monkeypatch.setattr(retrieval, "_DEPTHS", (50, DEEPEST))
    database = Database(load_settings(_env_file=None, data_dir=tmp_path, database_url="", qdrant_url=""))
    migrate(database)
    index = EdgeIndex(tmp_path / "shards", 8)
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="A company")
    assert tenant is not None
    retriever = Retriever(Searcher(index, None), database)
    yield replace(context(), tenant=tenant, database=database, retriever=retriever)
    index.close()
    database.close()


def talk(asking: ToolContext, count: int) -> set[str]:
    """So many calls that speak of an owl in all of their passages, each in more words than the last; their ids."""
    with asking.database.write() as connection:
        ids = [
            communications.create(
                asking.tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title="A call"
            ).id
            for _ in range(count)
        ]
    points = [
        Point(
            str(uuid5(NAMESPACE_URL, f"{id_} {number}")),
            None,
            f"An owl flies by, number {number}" + " again" * words,
            {"kind": "communication", "communication_id": id_},
        )
        for words, id_ in enumerate(ids)
        for number in range(PASSAGES_EACH)
    ]
    asking.retriever._searcher._index.upsert(asking.tenant_id, points)  # type: ignore[attr-defined]
    return set(ids)


def walked(asking: ToolContext) -> tuple[list[str], str | None]:
    """The ids of all pages, and the error that ended them."""
    seen: list[str] = []
    cursor = None
    while True:
        try:
            page = search_communications(asking, SearchCommunications(query="owl", limit=7, cursor=cursor))
        except ToolError as error:
            return seen, str(error)
        seen += [item.id for item in page.items]
        if (cursor := page.next_cursor) is None:
            return seen, None


def test_a_search_that_ends_before_all_was_looked_at_says_so(asking: ToolContext) -> None:
    ids = talk(asking, 2 * DEEPEST // PASSAGES_EACH)
    seen, error = walked(asking)
    assert 0 < len(seen) == len(set(seen)) < len(ids)
    assert error is not None
    assert "there may be more; ask more precisely" in error


def test_a_search_that_found_all_ends_with_null(asking: ToolContext) -> None:
    ids = talk(asking, DEEPEST // PASSAGES_EACH - 1)
    seen, error = walked(asking)
    assert (len(seen), set(seen), error) == (len(ids), ids, None)
