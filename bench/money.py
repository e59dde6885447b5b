"""Holds, uses and charges a second on both databases, of many clients and of one."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from accounts import ledger
from accounts.ledger import MICRO, Line
from store import accounts
from store.database import Database
from store.ids import new_id
from store.migrate import migrate
from store.settings import Settings
from tests.support import postgresql

THREADS = 8
WORKS = 50
"""Works of each thread: each a hold in one transaction, and its use and charge in another."""


@contextmanager
def opened(url: str) -> Iterator[Database]:
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        database = Database(Settings(data_dir=Path(folder), database_url=url, _env_file=None))  # type: ignore[call-arg]
        migrate(database)
        try:
            yield database
        finally:
            database.close()


def new_client(database: Database) -> str:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="client", external_id=new_id())
        assert tenant is not None
        ledger.open_account(tenant.id, connection, credit_micro=1_000_000 * MICRO)
    return tenant.id


def work(database: Database, tenant_id: str) -> None:
    line = Line("chat", 1)
    for _ in range(WORKS):
        key = new_id()
        with database.write() as connection:
            assert ledger.hold(tenant_id, connection, key=key, lines=[line], source="bench", source_ref=key)
        with database.write() as connection:
            ledger.use(tenant_id, connection, hold_key=key, key=key, line=line)
            ledger.charge(tenant_id, connection, hold_key=key, description="bench")


def measure(database: Database, tenant_ids: list[str]) -> float:
    """Works a second of as many threads as there are ids."""
    work(database, tenant_ids[0])
    began = time.perf_counter()
    with ThreadPoolExecutor(len(tenant_ids)) as pool:
        list(pool.map(lambda tenant_id: work(database, tenant_id), tenant_ids))
    return len(tenant_ids) * WORKS / (time.perf_counter() - began)


def report(name: str, database: Database) -> None:
    clients = [new_client(database) for _ in range(THREADS)]
    one, same, many = (measure(database, ids) for ids in (clients[:1], clients[:1] * THREADS, clients))
    assert ledger.verify(database) == []
    sys.stdout.write(f"{name:<12} {one:>10.0f} {same:>20.0f} {many:>22.0f}\n")


def main() -> None:
    sys.stdout.write("hold + use + charge, in two transactions; works a second\n")
    sys.stdout.write(f"{'':<12} {'1 thread':>10} {f'{THREADS} on one client':>20} {f'{THREADS} on as many':>22}\n")
    with opened("") as database:
        report("SQLite", database)
    if postgresql.programs() is None:
        sys.stdout.write("PostgreSQL is not installed\n")
        return
    with postgresql.running_cluster() as url, opened(url.format(name="postgres")) as database:
        report("PostgreSQL", database)


if __name__ == "__main__":
    main()
