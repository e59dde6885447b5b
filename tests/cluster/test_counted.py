"""What Prometheus is told of moves with what is done: work by how it ended, money, letters, webhooks, what waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import httpx2
import pytest

from store import accounts, index_work, meters
from store.database import now
from store.ids import new_id
from tests.contract.recordings import tone, wav
from tests.contract.test_evaluations import evaluate
from tests.contract.test_sign_in import OWN
from tests.support.analyses import STAGES, analysed, send
from tests.support.calls import HOOK
from tests.support.mail_server import MailServer, receiving_mail
from tests.support.metrics import counted, families
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.server import Account, RunningServer

WAIT_S = 120.0
SWEEP_S = 0.5
REFUSED = Reply(500)


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture(scope="module")
def mail() -> Iterator[MailServer]:
    with receiving_mail() as running:
        yield running


@pytest.fixture(scope="module")
def server(mail: MailServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One of which nobody else asks anything."""
    running = RunningServer(
        tmp_path_factory.mktemp("counted"),
        sweep_s=str(SWEEP_S),
        payment_provider="sandbox",
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule="0.1",
        smtp_host="127.0.0.1",
        smtp_port=str(mail.port),
        smtp_security="none",
        mail_from="robot@parley.example",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def account(server: RunningServer) -> Account:
    return server.new_client(new_id(), email=f"owner-{new_id()}@shop.example")


@contextmanager
def moves(server: RunningServer, by: float, name: str, **labels: str) -> Iterator[None]:
    """What is done inside moves a counter by so much, a moment later perhaps, and then no more."""
    before = counted(server, name, **labels)
    yield
    eventually(lambda: counted(server, name, **labels) >= before + by, f"{name} {labels} does not move")
    time.sleep(SWEEP_S)
    assert counted(server, name, **labels) == pytest.approx(before + by)


def eventually(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_what_may_fail_is_told_of_before_it_does(tmp_path: Path) -> None:
    """Else the first failure of a process is no rise that an alert could see."""
    fresh = RunningServer(tmp_path)
    try:
        fresh.start()
        found = {
            (each.name, *each.labels.values())
            for family in families(fresh)
            for each in family.samples
            if each.name.startswith("parley_")
        }
    finally:
        fresh.close()
    for expected in (
        *(("parley_work_ended_total", kind, "error") for kind in get_args(meters.Kind)),
        *(("parley_index_work_failed_total", action) for action in index_work.FOLLOWS),
        ("parley_webhook_attempts_total", "failed"),
        ("parley_letters_total", "failed"),
        ("parley_reranked_total", "late"),
        ("parley_children_failed_total", "documents"),
        ("parley_jobs_taken_over_total", "analyses"),
        ("parley_housekeeping_failed_total", "heartbeat"),
    ):
        assert expected in found


def test_work_that_ends_is_counted_by_what_it_was(server: RunningServer, account: Account) -> None:
    ended = "parley_work_ended_total"
    space_id = account.new_space()
    with moves(server, 1, ended, kind="document", outcome="success"):
        record = account.add_document(space_id, "Пароль от склада: сова.".encode(), "склад.txt")
    with moves(server, 1, ended, kind="document", outcome="refused"):
        assert account.add_document(space_id, b"%PDF-1.7 broken", "broken.pdf")["status"] == "error"
    question = {"text": "Какой пароль от склада?", "document_id": record["id"], "quote": "Пароль от склада: сова."}
    assert account.post(f"/public/v1/kb/spaces/{space_id}/questions", json=question).status_code == 201
    with moves(server, 1, ended, kind="evaluation", outcome="success"):
        assert evaluate(account, space_id)["status"] == "success"
    with moves(server, 1, ended, kind="export", outcome="success"):
        assert account.post("/public/v1/account/exports").status_code == 202


def test_what_no_child_gets_read_is_an_error_of_the_server(server: RunningServer, account: Account) -> None:
    """A machine may have no room for any, or a library that dies of all."""
    with moves(server, 1, "parley_work_ended_total", kind="document", outcome="error"):
        record = account.upload_document(account.new_space(), b"A word.\n\n" * 100_000, "long.txt").json()

        def has_failed() -> bool:
            server.kill_children()
            return account.get(f"/public/v1/kb/documents/{record['id']}").json()["status"] == "error"

        eventually(has_failed, "it is read after all")
    assert account.finished_document(record["id"])["error_code"] == "unreadable"


def test_what_customers_do_themselves_is_no_error_of_the_server(receiver: Receiver, tmp_path: Path) -> None:
    """Of a call that cannot be recognised for want of a model the server says that it is one."""
    running = RunningServer(
        tmp_path, cache_dir=str(tmp_path / "no models"), allowed_networks="127.0.0.0/8", sweep_s=str(SWEEP_S)
    )
    recording = receiver.answer("/call.wav", Reply(body=wav(tone(60.0))))

    def start(account: Account, url: str) -> str:
        answer = account.post("/v1/audio/transcriptions", json={"fileUrl": url})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["task_id"])

    def why(account: Account, url: str) -> str:
        return str(account.finished_task(start(account, url))["transcription_error_message"])

    def calls(outcome: str) -> AbstractContextManager[None]:
        return moves(running, 1, "parley_work_ended_total", kind="call", outcome=outcome)

    try:
        running.start()
        account, poor = running.new_client("rich"), running.new_client("poor", balance_rub="0.01")
        with calls("cancelled"):
            task_id = start(account, receiver.answer("/slow", Reply(hangs=True)))
            assert account.request("DELETE", f"/v1/audio/transcriptions/tasks/{task_id}").status_code == 200
        with calls("refused"):
            assert "known audio" in why(account, receiver.answer("/text", Reply(body=b"no sound at all" * 99)))
        with calls("refused"):
            assert "has no such file" in why(account, receiver.answer("/gone", Reply(404)))
        with calls("refused"):
            start(poor, recording)
        assert counted(running, "parley_work_ended_total", outcome="error") == 0
        with calls("error"):
            assert "is not installed" in why(account, recording)
        with moves(running, 1, "parley_work_ended_total", kind="document", outcome="error"):
            record = account.add_document(account.new_space(), wav(tone(1.0)), "call.wav")
            assert record["error_code"] == "internal_error"
    finally:
        running.close()


def test_what_an_analysis_does_and_costs_is_counted(server: RunningServer, account: Account) -> None:
    charged = counted(server, "parley_charged_rub_total")
    with moves(server, len(STAGES), "parley_work_ended_total", kind="analysis", outcome="success"):
        analysed(account, send(account))
    cost = -sum(each["amount_rub"] for each in account.debits())
    assert cost > 0
    assert counted(server, "parley_charged_rub_total") - charged == pytest.approx(cost)


def test_money_letters_and_tools_are_counted(server: RunningServer, account: Account, mail: MailServer) -> None:
    link = account.post("/public/v1/payment-link", json={"amount_rub": 250}).json()
    with moves(server, 250, "parley_paid_rub_total", provider="sandbox"):
        httpx2.post(link["payment_url"], data={"outcome": "paid"}, timeout=30)
    asked = {"email": account.made.tenant.email, "to": ""}
    for outcome, refuses in (("sent", False), ("failed", True)):
        mail.refuses = refuses
        with moves(server, 1, "parley_letters_total", outcome=outcome):
            httpx2.post(f"{server.url}/cabinet/sign-in", data=asked, headers=OWN, timeout=60)
    mail.refuses = False
    with moves(server, 1, "parley_mcp_tool_seconds_count", tool="search_speakers", outcome="ok"):
        account.post("/public/v1/tools/search_speakers", json={"query": "Anna"})


def test_tries_to_send_a_webhook_are_counted(server: RunningServer, account: Account, receiver: Receiver) -> None:
    with server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, webhook_url=receiver.url(HOOK))
    tries = "parley_webhook_attempts_total"
    space_id = account.new_space()
    receiver.answer(HOOK, REFUSED, Reply(200))
    with moves(server, 1, tries, outcome="delivered"), moves(server, 1, tries, outcome="retried"):
        account.add_document(space_id, b"A first text.", "first.txt")
    receiver.answer(HOOK, REFUSED)
    with moves(server, 1, tries, outcome="failed"):
        account.add_document(space_id, b"A second text.", "second.txt")


