"""What the index must follow is followed, whatever comes between."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from ingest import timelines
from ingest.documents import document_job
from store import accounts, communications, deliveries, index_work, knowledge, speakers
from store.blobs import Blobs
from store.communications import ContentItem
from store.database import Database, now
from store.figures import Selection, sum_up
from store.ids import new_id
from store.migrate import migrate
from store.settings import Settings
from tests.support.server import Account, RunningServer

WAIT_S = 120.0


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
    monkeypatch.setattr(timelines, "workshop", lambda: SimpleNamespace(database=database, indexes=BrokenForOne()))
    with capture_logs():  # two hundred tracebacks
        timelines.sweep()
        timelines.sweep()
    with database.read() as connection:
        waiting = index_work.list_open(connection, limit=1000)
    database.close()
    assert calls.count(good) == 1
    assert [work.tenant_id for work in waiting] == [bad] * 100


def test_what_waits_is_counted_by_what_is_to_be_done_since_it_was_due(tmp_path: Path) -> None:
    database = Database(Settings(data_dir=tmp_path))
    migrate(database)

    def note(action: str, count: int, after_s: float) -> None:
        blob_keys: dict[str, str | None] = {new_id(): None for _ in range(count)}
        due = now() + timedelta(seconds=after_s)
        with database.write() as connection:
            index_work.add_many(new_id(), connection, action=action, blob_keys=blob_keys, not_before=due)

    note(index_work.INDEX_MEMORY, 2, -100)
    note(index_work.INDEX_MEMORY, 1, -500)
    note(index_work.DELETE_BLOB, 1, -10)
    note(index_work.DELETE_BLOB, 1, 3600)
    with database.write() as connection:
        index_work.note_refill(connection, "one")
    with database.read() as connection:
        found = {each.action: (each.count, round(each.oldest_s, -1)) for each in index_work.list_waiting(connection)}
    database.close()
    expected = {index_work.INDEX_MEMORY: (3, 500), index_work.DELETE_BLOB: (1, 10)}
    assert found == dict.fromkeys(index_work.FOLLOWS, (0, 0)) | expected


def test_a_sweep_ends_after_its_time_and_the_next_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(Settings(data_dir=tmp_path))
    migrate(database)
    clock, busy, other, done = [0.0], new_id(), new_id(), []

    class Slow:
        def delete(self, tenant_id: str, **_: str) -> None:
            done.append(tenant_id)
            clock[0] += timelines.FOLLOW_S / 2

    with database.write() as connection:
        for tenant_id in [busy] * 10 + [other] * 2:
            index_work.add(tenant_id, connection, action=index_work.FORGET_COMMUNICATION, subject_id=new_id())
    monkeypatch.setattr(timelines, "workshop", lambda: SimpleNamespace(database=database, indexes=Slow()))
    monkeypatch.setattr(timelines.time, "monotonic", lambda: clock[0])
    timelines.sweep()
    assert done == [busy, other, busy]
    timelines.sweep()
    assert done == [busy, other, busy, busy, other, busy]
    database.close()


def test_figures_of_somebody_busy_who_is_deleted_follow_with_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The company's part of two voices is not known any more, once nobody knows whose one of them was."""
    database = Database(Settings(data_dir=tmp_path))
    migrate(database)
    monkeypatch.setattr(speakers, "MOST_FOLLOWED", 2)
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="busy")
        assert tenant is not None
        person = speakers.upsert(tenant.id, connection, external_id="busy", name=None, role="sales")
        for _ in range(4):
            call = communications.create(
                tenant.id, connection, kind="call", channel_type="phone", occured_at=now(), title=""
            )
            speakers.attach(tenant.id, connection, call.id, [speakers.Attending(person.id, "sales", "A")])
            said = [ContentItem("audio_utterance", "слова", label, 0, 1000) for label in "AB"]
            communications.replace_content(tenant.id, connection, call.id, said)
    selection = Selection(now() - timedelta(days=1), now() + timedelta(days=1))

    def staff_ms() -> int:
        with database.read() as connection:
            return sum_up(tenant.id, connection, selection).staff_ms

    assert staff_ms() == 4000
    with database.write() as connection:
        attended = speakers.list_attended(tenant.id, connection, person.id)
        assert speakers.delete(tenant.id, connection, person.id)
        blob_keys: dict[str, str | None] = dict.fromkeys(attended)
        index_work.add_many(tenant.id, connection, action=index_work.INDEX_COMMUNICATION, blob_keys=blob_keys)
    assert staff_ms() == 2000
    indexes = SimpleNamespace(ids_of=lambda *_, **__: set(), put=lambda *_: None)
    monkeypatch.setattr(timelines, "workshop", lambda: SimpleNamespace(database=database, indexes=indexes))
    timelines.sweep()
    assert staff_ms() == 0
    database.close()


def test_a_document_that_is_ready_is_not_made_to_fail_later(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = server.new_client("finished")
    record = account.add_document(account.new_space(), "Пароль от склада: сова.".encode(), "склад.txt")
    with server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, webhook_url="http://example.com/")
    monkeypatch.setattr(document_job, "workshop", lambda: SimpleNamespace(database=server.database))
    document_job.mark_failed(account.tenant_id, record["id"], 1, "internal_error", "too late")
    found = account.get(f"/public/v1/kb/documents/{record['id']}").json()
    assert (found["status"], found.get("error_code")) == ("success", None)
    with server.database.read() as connection:
        assert deliveries.list_page(account.tenant_id, connection, limit=10, offset=0) == ([], 0)
