"""`parley backup`, `parley restore`, and deleting an account by `parley client delete`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.commands_accounts import ClientArgument, client_app, open_accounts, require_tenant
from api.console import JsonOption, QuietOption, print_rows
from store.settings import load_settings

accounts_app = typer.Typer(help="The same as `parley client`.", hidden=True, no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.command("backup")(backup)
    app.command("restore")(restore)
    client_app.command("delete")(delete_client)
    accounts_app.callback()(_accounts)
    accounts_app.command("delete")(delete_client)
    app.add_typer(accounts_app, name="accounts")


def _accounts() -> None:
    """With it, a group of one command keeps that command's name."""


def backup(
    path: Annotated[Path, typer.Argument(help="A file that ends in .tar, or a folder that is made.")],
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Copies database, files and secret key while the server runs. What it makes opens everything: keep it safe."""
    from api.backup import make_backup

    row = make_backup(load_settings(), path)
    if not quiet:
        print_rows([row], as_json, single=True)
    if row["missing"]:
        typer.echo(f"{row['missing']} files were replaced before they could be copied: make another backup.", err=True)
        raise typer.Exit(1)


def restore(
    path: Annotated[Path, typer.Argument(help="What `parley backup` made.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Puts a backup into an empty data folder, every file checked before. The index fills itself when the server
    starts."""
    from api.backup import restore_backup

    row = restore_backup(load_settings(), path, force=force)
    if not quiet:
        print_rows([row], as_json, single=True)


def delete_client(
    client: ClientArgument,
    confirmation: Annotated[
        str | None, typer.Option("--confirm", help="The account's name; asked for where it is left out.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Closes an account at once and deletes everything that it has. A running server, or the next one, does it."""
    from ingest import account_deletion
    from store.errors import InvalidRequest

    with open_accounts() as (connection, _):
        tenant = require_tenant(connection, client)
        name, tenant_id = tenant.name, tenant.id
    if confirmation is None:
        confirmation = typer.prompt(f"Everything of {name!r} will be deleted for good. Its name, to go on")
    if confirmation.strip() != name.strip():
        raise InvalidRequest("that is not the account's name: nothing was deleted")
    with open_accounts() as (connection, _):
        account_deletion.begin(require_tenant(connection, tenant_id), connection, by="command line")
    print_rows([{"tenant_id": tenant_id, "name": name, "status": "deleting"}], as_json, single=True)
