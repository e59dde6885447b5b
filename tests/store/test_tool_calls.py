"""The log of tool calls in both databases: what is kept, who sees it, what goes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from store import accounts, tool_calls
from store.database import Database, now
from store.ids import new_id
from store.tool_calls import ToolCall


def add_tenant(database: Database) -> str:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, external_id=new_id(), name="A company")
    assert tenant is not None
    return tenant.id


def call_of(tenant_id: str, **values: Any) -> ToolCall:
    given: dict[str, Any] = {
        "actor": "key sk_live_AbCdEf",
        "tool": "search_communications",
        "arguments": {"query": "цены"},
        "outcome": "ok",
        "duration_ms": 1.25,
        **values,
    }
    return ToolCall(tenant_id=tenant_id, **given)


def add(database: Database, *calls: ToolCall) -> None:
    with database.write() as connection:
        tool_calls.add_all(connection, calls)


def listed(database: Database, tenant_id: str, **query: Any) -> list[ToolCall]:
    with database.read() as connection:
        return tool_calls.list_page(tenant_id, connection, limit=query.pop("limit", 100), **query)[0]


def test_a_call_is_kept_as_it_was(database: Database) -> None:
    tenant_id = add_tenant(database)
    call = call_of(
        tenant_id,
        outcome="error",
        error="нет такого",
        items=3,
        characters=4000,
        protocol_version="2025-11-25",
        client="an agent 1.0",
        request_id=new_id(),
    )
    bare = call_of(tenant_id, at=call.at - timedelta(seconds=1))
    add(database, call, bare)
    assert listed(database, tenant_id) == [call, bare]


def test_calls_are_listed_newest_first_by_all_that_is_asked_for(database: Database) -> None:
    tenant_id, moment = add_tenant(database), now()
    calls = [
        call_of(
            tenant_id,
            tool=("search_documents", "rank_qc")[number % 2],
            outcome=("ok", "ok", "error")[number % 3],
            at=moment - timedelta(minutes=number),
        )
        for number in range(12)
    ]
    add(database, *reversed(calls))
    add(database, call_of(add_tenant(database), tool="rank_qc", at=moment))
    assert listed(database, tenant_id) == calls
    assert listed(database, tenant_id, limit=5, offset=10) == calls[10:]
    assert listed(database, tenant_id, tool="rank_qc") == calls[1::2]
    assert listed(database, tenant_id, outcome="error") == calls[2::3]
    assert listed(database, tenant_id, tool="rank_qc", outcome="error") == calls[5::6]
    bounds = {"since": moment - timedelta(minutes=6), "before": moment - timedelta(minutes=2)}
    assert listed(database, tenant_id, **bounds) == calls[3:7]
    with database.read() as connection:
        assert tool_calls.list_page(tenant_id, connection, outcome="error", limit=1)[1] == 4
        assert tool_calls.list_page(new_id(), connection, limit=1) == ([], 0)


def test_a_call_of_an_account_that_is_gone_keeps_no_other_from_being_written(database: Database) -> None:
    tenant_id, gone = add_tenant(database), add_tenant(database)
    with database.write() as connection:
        connection.execute(sa.delete(accounts.tenants).where(accounts.tenants.c.id == gone))
    kept = call_of(tenant_id)
    add(database, call_of(gone), kept)
    add(database, call_of(gone))
    assert listed(database, tenant_id) == [kept]


def test_the_oldest_go_first_and_in_batches(database: Database) -> None:
    tenants, moment = [add_tenant(database), add_tenant(database)], now()
    calls = [call_of(tenants[number % 2], at=moment - timedelta(days=number)) for number in range(10)]
    add(database, *calls)
    with database.write() as connection:
        assert tool_calls.purge(connection, before=moment - timedelta(days=6), limit=2) == 2
        assert tool_calls.purge(connection, before=moment - timedelta(days=6), limit=2) == 1
        assert tool_calls.purge_of(tenants[0], connection, before=moment - timedelta(days=1), limit=9) == 3
    assert listed(database, tenants[0]) == calls[:1]
    assert listed(database, tenants[1]) == calls[1:7:2]


def test_who_has_too_many_is_found_with_the_time_of_the_last_that_stays(database: Database) -> None:
    few, many, moment = add_tenant(database), add_tenant(database), now()
    calls = [call_of(many, at=moment - timedelta(days=number)) for number in range(4)]
    add(database, call_of(few), *calls)
    with database.read() as connection:
        assert tool_calls.list_over(connection, 3) == [many]
        assert tool_calls.list_over(connection, 4) == []
        assert tool_calls.time_of_nth(many, connection, 3) == calls[2].at
        assert tool_calls.time_of_nth(few, connection, 3) is None
