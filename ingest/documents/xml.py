"""XML of documents, read as a stream by expat: no entities, no outside definitions, bounded depth, names and nodes.

Names come as `w:p`, with the prefixes of NAMESPACES, whatever prefixes the document uses. What its namespace does not
say, has its local name alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import IO, Literal
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ingest.documents.parsed import DocumentError

MAX_DEPTH = 200  # readers go down by recursion
MAX_NODES = 500_000  # of one element that is handed over as a whole
_MAX_NAMES = 20_000
_MAX_ATTRIBUTES = 1_000
_CHUNK_BYTES = 1024 * 1024
# expat before 2.6 looks at an unfinished token again with each piece that it gets.
_MAX_TOKEN_BYTES = 16 * 1024 * 1024

_OOXML = "http://schemas.openxmlformats.org"
_STRICT = "http://purl.oclc.org/ooxml"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
NAMESPACES = {
    f"{_OOXML}/wordprocessingml/2006/main": "w",
    f"{_STRICT}/wordprocessingml/main": "w",
    f"{_OOXML}/presentationml/2006/main": "p",
    f"{_STRICT}/presentationml/main": "p",
    f"{_OOXML}/spreadsheetml/2006/main": "s",
    f"{_STRICT}/spreadsheetml/main": "s",
    f"{_OOXML}/drawingml/2006/main": "a",
    f"{_STRICT}/drawingml/main": "a",
    f"{_OOXML}/drawingml/2006/chart": "c",
    f"{_STRICT}/drawingml/chart": "c",
    f"{_OOXML}/drawingml/2006/diagram": "dgm",
    f"{_STRICT}/drawingml/diagram": "dgm",
    f"{_OOXML}/officeDocument/2006/relationships": "r",
    f"{_STRICT}/officeDocument/relationships": "r",
    f"{_OOXML}/officeDocument/2006/math": "m",
    f"{_STRICT}/officeDocument/math": "m",
    f"{_OOXML}/officeDocument/2006/extended-properties": "ep",
    f"{_STRICT}/officeDocument/extendedProperties": "ep",
    f"{_OOXML}/package/2006/relationships": "rel",
    f"{_OOXML}/package/2006/content-types": "ct",
    f"{_OOXML}/package/2006/metadata/core-properties": "cp",
    f"{_OOXML}/markup-compatibility/2006": "mc",
    "http://purl.org/dc/elements/1.1/": "dc",
    f"{_ODF}:office:1.0": "office",
    f"{_ODF}:text:1.0": "text",
    f"{_ODF}:table:1.0": "table",
    f"{_ODF}:drawing:1.0": "draw",
    f"{_ODF}:presentation:1.0": "presentation",
    f"{_ODF}:style:1.0": "style",
    f"{_ODF}:manifest:1.0": "manifest",
    f"{_ODF}:svg-compatible:1.0": "svg",
    f"{_ODF}:xsl-fo-compatible:1.0": "fo",
    "http://www.w3.org/1999/xlink": "xlink",
    "urn:oasis:names:tc:opendocument:xmlns:container": "container",
    "http://www.idpf.org/2007/opf": "opf",
    "http://www.daisy.org/z3986/2005/ncx/": "ncx",
}

Event = Literal["whole", "start", "end"]


def walk(
    source: IO[bytes],
    *,
    whole: Collection[str],
    marks: Collection[str] = (),
    skip: Collection[str] = (),
    check: Callable[[], None] = lambda: None,
    max_nodes: int = MAX_NODES,
) -> Iterator[tuple[Event, Element]]:
    """Goes through the XML without keeping it.

    Gives ("whole", element) at the end of each outermost element named in `whole`, with all that is in it, and outside
    of these ("start", element) and ("end", element) for those named in `marks`, with their attributes only. Elements
    named in `skip` are left out with all that is in them. `check` is called now and then: it may raise.

    Raises DocumentError: `unreadable` for what is not well-formed, declares entities or nests too deep; `too_large` for
    a whole element of more than `max_nodes` elements.
    """
    reader = _Reader(frozenset(whole), frozenset(marks), frozenset(skip), max_nodes)
    is_last = False
    while not is_last:
        check()
        data = source.read(_CHUNK_BYTES)
        is_last = not data
        reader.feed(data, is_last)
        yield from reader.events
        reader.events.clear()


def parse(source: IO[bytes], check: Callable[[], None] = lambda: None, max_nodes: int = MAX_NODES) -> Element:
    """The XML as a whole. Raises DocumentError, as `walk`."""
    reader = _Reader(None, frozenset(), frozenset(), max_nodes)
    is_last = False
    while not is_last:
        check()
        data = source.read(_CHUNK_BYTES)
        is_last = not data
        reader.feed(data, is_last)
    return reader.events[0][1]


def below(element: Element | None, *names: str) -> Element | None:
    """The first child of the first name, then its first child of the next, and so on; None where one is not there."""
    for name in names:
        element = element.find(name) if element is not None else None
    return element


class _Reader:
    """expat's events put together. Without `whole` the root is the one whole element."""

    def __init__(
        self, whole: frozenset[str] | None, marks: frozenset[str], skip: frozenset[str], max_nodes: int
    ) -> None:
        self.events: list[tuple[Event, Element]] = []
        self._whole = whole
        self._marks = marks
        self._skip = skip
        self._max_nodes = max_nodes
        self._names: dict[str, str] = {}
        self._depth = self._skipped_from = self._built_from = self._nodes = self._fed_bytes = 0
        self._builder: TreeBuilder | None = None
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._refuse_entities

    def feed(self, data: bytes, is_last: bool) -> None:
        self._fed_bytes += len(data)
        try:
            self._parser.Parse(data, is_last)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise DocumentError("unreadable", f"It is damaged: its XML is not well-formed ({error}).") from None
        if self._fed_bytes - self._parser.CurrentByteIndex > _MAX_TOKEN_BYTES:
            raise DocumentError("too_large", f"A piece of its XML has more than {_MAX_TOKEN_BYTES:,} bytes.")

    def _start(self, full_name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._skipped_from:
            return
        if self._depth > MAX_DEPTH:
            raise DocumentError("unreadable", f"Its elements nest more than {MAX_DEPTH} deep.")
        name = self._names.get(full_name) or self._short(full_name)
        if name in self._skip:
            self._skipped_from = self._depth
            self._parser.CharacterDataHandler = None
            return
        if attributes:
            if len(attributes) > _MAX_ATTRIBUTES:
                raise DocumentError("too_large", f"An element of it has more than {_MAX_ATTRIBUTES:,} attributes.")
            known = self._names
            attributes = {known.get(key) or self._short(key): value for key, value in attributes.items()}
        if self._builder is not None:
            self._nodes += 1
            if self._nodes > self._max_nodes:
                raise DocumentError("too_large", f"A part of it has more than {self._max_nodes:,} elements.")
            self._builder.start(name, attributes)
        elif self._whole is None or name in self._whole:
            self._builder = TreeBuilder()
            self._builder.start(name, attributes)
            self._built_from, self._nodes = self._depth, 1
            self._parser.CharacterDataHandler = self._builder.data
        elif name in self._marks:
            self.events.append(("start", Element(name, attributes)))

    def _end(self, full_name: str) -> None:
        depth = self._depth
        self._depth -= 1
        if self._skipped_from:
            if depth == self._skipped_from:
                self._skipped_from = 0
                self._parser.CharacterDataHandler = self._builder.data if self._builder is not None else None
            return
        name = self._names[full_name]
        if self._builder is None:
            if name in self._marks:
                self.events.append(("end", Element(name)))
            return
        self._builder.end(name)
        if depth == self._built_from:
            self.events.append(("whole", self._builder.close()))
            self._builder = None
            self._parser.CharacterDataHandler = None

    def _short(self, full_name: str) -> str:
        if len(self._names) >= _MAX_NAMES:
            raise DocumentError("unreadable", f"It has more than {_MAX_NAMES:,} kinds of elements.")
        space, _, local = full_name.rpartition(" ")
        prefix = NAMESPACES.get(space)
        name = f"{prefix}:{local}" if prefix else local
        self._names[full_name] = name
        return name

    @staticmethod
    def _refuse_entities(*_: object) -> None:
        raise DocumentError("unreadable", "Its XML declares entities, which documents do not need.")
