"""Files of messages that are imported: stored with their conversation, or uploaded before and named by it."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import structlog

from ingest import announced_blobs
from ingest.announced_blobs import KEPT_FOR
from ingest.media_types import HEAD_BYTES, UNKNOWN, media_type
from ingest.messages.imported import ImportedConversation, ImportedMedia, ImportedTurn
from ingest.timelines import FOLLOW_S, follow
from ingest.workshop import Workshop, delete_unless_recorded, workshop
from store import index_work, media
from store.blobs import BlobInfo, Blobs
from store.database import Connection, Database, now
from store.errors import ParleyError
from store.ids import new_id
from store.index_work import DELETE_BLOB, IndexWork
from store.media import Media
from store.settings import Settings

log = structlog.get_logger(__name__)

UNNAMED_FOR = timedelta(days=1)
_LOCK = "lock"
_NAME_CHARACTERS = 300


class UnusableMedia(Exception):
    """A ref that names no uploaded file of this account, or one that another communication has."""

    def __init__(self, ref: str, message: str) -> None:
        super().__init__(message)
        self.ref = ref
        self.message = message


def blob_key(tenant_id: str, media_id: str) -> str:
    return f"{tenant_id}/media/{media_id}"


def uploaded_of(tenant_id: str, connection: Connection, conversation: ImportedConversation) -> dict[str, Media]:
    """The uploaded files that the conversation names. Raises UnusableMedia."""
    refs = list(dict.fromkeys(file.ref for turn in conversation.turns for file in turn.media if file.ref is not None))
    found = media.get_many(tenant_id, connection, refs) if refs else {}
    for ref in refs:
        if ref not in found:
            raise UnusableMedia(ref, "there is no such media")
    return found


class Files:
    """The files of one import. Those that it put into the blob store and that no row came to name go when it ends, or
    a day later where it was killed: each is noted before it is stored."""

    def __init__(self, database: Database, blobs: Blobs, tenant_id: str, uploaded: Mapping[str, Media]) -> None:
        self._database = database
        self._blobs = blobs
        self._tenant_id = tenant_id
        self._uploaded = uploaded
        self._noted: dict[str, str] = {}  # blob keys by media id
        self._stored: dict[Path, dict[str, Any]] = {}  # what a row of it will have
        self._rows: dict[Path, Media] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._noted:
            return
        # A commit whose acknowledgement was lost is a commit: without an answer nothing is deleted.
        with suppress(ParleyError):
            with self._database.read() as connection:
                recorded = media.get_many(self._tenant_id, connection, list(self._noted))
            left = [key for media_id, key in self._noted.items() if media_id not in recorded]
            if left:
                announced_blobs.discard(self._database, self._blobs, self._tenant_id, *left)

    def put(self, turns: Sequence[ImportedTurn]) -> None:
        """Stores what the turns bring along; the same file twice once."""
        new: dict[Path, ImportedMedia] = {}
        for turn in turns:
            for file in turn.media:
                if file.path is not None and file.path not in self._stored:
                    new.setdefault(file.path, file)
        if not new:
            return
        ids = [new_id() for _ in new]
        keys = {media_id: blob_key(self._tenant_id, media_id) for media_id in ids}
        announced_blobs.announce(self._database, self._tenant_id, *keys.values())
        self._noted |= keys
        for media_id, (path, file) in zip(ids, new.items(), strict=True):
            self._stored[path] = self._put(media_id, file, path)

    def _put(self, media_id: str, file: ImportedMedia, path: Path) -> dict[str, Any]:
        with path.open("rb") as opened:
            head = opened.read(HEAD_BYTES)
        name = (file.name or "")[-_NAME_CHARACTERS:]
        kind, mime = media_type(head, name)
        key = self._noted[media_id]
        info = self._blobs.put_file(key, path)
        return {
            "media_id": media_id,
            "type": kind,
            "mime": mime,
            "name": name,
            "size_bytes": info.size,
            "blob_key": key,
            "sha256": info.sha256,
        }

    def attach(self, connection: Connection, turn: ImportedTurn, communication_id: str) -> list[dict[str, Any]]:
        """The turn's files as its content item has them, which are the communication's from now on. Raises
        UnusableMedia for one that another has."""
        return [self._attach(connection, file, communication_id) for file in turn.media]

    def _attach(self, connection: Connection, file: ImportedMedia, communication_id: str) -> dict[str, Any]:
        if file.ref is not None:
            row = self._uploaded[file.ref]
            if not media.attach(self._tenant_id, connection, [file.ref], communication_id):
                there = media.get(self._tenant_id, connection, file.ref)
                if there is None or there.communication_id != communication_id:
                    raise UnusableMedia(file.ref, "belongs to another communication")
            return _item(row, file)
        if file.path is None:
            # The export names the file and does not hold it.
            mime = file.mime or UNKNOWN
            return {"type": file.type, "ref": "", "mime": mime, "name": file.name, "size_bytes": file.size_bytes}
        if file.path not in self._rows:
            values = self._stored[file.path]
            self._rows[file.path] = media.create(
                self._tenant_id, connection, communication_id=communication_id, **values
            )
            announced_blobs.take_in(self._tenant_id, connection, values["blob_key"])
        return _item(self._rows[file.path], file)


def _item(row: Media, file: ImportedMedia) -> dict[str, Any]:
    """Of an uploaded file the message says what it is and how it is called there; else its content does."""
    return {
        "type": row.type if file.ref is None else file.type,
        "ref": row.id,
        "mime": row.mime,
        "name": file.name or row.name or None,
        "size_bytes": row.size_bytes,
    }


def add_upload(
    house: Workshop,
    tenant_id: str,
    *,
    media_id: str,
    blob: BlobInfo,
    name: str,
    also: Callable[[Connection, Media], None],
) -> Media:
    """The record of an uploaded file, whose blob was announced and is there under `blob_key`; `also` runs in the same
    transaction. Where it cannot be written the blob goes."""
    key = blob_key(tenant_id, media_id)
    try:
        head = b"".join(house.blobs.stream(key, 0, min(blob.size, HEAD_BYTES)))
        kind, mime = media_type(head, name)
        with house.database.write() as connection:
            row = media.create(
                tenant_id,
                connection,
                media_id=media_id,
                type=kind,
                mime=mime,
                name=name[-_NAME_CHARACTERS:],
                size_bytes=blob.size,
                blob_key=key,
                sha256=blob.sha256,
            )
            announced_blobs.take_in(tenant_id, connection, key)
            also(connection, row)
    # Whatever kept the row from being written, the blob belongs to none.
    except BaseException:
        delete_unless_recorded(house, key, lambda connection: media.get(tenant_id, connection, media_id) is not None)
        raise
    return row


def forget(tenant_id: str, connection: Connection, communication_ids: Sequence[str]) -> list[IndexWork]:
    """Deletes the files of communications that are deleted in this transaction: what is then left to do with blobs."""
    return _delete_blobs(tenant_id, connection, media.delete_of(tenant_id, connection, communication_ids))


def _delete_blobs(tenant_id: str, connection: Connection, rows: Sequence[Media]) -> list[IndexWork]:
    return index_work.add_many(
        tenant_id, connection, action=DELETE_BLOB, blob_keys={row.id: row.blob_key for row in rows}
    )


def work_folder(settings: Settings) -> Path:
    """Where exports are taken apart, by the server and by the command line."""
    return settings.data_dir.absolute() / "imports"


@contextmanager
def own_folder(settings: Settings) -> Iterator[Path]:
    """A folder for one import, which goes with it. While its process lives a lock in it keeps every sweep away."""
    parent = work_folder(settings)
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as name, (Path(name) / _LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name)


def _is_left(folder: Path) -> bool:
    """Whether an import left it behind: old, and held by nobody."""
    if folder.stat().st_mtime > time.time() - KEPT_FOR.total_seconds():
        return False
    try:
        with (folder / _LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False
    return True


def sweep() -> None:
    """Removes what was uploaded a day ago and no message names."""
    house = workshop()
    until_s = time.monotonic() + FOLLOW_S
    with house.database.read() as connection:
        unnamed = media.list_unattached(connection, before=now() - UNNAMED_FOR)
    for tenant_id, media_id in unnamed:
        with house.database.write() as connection:
            rows = media.delete_unattached(tenant_id, connection, [media_id])
            todo = _delete_blobs(tenant_id, connection, rows)
        follow(house, todo, until_s=until_s)


def sweep_folders() -> None:
    """Removes what imports left on this machine's disk that a crash ended."""
    folder = work_folder(workshop().settings)
    for left in folder.iterdir() if folder.is_dir() else ():
        with suppress(OSError):
            if _is_left(left):
                shutil.rmtree(left, ignore_errors=True)
