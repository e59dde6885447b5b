"""kill -9 of the server at the moments at which a piece of work could be done twice or never: in the transaction that
ends it, as its event is stored and as it is paid for, and when a step is done and not noted yet."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from store import accounts
from store.analysis import stage_statuses
from tests.soak.conftest import Size, chosen
from tests.support.analyses import GOOD, STAGES, analysed, assert_analysed_once, send
from tests.support.calls import HOOK, Calls, can_diarize, wait_until
from tests.support.calls import receiver as receiver
from tests.support.documents import STEPS, Documents
from tests.support.halts import CHARGED, Halts, Moment, done, told
from tests.support.job_steps import JobSteps
from tests.support.receiver import Receiver
from tests.support.server import Account, RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.postgresql]

OF_VOICES = ("listen_to_call", "tell_voices")
CALL_STEPS = ("fetch_call", "hand_over_call", "prepare_call", "recognise_part", "store_call", "finish_call")
OF_A_DOCUMENT = (*map(done, STEPS), told("kb.completed"))
OF_AN_ANALYSIS = (
    done("analyse_stage"),
    done("end_analysis"),
    *(told(f"{stage}.completed") for stage in STAGES),
    CHARGED,
)
TRIES = 12
"""Until a kill comes while it is in work."""
LONG = GOOD * 40
"""So that each stage takes some tenths of a second."""
SETTLED_S = 3.0
"""By then, whoever did something twice has told of it twice."""


@pytest.fixture
def server(tmp_path: Path, postgresql_url: str) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path / "data",
        database_url=postgresql_url,
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule=",".join(["1"] * 30),
        mcp_requests_per_minute="1000000",
        sweep_s="1",
        asr_model="whisper-base",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def halts(server: RunningServer, postgresql_url: str) -> Iterator[Halts]:
    with closing(Halts(postgresql_url)) as made:
        yield made


def kill_at(
    moments: Sequence[Moment],
    server: RunningServer,
    halts: Halts,
    begin: Callable[[], str],
    wait_until_ended: Callable[[str], object],
) -> None:
    """Begins a piece of work for each moment, at which the server is killed."""
    for moment in moments:
        with halts.at(moment):
            subject = begin()
            halts.wait()
            server.kill()
        server.start()
        wait_until_ended(subject)


@pytest.mark.models
def test_a_call_is_done_told_of_and_charged_once(
    server: RunningServer, halts: Halts, receiver: Receiver, size: Size, chance: random.Random
) -> None:
    calls = Calls(server, receiver)
    steps = CALL_STEPS + (OF_VOICES if can_diarize() else ())
    moments = [*map(done, steps), told("transcription.completed"), CHARGED]
    with closing(JobSteps(server)) as job_steps:
        kill_at(chosen(moments, size, chance), server, halts, calls.start, calls.account.finished_task)
        calls.assert_each_was_done_once(job_steps)


def hooked(server: RunningServer, receiver: Receiver) -> Account:
    account = server.new_client("hooked")
    with server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, webhook_url=receiver.url(HOOK))
    return account


def assert_each_came_once(receiver: Receiver, subject: str, expected: Iterable[tuple[str, str]]) -> None:
    """Of events and what they are about: that they come, each under one id, and nothing else."""

    def came() -> dict[tuple[str, str], set[str]]:
        ids: dict[tuple[str, str], set[str]] = {}
        for each in receiver.at(HOOK):
            ids.setdefault((each.json["event"], each.json[subject]), set()).add(each.id)
        return ids

    wanted = set(expected)
    wait_until(lambda: came().keys() >= wanted)
    time.sleep(SETTLED_S)
    assert {key: len(ids) for key, ids in came().items()} == dict.fromkeys(wanted, 1)


def test_a_document_is_done_and_told_of_once(
    server: RunningServer, halts: Halts, receiver: Receiver, size: Size, chance: random.Random
) -> None:
    account = hooked(server, receiver)
    documents = Documents(account)
    kill_at(chosen(OF_A_DOCUMENT, size, chance), server, halts, documents.add, account.finished_document)
    documents.assert_each_is_there_once()
    assert_each_came_once(receiver, "document_id", [("kb.completed", each) for each in documents.words])


def assert_told_once(receiver: Receiver, sent: Sequence[str]) -> None:
    events = [(f"{stage}.completed", each) for each in sent for stage in STAGES]
    assert_each_came_once(receiver, "communication_id", events)


def test_an_analysis_is_done_told_of_and_charged_once(
    server: RunningServer, halts: Halts, receiver: Receiver, size: Size, chance: random.Random
) -> None:
    account = hooked(server, receiver)
    sent: list[str] = []

    def begin() -> str:
        sent.append(send(account))
        return sent[-1]

    moments = chosen(OF_AN_ANALYSIS, size, chance)
    kill_at(moments, server, halts, begin, lambda communication_id: analysed(account, communication_id))
    assert_analysed_once(account, sent)
    assert_told_once(receiver, sent)


def test_an_analysis_whose_children_are_killed_in_each_stage_is_done_told_of_and_charged_once(
    server: RunningServer, receiver: Receiver, size: Size, chance: random.Random, say: Callable[[str], None]
) -> None:
    account = hooked(server, receiver)
    sent: list[str] = []

    def is_at(stage: str) -> bool:
        with server.database.read() as connection:
            statuses = stage_statuses(account.tenant_id, connection, sent[-1])
        return statuses[stage] == "processing"

    def begin(stage: str) -> None:
        """The next analysis, until it is at the stage."""
        sent.append(send(account, LONG))
        wait_until(lambda: is_at(stage), pause_s=0.002)

    takes_s = {}
    for stage in STAGES:
        begin(stage)
        began_s = time.monotonic()
        wait_until(lambda stage=stage: not is_at(stage), pause_s=0.002)  # type: ignore[misc]
        takes_s[stage] = time.monotonic() - began_s
        analysed(account, sent[-1])
    aimed = chosen(STAGES, size, chance)
    for stage in aimed:
        for _ in range(TRIES):
            begin(stage)
            time.sleep(chance.uniform(0, takes_s[stage]))
            is_hit = bool(server.kill_children()) and is_at(stage)
            analysed(account, sent[-1])
            if is_hit:
                break
        else:
            raise AssertionError(f"no kill came while {stage} was in work")
    say(f"{len(aimed)} kills came while a stage was in work, of {len(sent) - len(STAGES)}")
    assert_analysed_once(account, sent)
    assert_told_once(receiver, sent)
