"""Analysis by a provider's model over real HTTP: what it says is believed only as far as the conversation proves it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ingest.analysis.findings import BUILT_IN, Commitment, Quote, Sides, Summary, Vote
from ingest.analysis.model.analyst import Analyst
from rag.structured import BackgroundModel, open_background_model
from store.errors import UpstreamFailed
from tests.ingest.analysis.model_answers import (
    RULED,
    SUMMARY,
    Setting,
    criteria,
    evaluate,
    facts,
    meeting,
    model,
    said_to,
    summarise,
)
from tests.ingest.analysis.model_talks import ENGLISH, SIDES, conversation
from tests.support.scripted_model import MODEL, ScriptedModel, scripted_model

__all__ = ["model", "scripted_model", "summarise"]
# litellm reads a pydantic attribute in a way that newer pydantic warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")


def test_a_summary_that_the_conversation_proves_is_the_models(
    scripted_model: ScriptedModel, summarise: Callable[..., Summary]
) -> None:
    scripted_model.says(json.dumps(SUMMARY))
    found = summarise()
    assert (found.text, found.category) == (SUMMARY["summary"], "support")
    assert [(item.key, item.quote) for item in found.items] == [("topic", Quote("не работает терминал", 1, "B"))]
    (promise,) = found.commitments
    assert (promise.quote, promise.deadline_text) == (Quote("Перезвоню вам завтра до обеда", 2, "A"), "завтра до обеда")
    assert promise.deadline is not None
    assert promise.deadline.startswith("2026-03-11")
    assert found.engines == dict.fromkeys(("text", "category", "items", "commitments"), MODEL) | {"bindings": BUILT_IN}
    assert found.tokens == 110


def test_what_the_conversation_does_not_prove_is_left_to_the_rules(
    scripted_model: ScriptedModel, summarise: Callable[..., Summary]
) -> None:
    invented = SUMMARY | {
        "category": "complaint",
        "category_quote": "верните мне деньги",
        "items": [
            {"key": "topic", "content": "Возврат", "quote": "верните мне деньги"},
            {"key": "no_such_key", "content": "Терминал", "quote": "не работает терминал"},
        ],
        "commitments": [
            {"content": "Приехать", "quote": "приедем к вам в субботу", "deadline": "в субботу"},
            {"content": "Перезвонить", "quote": "я вам сам перезвоню завтра", "deadline": "завтра"},
        ],
    }
    scripted_model.says(json.dumps(invented))
    found = summarise()
    assert (found.category, found.items, found.commitments) == ("billing", (), ())
    assert [found.engines[field] for field in ("category", "items", "commitments")] == [BUILT_IN] * 3


def test_a_sentence_with_a_number_that_nobody_said_is_not_told(
    scripted_model: ScriptedModel, summarise: Callable[..., Summary]
) -> None:
    told = "Клиент пожаловался на терминал. Сотрудник обещал 500 000 рублей 5 мая. Он перезвонит завтра, 11.03.2026."
    scripted_model.says(json.dumps(SUMMARY | {"summary": told}))
    due = Commitment("Перезвонить", Quote("Перезвоню вам завтра", 2, "A"), "2026-03-11", "завтра")
    found = summarise(built_in=replace(RULED, commitments=(due,)))
    assert found.text == "Клиент пожаловался на терминал. Он перезвонит завтра, 11.03.2026."


def test_a_deadline_is_never_the_models_own(scripted_model: ScriptedModel, summarise: Callable[..., Summary]) -> None:
    promise = {"content": "Посмотреть 17 марта", "quote": "Поняла, посмотрю", "deadline": "17 марта"}
    scripted_model.says(json.dumps(SUMMARY | {"commitments": [promise]}))
    (found,) = summarise().commitments
    assert (found.deadline, found.deadline_text) == (None, None)
    assert found.content == "Поняла, посмотрю"


UNUSABLE = {
    "malformed": '{"summary": "Кли',
    "wrong types": json.dumps(SUMMARY | {"summary": 5}),
    "a category that is none": json.dumps(SUMMARY | {"category": "refund"}),
    "empty": "",
    "an empty summary": json.dumps(SUMMARY | {"summary": "  "}),
    "refusal": "I am sorry, but I can't help with that.",
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_provider_without_a_usable_summary_fails_the_stage(
    scripted_model: ScriptedModel, summarise: Callable[..., Summary], kind: str
) -> None:
    scripted_model.answers(lambda _: UNUSABLE[kind])
    with pytest.raises(UpstreamFailed, match="no usable answer"):
        summarise()
    assert len(scripted_model.requests) == 3


@pytest.mark.parametrize("status", [429, 503])
def test_a_provider_that_is_overloaded_fails_every_stage(
    scripted_model: ScriptedModel, model: BackgroundModel, summarise: Callable[..., Summary], status: int
) -> None:
    for _ in range(9):
        scripted_model.fails(status, retry_after="0")
    with pytest.raises(UpstreamFailed):
        summarise()
    with pytest.raises(UpstreamFailed):
        evaluate(model, "greeting")
    with pytest.raises(UpstreamFailed):
        Analyst(model).remember(conversation(), SIDES, {"B": "p2"})


def test_a_time_out_fails_the_stage(scripted_model: ScriptedModel) -> None:
    hasty = open_background_model(scripted_model.settings(llm_timeout_s=0.4))
    assert hasty is not None
    scripted_model.says('{"criteria"', hang=True)
    try:
        with pytest.raises(UpstreamFailed, match="too long"):
            evaluate(hasty, "greeting")
    finally:
        hasty.close()


def test_votes_carry_the_employees_own_words(scripted_model: ScriptedModel, model: BackgroundModel) -> None:
    scripted_model.says(
        criteria(
            ("greeting", True, "«добрый день, компания луч»"),
            ("offer_presented", False, ""),
            ("ask_reason", None, ""),
            ("tone_of_voice", 0.8, "Спасибо за звонок"),
            ("official_contacts_only", True, ""),
        )
    )
    codes = ("greeting", "offer_presented", "ask_reason", "tone_of_voice", "official_contacts_only")
    votes = evaluate(model, *codes)
    assert votes["greeting"] == Vote(MODEL, "decided", True, Quote("Добрый день, компания Луч", 0, "A"))
    assert votes["offer_presented"] == Vote(MODEL, "decided", False)
    assert votes["ask_reason"] == Vote(MODEL, "not_applicable")
    assert votes["tone_of_voice"].value == 0.8
    assert votes["official_contacts_only"].value is True
    assert "as the account words it" in said_to(scripted_model)


UNPROVEN = {
    "invented": ("greeting", True, "Приветствую вас от всей души"),
    "the client's words": ("greeting", True, "Здравствуйте, у нас в Казани"),
    "no words": ("greeting", True, ""),
    "a number for a binary one": ("greeting", 1, "Добрый день, компания Луч"),
    "a boolean for a numeric one": ("tone_of_voice", True, "Спасибо за звонок"),
    "out of bounds": ("tone_of_voice", 100, "Спасибо за звонок"),
    "below zero": ("tone_of_voice", -0.1, "Спасибо за звонок"),
    "a breach without words": ("official_contacts_only", False, ""),
    "invented for what is false": ("thanks", False, "Спасибо за ваше терпение"),
}


@pytest.mark.parametrize("kind", UNPROVEN)
def test_what_is_not_proven_is_asked_once_more_and_then_undecided(
    scripted_model: ScriptedModel, model: BackgroundModel, kind: str
) -> None:
    code = UNPROVEN[kind][0]
    scripted_model.answers(lambda _: criteria(UNPROVEN[kind], ("farewell", True, "до свидания")))
    votes = evaluate(model, code, "farewell")
    assert votes[code] == Vote(MODEL, "undecided")
    assert votes["farewell"].value is True
    assert len(scripted_model.requests) == 2
    again = str(scripted_model.requests[1]["messages"][0]["content"])
    assert code in again
    assert "farewell" not in again


def test_the_second_answer_counts_where_it_is_proven(scripted_model: ScriptedModel, model: BackgroundModel) -> None:
    scripted_model.says(criteria(UNPROVEN["invented"]))
    scripted_model.says(criteria(("greeting", True, "Добрый день")))
    assert evaluate(model, "greeting")["greeting"].quote == Quote("Добрый день", 0, "A")


@pytest.mark.parametrize("answer", ["", "no", '{"criteria": [{"code": "greeting", "value": "yes", "quote": ""}]}'])
def test_criteria_without_a_usable_answer_are_undecided(
    scripted_model: ScriptedModel, model: BackgroundModel, answer: str
) -> None:
    scripted_model.answers(lambda _: answer)
    assert evaluate(model, "greeting") == {"greeting": Vote(MODEL, "undecided")}


def test_where_nobody_is_known_to_be_an_employee_the_model_is_not_asked(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    assert evaluate(model, "greeting", sides=Sides()) == {}
    assert scripted_model.requests == []


def test_a_fact_is_in_the_words_of_the_person_it_is_about(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    quote = "у нас в Казани три кофейни"
    scripted_model.says(
        facts(
            ("Клиент 1", "Cafes!", "Три кофейни в Казани", quote),
            ("Клиент 1", "invented", "Кофейня в Москве", "у нас кофейня в Москве"),
            ("Клиент 1", "more than was said", "Пять кофеен: 5", quote),
            ("Клиент 1", "unrelated", "Любит рыбалку", quote),
            ("Сотрудник 1", "name", "Зовут Анна", "меня зовут Анна"),
            ("Клиент 1", "of another", "Зовут Анна", "меня зовут Анна"),
            ("Клиент 7", "nobody", "Три кофейни в Казани", quote),
        )
    )
    (found,) = Analyst(model).remember(conversation(), SIDES, {"B": "p2"})
    assert (found.person_id, found.key, found.content) == ("p2", "cafes", "Три кофейни в Казани")
    assert found.quote == Quote(quote, 1, "B")


def test_a_report_follows_the_accounts_own_prompt(
    scripted_model: ScriptedModel, summarise: Callable[..., Summary]
) -> None:
    scripted_model.says(json.dumps(SUMMARY))
    scripted_model.says('{"mood": "calm"}')
    found = summarise(prompt="Верни JSON с полем mood.")
    assert (found.user_summary, found.engines["user_summary"]) == ('{"mood": "calm"}', MODEL)
    system, user = scripted_model.requests[1]["messages"]
    assert "Верни JSON с полем mood." in system["content"]
    assert "не работает терминал" in user["content"]
    scripted_model.forget()
    scripted_model.says(json.dumps(SUMMARY))
    for _ in range(3):
        scripted_model.says("")
    with pytest.raises(UpstreamFailed, match="no usable answer"):
        summarise(prompt="Верни JSON.")


def test_the_longest_prompt_of_an_account_fits_with_its_beginning_and_end(
    scripted_model: ScriptedModel, summarise: Callable[..., Summary]
) -> None:
    scripted_model.answers(lambda body: "Отчёт." if "response_format" not in body else json.dumps(SUMMARY))
    prompt = ("Начало задания. " + "очень подробно " * 5000)[:63_980] + " Конец задания."
    assert summarise(prompt=prompt).user_summary == "Отчёт."
    system = str(scripted_model.requests[-1]["messages"][0]["content"])
    assert "Начало задания." in system
    assert "Конец задания." in system
    assert len(system) < 30_000


def test_an_english_conversation_is_asked_about_in_english(
    scripted_model: ScriptedModel, summarise: Callable[..., Summary]
) -> None:
    answer = SUMMARY | {
        "summary": "Terminal.",
        "category_quote": "terminal does not work",
        "items": [],
        "commitments": [],
    }
    scripted_model.says(json.dumps(answer))
    found = summarise(conversation(ENGLISH, language="en"))
    assert (found.text, found.category) == ("Terminal.", "support")
    assert "sentences in English" in said_to(scripted_model)
    assert "1. Client 1: Hello, we run three cafes" in said_to(scripted_model)


def test_a_long_meeting_is_asked_about_in_parts_that_fit_and_put_together(
    scripted_model: ScriptedModel, model: BackgroundModel, summarise: Callable[..., Summary]
) -> None:
    def answer(body: dict[str, Any]) -> str:
        if "response_format" not in body:
            return "Отчёт о совещании."
        whole = {"summary": "Совещание о плане.", "category": "internal", "category_quote": "обсуждаем план работ"}
        is_part = body["response_format"]["json_schema"]["name"] == "SummaryAnswer"
        return json.dumps(whole | ({"items": [], "commitments": []} if is_part else {}))

    scripted_model.answers(answer)
    found = summarise(conversation(meeting(5000)), prompt="Отчёт о плане.")
    assert (found.text, found.category, found.user_summary) == ("Совещание о плане.", "internal", "Отчёт о совещании.")
    sizes = [sum(len(message["content"]) for message in request["messages"]) for request in scripted_model.requests]
    assert len(sizes) > 20
    assert max(sizes) < model.max_prompt_tokens * 4
    assert "Реплика номер 4999," in said_to(scripted_model)


def test_votes_over_several_parts_are_one(scripted_model: ScriptedModel, model: BackgroundModel) -> None:
    talk = conversation(meeting(1500))
    first = "Реплика номер 0, обсуждаем план"

    def answer(body: dict[str, Any]) -> str:
        if first in str(body["messages"][-1]["content"]):
            return criteria(("need_clarified", True, first), ("address_by_name", 2, first), ("thanks", False, ""))
        return criteria(("need_clarified", False, ""), ("address_by_name", 0, ""), ("thanks", None, ""))

    scripted_model.answers(answer)
    votes = evaluate(model, "need_clarified", "address_by_name", "thanks", talk=talk)
    assert len(scripted_model.requests) > 2
    assert [votes[code].value for code in ("need_clarified", "address_by_name", "thanks")] == [True, 2.0, False]


def test_a_breach_that_words_prove_in_one_part_outweighs_the_others(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    talk = conversation(meeting(1500))
    first, other = "Реплика номер 0, обсуждаем план", "Реплика номер 1400, обсуждаем план"
    codes = ("aggression_response", "official_contacts_only", "need_clarified")

    def answer(body: dict[str, Any]) -> str:
        read = str(body["messages"][-1]["content"])
        if first in read:
            return criteria(*((code, True, first) for code in codes))
        if other in read:
            return criteria(*((code, False, other) for code in codes))
        return criteria(("aggression_response", False, ""), ("official_contacts_only", True, ""))

    scripted_model.answers(answer)
    votes = evaluate(model, *codes, talk=talk)
    assert [votes[code].value for code in codes] == [False, False, True]
    assert votes["aggression_response"].quote == votes["official_contacts_only"].quote == Quote(other, 1400, "A")


def test_a_bare_no_in_one_part_does_not_outweigh_what_words_prove_in_another(
    scripted_model: ScriptedModel, model: BackgroundModel
) -> None:
    first = "Реплика номер 0, обсуждаем план"

    def answer(body: dict[str, Any]) -> str:
        is_first = first in str(body["messages"][-1]["content"])
        return criteria(("aggression_response", is_first, first if is_first else ""))

    scripted_model.answers(answer)
    assert evaluate(model, "aggression_response", talk=conversation(meeting(1500)))["aggression_response"].value is True


def test_what_was_used_before_a_failure_is_counted(scripted_model: ScriptedModel, model: BackgroundModel) -> None:
    analyst = Analyst(model)
    scripted_model.says("no JSON")
    scripted_model.says(json.dumps({"criteria": []}), drop_after=3)
    with pytest.raises(UpstreamFailed):
        analyst.evaluate(conversation(), SIDES, [Setting("greeting")], {})
    assert (analyst.usage.prompt_tokens, analyst.usage.completion_tokens) == (100, 10)
    scripted_model.says(json.dumps({"facts": []}))
    analyst.remember(conversation(), SIDES, {"B": "p2"})
    assert analyst.usage.prompt_tokens == 200


def test_nothing_that_a_database_refuses_is_in_what_a_model_says(
    scripted_model: ScriptedModel, summarise: Callable[..., Summary]
) -> None:
    said = r'{"summary": "Сло\u0000ман \ud83d терминал.", "category": "support", "category_quote": "", "items": [], '
    scripted_model.says(said + r'"commitments": []}')
    scripted_model.says("Отчёт\x00 готов.")
    found = summarise(prompt="Отчёт.")
    assert (found.text, found.user_summary) == ("Сло ман терминал.", "Отчёт  готов.")
