"""Exports of mail boxes and chats: taken apart in a child process, then stored conversation by conversation.

The child leaves what it found in a file, so that neither side has a whole mail box in memory.
"""

from __future__ import annotations

import errno
import pickle
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import structlog

from ingest.import_media import own_folder
from ingest.imports import Imported, Wishes, record
from ingest.messages.imported import ImportedConversation
from ingest.messages.reading import Unreadable
from store import accounts
from store.blobs import Blobs
from store.database import Database
from store.settings import Settings

log = structlog.get_logger(__name__)

_FOUND = "conversations"
_TOLD_FRAMES = 6
# What the machine lacks is not the file's fault.
_OWN_TROUBLES = frozenset(
    {errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EPERM}
)

Run = Callable[..., int]
"""Runs a function with its arguments in a child process, as `ChildPool.run` does."""


def take_apart(
    path: Path, folder: Path, own: Sequence[str], zone: str, declared_name: str, export_folder: Path | None
) -> int:
    """The child's work: writes the export's conversations and their files into the folder; how many conversations.

    Raises Unreadable, also where a reader fails in a way that nobody thought of, and OSError where the machine lacks
    something.
    """
    try:
        return _take_apart(path, folder, own, zone, declared_name, export_folder)
    except (Unreadable, MemoryError):
        raise
    # Files come from anywhere: what a reader stumbles over is one file's trouble.
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _OWN_TROUBLES:
            raise
        raise Unreadable("It cannot be read.", fault=_where(error)) from None


def _where(error: BaseException) -> str:
    """For the log: its message may hold what people wrote, so that is left out."""
    frames = traceback.extract_tb(error.__traceback__)[-_TOLD_FRAMES:]
    places = (f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__} at {' < '.join(places)}"


def _take_apart(
    path: Path, folder: Path, own: Sequence[str], zone: str, declared_name: str, export_folder: Path | None
) -> int:
    from ingest.messages.detect import read_export

    count = 0
    with (folder / _FOUND).open("wb") as found:
        for conversation in read_export(
            path,
            folder / "media",
            own_addresses=own,
            own_names=own,
            zone=zone,
            declared_name=declared_name,
            export_folder=export_folder,
        ):
            if any(turn.text or turn.media for turn in conversation.turns):
                pickle.dump(conversation, found, protocol=pickle.HIGHEST_PROTOCOL)
                count += 1
    return count


def _taken_apart(folder: Path, count: int) -> Iterator[ImportedConversation]:
    with (folder / _FOUND).open("rb") as found:
        for _ in range(count):
            conversation = pickle.load(found)  # noqa: S301 - our own child wrote it
            assert isinstance(conversation, ImportedConversation)
            yield conversation


def import_file(
    database: Database,
    blobs: Blobs,
    settings: Settings,
    tenant_id: str,
    run: Run,
    path: Path,
    *,
    file_name: str,
    wishes: Wishes,
    own: Sequence[str] = (),
    export_folder: Path | None = None,
    stored: Callable[[Imported, ImportedConversation], None] = lambda _found, _conversation: None,
) -> list[Imported]:
    """Imports an export: what became of each of its conversations. `own` are addresses, domains and names of the
    company; files beside an unpacked export are found in `export_folder`. `stored` is told of each once it is
    committed. Importing it again goes on where it was broken off.

    Raises Unreadable, the child pool's errors, and NotPermitted where the balance cannot bear a
    conversation's analysis: those before it are stored.
    """
    with database.read() as connection:
        tenant = accounts.get_tenant(tenant_id, connection)
    assert tenant is not None, "a caller has an account"
    results = []
    with own_folder(settings) as folder:
        try:
            count = run(take_apart, path, folder, tuple(own), tenant.time_zone, file_name, export_folder)
        except Unreadable as error:
            if error.fault:
                log.error("a reader of exports failed", fault=error.fault)
            raise
        for conversation in _taken_apart(folder, count):
            found = record(database, blobs, settings, tenant_id, conversation, wishes)
            stored(found, conversation)
            results.append(found)
    return results


def own_of(text: str) -> tuple[str, ...]:
    """Of a comma-separated list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
