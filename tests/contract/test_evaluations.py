"""Questions of a space and evaluations of how well their passages are found, over HTTP and by `parley eval`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from ingest.evaluations import holds
from tests.contract.test_knowledge import DOCUMENTS, SPACES
from tests.support.forks import run_parley
from tests.support.ids import UNKNOWN_ID
from tests.support.server import JOB_S, Account

QUESTIONS = "/public/v1/kb/questions"
EVALUATIONS = "/public/v1/kb/evaluations"
DELIVERY = "Доставка по Казани стоит 350 рублей. Заказ от 5000 рублей везём бесплатно."
WARRANTY = "The warranty on kettles is 24 months from the day of sale."


@pytest.fixture
def space(account: Account) -> dict[str, str]:
    """A space with two documents: its id and theirs."""
    space_id = account.new_space("Rules")
    delivery = account.add_document(space_id, DELIVERY.encode(), "delivery.txt")
    warranty = account.add_document(space_id, WARRANTY.encode(), "warranty.txt")
    return {"id": space_id, "delivery": delivery["id"], "warranty": warranty["id"]}


def keep(account: Account, space: dict[str, str], text: str, document: str, **more: Any) -> dict[str, Any]:
    body = {"text": text, "document_id": space[document], **more}
    answer = account.post(f"{SPACES}/{space['id']}/questions", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def evaluate(account: Account, space_id: str, **body: Any) -> dict[str, Any]:
    answer = account.post(f"{SPACES}/{space_id}/evaluations", json=body)
    assert answer.status_code == 202, answer.text
    deadline = time.monotonic() + JOB_S
    while time.monotonic() < deadline:
        record: dict[str, Any] = account.get(f"{EVALUATIONS}/{answer.json()['id']}").json()
        if record["status"] in ("success", "error"):
            return record
        time.sleep(0.05)
    raise AssertionError(f"the evaluation did not end:\n{account.server.log()[-4000:]}")


def test_questions_are_kept_changed_listed_and_deleted(account: Account, space: dict[str, str]) -> None:
    chunk = account.get(f"{DOCUMENTS}/{space['warranty']}/chunks").json()["items"][0]
    by_chunk = keep(account, space, " How long is the warranty? ", "warranty", chunk_id=chunk["id"])
    assert (by_chunk["text"], by_chunk["quote"]) == ("How long is the warranty?", chunk["text"])
    by_quote = keep(account, space, "Сколько стоит доставка?", "delivery", quote="350 рублей")
    listed = account.get(f"{SPACES}/{space['id']}/questions").json()
    assert listed["items"] == [by_chunk, by_quote]
    assert listed["pagination"] == {"limit": 20, "offset": 0, "count": 2, "total": 2}
    changed = account.request("PATCH", f"{QUESTIONS}/{by_quote['id']}", json={"text": "Доставка почём?"}).json()
    assert (changed["text"], changed["quote"]) == ("Доставка почём?", "350 рублей")
    assert account.request("DELETE", f"{QUESTIONS}/{by_chunk['id']}").status_code == 204
    assert account.get(f"{SPACES}/{space['id']}/questions").json()["items"] == [changed]
    assert account.request("DELETE", f"{QUESTIONS}/{by_chunk['id']}").status_code == 404


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"document_id": "{warranty}"}, "text"),
        ({"text": " ", "document_id": "{warranty}"}, "text"),
        ({"text": "When?", "document_id": UNKNOWN_ID}, "document_id"),
        ({"text": "When?", "document_id": "{warranty}", "chunk_id": UNKNOWN_ID}, "chunk_id"),
        ({"text": "When?", "document_id": "{warranty}", "quote": "?!"}, "quote"),
    ],
)
def test_a_question_without_a_passage_to_find_is_refused(
    account: Account, space: dict[str, str], body: dict[str, str], param: str
) -> None:
    filled = {name: value.format(**space) for name, value in body.items()}
    answer = account.post(f"{SPACES}/{space['id']}/questions", json=filled)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_an_evaluation_counts_what_is_found_and_what_changed_since_the_one_before(
    account: Account, space: dict[str, str]
) -> None:
    first = keep(account, space, "Сколько стоит доставка по Казани?", "delivery", quote="стоит 350 рублей")
    lost = keep(account, space, "warranty on kettles", "warranty", quote="words that it never had at all")
    before = evaluate(account, space["id"], label="before")
    assert before["status"] == "success", before
    assert before["setup"]["label"] == "before"
    assert (before["setup"]["documents"], before["setup"]["chunks"]) == (2, 2)
    assert before["metrics"] == {
        "questions": 2, "stale": 1, "hit_rate": {"1": 1.0, "3": 1.0, "5": 1.0, "10": 1.0}, "mrr": 1.0, "ndcg": 1.0,
    }  # fmt: skip
    results = {each["question_id"]: each for each in before["results"]}
    assert (results[first["id"]]["ranks"], results[lost["id"]]["is_stale"]) == ([1], True)
    assert before["previous"] is None
    # A document that says it in the very words of the question is found before it.
    account.add_document(space["id"], "Сколько стоит доставка по Казани? Спросите у курьера.".encode(), "ask.txt")
    after = evaluate(account, space["id"])
    assert after["previous"]["id"] == before["id"]
    assert after["worse"] == [first["id"]]
    assert after["better"] == []
    assert after["metrics"]["mrr"] == pytest.approx(0.5)
    assert after["metrics"]["hit_rate"] == {"1": 0.0, "3": 1.0, "5": 1.0, "10": 1.0}
    newest = account.get(f"{SPACES}/{space['id']}/evaluations").json()
    assert [each["id"] for each in newest["items"]] == [after["id"], before["id"]]


def test_an_evaluation_that_was_ordered_and_never_started_is_found_by_the_sweeper(
    account: Account, space: dict[str, str]
) -> None:
    from ingest import evaluations as evaluating

    keep(account, space, "How long is the warranty?", "warranty", quote="24 months")
    ordered = evaluating.order(account.server.database, account.tenant_id, space["id"])
    deadline = time.monotonic() + JOB_S
    while (status := account.get(f"{EVALUATIONS}/{ordered.id}").json()["status"]) != "success":
        assert time.monotonic() < deadline, status


def test_parley_eval_has_the_running_server_do_it_and_prints_the_figures(
    account: Account, space: dict[str, str], tmp_path: Path
) -> None:
    questions = tmp_path / "questions.csv"
    questions.write_text(
        "question,document,quote\nHow long is the warranty on kettles?,warranty.txt,24 months\n"
        f"Сколько стоит доставка по Казани?,{space['delivery']},\n",
        encoding="utf-8",
    )
    command = ["eval", space["id"], "--questions", str(questions), "--json"]
    for _ in range(2):  # the same questions again are kept once
        done = run_parley(command, account.server.environment, JOB_S)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["metrics"]["questions"] == 2
        assert found["metrics"]["hit_rate"]["1"] == 1.0
    done = run_parley(["eval", UNKNOWN_ID], account.server.environment, JOB_S)
    assert done.returncode != 0
    assert "no space" in done.stderr


@pytest.mark.parametrize(
    ("text", "quote", "is_there"),
    [
        ("Доставка — 350 рублей.", "доставка 350 РУБЛЕЙ", True),
        ("It costs 350 roubles", "costs 35", False),
        ("anything", "", True),
        (
            "the first half of a long quotation is here",
            "the first half of a long quotation is here and not there",
            True,
        ),
        ("a long quotation", "the first half of a long quotation is here and not there", False),
    ],
)
def test_a_passage_holds_a_quotation_when_it_says_most_of_it(text: str, quote: str, is_there: bool) -> None:
    assert holds(text, quote) is is_there
