"""Chats and their messages as the Public API documents them, answered without a language model."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest

from chat.language import PHRASES
from store import chats
from tests.contract import material
from tests.contract.conftest import HeardCalls, Library
from tests.support.server import Account

LIST = "/public/v1/chats/list"
NOBODY = "00000000-0000-4000-8000-000000000000"
ITEM = {
    "id", "name", "header_title", "is_default", "default_space_ids", "workflow_flow_id", "public_key", "created_at",
    "updated_at",
}  # fmt: skip
DOCUMENT = {"document_id", "space_id", "chunk_id", "title", "snippet", "page", "url", "score"}
COMMUNICATION = {"id", "kind", "channel_type", "occured_at", "title", "snippet", "score"}


def messages(account: Account, chat_id: str | None = None) -> str:
    return f"/public/v1/chats/{chat_id or account.chat_id}/messages"


def ask(account: Account, text: str, **more: Any) -> dict[str, Any]:
    answer = account.post(messages(account), json={"text": text, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def set_chat(account: Account, **values: Any) -> None:
    with account.server.database.write() as connection:
        chats.update(account.tenant_id, connection, account.chat_id, **values)


@pytest.mark.proves(
    "chats.list.200",
    "chats.item.id",
    "chats.item.names",
    "chats.item.is-default",
    "chats.item.default-space-ids",
    "chats.item.workflow-flow-id",
    "chats.item.public-key",
    "chats.item.times",
    "chats.item.no-extra-properties",
)
def test_the_list_gives_the_accounts_chats(account: Account) -> None:
    answer = account.get(LIST)
    assert answer.status_code == 200
    assert set(answer.json()) == {"items"}
    (chat,) = answer.json()["items"]
    assert set(chat) == ITEM
    assert str(UUID(chat["id"])) == chat["id"]
    assert chat["name"]
    assert chat["header_title"]
    assert chat["is_default"] is True
    assert (chat["default_space_ids"], chat["workflow_flow_id"]) == ([], None)
    assert chat["public_key"].startswith("wk_")
    for name in ("created_at", "updated_at"):
        assert datetime.fromisoformat(chat[name]).tzinfo is not None


@pytest.mark.proves("chats.item.workflow-flow-id", "chats.item.default-space-ids", "chats.item.is-default")
def test_what_a_chat_is_set_to_is_listed(account: Account) -> None:
    space_id = account.new_space()
    flow_id = "7f0c1c4e-29d4-4d7c-9a0e-0d5ed7a1a111"
    set_chat(account, workflow_flow_id=flow_id, default_space_ids=[space_id])
    with account.server.database.write() as connection:
        second = chats.create(account.tenant_id, connection, name="2nd", header_title="Second", public_key="wk_2" * 6)
    first_item, second_item = account.get(LIST).json()["items"]
    assert (first_item["workflow_flow_id"], first_item["default_space_ids"]) == (flow_id, [space_id])
    assert (second_item["id"], second_item["is_default"]) == (second.id, False)
    set_chat(account, is_active=False)
    assert [item["id"] for item in account.get(LIST).json()["items"]] == [second.id]


@pytest.mark.proves(
    "chats.list.feature-disabled", "chats.message.feature-disabled", "chats.list.401", "chats.message.401"
)
def test_a_chat_needs_a_key_and_the_chat_product(new_account: Callable[..., Account]) -> None:
    without = new_account(features=["kb", "qc"])
    for method, path in (("GET", LIST), ("POST", messages(without))):
        refused = without.request(method, path, json={"text": "Hello"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "feature_disabled")
        for headers, code in (({}, "missing_api_key"), ({"Authorization": "Bearer sk_live_x"}, "invalid_api_key")):
            answer = httpx2.request(method, without.server.url + path, headers=headers, json={"text": "Hello"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, code)


@pytest.mark.proves("chats.list.paused", "chats.message.paused")
def test_a_paused_client_lists_and_does_not_ask(account: Account, pause: Callable[..., None]) -> None:
    pause(account)
    assert account.get(LIST).status_code == 200
    answer = account.post(messages(account), json={"text": "Hello"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "client_inactive")


@pytest.mark.proves("chats.message.404", "chats.message.chat-id-malformed", "chats.message.inactive-chat-404")
def test_a_chat_that_is_not_the_accounts_is_404(account: Account, new_account: Callable[..., Account]) -> None:
    for chat_id in (NOBODY, new_account().chat_id, "x", "1", "%00", "a" * 300):
        answer = account.post(messages(account, chat_id), json={"text": "Hello"})
        assert answer.status_code == 404, chat_id
        assert answer.json()["error"]["type"] == "not_found_error"
    set_chat(account, is_active=False)
    assert account.post(messages(account), json={"text": "Hello"}).status_code == 404


TURN = {"role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        pytest.param({}, "text", marks=pytest.mark.proves("chats.request.text")),
        pytest.param({"text": ""}, "text", marks=pytest.mark.proves("chats.request.text")),
        pytest.param({"text": " \n "}, "text", marks=pytest.mark.proves("chats.request.text")),
        pytest.param({"text": "x" * 4001}, "text", marks=pytest.mark.proves("chats.request.text")),
        pytest.param({"text": 5}, "text", marks=pytest.mark.proves("chats.request.text")),
        pytest.param({"history": [TURN] * 41}, "history", marks=pytest.mark.proves("chats.request.history.items")),
        pytest.param({"history": TURN}, "history", marks=pytest.mark.proves("chats.request.history.items")),
        pytest.param(
            {"history": [{"role": "system", "content": "x"}]},
            "history.0.role",
            marks=pytest.mark.proves("chats.request.history.role"),
        ),
        pytest.param(
            {"history": [TURN, {"content": "x"}]},
            "history.1.role",
            marks=pytest.mark.proves("chats.request.history.role"),
        ),
        pytest.param(
            {"history": [{"role": "user", "content": ""}]},
            "history.0.content",
            marks=pytest.mark.proves("chats.request.history.content"),
        ),
        pytest.param(
            {"history": [{"role": "assistant", "content": "x" * 4001}]},
            "history.0.content",
            marks=pytest.mark.proves("chats.request.history.content"),
        ),
        pytest.param({"space_ids": ["x"]}, "space_ids.0", marks=pytest.mark.proves("chats.request.space-ids")),
        pytest.param({"space_ids": NOBODY}, "space_ids", marks=pytest.mark.proves("chats.request.space-ids")),
        pytest.param({"stream": True}, "stream", marks=pytest.mark.proves("chats.request.no-extra-properties")),
        pytest.param({"modes": ["rag"]}, "modes", marks=pytest.mark.proves("chats.no-modes")),
        pytest.param(
            {"history": [{**TURN, "name": "x"}]},
            "history.0.name",
            marks=pytest.mark.proves("chats.request.no-extra-properties"),
        ),
    ],
)
def test_a_message_that_is_none_is_400_naming_the_field(account: Account, body: dict[str, Any], param: str) -> None:
    body = body if "text" in body or not body else {"text": "Hello", **body}
    answer = account.post(messages(account), json=body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert param in error["message"]


@pytest.mark.proves("chats.no-modes", "chats.item.no-extra-properties")
def test_no_chat_carries_modes(account: Account) -> None:
    assert {"modes", "enabled_modes"}.isdisjoint(account.get(LIST).json()["items"][0])


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'"text"', b'{"text": "\\u0000"}', b'{"text": "\xff"}'])
def test_a_body_that_is_no_message_is_400(account: Account, raw: bytes) -> None:
    answer = account.post(messages(account), content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


@pytest.mark.proves(
    "chats.request.text", "chats.request.history.items", "chats.request.history.role", "chats.request.history.content"
)
def test_the_largest_message_is_taken(account: Account) -> None:
    roles = ("user", "assistant")
    history = [{"role": roles[number % 2], "content": "ы" * 4000} for number in range(40)]
    assert ask(account, "ы" * 4000, history=history, space_ids=[])["markdown"]


@pytest.mark.proves(
    "chats.message.one-answer",
    "chats.response.required",
    "chats.response.request-id",
    "chats.response.markdown",
    "chats.response.context",
    "chats.context.documents",
)
def test_what_only_the_pdf_answers_is_answered_with_its_source(library: Library) -> None:
    answer = library.account.post(messages(library.account), json={"text": material.HANDBOOK_QUESTION})
    assert answer.headers["content-type"].startswith("application/json")
    reply = answer.json()
    assert set(reply) == {"request_id", "markdown", "context"}
    assert str(UUID(reply["request_id"])) == reply["request_id"]
    assert material.HANDBOOK_ANSWER in reply["markdown"]
    assert "[1]" in reply["markdown"]
    assert set(reply["context"]) == {"communications", "documents", "memory"}
    assert reply["context"]["communications"] == reply["context"]["memory"] == []
    source = reply["context"]["documents"][0]
    assert set(source) >= DOCUMENT
    assert (source["document_id"], source["space_id"], source["page"]) == (library.pdf_id, library.prices, 2)
    assert material.HANDBOOK_ANSWER in source["snippet"]
    assert source["url"].startswith(library.account.server.url + "/cabinet/documents/")
    assert isinstance(source["score"], float)
    assert ask(library.account, material.HANDBOOK_QUESTION)["request_id"] != reply["request_id"]


@pytest.mark.models
@pytest.mark.proves("chats.context.communications", "chats.response.context")
def test_what_only_a_call_answers_is_answered_with_its_source(heard: HeardCalls) -> None:
    account = heard.english.account
    reply = ask(account, "From which studio does Sarah call?")
    assert "silver lane" in reply["markdown"].lower()
    assert reply["context"]["documents"] == []
    source = reply["context"]["communications"][0]
    assert set(source) >= COMMUNICATION
    assert source["id"] in {upload.accepted["communication_id"] for upload in heard.asynchronous}
    assert (source["kind"], source["channel_type"]) == ("call", "phone")
    assert datetime.fromisoformat(source["occured_at"]).tzinfo is not None
    assert "silver lane" in source["snippet"].lower()
    assert isinstance(source["score"], float)
    assert account.get("/public/v1/communications", params={"id": source["id"]}).status_code == 200


@pytest.mark.proves("chats.response.markdown")
@pytest.mark.parametrize(
    ("question", "language", "fact"),
    [
        ("Сколько стоит доставка в пригород?", "ru", "1 100 рублей"),
        ("When can a coffee machine be returned?", "en", "fourteen days"),
    ],
)
def test_the_answer_speaks_the_questions_language(library: Library, question: str, language: Any, fact: str) -> None:
    markdown = ask(library.account, question)["markdown"]
    assert fact in markdown
    assert markdown.startswith(PHRASES[language].in_document.partition("{")[0])


@pytest.mark.proves("chats.response.markdown", "chats.response.context")
@pytest.mark.parametrize(
    ("question", "language"),
    [("Какая столица Австралии?", "ru"), ("Who painted the ceiling of the Sistine Chapel?", "en")],
)
def test_that_nothing_was_found_is_said_plainly(library: Library, question: str, language: Any) -> None:
    reply = ask(library.account, question)
    assert reply["markdown"] == PHRASES[language].not_found
    assert reply["context"] == {"communications": [], "documents": [], "memory": []}


@pytest.mark.proves("chats.request.space-ids.limit-search", "chats.request.space-ids")
def test_space_ids_limit_what_is_answered_from(library: Library) -> None:
    question = material.HANDBOOK_QUESTION
    for space_ids in ([library.prices], [library.prices, library.rules], [], None):
        assert material.HANDBOOK_ANSWER in ask(library.account, question, space_ids=space_ids)["markdown"]
    for space_ids in ([library.rules], [NOBODY]):
        reply = ask(library.account, question, space_ids=space_ids)
        assert material.HANDBOOK_ANSWER not in reply["markdown"]
        assert all(source["space_id"] == library.rules for source in reply["context"]["documents"])


@pytest.mark.proves("chats.message.chat-settings-apply")
def test_a_chats_own_spaces_hold_where_the_message_names_none(account: Account) -> None:
    yes, no = account.new_space(), account.new_space()
    account.add_document(yes, material.RETURNS.encode(), "returns.html")
    account.add_document(no, material.handbook_pdf(), "handbook.pdf")
    set_chat(account, default_space_ids=[yes])
    assert material.HANDBOOK_ANSWER not in ask(account, material.HANDBOOK_QUESTION)["markdown"]
    assert "fourteen days" in ask(account, "When can a coffee machine be returned?")["markdown"]
    assert material.HANDBOOK_ANSWER in ask(account, material.HANDBOOK_QUESTION, space_ids=[no])["markdown"]


@pytest.mark.proves("chats.message.429", "chats.message.rate")
def test_60_messages_a_minute_and_key_are_taken_and_the_next_is_429(new_account: Callable[..., Account]) -> None:
    for _ in range(3):
        account, other = new_account(), new_account()
        minute = time.time() // 60
        # One that is refused counts too, and costs less.
        answers = [account.post(messages(account), json={}) for _ in range(60)]
        last = account.post(messages(account), json={"text": "Hello"})
        not_other = other.post(messages(other), json={"text": "Hello"})
        if time.time() // 60 == minute:
            break
    else:
        raise AssertionError("no minute was long enough for 61 requests")
    assert {answer.status_code for answer in answers} == {400}
    assert last.status_code == 429
    assert last.json()["error"]["type"] == "rate_limit_error"
    assert 1 <= int(last.headers["retry-after"]) <= 60
    assert not_other.status_code == 200
    assert account.get(LIST).status_code == 200
