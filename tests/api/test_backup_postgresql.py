"""`parley backup` and `parley restore` by PostgreSQL's own programs."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from api.backup import make_backup, restore_backup
from store import migrate, postgresql_dumps
from store.blobs import Blobs
from store.database import Database
from store.errors import Conflict, Unavailable
from tests.support import pooler, postgresql
from tests.support.backups import into, made_of
from tests.support.server import RunningServer


@pytest.fixture(params=[False, True], ids=["directly", "by a pooler"])
def reached(request: pytest.FixtureRequest, postgresql_cluster: str) -> Iterator[Callable[[], dict[str, str]]]:
    """Makes databases; the settings with which each is reached."""

    def directly() -> dict[str, str]:
        return {"database_url": postgresql.new_database(postgresql_cluster)}

    if not request.param:
        yield directly
        return
    if pooler.program() is None:
        pytest.skip("PgBouncer is not installed (scripts/install-system-packages)")
    with pooler.running_pooler(postgresql_cluster, sessions=4) as url:

        def by_pooler() -> dict[str, str]:
            direct = directly()["database_url"]
            return {"database_url": url.format(name=postgresql.name_of(direct)), "database_direct_url": direct}

        yield by_pooler


@pytest.mark.postgresql
def test_postgresql_goes_by_its_own_dump(reached: Callable[[], dict[str, str]], tmp_path: Path) -> None:
    running = RunningServer(tmp_path / "pg", **reached())
    account = running.new_client("kept")
    Blobs(running.settings).put(f"{account.tenant_id}/audio/1", b"sound")
    running.database.close()
    made = make_backup(running.settings, tmp_path / "pg.tar")
    assert made["database"] == "postgresql"
    target = into(tmp_path / "target", **reached())
    restore_backup(target, tmp_path / "pg.tar", force=False)
    with pytest.raises(Conflict):
        restore_backup(target, tmp_path / "pg.tar", force=False)
    restore_backup(target, tmp_path / "pg.tar", force=True)
    database = Database(target)
    try:
        with database.read() as connection:
            names = connection.execute(sa.text("SELECT external_id FROM tenants")).scalars().all()
        assert list(names) == ["kept"]
    finally:
        database.close()
    assert Blobs(target).read(f"{account.tenant_id}/audio/1") == b"sound"


def test_without_the_programs_of_postgresql_it_says_so(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = RunningServer(tmp_path / "pg", database_url=postgresql_url)
    running.database.close()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unavailable, match="pg_dump is not installed"):
        make_backup(running.settings, tmp_path / "pg.tar")
    assert not list(tmp_path.glob("pg.tar*"))


@pytest.mark.postgresql
@pytest.mark.parametrize("schema", ["0001", "0024", "0025"])
def test_a_backup_of_before_an_upgrade_replaces_what_came_of_it(
    postgresql_url: str, tmp_path: Path, schema: str
) -> None:
    settings = into(tmp_path / "upgraded", database_url=postgresql_url)
    database = made_of(settings, schema, tmp_path / "before.tar")
    migrate.migrate(database)
    with database.write() as connection:
        # What a release makes that this one does not know.
        connection.exec_driver_sql("CREATE TABLE of_a_newer (id uuid PRIMARY KEY REFERENCES camera_streams (id))")
    Blobs(settings).put("later/audio/1", b"later")
    restore_backup(settings, tmp_path / "before.tar", force=True)
    assert migrate.current_revision(database) == schema
    with database.read() as connection:
        assert not {"of_a_newer", "camera_tally"} & set(sa.inspect(connection).get_table_names())
    assert [each.key for each in Blobs(settings).list_all()] == ["kept/audio/1"]
    migrate.migrate(database)
    assert migrate.trouble(database) == ""
    database.close()


@pytest.mark.postgresql
def test_a_restore_that_fails_leaves_everything_as_it_was(postgresql_url: str, tmp_path: Path) -> None:
    settings = into(tmp_path / "kept", database_url=postgresql_url)
    database = made_of(settings, migrate.newest_revision(), tmp_path / "before.tar")
    Blobs(settings).put("later/audio/1", b"later")
    (settings.data_dir / "index" / "one").mkdir(parents=True)
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE later (id integer)")
    with database.read() as connection:
        connection.exec_driver_sql("SELECT * FROM tenants").all()
        with pytest.raises(Unavailable, match="lock timeout"):
            restore_backup(settings, tmp_path / "before.tar", force=True)
    with database.read() as connection:
        assert "later" in sa.inspect(connection).get_table_names()
    assert Blobs(settings).read("later/audio/1") == b"later"
    assert (settings.data_dir / "index" / "one").is_dir()
    restore_backup(settings, tmp_path / "before.tar", force=True)
    with database.read() as connection:
        assert "later" not in sa.inspect(connection).get_table_names()
    database.close()


@pytest.mark.postgresql
@pytest.mark.parametrize("schema", ["0001", "0020", "head"])
def test_a_restore_waits_for_the_servers_of_any_release_to_be_stopped(
    postgresql_url: str, tmp_path: Path, schema: str
) -> None:
    """Also of one whose schema this Parley cannot work with: then a restore is what its message tells people to do."""
    settings = into(tmp_path / "here", database_url=postgresql_url)
    database = made_of(settings, schema, tmp_path / "before.tar")
    with database.write() as connection:
        connection.execute(sa.text("UPDATE workers SET last_seen_at = now()"))
    with pytest.raises(Unavailable, match="server works"):
        restore_backup(settings, tmp_path / "before.tar", force=True)
    with database.write() as connection:
        connection.execute(sa.text("UPDATE workers SET last_seen_at = now() - interval '1 hour'"))
    restore_backup(settings, tmp_path / "before.tar", force=True)
    database.close()


_NEWER_RESTORE = r"""#!/bin/sh
{program} "$@" || exit
for word in "$@"; do
  case $word in
    --file=*) sed -i '0,/^SET statement_timeout/s//SET transaction_timeout = 0;\n&/' "${{word#--file=}}";;
  esac
