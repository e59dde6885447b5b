"""Every path of an answer by a model that calls tools: with none, one, many and failing ones; each ends as documented,
fails and is left at each point, and is charged once or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from store.ids import new_id
from tests.contract.streams import events_of
from tests.contract.test_charges_chats import STREAM, path, wait_until_nothing_is_held
from tests.support.scripted_model import ScriptedModel, Turn
from tests.support.server import Account, RunningServer

ANSWER = "The boiler bolts need 23 newton metres [1]."
SEARCH = ("search_documents", '{"query": "boiler bolts"}')
SPACES = ("list_kb_spaces", "{}")
QUESTION = {"text": "How tight are the boiler's bolts?"}

# The tool calls of each turn before the answer, and the statuses that a stream tells.
PATHS: dict[str, list[tuple[tuple[str, str], ...]]] = {
    "no tools": [],
    "one tool": [(SEARCH,)],
    "three tools at once": [(SEARCH, SPACES, ("search_communications", "{}"))],
    "tools in three turns": [(SEARCH,), (SPACES, SEARCH), (SPACES,)],
    "tools that fail": [(("search_documents", "no JSON"), ("get_communication", '{"communication_id": "x"}'))],
    "a tool that is not there": [(("delete_everything", "{}"),)],
    "more calls than a turn may have": [(SEARCH,) * 9],
}
paths = pytest.mark.parametrize("tools", PATHS.values(), ids=PATHS)
how = pytest.mark.parametrize("headers", [{}, STREAM], ids=["whole", "streamed"])


@pytest.fixture
def asker(model_server: RunningServer) -> Account:
    """One a test: a key has sixty messages a minute."""
    account = model_server.new_client(f"goes every path {new_id()}")
    text = b"Boiler handbook. The boiler bolts need 23 newton metres. Tighten them crosswise."
    assert account.add_document(account.new_space(), text, "handbook.txt")["status"] == "success"
    return account


@pytest.fixture
def charged(asker: Account) -> Callable[[], int]:
    """How many messages were charged since the test began; nothing may be held by then."""
    before = len(asker.debits())

    def count() -> int:
        wait_until_nothing_is_held(asker)
        return len(asker.debits()) - before

    return count


def script(model: ScriptedModel, tools: list[tuple[tuple[str, str], ...]], *last: Turn) -> None:
    model.script(*(Turn(tool_calls=calls) for calls in tools), *last)


def ask(asker: Account, headers: dict[str, str], **fields: Any) -> dict[str, Any]:
    """The answer, by whichever way it came."""
    answer = asker.post(path(asker), json={**QUESTION, **fields}, headers=headers)
    assert answer.status_code == 200, answer.text
    if not headers:
        return dict(answer.json())
    name, done = events_of(answer)[-1]
    assert name == "done", done
    return done


@paths
@how
def test_every_path_ends_with_an_answer_that_is_charged_once(
    asker: Account,
    scripted: ScriptedModel,
    charged: Callable[[], int],
    tools: list[tuple[tuple[str, str], ...]],
    headers: dict[str, str],
) -> None:
    script(scripted, tools, Turn(ANSWER))
    done = ask(asker, headers)
    assert done["markdown"] == ANSWER
    assert [source["citation"] for source in done["context"]["documents"]] == [1]
    assert len(scripted.requests) == len(tools) + 1
    results = [message for message in scripted.requests[-1]["messages"] if message["role"] == "tool"]
    assert len(results) == sum(len(calls) for calls in tools)
    assert charged() == 1


@pytest.mark.parametrize("status", [401, 500])
@paths
def test_a_provider_that_fails_at_any_call_ends_it_without_a_charge(
    asker: Account,
    scripted: ScriptedModel,
    charged: Callable[[], int],
    tools: list[tuple[tuple[str, str], ...]],
    status: int,
) -> None:
    # What may be tried again is, with pauses: that is the same at each call.
    for failing in range(len(tools) + 1) if status == 401 else [len(tools)]:
        scripted.forget()
        script(scripted, tools[:failing], *[Turn(status=status, error="trouble")] * 9)
        whole = asker.post(path(asker), json=QUESTION)
        assert (whole.status_code, whole.json()["error"]["type"]) == (502, "api_error")
        scripted.forget()
        script(scripted, tools[:failing], *[Turn(status=status, error="trouble")] * 9)
        name, error = events_of(asker.post(path(asker), json=QUESTION, headers=STREAM))[-1]
        assert (name, error["error"]["type"]) == ("error", "api_error")
    scripted.forget()
    assert charged() == 0


@paths
def test_a_stream_that_is_left_at_any_event_is_not_charged(
    asker: Account,
    scripted: ScriptedModel,
    charged: Callable[[], int],
    tools: list[tuple[tuple[str, str], ...]],
) -> None:
    known = {"search_documents", "list_kb_spaces", "search_communications", "get_communication"}
    statuses = 1 + sum(name in known for calls in tools for name, _ in calls)
    for left_after in range(1, statuses + 3):
        scripted.forget()
        script(scripted, tools, Turn(ANSWER, hang=True))
        seen = 0
        headers = {**asker.headers, **STREAM}
        with httpx2.stream("POST", asker.server.url + path(asker), headers=headers, json=QUESTION) as answer:
            for line in answer.iter_lines():
                seen += line.startswith("event: ")
                if seen == left_after:
                    break
        assert seen == left_after
        assert charged() == 0, left_after


@how
def test_the_longest_message_with_the_longest_history_is_answered(
    asker: Account, scripted: ScriptedModel, charged: Callable[[], int], headers: dict[str, str]
) -> None:
    history = [{"role": ("user", "assistant")[turn % 2], "content": f"{turn} " + "ю" * 3996} for turn in range(40)]
    scripted.says(ANSWER)
    done = ask(asker, headers, text=("How tight are the boiler bolts? " * 125)[:4000], history=history)
    assert done["markdown"] == ANSWER
    sent = [message for message in scripted.requests[-1]["messages"] if message["role"] in ("user", "assistant")]
    assert sent[-2]["content"].startswith("39 "), "the newest turns go along"
    assert charged() == 1
