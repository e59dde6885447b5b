"""HTML: what a reader of the page sees, with its headings, lists and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.documents.html_tables import HtmlTable
from ingest.documents.parsed import DocumentError, Outline, ParsedDocument
from ingest.documents.plain_text import decode

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MIME = "text/html"
# The parser's time grows with the square of the depth of blocks: 100,000 take it 20 seconds.
MAX_DEPTH = 5_000
MAX_TAGS = 2_000_000  # some 650 MB in memory

_DROPPED = frozenset(
    """
    script style noscript template svg math canvas iframe object embed applet audio video map head nav menu select
    datalist textarea input dialog progress meter -comment !doctype
    """.split()  # noqa: SIM905
)
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_INLINE = frozenset(
    """
    a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins kbd label mark nobr q rp rt ruby s
    samp small span strike strong sub sup time tt u var wbr
    """.split()  # noqa: SIM905
)
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)|"
    r"font-size\s*:\s*0(?:\.0+)?[a-z%]*\s*(?:;|!|$)|(?:left|top|text-indent)\s*:\s*-\d{3,}",
    re.I,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,30})", re.I)
_TAGS = re.compile(r"<(/?)([a-z][a-z0-9-]*)", re.I)
# Elements that hold nothing, or that the next one of their kind closes: they add no depth of their own.
_SHALLOW = frozenset(
    """
    area base br col embed hr img input link meta source track wbr p li dt dd tr td th thead tbody tfoot option
    optgroup html head body rp rt
    """.split()  # noqa: SIM905
)
_SPACES = re.compile(r"[ \t\n\r\f]+")


def parse(data: bytes, declared_name: str, outline: Outline) -> ParsedDocument:
    declared = _CHARSET.search(data, 0, 4096)
    text = decode(data, declared[1].decode("ascii") if declared else None)
    add_html(text, outline)
    return outline.finish(MIME, declared_name)


def add_html(text: str, outline: Outline) -> None:
    """Adds a page's or a fragment's text to a document. Raises DocumentError where it has too many tags or too deep."""
    from selectolax.lexbor import LexborHTMLParser

    _check_shape(text)
    tree = LexborHTMLParser(text.replace("\0", ""))
    title = tree.css_first("head > title")
    if title is not None and not outline.title:
        outline.title = title.text()
    if tree.body is not None:
        _Reader(outline).read(tree.body)


def _check_shape(text: str) -> None:
    depth = 0
    for count, match in enumerate(_TAGS.finditer(text)):
        if count == MAX_TAGS:
            raise DocumentError("too_large", f"It has more than {MAX_TAGS:,} tags.")
        tag = match[2].lower()
        if tag not in _SHALLOW and tag not in _INLINE:
            depth = max(depth - 1, 0) if match[1] else depth + 1
            if depth > MAX_DEPTH:
                raise DocumentError("unreadable", f"Its elements nest more than {MAX_DEPTH:,} deep.")


@dataclass(slots=True)
class _Reader:
    """Walks the tree without recursion and hands blocks to the outline."""

    outline: Outline
    _inline: list[str] = field(default_factory=list)
    _items: list[str] = field(default_factory=list)
    _lists: list[int] = field(default_factory=list)  # the next number of each open list; -1 where it has none
    _tables: list[HtmlTable | None] = field(default_factory=list)  # None: a table that is only layout
    _preformatted: int = 0
    _marker: str = ""
    _is_list: bool = False  # the items waiting are of a list, not only terms and what they mean
    _defining: bool = False
    _is_defined: bool = False

    def read(self, root: LexborNode) -> None:
        node: LexborNode | None = root
        while node is not None:
            entered = self._enter(node)
            if entered and node.child is not None:
                node = node.child
                continue
            if entered:
                self._leave(node)
            node = self._next(node, root)
        self._end_block()
        self._end_list()

    def _next(self, node: LexborNode, root: LexborNode) -> LexborNode | None:
        """The node after one that is done, leaving the elements that end with it."""
        while node.mem_id != root.mem_id:
            if node.next is not None:
                return node.next
            if node.parent is None:
                return None
            node = node.parent
            self._leave(node)
        return None

    def _enter(self, node: LexborNode) -> bool:
        """Whether to read what is inside."""
        tag = node.tag or ""
        if tag == "-text":
            text = node.text_content or ""
            self._inline.append(text if self._preformatted else _SPACES.sub(" ", text))
            return False
        if tag in _DROPPED or _is_hidden(node) or (tag == "button" and not _says_something(node)):
            return False
        if tag == "br":
            self._inline.append("\n")
        elif tag == "table":
            self._end_block()
            self._tables.append(HtmlTable() if _is_data(node) else None)
        elif tag == "tr" and (table := self._table()):
            table.begin_row(in_head=node.parent is not None and node.parent.tag == "thead")
        elif tag in {"td", "th"} and self._table():
            self._inline.clear()
        elif tag in {"ul", "ol"}:
            self._end_block()
            self._lists.append(_first_number(node) if tag == "ol" else -1)
        elif tag == "li" and not self._table():
            self._end_block()
            self._marker = self._next_marker()
        elif tag == "pre":
            self._end_block()
            self._preformatted += 1
        elif tag == "dt" and not self._table():
            self._end_block()
            if self._is_defined and not self._lists:
                self._end_list()
            self._defining = True
        elif tag in _HEADINGS and not self._table():
            self._end_block()
            self._end_list()
        elif tag not in _INLINE:
            self._end_block()
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _INLINE or tag == "br":
            return
        table = self._table()
        if tag in {"td", "th"} and table is not None:
            table.add_cell(
                self._take(), is_header=tag == "th", columns=_number(node, "colspan"), rows=_number(node, "rowspan")
            )
        elif tag == "caption" and table is not None:
            table.caption = self._take()
        elif tag == "table":
            self._end_block()
            done = self._tables.pop() if self._tables else None
            if done is not None:
                self._end_list()
                done.add_to(self.outline)
        elif tag in _HEADINGS and table is None:
            self.outline.heading(_HEADINGS[tag], self._take())
        elif tag in {"ul", "ol"}:
            self._end_block()
            if self._lists:
                self._lists.pop()
            if not self._lists:
                self._end_list()
        elif tag == "pre":
            self._end_block()
            self._preformatted = max(self._preformatted - 1, 0)
        elif tag in {"dd", "dl"} and table is None:
            self._end_block()
            self._is_defined = self._defining
            if tag == "dl" and not self._lists:
                self._end_list()
        else:
            self._end_block()

    def _table(self) -> HtmlTable | None:
        return self._tables[-1] if self._tables else None

    def _next_marker(self) -> str:
        if not self._lists:
            return "- "
        indent = "  " * min(len(self._lists) - 1, 8)
        if self._lists[-1] < 0:
            return f"{indent}- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1] - 1}. "

    def _take(self) -> str:
        text = "".join(self._inline)
        self._inline.clear()
        if self._preformatted:
            return text.strip("\n")
        return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()

    def _end_block(self) -> None:
        if self._table() is not None:
            self._inline.append(" ")  # paragraphs within a cell
            return
        text = self._take()
        if not text.strip():
            return
        if self._lists or self._marker or self._defining:
            self._is_list = self._is_list or bool(self._lists or self._marker)
            self._items.append(self._marker + text)
            self._marker = ""
        else:
            self._end_list()
            (self.outline.code if self._preformatted else self.outline.block)(text)

    def _end_list(self) -> None:
        self._marker = ""
        if self._items:
            (self.outline.bullets if self._is_list else self.outline.block)("\n".join(self._items))
            self._items.clear()
        self._is_list = self._defining = self._is_defined = False


def _number(node: LexborNode, name: str) -> int:
    """A small number in an attribute; 1 where it is none."""
    value = (node.attributes.get(name) or "").strip()[:6]
    return int(value) if value.isascii() and value.isdigit() else 1


def _first_number(node: LexborNode) -> int:
    return min(_number(node, "start"), 9999)


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true" or attributes.get("role") == "navigation":
        return True
    style = attributes.get("style")
    return bool(style) and _HIDDEN_STYLE.search(style or "") is not None


def _says_something(button: LexborNode) -> bool:
    """Whether a button is a line to read, such as the question of a list that unfolds, and not only a command."""
    parent = button.parent
    return (parent is not None and parent.tag in _HEADINGS) or button.text().strip().endswith("?")


def _is_data(table: LexborNode) -> bool:
    """Whether a table holds data; one with headings or tables inside, or a single cell, arranges a page."""
    inner = table.css("table, h1, h2, h3, h4, h5, h6")  # finds the table itself too
    return all(node.mem_id == table.mem_id for node in inner) and len(table.css("td, th")) > 1
