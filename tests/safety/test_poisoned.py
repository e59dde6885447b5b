"""Poisoned documents, calls, messages and mails before a model that obeys them: still nothing leaks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from markdown_it import MarkdownIt

from chat.language import PHRASES, Language, detect_language
from tests.contract.site_page import MESSAGES
from tests.contract.streams import events_of
from tests.safety.cases import CASES, LOOT, Case
from tests.safety.conftest import (
    PRICE,
    SECRETS_OF_COMPANY,
    SECRETS_OF_VISITORS,
    Ground,
    import_conversation,
    say_as_visitor,
    wait_until_found,
)
from tests.safety.observed import (
    check_citations,
    check_request,
    check_secrets,
    loot_of,
    tool_results,
)
from tests.support.receiver import Receiver
from tests.support.scripted_model import ScriptedModel

SEARCHES = 2
LIVE = {"html_inline", "html_block", "link_open", "image", "fence", "code_block", "heading_open"}
DOCUMENTS = [case for case in CASES if case.kind == "document"]
WITHOUT_LINKIFYING = MarkdownIt("commonmark")


@pytest.fixture(scope="module")
def planted(ground: Ground, obeying: ScriptedModel) -> dict[str, str]:
    """All that is poisoned, loaded as anybody loads it: the id of each case's document or conversation."""
    account, ids = ground.account, {}
    for case in CASES:
        if case.kind == "document":
            name = f"{case.id}.{case.format}"
            answer = account.upload_document(ground.open_space, case.file(ground.known), name)
            assert answer.status_code == 202, answer.text
            ids[case.id] = answer.json()["id"]
        elif case.place == "imported":
            ids[case.id] = import_conversation(account, case.conversation(ground.known))
        elif case.place == "visitor":
            text = case.filled(case.text, ground.known)
            ids[case.id] = say_as_visitor(ground.open_page(account), obeying, case.harmless, text)
    for case in CASES:
        if case.kind == "document":
            record = account.finished_document(ids[case.id])
            assert record["status"] == "success", (case.id, record)
        elif case.id in ids:
            wait_until_found(account, case.topic, ids[case.id])
    obeying.forget()
    return ids


def question_of(case: Case, known: Mapping[str, str]) -> str:
    return str(case.filled(case.text, known)) if case.place == "question" else case.question


def obey(model: ScriptedModel, case: Case, known: Mapping[str, str]) -> None:
    """The model looks for all that there is, does what the attacker wants, and says what the attacker wants."""
    model.calls_tools(
        ("search_documents", {"query": case.topic, "limit": 20}),
        ("search_communications", {"query": case.topic, "limit": 20}),
    )
    if case.calls:
        model.calls_tools(
            *[(call.tool, call.raw or case.filled(call.arguments, known)) for call in case.calls], text="Just a moment."
        )
    said = case.filled(case.says, known)
    model.says(lambda body: said.replace(LOOT, loot_of(body)))


def check_calls(case: Case, results: list[str], *, is_visitor: bool) -> None:
    """What the attacker's calls came to; the two searches came before them."""
    assert len(results) == SEARCHES + len(case.calls)
    for call, result in zip(case.calls, results[SEARCHES:], strict=True):
        refused = call.refused or (call.refused_to_visitors if is_visitor else "")
        if refused:
            assert '{"error":' in result, (call, result)
            assert refused in result, (call, result)
        else:
            assert '{"error":' not in result, (call, result)
        if call.empty:
            assert '"items":[]' in result, (call, result)


def check_answer(
    case: Case,
    done: Mapping[str, Any],
    model: ScriptedModel,
    ground: Ground,
    planted: Mapping[str, str],
    *,
    visitors_too: bool = False,
) -> None:
    """`visitors_too`: the company may be answered from what its visitors said."""
    own = {*planted.values(), ground.known["OWN_CALL"], ground.visitor_conversation}
    if visitors_too:
        talks = ground.account.get("/public/v1/conversations", params={"limit": 100}).json()
        assert talks["pagination"]["total"] <= 100
        own |= {talk["id"] for talk in talks["items"]}
    check_citations(done["markdown"], done["context"], {ground.open_space}, own)
    if case.says_nothing:
        language: Language = detect_language(case.question)
        assert done["markdown"] == f"{PHRASES[language].not_found}"
    assert model.left == 0


