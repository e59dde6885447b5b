"""What every document parser takes, gives and raises, and how it puts a document together."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ingest.documents.table_text import table_lines
from rag.borders import CODE, HEADING, LIST, PROSE, TABLE, Block
from rag.chunking import SECTION_BREAK, Section

MAX_TITLE_CHARACTERS = 200
_MAX_HEADING_CHARACTERS = 300

# Characters that a reader does not see: controls, soft hyphens, zero-width and direction marks, tags and variation
# selectors. They split words for the search, and can carry text that only a model reads.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_LINE_BREAK = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACE = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")


class DocumentError(Exception):
    """The document cannot be read. `code` is unsupported_type, encrypted, empty, too_large or unreadable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Limits:
    """What a document may cost; over one of them it is refused as too_large."""

    max_bytes: int = 100 * 1024 * 1024
    max_characters: int = 10_000_000
    max_pages: int = 5_000
    max_chunks: int = 20_000
    max_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document's text in sections; `join_sections(sections)` is its full text, `characters` long."""

    mime: str
    title: str
    sections: list[Section]
    characters: int
    pages: int | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block before its place is known; `lead` is the length of its first line where that introduces the rest."""

    text: str
    kind: str
    lead: int
    start_ms: int | None
    end_ms: int | None


@dataclass(slots=True)
class Outline:
    """Puts a document together from headings and blocks, in reading order, within the limits."""

    limits: Limits
    title: str = ""
    page: int | None = None
    sections: list[Section] = field(default_factory=list)
    _path: list[tuple[int, str]] = field(default_factory=list)
    _waiting: list[str] = field(default_factory=list)
    _pieces: list[_Piece] = field(default_factory=list)
    _heard: tuple[int | None, int | None] = (None, None)
    _characters: int = 0
    _deadline_s: float = 0.0

    def __post_init__(self) -> None:
        self._deadline_s = time.monotonic() + self.limits.max_seconds

    def heading(self, level: int, text: str) -> None:
        """Begins a section. A heading without text below it goes with the next one, if that is a part of it."""
        title = " ".join(clean(text).split())
        if not title:
            return
        if len(title) > _MAX_HEADING_CHARACTERS:
            self.block(text)
            return
        if self._pieces or (self._path and level <= self._path[-1][0]):
            self._close()
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, title))
        self._waiting.append(title)

    def block(self, text: str) -> None:
        """Adds a paragraph; its line breaks stay."""
        self._add(text, PROSE)

    def bullets(self, text: str) -> None:
        """Adds a list: a line or more an item, each beginning with its mark, items of inner lists indented."""
        self._add(text, LIST)

    def code(self, text: str) -> None:
        """Adds a piece of code or other text that only line breaks part."""
        self._add(text, CODE)

    def table(
        self, rows: Iterable[Sequence[str]], *, has_header: bool, caption: str = "", header_column: bool = False
    ) -> None:
        """Adds a table: a line a row, which names its columns where the first row does (`has_header`).

        `header_column`: the first cell of each row is its name. Rows without words are left out, and so is a table
        without any; its caption stays.
        """
        caption = " ".join(clean(caption).split())
        lines: list[str] = []
        characters = self._characters
        for line in table_lines(rows, has_header=has_header, header_column=header_column):
            self.check_time()
            lines.append(clean(line).strip())
            characters += len(lines[-1]) + 1
            self.check_characters(characters)
        text = "\n".join(line for line in lines if line)
        if caption and text:
            self._add(f"{caption}\n{text}", TABLE, lead=len(caption))
        else:
            self._add(text or caption, TABLE if text else PROSE)

    def heard(self, start_ms: int | None, end_ms: int | None) -> None:
        """The blocks that follow are heard then, from the start of the recording."""
        self._heard = (start_ms, end_ms)

    def begin_page(self, page: int) -> None:
        """What follows is on that page, counted from 1. The headings above it hold on."""
        self._close()
        self.page = page

    def check_time(self) -> None:
        if time.monotonic() > self._deadline_s:
            raise DocumentError("too_large", f"Reading it took longer than {self.limits.max_seconds:g} seconds.")

    def check_characters(self, characters: int) -> None:
        if characters > self.limits.max_characters:
            raise DocumentError("too_large", f"It has more than {self.limits.max_characters:,} characters of text.")

    def finish(self, mime: str, declared_name: str, pages: int | None = None) -> ParsedDocument:
        """The document, or DocumentError `empty` where it holds no words."""
        self._close()
        if not any(character.isalnum() for section in self.sections for character in section.text):
            raise DocumentError("empty", "There is no text in it.")
        last = self.sections[-1]
        title = " ".join(clean(self.title).split()) or name_title(declared_name)
        return ParsedDocument(mime, title[:MAX_TITLE_CHARACTERS], self.sections, last.start + len(last.text), pages)

    def _add(self, text: str, kind: str, lead: int = 0) -> None:
        self.check_time()
        text = clean(text).strip("\n").rstrip()
        if text.strip():
            self._characters += len(text)
            self.check_characters(self._characters)
            self._pieces.append(_Piece(text, kind, lead, *self._heard))

    def _close(self) -> None:
        """Ends the section: its own heading and those above it that had no text, a line each, then its blocks."""
        texts, self._waiting = self._waiting, []
        pieces, self._pieces = self._pieces, []
        blocks: list[Block] = []
        head = "\n".join(texts)
        length = len(head)
        if head:
            blocks.append(Block(HEADING, 0, length))
        parts = [head] if head else []
        for piece in pieces:
            separator = "" if not parts else "\n" if len(parts) == 1 and head else SECTION_BREAK
            parts.append(separator + piece.text)
            start = length + len(separator)
            length = start + len(piece.text)
            blocks.append(Block(piece.kind, start, length, start + piece.lead, piece.start_ms, piece.end_ms))
        if not parts:
            return
        start = 0
        if self.sections:
            start = self.sections[-1].start + len(self.sections[-1].text) + len(SECTION_BREAK)
        path = tuple(title for _, title in self._path)
        self.sections.append(Section("".join(parts), path, self.page, start, tuple(blocks)))


def clean(text: str) -> str:
    """Composed Unicode (NFC) with plain spaces and line breaks, without characters that a reader does not see."""
    text = _LINE_BREAK.sub("\n", text)
    text = _SPACE.sub(" ", _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", text)


def name_title(declared_name: str) -> str:
    """A title made of a file's name."""
    name = clean(declared_name).replace("\\", "/").rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    return " ".join(stem.replace("_", " ").split()) or "Document"
