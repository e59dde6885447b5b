"""An agent with the tools of MCP can answer what people ask of the demo company, in at most three calls a question."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest

from bench.agent import MOST_ROUNDS, report, run_model, run_scripted
from bench.agent_demo import load_company
from bench.agent_questions import MOST_CALLS, Asked, at, is_given, plain, read_questions
from mcp_server.tools import make_registry
from rag.embedding import choose_embedder
from rag.language_model import open_language_model
from tests.support.calls import wait_until
from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.server import Account, RunningServer

__all__ = ["scripted_model"]

SOME_DAY = date(2026, 3, 4)
QUESTIONS = {question.id: question for question in read_questions(SOME_DAY)}


@pytest.fixture(scope="module")
def demo(server: RunningServer) -> tuple[Account, date]:
    return load_company(server)


@pytest.fixture(scope="module")
def scripted(demo: tuple[Account, date]) -> dict[str, Asked]:
    """The scripted caller's results, by the ids of their questions."""
    account, today = demo
    questions = read_questions(today)
    of_pages = next(each for each in questions if each.calls[0][0] == "search_product_docs")
    run_scripted(account, [of_pages])
    if choose_embedder(account.server.settings) is not None:
        # It has the index of the pages made; until that is done a busy machine answers by words alone.
        wait_until(lambda: any(account.server.data_dir.glob("work/*.npz")))
    return {asked.question.id: asked for asked in run_scripted(account, questions)}


def test_the_questions_are_many_in_both_languages_and_need_every_tool() -> None:
    assert len(QUESTIONS) >= 36
    assert len({question.text for question in QUESTIONS.values()}) == len(QUESTIONS)
    languages = Counter(question.language for question in QUESTIONS.values())
    assert set(languages) == {"ru", "en"}
    assert min(languages.values()) >= 18
    tools = {tool for question in QUESTIONS.values() for tool, _ in question.calls}
    assert tools == {tool.name for tool in make_registry().tools}
    lengths = Counter(len(question.calls) for question in QUESTIONS.values())
    assert set(lengths) == {1, 2, 3}
    assert lengths[2] + lengths[3] >= len(QUESTIONS) // 2


@pytest.mark.parametrize("id_", QUESTIONS)
def test_a_question_does_not_hold_its_answer(id_: str) -> None:
    question = QUESTIONS[id_]
    assert question.facts
    assert not [fact for fact in question.facts if fact.is_in_answer(question.text)]


@pytest.mark.parametrize("id_", QUESTIONS)
def test_an_agent_finds_the_answer_in_at_most_three_calls(scripted: dict[str, Asked], id_: str) -> None:
    asked = scripted[id_]
    facts = asked.question.facts
    assert not asked.problems
    assert 1 <= len(asked.tools) <= MOST_CALLS
    assert [fact for fact in facts if not asked.gives(fact)] == []
    last = asked.texts[-1], asked.structured[-1]
    assert any(is_given(fact, *last) for fact in facts), "else the last call would be for nothing"
    for fact in facts:
        if fact.place is not None:
            assert at(asked.structured[-1], fact.place) == fact.value


def answered(demo: tuple[Account, date], model: ScriptedModel, *ids: str) -> list[Asked]:
    """The questions as the bench puts them to a model."""
    account, today = demo
    opened = open_language_model(model.settings())
    assert opened is not None
    return run_model(account, opened, [QUESTIONS[id_] for id_ in ids], today)


def test_a_model_is_given_the_tools_and_what_they_find(
    demo: tuple[Account, date], scripted_model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted_model.calls_tools(("rank_people", {"role": "staff", "limit": 1}))
    scripted_model.says("Андрей Соколов: 3 разговора.")
    (asked,) = answered(demo, scripted_model, "ru-11")
    assert asked.tools == ["rank_people"]
    assert asked.found == asked.said == list(asked.question.facts)
    assert (asked.tokens.prompt_tokens, asked.tokens.completion_tokens) == (200, 20)
    first, second = scripted_model.requests
    assert {tool["function"]["name"] for tool in first["tools"]} == {tool.name for tool in make_registry().tools}
    assert f"{demo[1]:%Y-%m-%d}" in first["messages"][0]["content"]
    assert first["messages"][1] == {"role": "user", "content": asked.question.text}
    assert second["messages"][-1]["content"] == asked.texts[0]
    report("a model", [asked])
    assert "all facts said: 1/1" in capsys.readouterr().out


def test_a_model_may_call_in_three_rounds_and_reads_why_a_call_failed(
    demo: tuple[Account, date], scripted_model: ScriptedModel
) -> None:
    scripted_model.calls_tools(("list_kb_spaces", {"limit": 0}))
    scripted_model.calls_tools(("list_kb_spaces", "not json"))
    scripted_model.calls_tools(("no_such_tool", {}))
    scripted_model.says("Не знаю.")
    (asked,) = answered(demo, scripted_model, "ru-15")
    assert len(scripted_model.requests) == MOST_ROUNDS + 1
    assert [request["tool_choice"] for request in scripted_model.requests] == ["auto"] * MOST_ROUNDS + ["none"]
    read = [request["messages"][-1]["content"] for request in scripted_model.requests[1:]]
    assert "limit" in read[0]
    assert "not a JSON object" in read[1]
    assert "tool not found" in read[2]
    assert asked.found == asked.said == []
    assert len(asked.problems) == MOST_ROUNDS
    assert asked.answer == "Не знаю."


def test_a_model_that_fails_is_reported_and_the_next_question_is_asked(
    demo: tuple[Account, date], scripted_model: ScriptedModel
) -> None:
    scripted_model.fails(401)
    scripted_model.says("11 документов.")
    failed, following = answered(demo, scripted_model, "ru-11", "ru-15")
    assert failed.problems == ["The language model failed to answer."]
    assert failed.answer is None
    assert following.said == list(following.question.facts)
    assert not following.problems


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("Скидка до 10%.", True),
        ("Скидка — 10\u00a0% без согласования", True),
        ("Скидка до 110 %", False),
        ("Скидка десять процентов", True),
        ("Скидка есть", False),
    ],
)
def test_an_answer_is_compared_by_its_facts(answer: str, is_right: bool) -> None:
    (fact,) = QUESTIONS["ru-01"].facts
    assert fact.is_in_answer(answer) is is_right
    assert plain("> 21 500 ₽,  9,500 и «Ещё»") == "21500 ₽, 9500 и «еще»"
