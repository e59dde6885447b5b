"""Recordings, documents and other large things, by key, in a folder or in an S3-compatible bucket.

Keys look like `{tenant_id}/audio/{id}`. A blob appears under its key whole or not at all, and never changes then, but
for pictures of the moment (`NEWEST_PICTURES`). When a commit has returned, the blob survives the end of the process
and, in a folder, a power cut (file and folder entries are synced); in a bucket it is as durable as the bucket.

A bucket's credentials and endpoint come from the usual `AWS_*` variables (`AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP=true`
for a plain-HTTP endpoint). An upload cut off by a crash can leave an unfinished multipart upload in a bucket: a
lifecycle rule there removes those.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from store.bulkhead import Bulkhead
from store.errors import Unavailable
from store.settings import Settings

if TYPE_CHECKING:
    from obstore.store import LocalStore, S3Store

Data = bytes | bytearray | memoryview

_SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_MAX_KEY_CHARACTERS = 512
_MAX_SEGMENT_CHARACTERS = 200
_PIECE_BYTES = 1024 * 1024
_PART_BYTES = 8 * _PIECE_BYTES
_PART_UPLOADS = 4
_RETRY_S = 30
# Of the threads that answer, forty a process, a bucket that lets everybody wait may keep so many.
_AT_ONCE, _WAITING, _LATE_S = 12, 4, 5.0
_LISTED_AT_ONCE = 500
STALE_UPLOAD_S = 24 * 3600
NEWEST_PICTURES = "newest-pictures"
"""`{tenant_id}/newest-pictures/{stream_id}.jpg` is what a camera shows now, written over every few seconds."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class BlobMissing(Exception):
    """There is no blob under that key."""


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """What was stored: its size in bytes and the SHA-256 of its content in hex."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BlobEntry:
    """A line of a listing."""

    key: str
    size: int
    modified_at: datetime


class Blobs:
    """The blob store that the settings name. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        from obstore.store import LocalStore, S3Store

        data_dir = settings.data_dir.absolute()
        self._folder: Path | None = None
        self._spool = data_dir / "uploads"
        self._store: LocalStore | S3Store
        self._small = Bulkhead(_away, at_once=_AT_ONCE, waiting=_WAITING, late_s=_LATE_S)
        if not settings.blob_url:
            self._folder = data_dir / "blobs"
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._folder.stat().st_dev != data_dir.stat().st_dev:
                # The blobs are a volume of their own: a finished upload can only be renamed within it.
                self._spool = self._folder / ".uploads"
            self._store = LocalStore(self._folder)
        elif settings.blob_url.startswith("s3://"):
            self._store = S3Store.from_url(
                settings.blob_url, retry_config={"retry_timeout": timedelta(seconds=_RETRY_S)}
            )
        else:
            raise ValueError(f"PARLEY_BLOB_URL is neither empty nor s3://bucket/prefix: {settings.blob_url}")
        self._spool.mkdir(parents=True, exist_ok=True)

    # Writing

    def writer(self, key: str) -> BlobWriter:
        """A writer whose bytes appear under `key` when it commits."""
        return BlobWriter(self, check_key(key))

    def put_stream(self, key: str, pieces: Iterable[Data]) -> BlobInfo:
        """Stores the pieces one after another, in constant memory; nothing where the iterator raises."""
        with self.writer(key) as writer:
            for piece in pieces:
                writer.write(piece)
            return writer.commit()

    def put_file(self, key: str, path: Path) -> BlobInfo:
        """Stores a copy of the file."""
        with path.open("rb") as source:
            return self.put_stream(key, iter(lambda: source.read(_PIECE_BYTES), b""))

    def put(self, key: str, data: Data) -> BlobInfo:
        return self.put_stream(key, (data,))

    def sweep_uploads(self, older_than_s: float = STALE_UPLOAD_S) -> int:
        """Removes what uploads cut off by a crash left behind; returns how many. For the start of a server."""
        limit_s = time.time() - older_than_s
        swept = 0
        for path in self._spool.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime >= limit_s:
                    continue
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
                swept += 1
        return swept

    # Reading

    def local_path(self, key: str) -> Path | None:
        """The blob's own file, where blobs are files, so that nothing is copied. Never write to it.

        Raises BlobMissing.
        """
        if self._folder is None:
            return None
        path = self._folder / check_key(key)
        if not path.is_file():
            raise BlobMissing(key)
        return path

    @contextlib.contextmanager
    def as_file(self, key: str) -> Iterator[Path]:
        """A path that holds the blob's content while the context lasts. Raises BlobMissing, and Unavailable where the
        disk is full."""
        path = self.local_path(key)
        if path is not None:
            yield path
            return
        with _room_is_missed():
            made = tempfile.TemporaryDirectory(dir=self._spool)
        with made as folder:
            copy = Path(folder) / "blob"
            self.download_to(key, copy)
            yield copy

    def size(self, key: str) -> int:
        """Bytes of the blob. Raises BlobMissing."""
        import obstore

        with self._asking(check_key(key)):
            return obstore.head(self._store, key)["size"]

    def entry(self, key: str) -> BlobEntry:
        """The blob as a listing has it. Raises BlobMissing."""
        import obstore

        with self._asking(check_key(key)):
            found = obstore.head(self._store, key)
        return BlobEntry(found["path"], found["size"], found["last_modified"])

    def exists(self, key: str) -> bool:
        try:
            self.size(key)
        except BlobMissing:
            return False
        return True

    def read(self, key: str) -> bytes:
        """The whole blob: only for what is known to be small. Raises BlobMissing."""
        return b"".join(self.stream(key))

    def stream(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The bytes from `start` up to, not including, `end`, in pieces of about a megabyte.

        Raises BlobMissing before the first piece is asked for, and ValueError for a range outside of the blob.
        """
        import obstore

        size = self.size(key)
        end = size if end is None else end
        if not 0 <= start <= end <= size:
            raise ValueError(f"{start} to {end} is no range of {size} bytes")
        if start == end:
            return iter(())
        with self._asking(key):
            answer = obstore.get(self._store, key, options={"range": (start, end)})
        return _pieces(key, answer.stream(min_chunk_size=_PIECE_BYTES))

    def download_to(self, key: str, path: Path) -> None:
        """Copies the blob into a file. Raises BlobMissing, and Unavailable where the disk is full."""
        pieces = self.stream(key)
        with _room_is_missed(), path.open("wb") as target:
            for piece in pieces:
                target.write(piece)

    def list(self, prefix: str) -> Iterator[BlobEntry]:
        """The blobs below a key's folder, such as `{tenant_id}/audio`."""
        import obstore

        prefix = check_key(prefix.removesuffix("/"))
        yield from self._listed(obstore.list(self._store, prefix, chunk_size=_LISTED_AT_ONCE))

    def list_lasting(self) -> Iterator[BlobEntry]:
        """Every blob that does not change: all but the pictures of the moment, of which a copy would be torn or old."""
        for entry in self.list_all():
            if entry.key.split("/")[1:2] != [NEWEST_PICTURES]:
                yield entry

    def list_all(self) -> Iterator[BlobEntry]:
        """Every blob there is."""
        import obstore

        for entry in self._listed(obstore.list(self._store, chunk_size=_LISTED_AT_ONCE)):
            if not entry.key.startswith(".uploads/"):
                yield entry

    def _listed(self, batches: Iterator[Any]) -> Iterator[BlobEntry]:
        while True:
            with self._asking("a listing"):
                batch = next(batches, None)
            if batch is None:
                return
            for entry in batch:
                yield BlobEntry(entry["path"], entry["size"], entry["last_modified"])

    # Deleting

    def delete(self, key: str) -> None:
        """Removes the blob; nothing happens where there is none."""
        import obstore

        with contextlib.suppress(BlobMissing), self._asking(check_key(key)):
            obstore.delete(self._store, key)

    def delete_prefix(self, prefix: str) -> int:
        """Removes all blobs below a key's folder and returns how many there were."""
        import obstore

        entries = self.list(prefix)
        deleted = 0
        while keys := [entry.key for entry in islice(entries, _LISTED_AT_ONCE)]:
            try:
                with self._asking(prefix):
                    obstore.delete(self._store, keys)
            except BlobMissing:  # another thread was faster with one of them
                for key in keys:
                    self.delete(key)
            deleted += len(keys)
        return deleted

    def remove_folder(self, prefix: str) -> None:
        """Takes away the folders that `delete_prefix` left empty, whose names may tell something too."""
        if self._folder is not None:
            shutil.rmtree(self._folder / check_key(prefix), ignore_errors=True)

    @contextlib.contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        """Around a request for what is small. Raises BlobMissing, and Unavailable, at once where a bucket lets others
        wait already."""
        with contextlib.nullcontext() if self._folder else self._small.call(), _translated(key):
            yield

    def _open_spool(self) -> tuple[BinaryIO, Path]:
        with _room_is_missed():
            number, name = tempfile.mkstemp(dir=self._spool, suffix=".part")
        return os.fdopen(number, "wb", buffering=_PIECE_BYTES), Path(name)

    def _publish(self, spooled: Path, key: str) -> None:
        """Makes a finished, synced file the blob of that key, in one step."""
        if self._folder is None:
            import obstore

            with _translated(key):
                obstore.put(self._store, key, spooled, chunk_size=_PART_BYTES, max_concurrency=_PART_UPLOADS)
            spooled.unlink()
            return
        target = self._folder / key
        with _room_is_missed():
            _make_folder(target.parent)
            spooled.replace(target)
            _sync_folder(target.parent)


class BlobWriter:
    """Takes a blob's bytes as they come; one thread at a time, though not always the same one.

    Leaving the context without `commit` throws the bytes away.
    """

    def __init__(self, blobs: Blobs, key: str) -> None:
        self.key = key
        self.size = 0
        self._blobs = blobs
        self._digest = hashlib.sha256()
        self._file, self._path = blobs._open_spool()

    def __enter__(self) -> BlobWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()

    def write(self, data: Data) -> None:
        """Appends the bytes. Raises Unavailable where the disk is full."""
        with _room_is_missed():
            self.size += self._file.write(data)
        self._digest.update(data)

    def commit(self) -> BlobInfo:
        """Makes the blob visible and durable. Raises Unavailable, and may be tried again then."""
        if not self._file.closed:
            with _room_is_missed():
                self._file.flush()
                os.fsync(self._file.fileno())
            self._file.close()
        self._blobs._publish(self._path, self.key)
        return BlobInfo(self.size, self._digest.hexdigest())

    def abort(self) -> None:
        """Throws the bytes away. Harmless after a commit."""
        # A full disk may fail the last flush; the file goes anyway.
        with contextlib.suppress(OSError):
            self._file.close()
        self._path.unlink(missing_ok=True)


def check_key(key: str) -> str:
    """Returns the key: segments of A-Z a-z 0-9 . _ - joined by slashes, none beginning with a dot. Or ValueError."""
    segments = key.split("/")
    if len(key) > _MAX_KEY_CHARACTERS or not all(
        _SEGMENT.fullmatch(segment) and len(segment) <= _MAX_SEGMENT_CHARACTERS for segment in segments
    ):
        raise ValueError(f"not a blob key: {key[:100]!r}")
    return key


@contextlib.contextmanager
def _room_is_missed() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        _count("no_room")
        raise Unavailable("The server has no room for more files.", retry_after_s=60) from error


@contextlib.contextmanager
def _translated(key: str) -> Iterator[None]:
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError:
        raise BlobMissing(key) from None
    except BaseError as error:
        raise _away() from error


def _away() -> Unavailable:
    _count("away")
    return Unavailable("The blob store does not answer.", retry_after_s=30)


def _count(reason: str) -> None:
    from store import meters  # of a server alone: a command that needs blobs starts sooner without them

    meters.BLOBS_FAILED.labels(reason).inc()


def _pieces(key: str, stream: Iterable[Any]) -> Iterator[bytes]:
    with _translated(key):
        for piece in stream:
            yield bytes(piece)


def _make_folder(folder: Path) -> None:
    """Makes a folder and those above it, each synced into its parent."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
