"""A wall clock that is set while a server runs."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SOURCE = Path(__file__).with_name("set_clock.c")


class WallClock:
    """Of the processes that have its `environment`, and of their children. `folder`: for its two files."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            pytest.skip("no C compiler: a process' clock cannot be set here")
        library = folder / "set_clock.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, _SOURCE, "-ldl"], check=True)
        self._moved = folder / "moved"
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "SET_CLOCK_FILE": str(self._moved)}

    def set(self, moved_s: int) -> None:
        """Moves it so far from the machine's own."""
        with self._moved.open("r+b" if self._moved.exists() else "wb") as file:
            file.write(moved_s.to_bytes(8, "little", signed=True))


@contextmanager
def clock_of_all() -> Iterator[WallClock]:
    """One that processes of other users read too, as PostgreSQL is."""
    with tempfile.TemporaryDirectory(prefix="parley-clock-") as folder:
        Path(folder).chmod(0o755)
        yield WallClock(Path(folder))
