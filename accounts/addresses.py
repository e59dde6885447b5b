"""Which network addresses may be called out to for somebody who gave us a URL: public ones, and those listed besides.

The lists follow the IANA special-purpose registries of IPv4 and IPv6 (RFC 6890 and its successors).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

from store.errors import InvalidRequest

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NOT_PUBLIC_V4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's metadata service with an address that looks public
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_GLOBAL_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    ipaddress.IPv6Network(text)
    for text in ("2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20")  # the first holds Teredo
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
_ISATAP_MARKS = (0x00005EFE, 0x02005EFE)
_LOW_32_BITS = 0xFFFF_FFFF


def parse_networks(texts: Iterable[str], *, param: str) -> tuple[Network, ...]:
    """Networks or single addresses as a setting lists them. Raises InvalidRequest."""
    networks = []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text.strip(), strict=False))
        except ValueError:
            raise InvalidRequest(f"{param}: {text[:100]!r} is no address and no network.", param=param) from None
    return tuple(networks)


def may_call(address: Address, allowed: Iterable[Network] = ()) -> bool:
    """True for a public address and for one of the `allowed` networks."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped  # the kernel connects to the IPv4 address
    return any(address.version == network.version and address in network for network in allowed) or is_public(address)


def is_public(address: Address) -> bool:
    """False for private, loopback, link-local, shared, multicast, reserved, documentation and metadata addresses, and
    for IPv6 forms that lead to such an IPv4 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    value = int(address)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _NAT64:
        return is_public(ipaddress.IPv4Address(value & _LOW_32_BITS))
    if address not in _GLOBAL_UNICAST_V6 or any(address in network for network in _NOT_PUBLIC_V6):
        return False
    if address in _SIX_TO_FOUR and not is_public(ipaddress.IPv4Address(value >> 80 & _LOW_32_BITS)):
        return False
    is_isatap = value >> 32 & _LOW_32_BITS in _ISATAP_MARKS
    return not is_isatap or is_public(ipaddress.IPv4Address(value & _LOW_32_BITS))


_OPENS = re.compile(r"sig(nature)?$|token|key|secret|passw|auth|credential|session|expires|^se$", re.IGNORECASE)


def holds_a_secret(url: str) -> bool:
    """Whether a link's query may open what it leads to: signed links of object stores, tokens, keys."""
    return any(_OPENS.search(name) for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True))