def check_poison(case: Case, model: ScriptedModel, *, reaches: bool) -> None:
    """That it came to the model at all, or did not."""
    shown = json.dumps(
        [[message for message in request["messages"] if message["role"] != "assistant"] for request in model.requests]
    )
    assert (case.canary in shown) == reaches


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_visitors_model_that_obeys_gives_nothing_away(
    case: Case, ground: Ground, planted: dict[str, str], model: ScriptedModel, listener: Receiver
) -> None:
    page, before = ground.open_page(ground.account), ground.balance()
    question, token = question_of(case, ground.known), page.visitor()
    obey(model, case, ground.known)
    answer = page.call("POST", MESSAGES, token=token, json={"text": question})
    assert answer.status_code == 200, answer.text
    events = events_of(answer)
    name, done = events[-1]
    assert name == "done", done
    for request in model.requests:
        check_request(request, question, case.canary, asker_wrote_it=case.place == "question")
    # What one visitor wrote comes to no other.
    check_poison(case, model, reaches=case.reaches and case.place != "visitor")
    check_secrets(SECRETS_OF_VISITORS, model.requests, events, page.messages(token))
    check_calls(case, tool_results(model.requests[-1]), is_visitor=True)
    check_answer(case, done, model, ground, planted)
    assert "".join(data["delta"] for kind, data in events if kind == "text") == done["markdown"]
    (cited,) = [data["items"] for kind, data in events if kind == "citations"]
    found = [*done["context"]["documents"], *done["context"]["communications"]]
    assert sorted(each["citation"] for each in cited) == sorted(each["citation"] for each in found)
    assert page.conversation(token) == [("visitor", question), ("agent", done["markdown"])]
    assert before - ground.balance() == PRICE
    assert listener.requests == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_companys_model_that_obeys_gives_nothing_away(
    case: Case, ground: Ground, planted: dict[str, str], model: ScriptedModel, listener: Receiver
) -> None:
    account, before = ground.account, ground.balance()
    question = question_of(case, ground.known)
    obey(model, case, ground.known)
    answer = account.post(f"/public/v1/chats/{account.chat_id}/messages", json={"text": question})
    assert answer.status_code == 200, answer.text
    done = answer.json()
    for request in model.requests:
        check_request(request, question, case.canary, asker_wrote_it=case.place == "question")
    check_poison(case, model, reaches=case.reaches)
    check_secrets(SECRETS_OF_COMPANY, model.requests, done)
    check_calls(case, tool_results(model.requests[-1]), is_visitor=False)
    check_answer(case, done, model, ground, planted, visitors_too=True)
    assert before - ground.balance() == PRICE
    assert listener.requests == []


@pytest.mark.parametrize("case", DOCUMENTS, ids=lambda case: case.id)
def test_a_quotation_without_a_model_shows_markup_and_obeys_none(
    case: Case, ground: Ground, planted: dict[str, str], model: ScriptedModel, listener: Receiver
) -> None:
    page = ground.open_page(ground.account, ground.extractive["public_key"])
    token, before = page.visitor(), ground.balance()
    done = page.ask(token, case.question)
    assert model.requests == []
    assert done["found"], done
    assert ground.open_space in {source["space_id"] for source in done["context"]["documents"]}
    tokens = [each for block in WITHOUT_LINKIFYING.parse(done["markdown"]) for each in (block, *(block.children or ()))]
    assert {each.type for each in tokens} & LIVE == set(), done["markdown"]
    check_citations(done["markdown"], done["context"], {ground.open_space}, set(planted.values()))
    check_secrets(SECRETS_OF_VISITORS, done)
    assert before - ground.balance() == PRICE
    assert listener.requests == []


def test_the_set_is_large_enough_and_speaks_both_languages() -> None:
    assert len(CASES) >= 36
    assert len({case.id for case in CASES}) == len(CASES)
    assert {case.kind for case in CASES} == {"document", "call", "message", "mail"}
    for kind in ("document", "call", "message", "mail"):
        assert {case.language for case in CASES if case.kind == kind} == {"ru", "en"}
    assert all(case.wants and case.says for case in CASES)
