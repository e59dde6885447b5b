"""Jobs that are put off begin when they are due by the time that all machines have in common (`store.clocks`).

DBOS goes by the clock of the machine whose turn it is to look: one that is set an hour forward would have every job of
the installation begin an hour early.
"""

from __future__ import annotations

import sqlalchemy as sa
from dbos._sys_db import SystemDatabase  # it has no public name

from store.clocks import CLOCK


def _let_begin(system: SystemDatabase) -> None:
    """DBOS's own statement but for the clock; and no job of ours has a debounce key, which that one takes away."""
    jobs = system.tables.workflow_status
    begin = sa.update(jobs).values(status="ENQUEUED")
    is_due = jobs.c.delay_until_epoch_ms <= round(CLOCK.time_s() * 1000)
    is_ours = system._name_filter(jobs.c.application_name, system.app_name)
    with system.engine.begin() as connection:
        connection.execute(begin.where(jobs.c.status == "DELAYED", is_due, is_ours))


def go_by_the_common_clock() -> None:
    """In this process. On the class, since DBOS looks for the first time while it is launched, when there is no object
    yet that could be had; and in every process, since whichever has the turn looks for all."""
    SystemDatabase.transition_delayed_workflows = _let_begin  # type: ignore[method-assign, assignment]


def told_to_dbos(delay_s: float) -> float:
    """It adds that to what the machine's clock shows."""
    return delay_s - CLOCK.ahead_s
