"""A mail as a document: who wrote what to whom, what it quotes apart, what is forwarded in it, and its attachments.

What it quotes is kept, since a mail that stands alone may be the only one that says it; under a heading of its own, so
that it is not taken for the writer's words. Attachments that are documents themselves are read in, those of a mail
within the mail are only named.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ingest.documents import detect
from ingest.documents.parsed import DocumentError, Outline, ParsedDocument
from ingest.messages.mail_body import Body, File, Nested, take_apart
from ingest.messages.mail_headers import decoded, header_fields, people_of
from ingest.messages.mail_quotes import Earlier, own_text
from ingest.messages.reading import file_name, is_russian, one_line

MAX_READ_ATTACHMENTS = 50
MAX_NAMED_ATTACHMENTS = 200
MAX_ATTACHMENT_BYTES = 32 * 1024 * 1024
_MAX_HEADER_BYTES = 256 * 1024
_MAX_PEOPLE = 50
_MAX_SUBJECT_CHARACTERS = 300
# In English and in Russian.
_FROM, _TO, _CC, _DATE = ("From", "От"), ("To", "Кому"), ("Cc", "Копия"), ("Date", "Дата")
_EARLIER = ("Earlier messages", "Предыдущие сообщения")
_FORWARDED = ("Forwarded message", "Пересланное сообщение")
_ATTACHMENTS = ("Attachments", "Вложения")
_MORE = ("and more", "и другие")
_FORWARD = re.compile(r"\s*(?:fwd?|wg|пер|пересл)\s*:", re.I)
_QUOTE_MARKS = re.compile(r"^[ \t]{0,3}>[> \t]{0,40}", re.M)
# Modules that read attachments. A picture or a recording would take its own machinery, a mail its own attachments.
_READERS = {
    detect.PDF: "pdf",
    detect.RTF: "rich_text",
    detect.DOCX: "word",
    detect.PPTX: "slides",
    detect.ODT: "open_document",
    detect.ODP: "open_document",
    detect.XLSX: "sheets",
    detect.XLSB: "sheets",
    detect.XLS: "sheets",
    detect.ODS: "sheets",
    detect.CSV: "delimited",
    detect.TSV: "delimited",
    detect.EPUB: "epub",
}
_TEXT_READERS = {detect.HTML: "html", detect.MARKDOWN: "markdown", detect.PLAIN: "plain_text"}


def parse(path: Path, declared_name: str, outline: Outline) -> ParsedDocument:
    data = path.read_bytes()
    fields = header_fields(data[:_MAX_HEADER_BYTES])
    subject = one_line(decoded(fields.get("subject", [""])[0]), _MAX_SUBJECT_CHARACTERS)
    body = take_apart(data)
    del data
    if not body.text.strip():
        _explain(body)
    russian = is_russian(f"{subject} {body.text}")
    outline.heading(1, subject)
    outline.block("\n".join(_head(fields, russian)))
    _add_text(body.text, subject, fields, russian, outline)
    _add_nested(body.nested, russian, outline)
    _add_files(_real_files(body), russian, outline)
    outline.title = subject
    return outline.finish(detect.EML, declared_name)


def _explain(body: Body) -> None:
    """Raises what keeps a mail without a text from being read; one that is only a subject or files is none of these."""
    if "encrypted" in body.notes:
        raise DocumentError("encrypted", "It is encrypted.")
    if body.files or body.nested:
        return
    if "too_deep" in body.notes:
        raise DocumentError("unreadable", "Its parts nest too deep.")
    if "broken" in body.notes:
        raise DocumentError("unreadable", "It is damaged: its parts cannot be told apart.")


def _head(fields: dict[str, list[str]], russian: bool) -> Iterator[str]:
    for name, labels in (("from", _FROM), ("to", _TO), ("cc", _CC)):
        people = people_of(fields.get(name, []), _MAX_PEOPLE)
        if people:
            named = ", ".join(f"{person} <{address}>" if person else address for address, person in people)
            yield f"{labels[russian]}: {named}"
    for value in fields.get("date", [])[:1]:
        yield f"{_DATE[russian]}: {_date(value)}"


def _date(value: str) -> str:
    """As ISO 8601 has it, in the writer's own time; what is no date stays as it is."""
    value = one_line(value, 100)
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return value
    return f"{at:%Y-%m-%d %H:%M}" if at.tzinfo is None else f"{at:%Y-%m-%d %H:%M} {at:%z}"


