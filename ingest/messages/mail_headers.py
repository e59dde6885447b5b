"""A message's headers, read with bounds: names of interest, encoded words, addresses and message ids."""

from __future__ import annotations

import email.header
import re
from email.errors import HeaderParseError
from email.utils import getaddresses

from ingest.documents.parsed import DocumentError
from ingest.documents.plain_text import decode
from ingest.messages.reading import MAX_NAME_CHARACTERS, one_line

_WANTED = frozenset(
    {
        "message-id", "in-reply-to", "references", "subject", "date", "from", "sender", "to", "cc", "received",
        "x-gmail-labels", "x-mozilla-status",
    }
)  # fmt: skip
_MAX_FIELDS = 2_000
_MAX_FIELD_CHARACTERS = 64 * 1024
_MAX_SAME_FIELDS = 20
_MAX_VALUE_CHARACTERS = 8 * 1024
_ID = re.compile(r"<([^<>\s]{1,500})>")
_ENCODED_WORD = re.compile(r"=\?[^?\s]{1,40}\?[bBqQ]\?")
_BETWEEN_WORDS = re.compile(r"\?=[ \t\r\n]{1,8}=\?")


def header_fields(head: bytes) -> dict[str, list[str]]:
    """The wanted fields of a message's beginning, unfolded, by lower-case name; {} where it has none at all."""
    text = decode_text(head)
    fields: dict[str, list[str]] = {}
    name, parts, length = "", list[str](), 0
    count = 0

    def keep() -> None:
        if name in _WANTED and len(fields.setdefault(name, [])) < _MAX_SAME_FIELDS:
            fields[name].append(" ".join(parts))

    for line in text.split("\n"):
        line = line.rstrip("\r")
        if not line.strip():
            if count:
                break
            continue
        if line[0] in " \t":
            if length < _MAX_FIELD_CHARACTERS:
                parts.append(line.strip())
                length += len(line)
            continue
        if count:
            keep()
        count += 1
        if count > _MAX_FIELDS:
            break
        found, _, value = line.partition(":")
        name, value = found.strip().lower(), value.strip()[:_MAX_FIELD_CHARACTERS]
        parts, length = [value], len(value)
    else:
        if count:
            keep()
        return fields
    keep()
    return fields


def decoded(value: str) -> str:
    """A header's text with its encoded words read, whichever way they are broken."""
    value = value[:_MAX_VALUE_CHARACTERS]
    if not _ENCODED_WORD.search(value):
        return value
    value = _BETWEEN_WORDS.sub("?= =?", value)
    try:
        pieces = email.header.decode_header(value)
    except (HeaderParseError, ValueError, LookupError):
        return value
    # A character may be cut in two by the end of a word: equal neighbours are decoded together.
    text: list[str] = []
    waiting, encoding = b"", ""
    for piece, charset in pieces:
        if isinstance(piece, str):
            text.append(piece)
            continue
        if charset is None:
            charset = ""
        if waiting and charset != encoding:
            text.append(decode_text(waiting, encoding))
            waiting = b""
        waiting, encoding = waiting + piece, charset
    if waiting:
        text.append(decode_text(waiting, encoding))
    return "".join(text)


def people_of(values: list[str], limit: int) -> list[tuple[str, str]]:
    """Address (lower case) and name of each, those without an address left out."""
    found: dict[str, str] = {}
    for value in values[:_MAX_SAME_FIELDS]:
        # Encoded words are read after the commas are, since they may hold some.
        for raw, address in _addresses(value[:_MAX_VALUE_CHARACTERS]):
            address = one_line(decoded(address), 1000).strip("<>'\" ").lower()
            name = one_line(decoded(raw), MAX_NAME_CHARACTERS).strip("'\" ")
            if "@" not in address:
                match = re.search(r"[^\s<>\"'(),;:]{1,64}@[^\s<>\"'(),;:]{1,255}", name)
                if match is None:
                    continue
                address, name = match[0].lower(), ""
            if name.lower() == address:
                name = ""
            if len(found) >= limit and address not in found:
                return list(found.items())
            if not found.get(address):
                found[address] = name
    return list(found.items())


def _addresses(value: str) -> list[tuple[str, str]]:
    try:
        return getaddresses([value])
    except (RecursionError, ValueError, IndexError):  # brackets in brackets
        return []


def ids_of(value: str) -> list[str]:
    """Message ids in their order, without the angle brackets."""
    value = value[-_MAX_FIELD_CHARACTERS:]
    found = _ID.findall(value)
    if not found and "@" in value and len(value) < 500:
        found = value.split()[:1]
    return list(dict.fromkeys(found))


def decode_text(data: bytes, charset: str = "") -> str:
    """Text of bytes whatever their charset is said to be; never raises."""
    charset = charset.strip().strip("'\"").lower()
    if charset.startswith(("iso-2022", "utf-7", "utf7", "hz", "utf-16", "utf-32", "utf16", "utf32")):
        try:
            return data.decode(charset)
        except (UnicodeDecodeError, LookupError, ValueError):
            pass
    try:
        return decode(data, charset if _KNOWN.match(charset) else None)
    except (DocumentError, LookupError, ValueError):
        return data.decode("latin-1")


_KNOWN = re.compile(
    r"koi|windows-|cp-?\d|iso-?8859|iso8859|utf|us-ascii|ascii|latin|gb|big5|euc|shift|sjis|mac|ibm|tis|x-mac|johab|ks_c"
)
