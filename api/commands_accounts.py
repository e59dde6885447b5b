"""`parley integration`, `parley client` and `parley key`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.console import JsonOption, print_rows
from store.errors import InvalidRequest, NotFound
from store.settings import load_settings

if TYPE_CHECKING:
    from accounts.keys import Keyring
    from store.accounts import ApiKey, Integration, Tenant
    from store.database import Connection

FeatureOption = Annotated[list[str] | None, typer.Option("--feature", help="chat, qc, memory, vision or kb; repeat.")]

integration_app = typer.Typer(help="Partners that provision clients.", no_args_is_help=True)
client_app = typer.Typer(help="Client accounts.", no_args_is_help=True)
key_app = typer.Typer(help="API keys of a client.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(integration_app, name="integration")
    app.add_typer(client_app, name="client")
    app.add_typer(key_app, name="key")


@contextmanager
def _accounts() -> Iterator[tuple[Connection, Keyring]]:
    """One write transaction over the database of the settings, which must be up to date."""
    from accounts.keys import Keyring
    from store.database import Database
    from store.migrate import is_current

    settings = load_settings()
    database = Database(settings)
    try:
        if not is_current(database):
            raise InvalidRequest("the database is not up to date: run `parley migrate`")
        with database.write() as connection:
            yield connection, Keyring.of(settings)
    finally:
        database.close()


def require_tenant(connection: Connection, name: str) -> Tenant:
    """A tenant by its id or external id. Raises NotFound."""
    from store import accounts
    from store.ids import parse_id

    tenant_id = parse_id(name)
    tenant = accounts.get_tenant(tenant_id, connection) if tenant_id else None
    tenant = tenant or accounts.find_tenant(connection, external_id=name)
    if tenant is None:
        raise NotFound(f"no client {name!r}")
    return tenant


def _integration_row(integration: Integration) -> dict[str, Any]:
    return {
        "id": integration.id,
        "name": integration.name,
        "secret_prefix": integration.secret_prefix,
        "is_enabled": integration.is_enabled,
        "allowed_networks": list(integration.allowed_networks),
    }


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


def _key_row(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "issuer": key.issuer,
        "created_at": key.created_at.isoformat(timespec="seconds"),
        "revoked_at": key.revoked_at.isoformat(timespec="seconds") if key.revoked_at else None,
    }


@integration_app.command("create")
def create_integration(
    name: str,
    allow_ip: Annotated[list[str] | None, typer.Option(help="Address or network that may call; repeat.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Makes an integration and prints its secret, once."""
    from accounts import clients

    with _accounts() as (connection, keyring):
        integration, secret = clients.create_integration(
            connection, keyring, name=name, allowed_networks=allow_ip or ()
        )
    print_rows([{**_integration_row(integration), "secret": secret}], as_json, single=True)


@integration_app.command("allow-ip")
def allow_ip(integration: str, networks: list[str], as_json: JsonOption = False) -> None:
    """Adds addresses or networks to an integration's allowlist."""
    from accounts import clients

    with _accounts() as (connection, _):
        row = _integration_row(clients.allow_networks(connection, integration, networks))
    print_rows([row], as_json, single=True)


@integration_app.command("disable")
def disable_integration(integration: str, as_json: JsonOption = False) -> None:
    """Refuses the integration's calls until it is enabled again."""
    _switch(integration, False, as_json)


@integration_app.command("enable")
def enable_integration(integration: str, as_json: JsonOption = False) -> None:
    """Lets a disabled integration call again."""
    _switch(integration, True, as_json)


def _switch(name: str, is_enabled: bool, as_json: bool) -> None:
    from accounts import clients
    from store import accounts

    with _accounts() as (connection, _):
        found = clients.require_integration(connection, name)
        accounts.update_integration(connection, found.id, is_enabled=is_enabled)
        row = _integration_row(clients.require_integration(connection, found.id))
    print_rows([row], as_json, single=True)


@integration_app.command("list")
def list_integrations(as_json: JsonOption = False) -> None:
    """Lists the integrations."""
    from store import accounts

    with _accounts() as (connection, _):
        rows = [_integration_row(row) for row in accounts.list_integrations(connection)]
    print_rows(rows, as_json)


