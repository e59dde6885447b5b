"""One guard for every document that is a ZIP archive: Office, OpenDocument, EPUB.

Nothing is unpacked to disk, so a name is only a key: where it points does no harm. Parts are read as streams whose
bytes are counted as they come out, whatever the archive declares.
"""

from __future__ import annotations

import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from ingest.documents.parsed import DocumentError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError, OverflowError)
_ENCRYPTED_FLAG = 0x1
# What Office and OpenDocument allow. Others unpack a small piece into any number of bytes at once.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LOCAL_HEADER_BYTES = 30
_CHUNK_BYTES = 64 * 1024
_SMALL_PART_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What an archive may hold; over one of them it is refused as too_large."""

    max_entries: int = 20_000
    max_directory_bytes: int = 8 * 1024 * 1024  # the list of entries, which is read as a whole
    max_declared_bytes: int = 4 * 1024**3  # of all parts, pictures and films too, which are never unpacked
    max_part_bytes: int = 256 * 1024 * 1024
    max_unpacked_bytes: int = 768 * 1024 * 1024  # that are really unpacked, of all parts together
    max_ratio: int = 250  # of a part over `small_part_bytes`
    small_part_bytes: int = _SMALL_PART_BYTES


LIMITS = ArchiveLimits()


class Archive:
    """The parts of an archive by name. Names are found whatever their case, with or without a slash before them."""

    def __init__(self, file: zipfile.ZipFile, limits: ArchiveLimits) -> None:
        self._file = file
        self._limits = limits
        self._unpacked_bytes = 0
        self._entries = {_key(entry.filename): entry for entry in file.infolist() if not entry.is_dir()}

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _key(name) in self._entries

    @property
    def names(self) -> list[str]:
        """The names of the parts as the archive has them, in its order."""
        return [entry.filename for entry in self._entries.values()]

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """A part as a stream. Raises DocumentError, from reads too."""
        entry = self._entries.get(_key(name))
        if entry is None:
            raise DocumentError("unreadable", f"A part of it is missing: {name[:200]}.")
        self._check_part(entry)
        try:
            part = self._file.open(entry)
        except (*_BROKEN, RuntimeError, NotImplementedError) as error:
            raise _unreadable(error) from None
        with part, io.BufferedReader(_Counted(part, self), _CHUNK_BYTES) as stream:
            yield stream

    def read(self, name: str, max_bytes: int = _SMALL_PART_BYTES) -> bytes:
        """A part as a whole; over `max_bytes` it is too_large."""
        with self.open(name) as part:
            data = part.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise _too_large(f"A part of it has more than {max_bytes:,} bytes.")
        return data

    def verify(self, *suffixes: str) -> None:
        """Unpacks the parts with such names (all of them, where none is given) and throws them away: for readers of
        other hands, which then find nothing that is over the limits."""
        for entry in self._entries.values():
            if not suffixes or entry.filename.lower().endswith(suffixes):
                with self.open(entry.filename) as part:
                    while part.read(_CHUNK_BYTES):
                        pass

    def count(self, data_bytes: int) -> None:
        self._unpacked_bytes += data_bytes
        if self._unpacked_bytes > self._limits.max_unpacked_bytes:
            raise _too_large(f"It unpacks to more than {self._limits.max_unpacked_bytes:,} bytes.")

    def _check_part(self, entry: zipfile.ZipInfo) -> None:
        if entry.file_size > self._limits.max_part_bytes:
            raise _too_large(
                f"A part of it has {entry.file_size:,} bytes; {self._limits.max_part_bytes:,} is the most."
            )
        is_large = entry.file_size > self._limits.small_part_bytes
        if is_large and entry.file_size > entry.compress_size * self._limits.max_ratio:
            raise _too_large(f"A part of it unpacks to more than {self._limits.max_ratio} times its size.")
        if entry.compress_type not in _METHODS:
            raise DocumentError("unreadable", "It is compressed in a way that documents do not use.")


@contextmanager
def open_archive(path: Path, limits: ArchiveLimits = LIMITS) -> Iterator[Archive]:
    """The archive in the file, within the limits.

    Raises DocumentError: `encrypted` where a part needs a password, `too_large`, or `unreadable` where the archive is
    damaged or its parts lie upon each other.
    """
    with _Source(path, limits.max_directory_bytes) as source:
        try:
            file = zipfile.ZipFile(source)
        except (*_BROKEN, NotImplementedError) as error:
            raise _unreadable(error) from None
        with file:
            _check(file.infolist(), limits)
            yield Archive(file, limits)


def _check(entries: list[zipfile.ZipInfo], limits: ArchiveLimits) -> None:
    if len(entries) > limits.max_entries:
        raise _too_large(f"It holds {len(entries):,} files; {limits.max_entries:,} is the most.")
    if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in entries):
        raise DocumentError("encrypted", "It is protected by a password.")
    if sum(entry.file_size for entry in entries) > limits.max_declared_bytes:
        raise _too_large(f"It unpacks to more than {limits.max_declared_bytes:,} bytes.")
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise DocumentError("unreadable", "It is damaged: its parts lie upon each other.")
        end = entry.header_offset + _LOCAL_HEADER_BYTES + entry.compress_size


class _Source(io.FileIO):
    """A file that is read in pieces only: `zipfile` takes the list of entries at once, however long it says it is."""

    def __init__(self, path: Path, max_read_bytes: int) -> None:
        super().__init__(path)
        self._max_read_bytes = max_read_bytes

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:  # the last bytes, where the archive has a comment
            size = os.fstat(self.fileno()).st_size - self.tell()
        if size > self._max_read_bytes:
            raise _too_large("Its list of files is too long.")
        return super().read(size)

    def __enter__(self) -> Self:
        return self


class _Counted(io.RawIOBase):
    """The stream of a part, whose bytes count against the archive's limits, and whose errors are the document's."""

    def __init__(self, part: IO[bytes], archive: Archive) -> None:
        self._part = part
        self._archive = archive

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        try:
            data = self._part.read(min(len(view), _CHUNK_BYTES))
        except (*_BROKEN, RuntimeError) as error:
            raise _unreadable(error) from None
        self._archive.count(len(data))
        view[: len(data)] = data
        return len(data)


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()


def _too_large(message: str) -> DocumentError:
    return DocumentError("too_large", message)


def _unreadable(error: Exception) -> DocumentError:
    return DocumentError("unreadable", f"It is damaged: {str(error)[:200] or type(error).__name__}.")
