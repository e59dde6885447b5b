"""Jobs that are put off come when they are due by the time that all machines have in common (`store.clocks`). DBOS goes
by the machine's clock: one that is set an hour forward would have every job of the installation come an hour early."""

from __future__ import annotations

import sqlalchemy as sa
from dbos._sys_db import SystemDatabase  # it has no public name

from store.clocks import CLOCK


class Delays:
    """Stands before `system` for the thread that lets delayed jobs begin."""

    def __init__(self, system: SystemDatabase) -> None:
        self._system = system
        self._by_the_machine = system.transition_delayed_workflows
        system.transition_delayed_workflows = self._let_begin  # type: ignore[method-assign]

    def _let_begin(self) -> None:
        if not CLOCK.ahead_s:
            self._by_the_machine()
            return
        jobs = self._system.tables.workflow_status
        is_due = jobs.c.delay_until_epoch_ms <= round(CLOCK.time_s() * 1000)
        begin = sa.update(jobs).where(jobs.c.status == "DELAYED", is_due).values(status="ENQUEUED")
        with self._system.engine.begin() as connection:
            connection.execute(begin)


def by_the_machine(delay_s: float) -> float:
    """What to tell DBOS, which counts from the machine's clock."""
    return delay_s - CLOCK.ahead_s
