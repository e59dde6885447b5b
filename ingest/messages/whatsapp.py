"""WhatsApp's export of a chat: a text file, alone or in a ZIP beside the files that were sent."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO
from zoneinfo import ZoneInfo

from ingest.messages.imported import ImportedConversation, ImportedMedia
from ingest.messages.reading import (
    MAX_MESSAGES,
    MAX_TURN_CHARACTERS,
    FindFile,
    Own,
    Unreadable,
    digest,
    file_name,
    local_time,
    media_of,
    turn_text,
)
from ingest.messages.sessions import Chat, ChatMessage, sessions
from ingest.messages.whatsapp_lines import (
    Content,
    Head,
    Order,
    Style,
    author_and_text,
    content_of,
    head_of,
    style_of,
)

_LINE_CHARACTERS = 64 * 1024
_MOST_CHARACTERS = 4 * MAX_TURN_CHARACTERS
_FIRST_LINES = 200
_PHONE = re.compile(r"\+[\d \u00a0()\u2011-]{7,24}")
_COPY = re.compile(r"(?: \(\d{1,3}\)|-\d{1,2}| — копия| - copy)$", re.I)
_NAME = re.compile(
    r"(?:whatsapp chat (?:with|-) |whatsapp chat - |чат whatsapp (?:с контактом|с группой|с|со|-) |"
    r"переписка (?:в )?whatsapp (?:с контактом |с |со )?|whatsapp-chat (?:mit|с) )(.{1,200})",
    re.I,
)


def looks_like(head: str, declared_name: str) -> bool:
    """By the first lines of a file: one message of a file that is named so, or two of any."""
    lines = [line for line in head.split("\n")[:_FIRST_LINES] if line.strip()]
    style = style_of(lines[0]) if lines else None
    if style is None:
        return False
    needed = 1 if chat_name(declared_name) or "_chat" in declared_name.lower() else 2
    found = [head_of(line, style) for line in lines]
    return sum(each is not None and author_and_text(each.rest) is not None for each in found) >= needed


def chat_name(declared_name: str) -> str | None:
    """The chat's name by that of its file: "WhatsApp Chat with Anna.txt"."""
    stem = re.sub(r"\.(?:txt|zip)$", "", file_name(declared_name), flags=re.I)
    match = _NAME.fullmatch(_COPY.sub("", stem).strip())
    return match[1].strip() if match else None


def conversations(
    file: IO[bytes], declared_name: str, find_file: FindFile, own: Own, zone: ZoneInfo
) -> Iterator[ImportedConversation]:
    """The chat's sessions. The file is read twice, since all its dates together tell day from month."""
    survey = _Survey()
    for head, _ in _messages(file, survey):
        survey.add(head)
    order = survey.order()
    title = chat_name(declared_name)
    identity = title.casefold() if title else survey.identity()
    chat = Chat(
        "whatsapp",
        f"wa-{digest(identity)}",
        title or ", ".join(sorted(survey.authors)[:4]),
        own,
        authors_have_ids=False,
    )
    file.seek(0)
    yield from sessions(chat, _read(file, survey, order, find_file, zone))


