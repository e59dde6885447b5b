"""Questions that are answered from records: which those are, and how the answer reads."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from chat.contract import Passage, Record, Records
from chat.engines import Message
from chat.extractive_engine import ExtractiveEngine
from chat.records import Wanted, wanted_records
from tests.chat.passages import DELIVERY, Search, Tools, ask

CALL = Passage("communication", "call-1", "A broken machine", "I will send the invoice.")
OTHER = Passage("communication", "call-2", "A late delivery", "I will call back.")


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Что мы обещали клиентам?", Wanted("promises")),
        ("Кто что обещал?", Wanted("promises")),
        ("Какие обещания просрочены?", Wanted("promises", is_overdue=True)),
        ("Что обещала Марине Лебедевой компания?", Wanted("promises", "Марине Лебедевой")),
        ("What did we promise our customers?", Wanted("promises")),
        ("Which promises are overdue?", Wanted("promises", is_overdue=True)),
        ("What did Daniel Hart promise?", Wanted("promises", "Daniel Hart")),
        ("На что жалуются клиенты?", Wanted("complaints")),
        ("Чем недовольны клиенты?", Wanted("complaints")),
        ("What do customers complain about?", Wanted("complaints")),
        ("Which customers are unhappy?", Wanted("complaints")),
    ],
)
def test_promises_and_complaints_are_recognised(question: str, wanted: Wanted) -> None:
    assert wanted_records(question, is_first=True) == wanted


@pytest.mark.parametrize(
    "question",
    [
        "До какой суммы решает руководитель сервиса по жалобам?",
        "под каким номером оформили жалобу белого паруса",
        "Why is the school unhappy with what they have now?",
        "Which invoices are overdue?",
        "Клиенты",
        "What did Max promise Natalie about the discount if she signs before the end of the month?",
    ],
)
def test_who_asks_about_more_is_answered_from_texts(question: str) -> None:
    assert wanted_records(question, is_first=True) is None


def test_what_follows_others_may_be_about_what_was_said_before() -> None:
    assert wanted_records("What did we promise?", is_first=True) == Wanted("promises")
    assert wanted_records("What did we promise?", is_first=False) is None
    assert wanted_records("What did we promise our customers?", is_first=False) == Wanted("promises")
    assert wanted_records("Which promises are overdue?", is_first=False) == Wanted("promises", is_overdue=True)


def test_each_record_is_a_line_with_who_when_and_where() -> None:
    records = Records(
        [
            Record("Send the [invoice]", CALL, by="Boris Keeper", due=date(2026, 11, 3), is_overdue=True),
            Record("Call back", OTHER, due=date(2026, 11, 30)),
            Record("Bring coffee", CALL, by="Anna", is_done=True),
        ],
        has_more=True,
    )
    tools = Tools(records=records)
    done = asyncio.run(ask(ExtractiveEngine(), "What did we promise our customers?", Search([DELIVERY]), tools=tools))
    assert done.markdown.splitlines()[2:] == [
        "- **Boris Keeper:** Send the \\[invoice\\] — by 3 November 2026, overdue [1]",
        "- Call back — by 30 November 2026 [2]",
        "- **Anna:** Bring coffee — done [1]",
        "",
        "There are more.",
    ]
    assert (done.found, done.used_passages) == (True, [CALL, OTHER])


def test_without_records_the_texts_are_searched() -> None:
    history = [Message("user", "Сколько стоит доставка по городу?"), Message("assistant", "450 рублей.")]
    tools = Tools()
    engine = ExtractiveEngine()
    done = asyncio.run(ask(engine, "Что обещала доставка?", Search([DELIVERY]), history=history, tools=tools))
    assert tools.calls == [("promises", {"name": "доставка", "overdue": False})]
    assert done.used_passages == [DELIVERY]
