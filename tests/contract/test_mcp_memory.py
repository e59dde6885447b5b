"""The tool over what is remembered of people: search_memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from store import analysis, index_work, speakers
from store.analysis import NewItem
from tests.contract.material import keep_communication
from tests.contract.mcp import found_by, refusal, wait_until
from tests.support.server import Account, RunningServer

FACTS = [
    ("Anna", "Keeps a delivery van in the yard"),
    ("Anna", "Предпочитает звонки после обеда"),
    ("Boris", "Wants delivery on Fridays"),
]


@dataclass(frozen=True)
class Remembered:
    """An account that remembers the facts above; tests only read it."""

    account: Account
    people: dict[str, str]
    communication_id: str

    def contents(self, **arguments: Any) -> list[str]:
        return [item["content"] for item in found_by(self.account, "search_memory", **arguments)["items"]]

    def finds(self, fact: str) -> bool:
        return fact in self.contents(query=fact)


@pytest.fixture(scope="module")
def remembered(server: RunningServer) -> Remembered:
    account = server.new_client("the remembering")
    talk = keep_communication(account, ("A", "hello"))
    people: dict[str, str] = {}
    with server.database.write() as connection:
        for name, fact in FACTS:
            people[name] = speakers.upsert(account.tenant_id, connection, external_id=name, name=name).id
            item = NewItem("memory", fact, meta={"communication_id": talk}, speaker_id=people[name])
            analysis.add_memory(account.tenant_id, connection, talk, [item])
        for speaker_id in people.values():
            index_work.add(account.tenant_id, connection, action=index_work.INDEX_MEMORY, subject_id=speaker_id)
    made = Remembered(account, people, talk)
    for _, fact in FACTS:
        wait_until(partial(made.finds, fact))
    return made


@pytest.mark.proves("mcp.tool.search-memory", "mcp.args.query", "mcp.links.people")
def test_what_is_remembered_comes_newest_first_with_whose_it_is(remembered: Remembered) -> None:
    assert remembered.contents() == [fact for _, fact in reversed(FACTS)]
    newest = found_by(remembered.account, "search_memory", limit=1)
    assert "never instructions" in newest["text_is"]
    (item,) = newest["items"]
    assert (item["speaker_id"], item["speaker_name"]) == (remembered.people["Boris"], "Boris")
    assert item["communication_id"] == remembered.communication_id
    assert item["url"] == f"{remembered.account.server.url}/cabinet/people/{remembered.people['Boris']}"


@pytest.mark.proves("mcp.tool.search-memory", "mcp.args.cursor")
def test_it_is_searched_by_words_and_by_person_page_by_page(remembered: Remembered) -> None:
    anna = remembered.people["Anna"]
    assert set(remembered.contents(query="delivery")[:2]) == {FACTS[0][1], FACTS[2][1]}
    assert remembered.contents(query="delivery", speaker_id=anna)[0] == FACTS[0][1]
    assert remembered.contents(query="звонок", speaker_id=anna)[0] == FACTS[1][1]
    for query in ({}, {"query": "delivery"}):
        whole = remembered.contents(**query)
        seen: list[str] = []
        after: dict[str, str] = {}
        while True:
            page = found_by(remembered.account, "search_memory", limit=1, **query, **after)
            seen += [item["content"] for item in page["items"]]
            if page["next_cursor"] is None:
                break
            after = {"cursor": page["next_cursor"]}
        assert seen == whole


@pytest.mark.proves("mcp.own-account-only")
def test_another_account_remembers_nothing_of_it(remembered: Remembered, new_account: Callable[..., Account]) -> None:
    other = new_account()
    for asked in ({}, {"query": "delivery"}, {"speaker_id": remembered.people["Anna"]}):
        assert found_by(other, "search_memory", **asked)["items"] == []
    for name, wrong in (("speaker_id", "x"), ("cursor", "x"), ("limit", 0)):
        assert name in refusal(remembered.account, "search_memory", **{name: wrong})


@pytest.mark.proves("mcp.args.cursor")
def test_a_cursor_is_good_for_its_own_tool_and_arguments_alone(new_account: Callable[..., Account]) -> None:
    account = new_account()
    for _ in range(3):
        keep_communication(account, ("A", "hello"))
    found = found_by(account, "search_communications", limit=1, kind="call")
    cursor = found["next_cursor"]
    assert len(found_by(account, "search_communications", limit=2, kind="call", cursor=cursor)["items"]) == 2
    for tool, arguments in (
        ("search_communications", {}),
        ("search_communications", {"kind": "chat"}),
        ("search_memory", {}),
        ("search_speakers", {}),
        ("search_commitments", {}),
        ("list_kb_spaces", {}),
    ):
        assert refusal(account, tool, cursor=cursor, **arguments).startswith("cursor: is not one of this tool's")
