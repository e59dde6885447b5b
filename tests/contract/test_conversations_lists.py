"""What the cabinet lists of chats: all with their settings, the models, the widget's conversations by who has them, and
answers by what became of them."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from chat import conversations
from store import widget
from store.ids import new_id
from tests.contract.described import get_described
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account

CHATS, MODELS = "/public/v1/chats", "/public/v1/chats/models"
CONVERSATIONS = "/public/v1/conversations"
ANSWERS = "/public/v1/chats/{chat_id}/answers"
NOTHING: dict[str, Any] = {"communications": [], "documents": [], "memory": []}


def ask(account: Account, question: str) -> tuple[str, widget.Turn]:
    """The id of a new conversation, and its question."""
    conversation_id, database = new_id(), account.server.database
    accepted = conversations.accept(database, account.tenant_id, account.chat_id, conversation_id, new_id(), question)
    return conversation_id, accepted.turn


def answered(account: Account, question: str, text: str, *, found: bool = True) -> tuple[str, str]:
    """The ids of a new conversation and of the answer in it."""
    conversation_id, turn = ask(account, question)
    reply_id = new_id()
    answer = {"request_id": new_id(), "markdown": text, "context": NOTHING, "found": found}
    with account.server.database.write() as connection:
        conversations.keep_answer(connection, turn, reply_id, text, answer)
    return conversation_id, reply_id


def listed(account: Account, **query: str) -> list[dict[str, Any]]:
    found = get_described(account, CONVERSATIONS, described_as=CONVERSATIONS, **query)
    assert found["pagination"]["total"] == len(found["items"])
    items: list[dict[str, Any]] = found["items"]
    return items


def test_chats_that_are_switched_off_are_listed_with_their_settings(account: Account) -> None:
    made = account.post(CHATS, json={"name": "Night", "is_active": False, "greeting": "Hello"}).json()
    items = get_described(account, CHATS, described_as=CHATS)["items"]
    assert [item["name"] for item in items if item["id"] == made["id"]] == ["Night"]
    assert made in items
    assert len(items) == 2


def test_the_models_to_choose_from_are_those_that_are_taken(account: Account) -> None:
    items = get_described(account, MODELS, described_as=MODELS)["items"]
    assert items[0] == {"id": None, "name": "none"}
    for item in items:
        answer = account.request("PATCH", f"{CHATS}/{account.chat_id}", json={"model": item["id"]})
        assert answer.status_code == 200


def test_conversations_are_listed_by_who_has_them_and_who_waits_longest_is_first(account: Account) -> None:
    first, _ = answered(account, "One?", "Yes.")
    second, _ = answered(account, "Two?", "No.")
    third, _ = ask(account, "Three? <b>" + "x" * 400)
    database, tenant_id = account.server.database, account.tenant_id
    for waiting in (second, first):
        conversations.request_person(database, tenant_id, account.chat_id, waiting, {"name": "Vera"}, None)
    assert [item["id"] for item in listed(account, state="waiting")] == [second, first]
    assert account.post(f"{CONVERSATIONS}/{second}/takeover", json={"operator_name": "Anna"}).status_code == 200
    assert [item["id"] for item in listed(account, state="waiting")] == [first]
    assert [item["id"] for item in listed(account, state="taken")] == [second]
    [agent] = listed(account, state="agent")
    assert agent["id"] == third
    assert agent["last_message"] == {"role": "visitor", "text": ("Three? <b>" + "x" * 400)[:300]}
    assert len(listed(account)) == 3
    assert account.get(f"{CONVERSATIONS}?state=asleep").status_code == 400


def test_answers_are_listed_by_votes_and_where_nothing_was_found(account: Account) -> None:
    liked, liked_id = answered(account, "Good?", "Good.")
    disliked, disliked_id = answered(account, "Bad?", "Bad.")
    lost, lost_id = answered(account, "Where?", "Nothing was found.", found=False)
    database, tenant_id = account.server.database, account.tenant_id
    conversations.rate(database, tenant_id, liked, liked_id, "up", None)
    conversations.rate(database, tenant_id, disliked, disliked_id, "down", "Wrong <price>")

    def judged(verdict: str) -> list[dict[str, Any]]:
        path = ANSWERS.format(chat_id=account.chat_id)
        items: list[dict[str, Any]] = get_described(account, path, described_as=ANSWERS, verdict=verdict)["items"]
        return items

    [up] = judged("up")
    assert (up["conversation_id"], up["message_id"], up["question"], up["answer"]) == (
        liked,
        liked_id,
        "Good?",
        "Good.",
    )
    [down] = judged("down")
    assert (down["message_id"], down["feedback"], down["comment"]) == (disliked_id, "down", "Wrong <price>")
    [unanswered] = judged("unanswered")
    assert (unanswered["conversation_id"], unanswered["message_id"]) == (lost, lost_id)
    read = account.get(f"{CONVERSATIONS}/{disliked}").json()
    assert [message["comment"] for message in read["messages"]] == [None, "Wrong <price>"]


@pytest.mark.parametrize("query", ["", "?verdict=sideways"])
def test_a_verdict_is_needed(account: Account, query: str) -> None:
    assert account.get(ANSWERS.format(chat_id=account.chat_id) + query).status_code == 400
    assert account.get(ANSWERS.format(chat_id=UNKNOWN_ID) + "?verdict=up").status_code == 404


def test_the_previews_page_says_nothing_and_may_stand_in_the_cabinet_alone(account: Account) -> None:
    answer = httpx2.get(account.server.url + "/cabinet/preview")
    assert answer.status_code == 200
    assert "<script" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy
    assert "script-src 'self'" in policy
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
