"""What every reader of an export takes, gives and raises, and the limits that hold for all of them."""

from __future__ import annotations

import hashlib
import mimetypes
import re
import shutil
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO
from zoneinfo import ZoneInfo

from ingest.documents.parsed import clean
from ingest.messages.imported import ImportedMedia, MediaType

MAX_TURNS = 10_000  # of one conversation; what comes after is the next one
MAX_TURN_CHARACTERS = 200_000
MAX_MESSAGES = 500_000  # of one export
MAX_MEDIA_BYTES = 256 * 1024 * 1024  # of one file
MAX_UNPACKED_BYTES = 4 * 1024 * 1024 * 1024  # of one export
MAX_MEDIA_OF_A_TURN = 100
MAX_NAME_CHARACTERS = 200
MAX_TITLE_CHARACTERS = 300
MAX_EXTERNAL_ID_CHARACTERS = 64
SESSION_SILENCE = timedelta(hours=12)  # a chat that rests this long is another conversation

FindFile = Callable[[str], Path | None]
"""Finds a file of an export by its path within it; None where it is not there."""

_CUT = "\n[…]"
_KEPT_FREE_BYTES = 512 * 1024 * 1024
_COPY_BYTES = 1024 * 1024
_DIGEST_CHARACTERS = 20
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_UNSAFE_IN_NAME = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]')
_MIME = re.compile(r"[a-z0-9][a-z0-9.+-]{0,60}/[a-z0-9][a-z0-9.+-]{0,100}")
_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


class Unreadable(Exception):
    """The file is none of the exports that are read here, or it is broken or too large. The message is for users;
    `fault` says where a reader failed that should not have, for the log."""

    def __init__(self, message: str, fault: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fault = fault


@dataclass(frozen=True)
class Own:
    """How the company's own people are told: by address, by domain, or by their name or id in a chat."""

    addresses: Collection[str] = ()
    names: Collection[str] = ()

    @cached_property
    def _addresses(self) -> frozenset[str]:
        return frozenset(address.strip().strip("@").lower() for address in self.addresses if address.strip())

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(_name_key(name) for name in self.names if name.strip())

    def __bool__(self) -> bool:
        return bool(self._addresses or self._names)

    def has_address(self, address: str) -> bool:
        """By itself, by its domain, or by one that its domain is a part of."""
        domain = address.rpartition("@")[2]
        if address in self._addresses or domain in self._addresses:
            return True
        while "." in domain:
            if domain in self._addresses:
                return True
            domain = domain.partition(".")[2]
        return False

    def has_name(self, *names: str | None) -> bool:
        return any(name and _name_key(name) in self._names for name in names)


@dataclass(slots=True)
class Media:
    """Writes the files of an export into a folder, within the limits."""

    folder: Path
    _left_bytes: int = MAX_UNPACKED_BYTES
    _count: int = 0

    def write(self, data: bytes) -> Path | None:
        """Where the file lies now; None where it is too large."""
        if len(data) > min(MAX_MEDIA_BYTES, self._room()):
            return None
        path = self._next_path()
        path.write_bytes(data)
        self._left_bytes -= len(data)
        return path

    def copy(self, source: IO[bytes], limit: int = MAX_MEDIA_BYTES) -> Path | None:
        """The same of a stream; a file that grows over the limit is taken away again."""
        limit = min(limit, self._room())
        path = self._next_path()
        size = 0
        try:
            with path.open("wb") as target:
                while size <= limit and (piece := source.read(_COPY_BYTES)):
                    size += len(piece)
                    target.write(piece)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        if size > limit:
            path.unlink()
            return None
        self._left_bytes -= size
        return path

    def _room(self) -> int:
        """Bytes that may still be written; the disk is not filled up."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return min(self._left_bytes, shutil.disk_usage(self.folder).free - _KEPT_FREE_BYTES)

    def _next_path(self) -> Path:
        self._count += 1
        return self.folder / f"{self._count:06d}"


def media_of(name: str | None, mime: str | None, path: Path | None, size_bytes: int | None = None) -> ImportedMedia:
    """A file of a message, its kind told by its media type or by its name."""
    name = file_name(name) if name else None
    mime = (mime or "").strip().lower()
    if not _MIME.fullmatch(mime) or mime == "application/octet-stream":
        mime = (mimetypes.guess_type(name)[0] if name else None) or mime
    if not _MIME.fullmatch(mime):
        mime = "application/octet-stream"
    if path is not None:
        size_bytes = path.stat().st_size
    return ImportedMedia(kind_of(mime), name, mime, size_bytes, path)


def kind_of(mime: str) -> MediaType:
    major = mime.partition("/")[0]
    if major == "audio":
        return "audio"
    if major == "image":
        return "image"
    return "video" if major == "video" else "file"


def file_name(name: str) -> str:
    """A file's own name, without its folders and what no file system takes."""
    base = PurePosixPath(clean(name).replace("\\", "/")).name
    base = " ".join(_UNSAFE_IN_NAME.sub("_", base).split()).strip(". ")
    if len(base) > MAX_NAME_CHARACTERS:
        stem, dot, suffix = base.rpartition(".")
        suffix = (dot + suffix)[:20] if stem else ""
        base = base[: MAX_NAME_CHARACTERS - len(suffix)] + suffix
    return base or "file"


def turn_text(text: str) -> str:
    """As it is stored: cleaned, with no more than one blank line in a row, and cut with a mark where it is too long."""
    text = text[: 4 * MAX_TURN_CHARACTERS]
    text = "\n".join(line.rstrip() for line in clean(text).split("\n"))
    text = _BLANK_LINES.sub("\n\n", text).strip()
    return text if len(text) <= MAX_TURN_CHARACTERS else text[: MAX_TURN_CHARACTERS - len(_CUT)].rstrip() + _CUT


def one_line(text: str, limit: int) -> str:
    return " ".join(clean(text[: 4 * limit]).split())[:limit].rstrip()


def external_id(text: str) -> str:
    """At most 64 characters; a longer one ends in a hash, so that two do not become one."""
    text = one_line(text, 4096)
    if len(text) <= MAX_EXTERNAL_ID_CHARACTERS:
        return text
    return f"{text[: MAX_EXTERNAL_ID_CHARACTERS - _DIGEST_CHARACTERS - 1]}~{digest(text)}"


def digest(*parts: str) -> str:
    """A short hash for a record's name."""
    joined = "\0".join(parts).encode("utf-8", errors="replace")
    return hashlib.sha256(joined).hexdigest()[:_DIGEST_CHARACTERS]


def label_of(index: int) -> str:
    return f"SPEAKER_{index:02d}"


def believable(at: datetime | None) -> datetime | None:
    """The time in UTC, or None for one that no message can have."""
    if at is None:
        return None
    try:
        at = at.astimezone(UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return at if _EARLIEST <= at <= _LATEST else None


def local_time(at: datetime, zone: ZoneInfo) -> datetime | None:
    """A time without a zone, as it is meant in `zone`."""
    try:
        return believable(at.replace(tzinfo=zone))
    except (OverflowError, ValueError):
        return None


def is_russian(text: str) -> bool:
    """Whether marks that are put into the text should be in Russian."""
    sample = text[:2000]
    return sum("а" <= letter <= "я" for letter in sample.lower()) * 4 > len(sample)


def _name_key(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(name.split()).casefold())
