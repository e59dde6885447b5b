"""A page with the widget on it, as its visitor's browser calls the server."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from store import accounts, chats
from tests.contract.streams import events_of
from tests.support.server import Account

CONFIG, VISITORS, MESSAGES = "/widget/v1/config", "/widget/v1/visitors", "/widget/v1/messages"
FEEDBACK, CONTACT = "/widget/v1/feedback", "/widget/v1/contact"
_addresses = itertools.count(2)


@dataclass
class Page:
    """A page with the widget on it, in a browser at an address of its own, since the limit counts addresses."""

    account: Account
    http: httpx2.Client
    origin: str | None
    renewals: dict[str, str] = field(default_factory=dict)
    """By their tokens."""

    @property
    def public_key(self) -> str:
        return self.account.made.chat.public_key

    def call(self, method: str, path: str, *, token: str | None = None, **options: Any) -> httpx2.Response:
        headers = {**options.pop("headers", {})} | ({} if self.origin is None else {"Origin": self.origin})
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.http.request(method, self.account.server.url + path, headers=headers, **options)

    def visitor(self) -> str:
        answer = self.call("POST", VISITORS, json={"public_key": self.public_key})
        assert answer.status_code == 201, answer.text
        token: str = answer.json()["token"]
        self.renewals[token] = answer.json()["renewal"]
        return token

    def ask(self, token: str, text: str, **fields: Any) -> dict[str, Any]:
        """The last event's data."""
        answer = self.call("POST", MESSAGES, token=token, json={"text": text, **fields})
        assert answer.status_code == 200, answer.text
        name, done = events_of(answer)[-1]
        assert name == "done", done
        return done

    def messages(self, token: str) -> dict[str, Any]:
        answer = self.call("GET", MESSAGES, token=token)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def conversation(self, token: str) -> list[tuple[str, str]]:
        return [(item["role"], item["text"]) for item in self.messages(token)["items"]]

    def statuses(self, token: str) -> list[str]:
        """What became of the visitor's messages."""
        return [item["status"] for item in self.messages(token)["items"] if item["role"] == "visitor"]


@pytest.fixture
def open_page() -> Iterator[Callable[..., Page]]:
    """Makes pages of an account; by default on the server's own origin."""
    opened: list[httpx2.Client] = []

    def make(account: Account, origin: str | None = "own", address: str | None = None) -> Page:
        number = next(_addresses)
        local = address or f"127.0.{number // 250 + 1}.{number % 250 + 1}"
        http = httpx2.Client(transport=httpx2.HTTPTransport(local_address=local), timeout=60)
        opened.append(http)
        return Page(account, http, account.server.url if origin == "own" else origin)

    yield make
    for http in opened:
        http.close()


@pytest.fixture
def page(account: Account, open_page: Callable[..., Page]) -> Page:
    return open_page(account)


def set_account(account: Account, **values: Any) -> None:
    with account.server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, **values)


def set_chat(account: Account, **values: Any) -> None:
    with account.server.database.write() as connection:
        chats.update(account.tenant_id, connection, account.chat_id, **values)
