"""Signing in by an e-mailed one-time link, and invitations, which are links of the same kind that live longer."""

from __future__ import annotations

from datetime import timedelta

from accounts.keys import Keyring
from accounts.links import NewSession, is_signed, new_code, new_session
from store import operators
from store.accounts import Tenant
from store.database import Connection, now
from store.operators import Operator
from store.settings import Settings

_PURPOSE = "mailed code"

Choice = tuple[Operator, Tenant]


def new_text(keyring: Keyring) -> str:
    """The text of a new code, which opens something once it is kept."""
    return new_code(keyring, _PURPOSE)


def keep_code(
    connection: Connection,
    keyring: Keyring,
    text: str,
    *,
    email: str,
    lifetime_s: float,
    operator_id: str | None = None,
    leads_to: str = "",
) -> None:
    """Keeps of a code what it takes to know it again. With `operator_id` it opens that one's account alone."""
    operators.add_code(
        connection,
        email=email,
        operator_id=operator_id,
        code_hash=keyring.hash(text),
        leads_to=leads_to,
        expires_at=now() + timedelta(seconds=lifetime_s),
    )


def was_ours(keyring: Keyring, text: str) -> bool:
    """Whether we made the code, whatever became of it."""
    return is_signed(keyring, text, _PURPOSE)


def choices(connection: Connection, keyring: Keyring, text: str) -> list[Choice]:
    """The accounts that a code opens now, as whom; none for a code that is used, expired or none. Spends nothing."""
    if not was_ours(keyring, text):
        return []
    code = operators.find_code(connection, keyring.hash(text))
    if code is None or not code.opens:
        return []
    if code.operator_id is None:
        found = operators.list_of_email(connection, code.email)
    else:
        invited = operators.of_code(connection, code.operator_id)
        found = [invited] if invited is not None else []
    return [(operator, tenant) for operator, tenant in found if tenant.deleting_since is None]


def enter(
    connection: Connection, keyring: Keyring, settings: Settings, text: str, operator_id: str | None
) -> tuple[NewSession, str] | None:
    """(the session that a code opens, once; the path that it leads to). Of several accounts `operator_id` chooses one.
    None for a code that opens nothing, or not that one."""
    found = choices(connection, keyring, text)
    chosen = [each for each in found if each[0].id == operator_id] if operator_id else found
    if len(chosen) != 1:
        return None
    ((operator, tenant),) = chosen
    code = operators.find_code(connection, keyring.hash(text))
    if code is None or not operators.spend_code(connection, keyring.hash(text)):
        return None
    is_bound = code.operator_id is not None
    return open_as(operator, tenant, connection, keyring, settings, is_bound=is_bound), code.leads_to


def open_as(
    operator: Operator,
    tenant: Tenant,
    connection: Connection,
    keyring: Keyring,
    settings: Settings,
    *,
    is_bound: bool = False,
) -> NewSession:
    """The session of who has proved to be that operator: there alone where it `is_bound`, as by an invitation."""
    operators.change(tenant.id, connection, operator.id, seen_at=now())
    return new_session(tenant.id, connection, keyring, settings, operator=operator, is_bound=is_bound)
