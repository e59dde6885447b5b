from __future__ import annotations

from collections.abc import Callable

import pytest

from ingest.documents.parse import DocumentError, ParsedDocument
from rag.chunking import join_sections
from tests.ingest.documents.office_files import odf_element, open_document_of

Read = Callable[..., ParsedDocument]


def text_of(document: ParsedDocument) -> str:
    return join_sections(document.sections)


def p(text: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def cells(*texts: str) -> str:
    return "".join(f"<table:table-cell>{p(text)}</table:table-cell>" for text in texts)


def test_a_text_is_read_in_order_with_headings_lists_tables_and_notes(read: Read) -> None:
    styles = (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/>'
        '<text:list-level-style-bullet text:level="2"/></text:list-style>'
    )
    item = "<text:list-item>{}</text:list-item>"
    body = (
        '<text:tracked-changes><text:changed-region><text:deletion><text:p>SECRET</text:p></text:deletion>'
        "</text:changed-region></text:tracked-changes>"
        '<text:h text:outline-level="1">Сроки</text:h>'
        + p('Два<text:s text:c="3"/>дня<text:note><text:note-citation>9</text:note-citation><text:note-body>'
            "<text:p>кроме выходных</text:p></text:note-body></text:note>, см. "
            '<text:a xlink:href="https://a.ru/">тут</text:a>')
        + '<text:list text:style-name="L">' 
        + item.format(p("раз") + "<text:list>" + item.format(p("внутри")) + "</text:list>")
        + item.format(p("два")) + "</text:list>"
        + "<table:table><table:table-header-rows><table:table-row>" + cells("Город", "Цена")
        + "</table:table-row></table:table-header-rows>"
        + '<table:table-row><table:table-cell table:number-rows-spanned="2">' + p("Омск") + "</table:table-cell>"
        + cells("5") + "</table:table-row><table:table-row><table:covered-table-cell/>" + cells("6")
        + "</table:table-row></table:table>"
        + '<text:h text:outline-level="2">Возврат</text:h>' + p("За 14 дней")
    )  # fmt: skip
    meta = odf_element("office:document-meta", "<office:meta><dc:title>Правила</dc:title></office:meta>")
    shared = odf_element(
        "office:document-styles",
        f"<style:header>{p('ООО Ромашка')}</style:header><style:header-left>{p('x')}</style:header-left>",
    )
    document = read(open_document_of(body, styles=styles, parts={"meta.xml": meta, "styles.xml": shared}))
    assert document.title == "Правила"
    assert [(section.title_path, section.text) for section in document.sections] == [
        ((), "ООО Ромашка"),
        (
            ("Сроки",),
            "Сроки\nДва   дня[1], см. тут (https://a.ru/)\n\n[1] кроме выходных\n\n1. раз\n  - внутри\n2. два\n\n"
            "Город: Омск; Цена: 5\nГород: Омск; Цена: 6",
        ),
        (("Сроки", "Возврат"), "Возврат\nЗа 14 дней"),
    ]


def test_what_a_reader_does_not_see_is_left_out(read: Read) -> None:
    hide = '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'
    body = (
        p('до<text:span text:style-name="H">SECRET</text:span>'
          "<office:annotation><text:p>SECRET</text:p></office:annotation>")
        + p("SECRET", "H")
        + '<text:section text:display="none">' + p("SECRET") + "</text:section>"
        + "<text:table-of-content><text:index-body>" + p("SECRET") + "</text:index-body></text:table-of-content>"
        + p("<draw:frame><draw:text-box>" + p("в рамке") + "</draw:text-box></draw:frame>после")
    )  # fmt: skip
    assert text_of(read(open_document_of(body, styles=hide))).split() == ["до", "после", "в", "рамке"]


def test_slides_are_pages_with_titles_and_notes(read: Read) -> None:
    def frame(text: str, top: str, kind: str = "") -> str:
        return (
            f'<draw:frame svg:x="1cm" svg:y="{top}" presentation:class="{kind}">'
            f"<draw:text-box>{p(text)}</draw:text-box></draw:frame>"
        )

    body = (
        f"<draw:page>{frame('низ', '90mm')}{frame('верх', '2cm')}{frame('Тарифы', '1in', 'title')}"
        f"<presentation:notes>{frame('заметка', '1cm', 'notes')}</presentation:notes></draw:page>"
        f"<draw:page><draw:g><draw:g>{frame('в группе', 'x')}</draw:g></draw:g></draw:page>"
    )
    document = read(open_document_of(body, "presentation"))
    assert (document.title, document.pages) == ("Тарифы", 2)
    assert [(section.page, section.text) for section in document.sections] == [
        (1, "Тарифы\nверх\n\nниз\n\nзаметка"),
        (2, "в группе"),
    ]


def test_cells_and_rows_that_say_they_are_repeated_are_bounded(read: Read) -> None:
    row = (
        '<table:table-row table:number-rows-repeated="999999999"><table:table-cell table:number-columns-repeated='
        f'"999999999">{p("x")}</table:table-cell></table:table-row>'
    )
    with pytest.raises(DocumentError) as caught:
        read(open_document_of(f"<table:table>{row * 60}</table:table>"))
    assert caught.value.code == "too_large"


def test_an_encrypted_document_says_so(read: Read) -> None:
    manifest = odf_element(
        "manifest:manifest",
        '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>',
    )
    with pytest.raises(DocumentError) as caught:
        read(open_document_of(p("x"), parts={"META-INF/manifest.xml": manifest, "content.xml": b"\x8f\x01"}))
    assert caught.value.code == "encrypted"


def test_lists_without_end_are_refused(read: Read) -> None:
    deep = "<text:list><text:list-item>" * 5000 + p("x") + "</text:list-item></text:list>" * 5000
    with pytest.raises(DocumentError, match="deep") as caught:
        read(open_document_of(deep))
    assert caught.value.code == "unreadable"
