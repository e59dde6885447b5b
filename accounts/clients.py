"""Client accounts: made with their first key, chat and balance; their keys, their state, what they set themselves."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from accounts import ledger
from accounts.keys import CLIENT_PREFIX, Keyring, make_public_key
from accounts.outbound import without_path
from store import accounts, audit, chats, operators, voices
from store.accounts import ApiKey, Tenant
from store.audit import Action
from store.chats import Chat
from store.database import Connection
from store.errors import Conflict, InvalidRequest, NotFound

OPERATOR = "operator"
PARTNER_PAUSE = "partner"
OPERATOR_PAUSE = "operator"
MAX_LIVE_KEYS = 100
_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")


@dataclass(frozen=True, slots=True)
class NewClient:
    """A client just made; `api_key` is shown once."""

    tenant: Tenant
    api_key: str
    chat: Chat


def create_client(
    connection: Connection,
    keyring: Keyring,
    *,
    external_id: str,
    name: str | None = None,
    email: str | None = None,
    features: Sequence[str] = accounts.FEATURES,
    integration_id: str | None = None,
    language: str = "ru",
    time_zone: str = "Europe/Moscow",
    widget_origins: Sequence[str] = (),
    signup_credit: Decimal = Decimal(0),
    actor: str = OPERATOR,
) -> NewClient:
    """Makes the tenant, its first key, its default chat and its balance.

    Raises Conflict external_id_taken or email_taken, and InvalidRequest.
    """
    check_external_id(external_id)
    check_features(features)
    if name is not None:
        check_name(name)
    check_time_zone(time_zone)
    email = normal_email(email)
    tenant = accounts.create_tenant(
        connection,
        name=external_id if name is None else name,
        external_id=external_id,
        integration_id=integration_id,
        email=email,
        features=features,
        language=language,
        time_zone=time_zone,
        widget_origins=widget_origins,
    )
    if tenant is None:
        if accounts.find_client(connection, integration_id, external_id):
            raise Conflict("There is a client with this external_id.", code="external_id_taken", param="external_id")
        raise email_taken()
    issuer = "integration" if integration_id else "account"
    record, api_key = _issue_key(tenant.id, connection, keyring, name="first key", issuer=issuer)
    chat = chats.create(tenant.id, connection, name=tenant.name, header_title=tenant.name, public_key=make_public_key())
    ledger.open_account(tenant.id, connection, credit_micro=ledger.micro_of(signup_credit))
    operators.follow_email(tenant.id, connection, before=None, after=email)
    audit.add(tenant.id, connection, actor=actor, action="client.created", details={"key": record.prefix})
    return NewClient(tenant=tenant, api_key=api_key, chat=chat)


def email_taken() -> Conflict:
    return Conflict("The e-mail belongs to another account.", code="email_taken", param="email")


def add_key(
    tenant_id: str,
    connection: Connection,
    keyring: Keyring,
    *,
    name: str,
    issuer: str = "account",
    actor: str = OPERATOR,
) -> tuple[ApiKey, str]:
    """The key's record and its text, which is shown once. Raises Conflict over `MAX_LIVE_KEYS`."""
    check_name(name)
    accounts.get_tenant(tenant_id, connection, lock=True)
    if accounts.count_live_keys(tenant_id, connection) >= MAX_LIVE_KEYS:
        raise Conflict(f"There are {MAX_LIVE_KEYS} keys already: end one first.", code="too_many_keys")
    record, text = _issue_key(tenant_id, connection, keyring, name=name, issuer=issuer)
    audit.add(tenant_id, connection, actor=actor, action="key.created", subject=record.id, details=_named(record))
    return record, text


def _issue_key(
    tenant_id: str, connection: Connection, keyring: Keyring, *, name: str, issuer: str
) -> tuple[ApiKey, str]:
    new = keyring.make_key(CLIENT_PREFIX)
    record = accounts.add_key(
        tenant_id,
        connection,
        name=name,
        prefix=new.prefix,
        key_hash=new.key_hash,
        signing_secret=new.signing_secret,
        issuer=issuer,
    )
    return record, new.text


def replace_integration_key(
    tenant_id: str, connection: Connection, keyring: Keyring, *, actor: str, action: Action
) -> tuple[ApiKey, str]:
    """A new key in place of those that the integration issued, which are dead with the commit; keys that the account
    made itself stay. Whoever calls has locked the tenant."""
    accounts.revoke_issued_keys(tenant_id, connection, "integration")
    record, text = _issue_key(tenant_id, connection, keyring, name="partner key", issuer="integration")
    audit.add(tenant_id, connection, actor=actor, action=action, subject=record.id, details=_named(record))
    return record, text


