"""Backups: everything that a restored server needs, copied while this one runs, each file with its checksum.

The order makes it whole: blobs, then the database as it is at one moment, then the blobs that came meanwhile. A blob is
stored before the row that names it and never changes, so each that the copied rows name is there. One that came after
the first look, and that its row exchanges for another, could go before the second: so those that the moment names are
copied at once, and where one is gone by then, another moment is taken. Pictures of the moment do change, and are not
copied. Neither is the index, whose files change under the server's hands and which is made again from the rest, nor are
the records of jobs, whose steps belong to another moment than the rows: what was in work begins again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import sqlalchemy as sa

from store import partials, postgresql_dumps, sqlite_copies
from store.account_exports import account_exports
from store.blobs import BlobMissing, Blobs, check_key
from store.camera_events import camera_events
from store.database import Connection, Database, now
from store.errors import InvalidRequest
from store.files import SECRET_FILE
from store.knowledge import documents
from store.media import media
from store.settings import Settings
from store.transcriptions import transcription_tasks

FORMAT = 1
MANIFEST = "manifest.json"
SQLITE, DUMP = "database.sqlite3", "database.dump"
OTHERS = (SECRET_FILE, "demo.json")
_SCRATCH = ".backing-up"
"""In the data dir: where the database is copied to on its way into a backup."""
_SCRATCH_OF_BEFORE = re.compile(r"backup-\d+\.partial(-journal|-wal|-shm)?")
_OF_BEFORE_IS_STALE_S = 3600
"""Since it was last written to: it has no lock."""
_BLOBS = "blobs/"
_PIECE_BYTES = 1024 * 1024
_ROWS_AT_ONCE = 10_000
_MOMENTS = 10
"""Of the database, that are looked at for one whose files are all there."""
_NAMING: tuple[sa.Column[Any], ...] = (
    documents.c.blob_key,
    media.c.blob_key,
    transcription_tasks.c.blob_key,
    account_exports.c.blob_key,
    camera_events.c.snapshot_key,
)
"""The columns that name blobs."""

_Lacking = tuple[sa.Column[Any], str, str]
"""A row that named a blob which is gone: the column, the row's id, the key."""


class BackupDamaged(InvalidRequest):
    """A file of the backup is missing, or is not what the manifest says."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    path: str
    size: int
    sha256: str


@dataclass(slots=True)
class Manifest:
    """`schema` is the revision of the database, `installation_id` names the secret key that goes with it."""

    made_at: str
    database: str
    schema: str
    installation_id: str
    files: list[FileEntry] = field(default_factory=list)
    format: int = FORMAT

    def text(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def of(cls, text: bytes) -> Manifest:
        """Raises BackupDamaged."""
        try:
            values = json.loads(text)
            files = [FileEntry(**each) for each in values.pop("files")]
            found = cls(**values, files=files)
        except (ValueError, TypeError, KeyError) as error:
            raise BackupDamaged("The backup's manifest cannot be read.") from error
        if found.format != FORMAT:
            raise BackupDamaged(f"The backup has format {found.format}, and this Parley reads {FORMAT}.")
        return found


class Target(Protocol):
    def add(self, path: str, size: int, pieces: Iterable[bytes]) -> str:
        """Stores a file; its SHA-256 in hex."""
        ...


class FolderTarget:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, path: str, size: int, pieces: Iterable[bytes]) -> str:
        place = self._folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with place.open("xb") as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
            file.flush()
            os.fsync(file.fileno())
        return digest.hexdigest()


class TarTarget:
    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive

    def add(self, path: str, size: int, pieces: Iterable[bytes]) -> str:
        reader = _Pieces(pieces)
        entry = tarfile.TarInfo(path)
        entry.size, entry.mode, entry.mtime = size, 0o600, int(now().timestamp())
        self._archive.addfile(entry, reader)  # type: ignore[arg-type]
        return reader.digest.hexdigest()


class _Pieces:
    """Reads as a file what comes in pieces, and sums it up."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        while len(self._rest) < size and (piece := next(self._pieces, b"")):
            self._rest += piece
        taken, self._rest = self._rest[:size], self._rest[size:]
        self.digest.update(taken)
        return taken


@contextmanager
def open_target(path: Path) -> Iterator[Target]:
    """A tar file where the path ends so, else a folder, which is made. It stands under its name once it is whole.

    Raises InvalidRequest where something is there already, and Conflict backup_runs while another backup to it runs."""
    _refuse_what_is_at(path)
    partial = path.with_name(path.name + ".partial")
    before = os.umask(0o077)
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        with partials.own(partial, busy=f"Another backup to {path} runs."):
            _refuse_what_is_at(path)  # another may have ended meanwhile
            if path.suffix == ".tar":
                with partial.open("xb") as file:
                    with tarfile.open(fileobj=file, mode="w|", format=tarfile.PAX_FORMAT) as archive:
                        yield TarTarget(archive)
                    file.flush()
                    os.fsync(file.fileno())
            else:
                partial.mkdir()
                yield FolderTarget(partial)
                if path.is_dir():
                    path.rmdir()
            partial.rename(path)
    finally:
        os.umask(before)


