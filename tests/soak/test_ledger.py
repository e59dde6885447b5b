"""The ledger under many interleavings, and under processes that are killed in the middle of charging."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from accounts import ledger
from store import billing
from store.database import Database
from tests.accounts.test_ledger import CHAT, new_tenant
from tests.accounts.test_ledger_property import interleave
from tests.soak.conftest import Size
from tests.store.conftest import database as database

pytestmark = pytest.mark.soak


def test_thousands_of_interleaved_movements_leave_the_books_right(database: Database, size: Size) -> None:
    for seed in range(size.kills):
        tenant_id = new_tenant(database, "50")
        interleave(database, tenant_id, threads=12, movements=60, seed=seed)


def debits_of(database: Database, tenant_id: str) -> list[str]:
    with database.read() as connection:
        return [each.key for each in billing.list_usage(tenant_id, connection) if each.transaction_id]


class Worker:
    """A process that charges the same works from the first on, and what it said was committed."""

    def __init__(self, database: Database, tenant_id: str, count: int) -> None:
        command = [sys.executable, "-m", "tests.accounts.ledger_worker", database.url, tenant_id, str(count)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
        self.acknowledged: list[int] = []
        self.told = threading.Condition()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    with self.told:
                        self.acknowledged.append(int(line))
                        self.told.notify_all()

    def wait_for(self, count: int) -> None:
        """Until that many works are charged."""
        with self.told:
            assert self.told.wait_for(lambda: len(self.acknowledged) >= count, timeout=120)

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        status = self.process.wait(timeout=300)
        self.reader.join()
        return status


def test_nothing_is_charged_twice_or_lost_however_often_the_process_is_killed(
    database: Database, size: Size, chance: random.Random
) -> None:
    tenant_id, count = new_tenant(database, "100000"), size.kills * 40
    debits: list[str] = []
    for _ in range(size.kills):
        # Two at a time, as two servers that each took the work over.
        workers = [Worker(database, tenant_id, count) for _ in range(2)]
        try:
            # Through what was done before, and into what is new.
            workers[0].wait_for(min(len(debits) + 1, count))
            time.sleep(chance.uniform(0, 0.2))
        finally:
            for worker in workers:
                worker.kill()
        debits = debits_of(database, tenant_id)
        assert {f"work:{number}" for worker in workers for number in worker.acknowledged} <= set(debits)
        assert len(debits) == len(set(debits))
        assert ledger.verify(database) == []
    last = Worker(database, tenant_id, count)
    assert last.wait() == 0
    assert sorted(debits_of(database, tenant_id)) == sorted(f"work:{number}" for number in range(count))
    with database.read() as connection:
        balance = ledger.balance(tenant_id, connection)
    assert balance == billing.Balance(ledger.MICRO * 100_000 - count * CHAT, 0)
    assert ledger.verify(database) == []
