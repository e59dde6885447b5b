"""What the index must follow is followed, whatever comes between."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ingest import timelines
from ingest.documents import documents
from store import accounts, deliveries, index_work, knowledge
from store.blobs import Blobs
from store.database import Database
from store.ids import new_id
from store.migrate import migrate
from store.settings import Settings
from tests.support.server import Account, RunningServer

WAIT_S = 60.0


def find(account: Account, query: str) -> list[str]:
    answer = account.call_tool("search_documents", query=query)
    return [item["title"] for item in json.loads(answer["result"]["content"][0]["text"])["items"]]


def test_a_document_whose_deletion_was_cut_off_is_found_no_more_and_cleared_later(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", sweep_s="0.5")
    try:
        account = server.start().new_client("client")
        record = account.add_document(account.new_space(), "Пароль от склада: сова.".encode(), "склад.txt")
        assert find(account, "пароль от склада") == ["склад"]
        server.kill()
        # What a delete request commits before it touches index and blobs.
        with server.database.write() as connection:
            document = knowledge.get_document(account.tenant_id, connection, record["id"])
            assert document is not None
            knowledge.delete_document(account.tenant_id, connection, document.id)
            index_work.add(
                account.tenant_id,
                connection,
                action=index_work.FORGET_DOCUMENT,
                subject_id=document.id,
                blob_key=document.blob_key,
            )
        blobs = Blobs(server.settings)
        assert blobs.exists(document.blob_key)
        server.start()
        assert find(account, "пароль от склада") == []
        deadline = time.monotonic() + WAIT_S
        while blobs.exists(document.blob_key) or open_work(server):
            assert time.monotonic() < deadline, "the sweeper did not clear it"
            time.sleep(0.05)
    finally:
        server.close()


def open_work(server: RunningServer) -> list[index_work.IndexWork]:
    with server.database.read() as connection:
        return index_work.list_open(connection)


def test_indexing_again_while_it_is_indexed_ends_in_one_whole_document(server: RunningServer) -> None:
    account = server.new_client("reindexer")
    text = "\n\n".join(f"Правило {number}. Полка {number} держит {number} коробок." for number in range(400))
    answer = account.upload_document(account.new_space(), text.encode(), "полки.md")
    document_id = answer.json()["id"]
    for _ in range(3):
        assert account.post(f"/public/v1/kb/documents/{document_id}/reindex").status_code == 202
    record = account.finished_document(document_id)
    assert (record["status"], record["progress"]) == ("success", 1.0)
    chunks = account.get(f"/public/v1/kb/documents/{document_id}/chunks").json()["pagination"]["total"]
    assert record["chunk_count"] == chunks > 10
    assert find(account, "сколько коробок держит полка 377")[0].startswith("полки")


def test_many_deletions_that_fail_do_not_keep_another_tenant_s_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(Settings(data_dir=tmp_path))
    migrate(database)
    bad, good, calls = new_id(), new_id(), []

    class BrokenForOne:
        def delete(self, tenant_id: str, **_: str) -> None:
            calls.append(tenant_id)
            if tenant_id == bad:
                raise RuntimeError("a broken shard")

    with database.write() as connection:
        for tenant_id in [bad] * 100 + [good]:
            index_work.add(tenant_id, connection, action=index_work.FORGET_COMMUNICATION, subject_id=new_id())
    monkeypatch.setattr(timelines, "workshop", lambda: SimpleNamespace(database=database, index=BrokenForOne()))
    timelines.sweep()
    timelines.sweep()
    with database.read() as connection:
        waiting = index_work.list_open(connection, limit=1000)
    database.close()
    assert calls.count(good) == 1
    assert [work.tenant_id for work in waiting] == [bad] * 100


def test_a_document_that_is_ready_is_not_made_to_fail_later(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = server.new_client("finished")
    record = account.add_document(account.new_space(), "Пароль от склада: сова.".encode(), "склад.txt")
    with server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, webhook_url="http://example.com/")
    monkeypatch.setattr(documents, "workshop", lambda: SimpleNamespace(database=server.database))
    documents.mark_failed(account.tenant_id, record["id"], 1, "internal_error", "too late")
    found = account.get(f"/public/v1/kb/documents/{record['id']}").json()
    assert (found["status"], found.get("error_code")) == ("success", None)
    with server.database.read() as connection:
        assert deliveries.list_page(account.tenant_id, connection, limit=10, offset=0) == ([], 0)
