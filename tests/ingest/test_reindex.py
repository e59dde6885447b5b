"""An index that was lost, cut off or made by another model is made again from the store, while searches go on."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.index_state import progress_path
from rag.embedding import BUILT_IN_MODEL
from rag.qdrant_edge_index import EdgeIndex
from store import weights
from store.settings import load_settings
from tests.support.server import Account, RunningServer
from tests.support.stored_documents import StoredDocument, add_document

WAIT_S = 90.0


def find(account: Account, query: str) -> list[str]:
    answer = account.call_tool("search_documents", query=query)
    return [item["title"] for item in json.loads(answer["result"]["content"][0]["text"])["items"]]


def wait_for(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def add_documents(account: Account, count: int) -> dict[str, str]:
    """Chunk ids by document id."""
    made: list[StoredDocument] = []
    for number in range(count):
        space_id = made[0].space_id if made else ""
        text = f"Полка {number} держит {number + 7} коробок с разной надписью."
        made.append(add_document(account.server.database, account.tenant_id, text, f"полка {number}", space_id))
    return {document.id: document.chunk_id for document in made}


def stored_ids(server: RunningServer, account: Account, name: str, documents: dict[str, str]) -> dict[str, set[str]]:
    """What the index of a stopped server holds of each document."""
    folder = server.data_dir / "index" / name / "shards"
    made_for = json.loads((folder / "index.json").read_text())
    index = EdgeIndex(folder, made_for["dimension"], model=made_for["model"])
    try:
        assert index.is_complete()
        return {id_: index.ids_of(account.tenant_id, document_id=id_) for id_ in documents}
    finally:
        index.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """One that has no model yet."""
    settings = {"sweep_s": "0.3", "mcp_requests_per_minute": "100000", "cache_dir": str(tmp_path / "no models")}
    running = RunningServer(tmp_path / "data", **settings)
    try:
        yield running
    finally:
        running.close()


def give_models(server: RunningServer) -> None:
    if weights.find(load_settings(), BUILT_IN_MODEL) is None:
        pytest.skip(f"{BUILT_IN_MODEL} is not installed (parley models pull)")
    del server.environment["PARLEY_CACHE_DIR"]


def test_an_index_that_was_lost_is_made_again_at_the_next_start(server: RunningServer) -> None:
    account = server.start().new_client("client")
    space = account.new_space()
    account.add_document(space, "Пароль от склада меняют по пятницам.".encode(), "склад.txt")
    server.stop()
    shutil.rmtree(server.data_dir / "index")
    server.start()
    wait_for(lambda: find(account, "пароль от склада") == ["склад"], "the index was not made again")


def test_a_model_that_appears_takes_over_while_searches_and_changes_go_on(server: RunningServer) -> None:
    account = server.new_client("client")
    documents = add_documents(account, 60)
    server.start()
    wait_for(lambda: '"the index is complete"' in server.log(), "the index by words was not made")
    assert find(account, "сколько коробок держит полка 33")[0] == "полка 33"
    server.stop()
    give_models(server)
    server.start()
    gone = next(iter(documents))
    assert account.request("DELETE", f"/public/v1/kb/documents/{gone}").status_code == 204
    account.upload_document(account.new_space(), "Пароль от склада меняют по пятницам.".encode(), "склад.txt")
    searches = 0
    while '"searches use the new index"' not in server.log():
        assert "полка 33" in find(account, "сколько коробок держит полка 33")
        searches += 1
        assert searches < 10_000, "it did not take over"
    assert searches > 1
    assert find(account, "сколько коробок держит полка 33")[0] == "полка 33"
    wait_for(lambda: "склад" in find(account, "when is the store's password changed"), "not found by meaning")
    assert "полка 0" not in find(account, "сколько коробок держит полка 0")
    server.stop()
    assert stored_ids(server, account, BUILT_IN_MODEL, documents) == {
        id_: set() if id_ == gone else {chunk_id} for id_, chunk_id in documents.items()
    }


def test_a_rebuild_that_is_killed_goes_on_where_it_was(server: RunningServer) -> None:
    give_models(server)
    account = server.new_client("client")
    documents = add_documents(account, 130)
    server.start()
    progress = progress_path(server.settings, BUILT_IN_MODEL)
    wait_for(progress.exists, "the rebuild did not begin")
    server.kill()
    began = server.log().count('"filling the index"')
    server.start()
    wait_for(lambda: '"the index is complete"' in server.log(), "the rebuild did not end")
    assert not progress.exists()
    pages = server.log().count('"filling the index"')
    assert began <= pages <= 3 + 1, "three pages of documents, of which one may have been cut off"
    server.stop()
    assert stored_ids(server, account, BUILT_IN_MODEL, documents) == {id_: {chunk} for id_, chunk in documents.items()}
