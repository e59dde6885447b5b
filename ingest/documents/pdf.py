"""PDF: the text layer, page by page, with the document's own outline or its larger type as headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.documents.parsed import DocumentError, Outline, ParsedDocument
from ingest.documents.plain_text import join_lines

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfTextPage

MIME = "application/pdf"

_MAX_BOOKMARKS = 5_000
_MAX_HEADING_CHARACTERS = 150
_HEADING_SIZE = 1.15
_RUNNING_PAGES = 4  # repeated lines are running heads only in a document of at least so many pages
_RUNNING_SHARE = 0.6
_RUNNING_LINES = 2
_MAX_LINES_SIZED = 2_000
_HYPHEN = re.compile("[\x02\ufffe](?:\r?\n)?")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_PRIVATE_USE = re.compile("[\ue000-\uf8ff\ufffd]")
_WORD = re.compile(r"\w")
_PAGE_NUMBER = re.compile(
    r"\W*(?:page|p\.|стр\.?|страница|лист)?\s*\d{1,5}\s*(?:(?:of|из|/)\s*\d{1,5})?\W*", re.IGNORECASE
)
_PAGE_NUMBER_KEY = "#"


@dataclass(slots=True)
class _Line:
    text: str
    size: float  # of its type, in points; 0 where unknown


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise DocumentError("encrypted", "It is protected by a password.") from None
        raise DocumentError("unreadable", f"It is no PDF that can be opened: {error}.") from None
    try:
        pages = len(document)
        if pages > outline.limits.max_pages:
            raise DocumentError("too_large", f"It has {pages:,} pages; {outline.limits.max_pages:,} is the most.")
        if not pages:
            raise DocumentError("empty", "It has no pages.")
        read = _read_pages(document, pages, outline)
        _check_words(read)
        outline.title = _title(document)
        _assemble(read, _bookmarks(document), outline)
    finally:
        document.close()
    return outline.finish(MIME, declared_name, pages)


def _read_pages(document: PdfDocument, pages: int, outline: Outline) -> list[list[_Line]]:
    import pypdfium2

    read: list[list[_Line]] = []
    characters = failed = 0
    for number in range(pages):
        outline.check_time()
        try:
            page = document[number]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            failed += 1
            read.append([])
            continue
        try:
            characters += text_page.count_chars()
            outline.check_characters(characters)
            read.append(_lines(text_page))
        finally:
            text_page.close()
            page.close()
    if failed == pages:
        raise DocumentError("unreadable", "None of its pages can be read.")
    return read


def _lines(text_page: PdfTextPage) -> list[_Line]:
    """The lines of a page; a change of type size begins a line too, since a heading may stand close above its text."""
    import ctypes

    from pypdfium2 import raw

    count = text_page.count_chars()
    buffer = (ctypes.c_ushort * (count + 1))()
    written = raw.FPDFText_GetText(text_page, 0, count, buffer) - 1  # a NUL ends it
    text = bytes(buffer)[: max(written, 0) * 2].decode("utf-16-le", errors="replace")
    # Sizes are asked for by PDFium's count of characters, which is not always that of the text.
    sized = len(text) == count
    lines: list[_Line] = []
    current: list[str] = []
    size = 0.0
    for at, character in enumerate(text):
        if character in "\r\n":
            if current:
                lines.append(_Line("".join(current), size))
            current, size = [], 0.0
            continue
        if sized and not character.isspace():
            here = raw.FPDFText_GetFontSize(text_page, at)
            if size and current and current[-1] == " " and abs(here - size) > 0.2 * max(size, here):
                lines.append(_Line("".join(current), size))
                current = []
            size = here if not current else max(size, here)
        current.append(character)
    if current:
        lines.append(_Line("".join(current), size))
    return [_Line(line.text.translate(_LIGATURES), line.size) for line in _join_cut_words(lines)]


def _join_cut_words(lines: list[_Line]) -> Iterator[_Line]:
    """PDFium marks the hyphen of a word cut at a line's end; the word becomes whole."""
    open_line: _Line | None = None
    for line in lines:
        text = line.text
        if open_line is not None:
            text, open_line = open_line.text + text, None
        cut = text.endswith(("\x02", "\ufffe"))
        text = _HYPHEN.sub("", text)
        if cut:
            open_line = _Line(text, line.size)
        elif text.strip():
            yield _Line(text.strip(), line.size)
    if open_line is not None:
        yield open_line


