"""`parley backup` under load and `parley restore` elsewhere: everything is there, and nothing is overwritten."""

from __future__ import annotations

import io
import itertools
import json
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from qdrant_client import QdrantClient

from api import backup
from api.backup import make_backup, restore_backup
from rag.index_places import open_place
from store import backup_outcomes, backups, index_work, migrate
from store.backups import BackupDamaged
from store.blobs import Blobs
from store.database import Database
from store.errors import Conflict, InvalidRequest, Unavailable
from store.settings import Settings
from tests.contract.recordings import tone, wav
from tests.support import postgresql
from tests.support.backups import WAIT_S, LoadOfUploads, into, made_of, parley
from tests.support.calls import wait_until
from tests.support.metrics import samples
from tests.support.qdrant import running_qdrant
from tests.support.server import Account, RunningServer
from tests.support.talks import ANNA, BORIS, add_talk, fact


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path / "server", sweep_s="0.5")
    yield running
    running.close()


def test_whoever_watches_is_told_when_a_backup_was_made_and_when_one_failed(
    server: RunningServer, tmp_path: Path
) -> None:
    server.start()

    def told() -> dict[str, float]:
        return {each.labels["outcome"]: each.value for each in samples(server, "parley_backup_timestamp_seconds")}

    assert told() == {}
    path = tmp_path / "backup.tar"
    before_s = time.time()
    assert parley(server, "backup", str(path)).returncode == 0
    assert told().keys() == {"success"}
    assert parley(server, "backup", str(path)).returncode != 0, "the path is taken"
    assert before_s <= told()["success"] <= told()["error"] <= time.time()
    made_s = told()["success"]
    assert server.stop() == 0
    assert parley(server, "restore", str(path), "--force").returncode == 0
    server.start()
    assert told() == {"success": pytest.approx(made_s, abs=5)}, "it is the last that there is of what was restored"


def restored(server: RunningServer, folder: Path) -> tuple[RunningServer, Account]:
    """A server over the restored folder, and the account as it calls it."""
    other = RunningServer.__new__(RunningServer)
    RunningServer.__init__(other, folder, sweep_s="0.5")
    return other, Account(other, server_account(server).made)


_accounts: dict[str, Account] = {}


def server_account(server: RunningServer) -> Account:
    return _accounts[server.url]


@pytest.mark.parametrize("name", ["backup.tar", pytest.param("backup", marks=pytest.mark.soak)])
def test_a_backup_under_load_restores_to_a_server_that_has_everything(
    server: RunningServer, tmp_path: Path, name: str
) -> None:
    account = server.start().new_client("under load")
    _accounts[server.url] = account
    space_id = account.new_space()
    first = account.add_document(space_id, b"# First\n\nThe copperwhistle costs 40 roubles.", "first.md")
    call = account.upload_audio(wav(tone(2)), "first.wav").json()
    account.finished_task(call["task_id"])
    load = LoadOfUploads(account, space_id)
    load.start()
    try:
        while load.documents < 5:
            assert load.is_alive(), load.statuses
            time.sleep(0.05)
        ended = parley(server, "backup", str(tmp_path / name), "--json")
    finally:
        load.end()
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["files"] > 5
    assert load.statuses == {202}
    again = parley(server, "backup", str(tmp_path / name))
    assert again.returncode != 0
    assert "not overwritten" in again.stderr
    server.kill()

    folder = tmp_path / "restored"
    ended = parley(server, "restore", str(tmp_path / name), data_dir=str(folder))
    assert ended.returncode == 0, ended.stderr
    assert (folder / "secret.key").stat().st_mode & 0o077 == 0
    other, same = restored(server, folder)
    try:
        other.start()
        check_everything(other, same, first["id"], call["communication_id"])
        refused = parley(other, "restore", str(tmp_path / name), "--force")
        assert refused.returncode != 0
        assert "stop it first" in refused.stderr
    finally:
        other.close()
    refused = parley(other, "restore", str(tmp_path / name))
    assert refused.returncode != 0
    assert "--force" in refused.stderr
    forced = parley(other, "restore", str(tmp_path / name), "--force")
    assert forced.returncode == 0, forced.stderr