def _refuse_what_is_at(path: Path) -> None:
    if path.exists() and (path.is_file() or any(path.iterdir())):
        raise InvalidRequest(f"{path} is there already, and is not overwritten.")


def clear_scratch(data_dir: Path) -> None:
    """Removes the copies of the database that backups which were killed left in the data folder, also those of
    releases that gave each a name of its own. They hold what is deleted later."""
    partials.clear(data_dir.absolute() / _SCRATCH)
    for path in data_dir.absolute().iterdir():
        if _SCRATCH_OF_BEFORE.fullmatch(path.name):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - _OF_BEFORE_IS_STALE_S:
                    path.unlink()


def back_up(
    settings: Settings, database: Database, target: Target, *, schema: str, installation_id: str
) -> tuple[Manifest, int]:
    """Copies everything; the manifest, which is stored last, and how many blobs are missing, being replaced too
    quickly. Raises Conflict backup_runs while another backup of the data folder runs."""
    clear_scratch(settings.data_dir)
    scratch = settings.data_dir.absolute() / _SCRATCH
    with partials.own(scratch, busy=f"Another backup of {settings.data_dir} runs."):
        scratch.mkdir(mode=0o700)
        return _copy_all(settings, database, target, scratch, schema=schema, installation_id=installation_id)


def _copy_all(
    settings: Settings, database: Database, target: Target, scratch: Path, *, schema: str, installation_id: str
) -> tuple[Manifest, int]:
    blobs = Blobs(settings)
    kind = "sqlite" if database.is_sqlite else "postgresql"
    manifest = Manifest(now().isoformat(timespec="seconds"), kind, schema, installation_id)
    copied = _Copied(blobs, target, manifest)
    copied.add_all()
    name = SQLITE if database.is_sqlite else DUMP
    missing = _copy_moment(database, scratch / name, copied)
    _add_file(target, manifest, name, scratch / name)
    (scratch / name).unlink()  # it takes as much room as the database
    for name in OTHERS:
        if (settings.data_dir / name).is_file():
            _add_file(target, manifest, name, settings.data_dir / name)
    copied.add_all()
    text = manifest.text()
    target.add(MANIFEST, len(text), [text])
    return manifest, missing


class _Copied:
    """The blobs that are in the backup."""

    def __init__(self, blobs: Blobs, target: Target, manifest: Manifest) -> None:
        self._blobs, self._target, self._manifest = blobs, target, manifest
        self._keys: set[str] = set()

    def add_all(self) -> None:
        """Those that are there and are not in it yet."""
        for entry in self._blobs.list_lasting():
            if entry.key not in self._keys:
                self._add(entry.key)

    def add_named(self, connection: Connection) -> list[_Lacking]:
        """Those that rows name, of whichever schema, and that are not in it yet; the rows whose blob is not there. Left
        out are those whose sound is over its time, which is what a size of 0 says."""
        inspector = sa.inspect(connection)
        tables = set(inspector.get_table_names())
        lacking: list[_Lacking] = []
        for column in (each for each in _NAMING if each.table.name in tables):
            table = column.table
            query = sa.select(table.c.id, column).where(column.is_not(None))
            if "size_bytes" in {each["name"] for each in inspector.get_columns(table.name)}:
                query = query.where(table.c.size_bytes.is_distinct_from(0))
            for row_id, key in connection.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE}):
                if key not in self._keys and not self._add(key):
                    lacking.append((column, row_id, key))
        return lacking

    def _add(self, key: str) -> bool:
        """False where it is not there: it was deleted meanwhile, or is to come."""
        try:
            size = self._blobs.size(key)
            pieces = self._blobs.stream(key)
        except BlobMissing:
            return False
        path = _BLOBS + key
        self._manifest.files.append(FileEntry(path, size, self._target.add(path, size, pieces)))
        self._keys.add(key)
        return True


def _add_file(target: Target, manifest: Manifest, path: str, source: Path) -> None:
    with source.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        manifest.files.append(FileEntry(path, size, target.add(path, size, _pieces_of(file))))


def _pieces_of(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(_PIECE_BYTES), b"")


