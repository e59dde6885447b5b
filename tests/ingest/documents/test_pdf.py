from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from ingest.documents import pdf
from ingest.documents.parse import DocumentError, Limits, ParsedDocument
from rag.chunking import chunk_sections, join_sections
from tests.ingest.documents.files import pdf_of_image, pdf_of_lines

Read = Callable[..., ParsedDocument]


def test_text_comes_with_its_page_and_russian_letters(read: Read) -> None:
    content = pdf_of_lines(
        [["Правила доставки", "Привезём за два дня."], ["Вторая страница о возврате."]], title="Правила"
    )
    document = read(content, name="scan.txt")
    assert (document.mime, document.title, document.pages) == ("application/pdf", "Правила", 2)
    assert [(section.page, section.text) for section in document.sections] == [
        (1, "Правила доставки\nПривезём за два дня."),
        (2, "Вторая страница о возврате."),
    ]
    chunks = chunk_sections(document.sections)
    assert [chunk.page for chunk in chunks] == [1, 2]
    full_text = join_sections(document.sections)
    assert [full_text[chunk.start : chunk.end] for chunk in chunks] == [chunk.text for chunk in chunks]


def test_lines_of_a_paragraph_are_joined_and_cut_words_made_whole(read: Read) -> None:
    content = pdf_of_lines(
        [
            [
                "Orders can be returned within fourteen days after the delivery was re-",
                "ceived by the customer, if the goods are as they were when they came in",
                "the parcel. Money comes back.",
                "- first item of a list",
                "- second item",
            ]
        ]
    )
    assert read(content).sections[0].text == (
        "Orders can be returned within fourteen days after the delivery was received by the customer, if the goods are "
        "as they were when they came in the parcel. Money comes back.\n- first item of a list\n- second item"
    )


def test_larger_type_makes_headings(read: Read) -> None:
    body = ["Обычный текст о правилах клиники, который идёт под заголовком и занимает строку."] * 6
    document = read(pdf_of_lines([[("Клиника", 24), *body, ("Цены", 16), *body], [*body, ("Адрес", 16), *body]]))
    assert [(section.page, section.title_path) for section in document.sections] == [
        (1, ("Клиника",)),
        (1, ("Клиника", "Цены")),
        (2, ("Клиника", "Цены")),
        (2, ("Клиника", "Адрес")),
    ]


def test_the_outline_of_the_file_makes_headings(read: Read) -> None:
    content = pdf_of_lines(
        [["Chapter 1", "Some words.", "Details", "Finer words."], ["More of it."], ["Unseen heading follows."]],
        bookmarks=[(1, "Chapter 1", 0), (1, "Details", 1), (3, "Chapter 2", 0)],
    )
    assert [(section.page, section.title_path) for section in read(content).sections] == [
        (1, ("Chapter 1",)),
        (1, ("Chapter 1", "Details")),
        (2, ("Chapter 1", "Details")),
        (3, ("Chapter 2",)),
    ]


def test_running_heads_are_read_once_and_page_numbers_not_at_all(read: Read) -> None:
    pages = [["ACME manual", f"Chapter {n}", f"Text of number {n}.", f"Page {n} of 6"] for n in range(1, 7)]
    text = join_sections(read(pdf_of_lines(pages)).sections)
    assert text.count("ACME manual") == 1
    assert "Page" not in text
    assert all(f"Chapter {n}\nText of number {n}." in text for n in range(1, 7))


def test_a_file_with_a_password_is_encrypted(read: Read) -> None:
    with pytest.raises(DocumentError) as caught:
        read(pdf_of_lines([["secret"]], password="12345"))
    assert caught.value.code == "encrypted"


def test_a_scan_without_text_is_empty_and_says_why(read: Read) -> None:
    with pytest.raises(DocumentError, match="images") as caught:
        read(pdf_of_image())
    assert caught.value.code == "empty"


@pytest.mark.parametrize(
    "content", [b"%PDF-1.7\ngarbage", b"%PDF-1.4\n%%EOF", b"%PDF-", b"%PDF-1.4\n" + b"1 0 obj <<" * 500]
)
def test_what_only_claims_to_be_a_pdf_is_unreadable(read: Read, content: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        read(content)
    assert caught.value.code == "unreadable"


def test_a_broken_table_of_objects_is_rebuilt(read: Read) -> None:
    content = pdf_of_lines([["Readable words."]])
    start = content.rindex(b"startxref")
    assert read(content[:start] + b"startxref\n99999999\n%%EOF").sections[0].text == "Readable words."


@pytest.mark.parametrize("share", range(1, 20, 2))
def test_a_file_cut_short_gives_its_words_or_a_plain_error(read: Read, share: int) -> None:
    content = pdf_of_lines([[f"Words of page {n}."] for n in range(20)])
    cut = content[: len(content) * share // 20]
    found = ""
    with contextlib.suppress(DocumentError):
        found = read(cut).sections[0].text
    assert found in {"", *(f"Words of page {n}." for n in range(20))}


def test_too_many_pages_are_too_large(read: Read) -> None:
    content = pdf_of_lines([["x"]] * 30)
    with pytest.raises(DocumentError, match="30 pages") as caught:
        read(content, limits=Limits(max_pages=20))
    assert caught.value.code == "too_large"


def test_more_characters_or_time_than_allowed_is_too_large(read: Read) -> None:
    content = pdf_of_lines([["many words " * 8] * 20] * 5)
    for limits in (Limits(max_characters=2000), Limits(max_seconds=-1.0)):
        with pytest.raises(DocumentError) as caught:
            read(content, limits=limits)
        assert caught.value.code == "too_large"


@pytest.mark.parametrize(
    ("text", "is_garbled"),
    [
        ("\ue001\ue002\ue003\ue004 1", True),
        ("Ïðàâèëà âîçâðàòà òîâàðà íàäëåæàùåãî êà÷åñòâà", True),
        ("Правила возврата товара", False),
        ("Où était-il à Noël? Très déçu, il préféra l'été, là-bas, près de la forêt.", False),
        ("", False),
    ],
)
def test_letters_that_a_font_names_wrongly_are_noticed(text: str, is_garbled: bool) -> None:
    assert pdf._is_garbled(text, sum(map(str.isalnum, text))) is is_garbled