def _add_text(text: str, subject: str, fields: dict[str, list[str]], russian: bool, outline: Outline) -> None:
    """The writer's own words, and below them what they quote where it comes after."""
    own = own_text(text, "", Earlier(), is_reply=True, is_forward=bool(_FORWARD.match(subject)))
    start = text.find(own) if own else -1
    history = _QUOTE_MARKS.sub("", text[start + len(own) :]) if start >= 0 else ""
    if start < 0 or text[:start].strip() or not history.strip():  # answers between the lines
        _add_paragraphs(text, outline)
        return
    _add_paragraphs(own, outline)
    outline.heading(2, _EARLIER[russian])
    _add_paragraphs(history, outline)


def _add_paragraphs(text: str, outline: Outline) -> None:
    for paragraph in re.split(r"\n[ \t]*\n", text):
        outline.block(paragraph)


def _add_nested(nested: list[Nested], russian: bool, outline: Outline) -> None:
    for each in nested:
        outline.heading(2, f"{_FORWARDED[russian]}: {each.subject}" if each.subject else _FORWARDED[russian])
        outline.block("\n".join(filter(None, [each.sender, each.date and _date(each.date)])))
        _add_paragraphs(each.body.text, outline)
        names = [_name(file) for file in _real_files(each.body)]
        if names:
            outline.block(_list(names, russian))
        _add_nested(each.body.nested, russian, outline)


def _add_files(files: list[File], russian: bool, outline: Outline) -> None:
    if not files:
        return
    outline.heading(2, _ATTACHMENTS[russian])
    outline.block(_list([_name(file) for file in files], russian))
    left = MAX_READ_ATTACHMENTS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attachment"
        for file in files:
            if left <= 0:
                return
            if not file.data or len(file.data) > min(MAX_ATTACHMENT_BYTES, outline.limits.max_bytes):
                continue
            path.write_bytes(file.data)
            try:
                mime = detect.detect_file(path, _name(file))
                if mime not in _READERS and mime not in _TEXT_READERS:
                    continue
                left -= 1
                outline.heading(2, _name(file))
                _read_in(path, file, mime, outline)
            except DocumentError as error:
                if error.code == "too_large":  # there is no room for the next one either
                    outline.check_time()
                    return


def _read_in(path: Path, file: File, mime: str, outline: Outline) -> None:
    module = import_module(f"ingest.documents.{_READERS.get(mime) or _TEXT_READERS[mime]}")
    try:
        module.parse(path if mime in _READERS else file.data, _name(file), cast(Outline, _Below(outline)))
    except RecursionError:
        raise DocumentError("unreadable", "Its elements nest too deep.") from None


class _Below:
    """The mail's outline as a reader of an attachment gets it: its headings are two levels lower, its pages are not
    the mail's, and its end is not the mail's end."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self.title = ""
        self.page: int | None = None

    def heading(self, level: int, text: str) -> None:
        self._outline.heading(level + 2, text)

    def begin_page(self, page: int) -> None:
        self.page = page

    def finish(self, mime: str, declared_name: str, pages: int | None = None) -> ParsedDocument:
        return ParsedDocument(mime, declared_name, [], 0, pages)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._outline, name)


def _real_files(body: Body) -> list[File]:
    """Without the pictures that are a part of the text, such as a logo."""
    return [file for file in body.files if not (file.content_id and file.mime.startswith("image/"))]


def _name(file: File) -> str:
    return file_name(file.name) if file.name else file.mime


def _list(names: list[str], russian: bool) -> str:
    named = "; ".join(names[:MAX_NAMED_ATTACHMENTS])
    more = f"; {_MORE[russian]}" if len(names) > MAX_NAMED_ATTACHMENTS else ""
    return f"{_ATTACHMENTS[russian]}: {named}{more}"