done
"""
"""What a newer one writes."""


@pytest.mark.postgresql
def test_what_programs_of_a_newer_postgresql_set_is_left_out_for_an_older_server(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = into(tmp_path / "here", database_url=postgresql_url)
    made_of(settings, "head", tmp_path / "backup.tar").close()
    newer = tmp_path / "newer" / "pg_restore"
    newer.parent.mkdir()
    newer.write_text(_NEWER_RESTORE.format(program=shutil.which("pg_restore")), encoding="utf-8")
    newer.chmod(0o755)
    monkeypatch.setenv("PATH", f"{newer.parent}{os.pathsep}{os.environ['PATH']}")
    suited: list[bytes] = []
    suit = postgresql_dumps._suit

    def seen(script: Path, server_version: int) -> None:
        assert b"\nSET transaction_timeout = 0;\n" in script.read_bytes()
        suit(script, min(server_version, 160_000))
        suited.append(script.read_bytes())

    monkeypatch.setattr(postgresql_dumps, "_suit", seen)
    restore_backup(settings, tmp_path / "backup.tar", force=True)
    assert b"transaction_timeout" not in suited[0]
    database = Database(settings)
    assert migrate.is_current(database)
    database.close()


_OF_AN_ADMINISTRATOR = (
    "CREATE EXTENSION pgcrypto",
    "CREATE EXTENSION pg_stat_statements",
    "COMMENT ON EXTENSION pgcrypto IS 'for reports'",
    "CREATE SCHEMA reports",
    "CREATE TABLE reports.alembic_version (version_num text)",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO {reader}",
    "CREATE PUBLICATION replicates FOR TABLE tenants",
)
"""What whoever runs PostgreSQL makes in the database, and may not be dropped by Parley's role."""


