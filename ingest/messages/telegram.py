"""Telegram Desktop's export in JSON, of one chat or of all."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO, Any
from zoneinfo import ZoneInfo

from ingest.messages.archive import inner_path
from ingest.messages.imported import ImportedConversation, ImportedMedia
from ingest.messages.json_stream import JsonStream
from ingest.messages.reading import (
    MAX_MESSAGES,
    MAX_NAME_CHARACTERS,
    FindFile,
    Own,
    Unreadable,
    believable,
    digest,
    is_russian,
    local_time,
    media_of,
    one_line,
    turn_text,
)
from ingest.messages.sessions import Chat, ChatMessage, sessions

NO_EXPORT = "It is a JSON file, but not an export of Telegram."
# Channels are news, and "saved messages" notes to oneself: no conversations.
_LEFT_OUT = frozenset({"private_channel", "public_channel", "saved_messages"})
_MIME = {
    "voice_message": "audio/ogg",
    "audio_file": "audio/mpeg",
    "video_message": "video/mp4",
    "video_file": "video/mp4",
    "animation": "video/mp4",
    "sticker": "image/webp",
}
_MAX_ENTITIES = 10_000


def conversations(file: IO[bytes], find_file: FindFile, own: Own, zone: ZoneInfo) -> Iterator[ImportedConversation]:
    """The sessions of each chat in its order. Raises Unreadable."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace")
    try:
        yield from _Export(JsonStream(text), find_file, own, zone).read()
    finally:
        text.detach()


class _Export:
    def __init__(self, stream: JsonStream, find_file: FindFile, own: Own, zone: ZoneInfo) -> None:
        self._stream = stream
        self._find_file = find_file
        self._own = own
        self._zone = zone
        self._own_ids: frozenset[str] = frozenset()
        self._messages = 0
        self._has_chats = False

    def read(self) -> Iterator[ImportedConversation]:
        if self._stream.peek() != "{":
            raise Unreadable(NO_EXPORT)
        yield from self._read_object(is_chat=True)
        if not self._has_chats:
            raise Unreadable(NO_EXPORT)

    def _read_object(self, is_chat: bool) -> Iterator[ImportedConversation]:
        """A chat, or the whole export, which holds lists of chats."""
        about: dict[str, Any] = {}
        for name in self._stream.members():
            if name in {"name", "type", "id"} and self._stream.peek() not in "{[":
                about[name] = self._stream.value()
            elif name == "messages" and is_chat and self._stream.peek() == "[":
                self._has_chats = True
                yield from self._read_messages(about)
            elif name in {"chats", "left_chats"} and self._stream.peek() == "{":
                for inner in self._stream.members():
                    if inner == "list" and self._stream.peek() == "[":
                        self._has_chats = True
                        yield from self._read_list()
                    else:
                        self._stream.skip()
            elif name == "personal_information" and self._stream.peek() == "{":
                value = self._stream.value()
                if isinstance(value.get("user_id"), int):
                    self._own_ids = frozenset({f"user{value['user_id']}"})
            else:
                self._stream.skip()

    def _read_list(self) -> Iterator[ImportedConversation]:
        for _ in self._stream.items():
            if self._stream.peek() == "{":
                yield from self._read_object(is_chat=True)
            else:
                self._stream.skip()

    def _read_messages(self, about: dict[str, Any]) -> Iterator[ImportedConversation]:
        if about.get("type") in _LEFT_OUT:
            self._stream.skip()
            return
        title = str(about.get("name") or "")
        # Without an id, a chat is known by its kind and name.
        identity = str(about.get("id") or f"{about.get('type')}:{title}")
        chat = Chat("telegram", f"tg-{digest(identity)}", title, self._own, self._own_ids)
        yield from sessions(chat, self._read_each())

    def _read_each(self) -> Iterator[ChatMessage]:
        for _ in self._stream.items():
            raw = self._stream.value()
            self._messages += 1
            if self._messages > MAX_MESSAGES:
                raise Unreadable(f"There are more than {MAX_MESSAGES:,} messages in it.")
            message = self._message(raw)
            if message is not None:
                yield message

    def _message(self, raw: Any) -> ChatMessage | None:
        if not isinstance(raw, dict) or raw.get("type") != "message":
            return None  # a service message, such as that somebody joined
        at = self._time(raw)
        if at is None:
            return None
        name = raw.get("from")
        name = one_line(name, MAX_NAME_CHARACTERS) if isinstance(name, str) else None
        author = raw.get("from_id")
        # Old exports have plain numbers.
        author = f"user{author}" if isinstance(author, int) else str(author or name or "")[:1000]
        text = plain_text(raw.get("text"))
        extra = _extra(raw)
        text = turn_text("\n".join(part for part in (_forwarded(raw, text), text, *extra) if part))
        number = raw.get("id")
        key = str(number) if isinstance(number, int) and len(str(number)) <= 20 else at.strftime("%Y%m%dT%H%M%S")
        return ChatMessage(key, author, name, at, text, tuple(self._media(raw)))

    def _time(self, raw: dict[str, Any]) -> datetime | None:
        try:
            return believable(datetime.fromtimestamp(int(str(raw["date_unixtime"])[:15]), UTC))
        except (KeyError, ValueError, OverflowError, OSError):
            pass
        try:
            return local_time(datetime.fromisoformat(str(raw.get("date"))[:30]).replace(tzinfo=None), self._zone)
        except ValueError:
            return None

    def _media(self, raw: dict[str, Any]) -> Iterator[ImportedMedia]:
        photo, file = raw.get("photo"), raw.get("file")
        if isinstance(photo, str):
            yield self._file(photo, None, "image/jpeg", raw.get("photo_file_size"))
        if isinstance(file, str):
            kind = str(raw.get("media_type") or "")
            mime = raw.get("mime_type")
            mime = mime if isinstance(mime, str) else _MIME.get(kind, "")
            name = raw.get("file_name")
            yield self._file(file, name if isinstance(name, str) else None, mime, raw.get("file_size"))

    def _file(self, path: str, name: str | None, mime: str, size: object) -> ImportedMedia:
        """The path is that in the export, or a remark in brackets that the file was not saved."""
        is_there = not path.startswith("(")
        inner = inner_path(path) if is_there else None
        found = self._find_file(inner) if inner else None
        name = name or (path if inner else None)
        size = size if isinstance(size, int) and 0 <= size < 2**50 else None
        return media_of(name, mime, found, size)