@client_app.command("create")
def create_client(
    external_id: Annotated[str, typer.Option(help="The client's id in your own system.")],
    name: Annotated[str | None, typer.Option()] = None,
    email: Annotated[str | None, typer.Option(help="Opens the cabinet; belongs to one account only.")] = None,
    feature: FeatureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Makes a client account and prints its first API key, once."""
    from accounts import clients
    from store import accounts

    with _accounts() as (connection, keyring):
        made = clients.create_client(
            connection,
            keyring,
            external_id=external_id,
            name=name,
            email=email,
            features=accounts.FEATURES if feature is None else tuple(dict.fromkeys(feature)),
        )
    row = {**_client_row(made.tenant), "api_key": made.api_key, "chat_id": made.chat.id}
    print_rows([row], as_json, single=True)


@client_app.command("set")
def set_client(
    client: Annotated[str, typer.Argument(help="Tenant id or external id.")],
    name: Annotated[str | None, typer.Option()] = None,
    email: Annotated[str | None, typer.Option()] = None,
    feature: FeatureOption = None,
    active: Annotated[bool | None, typer.Option("--active/--paused")] = None,
    as_json: JsonOption = False,
) -> None:
    """Changes a client account; what is not named stays as it was."""
    from accounts import clients
    from store import accounts

    if name is not None:
        clients.check_name(name)
    email = clients.normal_email(email)
    values: dict[str, Any] = {"name": name, "email": email, "is_active": active}
    if feature is not None:
        clients.check_features(feature)
        values["features"] = tuple(dict.fromkeys(feature))
    with _accounts() as (connection, _):
        tenant = require_tenant(connection, client)
        owner = accounts.find_tenant(connection, email=email) if email else None
        if owner is not None and owner.id != tenant.id:
            raise InvalidRequest("the e-mail belongs to another account")
        changes = {key: value for key, value in values.items() if value is not None}
        if changes:
            accounts.update_tenant(tenant.id, connection, **changes)
        row = _client_row(require_tenant(connection, tenant.id))
    print_rows([row], as_json, single=True)


@client_app.command("list")
def list_clients(as_json: JsonOption = False) -> None:
    """Lists the client accounts."""
    from store import accounts

    with _accounts() as (connection, _):
        rows = [_client_row(tenant) for tenant in accounts.list_tenants(connection)]
    print_rows(rows, as_json)


@client_app.command("show")
def show_client(
    client: Annotated[str, typer.Argument(help="Tenant id or external id.")], as_json: JsonOption = False
) -> None:
    """Shows one client account."""
    with _accounts() as (connection, _):
        row = _client_row(require_tenant(connection, client))
    print_rows([row], as_json, single=True)


@key_app.command("create")
def create_key(
    client: Annotated[str, typer.Argument(help="Tenant id or external id.")],
    name: Annotated[str, typer.Option(help="What the key is for.")] = "command line",
    as_json: JsonOption = False,
) -> None:
    """Makes an API key and prints it, once."""
    from accounts import clients

    with _accounts() as (connection, keyring):
        tenant = require_tenant(connection, client)
        record, text = clients.add_key(tenant.id, connection, keyring, name=name)
    print_rows([{**_key_row(record), "api_key": text}], as_json, single=True)


@key_app.command("list")
def list_keys(
    client: Annotated[str, typer.Argument(help="Tenant id or external id.")], as_json: JsonOption = False
) -> None:
    """Lists a client's API keys."""
    from store import accounts

    with _accounts() as (connection, _):
        rows = [_key_row(key) for key in accounts.list_keys(require_tenant(connection, client).id, connection)]
    print_rows(rows, as_json)


@key_app.command("revoke")
def revoke_key(
    client: Annotated[str, typer.Argument(help="Tenant id or external id.")],
    key_id: Annotated[str, typer.Argument(help="The key's id, as `parley key list` shows it.")],
    as_json: JsonOption = False,
) -> None:
    """Ends an API key at once."""
    from store import accounts
    from store.ids import parse_id

    with _accounts() as (connection, _):
        tenant = require_tenant(connection, client)
        known = parse_id(key_id)
        if known is None or not accounts.revoke_key(tenant.id, connection, known):
            raise NotFound(f"no key {key_id!r}")
        rows = [_key_row(key) for key in accounts.list_keys(tenant.id, connection) if key.id == known]
    print_rows(rows, as_json, single=True)
