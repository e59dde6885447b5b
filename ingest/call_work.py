"""What the steps of a call's job share: its task, its work folder with the decoded samples, and its turn in a child."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ingest.children import ChildDied
from ingest.speech import transcribe
from ingest.workshop import Workshop, run_or_shut_down
from store import transcriptions
from store.errors import Unavailable
from store.transcriptions import Task

DECODED, LISTENED, RECOGNISED = 0.05, 0.2, 0.95
"""How far a call is after a stage, of 1."""

Result = TypeVar("Result")


def is_passing(error: BaseException) -> bool:
    """Whether a step that failed so is worth another try."""
    return isinstance(error, (ChildDied, OSError, Unavailable))


def folder_of(house: Workshop, task_id: str) -> Path:
    return house.work_folder / task_id


def task_of(house: Workshop, tenant_id: str, task_id: str) -> Task:
    with house.database.read() as connection:
        task = transcriptions.get(tenant_id, connection, task_id)
    assert task is not None, "a job has its task"
    return task


def has_ended(task: Task) -> bool:
    return task.status not in transcriptions.UNFINISHED


def run(house: Workshop, task: Task, function: Callable[..., Result], *args: object) -> Result:
    """The function's result, from a child that works for this task: who waits for an answer goes first, then clients
    take turns. Raises WorkCancelled when the task is cancelled."""
    urgent = bool(task.parameters.get("sync"))
    return run_or_shut_down(house.pools.speech, function, *args, urgent=urgent, owner=task.tenant_id, tag=task.id)


def update(house: Workshop, task: Task, **values: Any) -> bool:
    with house.database.write(durable=False) as connection:
        return transcriptions.update(task.tenant_id, connection, task.id, **values)


def files_of(recording: transcribe.Prepared) -> dict[str, str]:
    """The channels in which somebody speaks: label to file."""
    return {part["speaker"]: part["file"] for part in recording["parts"]}


def decode(house: Workshop, task: Task) -> transcribe.Prepared:
    folder = folder_of(house, task.id)
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier try
    folder.mkdir(parents=True)
    with house.blobs.as_file(task.blob_key) as path:
        return run(house, task, prepare_recording, path, folder, bool(task.parameters["channel_speakers"]))


def prepare_recording(path: Path, folder: Path, channel_speakers: bool) -> transcribe.Prepared:
    """`transcribe.prepare`, for a child process."""
    return transcribe.prepare(path, folder, channel_speakers=channel_speakers)


def decoded_folder(house: Workshop, task: Task, recording: transcribe.Prepared) -> Path:
    """The work folder with the samples in it, made again where they are gone."""
    folder = folder_of(house, task.id)
    if not transcribe.is_prepared(folder, recording):
        decode(house, task)
    return folder
