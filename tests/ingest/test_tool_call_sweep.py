"""The log of tool calls is bounded: in age by the server and by an account's own retention, and in number."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ingest import retention
from ingest.retention import ToolCallSweep
from store import accounts
from store.database import Database, now
from store.settings import Settings
from tests.store.conftest import database as database
from tests.store.test_tool_calls import add, add_tenant, call_of, listed


def sweep_of(database: Database, **settings: Any) -> ToolCallSweep:
    return ToolCallSweep(Settings(_env_file=None, **settings), database)  # type: ignore[call-arg]


def fill(database: Database, tenant_id: str, *days: float) -> None:
    add(database, *(call_of(tenant_id, at=now() - timedelta(days=each), items=int(each)) for each in days))


def ages(database: Database, tenant_id: str) -> list[int | None]:
    """In days, as `fill` was told."""
    return [call.items for call in listed(database, tenant_id)]


def test_calls_go_after_the_server_s_days_or_the_account_s_own_where_those_are_fewer(database: Database) -> None:
    usual, strict, patient = (add_tenant(database) for _ in range(3))
    with database.write() as connection:
        accounts.update_tenant(strict, connection, retention_days=10)
        accounts.update_tenant(patient, connection, retention_days=400)
    for tenant_id in (usual, strict, patient):
        fill(database, tenant_id, 1, 9, 11, 89, 91, 500)
    sweep_of(database).sweep()
    assert ages(database, usual) == ages(database, patient) == [1, 9, 11, 89]
    assert ages(database, strict) == [1, 9]
    sweep_of(database, tool_calls_days=5).sweep()
    assert ages(database, usual) == ages(database, strict) == [1]


def test_of_too_many_calls_the_newest_stay(database: Database) -> None:
    few, many = add_tenant(database), add_tenant(database)
    fill(database, few, 1, 2)
    fill(database, many, *range(12))
    sweep_of(database, tool_calls_max=5).sweep()
    assert ages(database, few) == [1, 2]
    assert ages(database, many) == [0, 1, 2, 3, 4]


def test_a_sweep_ends_after_a_bound_and_the_next_goes_on(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_CALLS_AT_ONCE", 2)
    monkeypatch.setattr(retention, "_CALLS_A_SWEEP", 5)
    tenant_id = add_tenant(database)
    fill(database, tenant_id, 0, 1, *range(91, 98))
    sweep = sweep_of(database, tool_calls_max=1)
    sweep.sweep()
    assert ages(database, tenant_id) == [0, 1, 91, 92]
    sweep.sweep()
    assert ages(database, tenant_id) == [0]
    fill(database, tenant_id, 2)
    sweep.sweep()
    assert ages(database, tenant_id) == [0, 2], "it counts once an hour"
