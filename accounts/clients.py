"""Provisioning: clients with their first key and chat, keys, and the integrations that may make clients."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from accounts.keys import CLIENT_PREFIX, INTEGRATION_PREFIX, Keyring, make_public_key
from store import accounts, chats
from store.accounts import ApiKey, Integration, Tenant
from store.chats import Chat
from store.database import Connection
from store.errors import Conflict, InvalidRequest, NotFound

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
) -> NewClient:
    """Makes the tenant, its first key and its default chat. Raises Conflict where e-mail or external id is taken."""
    if not 1 <= len(external_id) <= 128:
        raise InvalidRequest("external_id has 1 to 128 characters.", param="external_id")
    check_features(features)
    check_name(name if name is not None else external_id)
    email = normal_email(email)
    if email is not None and accounts.find_tenant(connection, email=email):
        raise Conflict("The e-mail belongs to another account.", code="email_taken", param="email")
    if integration_id is None and accounts.find_tenant(connection, external_id=external_id):
        raise Conflict("There is a client with this external_id.", code="external_id_taken", param="external_id")
    tenant = accounts.create_tenant(
        connection,
        name=name or external_id,
        external_id=external_id,
        integration_id=integration_id,
        email=email,
        features=features,
        language=language,
        time_zone=time_zone,
    )
    if tenant is None:
        raise Conflict("There is a client with this external_id.", code="external_id_taken", param="external_id")
    issuer = "integration" if integration_id else "account"
    _, api_key = add_key(tenant.id, connection, keyring, name="first key", issuer=issuer)
    chat = chats.create(tenant.id, connection, name=tenant.name, header_title=tenant.name, public_key=make_public_key())
    return NewClient(tenant=tenant, api_key=api_key, chat=chat)


def add_key(
    tenant_id: str, connection: Connection, keyring: Keyring, *, name: str, issuer: str = "account"
) -> tuple[ApiKey, str]:
    """The key's record and its text, which is shown once."""
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


def check_name(name: str) -> None:
    """Raises InvalidRequest for a name that is empty or longer than 200 characters."""
    if not name.strip() or len(name) > 200:
        raise InvalidRequest("a name has 1 to 200 characters.", param="name")


def normal_email(email: str | None) -> str | None:
    """In lower case, so that one mailbox belongs to one account. Raises InvalidRequest for what is no address."""
    if email is None:
        return None
    if len(email) > 320 or not _EMAIL.fullmatch(email):
        raise InvalidRequest(f"{email[:100]!r} is no e-mail address.", param="email")
    return email.lower()


def check_features(features: Sequence[str]) -> None:
    """Raises InvalidRequest naming a feature that is none."""
    for feature in features:
        if feature not in accounts.FEATURES:
            known = ", ".join(accounts.FEATURES)
            raise InvalidRequest(f"Unknown feature {feature!r}: known are {known}.", param="features")


def create_integration(
    connection: Connection, keyring: Keyring, *, name: str, allowed_networks: Sequence[str] = ()
) -> tuple[Integration, str]:
    """The integration and its secret, which is shown once. Raises Conflict where the name is taken."""
    check_name(name)
    new = keyring.make_key(INTEGRATION_PREFIX)
    integration = accounts.create_integration(
        connection,
        name=name,
        secret_prefix=new.prefix,
        secret_hash=new.key_hash,
        allowed_networks=[normal_network(network) for network in allowed_networks],
    )
    if integration is None:
        raise Conflict("There is an integration with this name.", code="name_taken", param="name")
    return integration, new.text


def allow_networks(connection: Connection, id_or_name: str, networks: Sequence[str]) -> Integration:
    """Adds networks to an integration's allowlist."""
    integration = require_integration(connection, id_or_name)
    wanted = dict.fromkeys([*integration.allowed_networks, *map(normal_network, networks)])
    accounts.update_integration(connection, integration.id, allowed_networks=list(wanted))
    return require_integration(connection, integration.id)


def require_integration(connection: Connection, id_or_name: str) -> Integration:
    """Raises NotFound."""
    integration = accounts.get_integration(connection, id_or_name)
    if integration is None:
        raise NotFound(f"No integration {id_or_name!r}.")
    return integration


def normal_network(text: str) -> str:
    """A network in its usual form; an address is a network of one. Raises InvalidRequest."""
    try:
        return str(ipaddress.ip_network(text.strip(), strict=False))
    except ValueError as error:
        raise InvalidRequest(f"{text!r} is no address and no network.", param="allow_ip") from error
