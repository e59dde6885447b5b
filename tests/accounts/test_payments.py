"""Payment links and one-time codes on both databases: one credit and one session under many racers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import TypeVar

import pytest

from accounts import ledger, links, payments
from accounts.clients import create_client
from accounts.keys import Keyring
from accounts.payment_providers import Outcome, PaymentState, Started
from accounts.payments import Payments, Wish
from accounts.sandbox_provider import Sandbox
from store import accounts, sessions
from store import payments as stored
from store.accounts import Tenant
from store.database import Database, now
from store.errors import Unavailable, UpstreamFailed
from store.ids import new_id
from store.payments import PaymentLink
from store.settings import Settings

RACERS = 64
WISH = Wish(amount_micro=500 * ledger.MICRO)
R = TypeVar("R")


class Shop:
    """A provider whose payments a test moves."""

    name = "yookassa"
    answers = True

    def __init__(self) -> None:
        self.states: dict[str, PaymentState] = {}
        self.asked = 0
        self.is_away = False

    def start(self, link: PaymentLink, *, language: str, payer_url: str) -> Started:
        self._answer()
        state = PaymentState(f"of-{link.id}", link.id, "pending", link.amount_micro, "RUB", is_ours=True)
        self.states.setdefault(state.payment_id, state)
        return Started(state.payment_id, "https://shop.example/pay")

    def look_up(self, payment_id: str) -> PaymentState | None:
        self._answer()
        return self.states.get(payment_id)

    def moves(self, link: PaymentLink, outcome: Outcome) -> None:
        assert link.provider_payment_id is not None
        state = self.states[link.provider_payment_id]
        self.states[link.provider_payment_id] = replace(state, outcome=outcome)

    def _answer(self) -> None:
        self.asked += 1
        if self.is_away:
            raise UpstreamFailed("away")


@pytest.fixture
def keyring() -> Keyring:
    return Keyring(b"k" * 32)


@pytest.fixture
def tenant(database: Database, keyring: Keyring) -> Tenant:
    with database.write() as connection:
        return create_client(connection, keyring, external_id="client", email="owner@shop.example").tenant


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def house(database: Database, keyring: Keyring, shop: Shop) -> Payments:
    made = Payments(Settings(_env_file=None), database, keyring)  # type: ignore[call-arg]
    made.provider = shop
    return made


def race(work: Callable[[int], R]) -> list[R]:
    barrier = Barrier(16)

    def run(number: int) -> R:
        barrier.wait(30)
        return work(number)

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(run, range(RACERS)))


def settled(database: Database, tenant: Tenant) -> int:
    with database.read() as connection:
        return ledger.balance(tenant.id, connection).settled_micro


def link_now(database: Database, link: PaymentLink) -> PaymentLink:
    with database.read() as connection:
        found = stored.get(link.tenant_id, connection, link.id)
    assert found is not None
    return found


@pytest.mark.proves("payments.paid.once")
def test_of_64_who_settle_a_payment_one_credits_it(database: Database, tenant: Tenant, house: Payments) -> None:
    link = house.open_link(tenant, WISH, actor="test")

    def settle(_: int) -> bool:
        with database.write() as connection:
            return payments.settle(tenant.id, connection, link, "paid", payment_id=link.provider_payment_id)

    assert sorted(race(settle)) == [False] * (RACERS - 1) + [True]
    assert settled(database, tenant) == WISH.amount_micro


def test_paid_wins_over_every_other_end_in_any_order(database: Database, tenant: Tenant, house: Payments) -> None:
    outcomes: list[Outcome] = ["failed", "paid", "cancelled", "expired"]
    link = house.open_link(tenant, WISH, actor="test")

    def settle(number: int) -> bool:
        with database.write() as connection:
            return payments.settle(tenant.id, connection, link, outcomes[number % 4], payment_id=None)

    race(settle)
    assert link_now(database, link).status == "paid"
    assert settled(database, tenant) == WISH.amount_micro


def test_a_credit_that_is_rolled_back_leaves_the_link_to_be_paid(
    database: Database, tenant: Tenant, house: Payments
) -> None:
    link = house.open_link(tenant, WISH, actor="test")

    class Killed(Exception):
        pass

    def settle(*, dies: bool) -> None:
        with database.write() as connection:
            assert payments.settle(tenant.id, connection, link, "paid", payment_id=None)
            if dies:
                raise Killed

    with pytest.raises(Killed):
        settle(dies=True)
    assert (link_now(database, link).status, settled(database, tenant)) == ("pending", 0)
    settle(dies=False)
    assert (link_now(database, link).status, settled(database, tenant)) == ("paid", WISH.amount_micro)


def test_the_sweep_expires_asks_and_credits_what_was_paid_late(
    database: Database, tenant: Tenant, house: Payments, shop: Shop
) -> None:
    late = house.open_link(tenant, WISH, actor="test")
    never = house.open_link(tenant, WISH, actor="test")
    shop.moves(late, "paid")
    table = stored.payment_links
    with database.write() as connection:
        connection.execute(table.update().values(expires_at=now() - timedelta(seconds=1), next_check_at=now()))
    house.sweep()
    assert link_now(database, late).status == "paid"
    assert (link_now(database, never).status, link_now(database, never).checks) == ("expired", 1)
    assert settled(database, tenant) == WISH.amount_micro


def test_of_processes_that_sweep_at_once_one_asks_about_a_payment(
    database: Database, tenant: Tenant, house: Payments, shop: Shop
) -> None:
    link = house.open_link(tenant, WISH, actor="test")
    with database.write() as connection:
        connection.execute(stored.payment_links.update().values(next_check_at=now()))
    asked = shop.asked
    race(lambda _: house.sweep())
    assert (shop.asked - asked, link_now(database, link).checks) == (1, 1)


def test_a_provider_that_is_away_is_left_alone_for_a_while(
    database: Database, tenant: Tenant, house: Payments, shop: Shop
) -> None:
    for _ in range(3):
        house.open_link(tenant, WISH, actor="test")
    with database.write() as connection:
        connection.execute(stored.payment_links.update().values(next_check_at=now()))
    asked, shop.is_away = shop.asked, True
    for _ in range(5):
        house.sweep()
    assert shop.asked - asked == 1


def test_a_payment_is_asked_about_until_the_provider_has_answered_however_long_it_was_away(
    database: Database, tenant: Tenant, house: Payments, shop: Shop
) -> None:
    late, never = (house.open_link(tenant, WISH, actor="test") for _ in range(2))
    shop.moves(late, "paid")
    long_ago = now() - payments.ASKED_FOR - timedelta(days=2)

    def sweep_when_due() -> None:
        house._rest_until_s = 0.0
        due = stored.payment_links.update().where(stored.payment_links.c.next_check_at.is_not(None))
        with database.write() as connection:
            connection.execute(due.values(expires_at=long_ago, next_check_at=now()))
        house.sweep()

    shop.is_away = True
    for _ in range(4):
        sweep_when_due()
    shop.is_away = False
    sweep_when_due()
    assert settled(database, tenant) == WISH.amount_micro
    assert link_now(database, never).next_check_at is None, "it was asked about after its time, and is no more"
    asked = shop.asked
    sweep_when_due()
    assert shop.asked == asked


def test_a_provider_that_never_answers_again_is_given_up(
    database: Database, tenant: Tenant, house: Payments, shop: Shop
) -> None:
    link = house.open_link(tenant, WISH, actor="test")
    shop.is_away = True
    with database.write() as connection:
        expired_at = now() - payments.GIVEN_UP_AFTER
        connection.execute(stored.payment_links.update().values(expires_at=expired_at, next_check_at=now()))
    house.sweep()
    assert link_now(database, link).next_check_at is None


def test_a_request_that_is_repeated_goes_on_with_the_link_that_it_began(
    database: Database, tenant: Tenant, house: Payments, shop: Shop
) -> None:
    wish = replace(WISH, request_key="the same")
    shop.is_away = True
    with pytest.raises(UpstreamFailed):
        house.open_link(tenant, wish, actor="test")
    shop.is_away = False
    first = house.open_link(tenant, wish, actor="test")
    with database.read() as connection:
        assert len(list(connection.execute(stored.payment_links.select()))) == 1
    # A link that is finished answered its request: the key came again after its answer was forgotten.
    assert house.open_link(tenant, wish, actor="test").id != first.id
    other = replace(wish, amount_micro=600 * ledger.MICRO)
    assert house.open_link(tenant, other, actor="test").amount_micro == other.amount_micro


def test_a_request_key_of_another_tenant_is_another_link(
    database: Database, keyring: Keyring, tenant: Tenant, house: Payments
) -> None:
    with database.write() as connection:
        other = create_client(connection, keyring, external_id="other").tenant
    wish = replace(WISH, request_key="the same")
    mine, theirs = (house.open_link(each, wish, actor="test") for each in (tenant, other))
    assert mine.id != theirs.id
    with database.read() as connection:
        assert stored.get(other.id, connection, mine.id) is None


@pytest.mark.parametrize("outcome", ["paid", "failed", "cancelled"])
def test_a_payer_of_the_sandbox_decides_once(
    database: Database, tenant: Tenant, house: Payments, outcome: Outcome
) -> None:
    house.provider = Sandbox()
    link = house.open_link(tenant, WISH, actor="test")
    assert (link.payment_url, link.next_check_at) == (house.payer_url(link), None)
    assert house.link_of(house.payer_url(link).rsplit("/", 1)[1]) == link
    assert house.decide(link, outcome).status == outcome
    assert house.decide(link, "cancelled").status == outcome
    assert settled(database, tenant) == (WISH.amount_micro if outcome == "paid" else 0)


def test_without_a_provider_no_link_is_made(tenant: Tenant, house: Payments) -> None:
    house.provider = None
    with pytest.raises(Unavailable):
        house.open_link(tenant, WISH, actor="test")
    house.sweep()


@pytest.mark.proves("session-links.single-use-under-race")
def test_of_64_who_spend_a_code_one_gets_a_session(database: Database, tenant: Tenant, keyring: Keyring) -> None:
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    with database.write() as connection:
        code = links.make_code(tenant, connection, keyring, lifetime_s=60, actor="test")

    def spend(_: int) -> str | None:
        with database.write() as connection:
            opened = links.spend_code(connection, keyring, settings, code.text)
        return opened.token if opened else None

    (token,) = [token for token in race(spend) if token is not None]
    assert links.open_session(database, keyring, token) == tenant


def test_an_altered_code_does_not_reach_the_database(keyring: Keyring, tenant: Tenant, database: Database) -> None:
    with database.write() as connection:
        code = links.make_code(tenant, connection, keyring, lifetime_s=60, actor="test")
    assert links.is_signed(keyring, code.text)
    assert not links.is_signed(Keyring(b"o" * 32), code.text)
    for position in range(len(code.text)):
        changed = "A" if code.text[position] != "A" else "B"
        assert not links.is_signed(keyring, code.text[:position] + changed + code.text[position + 1 :])


def test_a_session_dies_with_its_account(database: Database, tenant: Tenant, keyring: Keyring) -> None:
    with database.write() as connection:
        code = links.make_code(tenant, connection, keyring, lifetime_s=60, actor="test")
        opened = links.spend_code(connection, keyring, Settings(_env_file=None), code.text)  # type: ignore[call-arg]
        assert opened is not None
        assert sessions.end_session(new_id(), connection, opened.session.id) is False
        connection.execute(accounts.tenants.delete().where(accounts.tenants.c.id == tenant.id))
    assert links.open_session(database, keyring, opened.token) is None
