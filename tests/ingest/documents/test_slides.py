from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from ingest.documents.parse import DocumentError, Limits, ParsedDocument
from rag.chunking import join_sections
from tests.ingest.documents.office_files import PPTX_TYPE, Part, element, package_of, relations

Read = Callable[..., ParsedDocument]


def shape(text: str, kind: str = "", top: int = 0, left: int = 0, extra: str = "", hidden: bool = False) -> str:
    mark = f'<p:ph type="{kind}"/>' if kind else ""
    place = f'<p:spPr><a:xfrm><a:off x="{left}" y="{top}"/></a:xfrm></p:spPr>' if top or left else "<p:spPr/>"
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x" hidden="{int(hidden)}"/><p:nvPr>{mark}</p:nvPr></p:nvSpPr>{place}'
        f"<p:txBody>{extra}{lines}</p:txBody></p:sp>"
    )


def slide(*shapes: str) -> str:
    return element("p:sld", f"<p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld>")


def pptx_of(*slides: str, parts: dict[str, Part] | None = None) -> bytes:
    ids = "".join(f'<p:sldId id="{256 + at}" r:id="r{at}"/>' for at in range(len(slides)))
    rels = relations(*((f"r{at}", "slide", f"slides/s{at}.xml") for at in range(len(slides))))
    content: dict[str, Part] = {f"ppt/slides/s{at}.xml": text for at, text in enumerate(slides)}
    content |= {"ppt/presentation.xml": element("p:presentation", f"<p:sldIdLst>{ids}</p:sldIdLst>")}
    return package_of(
        "ppt/presentation.xml", PPTX_TYPE, {**content, "ppt/_rels/presentation.xml.rels": rels, **(parts or {})}
    )


def texts(document: ParsedDocument) -> list[tuple[int | None, str]]:
    return [(section.page, section.text) for section in document.sections]


def test_a_presentation_made_by_another_library_is_read_slide_by_slide(read: Read) -> None:
    pptx = pytest.importorskip("pptx")
    from pptx.chart.data import CategoryChartData  # type: ignore[import-not-found, unused-ignore]
    from pptx.enum.chart import XL_CHART_TYPE  # type: ignore[import-not-found, unused-ignore]

    made = pptx.Presentation()
    first = made.slides.add_slide(made.slide_layouts[1])
    first.shapes.title.text = "Тарифы"
    frame = first.placeholders[1].text_frame
    frame.text = "Базовый"
    inner = frame.add_paragraph()
    inner.text, inner.level = "для двоих", 1
    first.notes_slide.notes_text_frame.text = "Сказать про скидку"
    second = made.slides.add_slide(made.slide_layouts[5])
    second.shapes.title.text = "Итоги"
    second.shapes.add_textbox(0, 9_000_000, 900_000, 900_000).text_frame.text = "внизу"
    table = second.shapes.add_table(2, 2, 0, 2_000_000, 900_000, 900_000).table
    for at, text in enumerate(("Город", "План", "Омск", "7")):
        table.cell(at // 2, at % 2).text = text
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(0, 5_000_000, 900_000, 900_000).text_frame.text = "в группе"
    chart: Any = CategoryChartData  # python-pptx has no types
    chart = chart()
    chart.categories = ["Янв", "Фев"]
    chart.add_series("Выручка", (10, 20))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 9_900_000, 900_000, 900_000, chart)
    buffer = io.BytesIO()
    made.save(buffer)

    document = read(buffer.getvalue(), name="x.docx")
    assert (document.title, document.pages) == ("Тарифы", 2)
    assert texts(document)[0] == (1, "Тарифы\n- Базовый\n  - для двоих\n\nСказать про скидку")
    page, text = texts(document)[1]
    assert page == 2
    order = ["Итоги", "Омск", "в группе", "внизу", "Янв", "Выручка: 10", "Фев", "Выручка: 20"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    assert "Город: Омск; План: 7" in text


def test_shapes_are_read_from_top_to_bottom_and_left_to_right(read: Read) -> None:
    content = slide(
        shape("правее", left=5_000_000, top=3_000_000),
        shape("ниже", left=1, top=6_000_000),
        shape("левее", left=1, top=3_100_000),
        shape("Заголовок", "title", top=9_000_000),
        shape("7", "sldNum", top=9_500_000),
        shape("SECRET", top=100, hidden=True),
    )
    assert texts(read(pptx_of(content))) == [(1, "Заголовок\nлевее\n\nправее\n\nниже")]


def test_hidden_slides_are_left_out_and_footers_said_once(read: Read) -> None:
    hidden = slide(shape("SECRET")).replace("<p:sld ", '<p:sld show="0" ')
    document = read(pptx_of(slide(shape("a"), shape("ООО", "ftr")), hidden, slide(shape("b"), shape("ООО", "ftr"))))
    assert texts(document) == [(1, "a\n\nООО"), (3, "b")]
    assert document.pages == 3


def test_the_words_of_a_diagram_are_read(read: Read) -> None:
    frame = (
        '<p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="d"/></a:graphicData></a:graphic></p:graphicFrame>'
    )
    point = "<dgm:pt type='{}'><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>"
    data = element(
        "dgm:dataModel", point.format("node", "Заявка") + point.format("pres", "x") + point.format("node", "Ответ")
    )
    parts: dict[str, Part] = {
        "ppt/slides/_rels/s0.xml.rels": relations(("d", "diagramData", "../diagrams/d.xml")),
        "ppt/diagrams/d.xml": data,
    }
    assert texts(read(pptx_of(slide(frame), parts=parts))) == [(1, "- Заявка\n- Ответ")]


def test_groups_within_groups_without_end_are_refused(read: Read) -> None:
    deep = "<p:grpSp>" * 100 + shape("дно") + "</p:grpSp>" * 100
    assert texts(read(pptx_of(slide(deep)))) == [(1, "дно")]
    with pytest.raises(DocumentError, match="deep") as caught:
        read(pptx_of(slide("<p:grpSp>" * 10_000 + shape("дно") + "</p:grpSp>" * 10_000)))
    assert caught.value.code == "unreadable"


def test_slides_that_are_missing_or_name_themselves_do_no_harm(read: Read) -> None:
    circle = relations(("n", "notesSlide", "s0.xml"), ("l", "slideLayout", "s0.xml"), ("c", "chart", "s0.xml"))
    parts: dict[str, Part] = {
        "ppt/slides/_rels/s0.xml.rels": circle,
        "ppt/_rels/presentation.xml.rels": relations(
            ("r0", "slide", "slides/s0.xml"), ("r1", "slide", "slides/none.xml"), ("r2", "slide", "http://x.ru/s.xml")
        ),
    }
    document = read(pptx_of(slide(shape("a")), "", "", parts=parts))
    assert join_sections(document.sections) == "a"


def test_more_slides_than_allowed_are_too_large(read: Read) -> None:
    with pytest.raises(DocumentError, match="slides") as caught:
        read(pptx_of(*[slide(shape("a"))] * 4), limits=Limits(max_pages=3))
    assert caught.value.code == "too_large"
