"""What the steps of a call's job share: its task, its work folder with the decoded samples, and its turn in a child."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog

from ingest.children import ChildDied, ChildPool, WorkCancelled
from ingest.speech import transcribe
from ingest.workshop import TRIES, Workshop, run_or_shut_down, workshop
from store import transcriptions
from store.errors import Unavailable
from store.transcriptions import Task

DECODED, LISTENED, RECOGNISED = 0.05, 0.2, 0.95
"""How far a call is after a stage, of 1."""

Result = TypeVar("Result")

log = structlog.get_logger(__name__)


def folder_of(house: Workshop, task_id: str) -> Path:
    return house.work_folder / task_id


def task_of(house: Workshop, tenant_id: str, task_id: str) -> Task:
    with house.database.read() as connection:
        task = transcriptions.get(tenant_id, connection, task_id)
    assert task is not None, "a job has its task"
    return task


def has_ended(task: Task) -> bool:
    return task.status not in transcriptions.UNFINISHED


def run(pool: ChildPool, task: Task, function: Callable[..., Result], *args: object) -> Result:
    """The function's result, from a child that works for this task: who waits for an answer goes first, then clients
    take turns. A child that dies is replaced, some times. Raises WorkCancelled when the task has ended, and only then:
    whoever cancels ends it first."""
    urgent = bool(task.parameters.get("sync"))
    for tries_left in reversed(range(TRIES)):
        try:
            return run_or_shut_down(pool, function, *args, urgent=urgent, owner=task.tenant_id, tag=task.id)
        except (ChildDied, WorkCancelled) as error:
            if _is_over(task):
                raise WorkCancelled from None
            if not tries_left:
                raise ChildDied(str(error)) from error
            log.warning("a child died at a call", pool=pool.name, task_id=task.id, error=type(error).__name__)
    raise AssertionError("the last try returns or raises")


def _is_over(task: Task) -> bool:
    """Deleted ones too."""
    with workshop().database.read() as connection:
        found = transcriptions.get(task.tenant_id, connection, task.id)
    return found is None or has_ended(found)


def note_progress(house: Workshop, task: Task, progress: float) -> None:
    """Never worth the work that was done: a database that is away for a moment just does not hear of it."""
    with suppress(Unavailable), house.database.write(durable=False) as connection:
        transcriptions.update(task.tenant_id, connection, task.id, progress=progress)


def files_of(recording: transcribe.Prepared) -> dict[str, str]:
    """The channels in which somebody speaks: label to file."""
    return {part["speaker"]: part["file"] for part in recording["parts"]}


def decode(house: Workshop, task: Task) -> transcribe.Prepared:
    folder = folder_of(house, task.id)
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier try
    folder.mkdir(parents=True)
    prepare = partial(transcribe.prepare, channel_speakers=bool(task.parameters["channel_speakers"]))
    with house.blobs.as_file(task.blob_key) as path:
        return run(house.pools.decoding, task, prepare, path, folder)


def decoded_folder(house: Workshop, task: Task, recording: transcribe.Prepared) -> Path:
    """The work folder with the samples in it, made again where they are gone."""
    folder = folder_of(house, task.id)
    if not transcribe.is_prepared(folder, recording):
        decode(house, task)
    return folder
