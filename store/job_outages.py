"""A job waits for its own record where SQLite's disk is full.

Of PostgreSQL DBOS does so by itself. Of SQLite it takes a full disk for the job's own error, and writes that down,
which needs less room than what failed: a call would end for good that only had to wait.
"""

from __future__ import annotations

from dbos import _sys_db  # none of these has a public name
from dbos._context import get_local_dbos_context
from dbos._utils import retriable_sqlite_exception

from store.database import is_sqlite_away


def _is_worth_another_try(error: Exception) -> bool:
    """DBOS asks it of each error of SQLite's, and tries again without an end."""
    # Whoever accepts work, or looks for it, is told at once: no request and no sweep waits for a disk. They have a
    # context too while they accept, of no job.
    context = get_local_dbos_context()
    is_of_a_job = context is not None and context.is_within_workflow()
    return retriable_sqlite_exception(error) or (is_of_a_job and is_sqlite_away(error))


def outlast_a_full_disk() -> None:
    """In this process, before its jobs begin."""
    _sys_db.retriable_sqlite_exception = _is_worth_another_try  # type: ignore[assignment, attr-defined]
