"""What an account keeps no longer than some days goes, with all of it; the rest stays."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from ingest import retention as sweeping
from rag.index import Filter
from rag.qdrant_edge_index import EdgeIndex
from store import accounts, communications, index_work, media, retention, speakers, transcriptions, voices
from store.blobs import Blobs
from store.communications import ContentItem
from store.database import Database, now
from store.ids import new_id
from store.index_work import IndexWork
from store.voices import Voice
from tests.store.conftest import database as database
from tests.support.server import Account, RunningServer

WAIT_S = 120.0
WORD = "gravelmoth"


def add_call(
    database: Database,
    tenant_id: str,
    *,
    days: float,
    kind: str = "call",
    stored_days: float | None = None,
    status: str = "success",
) -> tuple[str, str]:
    """(communication id, blob key) of a call that happened and was stored so many days ago."""
    happened = now() - timedelta(days=days)
    stored = happened if stored_days is None else now() - timedelta(days=stored_days)
    with database.write() as connection:
        row = communications.create(
            tenant_id, connection, kind=kind, channel_type="phone", occured_at=happened, title="A call"
        )
        said = ContentItem("audio_utterance", f"The {WORD} of {days} days ago", "SPEAKER_00", 0, 900, happened)
        communications.replace_content(tenant_id, connection, row.id, [said])
        key = f"{tenant_id}/audio/{new_id()}"
        task = transcriptions.create(
            tenant_id,
            connection,
            communication_id=row.id,
            blob_key=key,
            file_name="a.wav",
            parameters={},
            occured_at=happened,
        )
        transcriptions.update(tenant_id, connection, task.id, status=status)
        connection.execute(
            sa.update(communications.communications)
            .where(communications.communications.c.id == row.id)
            .values(created_at=stored, updated_at=stored)
        )
        index_work.add(tenant_id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=row.id)
    return row.id, key


def found(account: Account) -> set[str]:
    answer = account.call_tool("search_communications", query=WORD)
    return {item["id"] for item in json.loads(answer["result"]["content"][0]["text"])["items"]}


def wait_for(condition: Callable[[], bool], server: RunningServer) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, server.log()[-3000:]
        time.sleep(0.05)


def indexed(server: RunningServer, account: Account) -> set[str]:
    """The communications of which the index holds points, of a stopped server: searches leave out what the store has no
    more, and so would not tell."""
    (folder,) = (server.data_dir / "index").glob("*/shards")
    made_for = json.loads((folder / "index.json").read_text())
    index = EdgeIndex(folder, made_for["dimension"], model=made_for["model"])
    try:
        hits = index.search_text(account.tenant_id, WORD, Filter(), 100)
        return {str(hit.payload["communication_id"]) for hit in hits}
    finally:
        index.close()


def nothing_is_open(server: RunningServer) -> bool:
    with server.database.read() as connection:
        return index_work.list_open(connection) == []


def test_what_is_over_its_time_goes_out_of_store_blobs_and_index(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", sweep_s="0.5")
    try:
        server.start()
        account, other = server.new_client("keeps a month"), server.new_client("keeps all")
        old, old_audio = add_call(server.database, account.tenant_id, days=40)
        young, young_audio = add_call(server.database, account.tenant_id, days=20)
        kept, kept_audio = add_call(server.database, other.tenant_id, days=4000)
        blobs = Blobs(server.settings)
        for key in (old_audio, young_audio, kept_audio):
            blobs.put(key, b"sound")
        wait_for(lambda: found(account) == {old, young} and found(other) == {kept}, server)
        assert account.request("PATCH", "/public/v1/settings", json={"retention": 30}).status_code == 200
        wait_for(lambda: not blobs.exists(old_audio) and found(account) == {young}, server)
        assert found(other) == {kept}
        assert blobs.exists(young_audio)
        assert blobs.exists(kept_audio)
        gone = account.get("/public/v1/communications", params={"id": old})
        assert gone.status_code == 404
        assert account.get("/public/v1/communications", params={"id": young}).status_code == 200
        wait_for(lambda: nothing_is_open(server), server)
        with server.database.read() as connection:
            assert communications.list_content(account.tenant_id, connection, old) == []
        entry = account.get("/public/v1/audit").json()["items"][0]
        assert (entry["actor"], entry["action"]) == ("retention", "communications.deleted")
        assert entry["details"] == {"count": 1, "older_than_days": 30}
        server.stop()
        assert (indexed(server, account), indexed(server, other)) == ({young}, {kept})
    finally:
        server.close()


@pytest.mark.parametrize("is_by_hand", [True, False], ids=["by hand", "by its time"])
def test_what_a_call_taught_of_a_voice_goes_with_it(
    server: RunningServer, new_account: Callable[..., Account], is_by_hand: bool
) -> None:
    account = new_account()
    only, mixed, kept = (add_call(server.database, account.tenant_id, days=days)[0] for days in (60, 50, 20))
    east, north = (1.0, 0.0), (0.0, 1.0)
    with server.database.write() as connection:
        once, often = (
            speakers.upsert(account.tenant_id, connection, external_id=each, name=None).id for each in ("once", "often")
        )
        for call, embedding, person in ((only, east, once), (mixed, east, often), (kept, north, often)):
            heard = {"SPEAKER_00": Voice(embedding, 9000)}
            voices.put_heard(account.tenant_id, connection, call, model="test", voices=heard)
            assert voices.teach(account.tenant_id, connection, call, "SPEAKER_00", person)

    def known() -> dict[str, Voice]:
        with server.database.read() as connection:
            return voices.list_known(account.tenant_id, connection, [once, often], model="test")

    assert set(known()) == {once, often}
    if is_by_hand:
        for call in (only, mixed):
            assert account.request("DELETE", f"/public/v1/communications/{call}").status_code == 204
    else:
        assert account.request("PATCH", "/public/v1/settings", json={"retention": 30}).status_code == 200
        wait_for(lambda: account.get("/public/v1/communications", params={"id": mixed}).status_code == 404, server)
    left = known()
    assert set(left) == {often}, "nothing is left of a voice that is heard in no call any more"
    assert left[often] == Voice(north, 9000), "the voice is that of the call which is left"


def test_what_a_kill_left_of_a_deletion_is_cleared_later(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", sweep_s="0.5")
    try:
        account = server.start().new_client("client")
        old, audio = add_call(server.database, account.tenant_id, days=40)
        blobs = Blobs(server.settings)
        blobs.put(audio, b"sound")
        wait_for(lambda: found(account) == {old}, server)
        server.kill()
        assert indexed(server, account) == {old}
        # What a sweep commits before it touches index and blobs.
        with server.database.write() as connection:
            ((task_id, key),) = retention.remove(account.tenant_id, connection, [old])
            index_work.add(account.tenant_id, connection, action=index_work.FORGET_COMMUNICATION, subject_id=old)
            index_work.add(
                account.tenant_id, connection, action=index_work.DELETE_BLOB, subject_id=task_id, blob_key=key
            )
        assert blobs.exists(audio)
        server.start()
        assert found(account) == set()
        wait_for(lambda: not blobs.exists(audio) and nothing_is_open(server), server)
        server.stop()
        assert indexed(server, account) == set()
    finally:
        server.close()


@pytest.mark.parametrize(
    ("what", "goes"),
    [
        ({"days": 31}, True),
        ({"days": 29}, False),
        ({"days": 31, "status": "error"}, True),
        ({"days": 31, "status": "processing"}, False),
        ({"days": 400, "stored_days": 1}, False),  # an old call, taken in yesterday
    ],
    ids=str,
)
def test_only_what_happened_and_was_stored_before_and_is_done_is_over_its_time(
    database: Database, what: dict[str, float], goes: bool
) -> None:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="x", external_id="x")
        other = accounts.create_tenant(connection, name="y", external_id="y")
    assert tenant is not None
    assert other is not None
    call, key = add_call(database, tenant.id, **what)  # type: ignore[arg-type]
    add_call(database, other.id, days=99)
    with database.write() as connection:
        before = now() - timedelta(days=30)
        assert retention.list_due(connection) == []
        accounts.update_tenant(tenant.id, connection, retention_days=30)
        assert retention.list_due(connection) == ([tenant.id] if goes else [])
        expired = retention.list_expired(tenant.id, connection, before=before, limit=10)
        assert expired == ([call] if goes else [])
        blobs = retention.remove(tenant.id, connection, expired)
        assert [blob_key for _, blob_key in blobs] == ([key] if goes else [])
        assert communications.count(tenant.id, connection) == (0 if goes else 1)
        assert communications.count(other.id, connection) == 1


def test_what_one_account_has_trouble_with_keeps_nothing_of_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    house: Any = SimpleNamespace(database=database, indexes=SimpleNamespace(delete=lambda *_, **__: None))
    monkeypatch.setattr(sweeping, "workshop", lambda: house)
    remove_batch, tried = sweeping.remove_batch, list[str]()

    def fail_at_first(house: Any, tenant_id: str) -> list[IndexWork]:
        tried.append(tenant_id)
        if len(tried) == 1:
            raise ValueError(tenant_id)
        return remove_batch(house, tenant_id)

    monkeypatch.setattr(sweeping, "remove_batch", fail_at_first)
    for number in range(3):
        with database.write() as connection:
            tenant = accounts.create_tenant(connection, name="x", external_id=str(number))
            assert tenant is not None
            accounts.update_tenant(tenant.id, connection, retention_days=30)
        add_call(database, tenant.id, days=99)
    with pytest.raises(ExceptionGroup) as raised:
        sweeping.sweep()
    assert [str(each) for each in raised.value.exceptions] == tried[:1]
    with database.read() as connection:
        assert retention.list_due(connection) == tried[:1]


def test_a_chat_counts_from_its_last_message(database: Database) -> None:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="x", external_id="x")
    assert tenant is not None
    chat, _ = add_call(database, tenant.id, days=99, kind="chat")
    before = now() - timedelta(days=30)
    with database.write() as connection:
        assert retention.list_expired(tenant.id, connection, before=before, limit=10) == [chat]
        communications.append_content(tenant.id, connection, chat, [ContentItem("chat_message", "still here")])
        communications.update(tenant.id, connection, chat, title="A chat")
        assert retention.list_expired(tenant.id, connection, before=before, limit=10) == []


def test_recordings_have_a_time_of_their_own_and_their_texts_stay(
    server: RunningServer, account: Account, new_account: Callable[..., Account]
) -> None:
    other = new_account()
    blobs = Blobs(server.settings)
    old_id, old_key = add_call(server.database, account.tenant_id, days=40)
    new_id_, new_key = add_call(server.database, account.tenant_id, days=5)
    _, work_key = add_call(server.database, account.tenant_id, days=40, status="processing")
    _, foreign_key = add_call(server.database, other.tenant_id, days=40)
    for key in (old_key, new_key, work_key, foreign_key):
        blobs.put(key, b"sound")
    voice = f"{account.tenant_id}/media/{new_id()}"
    blobs.put(voice, b"a voice message")
    with server.database.write() as connection:
        media.create(
            account.tenant_id,
            connection,
            type="audio",
            mime="audio/ogg",
            name="voice.ogg",
            size_bytes=15,
            blob_key=voice,
            sha256="",
            communication_id=old_id,
        )
    answer = account.request("PATCH", "/public/v1/settings", json={"audio_retention": 30})
    assert (answer.status_code, answer.json()["audio_retention"], answer.json()["retention"]) == (200, 30, None)
    wait_for(lambda: not blobs.exists(old_key) and not blobs.exists(voice), server)
    assert [blobs.exists(key) for key in (new_key, work_key, foreign_key)] == [True, True, True]
    assert account.get(f"/public/v1/media/{old_id}").status_code == 404
    assert account.get(f"/public/v1/media/{new_id_}").status_code == 200
    details = account.get("/public/v1/communications", params={"id": old_id})
    assert details.status_code == 200
    assert WORD in details.text
    wait_for(lambda: old_id in found(account), server)
    entries = account.get("/public/v1/audit").json()["items"]
    assert [each["details"] for each in entries if each["action"] == "audio.deleted"] != []
    assert account.request("PATCH", "/public/v1/settings", json={"audio_retention": 0}).status_code == 400
