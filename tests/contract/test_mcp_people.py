"""The tools over people and what was promised: search_speakers and search_commitments."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from rag.language_model import estimate_tokens
from store import analysis, speakers
from store.analysis import NewItem
from store.database import now
from store.ids import new_id
from store.speakers import Attending, name_key
from tests.contract.material import keep_communication
from tests.contract.mcp import found_by, refusal
from tests.support.server import Account, RunningServer

NOBODY = "00000000-0000-4000-8000-000000000000"
PEOPLE: list[dict[str, Any]] = [
    {"external_id": "crm-1", "name": "Пётр Семёнов", "role": "client"},
    {"external_id": "crm-2", "name": "Анна Петрова", "role": "client"},
    {"external_id": "crm-10", "name": "Ольга Орлова", "role": "sales", "department": "Отдел продаж"},
    {"external_id": "E-7", "name": "Peter O'Hara", "role": "support", "department": "Second line"},
    {"external_id": "e_8", "name": "100% Кофе_Бар", "role": "client"},
    {"external_id": None, "name": "анна мария шмидт", "role": "unknown"},
]


@dataclass(frozen=True)
class Company:
    """An account with people, by name, whom nobody changes."""

    account: Account
    ids: dict[str, str]

    def names(self, **arguments: Any) -> list[str]:
        return [item["name"] for item in found_by(self.account, "search_speakers", **arguments)["items"]]


@pytest.fixture(scope="module")
def company(server: RunningServer) -> Company:
    account = server.new_client("people of a company")
    with server.database.write() as connection:
        made = [speakers.upsert(account.tenant_id, connection, **values) for values in PEOPLE]
    return Company(account, {person.name or "": person.id for person in made})


@pytest.mark.proves("mcp.tool.search-speakers", "mcp.args.query")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Анна Петрова", ["Анна Петрова"]),
        ("анна", ["анна мария шмидт", "Анна Петрова"]),
        ("ПЕТР", ["Пётр Семёнов", "Анна Петрова"]),
        ("пётр", ["Пётр Семёнов", "Анна Петрова"]),
        ("семенов", ["Пётр Семёнов"]),
        ("Шмидт Анна", ["анна мария шмидт"]),
        ("etrova", []),
        ("тров", ["Анна Петрова"]),
        ("Анну Петрову", ["Анна Петрова"]),
        ("с Ольгой Орловой", ["Ольга Орлова"]),
        ("o'h", ["Peter O'Hara"]),
        ("100%", ["100% Кофе_Бар"]),
        ("%", ["100% Кофе_Бар"]),
        ("_", ["100% Кофе_Бар"]),
        ("crm-1", ["Пётр Семёнов", "Ольга Орлова"]),
        ("CRM-2", ["Анна Петрова"]),
        ("e_8", ["100% Кофе_Бар"]),
        ("' OR 1=1 --", []),
        ("Наполеон", []),
    ],
)
def test_people_are_found_by_parts_of_names_and_by_external_ids(
    company: Company, query: str, expected: list[str]
) -> None:
    assert company.names(query=query) == expected


@pytest.mark.proves("mcp.tool.search-speakers", "mcp.args.query")
def test_without_a_query_who_was_updated_last_comes_first(company: Company) -> None:
    assert company.names() == [person["name"] for person in reversed(PEOPLE)]


@pytest.mark.proves("mcp.tool.search-speakers")
def test_people_are_listed_by_last_contact_and_by_name_page_by_page(new_account: Callable[..., Account]) -> None:
    account = new_account()
    with account.server.database.write() as connection:
        people = {
            name: speakers.upsert(account.tenant_id, connection, external_id=name, name=name).id for name in "BADC"
        }
    for day, name in ((2, "D"), (3, "A"), (1, "B"), (1, "A")):
        id_ = keep_communication(account, ("A", "hello"), at=f"2026-02-0{day}T10:00:00+00:00")
        with account.server.database.write() as connection:
            speakers.attach(account.tenant_id, connection, id_, [Attending(people[name], "client")])
    for order, expected in (("last_contact", "ADBC"), ("name", "ABCD"), ("updated", "CDAB")):
        seen, cursor = "", {}
        for _ in expected:
            page = found_by(account, "search_speakers", order=order, limit=1, **cursor)
            seen += page["items"][0]["name"]
            cursor = {"cursor": page["next_cursor"]}
        assert (seen, cursor) == (expected, {"cursor": None})
    first = found_by(account, "search_speakers", order="name", limit=1)["next_cursor"]
    assert "cursor" in refusal(account, "search_speakers", order="last_contact", cursor=first)


@pytest.mark.proves("mcp.tool.search-speakers")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"role": "client"}, ["100% Кофе_Бар", "Анна Петрова", "Пётр Семёнов"]),
        ({"role": "employee"}, []),
        ({"department": "отдел ПРОДАЖ"}, ["Ольга Орлова"]),
        ({"department": "line", "role": "support"}, ["Peter O'Hara"]),
        ({"department": "line", "role": "client"}, []),
        ({"department": "%"}, []),
        ({"query": "анна", "role": "client"}, ["Анна Петрова"]),
    ],
)
def test_people_are_filtered_by_role_and_department(
    company: Company, filters: dict[str, str], expected: list[str]
) -> None:
    assert company.names(**filters) == expected


@pytest.mark.proves("mcp.tool.search-speakers", "mcp.links.people")
def test_a_person_comes_with_their_contacts_and_a_link(new_account: Callable[..., Account]) -> None:
    account = new_account(time_zone="Asia/Omsk")
    talks = [keep_communication(account, ("A", "hello"), at=f"2026-02-0{day}T10:00:00+00:00") for day in (3, 1, 2)]
    with account.server.database.write() as connection:
        person = speakers.upsert(account.tenant_id, connection, external_id="x-1", name="Анна", department="Склад")
        for id_ in talks:
            speakers.attach(account.tenant_id, connection, id_, [Attending(person.id, "client")])
        speakers.upsert(account.tenant_id, connection, external_id="x-2", name=None)
    nameless, anna = found_by(account, "search_speakers")["items"]
    assert anna.pop("updated_at").endswith("+06:00")
    assert anna == {
        "id": person.id,
        "name": "Анна",
        "external_id": "x-1",
        "role": "unknown",
        "department": "Склад",
        "communications": 3,
        "last_contact_at": "2026-02-03T16:00:00+06:00",
        "url": f"{account.server.url}/cabinet/people/{person.id}",
    }
    assert (nameless["name"], nameless["communications"], nameless["last_contact_at"]) == ("x-2", 0, None)


@pytest.mark.proves("mcp.args.limit", "mcp.args.cursor", "mcp.answer-size")
def test_every_page_of_many_people_is_reached(account: Account) -> None:
    at = now() - timedelta(days=1)
    rows = [
        {
            "id": new_id(),
            "tenant_id": account.tenant_id,
            "external_id": f"many-{number}",
            "name": f"Анна {number}" if number % 2 else f"Мария Анна {number}",
            "name_key": name_key(f"Анна {number}" if number % 2 else f"Мария Анна {number}"),
            "role": "client",
            "department": None,
            "created_at": at,
            "updated_at": at + timedelta(seconds=number // 3),
        }
        for number in range(300)
    ]
    with account.server.database.write() as connection:
        connection.execute(sa.insert(speakers.speakers), rows)
    for query in ({}, {"query": "анна"}):
        seen: list[str] = []
        after: dict[str, str] = {}
        while True:
            page = found_by(account, "search_speakers", limit=50, **query, **after)
            assert estimate_tokens(json.dumps(page, ensure_ascii=False)) <= 20_000
            seen += [item["id"] for item in page["items"]]
            if page["next_cursor"] is None:
                break
            after = {"cursor": page["next_cursor"]}
        assert len(seen) == 300
        assert set(seen) == {row["id"] for row in rows}


@pytest.mark.proves("mcp.args.limit", "mcp.args.cursor")
@pytest.mark.parametrize("tool", ["search_speakers", "search_commitments"])
def test_arguments_that_are_none_are_refused(company: Company, tool: str) -> None:
    for limit in (0, 51, "10"):
        assert "limit" in refusal(company.account, tool, limit=limit)
    of_others = found_by(company.account, "search_speakers", limit=1)["next_cursor"]
    wrong = ["x", "", "e30", "eyJvZmZzZXQiOi0xfQ"]
    for cursor in wrong if tool == "search_speakers" else [*wrong, of_others]:
        assert "cursor" in refusal(company.account, tool, cursor=cursor)
        assert "cursor" in refusal(company.account, tool, query="a", cursor=cursor or "x")
    for name, value in (("query", ""), ("query", "\x00"), ("query", "x" * 1001), ("tenant_id", NOBODY)):
        assert name in refusal(company.account, tool, **{name: value})


# Of each promise: the conversation, who made it, its words, its deadline.
PROMISES: list[tuple[str, str | None, str, str | None]] = [
    ("order", "Olga", "Выслать договор и счёт на почту", "{yesterday}"),
    ("order", None, "Позвонить на складе насчёт доставки", "{tomorrow}"),
    ("complaint", "Petr", "Call back about the delivery", "{next_week}T10:00:00+03:00"),
    ("complaint", "Petr", "Вернуть деньги за доставку и договор аннулировать", None),
    ("standup", "Olga", "Prepare the report", "{today}"),
]
TALKS = {
    "order": ("2026-01-10T10:00:00+00:00", {"Anna": "client", "Olga": "sales"}),
    "complaint": ("2026-01-20T22:00:00+00:00", {"Anna": "client", "Petr": "support"}),
    "standup": ("2026-01-15T10:00:00+00:00", {"Olga": "sales", "Petr": "employee"}),
}
DUE = ("due_from", "due_to")
LETTERS = dict(zip("abcde", (content for _, _, content, _ in PROMISES), strict=True))


@dataclass(frozen=True)
class Promising:
    """An account with the promises above, each called by a letter in their order; `days` are those they were made on,
    by their names in PROMISES."""

    account: Account
    people: dict[str, str]
    talks: dict[str, str]
    days: dict[str, str]

    def found(self, **arguments: Any) -> str:
        letters = {content: letter for letter, content in LETTERS.items()}
        asked = {name: value.format(**self.days) if name in DUE else value for name, value in arguments.items()}
        items = found_by(self.account, "search_commitments", **asked)["items"]
        return "".join(letters[item["content"]] for item in items)


def day(offset: int) -> str:
    """In Moscow, the account's zone."""
    return (datetime.now(UTC) + timedelta(hours=3, days=offset)).date().isoformat()


