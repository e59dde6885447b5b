"""What a partner does with its clients: each found by the integration and the partner's own id of it.

Every function runs in a write transaction of its caller's. Errors carry the codes of the Integration API.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from accounts import clients
from accounts.keys import Keyring
from accounts.origins import normal_origins
from store import accounts
from store.accounts import ApiKey, Tenant
from store.database import Connection
from store.errors import Conflict, NotFound, Unprocessable
from store.integrations import Integration


@dataclass(frozen=True, slots=True)
class Provisioned:
    """A client as it is now; `api_key` where one was made, which is shown once."""

    tenant: Tenant
    is_new: bool
    api_key: str | None


def actor_of(integration: Integration) -> str:
    """How the audit log names a partner."""
    return f"integration {integration.name}"


def provision(
    connection: Connection,
    keyring: Keyring,
    integration: Integration,
    *,
    external_id: str,
    name: str | None = None,
    email: str | None = None,
    widget_origin: str | None = None,
    rotate_key: bool = False,
    signup_credit: Decimal = Decimal(0),
) -> Provisioned:
    """Makes the client, or brings the one that is there up to date; what is None stays as it was.

    Raises InvalidRequest, and Unprocessable email_taken, with which nothing was changed.
    """
    clients.check_external_id(external_id)
    origins = normal_origins([widget_origin] if widget_origin else [], param="widget_origin_override")
    try:
        known = accounts.find_client(connection, integration.id, external_id, lock=True)
        if known is None:
            try:
                made = clients.create_client(
                    connection,
                    keyring,
                    external_id=external_id,
                    name=name,
                    email=email,
                    features=integration.features,
                    integration_id=integration.id,
                    widget_origins=origins,
                    signup_credit=signup_credit,
                    actor=actor_of(integration),
                )
                return Provisioned(made.tenant, True, made.api_key)
            except Conflict as conflict:
                # Another request may have made it since we looked; it has the e-mail that we bring, too.
                known = accounts.find_client(connection, integration.id, external_id, lock=True)
                if known is None:
                    raise conflict from None
        return _update(connection, keyring, integration, known, name, email, origins, rotate_key)
    except Conflict as conflict:
        if conflict.code != "email_taken":
            raise
        raise Unprocessable(conflict.message, code="email_taken", details={"email": email or ""}) from None


def _update(
    connection: Connection,
    keyring: Keyring,
    integration: Integration,
    tenant: Tenant,
    name: str | None,
    email: str | None,
    origins: list[str],
    rotate_key: bool,
) -> Provisioned:
    values: dict[str, Any] = {}
    if name is not None:
        clients.check_name(name)
        values["name"] = name
    if email is not None:
        values["email"] = clients.normal_email(email)
    if origins:
        values["widget_origins"] = tuple(
            normal_origins([*tenant.widget_origins, *origins], param="widget_origin_override")
        )
    actor = actor_of(integration)
    tenant = clients.change(tenant, connection, actor=actor, **values)
    api_key = None
    if rotate_key:
        _, api_key = clients.replace_integration_key(tenant.id, connection, keyring, actor=actor, action="key.rotated")
    return Provisioned(tenant, False, api_key)


def require_client(connection: Connection, integration: Integration, external_id: str, *, lock: bool = False) -> Tenant:
    """Raises NotFound client_not_found, also for the client of another integration."""
    # What no client can have as its id is not looked for: not every database takes any text.
    possible = 1 <= len(external_id) <= 128 and clients.is_plain(external_id)
    tenant = accounts.find_client(connection, integration.id, external_id, lock=lock) if possible else None
    if tenant is None:
        raise NotFound("There is no client with this external_id.", code="client_not_found")
    return tenant


def rotate(
    connection: Connection, keyring: Keyring, integration: Integration, external_id: str
) -> tuple[Tenant, ApiKey, str]:
    """The client, its new key and the key's text. Raises NotFound client_not_found, Conflict client_inactive."""
    tenant = require_client(connection, integration, external_id, lock=True)
    if not tenant.is_active:
        raise Conflict("The client is inactive: reactivate it first.", code="client_inactive")
    key, text = clients.replace_integration_key(
        tenant.id, connection, keyring, actor=actor_of(integration), action="key.rotated"
    )
    return tenant, key, text


def deactivate(connection: Connection, integration: Integration, external_id: str) -> Tenant:
    """Pauses the client until its partner reactivates it, whatever it was paused for before; its keys are kept.

    Raises NotFound client_not_found.
    """
    tenant = require_client(connection, integration, external_id, lock=True)
    return clients.change(
        tenant,
        connection,
        actor=actor_of(integration),
        action="client.deactivated",
        is_active=False,
        pause_reason=clients.PARTNER_PAUSE,
    )


def reactivate(
    connection: Connection, keyring: Keyring, integration: Integration, external_id: str
) -> tuple[Tenant, ApiKey, str]:
    """Lifts any pause and gives a new key, at each call. Raises NotFound client_not_found."""
    tenant = require_client(connection, integration, external_id, lock=True)
    key, text = clients.replace_integration_key(
        tenant.id, connection, keyring, actor=actor_of(integration), action="client.reactivated"
    )
    if not tenant.is_active:
        accounts.update_tenant(tenant.id, connection, is_active=True, pause_reason=None)
    found = accounts.get_tenant(tenant.id, connection)
    assert found is not None
    return found, key, text


def shown_key_prefix(connection: Connection, tenant: Tenant) -> str:
    """The beginning of the key that the integration issued last."""
    key = accounts.newest_key(tenant.id, connection, "integration")
    assert key is not None, "an integration's client began with a key"
    return key.prefix
