"""`parley move`: from files to PostgreSQL, a bucket and Qdrant, and back, with nothing lost or changed."""

from __future__ import annotations

import json
import subprocess
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from api import commands_moving
from ingest.index_state import read_state
from rag.index_places import FolderPlace
from store import account_rows, accounts, index_work, kb_spaces, migrate, moved_accounts, moves
from store.blobs import Blobs
from store.camera_events import EVENT_PICTURES
from store.database import Database, now
from store.errors import Conflict
from store.settings import Settings
from tests.contract.recordings import tone, wav
from tests.support import pooler, postgresql
from tests.support.bucket import running_bucket
from tests.support.filled import fill
from tests.support.forks import run_parley
from tests.support.qdrant import running_qdrant
from tests.support.server import Account, RunningServer
from tests.support.talks import ANNA, BORIS, add_talk, fact, promise

WAIT_S = 300.0
PAGE = "The gravelmoth of the 5th of May costs 1 234 roubles — ровно столько."


@pytest.fixture(scope="module")
def bucket_url() -> Iterator[str]:
    with running_bucket() as bucket:
        yield bucket.url


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, bucket_url: str) -> Iterator[tuple[RunningServer, Account, str]]:
    """A server over files, with an account of its own and a document, a call, an analysed talk and money spent; it is
    stopped, and nothing changes it. (`bucket_url`: its commands must know where the bucket is.)"""
    server = RunningServer(tmp_path_factory.mktemp("first"), sweep_s="0.5")
    try:
        server.start()
        account = server.new_client("moves", email="owner@moves.example", features=["kb", "qc", "memory"])
        space = account.new_space()
        document = account.add_document(space, PAGE.encode(), "page.md")
        assert document["status"] == "success"
        account.finished_task(account.upload_audio(wav(tone(1)), "call.wav").json()["task_id"])
        add_talk(
            account,
            people={"A": ANNA, "B": BORIS},
            turns=[("A", "Where is my gravelmoth?"), ("B", "I shall send it tomorrow.")],
            promises=[promise("send it tomorrow", "B", quote="I shall send it tomorrow.", idx=1)],
            facts=[fact("waits for a gravelmoth", "A", quote="Where is my gravelmoth?")],
            score_pct=80.0,
        )
        wait_until_filled(server)
        server.stop()
        yield server, account, space
    finally:
        server.close()


