"""Passages as the cabinet reads them: opened at the cited one; and a space's documents by status and title."""

from __future__ import annotations

from typing import Any

import pytest

from store import knowledge
from store.ids import new_id
from store.knowledge import StoredChunk
from tests.contract.described import get_described
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account

CHUNKS = "/public/v1/kb/documents/{document_id}/chunks"
DOCUMENTS = "/public/v1/kb/spaces/{space_id}/documents"
MANY = 2000


def add_book(account: Account, space_id: str, *, passages: int = MANY) -> tuple[str, list[str]]:
    """A document with so many passages, and their ids."""
    document = account.add_document(space_id, b"One line.", "book.txt")
    ids = [new_id() for _ in range(passages)]
    rows = [
        StoredChunk(chunk_id, idx, f"Passage {idx + 1} of the book.", [f"Part {idx // 100 + 1}"], idx // 4 + 1, 0, 1)
        for idx, chunk_id in enumerate(ids)
    ]
    with account.server.database.write() as connection:
        knowledge.put_chunks(account.tenant_id, connection, document["id"], 2, rows)
        knowledge.begin_reindex(account.tenant_id, connection, document["id"])
        assert knowledge.switch_version(account.tenant_id, connection, document["id"], 2, passages)
    return document["id"], ids


def chunks(account: Account, document_id: str, **query: Any) -> dict[str, Any]:
    return get_described(account, CHUNKS.format(document_id=document_id), described_as=CHUNKS, **query)


def test_a_page_opens_around_the_cited_passage(account: Account) -> None:
    document_id, ids = add_book(account, account.new_space())
    page = chunks(account, document_id, limit=40, chunk_id=ids[1499])
    assert page["pagination"] == {"limit": 40, "offset": 1489, "count": 40, "total": MANY}
    assert [item["id"] for item in page["items"]] == ids[1489:1529]
    first = chunks(account, document_id, limit=40, chunk_id=ids[3], offset=900)
    assert first["pagination"]["offset"] == 0


@pytest.mark.parametrize("cited", [UNKNOWN_ID, "other"])
def test_a_passage_of_no_version_or_of_another_document_is_404(account: Account, cited: str) -> None:
    space_id = account.new_space()
    document_id, _ = add_book(account, space_id, passages=3)
    other = account.add_document(space_id, b"Another line.", "other.txt")
    if cited == "other":
        cited = chunks(account, other["id"], limit=1)["items"][0]["id"]
    answer = account.get(f"{CHUNKS.format(document_id=document_id)}?chunk_id={cited}")
    assert answer.status_code == 404
    assert account.get(f"{CHUNKS.format(document_id=document_id)}?chunk_id=x").status_code == 400


def test_documents_are_found_by_status_and_a_part_of_the_title(account: Account) -> None:
    space_id = account.new_space()
    for title in ("Прайс-лист 100%", "rules_and_more"):
        body = {"title": title, "text": f"What stands in {title}."}
        made = account.post(DOCUMENTS.format(space_id=space_id), json=body)
        account.finished_document(made.json()["id"])
    failed = account.upload_document(space_id, b"\x00\x01\x02\x03" * 100, "noise.bin").json()
    account.finished_document(failed["id"])

    def titles(**query: str) -> list[str]:
        found = get_described(account, DOCUMENTS.format(space_id=space_id), described_as=DOCUMENTS, **query)
        assert found["pagination"]["total"] == len(found["items"])
        return sorted(item["title"] for item in found["items"])

    assert titles(status="error") == ["noise.bin"]
    assert titles(status="success") == ["rules_and_more", "Прайс-лист 100%"]
    assert titles(status="working") == []
    assert titles(title="прайс") == ["Прайс-лист 100%"]
    assert titles(title="RULES") == ["rules_and_more"]
    assert titles(title="0%") == ["Прайс-лист 100%"]
    assert titles(title="s_a", status="success") == ["rules_and_more"]
    assert titles(title="s%a") == []
    assert account.get(f"{DOCUMENTS.format(space_id=space_id)}?status=lost").status_code == 400
