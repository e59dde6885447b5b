"""`parley balance` and `parley tariff`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.console import JsonOption, print_rows
from store.errors import Conflict, InvalidRequest
from store.settings import load_settings

if TYPE_CHECKING:
    from accounts.tariffs import Change, Tariff
    from store.accounts import Tenant
    from store.database import Connection, Database

TenantArgument = Annotated[str, typer.Argument(metavar="TENANT", help="Tenant id or external id.")]

balance_app = typer.Typer(help="Balances of the clients, and the books.", no_args_is_help=True)
tariff_app = typer.Typer(help="What the work costs, in versions.", no_args_is_help=True)

_OPERATOR = "operator"
_AMOUNT = re.compile(r"[+-]?[0-9]{1,12}(\.[0-9]{1,6})?")


def register(app: typer.Typer) -> None:
    app.add_typer(balance_app, name="balance")
    app.add_typer(tariff_app, name="tariff")


def _opened() -> AbstractContextManager[Database]:
    """The database of the settings, which must be up to date."""
    from store.migrate import open_current

    return open_current(load_settings())


def _micro(text: str) -> int:
    from accounts import ledger

    if not _AMOUNT.fullmatch(text):
        raise InvalidRequest(f"{text[:50]!r} is no amount in RUB with at most six digits after the point")
    return ledger.micro_of(Decimal(text))


def _exact(micro: int) -> str:
    """Roubles with at least two digits after the point, and all that there are."""
    from accounts import ledger

    whole, _, digits = f"{ledger.roubles(micro):.6f}".partition(".")
    return f"{whole}.{digits[:2]}{digits[2:].rstrip('0')}"


def _balance_row(connection: Connection, tenant: Tenant) -> dict[str, Any]:
    from accounts import ledger

    balance = ledger.balance(tenant.id, connection)
    return {
        "tenant_id": tenant.id,
        "external_id": tenant.external_id,
        "balance_rub": _exact(balance.settled_micro),
        "held_rub": _exact(balance.held_micro),
        "available_rub": _exact(balance.available_micro),
        "is_active": tenant.is_active,
        "pause_reason": tenant.pause_reason,
        "allow_credit": tenant.allow_credit,
    }


@balance_app.command("show")
def show_balance(tenant: TenantArgument, as_json: JsonOption = False) -> None:
    """Shows what a client has and what is held for work in progress."""
    from api.commands_accounts import require_tenant

    with _opened() as database, database.read() as connection:
        row = _balance_row(connection, require_tenant(connection, tenant))
    print_rows([row], as_json, single=True)


# A negative amount is no option.
@balance_app.command("add", context_settings={"ignore_unknown_options": True})
def add_to_balance(
    tenant: TenantArgument,
    amount: Annotated[str, typer.Argument(help="RUB, for example 1500 or 0.25; negative: a correction.")],
    key: Annotated[str | None, typer.Option(help="Added once a key, however often it is called.")] = None,
    description: Annotated[str, typer.Option(help="What the client's history says.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Adds money to a client's balance, which lifts a pause for lack of it."""
    from accounts import ledger
    from api.commands_accounts import require_tenant
    from store import audit, billing
    from store.ids import new_id

    amount_micro = _micro(amount)
    if not amount_micro:
        raise InvalidRequest("an amount of nothing changes nothing")
    if key is not None and not 1 <= len(key) <= 150:
        raise InvalidRequest("a key has 1 to 150 characters")
    credit_key = f"operator:{key or new_id()}"
    with _opened() as database, database.write() as connection:
        found = require_tenant(connection, tenant)
        is_added = ledger.credit(
            found.id,
            connection,
            key=credit_key,
            amount_micro=amount_micro,
            source=_OPERATOR,
            source_ref=None,
            description=description or ("Top-up" if amount_micro > 0 else "Correction"),
        )
        if is_added:
            details = {"amount_rub": _exact(amount_micro), "key": key}
            audit.add(found.id, connection, actor=_OPERATOR, action="balance.added", details=details)
        else:
            before = billing.find_transaction(found.id, connection, f"credit:{credit_key}")
            assert before is not None
            if before.amount_micro != amount_micro:
                raise Conflict(f"the key was used for {_exact(before.amount_micro)} RUB")
        row = {"added": is_added, **_balance_row(connection, require_tenant(connection, found.id))}
    print_rows([row], as_json, single=True)


