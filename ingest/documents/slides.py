"""PowerPoint (pptx, pptm): a slide is a page, its title a heading; then what stands on it, from top to bottom.

Hidden slides and shapes are left out. Speaker's notes follow their slide. Macros are parts that are never read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from ingest.documents import xml
from ingest.documents.archives import Archive, open_archive
from ingest.documents.detect import PPTX
from ingest.documents.ooxml import Package
from ingest.documents.parsed import DocumentError, Outline, ParsedDocument
from ingest.documents.slide_charts import add_chart, diagram_texts
from ingest.documents.tables import Cell, Table
from ingest.documents.word_styles import number_of

_TITLES = ("title", "ctrTitle")
_REPEATED = ("dt", "ftr", "sldNum", "hdr")  # date, footer, number: on each slide
_SHAPES = frozenset({"p:sp", "p:graphicFrame", "p:grpSp", "p:cxnSp"})
_ALTERNATIVES = ("mc:AlternateContent", "mc:Choice")
_FAR = 10**12
_BAND = 250_000  # shapes whose tops differ by less (7 mm) are in one row
_MAX_INDENT = 8


@dataclass(frozen=True, slots=True)
class _Place:
    left: int
    top: int


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    """Raises DocumentError."""
    with open_archive(path) as archive:
        pages = _Reader(archive, outline).read()
    return outline.finish(PPTX, declared_name, pages)


class _Reader:
    def __init__(self, archive: Archive, outline: Outline) -> None:
        self._archive = archive
        self._outline = outline
        self._package = Package(archive)
        self._layouts: dict[str, dict[str, _Place]] = {}
        self._footers: set[str] = set()

    def read(self) -> int:
        """Adds the slides to the outline, and returns how many there are."""
        self._outline.title = self._package.title()
        main = self._package.main_part()
        relations = self._package.relations(main)
        with self._archive.open(main) as part:
            marks = {"p:sldId"}
            ids = [x.get("r:id", "") for event, x in xml.walk(part, whole=(), marks=marks) if event == "start"]
        if len(ids) > self._outline.limits.max_pages:
            most = self._outline.limits.max_pages
            raise DocumentError("too_large", f"It has {len(ids):,} slides; {most:,} is the most.")
        for number, slide_id in enumerate(ids, start=1):
            slide = relations.get(slide_id)
            if slide is None or slide.is_external or slide.target not in self._archive:
                continue
            self._outline.begin_page(number)
            self._slide(slide.target)
        return len(ids)

    def _parse(self, name: str) -> Element:
        with self._archive.open(name) as part:
            return xml.parse(part, check=self._outline.check_time)

    def _slide(self, name: str) -> None:
        root = self._parse(name)
        if root.get("show", "1") in ("0", "false"):
            return
        relations = self._package.relations(name)
        layout = next((found.target for found in relations.values() if found.kind == "slideLayout"), "")
        tree = xml.below(root, "p:cSld", "p:spTree")
        if tree is None:
            return
        shapes = list(self._in_order(tree, self._places(layout)))
        titles = [shape for shape in shapes if _placeholder(shape)[0] in _TITLES]
        for shape in titles:
            self._title(shape)
        # Charts and diagrams are parts of their own, each read once for a slide.
        parts = {key: found.target for key, found in relations.items() if not found.is_external}
        for shape in shapes:
            if shape not in titles:
                self._shape(shape, parts)
        for found in relations.values():
            if found.kind == "notesSlide" and found.target in self._archive:
                self._notes(found.target)
                break

    def _title(self, shape: Element) -> None:
        lines = [" ".join(text.split()) for text, _ in _paragraphs(shape.find("p:txBody"))]
        title = " ".join(line for line in lines if line)
        self._outline.heading(1, title)
        if not self._outline.title:
            self._outline.title = title

    def _in_order(self, tree: Element, places: dict[str, _Place]) -> Iterator[Element]:
        """The shapes of a slide or group, from top to bottom and left to right; a group's stay together."""
        found: list[tuple[int, int, Element]] = []
        for shape in _shapes(tree):
            if _is_hidden(shape):
                continue
            kind, index = _placeholder(shape)
            place = _place(shape) or places.get(index) or places.get(kind) or _Place(0, _FAR)
            found.append((place.top, place.left, shape))
        found.sort(key=lambda entry: entry[0])
        row_top, rows = -_FAR, list[tuple[int, int, Element]]()
        for top, left, shape in found:
            if top - row_top > _BAND:
                row_top = top
            rows.append((row_top, left, shape))
        rows.sort(key=lambda entry: entry[:2])
        for _, _, shape in rows:
            if shape.tag == "p:grpSp":
                yield from self._in_order(shape, places)
            else:
                yield shape

    def _shape(self, shape: Element, parts: dict[str, str]) -> None:
        self._outline.check_time()
        kind, _ = _placeholder(shape)
        if shape.tag == "p:graphicFrame":
            self._graphic(shape, parts)
            return
        body = shape.find("p:txBody")
        if kind == "ftr":
            text = "\n".join(text for text, _ in _paragraphs(body)).strip()
            if text not in self._footers:
                self._footers.add(text)
                self._outline.block(text)
        elif kind not in _REPEATED:
            self._text(body, has_bullets=kind in ("body", "obj"))

    def _text(self, body: Element | None, *, has_bullets: bool) -> None:
        lines = list(_paragraphs(body, has_bullets=has_bullets))
        if len([text for text, _ in lines if text.strip()]) < 2:  # no list
            lines = [(text, "") for text, _ in lines]
        add = self._outline.bullets if any(marker for _, marker in lines) else self._outline.block
        add("\n".join(f"{marker}{text}" for text, marker in lines if text.strip()))

    def _graphic(self, frame: Element, parts: dict[str, str]) -> None:
        data = xml.below(frame, "a:graphic", "a:graphicData")
        if data is None:
            return
        table, chart, diagram = data.find("a:tbl"), data.find("c:chart"), data.find("dgm:relIds")
        if table is not None:
            _table(table).add_to(self._outline)
        elif chart is not None:
            target = parts.get(chart.get("r:id", ""), "")
            if target in self._archive:
                add_chart(self._parse(target), self._outline)
        elif diagram is not None:
            target = parts.get(diagram.get("r:dm", ""), "")
            if target in self._archive:
                self._outline.bullets("\n".join(diagram_texts(self._parse(target))))

    def _notes(self, name: str) -> None:
        tree = xml.below(self._parse(name), "p:cSld", "p:spTree")
        for shape in _shapes(tree) if tree is not None else ():
            if _placeholder(shape)[0] == "body":
                self._text(shape.find("p:txBody"), has_bullets=False)

    def _places(self, layout: str) -> dict[str, _Place]:
        """Where a layout puts its placeholders, by their index and by their kind."""
        if layout not in self._layouts:
            places: dict[str, _Place] = {}
            tree = xml.below(self._parse(layout), "p:cSld", "p:spTree") if layout in self._archive else None
            for shape in _shapes(tree) if tree is not None else ():
                kind, index = _placeholder(shape)
                place = _place(shape)
                if kind and place is not None:
                    places.setdefault(kind, place)
                    places[index] = place
            self._layouts[posixpath.normpath(layout)] = self._layouts[layout] = places
        return self._layouts[layout]