@pytest.fixture
def promising(new_account: Callable[..., Account]) -> Promising:
    account = new_account(time_zone="Europe/Moscow")
    days = {"yesterday": day(-1), "today": day(0), "tomorrow": day(1), "next_week": day(7)}
    talks = {name: keep_communication(account, ("A", name), at=at) for name, (at, _) in TALKS.items()}
    people: dict[str, str] = {}
    with account.server.database.write() as connection:
        for name, (_, attending) in TALKS.items():
            for person, role in attending.items():
                people[person] = speakers.upsert(account.tenant_id, connection, external_id=person, name=person).id
                speakers.attach(account.tenant_id, connection, talks[name], [Attending(people[person], role)])
        for name, id_ in talks.items():
            items = [
                NewItem(
                    "commitment",
                    content,
                    meta={"deadline": deadline.format(**days) if deadline else None},
                    speaker_id=people[maker] if maker else None,
                )
                for talk, maker, content, deadline in PROMISES
                if talk == name
            ]
            facts = [NewItem("criteria", "Договор подписан", "agreement")]
            analysis.put_summary(account.tenant_id, connection, id_, text=None, items=[*items, *facts])
    return Promising(account, people, talks, days)


@pytest.mark.proves("mcp.tool.search-commitments", "mcp.args.query", "mcp.args.from-to")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "cdeab"),
        ({"order": "due"}, "ebc"),
        ({"overdue": True}, "a"),
        ({"overdue": True, "order": "due"}, "a"),
        ({"due_from": "{today}", "due_to": "{tomorrow}"}, "eb"),
        ({"due_to": "{today}", "order": "due"}, "ae"),
        ({"due_from": "{next_week}"}, "c"),
        ({"due_from": "2100-01-01"}, ""),
        ({"from_": "2026-01-15", "to": "2026-01-20"}, "e"),
        ({"from_": "2026-01-21", "to": "2026-01-21"}, "cd"),
        ({"to": "2026-01-15T10:00:00Z"}, "ab"),
        ({"query": "ДОГОВОРЫ"}, "da"),
        ({"query": "счет"}, "a"),
        ({"query": "deliveries"}, "c"),
        ({"query": "доставка договора"}, "dab"),
        ({"query": "договор", "overdue": True}, "a"),
        ({"query": "и на"}, ""),
        ({"query": "слон"}, ""),
        ({"query": "100% _"}, ""),
    ],
)
def test_promises_are_found_by_words_periods_and_deadlines(
    promising: Promising, arguments: dict[str, Any], expected: str
) -> None:
    assert promising.found(**arguments) == expected


