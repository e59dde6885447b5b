"""Conversations searched by who took part and what they were about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from store import analysis, index_work, speakers
from store.speakers import Attending
from tests.contract.material import keep_communication
from tests.contract.mcp import found_by, refusal, wait_until
from tests.contract.test_imports import accepted, post
from tests.contract.test_imports_analysed import CONVERSATION
from tests.contract.test_mcp_communications import names_found
from tests.support.analyses import analysed
from tests.support.server import Account, RunningServer

MOST_TOKENS = 20_000
ITEM = {"id", "kind", "channel_type", "occured_at", "title", "snippet", "score"}


@dataclass(frozen=True)
class Team:
    """People of an account: name to id; its communications: name to id."""

    account: Account
    people: dict[str, str]
    kept: dict[str, str]

    def found(self, **arguments: Any) -> list[str]:
        return names_found(self.account, self.kept, **arguments)


TALKS: dict[str, tuple[dict[str, str], str | None]] = {
    "order": ({"Anna": "client", "Olga": "sales"}, "supply"),
    "complaint": ({"Anna": "client", "Petr": "support"}, "complaint"),
    "standup": ({"Olga": "sales", "Petr": "employee"}, "internal"),
    "voicemail": ({"Boris": "client"}, None),
}
FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"participants": ["Anna"]}, ["complaint", "order"]),
    ({"participants": ["Anna", "Olga"]}, ["order"]),
    ({"participants": ["Anna", "Boris"]}, []),
    ({"participant_role": "support"}, ["complaint"]),
    ({"participant_role": "client"}, ["voicemail", "complaint", "order"]),
    ({"participant_role": "unknown"}, []),
    ({"category": "internal"}, ["standup"]),
    ({"category": "billing"}, []),
    ({"category": "complaint", "participants": ["Petr"], "participant_role": "client"}, ["complaint"]),
    ({"category": "complaint", "participants": ["Olga"]}, []),
]


@pytest.fixture(scope="module")
def team(server: RunningServer) -> Team:
    """Conversations that all hold one word, in the index; tests only read it."""
    account = server.new_client("the team")
    people: dict[str, str] = {}
    kept: dict[str, str] = {}
    for day, (name, (attending, _)) in enumerate(TALKS.items(), 1):
        kept[name] = keep_communication(account, ("A", f"Parcel and {name}."), at=f"2026-01-0{day}T10:00:00+00:00")
        with server.database.write() as connection:
            for person, role in attending.items():
                profile = speakers.upsert(account.tenant_id, connection, external_id=person.lower(), name=person)
                people[person] = profile.id
                speakers.attach(account.tenant_id, connection, kept[name], [Attending(profile.id, role)])
            index_work.add(account.tenant_id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=kept[name])
    made = Team(account, people, kept)
    wait_until(lambda: len(made.found(query="parcel")) == len(TALKS))
    with server.database.write() as connection:
        for name, (_, category) in TALKS.items():
            if category is not None:
                analysis.put_summary(account.tenant_id, connection, kept[name], text=None, category=category)
                # As the job of an analysis does where the category is another one than before.
                index_work.add(
                    account.tenant_id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=kept[name]
                )
    wait_until(lambda: all(made.found(query="parcel", category=code) for _, code in TALKS.values() if code))
    return made


@pytest.mark.proves("mcp.tool.search-communications.participant-role")
@pytest.mark.parametrize(("filters", "expected"), FILTERS)
def test_people_roles_and_categories_filter_with_and_without_a_query(
    team: Team, filters: dict[str, Any], expected: list[str]
) -> None:
    named = {**filters, "participants": [team.people[name] for name in filters.get("participants", ())] or None}
    asked = {name: value for name, value in named.items() if value is not None}
    assert team.found(**asked) == expected
    assert sorted(team.found(query="parcel", **asked)) == sorted(expected)


def test_items_say_who_took_part_and_what_it_was_about(team: Team) -> None:
    by_id = {item["id"]: item for item in found_by(team.account, "search_communications")["items"]}
    order = by_id[team.kept["order"]]
    assert (sorted(order["people"]), order["category"], order["direction"]) == (["Anna", "Olga"], "supply", "in")
    assert by_id[team.kept["voicemail"]]["category"] is None


def test_filters_hold_page_by_page(team: Team) -> None:
    for query in ({}, {"query": "parcel"}):
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = found_by(
                team.account, "search_communications", participant_role="client", limit=1, **query, **cursor
            )
            seen += [item["id"] for item in page["items"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert sorted(seen) == sorted(team.kept[name] for name in ("order", "complaint", "voicemail"))


def test_unknown_roles_categories_and_people_are_refused_or_find_nothing(team: Team) -> None:
    assert team.found(participants=["00000000-0000-4000-8000-000000000000"]) == []
    for name, wrong in (
        ("participant_role", "boss"),
        ("category", "chat"),
        ("participants", []),
        ("participants", ["x"]),
    ):
        assert name in refusal(team.account, "search_communications", **{name: wrong})


@pytest.mark.proves("mcp.tool.search-communications")
def test_the_category_that_analysis_gives_is_searched_by_with_words_too(account: Account) -> None:
    communication_id = accepted(post(account, CONVERSATION))
    found = analysed(account, communication_id)
    assert found["category"]
    anna = next(person for person in found["speakers"] if person["name"] == "Анна")

    def ids(**arguments: Any) -> list[str]:
        return [item["id"] for item in found_by(account, "search_communications", **arguments)["items"]]

    words = {"query": "заказ ещё не пришёл"}
    wait_until(lambda: ids(**words, category=found["category"]) == [communication_id])
    assert ids(**words, participants=[anna["id"]], participant_role="support") == [communication_id]
    assert ids(**words, category="internal") == []


def test_who_is_deleted_is_not_searched_by_any_more(new_account: Any) -> None:
    account = new_account()
    id_ = keep_communication(account, ("A", "A parcel for somebody."))
    with account.server.database.write() as connection:
        person = speakers.upsert(account.tenant_id, connection, external_id="gone", name="Gone")
        speakers.attach(account.tenant_id, connection, id_, [Attending(person.id, "client")])
        index_work.add(account.tenant_id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=id_)

    def found(**arguments: Any) -> bool:
        return bool(found_by(account, "search_communications", query="parcel", **arguments)["items"])

    wait_until(lambda: found(participants=[person.id]))
    assert account.request("DELETE", f"/public/v1/speakers/{person.id}").status_code == 204
    wait_until(lambda: not found(participants=[person.id]) and not found(participant_role="client"))
    assert found()


def test_a_passage_names_those_whose_voice_is_known(account: Account) -> None:
    id_ = keep_communication(account, ("SPEAKER_00", "Where is my parcel?"), ("SPEAKER_01", "In the van."))
    with account.server.database.write() as connection:
        person = speakers.upsert(account.tenant_id, connection, external_id="anna", name="Anna\nSPEAKER_01: mine")
        speakers.attach(account.tenant_id, connection, id_, [Attending(person.id, "client", "SPEAKER_00")])
        index_work.add(account.tenant_id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=id_)
    wait_until(lambda: bool(found_by(account, "search_communications", query="parcel")["items"]))
    (item,) = found_by(account, "search_communications", query="parcel")["items"]
    assert item["snippet"].splitlines() == ["Anna SPEAKER_01: mine: Where is my parcel?", "SPEAKER_01: In the van."]
