"""EPUB books: the chapters in the order of the spine, each read as HTML, with titles from the table of contents."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from ingest.documents import detect, html, xml
from ingest.documents.archives import Archive, open_archive
from ingest.documents.parsed import DocumentError, Outline, ParsedDocument
from ingest.documents.plain_text import decode

MAX_CHAPTERS = 10_000
_MAX_ENTRIES = 20_000  # of the table of contents
_MAX_LEVEL = 6
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_CHAPTER_SUFFIXES = (".xhtml", ".html", ".htm")
# Fonts are made unusable outside of the book. This protects no text.
_FONT_METHODS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_ENCODING = re.compile(rb"<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w-]{2,30})")
_HEADING = re.compile(r"<h[1-6][\s>]", re.I)
# XHTML may close any element at once; to HTML that is an opening tag, and all that follows would be in a <title/>.
_CLOSED_AT_ONCE = re.compile(r"<([a-zA-Z][\w:-]{0,40})((?:\s[^<>]*)?)/>")
_VOID = frozenset(
    """
    area base br col embed hr img input link meta source track wbr
    """.split()  # noqa: SIM905
)


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    with open_archive(path) as archive:
        book = _Book(archive)
        protected = _protected_parts(archive)
        chapters = book.chapters()
        if any(name in protected for name in chapters):
            raise DocumentError("encrypted", "It is protected by digital rights management.")
        titles = book.contents()
        read = 0
        for name in chapters:
            if name not in archive:
                continue
            _add_chapter(archive, name, titles.get(name), outline)
            read += 1
        if not read:
            raise DocumentError("unreadable", "It is damaged: none of its chapters is in it.")
        outline.title = book.title()  # not the first chapter's
    return outline.finish(detect.EPUB, declared_name)


def _add_chapter(archive: Archive, name: str, title: tuple[int, str] | None, outline: Outline) -> None:
    data = archive.read(name)
    declared = _ENCODING.search(data, 0, 1024)
    try:
        text = decode(data, declared[1].decode("ascii") if declared else None)
    except DocumentError:  # no text at all
        return
    text = _CLOSED_AT_ONCE.sub(_opened_and_closed, text)
    if title is not None and not _HEADING.search(text):
        outline.heading(*title)
    html.add_html(text, outline)


def _opened_and_closed(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in _VOID else f"<{match[1]}{match[2]}></{match[1]}>"


class _Book:
    """What the package file says: metadata, parts, and their order (EPUB 2 and 3)."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._path = self._package_path()
        with archive.open(self._path) as part:
            self._package = xml.parse(part)
        self._types: dict[str, str] = {}
        self._targets: dict[str, str] = {}
        self._navigation = ""
        for item in _found(self._package, "opf:item"):
            target = self._resolved(self._path, item.get("href", ""))
            if not target:
                continue
            self._targets.setdefault(item.get("id", ""), target)
            self._types.setdefault(target, item.get("media-type", ""))
            if "nav" in item.get("properties", "").split():
                self._navigation = target

    def title(self) -> str:
        return next((found.text or "" for found in _found(self._package, "dc:title") if found.text), "")

    def chapters(self) -> list[str]:
        """The names of the parts that are text, each once, in reading order."""
        names: dict[str, None] = {}
        for reference in _found(self._package, "opf:itemref"):
            target = self._targets.get(reference.get("idref", ""), "")
            if target and target != self._navigation and self._is_chapter(target):
                names[target] = None
        if len(names) > MAX_CHAPTERS:
            raise DocumentError("too_large", f"It has more than {MAX_CHAPTERS:,} chapters.")
        return list(names)

    def contents(self) -> dict[str, tuple[int, str]]:
        """Level and title of each part that the table of contents leads to; {} where it cannot be read."""
        try:
            if self._navigation:
                return self._navigation_titles()
            spine = next(_found(self._package, "opf:spine"), None)
            ncx = self._targets.get(spine.get("toc", "") if spine is not None else "", "")
            ncx = ncx or next((name for name, kind in self._types.items() if kind == "application/x-dtbncx+xml"), "")
            return self._ncx_titles(ncx) if ncx else {}
        except DocumentError as error:
            if error.code == "too_large":
                raise
            return {}

    def _package_path(self) -> str:
        with self._archive.open("META-INF/container.xml") as part:
            for event, element in xml.walk(part, whole=(), marks={"container:rootfile", "rootfile"}):
                if event == "start" and (path := self._resolved("", element.get("full-path", ""))):
                    return path
        raise DocumentError("unreadable", "It is damaged: it does not say where its book is.")

    def _is_chapter(self, target: str) -> bool:
        return self._types.get(target) in _CHAPTER_TYPES or target.lower().endswith(_CHAPTER_SUFFIXES)

    def _navigation_titles(self) -> dict[str, tuple[int, str]]:
        with self._archive.open(self._navigation) as part:
            root = xml.parse(part)
        titles: dict[str, tuple[int, str]] = {}
        lists = [each for each in root.iter("nav") if _epub_type(each) == "toc"] or list(root.iter("nav"))
        waiting: list[tuple[int, Element]] = [(0, each) for each in lists[:1]]
        while waiting:
            level, element = waiting.pop()
            level += element.tag == "ol"
            if element.tag == "a":
                self._keep(titles, self._navigation, element.get("href", ""), level, "".join(element.itertext()))
            waiting += [(level, each) for each in reversed(element)]
        return titles

    def _ncx_titles(self, name: str) -> dict[str, tuple[int, str]]:
        with self._archive.open(name) as part:
            root = xml.parse(part)
        titles: dict[str, tuple[int, str]] = {}
        waiting: list[tuple[int, Element]] = [(1, each) for each in root.iter("ncx:navMap")]
        while waiting:
            level, element = waiting.pop()
            if element.tag == "ncx:navPoint":
                parts = {each.tag: each for each in element}
                label, content = parts.get("ncx:navLabel"), parts.get("ncx:content")
                if label is not None and content is not None:
                    self._keep(titles, name, content.get("src", ""), level, "".join(label.itertext()))
                level += 1
            waiting += [(level, each) for each in reversed(element)]
        return titles

    def _keep(self, titles: dict[str, tuple[int, str]], base: str, href: str, level: int, text: str) -> None:
        target = self._resolved(base, href)
        if target and text.strip() and len(titles) < _MAX_ENTRIES:
            titles.setdefault(target, (min(max(level, 1), _MAX_LEVEL), text))

    @staticmethod
    def _resolved(base: str, href: str) -> str:
        """The name of the part that a reference in another leads to; empty where it leads out of the book."""
        href = href.partition("#")[0]
        if not href or "://" in href:
            return ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(href))).lstrip("/")
        return "" if path in {".", ".."} or path.startswith("../") else path


def _found(root: Element, name: str) -> Iterator[Element]:
    return root.iter(name)


def _epub_type(element: Element) -> str:
    """Its prefix is of a namespace that only books have."""
    return element.get("type", "")


def _protected_parts(archive: Archive) -> set[str]:
    """The parts that cannot be read without a key."""
    name = "META-INF/encryption.xml"
    if name not in archive:
        return set()
    protected: set[str] = set()
    with archive.open(name) as part:
        for _, element in xml.walk(part, whole={"EncryptedData"}):
            method = next(element.iter("EncryptionMethod"), None)
            if method is not None and method.get("Algorithm", "") in _FONT_METHODS:
                continue
            protected.update(unquote(each.get("URI", "")).lstrip("/") for each in element.iter("CipherReference"))
    return protected
