"""People in the widget's conversations: an operator in the agent's place, a visitor who asks for one, thumbs; and the
analysis of what was said."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from store import analyses, widget
from store.database import now
from store.ids import new_id
from tests.contract.described import get_described
from tests.contract.site_page import CONTACT, FEEDBACK, MESSAGES, Page
from tests.contract.streams import events_of
from tests.contract.test_widget_answers import begin, charges, follow, settle
from tests.support.receiver import Receiver
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Account, RunningServer

LIST, ONE = "/public/v1/conversations", "/public/v1/conversations/{conversation_id}"


def only_conversation(account: Account, **params: str) -> dict[str, Any]:
    (found,) = get_described(account, LIST, **params)["items"]
    return dict(found)


def read(account: Account, conversation_id: str) -> dict[str, Any]:
    return dict(get_described(account, ONE.format(conversation_id=conversation_id), described_as=ONE))


def take_over(account: Account, conversation_id: str, name: str = "Анна", **more: bool) -> httpx2.Response:
    return account.post(f"{LIST}/{conversation_id}/takeover", json={"operator_name": name, **more})


def test_an_operator_takes_a_conversation_over_and_gives_it_back(page: Page) -> None:
    account, token = page.account, page.visitor()
    page.ask(token, "Hello")
    conversation = only_conversation(account)
    assert (conversation["message_count"], conversation["operator_name"]) == (2, None)
    before = charges(account)
    assert take_over(account, conversation["id"]).json()["operator_name"] == "Анна"
    assert page.messages(token)["state"] == {"taken_over": True, "operator_name": "Анна", "person_requested": False}
    events = events_of(page.call("POST", MESSAGES, token=token, json={"text": "Is anybody there?"}))
    assert [name for name, _ in events] == ["done"]
    assert (events[0][1]["handed_over"], events[0][1]["reply_id"], events[0][1]["markdown"]) == (True, None, "")
    said = account.post(f"{LIST}/{conversation['id']}/messages", json={"text": "Yes, it is me."})
    assert (said.status_code, said.json()["author"]) == (201, "Анна")
    assert page.conversation(token)[2:] == [("visitor", "Is anybody there?"), ("operator", "Yes, it is me.")]
    assert charges(account) == before
    released = account.post(f"{LIST}/{conversation['id']}/release")
    assert released.json()["operator_name"] is None
    assert page.messages(token)["state"]["taken_over"] is False
    page.ask(token, "And now?")
    assert charges(account) == before + 1
    roles = [message["role"] for message in read(account, conversation["id"])["messages"]]
    assert roles == ["visitor", "agent", "visitor", "operator", "visitor", "agent"]
    details = account.get("/public/v1/communications", params={"id": conversation["id"]}).json()
    assert [turn["label"] for turn in details["content"]] == roles


def test_what_an_operator_says_has_the_name_of_who_says_it(page: Page) -> None:
    account, token = page.account, page.visitor()
    page.ask(token, "Hello")
    conversation_id = only_conversation(account)["id"]
    take_over(account, conversation_id, "Анна")
    take_over(account, conversation_id, "Борис", replace=True)

    def say(**body: str) -> httpx2.Response:
        return account.post(f"{LIST}/{conversation_id}/messages", json={"text": "Yes", **body})

    assert (say().json()["author"], say(operator_name=" Анна ").json()["author"]) == ("Борис", "Анна")
    assert [item["author"] for item in page.messages(token)["items"][2:]] == ["Борис", "Анна"]
    assert say(operator_name=" ").status_code == 400


def test_a_takeover_stops_the_answer_in_work_and_nothing_is_charged(
    model_server: RunningServer, scripted: ScriptedModel, open_page: Callable[..., Page]
) -> None:
    page = open_page(model_server.new_client(f"taken over {new_id()}"))
    token, message_id = page.visitor(), new_id()
    scripted.says("I will look for it. I will search, and look again. Just a moment.", hang=True)
    begun = begin(page, token, message_id, "Hello", events=3)
    assert [name for _, name, _ in begun] == ["status", "text", "text"], (begun, scripted.requests)
    conversation = only_conversation(page.account)
    assert take_over(page.account, conversation["id"]).status_code == 200
    assert scripted.aborted.wait(10), (scripted.happened, model_server.log()[-4000:])
    last = follow(page, token, message_id, 0)[-1]
    assert (last[1], last[2]["handed_over"]) == ("done", True)
    assert page.conversation(token) == [("visitor", "Hello")]
    assert (page.statuses(token), charges(page.account)) == (["kept"], 0)


def test_nobody_takes_a_conversation_from_a_colleague_by_accident(page: Page) -> None:
    account, token = page.account, page.visitor()
    page.ask(token, "Hello")
    conversation_id = only_conversation(account)["id"]
    for _ in range(2):  # the same one again, as after an answer that was lost
        assert take_over(account, conversation_id).status_code == 200
    refused = take_over(account, conversation_id, "Борис")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "taken_over")
    assert read(account, conversation_id)["operator_name"] == "Анна"
    assert take_over(account, conversation_id, "Борис", replace=True).json()["operator_name"] == "Борис"


def test_a_deleted_chats_conversations_stay_and_lists_take_an_id(page: Page) -> None:
    token = page.visitor()
    page.ask(token, "Hello")
    account, conversation = page.account, only_conversation(page.account)
    assert only_conversation(account, chat_id=account.chat_id)["id"] == conversation["id"]
    refused = account.get(LIST, params={"chat_id": "abc"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "chat_id")
    assert account.request("DELETE", f"/public/v1/chats/{account.chat_id}").status_code == 204
    assert only_conversation(account) == {**conversation, "chat_id": None}
    assert get_described(account, LIST, chat_id=account.chat_id)["items"] == []


def test_only_who_has_taken_it_over_answers_and_only_in_the_own_account(
    page: Page, new_account: Callable[..., Account]
) -> None:
    account, stranger = page.account, new_account()
    token = page.visitor()
    page.ask(token, "Hello")
    conversation_id = only_conversation(account)["id"]
    refused = account.post(f"{LIST}/{conversation_id}/messages", json={"text": "Hi"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_taken_over")
    for body in ({}, {"operator_name": " "}, {"operator_name": "x", "other": 1}, {"operator_name": "x" * 201}):
        assert account.post(f"{LIST}/{conversation_id}/takeover", json=body).status_code == 400
    assert get_described(stranger, LIST)["items"] == []
    for other in (conversation_id, new_id(), "x"):
        assert stranger.get(ONE.format(conversation_id=other)).status_code == 404
        assert take_over(stranger, other).status_code == 404
        assert stranger.post(f"{LIST}/{other}/release").status_code == 404
        assert stranger.post(f"{LIST}/{other}/messages", json={"text": "Hi"}).status_code == 404
    assert page.messages(token)["state"]["taken_over"] is False


@pytest.mark.proves("widget.contact")
def test_a_visitor_asks_for_a_person_and_the_account_is_told(
    telling_server: RunningServer, receiver: Receiver, open_page: Callable[..., Page]
) -> None:
    account = telling_server.new_client(f"asks for a person {new_id()}")
    path = f"/{new_id()}"
    settings = {"webhook_url": receiver.url(path)}
    assert account.request("PATCH", "/public/v1/settings", json=settings).status_code == 200
    page = open_page(account)
    token = page.visitor()
    contact = {"name": "Иван", "email": "ivan@example.com", "message": "Перезвоните завтра"}
    assert page.call("POST", CONTACT, token=token, json=contact).status_code == 204
    assert page.call("POST", CONTACT, token=token, json={"phone": "+7 900 000-00-00"}).status_code == 204
    conversation = only_conversation(account, wants_person="true")
    assert conversation["contact"] == {"name": "Иван", "email": "ivan@example.com", "phone": "+7 900 000-00-00"}
    assert conversation["person_requested_at"] is not None
    assert page.conversation(token) == [("visitor", "Перезвоните завтра")]
    assert page.messages(token)["state"]["person_requested"] is True
    told = [each.json for each in receiver.wait(path, 2)]  # the first is the test that new settings send
    (event,) = [each for each in told if each["event"] == "conversation.person_requested"]
    assert (event["communication_id"], event["chat_id"]) == (conversation["id"], account.chat_id)
    take_over(account, conversation["id"])
    assert only_conversation(account)["person_requested_at"] is None
    assert get_described(account, LIST, wants_person="false")["items"] == []


@pytest.mark.parametrize("is_taken_over", [False, True])
def test_the_account_is_told_of_a_first_contact_that_comes_after_the_request(
    telling_server: RunningServer, receiver: Receiver, open_page: Callable[..., Page], is_taken_over: bool
) -> None:
    account = telling_server.new_client(f"leaves a contact later {new_id()}")
    path = f"/{new_id()}"
    settings = {"webhook_url": receiver.url(path)}
    assert account.request("PATCH", "/public/v1/settings", json=settings).status_code == 200
    page = open_page(account)
    token = page.visitor()
    assert page.call("POST", CONTACT, token=token, json={}).status_code == 204
    conversation = only_conversation(account)
    if is_taken_over:
        take_over(account, conversation["id"])
    for body in ({}, {"phone": "+7 900 000-00-00"}, {"email": "ivan@example.com"}):
        assert page.call("POST", CONTACT, token=token, json=body).status_code == 204
    told = [each.json for each in receiver.wait(path, 3)][1:]  # the first is the test that new settings send
    told.sort(key=lambda each: str(each["event"]))
    about = {"communication_id": conversation["id"], "chat_id": account.chat_id}
    assert told == [
        {"event": "conversation.contact_left", **about},
        {"event": "conversation.person_requested", **about},
    ]
    deliveries = account.get("/public/v1/webhook-deliveries").json()["items"]
    assert sum(each["event"].startswith("conversation.") for each in deliveries) == 2
    assert only_conversation(account)["contact"] == {"phone": "+7 900 000-00-00", "email": "ivan@example.com"}


@pytest.mark.parametrize(
    "body", [{"name": "Иван"}, {"email": "x"}, {"phone": "call me"}, {"message": "x" * 4001}, {"other": "x"}, []]
)
def test_a_contact_that_reaches_nobody_is_400(page: Page, body: object) -> None:
    token = page.visitor()
    assert page.call("POST", CONTACT, token=token, json=body).status_code == 400
    assert page.conversation(token) == []


def test_a_person_can_be_asked_for_without_a_word(page: Page) -> None:
    token = page.visitor()
    assert page.call("POST", CONTACT, token=token, json={}).status_code == 204
    assert page.messages(token) == {
        "items": [],
        "state": {"taken_over": False, "operator_name": None, "person_requested": True},
    }


@pytest.mark.proves("widget.feedback")
def test_a_visitors_thumb_is_kept_and_can_be_taken_back(page: Page) -> None:
    token, other = page.visitor(), page.visitor()
    reply_id = page.ask(token, "Hello")["reply_id"]
    for value, shown in (("up", "up"), ("down", "down"), (None, None)):
        body = {"message_id": reply_id, "value": value, "comment": "Nothing new"}
        assert page.call("POST", FEEDBACK, token=token, json=body).status_code == 204
        assert page.messages(token)["items"][1]["feedback"] == shown
    visitors_own = page.messages(token)["items"][0]["id"]
    for who, message_id in ((other, reply_id), (token, visitors_own), (token, new_id())):
        refused = page.call("POST", FEEDBACK, token=who, json={"message_id": message_id, "value": "up"})
        assert refused.status_code == 404
    for body in (
        {"message_id": reply_id},
        {"message_id": "x", "value": "up"},
        {"message_id": reply_id, "value": "meh"},
    ):
        assert page.call("POST", FEEDBACK, token=token, json=body).status_code == 400


def test_what_nobody_has_answered_is_no_conversation_to_analyse(
    telling_server: RunningServer, open_page: Callable[..., Page]
) -> None:
    account = telling_server.new_client(f"is not answered {new_id()}")
    page = open_page(account)
    assert page.call("POST", CONTACT, token=page.visitor(), json={"message": "Call me about 20 machines"}).is_success
    conversation_id = only_conversation(account)["id"]
    long_ago = now() - timedelta(seconds=account.server.settings.widget_quiet_s + 1)
    with account.server.database.write() as connection:
        widget.update(account.tenant_id, connection, conversation_id, last_at=long_ago)

    def seen() -> bool:
        with account.server.database.read() as connection:
            found = widget.get(account.tenant_id, connection, conversation_id)
        assert found is not None
        return found.analysed_turns == found.turns

    deadline = time.monotonic() + 60
    while not seen():
        assert time.monotonic() < deadline, account.server.log()[-3000:]
        time.sleep(0.2)
    with account.server.database.read() as connection:
        assert analyses.get_of(account.tenant_id, connection, conversation_id) is None
    assert float(account.balance()["held_rub"]) == 0


def test_a_conversation_is_analysed_when_its_visitor_has_gone(
    telling_server: RunningServer, open_page: Callable[..., Page]
) -> None:
    account = telling_server.new_client(f"has gone {new_id()}")
    page = open_page(account)
    token = page.visitor()
    page.ask(token, "Good afternoon, I would like to return the coffee machine that I bought last week.")
    settle(page, token, "answered")
    conversation_id = only_conversation(account)["id"]

    def order() -> Any:
        with account.server.database.read() as connection:
            return analyses.get_of(account.tenant_id, connection, conversation_id)

    time.sleep(1.2)
    assert order() is None, "the visitor is still there"
    quiet_s = account.server.settings.widget_quiet_s
    with account.server.database.write() as connection:
        long_ago = now() - timedelta(seconds=quiet_s + 1)
        widget.update(account.tenant_id, connection, conversation_id, last_at=long_ago)
    deadline = time.monotonic() + 60
    while (found := order()) is None or found.status != "done":
        assert time.monotonic() < deadline, account.server.log()[-3000:]
        time.sleep(0.2)
    details = account.get("/public/v1/communications", params={"id": conversation_id}).json()
    assert details["summary_generation_status"] == "success", details
    first = found.id
    time.sleep(1.2)
    assert order().id == first, "it is analysed once"
