"""Origins of sites that may show an account's widget, in the form that a browser's Origin header has (RFC 6454)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from store.errors import InvalidRequest

MAX_ORIGINS = 50
_MAX_CHARACTERS = 300
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")


def normal_origin(text: str, *, param: str) -> str:
    """`scheme://host[:port]` in lower case, the host in ASCII, without a default port; a closing slash is let go.

    Raises InvalidRequest naming `param`.
    """
    problem = InvalidRequest(
        f"{param}: is no origin of a site, for example https://shop.example or http://localhost:3000.", param=param
    )
    if len(text) > _MAX_CHARACTERS or not text.isprintable() or " " in text or "\\" in text:
        raise problem
    try:
        parts = urlsplit(text)
        port = parts.port
        host = _host(parts)
    except ValueError:  # UnicodeError, of a host name that cannot be, is one
        raise problem from None
    extra = parts.path not in ("", "/") or "?" in text or "#" in text or "@" in parts.netloc
    if parts.scheme not in _DEFAULT_PORTS or not host or extra or port == 0 or parts.netloc.endswith(":"):
        raise problem
    suffix = "" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{host}{suffix}"


def _host(parts: SplitResult) -> str:
    """The host as browsers write it; empty where it is none. Raises ValueError."""
    host = parts.hostname or ""
    if "[" in parts.netloc:
        from ipaddress import IPv6Address

        return f"[{IPv6Address(host)}]"
    name = host.encode("idna").decode().lower() if host else ""
    return name if _NAME.fullmatch(name) else ""


def normal_origins(texts: Iterable[str], *, param: str) -> list[str]:
    """Each once, in the given order. Raises InvalidRequest for one that is none, and over `MAX_ORIGINS`."""
    origins = list(dict.fromkeys(normal_origin(text, param=param) for text in texts))
    if len(origins) > MAX_ORIGINS:
        raise InvalidRequest(f"{param}: more than {MAX_ORIGINS} origins.", param=param)
    return origins
