"""Chat messages answered by a language model: a scripted provider behind a real server."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from chat.agent import CHAT_TOOLS
from chat.language import PHRASES
from tests.contract import material
from tests.contract.mcp import found_by
from tests.contract.streams import events_of
from tests.contract.waiting import eventually
from tests.support.metrics import counted
from tests.support.scripted_model import API_KEY, ScriptedModel, Turn, passages_in
from tests.support.server import Account, RunningServer

TIMEOUT_S = 20


@pytest.fixture(scope="module")
def asker(model_server: RunningServer) -> Account:
    """An account whose only document is the handbook."""
    account = model_server.new_client("asker of a model")
    record = account.add_document(account.new_space(), material.handbook_pdf(), "handbook.pdf")
    assert record["status"] == "success"
    return account


def tokens_paid_for(server: RunningServer) -> dict[str, float]:
    """Of chats so far, by prompt and completion."""
    return {
        kind: counted(server, "parley_model_tokens_total", purpose="chat", kind=kind)
        for kind in ("prompt", "completion")
    }


def path(account: Account) -> str:
    return f"/public/v1/chats/{account.chat_id}/messages"


def ask(account: Account, text: str = material.HANDBOOK_QUESTION, **more: Any) -> httpx2.Response:
    return account.post(path(account), json={"text": text, **more})


@pytest.mark.proves("chats.message.one-answer", "chats.response.markdown", "chats.context.documents")
def test_the_models_answer_comes_whole_with_the_sources_it_cites(asker: Account, scripted: ScriptedModel) -> None:
    scripted.says("The boiler bolts need 23 newton metres [1].")
    reply = ask(asker).json()
    assert reply["markdown"] == "The boiler bolts need 23 newton metres [1]."
    (source,) = reply["context"]["documents"]
    assert material.HANDBOOK_ANSWER in source["snippet"]
    (request,) = scripted.requests
    assert material.HANDBOOK_ANSWER in passages_in(request)[-1]
    assert material.HANDBOOK_QUESTION in passages_in(request)[-1]
    assert scripted.keys == [f"Bearer {API_KEY}"]


def test_the_model_may_call_the_tools_of_the_account(asker: Account, scripted: ScriptedModel) -> None:
    scripted.calls_tools(("search_documents", {"query": "spare gaskets"}), ("list_kb_spaces", {}))
    scripted.says("Take two spare gaskets.")
    reply = ask(asker, "What do I take with me?").json()
    assert reply["markdown"].startswith("Take two spare gaskets.")
    names = {tool["function"]["name"] for tool in scripted.requests[0]["tools"]}
    assert names == set(CHAT_TOOLS)
    results = [message["content"] for message in scripted.requests[1]["messages"] if message["role"] == "tool"]
    assert "two spare gaskets" in results[0]
    assert "Space" in results[1]


@pytest.mark.proves("chats.message.caller-keeps-history")
def test_only_what_the_history_says_is_known_of_earlier_messages(asker: Account, scripted: ScriptedModel) -> None:
    for _ in range(3):
        scripted.says("Fine.")
    ask(asker, "My name is Wilhelmina.")
    ask(asker, "What is my name?")
    history = [{"role": "user", "content": "I am Wilhelmina."}, {"role": "assistant", "content": "Good day to you."}]
    ask(asker, "What is my name?", history=history)
    _, without, with_history = (json.dumps(request["messages"]) for request in scripted.requests)
    assert "Wilhelmina" not in without
    assert "I am Wilhelmina." in with_history
    roles = [(m["role"], m["content"]) for m in scripted.requests[2]["messages"]]
    assert roles[1:3] == [("user", "I am Wilhelmina."), ("assistant", "Good day to you.")]


@pytest.mark.proves("chats.request.space-ids.limit-search")
def test_space_ids_hold_for_the_models_tool_calls_too(asker: Account, scripted: ScriptedModel) -> None:
    other = asker.new_space("Other")
    spaces = [item["id"] for item in asker.get("/public/v1/kb/spaces").json()["items"]]
    for arguments in ({"query": "boiler bolts"}, {"query": "boiler bolts", "space_ids": [spaces[0]]}):
        scripted.calls_tools(("search_documents", arguments), ("list_kb_spaces", {}))
        scripted.says("Nothing.")
        ask(asker, space_ids=[other])
        tool_results = [m["content"] for m in scripted.requests[-1]["messages"] if m["role"] == "tool"]
        assert all(material.HANDBOOK_ANSWER not in result for result in tool_results)
        assert spaces[0] not in tool_results[1]
        assert other in tool_results[1]
    assert all(material.HANDBOOK_ANSWER not in json.dumps(request) for request in scripted.requests)


@pytest.mark.parametrize(
    ("question", "expected"),
    [("What is the capital of Australia?", PHRASES["en"].not_found), ("Какая столица?", PHRASES["ru"].not_found)],
)
def test_that_nothing_was_found_is_said_in_the_questions_language(
    asker: Account, scripted: ScriptedModel, question: str, expected: str
) -> None:
    scripted.says("NOT_FOUND")
    reply = ask(asker, question).json()
    assert reply["markdown"] == expected
    assert reply["context"] == {"communications": [], "documents": [], "memory": []}


@pytest.mark.proves("chats.message.502")
@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([Turn(status=500, error="secret trouble")] * 9, id="the provider fails"),
        pytest.param([Turn(status=401, error="secret trouble")] * 9, id="the provider refuses the key"),
        pytest.param([Turn(status=429, error="secret trouble")] * 9, id="the provider has enough"),
        pytest.param([Turn("The boiler bolts need much", drop_after=3)] * 9, id="the stream breaks off"),
        pytest.param([Turn("")] * 9, id="the answer is empty"),
    ],
)
def test_a_failure_of_the_provider_is_502(asker: Account, scripted: ScriptedModel, turns: list[Turn]) -> None:
    scripted.script(*turns)
    answer = ask(asker)
    assert answer.status_code == 502
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("api_error", "api_error")
    assert "secret" not in answer.text
    assert API_KEY not in answer.text


@pytest.mark.proves("chats.message.503")
def test_without_an_engine_the_answer_is_503(small_account: Account) -> None:
    """That server is to use the local model, whose file is not installed."""
    small_account.add_document(small_account.new_space(), material.handbook_pdf(), "handbook.pdf")
    answer = ask(small_account)
    assert answer.status_code == 503
    assert answer.json()["error"]["type"] == "unavailable_error"
    assert int(answer.headers["retry-after"]) >= 1


@pytest.mark.proves("chats.message.abort")
def test_aborting_the_request_cancels_the_model_call(asker: Account, scripted: ScriptedModel) -> None:
    scripted.script(Turn("Once upon a time", hang=True))
    with pytest.raises(httpx2.ReadTimeout):
        asker.post(path(asker), json={"text": material.HANDBOOK_QUESTION}, timeout=1.5)
    assert scripted.aborted.wait(TIMEOUT_S)
    assert scripted.requests
    assert found_by(asker, "search_communications")["items"] == []


def test_an_answer_streams_where_it_is_asked_to(asker: Account, scripted: ScriptedModel) -> None:
    scripted.says("The boiler bolts need 23 newton metres [1].")
    answer = asker.post(path(asker), json={"text": material.HANDBOOK_QUESTION}, headers={"Accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = events_of(answer)
    assert events[0] == ("status", {"step": "search", "tool": None})
    texts = [data["delta"] for name, data in events if name == "text"]
    assert len(texts) > 3
    name, done = events[-1]
    assert name == "done"
    assert done["markdown"] == "".join(texts) == "The boiler bolts need 23 newton metres [1]."
    assert (done["found"], len(done["context"]["documents"])) == (True, 1)


@pytest.mark.parametrize(
    ("accept", "streams"),
    [
        ("application/json, Text/Event-Stream;q=0.5", True),
        ("text/event-stream;q=0, application/json", False),
        ("text/event-stream; q=0.000", False),
        ("text/event-streams", False),
        ("*/*", False),
    ],
)
def test_a_stream_is_asked_for_by_accept_alone(
    asker: Account, scripted: ScriptedModel, accept: str, streams: bool
) -> None:
    scripted.says("The boiler bolts need 23 newton metres [1].")
    answer = asker.post(path(asker), json={"text": material.HANDBOOK_QUESTION}, headers={"Accept": accept})
    kind = "text/event-stream" if streams else "application/json"
    assert answer.headers["content-type"].startswith(kind)


def test_a_failure_within_a_stream_is_its_last_event(asker: Account, scripted: ScriptedModel) -> None:
    scripted.script(*[Turn(status=500, error="secret trouble")] * 9)
    answer = asker.post(path(asker), json={"text": material.HANDBOOK_QUESTION}, headers={"Accept": "text/event-stream"})
    assert answer.status_code == 200
    name, error = events_of(answer)[-1]
    assert (name, error["error"]["type"], error["error"]["code"]) == ("error", "api_error", "api_error")
    assert "secret" not in answer.text


def test_leaving_a_stream_cancels_the_model_call(asker: Account, scripted: ScriptedModel) -> None:
    before = tokens_paid_for(asker.server)
    scripted.script(Turn("Once upon a time", hang=True))
    headers = {**asker.headers, "Accept": "text/event-stream"}
    body = {"text": material.HANDBOOK_QUESTION}
    with httpx2.stream("POST", asker.server.url + path(asker), json=body, headers=headers, timeout=20) as answer:
        for line in answer.iter_lines():
            if "upon" in line:
                break
    assert scripted.aborted.wait(TIMEOUT_S)
    # What was sent and said until then is paid for, though the provider told no figure.
    eventually(
        lambda: tokens_paid_for(asker.server),
        lambda paid: paid["prompt"] > before["prompt"] + 100 and paid["completion"] > before["completion"],
    )
