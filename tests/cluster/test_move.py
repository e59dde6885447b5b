"""`parley move`: from one machine's files to PostgreSQL and a bucket, and back, with nothing lost or changed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store import kb_spaces, moves
from store.blobs import Blobs
from store.database import Database, now
from store.settings import Settings
from tests.contract.recordings import tone, wav
from tests.support import postgresql
from tests.support.bucket import running_bucket
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
        server.stop()
        yield server, account, space
    finally:
        server.close()


def moved(server: RunningServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "api.command_line", "move", *arguments]
    return subprocess.run(command, env=server.environment, capture_output=True, text=True, check=False, timeout=WAIT_S)


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
    }


def wait_until_found(account: Account, word: str) -> None:
    """The index is made anew after a move."""
    deadline = time.monotonic() + WAIT_S
    while True:
        found = account.call_tool("search_documents", query=word)["result"]["content"][0]["text"]
        if word in found:
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.5)


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
    arguments = ["--database-url", database_url, "--blob-url", bucket_url, "--data-dir", str(there)]
    rows = rows_of(moved(server, *arguments, "--json"))
    assert all(row["same"] for row in rows.values())
    assert (rows["tenants"]["there"], rows["kb_documents"]["there"], rows["blobs"]["there"]) == (1, 1, 2)
    assert rows["communications"]["there"] == 2
    # Again: nothing is there twice.
    assert rows_of(moved(server, *arguments, "--json")) == rows

    other = RunningServer(there, sweep_s="0.5", database_url=database_url, blob_url=bucket_url)
    try:
        assert answers(other.start(), account, space) == before
        seen = Account(other, account.made)
        seen.add_document(space, b"# A second page\n\nWritten in PostgreSQL.", "second.md")
        wait_until_found(seen, "gravelmoth")
        after = answers(other, account, space)
        other.stop()
        back = tmp_path / "back"
        rows = rows_of(moved(other, "--data-dir", str(back), "--json"))
        assert all(row["same"] for row in rows.values())
        assert (rows["kb_documents"]["there"], rows["blobs"]["there"]) == (2, 3)
    finally:
        other.close()
    last = RunningServer(back, sweep_s="0.5")
    try:
        assert answers(last.start(), account, space) == after
    finally:
        last.close()


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
    # Noted there for the first start: the index is to be filled.
    return [part for part in parts if part.name != "index_work"]
