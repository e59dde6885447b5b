"""The trial upload of the site page: its bounds, its result, and that nothing of it stays."""

from __future__ import annotations

import itertools
import json
import socket
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from api.trial import MOST_BYTES, PATH
from store import accounts, trials
from store.database import metadata, now
from store.trials import HOUSE_ID
from tests.contract.recordings import multipart, spoken, tone, wav, wav_of_size
from tests.support.server import JOB_S, Account, RunningServer

_addresses = itertools.count(2)
Visit = Callable[..., httpx2.Client]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of its own: trials and their bounds are the whole server's."""
    running = RunningServer(tmp_path_factory.mktemp("trial"), sweep_s="0.5", trusted_proxies="127.9.9.9")
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def visit(site: RunningServer) -> Iterator[Visit]:
    """Makes visitors, each at an address of their own, since the limit counts addresses."""
    opened: list[httpx2.Client] = []

    def make(address: str | None = None) -> httpx2.Client:
        number = next(_addresses)
        local = address or f"127.3.{number // 250 + 1}.{number % 250 + 1}"
        http = httpx2.Client(transport=httpx2.HTTPTransport(local_address=local), timeout=JOB_S, base_url=site.url)
        opened.append(http)
        return http

    yield make
    for http in opened:
        http.close()


def upload(visitor: httpx2.Client, audio: bytes, name: str = "call.wav", **headers: str) -> httpx2.Response:
    return visitor.post(PATH, files={"file": (name, audio)}, headers=headers)


def finished(visitor: httpx2.Client, token: str) -> dict[str, Any]:
    deadline = time.monotonic() + JOB_S
    while time.monotonic() < deadline:
        record: dict[str, Any] = visitor.get(f"{PATH}/{token}").json()
        if record["status"] == "error" or (
            record["status"] == "success" and record["summary_status"] not in ("pending", "processing")
        ):
            return record
        time.sleep(1)  # so many reads a minute are let in
    raise AssertionError(f"the trial did not end: {record}")


def error_of(answer: httpx2.Response) -> tuple[int, str, str | None]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["param"]


@pytest.mark.proves("addresses.trial", "trial.field")
def test_a_recording_is_sent_as_the_field_file_of_a_form(visit: Visit) -> None:
    visitor = visit()
    answer = upload(visitor, wav(tone(2)), "Звонок 1.wav")
    assert answer.status_code == 202, answer.text
    record = answer.json()
    assert record["status"] in ("pending", "processing")
    assert record["file_name"] == "Звонок 1.wav"
    assert visitor.get(f"{PATH}/{record['id']}").json()["id"] == record["id"]

    for bad in (
        {"files": {"audio": ("call.wav", b"RIFF")}},
        {"data": {"file": "no file"}},
        {"json": {"file": "x"}},
        {"content": b"RIFF", "headers": {"Content-Type": "audio/wav"}},
    ):
        refused = visitor.post(PATH, **bad)  # type: ignore[arg-type]
        assert refused.status_code == 400, refused.text
        assert refused.json()["error"]["param"] == "file"


@pytest.mark.proves("trial.size", "trial.413")
def test_a_file_of_sixteen_megabytes_is_taken_and_one_byte_more_is_413(visit: Visit) -> None:
    visitor = visit()
    assert MOST_BYTES == 16 * 1024 * 1024
    assert upload(visitor, wav_of_size(MOST_BYTES)).status_code == 202
    assert error_of(upload(visitor, wav_of_size(MOST_BYTES + 1))) == (413, "file_too_large", "file")


@pytest.mark.proves("trial.413")
def test_what_is_too_large_by_its_head_is_refused_before_it_is_read(site: RunningServer) -> None:
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
        head = (
            f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"
            f"Content-Length: {1024 * 1024 * 1024}\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert b" 413 " in connection.recv(100)


@pytest.mark.proves("trial.413")
def test_what_comes_without_a_length_is_cut_off_at_the_bound(visit: Visit) -> None:
    request = multipart(("file", wav_of_size(MOST_BYTES + 4096), "call.wav"))
    body = request["content"]

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 65536):
            yield body[start : start + 65536]

    answer = visit().post(PATH, content=pieces(), headers=request["headers"])
    assert error_of(answer) == (413, "file_too_large", "file")


