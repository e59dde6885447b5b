"""The export of an account: everything that it has, nothing that opens a door, gone after a day."""

from __future__ import annotations

import io
import json
import time
import zipfile
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from ingest.account_export import _LEFT_OUT, _WITH_COMMUNICATION
from store import account_exports, account_rows
from store.blobs import Blobs
from store.database import now
from tests.contract.access import SECRET, SOUND, make_owner
from tests.support.server import Account, RunningServer

EXPORTS = "/public/v1/account/exports"
WAIT_S = 180.0


def finished(account: Account, export_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        record: dict[str, Any] = account.get(f"{EXPORTS}/{export_id}").json()
        if record["status"] in ("success", "error"):
            return record
        time.sleep(0.1)
    raise AssertionError(f"the export did not end:\n{account.server.log()[-4000:]}")


def archive_of(account: Account) -> zipfile.ZipFile:
    answer = account.post(EXPORTS)
    assert answer.status_code == 202, answer.text
    record = finished(account, answer.json()["id"])
    assert record["status"] == "success", record
    file = account.get(f"{EXPORTS}/{record['id']}/file")
    assert file.status_code == 200
    assert len(file.content) == record["size_bytes"]
    assert file.headers["Content-Disposition"].startswith('attachment; filename="parley-export-')
    return zipfile.ZipFile(io.BytesIO(file.content))


def lines(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read(name).splitlines()]


@pytest.fixture(scope="module")
def owner(server: RunningServer) -> Account:
    return make_owner(server.new_client("owner of an export")).account


def test_it_has_everything_and_no_secret(owner: Account, new_account: Any) -> None:
    stranger: Account = new_account()
    stranger.add_document(stranger.new_space(), b"# Other\n\nA brickmoth.", "other.md")
    archive = archive_of(owner)
    assert archive.testzip() is None
    names = set(archive.namelist())
    with owner.server.database.read() as connection:
        counts = account_rows.count(owner.tenant_id, connection)
    calls = {each["id"]: each for each in lines(archive, "communications.jsonl")}
    assert len(calls) == counts["communications"]
    nested = {name: sum(len(call[place]) for call in calls.values()) for name, place in _WITH_COMMUNICATION.items()}
    assert nested == {name: counts.get(name, 0) for name in nested}
    exported = sum(len(archive.read(name).splitlines()) for name in names if name.endswith(".jsonl"))
    expected = sum(number for name, number in counts.items() if name not in (*_LEFT_OUT, *_WITH_COMMUNICATION))
    # What it is asked for leaves traces of its own meanwhile.
    assert abs(exported - expected) <= 5
    assert any(SECRET in json.dumps(each["content"]) for each in calls.values())
    for name in ("people/people.jsonl", "people/memory_and_promises.jsonl", "knowledge/chunks.jsonl"):
        assert SECRET in archive.read(name).decode(), name
    for name in ("billing/transactions.jsonl", "cameras/streams.jsonl", "chats/messages.jsonl", "account.json"):
        assert name in names
    assert not any("visitors" in name for name in names), "nobody else may tell the people before a camera apart"
    recordings = [name for name in names if name.startswith("files/recordings/")]
    assert recordings
    assert any(archive.read(name) == SOUND for name in recordings)
    assert any(name.startswith("files/documents/") for name in names)
    assert all(not name.startswith(("/", "..")) and ".." not in name for name in names)

    everything = b"".join(archive.read(name) for name in names)
    assert b"brickmoth" not in everything
    assert owner.made.api_key.encode() not in everything
    assert b"key_hash" not in everything
    assert b"signing_secret" not in everything


def test_one_is_made_at_a_time_and_only_its_account_may_have_it(account: Account, new_account: Any) -> None:
    first, second = account.post(EXPORTS).json(), account.post(EXPORTS).json()
    assert first["id"] == second["id"] or first["status"] == "success"
    stranger: Account = new_account()
    for path in (f"{EXPORTS}/{first['id']}", f"{EXPORTS}/{first['id']}/file"):
        assert stranger.get(path).status_code == 404
    assert stranger.request("DELETE", f"{EXPORTS}/{first['id']}").status_code == 404
    assert stranger.get(EXPORTS).json() == {"items": []}
    assert finished(account, first["id"])["status"] == "success"
    part = account.get(f"{EXPORTS}/{first['id']}/file", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.headers["Content-Type"], part.content[:2]) == (206, "application/zip", b"PK")


def test_it_is_gone_after_a_day_or_when_it_is_deleted(account: Account) -> None:
    export_id = account.post(EXPORTS).json()["id"]
    record = finished(account, export_id)
    assert record["expires_at"] is not None
    with account.server.database.write() as connection:
        table = account_exports.account_exports
        over = sa.update(table).where(table.c.id == export_id).values(expires_at=now() - timedelta(seconds=1))
        connection.execute(over)
    deadline = time.monotonic() + WAIT_S
    while account.get(f"{EXPORTS}/{export_id}").status_code != 404:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    later = finished(account, account.post(EXPORTS).json()["id"])
    assert account.request("DELETE", f"{EXPORTS}/{later['id']}").status_code == 204
    assert account.get(f"{EXPORTS}/{later['id']}/file").status_code == 404
    blobs = Blobs(account.server.settings)
    while list(blobs.list(f"{account.tenant_id}/exports")):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_until_it_is_ready_there_is_no_file(account: Account) -> None:
    with account.server.database.write() as connection:
        export = account_exports.create(account.tenant_id, connection, actor="test")
    answer = account.get(f"{EXPORTS}/{export.id}/file")
    assert answer.status_code in (200, 409)
    if answer.status_code == 409:
        assert answer.json()["error"]["code"] == "export_not_ready"
    # Nobody started it: the sweeper does.
    assert finished(account, export.id)["status"] == "success"


def test_it_is_built_a_row_at_a_time(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rows than are read at once come out whole, each once."""
    with account.server.database.write() as connection:
        from store import audit

        for number in range(1203):
            audit.add(account.tenant_id, connection, actor="test", action="test.done", details={"number": number})
    found = [each["details"] for each in lines(archive_of(account), "audit.jsonl") if each["action"] == "test.done"]
    assert sorted(each["number"] for each in found) == list(range(1203))
