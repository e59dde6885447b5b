"""Spaces and documents of the knowledge base: records, lists, and what adding, changing and deleting do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from tests.contract import material
from tests.contract.conftest import Library
from tests.contract.mcp import found_by
from tests.support.server import Account

SPACES = "/public/v1/kb/spaces"
DOCUMENTS = "/public/v1/kb/documents"
NOBODY = "00000000-0000-4000-8000-000000000000"
SPACE_FIELDS = {"id", "name", "description", "document_count", "access", "created_at", "updated_at"}
DOCUMENT_FIELDS = {
    "id", "space_id", "title", "mime", "size_bytes", "status", "progress", "error_code", "error_message",
    "chunk_count", "url", "created_at", "updated_at",
}  # fmt: skip
CHUNK_FIELDS = {"id", "idx", "text", "title_path", "page", "start_char", "end_char", "start_ms", "end_ms"}


def moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    assert found.tzinfo is not None
    return found


@pytest.mark.proves("knowledge.spaces.create", "knowledge.spaces.shape", "knowledge.spaces.get")
def test_a_space_is_created_and_read(account: Account) -> None:
    answer = account.post(SPACES, json={"name": "  Цены ", "description": "Прайс-листы"})
    assert answer.status_code == 201
    space = answer.json()
    assert set(space) == SPACE_FIELDS
    assert str(UUID(space["id"])) == space["id"]
    assert (space["name"], space["description"], space["document_count"]) == ("Цены", "Прайс-листы", 0)
    assert moment(space["created_at"]) == moment(space["updated_at"])
    assert account.get(f"{SPACES}/{space['id']}").json() == space
    assert account.post(SPACES, json={"name": "No description"}).json()["description"] == ""


@pytest.mark.proves("knowledge.spaces.create")
@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "   "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": 5}, "name"),
        ({"name": "x", "description": "y" * 2001}, "description"),
        ({"name": "x", "description": None}, "description"),
        ([], None),
    ],
)
def test_a_space_that_is_none_is_refused(account: Account, body: Any, param: str | None) -> None:
    answer = account.post(SPACES, json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


@pytest.mark.proves("knowledge.spaces.change")
def test_a_space_is_changed_field_by_field(account: Account) -> None:
    space_id = account.new_space("Before")
    before = account.get(f"{SPACES}/{space_id}").json()
    renamed = account.request("PATCH", f"{SPACES}/{space_id}", json={"name": "After"})
    assert renamed.status_code == 200
    assert (renamed.json()["name"], renamed.json()["description"]) == ("After", "")
    described = account.request("PATCH", f"{SPACES}/{space_id}", json={"description": "Why"}).json()
    assert (described["name"], described["description"]) == ("After", "Why")
    assert described["created_at"] == before["created_at"]
    assert moment(described["updated_at"]) > moment(before["updated_at"])
    assert account.request("PATCH", f"{SPACES}/{space_id}", json={"name": ""}).status_code == 400
    assert account.get(f"{SPACES}/{space_id}").json() == described


@pytest.mark.proves("knowledge.spaces.delete")
def test_a_deleted_space_is_gone_with_its_documents(account: Account) -> None:
    gone, kept = account.new_space("Gone"), account.new_space("Kept")
    text = material.PARKING.encode()
    documents = [account.add_document(space_id, text, "parking.txt")["id"] for space_id in (gone, kept)]
    answer = account.request("DELETE", f"{SPACES}/{gone}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert account.get(f"{SPACES}/{gone}").status_code == 404
    assert account.get(f"{DOCUMENTS}/{documents[0]}").status_code == 404
    assert [item["id"] for item in account.get(SPACES).json()["items"]] == [kept]
    found = found_by(account, "search_documents", query="parking at the warehouse")["items"]
    assert {item["space_id"] for item in found} == {kept}


@pytest.mark.proves("knowledge.spaces.list", "knowledge.lists.pagination", "knowledge.lists.offset")
def test_the_list_of_spaces_is_paged(account: Account) -> None:
    ids = [account.new_space(f"Space {number}") for number in range(23)]
    first = account.get(SPACES).json()
    assert set(first) == {"items", "pagination"}
    assert first["pagination"] == {"limit": 20, "offset": 0, "count": 20, "total": 23}
    assert [item["id"] for item in first["items"]] == ids[:20]
    rest = account.get(SPACES, params={"offset": 20, "limit": 5}).json()
    assert rest["pagination"] == {"limit": 5, "offset": 20, "count": 3, "total": 23}
    assert [item["id"] for item in rest["items"]] == ids[20:]
    beyond = account.get(SPACES, params={"offset": 1000}).json()
    assert (beyond["items"], beyond["pagination"]["count"], beyond["pagination"]["total"]) == ([], 0, 23)


@pytest.mark.proves("knowledge.lists.limit", "knowledge.lists.offset")
def test_the_bounds_of_a_page_hold_for_every_list(library: Library) -> None:
    account = library.account
    lists = (SPACES, f"{SPACES}/{library.prices}/documents", f"{DOCUMENTS}/{library.pdf_id}/chunks")
    for path in lists:
        assert account.get(path).json()["pagination"]["limit"] == 20
        for limit in ("1", "100"):
            answer = account.get(path, params={"limit": limit})
            assert answer.json()["pagination"]["limit"] == int(limit)
        for name, wrong in (("limit", "0"), ("limit", "101"), ("limit", "x"), ("offset", "-1"), ("offset", "1.5")):
            answer = account.get(path, params={name: wrong})
            assert answer.status_code == 400
            assert answer.json()["error"]["param"] == name


@pytest.mark.proves(
    "knowledge.documents.upload", "knowledge.documents.shape", "knowledge.documents.get", "knowledge.documents.status"
)
def test_an_uploaded_file_is_accepted_and_then_indexed(account: Account) -> None:
    space_id = account.new_space()
    raw = material.PARKING.encode()
    answer = account.upload_document(space_id, raw, "parking.txt")
    assert answer.status_code == 202
    record = answer.json()
    assert set(record) == DOCUMENT_FIELDS
    assert str(UUID(record["id"])) == record["id"]
    assert (record["space_id"], record["size_bytes"], record["status"]) == (space_id, len(raw), "pending")
    assert (record["progress"], record["chunk_count"]) == (0.0, 0)
    assert record["error_code"] is record["error_message"] is record["mime"] is None
    seen = {"pending"}
    while record["status"] in ("pending", "processing"):
        record = account.get(f"{DOCUMENTS}/{record['id']}").json()
        assert set(record) == DOCUMENT_FIELDS
        assert 0 <= record["progress"] <= 1
        seen.add(record["status"])
    assert seen <= {"pending", "processing", "success"}
    assert (record["status"], record["progress"], record["mime"]) == ("success", 1.0, "text/plain")
    assert record["chunk_count"] >= 1
    assert record["error_code"] is record["error_message"] is None
    assert moment(record["updated_at"]) > moment(record["created_at"])
    assert account.get(f"{SPACES}/{space_id}").json()["document_count"] == 1


def test_a_form_may_give_a_title(account: Account) -> None:
    answer = account.post(
        f"{SPACES}/{account.new_space()}/documents",
        files={"file": ("a.txt", b"The barrier opens with a code.")},
        data={"title": "Parking rules"},
    )
    assert account.finished_document(answer.json()["id"])["title"] == "Parking rules"


@pytest.mark.proves("knowledge.documents.by-text")
def test_a_document_comes_in_as_text(account: Account) -> None:
    path = f"{SPACES}/{account.new_space()}/documents"
    answer = account.post(path, json={"title": "Склад", "text": "Код шлагбаума стоит в накладной."})
    assert answer.status_code == 202
    record = answer.json()
    assert set(record) == DOCUMENT_FIELDS
    assert record["title"] == "Склад"
    assert account.finished_document(record["id"])["status"] == "success"
    (item,) = found_by(account, "search_documents", query="код шлагбаума")["items"]
    assert (item["document_id"], item["title"]) == (record["id"], "Склад")
    assert item["snippet"] == "Код шлагбаума стоит в накладной."


@pytest.mark.proves("knowledge.documents.by-text")
@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"title": "x"}, "text"),
        ({"text": "x"}, "title"),
        ({"title": "", "text": "x"}, "title"),
        ({"title": "x", "text": "  \n"}, "text"),
        ({"title": "x" * 301, "text": "x"}, "title"),
        ({"title": "x", "text": ["x"]}, "text"),
        ({}, "title"),
        ({"title": "x", "text": "x" * 500_001}, "text"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_text_that_is_none_is_refused(account: Account, body: dict[str, Any], param: str) -> None:
    answer = account.post(f"{SPACES}/{account.new_space()}/documents", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


@pytest.mark.proves("knowledge.documents.list", "knowledge.lists.pagination")
def test_the_list_of_a_space_gives_its_documents_newest_first(account: Account) -> None:
    space_id, other = account.new_space(), account.new_space()
    ids = [account.add_document(space_id, f"Text {number}".encode(), "t.txt")["id"] for number in range(3)]
    account.add_document(other, b"Another space", "t.txt")
    page = account.get(f"{SPACES}/{space_id}/documents", params={"limit": 2}).json()
    assert page["pagination"] == {"limit": 2, "offset": 0, "count": 2, "total": 3}
    assert [item["id"] for item in page["items"]] == [ids[2], ids[1]]
    assert set(page["items"][0]) == DOCUMENT_FIELDS
    rest = account.get(f"{SPACES}/{space_id}/documents", params={"offset": 2}).json()
    assert [item["id"] for item in rest["items"]] == [ids[0]]


@pytest.mark.proves("knowledge.documents.delete")
def test_a_deleted_document_is_no_longer_found(account: Account) -> None:
    space_id = account.new_space()
    gone = account.add_document(space_id, material.PARKING.encode(), "parking.txt")["id"]
    kept = account.add_document(space_id, b"Parking is for guests.", "guests.txt")["id"]
    answer = account.request("DELETE", f"{DOCUMENTS}/{gone}")
    assert (answer.status_code, answer.content) == (204, b"")
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/reindex"), ("GET", "/chunks"), ("GET", "/file")):
        assert account.request(method, f"{DOCUMENTS}/{gone}{path}").status_code == 404
    found = found_by(account, "search_documents", query="parking")["items"]
    assert [item["document_id"] for item in found] == [kept]
    assert account.get(f"{SPACES}/{space_id}").json()["document_count"] == 1


@pytest.mark.proves("knowledge.documents.reindex")
def test_a_document_is_indexed_again_from_its_file(account: Account) -> None:
    space_id = account.new_space()
    before = account.add_document(space_id, material.FILTERS.encode(), "filters.md")
    chunks = account.get(f"{DOCUMENTS}/{before['id']}/chunks").json()["items"]
    answer = account.post(f"{DOCUMENTS}/{before['id']}/reindex")
    assert answer.status_code == 202
    assert (answer.json()["status"], answer.json()["progress"]) == ("pending", 0.0)
    after = account.finished_document(before["id"])
    assert after["status"] == "success"
    assert moment(after["updated_at"]) > moment(before["updated_at"])
    assert account.get(f"{DOCUMENTS}/{before['id']}/chunks").json()["items"] == chunks
    found = found_by(account, "search_documents", query="картридж фильтра", limit=50)["items"]
    assert sorted(item["chunk_id"] for item in found) == sorted(chunk["id"] for chunk in chunks)


@pytest.mark.proves("knowledge.documents.chunks")
def test_the_chunks_of_a_document_hold_its_text_in_order(account: Account) -> None:
    record = account.add_document(account.new_space(), material.FILTERS.encode(), "filters.md")
    page = account.get(f"{DOCUMENTS}/{record['id']}/chunks").json()
    assert page["pagination"] == {"limit": 20, "offset": 0, "count": record["chunk_count"], "total": len(page["items"])}
    for number, chunk in enumerate(page["items"]):
        assert set(chunk) == CHUNK_FIELDS
        assert chunk["idx"] == number
        assert chunk["end_char"] - chunk["start_char"] == len(chunk["text"])
    text = "\n".join(chunk["text"] for chunk in page["items"])
    assert "2 340 рублей" in text
    assert "Тест-полоску" in text
    assert "Вода и фильтры" in page["items"][0]["title_path"]


@pytest.mark.proves("knowledge.documents.same-bytes")
def test_the_same_bytes_in_the_same_space_are_the_document_that_is_there(account: Account) -> None:
    space_id, raw = account.new_space(), material.RETURNS.encode()
    first = account.add_document(space_id, raw, "returns.html")
    again = account.upload_document(space_id, raw, "another name.html")
    assert again.status_code == 202
    assert again.json() == first
    assert account.get(f"{SPACES}/{space_id}").json()["document_count"] == 1
    elsewhere = account.add_document(account.new_space(), raw, "returns.html")
    assert elsewhere["id"] != first["id"]
    assert (
        len(found_by(account, "search_documents", query="refund", space_ids=[space_id])["items"])
        == (first["chunk_count"])
    )


@pytest.mark.proves("knowledge.documents.foreign")
def test_what_is_another_accounts_is_answered_like_what_is_not_there(
    library: Library, new_account: Callable[..., Account]
) -> None:
    stranger = new_account()
    for space_id, document_id in ((library.prices, library.pdf_id), (NOBODY, NOBODY), ("x", "x")):
        space, document = f"{SPACES}/{space_id}", f"{DOCUMENTS}/{document_id}"
        for method, path, options in (
            ("GET", space, {}),
            ("PATCH", space, {"json": {"name": "Mine"}}),
            ("DELETE", space, {}),
            ("GET", f"{space}/documents", {}),
            ("POST", f"{space}/documents", {"json": {"title": "x", "text": "x"}}),
            ("POST", f"{space}/documents", {"files": {"file": ("x.txt", b"x")}}),
            ("GET", document, {}),
            ("DELETE", document, {}),
            ("POST", f"{document}/reindex", {}),
            ("GET", f"{document}/chunks", {}),
            ("GET", f"{document}/file", {}),
        ):
            answer = stranger.request(method, path, **options)
            assert answer.status_code == 404, (method, path, answer.text)
            assert answer.json()["error"]["type"] == "not_found_error"
    assert stranger.get(SPACES).json()["items"] == []
    assert library.account.get(f"{DOCUMENTS}/{library.pdf_id}").json()["status"] == "success"
    assert library.account.get(f"{SPACES}/{library.prices}").json()["name"] == "Prices"
