"""Who keeps house: one worker at a time, and another soon after it is gone."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from store import housekeeping
from store.database import Database, now
from tests.store.conftest import database as database

FOR_S = 60.0


def takes(database: Database, worker: str) -> bool:
    with database.write() as connection:
        return housekeeping.take(connection, worker, for_s=FOR_S)


def set_until(database: Database, ahead_s: float) -> None:
    with database.write() as connection:
        connection.execute(sa.update(housekeeping.housekeeping).values(until=now() + timedelta(seconds=ahead_s)))


def test_one_keeps_it_from_sweep_to_sweep(database: Database) -> None:
    assert [takes(database, worker) for worker in ("one", "other", "one", "other")] == [True, False, True, False]


def test_another_has_it_when_the_first_was_not_heard_for_long_enough(database: Database) -> None:
    assert takes(database, "one")
    set_until(database, -1.0)
    assert takes(database, "other")
    assert not takes(database, "one")


def test_who_stops_lets_go_of_its_own_alone(database: Database) -> None:
    assert takes(database, "one")
    for worker, is_free in (("other", False), ("one", True)):
        with database.write() as connection:
            housekeeping.let_go(connection, worker)
        assert takes(database, "other") is is_free


def test_a_clock_that_is_set_back_keeps_nobody_from_it(database: Database) -> None:
    assert takes(database, "one")
    set_until(database, 3600.0)
    assert takes(database, "other")