@dataclass(slots=True)
class _Survey:
    """What the whole file tells: which way it is written, who writes, in which order a date stands."""

    style: Style | None = None
    authors: set[str] = field(default_factory=set)
    _first: str = ""
    _count: int = 0
    _over_12: list[int] = field(default_factory=lambda: [0, 0])
    _changes: list[int] = field(default_factory=lambda: [0, 0])
    _backwards: dict[Order, int] = field(default_factory=lambda: {"dmy": 0, "mdy": 0})
    _before: tuple[int, int, int] | None = None
    _year_first: int = 0
    _separator: str = "."
    _has_halves: bool = False

    def add(self, head: Head) -> None:
        self._count += 1
        if self._count > MAX_MESSAGES:
            raise Unreadable(f"There are more than {MAX_MESSAGES:,} messages in it.")
        self._first = self._first or f"{head.date} {head.hour}:{head.minute} {head.rest[:200]}"
        found = author_and_text(head.rest)
        if found and len(self.authors) < 1000:
            self.authors.add(found[0])
        self._separator, self._has_halves = head.separator, self._has_halves or head.has_halves
        first, second, third = head.date
        self._year_first += first > 31
        self._over_12[0] += first > 12
        self._over_12[1] += second > 12
        before, self._before = self._before, head.date
        if before is None or before == head.date:
            return
        self._changes[0] += first != before[0]
        self._changes[1] += second != before[1]
        self._backwards["dmy"] += (third, second, first) < (before[2], before[1], before[0])
        self._backwards["mdy"] += (third, first, second) < (before[2], before[0], before[1])

    def order(self) -> Order:
        if self._year_first * 2 > self._count:
            return "ymd"
        pairs: list[tuple[int, int]] = [
            (self._over_12[0], self._over_12[1]),
            (self._backwards["mdy"], self._backwards["dmy"]),
            (self._changes[0], self._changes[1]),
        ]
        for for_dmy, for_mdy in pairs:
            if for_dmy != for_mdy:
                return "dmy" if for_dmy > for_mdy else "mdy"
        return "mdy" if self._separator == "/" and self._has_halves else "dmy"

    def identity(self) -> str:
        """Of a chat whose file has lost its name."""
        return "\0".join(sorted(self.authors)) if len(self.authors) <= 2 else self._first


def _messages(file: IO[bytes], survey: _Survey) -> Iterator[tuple[Head, str]]:
    """Each message's beginning, and its whole text after the date."""
    reader = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline=None)
    head: Head | None = None
    lines: list[str] = []
    length = 0
    begins_line = True
    try:
        while line := reader.readline(_LINE_CHARACTERS):
            ended = line.endswith("\n")
            if begins_line and survey.style is None:
                survey.style = style_of(line)
            found = head_of(line.rstrip("\n"), survey.style) if begins_line and survey.style else None
            if found is not None:
                if head is not None:
                    yield head, "".join(lines).rstrip("\n")
                head, lines, length = found, [found.rest, "\n" if ended else ""], len(found.rest)
            elif head is not None and length < _MOST_CHARACTERS:
                lines.append(line)
                length += len(line)
            begins_line = ended
        if head is not None:
            yield head, "".join(lines).rstrip("\n")
    finally:
        reader.detach()


def _read(file: IO[bytes], survey: _Survey, order: Order, find_file: FindFile, zone: ZoneInfo) -> Iterator[ChatMessage]:
    last: datetime | None = None
    key, same = "", 0
    for head, rest in _messages(file, survey):
        found = author_and_text(rest)
        content = content_of(found[1], survey.style or "dash") if found else None
        if found is None or content is None:
            continue
        local = head.at(order)
        at = (local_time(local, zone) if local else None) or last
        if at is None:
            continue
        last = at
        # Its local time names a message, since that is what stays in every export, whatever the zone is set to.
        stamp = (local or at).strftime("%Y%m%dT%H%M%S")
        same = same + 1 if stamp == key else 1
        key = stamp
        author = found[0]
        phone = _phone(author)
        yield ChatMessage(
            stamp if same == 1 else f"{stamp}-{same}",
            phone or author,
            author,
            at,
            turn_text(content.text),
            tuple(_media(content, find_file)),
        )


def _media(content: Content, find_file: FindFile) -> Iterator[ImportedMedia]:
    for name in content.files:
        yield media_of(name, None, find_file(name))
    for kind in content.omitted:
        mime = {"image": "image/jpeg", "video": "video/mp4", "audio": "audio/ogg"}.get(kind)
        yield media_of(None, mime, None)


def _phone(author: str) -> str | None:
    if not _PHONE.fullmatch(author):
        return None
    return "+" + "".join(character for character in author if character.isdigit())
