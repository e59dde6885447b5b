"""`parley reindex`: has the index compared with the store, and filled with what it lacks."""

from __future__ import annotations

import typer

from api.console import JsonOption, QuietOption, print_rows
from store.settings import load_settings


def register(app: typer.Typer) -> None:
    app.command("reindex")(reindex)


def reindex(as_json: JsonOption = False, quiet: QuietOption = False) -> None:
    """Has a running server, or the next one, go over everything and put into the index what it lacks. Searches go on
    meanwhile; `parley doctor` shows how far it is."""
    from rag.embedding import choose_embedder
    from rag.index_places import index_name
    from store import index_work, migrate
    from store.database import Database
    from store.errors import Unavailable

    settings = load_settings()
    name = index_name(choose_embedder(settings))
    database = Database(settings)
    try:
        if says := migrate.trouble(database):
            raise Unavailable(says)
        with database.write() as connection:
            index_work.note_refill(connection, name)
    finally:
        database.close()
    if not quiet:
        print_rows([{"index": name}], as_json, single=True)
