"""An answer of the widget's agent: it goes on without its reader, is followed by event number, and is paid once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from chat import conversations
from chat.answers import Withdrawn
from chat.conversations import STALE_S
from store import communications, widget
from store.database import now
from store.ids import new_id
from tests.contract.site_page import MESSAGES, VISITORS, Page
from tests.contract.streams import events_of
from tests.support.scripted_model import API_KEY, MODEL, ScriptedModel
from tests.support.server import Account, RunningServer

ANSWER = "I can help you with that. Tell me which one you mean, please. Then I will look for it."
HISTORY = 12


@pytest.fixture
def model_page(model_server: RunningServer, scripted: ScriptedModel, open_page: Callable[..., Page]) -> Page:
    return open_page(model_server.new_client(f"a site with a model {new_id()}"))


def charges(account: Account) -> int:
    return len(account.debits())


def begin(page: Page, token: str, message_id: str, text: str, *, events: int) -> list[tuple[int, str, dict[str, Any]]]:
    """Asks, and hangs up after so many events."""
    with page.http.stream(
        "POST",
        page.account.server.url + MESSAGES,
        headers={"Authorization": f"Bearer {token}", "Origin": str(page.origin)},
        json={"text": text, "id": message_id},
    ) as answer:
        assert answer.status_code == 200, answer.read()
        return take(answer.iter_lines(), events)


def take(lines: Iterator[str], events: int) -> list[tuple[int, str, dict[str, Any]]]:
    """(number, name, data) of the first events of a stream."""
    found: list[tuple[int, str, dict[str, Any]]] = []
    fields: dict[str, str] = {}
    for line in lines:
        if ": " in line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
        elif not line and "event" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
            fields = {}
            if len(found) == events:
                break
    return found


def follow(page: Page, token: str, message_id: str, after: int) -> list[tuple[int, str, dict[str, Any]]]:
    answer = page.call("GET", f"{MESSAGES}/{message_id}/events", token=token, headers={"Last-Event-ID": str(after)})
    assert answer.status_code == 200, answer.text
    return take(iter(answer.text.replace("\r\n", "\n").split("\n")), 10_000)


def text_of(events: list[tuple[int, str, dict[str, Any]]]) -> str:
    """The text as the widget puts it together: each piece at its place."""
    text = ""
    for _, name, data in events:
        if name == "text":
            text = text[: data["offset"]] + data["delta"]
    return text


def settle(page: Page, token: str, status: str) -> None:
    """Waits until the first message has that status."""
    deadline = time.monotonic() + 120
    while page.statuses(token)[0] != status:
        assert time.monotonic() < deadline, page.statuses(token)
        time.sleep(0.3)


def test_a_dropped_stream_is_gone_on_with_and_paid_once(model_page: Page, scripted: ScriptedModel) -> None:
    token, message_id = model_page.visitor(), new_id()
    scripted.says(ANSWER, pause_s=0.05)
    before = begin(model_page, token, message_id, "When do you open?", events=4)
    assert [number for number, _, _ in before] == [1, 2, 3, 4]
    after = follow(model_page, token, message_id, before[-1][0])
    assert [number for number, _, _ in after] == list(range(5, 5 + len(after)))
    assert [name for _, name, _ in after[-2:]] == ["citations", "done"]
    assert text_of([*before, *after]) == after[-1][2]["markdown"] == ANSWER
    assert after[-1][2]["handed_over"] is False
    again = follow(model_page, token, message_id, 0)
    assert text_of(again) == ANSWER
    assert again[-1][2] == after[-1][2]
    assert model_page.conversation(token) == [("visitor", "When do you open?"), ("agent", ANSWER)]
    assert model_page.messages(token)["items"][1]["id"] == after[-1][2]["reply_id"]
    assert (charges(model_page.account), len(scripted.requests)) == (1, 1)


def test_an_answer_that_nobody_waits_for_is_kept(model_page: Page, scripted: ScriptedModel) -> None:
    token, message_id = model_page.visitor(), new_id()
    scripted.says(ANSWER, pause_s=0.05)
    begin(model_page, token, message_id, "When do you open?", events=1)
    settle(model_page, token, "answered")
    assert model_page.conversation(token)[1] == ("agent", ANSWER)
    done = model_page.ask(token, "When do you open?", id=message_id)
    assert (done["markdown"], charges(model_page.account), len(scripted.requests)) == (ANSWER, 1, 1)


def test_the_same_message_sent_at_once_many_times_is_one(model_page: Page, scripted: ScriptedModel) -> None:
    token, message_id = model_page.visitor(), new_id()
    scripted.says(ANSWER, pause_s=0.02)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: model_page.ask(token, "Hours?", id=message_id), range(6)))
    assert {answer["markdown"] for answer in answers} == {ANSWER}
    assert {answer["reply_id"] for answer in answers} == {answers[0]["reply_id"]}
    assert model_page.conversation(token) == [("visitor", "Hours?"), ("agent", ANSWER)]
    assert (charges(model_page.account), len(scripted.requests)) == (1, 1)
    reused = model_page.call("POST", MESSAGES, token=token, json={"text": "Other", "id": message_id})
    assert (reused.status_code, reused.json()["error"]["code"]) == (409, "message_id_reused")


def test_a_failed_message_is_asked_again_by_its_id(model_page: Page, scripted: ScriptedModel) -> None:
    token, message_id = model_page.visitor(), new_id()
    scripted.fails(401)
    failed = model_page.call("POST", MESSAGES, token=token, json={"text": "Hours?", "id": message_id})
    assert events_of(failed)[-1][0] == "error"
    assert (model_page.statuses(token), charges(model_page.account)) == (["failed"], 0)
    told = follow(model_page, token, message_id, 7)
    assert (told[-1][1], told[-1][0] > 0) == ("error", True)
    scripted.says(ANSWER)
    assert model_page.ask(token, "Hours?", id=message_id)["markdown"] == ANSWER
    assert model_page.conversation(token) == [("visitor", "Hours?"), ("agent", ANSWER)]
    assert charges(model_page.account) == 1


def test_a_stopped_answer_costs_nothing_and_can_be_asked_again(model_page: Page, scripted: ScriptedModel) -> None:
    token, message_id = model_page.visitor(), new_id()
    scripted.says(ANSWER, hang=True)
    begin(model_page, token, message_id, "Hours?", events=3)
    stopped = model_page.call("POST", f"{MESSAGES}/{message_id}/cancel", token=token)
    assert stopped.status_code == 204
    assert scripted.aborted.wait(10)
    last = follow(model_page, token, message_id, 0)[-1]
    assert (last[1], last[2]["error"]["code"]) == ("error", "cancelled")
    assert (model_page.statuses(token), charges(model_page.account)) == (["cancelled"], 0)
    assert Decimal(model_page.account.balance()["balance_rub"]) == Decimal("10000")
    scripted.forget()
    scripted.says(ANSWER)
    assert model_page.ask(token, "Hours?", id=message_id)["markdown"] == ANSWER
    assert charges(model_page.account) == 1
    # What is answered stays answered.
    assert model_page.call("POST", f"{MESSAGES}/{message_id}/cancel", token=token).status_code == 204
    assert model_page.statuses(token) == ["answered"]


def test_what_an_earlier_try_does_after_its_end_counts_no_more(page: Page) -> None:
    account, conversation_id, message_id = page.account, new_id(), new_id()
    database = account.server.database

    def send() -> conversations.Accepted:
        return conversations.accept(database, account.tenant_id, account.chat_id, conversation_id, message_id, "Hours?")

    first = send()
    assert conversations.cancel(database, account.tenant_id, conversation_id, message_id) is True
    second = send()
    assert (first.next, second.next) == ("ask", "ask")
    assert (conversations.touch(database, first.turn), conversations.touch(database, second.turn)) == (
        "cancelled",
        "wanted",
    )
    conversations.end_without_answer(database, first.turn, "failed")
    with pytest.raises(Withdrawn), database.write() as connection:
        conversations.keep_answer(connection, first.turn, new_id(), "Late.", {})
    with database.write() as connection:
        conversations.keep_answer(connection, second.turn, new_id(), "At nine.", {"context": []})
    assert conversations.touch(database, second.turn) == "wanted"
    assert conversations.cancel(database, account.tenant_id, conversation_id, message_id) is False
    assert send().next == "replay"


def test_what_a_provider_is_paid_for_is_counted(model_page: Page, scripted: ScriptedModel) -> None:
    def counted() -> float:
        text = httpx2.get(model_page.account.server.url + "/metrics").text
        name = f'parley_model_tokens_total{{kind="prompt",model="{MODEL}",purpose="chat"}}'
        return next((float(line.split()[-1]) for line in text.splitlines() if line.startswith(name)), 0.0)

    before = counted()
    scripted.says(ANSWER)
    model_page.ask(model_page.visitor(), "Hours?")
    assert counted() == before + 100


@pytest.mark.parametrize("path", ["events", "cancel"])
def test_a_message_of_another_visitor_is_not_there(page: Page, path: str) -> None:
    first, second = page.visitor(), page.visitor()
    message_id = new_id()
    page.ask(first, "My code is 4711.", id=message_id)
    method = "GET" if path == "events" else "POST"
    for other in (message_id, new_id(), "x"):
        answer = page.call(method, f"{MESSAGES}/{other}/{path}", token=second)
        assert answer.status_code == 404, answer.text
    # The other one's own message may have the same id.
    assert page.ask(second, "Hello", id=message_id)["request_id"]
    assert page.conversation(first)[0] == ("visitor", "My code is 4711.")


def test_the_model_gets_the_last_turns_and_long_messages_whole(model_page: Page, scripted: ScriptedModel) -> None:
    token = model_page.visitor()
    for number in range(HISTORY):
        scripted.says(f"Answer {number}.")
        model_page.ask(token, f"Question {number}?")
    scripted.says("Fine.")
    model_page.ask(token, "я" * 4000)
    asked = scripted.requests[-1]["messages"]
    said = [message["content"] for message in asked if message["role"] != "system"]
    assert len(said) == HISTORY + 1
    assert said[-2] == f"Answer {HISTORY - 1}."
    assert "я" * 4000 in said[-1]


@pytest.mark.soak
def test_an_answer_whose_server_was_killed_is_asked_again(
    tmp_path: Path, scripted: ScriptedModel, open_page: Callable[..., Page]
) -> None:
    server = RunningServer(
        tmp_path, llm_model=MODEL, llm_api_base=f"{scripted.base_url}/v1", llm_api_key=API_KEY, sweep_s="0.5"
    ).start()
    try:
        page = open_page(server.new_client("killed in the middle"))
        token, message_id = page.visitor(), new_id()
        scripted.says(ANSWER, hang=True)
        begin(page, token, message_id, "Hours?", events=3)
        server.kill()
        scripted.released.set()
        server.start()
        assert page.conversation(token) == [("visitor", "Hours?")]
        body = {"public_key": page.public_key, "renewal": page.renewals[token]}
        conversation_id = page.call("POST", VISITORS, json=body).json()["conversation_id"]
        long_ago = now() - timedelta(seconds=STALE_S + 1)
        with server.database.write() as connection:
            widget.update_turn(page.account.tenant_id, connection, conversation_id, message_id, touched_at=long_ago)
        lost = follow(page, token, message_id, 3)
        assert (lost[0][0], lost[0][1], lost[0][2]["error"]["code"]) == (4, "error", "answer_lost")
        scripted.forget()
        scripted.says(ANSWER)
        assert page.ask(token, "Hours?", id=message_id)["markdown"] == ANSWER
        assert charges(page.account) == 1
        with server.database.read() as connection:
            content = communications.list_content(page.account.tenant_id, connection, conversation_id)
        assert [item.text for _, item in content] == ["Hours?", ANSWER]
    finally:
        server.close()


def test_a_server_that_stops_tells_those_who_wait(
    tmp_path: Path, scripted: ScriptedModel, open_page: Callable[..., Page]
) -> None:
    server = RunningServer(
        tmp_path, llm_model=MODEL, llm_api_base=f"{scripted.base_url}/v1", llm_api_key=API_KEY
    ).start()
    try:
        page = open_page(server.new_client("stopped in the middle"))
        token, message_id = page.visitor(), new_id()
        scripted.says(ANSWER, hang=True)
        begin(page, token, message_id, "Hours?", events=3)
        with ThreadPoolExecutor() as threads:
            following = threads.submit(follow, page, token, message_id, 3)
            while not scripted.requests:
                time.sleep(0.05)
            threads.submit(server.stop).result()
            _, name, data = following.result()[-1]
        assert (name, data["error"]["type"]) == ("error", "unavailable_error")
        scripted.released.set()
        scripted.forget()
        server.start()
        scripted.says(ANSWER)
        assert page.ask(token, "Hours?", id=message_id)["markdown"] == ANSWER
        assert charges(page.account) == 1
    finally:
        server.close()


def test_a_stream_of_the_api_with_an_idempotency_key_is_gone_on_with(
    model_server: RunningServer, scripted: ScriptedModel
) -> None:
    account = model_server.new_client(f"streams {new_id()}")
    path, body = f"{account.server.url}/public/v1/chats/{account.chat_id}/messages", {"text": "Hours?"}
    headers = {"Authorization": f"Bearer {account.made.api_key}", "Accept": "text/event-stream"}
    headers["Idempotency-Key"] = new_id()
    scripted.says(ANSWER, pause_s=0.05)
    with httpx2.stream("POST", path, headers=headers, json=body) as answer:
        assert answer.status_code == 200
        before = take(answer.iter_lines(), 3)
    again = httpx2.post(path, headers={**headers, "Last-Event-ID": "3"}, json=body)
    after = take(iter(again.text.replace("\r\n", "\n").split("\n")), 10_000)
    assert after[0][0] == 4
    assert text_of([*before, *after]) == after[-1][2]["markdown"] == ANSWER
    stored = httpx2.post(path, headers=headers, json=body)
    assert stored.headers["Idempotency-Replayed"] == "true"
    assert events_of(stored)[-1] == ("done", after[-1][2])
    assert (charges(account), len(scripted.requests)) == (1, 1)


def test_a_stream_of_the_api_that_fails_frees_its_key(model_server: RunningServer, scripted: ScriptedModel) -> None:
    account = model_server.new_client(f"streams {new_id()}")
    path, body = f"/public/v1/chats/{account.chat_id}/messages", {"text": "Hours?"}
    headers = {"Accept": "text/event-stream", "Idempotency-Key": new_id()}
    scripted.fails(401)
    assert events_of(account.post(path, headers=headers, json=body))[-1][0] == "error"
    scripted.says(ANSWER)
    deadline = time.monotonic() + 120
    while events_of(answer := account.post(path, headers=headers, json=body))[-1][0] != "done":
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.1)
    assert charges(account) == 1
