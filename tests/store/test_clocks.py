"""Whose time is gone by where a machine's clock differs from the database's."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from store import clocks
from store.clocks import Clock
from tests.support.clock import WallClock

HOUR_S = 3600
TELL = """
import sys
from datetime import UTC, datetime
from store.database import Database, now
from store.settings import load_settings
database = Database(load_settings(database_url=sys.argv[1]))
with database.read():
    print(now().timestamp(), datetime.now(UTC).timestamp())
"""


def compared(clock: Clock, apart_s: float) -> float:
    """By how much the time that is gone by is ahead of the machine's, after a look at a database that is."""
    clock.compare(lambda: datetime.now(UTC) + timedelta(seconds=apart_s))
    return (clock.now() - datetime.now(UTC)).total_seconds()


def test_the_databases_clock_is_gone_by_where_the_two_differ_by_more_than_a_minute() -> None:
    clock = Clock()
    assert compared(clock, 50) == pytest.approx(0, abs=0.1), "as clocks beside each other differ"
    assert compared(clock, HOUR_S) == pytest.approx(HOUR_S, abs=0.1)
    assert clock.ahead_s == pytest.approx(-HOUR_S, abs=0.1)
    assert compared(clock, -HOUR_S) == pytest.approx(-HOUR_S, abs=0.1)
    assert compared(clock, 2) == pytest.approx(0, abs=0.1), "it was set right"


def test_an_answer_that_took_long_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "_MOST_LATE_S", -1.0)
    assert compared(Clock(), HOUR_S) == pytest.approx(0, abs=0.1)


@pytest.mark.postgresql
@pytest.mark.parametrize("moved_s", [HOUR_S, -HOUR_S])
def test_a_process_whose_clock_is_wrong_goes_by_postgresqls(postgresql_url: str, tmp_path: Path, moved_s: int) -> None:
    clock = WallClock(tmp_path)
    clock.set(moved_s)
    told = subprocess.run(
        [sys.executable, "-c", TELL, postgresql_url],
        cwd=Path(__file__).parents[2],
        env={"PATH": "/usr/bin", **clock.environment},
        capture_output=True,
        text=True,
        check=True,
    )
    gone_by_s, own_s = map(float, told.stdout.splitlines()[-1].split())
    real_s = datetime.now(UTC).timestamp()
    assert own_s - real_s == pytest.approx(moved_s, abs=60), "the machine's own clock was set"
    assert gone_by_s == pytest.approx(real_s, abs=60)
