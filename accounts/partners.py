"""Integrations: the partners that provision clients, who may call as one, and from where."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from accounts.clients import check_features, check_name
from accounts.keys import INTEGRATION_PREFIX, Keyring
from store import accounts, integrations
from store.database import Connection, Database
from store.errors import Conflict, InvalidRequest, NotAuthenticated, NotFound, NotPermitted
from store.integrations import Integration

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_MAPPED_PREFIX = 96  # of ::ffff:0:0/96, the IPv4 addresses inside IPv6
_LONGEST_SECRET = 200


def authenticate(database: Database, keyring: Keyring, secret: str | None, address: str | None) -> Integration:
    """The integration that a secret belongs to, asked for from `address`.

    Raises NotAuthenticated unauthorized for a missing or wrong secret, then NotPermitted ip_not_allowed for an address
    that is not on its allowlist and for a disabled integration.
    """
    found = None
    # Found by an HMAC of the whole: no comparison here takes longer for a better guess.
    if secret and secret.startswith(INTEGRATION_PREFIX) and len(secret) < _LONGEST_SECRET:
        with database.read() as connection:
            found = integrations.find_by_secret_hash(connection, keyring.hash(secret))
    if found is None:
        raise NotAuthenticated("The integration secret is missing or wrong.", code="unauthorized")
    if not found.is_enabled or not is_allowed(address, found.allowed_networks):
        # One message for both: an address that may not call is not told which it was.
        raise NotPermitted("This integration may not call from here.", code="ip_not_allowed")
    return found


def is_allowed(address: str | None, networks: Sequence[str]) -> bool:
    """Whether an address lies in one of the networks. What is no address lies in none."""
    try:
        known = ipaddress.ip_address(address or "")
    except ValueError:
        return False
    if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped is not None:
        known = known.ipv4_mapped
    return any(known in ipaddress.ip_network(network) for network in networks)


def normal_network(text: str, *, param: str = "allow_ip") -> str:
    """A network in its usual form; an address is a network of one, an IPv4 address inside IPv6 an IPv4 address.

    Raises InvalidRequest naming `param`.
    """
    try:
        network: Network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        raise InvalidRequest(f"{param}: {text[:100]!r} is no address and no network.", param=param) from None
    if isinstance(network, ipaddress.IPv6Network) and network.prefixlen >= _MAPPED_PREFIX:
        inside = network.network_address.ipv4_mapped
        if inside is not None:
            return str(ipaddress.IPv4Network((inside, network.prefixlen - _MAPPED_PREFIX)))
    return str(network)


def create_integration(
    connection: Connection,
    keyring: Keyring,
    *,
    name: str,
    allowed_networks: Sequence[str] = (),
    features: Sequence[str] = accounts.FEATURES,
) -> tuple[Integration, str]:
    """The integration and its secret, which is shown once. Raises Conflict where the name is taken."""
    check_name(name)
    check_features(features)
    new = keyring.make_key(INTEGRATION_PREFIX)
    integration = integrations.create(
        connection,
        name=name,
        secret_prefix=new.prefix,
        secret_hash=new.key_hash,
        allowed_networks=list(dict.fromkeys(map(normal_network, allowed_networks))),
        features=list(dict.fromkeys(features)),
    )
    if integration is None:
        raise Conflict("There is an integration with this name.", code="name_taken", param="name")
    return integration, new.text


def require_integration(connection: Connection, id_or_name: str, *, lock: bool = False) -> Integration:
    """Raises NotFound."""
    integration = integrations.get(connection, id_or_name, lock=lock)
    if integration is None:
        raise NotFound(f"No integration {id_or_name!r}.")
    return integration


def allow_networks(connection: Connection, id_or_name: str, networks: Sequence[str]) -> Integration:
    """Adds networks to an integration's allowlist."""
    integration = require_integration(connection, id_or_name, lock=True)
    wanted = dict.fromkeys([*integration.allowed_networks, *map(normal_network, networks)])
    integrations.update(connection, integration.id, allowed_networks=list(wanted))
    return require_integration(connection, integration.id)


def forbid_networks(connection: Connection, id_or_name: str, networks: Sequence[str]) -> Integration:
    """Takes networks off an integration's allowlist. Raises NotFound for one that is not on it as such: taking an
    address out of the middle of a network is not meant."""
    integration = require_integration(connection, id_or_name, lock=True)
    unwanted = dict.fromkeys(map(normal_network, networks))
    for network in unwanted:
        if network not in integration.allowed_networks:
            raise NotFound(f"{network} is not on the allowlist.")
    left = [network for network in integration.allowed_networks if network not in unwanted]
    integrations.update(connection, integration.id, allowed_networks=left)
    return require_integration(connection, integration.id)


def switch(connection: Connection, id_or_name: str, *, is_enabled: bool) -> Integration:
    """Enables or disables an integration."""
    integration = require_integration(connection, id_or_name, lock=True)
    integrations.update(connection, integration.id, is_enabled=is_enabled)
    return require_integration(connection, integration.id)


def rotate_secret(connection: Connection, keyring: Keyring, id_or_name: str) -> tuple[Integration, str]:
    """A new secret, shown once; the old one is dead with the commit."""
    integration = require_integration(connection, id_or_name, lock=True)
    new = keyring.make_key(INTEGRATION_PREFIX)
    integrations.set_secret(connection, integration.id, secret_prefix=new.prefix, secret_hash=new.key_hash)
    return require_integration(connection, integration.id), new.text