@balance_app.command("check")
def check_books(as_json: JsonOption = False) -> None:
    """Checks the books of every client. Exit status 1 where something is wrong."""
    from accounts import ledger

    with _opened() as database:
        problems = ledger.verify(database)
    row = {"ok": not problems, "problems": problems}
    if as_json or not problems:
        print_rows([row], as_json, single=True)
    else:
        print_rows([{"problem": problem} for problem in problems], as_json)
    raise typer.Exit(0 if not problems else 1)


@tariff_app.command("list")
def list_tariffs(as_json: JsonOption = False) -> None:
    """Lists the versions and their rates, newest first."""
    from store import tariffs

    with _opened() as database, database.read() as connection:
        versions = tariffs.list_all(connection)
        clients = tariffs.count_clients(connection)
    rows = [_tariff_row(version, clients) for version in versions]
    if as_json:
        print_rows(rows, as_json)
    else:
        print_rows([line for row in rows for line in _rate_lines(row)], as_json)


def _tariff_row(tariff: Tariff, clients: dict[str | None, int]) -> dict[str, Any]:
    return {
        "version_id": tariff.version_id,
        "label": tariff.label,
        "is_current": tariff.is_current,
        "clients": clients.get(tariff.version_id, 0) + (clients.get(None, 0) if tariff.is_current else 0),
        "created_at": tariff.created_at.isoformat(timespec="seconds"),
        "rates": [
            {
                "option_id": rate.option_id,
                "product": rate.product,
                "llm_model": rate.llm_model,
                "unit": rate.unit,
                "name": rate.name,
                "amount_rub": _exact(rate.amount_micro),
            }
            for rate in tariff.rates
        ],
    }


def _rate_lines(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A line a rate; the version stands in its first line."""
    version = {"version": row["label"], "current": row["is_current"], "clients": row["clients"]}
    for number, rate in enumerate(row["rates"]):
        shown = version if number == 0 else dict.fromkeys(version, "")
        yield {
            **shown,
            "product": rate["product"],
            "model": rate["llm_model"],
            "RUB": rate["amount_rub"],
            "a": rate["unit"],
        }


@tariff_app.command("set")
def set_tariff(
    prices: Annotated[
        list[str], typer.Argument(metavar="PRODUCT=AMOUNT...", help="RUB a unit; PRODUCT@MODEL=AMOUNT: of one model.")
    ],
    label: Annotated[str | None, typer.Option(help="The version's name. Default: when it was made.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only for this client: tenant id or external id.")] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="For the clients that are there, too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Makes a version with other prices: for new clients, for one client, or for everyone. Work that has begun is
    charged at the prices of its beginning."""
    from accounts import tariffs
    from api.commands_accounts import require_tenant
    from store import audit
    from store import tariffs as stored
    from store.database import now

    if tenant is not None and everyone:
        raise InvalidRequest("give --tenant or --everyone, not both")
    changes = _changes(prices)
    if label is None:
        label = f"Since {now():%Y-%m-%d %H:%M} UTC"
    with _opened() as database, database.write() as connection:
        found = require_tenant(connection, tenant) if tenant is not None else None
        made = tariffs.new_version(connection, changes, label, tenant=found)
        concerned = [found.id] if found else []
        if everyone:
            concerned = stored.give_to_all(connection, made.version_id)
        details = {"version_id": made.version_id, "label": label, "prices": prices}
        for tenant_id in concerned:
            audit.add(tenant_id, connection, actor=_OPERATOR, action="tariff.changed", details=details)
        row = _tariff_row(made, stored.count_clients(connection))
    if as_json:
        print_rows([row], as_json, single=True)
    else:
        print_rows(list(_rate_lines(row)), as_json)


def _changes(texts: list[str]) -> list[Change]:
    changes = [_change(text) for text in texts]
    names = [(change.product, change.llm_model) for change in changes]
    if len(set(names)) < len(names):
        raise InvalidRequest("a price is given twice")
    return changes


def _change(text: str) -> Change:
    from accounts.tariffs import Change

    name, equals, amount = text.rpartition("=")
    if not equals:
        raise InvalidRequest(f"{text[:100]!r} is not PRODUCT=AMOUNT")
    amount_micro = _micro(amount)
    if amount_micro < 0:
        raise InvalidRequest("a price is 0 or more")
    product, at, model = name.partition("@")
    if at and not 1 <= len(model) <= 200:
        raise InvalidRequest("a model's name has 1 to 200 characters")
    return Change(product, amount_micro, model if at else None)
