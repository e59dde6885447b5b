"""Deleting an account takes everything it has, wherever it is, and nothing of another's."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa

from store import account_rows, accounts, operators
from store.database import now
from tests.contract.access import SECRET, make_owner
from tests.contract.recordings import tone, wav
from tests.support.cabinet import signed_in
from tests.support.server import Account, RunningServer

WAIT_S = 180.0
OTHER = "brickmoth"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Callable[..., RunningServer]]:
    opened: list[RunningServer] = []

    def start(**settings: str) -> RunningServer:
        running = RunningServer(
            tmp_path / "server",
            sweep_s="0.5",
            job_poll_s="0.1",
            payment_provider="sandbox",
            mcp_requests_per_minute="100000",
            **settings,
        )
        opened.append(running)
        return running.start()

    yield start
    for running in opened:
        running.close()


def wait_until_deleted(server: RunningServer, tenant_id: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        with server.database.read() as connection:
            if accounts.get_tenant(tenant_id, connection) is None:
                return
        time.sleep(0.2)
    raise AssertionError(f"the account is still there:\n{server.log()[-4000:]}")


def rows_that_name(server: RunningServer, *needles: str) -> list[str]:
    """Every row of every table, in which one of the needles stands."""
    found = []
    with server.database.read() as connection:
        names = sa.inspect(connection).get_table_names()
        for name in names:
            for row in connection.execute(sa.text(f'SELECT * FROM "{name}"')):
                text = " ".join(str(value) for value in row).lower()
                found += [f"{name}: {needle}" for needle in needles if needle in text or _plain(needle) in text]
    return found


def _plain(needle: str) -> str:
    """A UUID as SQLite keeps it."""
    return needle.replace("-", "")


def files_that_name(server: RunningServer, *needles: str) -> list[str]:
    """Files of the data folder whose name or content has one of the needles. The log tells of ids, by design; SQLite's
    log of the jobs' database is written over from its beginning as other jobs come, and may name one until then."""
    found = []
    for path, content in server.files("*").items():
        if path.name in ("server.log", "jobs.sqlite3-wal"):
            continue
        for needle in needles:
            forms = (needle, _plain(needle))
            if any(form in str(path) or form.encode() in content for form in forms):
                found.append(f"{path}: {needle}")
    return found