def _check_words(pages: list[list[_Line]]) -> None:
    text = [line.text for lines in pages for line in lines]
    words = sum(len(_WORD.findall(line)) for line in text)
    if not words:
        raise DocumentError(
            "empty", "It has no text layer: its pages are images. Recognising text in images is not supported yet."
        )
    if sum(len(_PRIVATE_USE.findall(line)) for line in text) > words:
        raise DocumentError("unreadable", "Its fonts do not say which characters they show.")


def _title(document: PdfDocument) -> str:
    title = document.get_metadata_dict().get("Title", "").strip()
    # Writers of PDF put their own words or the name of a draft there.
    useless = title.lower() in {"(anonymous)", "untitled", "(unspecified)"} or title.lower().startswith(
        "microsoft word"
    )
    return "" if useless or not _WORD.search(title) else title


def _bookmarks(document: PdfDocument) -> dict[int, list[tuple[int, str]]]:
    """Levels and titles of the document's outline, by page from 0."""
    import pypdfium2

    found: dict[int, list[tuple[int, str]]] = {}
    try:
        for bookmark in islice(document.get_toc(), _MAX_BOOKMARKS):
            target = bookmark.get_dest()
            page = target.get_index() if target is not None else None
            title = bookmark.get_title().strip()
            if page is not None and title:
                found.setdefault(page, []).append((bookmark.level + 1, title))
    except (pypdfium2.PdfiumError, UnicodeDecodeError):
        return {}  # a broken outline: the text is there without it
    return found


def _assemble(pages: list[list[_Line]], bookmarks: dict[int, list[tuple[int, str]]], outline: Outline) -> None:
    running = _running_lines(pages)
    levels = {} if bookmarks else _heading_levels(pages)
    seen: set[str] = set()
    for number, page in enumerate(pages):
        lines: list[_Line] = []
        for at, line in enumerate(page):
            outer = at < _RUNNING_LINES or at >= len(page) - _RUNNING_LINES
            key = _running_key(line.text)
            if not outer or key not in running or (key not in seen and key != _PAGE_NUMBER_KEY):
                lines.append(line)
            if outer:
                seen.add(key)
        if not lines:
            continue
        outline.begin_page(number + 1)
        waiting = list(bookmarks.get(number, ()))
        _begin_unseen(waiting, lines, outline)
        width = max(40, sorted(len(line.text) for line in lines)[int(len(lines) * 0.9)])
        body: list[str] = []
        for line in lines:
            level = levels.get(round(line.size, 1), 0) if len(line.text) <= _MAX_HEADING_CHARACTERS else 0
            if waiting and _key(line.text) == _key(waiting[0][1]):
                level = waiting.pop(0)[0]
            if level and _WORD.search(line.text):
                outline.block(join_lines(body, width))
                body = []
                outline.heading(level, line.text)
            else:
                body.append(line.text)
        outline.block(join_lines(body, width))


def _begin_unseen(waiting: list[tuple[int, str]], lines: list[_Line], outline: Outline) -> None:
    """Headings of the outline that no line of their page shows begin with the page."""
    shown = {_key(line.text) for line in lines}
    for bookmark in [each for each in waiting if _key(each[1]) not in shown]:
        outline.heading(*bookmark)
        waiting.remove(bookmark)


def _running_lines(pages: list[list[_Line]]) -> set[str]:
    """Heads and feet that most pages repeat; they are read once. Page numbers are not read."""
    filled = [lines for lines in pages if lines]
    if len(filled) < _RUNNING_PAGES:
        return set()
    counts: Counter[str] = Counter()
    for lines in filled:
        counts.update({_running_key(each.text) for each in (*lines[:_RUNNING_LINES], *lines[-_RUNNING_LINES:])})
    return {key for key, count in counts.items() if count >= len(filled) * _RUNNING_SHARE}


def _running_key(text: str) -> str:
    return _PAGE_NUMBER_KEY if _PAGE_NUMBER.fullmatch(text) else _key(text)


def _heading_levels(pages: list[list[_Line]]) -> dict[float, int]:
    """Levels of headings by size of type: the sizes clearly above that of most of the text, the largest first."""
    weights: Counter[float] = Counter()
    for lines in pages:
        for line in lines[:_MAX_LINES_SIZED]:
            weights[round(line.size, 1)] += len(line.text)
    if not weights:
        return {}
    body = weights.most_common(1)[0][0]
    total = sum(weights.values())
    larger = sorted((s for s, held in weights.items() if s > body * _HEADING_SIZE and held < total * 0.2), reverse=True)
    return {size: min(level, 6) for level, size in enumerate(larger, start=1)} if body else {}


def _key(text: str) -> str:
    return " ".join(text.lower().split())