def _copy_moment(database: Database, path: Path, copied: _Copied) -> int:
    """The database as it is at one moment, with the blobs that it names; how many of these are missing, since their
    rows had others before they could be copied."""
    begin = sqlite_copies.moment if database.is_sqlite else postgresql_dumps.moment
    missing = 0
    for left in reversed(range(_MOMENTS)):
        with begin(database, path) as moment:
            missing = _exchanged(database, copied.add_named(moment.connection))
            if not missing or not left:
                moment.keep()
                break
    return missing


def _exchanged(database: Database, lacking: list[_Lacking]) -> int:
    """How many of the rows name another blob by now. A row that is gone took its blob along, and one whose blob is to
    come names the same one. The picture of a camera's event does not count: better ones follow for seconds, and no
    moment is without some of those."""
    with database.read() as connection:
        return sum(
            connection.execute(
                sa.select(sa.true()).where(column.table.c.id == row_id, column.is_distinct_from(key))
            ).first()
            is not None
            for column, row_id, key in lacking
            if column.table is not camera_events
        )


# Restoring


def unpack(path: Path, folder: Path) -> Manifest:
    """Copies a backup into an empty folder and checks every file. Raises BackupDamaged."""
    entries = _entries_of_folder(path) if path.is_dir() else _entries_of_tar(path)
    found: dict[str, FileEntry] = {}
    target = FolderTarget(folder)
    try:
        for name, size, pieces in entries:
            check_name(name)
            if name in found:
                raise BackupDamaged(f"The backup has {name} twice.")
            found[name] = FileEntry(name, size, target.add(name, size, pieces))
    except (tarfile.TarError, EOFError) as error:
        raise BackupDamaged(f"{path} cannot be read to its end.") from error
    if MANIFEST not in found:
        raise BackupDamaged("The backup has no manifest: it was not finished, or is no backup.")
    manifest = Manifest.of((folder / MANIFEST).read_bytes())
    listed = {entry.path: entry for entry in manifest.files}
    for name in sorted(listed.keys() | found.keys() - {MANIFEST}):
        if found.get(name) != listed.get(name):
            raise BackupDamaged(f"{name} is missing from the backup, or is not what its manifest says.")
    if (SQLITE if manifest.database == "sqlite" else DUMP) not in listed:
        raise BackupDamaged("The backup has no database.")
    return manifest


def check_name(name: str) -> None:
    """Raises BackupDamaged for a name that no backup has: it might lead anywhere."""
    if name in (MANIFEST, SQLITE, DUMP, *OTHERS):
        return
    try:
        if not name.startswith(_BLOBS):
            raise ValueError
        check_key(name.removeprefix(_BLOBS))
    except ValueError:
        raise BackupDamaged(f"{name[:200]!r} is no file of a backup.") from None


def _entries_of_folder(folder: Path) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise BackupDamaged(f"{path} is a link.")
        if path.is_file():
            with path.open("rb") as file:
                yield path.relative_to(folder).as_posix(), path.stat().st_size, _pieces_of(file)


def _entries_of_tar(path: Path) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    with tarfile.open(path, "r|") as archive:
        for member in archive:
            if not member.isfile():
                raise BackupDamaged(f"{member.name[:200]!r} is no plain file.")
            file = archive.extractfile(member)
            assert file is not None
            yield member.name, member.size, _pieces_of(file)  # type: ignore[arg-type]


def put_database(database: Database, folder: Path, *, replace: bool) -> None:
    """Puts the unpacked database in its place in one step, where the caller saw to it that nothing is lost. What
    workers noted of themselves goes: they are others."""
    database.reconnect()  # what is open is of the file that goes
    if not database.is_sqlite:
        postgresql_dumps.restore(database, folder / DUMP, replace=replace)
        return
    sqlite_copies.restore(database, folder / SQLITE)


def put_files(settings: Settings, folder: Path) -> None:
    """The secret key and its like; those that the backup lacks go."""
    for name in OTHERS:
        place = settings.data_dir / name
        if (folder / name).is_file():
            (folder / name).chmod(0o600)
            (folder / name).replace(place)
        else:
            place.unlink(missing_ok=True)


def put_blobs(settings: Settings, folder: Path) -> None:
    blobs = Blobs(settings)
    root = folder / "blobs"
    for path in sorted(root.rglob("*")) if root.is_dir() else []:
        if path.is_file():
            blobs.put_file(path.relative_to(root).as_posix(), path)
            path.unlink()


def delete_other_blobs(settings: Settings, manifest: Manifest) -> None:
    """All that the backup does not have."""
    blobs = Blobs(settings)
    kept = {entry.path for entry in manifest.files}
    for entry in list(blobs.list_all()):
        if _BLOBS + entry.key not in kept:
            blobs.delete(entry.key)


def has_tables(database: Database) -> bool:
    with database.read() as connection:
        return bool(sa.inspect(connection).get_table_names())