@pytest.mark.proves("trial.rate")
def test_an_address_has_two_uploads_in_any_hour(visit: Visit, site: RunningServer) -> None:
    visitor, other = visit(), visit()
    # What is refused is no upload.
    assert upload(visitor, b"no audio at all").status_code == 400
    assert [upload(visitor, wav(tone(1))).status_code for _ in range(2)] == [202, 202]
    refused = upload(visitor, wav(tone(1)))
    assert error_of(refused)[:2] == (429, "rate_limit_exceeded")
    assert 3500 < int(refused.headers["Retry-After"]) <= 3601
    assert upload(other, wav(tone(1))).status_code == 202
    # An hour later the address has its places again.
    with site.database.write() as connection:
        table = trials.trial_addresses
        for row in connection.execute(sa.select(table)).all():
            earlier = [at - 3600 for at in row.uploads]
            mine = table.c.address_hash == row.address_hash
            connection.execute(sa.update(table).where(mine).values(uploads=earlier))
    assert upload(visitor, wav(tone(1))).status_code == 202


@pytest.mark.proves("trial.rate")
def test_behind_a_proxy_the_address_that_it_forwards_counts(visit: Visit) -> None:
    proxy = visit("127.9.9.9")
    for forwarded in ("203.0.113.1", "203.0.113.2"):
        statuses = [upload(proxy, wav(tone(1)), **{"X-Forwarded-For": forwarded}).status_code for _ in range(3)]
        assert statuses == [202, 202, 429]
    # A home's addresses of IPv6 are one.
    homes = [f"2001:db8:1:2::{number}" for number in (1, 2, 3)]
    assert [upload(proxy, wav(tone(1)), **{"X-Forwarded-For": home}).status_code for home in homes] == [202, 202, 429]
    # Who is no proxy may write there what they like.
    visitor = visit()
    statuses = [
        upload(visitor, wav(tone(1)), **{"X-Forwarded-For": f"203.0.113.{number}"}).status_code for number in (5, 6, 7)
    ]
    assert statuses == [202, 202, 429]


def test_no_address_is_written_down(visit: Visit, site: RunningServer) -> None:
    address = "127.4.5.6"
    assert upload(visit(address), wav(tone(1))).status_code == 202
    assert [path for path, content in site.files("parley.sqlite3*").items() if address.encode() in content] == []


@pytest.mark.models
@pytest.mark.proves("trial.result", "trial.kept-a-day")
def test_the_result_has_text_sound_and_summary_and_is_gone_after_a_day(visit: Visit, site: RunningServer) -> None:
    visitor = visit()
    audio = wav(spoken("01", 0, 20))
    token = upload(visitor, audio).json()["id"]
    record = finished(visitor, token)
    assert record["status"] == "success", record
    assert record["duration_ms"] == pytest.approx(20_000, abs=100)
    assert len(record["segments"]) > 1
    assert all(each["text"] for each in record["segments"])
    assert record["summary_status"] == "success"
    assert record["summary"]
    heard = visitor.get(f"{PATH}/{token}/audio", headers={"Range": "bytes=0-99"})
    assert (heard.status_code, heard.content) == (206, audio[:100])
    assert heard.headers["Cache-Control"] == "private, no-store"
    task_id = _task_of(site, token)
    assert _traces(site, task_id) != []

    with site.database.write() as connection:
        connection.execute(sa.update(trials.trials).values(expires_at=now() - timedelta(seconds=1)))
    deadline = time.monotonic() + 60
    while _traces(site, task_id) and time.monotonic() < deadline:
        time.sleep(1)
    assert _traces(site, task_id) == []
    for path in (f"{PATH}/{token}", f"{PATH}/{token}/audio"):
        assert visitor.get(path).status_code == 404
    assert _rows_of_house(site) == {}
    assert list((site.data_dir / "blobs" / HOUSE_ID).rglob("*.*")) == []
    found = [path for path in (site.data_dir / "blobs").rglob("*") if path.is_file() and HOUSE_ID in str(path)]
    assert found == []


def _task_of(site: RunningServer, token: str) -> str:
    from accounts.keys import Keyring

    with site.database.read() as connection:
        trial = trials.find(HOUSE_ID, connection, Keyring.of(site.settings).hash(token))
    assert trial is not None
    return trial.task_id


def _traces(site: RunningServer, task_id: str) -> list[str]:
    """Where something of the trial is left: rows of the house's, open work, files."""
    found = [name for name in _rows_of_house(site) if name not in ("balances",)]
    found += [str(path) for path in (site.data_dir / "blobs").rglob(task_id)]
    found += [str(path) for path in (site.data_dir / "work").rglob(task_id)]
    return found


