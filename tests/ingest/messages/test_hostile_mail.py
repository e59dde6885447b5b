from __future__ import annotations

import pytest

from ingest.messages import mail, mail_index
from ingest.messages.detect import Unreadable
from tests.ingest.messages.exports import Read

HEAD = b"From: a@b.example\nDate: Tue, 3 Mar 2026 10:15:00 +0300\nMessage-ID: <x@b.example>\n"


def nested(depth: int) -> bytes:
    parts = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (each, each) for each in range(depth))
    return HEAD + parts + b"Content-Type: text/plain\n\nhello"


# Each took the standard library's parser minutes, its whole stack, or an error that it does not name.
HELD = {
    "10,000 headers": HEAD + b"".join(b"X-%d: v\n" % each for each in range(10_000)) + b"\nhello",
    "10,000 folded headers": HEAD + b"X: v\n folded\n" * 10_000 + b"\nhello",
    "a million parameters": HEAD + b"Content-Type: text/plain; " + b";" * 1_000_000 + b"\n\nhello",
    "numbered parameters": HEAD + b"Content-Type: text/plain; " + b"charset*1=a;" * 100_000 + b"\n\nhello",
    "encoded words": HEAD + b"Subject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\nhello",
    "brackets in an address": HEAD + b"To: " + b"(" * 60_000 + b"\n\nhello",
    "recipients": HEAD + b"To: " + b"a@b.example, " * 100_000 + b"\n\nhello",
    "references": HEAD + b"References: " + b"<a@b> " * 100_000 + b"\n\nhello",
    "parts": HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhello" + b"\n--b\n\n" * 20_000,
    "nesting": nested(90),
    "NUL": HEAD + b"\nhel\0lo\0",
    "prefixes": HEAD + b"Subject: " + b"Re: " * 100_000 + b"\n\nhello",
    "a charset that is slow": HEAD + b"Content-Type: text/plain; charset=punycode\n\nhello",
    "a charset that is no text": HEAD + b"Content-Type: text/plain; charset=zlib\n\nhello",
    "a transfer encoding that is none": HEAD + b"Content-Transfer-Encoding: rot13\n\nhello",
    "an unended part": HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhello",
}


@pytest.mark.parametrize("message", HELD.values(), ids=list(HELD))
def test_a_hostile_mail_is_read_for_what_it_says(read: Read, message: bytes) -> None:
    (thread,) = read(message)
    assert [turn.text for turn in thread.turns] == ["hello"]
    assert len(thread.title) <= 300


@pytest.mark.parametrize(
    "message",
    [nested(5000), HEAD + b"Content-Type: message/rfc822\n\n" * 5000 + b"hello"],
    ids=["parts", "messages"],
)
def test_a_mail_that_nests_too_deep_is_noted(read: Read, message: bytes) -> None:
    (thread,) = read(message)
    assert [turn.text for turn in thread.turns] == ["[Message with too many nested parts]"]


def test_a_text_that_is_too_long_is_cut_with_a_mark(read: Read) -> None:
    (thread,) = read(HEAD + b"\n" + b"word " * 1_000_000)
    assert len(thread.turns[0].text) <= 200_000
    assert thread.turns[0].text.endswith("[…]")


def test_a_thread_with_more_turns_than_a_conversation_takes_goes_on_in_another(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "MAX_TURNS", 2)
    mails = [
        b"From - Tue Mar  3 07:15:00 2026\nFrom: a@b.example\nDate: Tue, 3 Mar 2026 10:15:0%d +0300\n"
        b"Message-ID: <%d@b>\nReferences: <1@b>\n\nhello %d\n\n" % (number, number, number)
        for number in range(1, 6)
    ]
    parts = read(b"".join(mails))
    assert [[turn.text for turn in part.turns] for part in parts] == [
        ["hello 1", "hello 2"],
        ["hello 3", "hello 4"],
        ["hello 5"],
    ]
    assert [part.record_id.removeprefix(parts[0].record_id) for part in parts] == ["", "-2", "-3"]


def test_a_box_of_more_mails_than_the_limit_is_refused(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_index, "MAX_MESSAGES", 1)
    two = b"".join(b"From - Tue Mar  3 07:15:00 2026\nFrom: a@b.example\nSubject: %d\n\nhello\n\n" % n for n in (1, 2))
    with pytest.raises(Unreadable, match="more than 1 messages"):
        read(two)


def test_a_mail_over_the_limit_is_read_up_to_it_and_its_last_file_is_only_named(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = (
        HEAD
        + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhello\n--b\nContent-Type: image/png; name=a.png\n\n"
    )
    monkeypatch.setattr(mail_index, "MAX_MESSAGE_BYTES", len(message) + 10)
    (thread,) = read(message + b"x" * 1000 + b"\n--b--\n")
    assert thread.turns[0].text == "hello"
    assert [(each.name, each.path) for each in thread.turns[0].media] == [("a.png", None)]


def test_lines_that_only_look_like_the_beginning_of_a_mail_are_text(read: Read) -> None:
    text = b"first\n\nFrom me 10:15 in 2026\nno header here\n\nFrom - \n\nlast"
    (thread,) = read(b"From - Tue Mar  3 07:15:00 2026\n" + HEAD + b"\n" + text)
    assert thread.turns[0].text == text.decode().replace("From - ", "From -")
