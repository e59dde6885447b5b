"""The `parley` command line. Each command prints a table for people, or JSON with --json; errors go to stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from pydantic import ValidationError

from api import (
    commands_accounts,
    commands_billing,
    commands_index,
    commands_integrations,
    commands_models,
    commands_moving,
    commands_privacy,
    commands_vision,
)
from api.console import JsonOption, QuietOption, end_as_by_ctrl_c, print_rows
from store.errors import ParleyError
from store.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer(
    name="parley",
    help="A company's conversations in one store and one index, for agents, programs and people.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
commands_accounts.register(app)
commands_billing.register(app)
commands_integrations.register(app)
commands_models.register(app)
commands_index.register(app)
commands_vision.register(app)
commands_privacy.register(app)
commands_moving.register(app)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    role: Annotated[
        Literal["all", "api", "worker"],
        typer.Option(help="One machine: all. Of several, some answer (api) and others work on the jobs (worker)."),
    ] = "all",
) -> None:
    """Serves every interface and works on the jobs, until Ctrl-C."""
    from api.server import run_server

    given = {"host": host, "port": port}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    raise typer.Exit(run_server(settings, role))


@app.command()
def migrate(
    plan: Annotated[bool, typer.Option("--plan", help="Only say what there is to do.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Brings the database up to date. Servers of the release before go on meanwhile. Leaves a newer release's schema as
    it is; exit status 1 where this release does not work with it."""
    from store.database import Database
    from store.logging import configure_logging
    from store.migrate import migrate as run_migrations
    from store.migrate import newer, pending

    settings = load_settings()
    configure_logging(settings)  # the rows have the output to themselves
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = Database(settings)
    try:
        rows = [{"revision": revision, "what": what} for revision, what in pending(database)]
        if says := newer(database):
            typer.echo(f"parley: {says} Its schema works with this one too.", err=True)
        if plan:
            print_rows(rows, as_json)
            return
        if not quiet:
            for row in rows:
                typer.echo(f"{row['revision']}: {row['what']}", err=True)
        before, after = run_migrations(database)
    finally:
        database.close()
    if not quiet:
        print_rows([{"before": before or "empty", "after": after}], as_json, single=True)


@app.command()
def demo(
    small: Annotated[bool, typer.Option("--small", help="Only one recording of each language.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Makes the demo company and loads its calls and documents; again: does nothing twice."""
    from api.demo import load_demo

    end_as_by_ctrl_c()
    values = load_demo(load_settings(), small=small, quiet=as_json)
    if not quiet:  # the keys stand in demo.json, for its owner alone
        print_rows([values], as_json, single=True)


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Says what is ready, what is not, and how to get it. Exit status 1 where something is missing."""
    from api.doctor import examine

    findings = examine(load_settings())
    print_rows([finding.row() for finding in findings], as_json)
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@app.command()
def ingest(
    paths: Annotated[
        list[str], typer.Argument(help="Documents, audio files, mails and exports of chats, or folders of them.")
    ],
    tenant: Annotated[str, typer.Option(help="Tenant id, or a client's external id.")],
    space: Annotated[str | None, typer.Option(help="Id or name of the space for documents; made when new.")] = None,
    own: Annotated[
        str, typer.Option(help="Addresses, domains or names of the company in mails and chats, comma-separated.")
    ] = "",
    summary: Annotated[bool, typer.Option(help="Have calls, mails and chats analysed, which is charged.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Takes files in as the upload endpoints do. A running server works on them."""
    from api.commands_ingest import ingest_files

    files = [_path(path) for path in paths]
    print_rows(ingest_files(load_settings(), files, tenant, space, own=own, summary=summary), as_json)


@app.command("eval")
def evaluate(
    space: Annotated[str, typer.Argument(help="Id of the space.")],
    label: Annotated[str, typer.Option(help="What to call it: the change that is looked at, say.")] = "",
    questions: Annotated[
        str | None, typer.Option(help="A CSV file with question, document and quote, kept before.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Searches the questions that a space keeps: hit rate, MRR and nDCG, beside the time before."""
    from api.commands_evaluations import evaluate_space, lost_rows, metric_rows

    found = evaluate_space(load_settings(), space, label, None if questions is None else _path(questions))
    if as_json:
        print_rows([found.model_dump(mode="json")], as_json, single=True)
        return
    print_rows(metric_rows(found), as_json)
    if lost := lost_rows(found):
        print_rows(lost, as_json)


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def main() -> None:
    """The console script's entry."""
    try:
        app()
    except ParleyError as error:
        sys.exit(f"parley: {error.message}")
    except ValidationError as error:
        problems = "; ".join(
            f"PARLEY_{'.'.join(map(str, found['loc'])).upper()}: {found['msg']}" for found in error.errors()
        )
        sys.exit(f"parley: wrong settings: {problems}")
    except OSError as error:
        sys.exit(f"parley: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
