"""Ways into the cabinet: one-time signed codes, and the sessions that they open."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.keys import Keyring
from store import accounts, audit, operators, sessions
from store.accounts import Tenant
from store.database import Connection, Database, now
from store.errors import Unprocessable
from store.operators import Operator
from store.sessions import Session
from store.settings import Settings

_RANDOM_CHARACTERS = 32
_SIGNATURE_CHARACTERS = 32
_TOKEN_CHARACTERS = 43


@dataclass(frozen=True, slots=True)
class NewCode:
    """A code just made. `text` is shown once and kept nowhere."""

    text: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session just opened. `token` goes into the browser's cookie and is kept nowhere."""

    tenant_id: str
    token: str
    session: Session


def make_code(tenant: Tenant, connection: Connection, keyring: Keyring, *, lifetime_s: float, actor: str) -> NewCode:
    """A code for one visit of the cabinet. Raises Unprocessable email_required where the client has no e-mail."""
    if not tenant.email:
        raise Unprocessable("The client has no e-mail address, which the cabinet needs.", code="email_required")
    text = new_code(keyring, "session code")
    expires_at = now() + timedelta(seconds=lifetime_s)
    code_id = sessions.add_code(tenant.id, connection, code_hash=keyring.hash(text), expires_at=expires_at)
    audit.add(tenant.id, connection, actor=actor, action="session_link.created", subject=code_id)
    return NewCode(text, expires_at)


def new_code(keyring: Keyring, purpose: str) -> str:
    """The text of a code that nobody guesses, signed for that purpose alone."""
    random = secrets.token_urlsafe(24)
    assert len(random) == _RANDOM_CHARACTERS
    return random + _signature(keyring, purpose, random)


def is_signed(keyring: Keyring, text: str, purpose: str = "session code") -> bool:
    """Whether this installation made the code: without asking the database, so guessing costs it nothing."""
    if len(text) != _RANDOM_CHARACTERS + _SIGNATURE_CHARACTERS or not text.isascii():
        return False
    random, signature = text[:_RANDOM_CHARACTERS], text[_RANDOM_CHARACTERS:]
    return hmac.compare_digest(_signature(keyring, purpose, random), signature)


def tenant_of_code(connection: Connection, keyring: Keyring, text: str) -> Tenant | None:
    """Whose cabinet a code would open now. Spends nothing."""
    if not is_signed(keyring, text):
        return None
    code = sessions.find_code(connection, keyring.hash(text))
    return accounts.get_tenant(code.tenant_id, connection) if code is not None and code.opens else None


def spend_code(connection: Connection, keyring: Keyring, settings: Settings, text: str) -> NewSession | None:
    """The session that a code opens, once; None for a code that is used, expired or none."""
    if not is_signed(keyring, text):
        return None
    spent = sessions.spend_code(connection, keyring.hash(text))
    if spent is None:
        return None
    tenant_id, code_id = spent
    return new_session(tenant_id, connection, keyring, settings, actor=f"session link {code_id}")


def new_session(
    tenant_id: str,
    connection: Connection,
    keyring: Keyring,
    settings: Settings,
    *,
    operator: Operator | None = None,
    is_bound: bool = False,
    actor: str | None = None,
) -> NewSession:
    """Opens a session, as that operator where one is given; `is_bound` to this account."""
    token = secrets.token_urlsafe(32)
    session = sessions.add_session(
        tenant_id,
        connection,
        token_hash=_token_hash(keyring, token),
        expires_at=now() + timedelta(seconds=settings.cabinet_session_s),
        operator=operator,
        is_bound=is_bound,
    )
    actor = session.actor if actor is None else actor
    audit.add(tenant_id, connection, actor=actor, action="session.opened", subject=session.id)
    return NewSession(tenant_id, token, session)


def find_session(connection: Connection, keyring: Keyring, token: str) -> tuple[Session, Tenant] | None:
    """The open session of a cookie, with its tenant."""
    if len(token) != _TOKEN_CHARACTERS or not token.isascii():
        return None
    session = sessions.find_session(connection, _token_hash(keyring, token))
    if session is None:
        return None
    tenant = accounts.get_tenant(session.tenant_id, connection)
    assert tenant is not None, "a session has a tenant"
    return session, tenant


def open_session(database: Database, keyring: Keyring, token: str) -> Tenant | None:
    """The tenant whose cabinet this cookie opens."""
    with database.read() as connection:
        found = find_session(connection, keyring, token)
    return found[1] if found else None


def end_session(connection: Connection, session: Session) -> None:
    """Ends a session before its time."""
    if sessions.end_session(session.tenant_id, connection, session.id):
        audit.add(session.tenant_id, connection, actor=session.actor, action="session.ended", subject=session.id)


def forget_ended(database: Database) -> None:
    """Housekeeping: drops codes and sessions that ended a while ago."""
    with database.write(durable=False) as connection:
        sessions.forget_ended(connection)
        operators.forget_codes(connection, before=now() - sessions.KEPT_AFTER_END)


def _signature(keyring: Keyring, purpose: str, random: str) -> str:
    return keyring.hash(f"{purpose} {random}")[:_SIGNATURE_CHARACTERS]


def _token_hash(keyring: Keyring, token: str) -> str:
    return keyring.hash(f"cabinet session {token}")
