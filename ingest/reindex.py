"""Fills an index from the store: one of another embedding model, one that was lost, what one of them missed.

A durable job goes over every document, communication and memory, compares it with what the index holds of it, and puts
in what is lacking: so it may run twice, go on where a crash left it, and find out what happened while it ran. An index
is complete after a pass without failures and without anything noted meanwhile (`store/index_work.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from typing import TypedDict

import structlog

from ingest.filling import fill_communication, fill_document, fill_memory, fill_together, passages_of_document
from ingest.index_state import IndexState, Progress, read_state, write_progress, write_state
from ingest.timelines import communication_passages, index_communication, index_memory, memory_passages
from ingest.workshop import REFILL_QUEUE, Workshop, workshop
from rag.generation import Generation, Passage
from store import analysis, communications, index_work, knowledge
from store.database import Connection, now
from store.jobs import ENDED_BADLY, step, workflow

log = structlog.get_logger(__name__)

_PAGE = 50
_PAGE_OF_FEW = 1000
_POINTS = 1000
_ROUNDS = 10
_JOB_IDS = 500
_HOPELESS_PAGES = 3
_PAUSE_S = 120.0
"""After a pass with failures: what it waits for, a provider say, is seldom back at once."""

_Page = Callable[..., list[tuple[str, str]]]
_Read = Callable[[Workshop, str, str], list[Passage]]
_Fill = Callable[[Workshop, str, str, str], None]
_KINDS: dict[str, tuple[_Page, _Read, _Fill]] = {
    "documents": (knowledge.page_of_all, passages_of_document, fill_document),
    "communications": (communications.page_of_all, communication_passages, fill_communication),
    "memory": (analysis.page_of_remembered, memory_passages, fill_memory),
}


def _forget_document(house: Workshop, tenant_id: str, document_id: str) -> None:
    house.indexes.delete(tenant_id, document_id=document_id)


# Somebody may be remembered again meanwhile; a document that is gone does not come back.
_FOLLOW: dict[str, Callable[[Workshop, str, str], None]] = {
    "document": _forget_document,
    "communication": index_communication,
    "memory": index_memory,
}


class Round(TypedDict):
    """What one round goes over: `tenants` None for all of them. `noted`: what is ticked off by it, as it was then."""

    tenants: list[str] | None
    noted: list[list[str | int]]


def sweep() -> None:
    """Switches over where that is due, and starts the job for each index that lacks something."""
    house = workshop()
    house.indexes.look(alone=not house.jobs.others())
    _note_state(house)
    for name in house.indexes.names:
        generation = house.indexes.in_use(name)
        if generation is not None and not generation.lacks_model:
            _start_if_needed(house, generation)


def _note_state(house: Workshop) -> None:
    indexes = house.indexes
    wanted = indexes.wanted
    whole = wanted is not None and indexes.serving_name == indexes.name and wanted.index.is_complete()
    state = IndexState(indexes.serving_name, None if whole else indexes.name, indexes.trouble)
    if state != read_state(house.settings):
        write_state(house.settings, state)


def _start_if_needed(house: Workshop, generation: Generation) -> None:
    complete = generation.name != house.indexes.name or generation.index.is_current()
    with house.database.read() as connection:
        noted = index_work.list_refills(connection, generation.name)
        empty = not complete and not any(page(connection, after=None, limit=1) for page, _, _ in _KINDS.values())
    if complete and not any(each.is_due for each in noted):
        return
    if any(each.tenant_id is None and not each.is_due for each in noted):
        return  # the pause after a pass that failed
    if empty:
        generation.index.mark_complete()
        house.indexes.look()
        return
    job_id = _free_job_id(house, generation.name)
    if job_id is not None:
        log.warning("the index is filled again", index=generation.name, complete=complete, job=job_id)
        house.jobs.enqueue(REFILL_QUEUE, job_id, reindex_everything, generation.name)


def _free_job_id(house: Workshop, name: str) -> str | None:
    """None while a job of this index is there. All processes find the same id, so that one job comes of it."""
    ids = [f"reindex-{name}-{number}" for number in range(_JOB_IDS)]
    known = house.jobs.statuses(ids)
    if any(status not in (*ENDED_BADLY, "SUCCESS") for status in known.values()):
        return None
    return next((job_id for job_id in ids if job_id not in known), None)


@workflow(name="reindex_everything")
def reindex_everything(name: str = "") -> None:
    """Ends without a word where this process does not have that index: another one's sweep starts it again."""
    due = _begin(name)
    for _ in range(_ROUNDS):
        if due is None:
            return
        failed, done, hopeless = 0, 0, 0
        for kind in _KINDS:
            after: str | None = None
            while hopeless < _HOPELESS_PAGES and (page := _fill_page(name, kind, after, due["tenants"], done, failed)):
                after, count, failures = page["after"], page["count"], page["failed"]
                done, failed = done + count, failed + failures
                hopeless = hopeless + 1 if failures and failures == count else 0
        if due["tenants"] is None:
            cleared: Cleared | None = Cleared(after=None)
            while cleared is not None:
                cleared = _clear_page(name, cleared["after"])
        due = _end_round(name, due, failed)


