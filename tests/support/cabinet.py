"""Browsers' sessions of the cabinet without a browser: entered as people enter, by a link and its button."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from accounts import sign_in
from accounts.keys import Keyring
from store import operators
from store.ids import new_id
from tests.support.server import Account


def add_operator(account: Account, role: str, email: str | None = None) -> operators.Operator:
    """A person of the account, under an e-mail that nobody else has where none is given."""
    with account.server.database.write() as connection:
        made = operators.add(
            account.tenant_id,
            connection,
            email=email or f"{role}-{new_id()}@shop.example",
            name=None,
            role=role,
        )
    assert made is not None
    return made


def mailed_code(account: Account, email: str, *, lifetime_s: float = 900, operator_id: str | None = None) -> str:
    """A code as a mailed link holds it."""
    keyring = Keyring.of(account.server.settings)
    text = sign_in.new_text(keyring)
    with account.server.database.write() as connection:
        sign_in.keep_code(connection, keyring, text, email=email, lifetime_s=lifetime_s, operator_id=operator_id)
    return text


def new_browser(account: Account) -> httpx2.Client:
    """On a page of the account's server, where nobody has signed in."""
    return httpx2.Client(base_url=account.server.url, timeout=60, headers={"Sec-Fetch-Site": "same-origin"})


@contextmanager
def signed_in(account: Account, role: str, email: str | None = None) -> Iterator[httpx2.Client]:
    """A browser in which a person with that role has entered the account's cabinet."""
    made = add_operator(account, role, email)
    with new_browser(account) as browser:
        code = mailed_code(account, made.email, operator_id=made.id)
        answer = browser.post("/cabinet/enter", data={"code": code})
        assert answer.status_code == 303, answer.text
        yield browser
