"""What a small local model says is checked sentence by sentence; and one answer by the real one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest

from chat.engines import Done, Message, Text
from chat.language import PHRASES
from chat.model_engine import ModelEngine
from rag.language_model import LitellmModel, open_language_model
from rag.local_model import Endpoint, LocalModel
from rag.model_choice import resolve_model
from store.settings import load_settings
from tests.chat.passages import DELIVERY, HOURS, UNRELATED, WARRANTY, Search, Tools, all_events, ask
from tests.support.scripted_model import API_KEY, ScriptedModel, scripted_model

__all__ = ["scripted_model"]
# litellm reads a pydantic attribute in a way that newer pydantic warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")
PRICE = "Сколько стоит доставка по городу?"


class ScriptedChild(LocalModel):
    """A local model whose process is the scripted server."""

    def __init__(self, scripted: ScriptedModel, file: Any) -> None:
        super().__init__("scripted", file)
        self.address = f"{scripted.base_url}/v1"

    async def endpoint(self) -> Endpoint:
        return Endpoint(self.address, API_KEY, os.getpid())


@pytest.fixture
def child(scripted_model: ScriptedModel, tmp_path: Any) -> Iterator[ScriptedChild]:
    child = ScriptedChild(scripted_model, tmp_path / "model.gguf")
    yield child
    child.close()


def local(scripted: ScriptedModel, child: ScriptedChild, question: str, search: Search, **options: Any) -> Done:
    async def started() -> Any:
        model = LitellmModel(scripted.settings(), "openai/scripted", local=child, is_local=True)
        try:
            return await ask(ModelEngine(model), question, search, **options)
        finally:
            await model.aclose()

    done = asyncio.run(started())
    assert isinstance(done, Done)
    return done


def test_a_supported_answer_is_let_through_with_its_citations(
    scripted_model: ScriptedModel, child: ScriptedChild
) -> None:
    scripted_model.says("Доставка по городу стоит 450 рублей. [1] От 5000 рублей она бесплатна [1].")
    done = local(scripted_model, child, PRICE, Search([DELIVERY, WARRANTY]))
    assert done.found
    assert done.markdown == "Доставка по городу стоит 450 рублей. [1] От 5000 рублей она бесплатна [1]."
    assert done.used_passages == [DELIVERY]


def test_forgotten_citations_are_found_by_the_words_in_common(
    scripted_model: ScriptedModel, child: ScriptedChild
) -> None:
    scripted_model.says("Доставка по городу стоит 450 рублей. Гарантия длится два года.")
    done = local(scripted_model, child, PRICE, Search([DELIVERY, WARRANTY]))
    assert done.markdown == "Доставка по городу стоит 450 рублей. [1] Гарантия длится два года. [2]"
    assert [passage.id for passage in done.used_passages] == ["chunk-delivery", "chunk-warranty"]


def test_a_number_that_no_source_has_is_never_shown_and_quotes_take_its_place(
    scripted_model: ScriptedModel, child: ScriptedChild
) -> None:
    scripted_model.says("Мы привозим заказы в будний день [1]. Доставка стоит 475 рублей [1]. Ещё что-то.")
    done = local(scripted_model, child, PRICE, Search([DELIVERY]))
    assert "475" not in done.markdown
    assert "Ещё что-то" not in done.markdown
    assert done.markdown.startswith("Мы привозим заказы в будний день [1].")
    assert PHRASES["ru"].unsupported in done.markdown
    assert "> Доставка по городу стоит 450 рублей." in done.markdown
    assert done.used_passages == [DELIVERY]


@pytest.mark.parametrize(
    ("says", "wrong"),
    [
        ("Мы привозим заказы в будний день [1]. Спросите Марину Иванову [1]. Ещё что-то.", "Марину"),
        ("Мы привозим заказы в будний день [1]. По субботам тоже [1]. Ещё что-то.", "субботам"),
    ],
    ids=["name", "day"],
)
def test_a_name_and_a_day_that_no_source_has_are_never_shown_either(
    scripted_model: ScriptedModel, child: ScriptedChild, says: str, wrong: str
) -> None:
    scripted_model.says(says)
    done = local(scripted_model, child, PRICE, Search([DELIVERY]))
    assert wrong not in done.markdown
    assert "Ещё что-то" not in done.markdown
    assert done.markdown.startswith("Мы привозим заказы в будний день [1].")
    assert PHRASES["ru"].unsupported in done.markdown
    assert done.used_passages == [DELIVERY]


def test_names_of_sources_question_history_and_instructions_are_let_through_in_any_case(
    scripted_model: ScriptedModel, child: ScriptedChild
) -> None:
    says = "Ольга, самовывоз на Маячной улице, спросите Андрея и Петра, ваша Сова [1]."
    scripted_model.says("Здравствуйте, " + says)
    history = [Message("user", "Меня зовут Ольга.")]
    done = local(
        scripted_model,
        child,
        "Где самовывоз, скажет Пётр?",
        Search([DELIVERY, WARRANTY]),
        history=history,
        instructions="Подписывайся именем Сова.",
    )
    assert done.markdown == "Здравствуйте, " + says


def test_instructions_follow_the_rules_and_are_bounded(scripted_model: ScriptedModel, child: ScriptedChild) -> None:
    for instructions in ("", "Отвечай весело. " + "Пожелание. " * 500):
        scripted_model.says("Доставка по городу стоит 450 рублей [1].")
        local(scripted_model, child, PRICE, Search([DELIVERY]), instructions=instructions)
    without, with_wishes = (request["messages"][0]["content"] for request in scripted_model.requests)
    assert with_wishes.startswith(without)
    assert "Отвечай весело." in with_wishes
    assert len(with_wishes) < len(without) + 700


def test_a_number_that_was_spoken_in_words_may_be_written_in_figures(
    scripted_model: ScriptedModel, child: ScriptedChild
) -> None:
    scripted_model.says("Гарантия длится 2 года [1].")
    done = local(scripted_model, child, "Сколько длится гарантия на машину?", Search([WARRANTY]))
    assert done.markdown == "Гарантия длится 2 года [1]."


@pytest.mark.parametrize(
    ("question", "says", "language"),
    [
        (PRICE, "Не найдено.", "ru"),
        (PRICE, "В источниках нет информации о доставке на Луну. Но 450 рублей [1].", "ru"),
        ("When is the workshop open?", "Not found.", "en"),
        ("When is the workshop open?", "The sources do not mention it.", "en"),
    ],
)
def test_a_model_that_found_nothing_is_taken_at_its_word(
    scripted_model: ScriptedModel, child: ScriptedChild, question: str, says: str, language: Any
) -> None:
    scripted_model.says(says)
    done = local(scripted_model, child, question, Search([DELIVERY, HOURS]))
    assert (done.found, done.used_passages, done.markdown) == (False, [], PHRASES[language].not_found)


def test_an_empty_answer_becomes_quotes(scripted_model: ScriptedModel, child: ScriptedChild) -> None:
    scripted_model.says("")
    done = local(scripted_model, child, PRICE, Search([DELIVERY]))
    assert done.found
    assert "450" in done.markdown


def test_it_gets_a_short_prompt_that_always_begins_alike_and_no_tools(
    scripted_model: ScriptedModel, child: ScriptedChild
) -> None:
    long = "Доставка по городу стоит 450 рублей, если заказ меньше пяти тысяч, и едет один день. " * 60
    many = [DELIVERY, WARRANTY, *[type(DELIVERY)("document", f"c{n}", "Т", long, coverage=1.0) for n in range(6)]]
    history = [Message("user", "вопрос " * 500), Message("assistant", "ответ " * 500)]
    for question in (PRICE, "Когда едет доставка по городу и сколько она стоит? " * 70):
        scripted_model.says("Доставка по городу стоит 450 рублей [1].")
        local(scripted_model, child, question, Search(many), history=history, tools=Tools())
    first, second = (request["messages"] for request in scripted_model.requests)
    assert first[0] == second[0]
    assert "tools" not in scripted_model.requests[0]
    for messages in (first, second):
        assert sum(len(message["content"]) for message in messages) < 1400 * 2.9


def test_the_model_is_not_asked_where_nothing_fits(scripted_model: ScriptedModel, child: ScriptedChild) -> None:
    assert not local(scripted_model, child, "Кто президент Франции?", Search([UNRELATED]), tools=Tools()).found
    assert scripted_model.requests == []


@pytest.mark.models
def test_the_real_local_model_answers_in_russian_with_the_right_number_and_its_source() -> None:
    settings = load_settings(_env_file=None, llm_model="local", llm_timeout_s=600)
    if resolve_model(settings).problem:
        pytest.skip("the local language model is not installed: parley models pull")

    async def asked() -> list[Any]:
        model = open_language_model(settings)
        assert model is not None
        try:
            return await all_events(ModelEngine(model), PRICE, Search([WARRANTY, DELIVERY]))
        finally:
            await model.aclose()

    events = asyncio.run(asked())
    done = events[-1]
    assert isinstance(done, Done)
    assert "450" in done.markdown
    assert "[1]" in done.markdown
    assert DELIVERY in done.used_passages
    assert any(isinstance(event, Text) for event in events)
