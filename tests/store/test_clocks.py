"""Whose time is gone by where a machine's clock differs from the database's."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
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


class Machine:
    """Whose clock and running time are what a test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown_s = self.real_s = 1_800_000_000.0
        monkeypatch.setattr(clocks.time, "time", lambda: self.shown_s)
        monkeypatch.setattr(clocks, "_running_s", lambda: self.real_s - 1_700_000_000.0)
        self.clock = Clock()

    def pass_by(self, seconds: float) -> None:
        self.shown_s += seconds
        self.real_s += seconds

    def compare(self, *, took_s: float = 0.0, off_s: float = 0.0) -> None:
        """With a database whose clock goes right."""

        def ask() -> datetime:
            self.pass_by(took_s)
            return datetime.fromtimestamp(self.real_s - took_s / 2 + off_s, UTC)

        self.clock.compare(ask)

    @property
    def wrong_by_s(self) -> float:
        """What is gone by."""
        return self.clock.time_s() - self.real_s


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_the_machines_clock_is_gone_by_until_it_was_compared_and_where_it_goes_right(machine: Machine) -> None:
    machine.shown_s += HOUR_S
    assert machine.wrong_by_s == HOUR_S
    machine.compare()
    assert machine.wrong_by_s == 0
    machine.shown_s = machine.real_s + 50
    assert machine.wrong_by_s == 0, "right again only when it is within half a minute"
    machine.shown_s = machine.real_s + 20
    assert machine.wrong_by_s == 20
    machine.shown_s = machine.real_s - 50
    assert machine.wrong_by_s == -50, "as clocks beside each other differ"


@pytest.mark.parametrize("moved_s", [HOUR_S, -HOUR_S])
def test_a_clock_that_is_set_is_known_at_once_and_so_is_one_that_is_put_right(machine: Machine, moved_s: int) -> None:
    machine.compare()
    machine.pass_by(2)
    machine.shown_s += moved_s
    assert machine.wrong_by_s == 0
    assert machine.clock.ahead_s == moved_s
    machine.compare()
    machine.pass_by(2)
    machine.shown_s -= moved_s
    assert (machine.wrong_by_s, machine.clock.ahead_s) == (0, 0)


def test_time_does_not_go_to_and_fro_with_how_long_answers_take(machine: Machine) -> None:
    machine.shown_s += HOUR_S
    machine.compare()
    before_s = machine.wrong_by_s
    machine.compare(took_s=0.5, off_s=0.2)
    assert machine.wrong_by_s == before_s
    machine.compare(took_s=0.5, off_s=3.0)
    assert machine.wrong_by_s == pytest.approx(3.0, abs=0.3), "the database's clock was set"


def test_an_answer_that_took_long_says_nothing_but_the_first(machine: Machine) -> None:
    machine.shown_s += HOUR_S
    machine.compare(took_s=40)
    assert machine.wrong_by_s == HOUR_S
    machine.compare(took_s=10, off_s=4)
    assert machine.wrong_by_s == pytest.approx(4)
    machine.compare(took_s=2, off_s=-300)
    assert machine.wrong_by_s == pytest.approx(4)


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
