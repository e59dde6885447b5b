"""Mail boxes and single mails as conversations, one a thread."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO
from zoneinfo import ZoneInfo

from ingest.messages import mail_index
from ingest.messages.imported import ImportedConversation, ImportedMedia, ImportedPerson, ImportedTurn
from ingest.messages.mail_body import Body, File, Nested, take_apart
from ingest.messages.mail_headers import decoded, header_fields, people_of
from ingest.messages.mail_index import Entry
from ingest.messages.mail_quotes import Earlier, own_text
from ingest.messages.mail_threads import Thread, threads
from ingest.messages.reading import (
    MAX_MEDIA_OF_A_TURN,
    MAX_TITLE_CHARACTERS,
    MAX_TURNS,
    Media,
    Own,
    digest,
    external_id,
    is_russian,
    label_of,
    media_of,
    one_line,
    turn_text,
)

_MAX_PEOPLE = 200
_TRACKER_SIDE = 3  # pixels
_NOTES = {
    "encrypted": ("[Encrypted message]", "[Зашифрованное письмо]"),
    "too_deep": ("[Message with too many nested parts]", "[Письмо со слишком многими вложенными частями]"),
    "broken": ("[Message that cannot be read]", "[Письмо, которое не удалось прочитать]"),
}
_FORWARDED = ("Forwarded message", "Пересланное сообщение")


def conversations(paths: list[Path], media: Media, own: Own, zone: ZoneInfo) -> Iterator[ImportedConversation]:
    """The threads of all these files together, the oldest first, each read when it is asked for. Raises Unreadable."""
    entries = mail_index.index(paths, zone)
    for thread in threads(entries):
        reading = _Reading(thread, media, own)
        yield from reading.conversations(paths)


@dataclass(slots=True)
class _Part:
    """Of a thread: all of it, unless it has more turns than a conversation takes."""

    number: int
    at: datetime | None = None
    first_sender: str = ""
    turns: list[ImportedTurn] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


class _Reading:
    def __init__(self, thread: Thread, media: Media, own: Own) -> None:
        self._thread = thread
        self._media = media
        self._own = own
        self._earlier = Earlier()
        self._seen_files: set[bytes] = set()
        self._title = ""

    def conversations(self, paths: list[Path]) -> Iterator[ImportedConversation]:
        part = _Part(1)
        for entry in self._thread.entries:
            if len(part.turns) >= MAX_TURNS:
                yield self._conversation(part)
                part = _Part(part.number + 1)
            with paths[entry.file].open("rb") as file:
                self._add(file, entry, part)
        if part.turns:
            yield self._conversation(part)

    def _add(self, file: IO[bytes], entry: Entry, part: _Part) -> None:
        data = mail_index.read_message(file, entry)
        fields = header_fields(data[: mail_index.MAX_HEADER_BYTES])
        subject = decoded(fields.get("subject", [""])[0])
        body = take_apart(data)
        del data
        if not self._title:
            self._title = one_line(mail_index.strip_prefixes(subject)[0], MAX_TITLE_CHARACTERS)
        is_reply = entry.is_reply or (bool(entry.refs) and not entry.is_forward)
        text = own_text(
            turn_text(body.text), entry.sender, self._earlier, is_reply=is_reply, is_forward=entry.is_forward
        )
        russian = is_russian(f"{subject} {text}")
        texts = [_NOTES[note][russian] for note in dict.fromkeys(body.notes)]
        texts += [text, *self._nested(body.nested)]
        files = self._files(body, content_was_cut=entry.size > mail_index.MAX_MESSAGE_BYTES)
        whole = turn_text("\n\n".join(each for each in texts if each))
        self._earlier.add(turn_text(body.text), entry.sender)
        if not whole and not files:
            return
        self._meet(fields, entry.sender, part)
        if not part.turns:
            part.first_sender = entry.sender
        part.at = part.at or entry.at
        label = part.labels.setdefault(entry.sender, label_of(len(part.labels)))
        part.turns.append(ImportedTurn(whole, label, entry.at, media=files))

    def _meet(self, fields: dict[str, list[str]], sender: str, part: _Part) -> None:
        part.names.setdefault(sender, "")
        values = [*(fields.get("from") or fields.get("sender", [])), *fields.get("to", []), *fields.get("cc", [])]
        for address, name in people_of(values, _MAX_PEOPLE):
            if len(part.names) < _MAX_PEOPLE and not part.names.get(address):
                part.names[address] = name

    def _nested(self, nested: list[Nested]) -> Iterator[str]:
        for each in nested:
            if each.body.text and self._earlier.holds(each.body.text):
                continue
            russian = is_russian(f"{each.subject} {each.body.text}")
            rows = [f"---------- {_FORWARDED[russian]} ----------", each.sender, each.date, each.subject]
            notes = [_NOTES[note][russian] for note in dict.fromkeys(each.body.notes)]
            inner = "\n\n".join([*notes, each.body.text.strip(), *self._nested(each.body.nested)])
            yield "\n".join([*(row for row in rows if row), "", inner.strip()])

    def _files(self, body: Body, content_was_cut: bool) -> tuple[ImportedMedia, ...]:
        found: list[ImportedMedia] = []
        files = list(_all_files(body))
        for number, file in enumerate(files[:MAX_MEDIA_OF_A_TURN], start=1):
            if _is_tracker(file):
                continue
            if file.content_id:  # a logo that comes with every mail counts once
                key = hashlib.sha256(file.data).digest()
                if key in self._seen_files:
                    continue
                self._seen_files.add(key)
            is_half = content_was_cut and number == len(files)
            path = None if is_half else self._media.write(file.data)
            found.append(media_of(file.name, file.mime, path, None if is_half else len(file.data)))
        return tuple(found)

    def _conversation(self, part: _Part) -> ImportedConversation:
        record = f"mail-{digest(self._thread.root)}"
        return ImportedConversation(
            kind="email",
            channel_type="email",
            occured_at=part.at
            or next((each.at for each in self._thread.entries if each.at), None)
            or datetime.now(UTC),
            turns=tuple(part.turns),
            people=tuple(self._people(part)),
            direction=self._direction(part.first_sender),
            record_id=record if part.number == 1 else f"{record}-{part.number}",
            title=self._title,
            grows=True,
        )

    def _people(self, part: _Part) -> Iterator[ImportedPerson]:
        for address in [*part.labels, *(each for each in part.names if each not in part.labels)]:
            if address:  # a mail without a sender is nobody's
                name = part.names.get(address) or None
                yield ImportedPerson(part.labels.get(address), name, external_id(address), self._role(address))

    def _role(self, address: str) -> str:
        if not self._own:
            return "unknown"
        return "employee" if self._own.has_address(address) else "client"

    def _direction(self, sender: str) -> str | None:
        if not self._own or not sender:
            return None
        return "out" if self._own.has_address(sender) else "in"


def _all_files(body: Body) -> Iterator[File]:
    yield from body.files
    for each in body.nested:
        yield from _all_files(each.body)


def _is_tracker(file: File) -> bool:
    """An image too small to show anything."""
    if not file.mime.startswith("image/"):
        return False
    data = file.data
    if data[:4] == b"GIF8" and len(data) >= 10:
        width, height = struct.unpack_from("<HH", data, 6)
    elif data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack_from(">II", data, 16)
    else:
        return False
    return bool(width <= _TRACKER_SIDE and height <= _TRACKER_SIDE)
