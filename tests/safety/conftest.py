"""A server that may call loopback, whose model obeys attackers: two accounts with secrets, and a listener that nobody
is to call."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from tests.contract.site_page import Page
from tests.support.receiver import Receiver, receiving
from tests.support.scripted_model import API_KEY, MODEL, ScriptedModel, serve_scripted_model
from tests.support.server import JOB_S, Account, RunningServer

PRICE = Decimal("1.5")
OTHER_DOCUMENT, OTHER_CALL, OTHER_VISITOR = "quillsecretone", "quillsecrettwo", "quillsecretthree"
LIMITED_DOCUMENT, LIMITED_NAME, VISITOR = "velvetsecretone", "velvetsecrettwo", "velvetsecretthree"
OWN_CALL = "ambersecretone"
SECRETS_OF_COMPANY = (OTHER_DOCUMENT, OTHER_CALL, OTHER_VISITOR, LIMITED_DOCUMENT, LIMITED_NAME)
"""What no chat's own people may be told; visitors may be told still less."""
SECRETS_OF_VISITORS = (*SECRETS_OF_COMPANY, VISITOR)
_addresses = itertools.count(2)


@dataclass
class SitePage(Page):
    """A page with the widget of a chosen chat."""

    key: str = ""

    @property
    def public_key(self) -> str:
        return self.key or super().public_key


@dataclass(frozen=True)
class Ground:
    """`account` is asked, `other` is whose it is not. `known` are what placeholders stand for."""

    account: Account
    other: Account
    open_space: str
    closed: dict[str, Any]
    """A chat whose visitors see documents alone."""
    extractive: dict[str, Any]
    """A chat without a model."""
    known: dict[str, str]
    visitor_conversation: str
    open_page: Callable[..., SitePage]

    def balance(self) -> Decimal:
        return Decimal(self.account.balance()["balance_rub"])


@pytest.fixture(scope="session")
def listener() -> Iterator[Receiver]:
    """The attacker's server."""
    with receiving() as found:
        yield found


@pytest.fixture(scope="session")
def obeying() -> Iterator[ScriptedModel]:
    with serve_scripted_model() as model:
        yield model


@pytest.fixture
def model(obeying: ScriptedModel) -> ScriptedModel:
    obeying.forget()
    return obeying


@pytest.fixture(scope="session")
def safety_server(obeying: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Its chats answer by the scripted model. It may call loopback, so no guard of addresses stands before the
    listener."""
    running = RunningServer(
        tmp_path_factory.mktemp("safety"),
        cache_dir=str(tmp_path_factory.mktemp("no-models")),
        llm_model=MODEL,
        llm_api_base=f"{obeying.base_url}/v1",
        llm_api_key=API_KEY,
        allowed_networks="127.0.0.0/8",
        chat_requests_per_minute="100000",
        mcp_requests_per_minute="100000",
        widget_requests_per_minute="100000",
        sweep_s="1",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture(scope="session")
def ground(safety_server: RunningServer, obeying: ScriptedModel, listener: Receiver) -> Iterator[Ground]:
    clients: list[httpx2.Client] = []

    def open_page(account: Account, key: str = "") -> SitePage:
        number = next(_addresses)
        transport = httpx2.HTTPTransport(local_address=f"127.1.{number // 250 + 1}.{number % 250 + 1}")
        clients.append(httpx2.Client(transport=transport, timeout=60))
        return SitePage(account, clients[-1], account.server.url, key=key)

    account, other = safety_server.new_client("who is asked"), safety_server.new_client("who is not")
    open_space, limited_space = account.new_space("Open"), account.new_space(f"Board {LIMITED_NAME}")
    other_space = other.new_space(f"Theirs {OTHER_DOCUMENT}")
    key_id = account.get("/public/v1/keys").json()["items"][0]["id"]
    limited = account.add_document(
        limited_space, f"Слияние компаний, merger of companies: {LIMITED_DOCUMENT}.".encode(), "merger.txt"
    )
    patch(account, f"/public/v1/kb/spaces/{limited_space}", access={"chat_ids": [], "key_ids": [key_id]})
    patch(account, f"/public/v1/chats/{account.chat_id}", site_tools=["search_communications", "get_communication"])
    theirs = other.add_document(other_space, f"The director salary is {OTHER_DOCUMENT}.".encode(), "salary.txt")
    own_call = import_conversation(account, call_of(f"The password of the safe is {OWN_CALL}."))
    other_call = import_conversation(other, call_of(f"The password of the safe is {OTHER_CALL}."))
    visitor = say_as_visitor(open_page(account), obeying, f"The address of my flat is {VISITOR}.")
    other_visitor = say_as_visitor(open_page(other), obeying, f"The address of my flat is {OTHER_VISITOR}.")
    wait_until_found(account, OWN_CALL, own_call)
    wait_until_found(account, VISITOR, visitor)
    wait_until_found(other, OTHER_CALL, other_call)
    wait_until_found(other, OTHER_VISITOR, other_visitor)
    known = {
        "LISTENER": listener.url("").rstrip("/"),
        "OPEN_SPACE": open_space,
        "LIMITED_SPACE": limited_space,
        "LIMITED_DOCUMENT": limited["id"],
        "OTHER_SPACE": other_space,
        "OTHER_DOCUMENT": theirs["id"],
        "OTHER_CALL": other_call,
        "OTHER_VISITOR": other_visitor,
        "OTHER_TENANT": other.tenant_id,
        "OWN_CALL": own_call,
        "VISITOR": visitor,
    }
    made = [
        account.post("/public/v1/chats", json={"name": name, **fields}).json()
        for name, fields in (("Closed", {"site_tools": []}), ("Extractive", {"model": "none"}))
    ]
    yield Ground(
        account=account,
        other=other,
        open_space=open_space,
        closed=made[0],
        extractive=made[1],
        known=known,
        visitor_conversation=visitor,
        open_page=open_page,
    )
    for client in clients:
        client.close()


def patch(account: Account, path: str, **fields: Any) -> None:
    answer = account.request("PATCH", path, json=fields)
    assert answer.status_code == 200, answer.text


def call_of(*texts: str) -> dict[str, Any]:
    return {"kind": "call", "channel_type": "phone", "content": [{"text": text} for text in texts]}


def import_conversation(account: Account, body: dict[str, Any]) -> str:
    answer = account.post("/public/v1/communications", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["communication_id"])


def say_as_visitor(page: SitePage, model: ScriptedModel, *texts: str) -> str:
    """Another visitor says this; the id of the conversation."""
    made = page.call("POST", "/widget/v1/visitors", json={"public_key": page.public_key}).json()
    for text in texts:
        model.says("Noted.")
        page.ask(made["token"], text)
    return str(made["conversation_id"])


def wait_until_found(account: Account, words: str, communication_id: str) -> None:
    deadline = time.monotonic() + JOB_S
    while communication_id not in str(account.call_tool("search_communications", query=words, limit=50)):
        assert time.monotonic() < deadline, f"{words} did not come into the index"
        time.sleep(0.05)
