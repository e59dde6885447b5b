"""The language-model client against a scripted provider on loopback."""

from __future__ import annotations

import asyncio
import io
import json
import traceback
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

import pytest
import structlog
from structlog.testing import capture_logs

from rag import language_model
from rag.language_model import (
    Delta,
    LitellmModel,
    ProviderFailure,
    estimate_tokens,
    open_language_model,
)
from rag.model_choice import models_of_chats, resolve_model
from store.errors import ParleyError, Unavailable, UpstreamFailed
from store.settings import load_settings
from tests.support.scripted_model import API_KEY, ScriptedModel, scripted_model

__all__ = ["scripted_model"]
# litellm reads a pydantic attribute in a way that newer pydantic warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")
T = TypeVar("T")
QUESTION = [{"role": "user", "content": "Сколько стоит доставка?"}]
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}


async def deltas(model: LitellmModel, **options: Any) -> list[Delta]:
    async with aclosing(model.stream(QUESTION, **options)) as stream:
        return [delta async for delta in stream]


def with_model(scripted: ScriptedModel, work: Any, **settings: object) -> Any:
    """Runs `work(model)` on a loop of its own and closes the model there."""

    async def run() -> Any:
        model = open_language_model(scripted.settings(**settings))
        assert model is not None
        try:
            return await work(model)
        finally:
            await model.aclose()

    return finish(run())


