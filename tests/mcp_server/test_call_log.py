"""The recorder of tool calls over real databases: nothing is lost that can be kept, and no call fails by its log."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel
from sqlalchemy import event

from mcp_server import call_log
from mcp_server.call_log import Caller, CallLog
from mcp_server.registry import ToolError
from store import database as store_database
from store.database import Database
from store.ids import new_id
from store.settings import Settings
from store.tool_calls import ToolCall
from tests.store.conftest import database as database
from tests.store.test_tool_calls import add_tenant, listed
from tests.support.migrated import migrated_sqlite

WAIT_S = 120.0


class Found(BaseModel):
    items: list[int]


class One(BaseModel):
    id: str


def caller_of(tenant_id: str) -> Caller:
    return Caller(tenant_id, "key sk_live_AbCdEf", "2025-11-25", "an agent 1.0", new_id())


def note(log: CallLog, tenant_id: str, tool: str = "search_documents", **arguments: Any) -> None:
    with log.recording(caller_of(tenant_id), tool, arguments) as measured:
        measured.result(Found(items=[1, 2, 3]), characters=17)


def counts(database: Database, tenant_id: str) -> int:
    return len(listed(database, tenant_id, limit=100_000))


def wait_for_the_writer(log: CallLog, database: Database, tenant_id: str, count: int) -> None:
    """Until the log's own thread has written so many."""
    waited = threading.Event()
    for _ in range(int(WAIT_S / 0.02)):
        if counts(database, tenant_id) == count:
            return
        waited.wait(0.02)
    raise AssertionError(f"{counts(database, tenant_id)} of {count} were written")


def test_what_came_of_a_call_is_noted(database: Database) -> None:
    tenant_id, log = add_tenant(database), CallLog(database)
    caller = caller_of(tenant_id)
    raised = {
        "rank_qc": ToolError("from is after to; the token=abc is none"),
        "resources/read": MCPError(-32602, "no such resource"),
        "rank_people": ZeroDivisionError("a secret of the house"),
    }
    with log.recording(caller, "search_documents", {"query": "цены", "password": "hunter2"}) as measured:
        measured.result(Found(items=[1, 2]), characters=400)
    with log.recording(caller, "get_communication", None) as measured:
        measured.result(One(id="a"))
    for tool, error in raised.items():
        with pytest.raises(type(error)), log.recording(caller, tool, {}):
            raise error
    log.close()
    failed, resource, refused, one, found = listed(database, tenant_id)
    assert (found.tool, found.arguments) == ("search_documents", {"query": "цены", "password": "***"})
    assert (found.outcome, found.error, found.items, found.characters) == ("ok", None, 2, 400)
    assert (found.actor, found.protocol_version, found.client) == ("key sk_live_AbCdEf", "2025-11-25", "an agent 1.0")
    assert (found.request_id, found.tenant_id) == (caller.request_id, tenant_id)
    assert found.duration_ms >= 0
    assert (one.arguments, one.items, one.characters) == ({}, 1, None)
    assert (refused.outcome, refused.error) == ("error", "from is after to; the token=*** is none")
    assert (resource.outcome, resource.error) == ("error", "no such resource")
    assert failed.outcome == "error"
    assert "secret" not in str(failed.error)
    assert [each.items for each in (refused, resource, failed)] == [None] * 3


def test_what_a_client_says_of_itself_is_bounded_and_holds_no_secret(database: Database) -> None:
    tenant_id, log = add_tenant(database), CallLog(database)
    key = "sk_live_" + "aB3" * 12
    caller = Caller(tenant_id, "chat", "9" * 500, f"agent\x00 {key} " + "x" * 500, "r" * 500)
    with log.recording(caller, f"{key} \ud800" + "tool" * 100, {"q": "\x00\udc00"}):
        pass
    log.close()
    (call,) = listed(database, tenant_id)
    assert key not in repr(call)
    kept = (call.tool, call.client, call.protocol_version, call.request_id)
    assert [len(text or "") for text in kept] == [100, 200, 20, 128]


def test_calls_are_written_by_themselves_and_at_once_when_asked_for(database: Database) -> None:
    tenant_id, log = add_tenant(database), CallLog(database)
    with closing(log):
        note(log, tenant_id)
        wait_for_the_writer(log, database, tenant_id, 1)
        note(log, tenant_id)
        log.flush()
        assert counts(database, tenant_id) == 2
        note(log, tenant_id)
        wait_for_the_writer(log, database, tenant_id, 3)
    note(log, tenant_id)  # one that ended after the server
    assert counts(database, tenant_id) == 4