@step(name="begin_reindex")
def _begin(name: str) -> Round | None:
    house = workshop()
    generation = house.indexes.in_use(name)
    if generation is None or generation.lacks_model:
        return None
    everything = name == house.indexes.name and not generation.index.is_current()
    with house.database.read() as connection:
        return _round(connection, name, everything=everything)


def _round(connection: Connection, name: str, *, everything: bool) -> Round | None:
    noted = [each for each in index_work.list_refills(connection, name) if each.is_due]
    if not noted and not everything:
        return None
    tenants = {each.tenant_id for each in noted}
    return Round(
        tenants=None if everything or None in tenants else sorted(id_ for id_ in tenants if id_ is not None),
        noted=[[each.work.tenant_id, each.work.subject_id, each.work.version] for each in noted],
    )


class Page(TypedDict):
    after: str
    count: int
    failed: int


@step(name="reindex_page", retries_allowed=True, max_attempts=5)
def _fill_page(
    name: str, kind: str, after: str | None, tenants: list[str] | None, done: int, failed: int
) -> Page | None:
    """Goes over the subjects behind `after`; None when there are no more."""
    house = workshop()
    list_page, read, fill = _KINDS[kind]
    with house.database.read() as connection:
        rows = list_page(connection, after=after, limit=_PAGE if tenants is None else _PAGE_OF_FEW)
        total = index_work.count_subjects(connection)
    if not rows:
        return None
    chosen = rows if tenants is None else [row for row in rows if row[0] in tenants]
    for tenant_id, of_tenant in groupby(sorted(chosen), key=itemgetter(0)):
        _try(fill_together, house, name, tenant_id, [row[1] for row in of_tenant], read)
    failures = sum(not _try(fill, house, name, *row) for row in chosen)
    progress = Progress(min(done + len(rows), total), total, failed + failures, now().isoformat())
    write_progress(house.settings, name, progress)
    log.info("filling the index", index=name, **asdict(progress))
    return Page(after=rows[-1][1], count=len(rows), failed=failures)


class Cleared(TypedDict):
    after: str | None


@step(name="clear_page", retries_allowed=True, max_attempts=5)
def _clear_page(name: str, after: str | None) -> Cleared | None:
    """Takes out what the index holds of whom the store does not know: it may be of another moment, as after a
    restore."""
    house = workshop()
    generation = house.indexes.in_use(name)
    if generation is None:
        return None
    found, following = generation.index.subjects(after, _POINTS)
    for kind in {subject.kind for subject in found}:
        of_kind = [subject for subject in found if subject.kind == kind]
        with house.database.read() as connection:
            there = index_work.subjects_there(connection, kind, [subject.id for subject in of_kind])
        for subject in of_kind:
            if (subject.tenant_id, subject.id) not in there:
                _FOLLOW[kind](house, subject.tenant_id, subject.id)
                log.info("took out of the index what is not in the store", index=name, kind=kind, subject=subject.id)
    return None if following is None else Cleared(after=following)


def _try(fill: Callable[..., None], house: Workshop, name: str, tenant_id: str, *what: object) -> bool:
    try:
        fill(house, name, tenant_id, *what)
    # One account's trouble must not keep the others out of the index; a later pass tries it again.
    except Exception:
        log.exception("could not be put into the index", index=name, tenant_id=tenant_id, subject=what[0])
        return False
    return True


@step(name="end_round", retries_allowed=True, max_attempts=5)
def _end_round(name: str, ended: Round, failed: int) -> Round | None:
    """Ticks off what was filled; the next round where more was noted meanwhile. Without any, the index is complete."""
    house = workshop()
    generation = house.indexes.in_use(name)
    if generation is None:
        return None
    with house.database.write() as connection:
        if failed:
            pause = timedelta(seconds=_PAUSE_S)
            index_work.note_refill(connection, name, not_before=now() + pause)
            log.error("the index is not complete yet", index=name, failed=failed)
            return None
        for tenant_id, subject_id, version in ended["noted"]:
            work = index_work.IndexWork(str(subject_id), index_work.REFILL_INDEX, str(tenant_id), None, int(version))
            index_work.done(work.tenant_id, connection, work)
        due = _round(connection, name, everything=False)
    if due is not None:
        return due
    write_progress(house.settings, name, None)
    if name == house.indexes.name:
        generation.index.mark_complete()
        log.info("the index is complete", index=name)
        house.indexes.look()
        _note_state(house)
    return None
