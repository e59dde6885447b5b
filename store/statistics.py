"""What SQLite knows of its indexes. PostgreSQL looks at its tables by itself.

Without statistics SQLite takes any index whose first column is given for a selective one, and reads a whole tenant
where an id was asked for.
"""

from __future__ import annotations

import time

import structlog

from store.database import Database
from store.errors import Unavailable

log = structlog.get_logger(__name__)

EVERY_S = 900.0
GROWTH = 1.5
LEAST_GROWTH_PAGES = 500  # of 4 KiB: a database as small as that is read whole in no time
_ROWS_LOOKED_AT = 400  # of each index: some tens of milliseconds for any number of rows


class Statistics:
    """Gathers them when the server starts, when the database has grown by half (as by an import of an archive), and now
    and then."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._gathered_s = -EVERY_S
        self._pages = 0

    def sweep(self) -> None:
        if not self._database.is_sqlite:
            return
        try:
            self._gather_if_due()
        except Unavailable:
            log.warning("index_statistics_not_gathered")

    def _gather_if_due(self) -> None:
        with self._database.read() as connection:
            pages = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())
        has_grown = pages >= max(self._pages * GROWTH, self._pages + LEAST_GROWTH_PAGES)
        if not has_grown and time.monotonic() - self._gathered_s < EVERY_S:
            return
        with self._database.write(durable=False) as connection:
            connection.exec_driver_sql(f"PRAGMA analysis_limit={_ROWS_LOOKED_AT}")
            connection.exec_driver_sql("ANALYZE")
        # Only now: where somebody else wrote for too long, the next sweep tries again.
        self._gathered_s, self._pages = time.monotonic(), pages
        self._database.reconnect()  # a connection reads them when it is opened
