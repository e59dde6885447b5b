"""Where runs of indexing keep what they need not do again: recognised pages, decoded audio. Named after their jobs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from ingest.workshop import Workshop
from store import knowledge


def folder_of(house: Workshop, job_id: str) -> Path:
    return _root(house) / job_id


def clear(house: Workshop, job_id: str) -> None:
    shutil.rmtree(folder_of(house, job_id), ignore_errors=True)


def sweep(house: Workshop, job_id_of: Callable[[str, int], str]) -> None:
    """Removes the folders of runs that have ended, elsewhere perhaps. `job_id_of`: by document and run."""
    root = _root(house)
    folders = {folder.name for folder in root.iterdir()} if root.is_dir() else set()
    if not folders:
        return
    # Read after the folders: a run that has one by now began before.
    with house.database.read() as connection:
        unfinished = knowledge.unfinished_among(connection, {name.partition(".")[0] for name in folders})
    for job_id in folders - {job_id_of(*run) for run in unfinished}:
        clear(house, job_id)


def _root(house: Workshop) -> Path:
    return house.work_folder.with_name("document-work")  # in `work` every folder belongs to a call
