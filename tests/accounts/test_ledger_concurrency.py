"""One effect a key, however many threads and processes ask for it at once, on both databases."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest

from accounts import ledger, tariffs
from accounts.ledger import MICRO, Line
from accounts.tariffs import Change
from store import accounts, billing
from store import tariffs as stored_tariffs
from store.database import Connection, Database
from tests.accounts.test_ledger import CHAT, new_tenant, state

THREADS = 64
T = TypeVar("T")


def at_once(database: Database, action: Callable[[Connection, int], T], threads: int = THREADS) -> list[T]:
    """What each thread's transaction gave; all begin together."""
    barrier = threading.Barrier(threads)

    def run(number: int) -> T:
        barrier.wait(timeout=60)
        with database.write() as connection:
            return action(connection, number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def history(database: Database, tenant_id: str) -> list[int]:
    with database.read() as connection:
        rows, _ = billing.list_history(
            tenant_id, connection, kinds=["credit", "debit"], since=None, before=None, limit=100, offset=0
        )
    return [row.amount_micro for row in rows]


@pytest.mark.proves("money.ledger-balances")
def test_64_credits_on_one_key_are_one(database: Database) -> None:
    tenant_id = new_tenant(database)

    def add(connection: Connection, _: int) -> bool:
        return ledger.credit(
            tenant_id, connection, key="k", amount_micro=MICRO, source="payment", source_ref=None, description="money"
        )

    assert sum(at_once(database, add)) == 1
    assert history(database, tenant_id) == [MICRO]
    assert ledger.verify(database) == []


@pytest.mark.proves("money.debit.one")
def test_64_charges_on_one_key_are_one(database: Database) -> None:
    tenant_id = new_tenant(database, "100")

    def work(connection: Connection, _: int) -> bool:
        line = Line("chat", 1)
        held = ledger.hold(tenant_id, connection, key="h", lines=[line], source="test", source_ref=tenant_id)
        ledger.use(tenant_id, connection, hold_key="h", key="u", line=line)
        ledger.charge(tenant_id, connection, hold_key="h", description="Chat")
        return held

    assert all(at_once(database, work))
    assert history(database, tenant_id) == [-CHAT, 100 * MICRO]
    assert ledger.verify(database) == []


def test_of_64_ends_of_one_hold_one_counts(database: Database) -> None:
    tenant_id = new_tenant(database, "100")
    line = Line("chat", 1)
    with database.write() as connection:
        assert ledger.hold(tenant_id, connection, key="h", lines=[line], source="test", source_ref=None)
        ledger.use(tenant_id, connection, hold_key="h", key="u", line=line)

    def end(connection: Connection, number: int) -> None:
        if number % 2:
            ledger.charge(tenant_id, connection, hold_key="h", description="Chat")
        else:
            ledger.release(tenant_id, connection, hold_key="h")

    at_once(database, end)
    assert history(database, tenant_id) in ([100 * MICRO], [-CHAT, 100 * MICRO])
    assert ledger.verify(database) == []


@pytest.mark.proves("money.hold.fails-pauses")
def test_64_holds_take_no_more_than_there_is_and_the_first_that_fails_pauses(database: Database) -> None:
    tenant_id = new_tenant(database, "15")

    def take(connection: Connection, number: int) -> bool:
        return ledger.hold(
            tenant_id, connection, key=f"h{number}", lines=[Line("chat", 1)], source="test", source_ref=None
        )

    assert sum(at_once(database, take)) == 10
    with database.read() as connection:
        assert ledger.balance(tenant_id, connection) == billing.Balance(0, 10 * CHAT)
        assert state(connection, tenant_id) == (False, "balance")
    assert ledger.verify(database) == []


def test_movements_of_several_kinds_in_one_transaction_do_not_wait_in_a_circle(database: Database) -> None:
    tenant_id = new_tenant(database, "1000")
    kinds = ("hold", "credit", "pause")

    def act(connection: Connection, number: int) -> None:
        # Each transaction does all three, begun at another place.
        for step in range(3):
            kind = kinds[(number + step) % 3]
            if kind == "hold":
                ledger.hold(
                    tenant_id, connection, key=f"h{number % 8}", lines=[Line("chat", 1)], source="t", source_ref=None
                )
            elif kind == "credit":
                ledger.credit(
                    tenant_id,
                    connection,
                    key=f"k{number % 8}",
                    amount_micro=MICRO,
                    source="payment",
                    source_ref=None,
                    description="money",
                )
            else:
                ledger.hold(
                    tenant_id, connection, key=f"big{number}", lines=[Line("chat", 10**6)], source="t", source_ref=None
                )

    at_once(database, act, threads=32)
    assert ledger.verify(database) == []


def test_prices_changed_by_many_at_once_leave_one_current_version_with_all_changes(database: Database) -> None:
    tenant_id = new_tenant(database)

    def change(connection: Connection, number: int) -> None:
        tariffs.new_version(connection, [Change("chat", number, f"model {number}")], f"version {number}")

    at_once(database, change, threads=16)
    with database.read() as connection:
        versions = stored_tariffs.list_all(connection)
        tenant = accounts.get_tenant(tenant_id, connection)
        assert tenant is not None
        assert tariffs.tariff_of(connection, tenant).label == "Base"
    (current,) = [version for version in versions if version.is_current]
    assert {rate.llm_model for rate in current.rates} == {None, *(f"model {number}" for number in range(16))}


def test_two_processes_that_do_the_same_work_charge_it_once(database: Database) -> None:
    tenant_id, count = new_tenant(database, "1000"), 40
    command = [sys.executable, "-m", "tests.accounts.ledger_worker", database.url, tenant_id, str(count)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    for worker in workers:
        printed, errors = worker.communicate(timeout=120)
        assert worker.returncode == 0, errors.decode()
        assert len(printed.split()) == count
    assert history(database, tenant_id) == [-CHAT] * count + [1000 * MICRO]
    assert ledger.verify(database) == []
