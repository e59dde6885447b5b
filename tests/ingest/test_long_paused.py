"""An account that stays paused is deleted where the server says so: after so many days without a break, and not before
its owners were told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from accounts import ledger
from store import account_rows, accounts, audit, billing
from store.accounts import tenants
from store.audit import AuditEntry, audit_entries
from store.database import Database, now
from store.ids import new_id
from tests.contract.partner import make_partner
from tests.ingest.test_account_deletion import WAIT_S, wait_until_deleted
from tests.store.conftest import database as database
from tests.store.test_database import make_tenant
from tests.support.cabinet import add_operator
from tests.support.mail_server import MailServer, receiving_mail
from tests.support.server import Account, RunningServer

AGE = {"paused_days": 30, "warned_days": 7}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Callable[..., RunningServer]]:
    opened: list[RunningServer] = []

    def start(**settings: str) -> RunningServer:
        opened.append(RunningServer(tmp_path / "server", **{"sweep_s": "0.3", "job_poll_s": "0.1", **settings}))
        return opened[-1].start()

    yield start
    for running in opened:
        running.close()


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with receiving_mail() as server:
        yield server


def mailing(mail: MailServer) -> dict[str, str]:
    return {"smtp_host": "127.0.0.1", "smtp_port": str(mail.port), "smtp_security": "none"}


def pause(account: Account, *, days: int = 0) -> None:
    """Pauses it, as if so many days ago."""
    with account.server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, is_active=False, pause_reason="operator")
        mine = tenants.c.id == account.tenant_id
        connection.execute(sa.update(tenants).where(mine).values(paused_since=now() - timedelta(days=days)))


def paused_since(server: RunningServer, tenant_id: str) -> datetime | None:
    with server.database.read() as connection:
        tenant = accounts.get_tenant(tenant_id, connection)
    assert tenant is not None
    return tenant.paused_since


def warnings(account: Account) -> list[AuditEntry]:
    with account.server.database.read() as connection:
        found, _ = audit.list_page(account.tenant_id, connection, actions=[account_rows.DELETION_WARNED], limit=100)
    return found


def wait_for_warning(account: Account, count: int = 1) -> list[AuditEntry]:
    deadline = time.monotonic() + WAIT_S
    while len(found := warnings(account)) < count:
        assert time.monotonic() < deadline, account.server.log()[-4000:]
        time.sleep(0.1)
    return found


def make_older(account: Account, days: int) -> None:
    """As if the account had been paused, and warned, so many days before."""
    entry = audit_entries.c
    with account.server.database.write() as connection:
        for table, column, mine in (
            (tenants, tenants.c.paused_since, tenants.c.id == account.tenant_id),
            (audit_entries, entry.at, (entry.tenant_id == account.tenant_id) & (entry.action.startswith("account"))),
        ):
            at = connection.execute(sa.select(column).where(mine)).scalar_one()
            earlier = at - timedelta(days=days)
            connection.execute(sa.update(table).where(mine).values({column.name: earlier}))


def sweep_twice(server: RunningServer) -> None:
    """Until two sweeps have been that began after this: each notes the pause of an account that has none noted."""
    for _ in range(2):
        with server.database.write() as connection:
            tenant = accounts.create_tenant(connection, name="sweeps")
            assert tenant is not None
            mine = tenants.c.id == tenant.id
            connection.execute(sa.update(tenants).where(mine).values(is_active=False))
        deadline = time.monotonic() + WAIT_S
        while paused_since(server, tenant.id) is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_owners_are_told_once_a_week_before_and_then_it_goes(
    place: Callable[..., RunningServer], mail: MailServer
) -> None:
    server = place(delete_paused_days="30", public_url="https://parley.example", **mailing(mail))
    account = server.new_client("long", name="Ромашка", email=f"first-{new_id()}@shop.example")
    young, active = server.new_client("young"), server.new_client("active")
    second = add_operator(account, "owner")
    add_operator(account, "operator")
    add_operator(young, "owner")
    pause(account, days=23)
    pause(young, days=22)
    (warning,) = wait_for_warning(account)
    assert (warning.actor, warning.details) == ("platform", {"letters": 2})
    sweep_twice(server)
    assert {letter["To"] for letter in mail.letters} == {account.made.tenant.email, second.email}
    assert len(mail.letters) == 2
    day = f"{now().astimezone(ZoneInfo(account.made.tenant.time_zone)) + timedelta(days=7):%d.%m.%Y}"
    letter = mail.letters[0]
    assert letter["Subject"] == f"Аккаунт «Ромашка» будет удалён {day}"
    assert f"{day} он будет удалён" in letter.get_content()
    assert "https://parley.example/cabinet/settings/data" in letter.get_content()
    make_older(account, 6)
    sweep_twice(server)
    assert account.get("/public/v1/settings").status_code == 200
    make_older(account, 1)
    wait_until_deleted(server, account.tenant_id)
    assert len(mail.letters) == 2
    assert {each.get("/public/v1/settings").status_code for each in (young, active)} == {200}


def test_what_was_paused_before_the_setting_came_is_warned_first_and_never_is_never(
    place: Callable[..., RunningServer],
) -> None:
    server = place(delete_paused_days="0")
    account = server.new_client("long")
    pause(account, days=400)
    sweep_twice(server)
    assert warnings(account) == []
    server.stop()
    server.environment["PARLEY_DELETE_PAUSED_DAYS"] = "30"
    server.start()
    assert wait_for_warning(account)[0].details == {"letters": 0}
    sweep_twice(server)
    assert account.get("/public/v1/settings").status_code == 200
    make_older(account, 7)
    wait_until_deleted(server, account.tenant_id)


def test_a_mail_server_that_is_away_is_asked_again(place: Callable[..., RunningServer], mail: MailServer) -> None:
    mail.refuses = True
    server = place(delete_paused_days="30", **mailing(mail))
    account = server.new_client("long", email=f"owner-{new_id()}@shop.example")
    pause(account, days=25)
    deadline = time.monotonic() + WAIT_S
    while "a mail could not be sent" not in server.log():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert warnings(account) == []
    mail.refuses = False
    assert wait_for_warning(account)[0].details == {"letters": 1}
    assert len(mail.letters) == 1


def test_another_pause_counts_from_its_own_beginning_and_is_warned_of_anew(
    place: Callable[..., RunningServer], mail: MailServer
) -> None:
    server = place(delete_paused_days="30", **mailing(mail))
    account = server.new_client("long", email=f"owner-{new_id()}@shop.example")
    pause(account, days=25)
    wait_for_warning(account)
    make_older(account, 10)  # it is due, and pays in the same moment
    with server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, is_active=True, pause_reason=None)
        accounts.update_tenant(account.tenant_id, connection, is_active=False, pause_reason="operator")
    sweep_twice(server)
    assert account.get("/public/v1/settings").status_code == 200
    assert len(mail.letters) == 1
    pause(account, days=26)
    with server.database.write() as connection:  # the first warning was before that pause
        mine = audit_entries.c.tenant_id == account.tenant_id
        connection.execute(sa.update(audit_entries).where(mine).values(at=now() - timedelta(days=40)))
    wait_for_warning(account, 2)
    assert len(mail.letters) == 2


def test_between_two_sweeps_a_pause_begins_and_ends_with_what_is_done(place: Callable[..., RunningServer]) -> None:
    server = place(sweep_s="3600", delete_paused_days="30")
    partner = make_partner(server)
    client = partner.made()
    id_, tenant_id = client["external_id"], client["tenant_id"]
    assert partner.act(id_, "deactivate").status_code == 200
    begun = paused_since(server, tenant_id)
    assert begun is not None
    assert partner.act(id_, "deactivate").status_code == 200
    assert paused_since(server, tenant_id) == begun, "it is the same pause"
    assert partner.act(id_, "reactivate").status_code == 200
    assert paused_since(server, tenant_id) is None
    assert partner.act(id_, "deactivate").status_code == 200
    again = paused_since(server, tenant_id)
    assert again is not None
    assert again > begun


def test_a_balance_that_pays_and_runs_out_again_begins_another_pause(database: Database) -> None:
    tenant_id = make_tenant(database, "one").id
    with database.write() as connection:
        ledger.open_account(tenant_id, connection)
        assert billing.pause_for_balance(tenant_id, connection)
        accounts.update_tenant(tenant_id, connection, paused_since=now() - timedelta(days=40))
        audit.add(tenant_id, connection, actor="platform", action=account_rows.DELETION_WARNED)
        connection.execute(sa.update(audit_entries).values(at=now() - timedelta(days=10)))
    with database.write() as connection:
        assert account_rows.list_long_paused(connection, **AGE) == [tenant_id]
        assert ledger.credit(
            tenant_id, connection, key="paid", amount_micro=1, source="payment", source_ref=None, description="x"
        )
        assert billing.pause_for_balance(tenant_id, connection)
        # What the sweep asks once more before it deletes.
        assert not account_rows.is_long_paused(tenant_id, connection, **AGE)
        assert account_rows.list_unwarned(connection, paused_days=23) == []
