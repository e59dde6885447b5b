from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from ingest.documents.parse import DocumentError, Limits, ParsedDocument
from rag.chunking import join_sections
from tests.ingest.documents.office_files import W, docx_of, element, p, relations, tbl

Read = Callable[..., ParsedDocument]
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"


def text_of(document: ParsedDocument) -> str:
    return join_sections(document.sections)


def style(style_id: str, name: str, content: str = "", parent: str = "") -> str:
    based = f'<w:basedOn w:val="{parent}"/>' if parent else ""
    return f'<w:style w:styleId="{style_id}"><w:name w:val="{name}"/>{based}{content}</w:style>'


def styled(style_id: str) -> str:
    return f'<w:pStyle w:val="{style_id}"/>'


STYLES = element(
    "w:styles",
    style("1", "heading 1", "<w:pPr><w:outlineLvl w:val='0'/></w:pPr>")
    + style("2", "heading 2")
    + style("own", "Наш раздел", parent="1")
    + style("t", "Title")
    + style("c", "toc 1")
    + style("h", "Скрытый", "<w:rPr><w:vanish/></w:rPr>")
    + style("loop", "loop", parent="pool")
    + style("pool", "pool", parent="loop"),
)
STYLE_LINK = ("s", "styles", "styles.xml")


def level(at: int, form: str, text: str) -> str:
    return f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'


def in_list(list_id: int, at: int = 0) -> str:
    return f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{list_id}"/></w:numPr>'


def test_a_document_made_by_another_library_is_read_in_order(read: Read) -> None:
    docx = pytest.importorskip("docx")
    made = docx.Document()
    made.core_properties.title = "Правила доставки"
    made.sections[0].header.paragraphs[0].text = "ООО Ромашка"
    made.add_heading("Сроки", 1)
    made.add_paragraph("От двух дней.")
    made.add_paragraph("Москва", style="List Bullet")
    made.add_paragraph("Заказать", style="List Number")
    made.add_paragraph("Оплатить", style="List Number")
    table = made.add_table(rows=3, cols=3)
    for row, values in zip(table.rows, ("Зона Срок Цена", "А 1 100", "Б 2 200"), strict=True):
        for cell, value in zip(row.cells, values.split(), strict=True):
            cell.text = value
    made.add_heading("Возврат", 2)
    made.add_paragraph("За 14 дней.")
    buffer = io.BytesIO()
    made.save(buffer)

    document = read(buffer.getvalue(), name="x.bin")
    assert document.title == "Правила доставки"
    assert [(section.title_path, section.text) for section in document.sections] == [
        ((), "ООО Ромашка"),
        (
            ("Сроки",),
            "Сроки\nОт двух дней.\n\n- Москва\n1. Заказать\n2. Оплатить\n\n"
            "Зона: А; Срок: 1; Цена: 100\nЗона: Б; Срок: 2; Цена: 200",
        ),
        (("Сроки", "Возврат"), "Возврат\nЗа 14 дней."),
    ]
    assert {section.page for section in document.sections} == {None}


def test_headings_are_found_by_style_and_outline_level_in_any_language(read: Read) -> None:
    body = (
        p("Договор", look=styled("t"))
        + p("Один", look=styled("1"))
        + p("текст")
        + p("Два", look=styled("own"))
        + p("ещё")
        + p("Глубже", look="<w:outlineLvl w:val='1'/>")
        + p("конец", look=styled("loop"))
        + p("Один 3", look=styled("c"))
    )
    document = read(docx_of(body, [STYLE_LINK], parts={"styles.xml": STYLES}))
    assert document.title == "Договор"
    assert [section.title_path for section in document.sections] == [
        ("Договор", "Один"),
        ("Договор", "Два"),
        ("Договор", "Два", "Глубже"),
    ]
    assert "Один 3" not in text_of(document)


