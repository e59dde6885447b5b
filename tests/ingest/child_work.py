"""What the tests of the child pool run in children: it must be importable by name there."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

from store.errors import InvalidRequest
from tests.support.held import held

SMALL_BYTES = 64 * 1024
_held: list[bytearray] = []


class Unpicklable(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__("only one argument is kept")
        self.lock = threading.Lock()


def add(first: int, second: int) -> int:
    return first + second


def hold_last(mib: int) -> float:
    """Of so much memory, in small pieces, keeps the last, which keeps glibc from giving the others back; the memory in
    MB that this child has then."""
    pieces = [bytearray(SMALL_BYTES) for _ in range(mib * 1024 * 1024 // SMALL_BYTES)]
    _held.append(pieces.pop())
    pieces.clear()
    return held().memory_mb


def pid() -> int:
    return os.getpid()


def work_on_core(core: int, seconds: float) -> float:
    """Takes so many seconds of that core; how long it took."""
    os.sched_setaffinity(0, [core])
    began_s = time.monotonic()
    until_s = time.process_time() + seconds
    while time.process_time() < until_s:
        pass
    return time.monotonic() - began_s


def echo(data: bytes) -> bytes:
    return data


def kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crash() -> None:
    ctypes.string_at(0)


def leave() -> None:
    sys.exit(3)


def refuse() -> None:
    raise InvalidRequest("the file holds no audio", code="no_audio", param="file", retry_after_s=7)


def fail() -> None:
    raise ValueError("wrong value")


def raise_unpicklable() -> None:
    raise Unpicklable("a", "b")


def return_unpicklable() -> object:
    return threading.Lock()


def take_memory(size: int) -> int:
    return len(bytearray(size))


def refuse_memory() -> None:
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


def import_by_halves() -> None:
    raise ImportError("failed to map segment from shared object")


def say_and_hang(path: str) -> None:
    """Writes the pids of this child and of a process of its own into the pipe at `path`, then never ends."""
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with Path(path).open("w") as pipe:
        pipe.write(f"{os.getpid()} {grandchild.pid}\n")
    threading.Event().wait()


def hang_in_native_code(path: str) -> None:
    with Path(path).open("w") as pipe:
        pipe.write(f"{os.getpid()}\n")
    ctypes.CDLL(None).pause()


def meet(path: str) -> bytes:
    """Tells the test that it runs and waits for its word: proves that children run at the same time."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(b"here")
        return connection.recv(16)


def surroundings() -> dict[str, object]:
    numbers = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    sockets = 0
    for number in numbers:
        try:
            sockets += stat.S_ISSOCK(os.fstat(number).st_mode)
        except OSError:
            continue  # the folder's own descriptor
    return {
        "sockets": sockets,
        "main_file": getattr(sys.modules["__main__"], "__file__", None),
        "nice": os.nice(0),
        "interrupt": signal.getsignal(signal.SIGINT),
        "group": os.getpgid(0),
        "pid": os.getpid(),
    }


def note(path: str, name: str) -> str:
    """Leaves a line in a file, so that the test sees in which order works were done."""
    with Path(path).open("a") as lines:
        lines.write(f"{name}\n")
    return name
