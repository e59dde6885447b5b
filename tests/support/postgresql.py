"""A PostgreSQL of the test run's own: Debian's programs, a cluster in a temporary folder, one socket, and TCP only
where it is asked for."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa


def programs() -> Path | None:
    """The folder with initdb and postgres, newest version first; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: -float(path.parts[4]))
    if found:
        return found[0].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


class PostgreSql:
    """A running cluster. `url` is the pattern into which a database's `name` goes."""

    def __init__(self, folder: Path, address: str, as_user: dict[str, object]) -> None:
        self._folder, self._as_user = folder, as_user
        where, port = "", ""
        if address:
            with socket.socket() as probe:
                probe.bind((address, 0))
                port = str(probe.getsockname()[1])
            where = f" -c port={port}"
        self._options = f"-k {folder} -c listen_addresses='{address}'{where} -c fsync=off -c max_connections=150"
        place = f"{address}:{port}/{{name}}" if address else f"/{{name}}?host={folder}"
        self.url = f"postgresql+psycopg://parley@{place}"

    @property
    def process_id(self) -> int:
        """Of the process that starts one for each connection."""
        return int((self._folder / "pg" / "postmaster.pid").read_text().split()[0])

    def start(self) -> None:
        self._control("-o", self._options, "-l", self._folder / "pg.log", "start")

    def stop(self, mode: str = "immediate") -> None:
        """At once by default, as if it was killed: it recovers when it is started again."""
        self._control("-m", mode, "stop")

    def _control(self, *arguments: str | Path) -> None:
        bin_folder = programs()
        assert bin_folder is not None
        _run([bin_folder / "pg_ctl", "-D", self._folder / "pg", "-w", *arguments], self._as_user)


@contextmanager
def running_cluster() -> Iterator[str]:
    """Starts a cluster; yields the URL pattern into which a database's `name` goes."""
    with running_postgresql() as server:
        yield server.url


@contextmanager
def running_postgresql(address: str = "", environment: Mapping[str, str] | None = None) -> Iterator[PostgreSql]:
    """One that can be restarted, listening on an address of this machine's where one is given. `environment`: what it
    has besides this process's."""
    bin_folder = programs()
    assert bin_folder is not None
    # Not below pytest's own folder: that is closed to the other user whom PostgreSQL may have to run as.
    folder = Path(tempfile.mkdtemp(prefix="parley-pg-"))
    data = folder / "pg"
    as_user = other_user(folder) | ({"env": {**os.environ, **environment}} if environment else {})
    try:
        _run([bin_folder / "initdb", "-D", data, "-U", "parley", "-A", "trust", "-E", "UTF8", "--no-sync"], as_user)
        if address:
            with (data / "pg_hba.conf").open("a") as access:
                access.write("host all all 10.213.0.0/16 trust\n")
        server = PostgreSql(folder, address, as_user)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(cluster: str, *, template: str = "template1") -> str:
    """The URL of a new database on a running cluster, whose URL pattern is given: empty, or a copy of another."""
    name = f"t{uuid.uuid4().hex}"
    admin = sa.create_engine(cluster.format(name="postgres"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    admin.dispose()
    return cluster.format(name=name)


def new_database_of(role: str, cluster: str) -> str:
    """The URL of a new database as installations have it: of a role that may do nothing else, which is made."""
    url = new_database(cluster)
    as_administrator(
        url,
        f"DO $$ BEGIN CREATE ROLE {role} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        f"ALTER DATABASE {name_of(url)} OWNER TO {role}",
    )
    return sa.make_url(url).set(username=role).render_as_string(hide_password=False)


def as_administrator(url: str, *statements: str) -> None:
    """Runs them in the database at the URL."""
    engine = sa.create_engine(sa.make_url(url).set(username="parley"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for each in statements:
            connection.exec_driver_sql(each)
    engine.dispose()


def name_of(url: str) -> str:
    """Of the database at the URL."""
    name = sa.make_url(url).database
    assert name
    return name


def other_user(folder: Path) -> dict[str, object]:
    """PostgreSQL refuses to run as root: a root user's test runs it as `postgres` or `nobody`."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, user.pw_uid, user.pw_gid)
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise AssertionError("no user to run PostgreSQL as")


def _run(command: list[str | Path], as_user: dict[str, object]) -> None:
    result = subprocess.run(  # type: ignore[call-overload]
        command, check=False, capture_output=True, text=True, cwd="/", timeout=60, stdin=subprocess.DEVNULL, **as_user
    )
    assert result.returncode == 0, f"{command[0]}: {result.stdout}{result.stderr}"
