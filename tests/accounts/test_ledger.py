"""The ledger's rules, one by one, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
import sqlalchemy as sa

from accounts import ledger, tariffs
from accounts.ledger import MICRO, Line
from accounts.tariffs import Change
from store import accounts, audit, billing
from store.database import Connection, Database, now
from store.errors import InvalidRequest
from store.ids import new_id

CHAT = 1_500_000
"""What a message costs at the first tariff."""


def new_tenant(database: Database, roubles: str = "0", **values: object) -> str:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="client", external_id=new_id())
        assert tenant is not None
        ledger.open_account(tenant.id, connection, credit_micro=ledger.micro_of(Decimal(roubles)))
        if values:
            accounts.update_tenant(tenant.id, connection, **values)
    return tenant.id


def hold(connection: Connection, tenant_id: str, key: str, messages: int = 1) -> bool:
    return ledger.hold(
        tenant_id, connection, key=key, lines=[Line("chat", messages)], source="test", source_ref=tenant_id
    )


def use(connection: Connection, tenant_id: str, hold_key: str, messages: int = 1, key: str | None = None) -> None:
    ledger.use(tenant_id, connection, hold_key=hold_key, key=key or hold_key, line=Line("chat", messages))


def credit(connection: Connection, tenant_id: str, key: str, roubles: str, source: str = "payment") -> bool:
    amount = ledger.micro_of(Decimal(roubles))
    return ledger.credit(
        tenant_id, connection, key=key, amount_micro=amount, source=source, source_ref=None, description="money"
    )


def entries(connection: Connection, tenant_id: str) -> list[tuple[str, str, int]]:
    """(kind, account, amount) of all entries."""
    table = billing.ledger_transactions
    rows = connection.execute(
        sa.select(table.c.kind, billing.ledger_entries.c.account, billing.ledger_entries.c.amount_micro)
        .join_from(table, billing.ledger_entries)
        .where(table.c.tenant_id == tenant_id)
    )
    return sorted((row[0], row[1], row[2]) for row in rows)


def state(connection: Connection, tenant_id: str) -> tuple[bool, str | None]:
    tenant = accounts.get_tenant(tenant_id, connection)
    assert tenant is not None
    return tenant.is_active, tenant.pause_reason


@pytest.mark.proves("money.exact")
@pytest.mark.parametrize(
    ("text", "micro"),
    [
        ("0", 0),
        ("0.000001", 1),
        ("-0.84", -840_000),
        ("1.10", 1_100_000),
        ("1.0000000", MICRO),
        ("1e3", 1000 * MICRO),
        ("999999999.999999", 999_999_999_999_999),
    ],
)
def test_roubles_become_millionths_exactly_and_come_back(text: str, micro: int) -> None:
    assert ledger.micro_of(Decimal(text)) == micro
    assert ledger.roubles(micro) == Decimal(text)
    assert Decimal(repr(ledger.as_number(micro))) == Decimal(text)


@pytest.mark.parametrize(
    "text",
    ["NaN", "Infinity", "-Infinity", "1000000000.1", "0.0000001", "1E-999999", "1E+999999", "1E+3000000", "9" * 5000],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        ledger.micro_of(Decimal(text))


@pytest.mark.parametrize(
    ("micro", "text"),
    [
        (12_300_000, "12.30"),
        (-840_000, "-0.84"),
        (5_000, "0.00"),
        (15_000, "0.02"),
        (5_001, "0.01"),
        (-4_000, "0.00"),
        (0, "0.00"),
    ],
)
def test_roubles_are_shown_with_two_digits_the_nearest(micro: int, text: str) -> None:
    assert ledger.shown(micro) == text


def test_a_charge_is_four_movements_that_each_sum_to_zero(database: Database) -> None:
    tenant_id = new_tenant(database)
    with database.write() as connection:
        credit(connection, tenant_id, "k", "10")
        assert hold(connection, tenant_id, "a", messages=4)
        assert ledger.balance(tenant_id, connection) == billing.Balance(4 * MICRO, 6 * MICRO)
        use(connection, tenant_id, "a", messages=3)
        ledger.charge(tenant_id, connection, hold_key="a", description="Chat")
        assert hold(connection, tenant_id, "b")
        ledger.release(tenant_id, connection, hold_key="b")
        assert ledger.balance(tenant_id, connection) == billing.Balance(5_500_000, 0)
        assert entries(connection, tenant_id) == [
            ("credit", "available", 10 * MICRO),
            ("credit", "cash", -10 * MICRO),
            ("debit", "available", CHAT),
            ("debit", "held", -4 * CHAT),
            ("debit", "revenue", 3 * CHAT),
            ("hold", "available", -4 * CHAT),
            ("hold", "available", -CHAT),
            ("hold", "held", CHAT),
            ("hold", "held", 4 * CHAT),
            ("release", "available", CHAT),
            ("release", "held", -CHAT),
        ]
    assert ledger.verify(database) == []


@pytest.mark.proves("money.debit.one", "money.usage.recorded")
def test_the_usage_of_a_hold_is_charged_as_one_debit(database: Database) -> None:
    tenant_id, call_id = new_tenant(database, "100"), new_id()
    with database.write() as connection:
        lines = [Line("transcription", 90), Line("summary", 1)]
        assert ledger.hold(tenant_id, connection, key="c", lines=lines, source="communication", source_ref=call_id)
        for number, line in enumerate([Line("transcription", 85), Line("summary", 1), Line("summary", 1)]):
            for _ in range(2):
                ledger.use(tenant_id, connection, hold_key="c", key=f"c:{min(number, 1)}", line=line)
        for _ in range(2):
            ledger.charge(tenant_id, connection, hold_key="c", description="A call")
        rows, total = billing.list_history(
            tenant_id, connection, kinds=["debit"], since=None, before=None, limit=10, offset=0
        )
        assert total == 1
        (debit,) = rows
        assert (debit.amount_micro, debit.source, debit.source_ref) == (-2_700_000, "communication", call_id)
        usage = billing.list_usage_of_transactions(tenant_id, connection, [debit.id])[debit.id]
        assert [(each.product, each.quantity, each.amount_micro) for each in usage] == [
            ("transcription", 85, 1_700_000),
            ("summary", 1, 1_000_000),
        ]
        assert ledger.balance(tenant_id, connection) == billing.Balance(97_300_000, 0)


@pytest.mark.proves("money.zero-stays-active", "money.hold.fails-pauses")
def test_a_balance_of_zero_stays_active_until_a_hold_fails(database: Database) -> None:
    tenant_id = new_tenant(database, "1.5")
    with database.write() as connection:
        assert hold(connection, tenant_id, "a")
        use(connection, tenant_id, "a")
        ledger.charge(tenant_id, connection, hold_key="a", description="Chat")
        assert ledger.balance(tenant_id, connection) == billing.Balance(0, 0)
        assert state(connection, tenant_id) == (True, None)
    with database.write() as connection:
        assert not hold(connection, tenant_id, "b")
        assert state(connection, tenant_id) == (False, "balance")
        assert billing.find_hold(tenant_id, connection, "b") is None


def test_a_refused_hold_may_be_tried_again_with_more_money(database: Database) -> None:
    tenant_id = new_tenant(database, "1")
    with database.write() as connection:
        assert not hold(connection, tenant_id, "a")
        assert credit(connection, tenant_id, "k", "0.50")
        assert hold(connection, tenant_id, "a")


def test_what_is_held_cannot_be_held_twice(database: Database) -> None:
    tenant_id = new_tenant(database, "2")
    with database.write() as connection:
        assert hold(connection, tenant_id, "a")
        assert hold(connection, tenant_id, "a")
        assert not hold(connection, tenant_id, "b")
        assert ledger.balance(tenant_id, connection) == billing.Balance(500_000, CHAT)


@pytest.mark.proves("money.credit.negative-stays-active")
def test_with_credit_a_hold_may_take_more_than_there_is(database: Database) -> None:
    tenant_id = new_tenant(database, "1", allow_credit=True)
    with database.write() as connection:
        assert hold(connection, tenant_id, "a", messages=2)
        use(connection, tenant_id, "a", messages=2)
        ledger.charge(tenant_id, connection, hold_key="a", description="Chat")
        assert ledger.balance(tenant_id, connection).settled_micro == -2 * MICRO
        assert state(connection, tenant_id) == (True, None)
        assert hold(connection, tenant_id, "b")


def test_a_hold_is_raised_to_what_is_known_by_now_and_never_lowered(database: Database) -> None:
    tenant_id = new_tenant(database, "6")
    with database.write() as connection:
        assert hold(connection, tenant_id, "work")
        lines = [Line("chat", 3)]
        assert ledger.extend(tenant_id, connection, hold_key="work", lines=lines)
        assert ledger.extend(tenant_id, connection, hold_key="work", lines=lines)
        assert ledger.extend(tenant_id, connection, hold_key="work", lines=[Line("chat", 1)])
        balance = ledger.balance(tenant_id, connection)
        assert (balance.available_micro, balance.held_micro) == (6 * MICRO - 3 * CHAT, 3 * CHAT)
    assert ledger.verify(database) == []
    with database.write() as connection:
        use(connection, tenant_id, "work", 3)
        ledger.charge(tenant_id, connection, hold_key="work", description="done")
        assert ledger.extend(tenant_id, connection, hold_key="work", lines=[Line("chat", 9)])
        balance = ledger.balance(tenant_id, connection)
        assert (balance.available_micro, balance.held_micro) == (6 * MICRO - 3 * CHAT, 0)
    assert ledger.verify(database) == []


def test_a_hold_that_cannot_be_raised_pauses_and_is_released_whole(database: Database) -> None:
    tenant_id = new_tenant(database, "2")
    with database.write() as connection:
        assert hold(connection, tenant_id, "work")
        assert not ledger.extend(tenant_id, connection, hold_key="work", lines=[Line("chat", 2)])
        assert state(connection, tenant_id) == (False, "balance")
        ledger.release(tenant_id, connection, hold_key="work")
        balance = ledger.balance(tenant_id, connection)
        assert (balance.available_micro, balance.held_micro) == (2 * MICRO, 0)
    assert ledger.verify(database) == []


def test_what_costs_nothing_is_held_by_anyone(database: Database) -> None:
    tenant_id = new_tenant(database)
    with database.write() as connection:
        assert ledger.hold(tenant_id, connection, key="a", lines=[], source="test", source_ref=None)
        ledger.charge(tenant_id, connection, hold_key="a", description="Nothing")
        assert entries(connection, tenant_id) == []
        assert state(connection, tenant_id) == (True, None)
    assert ledger.verify(database) == []


@pytest.mark.proves("money.hold.taken-finishes")
def test_work_whose_hold_was_taken_is_finished_even_at_a_higher_cost_and_while_paused(database: Database) -> None:
    tenant_id = new_tenant(database, "2")
    with database.write() as connection:
        assert hold(connection, tenant_id, "a")
        assert not hold(connection, tenant_id, "b")
        use(connection, tenant_id, "a", messages=3)
        ledger.charge(tenant_id, connection, hold_key="a", description="Chat")
        assert ledger.balance(tenant_id, connection) == billing.Balance(-2_500_000, 0)
    assert ledger.verify(database) == []


@pytest.mark.parametrize("reason", ["partner", "operator", None])
def test_a_pause_of_the_partner_or_the_operator_is_neither_overwritten_nor_lifted(
    database: Database, reason: str | None
) -> None:
    tenant_id = new_tenant(database, is_active=False, pause_reason=reason)
    with database.write() as connection:
        assert not hold(connection, tenant_id, "a")
        assert state(connection, tenant_id) == (False, reason)
        assert credit(connection, tenant_id, "k", "100")
        assert state(connection, tenant_id) == (False, reason)
        # Nothing paid is begun for a client that is paused.
        assert not hold(connection, tenant_id, "b")


def test_money_lifts_a_pause_for_the_balance_once_a_key(database: Database) -> None:
    tenant_id = new_tenant(database)
    with database.write() as connection:
        assert not hold(connection, tenant_id, "a")
        assert credit(connection, tenant_id, "k", "1")
        assert state(connection, tenant_id) == (True, None)
        assert not hold(connection, tenant_id, "a")
        assert not credit(connection, tenant_id, "k", "1")
        assert state(connection, tenant_id) == (False, "balance")
        noted, _ = audit.list_page(tenant_id, connection, limit=10)
        assert [(entry.actor, entry.action) for entry in noted] == [
            ("platform", "client.deactivated"),
            ("platform", "client.reactivated"),
            ("platform", "client.deactivated"),
        ]
        assert ledger.balance(tenant_id, connection).settled_micro == MICRO


def test_a_correction_may_take_the_balance_below_zero_and_pauses_nobody(database: Database) -> None:
    tenant_id = new_tenant(database, "1")
    with database.write() as connection:
        assert credit(connection, tenant_id, "k", "-3", source="operator")
        assert ledger.balance(tenant_id, connection).settled_micro == -2 * MICRO
        assert state(connection, tenant_id) == (True, None)
        assert not hold(connection, tenant_id, "a")
        assert credit(connection, tenant_id, "k2", "-1", source="operator")
        assert state(connection, tenant_id) == (False, "balance")
        rows, _ = billing.list_history(
            tenant_id, connection, kinds=["debit"], since=None, before=None, limit=10, offset=0
        )
        assert [row.amount_micro for row in rows] == [-MICRO, -3 * MICRO]
    assert ledger.verify(database) == []


@pytest.mark.proves("money.hold.settled")
@pytest.mark.parametrize("end", ["charge", "release"])
def test_a_hold_that_has_ended_is_neither_taken_nor_ended_again(database: Database, end: str) -> None:
    tenant_id = new_tenant(database, "10")
    with database.write() as connection:
        assert hold(connection, tenant_id, "a")
        use(connection, tenant_id, "a")
        if end == "charge":
            ledger.charge(tenant_id, connection, hold_key="a", description="Chat")
        else:
            ledger.release(tenant_id, connection, hold_key="a")
        before = entries(connection, tenant_id)
        assert hold(connection, tenant_id, "a")
        use(connection, tenant_id, "a", key="another")
        ledger.charge(tenant_id, connection, hold_key="a", description="Chat")
        ledger.release(tenant_id, connection, hold_key="a")
        assert entries(connection, tenant_id) == before
        assert ledger.balance(tenant_id, connection).held_micro == 0
    assert ledger.verify(database) == []


def test_a_hold_that_never_was_can_be_released_but_not_charged(database: Database) -> None:
    tenant_id = new_tenant(database, "10")
    with database.write() as connection:
        ledger.release(tenant_id, connection, hold_key="a")
        with pytest.raises(LookupError):
            ledger.charge(tenant_id, connection, hold_key="a", description="Chat")
        with pytest.raises(LookupError):
            use(connection, tenant_id, "a")


def test_holds_and_keys_of_two_clients_do_not_meet(database: Database) -> None:
    first, second = new_tenant(database, "10"), new_tenant(database, "20")
    with database.write() as connection:
        for tenant_id in (first, second):
            assert hold(connection, tenant_id, "a")
            use(connection, tenant_id, "a")
            assert credit(connection, tenant_id, "k", "1")
        ledger.charge(first, connection, hold_key="a", description="Chat")
        assert ledger.balance(first, connection) == billing.Balance(9_500_000, 0)
        assert ledger.balance(second, connection) == billing.Balance(19_500_000, CHAT)


def test_a_hold_past_its_time_is_released_and_no_other(database: Database) -> None:
    tenant_id = new_tenant(database, "10")
    with database.write() as connection:
        for key, expires_at in (
            ("past", now() - timedelta(seconds=1)),
            ("later", now() + timedelta(hours=1)),
            ("never", None),
        ):
            assert ledger.hold(
                tenant_id,
                connection,
                key=key,
                lines=[Line("chat", 1)],
                source="test",
                source_ref=None,
                expires_at=expires_at,
            )
    assert ledger.release_expired(database) == 1
    assert ledger.release_expired(database) == 0
    with database.read() as connection:
        assert ledger.balance(tenant_id, connection).held_micro == 2 * CHAT
        found = billing.find_hold(tenant_id, connection, "past")
    assert found is not None
    assert found.status == "released"


def test_work_is_charged_at_the_tariff_of_its_hold(database: Database) -> None:
    tenant_id = new_tenant(database, "10")
    with database.write() as connection:
        assert hold(connection, tenant_id, "a")
        tenant = accounts.get_tenant(tenant_id, connection)
        tariffs.new_version(connection, [Change("chat", 4 * MICRO)], "dearer", tenant=tenant)
        use(connection, tenant_id, "a")
        ledger.charge(tenant_id, connection, hold_key="a", description="Chat")
        assert ledger.balance(tenant_id, connection) == billing.Balance(8_500_000, 0)
        assert hold(connection, tenant_id, "b")
        assert ledger.balance(tenant_id, connection) == billing.Balance(4_500_000, 4 * MICRO)


DAMAGES: dict[str, tuple[Callable[[str], str], str]] = {
    "a cached balance": (
        lambda tenant: f"UPDATE balances SET available_micro = 1 WHERE tenant_id = '{tenant}'",
        "avail",
    ),
    "a cached hold": (lambda _: "UPDATE balances SET held_micro = held_micro + 1", "held"),
    "an entry": (lambda _: "UPDATE ledger_entries SET amount_micro = 7 WHERE account = 'revenue'", "sum to"),
    "a lost entry": (lambda _: "DELETE FROM ledger_entries WHERE account = 'cash'", "sum to"),
    "all entries of a movement": (lambda _: "DELETE FROM ledger_entries", "sum to 0"),
    "the history": (lambda _: "UPDATE ledger_transactions SET amount_micro = 3 WHERE kind = 'credit'", "history"),
    "a charged hold": (lambda _: "UPDATE holds SET status = 'open' WHERE status = 'charged'", "hold"),
    "an open hold": (lambda _: "UPDATE holds SET status = 'released' WHERE status = 'open'", "hold"),
    "usage": (lambda _: "UPDATE usage_records SET amount_micro = amount_micro + 1", "usage"),
    "a lost balance": (lambda _: "DELETE FROM balances", "no balance"),
}


@pytest.mark.proves("money.ledger-balances")
@pytest.mark.parametrize("damage", DAMAGES)
def test_the_check_of_the_books_finds_damage_to(database: Database, damage: str) -> None:
    tenant_id = new_tenant(database)
    with database.write() as connection:
        assert credit(connection, tenant_id, "k", "10")
        for key in ("a", "b"):
            assert hold(connection, tenant_id, key)
        use(connection, tenant_id, "a")
        ledger.charge(tenant_id, connection, hold_key="a", description="Chat")
    assert ledger.verify(database) == []
    statement, expected = DAMAGES[damage]
    with database.write() as connection:
        tenant = tenant_id.replace("-", "") if database.is_sqlite else tenant_id
        assert connection.execute(sa.text(statement(tenant))).rowcount > 0
    assert expected in "\n".join(ledger.verify(database))
