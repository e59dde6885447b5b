"""RTF: its words by the code page of their fonts, headings by outline level, tables, lists' own markers, notes.

Read token by token with a stack of groups: what is hidden, deleted, a picture, an object or unknown is passed over.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingest.documents.detect import RTF
from ingest.documents.parsed import DocumentError, Outline, ParsedDocument
from ingest.documents.tables import Cell, Table

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\"
)
_MAX_DEPTH = 1_000
_MAX_FONTS = 10_000
_MAX_FIELD_CHARACTERS = 2_000
_CHECK_EVERY = 10_000
_CHARSETS = {204: 1251, 238: 1250, 161: 1253, 162: 1254, 177: 1255, 178: 1256, 186: 1257, 222: 874, 128: 932}
_CHARSETS |= {129: 949, 134: 936, 136: 950}
_SIGNS = {"tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’"}
_SIGNS |= {"ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " "}
_SYMBOLS = {b"~": "\xa0", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}"}
# Groups whose words are not the document's.
_PASSED = frozenset(
    {"pict", "objdata", "colortbl", "filetbl", "themedata", "datastore", "xmlnstbl", "listtable", "revtbl", "generator"}
    | {"nonshppict", "listoverridetable", "rsidtbl", "latentstyles", "nonesttables", "tc", "xe", "atnid", "atnauthor"}
    | {"annotation", "bkmkstart", "bkmkend", "comment", "sp", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "template"}
)
# Groups that are put aside, or read although a reader of old may pass them over.
_OWN = frozenset({"title", "footnote", "fldinst", "listtext", "pntext", "fonttbl", "stylesheet", "shptxt", "info"})
_RUNNING = frozenset({"header", "footer", "headerl", "headerr", "headerf", "footerl", "footerr", "footerf"})
_LINK = re.compile(r'\s*HYPERLINK\s+"(https?://[^"\s]{1,1000})"', re.IGNORECASE)
_HEADING_NAME = re.compile(r"heading (\d)\b", re.IGNORECASE)


@dataclass(slots=True)
class _State:
    """What holds within a group."""

    place: str = "body"
    is_passed: bool = False
    is_hidden: bool = False
    code_page: str = "cp1252"
    fallback: int = 1  # characters to pass over after one in Unicode
    link: list[str] = field(default_factory=list)  # the code of the field that it is in


@dataclass(slots=True)
class _Paragraph:
    level: int | None = None
    in_table: bool = False


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    """Raises DocumentError."""
    _Reader(path.read_bytes(), outline).read()
    return outline.finish(RTF, declared_name)


class _Reader:
    def __init__(self, data: bytes, outline: Outline) -> None:
        self._data = data
        self._outline = outline
        self._state = _State()
        self._stack: list[_State] = []
        self._default_page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = self._style = 0
        self._style_levels: dict[int, int] = {}
        self._texts: dict[str, list[str]] = {"body": []}  # by place
        self._bytes = bytearray()  # in the code page of the font
        self._to_skip = 0
        self._paragraph = _Paragraph()
        self._items: list[str] = []
        self._notes: list[str] = []
        self._table_notes: list[str] = []  # of the rows that are read, for the end of their table
        self._noted = 0
        self._table: Table | None = None
        self._cells: list[Cell] = []
        self._merged: list[bool] = []
        self._is_header = False
        self._is_starred = False
        self._running: set[str] = set()

    def read(self) -> None:
        at = count = 0
        while match := _TOKEN.match(self._data, at):
            at = match.end()
            count += 1
            if count % _CHECK_EVERY == 0:
                self._outline.check_time()
            word, argument, byte, symbol, brace, text = match.groups()
            if brace is not None:
                self._to_skip = 0
                self._open() if brace == b"{" else self._close()
            elif word is not None:
                if word == b"bin":
                    at += max(int(argument or 0), 0)
                elif self._to_skip and word != b"u":
                    self._to_skip -= 1
                else:
                    self._word(word.decode().lower(), int(argument) if argument is not None else None)
            elif byte is not None:
                self._add_bytes(bytes([int(byte, 16)]))
            elif text is not None:
                self._add_bytes(text)
            elif symbol is not None:
                self._symbol(symbol)
        self._paragraph.in_table = False
        self._end_paragraph()
        self._end_list()

    def _open(self) -> None:
        self._flush()
        self._is_starred = False
        if len(self._stack) >= _MAX_DEPTH:
            raise DocumentError("unreadable", f"Its groups nest more than {_MAX_DEPTH:,} deep.")
        self._stack.append(self._state)
        self._state = replace(self._state)

    def _close(self) -> None:
        self._flush()
        self._is_starred = False
        if not self._stack:
            return
        ended, self._state = self._state, self._stack.pop()
        if ended.link is not self._state.link and (found := _LINK.match("".join(ended.link))):
            said = "".join(self._texts.get(self._state.place, [])[-20:])
            if found[1] not in said:
                self._say(f" ({found[1]})")
        if ended.place == self._state.place:
            return
        text = "".join(self._texts.pop(ended.place.partition(" ")[0], []))
        self._place_ended(ended.place.partition(" ")[0], text)

    def _place_ended(self, place: str, text: str) -> None:
        if place == "title" and not self._outline.title:
            self._outline.title = text
        elif place == "footnote" and text.strip():
            self._noted += 1
            self._notes.append(f"[{self._noted}] {text.strip()}")
            self._say(f"[{self._noted}]")
        elif place == "fldinst":
            self._state.link.append(text[:_MAX_FIELD_CHARACTERS])
        elif place in ("listtext", "pntext") and text.strip():
            marker = text.strip()
            self._say(f"{marker if any(map(str.isalnum, marker)) else '-'} ")
            self._texts.setdefault("marker", []).append("x")
        elif place in _RUNNING:
            text = " ".join(text.split())
            if any(map(str.isalpha, text)) and text not in self._running:
                self._running.add(text)
                self._outline.block(text)
        elif place == "shptxt" and text.strip():
            self._notes.append(text.strip())

    def _word(self, word: str, argument: int | None) -> None:
        state = self._state
        is_on = argument != 0
        if self._is_starred and word not in _OWN:
            state.is_passed = word not in ("shpinst", "shprslt")
            self._is_starred = False
            return
        self._is_starred = False
        if word in _PASSED or word == "shprslt":
            state.is_passed = True
        elif word in _OWN or word in _RUNNING:
            self._flush()
            state.place = word
            state.is_passed = word in ("info",) or (state.is_passed and word not in ("title", "shptxt"))
            self._texts[word] = []
        elif word == "u" and argument is not None:
            self._flush()
            self._say(chr(argument % 0x10000))
            self._to_skip = state.fallback
        elif word == "field":
            state.link = []
        elif word == "uc":
            state.fallback = min(max(argument or 0, 0), 8)
        elif word in _SIGNS:
            self._flush()
            self._say(_SIGNS[word])
        elif word == "ansicpg":
            self._default_page = state.code_page = _code_page(argument or 1252, self._default_page)
        elif word in ("v", "deleted"):
            self._flush()
            state.is_hidden = is_on
        elif word == "plain":
            self._flush()
            state.is_hidden = False
            state.code_page = self._default_page
        elif word == "f" and argument is not None:
            self._flush()
            self._font = argument
            state.code_page = self._fonts.get(argument, self._default_page)
        elif word == "fcharset" and state.place == "fonttbl" and len(self._fonts) < _MAX_FONTS:
            page = _CHARSETS.get(argument or 0)
            self._fonts[self._font] = _code_page(page, self._default_page) if page else self._default_page
        elif not state.is_passed:
            self._layout(word, argument)

    def _layout(self, word: str, argument: int | None) -> None:
        """What ends or shapes paragraphs, cells and rows."""
        state = self._state
        if state.place == "stylesheet":
            if word == "s":
                self._style = argument or 0
            elif word == "outlinelevel" and argument is not None and 0 <= argument < 9:
                self._style_levels[self._style] = argument
        elif state.place != "body":
            if word in ("par", "cell"):
                self._flush()
                self._say("\n")
        elif word in ("par", "sect", "page"):
            self._end_paragraph()
        elif word == "pard":
            self._paragraph = _Paragraph()
        elif word == "intbl":
            self._paragraph.in_table = True
        elif word == "outlinelevel":
            self._paragraph.level = argument if argument is not None and 0 <= argument < 9 else None
        elif word == "s":
            self._paragraph.level = self._style_levels.get(argument or 0)
        elif word == "trowd":
            self._merged, self._is_header = [], False
        elif word == "trhdr":
            self._is_header = True
        elif word == "clvmrg":
            self._merged.append(True)
        elif word == "cellx":
            self._merged.append(False)
        elif word in ("cell", "nestcell"):
            self._flush()
            self._cells.append(Cell([text] if (text := self._take()) else []))
        elif word == "row":
            self._end_row()

    def _end_row(self) -> None:
        self._flush()
        if self._table is None:
            self._end_list()
            self._table = Table()
        # Each cell's definition ends with its edge; a mark of merging stands before it.
        continued: list[bool] = []
        is_merged = False
        for merged in self._merged:
            if merged:
                is_merged = True
            else:
                continued.append(is_merged)
                is_merged = False
        for cell, is_continued in zip(self._cells, continued, strict=False):
            cell.is_continued = is_continued
        if self._cells:
            self._table.add_row(self._cells, is_header=self._is_header)
            self._outline.check_characters(self._table.characters)
        self._cells = []
        self._table_notes += self._notes
        self._notes = []

    def _end_paragraph(self) -> None:
        self._flush()
        if self._paragraph.in_table and self._stack:
            self._say("\n")
            return
        self._end_table()
        is_item = bool(self._texts.pop("marker", None))
        text = self._take()
        if not text.strip():
            pass
        elif self._paragraph.level is not None:
            self._end_list()
            self._outline.heading(self._paragraph.level + 1, text)
        elif is_item:
            self._items.append(text)
        else:
            self._end_list()
            self._outline.block(text)
        if not self._items:
            self._say_notes()

    def _end_table(self) -> None:
        if self._cells:
            self._end_row()
        if self._table is not None:
            self._table.add_to(self._outline)
            self._table = None
            waiting, self._notes = self._notes, self._table_notes
            self._say_notes()
            self._notes, self._table_notes = waiting, []

    def _end_list(self) -> None:
        if self._items:
            self._outline.bullets("\n".join(self._items))
            self._items.clear()
            self._say_notes()

    def _say_notes(self) -> None:
        for note in self._notes:
            self._outline.block(note)
        self._notes.clear()

    def _take(self) -> str:
        text = "".join(self._texts["body"]).strip()
        self._texts["body"].clear()
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # pairs come in halves

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._is_starred = True
        elif self._to_skip:
            self._to_skip -= 1
        elif symbol in (b"\n", b"\r"):
            self._word("par", None)
        elif symbol in _SYMBOLS:
            self._flush()
            self._say(_SYMBOLS[symbol])

    def _add_bytes(self, data: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        if not self._state.is_passed and not self._state.is_hidden:
            self._bytes += data

    def _flush(self) -> None:
        if self._bytes:
            data = bytes(self._bytes)
            self._bytes.clear()
            self._say(data.decode(self._state.code_page, errors="replace"))

    def _say(self, text: str) -> None:
        state = self._state
        if state.is_passed or state.is_hidden:
            return
        if state.place == "stylesheet":
            if found := _HEADING_NAME.match(text.strip()):
                self._style_levels.setdefault(self._style, int(found[1]) - 1)
        elif state.place != "fonttbl":
            self._texts.setdefault(state.place, []).append(text)


def _code_page(number: int | None, default: str) -> str:
    try:
        return codecs.lookup("utf-8" if number == 65001 else f"cp{number}").name
    except LookupError:
        return default
