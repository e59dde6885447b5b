"""`parley client` and `parley key`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from api.console import JsonOption, print_rows
from store.errors import Conflict, NotFound
from store.settings import load_settings

if TYPE_CHECKING:
    from accounts.keys import Keyring
    from store.accounts import ApiKey, Tenant
    from store.database import Connection
    from store.settings import Settings

ClientArgument = Annotated[str, typer.Argument(help="Tenant id or external id.")]
FeatureOption = Annotated[list[str] | None, typer.Option("--feature", help="chat, qc, memory, vision or kb; repeat.")]
LanguageOption = Annotated[Literal["ru", "en"] | None, typer.Option(help="Of labels and generated texts.")]
TimeZoneOption = Annotated[str | None, typer.Option(help="Of the IANA database, for example Europe/Moscow.")]

client_app = typer.Typer(help="Client accounts.", no_args_is_help=True)
key_app = typer.Typer(help="API keys of a client.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(client_app, name="client")
    app.add_typer(key_app, name="key")


@contextmanager
def open_accounts(settings: Settings | None = None) -> Iterator[tuple[Connection, Keyring]]:
    """One write transaction over the database of the settings, which must be up to date and made under its secret
    key."""
    from accounts.installation import check_secret
    from accounts.keys import Keyring
    from store.migrate import open_current

    settings = settings or load_settings()
    keyring = Keyring.of(settings)
    with open_current(settings) as database:
        check_secret(database, keyring)
        with database.write() as connection:
            yield connection, keyring


def require_tenant(connection: Connection, name: str) -> Tenant:
    """A tenant by its id or external id. Raises NotFound, and Conflict where several have the external id."""
    from store import accounts
    from store.ids import parse_id

    tenant_id = parse_id(name)
    tenant = accounts.get_tenant(tenant_id, connection) if tenant_id else None
    if tenant is not None:
        return tenant
    found = accounts.list_by_external_id(connection, name)
    if not found:
        raise NotFound(f"no client {name!r}")
    if len(found) > 1:
        ids = ", ".join(each.id for each in found)
        raise Conflict(f"several integrations have a client {name!r}; say which by its tenant id: {ids}")
    return found[0]


def _client_row(tenant: Tenant) -> dict[str, Any]:
    return {
        "tenant_id": tenant.id,
        "external_id": tenant.external_id,
        "name": tenant.name,
        "email": tenant.email,
        "is_active": tenant.is_active,
        "features": list(tenant.features),
        "created_at": tenant.created_at.isoformat(timespec="seconds"),
    }


def _whole_client_row(connection: Connection, tenant: Tenant) -> dict[str, Any]:
    from accounts import ledger, tariffs
    from store import integrations

    owner = integrations.get(connection, tenant.integration_id) if tenant.integration_id else None
    return {
        **_client_row(tenant),
        "integration": owner.name if owner else None,
        "pause_reason": tenant.pause_reason,
        "balance_rub": ledger.shown(ledger.balance(tenant.id, connection).settled_micro),
        "allow_credit": tenant.allow_credit,
        "cameras": tenant.camera_limit,
        "camera_days": tenant.camera_days,
        "tariff": tariffs.tariff_of(connection, tenant).label,
        "language": tenant.language,
        "time_zone": tenant.time_zone,
    }


def _key_row(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "issuer": key.issuer,
        "created_at": key.created_at.isoformat(timespec="seconds"),
        "revoked_at": key.revoked_at.isoformat(timespec="seconds") if key.revoked_at else None,
    }


@client_app.command("create")
def create_client(
    external_id: Annotated[str, typer.Option(help="The client's id in your own system.")],
    name: Annotated[str | None, typer.Option()] = None,
    email: Annotated[str | None, typer.Option(help="Opens the cabinet; belongs to one account only.")] = None,
    feature: FeatureOption = None,
    language: LanguageOption = None,
    time_zone: TimeZoneOption = None,
    as_json: JsonOption = False,
) -> None:
    """Makes a client account with the signup credit and prints its first API key, once."""
    from accounts import clients
    from store import accounts

    with open_accounts() as (connection, keyring):
        made = clients.create_client(
            connection,
            keyring,
            external_id=external_id,
            name=name,
            email=email,
            features=accounts.FEATURES if feature is None else tuple(dict.fromkeys(feature)),
            language=language or "ru",
            time_zone=time_zone or "Europe/Moscow",
            signup_credit=load_settings().signup_credit,
        )
        row = {**_whole_client_row(connection, made.tenant), "api_key": made.api_key, "chat_id": made.chat.id}
    print_rows([row], as_json, single=True)


@client_app.command("set")
def set_client(
    client: ClientArgument,
    name: Annotated[str | None, typer.Option()] = None,
    email: Annotated[str | None, typer.Option(help="Empty: none any more.")] = None,
    feature: FeatureOption = None,
    active: Annotated[bool | None, typer.Option("--active/--paused", help="--active lifts any pause.")] = None,
    allow_credit: Annotated[
        bool | None, typer.Option("--allow-credit/--no-allow-credit", help="Whether the balance may go below zero.")
    ] = None,
    cameras: Annotated[int | None, typer.Option(min=0, help="How many camera streams the plan has.")] = None,
    camera_days: Annotated[int | None, typer.Option(min=1, help="How long what cameras saw is kept.")] = None,
    language: LanguageOption = None,
    time_zone: TimeZoneOption = None,
    as_json: JsonOption = False,
) -> None:
    """Changes a client account; what is not named stays as it was."""
    from accounts import clients
    from store import accounts

    named = {
        "name": name,
        "allow_credit": allow_credit,
        "camera_limit": cameras,
        "camera_days": camera_days,
        "language": language,
        "time_zone": time_zone,
    }
    values: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    if name is not None:
        clients.check_name(name)
    if time_zone is not None:
        clients.check_time_zone(time_zone)
    if email is not None:
        values["email"] = clients.normal_email(email) if email else None
    if feature is not None:
        clients.check_features(feature)
        values["features"] = tuple(dict.fromkeys(feature))
    if active is not None:
        values |= {"is_active": active, "pause_reason": None if active else clients.OPERATOR_PAUSE}
    with open_accounts() as (connection, _):
        tenant = accounts.get_tenant(require_tenant(connection, client).id, connection, lock=True)
        assert tenant is not None
        changed = clients.change(tenant, connection, actor=clients.OPERATOR, **values)
        row = _whole_client_row(connection, changed)
    print_rows([row], as_json, single=True)


@client_app.command("list")
def list_clients(as_json: JsonOption = False) -> None:
    """Lists the client accounts."""
    from store import accounts

    with open_accounts() as (connection, _):
        rows = [_client_row(tenant) for tenant in accounts.list_tenants(connection)]
    print_rows(rows, as_json)


@client_app.command("show")
def show_client(client: ClientArgument, as_json: JsonOption = False) -> None:
    """Shows one client account with its balance and tariff."""
    with open_accounts() as (connection, _):
        row = _whole_client_row(connection, require_tenant(connection, client))
    print_rows([row], as_json, single=True)


@key_app.command("create")
def create_key(
    client: ClientArgument,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "command line",
    as_json: JsonOption = False,
) -> None:
    """Makes an API key and prints it, once."""
    from accounts import clients

    with open_accounts() as (connection, keyring):
        tenant = require_tenant(connection, client)
        record, text = clients.add_key(tenant.id, connection, keyring, name=name)
    print_rows([{**_key_row(record), "api_key": text}], as_json, single=True)


@key_app.command("list")
def list_keys(client: ClientArgument, as_json: JsonOption = False) -> None:
    """Lists a client's API keys."""
    from store import accounts

    with open_accounts() as (connection, _):
        rows = [_key_row(key) for key in accounts.list_keys(require_tenant(connection, client).id, connection)]
    print_rows(rows, as_json)


@key_app.command("revoke")
def revoke_key(
    client: ClientArgument,
    key_id: Annotated[str, typer.Argument(help="The key's id, as `parley key list` shows it.")],
    as_json: JsonOption = False,
) -> None:
    """Ends an API key at once."""
    from accounts import clients
    from store.ids import parse_id

    with open_accounts() as (connection, _):
        tenant = require_tenant(connection, client)
        known = parse_id(key_id)
        if known is None:
            raise NotFound(f"no key {key_id!r}")
        row = _key_row(clients.revoke_key(tenant.id, connection, known))
    print_rows([row], as_json, single=True)


@key_app.command("reset-secret")
def reset_secret() -> None:
    """Begins anew with the secret key that is set, where the one before is lost: every API key is dead, make new ones
    (`parley key create`); cameras want their addresses again, and an index on a Qdrant server is filled anew."""
    from accounts.keys import Keyring
    from store import installation
    from store.migrate import open_current

    settings = load_settings()
    with open_current(settings) as database, database.write() as connection:
        installation.take_over(connection, Keyring.of(settings).installation_id)