@pytest.mark.proves("mcp.tool.search-commitments")
def test_promises_of_a_speaker_are_those_they_made_or_those_made_to_them(promising: Promising) -> None:
    people = promising.people
    assert promising.found(speaker_id=people["Anna"]) == "cdab"
    assert promising.found(speaker_id=people["Petr"]) == "cd"
    # Nobody knows who made the second one of her call.
    assert promising.found(speaker_id=people["Olga"]) == "eab"
    assert promising.found(speaker_id=people["Anna"], query="договор") == "da"
    assert promising.found(speaker_id=people["Anna"], order="due") == "bc"
    assert promising.found(speaker_id=NOBODY) == ""


@pytest.mark.proves("mcp.tool.search-commitments")
def test_a_promise_comes_with_its_conversation_and_its_maker(promising: Promising) -> None:
    items = found_by(promising.account, "search_commitments")["items"]
    by_content = {item["content"]: item for item in items}
    item = by_content[LETTERS["c"]]
    assert item.pop("id")
    assert item == {
        "content": LETTERS["c"],
        "deadline": f"{promising.days['next_week']}T10:00:00+03:00",
        "overdue": False,
        "done_at": None,
        "promised_by": "Petr",
        "speaker_id": promising.people["Petr"],
        "people": ["Anna", "Petr"],
        "communication_id": promising.talks["complaint"],
        "kind": "call",
        "channel_type": "phone",
        "title": "A kept call",
        "occured_at": "2026-01-21T01:00:00+03:00",
        "url": f"{promising.account.server.url}/cabinet/communications/{promising.talks['complaint']}",
    }
    assert [by_content[LETTERS[letter]]["overdue"] for letter in "abde"] == [True, False, None, False]
    assert by_content[LETTERS["b"]]["promised_by"] is None


