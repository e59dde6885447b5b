"""A paragraph of Word: its words as a reader sees them, and what hangs on it: text boxes, page breaks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ingest.documents.ooxml import Relation
from ingest.documents.word_styles import Styles, is_on

_PASSED = frozenset(
    {"w:ins", "w:moveTo", "w:smartTag", "w:sdt", "w:sdtContent", "w:customXml", "w:dir", "w:bdo", "w:rubyBase"}
    | {"mc:AlternateContent", "mc:Choice", "w:ruby"}
)
_SIGNS = {"w:tab": "\t", "w:ptab": "\t", "w:cr": "\n", "w:noBreakHyphen": "-"}
_HOLDERS = frozenset({"w:drawing", "w:pict", "w:object"})
_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|PAGEREF)\b", re.IGNORECASE)
_LINK_FIELD = re.compile(r'\s*HYPERLINK\s+"(https?://[^"\s]{1,1000})"', re.IGNORECASE)
_MAX_FIELDS = 50
_MAX_FIELD_CHARACTERS = 1_000


@dataclass(slots=True)
class Runs:
    """The words of a paragraph. `breaks_before` pages end before its first word, `breaks_after` later."""

    pieces: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    breaks_before: int = 0
    breaks_after: int = 0
    has_page_number: bool = False
    bold_characters: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def is_bold(self) -> bool:
        letters = sum(len(piece.strip()) for piece in self.pieces)
        return letters > 0 and self.bold_characters >= letters


@dataclass(slots=True)
class RunReader:
    """Reads paragraphs one after the other: a field may begin in one and end in another."""

    styles: Styles
    links: Mapping[str, Relation] = field(default_factory=dict)
    note_numbers: dict[tuple[str, str], int] = field(default_factory=dict)  # by (footnote or endnote, id)
    named: list[tuple[str, str]] = field(default_factory=list)  # notes whose marks were met
    _fields: list[list[str]] = field(default_factory=list)  # [code, "" before its result or "shown"], outermost first

    def read(self, paragraph: Element, *, is_bold: bool = False) -> Runs:
        runs = Runs()
        self._children(paragraph, runs, is_bold)
        # One that is not ended in its paragraph hides nothing behind it.
        self._fields = [entry for entry in self._fields if entry[1] and not _PAGE_FIELD.match(entry[0])]
        return runs

    def _children(self, element: Element, runs: Runs, is_bold: bool) -> None:
        for child in element:
            tag = child.tag
            if tag == "w:r":
                self._run(child, runs, is_bold)
            elif tag in _PASSED:
                self._children(child, runs, is_bold)
            elif tag == "w:hyperlink":
                self._link(child, runs, is_bold)
            elif tag == "w:fldSimple":
                if _PAGE_FIELD.match(child.get("w:instr", "")):
                    runs.has_page_number = True
                else:
                    self._children(child, runs, is_bold)
            elif tag in ("m:oMath", "m:oMathPara"):
                runs.pieces.append("".join(part.text or "" for part in child.iter("m:t")))

    def _link(self, element: Element, runs: Runs, is_bold: bool) -> None:
        start = len(runs.pieces)
        self._children(element, runs, is_bold)
        link = self.links.get(element.get("r:id", ""))
        if link is not None and link.is_external:
            _add_address(link.target, start, runs)

    def _run(self, run: Element, runs: Runs, is_bold: bool) -> None:
        look = run.find("w:rPr")
        named = look.find("w:rStyle") if look is not None else None
        style = self.styles.style(named.get("w:val") if named is not None else None)
        own_hidden = is_on(look, "w:vanish")
        if style.is_hidden if own_hidden is None else own_hidden:
            # Its breaks and field marks count all the same.
            self._marks(run)
            return
        own_bold = is_on(look, "w:b")
        self._in_run(run, runs, (style.is_bold or is_bold) if own_bold is None else own_bold)

    def _in_run(self, run: Element, runs: Runs, is_bold: bool) -> None:
        for child in run:
            tag = child.tag
            if tag == "w:t":
                self._say(child.text or "", runs, is_bold)
            elif tag in _SIGNS:
                self._say(_SIGNS[tag], runs, is_bold)
            elif tag == "w:br":
                if child.get("w:type", "textWrapping") == "textWrapping":
                    self._say("\n", runs, is_bold)
            elif tag == "w:lastRenderedPageBreak":
                if any(piece.strip() for piece in runs.pieces):
                    runs.breaks_after += 1
                else:
                    runs.breaks_before += 1
            elif tag in ("w:footnoteReference", "w:endnoteReference"):
                note = (tag[2:-9], child.get("w:id", ""))
                number = self.note_numbers.setdefault(note, len(self.note_numbers) + 1)
                runs.pieces.append(f"[{number}]")
                self.named.append(note)
            elif tag in ("w:fldChar", "w:instrText"):
                self._field(child, runs)
            elif tag in _HOLDERS:
                runs.boxes += _boxes(child)
            elif tag in _PASSED:
                self._in_run(child, runs, is_bold)
            elif tag == "w:r":  # within a ruby base
                self._run(child, runs, is_bold)

    def _say(self, text: str, runs: Runs, is_bold: bool) -> None:
        if any(_PAGE_FIELD.match(code) for code, _ in self._fields):
            runs.has_page_number = True
            return
        if any(not shown for _, shown in self._fields):
            return
        runs.pieces.append(text)
        if is_bold:
            runs.bold_characters += len(text.strip())

    def _marks(self, run: Element) -> None:
        for child in run:
            if child.tag in ("w:fldChar", "w:instrText"):
                self._field(child, Runs())

    def _field(self, element: Element, runs: Runs) -> None:
        if element.tag == "w:instrText":
            if self._fields and not self._fields[-1][1]:
                self._fields[-1][0] = (self._fields[-1][0] + (element.text or ""))[:_MAX_FIELD_CHARACTERS]
            return
        kind = element.get("w:fldCharType")
        if kind == "begin" and len(self._fields) < _MAX_FIELDS:
            self._fields.append(["", ""])
        elif kind == "separate" and self._fields:
            self._fields[-1][1] = "shown"
        elif kind == "end" and self._fields:
            code, _ = self._fields.pop()
            if link := _LINK_FIELD.match(code):
                _add_address(link[1], 0, runs)


def _add_address(address: str, start: int, runs: Runs) -> None:
    """The address of a link behind its words, if they do not say it themselves."""
    if address.startswith(("http://", "https://")) and len(address) <= 1000:
        said = "".join(runs.pieces[start:][-50:])
        if said.strip() and address not in said:
            runs.pieces.append(f" ({address})")


def _boxes(element: Element) -> list[Element]:
    """The text boxes in a drawing; those in a text box are found when it is read."""
    found: list[Element] = []
    waiting = [element]
    while waiting:
        current = waiting.pop()
        if current.tag == "w:txbxContent":
            found.append(current)
        else:
            waiting += reversed(current)
    return found