def finish(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def failure(scripted: ScriptedModel, **settings: object) -> ParleyError:
    with pytest.raises(ParleyError) as caught:
        with_model(scripted, deltas, **settings)
    return caught.value


def test_an_answer_arrives_in_pieces_and_ends_with_its_reason_and_usage(scripted_model: ScriptedModel) -> None:
    scripted_model.says("Доставка стоит 450 рублей.")
    pieces = with_model(scripted_model, deltas)
    assert "".join(piece.text for piece in pieces) == "Доставка стоит 450 рублей."
    assert len([piece for piece in pieces if piece.text]) == 4
    assert pieces[-1].finish_reason == "stop"
    assert (pieces[-1].usage.prompt_tokens, pieces[-1].usage.estimated) == (100, False)
    assert scripted_model.keys == [f"Bearer {API_KEY}"]


def test_usage_is_estimated_where_the_provider_gives_none(scripted_model: ScriptedModel) -> None:
    scripted_model.says("Да, конечно, можно.", with_usage=False)
    usage = with_model(scripted_model, deltas)[-1].usage
    assert usage.prompt_tokens > 5
    assert usage.completion_tokens > 1


def test_streamed_tool_calls_are_put_together(scripted_model: ScriptedModel) -> None:
    scripted_model.calls_tools(("search", {"query": "доставка по городу"}), ("search", {"query": "оплата"}))
    last = with_model(scripted_model, lambda model: deltas(model, tools=[TOOL]))[-1]
    assert [call.name for call in last.tool_calls] == ["search", "search"]
    assert last.tool_calls[0].id == "call_0"
    assert json.loads(last.tool_calls[1].arguments) == {"query": "оплата"}
    assert last.finish_reason == "tool_calls"
    assert scripted_model.requests[0]["tools"] == [TOOL]


def test_too_many_requests_and_overload_are_tried_again_a_few_times(scripted_model: ScriptedModel) -> None:
    scripted_model.fails(429, retry_after="0")
    scripted_model.fails(503, retry_after="0")
    scripted_model.says("Готово.")
    assert "".join(piece.text for piece in with_model(scripted_model, deltas)) == "Готово."
    for _ in range(5):
        scripted_model.fails(503, retry_after="0")
    assert isinstance(failure(scripted_model), UpstreamFailed)
    assert scripted_model.left == 2


def test_a_provider_that_asks_to_come_back_much_later_is_not_waited_for(scripted_model: ScriptedModel) -> None:
    scripted_model.fails(429, retry_after="600")
    scripted_model.says("too late")
    assert isinstance(failure(scripted_model), UpstreamFailed)
    assert scripted_model.left == 1


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_not_tried_again(scripted_model: ScriptedModel, status: int) -> None:
    scripted_model.fails(status)
    scripted_model.says("too late")
    assert failure(scripted_model).status == 502
    assert scripted_model.left == 1


def test_an_error_says_nothing_of_the_key(
    scripted_model: ScriptedModel,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = io.StringIO()
    log = structlog.wrap_logger(structlog.PrintLogger(lines), processors=[structlog.processors.JSONRenderer()])
    monkeypatch.setattr(language_model, "log", log)
    scripted_model.fails(401, error=f"Incorrect API key provided: {API_KEY}, nor sk-other-9876543210")
    error = failure(scripted_model)
    logged = capsys.readouterr()
    everything = error.message + lines.getvalue() + caplog.text + logged.out + logged.err
    assert "language_model_failed" in everything
    assert API_KEY not in everything
    assert "9876543210" not in everything


@pytest.mark.parametrize(("status", "is_told"), [(400, False), (422, False), (500, False), (401, True), (404, True)])
def test_the_log_has_no_words_of_a_provider_that_may_repeat_what_it_was_asked(
    scripted_model: ScriptedModel, status: int, is_told: bool
) -> None:
    for _ in range(3):
        scripted_model.fails(status, error="I will not hear of Anna's debts", retry_after="0")
    with capture_logs() as lines:
        error = failure(scripted_model)
    (line,) = [line for line in lines if line["event"] == "language_model_failed"]
    assert line["status"] == status
    assert ("Anna" in str(lines)) == is_told
    assert "Anna" not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize("how", ["refused", "tried three times", "name of no model", "cut at the bound"])
def test_an_error_and_its_causes_hold_nothing_of_a_key_that_the_provider_repeats(
    scripted_model: ScriptedModel, how: str
) -> None:
    key = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    model = f"no-such-{key}" if how == "name of no model" else "openai/scripted"
    said = key * 20 if how == "cut at the bound" else f"no such key: {key}"
    for _ in range(3):
        scripted_model.fails(503 if how == "tried three times" else 401, error=said, retry_after="0")
    error: BaseException | None = failure(scripted_model, llm_model=model, llm_api_key=key)
    assert error is not None
    assert isinstance(error.__cause__, ProviderFailure)
    assert "***" in error.__cause__.detail
    assert key[:6] not in "".join(traceback.format_exception(error))
    while error is not None:
        assert key[:6] not in str(error) + repr(error)
        assert error.__context__ is None
        error = error.__cause__


def test_a_stream_that_breaks_off_is_an_error_and_not_a_short_answer(scripted_model: ScriptedModel) -> None:
    scripted_model.says("one two three four", drop_after=3)

    async def broken(model: LitellmModel) -> list[str]:
        stream = model.stream(QUESTION)
        texts = [(await anext(stream)).text, (await anext(stream)).text]
        with pytest.raises(UpstreamFailed) as caught:
            await anext(stream)
        assert isinstance(caught.value.__cause__, ProviderFailure)
        assert caught.value.__context__ is None
        return texts

    assert with_model(scripted_model, broken) == ["one ", "two "]


def test_an_answer_that_takes_longer_than_the_setting_is_ended(scripted_model: ScriptedModel) -> None:
    scripted_model.says("first words", hang=True)
    error = failure(scripted_model, llm_timeout_s=0.6)
    assert isinstance(error, UpstreamFailed)
    assert "too long" in error.message
    assert scripted_model.aborted.wait(10)


def test_closing_the_iterator_hangs_up_on_the_provider(scripted_model: ScriptedModel) -> None:
    scripted_model.says("first words", hang=True)

    async def abandon(model: LitellmModel) -> str:
        stream = model.stream(QUESTION)
        first = await anext(stream)
        await stream.aclose()
        return first.text

    assert with_model(scripted_model, abandon) == "first "
    assert scripted_model.aborted.wait(10)


def test_cancelling_the_task_hangs_up_on_the_provider(scripted_model: ScriptedModel) -> None:
    scripted_model.says("first words", hang=True)

    async def cancelled(model: LitellmModel) -> None:
        started = asyncio.Event()

        async def read() -> None:
            async for _ in model.stream(QUESTION):
                started.set()

        task = asyncio.create_task(read())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with_model(scripted_model, cancelled)
    assert scripted_model.aborted.wait(10)


def test_a_server_that_is_not_there_is_a_failed_provider(scripted_model: ScriptedModel) -> None:
    assert isinstance(failure(scripted_model, llm_api_base="http://127.0.0.1:9/v1"), UpstreamFailed)


def test_a_name_that_no_provider_has_is_a_matter_of_configuration(scripted_model: ScriptedModel) -> None:
    error = failure(scripted_model, llm_model="no-such-model")
    assert isinstance(error, Unavailable)
    assert "PARLEY_LLM_MODEL" in error.message


def test_a_model_that_litellm_does_not_know_is_offered_tools_until_it_refuses_them(
    scripted_model: ScriptedModel,
) -> None:
    async def twice(model: LitellmModel) -> tuple[bool, str, bool]:
        before = await model.supports_tools()
        scripted_model.fails(400, error="tools are not supported")
        scripted_model.says("без инструментов")
        text = "".join(piece.text for piece in await deltas(model, tools=[TOOL]))
        return before, text, await model.supports_tools()

    assert with_model(scripted_model, twice) == (True, "без инструментов", False)
    assert "tools" not in scripted_model.requests[-1]


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("The response was filtered by the content policy.", "answers"),
        ("The response was filtered by the content policy.", "refuses"),
        ("tools are not supported", "refuses"),
    ],
)
def test_one_refused_request_takes_the_tools_from_no_later_one(
    scripted_model: ScriptedModel, said: str, then: str
) -> None:
    async def asked(model: LitellmModel) -> bool:
        assert await model.supports_tools()
        scripted_model.fails(400, error=said)
        if then == "answers":
            scripted_model.says("Готово.")
            await deltas(model, tools=[TOOL])
        else:
            scripted_model.fails(400, error=said)
            with pytest.raises(UpstreamFailed):
                await deltas(model, tools=[TOOL])
        return await model.supports_tools()

    assert with_model(scripted_model, asked)
    assert ["tools" in request for request in scripted_model.requests] == [True, False]


