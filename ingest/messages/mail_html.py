"""HTML of a mail as text in which quotations are marked as in a plain mail."""

from __future__ import annotations

import re

from ingest.documents.html import add_html
from ingest.documents.parsed import DocumentError, Limits, Outline, clean
from rag.chunking import join_sections

_MAX_CHARACTERS = 4_000_000  # of HTML
_MAX_SECONDS = 60.0
# Private-use characters, which no mail means anything by.
_OPEN, _CLOSE = "\ue0f0", "\ue0f1"
_MARKED = re.compile(f"([{_OPEN}{_CLOSE}])")
_BLOCKQUOTE = re.compile(r"<(/?)blockquote\b([^<>]{0,2000})>", re.IGNORECASE)
# An editor's indentation is a blockquote too.
_INDENTATION = re.compile(r"border\s{0,4}:\s{0,4}(?:none|0)|class=[\"']?webkit-indent", re.IGNORECASE)
_SIGNATURE = re.compile(
    r"<(?:div|pre|table|p)\b[^<>]{0,500}?\b(?:class|id)=[\"']?(?:x_)?(?:gmail_signature\b(?!_)|moz-signature|"
    r"ms-outlook-mobile-signature|AppleMailSignature|Signature\b|yahoo-signature)[^<>]{0,500}>",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^<>]{0,10000}>")


def to_text(html: str) -> str:
    html = html[:_MAX_CHARACTERS].replace(_OPEN, "").replace(_CLOSE, "")
    open_quotes: list[bool] = []

    def mark(match: re.Match[str]) -> str:
        if match[1]:
            is_quote = open_quotes.pop() if open_quotes else False
            return f"<div>{_CLOSE}</div></blockquote>" if is_quote else match[0]
        open_quotes.append(not _INDENTATION.search(match[2]))
        return f"<blockquote><div>{_OPEN}</div>" if open_quotes[-1] else match[0]

    html = _BLOCKQUOTE.sub(mark, html)
    html = _SIGNATURE.sub(lambda match: f"<div>--</div>{match[0]}", html)
    outline = Outline(Limits(max_characters=_MAX_CHARACTERS, max_seconds=_MAX_SECONDS))
    try:
        add_html(html, outline)
        text = join_sections(outline.finish("text/html", "").sections)
    except DocumentError as error:
        if error.code == "empty":
            return ""
        text = clean(_TAG.sub(" ", html))
    return _with_marks(text)


def _with_marks(text: str) -> str:
    lines: list[str] = []
    depth = 0
    for piece in _MARKED.split(text):
        if piece == _OPEN:
            depth += 1
        elif piece == _CLOSE:
            depth = max(depth - 1, 0)
        elif piece.strip():
            marks = ">" * min(depth, 20)
            lines += [f"{marks} {line}" if marks else line for line in piece.strip("\n").split("\n")]
            if not marks:
                lines.append("")
    return "\n".join(lines)