def test_lists_have_the_numbers_that_word_shows(read: Read) -> None:
    numbering = element(
        "w:numbering",
        '<w:abstractNum w:abstractNumId="5">'
        + level(0, "decimal", "%1.")
        + level(1, "russianLower", "%1.%2)")
        + level(2, "upperRoman", "%3")
        + "</w:abstractNum><w:abstractNum w:abstractNumId='6'>"
        + level(0, "bullet", "\uf0b7")
        + "</w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='5'/></w:num>"
        "<w:num w:numId='2'><w:abstractNumId w:val='6'/></w:num>"
        "<w:num w:numId='3'><w:abstractNumId w:val='5'/>"
        "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='7'/></w:lvlOverride></w:num>",
    )
    items = [(1, 0, "a"), (1, 1, "b"), (1, 1, "c"), (1, 2, "d"), (1, 0, "e"), (1, 1, "f"), (2, 0, "g"), (3, 0, "h")]
    body = "".join(p(text, look=in_list(list_id, at)) for list_id, at, text in items)
    document = read(docx_of(body, [("n", "numbering", "numbering.xml")], parts={"numbering.xml": numbering}))
    assert text_of(document).splitlines() == [
        "1. a", "  1.а) b", "  1.б) c", "    I d", "2. e", "  2.а) f", "- g", "7. h",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "hidden",
    [
        "<w:del><w:r><w:delText>SECRET</w:delText></w:r><w:r><w:t>SECRET</w:t></w:r></w:del>",
        "<w:moveFrom><w:r><w:t>SECRET</w:t></w:r></w:moveFrom>",
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>SECRET</w:t></w:r>",
        '<w:r><w:rPr><w:rStyle w:val="h"/></w:rPr><w:t>SECRET</w:t></w:r>',
        "<w:r><w:instrText>SECRET</w:instrText></w:r>",
        "<w:r><mc:AlternateContent><mc:Fallback><w:t>SECRET</w:t></mc:Fallback></mc:AlternateContent></w:r>",
        "<w:rPrChange><w:r><w:t>SECRET</w:t></w:r></w:rPrChange>",
    ],
)
def test_deletions_and_hidden_text_are_left_out_and_insertions_kept(read: Read, hidden: str) -> None:
    kept = '<w:ins><w:r><w:t>kept</w:t></w:r></w:ins><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> too</w:t></w:r>'
    body = p("before ", hidden, kept) + p("SECRET", look=styled("h"))
    assert text_of(read(docx_of(body, [STYLE_LINK], parts={"styles.xml": STYLES}))) == "before kept too"


def test_a_paragraph_whose_end_was_deleted_goes_on_in_the_next(read: Read) -> None:
    assert text_of(read(docx_of(p("one ", look="<w:rPr><w:del/></w:rPr>") + p("two")))) == "one two"


def test_merged_cells_are_filled_and_two_header_rows_made_one(read: Read) -> None:
    table = (
        "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>"
        f"<w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr>{p('Город')}</w:tc>"
        f"<w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>{p('2025')}</w:tc></w:tr>"
        f"<w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{p()}</w:tc>"
        f"<w:tc>{p('План')}</w:tc><w:tc>{p('Факт')}</w:tc></w:tr>"
        f"<w:tr><w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr>{p('Омск')}</w:tc>"
        f"<w:tc>{p('1')}</w:tc><w:tc>{p('2')}</w:tc></w:tr>"
        f"<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{p()}</w:tc><w:tc>{p('3')}</w:tc><w:tc>{p('4')}</w:tc></w:tr>"
        f"<w:tr><w:trPr><w:del/></w:trPr><w:tc>{p('SECRET')}</w:tc></w:tr></w:tbl>"
    )
    assert text_of(read(docx_of(table))).splitlines() == [
        "Город: Омск; 2025 / План: 1; 2025 / Факт: 2",
        "Город: Омск; 2025 / План: 3; 2025 / Факт: 4",
    ]


def test_names_beside_values_are_no_header(read: Read) -> None:
    text = text_of(read(docx_of(tbl(("Телефон", "123"), ("Адрес", "Мира 5"), look="<w:tblLook w:val='04A0'/>"))))
    assert "123: Мира" not in text
    assert all(word in text for word in ("Телефон", "123", "Адрес", "Мира 5"))


def test_a_table_in_a_table_is_read_where_it_stands(read: Read) -> None:
    inner = tbl(("Имя", "Цена", "Срок"), ("УЗИ", "5", "1 день"))
    text = text_of(read(docx_of(p("до") + tbl((p("перед") + inner + p("за"), "справа")) + p("после"))))
    assert text.split("\n\n") == ["до", "перед", "Имя: УЗИ; Цена: 5; Срок: 1 день", "за", "справа", "после"]


