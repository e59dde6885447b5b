"""GET /v1/speakers/profile: how a person is found, and what is remembered of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest

from store import analysis, communications, speakers
from store.analysis import NewItem
from store.speakers import Speaker
from tests.contract.described import get_described
from tests.support.server import Account

PATH = "/public/v1/speakers/profile"
FIELDS = {
    "tenant_id", "speaker_id", "speaker_external_id", "speaker_name", "speaker_role", "speaker_department",
    "speaker_created_at", "speaker_updated_at", "summary_items",
}  # fmt: skip
ITEM = {"id", "summary_id", "item_type", "subtype", "content", "meta", "speaker_id", "created_at"}


def add_person(account: Account, **values: str | None) -> Speaker:
    given: dict[str, str | None] = {"external_id": None, "name": None, "role": "client", **values}
    with account.server.database.write() as connection:
        return speakers.upsert(account.tenant_id, connection, **given)


def profile(account: Account, **query: str) -> dict[str, Any]:
    return get_described(account, PATH, **query)


@pytest.mark.proves(
    "speakers.profile.by-name",
    "speakers.profile.by-external-id",
    "speakers.profile.identity",
    "speakers.profile.department",
    "speakers.profile.times",
)
def test_a_profile_is_found_by_either_and_has_the_documented_fields(account: Account) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    anna = add_person(account, external_id="c-1", name="Анна", role="support", department="Север")
    found = profile(account, speaker_name="Анна")
    assert set(found) == FIELDS
    assert found == profile(account, speaker_external_id="c-1")
    assert (found["tenant_id"], found["speaker_id"]) == (account.tenant_id, anna.id)
    assert str(UUID(found["speaker_id"])) == found["speaker_id"]
    assert (found["speaker_external_id"], found["speaker_name"]) == ("c-1", "Анна")
    assert (found["speaker_role"], found["speaker_department"]) == ("support", "Север")
    made, updated = (datetime.fromisoformat(found[f"speaker_{name}_at"]) for name in ("created", "updated"))
    assert before <= made <= updated <= datetime.now(UTC)
    assert found["summary_items"] == []


@pytest.mark.proves("speakers.profile.identity", "speakers.profile.department")
def test_what_nobody_gave_is_an_empty_text_and_no_department(account: Account) -> None:
    add_person(account, name="Anna", role="")
    found = profile(account, speaker_name="anna")
    assert (found["speaker_external_id"], found["speaker_role"]) == ("", "unknown")
    assert found["speaker_department"] is None
    add_person(account, external_id="c-9", role="boss")
    found = profile(account, speaker_external_id="c-9")
    assert (found["speaker_name"], found["speaker_role"]) == ("", "employee")


@pytest.mark.proves("speakers.profile.404", "speakers.profile.name-match")
def test_a_name_matches_whole_and_all_that_is_given_must_match(account: Account) -> None:
    anna = add_person(account, external_id="c-1", name="Анна Ёлкина")
    add_person(account, external_id="c-2", name="Boris")
    for query in (
        {"speaker_name": "АННА ёлкина"},
        {"speaker_name": "анна ёлкина", "speaker_external_id": "c-1"},
    ):
        assert profile(account, **query)["speaker_id"] == anna.id
    for query in (
        {"speaker_name": "Анна"},
        {"speaker_name": "Анна Ёлкин_"},
        {"speaker_external_id": "C-1"},
        {"speaker_name": "Анна Ёлкина", "speaker_external_id": "c-2"},
        {"speaker_name": "Nobody", "speaker_external_id": "c-1"},
    ):
        answer = account.get(PATH, params=query)
        assert answer.status_code == 404, query
        error = answer.json()["error"]
        assert (error["type"], error["code"], error["param"]) == ("not_found_error", None, None)


@pytest.mark.proves("speakers.profile.last-updated-wins")
def test_of_several_profiles_of_a_name_the_one_updated_last_is_given(account: Account) -> None:
    people = [add_person(account, external_id=f"c-{number}", name="Иван") for number in range(3)]
    assert profile(account, speaker_name="иван")["speaker_id"] == people[2].id
    add_person(account, external_id="c-1", department="south")
    found = profile(account, speaker_name="иван")
    assert (found["speaker_id"], found["speaker_department"]) == (people[1].id, "south")


@pytest.mark.proves("speakers.profile.one-required", "speakers.profile.by-name", "speakers.profile.by-external-id")
@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({}, "speaker_name"),
        ({"speaker_id": "01890000-0000-7000-8000-000000000000"}, "speaker_name"),
        ({"speaker_name": ""}, "speaker_name"),
        ({"speaker_name": "я" * 65}, "speaker_name"),
        ({"speaker_name": "\x00"}, "speaker_name"),
        ({"speaker_external_id": ""}, "speaker_external_id"),
        ({"speaker_external_id": "я" * 65}, "speaker_external_id"),
        ({"speaker_external_id": "a\x00b"}, "speaker_external_id"),
        ({"speaker_external_id": "", "speaker_name": "Anna"}, "speaker_external_id"),
    ],
)
def test_a_query_that_names_nobody_is_400(account: Account, query: dict[str, str], param: str) -> None:
    answer = account.get(PATH, params=query)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == param


@pytest.mark.proves("speakers.profile.summary-items", "analysis.item.memory-has-speaker", "analysis.item.type")
def test_what_is_remembered_of_a_person_comes_before_what_they_promised(account: Account) -> None:
    anna, boris = add_person(account, name="Anna"), add_person(account, name="Boris")
    with account.server.database.write() as connection:
        row = communications.create(
            account.tenant_id, connection, kind="call", channel_type="phone", occured_at=anna.created_at, title="A call"
        )
        remembered = [
            NewItem("memory", "has a dog", "pets", {"since": "2026"}, anna.id),
            NewItem("memory", "likes tea", speaker_id=boris.id),
        ]
        analysis.add_memory(account.tenant_id, connection, row.id, remembered)
        promise = NewItem("commitment", "send a bill", None, {"deadline": "2026-03-05"}, anna.id)
        fact = NewItem("criteria", "an offer", "offer")
        summary_id = analysis.put_summary(account.tenant_id, connection, row.id, text="t", items=[promise, fact])
    items = profile(account, speaker_name="Anna")["summary_items"]
    assert [set(item) for item in items] == [ITEM] * 2
    assert [item["item_type"] for item in items] == ["memory", "commitment"]
    assert [item["content"] for item in items] == ["has a dog", "send a bill"]
    assert [item["summary_id"] for item in items] == [None, summary_id]
    assert [item["speaker_id"] for item in items] == [anna.id] * 2
    assert (items[0]["subtype"], items[0]["meta"]) == ("pets", {"since": "2026"})


def test_another_accounts_person_is_unknown_here(account: Account, new_account: Callable[..., Account]) -> None:
    stranger = new_account()
    theirs = add_person(stranger, external_id="c-1", name="Anna")
    for query in ({"speaker_name": "Anna"}, {"speaker_external_id": "c-1"}):
        answer = account.get(PATH, params=query)
        assert answer.status_code == 404
        assert theirs.id not in answer.text


@pytest.mark.proves("speakers.profile.401")
def test_a_profile_needs_a_key(account: Account) -> None:
    for headers, code in (({}, "missing_api_key"), ({"x-api-key": "sk_live_x"}, "invalid_api_key")):
        answer = httpx2.get(account.server.url + PATH, params={"speaker_name": "a"}, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, code)


@pytest.mark.proves("speakers.profile.paused")
def test_a_paused_client_reads_profiles(account: Account, pause: Callable[..., None]) -> None:
    anna = add_person(account, external_id="c-1")
    pause(account)
    assert profile(account, speaker_external_id="c-1")["speaker_id"] == anna.id
