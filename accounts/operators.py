"""The people of an account's cabinet: invited by an owner, with a role, until they are removed."""

from __future__ import annotations

from typing import Any

from accounts import clients
from store import accounts, audit, operators, sessions
from store.accounts import Tenant
from store.database import Connection
from store.errors import Conflict, NotFound
from store.operators import OWNER, Operator

MAX_OPERATORS = 100


def check_room(tenant_id: str, connection: Connection, email: str) -> None:
    """Raises Conflict operator_exists or too_many_operators."""
    if operators.find(tenant_id, connection, email) is not None:
        raise Conflict("This e-mail works in the account already.", code="operator_exists", param="email")
    if operators.count(tenant_id, connection) >= MAX_OPERATORS:
        raise Conflict(f"There are {MAX_OPERATORS} people already: remove one first.", code="too_many_operators")


def invite(tenant: Tenant, connection: Connection, *, email: str, name: str | None, role: str, actor: str) -> Operator:
    """Adds a person. Raises Conflict operator_exists or too_many_operators, and InvalidRequest."""
    if name is not None:
        clients.check_name(name)
    accounts.get_tenant(tenant.id, connection, lock=True)
    check_room(tenant.id, connection, email)
    operator = operators.add(tenant.id, connection, email=email, name=name, role=role)
    assert operator is not None, "the account is locked"
    details = {"email": email, "role": role}
    audit.add(tenant.id, connection, actor=actor, action="operator.invited", subject=operator.id, details=details)
    return operator


def change(tenant_id: str, connection: Connection, operator_id: str, *, actor: str, **values: Any) -> Operator:
    """Sets name or role, in force with the commit. Raises NotFound, Conflict last_owner and InvalidRequest."""
    operator = _locked(tenant_id, connection, operator_id)
    if values.get("name") is not None:
        clients.check_name(values["name"])
    changes = {name: value for name, value in values.items() if value != getattr(operator, name)}
    if not changes:
        return operator
    if "role" in changes:
        _keep_an_owner(tenant_id, connection, operator)
    operators.change(tenant_id, connection, operator_id, **changes)
    details = {"email": operator.email, **changes}
    audit.add(tenant_id, connection, actor=actor, action="operator.changed", subject=operator_id, details=details)
    found = operators.get(tenant_id, connection, operator_id)
    assert found is not None
    return found


def remove(tenant_id: str, connection: Connection, operator_id: str, *, actor: str) -> None:
    """Ends what a person may do here, their sessions and invitations, with the commit. Raises NotFound and Conflict
    last_owner."""
    operator = _locked(tenant_id, connection, operator_id)
    _keep_an_owner(tenant_id, connection, operator)
    sessions.end_sessions_of(tenant_id, connection, operator_id)
    operators.remove(tenant_id, connection, operator_id)
    details = {"email": operator.email, "role": operator.role}
    audit.add(tenant_id, connection, actor=actor, action="operator.removed", subject=operator_id, details=details)


def _locked(tenant_id: str, connection: Connection, operator_id: str) -> Operator:
    """With the account's row locked, so that two owners cannot remove each other at once."""
    accounts.get_tenant(tenant_id, connection, lock=True)
    operator = operators.get(tenant_id, connection, operator_id)
    if operator is None:
        raise NotFound("No such operator.")
    return operator


def _keep_an_owner(tenant_id: str, connection: Connection, operator: Operator) -> None:
    if operator.role == OWNER and operators.count(tenant_id, connection, role=OWNER) == 1:
        raise Conflict("This is the account's last owner: make somebody else one first.", code="last_owner")
