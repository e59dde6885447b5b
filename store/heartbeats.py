"""Workers say in the database that they live, and what they take; who is not heard any more is told from who is."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from store.database import Connection, ago, insert_ignoring, metadata, time_column

GPU = "gpu"
"""Among what a worker takes: that its models of speech run on one."""
workers = sa.Table(
    "workers",
    metadata,
    sa.Column("executor_id", sa.String(200), primary_key=True),
    sa.Column("process_id", sa.Integer, nullable=False),
    time_column("last_seen_at", nullable=False),
    # Of `WORK`, and GPU; none is told of by workers of the release before.
    sa.Column("takes", sa.JSON, nullable=False, server_default="[]"),
    # Named by its embedding model; none is told of by processes of the release before.
    sa.Column("index_name", sa.String(200)),
)

# Nothing else of a worker: each reads those of all, every few seconds.
_BEATS = sa.select(workers.c.executor_id, workers.c.last_seen_at)
_FAREWELL = datetime(1970, 1, 1, tzinfo=UTC)
_UNHEARD = datetime(1970, 1, 2, tzinfo=UTC)
_ABSENT = 0
"""No process has that id."""
_LATE = 1.2  # times as long as meant, at most, between two looks on a machine that is busy


@dataclass(frozen=True, slots=True)
class Worker:
    """A process whose heartbeat is fresh; what it takes: kinds of `WORK`, and GPU where it hears calls by one; and the
    index that it fills and searches, which is named by its embedding model."""

    executor_id: str
    process_id: int
    last_seen_at: datetime
    takes: tuple[str, ...]
    index_name: str | None


@dataclass(frozen=True, slots=True)
class _Heard:
    """The last beat of a worker, and for how long it was the last at each look."""

    beat_at: datetime
    silent_s: float


def beat(connection: Connection, executor_id: str, takes: Sequence[str], index_name: str | None) -> None:
    values = {
        "process_id": os.getpid(),
        "last_seen_at": ago(connection, 0.0),
        "takes": list(takes),
        "index_name": index_name,
    }
    mine = sa.update(workers).where(workers.c.executor_id == executor_id).values(**values)
    if connection.execute(mine).rowcount == 0:
        connection.execute(sa.insert(workers).values(executor_id=executor_id, **values))


def say_farewell(connection: Connection, executor_id: str) -> None:
    """The last of a worker: nobody waits for its next beat."""
    connection.execute(sa.update(workers).where(workers.c.executor_id == executor_id).values(last_seen_at=_FAREWELL))


def forget(connection: Connection, executor_ids: Collection[str]) -> None:
    connection.execute(sa.delete(workers).where(workers.c.executor_id.in_(executor_ids)))


def unheard(connection: Connection, executor_ids: Set[str]) -> Set[str]:
    """Those that there is no row of."""
    return executor_ids - set(connection.execute(sa.select(workers.c.executor_id)).scalars())


def expect(connection: Connection, executor_id: str) -> None:
    """Has one that there is no row of be missed, unless it is heard from now on."""
    insert_ignoring(connection, workers, {"executor_id": executor_id, "process_id": _ABSENT, "last_seen_at": _UNHEARD})


def live_workers(connection: Connection, *, fresh_for_s: float) -> list[Worker]:
    """The workers that were heard within so many seconds, by name."""
    query = (
        sa.select(*(workers.c[name] for name in Worker.__dataclass_fields__))
        .where(_is_fresh(connection, fresh_for_s))
        .order_by(workers.c.executor_id)
    )
    rows = connection.execute(query)
    return [Worker(row.executor_id, row.process_id, row.last_seen_at, tuple(row.takes), row.index_name) for row in rows]


def is_one_alive(connection: Connection, *, fresh_for_s: float) -> bool:
    """Whether a worker was heard within so many seconds, of whichever release: no column that is of later ones is
    read, and there may be no such table at all."""
    if not sa.inspect(connection).has_table(workers.name):
        return False
    query = sa.select(workers.c.executor_id).where(_is_fresh(connection, fresh_for_s)).limit(1)
    return connection.execute(query).first() is not None


def _is_fresh(connection: Connection, fresh_for_s: float) -> sa.ColumnElement[bool]:
    """A beat of the future is from before the clock was set back, and says no more than an old one."""
    return workers.c.last_seen_at.between(ago(connection, fresh_for_s), ago(connection, -fresh_for_s))


def note_absence(connection: Connection) -> None:
    """Of all workers, where none lives. `was_one_heard` then tells of any that was, and of one that has said farewell
    since, too: its row is as it was but for this."""
    connection.execute(sa.update(workers).values(process_id=_ABSENT))


def was_one_heard(connection: Connection) -> bool:
    """Since `note_absence`."""
    return connection.execute(sa.select(sa.exists().where(workers.c.process_id != _ABSENT))).scalar_one()


class Listener:
    """Tells which workers fell silent: those whose heartbeat it has not seen change for `after_s` of its own running
    time. Clocks that are set forward or back so make nobody silent, and keep nobody alive."""

    def __init__(self, executor_id: str, *, after_s: float, looks_every_s: float) -> None:
        """`executor_id`: who listens, and is never silent to itself. `looks_every_s`: how often it means to look. Time
        in which it could not, as the database was away, counts as one look: the others could not beat either."""
        self._others = workers.c.executor_id != executor_id
        self._after_s = after_s
        self._most_between_s = looks_every_s * _LATE
        self._looked_s: float | None = None
        self._heard: dict[str, _Heard] = {}

    def silent(self, connection: Connection, *, can_beat: bool = True) -> list[str]:
        """`can_beat`: whether a beat of who listens got through lately. Where none did, on a disk that is full, say,
        nobody else's can, and all begin anew."""
        beats = self._beats(connection, _BEATS)
        looked_s = time.monotonic()
        passed_s = min(looked_s - self._looked_s, self._most_between_s) if self._looked_s is not None else 0.0
        self._looked_s = looked_s
        before, self._heard = self._heard, {}
        for worker, beat_at in beats.items():
            heard, silent_s = before.get(worker), 0.0
            if can_beat and heard is not None and heard.beat_at == beat_at:
                silent_s = heard.silent_s + passed_s
            self._heard[worker] = _Heard(beat_at, silent_s)
        return [worker for worker, beat_at in beats.items() if self._is_silent(worker, beat_at)]

    def hold_silent(self, connection: Connection) -> list[str]:
        """Those that were silent at the last look, are still, and that no other taker holds; each held until the
        transaction ends."""
        beats = self._beats(connection, _BEATS.with_for_update(skip_locked=True))
        return [worker for worker, beat_at in beats.items() if self._is_silent(worker, beat_at)]

    def _beats(self, connection: Connection, query: sa.Select[Any]) -> dict[str, datetime]:
        return {row.executor_id: row.last_seen_at for row in connection.execute(query.where(self._others))}

    def _is_silent(self, worker: str, beat_at: datetime) -> bool:
        heard = self._heard.get(worker)
        is_overdue = heard is not None and heard.beat_at == beat_at and heard.silent_s > self._after_s
        return beat_at == _FAREWELL or is_overdue
