"""Calls of one account, each given as a link with all that a call can ask for; and that each was done once."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import httpx2
import pytest

from accounts import ledger
from ingest.speech import diarize
from store import transcriptions
from store.blobs import Blobs
from store.ids import new_id
from store.settings import load_settings
from store.weights import ModelMissing
from tests.support import events
from tests.support.audio import call_clip
from tests.support.job_steps import JobSteps
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.server import Account, RunningServer

SETTLE_S = 120.0
_SOME_STEPS = 2
_PATH = "/v1/audio/transcriptions"
HOOK, RECORDING = "/hook", "/recording.wav"


def can_diarize() -> bool:
    try:
        diarize.choose_models(load_settings())
    except ModelMissing:
        return False
    return True


class Calls:
    """`server` answers; `workers` do the work, where it is others."""

    def __init__(self, server: RunningServer, receiver: Receiver, *, workers: Sequence[RunningServer] = ()) -> None:
        self.account: Account = server.new_client(f"caller {new_id()}")
        self.started: dict[str, str] = {}  # task: communication
        self._receiver = receiver
        self._workers = workers or (server,)

    def start(self, recording: str = RECORDING, **other: bool) -> str:
        return self._note(self.account.post(_PATH, json=self._asked_for(recording, **other)))

    def start_at_last(self) -> str:
        """As a careful client does where something goes away now and then."""
        return self._note(self.account.post_at_last(_PATH, json=self._asked_for(RECORDING)))

    def _asked_for(self, recording: str, **other: bool) -> dict[str, object]:
        return {
            "fileUrl": self._receiver.url(recording),
            "language": "ru",
            "diarize": can_diarize(),
            "webhook_url": self._receiver.url(HOOK),
            **other,
        }

    def _note(self, answer: httpx2.Response) -> str:
        assert answer.status_code == 202, answer.text
        accepted = answer.json()
        self.started[accepted["task_id"]] = accepted["communication_id"]
        return str(accepted["task_id"])

    def wait_until_begun(self, steps: JobSteps, least: int) -> None:
        """Until so many of the calls have some steps behind them and some before."""
        wait_until(lambda: sum((steps.at(task_id) or 0) > _SOME_STEPS for task_id in list(self.started)) >= least)

    def assert_each_was_done_once(self, steps: JobSteps) -> None:
        server, account = self.account.server, self.account
        for task_id, communication_id in self.started.items():
            record = account.finished_task(task_id)
            assert record["transcription_status"] == "success", (record, server.log()[-8000:])
            details = account.get(f"/public/v1/communications?id={communication_id}").json()
            said = [segment["text"] for segment in record["transcription_result_body"]["segments"]]
            assert said
            assert [item["text"] for item in details["content"]] == said
        listed = Counter(self._listed())
        assert all(listed[communication_id] == 1 for communication_id in self.started.values())
        assert Counter(item["source_ref"] for item in account.debits()) == Counter(self.started.values())
        assert account.balance()["held_rub"] == "0.00"
        assert ledger.verify(server.database) == []

        wait_until(lambda: self._told() >= self.started.keys())
        ids = defaultdict(set)
        for received in self._receiver.at(HOOK):
            ids[received.json["task_id"]].add(received.id)
        assert {task_id: len(found) for task_id, found in ids.items()} == dict.fromkeys(self.started, 1)
        made = [item for item in events.listed(account) if item["event"] == "transcription.completed"]
        assert len(made) == len(self.started)

        # One that was killed clears up when it starts again.
        alive = [each for each in self._workers if each.process is not None and each.process.poll() is None]
        wait_until(lambda: not any(list((each.data_dir / "work").glob("*")) for each in alive))
        wait_until(lambda: all(steps.statuses(task_id) <= {"SUCCESS"} for task_id in self.started))
        assert {entry.key for entry in Blobs(server.settings).list(account.tenant_id)} == self._blob_keys()

    def _listed(self) -> list[str]:
        """The ids of all communications, page by page."""
        ids: list[str] = []
        further: dict[str, str] = {}
        while True:
            answer = self.account.call_tool("search_communications", limit=50, **further)
            page = json.loads(answer["result"]["content"][0]["text"])
            ids += [item["id"] for item in page["items"]]
            if page["next_cursor"] is None:
                return ids
            further = {"cursor": page["next_cursor"]}

    def _told(self) -> set[str]:
        return {received.json["task_id"] for received in self._receiver.at(HOOK)}

    def _blob_keys(self) -> set[str]:
        with self.account.server.database.read() as connection:
            tasks = [transcriptions.get(self.account.tenant_id, connection, task_id) for task_id in self.started]
        return {task.blob_key for task in tasks if task is not None}


def wait_until(holds: Callable[[], bool], pause_s: float = 0.1, *, wait_s: float = SETTLE_S) -> None:
    deadline = time.monotonic() + wait_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(pause_s)


@contextmanager
def receiving_calls(host: str = "127.0.0.1") -> Iterator[Receiver]:
    """Has the recording of the calls, and takes their webhooks."""
    with receiving(host) as running:
        running.answer(RECORDING, Reply(body=call_clip("01", 0, 20)))
        yield running


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving_calls() as running:
        yield running
