"""Money of a client: double entry in millionths of a rouble, each movement once by its key.

A hold takes from what is available before paid work begins; the usage done under it becomes one debit at its end, and
the rest is available again. Movements of one client wait for each other at the client's row. It is the first row that
they lock: a transaction that needs rows besides it locks those either always before or always after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal

import structlog

from accounts.tariffs import tariff_of
from store import accounts, audit, billing, billing_checks, meters, tariffs
from store.accounts import Tenant
from store.billing import Balance as Balance
from store.billing import Hold, Usage
from store.database import Connection, Database, now
from store.errors import InvalidRequest
from store.ids import new_id

MICRO = 1_000_000
MAX_RUB = 1_000_000_000
"""Largest amount of one movement: far below what 64 bits hold, and exact as a JSON number."""
KEY_CHARACTERS = 180
_MOST_EXPONENT = 9  # of MAX_RUB
_ACTOR = "platform"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Line:
    """`quantity` units of a product: started seconds of audio, messages, generations, days of a camera."""

    product: str
    quantity: int
    llm_model: str | None = None


def micro_of(amount: Decimal) -> int:
    """Roubles as millionths. Raises InvalidRequest for what is no such number exactly, or more than MAX_RUB."""
    # By its digits alone: decimal's own arithmetic overflows on numbers such as 1e3000000.
    if not amount.is_finite() or (amount and amount.adjusted() > _MOST_EXPONENT):
        raise InvalidRequest(f"an amount is a number up to {MAX_RUB:,} RUB")
    sign, digits, exponent = amount.as_tuple()
    assert isinstance(exponent, int)
    whole = [*digits, *[0] * max(exponent + 6, 0)] if amount else [0]
    beyond = max(-exponent - 6, 0) if amount else 0
    kept, rest = whole[: max(len(whole) - beyond, 0)], whole[max(len(whole) - beyond, 0) :]
    if any(rest):
        raise InvalidRequest("an amount has at most six digits after the point")
    micro = int("".join(map(str, kept)) or "0")
    if micro > MAX_RUB * MICRO:
        raise InvalidRequest(f"an amount is a number up to {MAX_RUB:,} RUB")
    return -micro if sign else micro


def roubles(micro: int) -> Decimal:
    """Millionths as roubles, exactly."""
    return Decimal(micro).scaleb(-6)


def as_number(micro: int) -> float:
    """Roubles for a JSON number, which is written with no more than their six digits: a quotient of two whole numbers
    is the float nearest to the exact one, and prints as it."""
    return micro / MICRO


def shown(micro: int) -> str:
    """Roubles with two digits after the point, the nearest; of two equally near the even one."""
    rounded = roubles(micro).quantize(Decimal("0.01"), ROUND_HALF_EVEN)
    return f"{rounded if rounded else abs(rounded)}"


def open_account(tenant_id: str, connection: Connection, *, credit_micro: int = 0) -> None:
    """The balance of a new client, with what it starts with."""
    billing.add_balance(tenant_id, connection)
    if credit_micro:
        credit(
            tenant_id,
            connection,
            key="signup",
            amount_micro=credit_micro,
            source="signup",
            source_ref=None,
            description="Signup credit",
        )


def balance(tenant_id: str, connection: Connection) -> Balance:
    return billing.get_balance(tenant_id, connection)


def credit(
    tenant_id: str,
    connection: Connection,
    *,
    key: str,
    amount_micro: int,
    source: str,
    source_ref: str | None,
    description: str,
) -> bool:
    """Adds money, once a key: True when this call did it. Money lifts a pause for the balance, and no other pause. A
    negative amount is a correction: the history has it as a debit, and it pauses nobody by itself."""
    _check_key(key)
    assert amount_micro
    _locked(tenant_id, connection)
    counter_account = "cash" if source == "payment" else "grants"
    transaction_id = billing.move(
        tenant_id,
        connection,
        key=f"credit:{key}",
        kind="credit" if amount_micro >= 0 else "debit",
        amount_micro=amount_micro,
        entries={"available": amount_micro, counter_account: -amount_micro},
        description=description[:300],
        source=source,
        source_ref=source_ref,
    )
    if transaction_id is None:
        return False
    if amount_micro > 0 and billing.lift_balance_pause(tenant_id, connection):
        audit.add(tenant_id, connection, actor=_ACTOR, action="client.reactivated", details={"reason": "balance"})
    return True


def hold(
    tenant_id: str,
    connection: Connection,
    *,
    key: str,
    lines: Sequence[Line],
    source: str,
    source_ref: str | None,
    expires_at: datetime | None = None,
) -> bool:
    """Takes what the work will cost at the client's tariff, once a key: also True where the key was held before.

    False where the available balance cannot bear it and the client has no credit: the client is then paused in this
    transaction, which the caller commits before it refuses the work. False too for a client that is paused already.
    What costs nothing always passes.
    """
    _check_key(key)
    tenant = _locked(tenant_id, connection)
    if billing.find_hold(tenant_id, connection, key) is not None:
        return True
    tariff = tariff_of(connection, tenant)
    assert all(line.quantity >= 0 for line in lines)
    amount = sum(tariff.rate(line.product, line.llm_model).amount_micro * line.quantity for line in lines)
    if amount > 0:
        if not tenant.is_active:
            return False
        if not _take(tenant, connection, f"hold:{key}", amount, source, source_ref):
            return False
    billing.add_hold(
        tenant_id,
        connection,
        key=key,
        amount_micro=amount,
        tariff_version_id=tariff.version_id,
        source=source,
        source_ref=source_ref,
        expires_at=expires_at,
    )
    return True


def extend(tenant_id: str, connection: Connection, *, hold_key: str, lines: Sequence[Line]) -> bool:
    """Raises an open hold to what the work will cost as is known by now; it is never lowered.

    False where the balance cannot bear the difference and the client has no credit: the client is then paused, and the
    hold stays as it was for the caller to release. Raises LookupError where there is no such hold.
    """
    tenant = _locked(tenant_id, connection)
    found = _require_hold(tenant_id, connection, hold_key)
    tariff = tariffs.get(connection, found.tariff_version_id)
    assert tariff is not None, "versions are kept"
    amount = sum(tariff.rate(line.product, line.llm_model).amount_micro * line.quantity for line in lines)
    more = amount - found.amount_micro
    if found.status != "open" or more <= 0:
        return True
    if not _take(tenant, connection, f"hold:{hold_key}:{amount}", more, found.source, found.source_ref):
        return False
    billing.set_hold_amount(tenant_id, connection, found.id, amount)
    return True


def _take(tenant: Tenant, connection: Connection, key: str, amount: int, source: str, source_ref: str | None) -> bool:
    """From what is available to what is held; False where it does not reach and there is no credit: pauses then."""
    moved = billing.move(
        tenant.id,
        connection,
        key=key,
        kind="hold",
        amount_micro=-amount,
        entries={"available": -amount, "held": amount},
        least_available_micro=None if tenant.allow_credit else amount,
        source=source,
        source_ref=source_ref,
    )
    if moved is None and billing.pause_for_balance(tenant.id, connection):
        log.info("the balance does not bear a hold: the client is paused", tenant_id=tenant.id, source=source)
        audit.add(tenant.id, connection, actor=_ACTOR, action="client.deactivated", details={"reason": "balance"})
    return moved is not None


def use(tenant_id: str, connection: Connection, *, hold_key: str, key: str, line: Line) -> None:
    """Records one operation done under a hold, once a key, at the tariff of the hold. More may be used than was held:
    work that has begun is finished. Does nothing under a hold that has ended. Raises LookupError where there is no such
    hold."""
    _check_key(key)
    assert line.quantity >= 0
    _locked(tenant_id, connection)
    found = _require_hold(tenant_id, connection, hold_key)
    if found.status == "released":
        log.warning("work was done under a hold that was released, and is not charged", tenant_id=tenant_id, key=key)
    if found.status != "open":
        return
    tariff = tariffs.get(connection, found.tariff_version_id)
    assert tariff is not None, "versions are kept"
    rate = tariff.rate(line.product, line.llm_model)
    usage = Usage(
        id=new_id(),
        key=key,
        product=line.product,
        unit=rate.unit,
        quantity=line.quantity,
        rate_micro=rate.amount_micro,
        amount_micro=rate.amount_micro * line.quantity,
        llm_model=line.llm_model,
        source=found.source,
        source_ref=found.source_ref,
        hold_id=found.id,
        transaction_id=None,
        created_at=now(),
    )
    billing.add_usage(tenant_id, connection, usage)


def charge(tenant_id: str, connection: Connection, *, hold_key: str, description: str) -> int:
    """Ends a hold: one debit for the sum of its usage, and the rest is available again. Does nothing when it has ended;
    raises LookupError where there is no such hold. A sum of nothing is no debit. What was charged, in millionths of a
    rouble."""
    _locked(tenant_id, connection)
    found = _require_hold(tenant_id, connection, hold_key)
    if found.status != "open":
        return 0
    usage = billing.list_usage(tenant_id, connection, found.id)
    total = sum(each.amount_micro for each in usage)
    if total == 0:
        _release(tenant_id, connection, found)
        return 0
    products = {each.product for each in usage}
    transaction_id = billing.move(
        tenant_id,
        connection,
        key=f"debit:{hold_key}",
        kind="debit",
        amount_micro=-total,
        entries={"held": -found.amount_micro, "available": found.amount_micro - total, "revenue": total},
        description=description[:300],
        product=products.pop() if len(products) == 1 else None,
        source=found.source,
        source_ref=found.source_ref,
    )
    assert transaction_id is not None, "an open hold has no debit"
    billing.mark_charged(tenant_id, connection, found.id, transaction_id)
    billing.end_hold(tenant_id, connection, found.id, "charged")
    for each in usage:
        count_charge(each.product, each.amount_micro)
    return total


def count_charge(product: str, amount_micro: int) -> None:
    """In this process's figures for Prometheus: for what a process without any of its own charged."""
    meters.CHARGED.labels(product).inc(amount_micro / MICRO)


