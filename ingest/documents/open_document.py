"""OpenDocument text and presentations (odt, odp): headings, lists, tables in place, notes; a slide is a page.

What a reader does not see is left out: deletions, which stand apart from the text, hidden text and sections, comments;
and indexes, which say the headings again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from ingest.documents import xml
from ingest.documents.archives import Archive, open_archive
from ingest.documents.detect import ODP, ODT
from ingest.documents.parsed import DocumentError, Outline, ParsedDocument
from ingest.documents.tables import Bullets, Cell, Heading, Table, add_parts
from ingest.documents.word_styles import LATIN, letters, number_of, roman

_CONTENT = "content.xml"
_STYLES = "styles.xml"
_META = "meta.xml"
_SKIPPED = frozenset(
    {"text:tracked-changes", "office:annotation", "text:table-of-content", "text:alphabetical-index", "office:forms"}
    | {"text:illustration-index", "text:table-index", "text:user-index", "text:bibliography", "text:hidden-text"}
    | {"office:binary-data", "text:ruby-text", "draw:object", "draw:object-ole", "draw:image", "office:event-listeners"}
    | {"text:page-number", "text:page-count", "office:scripts", "presentation:date-time", "text:note-citation"}
)
_GROUPS = frozenset(
    {"text:section", "text:index-body", "table:table-header-rows", "table:table-rows", "table:table-row-group"}
)
_TITLES = ("title", "subtitle")
_MAX_SPACES = 100
_MAX_REPEATED = 200
_MAX_INDENT = 8
_FAR = 1e9
_BAND_CM = 0.7
_UNITS_CM = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 0.0353, "pc": 0.423}


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    """Raises DocumentError."""
    with open_archive(path) as archive:
        reader = _Reader(archive, outline)
        reader.read()
    if reader.pages is None:
        return outline.finish(ODT, declared_name)
    return outline.finish(ODP, declared_name, reader.pages)


class _Reader:
    def __init__(self, archive: Archive, outline: Outline) -> None:
        self._archive = archive
        self._outline = outline
        self.pages: int | None = None  # of a presentation
        self._hidden: set[str] = set()  # styles
        self._bold: set[str] = set()
        self._forms: dict[str, dict[int, str]] = {}  # of lists: the form of the number of each level, "" for bullets
        self._counts: dict[str, int] = {}  # of numbered lists that go on later
        self._notes: list[str] = []
        self._noted = 0

    def read(self) -> None:
        self._outline.title = self._title()
        if _STYLES in self._archive:
            self._running_heads()
        whole = {"text:p", "text:h", "text:list", "table:table-row", "draw:page", "style:style", "text:list-style"}
        marks = {"table:table", "table:table-header-rows", "text:section"}
        table: Table | None = None
        tables = hidden = 0
        sections: list[bool] = []
        is_header = False
        with self._archive.open(_CONTENT) as part:
            for event, element in xml.walk(
                part, whole=whole, marks=marks, skip=_SKIPPED, check=self._outline.check_time
            ):
                tag = element.tag
                if tag == "text:section":
                    if event == "start":
                        sections.append(element.get("text:display", "true") in ("none", "condition"))
                        hidden += sections[-1]
                    elif sections:
                        hidden -= sections.pop()
                elif tag == "table:table":
                    tables += 1 if event == "start" else -1
                    if event == "start" and tables == 1:
                        table = Table()
                    elif tables == 0 and table is not None:
                        table.add_to(self._outline)
                        self._say_notes()
                        table = None
                elif tag == "table:table-header-rows":
                    is_header = event == "start"
                elif tag in ("style:style", "text:list-style"):
                    self._style(element)
                elif hidden:
                    continue
                elif tag == "table:table-row" and table is not None:
                    self._row(element, table, is_header=is_header)
                    self._outline.check_characters(table.characters)
                elif tag == "draw:page":
                    self._page(element)
                else:
                    self._block(element)

    def _block(self, element: Element) -> None:
        """A paragraph, heading or list that stands in the text itself."""
        parts: list[str | Heading | Table] = []
        self._parts([element], parts)
        add_parts(parts, self._outline)
        self._say_notes()

    def _parts(self, elements: list[Element] | Element, parts: list[str | Heading | Table]) -> None:
        for element in elements:
            tag = element.tag
            if tag in ("text:p", "text:h"):
                boxes: list[Element] = []
                text = "" if self._is_hidden(element) else "".join(self._words(element, boxes)).strip()
                if text and tag == "text:h":
                    parts.append(Heading(max(1, number_of(element.get("text:outline-level"), 1, 10)), text))
                elif text:
                    parts.append(text)
                for box in boxes:
                    self._parts(box, parts)
            elif tag == "text:list":
                lines: list[str] = []
                self._list(element, lines, parts, 0, "")
                if lines:
                    parts.append(Bullets("\n".join(lines)))
            elif tag == "table:table":
                parts.append(self._table(element))
            elif tag in _GROUPS and element.get("text:display", "true") == "true":
                self._parts(element, parts)

    def _list(
        self, element: Element, lines: list[str], parts: list[str | Heading | Table], level: int, style: str
    ) -> None:
        style = element.get("text:style-name") or style
        form = self._forms.get(style, {}).get(level, "")
        key = f"{style} {level}"
        number = self._counts.get(key, 0) if element.get("text:continue-numbering") == "true" else 0
        for item in element:
            if item.tag not in ("text:list-item", "text:list-header"):
                continue
            number = number_of(item.get("text:start-value"), number + 1) if item.tag == "text:list-item" else number
            marker = f"{'  ' * min(level, _MAX_INDENT)}{_marker(form, number)} "
            for child in item:
                if child.tag == "text:list":
                    self._list(child, lines, parts, level + 1, style)
                    continue
                held: list[str | Heading | Table] = []
                self._parts([child], held)
                for part in held:
                    if isinstance(part, str):
                        lines.append(marker + part)
                        marker = " " * len(marker)
                    else:  # a numbered heading is an item of a list
                        parts.append(part)
        self._counts[key] = number

    def _words(self, element: Element, boxes: list[Element]) -> Iterator[str]:
        """The words in a paragraph; its text boxes are put aside."""
        yield element.text or ""
        for child in element:
            tag = child.tag
            if tag == "text:s":
                yield " " * number_of(child.get("text:c"), 1, _MAX_SPACES)
            elif tag == "text:tab":
                yield "\t"
            elif tag == "text:line-break":
                yield "\n"
            elif tag == "text:note":
                yield self._note(child)
            elif tag == "text:a":
                words = "".join(self._words(child, boxes))
                address = child.get("xlink:href", "")
                yield words
                if address.startswith(("http://", "https://")) and address not in words and words.strip():
                    yield f" ({address})"
            elif tag in ("draw:text-box", "draw:custom-shape", "draw:rect", "draw:ellipse"):
                boxes.append(child)
            elif not self._is_hidden(child):
                yield from self._words(child, boxes)
            yield child.tail or ""

    def _note(self, element: Element) -> str:
        body = element.find("text:note-body")
        parts: list[str | Heading | Table] = []
        if body is not None:
            self._parts(body, parts)
        text = Cell(parts).text
        if not text:
            return ""
        self._noted += 1
        self._notes.append(f"[{self._noted}] {text}")
        return f"[{self._noted}]"

    def _say_notes(self) -> None:
        for note in self._notes:
            self._outline.block(note)
        self._notes.clear()

    def _table(self, element: Element) -> Table:
        table = Table()
        self._rows(element, table, is_header=False)
        return table

    def _rows(self, element: Element, table: Table, *, is_header: bool) -> None:
        for child in element:
            if child.tag == "table:table-row":
                self._row(child, table, is_header=is_header)
            elif child.tag in _GROUPS:
                self._rows(child, table, is_header=is_header or child.tag == "table:table-header-rows")

    def _row(self, element: Element, table: Table, *, is_header: bool) -> None:
        if element.get("table:visibility", "visible") != "visible":
            return
        cells: list[Cell] = []
        covered = 0  # columns that the cell before goes on over
        for found in element:
            if found.tag == "table:covered-table-cell":
                times = number_of(found.get("table:number-columns-repeated"), 1, _MAX_REPEATED)
                cells += [Cell(is_continued=at >= covered) for at in range(times)]
                covered = max(covered - times, 0)
            elif found.tag == "table:table-cell":
                cell = Cell()
                self._parts(found, cell.parts)
                covered = number_of(found.get("table:number-columns-spanned"), 1, 2_000) - 1
                cell.is_bold = self._is_bold(found)
                repeated = number_of(found.get("table:number-columns-repeated"), 1, _MAX_REPEATED)
                cells += [cell] * (repeated if cell.parts or repeated < 50 else 1)
        times = number_of(element.get("table:number-rows-repeated"), 1, _MAX_REPEATED)
        for _ in range(times if any(cell.parts for cell in cells) else 1):
            table.add_row(cells, is_header=is_header)

    def _page(self, element: Element) -> None:
        """A slide: its titles, then the rest from top to bottom, then its notes."""
        self.pages = (self.pages or 0) + 1
        if self.pages > self._outline.limits.max_pages:
            raise DocumentError("too_large", f"It has more than {self._outline.limits.max_pages:,} slides.")
        if element.get("draw:style-name", "") in self._hidden:
            return
        self._outline.begin_page(self.pages)
        shapes = list(_in_order(element))
        titles = [shape for shape in shapes if shape.get("presentation:class") == "title"]
        for shape in titles:
            title = " ".join(" ".join(self._shape_texts(shape)).split())
            self._outline.heading(1, title)
            self._outline.title = self._outline.title or title
        for shape in shapes:
            if shape not in titles:
                self._shape(shape)
        notes = element.find("presentation:notes")
        for shape in _in_order(notes) if notes is not None else ():
            if shape.get("presentation:class") == "notes":
                self._shape(shape)

    def _shape(self, shape: Element) -> None:
        if shape.get("presentation:class") in ("date-time", "page-number", "page"):
            return
        box = shape.find("draw:text-box")
        parts: list[str | Heading | Table] = []
        self._parts(box if box is not None else shape, parts)
        add_parts(parts, self._outline, in_box=True)
        self._say_notes()

    def _shape_texts(self, shape: Element) -> list[str]:
        box = shape.find("draw:text-box")
        parts: list[str | Heading | Table] = []
        self._parts(box if box is not None else shape, parts)
        return [Cell(parts).text]

    def _is_hidden(self, element: Element) -> bool:
        return element.get("text:style-name", "") in self._hidden or element.get("text:display") == "none"

    def _is_bold(self, cell: Element) -> bool:
        names = [part.get("text:style-name", "") for part in cell.iter() if part.tag in ("text:p", "text:span")]
        return any(name in self._bold or name == "Table_20_Heading" for name in names)

    def _style(self, element: Element) -> None:
        name = element.get("style:name", "")
        if element.tag == "text:list-style":
            self._forms[name] = {
                number_of(level.get("text:level"), 1, 10) - 1: level.get("style:num-format", "1")
                for level in element.findall("text:list-level-style-number")
            }
            return
        look = element.find("style:text-properties")
        page = element.find("style:drawing-page-properties")
        if look is not None and look.get("text:display") == "none":
            self._hidden.add(name)
        if page is not None and page.get("presentation:visibility") == "hidden":
            self._hidden.add(name)
        weight = look.get("fo:font-weight", "") if look is not None else ""
        if weight in ("bold", "600", "700", "800", "900"):
            self._bold.add(name)

    def _running_heads(self) -> None:
        """Styles that the whole document shares, and once what stands at the top and bottom of its pages."""
        seen: set[str] = set()
        whole = {"style:style", "text:list-style", "style:header", "style:footer"}
        with self._archive.open(_STYLES) as part:
            for _, element in xml.walk(part, whole=whole, skip=_SKIPPED, check=self._outline.check_time):
                if element.tag in ("style:style", "text:list-style"):
                    self._style(element)
                    continue
                parts: list[str | Heading | Table] = []
                if element.get("style:display", "true") == "true":
                    self._parts(element, parts)
                text = Cell(parts).text
                if any(map(str.isalpha, text)) and text not in seen:
                    seen.add(text)
                    self._outline.block(text)

    def _title(self) -> str:
        if _META not in self._archive:
            return ""
        try:
            with self._archive.open(_META) as part:
                return next((element.text or "" for _, element in xml.walk(part, whole={"dc:title"})), "")
        except DocumentError:  # a title is not worth a document
            return ""


def _marker(form: str, number: int) -> str:
    if form in ("a", "A"):
        text = letters(number, LATIN)
        return f"{text if form == 'a' else text.upper()}."
    if form in ("i", "I"):
        return f"{roman(number).lower() if form == 'i' else roman(number)}."
    return f"{number}." if form == "1" else "-"


def _in_order(element: Element) -> Iterator[Element]:
    """The shapes of a slide or group, from top to bottom and left to right; a group's stay together."""
    shapes = [child for child in element if child.tag.startswith("draw:")]
    shapes.sort(key=lambda shape: (_cm(shape.get("svg:y")) // _BAND_CM, _cm(shape.get("svg:x"))))
    for shape in shapes:
        if shape.tag == "draw:g":
            yield from _in_order(shape)
        else:
            yield shape


def _cm(length: str | None) -> float:
    """A length in centimetres; far below everything where it is not said."""
    try:
        return float((length or "")[:-2]) * _UNITS_CM[(length or "")[-2:]]
    except (ValueError, KeyError):
        return _FAR
