"""PostgreSQL's own dumps: a database as it is at one moment, and put back in one transaction, by its programs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from store.database import LOCK_TIMEOUT_S, Connection, Database
from store.errors import InvalidRequest, Unavailable

_JOBS_SCHEMA = "dbos"
_OF_PARLEY = "kb_documents"
"""A table that each release has: its schema is Parley's, whatever else the database and a dump of it hold."""
_ENTRY = r"\d+; \d+ \d+ "
"""What a line of `pg_restore --list` begins with; the kind, the schema, the name and the owner follow."""
_NOT_RESTORED = ("--no-owner", "--no-privileges", "--no-publications", "--no-security-labels")
"""Roles and what replicates are the server's own, and another one may lack them."""
_KNOWN_SINCE, _SETTING = 170000, b"SET transaction_timeout = 0;"
"""What newer programs write into the head of every script, and the first server that knows it."""
_HEAD_BYTES = 65_536
_NO_TIMEOUTS = """SELECT set_config(name, '0', false) FROM pg_settings
    WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout')"""
"""For a session that holds a moment while a dump takes its time."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A database as it is at one moment: what `connection` sees, and what `keep` has in a file."""

    connection: Connection
    keep: Callable[[], None]


@contextmanager
def moment(database: Database, path: Path) -> Iterator[Moment]:
    """Of Parley's schema; `keep` writes it to the path. Records of jobs have another one, and what else is in the
    database may not be Parley's to read. Both raise Unavailable."""
    kept = False

    def keep() -> None:
        nonlocal kept
        what = ["--format=custom", "--no-owner", f"--schema={_quoted(schema)}"]
        _run(database, "pg_dump", *what, f"--snapshot={name}", f"--file={path}")
        kept = True

    try:
        with database.outside_transactions() as connection:
            connection.exec_driver_sql(_NO_TIMEOUTS)
            connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            name = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
            schema = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
            yield Moment(connection, keep)
    except Unavailable:
        if not kept:  # else a link that was cut while nothing was said on it
            raise


def restore(database: Database, path: Path, *, replace: bool) -> None:
    """Puts a dump back, without what workers noted of themselves; `replace`: in place of every table that is there, of
    those too that the dump does not know, since it is of before an upgrade. Raises Unavailable, and InvalidRequest
    where the dump has no tables of Parley's, and nothing changed.

    Of a dump only what is in Parley's schema is put back. Extensions, other schemas and rights of other roles, which
    earlier releases have in their dumps, are of whoever runs PostgreSQL: Parley's role may not even drop them.

    Room for the dump as text is needed beside it."""
    script, chosen = path.with_suffix(".sql"), path.with_suffix(".list")
    entries = _run(None, "pg_restore", "--list", str(path)).splitlines()
    schema = _schema_of(database, entries)
    inside = re.compile(rf"{_ENTRY}[A-Z ]+ {re.escape(schema)} ")
    chosen.write_text("".join(f"{each}\n" for each in entries if inside.match(each)))
    cleaning = ["--clean", "--if-exists"] if replace else []
    _run(None, "pg_restore", *_NOT_RESTORED, *cleaning, f"--use-list={chosen}", f"--file={script}", str(path))
    _suit(script, _server_version(database))
    limit = f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT_S}s'"
    statements = [limit, *(_drops(database) if replace else []), *_makes(database, schema)]
    before = [f"--command={each}" for each in statements]
    # The script leaves the session without a search path.
    after = ["--command=RESET search_path", "--command=DELETE FROM workers"]
    whole = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction"]
    try:
        _run(database, "psql", *whole, *before, f"--file={script}", *after)
    finally:
        script.unlink(missing_ok=True)
        chosen.unlink()


def _schema_of(database: Database, entries: list[str]) -> str:
    """Parley's in a dump, by its list. Where several of them have its tables it is the one that is Parley's in the
    database. Raises InvalidRequest where none has."""
    table = re.compile(rf"{_ENTRY}TABLE (.+) {_OF_PARLEY} ")
    found = [match[1] for each in entries if (match := table.match(each))]
    if not found:
        raise InvalidRequest("The dump has no tables of Parley's.")
    with database.read() as connection:
        here = connection.execute(sa.text("SELECT current_schema()")).scalar_one()
    return here if here in found else found[0]


def _makes(database: Database, schema: str) -> list[str]:
    """The statement that makes the schema, where there is none."""
    query = sa.text("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = :name)")
    with database.read() as connection:
        is_there = connection.execute(query, {"name": schema}).scalar_one()
    return [] if is_there else [f"CREATE SCHEMA {_quoted(schema)}"]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _server_version(database: Database) -> int:
    """170004 is 17.4."""
    with database.read() as connection:
        return int(connection.execute(sa.text("SHOW server_version_num")).scalar_one())


def _suit(script: Path, server_version: int) -> None:
    """Makes a comment of the setting in a script's head that the server is too old for, in place: it may be large."""
    if server_version >= _KNOWN_SINCE:
        return
    with script.open("r+b") as file:
        head = file.read(_HEAD_BYTES)
        file.seek(0)
        file.write(head.replace(b"\n" + _SETTING, b"\n" + b"-" * len(_SETTING), 1))


def _drops(database: Database) -> list[str]:
    """Statements that make the schema empty, but for what extensions keep there."""
    query = """SELECT format('%I.%I', current_schema(), relname) FROM pg_class
        WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND relkind IN ('r', 'p')
        AND NOT EXISTS (SELECT FROM pg_depend
            WHERE objid = pg_class.oid AND classid = 'pg_class'::regclass AND deptype = 'e')"""
    with database.read() as connection:
        tables = connection.execute(sa.text(query)).scalars().all()
    drops = [f"DROP SCHEMA IF EXISTS {_JOBS_SCHEMA} CASCADE"]
    return [*drops, f"DROP TABLE {', '.join(tables)} CASCADE"] if tables else drops


def _run(database: Database | None, program: str, *arguments: str) -> str:
    """What the program says. Raises Unavailable where it is missing or fails."""
    address, environment = [], dict(os.environ)
    if database is not None:
        url = sa.make_url(database.direct_url)
        named = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
        address = [f"--dbname={named}"]
        environment |= {"PGPASSWORD": str(url.password)} if url.password else {}
    try:
        ended = subprocess.run(
            [program, *arguments, *address], env=environment, capture_output=True, check=False, text=True
        )
    except FileNotFoundError:
        raise Unavailable(f"{program} is not installed: PostgreSQL's client programs are needed.") from None
    if ended.returncode != 0:
        raise Unavailable(f"{program} failed: {ended.stderr.strip()[-500:]}")
    return ended.stdout
