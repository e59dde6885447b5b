"""One message taken apart: its text, its files, what is nested in it. Never raises for what a message holds."""

from __future__ import annotations

import email
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import Message
from email.policy import Compat32
from typing import cast

from ingest.messages.mail_calendar import calendar_text
from ingest.messages.mail_headers import decode_text, decoded
from ingest.messages.mail_html import to_text
from ingest.messages.reading import MAX_TURN_CHARACTERS

_MAX_PARTS = 500
_MAX_CONTAINERS = 100  # the parser's time grows with how deep they nest
_MAX_NESTED = 3
_MAX_HEADER_CHARACTERS = 8 * 1024
_MAX_TEXT = 4 * MAX_TURN_CHARACTERS
_CONTAINER = re.compile(rb"content-type:\s{0,20}(?:multipart|message)/", re.IGNORECASE)
_DROPPED = frozenset(
    {
        "application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature",
        "message/delivery-status", "message/disposition-notification", "text/rfc822-headers", "text/x-amp-html",
        "message/feedback-report", "application/pgp-encrypted", "application/pgp-keys",
    }
)  # fmt: skip
_OPAQUE = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"})
# An HTML part that says so much more than the plain one beside it is what the writer meant to be read.
_FULLER = 3


class _Bounded(Compat32):
    """Cuts long headers, since the parser's time grows with the square of their parameters, and reads plain letters
    in them, which it leaves as surrogates."""

    def header_source_parse(self, sourcelines: Sequence[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(list(sourcelines))
        value = value[:_MAX_HEADER_CHARACTERS]
        if not value.isascii():
            value = decode_text(value.encode("utf-8", "surrogateescape"))
        return name, value


@dataclass(slots=True)
class File:
    name: str | None
    mime: str
    data: bytes
    content_id: str = ""


@dataclass(slots=True)
class Body:
    """`notes` say what cannot be read: "encrypted", "too_deep", "broken"."""

    text: str = ""
    files: list[File] = field(default_factory=list)
    nested: list[Nested] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Nested:
    """A message within the message."""

    sender: str
    date: str
    subject: str
    body: Body


def take_apart(data: bytes) -> Body:
    body = Body()
    if len(_CONTAINER.findall(data)) > _MAX_CONTAINERS:
        body.notes.append("too_deep")
        return body
    try:
        message = email.message_from_bytes(_bounded(data), policy=_Bounded())
        _Reader().read(message, body, 0)
    # The parser of the standard library has ways to fail that it does not name.
    except Exception:
        body.notes.append("broken")
    return body


def _bounded(data: bytes) -> bytes:
    """With a header of at most 2,000 lines before the text."""
    end = re.search(rb"\r?\n\r?\n", data[: 8 * 1024 * 1024])
    head = data[: end.start()] if end else data[: 8 * 1024 * 1024]
    if head.count(b"\n") <= 2_000:
        return data
    wanted: list[bytes] = []
    keeps = False
    for line in head.split(b"\n")[:1_000_000]:
        if line[:1] not in b" \t":
            keeps = line[:40].lower().startswith((b"content-", b"mime-version"))
        if keeps and len(wanted) < 200:
            wanted.append(line)
    return b"\n".join(wanted) + data[len(head) :]


class _Reader:
    """Counts the parts over everything that nests in a message."""

    def __init__(self) -> None:
        self._parts = 0

    def read(self, part: Message, body: Body, nested: int, in_related: bool = False) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            return
        mime = part.get_content_type()
        if mime in _OPAQUE:
            body.notes.append("encrypted")
        if mime in _DROPPED:
            return
        if mime == "message/rfc822":
            self._read_nested(part, body, nested)
        elif part.is_multipart():
            parts = [each for each in cast(list[object], part.get_payload()) if isinstance(each, Message)]
            if mime == "multipart/alternative":
                self._read_alternatives(parts, body, nested)
            else:
                for each in parts[:_MAX_PARTS]:
                    self.read(each, body, nested, in_related or mime == "multipart/related")
        elif mime.startswith("multipart/"):  # whose boundary is missing
            self._add(body, _text_of(part, "text/plain"))
        elif self._is_text(part, mime, in_related and bool(body.text), bool(body.text)):
            self._add(body, _text_of(part, mime))
        else:
            self._add_file(part, mime, body)

    def _is_text(self, part: Message, mime: str, is_resource: bool, has_text: bool) -> bool:
        if mime not in {"text/plain", "text/html", "text/enriched", "text/calendar"} or is_resource:
            return False
        disposition = part.get_content_disposition()
        if mime == "text/calendar" or not _file_name(part):
            return disposition != "attachment"
        # Some programs name the text itself.
        return disposition is None and not has_text

    def _read_alternatives(self, parts: list[Message], body: Body, nested: int) -> None:
        plain, rich = Body(), Body()
        for part in parts[:20]:
            mime = part.get_content_type()
            if mime == "text/calendar":
                self.read(part, rich if rich.text else plain, nested)
            elif mime == "text/plain":
                self.read(part, plain, nested)
            else:
                self.read(part, rich, nested)
        words, rich_words = len(plain.text.split()), len(rich.text.split())
        chosen = rich if rich_words > words * _FULLER or (rich_words and not words) else plain
        self._add(body, chosen.text)
        for each in (plain, rich):
            body.files += each.files
            body.nested += each.nested
            body.notes += each.notes

    def _read_nested(self, part: Message, body: Body, nested: int) -> None:
        payload = part.get_payload()
        inner = payload[0] if isinstance(payload, list) and payload else None
        if not isinstance(inner, Message):
            return
        if nested >= _MAX_NESTED:
            body.notes.append("too_deep")
            return
        found = Nested(_field(inner, "from"), _field(inner, "date"), _field(inner, "subject"), Body())
        body.nested.append(found)
        self.read(inner, found.body, nested + 1)

    def _add(self, body: Body, text: str) -> None:
        if text.strip() and len(body.text) < _MAX_TEXT:
            body.text = f"{body.text}\n\n{text}" if body.text else text

    def _add_file(self, part: Message, mime: str, body: Body) -> None:
        payload = part.get_payload(decode=True)
        if not isinstance(payload, bytes) or not payload:
            return
        name = _file_name(part)
        content_id = str(part.get("content-id", ""))[:300].strip("<> ")
        body.files.append(File(decoded(name[:2000]) if name else None, mime, payload, content_id))


def _field(message: Message, name: str) -> str:
    return " ".join(decoded(str(message.get(name, ""))[:2000]).split())


def _text_of(part: Message, mime: str) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    text = decode_text(payload[: 8 * _MAX_TEXT], _parameter(part, "charset"))
    if mime == "text/html":
        return to_text(text)
    if mime == "text/calendar":
        return calendar_text(text)
    text = text[:_MAX_TEXT].replace("\r\n", "\n").replace("\r", "\n")
    return _unflowed(text) if _parameter(part, "format").lower() == "flowed" else text


def _parameter(part: Message, name: str) -> str:
    """Of the content type; a tuple is one that says its own charset."""
    try:
        value = part.get_param(name, "")
    except (ValueError, TypeError, LookupError):
        return ""
    return value if isinstance(value, str) else str(value[-1])


def _file_name(part: Message) -> str | None:
    try:
        return part.get_filename()
    except (ValueError, TypeError, LookupError):
        return None


def _unflowed(text: str) -> str:
    """Lines that end in a blank go on in the next one (RFC 3676)."""
    lines: list[str] = []
    is_open = False
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(">"))
        content = line[depth:].removeprefix(" ")
        if is_open and not depth and lines:
            lines[-1] += content
        else:
            lines.append(">" * depth + " " + content if depth else content)
        is_open = content.endswith(" ") and content != "-- " and not depth
    return "\n".join(lines)
