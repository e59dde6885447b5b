"""Whatever happens to an account, in whatever order and by however many at once: the books are right."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from accounts import ledger
from accounts.ledger import Line
from store import accounts, billing
from store.database import Connection, Database
from tests.accounts.test_ledger import new_tenant

# At the first tariff, in millionths.
PRICES = {"chat": 1_500_000, "transcription": 20_000, "memory": 500_000}
HOLDS = st.sampled_from(["h0", "h1", "h2", "h3"])
USES = st.sampled_from(["u0", "u1", "u2", "u3", "u4"])
CREDITS = st.sampled_from(["k0", "k1", "k2", "k3", "k4", "k5"])
LINES = st.builds(Line, st.sampled_from(sorted(PRICES)), st.integers(0, 40))


def cost(line: Line) -> int:
    return PRICES[line.product] * line.quantity


def account_machine(database: Database) -> type[RuleBasedStateMachine]:
    """A machine that does things to a new account and to a model of it that is as plain as can be."""

    class AccountMachine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.tenant_id = new_tenant(database)
            self.credits: dict[str, int] = {}
            self.holds: dict[str, tuple[int, str]] = {}
            self.uses: dict[str, tuple[str, int]] = {}
            self.charged = 0
            self.reason: str | None = None
            self.is_active = True
            self.allow_credit = False

        @property
        def held(self) -> int:
            return sum(amount for amount, status in self.holds.values() if status == "open")

        @property
        def settled(self) -> int:
            return sum(self.credits.values()) - self.charged

        def do(self, action: Callable[[Connection], bool | None]) -> bool | None:
            with database.write() as connection:
                return action(connection)

        @rule(key=CREDITS, amount=st.integers(-30_000_000, 90_000_000).filter(bool))
        def credit(self, key: str, amount: int) -> None:
            is_new = self.do(
                lambda connection: ledger.credit(
                    self.tenant_id,
                    connection,
                    key=key,
                    amount_micro=amount,
                    source="payment",
                    source_ref=None,
                    description="money",
                )
            )
            assert is_new is (key not in self.credits)
            if is_new:
                self.credits[key] = amount
                if amount > 0 and self.reason == "balance":
                    self.is_active, self.reason = True, None

        @rule(key=HOLDS, lines=st.lists(LINES, max_size=3))
        def hold(self, key: str, lines: list[Line]) -> None:
            held = self.do(
                lambda connection: ledger.hold(
                    self.tenant_id, connection, key=key, lines=lines, source="test", source_ref=None
                )
            )
            amount = sum(map(cost, lines))
            fits = self.allow_credit or self.settled - self.held >= amount
            expected = key in self.holds or amount == 0 or (self.is_active and fits)
            assert held is expected
            if held and key not in self.holds:
                self.holds[key] = (amount, "open")
            if not held and self.is_active:
                self.is_active, self.reason = False, "balance"

        @precondition(lambda self: self.holds)
        @rule(data=st.data(), key=USES, line=LINES)
        def use(self, data: st.DataObject, key: str, line: Line) -> None:
            hold_key = data.draw(st.sampled_from(sorted(self.holds)))
            self.do(lambda connection: ledger.use(self.tenant_id, connection, hold_key=hold_key, key=key, line=line))
            if self.holds[hold_key][1] == "open":
                self.uses.setdefault(key, (hold_key, cost(line)))

        @precondition(lambda self: self.holds)
        @rule(data=st.data())
        def charge(self, data: st.DataObject) -> None:
            key = data.draw(st.sampled_from(sorted(self.holds)))
            self.do(lambda connection: ledger.charge(self.tenant_id, connection, hold_key=key, description="work"))
            amount, status = self.holds[key]
            if status == "open":
                total = sum(used for hold_key, used in self.uses.values() if hold_key == key)
                self.charged += total
                self.holds[key] = (amount, "charged" if total else "released")

        @rule(key=HOLDS)
        def release(self, key: str) -> None:
            self.do(lambda connection: ledger.release(self.tenant_id, connection, hold_key=key))
            if key in self.holds and self.holds[key][1] == "open":
                self.holds[key] = (self.holds[key][0], "released")

        @rule(allow_credit=st.booleans())
        def change_credit(self, allow_credit: bool) -> None:
            self.do(lambda connection: self.set_tenant(connection, allow_credit=allow_credit))
            self.allow_credit = allow_credit

        @rule(reason=st.sampled_from(["partner", "operator", None]))
        def pause_or_reactivate(self, reason: str | None) -> None:
            self.do(lambda connection: self.set_tenant(connection, is_active=reason is None, pause_reason=reason))
            self.is_active, self.reason = reason is None, reason

        def set_tenant(self, connection: Connection, **values: object) -> None:
            accounts.update_tenant(self.tenant_id, connection, **values)

        @invariant()
        def the_books_say_what_the_model_says(self) -> None:
            with database.read() as connection:
                balance = ledger.balance(self.tenant_id, connection)
                tenant = accounts.get_tenant(self.tenant_id, connection)
                found = {key: billing.find_hold(self.tenant_id, connection, key) for key in self.holds}
            assert balance == billing.Balance(self.settled - self.held, self.held)
            assert tenant is not None
            assert (tenant.is_active, tenant.pause_reason) == (self.is_active, self.reason)
            assert {key: (row.amount_micro, row.status) for key, row in found.items() if row} == self.holds

        def teardown(self) -> None:
            assert ledger.verify(database) == []

    return AccountMachine


@pytest.mark.proves("money.ledger-balances", "money.exact")
def test_any_order_of_movements_leaves_the_books_as_a_plain_model_has_them(database: Database) -> None:
    quietly = settings(
        max_examples=25,
        stateful_step_count=30,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(lambda: account_machine(database)(), settings=quietly)  # type: ignore[no-untyped-call]


def do_something(connection: Connection, tenant_id: str, chance: random.Random) -> str | None:
    """A random movement with one of a few keys; the key of a credit that was added."""
    hold_key, key = f"h{chance.randrange(20)}", f"k{chance.randrange(40)}"
    line = Line(chance.choice(sorted(PRICES)), chance.randrange(30))
    kind = chance.choice(["credit", "hold", "hold", "use", "use", "charge", "release", "credit allowed"])
    if kind == "credit":
        amount = chance.choice([-700_001, 1, 999_999, 30_000_000])
        added = ledger.credit(
            tenant_id, connection, key=key, amount_micro=amount, source="payment", source_ref=None, description="money"
        )
        return key if added else None
    if kind == "hold":
        lines = [line, Line("chat", 1)]
        ledger.hold(tenant_id, connection, key=hold_key, lines=lines, source="test", source_ref=None)
    elif kind == "credit allowed":
        accounts.update_tenant(tenant_id, connection, allow_credit=chance.random() < 0.5)
    elif kind == "release":
        ledger.release(tenant_id, connection, hold_key=hold_key)
    elif billing.find_hold(tenant_id, connection, hold_key) is not None:
        if kind == "use":
            ledger.use(tenant_id, connection, hold_key=hold_key, key=key, line=line)
        else:
            ledger.charge(tenant_id, connection, hold_key=hold_key, description="work")
    return None


def interleave(database: Database, tenant_id: str, *, threads: int, movements: int, seed: int) -> None:
    """Random movements from several threads, in transactions of one to three; then the books are checked."""
    added: Counter[str] = Counter()
    failures: list[BaseException] = []

    def run(number: int) -> None:
        chance = random.Random(seed * 1000 + number)
        try:
            for _ in range(movements):
                with database.write() as connection:
                    keys = [do_something(connection, tenant_id, chance) for _ in range(chance.randrange(1, 4))]
                added.update(key for key in keys if key)
        # Whatever a thread dies of is the test's failure.
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    assert added
    assert max(added.values()) == 1, "a key was credited twice"
    assert ledger.verify(database) == []


@pytest.mark.proves("money.ledger-balances", "money.hold.settled")
@pytest.mark.parametrize("seed", [1, 2])
def test_any_interleaving_of_movements_leaves_the_books_right(database: Database, seed: int) -> None:
    tenant_id = new_tenant(database, "50")
    interleave(database, tenant_id, threads=8, movements=25, seed=seed)
    with database.write() as connection:
        for number in range(20):
            ledger.release(tenant_id, connection, hold_key=f"h{number}")
        assert ledger.balance(tenant_id, connection).held_micro == 0
    assert ledger.verify(database) == []