def test_no_call_of_many_threads_is_lost_or_written_twice(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "MAX_WAITING", 20)
    monkeypatch.setattr(call_log, "_WAIT_FOR_WRITER_S", WAIT_S)
    tenants, log = [add_tenant(database) for _ in range(4)], CallLog(database)
    with closing(log), ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: note(log, tenants[number % 4], number=number), range(800)))
    for number, tenant_id in enumerate(tenants):
        found = sorted(call.arguments["number"] for call in listed(database, tenant_id, limit=1000))
        assert found == list(range(number, 800, 4))


WRITER = """
import sys
from store.settings import Settings
from store.database import Database
from mcp_server.call_log import Caller, CallLog
log = CallLog(Database(Settings(data_dir=sys.argv[1], database_url=sys.argv[2], _env_file=None)))
for number in range(300):
    with log.recording(Caller(sys.argv[3], "chat"), "rank_qc", {"number": number}):
        pass
log.close()
"""


def test_two_processes_write_into_one_log(database: Database, tmp_path: Path) -> None:
    tenant_id = add_tenant(database)
    url = "" if database.is_sqlite else database.url
    command = [sys.executable, "-c", WRITER, str(tmp_path), url, tenant_id]
    for process in [subprocess.Popen(command) for _ in range(2)]:
        assert process.wait(timeout=120) == 0
    found = [call.arguments["number"] for call in listed(database, tenant_id, limit=1000)]
    assert sorted(found) == sorted([*range(300)] * 2)


@pytest.fixture
def brief(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A SQLite database that does not wait long for a lock."""
    monkeypatch.setattr(store_database, "BUSY_TIMEOUT_MS", 20)
    monkeypatch.setattr(call_log, "_PAUSE_AFTER_FAILURE_S", 0.05)
    migrated_sqlite(tmp_path)
    opened = Database(Settings(data_dir=tmp_path, _env_file=None))  # type: ignore[call-arg]
    yield opened
    opened.close()


@contextmanager
def locked(database: Database) -> Iterator[None]:
    with database.write():
        yield


@contextmanager
def full(database: Database) -> Iterator[None]:
    """SQLite's own bound on pages stands in for a disk without room."""

    def bound(connection: Any, pages: int) -> None:
        connection.execute(f"PRAGMA max_page_count={pages}").close()

    @event.listens_for(database._relaxed, "checkout")
    def at_checkout(connection: Any, *_: Any) -> None:
        bound(connection, 1)

    try:
        yield
    finally:
        event.remove(database._relaxed, "checkout", at_checkout)
        database._relaxed.dispose()


@pytest.mark.parametrize("trouble", [locked, full], ids=["locked", "full"])
def test_a_database_that_takes_nothing_fails_no_call_and_gets_them_all_afterwards(
    brief: Database, trouble: Any
) -> None:
    tenant_id, log = add_tenant(brief), CallLog(brief)
    with closing(log):
        with trouble(brief):
            text = "x" * 400
            for number in range(200):
                note(log, tenant_id, number=number, text=text)
                if number == 100:
                    log.flush()
            assert counts(brief, tenant_id) == 0
            log.flush()
        wait_for_the_writer(log, brief, tenant_id, 200)


def test_of_more_than_are_held_for_a_database_that_is_away_the_newest_are_kept(
    brief: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_log, "MAX_WAITING", 10)
    tenant_id, log = add_tenant(brief), CallLog(brief)
    with closing(log), locked(brief):
        for number in range(50):
            note(log, tenant_id, number=number)
    log.close()
    found = [call.arguments["number"] for call in listed(brief, tenant_id)]
    assert found == list(range(49, 39, -1))


def test_a_log_without_its_table_fails_no_call(brief: Database) -> None:
    tenant_id, log = add_tenant(brief), CallLog(brief)
    with brief.write() as connection:
        connection.execute(sa.text("DROP TABLE tool_calls"))
    note(log, tenant_id)
    log.close()
    note(log, tenant_id)


def test_one_row_that_the_database_refuses_takes_no_other_with_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant_id, log = add_tenant(database), CallLog(database)

    def broken(**values: Any) -> ToolCall:
        return ToolCall(**values | {"outcome": None}) if values["tool"] == "bad" else ToolCall(**values)

    monkeypatch.setattr(call_log, "ToolCall", broken)
    for tool in ("first", "bad", "last"):
        note(log, tenant_id, tool)
    log.close()
    assert [call.tool for call in listed(database, tenant_id)] == ["last", "first"]


def test_arguments_that_cannot_be_kept_fail_no_call(database: Database) -> None:
    tenant_id, log = add_tenant(database), CallLog(database)
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}

    class Hostile:
        def __str__(self) -> str:
            raise RuntimeError

    note(log, tenant_id, deep=deep)
    note(log, tenant_id, hostile=Hostile())
    log.close()
    assert counts(database, tenant_id) == 1
