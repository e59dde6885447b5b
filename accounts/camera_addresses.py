"""Where cameras may be: the form of their address, and the networks that it may lead to.

Cameras stand in a company's own network, so private networks are open to them where webhooks may not go; this
machine itself and what is special is not, unless `PARLEY_CAMERA_NETWORKS` names it. Link-local addresses, where
clouds keep their secrets, are never called.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from accounts.addresses import may_call, parse_networks
from accounts.outbound import AddressRefused, Deadline, Outbound
from store.errors import InvalidRequest

MAX_URL_CHARACTERS = 4096
_ODD = re.compile(r"[\x00-\x20\x7f\\]")
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}")
_NUMBERS = re.compile(r"[0-9.]+|0[xX][0-9a-fA-F.]*")
_PORT = 554
_SECURE_PORT = 322
_OWN_NETWORKS = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")


def check_camera_url(url: str) -> str:
    """The URL as given, if a camera can be at it. Looks at its form, and at its host where that is an address.

    Raises InvalidRequest invalid_rtsp.
    """
    _parse(url)
    return url


def shown(url: str) -> str:
    """The address without user, password and query, and without what a path says with "=", where many cameras take a
    password: for answers and logs."""
    return _without_secrets(_parse(url))


def shown_mjpeg(url: str) -> str:
    """`shown`, of an http(s) address of the operator's own. Raises InvalidRequest for one that cannot be."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one or _ODD.search(url):
        raise InvalidRequest("that is no http:// or https:// address")
    return _without_secrets(parts)


def _without_secrets(parts: SplitResult) -> str:
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    path = "/".join("…" if "=" in part else part for part in parts.path.split("/"))
    return f"{parts.scheme.lower()}://{host}{port}{path}"


@dataclass(frozen=True, slots=True)
class CameraGuard:
    """Turns a camera's URL into one that names a judged address. Made once a process."""

    outbound: Outbound
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]

    @classmethod
    def of(cls, camera_networks: Iterable[str]) -> CameraGuard:
        """Raises InvalidRequest for networks that are none."""
        allowed = (*_OWN_NETWORKS, *camera_networks)
        return cls(Outbound(allowed), parse_networks(allowed, param="PARLEY_CAMERA_NETWORKS"))

    def check(self, url: str) -> None:
        """Raises InvalidRequest invalid_rtsp for an address, written as a number, that no camera may have here."""
        host = _parse(url).hostname or ""
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return
        if address.is_link_local or not may_call(address, self.networks):
            raise invalid_rtsp("leads to a network where cameras may not be (PARLEY_CAMERA_NETWORKS)")

    def resolved(self, url: str, timeout_s: float, tried: int = 0) -> str:
        """The URL with an address in place of the host's name, each of whose addresses may be called, so that a name
        server that changes its mind changes nothing about this connection. `tried`: how many came to nothing before;
        the host's addresses take turns. Raises accounts.outbound.OutboundFailed."""
        parts = _parse(url)
        port = parts.port or (_SECURE_PORT if parts.scheme.lower() == "rtsps" else _PORT)
        try:
            judged = self.outbound.judged_addresses(parts.hostname or "", port, Deadline(timeout_s))
            addresses = [str(address[0]) for _, address in judged]
            if any(ipaddress.ip_address(address).is_link_local for address in addresses):
                raise AddressRefused("link-local")
        except AddressRefused:
            raise AddressRefused("the address leads to a network where cameras may not be") from None
        address = addresses[tried % len(addresses)]
        user, at, _ = parts.netloc.rpartition("@")
        host = f"[{address}]" if ":" in address else address
        return parts._replace(netloc=f"{user}{at}{host}:{port}").geturl()


def invalid_rtsp(problem: str) -> InvalidRequest:
    return InvalidRequest(f"rtsp_url: {problem}.", code="invalid_rtsp", param="rtsp_url")


def _parse(url: str) -> SplitResult:
    """Raises InvalidRequest invalid_rtsp."""
    if len(url) > MAX_URL_CHARACTERS:
        raise invalid_rtsp(f"is longer than {MAX_URL_CHARACTERS} characters")
    if _ODD.search(url) or not url.isascii():
        raise invalid_rtsp("holds a space, a control character, a backslash, or a letter that is not ASCII")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise invalid_rtsp("is no URL") from None
    if parts.scheme.lower() not in ("rtsp", "rtsps"):
        raise invalid_rtsp("is no rtsp:// or rtsps:// URL")
    if not _HOST.fullmatch(host) or port == 0:
        raise invalid_rtsp("has no host, or no port between 1 and 65535")
    if _NUMBERS.fullmatch(host) and not _is_plain_v4(host):
        raise invalid_rtsp("has an IPv4 address in an unusual form")
    return parts


def _is_plain_v4(host: str) -> bool:
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return True
