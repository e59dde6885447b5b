"""What a server keeps of documents, read by the library calls that it uses itself: rows, blobs, points, jobs."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from dbos import error

from ingest.documents.document_job import workflow_id
from rag.qdrant_edge_index import EdgeIndex
from store import index_work, knowledge
from store.blobs import Blobs
from tests.support.job_steps import client_of_jobs, executor_of
from tests.support.server import JOB_S, Account, RunningServer

_OPEN = ["PENDING", "ENQUEUED", "DELAYED"]


class DocumentJobs:
    """Reads how far the documents of a server are."""

    def __init__(self, server: RunningServer) -> None:
        self._client = client_of_jobs(server)

    def close(self) -> None:
        self._client.destroy()

    def steps_done(self, document_id: str, run: int) -> list[str]:
        """Their names, in order."""
        try:
            steps = self._client.list_workflow_steps(workflow_id(document_id, run), load_output=False)
        except error.DBOSException:  # not started yet
            return []
        return [step["function_name"] for step in steps]

    def wait_for_steps(self, document_id: str, run: int, count: int) -> None:
        """Until so many steps are recorded: the next one has just begun."""
        deadline = time.monotonic() + JOB_S
        while len(self.steps_done(document_id, run)) < count:
            assert time.monotonic() < deadline, f"{document_id}.{run} did not come to {count} steps"
            time.sleep(0.01)

    def executor(self, document_id: str, run: int) -> str | None:
        """Who works on it, or did last."""
        return executor_of(self._client, workflow_id(document_id, run))

    def open_runs(self) -> list[str]:
        found = self._client.list_workflows(
            name="index_document", status=_OPEN, load_input=False, load_output=False, limit=1000
        )
        return [job.workflow_id for job in found]

    def wait(self, wait_s: float = JOB_S) -> None:
        """Until no document is in work."""
        deadline = time.monotonic() + wait_s
        while open_runs := self.open_runs():
            assert time.monotonic() < deadline, open_runs
            time.sleep(0.02)


@contextmanager
def document_jobs(server: RunningServer) -> Iterator[DocumentJobs]:
    opened = DocumentJobs(server)
    try:
        yield opened
    finally:
        opened.close()


@dataclass(frozen=True, slots=True)
class Kept:
    """Of one account: chunk ids and points by document id, blob keys that documents name, and those that are there."""

    statuses: dict[str, str]
    chunk_ids: dict[str, set[str]]
    point_ids: dict[str, set[str]]
    points: int
    named_blobs: set[str]
    blobs: set[str]
    open_work: Counter[str]

    def assert_whole(self) -> None:
        """Every passage is in the index and nothing else is, every blob has its row and every row its blob."""
        assert self.point_ids == self.chunk_ids
        assert self.points == sum(map(len, self.chunk_ids.values())), "points that belong to no document"
        assert self.blobs == self.named_blobs
        assert not self.open_work


def kept(account: Account) -> Kept:
    """To be asked for when the server is stopped: it owns its index."""
    server, tenant_id = account.server, account.tenant_id
    assert server.process is None or server.process.poll() is not None
    documents, chunks = knowledge.documents.c, knowledge.chunks.c
    with server.database.read() as connection:
        rows = connection.execute(sa.select(knowledge.documents).where(documents.tenant_id == tenant_id)).all()
        columns: list[sa.Column[Any]] = [chunks.document_id, chunks.id, chunks.run]
        found = connection.execute(sa.select(*columns).where(chunks.tenant_id == tenant_id)).all()
        work = [each for each in index_work.list_open(connection) if each.tenant_id == tenant_id]
    versions = {row.id: row.version for row in rows}
    chunk_ids: dict[str, set[str]] = {row.id: set() for row in rows}
    for document_id, chunk_id, run in found:
        assert versions.get(document_id) == run, f"chunks of a run that is no version: {document_id} {run}"
        assert chunk_id not in chunk_ids[document_id]
        chunk_ids[document_id].add(chunk_id)
    assert {row.id: len(chunk_ids[row.id]) for row in rows} == {row.id: row.chunk_count for row in rows}
    (folder,) = [path.parent for path in (server.data_dir / "index").glob("*/shards/index.json")]
    made_for = json.loads((folder / "index.json").read_text())
    index = EdgeIndex(folder, made_for["dimension"], model=made_for["model"])
    try:
        point_ids = {id_: index.ids_of(tenant_id, document_id=id_) for id_ in chunk_ids}
        points = index.count(tenant_id)
    finally:
        index.close()
    return Kept(
        statuses={row.id: row.status for row in rows},
        chunk_ids=chunk_ids,
        point_ids=point_ids,
        points=points,
        named_blobs={row.blob_key for row in rows if row.url is None or row.version},
        blobs={entry.key for entry in Blobs(server.settings).list(f"{tenant_id}/documents")},
        open_work=Counter(each.action for each in work),
    )
