"""Host names of their own: a request for such a name is served one base alone, at its root."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import INTEGRATION_PATH, error_response
from store.errors import NotFound
from store.settings import Settings


@dataclass(frozen=True, slots=True)
class Base:
    """What a host name serves: the paths under `root`, each found on the one server under `prefix`; and its own
    description, where it has one."""

    root: str
    prefix: str
    layer: str | None

    def prefix_of(self, path: str) -> str | None:
        """What stands before the path on the one server; None for a path that this base does not serve."""
        if path == "/healthz" or (self.layer and path == f"/openapi/{self.layer}.json"):
            return ""
        if path == self.root or path.startswith(self.root + "/"):
            return self.prefix
        return None


def bases_of(settings: Settings) -> dict[str, list[Base]]:
    """The bases by host name, as far as names are set; one name may be given to several."""
    named = (
        (settings.speech_host, Base("/v1", "", "speech")),
        (settings.public_host, Base("/v1", "/public", "public")),
        (settings.integration_host, Base("/v1", INTEGRATION_PATH, "integration")),
        (settings.mcp_host, Base("/mcp", "", None)),
        (settings.vision_host, Base("/v1", "/vision", "vision")),
    )
    found: dict[str, list[Base]] = {}
    for name, base in named:
        if name:
            found.setdefault(_normal(name), []).append(base)
    return found


class Hosts:
    """Pure ASGI middleware: gives a request for a base's own name the path that it has on the one server."""

    def __init__(self, app: ASGIApp, bases: dict[str, list[Base]]) -> None:
        self.app = app
        self._bases = bases

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        bases = self._bases.get(_host(scope)) if scope["type"] == "http" else None
        if bases is None:
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        prefix = next((found for base in bases if (found := base.prefix_of(path)) is not None), None)
        if prefix is None:
            shaped_like = bases[0].prefix + path
            await error_response(NotFound("There is nothing at this address."), shaped_like)(scope, receive, send)
            return
        # In place: the layers around this one see the same path, and answer their errors in the same form.
        scope["path"] = prefix + path
        scope["raw_path"] = prefix.encode() + scope["raw_path"]
        scope["state"]["own_host"] = True
        await self.app(scope, receive, send)


def _host(scope: Scope) -> str:
    return next((_normal(value.decode("latin-1")) for name, value in scope["headers"] if name == b"host"), "")


def _normal(host: str) -> str:
    """In lower case, without port and without the root's dot."""
    name = host.strip().lower()
    if not name.endswith("]"):  # of an IPv6 address
        name = name.rsplit(":", 1)[0] if ":" in name else name
    return name.rstrip(".")
