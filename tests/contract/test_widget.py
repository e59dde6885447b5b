"""The site widget's calls: a visitor's token, the conversation behind it, allowed pages and the limit."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from accounts.keys import Keyring
from api.widget_access import TOKEN_PURPOSE
from chat.language import PHRASES
from store import analysis, communications, index_work, knowledge, speakers
from store.analysis import NewItem
from store.database import now
from store.ids import new_id
from tests.contract import material
from tests.contract.conftest import HeardCalls
from tests.contract.mcp import found_by
from tests.contract.site_page import CONFIG, MESSAGES, VISITORS, Page, set_account, set_chat
from tests.contract.streams import events_of
from tests.support.scripted_model import ScriptedModel
from tests.support.server import Account, RunningServer

QUESTION, FACT = "When can a coffee machine be returned?", "fourteen days"
NOT_OURS = "https://elsewhere.example"


@pytest.mark.proves("addresses.widget", "widget.config")
def test_the_config_tells_what_the_widget_shows(page: Page) -> None:
    set_chat(page.account, header_title="Полярная сова", greeting="Здравствуйте!", suggestions=["Цены?"])
    answer = page.call("GET", CONFIG, params={"key": page.public_key})
    assert answer.status_code == 200
    assert answer.json() == {
        "header_title": "Полярная сова",
        "greeting": "Здравствуйте!",
        "suggestions": ["Цены?"],
        "language": "ru",
        "languages": [],
        "theme": {"accent": None, "scheme": "auto", "position": "right"},
        "captcha": None,
    }


@pytest.mark.proves("widget.visitor.token")
def test_a_public_key_gives_a_short_lived_token(page: Page) -> None:
    answer = page.call("POST", VISITORS, json={"public_key": page.public_key})
    assert answer.status_code == 201
    assert set(answer.json()) == {"token", "expires_in", "renewal", "conversation_id"}
    assert 60 <= answer.json()["expires_in"] <= 3600
    token = answer.json()["token"]
    for known in (page.account.tenant_id, page.account.chat_id, page.public_key):
        assert known not in token
    assert page.visitor() != token


@pytest.mark.proves("widget.tenant-id-opens-nothing", "widget.tenant-snippet-refused")
def test_what_is_no_public_key_opens_nothing(page: Page) -> None:
    made = page.account.made
    for key in (made.tenant.id, made.tenant.client_id, made.chat.id, made.api_key, "wk_x", "x"):
        assert page.call("GET", CONFIG, params={"key": key}).status_code == 404
        assert page.call("POST", VISITORS, json={"public_key": key}).status_code == 404
    for body in ({}, {"tenant_id": made.tenant.id}, {"public_key": page.public_key, "tenant_id": made.tenant.id}):
        assert page.call("POST", VISITORS, json=body).status_code == 400
    assert page.call("GET", CONFIG, params={"tenant_id": made.tenant.id}).status_code == 400
    set_chat(page.account, is_active=False)
    assert page.call("POST", VISITORS, json={"public_key": page.public_key}).status_code == 404


@pytest.mark.proves("widget.key-alone-opens-nothing", "widget.tenant-id-opens-nothing")
def test_a_key_or_an_id_is_no_token(page: Page) -> None:
    made = page.account.made
    for token in (None, made.chat.public_key, made.tenant.id, made.api_key, "x"):
        assert page.call("GET", MESSAGES, token=token, params={"key": page.public_key}).status_code == 401
        answer = page.call("POST", MESSAGES, token=token, json={"text": "Hello"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_visitor_token")
    assert found_by(page.account, "search_communications")["items"] == []


@pytest.mark.proves("widget.visitor.token-expires")
def test_a_token_that_is_altered_expired_or_for_something_else_is_refused(page: Page) -> None:
    keyring = Keyring.of(page.account.server.settings)
    claims = {"tenant": page.account.tenant_id, "chat": page.account.chat_id, "key": page.public_key}
    claims["conversation"] = new_id()
    assert page.conversation(keyring.sign_token(TOKEN_PURPOSE, claims, lifetime_s=60)) == []
    good = page.visitor()
    middle = len(good) // 2
    for token in (
        keyring.sign_token(TOKEN_PURPOSE, claims, lifetime_s=-1),
        keyring.sign_token("session link", claims, lifetime_s=60),
        Keyring(b"another installation's secret key").sign_token(TOKEN_PURPOSE, claims, lifetime_s=60),
        good[:middle] + ("A" if good[middle] != "A" else "B") + good[middle + 1 :],
        good[:-10],
        good + "AAAA",
    ):
        assert page.call("GET", MESSAGES, token=token).status_code == 401
        assert page.call("POST", MESSAGES, token=token, json={"text": "Hello"}).status_code == 401


def test_a_source_has_the_address_that_its_document_was_loaded_from(page: Page) -> None:
    account, token, message_id = page.account, page.visitor(), new_id()
    document = account.add_document(account.new_space(), material.RETURNS.encode(), "returns.html")

    def sources() -> list[dict[str, Any]]:
        """Of the answer, which is begun, gone on with, replayed and read again."""
        body = {"text": QUESTION, "id": message_id}
        events = events_of(page.call("POST", MESSAGES, token=token, json=body))
        (told,) = [data["items"] for name, data in events if name == "citations"]
        assert page.messages(token)["items"][1]["citations"] == told
        assert all("source_url" not in item for item in events[-1][1]["context"]["documents"])
        return list(told)

    assert [item["source_url"] for item in sources()] == [None]
    with account.server.database.write() as connection:
        this = knowledge.documents.c.id == document["id"]
        connection.execute(knowledge.documents.update().where(this).values(url="https://shop.example/returns"))
    (source,) = sources()
    assert source["source_url"] == "https://shop.example/returns"
    assert "/cabinet/documents/" in source["url"]


@pytest.mark.proves("widget.messages.post", "widget.messages.get", "widget.stored")
def test_a_visitor_asks_and_the_conversation_is_kept(page: Page) -> None:
    account = page.account
    account.add_document(account.new_space(), material.RETURNS.encode(), "returns.html")
    token = page.visitor()
    assert page.conversation(token) == []
    answer = page.call("POST", MESSAGES, token=token, json={"text": QUESTION})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = events_of(answer)
    assert [name for name, _ in events] == ["status", *["text"] * (len(events) - 3), "citations", "done"]
    done = events[-1][1]
    assert done["markdown"] == "".join(data["delta"] for name, data in events if name == "text")
    assert FACT in done["markdown"]
    assert done["context"]["documents"][0]["title"].startswith("Returns")
    second = page.ask(token, "Who painted the Mona Lisa?")
    assert second["markdown"] == PHRASES["en"].not_found
    said = [("visitor", QUESTION), ("agent", done["markdown"]), ("visitor", "Who painted the Mona Lisa?"),
            ("agent", second["markdown"])]  # fmt: skip
    assert page.conversation(token) == said
    item = page.call("GET", MESSAGES, token=token).json()["items"][0]
    assert datetime.fromisoformat(item["at"]).tzinfo is not None

    (found,) = found_by(account, "search_communications", channel_type="widget")["items"]
    details = account.get("/public/v1/communications", params={"id": found["id"]}).json()
    assert (details["kind"], details["channel_type"], details["direction"]) == ("chat", "widget", "in")
    assert details["communication_status"] == "active"
    assert [(turn["kind"], turn["label"], turn["text"]) for turn in details["content"]] == [
        ("chat_message", role, text) for role, text in said
    ]
    card = found_by(account, "get_communication", communication_id=found["id"])
    assert (card["kind"], card["channel_type"]) == ("chat", "widget")
    assert [turn["text"] for turn in card["content"]] == [text for _, text in said]
    deadline = time.monotonic() + 120
    while not (by_words := found_by(account, "search_communications", query="Mona Lisa")["items"]):
        assert time.monotonic() < deadline, "the conversation did not come into the index"
    assert by_words[0]["id"] == found["id"]
    again = account.post(f"/public/v1/chats/{account.chat_id}/messages", json={"text": "Who painted the Mona Lisa?"})
    assert again.json()["markdown"] == PHRASES["en"].not_found, "a question is no source of its answer"


@pytest.mark.proves("widget.messages.own-only")
def test_a_visitor_reads_no_other_visitors_conversation(page: Page, open_page: Callable[..., Page]) -> None:
    first, second = page.visitor(), page.visitor()
    page.ask(first, "My code is 4711.")
    assert page.conversation(second) == []
    page.ask(second, "Hello")
    assert page.conversation(second)[0] == ("visitor", "Hello")
    assert "4711" not in json.dumps(page.conversation(second))
    assert page.conversation(first)[0] == ("visitor", "My code is 4711.")
    assert len(found_by(page.account, "search_communications")["items"]) == 2


def test_the_model_sees_the_visitors_own_conversation(
    model_server: RunningServer, scripted: ScriptedModel, open_page: Callable[..., Page]
) -> None:
    page = open_page(model_server.new_client("widget with a model"))
    first, second = page.visitor(), page.visitor()
    for _ in range(3):
        scripted.says("Fine.")
    page.ask(first, "My code is 4711.")
    page.ask(second, "Hello")
    page.ask(first, "What is my code?")
    seen = [json.dumps(request["messages"]) for request in scripted.requests]
    assert ["4711" in each for each in seen] == [True, False, True]
    names = {tool["function"]["name"] for request in scripted.requests for tool in request["tools"]}
    assert names == {"search_documents", "list_kb_spaces"}


def test_a_failed_answer_is_not_kept_but_the_question_is(
    model_server: RunningServer, scripted: ScriptedModel, open_page: Callable[..., Page]
) -> None:
    page = open_page(model_server.new_client("widget with a failing model"))
    token = page.visitor()
    scripted.fails(401)
    name, error = events_of(page.call("POST", MESSAGES, token=token, json={"text": "Hello"}))[-1]
    assert (name, error["error"]["type"]) == ("error", "api_error")
    assert page.conversation(token) == [("visitor", "Hello")]
    assert page.statuses(token) == ["failed"]


@pytest.mark.models
def test_a_visitor_is_not_answered_from_calls_unless_the_owner_opens_them(
    heard: HeardCalls, open_page: Callable[..., Page]
) -> None:
    account = heard.english.account
    page = open_page(account)
    question = "From which studio does Sarah call?"
    assert page.ask(page.visitor(), question)["found"] is False
    set_chat(account, site_tools=["search_communications", "get_communication"])
    try:
        assert "silver lane" in page.ask(page.visitor(), question)["markdown"].lower()
    finally:
        set_chat(account, site_tools=[])


@pytest.mark.models
@pytest.mark.proves("chats.context.memory")
def test_what_is_remembered_of_a_client_is_for_the_companys_own_chats_and_no_visitor_is_told(
    account: Account, page: Page
) -> None:
    fact = "Аллергия на орехи, десерты заказывает без них"
    with account.server.database.write() as connection:
        person = speakers.upsert(account.tenant_id, connection, external_id="cl-7", name="Иван Рогов")
        call = communications.create(
            account.tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title="call"
        )
        analysis.add_memory(account.tenant_id, connection, call.id, [NewItem("memory", fact, speaker_id=person.id)])
        index_work.add(account.tenant_id, connection, action=index_work.INDEX_MEMORY, subject_id=person.id)
    set_chat(account, site_tools=["search_communications", "get_communication"])
    deadline = time.monotonic() + 120
    while fact not in str(account.call_tool("search_memory", query="орехи")):
        assert time.monotonic() < deadline, "memory did not come into the index"
    question = "Какая аллергия у Ивана Рогова?"
    reply = account.post(f"/public/v1/chats/{account.chat_id}/messages", json={"text": question}).json()
    assert "орехи" in reply["markdown"]
    (source,) = reply["context"]["memory"]
    assert source.keys() >= {"id", "speaker_id", "speaker_name", "content", "created_at"}
    assert (source["speaker_id"], source["speaker_name"], source["content"]) == (person.id, "Иван Рогов", fact)
    answer = page.ask(page.visitor(), question)
    assert (answer["found"], "орехи" in answer["markdown"]) == (False, False)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"{}", b'{"text": ""}', b'{"text": " "}', b'{"text": "x", "space_ids": []}']
)
def test_a_message_that_is_none_is_400(page: Page, body: bytes) -> None:
    token = page.visitor()
    assert page.call("POST", MESSAGES, token=token, content=body).status_code == 400
    assert page.call("POST", MESSAGES, token=token, json={"text": "x" * 4001}).status_code == 400
    assert page.conversation(token) == []


@pytest.mark.proves("widget.origin", "widget.origin.none-listed")
def test_only_the_accounts_pages_and_the_servers_own_may_use_the_widget(
    account: Account, open_page: Callable[..., Page]
) -> None:
    key = account.made.chat.public_key
    own, other, unnamed = open_page(account), open_page(account, NOT_OURS), open_page(account, None)
    token = own.visitor()
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", CONFIG, {"params": {"key": key}}),
        ("POST", VISITORS, {"json": {"public_key": key}}),
        ("GET", MESSAGES, {"token": token}),
        ("POST", MESSAGES, {"token": token, "json": {"text": "Hello"}}),
    ]

    def statuses(page: Page) -> list[int]:
        return [page.call(method, path, **options).status_code for method, path, options in calls]

    assert statuses(own) == [200, 201, 200, 200]
    assert statuses(other) == [403] * 4
    assert statuses(unnamed) == [200, 403, 200, 403]
    set_account(account, widget_origins=[NOT_OURS])
    assert statuses(other) == [200, 201, 200, 200]
    for near in ("https://elsewhere.example.org", "http://elsewhere.example", NOT_OURS + ":8443", "null"):
        assert statuses(open_page(account, near)) == [403] * 4


def test_a_paused_client_and_one_without_chats_have_no_widget(
    page: Page, pause: Callable[..., None], new_account: Callable[..., Account], open_page: Callable[..., Page]
) -> None:
    token = page.visitor()
    pause(page.account)
    answer = page.call("POST", MESSAGES, token=token, json={"text": "Hello"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "client_inactive")
    without = open_page(new_account(features=["kb"]))
    assert without.call("POST", VISITORS, json={"public_key": without.public_key}).status_code == 404


@pytest.mark.proves("widget.rate", "widget.rate.per-visitor-and-address")
def test_a_visitor_and_an_address_have_60_calls_a_minute(account: Account, open_page: Callable[..., Page]) -> None:
    for attempt in range(3):
        here = open_page(account, address=f"127.1.{attempt}.1")
        there, third = (open_page(account, address=f"127.1.{attempt}.{number}") for number in (2, 3))
        minute = time.time() // 60
        token, other = third.visitor(), third.visitor()
        answers = [here.call("GET", MESSAGES, token=token) for _ in range(60)]
        over = here.call("GET", MESSAGES, token=token)
        visitor_elsewhere = there.call("GET", MESSAGES, token=token)
        other_visitor_here = here.call("GET", MESSAGES, token=other)
        new_visitor_here = here.call("POST", VISITORS, json={"public_key": here.public_key})
        other_visitor_elsewhere = there.call("GET", MESSAGES, token=other)
        if time.time() // 60 == minute:
            break
    else:
        raise AssertionError("no minute was long enough for 61 requests")
    assert {answer.status_code for answer in answers} == {200}
    for refused in (over, visitor_elsewhere, other_visitor_here, new_visitor_here):
        assert refused.status_code == 429
        assert refused.json()["error"]["type"] == "rate_limit_error"
        assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert other_visitor_elsewhere.status_code == 200