def plain_text(text: object) -> str:
    """A message's text, which is a string, or a list of strings and marked pieces."""
    if isinstance(text, str):
        return text
    if not isinstance(text, list):
        return ""
    parts: list[str] = []
    for piece in text[:_MAX_ENTITIES]:
        if isinstance(piece, str):
            parts.append(piece)
        elif isinstance(piece, dict) and isinstance(piece.get("text"), str):
            parts.append(piece["text"])
            href = piece.get("href")
            if piece.get("type") == "text_link" and isinstance(href, str) and href not in piece["text"]:
                parts.append(f" ({href[:2000]})")
    return "".join(parts)


def _forwarded(raw: dict[str, Any], text: str) -> str:
    source = raw.get("forwarded_from")
    if not isinstance(source, str) or not source:
        return ""
    words = "Переслано от" if is_russian(f"{text} {source}") else "Forwarded from"
    return f"{words} {one_line(source, MAX_NAME_CHARACTERS)}:"


def _extra(raw: dict[str, Any]) -> Iterator[str]:
    """What is neither text nor a file: a sticker's emoji, a contact, a place, a poll."""
    if raw.get("media_type") == "sticker" and isinstance(raw.get("sticker_emoji"), str):
        yield raw["sticker_emoji"][:20]
    contact = raw.get("contact_information")
    if isinstance(contact, dict):
        fields = (contact.get(key) for key in ("first_name", "last_name", "phone_number"))
        yield " ".join(one_line(value, 100) for value in fields if isinstance(value, str) and value)
    place = raw.get("location_information")
    if isinstance(place, dict):
        where = [raw.get("place_name"), raw.get("address"), place.get("latitude"), place.get("longitude")]
        yield ", ".join(one_line(str(value), 200) for value in where if isinstance(value, str | float | int))
    poll = raw.get("poll")
    if isinstance(poll, dict) and isinstance(poll.get("question"), str):
        yield one_line(poll["question"], 1000)
        answers = poll.get("answers")
        for answer in answers[:20] if isinstance(answers, list) else ():
            if isinstance(answer, dict) and isinstance(answer.get("text"), str):
                yield f"- {one_line(answer['text'], 300)}"
