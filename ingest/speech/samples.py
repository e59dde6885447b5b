"""Decoded sound on disk: one file of raw int16 at 16 kHz a channel, read and written part by part.

Nothing is mapped into memory: the pages of a mapped file count as the process's own.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SAMPLE_RATE = 16_000
MIN_FREE_BYTES = 10**9
"""What decoding leaves free on the disk."""

_SAMPLE_BYTES = 2


class Undecodable(Exception):
    """There is no sound in the file that could be read. The message says why."""


class NoRoom(Undecodable):
    """The disk has no room for the sound now: no fault of the file's, and it may pass."""


class Signal(Protocol):
    """A channel's samples at 16 kHz. A slice (of step 1) is an array, (samples,) int16; an ndarray fits too."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> npt.NDArray[np.int16]: ...


class Samples:
    """A decoded channel on disk. A slice reads that part, and only that, into an array of its own."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._length = file.stat().st_size // _SAMPLE_BYTES

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice, /) -> npt.NDArray[np.int16]:
        import numpy as np

        start, stop, step = part.indices(self._length)
        if step != 1:
            raise ValueError("samples are read one after another")
        if stop <= start:
            return np.zeros(0, np.int16)
        return np.fromfile(self._file, np.int16, count=stop - start, offset=start * _SAMPLE_BYTES)


def samples_of(file: Path) -> Samples:
    """A decoded channel. Raises FileNotFoundError."""
    return Samples(file)


def write_samples(file: Path, blocks: Iterator[npt.NDArray[np.int16]], size_bytes: int) -> None:
    """Writes a channel of about `size_bytes`. Raises NoRoom."""
    check_room(file.parent, size_bytes)
    with full_disk_is_told(), file.open("wb") as output:
        for block in blocks:
            output.write(block.tobytes())


def check_room(folder: Path, size_bytes: int) -> None:
    """Raises NoRoom unless MIN_FREE_BYTES stay free on the folder's disk after writing that much."""
    if shutil.disk_usage(folder).free - size_bytes < MIN_FREE_BYTES:
        raise NoRoom("the server's disk has no room for the decoded sound")


@contextmanager
def full_disk_is_told() -> Iterator[None]:
    """A disk, quota or file that is full becomes NoRoom: trying again at once would only fill it again."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise NoRoom("the server's disk has no room for the decoded sound") from error
