"""PgBouncer before a PostgreSQL of the test run's own, with the settings that are delivered."""

from __future__ import annotations

import configparser
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from tests.support.postgresql import other_user
from tests.support.server import free_port

PROGRAM = "pgbouncer"
START_S = 20.0
SETTINGS = Path(__file__).parents[2] / "deploy" / "pgbouncer.ini"


def program() -> str | None:
    """Debian puts it where only the administrator's programs are looked for."""
    return shutil.which(PROGRAM, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def running_pooler(cluster: str, *, sessions: int) -> Iterator[str]:
    """The URL pattern of a cluster, whose own is given, by way of the pooler: that has at most so many `sessions` of
    each database."""
    found = program()
    assert found is not None
    direct = sa.make_url(cluster.format(name="postgres"))
    folder = Path(tempfile.mkdtemp(prefix="parley-pooler-"))
    as_user = other_user(folder)
    port = free_port()
    settings = folder / "pgbouncer.ini"
    given = configparser.ConfigParser()
    given.read_string(SETTINGS.read_text())
    place = given["databases"]["parley"].replace("host=database port=5432", f"host={direct.query['host']}")
    given["databases"] = {"*": f"{place} user={direct.username}"}
    here = {
        "listen_addr": "127.0.0.1",
        "listen_port": str(port),
        "auth_type": "any",
        "default_pool_size": str(sessions),
        "server_round_robin": "1",  # so that hardly two transactions after each other have the same session
    }
    given.read_dict({"pgbouncer": here})
    given.remove_option("pgbouncer", "auth_file")
    with settings.open("w") as file:
        given.write(file)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # type: ignore[call-overload]
            [found, settings], stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/", **as_user
        )
    try:
        _wait_until_it_listens(process, port, folder / "log")
        yield f"postgresql+psycopg://parley@127.0.0.1:{port}/{{name}}"
    finally:
        process.terminate()
        process.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
