"""A communication as a PDF for people: what analysis found, then the conversation."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any
from xml.sax.saxutils import escape

from api.export_texts import Exported, facts_about, moment_of, sections, title

_FONT, _BOLD = "ParleySans", "ParleySans-Bold"
_INK, _SOFT, _LINE = "#1c2120", "#5a625f", "#d5e9e4"
_LONGEST_PARAGRAPH = 8_000
"""Characters: a paragraph is laid out as a whole."""
_REGISTERING = Lock()


def as_pdf(exported: Exported) -> bytes:
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.platypus import HRFlowable, Paragraph, SimpleDocTemplate, Spacer

    _register_fonts()
    plain = ParagraphStyle("plain", fontName=_FONT, fontSize=9.5, leading=13.5, textColor=_INK, splitLongWords=1)
    soft = ParagraphStyle("soft", parent=plain, textColor=_SOFT, fontSize=8.5, leading=12)
    first = ParagraphStyle("first", parent=plain, fontName=_BOLD, fontSize=15, leading=20, spaceAfter=4)
    second = ParagraphStyle(
        "second", parent=plain, fontName=_BOLD, fontSize=11, leading=15, spaceBefore=10, spaceAfter=3
    )
    said = ParagraphStyle("said", parent=plain, spaceAfter=5)

    name = title(exported)
    story: list[object] = [Paragraph(_shown(name), first)]
    story += [Paragraph(f"{_shown(label)}: {_shown(value)}", soft) for label, value in facts_about(exported)]
    for heading, paragraphs in sections(exported):
        story.append(Paragraph(_shown(heading), second))
        story += [part for line in paragraphs if line.strip() for part in _paragraphs(line, plain)]
    story += [Spacer(1, 4 * mm), HRFlowable(width="100%", color=_LINE, thickness=1)]
    story.append(Paragraph(_shown(exported.words["text"]), second))
    for turn in exported.turns:
        head = " · ".join(part for part in (turn.who, moment_of(turn, exported.language)) if part)
        if head:
            story.append(Paragraph(_shown(head), soft))
        whole = " ".join([turn.text, *(f"[{file}]" for file in turn.files)]).strip()
        for line in whole.splitlines():
            if line.strip():
                story += _paragraphs(line, said)
    target = BytesIO()
    SimpleDocTemplate(
        target,
        pagesize=A4,
        leftMargin=20 * mm,
        rightMargin=20 * mm,
        topMargin=18 * mm,
        bottomMargin=18 * mm,
        title=name,
        creator="Parley",
    ).build(story, onFirstPage=_number, onLaterPages=_number)
    return target.getvalue()


def _paragraphs(text: str, style: object) -> list[object]:
    from reportlab.platypus import Paragraph

    parts = [text[start : start + _LONGEST_PARAGRAPH] for start in range(0, len(text), _LONGEST_PARAGRAPH)]
    return [Paragraph(_shown(part), style) for part in parts]


def _shown(text: str) -> str:
    """Text, never markup of the layout's own, without what no page shows."""
    return escape("".join(each if each.isprintable() else " " for each in text))


def _number(canvas: Any, document: Any) -> None:
    canvas.setFont(_FONT, 8)
    canvas.setFillColor(_SOFT)
    canvas.drawRightString(document.pagesize[0] - document.rightMargin, 24, str(document.page))


@cache
def _font_folder() -> Path:
    """DejaVu, which has Cyrillic, comes with matplotlib, and that with supervision. It is found without being
    imported."""
    found = find_spec("matplotlib")
    assert found is not None, "a dependency of supervision"
    assert found.origin is not None
    return Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"


def _register_fonts() -> None:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    with _REGISTERING:
        for name, file in ((_FONT, "DejaVuSans.ttf"), (_BOLD, "DejaVuSans-Bold.ttf")):
            if name not in pdfmetrics.getRegisteredFontNames():
                pdfmetrics.registerFont(TTFont(name, str(_font_folder() / file)))
