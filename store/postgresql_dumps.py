"""PostgreSQL's own dumps: a database as it is at one moment, and put back in one transaction, by its programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from store.database import LOCK_TIMEOUT_S, Connection, Database
from store.errors import Unavailable

_JOBS_SCHEMA = "dbos"
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
    """Of everything but the records of jobs; `keep` writes it to the path. Both raise Unavailable."""
    kept = False

    def keep() -> None:
        nonlocal kept
        what = ["--format=custom", "--no-owner", f"--exclude-schema={_JOBS_SCHEMA}"]
        _run(database, "pg_dump", *what, f"--snapshot={name}", f"--file={path}")
        kept = True

    try:
        with database.outside_transactions() as connection:
            connection.exec_driver_sql(_NO_TIMEOUTS)
            connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            name = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
            yield Moment(connection, keep)
    except Unavailable:
        if not kept:  # else a link that was cut while nothing was said on it
            raise


def restore(database: Database, path: Path, *, replace: bool) -> None:
    """Puts a dump back, without what workers noted of themselves; `replace`: in place of every table that is there, of
    those too that the dump does not know, since it is of before an upgrade. Raises Unavailable, and nothing changed.

    Room for the dump as text is needed beside it."""
    script = path.with_suffix(".sql")
    cleaning = ["--clean", "--if-exists"] if replace else []
    _run(None, "pg_restore", "--no-owner", *cleaning, f"--file={script}", str(path))
    _suit(script, _server_version(database))
    statements = [f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT_S}s'", *(_drops(database) if replace else [])]
    before = [f"--command={each}" for each in statements]
    # The script leaves the session without a search path.
    after = ["--command=RESET search_path", "--command=DELETE FROM workers"]
    whole = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction"]
    try:
        _run(database, "psql", *whole, *before, f"--file={script}", *after)
    finally:
        script.unlink(missing_ok=True)


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


def _run(database: Database | None, program: str, *arguments: str) -> None:
    """Raises Unavailable where the program is missing or fails."""
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
