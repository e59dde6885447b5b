"""Which proxies are believed about whom they forward for.

uvicorn takes the address from X-Forwarded-For where the connection comes from a trusted proxy: the last in the chain
that is no trusted proxy itself, since what stands before it the caller may have written. It would also trust everybody
for `*`, and take a mistyped network for a host's name: both are refused here.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from starlette.requests import Request

from accounts.partners import normal_network


def address_of(request: Request) -> str:
    """Whose request it is, past the trusted proxies."""
    return request.client.host if request.client else "unknown"


def trusted_proxies(texts: Iterable[str]) -> list[str]:
    """The networks of the setting in uvicorn's form, IPv4 also as a socket for both kinds of addresses shows it.

    Raises InvalidRequest naming one that is neither address nor network.
    """
    networks = []
    for text in texts:
        network = normal_network(text, param="PARLEY_TRUSTED_PROXIES")
        networks.append(network)
        parsed = ipaddress.ip_network(network)
        if parsed.version == 4:
            networks.append(f"::ffff:{parsed.network_address}/{96 + parsed.prefixlen}")
    return networks
