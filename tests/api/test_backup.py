"""`parley backup` under load and `parley restore` elsewhere: everything is there, and nothing is overwritten."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from qdrant_client import QdrantClient

from api import backup
from api.backup import make_backup, restore_backup
from rag.index_places import open_place
from store import backups, index_work, migrate, postgresql_dumps
from store.backups import BackupDamaged
from store.blobs import Blobs
from store.database import Database
from store.errors import Conflict, InvalidRequest, Unavailable
from store.settings import Settings
from tests.contract.recordings import tone, wav
from tests.support import pooler, postgresql
from tests.support.calls import wait_until
from tests.support.filled import fill
from tests.support.qdrant import running_qdrant
from tests.support.server import Account, RunningServer
from tests.support.talks import ANNA, BORIS, add_talk, fact

WAIT_S = 180.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path / "server", sweep_s="0.5")
    yield running
    running.close()


def parley(server: RunningServer, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**server.environment, **{f"PARLEY_{name.upper()}": value for name, value in settings.items()}}
    command = [sys.executable, "-m", "api.command_line", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=WAIT_S)


class Load(threading.Thread):
    """Adds documents and calls until it is stopped."""

    def __init__(self, account: Account, space_id: str) -> None:
        super().__init__(daemon=True)
        self.account, self.space_id = account, space_id
        self.documents = 0
        self.statuses: set[int] = set()
        self._stop_now = threading.Event()

    def run(self) -> None:
        number = 0
        while not self._stop_now.is_set():
            number += 1
            text = f"# Page {number}\n\nThe gravelmoth number {number} costs {number} roubles.".encode()
            answer = self.account.upload_document(self.space_id, text, f"{number}.md")
            self.statuses.add(answer.status_code)
            self.documents += answer.status_code == 202
            if number % 5 == 0:
                self.statuses.add(self.account.upload_audio(wav(tone(1)), f"{number}.wav").status_code)

    def end(self) -> None:
        self._stop_now.set()
        self.join(WAIT_S)


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
    load = Load(account, space_id)
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


def into(folder: Path, **values: Any) -> Settings:
    return Settings(data_dir=folder, _env_file=None, **values)  # type: ignore[call-arg]


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


def test_a_backup_is_for_its_owner_alone(small: tuple[Settings, Path]) -> None:
    assert small[1].stat().st_mode & 0o077 == 0


@pytest.fixture(params=[False, True], ids=["directly", "by a pooler"])
def reached(request: pytest.FixtureRequest, postgresql_cluster: str) -> Iterator[Callable[[], dict[str, str]]]:
    """Makes databases; the settings with which each is reached."""

    def directly() -> dict[str, str]:
        return {"database_url": postgresql.new_database(postgresql_cluster)}

    if not request.param:
        yield directly
        return
    if pooler.program() is None:
        pytest.skip("PgBouncer is not installed (scripts/install-system-packages)")
    with pooler.running_pooler(postgresql_cluster, sessions=4) as url:

        def by_pooler() -> dict[str, str]:
            direct = directly()["database_url"]
            return {"database_url": url.format(name=postgresql.name_of(direct)), "database_direct_url": direct}

        yield by_pooler


@pytest.mark.postgresql
def test_postgresql_goes_by_its_own_dump(reached: Callable[[], dict[str, str]], tmp_path: Path) -> None:
    running = RunningServer(tmp_path / "pg", **reached())
    account = running.new_client("kept")
    Blobs(running.settings).put(f"{account.tenant_id}/audio/1", b"sound")
    running.database.close()
    made = make_backup(running.settings, tmp_path / "pg.tar")
    assert made["database"] == "postgresql"
    target = into(tmp_path / "target", **reached())
    restore_backup(target, tmp_path / "pg.tar", force=False)
    with pytest.raises(Conflict):
        restore_backup(target, tmp_path / "pg.tar", force=False)
    restore_backup(target, tmp_path / "pg.tar", force=True)
    database = Database(target)
    try:
        with database.read() as connection:
            names = connection.execute(sa.text("SELECT external_id FROM tenants")).scalars().all()
        assert list(names) == ["kept"]
    finally:
        database.close()
    assert Blobs(target).read(f"{account.tenant_id}/audio/1") == b"sound"


def test_without_the_programs_of_postgresql_it_says_so(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = RunningServer(tmp_path / "pg", database_url=postgresql_url)
    running.database.close()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unavailable, match="pg_dump is not installed"):
        make_backup(running.settings, tmp_path / "pg.tar")
    assert not list(tmp_path.glob("pg.tar*"))


def made_of(settings: Settings, schema: str, path: Path) -> Database:
    """A backup of an installation with that schema, a row in every table and a blob; its database."""
    database = Database(settings)
    migrate.migrate(database, schema)
    fill(database)
    Blobs(settings).put("kept/audio/1", b"sound")
    make_backup(settings, path)
    return database


@pytest.mark.postgresql
@pytest.mark.parametrize("schema", ["0001", "0024", "0025"])
def test_a_backup_of_before_an_upgrade_replaces_what_came_of_it(
    postgresql_url: str, tmp_path: Path, schema: str
) -> None:
    settings = into(tmp_path / "upgraded", database_url=postgresql_url)
    database = made_of(settings, schema, tmp_path / "before.tar")
    migrate.migrate(database)
    with database.write() as connection:
        # What a release makes that this one does not know.
        connection.exec_driver_sql("CREATE TABLE of_a_newer (id uuid PRIMARY KEY REFERENCES camera_streams (id))")
    Blobs(settings).put("later/audio/1", b"later")
    restore_backup(settings, tmp_path / "before.tar", force=True)
    assert migrate.current_revision(database) == schema
    with database.read() as connection:
        assert not {"of_a_newer", "camera_tally"} & set(sa.inspect(connection).get_table_names())
    assert [each.key for each in Blobs(settings).list_all()] == ["kept/audio/1"]
    migrate.migrate(database)
    assert migrate.trouble(database) == ""
    database.close()


@pytest.mark.postgresql
def test_a_restore_that_fails_leaves_everything_as_it_was(postgresql_url: str, tmp_path: Path) -> None:
    settings = into(tmp_path / "kept", database_url=postgresql_url)
    database = made_of(settings, migrate.newest_revision(), tmp_path / "before.tar")
    Blobs(settings).put("later/audio/1", b"later")
    (settings.data_dir / "index" / "one").mkdir(parents=True)
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE later (id integer)")
    with database.read() as connection:
        connection.exec_driver_sql("SELECT * FROM tenants").all()
        with pytest.raises(Unavailable, match="lock timeout"):
            restore_backup(settings, tmp_path / "before.tar", force=True)
    with database.read() as connection:
        assert "later" in sa.inspect(connection).get_table_names()
    assert Blobs(settings).read("later/audio/1") == b"later"
    assert (settings.data_dir / "index" / "one").is_dir()
    restore_backup(settings, tmp_path / "before.tar", force=True)
    with database.read() as connection:
        assert "later" not in sa.inspect(connection).get_table_names()
    database.close()


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


@pytest.mark.postgresql
@pytest.mark.parametrize("schema", ["0001", "0020", "head"])
def test_a_restore_waits_for_the_servers_of_any_release_to_be_stopped(
    postgresql_url: str, tmp_path: Path, schema: str
) -> None:
    """Also of one whose schema this Parley cannot work with: then a restore is what its message tells people to do."""
    settings = into(tmp_path / "here", database_url=postgresql_url)
    database = made_of(settings, schema, tmp_path / "before.tar")
    with database.write() as connection:
        connection.execute(sa.text("UPDATE workers SET last_seen_at = now()"))
    with pytest.raises(Unavailable, match="server works"):
        restore_backup(settings, tmp_path / "before.tar", force=True)
    with database.write() as connection:
        connection.execute(sa.text("UPDATE workers SET last_seen_at = now() - interval '1 hour'"))
    restore_backup(settings, tmp_path / "before.tar", force=True)
    database.close()


_NEWER_RESTORE = r"""#!/bin/sh
{program} "$@" || exit
for word in "$@"; do
  case $word in
    --file=*) sed -i '0,/^SET statement_timeout/s//SET transaction_timeout = 0;\n&/' "${{word#--file=}}";;
  esac
done
"""
"""What a newer one writes."""


@pytest.mark.postgresql
def test_what_programs_of_a_newer_postgresql_set_is_left_out_for_an_older_server(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = into(tmp_path / "here", database_url=postgresql_url)
    made_of(settings, "head", tmp_path / "backup.tar").close()
    newer = tmp_path / "newer" / "pg_restore"
    newer.parent.mkdir()
    newer.write_text(_NEWER_RESTORE.format(program=shutil.which("pg_restore")), encoding="utf-8")
    newer.chmod(0o755)
    monkeypatch.setenv("PATH", f"{newer.parent}{os.pathsep}{os.environ['PATH']}")
    suited: list[bytes] = []
    suit = postgresql_dumps._suit

    def seen(script: Path, server_version: int) -> None:
        assert b"\nSET transaction_timeout = 0;\n" in script.read_bytes()
        suit(script, min(server_version, 160_000))
        suited.append(script.read_bytes())

    monkeypatch.setattr(postgresql_dumps, "_suit", seen)
    restore_backup(settings, tmp_path / "backup.tar", force=True)
    assert b"transaction_timeout" not in suited[0]
    database = Database(settings)
    assert migrate.is_current(database)
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
