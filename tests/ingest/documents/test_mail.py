from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

import pytest

from ingest.documents.parse import DocumentError, Limits, ParsedDocument
from rag.chunking import join_sections
from tests.ingest.documents.files import pdf_of_lines
from tests.ingest.documents.workbooks import Sheet, xlsx

Read = Callable[..., ParsedDocument]
HEAD = (
    "From: =?utf-8?B?0JjQstCw0L0=?= <ivan@example.com>\r\nTo: Анна <anna@example.org>, sales@example.org\r\n"
    "Subject: {subject}\r\nDate: Wed, 4 Mar 2026 10:15:00 +0300\r\nMessage-ID: <1@example.com>\r\nMIME-Version: 1.0\r\n"
)
PLAIN = 'Content-Type: text/plain; charset="utf-8"\r\nContent-Transfer-Encoding: 8bit\r\n\r\n'


def mail(text: str, files: Sequence[tuple[str, bytes]] = (), subject: str = "Договор поставки") -> bytes:
    head = HEAD.format(subject=subject)
    if not files:
        return f"{head}{PLAIN}{text}".encode()
    parts = [f"{PLAIN}{text}", *(attachment(name, data) for name, data in files)]
    body = "".join(f"\r\n--mark\r\n{part}" for part in parts)
    return f'{head}Content-Type: multipart/mixed; boundary="mark"\r\n\r\n{body}\r\n--mark--\r\n'.encode()


def attachment(name: str, data: bytes, mime: str = "application/octet-stream") -> str:
    return (
        f'Content-Type: {mime}; name="{name}"\r\nContent-Disposition: attachment; filename="{name}"\r\n'
        f"Content-Transfer-Encoding: base64\r\n\r\n{base64.encodebytes(data).decode()}"
    )


def test_a_mail_is_its_subject_its_head_and_its_text(read: Read) -> None:
    document = read(mail("Добрый день!\r\n\r\nОплатим в пятницу.\r\n"), "letter.eml")
    assert document.title == "Договор поставки"
    assert document.mime == "message/rfc822"
    assert [(section.title_path, section.text) for section in document.sections] == [
        (
            ("Договор поставки",),
            "Договор поставки\nОт: Иван <ivan@example.com>\nКому: Анна <anna@example.org>, sales@example.org\n"
            "Дата: 2026-03-04 10:15 +0300\n\nДобрый день!\n\nОплатим в пятницу.",
        )
    ]


def test_what_it_quotes_is_kept_apart_from_what_it_says(read: Read) -> None:
    text = (
        "We will pay on Friday.\r\n\r\nOn Tue, 3 Mar 2026 at 09:00, Anna <anna@example.org> wrote:\r\n"
        "> When do you pay?\r\n> Regards\r\n"
    )
    own, earlier = read(mail(text, subject="Re: Invoice 17"), "letter.eml").sections
    assert own.text.endswith("\n\nWe will pay on Friday.")
    assert earlier.title_path == ("Re: Invoice 17", "Earlier messages")
    assert "\nWhen do you pay?\nRegards" in earlier.text


def test_answers_between_the_lines_stay_where_they_are(read: Read) -> None:
    text = "> When do you pay?\r\nOn Friday.\r\n> How much?\r\nAll of it.\r\n"
    (section,) = read(mail(text, subject="Re: Invoice"), "letter.eml").sections
    assert section.text.endswith("> When do you pay?\nOn Friday.\n> How much?\nAll of it.")


def test_a_page_of_html_is_read_as_a_reader_sees_it(read: Read) -> None:
    content = HEAD.format(subject="News") + (
        "Content-Type: text/html; charset=utf-8\r\n\r\n<style>p {color: red}</style><h1>Prices</h1><p>They rise.</p>"
    )
    assert join_sections(read(content.encode(), "x.eml").sections).endswith("Prices\nThey rise.")