def test_tools_refused_after_two_overloads_are_left_out_too(scripted_model: ScriptedModel) -> None:
    scripted_model.fails(503, retry_after="0")
    scripted_model.fails(503, retry_after="0")
    scripted_model.fails(400, error="function calling is not enabled")
    scripted_model.says("без инструментов")

    async def asked(model: LitellmModel) -> tuple[str, bool]:
        text = "".join(piece.text for piece in await deltas(model, tools=[TOOL]))
        return text, await model.supports_tools()

    assert with_model(scripted_model, asked) == ("без инструментов", False)


@pytest.mark.parametrize(("wanted", "kind"), [("none", "none"), ("openai/gpt-4o", "provider"), ("", "none")])
def test_the_setting_chooses_the_model(tmp_path: Path, wanted: str, kind: str) -> None:
    settings = load_settings(_env_file=None, llm_model=wanted, cache_dir=tmp_path)
    assert resolve_model(settings).kind == kind
    assert (open_language_model(settings) is None) == (kind == "none")


@pytest.mark.parametrize(
    ("own", "wanted", "is_sent"),
    [
        ("openai/one", "openai/two", True),
        ("openai/one", "anthropic/two", False),
        ("gpt-4o", "claude-3", False),
        ("gpt-4o", "gpt-4o", True),
        ("none", "openai/two", True),
    ],
)
def test_the_key_and_the_address_go_to_no_other_provider(own: str, wanted: str, is_sent: bool) -> None:
    settings = load_settings(_env_file=None, llm_model=own, llm_api_key="sk-own", llm_api_base="http://127.0.0.1:9/v1")
    model = open_language_model(settings, wanted=wanted)
    assert model is not None
    address = asyncio.run(model._address(0.0))
    expected = {"api_base": "http://127.0.0.1:9/v1", "api_key": "sk-own"}
    assert address == (expected if is_sent else {"api_base": None, "api_key": None})


def test_a_chat_may_have_no_model_the_servers_own_and_those_of_the_setting(tmp_path: Path) -> None:
    settings = load_settings(_env_file=None, llm_model="openai/one", chat_models="openai/two, local,openai/one")
    assert models_of_chats(settings) == ("none", "openai/one", "openai/two", "local")
    bare = load_settings(_env_file=None, llm_model="", cache_dir=tmp_path)
    assert models_of_chats(bare) == ("none",)


def test_a_local_model_that_is_wanted_but_missing_says_how_to_get_it(tmp_path: Path) -> None:
    settings = load_settings(_env_file=None, llm_model="local", cache_dir=tmp_path)
    assert "parley models pull" in resolve_model(settings).problem
    model = open_language_model(settings)
    assert model is not None
    with pytest.raises(Unavailable, match="parley models pull"):
        finish(deltas(model))


def test_tokens_are_estimated_rather_too_high_than_too_low() -> None:
    russian = "Стоимость доставки по Москве составляет 450 рублей, срок — два рабочих дня."
    assert len(russian) / 2.9 < estimate_tokens(russian) < len(russian) / 1.8
    assert estimate_tokens("") == 1
