"""Telegram Desktop's export of one chat as web pages, which has neither the chat's id nor its people's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ingest.messages.archive import inner_path
from ingest.messages.imported import ImportedConversation, ImportedMedia
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

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_PAGE_BYTES = 32 * 1024 * 1024
_MAX_PAGES = 2_000
_MAX_DEPTH = 200
_PAGE = re.compile(r"messages(\d{0,6})\.html")
_DIV = re.compile(r"<(/?)(?:div|table|ul|ol|section|blockquote)\b", re.I)
_TIME = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d):(\d\d):(\d\d)(?: UTC([+-]\d\d):?(\d\d))?")
_MIME = {
    "voice": "audio/ogg",
    "audio": "audio/mpeg",
    "video": "video/mp4",
    "photo": "image/jpeg",
    "sticker": "image/webp",
}


def looks_like(head: str) -> bool:
    return head[:1] == "<" and 'class="page_wrap' in head and 'class="page_header' in head and "history" in head


def pages_of(first: str, names: Iterable[str]) -> list[str]:
    """The pages of an export beside its first one, in their order."""
    folder = PurePosixPath(first).parent
    found = [(PurePosixPath(name), match) for name in names if (match := _PAGE.fullmatch(PurePosixPath(name).name))]
    beside = [(int(match[1] or 1), str(path)) for path, match in found if path.parent == folder]
    return [path for _, path in sorted(beside)][:_MAX_PAGES]


def further_pages(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    names = [path.name for path in folder.glob("messages*.html") if path.is_file() and not path.is_symlink()]
    paths = [folder / name for name in pages_of("messages.html", names) if name != "messages.html"]
    return [path for path in paths if path.stat().st_size <= MAX_PAGE_BYTES]


def conversations(
    pages: Iterable[bytes], find_file: FindFile, own: Own, zone: ZoneInfo
) -> Iterator[ImportedConversation]:
    """The chat's sessions. Raises Unreadable."""
    reader = _Reader(find_file, zone)
    messages = reader.messages(pages)
    first = next(messages, None)
    if first is None:
        raise Unreadable("There are no messages in Telegram's export.")
    # The title stands above the first message.
    chat = Chat("telegram", f"tg-{digest('html', reader.title)}", reader.title, own, authors_have_ids=False)

    def all_messages() -> Iterator[ChatMessage]:
        yield first
        yield from messages

    yield from sessions(chat, all_messages())


class _Reader:
    def __init__(self, find_file: FindFile, zone: ZoneInfo) -> None:
        self.title = ""
        self._find_file = find_file
        self._zone = zone
        self._author = ""
        self._count = 0

    def messages(self, pages: Iterable[bytes]) -> Iterator[ChatMessage]:
        from selectolax.lexbor import LexborHTMLParser

        for page in pages:
            if len(page) >= MAX_PAGE_BYTES:
                raise Unreadable("A page of Telegram's export is too large.")
            text = page.decode("utf-8", errors="replace").replace("\0", "")
            _check_depth(text)
            tree = LexborHTMLParser(text)
            title = tree.css_first(".page_header .text")
            if not self.title and title is not None:
                self.title = one_line(title.text(), MAX_NAME_CHARACTERS)
            for node in tree.css("div.message.default"):
                self._count += 1
                if self._count > MAX_MESSAGES:
                    raise Unreadable(f"There are more than {MAX_MESSAGES:,} messages in it.")
                message = self._message(node)
                if message is not None:
                    yield message

    def _message(self, node: LexborNode) -> ChatMessage | None:
        body = _child(node, "body")
        date = body.css_first(".date.details") if body is not None else None
        if body is None or date is None:
            return None
        name = _child(body, "from_name")
        if name is not None:
            self._author = one_line(name.text(), MAX_NAME_CHARACTERS)
        at = self._time(str(date.attributes.get("title") or ""))
        number = str(node.attributes.get("id") or "").removeprefix("message")
        if at is None or not number.isdecimal() or len(number) > 20:
            return None
        forwarded = _child(body, "forwarded")
        inner = forwarded if forwarded is not None else body
        text_node = _child(inner, "text")
        text = text_node.text(deep=True) if text_node is not None and not text_node.css("br") else _lines(text_node)
        source = _child(inner, "from_name") if forwarded is not None else None
        if source is not None:
            words = "Переслано от" if is_russian(text) else "Forwarded from"
            text = f"{words} {one_line(source.text(deep=False), MAX_NAME_CHARACTERS)}:\n{text}"
        return ChatMessage(number, self._author, self._author or None, at, turn_text(text), tuple(self._media(inner)))

    def _time(self, title: str) -> datetime | None:
        match = _TIME.search(title[:100])
        if match is None:
            return None
        day, month, year, hour, minute, second = map(int, match.groups()[:6])
        stamp = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        try:
            if match[7]:
                return believable(datetime.fromisoformat(f"{stamp}{match[7]}:{match[8]}"))
            return local_time(datetime.fromisoformat(stamp), self._zone)
        except ValueError:
            return None

    def _media(self, body: LexborNode) -> Iterator[ImportedMedia]:
        wrap = _child(body, "media_wrap")
        for link in wrap.css("a[href]")[:20] if wrap is not None else ():
            href = str(link.attributes.get("href") or "")
            if "://" in href or href.startswith(("#", "//")):
                continue
            inner = inner_path(href)
            name = PurePosixPath(inner).name if inner else None
            classes = str(link.attributes.get("class") or "")
            mime = next((mime for word, mime in _MIME.items() if word in classes), None)
            yield media_of(
                name, mime if name is None or "." not in name else None, self._find_file(inner) if inner else None
            )


def _child(node: LexborNode, name: str) -> LexborNode | None:
    """The child of a class; what lies deeper belongs to something else."""
    child = node.child
    while child is not None:
        if child.tag == "div" and name in str(child.attributes.get("class") or "").split():
            return child
        child = child.next
    return None


def _lines(node: LexborNode | None) -> str:
    if node is None:
        return ""
    for line_break in node.css("br"):
        line_break.replace_with("\n")
    return node.text(deep=True)


def _check_depth(text: str) -> None:
    depth = 0
    for match in _DIV.finditer(text):
        depth += -1 if match[1] else 1
        if depth > _MAX_DEPTH:
            raise Unreadable("A page of Telegram's export is broken.")
