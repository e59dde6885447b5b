"""What stands beside its place until it is whole: one process at a time is at it, and one that is killed leaves it to
the next.

The lock is a file of its own beside it, since NFS locks no folders.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from store.errors import Conflict

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
"""How a file system says that it has none."""


@contextmanager
def own(path: Path, *, busy: str) -> Iterator[None]:
    """Nothing is at the path, nor does another process put anything there meanwhile; what is there in the end goes.

    Raises Conflict backup_runs, which says `busy`, while another process is at it."""
    lock = path.with_name(path.name + ".lock")
    held = _lock(lock, busy)
    try:
        _remove(path)
        try:
            yield
        finally:
            _remove(path)
    finally:
        lock.unlink(missing_ok=True)  # while it is held: who opened it before sees that it is not the same any more
        os.close(held)


def clear(path: Path) -> None:
    """Removes what a process that was killed left there; nothing while one is at it, nor what is another user's."""
    if not any(each.exists() for each in (path, path.with_name(path.name + ".lock"))):
        return
    try:
        with own(path, busy=""):
            pass
    except (Conflict, PermissionError):
        return


def _lock(path: Path, busy: str) -> int:
    """The descriptor of the file, which the system unlocks when its holder ends, however it ends."""
    while True:
        number, is_made = _open(path)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Without locks who makes the file has it, and a kill leaves it there.
            if error.errno not in _NO_LOCKS or not is_made:
                os.close(number)
            if isinstance(error, BlockingIOError):
                raise Conflict(busy, code="backup_runs") from None
            if error.errno not in _NO_LOCKS:
                raise
            if not is_made:
                says = f"{busy} Or one was killed, which nothing tells on this disk: remove {path} then."
                raise Conflict(says, code="backup_runs") from None
        if _is_at(number, path):
            return number
        os.close(number)  # its holder has just ended


def _open(path: Path) -> tuple[int, bool]:
    """A descriptor, and whether it is of a file that was not there."""
    while True:
        try:
            return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CREAT | os.O_EXCL, 0o600), True
        except FileExistsError:
            pass
        try:
            return os.open(path, os.O_RDWR | os.O_NOFOLLOW), False
        except FileNotFoundError:
            continue  # its holder has just ended


def _is_at(number: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(number), path.lstat())
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
