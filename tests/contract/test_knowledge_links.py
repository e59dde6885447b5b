"""Documents that are given as a link: what is fetched, fetched again, refused, and what stays of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from store.blobs import Blobs
from tests.contract import material
from tests.contract.mcp import found_by
from tests.contract.test_knowledge import DOCUMENT_FIELDS, DOCUMENTS, SPACES
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.server import Account, RunningServer

MAX_BYTES = 60_000
FETCH_TIMEOUT_S = 3
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    """At every address of loopback: all but one of them are forbidden ones."""
    with receiving("0.0.0.0") as opened:
        yield opened


@pytest.fixture(scope="module")
def linking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path_factory.mktemp("linking"),
        allowed_networks="127.0.0.1",
        max_document_bytes=str(MAX_BYTES),
        fetch_timeout_s=str(FETCH_TIMEOUT_S),
        sweep_s="0.5",
        job_poll_s="0.1",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def account(linking: RunningServer, request: pytest.FixtureRequest) -> Account:
    return linking.new_client(request.node.name[:100])


def link(account: Account, space_id: str, url: str, **more: str) -> dict[str, Any]:
    answer = account.post(f"{SPACES}/{space_id}/documents", json={"url": url, **more})
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()
    return found


def linked(account: Account, url: str, **more: str) -> dict[str, Any]:
    """The record once it has ended."""
    return account.finished_document(link(account, account.new_space(), url, **more)["id"])


def reindexed(account: Account, document_id: str) -> dict[str, Any]:
    assert account.post(f"{DOCUMENTS}/{document_id}/reindex").status_code == 202
    return account.finished_document(document_id)


def found(account: Account, query: str) -> str:
    return "\n".join(item["snippet"] for item in found_by(account, "search_documents", query=query)["items"])


def blobs_of(account: Account) -> set[str]:
    listed = Blobs(account.server.settings).list(f"{account.tenant_id}/documents")
    return {entry.key for entry in listed}


def wait_for_one_blob(account: Account) -> None:
    """The bytes of a replaced version go after the record that names the new ones is written."""
    deadline = time.monotonic() + 120
    while len(blobs_of(account)) != 1:
        assert time.monotonic() < deadline, blobs_of(account)
        time.sleep(0.05)


def page(body: str, title: str = "") -> bytes:
    return f"<html><head><title>{title}</title></head><body><p>{body}</p></body></html>".encode()


@pytest.mark.proves("knowledge.documents.by-url", "knowledge.documents.shape")
def test_a_link_is_taken_at_once_and_fetched_by_the_job(account: Account, receiver: Receiver) -> None:
    url = receiver.answer("/returns", Reply(body=material.RETURNS.encode(), headers=HTML))
    space_id = account.new_space()
    record = link(account, space_id, url)
    assert set(record) == DOCUMENT_FIELDS
    assert (record["url"], record["title"], record["status"], record["size_bytes"]) == (url, url, "pending", 0)
    ended = account.finished_document(record["id"])
    assert (ended["status"], ended["mime"], ended["title"]) == ("success", "text/html", "Returns")
    assert (ended["url"], ended["size_bytes"]) == (url, len(material.RETURNS.encode()))
    assert "fourteen days" in found(account, "return a machine with an unbroken seal")
    assert account.get(f"{DOCUMENTS}/{record['id']}/file").content == material.RETURNS.encode()


@pytest.mark.proves("knowledge.documents.by-url")
@pytest.mark.parametrize(
    ("reply", "mime", "fact"),
    [
        (Reply(body=page("Шлагбаум открывает охрана.").decode().encode("cp1251"),
               headers={"Content-Type": "text/html; charset=windows-1251"}), "text/html", "охрана"),
        (Reply(body=page("Ворота стерегут гуси.").decode().encode("utf-8"),
               headers={"Content-Type": "text/html; charset=utf-8"}), "text/html", "гуси"),
        (Reply(body=material.handbook_pdf()), "application/pdf", material.HANDBOOK_ANSWER),
        (Reply(body=b"# Torque\n\nThe bolts need 23 newton metres.", headers={"Content-Type": "text/markdown"}),
         "text/markdown", "23 newton metres"),
        (Reply(body="товар;цена\nсова;2 340\n".encode(), headers={"Content-Type": "text/csv"}), "text/csv", "2 340"),
    ],
    ids=["windows-1251", "utf-8", "pdf", "markdown", "csv"],
)  # fmt: skip
def test_what_the_server_gives_is_read_as_what_it_is(
    account: Account, receiver: Receiver, reply: Reply, mime: str, fact: str
) -> None:
    record = linked(account, receiver.answer("/kinds", reply))
    assert (record["status"], record["mime"]) == ("success", mime), record
    assert fact in found(account, fact)


def test_a_given_title_stays_and_one_from_the_page_comes_with_it(account: Account, receiver: Receiver) -> None:
    url = receiver.answer("/titled", Reply(body=page("Text.", "Of the page"), headers=HTML))
    assert linked(account, url, title="Given")["title"] == "Given"
    assert linked(account, url)["title"] == "Of the page"


@pytest.mark.proves("knowledge.documents.by-url")
@pytest.mark.parametrize(
    "url",
    ["ftp://example.com/a", "file:///etc/passwd", "example.com", "", " ", "http://u:p@example.com/",
     "http://2130706433/",
     "https://example.com/" + "x" * 2000, 7, "http://example.com/\nx"],
    ids=lambda url: repr(url)[:30],
)  # fmt: skip
def test_a_link_that_is_no_web_address_is_400_naming_it(account: Account, url: Any) -> None:
    space_id = account.new_space()
    for body in ({"url": url}, {"url": url, "title": "A"}):
        answer = account.post(f"{SPACES}/{space_id}/documents", json=body)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "url")
    both = account.post(f"{SPACES}/{space_id}/documents", json={"url": "https://example.com/", "text": "x"})
    assert (both.status_code, both.json()["error"]["param"]) == (400, "url")
    assert account.get(f"{SPACES}/{space_id}").json()["document_count"] == 0


@pytest.mark.proves("knowledge.documents.by-url", "knowledge.documents.same-bytes")
def test_a_link_twice_is_one_document_and_its_bytes_may_be_another_s_too(account: Account, receiver: Receiver) -> None:
    reply = Reply(body=material.PARKING.encode(), headers={"Content-Type": "text/plain"})
    url, twin = receiver.answer("/one.txt", reply), receiver.answer("/two.txt", reply)
    space_id = account.new_space()
    first = link(account, space_id, url)
    assert link(account, space_id, url)["id"] == first["id"]
    assert account.finished_document(first["id"])["status"] == "success"
    asked = len(receiver.at("/one.txt"))
    assert link(account, space_id, url)["status"] == "success"
    assert len(receiver.at("/one.txt")) == asked, "a document that is there is fetched anew by reindex alone"
    other = link(account, space_id, twin)
    assert other["id"] != first["id"]
    assert account.finished_document(other["id"])["status"] == "success"
    uploaded = account.add_document(space_id, material.PARKING.encode(), "a.txt")
    assert uploaded["id"] not in (first["id"], other["id"]), "what the links point to may change, and an upload stays"
    assert account.request("DELETE", f"{DOCUMENTS}/{first['id']}").status_code == 204
    assert reindexed(account, other["id"])["status"] == "success"
    assert "gate seven" in found(account, "gate seven")


def test_a_redirect_to_where_the_page_is_is_followed(account: Account, receiver: Receiver) -> None:
    receiver.answer("/there", Reply(body=page("The gate has number seven."), headers=HTML))
    url = receiver.answer("/from", Reply(status=302, headers={"Location": "/there"}))
    record = linked(account, url)
    assert (record["status"], record["url"]) == ("success", url)
    assert "number seven" in found(account, "number of the gate")


@pytest.mark.proves("knowledge.error.fetch-failed", "knowledge.error.too-large", "knowledge.error.unsupported-type")
@pytest.mark.parametrize(
    ("reply", "code", "message"),
    [
        (Reply(status=404), "fetch_failed", "answered 404"),
        (Reply(status=401), "fetch_failed", "asks for a login"),
        (Reply(body=b""), "fetch_failed", "is empty"),
        (Reply(raw=b"not HTTP at all\r\n\r\n"), "fetch_failed", "no proper HTTP"),
        (Reply(body=b"x" * (MAX_BYTES + 1)), "too_large", f"larger than {MAX_BYTES} bytes"),
        (Reply(raw=CHUNKED + (b"400\r\n" + b"a" * 1024 + b"\r\n") * 99), "too_large", "larger than"),
        (Reply(body=b"\x7fELF" + bytes(300)), "unsupported_type", ""),
        (Reply(body=page(""), headers=HTML), "empty", ""),
    ],
    ids=["404", "401", "nothing", "no HTTP", "too large", "endless", "a program", "an empty page"],
)  # fmt: skip
def test_what_is_wrong_with_a_link_is_said_by_its_document(
    account: Account, receiver: Receiver, reply: Reply, code: str, message: str
) -> None:
    record = linked(account, receiver.answer("/wrong", reply))
    assert (record["status"], record["error_code"], record["chunk_count"]) == ("error", code, 0)
    assert message in record["error_message"]
    assert len(record["error_message"]) > 15
    assert blobs_of(account) == set()
    assert account.get(f"{DOCUMENTS}/{record['id']}/file").status_code == 404


@pytest.mark.proves("knowledge.guard.document-links", "knowledge.error.fetch-failed")
@pytest.mark.parametrize("host", ["127.0.0.2", "[::1]", "10.0.0.1", "169.254.169.254"])
def test_an_address_that_is_not_public_is_not_called(account: Account, receiver: Receiver, host: str) -> None:
    path = f"/secret-{host.strip('[]').replace(':', '-')}"
    receiver.answer(path, Reply(body=page("Secret."), headers=HTML))
    direct = receiver.url(path, host)
    for url in (direct, receiver.answer(f"/to{path}", Reply(status=302, headers={"Location": direct}))):
        record = linked(account, url)
        assert (record["status"], record["error_code"]) == ("error", "fetch_failed")
        assert receiver.at(path) == []


def test_a_server_that_is_busy_is_asked_again(account: Account, receiver: Receiver) -> None:
    url = receiver.answer("/busy", Reply(status=500), Reply(body=page("Open at nine."), headers=HTML))
    assert linked(account, url)["status"] == "success"
    assert len(receiver.at("/busy")) == 2


@pytest.mark.proves("knowledge.documents.reindex")
def test_a_link_is_fetched_anew_by_a_reindex_and_the_old_text_found_until_then(
    account: Account, receiver: Receiver
) -> None:
    path = "/prices"
    old, new = page("The owl costs ten roubles.", "Old"), page("The owl costs ninety roubles.", "New")
    record = linked(account, receiver.answer(path, Reply(body=old, headers=HTML)))
    before = blobs_of(account)
    assert len(before) == 1
    # While the other side is silent, and when it has failed, what was there is found.
    receiver.answer(path, Reply(hangs=True))
    assert account.post(f"{DOCUMENTS}/{record['id']}/reindex").status_code == 202
    receiver.wait(path, 2)
    assert account.get(f"{DOCUMENTS}/{record['id']}").json()["status"] == "processing"
    assert "ten roubles" in found(account, "what does the owl cost")
    failed = account.finished_document(record["id"])
    assert (failed["status"], failed["error_code"], failed["chunk_count"]) == ("error", "fetch_failed", 1)
    assert f"within {FETCH_TIMEOUT_S} s" in failed["error_message"]
    assert "ten roubles" in found(account, "what does the owl cost")
    assert blobs_of(account) == before
    assert account.get(f"{DOCUMENTS}/{record['id']}/file").content == old
    receiver.answer(path, Reply(body=new, headers=HTML))
    after = reindexed(account, record["id"])
    assert (after["status"], after["error_code"], after["chunk_count"]) == ("success", None, 1)
    assert "ninety roubles" in found(account, "what does the owl cost")
    assert "ten roubles" not in found(account, "what does the owl cost")
    assert account.get(f"{DOCUMENTS}/{record['id']}/file").content == new
    wait_for_one_blob(account)
    assert blobs_of(account) != before


@pytest.mark.proves("knowledge.documents.delete", "knowledge.spaces.delete")
@pytest.mark.parametrize("what", ["document", "space"])
def test_the_bytes_of_a_link_go_with_it(account: Account, receiver: Receiver, what: str) -> None:
    url = receiver.answer("/goes", Reply(body=page("Gone tomorrow."), headers=HTML))
    space_id = account.new_space()
    record = account.finished_document(link(account, space_id, url)["id"])
    reindexed(account, record["id"])
    wait_for_one_blob(account)
    gone = f"{DOCUMENTS}/{record['id']}" if what == "document" else f"{SPACES}/{space_id}"
    assert account.request("DELETE", gone).status_code == 204
    assert blobs_of(account) == set()
    assert found(account, "gone tomorrow") == ""


def test_a_link_that_is_deleted_while_it_is_fetched_leaves_nothing(account: Account, receiver: Receiver) -> None:
    url = receiver.answer("/waits", Reply(hangs=True))
    record = link(account, account.new_space(), url)
    receiver.wait("/waits")
    assert account.request("DELETE", f"{DOCUMENTS}/{record['id']}").status_code == 204
    assert account.get(f"{DOCUMENTS}/{record['id']}").status_code == 404
    assert blobs_of(account) == set()


def test_a_link_that_failed_is_tried_again_when_it_is_sent_again(account: Account, receiver: Receiver) -> None:
    url = receiver.answer("/mended", Reply(status=404), Reply(body=page("Mended now."), headers=HTML))
    space_id = account.new_space()
    record = account.finished_document(link(account, space_id, url)["id"])
    assert record["error_code"] == "fetch_failed"
    again = link(account, space_id, url)
    assert (again["id"], again["error_code"]) == (record["id"], None)
    assert account.finished_document(record["id"])["status"] == "success"
    assert "Mended now" in found(account, "mended")