def release(tenant_id: str, connection: Connection, *, hold_key: str) -> None:
    """Ends a hold without a charge. Does nothing when it has ended or never was."""
    _locked(tenant_id, connection)
    found = billing.find_hold(tenant_id, connection, hold_key)
    if found is not None and found.status == "open":
        _release(tenant_id, connection, found)


def release_expired(database: Database) -> int:
    """Releases holds whose process died before it ended them; how many."""
    with database.read() as connection:
        expired = billing.list_expired_holds(connection)
    for tenant_id, key in expired:
        with database.write() as connection:
            release(tenant_id, connection, hold_key=key)
    if expired:
        log.warning("holds were left by work that never ended, and are released", count=len(expired))
    return len(expired)


def verify(database: Database) -> list[str]:
    """What is wrong with the books, in words; nothing when they are right."""
    with database.read() as connection:
        return [problem for check in billing_checks.CHECKS for problem in check(connection)]


def _locked(tenant_id: str, connection: Connection) -> Tenant:
    """The client, which no other transaction changes or moves money of until this one ends."""
    tenant = accounts.get_tenant(tenant_id, connection, lock=True)
    if tenant is None:
        raise LookupError(f"no tenant {tenant_id}")
    return tenant


def _release(tenant_id: str, connection: Connection, found: Hold) -> None:
    if found.amount_micro:
        moved = billing.move(
            tenant_id,
            connection,
            key=f"release:{found.key}",
            kind="release",
            amount_micro=found.amount_micro,
            entries={"held": -found.amount_micro, "available": found.amount_micro},
            source=found.source,
            source_ref=found.source_ref,
        )
        assert moved is not None, "an open hold was not released"
    billing.end_hold(tenant_id, connection, found.id, "released")


def _require_hold(tenant_id: str, connection: Connection, key: str) -> Hold:
    found = billing.find_hold(tenant_id, connection, key)
    if found is None:
        raise LookupError(f"tenant {tenant_id} has no hold {key!r}")
    return found


def _check_key(key: str) -> None:
    assert 0 < len(key) <= KEY_CHARACTERS, f"a key has 1 to {KEY_CHARACTERS} characters"
