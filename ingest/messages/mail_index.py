"""Where the messages of a mail box lie, and as much of each as tells which thread it is of. Reads files as a stream."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz
from pathlib import Path
from typing import IO
from zoneinfo import ZoneInfo

from ingest.messages.mail_headers import decoded, header_fields, ids_of, people_of
from ingest.messages.reading import MAX_MESSAGES, Unreadable, believable, digest, local_time

MAX_MESSAGE_BYTES = 64 * 1024 * 1024  # what is over it is not read: attachments at the end may be missing
MAX_HEADER_BYTES = 256 * 1024
_LINE_BYTES = 64 * 1024
_MAX_REFERENCES = 50
_MAX_PARTICIPANTS = 100
_MAX_SUBJECT = 300
_ENVELOPE = re.compile(rb"From (?:$|- |[^\r\n]{0,300}\d\d:\d\d[^\r\n]{0,60}\d{4})")
_HEADER = re.compile(rb"[!-9;-~]{1,100}:|>?From ")
_PREFIX = re.compile(
    r"(?:(?P<reply>re|aw|sv|antw|отв|ответ|на|ha)|(?P<forward>fwd?|wg|vs|пер|пересл|переслано))"
    r"(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4})?\s?:|\[(?:ext|external|внешн\w{0,10})\]:?",
    re.IGNORECASE,
)
_DELETED_BY_THUNDERBIRD = 0x0008
_LEFT_OUT_LABELS = frozenset({"draft", "drafts", "spam", "trash", "черновики", "спам", "корзина"})
_LATE = timedelta(days=2)
_LOST_CLOCK = timedelta(days=3650)
_HAS_ZONE = re.compile(r":\d\d ?(?:[+-]\d|[A-Za-z(])")


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of a box. `id` is its Message-ID or a hash that stands for it; `refs` are those of older ones."""

    file: int
    offset: int
    size: int
    id: str
    refs: tuple[str, ...]
    subject: str
    is_reply: bool
    is_forward: bool
    sender: str
    participants: frozenset[str]
    at: datetime | None


def index(paths: list[Path], zone: ZoneInfo) -> list[Entry]:
    """The messages of all files together; one that is in them twice counts once. Raises Unreadable for too many."""
    entries: list[Entry] = []
    seen: dict[str, set[tuple[str, datetime | None, str]]] = {}
    for number, path in enumerate(paths):
        with path.open("rb") as file:
            for offset, size, head in _messages(file):
                entry = _entry(number, offset, size, head, zone)
                if entry is None:
                    continue
                same = (entry.sender, entry.at, entry.subject)
                known = seen.setdefault(entry.id, set())
                if same in known:
                    continue
                if known:  # another message under an id that is taken
                    entry = _renamed(entry)
                known.add(same)
                entries.append(entry)
                if len(entries) > MAX_MESSAGES:
                    raise Unreadable(f"There are more than {MAX_MESSAGES:,} messages in it.")
    return entries


def read_message(file: IO[bytes], entry: Entry) -> bytes:
    """A message's bytes, with the lines that a box has to mark (">From ") as they were."""
    file.seek(entry.offset)
    data = file.read(min(entry.size, MAX_MESSAGE_BYTES))
    if data.startswith(b"From "):
        data = data.partition(b"\n")[2]
    return re.sub(rb"(?m)^>(>{0,20}From )", rb"\1", data) if b"\n>" in data else data


def strip_prefixes(subject: str) -> tuple[str, bool, bool]:
    """A subject without its "Re:" and "Fwd:", and whether it had such; a forward's is the outermost one."""
    is_reply = is_forward = False
    subject = " ".join(subject.split())
    for _ in range(20):
        match = _PREFIX.match(subject)
        if match is None:
            break
        if match["forward"] and not is_reply:
            is_forward = True
        if match["reply"]:
            is_reply = True
        subject = subject[match.end() :].lstrip()
    return subject, is_reply, is_forward


