"""Tariffs: versions that never change, who has which, and what work costs by them."""

from __future__ import annotations

import pytest

from accounts import ledger, tariffs
from accounts.ledger import MICRO, Line
from accounts.tariffs import Change, Tariff
from store import accounts
from store import tariffs as stored
from store.accounts import Tenant
from store.database import Connection, Database
from store.errors import InvalidRequest
from tests.accounts.test_ledger import new_tenant


def tenant_of(connection: Connection, tenant_id: str) -> Tenant:
    tenant = accounts.get_tenant(tenant_id, connection)
    assert tenant is not None
    return tenant


def tariff(connection: Connection, tenant_id: str) -> Tariff:
    return tariffs.tariff_of(connection, tenant_of(connection, tenant_id))


def price(connection: Connection, tenant_id: str, product: str = "chat", llm_model: str | None = None) -> int:
    return tariff(connection, tenant_id).rate(product, llm_model).amount_micro


@pytest.mark.proves("money.rates.are-tariff-items")
def test_an_installation_begins_with_a_price_of_every_product(database: Database) -> None:
    tenant_id = new_tenant(database)
    with database.read() as connection:
        first = tariff(connection, tenant_id)
    assert first.is_current
    assert [(rate.product, rate.unit) for rate in first.rates] == [
        ("transcription", "second"),
        ("chat", "message"),
        ("summary", "generation"),
        ("qc", "generation"),
        ("memory", "generation"),
        ("vision", "stream_day"),
    ]
    assert all(rate.amount_micro > 0 and rate.name and rate.option_id for rate in first.rates)


def test_a_new_version_is_for_new_clients_and_leaves_others_their_own(database: Database) -> None:
    early = new_tenant(database)
    with database.write() as connection:
        made = tariffs.new_version(connection, [Change("chat", 2 * MICRO)], "Dearer")
    late = new_tenant(database)
    with database.write() as connection:
        assert (price(connection, early), price(connection, late)) == (1_500_000, 2 * MICRO)
        assert tariff(connection, late) == made
        tariffs.new_version(connection, [Change("qc", 0)], "Free of quality")
        # Neither client is new any more.
        assert tariff(connection, early).label == "Base"
        assert tariff(connection, late) == made.__class__(
            made.version_id, made.label, False, made.created_at, made.rates
        )
        third = tariffs.new_version(connection, [], "Third")
        assert (third.rate("chat").amount_micro, third.rate("qc").amount_micro) == (2 * MICRO, 0)
        assert [version.label for version in stored.list_all(connection)] == [
            "Third",
            "Free of quality",
            "Dearer",
            "Base",
        ]
        assert stored.count_clients(connection) == {tariff(connection, early).version_id: 1, made.version_id: 1}


def test_a_price_of_one_client_is_made_from_its_own_and_is_nobody_elses(database: Database) -> None:
    special, other = new_tenant(database), new_tenant(database)
    with database.write() as connection:
        for change in (Change("chat", MICRO), Change("qc", 7)):
            tariffs.new_version(connection, [change], "Special", tenant=tenant_of(connection, special))
        assert (price(connection, special), price(connection, special, "qc")) == (MICRO, 7)
        assert (price(connection, other), tariff(connection, other).label) == (1_500_000, "Base")
        assert tariff(connection, other).is_current
        assert not tariff(connection, special).is_current


def test_a_price_for_everyone_reaches_clients_that_are_there(database: Database) -> None:
    first, second = new_tenant(database), new_tenant(database)
    with database.write() as connection:
        tariffs.new_version(connection, [Change("chat", 1)], "Special", tenant=tenant_of(connection, first))
        made = tariffs.new_version(connection, [Change("chat", 3 * MICRO)], "All")
        assert sorted(stored.give_to_all(connection, made.version_id)) == sorted([first, second])
        assert price(connection, first) == price(connection, second) == 3 * MICRO


def test_a_price_of_a_model_wins_over_the_price_of_all(database: Database) -> None:
    tenant_id = new_tenant(database, "100")
    with database.write() as connection:
        before = tariff(connection, tenant_id)
        changes = [Change("chat", 9 * MICRO, "big"), Change("chat", 4 * MICRO, "big"), Change("chat", 2 * MICRO)]
        made = tariffs.new_version(connection, changes, "Models", tenant=tenant_of(connection, tenant_id))
        assert [price(connection, tenant_id, "chat", model) for model in ("big", "small", None)] == [
            4 * MICRO,
            2 * MICRO,
            2 * MICRO,
        ]
        general, big = [rate for rate in made.rates if rate.product == "chat"]
        assert general.option_id == before.rate("chat").option_id
        assert big.option_id != general.option_id
        assert len(made.rates) == len(before.rates) + 1
        lines = [Line("chat", 1, "big"), Line("chat", 1, "small")]
        assert ledger.hold(tenant_id, connection, key="a", lines=lines, source="test", source_ref=None)
        assert ledger.balance(tenant_id, connection).held_micro == 6 * MICRO


@pytest.mark.parametrize("label", ["", "  ", "x" * 201])
def test_a_label_has_1_to_200_characters(database: Database, label: str) -> None:
    with database.write() as connection, pytest.raises(InvalidRequest, match="label"):
        tariffs.new_version(connection, [], label)


def test_a_product_that_there_is_not_gets_no_price(database: Database) -> None:
    tenant_id = new_tenant(database, "1")
    with database.write() as connection:
        with pytest.raises(InvalidRequest, match="transcription, chat"):
            tariffs.new_version(connection, [Change("magic", 1)], "Magic")
        with pytest.raises(LookupError):
            ledger.hold(tenant_id, connection, key="a", lines=[Line("magic", 1)], source="test", source_ref=None)