def test_notes_and_text_boxes_follow_their_paragraph(read: Read) -> None:
    box = (
        "<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>" + p("в рамке") + "</w:txbxContent>"
        "</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>" + p("в рамке") + "</w:txbxContent>"
        "</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    notes = element(
        "w:footnotes",
        f'<w:footnote w:id="0" w:type="separator">{p("---")}</w:footnote>'
        f'<w:footnote w:id="2">{p("По закону.")}</w:footnote>',
    )
    body = p("Срок", note, box) + p("дальше", note)
    document = read(docx_of(body, [("f", "footnotes", "footnotes.xml")], parts={"footnotes.xml": notes}))
    assert text_of(document).split("\n\n") == ["Срок[1]", "в рамке", "[1] По закону.", "дальше[1]"]


def test_headers_and_footers_are_read_once_and_page_numbers_not(read: Read) -> None:
    number = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>77</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    head = element("w:hdr", p("ООО Ромашка"))
    foot = element("w:ftr", p("стр. ", number) + p("ООО Ромашка"))
    links = [("a", "header", "h1.xml"), ("b", "header", "h2.xml"), ("c", "footer", "f.xml"), ("d", "footer", "f.xml")]
    document = read(docx_of(p("Текст"), links, parts={"h1.xml": head, "h2.xml": head, "f.xml": foot}))
    assert text_of(document) == "ООО Ромашка\n\nТекст"


def test_links_keep_their_addresses(read: Read) -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://b.ru/x"</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>там</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    link = '<w:hyperlink r:id="l"><w:r><w:t>сайт</w:t></w:r></w:hyperlink>'
    document = read(docx_of(p("Наш ", link, " и ", field), [("l", "hyperlink", "https://a.ru/")]))
    assert text_of(document) == "Наш сайт (https://a.ru/) и там (https://b.ru/x)"


@pytest.mark.parametrize(("pages", "expected"), [(3, [1, 2, 3]), (9, [None])])
def test_pages_are_known_where_words_marks_agree_with_its_count(read: Read, pages: int, expected: list[int]) -> None:
    ends = "<w:r><w:lastRenderedPageBreak/></w:r>"
    app = f'<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"><Pages>{pages}</Pages></Properties>'
    rels = relations(("r", "officeDocument", "word/document.xml"), ("e", "extended-properties", "docProps/app.xml"))
    body = p("один") + p(ends, "два ", ends, "и дальше") + p("три")
    document = read(docx_of(body, parts={"/_rels/.rels": rels, "/docProps/app.xml": app}))
    assert [section.page for section in document.sections] == expected


def test_strict_documents_templates_and_those_with_macros_are_read(read: Read) -> None:
    strict = element("w:document", f"<w:body>{p('слово')}</w:body>").replace(W, STRICT)
    assert text_of(read(docx_of("", parts={"document.xml": strict}))) == "слово"
    for content_type in (
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    ):
        content = docx_of(p("слово"), content_type=content_type, parts={"vbaProject.bin": b"\xd0\xcf\x11\xe0SECRET"})
        assert text_of(read(content)) == "слово"


def test_tables_nested_without_end_are_refused(read: Read) -> None:
    inside = p("x")
    for _ in range(300):
        inside = tbl((inside, "y"))
    with pytest.raises(DocumentError, match="deep") as caught:
        read(docx_of(inside))
    assert caught.value.code == "unreadable"
    inside = p("дно")
    for _ in range(20):
        inside = tbl((inside, "y"))
    assert "дно" in text_of(read(docx_of(inside)))


def test_a_document_of_a_million_paragraphs_ends_within_its_limits(read: Read) -> None:
    body = "".join(p(f"n{number}") for number in range(30_000))
    assert text_of(read(docx_of(body))).endswith("n29999")
    with pytest.raises(DocumentError) as caught:
        read(docx_of("<w:p><w:r><w:t>слово</w:t></w:r></w:p>" * 1_000_000))
    assert caught.value.code == "too_large"
    with pytest.raises(DocumentError, match="characters") as caught:
        read(docx_of(body), limits=Limits(max_characters=100_000))
    assert caught.value.code == "too_large"


def test_parts_that_are_missing_or_name_each_other_do_no_harm(read: Read) -> None:
    links = [("s", "styles", "styles.xml"), ("d", "header", "document.xml"), ("f", "footnotes", "document.xml")]
    links += [("x", "header", "../../../etc/passwd")]
    assert set(text_of(read(docx_of(p("слово"), links))).split()) == {"слово"}
