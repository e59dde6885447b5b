"""Spaces that are limited to chosen chats and keys: who is not among them finds nothing of theirs, anywhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.test_knowledge import DOCUMENTS, SPACES
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account

PLANTED = "The wobblethorn rebate is seventeen percent."
OPEN = "The opening hours are from nine to five."


class Other:
    """The same account by another of its keys."""

    def __init__(self, account: Account) -> None:
        made = account.post("/public/v1/keys", json={"name": "Other"}).json()
        self.id = made["id"]
        self._account = account
        self._headers = {"Authorization": f"Bearer {made['api_key']}"}

    def request(self, method: str, path: str, **options: Any) -> Any:
        return self._account.request(method, path, headers=self._headers, **options)

    def find(self, query: str) -> str:
        body = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "search_documents", "arguments": {"query": query}},
        }  # fmt: skip
        return str(self.request("POST", "/mcp", json=body).json())


@pytest.fixture
def own_key_id(account: Account) -> str:
    return str(account.get("/public/v1/keys").json()["items"][0]["id"])


@pytest.fixture
def limited(account: Account, own_key_id: str) -> tuple[str, str]:
    """A limited space and its document; another is open."""
    space_id = account.new_space("Secret prices")
    document = account.add_document(space_id, PLANTED.encode(), "rebate.txt")
    account.add_document(account.new_space("Open"), OPEN.encode(), "hours.txt")
    access = {"chat_ids": [], "key_ids": [own_key_id]}
    answer = account.request("PATCH", f"{SPACES}/{space_id}", json={"access": access})
    assert answer.status_code == 200, answer.text
    assert answer.json()["access"] == access
    return space_id, document["id"]


def ask(account: Account, text: str, **more: Any) -> dict[str, Any]:
    answer = account.post(f"/public/v1/chats/{account.chat_id}/messages", json={"text": text, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", SPACES + "/{space}"),
        ("PATCH", SPACES + "/{space}"),
        ("DELETE", SPACES + "/{space}"),
        ("GET", SPACES + "/{space}/documents"),
        ("POST", SPACES + "/{space}/documents"),
        ("GET", SPACES + "/{space}/questions"),
        ("POST", SPACES + "/{space}/evaluations"),
        ("GET", DOCUMENTS + "/{document}"),
        ("GET", DOCUMENTS + "/{document}/chunks"),
        ("GET", DOCUMENTS + "/{document}/file"),
        ("POST", DOCUMENTS + "/{document}/reindex"),
        ("DELETE", DOCUMENTS + "/{document}"),
    ],
)
def test_a_key_that_is_not_named_is_told_that_there_is_no_such_space(
    account: Account, limited: tuple[str, str], method: str, path: str
) -> None:
    body = {"PATCH": {"name": "Mine"}, "POST": {"title": "A", "text": "B"}}.get(method)
    if path.endswith(("/evaluations", "/reindex")):
        body = {}
    filled = path.format(space=limited[0], document=limited[1])
    assert Other(account).request(method, filled, json=body).status_code == 404


def test_a_limited_space_is_listed_and_searched_by_its_keys_alone(account: Account, limited: tuple[str, str]) -> None:
    other = Other(account)
    names = [each["name"] for each in other.request("GET", SPACES).json()["items"]]
    assert names == ["Open"]
    assert other.request("GET", SPACES).json()["pagination"]["total"] == 1
    assert "wobblethorn" not in other.find("wobblethorn rebate")
    assert "nine to five" in other.find("opening hours")
    assert "wobblethorn" in str(account.call_tool("search_documents", query="wobblethorn rebate"))
    listed = other.request(
        "POST",
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_kb_spaces", "arguments": {}}},
    )
    assert "Open" in listed.text
    assert "Secret prices" not in listed.text
    found = other.request("POST", "/public/v1/search", json={"query": "wobblethorn rebate"})
    assert "seventeen" not in found.text
    assert "seventeen" in account.post("/public/v1/search", json={"query": "wobblethorn rebate"}).text


def test_the_log_of_calls_tells_nothing_of_a_limited_space_to_other_keys(
    account: Account, limited: tuple[str, str]
) -> None:
    other = Other(account)
    account.call_tool("list_kb_documents", space_id=limited[0])
    account.call_tool("list_kb_chunks", document_id=limited[1])
    account.call_tool("search_documents", query="wobblethorn", space_ids=[UNKNOWN_ID], limit=99)
    account.call_tool("search_speakers", query="Anna")
    assert "opening" in other.find("opening hours")
    path = "/public/v1/tool-calls"
    own = account.get(path).text
    assert limited[0] in own
    assert limited[1] in own
    assert "wobblethorn" in own
    records = other.request("GET", path).json()["items"]
    shown = str(records)
    assert limited[0] not in shown
    assert limited[1] not in shown
    assert "wobblethorn" not in shown
    assert len(records) == 5
    assert {"query": "Anna"} in [each["arguments"] for each in records]
    assert {"query": "opening hours"} in [each["arguments"] for each in records]


def test_a_chat_answers_from_a_limited_space_only_where_it_is_named(account: Account, limited: tuple[str, str]) -> None:
    space_id, _ = limited
    question = "How much is the wobblethorn rebate?"
    assert "seventeen" not in str(ask(account, question))
    assert "seventeen" not in str(ask(account, question, space_ids=[space_id]))
    access = {"chat_ids": [account.chat_id], "key_ids": []}
    refused = account.request("PATCH", f"{SPACES}/{space_id}", json={"access": access})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "access")
    access["key_ids"] = [account.get("/public/v1/keys").json()["items"][0]["id"]]
    assert account.request("PATCH", f"{SPACES}/{space_id}", json={"access": access}).status_code == 200
    assert "seventeen" in ask(account, question)["markdown"]


def test_an_opened_space_is_everybody_s_again(account: Account, limited: tuple[str, str]) -> None:
    space_id, _ = limited
    other = Other(account)
    opened = account.request("PATCH", f"{SPACES}/{space_id}", json={"access": None})
    assert (opened.status_code, opened.json()["access"]) == (200, None)
    assert other.request("GET", f"{SPACES}/{space_id}").status_code == 200
    assert "seventeen" in other.find("wobblethorn rebate")


def test_a_space_can_be_limited_from_its_beginning_on(account: Account, own_key_id: str) -> None:
    access = {"chat_ids": [account.chat_id], "key_ids": [own_key_id]}
    made = account.post(SPACES, json={"name": "New", "access": access})
    assert (made.status_code, made.json()["access"]) == (201, access)
    assert Other(account).request("GET", f"{SPACES}/{made.json()['id']}").status_code == 404


@pytest.mark.parametrize("access", [{"chat_ids": [UNKNOWN_ID]}, {"key_ids": [UNKNOWN_ID]}, {"key_ids": ["x"]}, []])
def test_what_is_no_chat_or_key_of_the_account_is_refused(account: Account, own_key_id: str, access: Any) -> None:
    if isinstance(access, dict) and access.get("key_ids") == [UNKNOWN_ID]:
        access = {"key_ids": [own_key_id, UNKNOWN_ID]}
    answer = account.post(SPACES, json={"name": "New", "access": access})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"].startswith("access")
