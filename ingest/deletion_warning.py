"""Warns the owners of an account that will be deleted since it is paused, once in a pause.

A durable job for each pause writes the letters, and at its end the entry of the audit log that the deletion waits for.
"""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

import structlog

from accounts import mail
from accounts.mail import Letter
from ingest.outages import closing_step, lasting_step
from ingest.workshop import WARNINGS_QUEUE, Workshop, workshop
from store import account_rows, accounts, audit, operators
from store.accounts import Tenant
from store.database import now
from store.jobs import ENDED_BADLY, StepsChanged, workflow
from store.settings import Settings

log = structlog.get_logger(__name__)

DAYS_BEFORE = 7
_ACTOR = "platform"
_TEXTS = {
    "ru": (
        "Аккаунт «{account}» будет удалён {day}",
        "Здравствуйте!\n\n"
        "Аккаунт «{account}» в Parley приостановлен с {since}. {day} он будет удалён со всем, что в нём есть: "
        "разговорами, документами, чатами и настройками. Вернуть их будет нельзя.\n\n"
        "Чтобы аккаунт остался, пополните баланс, если он приостановлен из-за баланса, или напишите тому, кто его "
        "приостановил. Архив всех данных можно скачать в кабинете, в разделе «Настройки, Данные»:\n{link}\n",
    ),
    "en": (
        "The account {account} will be deleted on {day}",
        "Hello!\n\n"
        "The account {account} in Parley has been paused since {since}. On {day} it will be deleted with everything "
        "in it: conversations, documents, chats and settings. They cannot be brought back.\n\n"
        "To keep it, top up the balance if that is what paused it, or write to whoever paused it. An archive of all "
        "data is in the cabinet, under Settings, Data:\n{link}\n",
    ),
}


def days_before(settings: Settings) -> int:
    """How long before the deletion its warning is."""
    return min(DAYS_BEFORE, settings.delete_paused_days)


def warn(house: Workshop) -> None:
    """Has those warned whose time comes. Doing it again, or in another process too, does nothing."""
    days = house.settings.delete_paused_days - days_before(house.settings)
    with house.database.read() as connection:
        unwarned = account_rows.list_unwarned(connection, paused_days=days)
    jobs = {f"deletion-warning-{tenant_id}-{since.isoformat()}": (tenant_id, since) for tenant_id, since in unwarned}
    statuses = house.jobs.statuses(list(jobs)) if jobs else {}
    for job_id, (tenant_id, since) in jobs.items():
        if job_id not in statuses:
            house.jobs.enqueue(WARNINGS_QUEUE, job_id, warn_of_deletion, tenant_id, since.isoformat())
        elif statuses[job_id] in ENDED_BADLY:
            _note(tenant_id, since.isoformat(), 0)


@workflow(name="warn_of_deletion")
def warn_of_deletion(tenant_id: str, since: str) -> None:
    letters = 0
    for owner_id in _list_owners(tenant_id):
        try:
            letters += _write(tenant_id, since, owner_id)
        except StepsChanged:
            raise
        # One address that nobody takes letters for must not keep the others', nor the deletion, waiting.
        except Exception as error:
            log.error("an owner was not warned of the deletion", tenant_id=tenant_id, error=type(error).__name__)
    _close(tenant_id, since, letters)


@lasting_step("list_owners_to_warn")
def _list_owners(tenant_id: str) -> list[str]:
    with workshop().database.read() as connection:
        return [owner.id for owner in operators.list_owners(tenant_id, connection)]


@lasting_step("warn_owner")
def _write(tenant_id: str, since: str, owner_id: str) -> int:
    """How many letters went out: none where the owner is gone, or the pause is over."""
    house = workshop()
    with house.database.read() as connection:
        tenant, owner = accounts.get_tenant(tenant_id, connection), operators.get(tenant_id, connection, owner_id)
    if owner is None or tenant is None or not _is_paused(tenant, since):
        return 0
    mail.send(house.settings, _letter(house.settings, tenant, owner.email))
    return 1


def _is_paused(tenant: Tenant | None, since: str) -> bool:
    """Whether it is the same pause still."""
    if tenant is None or tenant.paused_since is None or tenant.deleting_since is not None:
        return False
    return tenant.paused_since.isoformat() == since


def _letter(settings: Settings, tenant: Tenant, email: str) -> Letter:
    assert tenant.paused_since is not None
    since = tenant.paused_since
    deleted_at = max(since + timedelta(days=settings.delete_paused_days), now() + timedelta(days=days_before(settings)))
    subject, text = _TEXTS["ru" if tenant.language == "ru" else "en"]
    zone, day = ZoneInfo(tenant.time_zone), "%d.%m.%Y" if tenant.language == "ru" else "%Y-%m-%d"
    said = {
        "account": tenant.name,
        "since": f"{since.astimezone(zone):{day}}",
        "day": f"{deleted_at.astimezone(zone):{day}}",
        "link": f"{settings.effective_cabinet_url}/settings/data",
    }
    return Letter(email, subject.format(**said), text.format(**said), said["link"])


@closing_step("note_deletion_warning")
def _close(tenant_id: str, since: str, letters: int) -> None:
    _note(tenant_id, since, letters)


def _note(tenant_id: str, since: str, letters: int) -> None:
    with workshop().database.write() as connection:
        if _is_paused(accounts.get_tenant(tenant_id, connection, lock=True), since):
            action, details = account_rows.DELETION_WARNED, {"letters": letters}
            audit.add(tenant_id, connection, actor=_ACTOR, action=action, details=details)