def moved(server: RunningServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_parley(["move", *arguments], server.environment, WAIT_S)


def rows_of(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return {row["what"]: row for row in json.loads(done.stdout)}


def answers(server: RunningServer, account: Account, space: str) -> dict[str, Any]:
    """What the account sees of itself."""
    seen = Account(server, account.made)
    document = seen.get(f"/public/v1/kb/spaces/{space}/documents").json()["items"][0]
    return {
        "balance": seen.balance(),
        "debits": seen.debits(),
        "document": {key: document[key] for key in ("id", "title", "status", "chunk_count") if key in document},
        "communications": seen.get("/public/v1/communications/list").json(),
        "commitments": seen.get("/public/v1/commitments").json(),
        "found": found(seen, "gravelmoth"),
    }


def found(account: Account, query: str) -> list[dict[str, Any]]:
    """Without the addresses of this server."""
    answer = account.call_tool("search_documents", query=query)["result"]["content"][0]["text"]
    items = json.loads(answer)["items"]
    assert items
    return [{key: item[key] for key in ("document_id", "chunk_id", "title", "snippet")} for item in items]


def wait_until_filled(server: RunningServer) -> None:
    deadline = time.monotonic() + WAIT_S
    while (state := read_state(server.settings)) is None or state.building is not None:
        assert time.monotonic() < deadline, state
        time.sleep(0.1)


def refills(server: RunningServer, settings: Settings) -> list[index_work.Refill]:
    """What the index of the installation over there is to be filled with, by its notes."""
    state = read_state(server.settings)
    assert state is not None
    database = Database(settings)
    try:
        with database.read() as connection:
            return index_work.list_refills(connection, state.serving)
    finally:
        database.close()


@contextmanager
def reached_by_pooler(cluster: str, server: RunningServer) -> Iterator[None]:
    """A server's commands go by way of a pooler meanwhile, where one is installed."""
    if pooler.program() is None:
        yield
        return
    before, direct = server.environment, server.environment["PARLEY_DATABASE_URL"]
    with pooler.running_pooler(cluster, sessions=4) as pattern:
        url = pattern.format(name=postgresql.name_of(direct))
        server.environment = before | {"PARLEY_DATABASE_URL": url, "PARLEY_DATABASE_DIRECT_URL": direct}
        yield
    server.environment = before


def test_everything_goes_and_comes_back(
    first: tuple[RunningServer, Account, str], tmp_path: Path, postgresql_cluster: str, bucket_url: str
) -> None:
    server, account, space = first
    before = answers(server.start(), account, space)
    refused = moved(server, "--data-dir", str(tmp_path / "other"))
    assert refused.returncode == 1
    assert "server is at work" in refused.stderr
    server.stop()

    database_url, there = postgresql.new_database(postgresql_cluster), tmp_path / "there"
    with running_qdrant() as qdrant:
        arguments = ["--database-url", database_url, "--blob-url", bucket_url, "--qdrant-url", qdrant.url]
        arguments += ["--data-dir", str(there)]
        rows = rows_of(moved(server, *arguments, "--json"))
        assert all(row["same"] for row in rows.values())
        assert (rows["tenants"]["there"], rows["kb_documents"]["there"], rows["blobs"]["there"]) == (1, 1, 2)
        assert rows["communications"]["there"] == 2
        assert rows["index"]["there"] > 0
        # Again: nothing is there twice.
        assert rows_of(moved(server, *arguments, "--json")) == rows

        values = {"database_url": database_url, "blob_url": bucket_url, "qdrant_url": qdrant.url}
        # A further machine has the key by its setting alone.
        secret = b64encode((server.data_dir / "secret.key").read_bytes()).decode()
        further = RunningServer(tmp_path / "further", role="api", secret_key=f"base64:{secret}", **values)
        try:
            assert answers(further.start(), account, space) == before
        finally:
            further.close()
        assert not (tmp_path / "further" / "secret.key").exists()
        other = RunningServer(there, sweep_s="0.5", **values)
        try:
            assert refills(server, other.settings) == []
            assert answers(other.start(), account, space) == before
            seen = Account(other, account.made)
            seen.add_document(space, b"# A second page\n\nWritten in PostgreSQL.", "second.md")
            after = answers(other, account, space)
            wait_until_filled(other)
            other.stop()
            assert "the index is filled again" not in other.log()
            back = tmp_path / "back"
            said = moved(other, "--data-dir", str(back))
            assert said.returncode == 0, said.stderr
            assert "nothing is embedded again" in said.stdout
            with reached_by_pooler(postgresql_cluster, other):
                rows = rows_of(moved(other, "--data-dir", str(back), "--json"))
            assert all(row["same"] for row in rows.values())
            assert (rows["kb_documents"]["there"], rows["blobs"]["there"]) == (2, 3)
        finally:
            other.close()
    last = RunningServer(back, sweep_s="0.5")
    try:
        assert answers(last.start(), account, space) == after
        wait_until_filled(last)
        assert "the index is filled again" not in last.log()
    finally:
        last.close()


def test_an_index_that_does_not_go_along_is_said_and_left_to_the_first_start(
    first: tuple[RunningServer, Account, str], tmp_path: Path
) -> None:
    server, _, _ = first
    never = RunningServer(tmp_path / "never started")
    never.new_client("early")
    never.close()
    said = moved(never, "--data-dir", str(tmp_path / "one"))
    assert said.returncode == 0, said.stderr
    assert "the index is not moved, the first start makes it: there is none here yet" in said.stderr
    assert "The first start fills the index" in said.stdout

    server.environment["PARLEY_EMBEDDING_MODEL"] = "openai/text-embedding-3-small"
    try:
        rows = rows_of(moved(server, "--data-dir", str(tmp_path / "two"), "--json"))
    finally:
        del server.environment["PARLEY_EMBEDDING_MODEL"]
    assert "index" not in rows
    settings = Settings(data_dir=tmp_path / "two", _env_file=None)  # type: ignore[call-arg]
    assert FolderPlace(settings).names() == []
    # Of the model that is wanted there, and of no other.
    assert refills(server, settings) == []
    database = Database(settings)
    with database.read() as connection:
        assert len(index_work.list_refills(connection, "openai-text-embedding-3-small")) == 1
    database.close()


def test_an_account_whose_index_is_damaged_is_left_to_the_first_start_alone(
    first: tuple[RunningServer, Account, str], tmp_path: Path
) -> None:
    server, account, _ = first
    rows_of(moved(server, "--data-dir", str(tmp_path / "damaged"), "--json"))
    damaged = RunningServer(tmp_path / "damaged")
    (shard,) = damaged.data_dir.glob(f"index/*/shards/{account.tenant_id}")
    for path in shard.rglob("*"):
        if path.is_file():
            path.write_bytes(b"broken")
    said = moved(damaged, "--data-dir", str(tmp_path / "there"), "--json")
    damaged.close()
    assert rows_of(said)["index"]["there"] == 0
    assert f"the index of {account.tenant_id} is not moved" in said.stderr
    settings = Settings(data_dir=tmp_path / "there", _env_file=None)  # type: ignore[call-arg]
    assert [each.tenant_id for each in refills(server, settings)] == [account.tenant_id]


def test_it_waits_for_no_qdrant_and_for_nobody_who_has_the_index(
    first: tuple[RunningServer, Account, str], tmp_path: Path
) -> None:
    server, _, _ = first
    away = moved(server, "--data-dir", str(tmp_path / "away"), "--qdrant-url", "http://127.0.0.1:9")
    assert away.returncode == 1
    assert "cannot be reached" in away.stderr
    place = FolderPlace(server.settings)
    (name,) = place.names()
    made_for = place.made_for(name)
    assert made_for is not None
    index = place.open_made(name, made_for)
    try:
        taken = moved(server, "--data-dir", str(tmp_path / "taken"))
    finally:
        index.close()
    assert taken.returncode == 1
    assert "in use by process" in taken.stderr
    settings = Settings(data_dir=tmp_path / "taken", _env_file=None)  # type: ignore[call-arg]
    assert len(refills(server, settings)) == 1, "what was not moved is made by the first start"
    rows = rows_of(moved(server, "--data-dir", str(tmp_path / "taken"), "--json"))
    assert rows["index"]["same"]
    assert refills(server, settings) == []


def test_a_server_that_came_and_went_meanwhile_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index_moved = commands_moving._index_moved

    def come_and_go(*arguments: Any) -> Any:
        server.start()
        server.stop()
        return index_moved(*arguments)

    monkeypatch.setattr(commands_moving, "_index_moved", come_and_go)
    with closing(RunningServer(tmp_path / "here")) as server:
        server.start()
        server.stop()
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(Conflict, match="at work meanwhile"):
            commands_moving.move(data_dir=tmp_path / "there", as_json=True)


def test_one_that_is_broken_off_goes_on(
    first: tuple[RunningServer, Account, str], tmp_path: Path, postgresql_url: str
) -> None:
    server, _, _ = first
    source = Database(server.settings)
    settings = Settings(database_url=postgresql_url, data_dir=tmp_path / "there", _env_file=None)  # type: ignore[call-arg]
    target = Database(settings)
    tables: list[str] = []

    def tell(what: str, _count: int) -> None:
        tables.append(what)
        if len(tables) == 20:
            raise KeyboardInterrupt

    moves.prepare(source, target)
    with pytest.raises(KeyboardInterrupt):
        moves.move_rows(source, target, tell)
    own, other = Blobs(server.settings), Blobs(settings)
    assert not all(part.is_whole for part in moves.compare(source, target, own, other))
    moves.prepare(source, target)
    moves.move_rows(source, target, lambda what, count: None)
    moves.move_blobs(own, other, moves.accounts_of(source), lambda what, count: None)
    assert [part for part in moves.compare(source, target, own, other) if not part.is_whole] == []
    source.close()
    target.close()


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_what_one_row_alone_may_have_can_go_to_another_between_two_moves(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgresql_url") if kind == "postgresql" else ""
    there = Database(Settings(data_dir=tmp_path / "there", database_url=url, _env_file=None))  # type: ignore[call-arg]
    server = RunningServer(tmp_path / "here")
    clients = [server.new_client(name, email=f"{name}@shop.example") for name in ("one", "two", "three")]
    emails: list[str | None]
    for emails in (["one@shop.example", "two@shop.example", None], ["two@shop.example", None, "one@shop.example"]):
        with server.database.write() as connection:
            for client in clients:
                accounts.update_tenant(client.tenant_id, connection, email=None)
            for client, email in zip(clients, emails, strict=True):
                accounts.update_tenant(client.tenant_id, connection, email=email)
        moves.prepare(server.database, there)
        moves.move_rows(server.database, there, lambda what, count: None)
        with there.read() as connection:
            found = [accounts.get_tenant(client.tenant_id, connection) for client in clients]
        assert [tenant and tenant.email for tenant in found] == emails
    there.close()
    server.close()


def older_stays_as_it_is(server: RunningServer, folder: Path) -> bool:
    """Another installation, of a release before, is not brought up to date by a move that was mistyped."""
    older = Database(Settings(data_dir=folder, _env_file=None))  # type: ignore[call-arg]
    migrate.migrate(older, "0020")
    fill(older)
    refused = moved(server, "--data-dir", str(folder))
    assert "another installation" in refused.stderr
    revision = migrate.current_revision(older)
    older.close()
    return revision == "0020"


def test_it_mixes_no_installations_and_sees_what_differs(
    first: tuple[RunningServer, Account, str], tmp_path: Path
) -> None:
    server, _, _ = first
    strange = RunningServer(tmp_path / "strange")
    strange.new_client("somebody-else")
    strange.close()
    refused = moved(server, "--data-dir", str(tmp_path / "strange"))
    assert refused.returncode == 1
    assert "another installation" in refused.stderr
    assert older_stays_as_it_is(server, tmp_path / "older")
    same = moved(server)
    assert same.returncode == 1
    assert "to where it is" in same.stderr
    # What the source does not have, or has otherwise, is as in the source after another move.
    there = tmp_path / "there"
    rows = rows_of(moved(server, "--data-dir", str(there), "--json"))
    settings = Settings(data_dir=there, _env_file=None)  # type: ignore[call-arg]
    changed = Database(settings)
    tenant_id = first[1].tenant_id
    with changed.write() as connection:
        connection.exec_driver_sql("UPDATE kb_documents SET title = 'another'")
        connection.exec_driver_sql("DELETE FROM content_items")
        kb_spaces.create_space(tenant_id, connection, name="A space that is only there", description="")
    Blobs(settings).put(f"{tenant_id}/audio/only-there", b"only there")
    assert {part.name for part in whole(server, settings) if not part.is_whole} == {
        "content_items",
        "kb_documents",
        "kb_spaces",
        "blobs",
    }
    assert rows_of(moved(server, "--data-dir", str(there), "--json")) == rows
    with changed.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO workers (executor_id, process_id, last_seen_at, takes) VALUES (?, ?, ?, ?)",
            ("elsewhere-1", 1, now().replace(tzinfo=None).isoformat(" "), "[]"),
        )
    beside = moved(server, "--data-dir", str(there))
    assert beside.returncode == 1
    assert "works on the target" in beside.stderr
    changed.close()


def whole(server: RunningServer, settings: Settings) -> list[moves.Part]:
    source, target = Database(server.settings), Database(settings)
    try:
        parts = list(moves.compare(source, target, Blobs(server.settings), Blobs(settings)))
    finally:
        source.close()
        target.close()
    return parts


def keys_of(settings: Settings) -> set[str]:
    return {entry.key for entry in Blobs(settings).list_all()}


def delete(server: RunningServer, tenant_id: str) -> None:
    """As `ingest/account_deletion.py` does."""
    with server.database.write() as connection:
        account_rows.begin_deletion(tenant_id, connection)
        for table in account_rows.tables():
            account_rows.delete_some(tenant_id, connection, table, limit=500)
        account_rows.end_deletion(tenant_id, connection)
    for prefix in (tenant_id, f"{EVENT_PICTURES}/{tenant_id}"):
        Blobs(server.settings).delete_prefix(prefix)


@pytest.mark.parametrize("is_broken_off", [False, True])
def test_what_was_deleted_here_since_goes_there_too(tmp_path: Path, is_broken_off: bool) -> None:
    """Whole accounts and pictures of cameras, also by one that begins after the rows were like here."""
    server = RunningServer(tmp_path / "source")
    stays, goes = server.new_client("stays"), server.new_client("goes")
    blobs = Blobs(server.settings)
    for account in (stays, goes):
        blobs.put(f"{account.tenant_id}/audio/1", b"sound")
        for number in range(2):
            blobs.put(f"{EVENT_PICTURES}/{account.tenant_id}/camera/{number}.jpg", b"picture")
    there = Settings(data_dir=tmp_path / "there", _env_file=None)  # type: ignore[call-arg]
    arguments = ("--data-dir", str(there.data_dir), "--json")
    assert rows_of(moved(server, *arguments))["tenants"]["there"] == 2
    assert len(keys_of(there)) == 6

    delete(server, goes.tenant_id)
    blobs.delete(f"{EVENT_PICTURES}/{stays.tenant_id}/camera/0.jpg")  # over its time
    target = Database(there)
    if is_broken_off:
        carried = moved_accounts.carried(there.data_dir)
        moves.prepare(server.database, target, carried=carried)
        moves.move_rows(server.database, target, lambda what, count: None)
    rows = rows_of(moved(server, *arguments))
    assert all(row["same"] for row in rows.values())
    assert rows["tenants"]["there"] == 1
    assert keys_of(there) == keys_of(server.settings)
    assert moves.accounts_of(target) == {stays.tenant_id}

    # What came to be there alone is nothing that was deleted here.
    other = RunningServer(there.data_dir)
    made = other.new_client("made there")
    refused = moved(server, *arguments)
    assert refused.returncode == 1
    assert "another installation" in refused.stderr
    assert moves.accounts_of(target) == {stays.tenant_id, made.tenant_id}
    for each in (server, other):
        each.close()
    target.close()


def test_work_that_a_database_of_jobs_knows_as_done_is_done_again(tmp_path: Path) -> None:
    settings = {"sweep_s": "0.5", "heartbeat_s": "0.5", "takeover_after_s": "2"}
    settings["jobs_database_url"] = f"sqlite:///{tmp_path / 'apart' / 'jobs.sqlite3'}"
    here, there = (RunningServer(tmp_path / name, **settings) for name in ("here", "there"))
    try:
        account = here.start().new_client("moves")
        document_id = account.upload_document(account.new_space(), PAGE.encode(), "page.md").json()["id"]
        here.rest()  # with its work begun
        here.kill()
        time.sleep(2)  # until it is not taken for alive
        for _ in range(2):  # there it is done meanwhile
            rows_of(moved(here, "--data-dir", str(there.data_dir), "--json"))
            there.start()
            assert Account(there, account.made).finished_document(document_id)["status"] == "success"
            there.stop()
    finally:
        here.close()
        there.close()