def revoke_key(
    tenant_id: str, connection: Connection, key_id: str, *, actor: str = OPERATOR, keep_last: bool = False
) -> ApiKey:
    """Ends a key with the commit; one that is over stays as it was.

    Raises NotFound, and with `keep_last` Conflict last_key where no live key would be left.
    """
    accounts.get_tenant(tenant_id, connection, lock=True)
    key = accounts.get_key(tenant_id, connection, key_id)
    if key is None:
        raise NotFound("No such key.")
    if key.revoked_at is not None:
        return key
    if keep_last and accounts.count_live_keys(tenant_id, connection) == 1:
        raise Conflict("This is the account's last key: make another one first.", code="last_key")
    accounts.revoke_key(tenant_id, connection, key.id)
    audit.add(tenant_id, connection, actor=actor, action="key.revoked", subject=key.id, details=_named(key))
    found = accounts.get_key(tenant_id, connection, key.id)
    assert found is not None
    return found


def _named(key: ApiKey) -> dict[str, Any]:
    return {"name": key.name, "key": key.prefix, "issuer": key.issuer}


def change(
    tenant: Tenant, connection: Connection, *, actor: str, action: Action = "client.updated", **values: Any
) -> Tenant:
    """Sets the columns of a tenant that differ and notes them. Whoever calls has locked and checked them.

    Raises Conflict email_taken.
    """
    changes = {name: value for name, value in values.items() if value != getattr(tenant, name)}
    if not changes:
        return tenant
    if changes.get("allow_credit") and tenant.pause_reason == "balance":
        changes |= {"is_active": True, "pause_reason": None}  # what paused it pauses nobody who has credit
    if not accounts.update_tenant(tenant.id, connection, **changes):
        raise email_taken()
    if "email" in changes:
        operators.follow_email(tenant.id, connection, before=tenant.email, after=changes["email"])
    if changes.get("voices_enabled") is False:
        voices.forget_all(tenant.id, connection)
    details = {name: _shown(name, value) for name, value in changes.items()}
    audit.add(tenant.id, connection, actor=actor, action=action, details=details)
    found = accounts.get_tenant(tenant.id, connection)
    assert found is not None
    return found


def _shown(name: str, value: Any) -> Any:
    if name == "webhook_url" and value:
        return without_path(value)
    return list(value) if isinstance(value, tuple) else value


def check_external_id(external_id: str) -> None:
    """Raises InvalidRequest for one that is empty, longer than 128 characters, or holds control characters."""
    if not 1 <= len(external_id) <= 128:
        raise InvalidRequest("external_id has 1 to 128 characters.", param="external_id")
    if not is_plain(external_id):
        raise InvalidRequest("external_id holds control characters.", param="external_id")


def is_plain(text: str) -> bool:
    """Without control characters, and without the halves of characters that no database takes."""
    return not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)


def check_name(name: str) -> None:
    """Raises InvalidRequest for a name that is blank, longer than 200 characters, or holds control characters."""
    if not name.strip() or len(name) > 200:
        raise InvalidRequest("a name has 1 to 200 characters.", param="name")
    if not is_plain(name):
        raise InvalidRequest("a name holds no control characters.", param="name")


def normal_email(email: str | None) -> str | None:
    """In lower case, so that one mailbox belongs to one account. Raises InvalidRequest for what is no address."""
    if email is None:
        return None
    normal = email.lower()
    if len(normal) > 320 or not _EMAIL.fullmatch(normal) or not is_plain(normal):
        raise InvalidRequest(f"{email[:100]!r} is no e-mail address.", param="email")
    return normal


def check_features(features: Sequence[str]) -> None:
    """Raises InvalidRequest naming a feature that is none."""
    for feature in features:
        if feature not in accounts.FEATURES:
            known = ", ".join(accounts.FEATURES)
            raise InvalidRequest(f"Unknown feature {feature!r}: known are {known}.", param="features")


def check_time_zone(name: str) -> None:
    """Raises InvalidRequest for what is no zone of the IANA database."""
    if name not in _time_zones():
        raise InvalidRequest("time_zone is no zone of the IANA database, for example Europe/Moscow.", param="time_zone")


@cache
def _time_zones() -> frozenset[str]:
    from zoneinfo import available_timezones

    return frozenset(available_timezones())
