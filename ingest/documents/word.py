"""Word (docx, docm, dotx): headings by outline level, lists with their numbers, tables in place, notes, text boxes.

As its reader sees it: insertions are kept, deletions, moves' origins and hidden text are left out, and so is the table
of contents. Macros are parts that are never read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from ingest.documents import xml
from ingest.documents.archives import Archive, open_archive
from ingest.documents.detect import DOCX
from ingest.documents.ooxml import Package
from ingest.documents.parsed import Outline, ParsedDocument
from ingest.documents.tables import Cell, Heading, Table, add_parts
from ingest.documents.word_runs import RunReader, Runs
from ingest.documents.word_styles import BODY_LEVEL, Numbering, Style, Styles, is_on, number_of

_SKIPPED = frozenset(
    {"mc:Fallback", "w:delText", "w:delInstrText", "w:proofErr", "w:bookmarkStart", "w:bookmarkEnd", "w:rFonts"}
    | {"w:rPrChange", "w:pPrChange", "w:tblPrChange", "w:trPrChange", "w:tcPrChange", "w:sectPrChange", "w:lang"}
    | {"w:color", "w:sz", "w:szCs", "w:spacing", "w:ind", "w:tblGrid", "w:tcW", "w:tcBorders", "w:shd", "w:rt"}
)
_NESTS = ("w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo", "mc:AlternateContent", "mc:Choice")
_MAX_NOTES = 100_000
_MAX_RUNNING_PARTS = 200
_MAX_BOX_DEPTH = 5
_MAX_LIST_INDENT = 8
_RENDERED_BREAK = re.compile(rb"<(?:\w+:)?lastRenderedPageBreak\b")
_CHUNK_BYTES = 1024 * 1024


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    """Raises DocumentError."""
    with open_archive(path) as archive:
        pages = _Reader(archive, outline).read()
    return outline.finish(DOCX, declared_name, pages)


class _Reader:
    def __init__(self, archive: Archive, outline: Outline) -> None:
        self._archive = archive
        self._outline = outline
        self._package = Package(archive)
        self._main = self._package.main_part()
        self._relations = self._package.relations(self._main)
        self._styles = Styles(self._elements("styles", {"w:style"}))
        self._numbering = Numbering(self._elements("numbering", {"w:abstractNum", "w:num"}))
        self._runs = RunReader(self._styles, self._relations)
        self._notes: dict[tuple[str, str], str] = {}
        self._items: list[str] = []  # of the list that is being read
        self._begun = ""  # of a paragraph whose end was deleted: it goes on in the next
        self._boxes_deep = 0
        self._page = 1
        self._has_pages = False

    def read(self) -> int | None:
        """Adds the document to the outline, and returns its number of pages, where Word left it."""
        self._outline.title = self._package.title()
        for kind in ("footnote", "endnote"):
            self._read_notes(kind)
        self._running_heads()
        pages = self._rendered_pages()
        if pages is not None:
            self._has_pages = True
            self._outline.begin_page(1)
        self._body()
        return pages

    def _body(self) -> None:
        table: Table | None = None
        nested = 0
        with self._archive.open(self._main) as part:
            whole = {"w:p", "w:tr", "w:tblPr"}
            for event, element in xml.walk(
                part, whole=whole, marks={"w:tbl"}, skip=_SKIPPED, check=self._outline.check_time
            ):
                tag = element.tag
                if tag == "w:tbl":
                    nested += 1 if event == "start" else -1
                    if event == "start" and nested == 1:
                        self._end_list()
                        table = Table()
                    elif nested == 0 and table is not None:
                        table.add_to(self._outline)
                        self._say_notes()
                        table = None
                elif tag == "w:tblPr" and table is not None:
                    table.has_header = _says_header(element)
                elif tag == "w:tr" and table is not None:
                    self._row(element, table)
                    self._outline.check_characters(table.characters)
                elif tag == "w:p":
                    self._paragraph(element)
        if self._begun:
            self._outline.block(self._begun)
        self._end_list()
        self._say_notes()

    def _paragraph(self, element: Element) -> None:
        style = self._style(element)
        runs = self._runs.read(element)
        self._turn_pages(runs.breaks_before)
        text, marker, level = self._text(element, style, runs)
        heading = _outline_level(element, style)
        if not text.strip() or style.is_contents:
            pass
        elif heading < BODY_LEVEL:
            self._end_list()
            if heading < 0 and not self._outline.title:
                self._outline.title = text
            self._outline.heading(heading + 1, f"{marker} {text}".strip())
        elif marker:
            self._items.append(f"{'  ' * min(level, _MAX_LIST_INDENT)}{marker} {text.strip()}")
        else:
            self._end_list()
            self._outline.block(text)
        for box in runs.boxes:
            self._end_list()
            self._box(box)
        if not self._items:
            self._say_notes()
        self._turn_pages(runs.breaks_after)

    def _text(self, element: Element, style: Style, runs: Runs) -> tuple[str, str, int]:
        """(words, number or bullet, level of the list) of a paragraph; no words where it is hidden or goes on."""
        look = element.find("w:pPr")
        mark = look.find("w:rPr") if look is not None else None
        text, self._begun = self._begun + runs.text, ""
        if style.is_hidden:
            return "", "", 0
        if mark is not None and (mark.find("w:del") is not None or mark.find("w:moveFrom") is not None):
            self._outline.check_characters(len(text))
            self._begun = text
            return "", "", 0
        if not text.strip():
            return "", "", 0
        list_id, level = style.list_id, style.list_level
        style_id = _style_id(element)
        numbered = look.find("w:numPr") if look is not None else None
        if numbered is not None:
            own_id, own_level = numbered.find("w:numId"), numbered.find("w:ilvl")
            list_id = own_id.get("w:val") if own_id is not None else list_id
            level = number_of(own_level.get("w:val"), 0, 8) if own_level is not None else level
        if list_id is None or list_id == "0":
            return text, "", 0
        if level is None:
            level = self._numbering.level_of_style(list_id, style_id)
        return text, self._numbering.marker(list_id, level), level

    def _row(self, element: Element, table: Table) -> None:
        look = element.find("w:trPr")
        if look is not None and look.find("w:del") is not None:
            return
        before = look.find("w:gridBefore") if look is not None else None
        cells = [Cell() for _ in range(number_of(before.get("w:val"), 0, 50) if before is not None else 0)]
        for found in _within(element, "w:tc"):
            cell_look = found.find("w:tcPr")
            if cell_look is not None and cell_look.find("w:cellDel") is not None:
                continue
            cells.append(self._cell(found, cell_look))
        table.add_row(cells, is_header=bool(is_on(look, "w:tblHeader")))

    def _cell(self, element: Element, look: Element | None) -> Cell:
        span = look.find("w:gridSpan") if look is not None else None
        merged = look.find("w:vMerge") if look is not None else None
        cell = Cell(
            span=number_of(span.get("w:val"), 1, 2_000) if span is not None else 1,
            is_continued=merged is not None and merged.get("w:val", "continue") == "continue",
        )
        bold: list[bool] = []
        self._blocks(element, cell.parts, bold)
        cell.is_bold = bool(bold) and all(bold)
        return cell

    def _blocks(self, element: Element, parts: list[str | Heading | Table], bold: list[bool]) -> None:
        """Paragraphs and tables of a cell, a note or a text box."""
        for child in element:
            if child.tag == "w:p":
                style = self._style(child)
                runs = self._runs.read(child, is_bold=bool(style.is_bold))
                text, marker, _ = self._text(child, style, runs)
                level = _outline_level(child, style)
                if text.strip() and level < BODY_LEVEL:
                    parts.append(Heading(level + 1, f"{marker} {text}".strip()))
                elif text.strip():
                    parts.append(f"{marker} {text}".strip())
                    bold.append(runs.is_bold)
                for box in runs.boxes:
                    if self._boxes_deep < _MAX_BOX_DEPTH:
                        self._boxes_deep += 1
                        self._blocks(box, parts, bold)
                        self._boxes_deep -= 1
            elif child.tag == "w:tbl":
                table = Table(has_header=_says_header(child.find("w:tblPr")))
                for row in _within(child, "w:tr"):
                    self._row(row, table)
                if table.rows:
                    parts.append(table)
            elif child.tag in _NESTS:
                self._blocks(child, parts, bold)

    def _box(self, element: Element) -> None:
        parts: list[str | Heading | Table] = []
        self._blocks(element, parts, [])
        add_parts(parts, self._outline, in_box=True)

    def _end_list(self) -> None:
        if self._items:
            self._outline.bullets("\n".join(self._items))
            self._items.clear()
            self._say_notes()

    def _turn_pages(self, breaks: int) -> None:
        if breaks and self._has_pages:
            self._end_list()
            self._page += breaks
            self._outline.begin_page(self._page)

    def _say_notes(self) -> None:
        """The notes that the text before has named, each once."""
        named, self._runs.named = self._runs.named, []
        for note in named:
            if text := self._notes.pop(note, ""):
                self._outline.block(f"[{self._runs.note_numbers[note]}] {text}")

    def _read_notes(self, kind: str) -> None:
        main, reader, last = self._runs, self._runs, ""
        for name, element in self._parts(f"{kind}s", {f"w:{kind}"}):
            if element.get("w:type", "normal") != "normal" or len(self._notes) >= _MAX_NOTES:
                continue
            if name != last:
                reader, last = RunReader(self._styles, self._package.relations(name)), name
            parts: list[str | Heading | Table] = []
            self._runs = reader
            self._blocks(element, parts, [])
            self._runs = main
            text = Cell(parts).text.strip()
            if text:
                self._notes[(kind, element.get("w:id", ""))] = text

    def _running_heads(self) -> None:
        """What stands at the top and bottom of the pages: once, before the text."""
        seen: set[str] = set()
        for kind in ("header", "footer"):
            for _, element in self._parts(kind, {"w:p"}):
                runs = self._runs.read(element)
                text = " ".join(runs.text.split())
                is_number = runs.has_page_number and len(text) < 20
                if text and not is_number and text not in seen and not self._style(element).is_hidden:
                    seen.add(text)
                    self._outline.block(text)

    def _rendered_pages(self) -> int | None:
        """The number of pages, if the marks that Word left where pages ended agree with its own count of them."""
        pages = 0
        for found in self._package.relations("").values():
            if found.kind == "extended-properties" and found.target in self._archive:
                with self._archive.open(found.target) as part:
                    for _, element in xml.walk(part, whole={"ep:Pages"}):
                        pages = number_of(element.text, 0, 1_000_000)
        if pages < 1:
            return None
        breaks, tail = 0, b""
        with self._archive.open(self._main) as part:
            while data := part.read(_CHUNK_BYTES):
                breaks += len(_RENDERED_BREAK.findall(tail + data))
                cut = data.rfind(b"<")
                tail = data[cut:][:100] if len(data) - cut < 100 else b""
                breaks -= len(_RENDERED_BREAK.findall(tail))
        return pages if 0 < breaks == pages - 1 else None

    def _style(self, element: Element) -> Style:
        return self._styles.style(_style_id(element))

    def _elements(self, kind: str, names: set[str]) -> Iterator[Element]:
        return (element for _, element in self._parts(kind, names))

    def _parts(self, kind: str, names: set[str]) -> Iterator[tuple[str, Element]]:
        """The elements of the parts of a kind that the document names, each part once."""
        targets = [found.target for found in self._relations.values() if found.kind == kind and not found.is_external]
        for target in list(dict.fromkeys(targets))[:_MAX_RUNNING_PARTS]:
            if target not in self._archive:
                continue
            with self._archive.open(target) as part:
                for _, element in xml.walk(part, whole=names, skip=_SKIPPED, check=self._outline.check_time):
                    yield target, element


def _style_id(element: Element) -> str | None:
    found = xml.below(element, "w:pPr", "w:pStyle")
    return found.get("w:val") if found is not None else None


def _outline_level(element: Element, style: Style) -> int:
    own = xml.below(element, "w:pPr", "w:outlineLvl")
    if own is not None:
        return number_of(own.get("w:val"), BODY_LEVEL, BODY_LEVEL)
    return BODY_LEVEL if style.outline_level is None else style.outline_level


def _says_header(look: Element | None) -> bool | None:
    """Whether the table is formatted with a first row of its own; Word switches it on by itself, so it is a hint."""
    found = look.find("w:tblLook") if look is not None else None
    if found is None:
        return None
    first = found.get("w:firstRow")
    if first is None:
        try:
            return bool(int(found.get("w:val", "0")[:8], 16) & 0x20) or None
        except ValueError:
            return None
    return None if first in ("1", "true", "on") else False


def _within(element: Element, name: str) -> Iterator[Element]:
    """The children of a name, content controls and insertions taken off."""
    for child in element:
        if child.tag == name:
            yield child
        elif child.tag in _NESTS:
            yield from _within(child, name)
