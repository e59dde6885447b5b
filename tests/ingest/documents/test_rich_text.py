from __future__ import annotations

from collections.abc import Callable

import pytest

from ingest.documents.parse import DocumentError, ParsedDocument
from rag.chunking import join_sections

Read = Callable[..., ParsedDocument]
HEAD = (
    rb"{\rtf1\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset204 Times;}{\f1\fcharset161 Arial;}}"
    rb"{\stylesheet{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}}"
)


def text_of(document: ParsedDocument) -> str:
    return join_sections(document.sections)


def escaped(text: str, encoding: str = "cp1251") -> bytes:
    return b"".join(b"\\'%02x" % byte for byte in text.encode(encoding))


def test_headings_lists_notes_and_links_are_read(read: Read) -> None:
    document = read(
        HEAD
        + rb"{\info{\author SECRET}{\title " + escaped("Правила") + rb"}}{\header Acme\par}"
        + rb"\pard\s1 " + escaped("Сроки") + rb"\par\pard\plain Two \b days\b0{\footnote\pard not Sundays}.\par"
        + rb"{\listtext 1.\tab}one\par{\listtext\'b7\tab}two\par"
        + rb"\pard{\field{\*\fldinst HYPERLINK " + b'"https://a.ru/"' + rb"}{\fldrslt site}} end\par"
        + rb"\pard\outlinelevel1 Deeper\par\pard text}"
    )  # fmt: skip
    assert document.title == "Правила"
    assert [(section.title_path, section.text) for section in document.sections] == [
        ((), "Acme"),
        (("Сроки",), "Сроки\nTwo days[1].\n\n[1] not Sundays\n\n1. one\n- two\n\nsite (https://a.ru/) end"),
        (("Сроки", "Deeper"), "Deeper\ntext"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (rb"\f0 " + escaped("Цена ёлки"), "Цена ёлки"),
        (rb"\f1 " + escaped("τιμή", "cp1253"), "τιμή"),
        (rb"\u1062?\u1077?\u1085\'e0\uc0\u1072", "Цена"),
        (rb"\uc2\u1062ab\uc1 x\u-10179?\u-8704?", "Цx😀"),
        (rb"a\~b\_c\emdash d\{e\}", "a b-c—d{e}"),
        (b"\\'zz \\u99999999999x words", None),
    ],
)
def test_letters_are_those_of_their_code_page(read: Read, content: bytes, expected: str | None) -> None:
    text = text_of(read(HEAD + rb"\pard " + content + b"}"))
    assert text == expected if expected else "words" in text


@pytest.mark.parametrize(
    "hidden",
    [
        rb"{\v SECRET}",
        rb"\v SECRET\v0 ",
        rb"{\deleted SECRET}",
        rb"{\*\unknown SECRET{\b SECRET}}",
        rb"{\pict\pngblip 5345}",
        rb"{\object{\*\objdata SECRET}{\result{\pict SECRET}}}",
        rb"{\*\bkmkstart SECRET}",
        rb"{\*\annotation SECRET}",
        rb"{\shp{\*\shpinst{\sp{\sn SECRET}{\sv SECRET}}}}",
        b"\\bin6 SECRET",
    ],
)
def test_what_a_reader_does_not_see_is_left_out(read: Read, hidden: bytes) -> None:
    assert text_of(read(HEAD + rb"\pard before " + hidden + rb"after\par}")) == "before after"


def test_tables_and_text_boxes_are_read(read: Read) -> None:
    row = rb"\trowd\cellx1\cellx2\cellx3\pard\intbl "
    content = (
        row + rb"A\cell B\cell C\cell\row" + rb"\trowd\clvmgf\cellx1\cellx2\cellx3\pard\intbl 1\cell 2\cell 3\cell\row"
        rb"\trowd\clvmrg\cellx1\cellx2\cellx3\pard\intbl \cell 5\cell 6\cell\row\pard after"
        rb"{\shp{\*\shpinst{\shptxt boxed\par}}}\par"
    )
    text = text_of(read(HEAD + content + b"}"))
    assert text.split("\n\n") == ["A: 1; B: 2; C: 3\nA: 1; B: 5; C: 6", "after", "boxed"]


@pytest.mark.parametrize(
    "content",
    [b"{" * 100_000, rb"{\rtf1 " + b"{\\b " * 5000 + b"x"],
)
def test_groups_without_end_are_refused(read: Read, content: bytes) -> None:
    with pytest.raises(DocumentError, match="deep") as caught:
        read(b"{\\rtf1" + content)
    assert caught.value.code == "unreadable"


@pytest.mark.parametrize(
    "content",
    [
        b"words",
        b"words}}}}}}",
        b"words\\",
        b"words\\'4",
        b"words\\bin99999999 x",
        b"words" + b"\\cell\\row" * 1000,
        b"\\intbl words",
        b"words{\\footnote",
        b"words\\ansicpg-5 \\f-7 \\s-9 \\uc-4 \\outlinelevel-3",
        b"words" + b"\\'c3" * 200_000,
    ],
)
def test_broken_files_still_give_their_words(read: Read, content: bytes) -> None:
    assert "words" in text_of(read(b"{\\rtf1 " + content))
