"""Structured answers against a scripted provider: what is asked again, what is given up, what is an error."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rag.structured import BackgroundModel, Meter, ModelClosed, StrictAnswer, open_background_model
from store.errors import UpstreamFailed
from tests.support.scripted_model import ScriptedModel, scripted_model

__all__ = ["scripted_model"]
# litellm reads a pydantic attribute in a way that newer pydantic warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")
QUESTION = [{"role": "user", "content": "Сколько стоит доставка?"}]
GOOD = '{"city": "Казань", "cafes": 3, "sure": true}'


class Place(StrictAnswer):
    city: str
    cafes: int
    sure: bool | None


@pytest.fixture
def opened(scripted_model: ScriptedModel) -> Iterator[Callable[..., BackgroundModel]]:
    made: list[BackgroundModel] = []

    def make(**settings: object) -> BackgroundModel:
        model = open_background_model(scripted_model.settings(**settings))
        assert model is not None
        made.append(model)
        return model

    yield make
    for model in made:
        model.close()


@pytest.fixture
def model(opened: Callable[..., BackgroundModel]) -> BackgroundModel:
    return opened()


def ask(model: BackgroundModel, **options: Any) -> Any:
    return model.ask(QUESTION, Place, max_tokens=100, **options)


def test_an_answer_that_fits_the_schema_is_typed_and_counted(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    scripted_model.says(GOOD)
    answer = ask(model)
    assert answer.value == Place(city="Казань", cafes=3, sure=True)
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.problem) == (100, 10, "")
    form = scripted_model.requests[0]["response_format"]
    assert (form["type"], form["json_schema"]["name"], form["json_schema"]["strict"]) == ("json_schema", "Place", True)
    assert form["json_schema"]["schema"]["required"] == ["city", "cafes", "sure"]


@pytest.mark.parametrize("around", ["```json\n{}\n```", "Вот ответ:\n{}\nГотово.", "  {}  "])
def test_a_fence_or_words_around_the_object_do_no_harm(
    scripted_model: ScriptedModel, model: BackgroundModel, around: str
) -> None:
    scripted_model.says(around.replace("{}", GOOD))
    assert ask(model).value == Place(city="Казань", cafes=3, sure=True)


UNUSABLE = {
    "malformed": '{"city": "Казань", "cafes": 3,',
    "wrong type": '{"city": "Казань", "cafes": "3", "sure": true}',
    "number for a boolean": '{"city": "Казань", "cafes": 3, "sure": 1}',
    "missing": '{"city": "Казань", "sure": true}',
    "added": '{"city": "Казань", "cafes": 3, "sure": true, "score": 100}',
    "a list": f"[{GOOD}, {GOOD}]",
    "not a number": '{"city": "Казань", "cafes": NaN, "sure": true}',
    "nested without end": '{"city": ' * 3000,
    "empty": "",
    "blank": " \n ",
    "refused": "I am sorry, I cannot help with that.",
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_an_unusable_answer_is_asked_for_again_with_what_is_wrong(
    scripted_model: ScriptedModel, model: BackgroundModel, kind: str
) -> None:
    scripted_model.says(UNUSABLE[kind])
    scripted_model.says(GOOD)
    answer = ask(model)
    assert answer.value == Place(city="Казань", cafes=3, sure=True)
    assert answer.usage.prompt_tokens > 100
    again = scripted_model.requests[1]["messages"]
    assert again[0]["content"] == QUESTION[0]["content"]
    assert "Answer again, with the JSON object alone." in again[-1]["content"]
    assert ("empty" if kind in ("empty", "blank") else "does not fit the schema") in again[-1]["content"]
    assert sum(len(message["content"]) for message in again) < 2000


@pytest.mark.parametrize("kind", UNUSABLE)
def test_after_its_attempts_an_unusable_answer_is_none_and_never_a_guess(
    scripted_model: ScriptedModel, model: BackgroundModel, kind: str
) -> None:
    for _ in range(3):
        scripted_model.says(UNUSABLE[kind])
    scripted_model.says(GOOD)
    answer = ask(model)
    assert answer.value is None
    assert answer.problem
    assert (answer.usage.completion_tokens >= 30, scripted_model.left) == (True, 1)


UNWRITABLE = {
    r"Ка\u0000зань": "Ка зань",
    r"Ка\ud83dзань": "Ка зань",
    r"Ка\udE00\uD83Dзань": "Ка  зань",
    r"Ка\u001F\u007f\u0085\u2028\bзань": "Ка     зань",
    "Ка\x00зань": "Ка зань",
    r"Казань \ud83d\ude00": "Казань 😀",
    r"Казань \\u0000": r"Казань \u0000",
    r"Ка\\\u0000зань": "Ка\\ зань",
    r"Казань\n\t\"\u0410\"": 'Казань\n\t"А"',
}


@pytest.mark.parametrize("city", UNWRITABLE, ids=ascii)
def test_control_characters_and_halves_of_pairs_are_spaces_and_the_rest_is_as_it_was_said(
    scripted_model: ScriptedModel, model: BackgroundModel, city: str
) -> None:
    scripted_model.says(GOOD.replace("Казань", city))
    assert ask(model).value.city == UNWRITABLE[city]
    assert len(scripted_model.requests) == 1


def test_free_text_has_no_control_characters(scripted_model: ScriptedModel, model: BackgroundModel) -> None:
    scripted_model.says("\x00 \x1f")
    scripted_model.says("Отчёт:\n1.\x00Готов.")
    assert model.text(QUESTION, max_tokens=50)[0] == "Отчёт:\n1. Готов."


def test_a_meter_counts_every_answer_though_the_call_fails(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    meter = Meter()
    scripted_model.says("no")
    scripted_model.says(GOOD, drop_after=3)
    with pytest.raises(UpstreamFailed):
        ask(model, meter=meter)
    assert meter.usage.prompt_tokens == 100
    for text in (" ", "Отчёт.", "Отчёт.", GOOD):
        scripted_model.says(text)
    model.text(QUESTION, max_tokens=50, meter=meter)
    list(model.text_each([QUESTION], max_tokens=50, meter=meter))
    list(model.ask_each([QUESTION], Place, max_tokens=50, meter=meter))
    assert meter.usage.prompt_tokens == 500


def test_an_answer_cut_at_its_bound_says_so_to_the_model(scripted_model: ScriptedModel, model: BackgroundModel) -> None:
    scripted_model.says('{"city": "Каз', finish_reason="length")
    scripted_model.says(GOOD)
    assert ask(model).value is not None
    assert "longer than 100 tokens" in scripted_model.requests[1]["messages"][-1]["content"]


def test_an_answer_that_never_ends_is_not_read_to_its_end(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    scripted_model.says(" ".join(map(str, range(2000))), hang=True)
    scripted_model.says(GOOD)
    assert ask(model).value is not None
    assert scripted_model.aborted.wait(10)


def test_an_answer_that_the_provider_filtered_is_a_refusal(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    for _ in range(3):
        scripted_model.says(GOOD, finish_reason="content_filter")
    answer = ask(model)
    assert (answer.value, answer.problem) == (None, "The answer was refused.")


def test_a_request_refused_for_its_content_is_no_answer_and_no_failure(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    scripted_model.fails(400, error="blocked by content_filter: content_policy_violation")
    answer = ask(model)
    assert answer.value is None
    assert "refused" in answer.problem
    assert len(scripted_model.requests) == 1


def test_a_provider_without_schemas_is_asked_by_object_then_by_prompt_and_remembered(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    scripted_model.fails(400, error="response_format json_schema is not supported")
    scripted_model.fails(400, error="response_format is not supported")
    scripted_model.says(GOOD)
    scripted_model.says(GOOD)
    assert ask(model).value is not None
    assert ask(model).value is not None
    forms = [request.get("response_format", {}).get("type") for request in scripted_model.requests]
    assert forms == ["json_schema", "json_object", None, None]


def test_a_request_that_is_wrong_in_any_form_is_a_failed_provider_and_nothing_is_remembered(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    for _ in range(3):
        scripted_model.fails(400, error="no such deployment")
    with pytest.raises(UpstreamFailed):
        ask(model)
    scripted_model.says(GOOD)
    assert ask(model).value is not None
    assert scripted_model.requests[-1]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("status", [429, 503])
def test_overload_is_tried_again_and_then_a_failed_provider(
    scripted_model: ScriptedModel, model: BackgroundModel, status: int
) -> None:
    scripted_model.fails(status, retry_after="0")
    scripted_model.says(GOOD)
    assert ask(model).value is not None
    for _ in range(4):
        scripted_model.fails(status, retry_after="0")
    with pytest.raises(UpstreamFailed):
        ask(model)
    assert scripted_model.left == 1


def test_a_time_out_and_a_broken_stream_are_a_failed_provider(
    scripted_model: ScriptedModel, opened: Callable[..., BackgroundModel]
) -> None:
    hasty = opened(llm_timeout_s=0.5)
    scripted_model.says('{"city"', hang=True)
    with pytest.raises(UpstreamFailed, match="too long"):
        ask(hasty)
    scripted_model.says(GOOD, drop_after=3)
    with pytest.raises(UpstreamFailed):
        ask(opened())


def test_free_text_is_asked_again_while_it_is_empty(scripted_model: ScriptedModel, model: BackgroundModel) -> None:
    scripted_model.says("  ")
    scripted_model.says("Отчёт готов.")
    text, usage = model.text(QUESTION, max_tokens=50)
    assert (text, usage.prompt_tokens) == ("Отчёт готов.", 200)
    assert "response_format" not in scripted_model.requests[0]
    for _ in range(3):
        scripted_model.says("")
    assert model.text(QUESTION, max_tokens=50)[0] is None


def test_many_prompts_are_answered_in_their_order_with_a_bounded_number_in_flight(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    scripted_model.answers(lambda body: json.dumps({"city": body["messages"][0]["content"], "cafes": 1, "sure": None}))
    taken: list[int] = []

    def prompts() -> Iterator[list[dict[str, str]]]:
        for number in range(12):
            taken.append(number)
            yield [{"role": "user", "content": str(number)}]

    answers = model.ask_each(prompts(), Place, max_tokens=50)
    first = next(answers)
    assert first.value is not None
    assert first.value.city == "0"
    assert len(taken) == model.places == 4
    assert [answer.value.city for answer in answers if answer.value] == [str(number) for number in range(1, 12)]


def test_threads_share_one_model(scripted_model: ScriptedModel, model: BackgroundModel) -> None:
    scripted_model.answers(lambda _: GOOD)
    with ThreadPoolExecutor(6) as pool:
        values = list(pool.map(lambda _: ask(model).value, range(12)))
    assert values == [Place(city="Казань", cafes=3, sure=True)] * 12


def test_closing_ends_what_is_in_work_and_refuses_the_rest(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    begun = threading.Event()

    def says(_: Any) -> str:
        begun.set()
        return "first words"

    scripted_model.says(says, hang=True)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, model)
        assert begun.wait(20)
        model.close()
        with pytest.raises(ModelClosed):
            asked.result(20)
    assert scripted_model.aborted.wait(10)
    with pytest.raises(ModelClosed):
        ask(model)


def test_without_a_model_in_the_settings_there_is_none_for_the_background(scripted_model: ScriptedModel) -> None:
    assert open_background_model(scripted_model.settings(llm_model="none")) is None