def test_a_child_that_dies_is_counted(server: RunningServer, account: Account) -> None:
    """In the middle of its work: who has none to do is missed by nobody."""
    record = account.upload_document(account.new_space(), b"A word.\n\n" * 20_000, "long.txt").json()
    started = counted(server, "parley_children_started_total")
    eventually(lambda: bool(server.child_ids()), "no child started")
    failed = counted(server, "parley_children_failed_total")
    deadline = time.monotonic() + WAIT_S
    while counted(server, "parley_children_failed_total") == failed and time.monotonic() < deadline:
        server.kill_children()
        time.sleep(0.2)
    assert counted(server, "parley_children_failed_total") > failed
    assert account.finished_document(record["id"])
    assert counted(server, "parley_children_started_total") > started


def test_what_index_and_files_have_yet_to_follow_is_told_and_its_failures_are_counted(
    server: RunningServer, account: Account
) -> None:
    action, subject_id = index_work.DELETE_BLOB, new_id()

    def waiting() -> float:
        return counted(server, "parley_index_work", action=action)

    def note(not_before: datetime) -> None:
        blob_keys: dict[str, str | None] = {subject_id: "../not a blob"}
        with server.database.write() as connection:
            index_work.add_many(
                account.tenant_id, connection, action=action, blob_keys=blob_keys, not_before=not_before
            )

    eventually(lambda: waiting() == 0, "earlier work does not end")
    note(now() + timedelta(hours=1))
    assert waiting() == 0, "it is not due"
    failed = counted(server, "parley_index_work_failed_total", action=action)
    note(now())
    eventually(lambda: counted(server, "parley_index_work_failed_total", action=action) > failed, "it did not fail")
    assert waiting() == 1
    assert counted(server, "parley_index_work_oldest_seconds", action=action) >= 0
    with server.database.write() as connection:
        index_work.withdraw(account.tenant_id, connection, action, [subject_id])
    assert waiting() == 0
