"""Markdown (CommonMark with tables): headings, lists, tables and code, without the marks of emphasis."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.documents.html import add_html
from ingest.documents.parsed import Outline, ParsedDocument
from ingest.documents.plain_text import decode

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MIME = "text/markdown"

_FRONT_MATTER = re.compile(
    r"---[ \t]*\n((?:[\w-]+[ \t]*:.*\n|[ \t]+.*\n|-[ \t].*\n|#.*\n)*+)(?:---|\.\.\.)[ \t]*(?:\n|$)"
)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.M | re.I)
_MAX_NESTING = 100
# Marks in a longer stretch are left in: reading them can take time that grows with its square.
_MAX_INLINE_CHARACTERS = 20_000
_TAG = re.compile(r"<br\s*/?>", re.I)


def parse(data: bytes, declared_name: str, outline: Outline) -> ParsedDocument:
    from markdown_it import MarkdownIt

    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    outline.check_characters(len(text))
    if front := _FRONT_MATTER.match(text):
        if title := _FRONT_TITLE.search(front[1]):
            outline.title = title[1]
        text = text[front.end() :]
    # Only the blocks: inline marks are read piece by piece, within a bound.
    blocks = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table").disable("inline")
    environment: dict[str, object] = {}
    tokens = blocks.parse(text, environment)
    _Reader(outline, MarkdownIt("commonmark").enable("strikethrough"), environment).read(tokens)
    return outline.finish(MIME, declared_name)


class _Reader:
    """Goes through the tokens of the blocks, in order, and hands the blocks to the outline."""

    def __init__(self, outline: Outline, inline: MarkdownIt, environment: dict[str, object]) -> None:
        self.outline = outline
        self._marks = inline
        self._environment = environment  # the addresses that links name
        self._items: list[str] = []
        self._lists: list[int] = []
        self._marker = ""
        self._heading = 0
        self._rows: list[list[str]] | None = None

    def read(self, tokens: list[Token]) -> None:
        for token in tokens:
            self.outline.check_time()
            self._token(token)
        self._end_list()

    def _token(self, token: Token) -> None:
        kind = token.type
        if kind == "heading_open":
            self._heading = int(token.tag[1:])
        elif kind == "inline":
            self._inline(self._plain(token.content))
        elif kind in {"fence", "code_block"}:
            self._code(token.content.rstrip("\n"))
        elif kind == "html_block":
            self._end_list()
            add_html(token.content, self.outline)
        elif kind in {"bullet_list_open", "ordered_list_open"}:
            start = token.attrGet("start")
            self._lists.append((int(start) if start is not None else 1) if kind.startswith("ordered") else -1)
        elif kind in {"bullet_list_close", "ordered_list_close"}:
            self._lists.pop()
            if not self._lists:
                self._end_list()
        elif kind == "list_item_open":
            self._marker = self._next_marker()
        elif kind == "table_open":
            self._rows = []
        elif kind == "tr_open" and self._rows is not None:
            self._rows.append([])
        elif kind == "table_close" and self._rows is not None:
            rows, self._rows = self._rows, None
            self._end_list()
            # A head is part of Markdown's tables; one without words leaves each row to its first cell.
            named = any(cell.strip() for cell in rows[0])
            self.outline.table(rows, has_header=named, header_column=not named)

    def _inline(self, text: str) -> None:
        if self._rows:
            self._rows[-1].append(text)
        elif self._heading:
            level, self._heading = self._heading, 0
            self._end_list()
            if level == 1 and not self.outline.title:
                self.outline.title = text
            self.outline.heading(level, text)
        else:
            self._add(text)

    def _next_marker(self) -> str:
        indent = "  " * min(len(self._lists) - 1, 8)
        if self._lists[-1] < 0:
            return f"{indent}- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1] - 1}. "

    def _add(self, text: str) -> None:
        if self._lists:
            self._items.append(self._marker + text)
            self._marker = ""
        else:
            self.outline.block(text)

    def _code(self, text: str) -> None:
        if self._lists:
            self._add(text)
        else:
            self.outline.code(text)

    def _end_list(self) -> None:
        if self._items:
            self.outline.bullets("\n".join(self._items))
            self._items.clear()

    def _plain(self, content: str) -> str:
        """The words of a line; a link keeps its address, an image what it shows."""
        if len(content) > _MAX_INLINE_CHARACTERS:
            return content
        tokens = self._marks.parseInline(content, self._environment)
        parts: list[str] = []
        links: list[tuple[int, str]] = []
        for token in tokens[0].children or []:
            if token.type in {"text", "code_inline"}:
                parts.append(token.content)
            elif token.type in {"softbreak", "hardbreak"}:
                parts.append("\n" if token.type == "hardbreak" else " ")
            elif token.type == "image":
                parts.append(token.content)
            elif token.type == "html_inline" and _TAG.match(token.content):
                parts.append("\n")
            elif token.type == "link_open":
                links.append((len(parts), str(token.attrGet("href") or "")))
            elif token.type == "link_close" and links:
                at, address = links.pop()
                if address.startswith(("http://", "https://")) and address not in "".join(parts[at:]):
                    parts.append(f" ({address})")
        return "".join(parts).strip()