def _shapes(tree: Element) -> Iterator[Element]:
    for child in tree:
        if child.tag in _SHAPES:
            yield child
        elif child.tag in _ALTERNATIVES:
            yield from _shapes(child)


def _placeholder(shape: Element) -> tuple[str, str]:
    """(kind, index) of a placeholder; empty for other shapes."""
    for child in shape:
        found = xml.below(child, "p:nvPr", "p:ph")
        if found is not None:
            return found.get("type", "obj"), "#" + found.get("idx", "0")
    return "", ""


def _is_hidden(shape: Element) -> bool:
    found = next((child.find("p:cNvPr") for child in shape if child.find("p:cNvPr") is not None), None)
    return found is not None and found.get("hidden", "0") in ("1", "true")


def _place(shape: Element) -> _Place | None:
    for names in (("p:spPr", "a:xfrm", "a:off"), ("p:xfrm", "a:off"), ("p:grpSpPr", "a:xfrm", "a:off")):
        found = xml.below(shape, *names)
        if found is not None:
            return _Place(number_of(found.get("x"), 0, _FAR), number_of(found.get("y"), 0, _FAR))
    return None


def _paragraphs(body: Element | None, *, has_bullets: bool = False) -> Iterator[tuple[str, str]]:
    """(text, marker) of the paragraphs: "- ", "  2. ", or none."""
    counts: dict[int, int] = {}
    for paragraph in body.findall("a:p") if body is not None else ():
        look = paragraph.find("a:pPr")
        level = number_of(look.get("lvl"), 0, _MAX_INDENT) if look is not None else 0
        text = "".join(_words(paragraph))
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        marker = ""
        numbered = look.find("a:buAutoNum") if look is not None else None
        if numbered is not None and text.strip():
            counts[level] = counts.get(level, number_of(numbered.get("startAt"), 1) - 1) + 1
            marker = f"{'  ' * level}{counts[level]}. "
        elif look is None or look.find("a:buNone") is None:
            counts.pop(level, None)
            is_item = has_bullets or level > 0 or (look is not None and look.find("a:buChar") is not None)
            marker = f"{'  ' * level}- " if is_item else ""
        yield text, marker


def _words(paragraph: Element) -> Iterator[str]:
    for child in paragraph:
        if child.tag == "a:r" or (child.tag == "a:fld" and child.get("type") != "slidenum"):
            found = child.find("a:t")
            yield (found.text or "") if found is not None else ""
        elif child.tag == "a:br":
            yield "\n"
        elif child.tag in ("a14:m", "m", "m:oMath", "m:oMathPara"):
            yield "".join(part.text or "" for part in child.iter("m:t"))


def _table(element: Element) -> Table:
    look = element.find("a:tblPr")
    table = Table(has_header=look is not None and look.get("firstRow", "0") in ("1", "true"))
    for row in element.findall("a:tr"):
        cells: list[Cell] = []
        for found in row.findall("a:tc"):
            if found.get("hMerge", "0") in ("1", "true") and cells:
                cells[-1].span += 1
                continue
            text = "\n".join(text for text, _ in _paragraphs(found.find("a:txBody"))).strip()
            cells.append(Cell([text] if text else [], is_continued=found.get("vMerge", "0") in ("1", "true")))
        table.add_row(cells)
    return table
