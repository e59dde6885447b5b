"""People by id: profile, memory, voice, renaming, merging two, and what is left of one who is forgotten."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from store import analysis, communications, corrections, speakers, voices
from store.analysis import CriterionResult
from store.blobs import Blobs
from store.database import metadata
from store.ids import new_id
from store.voices import Voice
from tests.contract.described import get_described
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, Someone, Talk, add_talk, fact, promise

PATH = "/public/v1/speakers"
PERSON = PATH + "/{speaker_id}"
WAIT_S = 60


def person(account: Account, speaker_id: str) -> dict[str, Any]:
    return get_described(account, f"{PATH}/{speaker_id}", described_as=PERSON)


def memory(account: Account, speaker_id: str) -> list[dict[str, Any]]:
    found = get_described(account, f"{PATH}/{speaker_id}/memory", described_as=PERSON + "/memory")
    items: list[dict[str, Any]] = found["items"]
    return items


def change(account: Account, speaker_id: str, **values: Any) -> httpx2.Response:
    return account.request("PATCH", f"{PATH}/{speaker_id}", json=values)


def merge(account: Account, kept: str, gone: str, **headers: str) -> httpx2.Response:
    options = {"headers": {**account.headers, **headers}} if headers else {}
    return account.post(f"{PATH}/{kept}/merge", json={"speaker_id": gone}, **options)


def told(account: Account, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    answer = account.post(f"/public/v1/tools/{tool}", json=arguments)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def eventually(is_so: Callable[[], bool], what: str) -> None:
    """The index follows a moment after the change."""
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def add_voice(account: Account, talk: Talk, label: str, embedding: tuple[float, ...] = (1.0, 0.0)) -> None:
    heard = {label: Voice(embedding, 5000)}
    with account.server.database.write() as connection:
        voices.put_heard(account.tenant_id, connection, talk.id, model="test", voices=heard)
        assert voices.teach(account.tenant_id, connection, talk.id, label, talk.people[label])


def first_talk(account: Account) -> Talk:
    return add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": ANNA},
        turns=[("SPEAKER_00", "Good day, how can I help?"), ("SPEAKER_01", "We open a second cafe in June.")],
        promises=[promise("Send the offer", "SPEAKER_00")],
        facts=[fact("Opens a second cafe in June", "SPEAKER_01", quote="We open a second cafe in June")],
        title=f"Call with {ANNA.name}",
        score_pct=80.0,
        criteria=[CriterionResult("greeting", "binary", True, evidence="Good day")],
    )


def second_talk(account: Account, someone: Someone | None = None) -> Talk:
    return add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": someone or Someone("A. Fairweather", "tel-79161234567", "unknown")},
        turns=[("SPEAKER_00", "Yes?"), ("SPEAKER_01", "It is me again, the spare cup broke.")],
        promises=[promise("Pay the invoice", "SPEAKER_01")],
        facts=[
            fact("Opens a second cafe in June", "SPEAKER_01"),
            fact("Has a spare cup", "SPEAKER_01", quote="the spare cup broke", key="equipment"),
        ],
        title="A short call",
    )


def test_a_person_is_read_by_id_with_the_figures_of_their_profile(account: Account) -> None:
    talk = first_talk(account)
    add_voice(account, talk, "SPEAKER_01")
    anna = person(account, talk.people["SPEAKER_01"])
    assert (anna["name"], anna["external_id"], anna["role"]) == (ANNA.name, ANNA.external_id, "client")
    assert (anna["communications"], anna["facts"], anna["open_promises"]) == (1, 1, 1), "made to her"
    assert anna["first_contact_at"] == anna["last_contact_at"] is not None
    assert anna["voice"]["clean_s"] == 5.0
    assert anna["aliases"] == []
    boris = person(account, talk.people["SPEAKER_00"])
    assert (boris["department"], boris["open_promises"], boris["voice"]) == ("Service", 1, None)


def test_a_fact_comes_with_its_source_and_quotation(account: Account) -> None:
    talk = first_talk(account)
    (item,) = memory(account, talk.people["SPEAKER_01"])
    assert (item["content"], item["quote"]) == ("Opens a second cafe in June", "We open a second cafe in June")
    assert (item["communication_id"], item["idx"]) == (talk.id, 1)
    assert item["communication_title"] == f"Call with {ANNA.name}"


def test_a_person_is_renamed_and_searches_follow(account: Account) -> None:
    talk = second_talk(account)
    id_ = talk.people["SPEAKER_01"]
    eventually(lambda: bool(told(account, "search_memory", query="spare cup")), "the memory is not in the index")
    changed = change(account, id_, name="  Anna Fairweather ", role="client", department="")
    assert changed.status_code == 200, changed.text
    assert changed.json()["name"] == "Anna Fairweather"
    assert (person(account, id_)["role"], person(account, id_)["department"]) == ("client", None)
    assert told(account, "search_speakers", query="anna")[0]["id"] == id_
    with account.server.database.read() as connection:
        there = speakers.list_participants(account.tenant_id, connection, talk.id)
    assert {each.id: each.role for each in there}[id_] == "client", "where the role was unknown it is the new one"
    eventually(
        lambda: any(
            "Anna" in item["speaker_name"] for item in told(account, "search_memory", query="Anna Fairweather cup")
        ),
        "the index does not follow the name",
    )
    left = change(account, id_, department="North")
    assert (left.json()["name"], left.json()["department"]) == ("Anna Fairweather", "North"), "what is left out stays"


@pytest.mark.parametrize(
    ("body", "param"),
    [({"role": "boss"}, "role"), ({"role": None}, "role"), ({"name": "x" * 201}, "name"), ({"external_id": "x"}, None)],
)
def test_a_change_that_is_none_is_refused(account: Account, body: dict[str, Any], param: str | None) -> None:
    talk = first_talk(account)
    answer = change(account, talk.people["SPEAKER_01"], **body)
    assert answer.status_code == 400, answer.text
    assert param is None or answer.json()["error"]["param"] == param


def test_a_voice_is_removed_and_the_person_stays(account: Account) -> None:
    talk = first_talk(account)
    add_voice(account, talk, "SPEAKER_01")
    id_ = talk.people["SPEAKER_01"]
    assert account.request("DELETE", f"{PATH}/{id_}/voice").status_code == 204
    found = person(account, id_)
    assert (found["voice"], found["facts"]) == (None, 1)
    with account.server.database.read() as connection:
        assert voices.list_heard(account.tenant_id, connection, talk.id) == {}


def test_of_two_profiles_everything_is_one_persons_after_a_merge(account: Account) -> None:
    one, other = first_talk(account), second_talk(account)
    kept, gone = one.people["SPEAKER_01"], other.people["SPEAKER_01"]
    add_voice(account, one, "SPEAKER_01", (1.0, 0.0))
    add_voice(account, other, "SPEAKER_01", (0.0, 1.0))
    answer = merge(account, kept, gone)
    assert answer.status_code == 200, answer.text
    anna = person(account, kept)
    assert answer.json() == anna
    assert (anna["name"], anna["external_id"], anna["communications"]) == (ANNA.name, ANNA.external_id, 2)
    assert anna["voice"]["clean_s"] == 10.0
    assert anna["open_promises"] == 2, "of the one profile and of the other"
    facts = [item["content"] for item in memory(account, kept)]
    assert sorted(facts) == ["Has a spare cup", "Opens a second cafe in June"], "what both knew is there once"
    (alias,) = anna["aliases"]
    assert (alias["speaker_id"], alias["external_id"], alias["name"]) == (gone, "tel-79161234567", "A. Fairweather")
    attended = told(account, "search_communications", participants=[kept])
    assert {item["id"] for item in attended} == {one.id, other.id}
    ranked = {item["id"]: item["communications"] for item in told(account, "rank_people", role="client")}
    assert ranked[kept] == 2
    assert gone not in ranked
    eventually(
        lambda: (
            {
                item["id"]
                for item in told(account, "search_communications", query="spare cup broke", participants=[kept])
            }
            >= {other.id}
        ),
        "the index does not follow",
    )
    assert all(item["speaker_id"] == kept for item in told(account, "search_memory", query="spare cup"))
    entries = account.get("/public/v1/audit", params={"limit": 100}).json()["items"]
    merged = next(entry for entry in entries if entry["action"] == "speaker.merged")
    assert (merged["subject"], merged["details"]) == (kept, {"merged": gone})


def test_who_was_merged_is_found_by_what_they_went_by(account: Account) -> None:
    one, other = first_talk(account), second_talk(account)
    kept, gone = one.people["SPEAKER_01"], other.people["SPEAKER_01"]
    assert merge(account, kept, gone).status_code == 200
    assert person(account, gone)["id"] == kept, "the old id gives the one that it went into"
    assert account.get(f"{PATH}/{gone}/memory").status_code == 404
    assert change(account, gone, name="X").status_code == 404
    for query in ({"speaker_external_id": "tel-79161234567"}, {"speaker_name": "a. fairweather"}):
        assert account.get(f"{PATH}/profile", params=query).json()["speaker_id"] == kept
    again = second_talk(account)
    assert again.people["SPEAKER_01"] == kept, "the next call of the old external id is theirs"
    found = person(account, kept)
    assert (found["name"], found["communications"]) == (ANNA.name, 3), "and does not rename them"


def test_both_in_one_conversation_are_one_voice_there(account: Account) -> None:
    talk = add_talk(
        account,
        people={"SPEAKER_00": ANNA, "SPEAKER_01": Someone("Ann", role="unknown"), "SPEAKER_02": BORIS},
        turns=[("SPEAKER_00", "Hello."), ("SPEAKER_01", "It is me."), ("SPEAKER_02", "Yes.")],
    )
    assert merge(account, talk.people["SPEAKER_00"], talk.people["SPEAKER_01"]).status_code == 200
    with account.server.database.read() as connection:
        content = communications.list_content(account.tenant_id, connection, talk.id)
        people = speakers.list_participants(account.tenant_id, connection, talk.id)
    assert [item.label for _, item in content] == ["SPEAKER_00", "SPEAKER_00", "SPEAKER_02"]
    assert [(each.id, each.label) for each in people] == [
        (talk.people["SPEAKER_00"], "SPEAKER_00"), (talk.people["SPEAKER_02"], "SPEAKER_02"),
    ]  # fmt: skip


def test_merges_follow_each_other_and_what_is_missing_is_taken_over(account: Account) -> None:
    talks = [
        second_talk(account, Someone(None, "tel-1", "unknown")),
        second_talk(account, Someone("Anna", None)),
        second_talk(account, Someone("Anya", "tel-3")),
    ]
    first, second, third = (talk.people["SPEAKER_01"] for talk in talks)
    assert merge(account, second, first).status_code == 200
    found = person(account, second)
    assert (found["name"], found["external_id"]) == ("Anna", "tel-1"), "who has no external id takes the other's"
    assert merge(account, third, second).status_code == 200
    found = person(account, third)
    assert (found["id"], found["external_id"], found["communications"]) == (third, "tel-3", 3)
    assert {alias["speaker_id"] for alias in found["aliases"]} == {first, second}
    assert person(account, first)["id"] == third
    assert account.get(f"{PATH}/profile", params={"speaker_external_id": "tel-1"}).json()["speaker_id"] == third


def test_a_merge_that_is_repeated_is_done_once(account: Account) -> None:
    one, other = first_talk(account), second_talk(account)
    kept, gone = one.people["SPEAKER_01"], other.people["SPEAKER_01"]
    key = new_id()
    first = merge(account, kept, gone, **{"Idempotency-Key": key})
    again = merge(account, kept, gone, **{"Idempotency-Key": key})
    assert (first.status_code, again.status_code, first.json()) == (200, 200, again.json())
    refused = merge(account, kept, gone)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "already_merged")
    with_self = merge(account, kept, kept)
    assert (with_self.status_code, with_self.json()["error"]["param"]) == (400, "speaker_id")
    assert merge(account, kept, new_id()).status_code == 404


def test_another_accounts_people_are_out_of_reach(account: Account, new_account: Callable[..., Account]) -> None:
    talk, other = first_talk(account), new_account()
    theirs = first_talk(other)
    id_, own = talk.people["SPEAKER_01"], theirs.people["SPEAKER_01"]
    assert other.get(f"{PATH}/{id_}").status_code == 404
    assert other.get(f"{PATH}/{id_}/memory").status_code == 404
    assert change(other, id_, name="X").status_code == 404
    assert other.request("DELETE", f"{PATH}/{id_}/voice").status_code == 404
    assert merge(other, own, id_).status_code == 404
    assert merge(other, id_, own).status_code == 404
    assert person(account, id_)["name"] == ANNA.name
    assert person(other, own)["aliases"] == []


def test_who_is_forgotten_is_found_nowhere(account: Account) -> None:
    name, alias = "Zebulon Quillfeather", "Zeb Quillfeather-Smith"
    talk = add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": Someone(name, "cl-zebulon")},
        turns=[("SPEAKER_00", "Good day."), ("SPEAKER_01", "I collect lighthouses.")],
        facts=[fact("Collects lighthouses", "SPEAKER_01", quote="I collect lighthouses")],
        title=f"{BORIS.name}, {name}",
    )
    second = second_talk(account, Someone(alias, "tel-zeb"))
    add_voice(account, talk, "SPEAKER_01")
    Blobs(account.server.settings).put(f"{account.tenant_id}/audio/{talk.id}", b"The sound of lighthouses")
    with account.server.database.write() as connection:
        for before, after in ((None, name), (name, "tel-zeb")):
            corrections.add(
                account.tenant_id, connection, talk.id, kind="speaker", before=before, after=after, actor="cabinet"
            )
    id_, gone = talk.people["SPEAKER_01"], second.people["SPEAKER_01"]
    assert merge(account, id_, gone).status_code == 200
    eventually(lambda: bool(told(account, "search_memory", query="Zebulon lighthouses")), "it is not in the index")
    assert account.request("DELETE", f"{PATH}/{id_}").status_code == 204
    for path in (f"{PATH}/{id_}", f"{PATH}/{gone}", f"{PATH}/{id_}/memory"):
        assert account.get(path).status_code == 404
    for query in ({"speaker_external_id": "tel-zeb"}, {"speaker_name": name}, {"speaker_name": alias}):
        assert account.get(f"{PATH}/profile", params=query).status_code == 404
    eventually(lambda: told(account, "search_memory", query="Zebulon lighthouses") == [], "the index still has it")
    assert told(account, "search_speakers", query="Quillfeather") == []
    attended = account.get("/public/v1/communications", params={"id": talk.id}).json()
    assert "Quillfeather" not in json.dumps(attended)
    assert "I collect lighthouses." in json.dumps(attended), "what was said stays"
    # What was asked of the tools stays in their log until its own time is up, the questions above too.
    rows = [row for row in _rows(account) if not row.startswith("tool_calls ")]
    for secret in ("Quillfeather", "cl-zebulon", "tel-zeb", "Collects lighthouses"):
        assert [row for row in rows if secret in row] == []
    # The ids alone are left, once the index has followed: the audit log says that somebody was deleted.
    left = {"audit_entries", "idempotency_keys"}
    eventually(
        lambda: {row.split(" ", 1)[0] for row in _rows(account) if id_ in row or gone in row} <= left,
        "an id is left elsewhere",
    )
    for blob, content in account.server.files("blobs/**/*").items():
        assert b"Quillfeather" not in content, blob


def test_who_is_forgotten_is_named_in_no_promise_and_no_memory_of_others(account: Account) -> None:
    talk = add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": Someone("Пётр Журавлёв", "cl-petr")},
        turns=[("SPEAKER_00", "Я отправлю Петру Журавлёву счёт."), ("SPEAKER_01", "Жду.")],
        promises=[
            promise("Отправить Петру Журавлеву счёт", "SPEAKER_00", quote="Я отправлю Петру Журавлёву счёт."),
            promise("Позвонить с Петром Журавлёвым в банк", quote="Жду."),
        ],
        facts=[fact("Работает с Петром Журавлёвым", "SPEAKER_00", quote="Жду.")],
        title="Звонок Петра Журавлёва",
    )
    assert account.request("DELETE", f"{PATH}/{talk.people['SPEAKER_01']}").status_code == 204
    with account.server.database.read() as connection:
        boris = talk.people["SPEAKER_00"]
        remembered = analysis.list_items_of_speaker(account.tenant_id, connection, boris)
    assert {item.content for item in remembered} == {"Отправить — счёт", "Работает с —"}
    left = [row for row in _rows(account) if "Журавл" in row]
    assert {row.split(" ", 1)[0] for row in left} == {"content_items", "summary_items"}, "what was said stays, quoted"
    assert all("Я отправлю Петру Журавлёву счёт." in row for row in left)


def _rows(account: Account) -> list[str]:
    """All that the database holds of the account, as "table values"."""
    found = []
    with account.server.database.read() as connection:
        for table in metadata.sorted_tables:
            if "tenant_id" in table.c:
                query = sa.select(table).where(table.c.tenant_id == account.tenant_id)
                found += [f"{table.name} {tuple(row)!r}" for row in connection.execute(query)]
    return found