@pytest.mark.parametrize("arguments", [{}, {"order": "due"}, {"query": "доставка договора"}, {"due_to": "2100-01-01"}])
def test_pages_of_promises_make_up_the_whole(promising: Promising, arguments: dict[str, Any]) -> None:
    whole = [item["id"] for item in found_by(promising.account, "search_commitments", **arguments)["items"]]
    seen: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = found_by(promising.account, "search_commitments", limit=1, **arguments, **after)
        seen += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        after = {"cursor": page["next_cursor"]}
    assert seen == whole
    assert len(whole) > 2


def test_many_promises_fit_an_answer_and_every_page_is_reached(account: Account) -> None:
    contents = [f"Обещание {number}: " + "перезвонить и выслать счёт на оплату доставки " * 30 for number in range(120)]
    id_ = keep_communication(account, ("A", "hello"))
    items = [
        NewItem("commitment", content, meta={"deadline": day(number % 5)}) for number, content in enumerate(contents)
    ]
    with account.server.database.write() as connection:
        analysis.put_summary(account.tenant_id, connection, id_, text=None, items=items)
    for arguments in ({}, {"order": "due"}, {"query": "счёт"}):
        seen: list[str] = []
        after: dict[str, str] = {}
        while True:
            page = found_by(account, "search_commitments", limit=50, **arguments, **after)
            assert estimate_tokens(json.dumps(page, ensure_ascii=False)) <= 20_000
            seen += [item["id"] for item in page["items"]]
            if page["next_cursor"] is None:
                break
            after = {"cursor": page["next_cursor"]}
        assert len(seen) == len(set(seen)) == 120


def test_a_common_word_hides_no_older_promise_with_a_rare_one(account: Account) -> None:
    old, new = (keep_communication(account, ("A", "hello"), at=f"2026-01-0{day}T10:00:00+00:00") for day in (1, 2))
    many = [NewItem("commitment", f"We will send parcel {number} soon") for number in range(2_500)]
    rare = NewItem("commitment", "We will send the zebra crate")
    with account.server.database.write() as connection:
        analysis.put_summary(account.tenant_id, connection, old, text=None, items=[rare])
        analysis.put_summary(account.tenant_id, connection, new, text=None, items=many)
    for query in ("send zebra", "zebra", "soon send a zebra parcel"):
        found = found_by(account, "search_commitments", query=query, limit=3)["items"]
        assert rare.content in [item["content"] for item in found]
    assert found_by(account, "search_commitments", query="send zebra")["items"][0]["content"] == rare.content


def test_a_cursor_of_another_order_is_refused(promising: Promising) -> None:
    cursor = found_by(promising.account, "search_commitments", limit=1)["next_cursor"]
    assert "cursor" in refusal(promising.account, "search_commitments", order="due", cursor=cursor)
    assert "cursor" in refusal(promising.account, "search_commitments", query="договор", cursor=cursor)
    for name, wrong in (("due_from", "soon"), ("due_to", "0001-01-01"), ("order", "oldest"), ("speaker_id", "x")):
        assert name in refusal(promising.account, "search_commitments", **{name: wrong})


@pytest.mark.proves("mcp.own-account-only")
def test_people_and_promises_are_the_accounts_own(
    company: Company, promising: Promising, new_account: Callable[..., Account]
) -> None:
    other = new_account()
    for query in ({}, {"query": "Анна"}, {"query": "crm-1"}, {"department": "продаж"}):
        assert found_by(other, "search_speakers", **query)["items"] == []
    for asked in ({}, {"query": "договор"}, {"speaker_id": promising.people["Anna"]}, {"order": "due"}):
        assert found_by(other, "search_commitments", **asked)["items"] == []
