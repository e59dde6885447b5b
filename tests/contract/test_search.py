"""One search over documents, conversations and memory, within what the account and its key may see."""

from __future__ import annotations

from typing import Any

import pytest

from store import accounts
from tests.contract.access import SECRET, Owner, make_owner
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account, RunningServer

SEARCH = "/public/v1/search"
SHARED = {"kind", "score", "url", "duplicates"}
FIELDS = {
    "document": SHARED | {"document_id", "space_id", "chunk_id", "title", "snippet", "page"},
    "communication": SHARED
    | {"id", "communication_kind", "channel_type", "occured_at", "title", "snippet", "start_ms"},
    "memory": SHARED | {"id", "speaker_id", "speaker_name", "content", "created_at", "communication_id"},
}


@pytest.fixture(scope="module")
def owner(server: RunningServer) -> Owner:
    return make_owner(server.new_client("owner of all kinds"))


def search(account: Account, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = account.post(SEARCH, json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def test_one_search_finds_what_is_written_what_was_said_and_what_is_remembered(owner: Owner) -> None:
    items = search(owner.account, SECRET)
    assert {item["kind"] for item in items} == set(FIELDS)
    for item in items:
        assert set(item) == FIELDS[item["kind"]]
    scores = [item["score"] for item in items]
    assert scores == sorted(scores, reverse=True)
    found = {item["kind"]: item for item in items}
    assert found["document"]["document_id"] == owner.ids["document_id"]
    assert found["communication"]["id"] == owner.ids["communication_id"]
    assert found["communication"]["communication_kind"] == "call"
    assert found["memory"]["speaker_id"] == owner.ids["speaker_id"]


@pytest.mark.parametrize("kinds", [["document"], ["communication"], ["memory"], ["memory", "document", "memory"]])
def test_kinds_are_searched_apart(owner: Owner, kinds: list[str]) -> None:
    assert {item["kind"] for item in search(owner.account, SECRET, kinds=kinds)} == set(kinds)


def test_spaces_bound_documents_and_leave_the_rest(owner: Owner) -> None:
    own = search(owner.account, SECRET, space_ids=[owner.ids["space_id"]])
    assert {item["kind"] for item in own} == set(FIELDS)
    for elsewhere in ([UNKNOWN_ID], []):
        items = search(owner.account, SECRET, space_ids=elsewhere)
        assert {item["kind"] for item in items} == {"communication", "memory"}
        assert search(owner.account, SECRET, kinds=["document"], space_ids=elsewhere) == []


def test_another_account_finds_nothing_of_it(owner: Owner, account: Account) -> None:
    assert search(account, SECRET) == []
    assert search(account, SECRET, space_ids=[owner.ids["space_id"]]) == []


def test_a_limited_space_is_searched_by_its_keys_alone(account: Account) -> None:
    space_id = account.new_space()
    account.add_document(space_id, b"The wobblethorn rebate is seventeen percent.", "rebate.txt")
    key = account.post("/public/v1/keys", json={"name": "Other"}).json()
    headers = {"Authorization": f"Bearer {key['api_key']}"}
    body = {"query": "wobblethorn rebate"}
    assert len(account.post(SEARCH, json=body, headers=headers).json()["items"]) == 1
    own_id = next(each["id"] for each in account.get("/public/v1/keys").json()["items"] if each["id"] != key["id"])
    access = {"chat_ids": [], "key_ids": [own_id]}
    assert account.request("PATCH", f"/public/v1/kb/spaces/{space_id}", json={"access": access}).status_code == 200
    assert account.post(SEARCH, json=body, headers=headers).json()["items"] == []
    assert account.post(SEARCH, json=body | {"space_ids": [space_id]}, headers=headers).json()["items"] == []
    assert len(search(account, "wobblethorn rebate")) == 1


@pytest.mark.parametrize(("feature", "kind"), [("kb", "document"), ("memory", "memory")])
def test_a_feature_that_is_off_hides_its_kind(server: RunningServer, feature: str, kind: str) -> None:
    account = server.new_client(f"without {feature}", features=[each for each in accounts.FEATURES if each != feature])
    refused = account.post(SEARCH, json={"query": SECRET, "kinds": [kind]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "feature_disabled")
    assert search(account, SECRET) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query", ""),
        ("query", "  "),
        ("query", "x" * 1001),
        ("query", None),
        ("kinds", []),
        ("kinds", ["call"]),
        ("space_ids", ["x"]),
        ("limit", 0),
        ("limit", 51),
        ("neighbours", 3),
        ("unknown", 1),
    ],
)
def test_a_field_that_is_wrong_is_named(account: Account, field: str, value: Any) -> None:
    answer = account.post(SEARCH, json={"query": "x"} | {field: value})
    assert answer.status_code == 400, answer.text
    assert field in answer.json()["error"]["message"]


def test_copies_are_found_once_and_the_limit_holds(account: Account) -> None:
    space_id = account.new_space()
    text = "Our couriers deliver the quagberry within the city on working days."
    account.add_document(space_id, text.encode(), "one.txt")
    account.add_document(space_id, text.replace(" the quag", "  the quag").encode(), "two.txt")
    account.add_document(space_id, b"A quagberry ripens in August in the northern gardens.", "three.txt")
    items = search(account, "quagberry couriers")
    assert [item["duplicates"] for item in items] == [1, 0]
    assert len(search(account, "quagberry couriers", limit=1)) == 1


def test_neighbours_bring_what_stands_around_a_passage(account: Account) -> None:
    space_id = account.new_space()
    parts = [f"# Part {n}\n\n" + f"Sentence of part {n} about item {n}. " * 20 for n in range(5)]
    parts[2] += "The quagberry is here. "
    account.add_document(space_id, "\n\n".join(parts).encode(), "parts.md")
    (alone,) = search(account, "quagberry", limit=1)
    (wide,) = search(account, "quagberry", limit=1, neighbours=1)
    assert alone["chunk_id"] == wide["chunk_id"]
    assert alone["snippet"] in wide["snippet"]
    assert "part 1" in wide["snippet"] or "part 3" in wide["snippet"]
