"""The tools that list what the knowledge base holds: list_kb_documents and list_kb_chunks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from rag.language_model import estimate_tokens
from store import knowledge
from store.database import now
from store.ids import new_id
from tests.contract.conftest import Library
from tests.contract.mcp import found_by, refusal
from tests.support.server import Account

NOBODY = "00000000-0000-4000-8000-000000000000"


def pages(account: Account, tool: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    """Page by page; each fits an answer."""
    after: dict[str, str] = {}
    while True:
        page = found_by(account, tool, **arguments, **after)
        assert estimate_tokens(json.dumps(page, ensure_ascii=False)) <= 20_000
        yield page
        if page["next_cursor"] is None:
            return
        after = {"cursor": page["next_cursor"]}


def document_row(account: Account, space_id: str, number: int, **values: Any) -> dict[str, Any]:
    at = now() - timedelta(days=1)
    made: dict[str, Any] = {
        "id": new_id(),
        "tenant_id": account.tenant_id,
        "space_id": space_id,
        "title": f"Документ {number} " + "с очень длинным названием " * 8,
        "file_name": f"{number}.txt",
        "mime": "text/plain",
        "size_bytes": 10,
        "sha256": f"{number:064x}",
        "blob_key": f"none/{number}",
        "status": "success",
        "progress": 1.0,
        "chunk_count": 0,
        "run": 1,
        "version": 1,
        "created_at": at + timedelta(seconds=number // 7),
        "updated_at": at,
    }
    return made | values


@pytest.mark.proves("mcp.tool.list-kb-documents", "mcp.args.list-kb-documents", "mcp.links")
def test_documents_of_a_space_are_listed_newest_first(library: Library) -> None:
    (page,) = pages(library.account, "list_kb_documents", space_id=library.prices)
    assert [item["chunks"] > 0 for item in page["items"]] == [True, True, True]
    handbook = page["items"][0]
    kept = library.account.get(f"/public/v1/kb/documents/{library.pdf_id}").json()
    assert handbook.pop("updated_at")
    assert handbook == {
        "id": library.pdf_id,
        "title": kept["title"],
        "mime": "application/pdf",
        "status": "success",
        "error_code": None,
        "pages": 2,
        "chunks": kept["chunk_count"],
        "url": f"{library.account.server.url}/cabinet/documents/{library.pdf_id}",
    }
    assert page["items"][1]["pages"] is None
    first, second = list(pages(library.account, "list_kb_documents", space_id=library.rules, limit=1))
    assert len(first["items"]) == len(second["items"]) == 1


@pytest.mark.proves("mcp.tool.list-kb-chunks", "mcp.args.list-kb-chunks", "mcp.links")
def test_the_passages_of_a_document_are_its_table_of_contents(library: Library) -> None:
    (page,) = pages(library.account, "list_kb_chunks", document_id=library.pdf_id)
    kept = library.account.get(f"/public/v1/kb/documents/{library.pdf_id}/chunks").json()["items"]
    assert page["total"] == len(kept)
    assert page["space_id"] == library.prices
    assert [item["id"] for item in page["items"]] == [each["id"] for each in kept]
    assert [item["position"] for item in page["items"]] == list(range(len(kept)))
    last = page["items"][-1]
    assert (last["page"], last["start_ms"]) == (2, None)
    assert "Assembling the boiler" in last["title_path"]
    assert kept[-1]["text"].split()[0] in last["opening"]
    document_url = f"{library.account.server.url}/cabinet/documents/{library.pdf_id}"
    assert last["url"] == f"{document_url}#chunk-{last['id']}"


@pytest.mark.proves("mcp.args.cursor", "mcp.answer-size")
def test_every_page_of_2500_documents_is_reached(account: Account) -> None:
    space_id = account.new_space()
    rows = [document_row(account, space_id, number) for number in range(2_500)]
    with account.server.database.write() as connection:
        connection.execute(sa.insert(knowledge.documents), rows)
    seen = [item["id"] for page in pages(account, "list_kb_documents", space_id=space_id) for item in page["items"]]
    assert seen == [row["id"] for row in sorted(rows, key=lambda row: (row["created_at"], row["id"]), reverse=True)]


@pytest.mark.soak
@pytest.mark.proves("mcp.args.cursor", "mcp.answer-size")
def test_every_page_of_20000_passages_is_reached(account: Account) -> None:
    document = document_row(account, account.new_space(), 1, chunk_count=20_000)
    chunks = [
        {
            "document_id": document["id"],
            "run": run,
            "idx": idx,
            "id": new_id(),
            "tenant_id": account.tenant_id,
            "text": f"Пункт {idx}. " + "О том, как доставляют и возвращают кофе. " * 5,
            "title_path": ["Правила доставки", f"Раздел {idx // 10} " + "о подробностях " * 20],
            "start_char": idx,
            "end_char": idx,
        }
        # The second run is in work: it is not what is found.
        for run, count in ((1, 20_000), (2, 3))
        for idx in range(count)
    ]
    with account.server.database.write() as connection:
        connection.execute(sa.insert(knowledge.documents), [document])
        connection.execute(sa.insert(knowledge.chunks), chunks)
    seen = [
        item["id"] for page in pages(account, "list_kb_chunks", document_id=document["id"]) for item in page["items"]
    ]
    assert seen == [chunk["id"] for chunk in chunks if chunk["run"] == 1]


def test_what_is_in_work_or_could_not_be_read_says_so(account: Account) -> None:
    space_id = account.new_space()
    waiting = document_row(account, space_id, 2, status="pending", version=0, mime=None)
    broken = document_row(account, space_id, 1, status="error", version=0, error_code="encrypted", created_at=now())
    with account.server.database.write() as connection:
        connection.execute(sa.insert(knowledge.documents), [waiting])
        connection.execute(sa.insert(knowledge.documents), [broken])
    (page,) = pages(account, "list_kb_documents", space_id=space_id)
    shown = [(item["status"], item["error_code"], item["pages"], item["chunks"]) for item in page["items"]]
    assert shown == [("error", "encrypted", None, 0), ("pending", None, None, 0)]
    empty = found_by(account, "list_kb_chunks", document_id=waiting["id"])
    assert (empty["status"], empty["total"], empty["items"], empty["next_cursor"]) == ("pending", 0, [], None)


def test_an_empty_space_is_an_empty_list(account: Account) -> None:
    found = found_by(account, "list_kb_documents", space_id=account.new_space())
    assert (found["items"], found["next_cursor"]) == ([], None)


@pytest.mark.proves("mcp.own-account-only")
def test_spaces_and_documents_of_another_account_are_not_found(
    library: Library, new_account: Callable[..., Account]
) -> None:
    other = new_account()
    for space_id in (library.prices, NOBODY):
        assert refusal(other, "list_kb_documents", space_id=space_id).startswith(f"space not found: {space_id}")
    for document_id in (library.pdf_id, NOBODY):
        message = refusal(other, "list_kb_chunks", document_id=document_id)
        assert message.startswith(f"document not found: {document_id}")


def test_a_key_sees_what_is_in_its_spaces_alone(account: Account) -> None:
    space_id = account.new_space("Secret")
    document = account.add_document(space_id, b"The safe stands behind the picture.", "safe.txt")
    own_key = account.get("/public/v1/keys").json()["items"][0]["id"]
    other_key = account.post("/public/v1/keys", json={"name": "Other"}).json()["api_key"]
    access = {"access": {"chat_ids": [], "key_ids": [own_key]}}
    assert account.request("PATCH", f"/public/v1/kb/spaces/{space_id}", json=access).status_code == 200
    for tool, asked in (
        ("list_kb_documents", {"space_id": space_id}),
        ("list_kb_chunks", {"document_id": document["id"]}),
    ):
        assert found_by(account, tool, **asked)["items"]
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": asked}}
        answer = account.request("POST", "/mcp", json=body, headers={"Authorization": f"Bearer {other_key}"}).json()
        assert "not found" in answer["error"]["message"]


@pytest.mark.proves("mcp.args.cursor")
@pytest.mark.parametrize("tool", ["list_kb_documents", "list_kb_chunks"])
def test_a_cursor_or_limit_that_is_none_is_refused(library: Library, tool: str) -> None:
    asked = {"space_id": library.prices} if tool == "list_kb_documents" else {"document_id": library.pdf_id}
    for cursor in ("x", "", "e30", "eyJvZmZzZXQiOi0xfQ", "eyJhdCI6MSwiaWQiOjJ9"):
        assert "cursor" in refusal(library.account, tool, **asked, cursor=cursor)
    for limit in (0, 51):
        assert "limit" in refusal(library.account, tool, **asked, limit=limit)
    (name,) = asked
    assert name in refusal(library.account, tool)
    assert name in refusal(library.account, tool, **{name: "x"})
