"""The `parley` command line, in processes of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from store.database import Database
from store.migrate import newest_revision
from store.settings import Settings
from tests.support.forks import run_parley
from tests.support.server import RunningServer

Parley = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def parley(tmp_path: Path) -> Parley:
    """Runs a command over an empty data folder."""

    def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
        environment |= {"PARLEY_DATA_DIR": str(tmp_path / "data"), "PARLEY_LLM_MODEL": "none"}
        environment |= {f"PARLEY_{name.upper()}": value for name, value in settings.items()}
        return run_parley(arguments, environment)

    return run


def printed(result: subprocess.CompletedProcess[str]) -> Any:
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_commands_that_need_the_database_say_so_before_it_is_made(parley: Parley) -> None:
    for arguments in (["client", "list"], ["serve"], ["demo"]):
        result = parley(*arguments)
        assert result.returncode != 0
        assert "parley migrate" in result.stderr
        assert "Traceback" not in result.stderr


def test_migrate_says_first_what_it_will_do(parley: Parley) -> None:
    planned = printed(parley("migrate", "--plan", "--json"))
    assert planned[0]["revision"] == "0001"
    assert all(each["what"] for each in planned)
    assert printed(parley("migrate", "--json"))["after"] == planned[-1]["revision"]
    assert printed(parley("migrate", "--plan", "--json")) == []


def of_newer_release(folder: Path, *, works_from: str) -> None:
    with closing(sqlite3.connect(folder / "parley.sqlite3")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999', works_from = ?", (works_from,))


def test_a_database_of_a_newer_release_is_refused_in_one_line(parley: Parley, tmp_path: Path) -> None:
    parley("migrate")
    of_newer_release(tmp_path / "data", works_from="9998")
    for arguments in (["migrate"], ["migrate", "--plan"], ["serve"], ["client", "list"], ["reindex"]):
        result = parley(*arguments)
        assert result.returncode == 1, arguments
        (line,) = [each for each in result.stderr.splitlines() if "newer Parley (revision 9999;" in each]
        assert line.startswith("parley: ")
        assert "Traceback" not in result.stderr
    rows = json.loads(parley("doctor", "--json").stdout)
    assert [row["ok"] for row in rows if "newer Parley" in row["finding"]] == [False]


def test_a_release_goes_on_with_a_newer_schema_that_works_with_it(parley: Parley, tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data")
    of_newer_release(tmp_path / "data", works_from=newest_revision())
    try:
        server.start()
        assert httpx2.get(server.url + "/readyz").status_code == 200
    finally:
        server.close()
    migrated = parley("migrate", "--json")
    assert printed(migrated) == {"before": "9999", "after": "9999"}
    assert "newer Parley" in migrated.stderr
    assert printed(parley("migrate", "--plan", "--json")) == []


def test_a_client_is_made_shown_changed_and_listed(parley: Parley) -> None:
    parley("migrate")
    create = ["client", "create", "--external-id", "acme", "--email", "A@Acme.example", "--language", "en"]
    made = printed(parley(*create, "--json", signup_credit="12.5"))
    assert made.pop("api_key").startswith("sk_live_")
    assert made.pop("chat_id")
    assert made["features"] == ["chat", "qc", "memory", "vision", "kb"]
    assert (made["balance_rub"], made["tariff"], made["language"]) == ("12.50", "Base", "en")
    assert (made["is_active"], made["pause_reason"], made["allow_credit"]) == (True, None, False)
    changes = ["--name", "Acme", "--feature", "kb", "--feature", "chat", "--paused", "--allow-credit"]
    changes += ["--cameras", "7", "--camera-days", "10"]
    changed = printed(parley("client", "set", "acme", *changes, "--time-zone", "Asia/Omsk", "--json"))
    assert changed == made | {
        "name": "Acme",
        "features": ["kb", "chat"],
        "is_active": False,
        "pause_reason": "operator",
        "allow_credit": True,
        "cameras": 7,
        "camera_days": 10,
        "time_zone": "Asia/Omsk",
    }
    assert printed(parley("client", "show", made["tenant_id"], "--json")) == changed
    (listed,) = printed(parley("client", "list", "--json"))
    assert listed.items() <= changed.items()
    back = printed(parley("client", "set", "acme", "--active", "--no-allow-credit", "--email", "", "--json"))
    assert back == changed | {"is_active": True, "pause_reason": None, "allow_credit": False, "email": None}
    shown = parley("client", "show", "acme").stdout
    assert "12.50" in shown
    assert "Base" in shown


def test_an_external_id_an_email_and_a_feature_are_checked(parley: Parley) -> None:
    parley("migrate")
    printed(parley("client", "create", "--external-id", "acme", "--email", "a@acme.example", "--json"))
    for arguments, problem in (
        (["--external-id", "acme"], "external_id"),
        (["--external-id", "other", "--email", "a@acme.example"], "e-mail"),
        (["--external-id", "other", "--feature", "magic"], "magic"),
        (["--external-id", ""], "external_id"),
        (["--external-id", "other", "--time-zone", "Moscow"], "time_zone"),
    ):
        result = parley("client", "create", *arguments)
        assert result.returncode == 1
        assert problem in result.stderr
        assert result.stdout == ""


def test_keys_are_made_listed_and_revoked_and_shown_once(parley: Parley) -> None:
    parley("migrate")
    printed(parley("client", "create", "--external-id", "acme", "--json"))
    made = printed(parley("key", "create", "acme", "--name", "crm", "--json"))
    listed = parley("key", "list", "acme", "--json")
    assert made["api_key"] not in listed.stdout
    assert [key["name"] for key in printed(listed)] == ["first key", "crm"]
    revoked = printed(parley("key", "revoke", "acme", made["id"], "--json"))
    assert revoked["revoked_at"] is not None
    assert parley("key", "revoke", "acme", "0190a0a0-0000-7000-8000-000000000000").returncode == 1


def test_an_integration_is_made_allowed_disabled_and_enabled(parley: Parley) -> None:
    parley("migrate")
    made = printed(parley("integration", "create", "partner", "--allow-ip", "10.1.2.3", "--feature", "kb", "--json"))
    assert made["secret"].startswith("int_live_")
    assert (made["allowed_networks"], made["features"]) == (["10.1.2.3/32"], ["kb"])
    allowed = printed(parley("integration", "allow-ip", "partner", "2001:db8::/32", "10.1.2.3", "--json"))
    assert allowed["allowed_networks"] == ["10.1.2.3/32", "2001:db8::/32"]
    forbidden = printed(parley("integration", "forbid-ip", "partner", "10.1.2.3", "--json"))
    assert forbidden["allowed_networks"] == ["2001:db8::/32"]
    assert printed(parley("integration", "disable", "partner", "--json"))["is_enabled"] is False
    assert printed(parley("integration", "enable", made["id"], "--json"))["is_enabled"] is True
    rotated = printed(parley("integration", "rotate-secret", "partner", "--json"))
    assert rotated["secret"] != made["secret"]
    assert rotated["secret"].startswith(rotated["secret_prefix"])
    assert parley("integration", "create", "partner").returncode == 1
    assert parley("integration", "allow-ip", "partner", "not-an-address").returncode == 1
    assert parley("integration", "forbid-ip", "partner", "10.1.2.3").returncode == 1
    listed = parley("integration", "list", "--json").stdout
    assert made["secret"] not in listed
    assert rotated["secret"] not in listed


def test_no_key_and_no_secret_lies_in_the_database_in_clear(parley: Parley, tmp_path: Path) -> None:
    parley("migrate")
    client = printed(parley("client", "create", "--external-id", "acme", "--json"))
    partner = printed(parley("integration", "create", "partner", "--json"))
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("parley.sqlite3*"))
    assert b"acme" in stored
    assert client["api_key"].encode() not in stored
    assert partner["secret"].encode() not in stored
    assert (tmp_path / "data" / "secret.key").stat().st_mode & 0o077 == 0


@pytest.mark.postgresql
def test_the_doctor_says_where_postgresql_takes_fewer_connections_than_a_process_may_want(
    parley: Parley, postgresql_url: str
) -> None:
    """The tests' own takes 150, less 3 that are its superuser's."""
    parley("migrate", database_url=postgresql_url)

    def examined(**settings: str) -> dict[str, Any]:
        rows = json.loads(parley("doctor", "--json", database_url=postgresql_url, **settings).stdout)
        (row,) = [row for row in rows if row["part"] == "database"]
        found: dict[str, Any] = row
        return found

    assert examined()["ok"]
    assert examined(database_pool="127")["ok"]
    wanting = examined(database_pool="128")
    assert not wanting["ok"]
    assert "takes 147 connections, and one process may want 148" in wanting["finding"]


@pytest.mark.postgresql
def test_an_index_that_was_not_built_is_named_and_built_by_migrate(parley: Parley, postgresql_url: str) -> None:
    def run(*arguments: str) -> Any:
        return json.loads(parley(*arguments, "--json", database_url=postgresql_url).stdout)

    run("migrate")
    database = Database(Settings(database_url=postgresql_url, _env_file=None))  # type: ignore[call-arg]
    with closing(database), database.write() as connection:
        connection.execute(sa.text("DROP INDEX ix_speakers_tenant_id_id"))
    assert run("migrate", "--plan") == [{"revision": newest_revision(), "what": "the index ix_speakers_tenant_id_id"}]
    (finding,) = [row for row in run("doctor") if row["part"] == "database"]
    assert not finding["ok"]
    assert "run `parley migrate`" in finding["finding"]
    assert run("migrate") == {"before": newest_revision(), "after": newest_revision()}
    assert run("migrate", "--plan") == []


def test_the_doctor_names_what_is_missing_and_how_to_get_it(parley: Parley, tmp_path: Path) -> None:
    result = parley("doctor", "--json", cache_dir=str(tmp_path / "no models"))
    assert result.returncode == 1
    findings = {row["part"]: row for row in json.loads(result.stdout)}
    assert "parley migrate" in findings["database"]["finding"]
    assert "parley models pull" in findings["speech"]["finding"]
    assert "parley models pull" in findings["embedding"]["finding"]
    assert findings["blobs"]["ok"]


def test_a_wrong_setting_is_named(parley: Parley) -> None:
    result = parley("migrate", log_level="loud")
    assert result.returncode == 1
    assert "PARLEY_LOG_LEVEL" in result.stderr
    assert "Traceback" not in result.stderr


def test_ingested_files_are_taken_in_by_the_running_server(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", sweep_s="0.5")
    try:
        account = server.start().new_client("acme")
        folder = tmp_path / "files"
        folder.mkdir()
        (folder / "правила.md").write_text("# Правила\n\nСклад открыт до двадцати часов.")
        (folder / "picture.bin").write_bytes(b"\x00\x01\x02")
        ingest = ["ingest", str(folder), "--tenant", "acme", "--json"]
        run = run_parley(ingest, server.environment)
        rows = {Path(row["file"]).name: row for row in printed(run)}
        assert rows["picture.bin"]["state"].startswith("skipped")
        record = account.finished_document(rows["правила.md"]["id"])
        assert record["status"] == "success", record
        again = run_parley(ingest, server.environment)
        assert {row["state"] for row in printed(again)} >= {"was there"}
    finally:
        server.close()


def test_a_second_server_over_the_same_data_folder_says_who_holds_it(server: RunningServer) -> None:
    environment = {**server.environment, "PARLEY_PORT": "0"}
    command = [sys.executable, "-m", "api.command_line", "serve"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode != 0
    assert server.process is not None
    assert str(server.process.pid) in result.stderr
