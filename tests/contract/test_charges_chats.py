"""What a chat message costs: one charge for an answer, nothing for none."""

from __future__ import annotations

import json
import socket
import time
from decimal import Decimal

import httpx2
import pytest

from tests.contract import material
from tests.contract.streams import events_of
from tests.support.scripted_model import ScriptedModel, Turn
from tests.support.server import Account, RunningServer

TIMEOUT_S = 20
PRICE = Decimal("1.5")
BODY = {"text": material.HANDBOOK_QUESTION}
STREAM = {"Accept": "text/event-stream"}


@pytest.fixture
def asker(model_server: RunningServer, request: pytest.FixtureRequest) -> Account:
    account = model_server.new_client(f"pays for messages {request.node.name}"[:128], balance_rub="5")
    assert account.add_document(account.new_space(), material.handbook_pdf(), "handbook.pdf")["status"] == "success"
    return account


def path(account: Account) -> str:
    return f"/public/v1/chats/{account.chat_id}/messages"


def wait_until_nothing_is_held(account: Account) -> dict[str, object]:
    deadline = time.monotonic() + TIMEOUT_S
    while (balance := account.balance())["held_rub"] != "0.00":
        assert time.monotonic() < deadline, "the hold stays open"
        time.sleep(0.05)
    return balance


@pytest.mark.proves("money.charge.chat", "chats.message.billed", "money.debit.one")
@pytest.mark.parametrize("headers", [{}, STREAM], ids=["whole", "streamed"])
def test_an_answer_is_one_debit(asker: Account, scripted: ScriptedModel, headers: dict[str, str]) -> None:
    scripted.says("The boiler bolts need 23 newton metres [1].")
    answer = asker.post(path(asker), json=BODY, headers=headers)
    assert answer.status_code == 200, answer.text
    request_id = events_of(answer)[-1][1]["request_id"] if headers else answer.json()["request_id"]
    (item,) = asker.debits()
    assert (item["source"], item["source_ref"], item["product"]) == ("chat_message", request_id, "chat")
    assert Decimal(str(item["amount_rub"])) == -PRICE
    assert [(line["product"], line["quantity"]) for line in item["lines"]] == [("chat", 1)]
    assert asker.balance() | {"balance_rub": "3.50", "held_rub": "0.00"} == asker.balance()


@pytest.mark.proves("chats.message.abort.free")
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_an_aborted_request_is_free(asker: Account, scripted: ScriptedModel, accept: str) -> None:
    scripted.script(Turn("Once upon a time", hang=True))
    body = json.dumps(BODY).encode()
    head = (
        f"POST {path(asker)} HTTP/1.1\r\nHost: parley\r\nAuthorization: Bearer {asker.made.api_key}\r\n"
        f"Accept: {accept}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", asker.server.port)) as connection:
        connection.sendall(head.encode() + body)
        deadline = time.monotonic() + 60
        while not scripted.requests:
            assert time.monotonic() < deadline, "the model was not asked"
            time.sleep(0.02)
        assert asker.balance()["held_rub"] == "1.50"
    assert scripted.aborted.wait(TIMEOUT_S)
    assert wait_until_nothing_is_held(asker)["balance_rub"] == "5.00"
    assert asker.debits() == []


@pytest.mark.parametrize("headers", [{}, STREAM], ids=["whole", "streamed"])
def test_a_failure_of_the_provider_is_free(asker: Account, scripted: ScriptedModel, headers: dict[str, str]) -> None:
    scripted.script(*[Turn(status=500, error="trouble")] * 9)
    asker.post(path(asker), json=BODY, headers=headers)
    assert wait_until_nothing_is_held(asker)["balance_rub"] == "5.00"
    assert asker.debits() == []


def test_a_message_that_the_balance_cannot_bear_is_refused_before_the_model_is_asked(
    asker: Account, scripted: ScriptedModel
) -> None:
    scripted.says("one [1].")
    scripted.says("two [1].")
    scripted.says("three [1].")
    statuses = [asker.post(path(asker), json=BODY).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 403, 403]
    assert len(scripted.requests) == 3
    assert asker.balance() | {"is_active": False, "balance_rub": "0.50"} == asker.balance()


def test_a_repeated_request_with_its_idempotency_key_is_answered_again_and_charged_once(
    asker: Account, scripted: ScriptedModel
) -> None:
    scripted.says("The boiler bolts need 23 newton metres [1].")
    headers = {"Idempotency-Key": "message-1"}
    first = asker.post(path(asker), json=BODY, headers=headers)
    again = asker.post(path(asker), json=BODY, headers=headers)
    assert (again.status_code, again.json()) == (200, first.json())
    assert len(scripted.requests) == 1
    assert len(asker.debits()) == 1


def test_a_visitors_message_in_the_widget_is_charged_to_the_account(asker: Account, scripted: ScriptedModel) -> None:
    scripted.says("The boiler bolts need 23 newton metres [1].")
    origin = {"Origin": asker.server.url}
    token = httpx2.post(
        asker.server.url + "/widget/v1/visitors", json={"public_key": asker.made.chat.public_key}, headers=origin
    ).json()["token"]
    headers = {**origin, "Authorization": f"Bearer {token}"}
    answer = httpx2.post(asker.server.url + "/widget/v1/messages", json=BODY, headers=headers, timeout=60)
    assert events_of(answer)[-1][0] == "done"
    assert [item["source"] for item in asker.debits()] == ["chat_message"]
