"""`parley balance` and `parley tariff`, by the console script's own entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from accounts import clients
from accounts.keys import Keyring
from api import command_line
from store import audit
from store.accounts import get_tenant
from store.database import Database
from store.migrate import migrate
from store.settings import Settings


@dataclass(frozen=True)
class Result:
    """How a command ended: its exit status and what it printed."""

    returncode: int
    stdout: str
    stderr: str


Parley = Callable[..., Result]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, _env_file=None)  # type: ignore[call-arg]


@pytest.fixture
def parley(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Parley:
    """Runs a command over a data folder with the client "acme"."""
    database = Database(settings)
    migrate(database)
    with database.write() as connection:
        clients.create_client(connection, Keyring.of(settings), external_id="acme")
    database.close()
    monkeypatch.setenv("PARLEY_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("PARLEY_DATABASE_URL", "")

    def run(*arguments: str) -> Result:
        monkeypatch.setattr("sys.argv", ["parley", *arguments])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        code = ended.value.code
        # What the interpreter does with a text.
        errors, status = (f"{code}\n", 1) if isinstance(code, str) else ("", code or 0)
        return Result(status, printed.out, printed.err + errors)

    return run


def printed(result: Result) -> Any:
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def assert_refused(result: Result, problem: str) -> None:
    assert result.returncode != 0
    assert problem in result.stderr
    assert (result.stdout, "Traceback" in result.stderr) == ("", False)


def audited(settings: Settings, tenant_id: str) -> list[tuple[str, str, dict[str, Any]]]:
    database = Database(settings)
    with database.read() as connection:
        entries, _ = audit.list_page(tenant_id, connection, limit=50)
    database.close()
    return [(entry.actor, entry.action, entry.details) for entry in entries if entry.action != "client.created"]


def test_money_is_added_once_a_key_shown_and_noted(parley: Parley, settings: Settings) -> None:
    added = printed(parley("balance", "add", "acme", "100.5", "--key", "invoice 7", "--json"))
    assert (added["added"], added["balance_rub"], added["held_rub"]) == (True, "100.50", "0.00")
    again = printed(parley("balance", "add", "acme", "100.50", "--key", "invoice 7", "--json"))
    assert again == {**added, "added": False}
    assert_refused(parley("balance", "add", "acme", "7", "--key", "invoice 7"), "100.50")
    corrected = printed(parley("balance", "add", added["tenant_id"], "-200.000001", "--description", "Oops", "--json"))
    assert (corrected["balance_rub"], corrected["is_active"]) == ("-99.500001", True)
    shown = printed(parley("balance", "show", "acme", "--json"))
    assert {"added": True, **shown} == corrected
    assert audited(settings, added["tenant_id"]) == [
        ("operator", "balance.added", {"amount_rub": "-200.000001", "key": None}),
        ("operator", "balance.added", {"amount_rub": "100.50", "key": "invoice 7"}),
    ]
    for table in (parley("balance", "show", "acme"), parley("balance", "add", "acme", "1")):
        assert table.returncode == 0
        assert "acme" in table.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["add", "acme", "1,5"], "1,5"),
        (["add", "acme", "1e3"], "1e3"),
        (["add", "acme", "0.0000001"], "0.0000001"),
        (["add", "acme", "NaN"], "NaN"),
        (["add", "acme", "0"], "nothing"),
        (["add", "acme", "1000000001"], "1,000,000,000"),
        (["add", "acme", "5", "--key", ""], "key"),
        (["add", "acme", "5", "--kye", "k"], "--kye"),
        (["add", "nobody", "5"], "nobody"),
        (["show", "nobody"], "nobody"),
    ],
)
def test_what_cannot_be_done_to_a_balance_is_refused(parley: Parley, arguments: list[str], problem: str) -> None:
    assert_refused(parley("balance", *arguments), problem)


def test_the_check_of_the_books_says_what_is_wrong(parley: Parley, settings: Settings) -> None:
    parley("balance", "add", "acme", "5")
    assert printed(parley("balance", "check", "--json")) == {"ok": True, "problems": []}
    assert parley("balance", "check").returncode == 0
    database = Database(settings)
    with database.write() as connection:
        connection.execute(sa.text("UPDATE balances SET available_micro = 1"))
    database.close()
    for arguments in ([], ["--json"]):
        result = parley("balance", "check", *arguments)
        assert result.returncode == 1
        assert "5000000" in result.stdout
    assert json.loads(result.stdout)["ok"] is False


def prices(version: dict[str, Any]) -> dict[tuple[str, str | None], str]:
    return {(rate["product"], rate["llm_model"]): rate["amount_rub"] for rate in version["rates"]}


def test_prices_are_listed_and_set_for_new_clients_for_one_and_for_everyone(parley: Parley, settings: Settings) -> None:
    (base,) = printed(parley("tariff", "list", "--json"))
    assert (base["label"], base["is_current"], base["clients"]) == ("Base", True, 1)
    assert prices(base)["transcription", None] == "0.02"
    dearer = printed(parley("tariff", "set", "chat=2.5", "chat@openai/gpt=10", "--label", "Dearer", "--json"))
    assert dearer["is_current"] is True
    assert prices(dearer) == {**prices(base), ("chat", None): "2.50", ("chat", "openai/gpt"): "10.00"}
    own = printed(parley("tariff", "set", "qc=0", "--tenant", "acme", "--json"))
    assert (own["is_current"], own["clients"]) == (False, 1)
    assert prices(own) == {**prices(base), ("qc", None): "0.00"}
    assert [version["clients"] for version in printed(parley("tariff", "list", "--json"))] == [1, 0, 0]
    tenant_id = printed(parley("balance", "show", "acme", "--json"))["tenant_id"]
    everyone = printed(parley("tariff", "set", "memory=0.000001", "--everyone", "--json"))
    assert prices(everyone) == {**prices(dearer), ("memory", None): "0.000001"}
    listed = parley("tariff", "list")
    assert all(text in listed.stdout for text in ("Dearer", "openai/gpt", "0.000001"))
    database = Database(settings)
    with database.read() as connection:
        tenant = get_tenant(tenant_id, connection)
    database.close()
    assert tenant is not None
    assert tenant.tariff_version_id == everyone["version_id"]
    noted = audited(settings, tenant_id)
    assert [(action, details["version_id"]) for _, action, details in noted] == [
        ("tariff.changed", everyone["version_id"]),
        ("tariff.changed", own["version_id"]),
    ]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["magic=1"], "magic"),
        (["chat"], "PRODUCT=AMOUNT"),
        (["chat=-1"], "0 or more"),
        (["chat=1", "chat=2"], "twice"),
        (["chat=much"], "much"),
        (["chat@=1"], "model"),
        (["chat=1", "--everyone", "--tenant", "acme"], "not both"),
        (["chat=1", "--tenant", "nobody"], "nobody"),
        (["chat=1", "--label", ""], "label"),
    ],
)
def test_prices_that_make_no_sense_are_refused(parley: Parley, arguments: list[str], problem: str) -> None:
    assert_refused(parley("tariff", "set", *arguments), problem)
    assert len(printed(parley("tariff", "list", "--json"))) == 1