def _rows_of_house(site: RunningServer) -> dict[str, int]:
    """How many rows of which table belong to the house, besides its balance of nothing."""
    counts = {}
    with site.database.read() as connection:
        for table in metadata.sorted_tables:
            if "tenant_id" in table.c and table.name != "balances":
                query = sa.select(sa.func.count()).select_from(table).where(table.c.tenant_id == HOUSE_ID)
                counts[table.name] = connection.execute(query).scalar_one()
    return {name: count for name, count in counts.items() if count}


@pytest.mark.proves("trial.kept-a-day")
def test_a_visitor_may_have_it_deleted_at_once(visit: Visit, site: RunningServer) -> None:
    visitor = visit()
    token = upload(visitor, wav(tone(30))).json()["id"]
    task_id = _task_of(site, token)
    assert visitor.delete(f"{PATH}/{token}").status_code == 204
    assert visitor.get(f"{PATH}/{token}").status_code == 404
    assert visitor.delete(f"{PATH}/{token}").status_code == 404
    assert list((site.data_dir / "blobs").rglob(task_id)) == []


def test_it_belongs_to_no_account_and_costs_nothing(visit: Visit, site: RunningServer) -> None:
    account = site.new_client("a customer")
    before = account.balance()
    visitor = visit()
    token = upload(visitor, wav(tone(1))).json()["id"]
    finished(visitor, token)
    assert account.balance() == before
    listed = account.get("/public/v1/communications/list", params={"from": "2020-01-01", "to": "2100-01-01"})
    assert token not in listed.text
    assert "call" not in listed.text
    with site.database.read() as connection:
        house = accounts.get_tenant(HOUSE_ID, connection)
        assert house is not None
        assert house.is_active
        assert accounts.list_keys(HOUSE_ID, connection) == []
        trial = trials.find(HOUSE_ID, connection, _hash(site, token))
    assert trial is not None
    task = account.get(f"/v1/audio/transcriptions/tasks/{trial.task_id}")
    assert task.status_code == 404
    assert account.get(f"/public/v1/media/{trial.communication_id}").status_code == 404


def _hash(site: RunningServer, token: str) -> str:
    from accounts.keys import Keyring

    return Keyring.of(site.settings).hash(token)


def test_no_link_is_known_without_its_token(visit: Visit, site: RunningServer) -> None:
    visitor = visit()
    token = upload(visitor, wav(tone(1))).json()["id"]
    assert len(token) >= 43
    with site.database.read() as connection:
        trial = trials.find(HOUSE_ID, connection, _hash(site, token))
    assert trial is not None
    for guess in (trial.id, trial.task_id, trial.communication_id, trial.token_hash, token[:-1], token + "A", "%00"):
        assert visitor.get(f"{PATH}/{guess}").status_code == 404
        assert visitor.get(f"{PATH}/{guess}/audio").status_code == 404
        assert visitor.delete(f"{PATH}/{guess}").status_code == 404
    assert [path for path, content in site.files("parley.sqlite3*").items() if token.encode() in content] == []
    assert token not in site.log()


@pytest.mark.parametrize("name", ["torn", "zip", "text", "empty", "page"])
def test_a_hostile_file_is_refused_and_hurts_nobody(visit: Visit, site: RunningServer, name: str) -> None:
    content = {
        "torn": wav(tone(3))[:60],
        "zip": b"PK\x03\x04" + bytes(5000),
        "text": b"[Script Info]\nffconcat version 1.0\nfile /etc/passwd\n",
        "empty": b"",
        "page": b"<html><script>alert(1)</script></html>",
    }[name]
    visitor = visit()
    answer = upload(visitor, content, "<script>alert(1)</script>.wav")
    assert answer.status_code in (400, 202), answer.text
    if answer.status_code == 202:
        assert finished(visitor, answer.json()["id"])["status"] in ("error", "success")
    assert visitor.get("/readyz").status_code == 200
    assert "passwd" not in json.dumps(answer.json())


def test_another_sites_form_uploads_nothing(visit: Visit) -> None:
    answer = upload(visit(), wav(tone(1)), **{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "origin_not_allowed"


def test_a_server_may_offer_no_trial(tmp_path: Path) -> None:
    running = RunningServer(tmp_path / "none", trial="false")
    try:
        running.start()
        answer = httpx2.post(running.url + PATH, files={"file": ("call.wav", wav(tone(1)))})
        assert answer.status_code == 404
    finally:
        running.close()


def test_accounts_are_as_they_were(account: Account) -> None:
    """The house is made at the first trial only."""
    with account.server.database.read() as connection:
        assert accounts.get_tenant(HOUSE_ID, connection) is None
