"""Database.one_read: what is read inside is read in one transaction."""

from __future__ import annotations

import threading

import pytest

from store import accounts
from store.database import Connection, Database
from tests.store.test_database import make_tenant


def test_all_reads_inside_share_a_connection_and_those_after_do_not(database: Database) -> None:
    with database.one_read():
        with database.read() as first, database.read() as second:
            assert first is second
        with database.one_read(), database.read() as third:
            assert third is first
        with database.read() as fourth:
            assert fourth is first
            assert not first.closed
    with database.read() as later:
        assert later is not first
        assert first.closed


def test_an_error_inside_ends_the_sharing(database: Database) -> None:
    with pytest.raises(RuntimeError), database.one_read():
        raise RuntimeError
    tenant = make_tenant(database)
    with database.read() as connection:
        assert accounts.get_tenant(tenant.id, connection) == tenant


def test_another_thread_has_a_connection_of_its_own(database: Database) -> None:
    seen: list[Connection] = []

    def read() -> None:
        with database.read() as connection:
            seen.append(connection)

    with database.one_read(), database.read() as own:
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    assert len(seen) == 1
    assert seen[0] is not own
