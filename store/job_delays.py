"""Jobs that are put off begin when they are due by the clock of PostgreSQL, which all machines have in common.

DBOS goes by that of the machine whose turn it is to look: one that is set an hour forward would have every job of the
installation begin an hour early.
"""

from __future__ import annotations

import sqlalchemy as sa
from dbos._sys_db import SystemDatabase  # it has no public name

from store.clocks import CLOCK

_by_the_machine = SystemDatabase.transition_delayed_workflows


def _let_begin(system: SystemDatabase) -> None:
    """DBOS's own statement but for the clock; and no job of ours has a debounce key, which that one takes away."""
    if system.engine.dialect.name == "sqlite":
        _by_the_machine(system)
        return
    jobs = system.tables.workflow_status
    begin = sa.update(jobs).values(status="ENQUEUED")
    is_due = jobs.c.delay_until_epoch_ms <= system._now_ms_sql()
    is_ours = system._name_filter(jobs.c.application_name, system.app_name)
    with system.engine.begin() as connection:
        connection.execute(begin.where(jobs.c.status == "DELAYED", is_due, is_ours))


def go_by_the_databases_clock() -> None:
    """In this process, from DBOS's launch on: whichever process looks first looks for all."""
    SystemDatabase.transition_delayed_workflows = _let_begin  # type: ignore[method-assign, assignment]


def by_the_machine(delay_s: float) -> float:
    """What to tell DBOS, which counts from the machine's clock."""
    return delay_s - CLOCK.ahead_s
