"""A partner of a running server: an integration with its secret, and the five things that it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2

from accounts import ledger
from accounts.keys import Keyring
from accounts.partners import create_integration
from store import accounts
from store.ids import new_id
from tests.support.server import RunningServer

CLIENTS = "/integration/v1/clients"
LOOPBACK = ("127.0.0.1",)


@dataclass(frozen=True, slots=True)
class Partner:
    server: RunningServer
    id: str
    name: str
    secret: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}

    def request(self, method: str, path: str = "", **options: Any) -> httpx2.Response:
        options["headers"] = {**self.headers, **options.get("headers", {})}
        return httpx2.request(method, self.server.url + CLIENTS + path, **{"timeout": 60, **options})

    def put(self, external_id: str, **fields: Any) -> httpx2.Response:
        return self.request("POST", json={"external_id": external_id, **fields})

    def made(self, external_id: str | None = None, **fields: Any) -> dict[str, Any]:
        """The answer to a creation that succeeds."""
        answer = self.put(external_id or new_id(), **fields)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def get(self, external_id: str) -> httpx2.Response:
        return self.request("GET", f"/{quote(external_id, safe='')}")

    def status(self, external_id: str) -> dict[str, Any]:
        answer = self.get(external_id)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def act(self, external_id: str, action: str) -> httpx2.Response:
        """`action` is api-key/rotate, deactivate or reactivate."""
        return self.request("POST", f"/{quote(external_id, safe='')}/{action}")

    def done(self, external_id: str, action: str) -> dict[str, Any]:
        answer = self.act(external_id, action)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


def make_partner(
    server: RunningServer, *, networks: Sequence[str] = LOOPBACK, features: Sequence[str] = accounts.FEATURES
) -> Partner:
    name = f"partner {new_id()}"
    with server.database.write() as connection:
        row, secret = create_integration(
            connection, Keyring.of(server.settings), name=name, allowed_networks=networks, features=features
        )
    return Partner(server, row.id, name, secret)


def opens(server: RunningServer, api_key: str) -> bool:
    """Whether a key opens the Public API."""
    answer = httpx2.get(server.url + "/public/v1/settings", headers={"Authorization": f"Bearer {api_key}"})
    assert answer.status_code in (200, 401), answer.text
    return answer.status_code == 200


def give_money(server: RunningServer, tenant_id: str) -> None:
    """Enough for any test."""
    with server.database.write() as connection:
        ledger.credit(
            tenant_id,
            connection,
            key=f"test:{new_id()}",
            amount_micro=1000 * ledger.MICRO,
            source="test",
            source_ref=None,
            description="For the test",
        )
