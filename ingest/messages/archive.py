"""A ZIP of an export: what is in it, and its files one by one, with hostile ones refused."""

from __future__ import annotations

import io
import lzma
import posixpath
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from ingest.messages.reading import MAX_UNPACKED_BYTES, Media, Unreadable

MAX_FILES = 200_000
_MAX_DIRECTORY_BYTES = 64 * 1024 * 1024  # the list of files is read into memory as a whole
_TAIL_BYTES = 22 + 65_535 + 20 + 56
_END, _END64 = b"PK\x05\x06", b"PK\x06\x06"
_OVER_32_BITS = 0xFFFFFFFF
_ENCRYPTED = 1
_BROKEN = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError)


class Archive:
    """Opened for reading. Raises Unreadable for what is broken, encrypted, or unpacks to more than the limit."""

    def __init__(self, path: Path) -> None:
        _check_directory(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise Unreadable("The ZIP archive is broken.") from error
        try:
            self._files = self._list()
        except BaseException:
            self._zip.close()
            raise
        self._unpacked: dict[str, Path | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """The paths of its files, those that lead out of it or are links left out."""
        return list(self._files)

    def size(self, name: str) -> int:
        return self._files[name].file_size

    def open(self, name: str) -> IO[bytes]:
        """Raises Unreadable, and so does reading on where the file is broken."""
        return io.BufferedReader(_Member(self._zip, self._files[name]))

    def head(self, name: str, size: int) -> bytes:
        """The first bytes; empty where they cannot be read."""
        try:
            with self.open(name) as file:
                return file.read(size)
        except Unreadable:
            return b""

    def unpack(self, name: str, media: Media, limit: int | None = None) -> Path | None:
        """Where the file lies, unpacked once however often it is asked for. None where it is not there, is broken or
        too large."""
        if name not in self._files:
            return None
        if name not in self._unpacked:
            path: Path | None = None
            try:
                with self.open(name) as file:
                    path = media.copy(file) if limit is None else media.copy(file, limit)
            except Unreadable:
                path = None
            self._unpacked[name] = path
        return self._unpacked[name]

    def _list(self) -> dict[str, zipfile.ZipInfo]:
        found: dict[str, zipfile.ZipInfo] = {}
        total = 0
        entries = self._zip.infolist()
        if len(entries) > MAX_FILES:
            raise Unreadable(f"The ZIP archive has more than {MAX_FILES:,} files.")
        for entry in entries:
            name = inner_path(_decoded(entry))
            if name is None or entry.is_dir() or stat.S_ISLNK(entry.external_attr >> 16):
                continue
            if entry.flag_bits & _ENCRYPTED:
                raise Unreadable("The ZIP archive is encrypted.")
            total += entry.file_size
            if total > MAX_UNPACKED_BYTES:
                raise Unreadable(f"The ZIP archive unpacks to more than {MAX_UNPACKED_BYTES:,} bytes.")
            if not name.startswith("__MACOSX/"):
                found.setdefault(name, entry)
        return found


class _Member(io.RawIOBase):
    """A file of an archive whose errors are told in one way."""

    def __init__(self, source: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
        super().__init__()
        self._name = entry.filename[:100]
        with self._told():
            self._file = source.open(entry)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        with self._told():
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        with self._told():
            return self._file.seek(offset, whence)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (*_BROKEN, zlib.error, lzma.LZMAError, EOFError) as error:
            raise Unreadable(f"“{self._name}” in the ZIP archive is broken.") from error


def inner_path(name: str) -> str | None:
    """A path within a folder, in one spelling; None for one that leads out of it or is none."""
    name = name.replace("\\", "/")
    if not name or name.startswith("/") or "\0" in name or (len(name) > 1 and name[1] == ":"):
        return None
    if len(name) > 1000 or ".." in name.split("/"):
        return None
    normal = posixpath.normpath(name)
    return None if normal in {".", ""} else normal


def _decoded(entry: zipfile.ZipInfo) -> str:
    """Names that are not marked as UTF-8 are read as code page 437, which hardly any program means."""
    if entry.flag_bits & 0x800 or entry.filename.isascii():
        return entry.filename
    try:
        raw = entry.filename.encode("cp437")
    except UnicodeEncodeError:
        return entry.filename
    for encoding in ("utf-8", "cp866"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return entry.filename


def _check_directory(path: Path) -> None:
    """Before anything of it is read into memory."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(size - _TAIL_BYTES, 0))
        tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < 22:
        raise Unreadable("The ZIP archive is broken.")
    directory_bytes = struct.unpack_from("<I", tail, at + 12)[0]
    at64 = tail.rfind(_END64)
    if directory_bytes == _OVER_32_BITS and at64 >= 0 and len(tail) - at64 >= 56:
        directory_bytes = struct.unpack_from("<Q", tail, at64 + 40)[0]
    if directory_bytes > _MAX_DIRECTORY_BYTES:
        raise Unreadable("The ZIP archive has too many files.")