def _rows(database: Database) -> dict[str, list[Any]]:
    """Of every table, but for what workers note of themselves."""
    with database.read() as connection:
        tables = sa.MetaData()
        tables.reflect(connection)
        return {
            name: sorted(map(repr, connection.execute(sa.select(table)).all()))
            for name, table in tables.tables.items()
            if name not in ("workers", "backup_outcomes")
        }


@pytest.mark.postgresql
@pytest.mark.parametrize("release", ["this", "an earlier one"])
def test_what_an_administrator_made_is_not_restored_and_keeps_nothing_from_it(
    postgresql_cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str
) -> None:
    """In place, where Parley's role owns none of it, and on another server, which has neither it nor the roles."""
    parley, reader = (f"{name}_{uuid.uuid4().hex}" for name in ("owner", "reader"))
    url = postgresql.new_database_of(parley, postgresql_cluster)
    settings = into(tmp_path / "here", database_url=url)
    database = made_of(settings, "head", tmp_path / "before.tar")
    statements = [f"CREATE ROLE {reader}", *(each.format(reader=reader) for each in _OF_AN_ADMINISTRATOR)]
    if release != "this":
        # It dumped the database whole, so what it could not read it could not back up.
        statements += [
            f"GRANT USAGE ON SCHEMA reports TO {parley}",
            f"GRANT SELECT ON reports.alembic_version TO {parley}",
        ]
        run = postgresql_dumps._run

        def as_before(of: Database | None, program: str, *arguments: str) -> str:
            whole = ["--exclude-schema=dbos" if each.startswith("--schema=") else each for each in arguments]
            return run(of, program, *whole)

        monkeypatch.setattr(postgresql_dumps, "_run", as_before)
    postgresql.as_administrator(url, *statements)
    before = _rows(database)
    make_backup(settings, tmp_path / "backup.tar")
    restore_backup(settings, tmp_path / "backup.tar", force=True)
    database.reconnect()
    assert _rows(database) == before
    assert "pgcrypto" in _extensions(database)
    database.close()
    with postgresql.running_cluster() as other_cluster:
        other = into(tmp_path / "there", database_url=postgresql.new_database_of("another", other_cluster))
        restore_backup(other, tmp_path / "backup.tar", force=False)
        restored = Database(other)
        assert _rows(restored) == before
        assert _extensions(restored) == {"plpgsql"}
        with restored.read() as connection:
            assert sa.inspect(connection).get_schema_names() == ["information_schema", "public"]
        assert migrate.trouble(restored) == ""
        restored.close()


@pytest.mark.postgresql
def test_a_schema_of_its_own_is_made_where_it_is_restored(postgresql_cluster: str, tmp_path: Path) -> None:
    role = f"owner_{uuid.uuid4().hex}"
    settings = into(tmp_path / "here", database_url=postgresql.new_database_of(role, postgresql_cluster))
    postgresql.as_administrator(settings.database_url, f"CREATE SCHEMA AUTHORIZATION {role}")
    database = made_of(settings, "head", tmp_path / "backup.tar")
    postgresql.as_administrator(settings.database_url, f"CREATE EXTENSION pgcrypto SCHEMA {role}")
    before = _rows(database)
    restore_backup(settings, tmp_path / "backup.tar", force=True)
    database.close()
    other = into(tmp_path / "there", database_url=postgresql.new_database_of(role, postgresql_cluster))
    restore_backup(other, tmp_path / "backup.tar", force=False)
    for each in (settings, other):
        restored = Database(each)
        assert _rows(restored) == before
        with restored.read() as connection:
            assert connection.exec_driver_sql("SELECT current_schema()").scalar_one() == role
        restored.close()


def _extensions(database: Database) -> set[str]:
    with database.read() as connection:
        return set(connection.exec_driver_sql("SELECT extname FROM pg_extension").scalars())
