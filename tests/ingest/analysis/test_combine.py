"""Both engines' findings together, field by field."""

from __future__ import annotations

import pytest

from ingest.analysis.combine import FIELDS, LOCAL_FIELDS, Draft, engines_of, facts, judge, summary
from ingest.analysis.findings import BUILT_IN, Commitment, Fact, KeyItem, Quote, State, Summary, Value, Vote
from ingest.analysis.model.schemas import CommitmentAnswer, ItemAnswer
from tests.ingest.analysis.model_talks import SIDES, conversation

CALL_BACK = Quote("Перезвоню вам завтра до обеда", 2, "A")
RULED = Summary(
    "Собранное правилами.",
    "support",
    (KeyItem("topic", "терминал", Quote("не работает терминал", 1, "B")),),
    (Commitment("Перезвоню завтра до обеда", CALL_BACK, "2026-03-11T13:00:00+03:00", "завтра до обеда"),),
)
DRAFT = Draft(
    "Собранное моделью.",
    ("sales", "у нас в Казани три кофейни"),
    (ItemAnswer(key="offer", content="Кофейни", quote="три кофейни"),),
    (CommitmentAnswer(content="Перезвонить клиенту", quote="перезвоню вам завтра", deadline="завтра"),),
)


def combined(draft: Draft | None = DRAFT, fields: frozenset[str] = FIELDS, built_in: Summary = RULED) -> Summary:
    return summary(conversation(), SIDES, built_in, draft, engine="m", fields=fields)


def test_a_trusted_model_decides_what_it_can_prove() -> None:
    found = combined()
    assert (found.text, found.category) == ("Собранное моделью.", "sales")
    assert [item.key for item in found.items] == ["offer"]
    assert {found.engines[field] for field in ("text", "category", "items", "commitments")} == {"m"}
    assert found.engines["bindings"] == BUILT_IN


def test_a_small_model_decides_its_own_fields_alone() -> None:
    found = combined(fields={"text"})
    assert found.text == "Собранное моделью."
    assert (found.category, found.items, found.commitments) == (RULED.category, RULED.items, RULED.commitments)
    assert found.engines == {"text": "m"} | dict.fromkeys(("category", "items", "commitments", "bindings"), BUILT_IN)


def test_without_a_model_all_is_the_rules() -> None:
    found = combined(None)
    assert (found.text, found.category, found.commitments) == (RULED.text, RULED.category, RULED.commitments)
    assert set(found.engines.values()) == {BUILT_IN}


def test_the_same_promise_keeps_the_deadline_that_the_rules_resolved() -> None:
    (promise,) = combined().commitments
    assert (promise.content, promise.quote.text) == ("Перезвонить клиенту", "Перезвоню вам завтра")
    assert promise.deadline == "2026-03-11T13:00:00+03:00"


def test_items_of_the_rules_leave_with_their_category() -> None:
    found = combined(Draft("Текст.", ("sales", "три кофейни"), (), None))
    assert (found.category, found.items) == ("sales", ())


def test_a_model_that_finds_no_promise_is_believed_but_not_one_whose_promises_are_all_invented() -> None:
    assert combined(Draft("Текст.", None, (), ())).commitments == ()
    invented = CommitmentAnswer(content="Приехать", quote="приедем в субботу утром", deadline="в субботу")
    found = combined(Draft("Текст.", None, (), (invented,)))
    assert (found.commitments, found.engines["commitments"]) == (RULED.commitments, BUILT_IN)


def test_numbers_that_were_not_said_never_become_content() -> None:
    item = ItemAnswer(key="offer", content="Кофеен 14", quote="три кофейни")
    assert [one.content for one in combined(Draft("Текст.", DRAFT.category, (item,), None)).items] == ["три кофейни"]


def vote(engine: str, state: State, value: Value = None) -> Vote:
    return Vote(engine, state, value)


TRUE, FALSE = vote("m", "decided", True), vote(BUILT_IN, "decided", False)
OPEN, NONE = vote(BUILT_IN, "undecided"), vote("m", "not_applicable")


@pytest.mark.parametrize(
    ("code", "rule", "model", "decides"),
    [
        ("greeting", FALSE, TRUE, FALSE),
        ("greeting", OPEN, TRUE, TRUE),
        ("greeting", vote(BUILT_IN, "not_applicable"), TRUE, vote(BUILT_IN, "not_applicable")),
        ("need_clarified", FALSE, TRUE, TRUE),
        ("need_clarified", FALSE, NONE, NONE),
        ("need_clarified", FALSE, vote("m", "undecided"), FALSE),
        ("need_clarified", OPEN, vote("m", "undecided"), OPEN),
        ("need_clarified", FALSE, None, FALSE),
        ("need_clarified", None, None, OPEN),
    ],
)
def test_rules_come_first_where_they_are_exact_and_both_votes_stay(
    code: str, rule: Vote | None, model: Vote | None, decides: Vote
) -> None:
    rules = {code: rule} if rule else {}
    models = {code: model} if model else {}
    (judged,) = judge([code], rules, models, deterministic={"greeting"}, fields=FIELDS)
    assert judged.vote == decides
    assert judged.votes == tuple(one for one in (rule, model) if one)
    assert engines_of([judged]) == {code: decides.engine}


def test_a_small_models_votes_do_not_count() -> None:
    (judged,) = judge(
        ["need_clarified"], {"need_clarified": FALSE}, {"need_clarified": TRUE}, deterministic=(), fields=LOCAL_FIELDS
    )
    assert (judged.vote, judged.votes) == (FALSE, (FALSE,))


def test_facts_of_the_rules_stay_where_the_model_has_none_of_them() -> None:
    quote = Quote("у нас в Казани три кофейни", 1, "B")
    model = Fact("p2", "cafes", "Три кофейни в Казани", quote)
    same = Fact("p2", "company_size", "три кофейни", Quote("три кофейни", 1, "B"))
    other = Fact("p2", "terminal", "Терминал", Quote("не работает терминал", 1, "B"))
    assert facts([same, other], [model], fields=FIELDS) == (model, other)
    assert facts([same, other], [model], fields=LOCAL_FIELDS) == (same, other)


def test_a_model_finds_no_aggression_where_there_was_none() -> None:
    rule = Vote(BUILT_IN, "not_applicable")
    claimed = Vote("m", "decided", False, Quote("чем помочь", 0, "A"))
    (found,) = judge(
        ["aggression_response"], {"aggression_response": rule}, {"aggression_response": claimed},
        deterministic=(), fields={"criteria"},
    )  # fmt: skip
    assert (found.vote, found.votes) == (rule, (rule, claimed))
