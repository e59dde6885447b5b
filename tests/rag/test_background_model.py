"""Background work on the local model that chats use too: a chat waits for none of it. The order of events, no times."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from rag import structured
from rag.language_model import LitellmModel, open_language_model, open_local_model
from rag.local_model import Endpoint, LocalModel
from rag.structured import BackgroundModel, StrictAnswer, open_background_model
from store.errors import Unavailable
from store.settings import load_settings
from tests.support.scripted_model import API_KEY, ScriptedModel, scripted_model

__all__ = ["scripted_model"]
# litellm reads a pydantic attribute in a way that newer pydantic warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")
CHAT = [{"role": "user", "content": "Вопрос чата"}]
WORK = [{"role": "user", "content": "Работа в фоне"}]
GOOD = '{"summary": "Готово."}'


class Text(StrictAnswer):
    summary: str


class ScriptedChild(LocalModel):
    """A local model whose process is the scripted server, which answers one request at a time as the real one does."""

    def __init__(self, scripted: ScriptedModel, file: Path) -> None:
        super().__init__("scripted", file)
        scripted.one_at_a_time = True
        self.address = f"{scripted.base_url}/v1"

    async def endpoint(self) -> Endpoint:
        return Endpoint(self.address, API_KEY, os.getpid())


@pytest.fixture
def child(scripted_model: ScriptedModel, tmp_path: Path) -> Iterator[ScriptedChild]:
    child = ScriptedChild(scripted_model, tmp_path / "model.gguf")
    yield child
    child.close()


@pytest.fixture
def background(scripted_model: ScriptedModel, child: ScriptedChild) -> Iterator[BackgroundModel]:
    settings = scripted_model.settings()
    model = BackgroundModel(
        LitellmModel(settings, "openai/scripted", local=child, is_local=True, owns_local=False, in_background=True)
    )
    yield model
    model.close()


async def chat(scripted: ScriptedModel, child: ScriptedChild, during: Any = None) -> str:
    """One answer of a chat; `during` is called after its first words."""
    model = LitellmModel(scripted.settings(), "openai/scripted", local=child, is_local=True, owns_local=False)
    said = ""
    try:
        async with asyncio.timeout(30), aclosing(model.stream(CHAT)) as deltas:
            async for delta in deltas:
                if delta.text and not said and during is not None:
                    await asyncio.to_thread(during)
                said += delta.text
    finally:
        await model.aclose()
    return said


def eventually(holds: Any) -> bool:
    deadline, pause = time.monotonic() + 120, threading.Event()
    while not holds():
        if time.monotonic() > deadline:
            return False
        pause.wait(0.02)
    return True


def test_a_chat_ends_the_background_answer_which_is_asked_for_again_after_it(
    scripted_model: ScriptedModel, child: ScriptedChild, background: BackgroundModel
) -> None:
    scripted_model.says('{"summary": "never ends', hang=True)
    scripted_model.says("Ответ чата.")
    scripted_model.says(GOOD)
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(background.ask, WORK, Text, max_tokens=50)
        assert eventually(lambda: scripted_model.happened == ["1 began"])
        assert asyncio.run(chat(scripted_model, child)) == "Ответ чата."
        answer = work.result(30)
    assert answer.value == Text(summary="Готово.")
    assert scripted_model.happened == ["1 began", "1 aborted", "2 began", "2 ended", "3 began", "3 ended"]
    asked = [request["messages"][0]["content"] for request in scripted_model.requests]
    assert asked == ["Работа в фоне", "Вопрос чата", "Работа в фоне"]
    assert answer.usage.prompt_tokens == 100


def test_nothing_in_the_background_starts_while_a_chat_is_in_work(
    scripted_model: ScriptedModel, child: ScriptedChild, background: BackgroundModel
) -> None:
    scripted_model.says("Ответ чата.")
    scripted_model.says(GOOD)
    with ThreadPoolExecutor(1) as pool:
        work: list[Any] = []

        def ask_meanwhile() -> None:
            work.append(pool.submit(background.ask, WORK, Text, max_tokens=50))
            assert eventually(lambda: child.precedence.waiting)

        asyncio.run(chat(scripted_model, child, during=ask_meanwhile))
        assert work[0].result(30).value == Text(summary="Готово.")
    assert scripted_model.happened == ["1 began", "1 ended", "2 began", "2 ended"]


def test_the_last_of_several_chats_lets_the_background_go_on(
    scripted_model: ScriptedModel, child: ScriptedChild, background: BackgroundModel
) -> None:
    scripted_model.answers(lambda _: GOOD)
    with ThreadPoolExecutor(1) as pool:
        with child.precedence.chat():
            with child.precedence.chat():
                work = pool.submit(background.ask, WORK, Text, max_tokens=50)
                assert eventually(lambda: child.precedence.waiting)
            assert child.precedence.waiting
            assert scripted_model.happened == []
        assert work.result(30).value == Text(summary="Готово.")


def test_background_work_that_chats_leave_no_time_for_is_an_error_that_a_job_tries_again(
    scripted_model: ScriptedModel,
    child: ScriptedChild,
    background: BackgroundModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(structured, "MOST_INTERRUPTIONS", 2)
    for _ in range(2):
        scripted_model.says('{"summary": "never ends', hang=True)
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(background.ask, WORK, Text, max_tokens=50)
        for times in (1, 2):
            assert eventually(lambda times=times: scripted_model.happened.count(f"{times} began") == 1)
            with child.precedence.chat():
                assert eventually(lambda times=times: f"{times} aborted" in scripted_model.happened)
        with pytest.raises(Unavailable, match="busy"):
            work.result(30)


def test_waiting_for_chats_has_a_bound(
    child: ScriptedChild, background: BackgroundModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structured, "LONGEST_WAIT_S", 0.05)
    with child.precedence.chat(), pytest.raises(Unavailable, match="busy"):
        background.ask(WORK, Text, max_tokens=50)


def test_the_shared_child_is_in_use_while_the_background_works_and_outlives_its_model(
    scripted_model: ScriptedModel, child: ScriptedChild, background: BackgroundModel
) -> None:
    in_use: list[int] = []

    def says(_: Any) -> str:
        in_use.append(child._in_use)
        return GOOD

    scripted_model.says(says)
    assert background.ask(WORK, Text, max_tokens=50).value is not None
    assert (in_use, child._in_use) == ([1], 0)
    background.close()
    assert not child._closed.is_set()


def test_two_pieces_of_background_work_take_turns(scripted_model: ScriptedModel, background: BackgroundModel) -> None:
    scripted_model.answers(lambda _: GOOD)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: background.ask(WORK, Text, max_tokens=50), range(4)))
    assert all(answer.value for answer in answers)
    assert scripted_model.happened == [f"{number} {what}" for number in range(1, 5) for what in ("began", "ended")]


@pytest.mark.models
def test_the_real_local_model_answers_a_chat_in_the_middle_of_background_work() -> None:
    settings = load_settings(_env_file=None, llm_model="local")
    local = open_local_model(settings)
    if local is None:
        pytest.skip("the local language model is not installed: parley models pull")
    background = open_background_model(settings, local)
    assert background is not None
    order: list[str] = []

    async def ask_chat() -> int | None:
        model = open_language_model(settings, local=local)
        assert model is not None
        async with aclosing(model.stream([{"role": "user", "content": "Скажи «да»."}], max_tokens=4)) as deltas:
            async for _ in deltas:
                order.append("chat")
                break
        await model.aclose()
        return local.pid

    try:
        with ThreadPoolExecutor(1) as pool:
            tale = [{"role": "user", "content": "Напиши длинную сказку."}]
            work = pool.submit(background.text, tale, max_tokens=60)
            work.add_done_callback(lambda _: order.append("background"))
            assert eventually(lambda: local._in_use > 0 and local.current() is not None)
            pid = asyncio.run(ask_chat())
            text, _ = work.result(120)
        assert order == ["chat", "background"]
        assert text
        assert local.pid == pid
    finally:
        background.close()
        local.close()