def test_attachments_that_are_documents_are_read_under_their_names(read: Read) -> None:
    files = [
        ("prices.csv", "Товар;Цена\nБолт;5\n".encode()),
        ("notes.md", b"# Delivery\n\nBy train.\n"),
        ("terms.pdf", pdf_of_lines([["Payment within ten days."]])),
        ("book.xlsx", xlsx({"Stock": Sheet([["Item", "Left"], ["Nut", 7]])})),
        ("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(50)),
    ]
    sections = read(mail("Во вложении.", files), "letter.eml").sections
    top = ("Договор поставки",)
    found = {section.title_path: section.text for section in sections}
    assert found[(*top, "Вложения")].endswith("prices.csv; notes.md; terms.pdf; book.xlsx; photo.png")
    assert "Товар: Болт; Цена: 5" in found[(*top, "prices.csv")]
    assert "By train." in found[(*top, "notes.md", "Delivery")]
    assert "Payment within ten days." in found[(*top, "terms.pdf")]
    assert "Item: Nut; Left: 7" in found[(*top, "book.xlsx", "Stock")]
    assert "photo.png" not in {section.title_path[-1] for section in sections}
    assert {section.page for section in sections} == {None}


def test_an_attachment_that_cannot_be_read_costs_only_itself(read: Read) -> None:
    files = [("a.pdf", b"%PDF-1.7 broken"), ("b.zip", b"PK\x05\x06" + bytes(18)), ("c.txt", b"Plain words.")]
    text = join_sections(read(mail("See attached.", files), "letter.eml").sections)
    assert text.endswith("c.txt\nPlain words.")


def test_attachments_beyond_the_limits_are_left_out_and_the_mail_stays(read: Read) -> None:
    files = [("long.txt", b"word " * 20_000), ("next.txt", b"Next words.")]
    document = read(mail("Own words.", files), "letter.eml", Limits(max_characters=5_000))
    text = join_sections(document.sections)
    assert "Own words." in text
    assert "Next words." not in text


def test_a_mail_within_the_mail_is_read_and_its_files_are_named(read: Read) -> None:
    inner = mail("Прошу ответить.", [("inner.txt", "Внутри.".encode())], subject="Жалоба").decode()
    content = (
        HEAD.format(subject="Fwd: Жалоба")
        + 'Content-Type: multipart/mixed; boundary="outer"\r\n\r\n'
        + f"--outer\r\n{PLAIN}Посмотрите.\r\n--outer\r\nContent-Type: message/rfc822\r\n\r\n{inner}\r\n--outer--\r\n"
    )
    sections = read(content.encode(), "letter.eml").sections
    assert "Посмотрите." in sections[0].text
    assert sections[1].title_path == ("Fwd: Жалоба", "Пересланное сообщение: Жалоба")
    assert "Прошу ответить." in sections[1].text
    assert "inner.txt" in sections[1].text
    assert "Внутри." not in join_sections(sections)


def test_an_encrypted_mail_is_encrypted(read: Read) -> None:
    content = HEAD.format(subject="x") + 'Content-Type: application/pkcs7-mime; name="smime.p7m"\r\n\r\nMIAGCSqGSIb3'
    with pytest.raises(DocumentError) as caught:
        read(content.encode(), "letter.eml")
    assert caught.value.code == "encrypted"


def test_a_mail_nested_a_thousand_deep_is_unreadable(read: Read) -> None:
    content = HEAD.format(subject="deep") + "".join(
        f'Content-Type: multipart/mixed; boundary="b{level}"\r\n\r\n--b{level}\r\n' for level in range(1_000)
    )
    with pytest.raises(DocumentError) as caught:
        read(content.encode() + b"\r\ntext", "letter.eml")
    assert caught.value.code == "unreadable"


def test_a_mail_of_ten_thousand_attachments_is_read(read: Read) -> None:
    files = [(f"{number}.txt", f"Words of {number}.".encode()) for number in range(10_000)]
    text = join_sections(read(mail("Own words.", files), "letter.eml").sections)
    assert "Own words." in text
    assert "Words of 0." in text
    assert len(text) < 20_000


@pytest.mark.parametrize("subject", ["", "=?utf-8?B?!!!?=", "a" * 10_000, "=?x?q?a?= " * 500, "\x00\x01"])
def test_odd_subjects_are_survived(read: Read, subject: str) -> None:
    document = read(mail("Слова письма, и ещё слова.", subject=subject), "letter.eml")
    assert "Слова письма" in join_sections(document.sections)
    assert document.title
