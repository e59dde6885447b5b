"""`parley integration`: the partners that provision clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.commands_accounts import FeatureOption, open_accounts
from api.console import JsonOption, print_rows

if TYPE_CHECKING:
    from store.integrations import Integration

app = typer.Typer(help="Partners that provision clients.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="integration")


def _row(integration: Integration) -> dict[str, Any]:
    return {
        "id": integration.id,
        "name": integration.name,
        "secret_prefix": integration.secret_prefix,
        "is_enabled": integration.is_enabled,
        "allowed_networks": list(integration.allowed_networks),
        "features": list(integration.features),
    }


@app.command("create")
def create_integration(
    name: str,
    allow_ip: Annotated[list[str] | None, typer.Option(help="Address or network that may call; repeat.")] = None,
    feature: FeatureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Makes an integration and prints its secret, once. Its clients get its features."""
    from accounts import partners
    from store import accounts

    with open_accounts() as (connection, keyring):
        integration, secret = partners.create_integration(
            connection,
            keyring,
            name=name,
            allowed_networks=allow_ip or (),
            features=accounts.FEATURES if feature is None else feature,
        )
    print_rows([{**_row(integration), "secret": secret}], as_json, single=True)


@app.command("allow-ip")
def allow_ip(integration: str, networks: list[str], as_json: JsonOption = False) -> None:
    """Adds addresses or networks to an integration's allowlist."""
    from accounts import partners

    with open_accounts() as (connection, _):
        row = _row(partners.allow_networks(connection, integration, networks))
    print_rows([row], as_json, single=True)


@app.command("forbid-ip")
def forbid_ip(integration: str, networks: list[str], as_json: JsonOption = False) -> None:
    """Takes addresses or networks off an integration's allowlist, as they stand there."""
    from accounts import partners

    with open_accounts() as (connection, _):
        row = _row(partners.forbid_networks(connection, integration, networks))
    print_rows([row], as_json, single=True)


@app.command("rotate-secret")
def rotate_secret(integration: str, as_json: JsonOption = False) -> None:
    """Puts a new secret in place of the old one, which is dead at once, and prints it, once."""
    from accounts import partners

    with open_accounts() as (connection, keyring):
        found, secret = partners.rotate_secret(connection, keyring, integration)
    print_rows([{**_row(found), "secret": secret}], as_json, single=True)


@app.command("disable")
def disable_integration(integration: str, as_json: JsonOption = False) -> None:
    """Refuses the integration's calls until it is enabled again."""
    _switch(integration, False, as_json)


@app.command("enable")
def enable_integration(integration: str, as_json: JsonOption = False) -> None:
    """Lets a disabled integration call again."""
    _switch(integration, True, as_json)


def _switch(name: str, is_enabled: bool, as_json: bool) -> None:
    from accounts import partners

    with open_accounts() as (connection, _):
        row = _row(partners.switch(connection, name, is_enabled=is_enabled))
    print_rows([row], as_json, single=True)


@app.command("list")
def list_integrations(as_json: JsonOption = False) -> None:
    """Lists the integrations."""
    from store import integrations

    with open_accounts() as (connection, _):
        rows = [_row(integration) for integration in integrations.list_all(connection)]
    print_rows(rows, as_json)
