"""What a call costs: held with the upload, charged once when it is recognised, released where it is not."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from accounts import ledger
from ingest import calls
from store import accounts, billing, communications, transcriptions
from store.database import now
from store.errors import NotPermitted
from store.ids import new_id
from store.transcriptions import Task
from tests.contract.conftest import HeardCalls
from tests.contract.recordings import RATE, spoken, streamed_flac, tone, understated, wav
from tests.support.server import Account, RunningServer

RATE_A_SECOND = Decimal("0.02")


def upload(account: Account, audio: bytes) -> tuple[str, str]:
    """(task id, communication id)"""
    answer = account.upload_audio(audio, language="ru")
    assert answer.status_code == 202, answer.text
    return answer.json()["task_id"], answer.json()["communication_id"]


@pytest.mark.models
@pytest.mark.proves(
    "money.charge.transcription",
    "money.debit.one",
    "money.usage.recorded",
    "money.hold.settled",
    "speech.file.truncated-billed-as-decoded",
)
def test_each_recognised_call_is_one_debit_by_the_started_second(heard: HeardCalls) -> None:
    account = heard.english.account
    lengths_ms = {
        upload.accepted["communication_id"]: upload.result["audio_duration_ms"] for upload in heard.asynchronous
    }
    lengths_ms[heard.sync.headers["X-Communication-Id"]] = heard.sync.json()["audio_duration_ms"]
    debits = {item["source_ref"]: item for item in account.debits()}
    assert len(account.debits()) == len(lengths_ms)
    assert debits.keys() == lengths_ms.keys()
    for communication_id, length_ms in lengths_ms.items():
        seconds = -(-length_ms // 1000)
        item = debits[communication_id]
        assert (item["kind"], item["source"], item["product"]) == ("debit", "communication", "transcription")
        assert Decimal(str(item["amount_rub"])) == -seconds * RATE_A_SECOND
        (line,) = item["lines"]
        assert (line["product"], line["unit"], line["quantity"]) == ("transcription", "second", seconds)
    truncated = lengths_ms[heard.truncated.accepted["communication_id"]]
    assert truncated < 14_000, "the file was not truncated: this proves nothing"
    spent = sum(Decimal(str(item["amount_rub"])) for item in debits.values())
    assert Decimal(account.balance()["balance_rub"]) == 10_000 + spent
    with account.server.database.read() as connection:
        assert ledger.balance(account.tenant_id, connection).held_micro == 0
        usage = billing.list_usage(account.tenant_id, connection)
    assert {record.source_ref for record in usage} == lengths_ms.keys()


@pytest.mark.proves("money.hold.fails-pauses", "money.hold.fails-403", "integration.state.platform-pause")
def test_an_upload_that_the_balance_cannot_bear_is_refused_and_pauses_the_client(
    new_account: Callable[..., Account],
) -> None:
    account = new_account(balance_rub="0.19")
    refused = account.upload_audio(wav(tone(10)))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "client_inactive")
    assert account.balance() | {"is_active": False, "balance_rub": "0.19"} == account.balance()
    with account.server.database.read() as connection:
        assert communications.count(account.tenant_id, connection) == 0
    # What it could pay for is refused too, until there is more money.
    assert account.upload_audio(wav(tone(1))).status_code == 403
    account.add_money("1")
    assert account.balance()["is_active"] is True
    assert account.upload_audio(wav(tone(10))).status_code == 202


@pytest.mark.proves("money.zero-stays-active", "money.hold.taken-finishes")
@pytest.mark.models
def test_the_last_money_is_spent_to_zero_without_a_pause_and_held_work_finishes_while_paused(
    new_account: Callable[..., Account], pause: Callable[..., None]
) -> None:
    account = new_account(balance_rub="0.12")
    task_id, communication_id = upload(account, wav(spoken("01", 0, 6.0)[: 6 * RATE]))
    pause(account)
    details = wait_for_status(account, communication_id)
    assert details["transcription_status"] == "success"
    pause(account, active=True)
    assert account.finished_task(task_id)["transcription_status"] == "success"
    assert account.balance() | {"is_active": True, "balance_rub": "0.00"} == account.balance()
    assert account.upload_audio(wav(tone(1))).status_code == 403
    assert account.balance()["is_active"] is False


def wait_for_status(account: Account, communication_id: str) -> dict[str, object]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        details: dict[str, object] = account.get(f"/public/v1/communications?id={communication_id}").json()
        if details["transcription_status"] in ("success", "error"):
            return details
        time.sleep(0.1)
    raise AssertionError("the call did not end")


@pytest.mark.proves("money.credit.negative-stays-active", "balance.get.allow-credit")
def test_with_credit_a_negative_balance_pauses_nobody(new_account: Callable[..., Account]) -> None:
    account = new_account(balance_rub="0")
    with account.server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, allow_credit=True)
    assert account.upload_audio(wav(tone(10))).status_code == 202
    balance = account.balance()
    assert (balance["is_active"], balance["allow_credit"]) == (True, True)
    assert account.upload_audio(wav(tone(10))).status_code == 202


@pytest.mark.models
@pytest.mark.proves("money.hold.fails-in-job")
def test_a_call_whose_length_shows_only_when_decoded_is_held_by_its_job(new_account: Callable[..., Account]) -> None:
    account = new_account(balance_rub="0.05")
    audio = streamed_flac(spoken("01", 0, 6.0)[:, :1])
    task_id, _ = upload(account, audio)
    # The poll is refused to a paused client, so the task's end is read where it is stored.
    record = ended_task(account, task_id)
    assert (record.status, record.error_message) == ("error", "client_inactive")
    assert account.balance() | {"is_active": False, "balance_rub": "0.05", "held_rub": "0.00"} == account.balance()
    account.add_money("10")
    task_id, communication_id = upload(account, audio)
    assert account.finished_task(task_id)["transcription_status"] == "success"
    assert [item["source_ref"] for item in account.debits()] == [communication_id]


def ended_task(account: Account, task_id: str) -> Task:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with account.server.database.read() as connection:
            task = transcriptions.get(account.tenant_id, connection, task_id)
        assert task is not None
        if task.status not in transcriptions.UNFINISHED:
            return task
        time.sleep(0.1)
    raise AssertionError("the task did not end")


@pytest.mark.models
@pytest.mark.proves("money.hold.taken", "money.hold.fails-in-job")
def test_a_call_that_is_longer_than_its_file_says_is_held_for_its_true_length(
    new_account: Callable[..., Account],
) -> None:
    account = new_account(balance_rub="0.50")
    task_id, _ = upload(account, understated(tone(60), claimed_s=2))
    record = ended_task(account, task_id)
    assert (record.status, record.error_message) == ("error", "client_inactive")
    assert account.balance() | {"is_active": False, "balance_rub": "0.50", "held_rub": "0.00"} == account.balance()
    account.add_money("10")
    task_id, communication_id = upload(account, understated(tone(60), claimed_s=2))
    assert account.finished_task(task_id)["transcription_status"] == "success"
    (item,) = account.debits()
    assert item["source_ref"] == communication_id
    assert Decimal(str(item["amount_rub"])) == -60 * RATE_A_SECOND


@pytest.mark.proves("money.hold.taken")
def test_what_a_call_will_cost_is_held_before_it_is_worked_on(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data")  # not started: nobody works on it
    account = server.new_client("client", balance_rub="1")
    values = {
        "blob_key": "none",
        "file_name": "call.wav",
        "occured_at": now(),
        "request_record_id": None,
        "direction": None,
        "parameters": {},
    }
    calls.record(server.database, server.settings, account.tenant_id, task_id=new_id(), expected_ms=40_001, **values)
    with server.database.read() as connection:
        balance = ledger.balance(account.tenant_id, connection)
    assert (balance.held_micro, balance.available_micro) == (820_000, 180_000)
    with pytest.raises(NotPermitted, match="balance"):
        calls.record(
            server.database, server.settings, account.tenant_id, task_id=new_id(), expected_ms=10_000, **values
        )
    with server.database.read() as connection:
        assert communications.count(account.tenant_id, connection) == 1
    server.close()


def test_a_call_that_cannot_be_recognised_costs_nothing(small_account: Account) -> None:
    task_id, _ = upload(small_account, wav(tone(2)))
    assert small_account.finished_task(task_id)["transcription_status"] == "error"
    assert small_account.balance() | {"balance_rub": "10000.00", "held_rub": "0.00"} == small_account.balance()
    assert small_account.debits() == []


def test_a_header_that_claims_a_long_call_holds_no_more_than_such_a_file_can_be(
    new_account: Callable[..., Account],
) -> None:
    account = new_account(balance_rub="100")
    audio = bytearray(wav(tone(2)))
    audio[40:44] = (2**31).to_bytes(4, "little")  # 18 hours of samples
    answer = account.upload_audio(bytes(audio))
    assert answer.status_code == 202, answer.text
    assert account.balance()["is_active"] is True
