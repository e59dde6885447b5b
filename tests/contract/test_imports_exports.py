"""Mail boxes and exports of chats, posted as a file: taken in once, grown, and refused where they are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from store import analyses
from store.ids import new_id
from tests.contract.described import get_described
from tests.contract.mcp import found_by, wait_until
from tests.contract.test_imports import PATH, count, refused
from tests.contract.test_imports import import_server as import_server
from tests.contract.test_imports import refusing as refusing
from tests.contract.test_imports import sender as sender
from tests.support.server import Account

MAIL = b"""From: Anna <anna@client.example>
To: Shop <help@shop.example>
Subject: Broken lamp
Date: Wed, 04 Mar 2026 09:00:00 +0300
Message-ID: <1@client.example>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Hello, the lamp came broken. What can I do?
"""
ANSWER = b"""From: Shop <help@shop.example>
To: Anna <anna@client.example>
Subject: Re: Broken lamp
Date: Wed, 04 Mar 2026 10:00:00 +0300
Message-ID: <2@shop.example>
In-Reply-To: <1@client.example>
References: <1@client.example>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Dear Anna, please send us a photo of it.
"""
OTHER = MAIL.replace(b"<1@", b"<9@").replace(b"Broken lamp", b"An invoice").replace(b"04 Mar", b"05 Mar")

WITHOUT_WORDS = b"""From: Anna <anna@client.example>
To: Shop <help@shop.example>
Subject: Reconciliation statement
Date: Fri, 06 Mar 2026 09:00:00 +0300
Message-ID: <3@client.example>
MIME-Version: 1.0
Content-Type: application/pdf; name="statement.pdf"
Content-Disposition: attachment; filename="statement.pdf"
Content-Transfer-Encoding: base64

JVBERi0xLjQK
"""


def mbox(*mails: bytes) -> bytes:
    return b"".join(b"From x@y.example Wed Mar  4 09:00:00 2026\n" + mail + b"\n" for mail in mails)


def send_file(account: Account, content: bytes, name: str, **fields: str) -> httpx2.Response:
    return account.post(PATH, files={"file": (name, content)}, data=fields)


def test_a_mail_box_is_imported_once_and_grows(sender: Account) -> None:
    answer = send_file(sender, mbox(MAIL, OTHER), "box.mbox", own="shop.example, Anna B.")
    assert answer.status_code == 202, answer.text
    first = answer.json()
    assert (len(first["communication_ids"]), first["imported"], first["known"]) == (2, 2, 0)
    newest = get_described(sender, PATH, id=first["communication_id"])
    assert (newest["kind"], newest["occured_at"]) == ("email", "2026-03-05T06:00:00.000Z")
    again = send_file(sender, mbox(MAIL, OTHER), "again.mbox", own="shop.example").json()
    assert (again["imported"], again["known"]) == (0, 2)
    assert set(again["communication_ids"]) == set(first["communication_ids"])
    grown = send_file(sender, mbox(MAIL, ANSWER, OTHER), "box.mbox", own="shop.example").json()
    assert (grown["imported"], grown["known"], count(sender)) == (1, 1, 2)
    thread = next(
        found
        for found in (get_described(sender, PATH, id=each) for each in grown["communication_ids"])
        if len(found["content"]) == 2
    )
    assert [item["text"] for item in thread["content"]] == [
        "Hello, the lamp came broken. What can I do?",
        "Dear Anna, please send us a photo of it.",
    ]
    assert {each["external_id"]: each["role"] for each in thread["speakers"]} == {
        "anna@client.example": "client",
        "help@shop.example": "employee",
    }
    assert (thread["summary_generation_status"], thread["direction"]) == ("skipped", "in")


@pytest.mark.parametrize(
    ("mail", "asked", "subject"),
    [(OTHER, "the invoice", "An invoice"), (WITHOUT_WORDS, "reconciliation", "Reconciliation statement")],
)
def test_a_mail_is_found_by_a_word_of_its_subject_alone(sender: Account, mail: bytes, asked: str, subject: str) -> None:
    sent = send_file(sender, mbox(MAIL, mail), "box.mbox", own="shop.example").json()
    assert sent["imported"] == 2

    def found() -> list[str]:
        return [item["title"] for item in found_by(sender, "search_communications", query=asked)["items"]]

    wait_until(lambda: len(found_by(sender, "search_communications", query="broken lamp")["items"]) > 0)
    wait_until(lambda: found()[:1] == [subject])


def test_analysis_of_an_export_is_ordered_where_it_is_asked_for(sender: Account) -> None:
    found = send_file(
        sender, MAIL, "one.eml", summary="yes", user_summary="Why?", webhook_url="https://shop.example/hook"
    )
    with sender.server.database.read() as connection:
        order = analyses.get_of(sender.tenant_id, connection, found.json()["communication_id"])
    assert order is not None
    assert (order.user_prompt, order.webhook_url) == ("Why?", "https://shop.example/hook")


@pytest.mark.parametrize(
    ("content", "name", "fields", "param"),
    [
        (b"%PDF-1.7 nothing", "a.pdf", {}, "file"),
        (b"", "empty.eml", {}, "file"),
        (b"Just a note", "note.txt", {}, "file"),
        (b'{"a": 1}', "result.json", {}, "file"),
        (b"PK\x03\x04 broken", "export.zip", {}, "file"),
        (b"\x00" * 1000, "zeros", {}, "file"),
        (MAIL, "one.eml", {"summary": "perhaps"}, "summary"),
        (MAIL, "one.eml", {"user_summary": "x" * 64_001}, "user_summary"),
        (MAIL, "one.eml", {"webhook_url": "javascript:alert(1)"}, "webhook_url"),
        (MAIL, "one.eml", {"own": ",".join(map(str, range(201)))}, "own"),
    ],
    ids=lambda value: str(value)[:25],
)
def test_a_file_that_is_no_export_or_a_wrong_field_is_400(
    refusing: Account, content: bytes, name: str, fields: dict[str, str], param: str
) -> None:
    assert refused(send_file(refusing, content, name, **fields)) == (400, "invalid_request_error", param)
    left = [
        path for path in (Path(refusing.server.data_dir) / "blobs" / refusing.tenant_id).rglob("*") if path.is_file()
    ]
    assert (left, count(refusing)) == ([], 0)


def test_no_file_is_400_and_a_large_one_413(sender: Account) -> None:
    answer = sender.post(PATH, files={"other": ("a", b"b")})
    assert refused(answer) == (400, "missing_file", "file")
    for size in (200_001, 3_000_000):
        large = send_file(sender, MAIL + b"x" * size, "one.eml")
        assert (large.status_code, large.json()["error"]["code"]) == (413, "file_too_large")
    assert send_file(sender, MAIL + b"x" * 100_000, "one.eml").status_code == 202


def test_an_export_with_an_idempotency_key_is_answered_once(sender: Account) -> None:
    headers = {"Idempotency-Key": new_id()}
    files = {"file": ("one.eml", MAIL)}
    first = sender.post(PATH, files=files, headers=headers)
    again = sender.post(PATH, files=files, headers=headers)
    assert (again.json(), again.headers["Idempotency-Replayed"]) == (first.json(), "true")


def test_an_export_while_paused_is_403(sender: Account, pause: Callable[..., None]) -> None:
    pause(sender)
    assert send_file(sender, MAIL, "one.eml").json()["error"]["code"] == "client_inactive"
