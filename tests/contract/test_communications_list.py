"""GET /v1/communications/list: whose communications, which of them, and what each holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from store import accounts, analysis, communications, speakers
from store.ids import new_id
from store.speakers import Attending, Speaker
from tests.contract.described import get_described
from tests.support.server import Account

PATH = "/public/v1/communications/list"
AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
FIELDS = {
    "tenant_id", "id", "kind", "channel_type", "request_record_id", "created_at", "occured_at", "duration_ms",
    "language", "direction", "category", "label_ru", "summary_text", "user_summary", "speakers",
}  # fmt: skip


def add_person(account: Account, external_id: str | None, name: str | None, role: str = "client") -> Speaker:
    with account.server.database.write() as connection:
        return speakers.upsert(account.tenant_id, connection, external_id=external_id, name=name, role=role)


def add_call(account: Account, *people: Speaker, at: datetime = AT, **values: Any) -> str:
    given = {"kind": "call", "channel_type": "phone", "occured_at": at, "title": "A call", **values}
    with account.server.database.write() as connection:
        row = communications.create(account.tenant_id, connection, **given)
        attending = [Attending(person.id, person.role) for person in people]
        speakers.attach(account.tenant_id, connection, row.id, attending)
    return row.id


def listed(account: Account, **query: Any) -> dict[str, Any]:
    return get_described(account, PATH, **query)


def ids(account: Account, **query: Any) -> list[str]:
    return [item["id"] for item in listed(account, **query)["items"]]


@pytest.mark.proves(
    "communications.list.by-speaker-id",
    "communications.list.by-speaker-name",
    "communications.list.by-speaker-external-id",
    "communications.list.all-must-match",
)
def test_a_persons_communications_are_found_by_all_that_is_given(account: Account) -> None:
    anna, boris = add_person(account, "c-1", "Анна Петрова"), add_person(account, "c-2", "Boris")
    first, second = add_call(account, anna, boris), add_call(account, boris)
    add_call(account)
    assert ids(account, speaker_id=anna.id) == ids(account, speaker_external_id="c-1") == [first]
    assert ids(account, speaker_id=anna.id.upper()) == ids(account, speaker_name="Анна Петрова") == [first]
    both = sorted((first, second), reverse=True)  # they happened at one moment, so their ids decide
    assert ids(account, speaker_id=boris.id) == both
    everything = {"speaker_id": boris.id, "speaker_name": "Boris", "speaker_external_id": "c-2"}
    assert ids(account, **everything) == both
    for name, value in (("speaker_id", anna.id), ("speaker_name", "Анна Петрова"), ("speaker_external_id", "c-1")):
        assert ids(account, **{**everything, name: value}) == []


@pytest.mark.proves("communications.list.name-match")
def test_a_name_matches_whole_whatever_the_case_in_one_form(account: Account) -> None:
    call_id = add_call(account, add_person(account, None, "Фёдор Йылмаз"))
    for name in ("Фёдор Йылмаз", "фёдор йылмаз", "ФЁДОР ЙЫЛМАЗ", "Фе\u0308дор И\u0306ылмаз"):
        assert ids(account, speaker_name=name) == [call_id], name
    for name in ("Фёдор", "Йылмаз", "Фёдор Йылмаз 2", "Фёдор%", "%", "_" * 12):
        assert ids(account, speaker_name=name) == [], name


@pytest.mark.proves("communications.list.name-match")
def test_of_several_people_of_a_name_the_one_updated_last_is_meant(account: Account) -> None:
    people = [add_person(account, f"c-{number}", "Иван") for number in range(3)]
    calls = [add_call(account, person) for person in people]
    assert ids(account, speaker_name="иван") == [calls[2]]
    add_person(account, "c-0", None)
    assert ids(account, speaker_name="иван") == [calls[0]]
    assert ids(account, speaker_name="иван", speaker_external_id="c-1") == [calls[1]]


@pytest.mark.proves(
    "communications.list.one-required",
    "communications.list.by-speaker-id",
    "communications.list.by-speaker-name",
    "communications.list.by-speaker-external-id",
    "communications.list.limit",
    "communications.list.offset",
)
@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({}, "speaker_id"),
        ({"limit": "5"}, "speaker_id"),
        ({"speaker_id": "7"}, "speaker_id"),
        ({"speaker_id": ""}, "speaker_id"),
        ({"speaker_id": "x", "speaker_name": "Anna"}, "speaker_id"),
        ({"speaker_name": ""}, "speaker_name"),
        ({"speaker_name": "я" * 65}, "speaker_name"),
        ({"speaker_name": "a\x00"}, "speaker_name"),
        ({"speaker_external_id": ""}, "speaker_external_id"),
        ({"speaker_external_id": "я" * 65}, "speaker_external_id"),
        ({"speaker_external_id": "\x00"}, "speaker_external_id"),
        ({"speaker_name": "a", "limit": "0"}, "limit"),
        ({"speaker_name": "a", "limit": "101"}, "limit"),
        ({"speaker_name": "a", "limit": "1.5"}, "limit"),
        ({"speaker_name": "a", "limit": ""}, "limit"),
        ({"speaker_name": "a", "limit": "all"}, "limit"),
        ({"speaker_name": "a", "offset": "-1"}, "offset"),
        ({"speaker_name": "a", "offset": "x"}, "offset"),
        ({"speaker_name": "a", "offset": "9" * 30}, "offset"),
    ],
)
def test_a_query_out_of_bounds_is_400(account: Account, query: dict[str, str], param: str) -> None:
    answer = account.get(PATH, params=query)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)


@pytest.mark.proves("communications.list.by-speaker-name", "communications.list.by-speaker-external-id")
@pytest.mark.parametrize("text", ["1", "я" * 64])
def test_names_and_ids_of_1_to_64_characters_are_looked_for(account: Account, text: str) -> None:
    call_id = add_call(account, add_person(account, text, text))
    assert ids(account, speaker_name=text) == ids(account, speaker_external_id=text) == [call_id]


@pytest.mark.proves(
    "communications.list.limit",
    "communications.list.offset",
    "communications.list.answer",
    "communications.list.newest-first",
    "communications.list.count-of-page",
)
def test_pages_are_newest_first_and_say_what_they_hold(account: Account) -> None:
    anna = add_person(account, "c-1", "Anna")
    times = [AT + timedelta(hours=number % 11) for number in range(23)]
    made = [(at, add_call(account, anna, at=at)) for at in times]
    expected = [call_id for _, call_id in sorted(made, reverse=True)]
    first = listed(account, speaker_id=anna.id)
    assert set(first) == {"items", "pagination"}
    assert first["pagination"] == {"limit": 20, "offset": 0, "count": 20}
    assert [item["id"] for item in first["items"]] == expected[:20]
    second = listed(account, speaker_id=anna.id, offset=20)
    assert second["pagination"] == {"limit": 20, "offset": 20, "count": 3}
    assert [item["id"] for item in second["items"]] == expected[20:]
    assert ids(account, speaker_id=anna.id, limit=1, offset=7) == [expected[7]]
    whole = listed(account, speaker_id=anna.id, limit=100)
    assert (whole["pagination"]["count"], len(whole["items"])) == (23, 23)
    beyond = listed(account, speaker_id=anna.id, limit=100, offset=2**31 - 1)
    assert (beyond["items"], beyond["pagination"]["count"]) == ([], 0)


@pytest.mark.proves(
    "communications.list-item.shape",
    "communications.list-item.request-record-id-null",
    "communications.list-item.label-ru",
    "communications.list-item.summaries",
    "communications.list-item.no-statuses",
    "communications.category.labels-agree",
)
def test_an_item_is_as_documented_and_agrees_with_the_details(account: Account) -> None:
    anna, boris = add_person(account, "c-1", "Anna"), add_person(account, None, "Boris", "sales")
    plain = add_call(account, anna, kind="chat", channel_type="whatsapp")
    whole = add_call(account, boris, anna, at=AT + timedelta(days=1), request_record_id="crm-1", direction="out")
    with account.server.database.write() as connection:
        communications.update(account.tenant_id, connection, whole, language="ru", duration_ms=61_000)
        speakers.bind_label(account.tenant_id, connection, whole, anna.id, "SPEAKER_01")
        analysis.put_summary(
            account.tenant_id, connection, whole, text="About a bill", user_summary="{}", category="billing"
        )
        analysis.set_stage(account.tenant_id, connection, whole, "summary", "success")
    for language in ("ru", "en"):
        with account.server.database.write() as connection:
            accounts.update_tenant(account.tenant_id, connection, language=language)
        first, second = listed(account, speaker_id=anna.id)["items"]
        for item in (first, second):
            assert set(item) == FIELDS
            details = get_described(account, "/public/v1/communications", id=item["id"])
            assert item["label_ru"] == details["category_label"]
            shared = FIELDS - {"label_ru"}
            assert {name: item[name] for name in shared} == {name: details[name] for name in shared}
    assert (first["id"], first["request_record_id"], first["direction"]) == (whole, "crm-1", "out")
    assert (first["summary_text"], first["user_summary"]) == ("About a bill", "{}")
    assert (first["category"], first["label_ru"]) == ("billing", "Billing")
    assert [(each["name"], each["role"], each["label"]) for each in first["speakers"]] == [
        ("Boris", "sales", None),
        ("Anna", "client", "SPEAKER_01"),
    ]
    assert (second["id"], second["request_record_id"], second["category"], second["label_ru"]) == (plain, *(None,) * 3)


def test_another_accounts_people_have_no_communications_here(
    account: Account, new_account: Callable[..., Account]
) -> None:
    stranger = new_account()
    theirs = add_person(stranger, "c-1", "Anna")
    add_call(stranger, theirs)
    for query in ({"speaker_id": theirs.id}, {"speaker_name": "Anna"}, {"speaker_external_id": "c-1"}):
        assert listed(account, **query) == {"items": [], "pagination": {"limit": 20, "offset": 0, "count": 0}}
    assert listed(account, speaker_id=new_id())["items"] == []
    own = add_call(account, add_person(account, "c-1", "Anna"))
    assert ids(account, speaker_external_id="c-1") == [own]


@pytest.mark.proves("communications.list.401")
def test_the_list_needs_a_key(account: Account) -> None:
    for headers, code in (({}, "missing_api_key"), ({"x-api-key": "sk_live_x"}, "invalid_api_key")):
        answer = httpx2.get(account.server.url + PATH, params={"speaker_name": "a"}, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, code)


@pytest.mark.proves("communications.list.paused")
def test_a_paused_client_reads_its_lists(account: Account, pause: Callable[..., None]) -> None:
    anna = add_person(account, "c-1", "Anna")
    call_id = add_call(account, anna)
    pause(account)
    assert ids(account, speaker_id=anna.id) == [call_id]
