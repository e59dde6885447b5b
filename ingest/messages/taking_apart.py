"""A child's work with an export: takes it apart into files, which imports nothing of the server's."""

from __future__ import annotations

import errno
import pickle
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.messages.imported import ImportedConversation
from ingest.messages.reading import Unreadable

_FOUND = "conversations"
_TOLD_FRAMES = 6
# What the machine lacks is not the file's fault.
_OWN_TROUBLES = frozenset(
    {errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EPERM}
)


def take_apart(
    path: Path, folder: Path, own: Sequence[str], zone: str, declared_name: str, export_folder: Path | None
) -> int:
    """Writes the export's conversations and their files into the folder; how many conversations.

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


def taken_apart(folder: Path, count: int) -> Iterator[ImportedConversation]:
    """What `take_apart` left in the folder."""
    with (folder / _FOUND).open("rb") as found:
        for _ in range(count):
            conversation = pickle.load(found)  # noqa: S301 - our own child wrote it
            assert isinstance(conversation, ImportedConversation)
            yield conversation
