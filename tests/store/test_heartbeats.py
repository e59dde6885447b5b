"""Who is silent is told by running time: clocks that are set change nothing."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from store import heartbeats
from store.database import Database
from store.heartbeats import Listener, workers

AFTER_S = 0.3


@pytest.fixture
def listener() -> Listener:
    return Listener("me", after_s=AFTER_S, looks_every_s=AFTER_S)


class RunningTime:
    """The listeners' own, which a busy machine does not hurry."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def pass_by(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def running_time(monkeypatch: pytest.MonkeyPatch) -> RunningTime:
    clock = RunningTime()
    monkeypatch.setattr(heartbeats, "time", SimpleNamespace(monotonic=lambda: clock.now_s))
    return clock


def beat(database: Database, worker: str) -> None:
    with database.write() as connection:
        heartbeats.beat(connection, worker, ["speech"], "use-multilingual-v3")


def set_clock(database: Database, worker: str, by: timedelta) -> None:
    """As if the worker had written by another clock."""
    with database.write() as connection:
        mine = workers.c.executor_id == worker
        last = connection.execute(sa.select(workers.c.last_seen_at).where(mine)).scalar_one()
        connection.execute(sa.update(workers).where(mine).values(last_seen_at=last + by))


def silent(database: Database, listener: Listener) -> list[str]:
    with database.write() as connection:
        found = listener.silent(connection)
        assert listener.hold_silent(connection) == found
        return found


@pytest.mark.parametrize(
    "by", [timedelta(hours=-1), timedelta(0), timedelta(hours=1)], ids=["back", "right", "forward"]
)
def test_who_beats_is_alive_and_who_does_not_is_silent_whatever_its_clock_says(
    database: Database, listener: Listener, running_time: RunningTime, by: timedelta
) -> None:
    for worker in ("me", "alive", "gone"):
        beat(database, worker)
        set_clock(database, worker, by)
    assert silent(database, listener) == [], "nobody is given up at first sight"
    running_time.pass_by(AFTER_S / 2)
    beat(database, "alive")
    set_clock(database, "alive", by)
    assert silent(database, listener) == []
    running_time.pass_by(AFTER_S / 2 + 0.1)
    assert silent(database, listener) == ["gone"]
    with database.write() as connection:
        heartbeats.forget(connection, ["gone"])
    assert silent(database, listener) == []


def test_who_says_farewell_is_waited_for_no_more_until_it_beats_again(database: Database, listener: Listener) -> None:
    beat(database, "leaving")
    assert silent(database, listener) == []
    with database.write() as connection:
        heartbeats.say_farewell(connection, "leaving")
    assert silent(database, listener) == ["leaving"]
    beat(database, "leaving")
    assert silent(database, listener) == []


def test_who_came_and_went_while_all_were_to_be_away_was_heard(database: Database) -> None:
    def goes(worker: str) -> None:
        with database.write() as connection:
            heartbeats.say_farewell(connection, worker)

    beat(database, "old")
    goes("old")
    with database.write() as connection:
        heartbeats.note_absence(connection)
        assert not heartbeats.was_one_heard(connection)
    for worker in ("old", "new"):
        beat(database, worker)
        goes(worker)
        with database.write() as connection:
            assert heartbeats.was_one_heard(connection)
            heartbeats.note_absence(connection)


def test_who_could_not_look_takes_nobody_for_silent_who_could_not_beat(
    database: Database, running_time: RunningTime
) -> None:
    listener = Listener("me", after_s=AFTER_S, looks_every_s=AFTER_S / 3)
    for worker in ("alive", "gone"):
        beat(database, worker)
    assert silent(database, listener) == []
    running_time.pass_by(1000 * AFTER_S)  # the database was away
    assert silent(database, listener) == []
    beat(database, "alive")
    found = []
    for _ in range(3):
        running_time.pass_by(AFTER_S / 3)
        beat(database, "alive")
        found.append(silent(database, listener))
    assert found[-1] == ["gone"]
    assert found[0] == []


def test_who_cannot_beat_takes_nobody_else_for_silent(database: Database, running_time: RunningTime) -> None:
    """On a disk that is full everything can be read and nobody's beat is written."""
    listener = Listener("me", after_s=AFTER_S, looks_every_s=AFTER_S / 3)
    beat(database, "alive")
    for _ in range(10):
        with database.write() as connection:
            assert listener.silent(connection, can_beat=False) == []
        running_time.pass_by(AFTER_S / 3)
    assert silent(database, listener) == []
    for _ in range(4):
        running_time.pass_by(AFTER_S / 3)
        found = silent(database, listener)
    assert found == ["alive"], "who is silent from then on is given up"


def test_one_taker_alone_holds_a_silent_worker(database: Database, running_time: RunningTime) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    beat(database, "gone")
    takers = [Listener(name, after_s=AFTER_S, looks_every_s=AFTER_S) for name in ("first", "second")]
    for _ in range(2):
        for taker in takers:
            with database.read() as connection:
                taker.silent(connection)
        running_time.pass_by(1.1 * AFTER_S)
    with database.write() as first, database.write() as second:
        assert takers[0].hold_silent(first) == ["gone"]
        assert takers[1].hold_silent(second) == []


@pytest.mark.parametrize(("by", "is_alive"), [(-20, False), (-1, True), (1, True), (20, False)])
def test_a_beat_of_another_time_than_now_says_nothing(database: Database, by: int, is_alive: bool) -> None:
    """After the clock was set back, the last beat of who died lies in the future."""
    beat(database, "worker")
    set_clock(database, "worker", timedelta(seconds=by))
    with database.read() as connection:
        assert bool(heartbeats.live_workers(connection, fresh_for_s=10)) == is_alive
        assert heartbeats.is_one_alive(connection, fresh_for_s=10) == is_alive
