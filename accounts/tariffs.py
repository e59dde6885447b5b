"""Tariffs: what a unit of each product costs, in versions that never change once made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from store import accounts, tariffs
from store.accounts import Tenant
from store.database import Connection
from store.errors import InvalidRequest
from store.ids import new_id
from store.tariffs import Rate as Rate
from store.tariffs import Tariff as Tariff


@dataclass(frozen=True, slots=True)
class Change:
    """A new price of a product, or of one model's work where `llm_model` names it."""

    product: str
    amount_micro: int
    llm_model: str | None = None


def tariff_of(connection: Connection, tenant: Tenant) -> Tariff:
    """The version that the client's work is priced by: its own, else the current one."""
    tariff = tariffs.get(connection, tenant.tariff_version_id)
    if tariff is None:
        raise LookupError(f"tenant {tenant.id} has no tariff")
    return tariff


def new_version(
    connection: Connection, changes: Sequence[Change], label: str, *, tenant: Tenant | None = None
) -> Tariff:
    """A version with other prices, made from the current one, which it replaces for new clients. With `tenant` it is
    made from that client's, given to that client alone, and not current. Raises InvalidRequest."""
    if not 1 <= len(label.strip()) <= 200:
        raise InvalidRequest("a label has 1 to 200 characters.", param="label")
    current = tariffs.lock_current(connection)
    rates = (tariff_of(connection, tenant) if tenant else current).rates
    for change in changes:
        rates = _changed(rates, change)
    version_id = tariffs.add(connection, label=label, rates=rates)
    if tenant is not None:
        accounts.update_tenant(tenant.id, connection, tariff_version_id=version_id)
    else:
        tariffs.make_current(connection, version_id, before=current.version_id)
    made = tariffs.get(connection, version_id)
    assert made is not None
    return made


def _changed(rates: tuple[Rate, ...], change: Change) -> tuple[Rate, ...]:
    """The rates with one price changed; a model that had no price of its own gets one after its product's."""
    assert change.amount_micro >= 0
    places = [place for place, rate in enumerate(rates) if rate.product == change.product]
    if not places:
        known = ", ".join(dict.fromkeys(rate.product for rate in rates))
        raise InvalidRequest(f"unknown product {change.product!r}: known are {known}.", param="product")
    for place in places:
        if rates[place].llm_model == change.llm_model:
            rate = replace(rates[place], amount_micro=change.amount_micro)
            return (*rates[:place], rate, *rates[place + 1 :])
    like = rates[places[0]]
    name = f"{like.name}, {change.llm_model}"[:200]
    rate = replace(like, option_id=new_id(), name=name, amount_micro=change.amount_micro, llm_model=change.llm_model)
    return (*rates[: places[-1] + 1], rate, *rates[places[-1] + 1 :])