def check_everything(server: RunningServer, account: Account, first_id: str, communication_id: str) -> None:
    with server.database.read() as connection:
        documents = connection.execute(sa.text("SELECT id, blob_key FROM kb_documents")).all()
        tasks = connection.execute(sa.text("SELECT id, communication_id, blob_key FROM transcription_tasks")).all()
    assert len(documents) >= 5
    assert len(tasks) >= 1
    blobs = Blobs(server.settings)
    assert [row.blob_key for row in (*documents, *tasks) if not blobs.exists(row.blob_key)] == []
    for row in tasks:
        # What was in work begins again.
        account.finished_task(_uuid(row.id))
        found = account.get("/public/v1/communications", params={"id": _uuid(row.communication_id)})
        assert found.status_code == 200
        assert account.get(f"/public/v1/media/{_uuid(row.communication_id)}").status_code == 200
    for row in documents:
        assert account.finished_document(_uuid(row.id))["status"] == "success"
    assert account.finished_document(first_id)["status"] == "success"
    assert account.get(f"/public/v1/media/{communication_id}").content == wav(tone(2))
    deadline = time.monotonic() + WAIT_S
    # The index was not copied: the server fills it from the rest.
    while "copperwhistle" not in json.dumps(account.call_tool("search_documents", query="copperwhistle")):
        assert time.monotonic() < deadline, server.log()[-3000:]
        time.sleep(0.2)


def _uuid(text: str) -> str:
    """As the API writes what SQLite keeps without dashes."""
    import uuid

    return str(uuid.UUID(text))


@pytest.fixture
def small(tmp_path: Path) -> tuple[Settings, Path]:
    """Settings with a database and a blob, and its backup as a tar."""
    running = RunningServer(tmp_path / "small")
    running.new_client("kept")
    Blobs(running.settings).put("kept/audio/1", b"sound")
    Blobs(running.settings).put("kept/newest-pictures/1.jpg", b"written over every few seconds")
    running.database.close()
    make_backup(running.settings, tmp_path / "small.tar")
    return running.settings, tmp_path / "small.tar"


def test_a_file_that_was_changed_is_found_before_anything_is_touched(
    small: tuple[Settings, Path], tmp_path: Path
) -> None:
    _, path = small
    folder = tmp_path / "unpacked"
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    blob = folder / "blobs" / "kept" / "audio" / "1"
    for change in (lambda: blob.write_bytes(b"noise"), blob.unlink, (folder / "manifest.json").unlink):
        change()
        with pytest.raises(BackupDamaged):
            restore_backup(into(tmp_path / "target"), folder, force=False)
        assert not (tmp_path / "target" / "secret.key").exists()
        assert list(Blobs(into(tmp_path / "target")).list_all()) == []


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "blobs/../../outside", "other.txt", "blobs/.hidden"])
def test_a_backup_leads_nowhere_else(small: tuple[Settings, Path], tmp_path: Path, name: str) -> None:
    path = tmp_path / "hostile.tar"
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 4
        archive.addfile(entry, io.BytesIO(b"evil"))
    with pytest.raises(BackupDamaged):
        restore_backup(into(tmp_path / "target"), path, force=False)
    assert not (tmp_path / "outside").exists()


def test_what_is_written_over_all_the_time_is_not_in_it(small: tuple[Settings, Path]) -> None:
    with tarfile.open(small[1]) as archive:
        assert [name for name in archive.getnames() if name.startswith("blobs/")] == ["blobs/kept/audio/1"]


def test_a_backup_that_was_cut_off_is_none(small: tuple[Settings, Path], tmp_path: Path) -> None:
    _, path = small
    cut = tmp_path / "cut.tar"
    cut.write_bytes(path.read_bytes()[:-12_000])
    with pytest.raises(BackupDamaged):
        restore_backup(into(tmp_path / "target"), cut, force=False)


def test_another_secret_key_is_refused(small: tuple[Settings, Path], tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="PARLEY_SECRET_KEY"):
        restore_backup(into(tmp_path / "target", secret_key="another"), small[1], force=False)


