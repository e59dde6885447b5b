"""Plain text: its encoding, its headings, and lines that were broken by width."""

from __future__ import annotations

import codecs
import re

from ingest.documents.parsed import DocumentError, Outline, ParsedDocument

MIME = "text/plain"

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SINGLE_BYTE = ["cp1251", "koi8_r", "cp866", "cp1252", "mac_cyrillic"]
_SAMPLE_BYTES = 64 * 1024
_UNDERLINE = re.compile(r"(={3,}|-{3,}|~{3,})\s*")
_LIST_ITEM = re.compile(r"\s*(?:[-*•–—▪●◦·]|\(?\w{1,3}[.)]|\d{1,3}(?:\.\d{1,3})*[.)]?)\s")
_ENDS = ".!?…:;"
_WRAP_WIDTHS = range(40, 160)


def parse(data: bytes, declared_name: str, outline: Outline) -> ParsedDocument:
    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    outline.check_characters(len(text))
    for paragraph in re.split(r"\n[ \t]*\n", unwrap(text)):
        _add(paragraph, outline)
    return outline.finish(MIME, declared_name)


def decode(data: bytes, declared: str | None = None) -> str:
    """Text of bytes: by byte order mark, UTF-8, the declared encoding, UTF-16 by its zeros, else the likeliest one.

    Raises DocumentError `unsupported_type` where it is no text.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if b"\0" in data[:_SAMPLE_BYTES] and (wide := _wide_encoding(data[:_SAMPLE_BYTES])):
        return data.decode(wide, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # One broken character in a long text does not make it another encoding.
        if error.start > 1000 and data[: error.start].isascii() is False:
            return data.decode("utf-8", errors="replace")
    if declared:
        try:
            return data.decode(codecs.lookup(declared).name, errors="replace")
        except (LookupError, ValueError, TypeError):
            pass
    return data.decode(_likeliest(data), errors="replace")


def _wide_encoding(sample: bytes) -> str | None:
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    # Cyrillic has few zeros in its high bytes, but then 04 in their place.
    even += sample[0::2].count(4)
    odd += sample[1::2].count(4)
    if odd > half * 0.7 and even < half * 0.2:
        return "utf-16-le"
    if even > half * 0.7 and odd < half * 0.2:
        return "utf-16-be"
    return None


def _likeliest(data: bytes) -> str:
    from charset_normalizer import from_bytes

    # Headings at the top of a file may be ASCII: judge by the lines that are not.
    sample = b"\n".join(line for line in data[: 16 * _SAMPLE_BYTES].splitlines() if not line.isascii())[:_SAMPLE_BYTES]
    best = from_bytes(sample, cp_isolation=_SINGLE_BYTE).best()
    if best is None:
        raise DocumentError("unsupported_type", "It is not text in an encoding that is known here.")
    return best.encoding


def unwrap(text: str) -> str:
    """Joins lines again that were broken at a width; leaves a text alone that was not."""
    lines = [line.rstrip() for line in text.split("\n")]
    lengths = sorted(len(line) for line in lines if line)
    if len(lengths) < 4:
        return "\n".join(lines)
    width = lengths[int(len(lengths) * 0.95)]
    full = sum(length >= width * 0.75 for length in lengths)
    if width not in _WRAP_WIDTHS or full < len(lengths) * 0.4:
        return "\n".join(lines)
    return join_lines(lines, width)


def join_lines(lines: list[str], width: int) -> str:
    """Lines that reach nearly to the width go on in the next one, unless that begins an item of a list."""
    parts: list[str] = []
    before = ""
    for line in lines:
        open_line = len(before) >= width * 0.75 and not before.endswith(":")
        if open_line and line and not _LIST_ITEM.match(line) and not line.startswith(("    ", "\t")):
            line = line.lstrip()
            if not _is_cut(before, line):
                parts.append(" ")
            elif not _keeps_hyphen(before, line):
                parts[-1] = parts[-1][:-1]
        elif parts:
            parts.append("\n")
        parts.append(line)
        before = line
    return "".join(parts)


_KEPT_HEAD = re.compile(r"\b(?:по|кое|северо|юго)-$", re.IGNORECASE)
_KEPT_TAIL = re.compile(r"(?:то|либо|нибудь|таки|ка|де)\b")
_LAST_WORD_CHARACTERS = 40


def _is_cut(first: str, second: str) -> bool:
    """Whether a hyphen at the end of the first line is within a word."""
    return first.endswith("-") and first[-2:-1].isalpha() and second[:1].islower()


def _keeps_hyphen(first: str, second: str) -> bool:
    """Whether the word has a hyphen of its own: "по-русски", "что-то". Latin words are taken to be whole."""
    head = first[-_LAST_WORD_CHARACTERS:]
    return not head[-2].isascii() and bool(_KEPT_HEAD.search(head) or _KEPT_TAIL.match(second))


def _add(paragraph: str, outline: Outline) -> None:
    lines = paragraph.strip("\n").split("\n")
    if len(lines) >= 2 and _UNDERLINE.fullmatch(lines[1]) and 0 < len(lines[0].strip()) <= 100:
        outline.heading(1 if lines[1].startswith("=") else 2, lines[0])
        lines = lines[2:]
    elif len(lines) == 1 and _is_capital_heading(lines[0].strip()):
        outline.heading(2, lines[0])
        return
    text = "\n".join(lines)
    if sum(bool(_LIST_ITEM.match(line)) for line in lines) > 1:
        outline.bullets(text)
    else:
        outline.block(text)


def _is_capital_heading(line: str) -> bool:
    return 4 <= len(line) <= 80 and line.isupper() and line[-1] not in _ENDS and sum(map(str.isalpha, line)) > 3