def _messages(file: IO[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """Offset, size and head of each. A file that does not begin like a mail box is one message."""
    start = offset = 0
    head = bytearray()
    in_head = True
    is_box = False
    after_blank = begins_line = True  # so does a file
    pending = b""  # a "From " line, which only counts where a header follows
    while line := file.readline(_LINE_BYTES):
        if pending and _HEADER.match(line):
            before = offset - len(pending)
            if before > start:
                yield start, before - start, bytes(head)
            start, head, in_head, is_box = before, bytearray(pending), True, True
        pending = b""
        is_blank = begins_line and not line.strip(b"\r\n")
        may_begin = begins_line and after_blank and line.startswith(b"From ") and (is_box or offset == 0)
        if may_begin and _ENVELOPE.match(line.rstrip(b"\r\n")):
            pending = line
        elif in_head and is_blank and head.strip():
            in_head = False
        elif in_head:
            head += line
            in_head = len(head) < MAX_HEADER_BYTES
        offset += len(line)
        after_blank, begins_line = is_blank, line.endswith(b"\n")
    if offset > start:
        yield start, offset - start, bytes(head)


def _entry(file: int, offset: int, size: int, head: bytes, zone: ZoneInfo) -> Entry | None:
    envelope, head = head.split(b"\n", 1) if head.startswith(b"From ") and b"\n" in head else (b"", head)
    fields = header_fields(head)
    if not fields or _is_left_out(fields):
        return None
    subject, is_reply, is_forward = strip_prefixes(decoded(fields.get("subject", [""])[0])[:_MAX_SUBJECT])
    senders = people_of(fields.get("from", []) or fields.get("sender", []), 1)
    others = people_of([*fields.get("to", []), *fields.get("cc", [])], _MAX_PARTICIPANTS)
    sender = senders[0][0] if senders else ""
    at = _time(fields, envelope, zone)
    own = ids_of(fields.get("message-id", [""])[0])
    refs = ids_of(" ".join(fields.get("references", [])))
    answered = ids_of(" ".join(fields.get("in-reply-to", [])))[:3]
    refs = [*refs[:1], *refs[1:][-_MAX_REFERENCES:]]
    refs += [each for each in answered if each not in refs]
    key = own[0] if own else "none:" + digest(sender, str(at), subject, str(size))
    return Entry(
        file,
        offset,
        size,
        key,
        tuple(dict.fromkeys(ref for ref in refs if ref != key)),
        subject.casefold(),
        is_reply,
        is_forward,
        sender,
        frozenset(address for address, _ in [*senders, *others]),
        at,
    )


def _renamed(entry: Entry) -> Entry:
    return Entry(
        entry.file,
        entry.offset,
        entry.size,
        "none:" + digest(entry.id, entry.sender, str(entry.at), entry.subject),
        entry.refs,
        entry.subject,
        entry.is_reply,
        entry.is_forward,
        entry.sender,
        entry.participants,
        entry.at,
    )


def _is_left_out(fields: dict[str, list[str]]) -> bool:
    """Drafts, spam and what was deleted: no part of a conversation."""
    labels = {
        label.strip().strip('"').casefold() for label in decoded(" ".join(fields.get("x-gmail-labels", []))).split(",")
    }
    if labels & _LEFT_OUT_LABELS:
        return True
    try:
        status = int(fields.get("x-mozilla-status", ["0"])[0].strip()[:8] or "0", 16)
    except ValueError:
        status = 0
    return bool(status & _DELETED_BY_THUNDERBIRD)


def _time(fields: dict[str, list[str]], envelope: bytes, zone: ZoneInfo) -> datetime | None:
    """When it was sent: by Date, or by when it was received where that is missing, broken or after it."""
    sent = next((at for value in fields.get("date", [])[:1] if (at := parse_date(value, zone))), None)
    hops = (parse_date(value.rpartition(";")[2], zone) for value in fields.get("received", []))
    # The first hop's: a mail that was moved between servers is received again, years later.
    received = min((at for at in hops if at is not None), default=None)
    if sent is not None and (received is None or received - _LOST_CLOCK <= sent <= received + _LATE):
        return sent
    if received is not None:
        return received
    match = re.search(rb"(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d[^\r\n]{0,60}", envelope)
    return parse_date(match[0].decode("latin-1"), zone) if match else None


def parse_date(value: str, zone: ZoneInfo) -> datetime | None:
    """A header's date in UTC; one without a zone is meant in `zone`. None where no message can have it."""
    try:
        parts = parsedate_tz(value[:200])
        if parts is None:
            return None
        naive = datetime(*parts[:6])  # noqa: DTZ001
        if parts[9] is None or not _HAS_ZONE.search(value[:200]):
            return local_time(naive, zone)
        return believable(naive.replace(tzinfo=UTC) - timedelta(seconds=parts[9]))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
