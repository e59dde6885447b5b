"""Versions of a document take each other's place: something is always found, and nothing is left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from store.blobs import Blobs
from tests.contract import material
from tests.contract.mcp import found_by
from tests.contract.test_knowledge import DOCUMENTS, SPACES
from tests.support.document_state import document_jobs, kept
from tests.support.receiver import Receiver, Reply
from tests.support.server import Account, RunningServer

PLANTED = "The wobblethorn rebate is seventeen percent."


def long_text(sections: int) -> str:
    """A chunk a section; the planted sentence is in the middle."""
    parts = [f"# Section {number}\n\n{'The hedgehog sleeps all winter. ' * 12}" for number in range(sections)]
    parts[sections // 2] += f"\n\n# Rebates\n\n{PLANTED}"
    return "\n\n".join(parts)


def found(account: Account, query: str = "wobblethorn rebate") -> list[str]:
    return [item["snippet"] for item in found_by(account, "search_documents", query=query)["items"]]


def is_found(account: Account) -> bool:
    return any(PLANTED in text for text in found(account))


def chunks_of(account: Account, document_id: str) -> dict[str, str]:
    """Texts by id."""
    chunks: dict[str, str] = {}
    while True:
        page = account.get(f"{DOCUMENTS}/{document_id}/chunks", params={"limit": 100, "offset": len(chunks)}).json()
        if not page["items"]:
            return chunks
        chunks |= {item["id"]: item["text"] for item in page["items"]}


def stored_file(account: Account, document_id: str) -> Path:
    path = Blobs(account.server.settings).local_path(f"{account.tenant_id}/documents/{document_id}")
    assert path is not None
    return path


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Tests stop it to look at what it keeps, and start it again."""
    running = RunningServer(
        tmp_path_factory.mktemp("versions"),
        allowed_networks="127.0.0.1",
        mcp_requests_per_minute="100000",
        sweep_s="0.3",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def account(versions: RunningServer, request: pytest.FixtureRequest) -> Account:
    return versions.new_client(request.node.name[:100])


@pytest.mark.proves("knowledge.documents.reindex")
def test_at_no_moment_of_a_reindex_is_nothing_found(account: Account) -> None:
    record = account.add_document(account.new_space(), long_text(140).encode(), "long.md")
    assert record["chunk_count"] > 130
    before = chunks_of(account, record["id"])
    looks: list[bool] = []
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            looks.append(is_found(account))

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        try:
            for _ in range(2):  # the second overtakes the first
                assert account.post(f"{DOCUMENTS}/{record['id']}/reindex").status_code == 202
            assert account.get(f"{DOCUMENTS}/{record['id']}").json()["chunk_count"] == len(before)
            after = account.finished_document(record["id"])
        finally:
            over.set()
        looking.result()
    assert after["status"] == "success"
    assert len(looks) > 3
    assert all(looks)
    assert chunks_of(account, record["id"]) == before, "what is as it was keeps its id"
    assert len([text for text in found(account) if PLANTED in text]) == 1


def test_a_failed_reindex_leaves_what_was_found_and_the_same_bytes_again_mend_it(account: Account) -> None:
    space_id, raw = account.new_space(), f"{PLANTED}\n".encode()
    record = account.add_document(space_id, raw, "rebate.txt")
    stored = stored_file(account, record["id"])
    stored.write_bytes(b"\x7fELF" + bytes(300))
    account.post(f"{DOCUMENTS}/{record['id']}/reindex")
    failed = account.finished_document(record["id"])
    assert (failed["status"], failed["error_code"], failed["chunk_count"]) == ("error", "unsupported_type", 1)
    assert is_found(account)
    assert PLANTED in next(iter(chunks_of(account, record["id"]).values()))
    stored.write_bytes(raw)
    again = account.upload_document(space_id, raw, "rebate.txt").json()
    assert (again["id"], again["status"], again["error_code"]) == (record["id"], "pending", None)
    assert account.finished_document(record["id"])["status"] == "success"
    assert len(list(stored.parent.iterdir())) == 1
    assert account.get(f"{SPACES}/{space_id}").json()["document_count"] == 1
    assert [PLANTED in text for text in found(account)] == [True]


def test_a_document_that_ended_in_error_is_tried_again_by_its_upload(account: Account) -> None:
    space_id = account.new_space()
    first = account.add_document(space_id, b" \n ", "empty.txt")
    assert first["error_code"] == "empty"
    again = account.upload_document(space_id, b" \n ", "empty.txt").json()
    assert (again["id"], again["status"], again["error_code"]) == (first["id"], "pending", None)
    assert account.finished_document(first["id"])["error_code"] == "empty"


def test_what_a_new_version_leaves_as_it_was_keeps_its_id(account: Account, receiver: Receiver) -> None:
    texts = [f"<h1>Section {number}</h1><p>{'Hedgehogs sleep. ' * 40}</p>" for number in range(8)]
    pages = [
        f"<html><body>{''.join(each)}</body></html>".encode()
        for each in (texts, [*texts[:4], "<h1>New</h1><p>Owls wake.</p>", *texts[5:]])
    ]
    html = {"Content-Type": "text/html"}
    url = receiver.answer("/versions", *(Reply(body=page, headers=html) for page in pages))
    answer = account.post(f"{SPACES}/{account.new_space()}/documents", json={"url": url})
    record = account.finished_document(answer.json()["id"])
    before = chunks_of(account, record["id"])
    account.post(f"{DOCUMENTS}/{record['id']}/reindex")
    assert account.finished_document(record["id"])["status"] == "success"
    after = chunks_of(account, record["id"])
    kept_ids, texts_kept = set(before) & set(after), set(before.values()) & set(after.values())
    assert {before[id_] for id_ in kept_ids} == {after[id_] for id_ in kept_ids} == texts_kept
    assert len(kept_ids) >= 5
    assert any("Owls wake" in text for text in found(account, "owls wake"))
    assert not any("Section 4" in text for text in found(account, "Section 4 hedgehogs"))


@pytest.mark.proves("knowledge.documents.file")
def test_the_file_of_a_document_is_read_whole_and_in_part(account: Account) -> None:
    space_id, raw = account.new_space(), material.PARKING.encode()
    uploaded = account.add_document(space_id, raw, "стоянка.txt")
    whole = account.get(f"{DOCUMENTS}/{uploaded['id']}/file")
    assert (whole.status_code, whole.content) == (200, raw)
    # Nothing that a browser would run: text may be a page.
    assert whole.headers["Content-Type"] == "application/octet-stream"
    assert whole.headers["X-Content-Type-Options"] == "nosniff"
    assert whole.headers["Content-Disposition"].startswith("attachment; ")
    assert "filename*=UTF-8''%D1%81%D1%82" in whole.headers["Content-Disposition"]
    part = account.get(f"{DOCUMENTS}/{uploaded['id']}/file", headers={"Range": "bytes=8-9"})
    assert (part.status_code, part.content) == (206, raw[8:10])
    tag = {"If-None-Match": whole.headers["ETag"]}
    assert account.get(f"{DOCUMENTS}/{uploaded['id']}/file", headers=tag).status_code == 304
    text = account.post(f"{SPACES}/{space_id}/documents", json={"title": "Код", "text": "Шлагбаум."}).json()
    told = account.get(f"{DOCUMENTS}/{text['id']}/file")
    assert (told.status_code, told.text) == (200, "Шлагбаум.")
    assert "%D0%9A%D0%BE%D0%B4.txt" in told.headers["Content-Disposition"]
    pdf = account.upload_document(space_id, material.handbook_pdf(), "handbook.pdf").json()
    assert account.finished_document(pdf["id"])["status"] == "success"
    assert account.get(f"{DOCUMENTS}/{pdf['id']}/file").headers["Content-Type"] == "application/pdf"


@pytest.mark.proves("knowledge.documents.delete", "knowledge.spaces.delete")
def test_what_is_deleted_while_it_is_indexed_leaves_nothing(account: Account, receiver: Receiver) -> None:
    html = {"Content-Type": "text/html"}
    page = f"<html><body>{long_text(20)}</body></html>".encode()
    url = receiver.answer("/deleted", Reply(body=page, headers=html))
    doomed, spared = account.new_space("Doomed"), account.new_space("Spared")
    left = account.add_document(spared, material.PARKING.encode(), "parking.txt")
    first = account.add_document(spared, long_text(40).encode(), "first.md")
    with document_jobs(account.server) as jobs:
        # One whose version is found and that is indexed anew, one that is new, a link, and those of a space.
        account.post(f"{DOCUMENTS}/{first['id']}/reindex")
        running = [
            account.upload_document(spared, long_text(41).encode(), "second.md").json()["id"],
            account.post(f"{SPACES}/{spared}/documents", json={"url": url}).json()["id"],
        ]
        for number in range(3):
            account.upload_document(doomed, long_text(30 + number).encode(), f"{number}.md")
        wait_for_step(account, running[0], lambda: "parse_document" in jobs.steps_done(running[0], 1))
        for document_id in (first["id"], *running):
            assert account.request("DELETE", f"{DOCUMENTS}/{document_id}").status_code == 204
            assert account.get(f"{DOCUMENTS}/{document_id}").status_code == 404
        assert account.request("DELETE", f"{SPACES}/{doomed}").status_code == 204
        assert not is_found(account), "gone at once, though their jobs are still in work"
        jobs.wait()
    account.server.stop()
    state = kept(account)
    account.server.start()
    assert state.statuses == {left["id"]: "success"}
    state.assert_whole()


def wait_for_step(account: Account, document_id: str, is_there: Callable[[], bool]) -> None:
    while not is_there():
        assert account.get(f"{DOCUMENTS}/{document_id}").json()["status"] in ("pending", "processing")
