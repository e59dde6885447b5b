"""Backlogs of more rows than a sweep looks at: behind one, a crash left another account's row without its job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import pytest
import sqlalchemy as sa

from ingest import account_deletion, call_job, calls, evaluations
from ingest.calls import CallSweep
from ingest.documents import document_job, run_folders
from ingest.documents.document_job import DocumentSweep
from ingest.evaluations import EvaluationSweep
from store import communications, kb_spaces, knowledge, rounds, transcriptions
from store import evaluations as stored_evaluations
from store.accounts import create_tenant
from store.database import Connection, Database, now
from store.ids import new_id
from tests.store.conftest import database as database

AT_ONCE = 3
BACKLOG = 7  # more than two looks of it


class Sweeping(Protocol):
    def sweep(self) -> None: ...


class Jobs:
    """Knows all jobs but those that were not started."""

    def __init__(self) -> None:
        self.unknown: set[str] = set()
        self.started: list[str] = []

    def statuses(self, ids: list[str]) -> dict[str, str]:
        return {each: "ENQUEUED" for each in ids if not any(row in each for row in self.unknown)}

    def enqueue(self, _queue: str, workflow_id: str, *_: Any, **__: Any) -> None:
        self.started.append(workflow_id)


def a_call(tenant_id: str, connection: Connection) -> str:
    row = communications.create(
        tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title="A call"
    )
    task = transcriptions.create(
        tenant_id,
        connection,
        communication_id=row.id,
        blob_key="a",
        file_name="a.wav",
        parameters={},
        occured_at=now(),
    )
    return task.id


def a_document(tenant_id: str, connection: Connection) -> str:
    space = kb_spaces.create_space(tenant_id, connection, name="s", description="")
    document, _ = knowledge.add_document(
        tenant_id,
        connection,
        document_id=new_id(),
        space_id=space.id,
        title="t",
        file_name="t.txt",
        size_bytes=1,
        sha256="0",
        blob_key="a",
    )
    return document.id


def an_evaluation(tenant_id: str, connection: Connection) -> str:
    space = kb_spaces.create_space(tenant_id, connection, name="s", description="")
    return stored_evaluations.add(tenant_id, connection, space_id=space.id, label="").id


@pytest.mark.parametrize("is_at_one_time", [False, True])
@pytest.mark.parametrize(
    ("add", "table", "at", "sweeping"),
    [
        (a_call, transcriptions.transcription_tasks, "created_at", CallSweep),
        (a_document, knowledge.documents, "updated_at", DocumentSweep),
        (an_evaluation, stored_evaluations.evaluations, "updated_at", EvaluationSweep),
    ],
)
def test_a_row_behind_another_account_s_backlog_is_started_and_the_sweep_goes_round(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    add: Callable[[str, Connection], str],
    table: sa.Table,
    at: str,
    sweeping: Callable[[], Sweeping],
    is_at_one_time: bool,
) -> None:
    jobs = Jobs()
    house = SimpleNamespace(database=database, jobs=jobs, settings=SimpleNamespace(sweep_s=0))
    for module in (calls, call_job, document_job, evaluations):
        monkeypatch.setattr(module, "workshop", lambda: house)
    monkeypatch.setattr(document_job.run_folders, "sweep", lambda *_: None)
    monkeypatch.setattr(rounds, "AT_ONCE", AT_ONCE)
    with database.write() as connection:
        busy, other = (create_tenant(connection, name=name, external_id=name) for name in ("busy", "other"))
        assert busy is not None
        assert other is not None
        waiting = [add(busy.id, connection) for _ in range(BACKLOG)]
        unstarted = add(other.id, connection)
        if is_at_one_time:
            connection.execute(sa.update(table).values({at: now()}))
    jobs.unknown.add(unstarted)
    sweep = sweeping()
    for _ in range(BACKLOG // AT_ONCE + 1):
        sweep.sweep()
    assert [unstarted in each for each in jobs.started] == [True]
    jobs.unknown = {waiting[0]}
    for _ in range(BACKLOG // AT_ONCE + 1):
        sweep.sweep()
    assert [waiting[0] in each for each in jobs.started[1:]] == [True]


def test_what_a_machine_has_of_unfinished_work_stays_and_all_else_goes(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(rounds, "AT_ONCE", AT_ONCE)
    cancelled: list[str] = []
    pools = SimpleNamespace(
        speech=SimpleNamespace(tags={"of a child"}, cancel=cancelled.append),
        decoding=SimpleNamespace(tags=set(), cancel=lambda _: None),
    )
    house = SimpleNamespace(database=database, pools=pools, work_folder=tmp_path / "work")
    monkeypatch.setattr(calls, "workshop", lambda: house)
    calls.sweep_ended()
    with database.write() as connection:
        tenant = create_tenant(connection, name="busy", external_id="busy")
        assert tenant is not None
        in_work = [a_call(tenant.id, connection) for _ in range(BACKLOG)]
        runs = [f"{a_document(tenant.id, connection)}.1" for _ in range(BACKLOG)]
    gone = ["no id", new_id()]
    for root, names in (("work", [*in_work, *gone]), ("document-work", [*runs, *gone, f"{runs[0][:-1]}2"])):
        for name in names:
            (tmp_path / root / name).mkdir(parents=True)
    pools.speech.tags |= {in_work[0]}
    calls.sweep_ended()
    run_folders.sweep(house, document_job.workflow_id)  # type: ignore[arg-type]
    assert {folder.name for folder in (tmp_path / "work").iterdir()} == set(in_work)
    assert {folder.name for folder in (tmp_path / "document-work").iterdir()} == set(runs)
    assert set(cancelled) == {"of a child", *gone}
    account_deletion._stop_calls(house, tenant.id)  # type: ignore[arg-type]
    assert list((tmp_path / "work").iterdir()) == []
