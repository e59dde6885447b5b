"""One process at a time owns a folder: a lock file that the system releases when its holder dies."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

from rag.index import IndexLocked

# POSIX locks belong to a process, so a second owner within this one has to be found here.
_held: set[Path] = set()
_held_guard = threading.Lock()


class FolderLock:
    """Holds `folder/lock` from construction to `release`. Raises IndexLocked naming the process that has it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder.resolve() / "lock"
        with _held_guard:
            if self._path in _held:
                raise IndexLocked(f"The index in {folder} is already open in this process ({os.getpid()}).")
            # lockf, not flock: a forked child does not inherit it, so a child that outlives its parent keeps nothing.
            self._file = self._path.open("a+", encoding="ascii")
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self._file.seek(0)
                holder = self._file.read().strip() or "unknown"
                self._file.close()
                raise IndexLocked(
                    f"The index in {folder} is in use by process {holder}. Stop it first: one process owns the index."
                ) from error
            _held.add(self._path)
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        with _held_guard:
            if self._path in _held:
                _held.discard(self._path)
                self._file.close()