def wait_until_no_file_names(server: RunningServer, *needles: str) -> None:
    """The log of SQLite begins anew a moment after the account's row is gone."""
    deadline = time.monotonic() + WAIT_S
    while found := files_that_name(server, *needles):
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def test_nothing_is_left_in_database_index_jobs_and_blobs(place: Callable[..., RunningServer]) -> None:
    server = place()
    owner = make_owner(server.new_client("to be deleted", name="Gone & Sons"))
    account = owner.account
    stays = server.new_client("to stay", name="Stays")
    space = stays.new_space()
    stays.add_document(space, f"# {OTHER}\n\nThe {OTHER} costs 40 roubles.".encode(), "stays.md")
    assert account.upload_audio(wav(tone(600))).status_code == 202  # in work while it is deleted
    soon = now() + timedelta(minutes=15)
    for email in ("gone@company.example", "both@company.example"):
        with server.database.write() as connection:
            operators.add(account.tenant_id, connection, email=email, name=None, role="viewer")
            operators.add_code(
                connection, email=email, operator_id=None, code_hash=email, leads_to="/", expires_at=soon
            )
    with server.database.write() as connection:
        operators.add(stays.tenant_id, connection, email="both@company.example", name=None, role="viewer")
    needles = (account.tenant_id, SECRET, "gone@company.example")
    assert rows_that_name(server, *needles) != []
    assert files_that_name(server, account.tenant_id) != []
    before = account_counts(server, stays)

    refused = account.request("DELETE", "/public/v1/account", json={"confirmation": "Gone"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "confirmation_mismatch")
    answer = account.request("DELETE", "/public/v1/account", json={"confirmation": "Gone & Sons"})
    assert (answer.status_code, answer.json()) == (202, {"status": "deleting"})
    # It is closed at once.
    assert account.get("/public/v1/settings").status_code == 401
    key = account.made.chat.public_key
    assert httpx2.get(server.url + "/widget/v1/config", params={"key": key}).status_code == 404

    wait_until_deleted(server, account.tenant_id)
    # A partner of the tests bears the word too, with a client of its own.
    left = [each for each in rows_that_name(server, *needles) if not partners(each)]
    assert left == []
    wait_until_no_file_names(server, account.tenant_id)
    assert account_counts(server, stays) == before
    assert "mailed_codes: both@company.example" in rows_that_name(server, "both@company.example")
    found = stays.call_tool("search_documents", query=f"What does the {OTHER} cost?")
    assert OTHER in json.dumps(found)
    assert SECRET not in json.dumps(stays.call_tool("search_documents", query=SECRET))


def partners(found: str) -> bool:
    tables = ("tenants", "chats", "tariff_versions", "tariff_rates", "integrations", "audit_entries")
    return found in [f"{table}: {SECRET}" for table in tables]


def account_counts(server: RunningServer, account: Account) -> dict[str, int]:
    with server.database.read() as connection:
        counts = account_rows.count(account.tenant_id, connection)
    return {name: number for name, number in counts.items() if name not in ("tool_calls", "index_work")}


def test_its_texts_are_written_over_in_the_files(place: Callable[..., RunningServer]) -> None:
    server = place()
    account = server.new_client("to be deleted", name="Gone")
    space = account.new_space()
    account.add_document(space, b"# Prices\n\nThe copperwhistle costs 40 roubles.", "prices.md")
    letter = ("letter.txt", b"The brasswhistle is in the letter.")
    uploaded = account.post("/public/v1/media", files={"file": letter})
    content = [{"label": "anna", "text": "The tinwhistle is late.", "media": [{"ref": uploaded.json()["ref"]}]}]
    answer = account.post(
        "/public/v1/communications",
        json={
            "kind": "email",
            "channel_type": "email",
            "speakers": [{"name": "Anna", "label": "anna"}],
            "content": content,
        },
    )
    assert answer.status_code == 202, answer.text
    time_limit = time.monotonic() + WAIT_S
    for tool, word in (("search_documents", "copperwhistle"), ("search_communications", "tinwhistle")):
        while word not in json.dumps(account.call_tool(tool, query=word)["result"]):
            assert time.monotonic() < time_limit
            time.sleep(0.1)
    words = ("copperwhistle", "brasswhistle", "tinwhistle")
    assert places_of(server, "copperwhistle") >= {"parley.sqlite3", "index", "blobs"}
    assert places_of(server, "brasswhistle") == {"blobs"}
    assert places_of(server, "tinwhistle") >= {"parley.sqlite3", "index"}
    assert account.request("DELETE", "/public/v1/account", json={"confirmation": "Gone"}).status_code == 202
    wait_until_deleted(server, account.tenant_id)
    assert rows_that_name(server, *words) == []
    wait_until_no_file_names(server, *words)
    server.stop()
    assert files_that_name(server, *words) == []


def places_of(server: RunningServer, word: str) -> set[str]:
    """The file or folder of the data folder in which the word stands; a database with its log is one."""
    found = files_that_name(server, word)
    return {each.split(":")[0].split("/")[0].removesuffix("-wal") for each in found}


def test_a_kill_in_the_middle_leaves_a_deletion_that_goes_on(place: Callable[..., RunningServer]) -> None:
    server = place()
    account = server.new_client("to be deleted", name="Gone")
    space = account.new_space()
    for number in range(3):
        account.add_document(space, f"# {number}\n\nA gravelmoth.".encode(), f"{number}.md")
    assert account.request("DELETE", "/public/v1/account", json={"confirmation": "Gone"}).status_code == 202
    server.kill()
    server.start()
    wait_until_deleted(server, account.tenant_id)
    assert rows_that_name(server, account.tenant_id) == []


def test_the_log_names_nobody_who_deletes_an_account_from_its_cabinet(place: Callable[..., RunningServer]) -> None:
    server = place()
    account = server.new_client("to be deleted", name="Gone")
    with signed_in(account, "owner", "anna@gone.example") as browser:
        answer = browser.request("DELETE", "/public/v1/account", json={"confirmation": "Gone"})
        assert answer.status_code == 202, answer.text
    wait_until_deleted(server, account.tenant_id)
    assert "an account is deleted with everything it has" in server.log()
    assert "anna@gone.example" not in server.log()