def test_what_is_there_is_not_overwritten(small: tuple[Settings, Path], tmp_path: Path) -> None:
    settings, path = small
    with pytest.raises(Conflict, match="force"):
        restore_backup(settings, path, force=False)
    assert Blobs(settings).read("kept/audio/1") == b"sound"
    Blobs(settings).put("later/audio/1", b"later")
    restore_backup(settings, path, force=True)
    assert not Blobs(settings).exists("later/audio/1")
    assert Blobs(settings).read("kept/audio/1") == b"sound"


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_what_is_replaced_while_it_is_copied_is_there_all_the_same(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that came after the first look at the blobs, and goes before it can be copied. That of every other row was
    never there, as a recording's is that is to be fetched."""
    url = request.getfixturevalue("postgresql_url") if kind == "postgresql" else ""
    settings = into(tmp_path / "there", database_url=url)
    database = made_of(settings, "head", tmp_path / "before.tar")
    blobs, add_all, add_named = Blobs(settings), backups._Copied.add_all, backups._Copied.add_named
    keys, moments, busy_moments = itertools.count(), 0, 2

    def replace() -> None:
        key = f"kept/documents/{next(keys)}"
        blobs.put(key, key.encode())
        with database.write() as connection:
            before = connection.execute(sa.text("SELECT blob_key FROM kb_documents")).scalar_one()
            connection.execute(sa.text("UPDATE kb_documents SET blob_key = :key"), {"key": key})
        blobs.delete(before)

    def looked(copied: backups._Copied) -> None:
        add_all(copied)
        replace()

    def named(copied: backups._Copied, connection: sa.Connection) -> Any:
        nonlocal moments
        moments += 1
        if moments <= busy_moments:
            replace()
        return add_named(copied, connection)

    monkeypatch.setattr(backups._Copied, "add_all", looked)
    monkeypatch.setattr(backups._Copied, "add_named", named)
    assert make_backup(settings, tmp_path / "whole.tar")["missing"] == 0
    assert moments == 3
    restore_backup(settings, tmp_path / "whole.tar", force=True)
    database.reconnect()
    with database.read() as connection:
        key = connection.execute(sa.text("SELECT blob_key FROM kb_documents")).scalar_one()
    assert blobs.read(key) == key.encode()
    busy_moments = 1_000
    assert make_backup(settings, tmp_path / "busy.tar")["missing"] == 1
    with database.read() as connection:
        told = backup_outcomes.last(connection)
    assert told["error"] > told["success"], "one that lacks files is none to rely on"
    database.close()


def test_a_backup_is_for_its_owner_alone(small: tuple[Settings, Path]) -> None:
    assert small[1].stat().st_mode & 0o077 == 0


class Killed(BaseException):
    """Nothing that is done about errors is done about it."""


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
@pytest.mark.parametrize("step", ["put_blobs", "put_database", "put_files", "delete_other_blobs"])
def test_one_that_was_killed_is_done_again(
    kind: str, step: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = request.getfixturevalue("postgresql_url") if kind == "postgresql" else ""
    settings = into(tmp_path / "there", database_url=url)
    database = made_of(settings, migrate.newest_revision(), tmp_path / "before.tar")
    secret = (settings.data_dir / "secret.key").read_bytes()
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE later (id integer)")
    Blobs(settings).put("later/audio/1", b"later")

    def killed(*arguments: Any, **options: Any) -> None:
        done(*arguments, **options)
        raise Killed

    done = getattr(backups, step)
    with monkeypatch.context() as patch:
        patch.setattr(backups, step, killed)
        patch.setattr(backup.shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(Killed):
            restore_backup(settings, tmp_path / "before.tar", force=True)
    restore_backup(settings, tmp_path / "before.tar", force=True)
    database.reconnect()
    with database.read() as connection:
        assert "later" not in sa.inspect(connection).get_table_names()
    assert [each.key for each in Blobs(settings).list_all()] == ["kept/audio/1"]
    assert (settings.data_dir / "secret.key").read_bytes() == secret
    assert not [path.name for path in settings.data_dir.iterdir() if "restor" in path.name]
    database.close()


def test_one_restore_at_a_time(small: tuple[Settings, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    settings, path = small
    put = backups.put_blobs

    def meanwhile(*arguments: Any) -> None:
        monkeypatch.undo()
        with pytest.raises(Unavailable, match="restore"):
            restore_backup(settings, path, force=True)
        put(*arguments)

    monkeypatch.setattr(backups, "put_blobs", meanwhile)
    restore_backup(settings, path, force=True)
    assert Blobs(settings).read("kept/audio/1") == b"sound"


@pytest.mark.parametrize("schema", ["0001", "0025", "head"])
def test_each_index_on_a_server_is_compared_with_what_was_restored(tmp_path: Path, schema: str) -> None:
    """Also where the backup is to be migrated yet, and where the machine has no model."""
    with running_qdrant() as qdrant:
        settings = into(tmp_path / "first", qdrant_url=qdrant.url)
        made_of(settings, schema, tmp_path / "backup.tar").close()
        place = open_place(settings)
        for name in ("e5-small", "words-only"):
            index = place.open(name, None, 8)
            index.mark_complete()
            index.close()
        fresh = into(tmp_path / "fresh", qdrant_url=qdrant.url)
        restore_backup(fresh, tmp_path / "backup.tar", force=False)
        database = Database(fresh)
        migrate.migrate(database)
        with database.read() as connection:
            noted = {name: index_work.list_refills(connection, name) for name in place.names()}
        database.close()
        assert {name: [(each.tenant_id, each.is_due) for each in found] for name, found in noted.items()} == {
            "e5-small": [(None, True)],
            "words-only": [(None, True)],
        }


def test_what_came_after_the_backup_leaves_the_index_on_a_server_too(tmp_path: Path) -> None:
    """Documents, conversations and what is remembered, also of accounts that are not there any more."""
    with running_qdrant() as qdrant:
        server = RunningServer(tmp_path / "data", qdrant_url=qdrant.url, sweep_s="0.5")
        try:
            account = server.start().new_client("kept")
            before = account.add_document(account.new_space(), b"Cars are left behind the bakery.", "cars.txt")["id"]
            make_backup(server.settings, tmp_path / "backup.tar")
            account.add_document(account.new_space(), b"Bicycles are left in the yard.", "bicycles.txt")
            newcomer = server.new_client("newcomer")
            newcomer.add_document(newcomer.new_space(), b"Boats are left in the harbour.", "boats.txt")
            for each in (account, newcomer):
                add_talk(
                    each,
                    people={"A": ANNA, "B": BORIS},
                    turns=[("A", "Where is my gravelmoth?"), ("B", "It is on its way.")],
                    facts=[fact("waits for a gravelmoth", "A", quote="Where is my gravelmoth?")],
                )
            kinds = {"document", "communication", "memory"}
            wait_until(lambda: {payload["kind"] for payload in payloads(qdrant.url)} == kinds)
            server.stop()
            server.database.close()
            restore_backup(server.settings, tmp_path / "backup.tar", force=True)
            server.start()
            wait_until(lambda: [each.get("document_id") for each in payloads(qdrant.url)] == [before])
        finally:
            server.close()


def payloads(url: str) -> list[dict[str, Any]]:
    """Of all that a server of indexes holds."""
    client = QdrantClient(url=url)
    found = [client.scroll(each.name, limit=1000)[0] for each in client.get_collections().collections]
    client.close()
    return [record.payload or {} for records in found for record in records]


def test_a_server_of_indexes_that_is_away_is_known_before_anything_is_touched(
    small: tuple[Settings, Path], tmp_path: Path
) -> None:
    target = into(tmp_path / "target", qdrant_url="http://127.0.0.1:9")
    with pytest.raises(Unavailable):
        restore_backup(target, small[1], force=False)
    assert not (target.data_dir / "secret.key").exists()
    assert list(Blobs(target).list_all()) == []


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_work_that_a_database_of_jobs_knows_as_done_is_done_again(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path / 'apart' / 'jobs.sqlite3'}"
    if kind == "postgresql":
        url = postgresql.new_database(request.getfixturevalue("postgresql_cluster"))
    running = RunningServer(tmp_path / "server", sweep_s="0.5", jobs_database_url=url)
    try:
        account = running.start().new_client("kept")
        text = b"# Fish\n\nThe copperwhistle costs 40 roubles."
        document_id = account.upload_document(account.new_space(), text, "fish.md").json()["id"]
        running.rest()  # with its work begun
        make_backup(running.settings, tmp_path / "backup.tar")
        running.wake()
        assert account.finished_document(document_id)["status"] == "success"
        running.stop()
        fresh = into(tmp_path / "fresh", jobs_database_url=url)
        with pytest.raises(Conflict, match="jobs"):
            restore_backup(fresh, tmp_path / "backup.tar", force=False)
        restore_backup(running.settings, tmp_path / "backup.tar", force=True)
        with Database(running.settings).read() as connection:
            assert connection.execute(sa.text("SELECT status FROM kb_documents")).scalar_one() != "success"
        running.start()
        assert account.finished_document(document_id)["status"] == "success"
    finally:
        running.close()


def test_a_database_of_jobs_that_is_away_is_known_before_anything_is_touched(
    small: tuple[Settings, Path], tmp_path: Path
) -> None:
    target = into(tmp_path / "target", jobs_database_url="postgresql+psycopg://nobody@127.0.0.1:9/jobs")
    for force in (False, True):
        with pytest.raises(Unavailable):
            restore_backup(target, small[1], force=force)
    assert not (target.data_dir / "secret.key").exists()
    assert list(Blobs(target).list_all()) == []
