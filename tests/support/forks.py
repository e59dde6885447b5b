"""A process that has imported what `parley` needs, and forks for each server that a test starts and each command.

To import it takes a core two seconds, and the suite starts hundreds of them. What is forked is a process of its own in
all that a test looks at: environment, signals, open files, ends. A bench measures programs that were started as users
start them, and so do the tests of the demos, of the wheel, and of several hosts.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypedDict

_REQUEST_BYTES, _ANSWER_BYTES, _ENDS_AT_ONCE = 128 * 1024, 32, 4096
_LOCK = threading.Lock()
_FIRST_OF_OTHERS = 3
"""The first descriptor that is neither input, output nor that of errors."""
_STATUS_BYTES = 4


class _Request(TypedDict):
    arguments: list[str]
    environment: dict[str, str]
    cores: list[int]


class Forked:
    """As much of `subprocess.Popen` as tests ask for."""

    def __init__(self, pid: int, handle: int, status: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._handle, self._status = handle, status

    def poll(self) -> int | None:
        """As that of Popen."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._read_status()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """As that of Popen. Raises TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("parley", timeout or 0.0)
            self._read_status()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """As that of Popen: nothing happens where it has ended."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read_status(self) -> None:
        told = os.read(self._status, _STATUS_BYTES)
        assert len(told) == _STATUS_BYTES, "the process that forks has ended"
        self.returncode = int.from_bytes(told, "little", signed=True)
        for number in (self._handle, self._status):
            os.close(number)


def run_parley(
    arguments: Sequence[str], environment: Mapping[str, str], timeout_s: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """What `subprocess.run` gives of `parley` with those arguments. Raises TimeoutExpired."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = fork_parley(arguments, environment, output.fileno(), errors.fileno())
        try:
            status = process.wait(timeout_s)
        finally:
            process.kill()
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, status, output.read(), errors.read())


def fork_parley(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    output: int,
    errors: int,
    cores: Sequence[int] | None = None,
) -> Forked:
    """`parley` with those arguments in a process of its own, which writes to the descriptors `output` and `errors`.
    `cores`: the only ones that it and its children may have."""
    request = _Request(arguments=list(arguments), environment=dict(environment), cores=list(cores or ()))
    told, tells = os.pipe()
    try:
        with _LOCK:
            socket.send_fds(_asked(), [json.dumps(request).encode()], [output, errors, tells])
            answer, handles, _, _ = socket.recv_fds(_asked(), _ANSWER_BYTES, 1)
    finally:
        os.close(tells)
    assert handles, "the process that forks has ended"
    os.set_inheritable(handles[0], False)
    return Forked(int(answer), handles[0], told)


@cache
def _asked() -> socket.socket:
    """A way to the process that forks, which ends with the one that asks."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        number = theirs.fileno()
        command = [sys.executable, "-m", __name__, str(number)]
        forks = subprocess.Popen(command, pass_fds=(number,), stdin=subprocess.DEVNULL)
    atexit.register(forks.wait)
    atexit.register(ours.close)  # before it is waited for
    return ours


def _wait_for_requests(asked: socket.socket) -> tuple[_Request, int, int] | None:
    """Forks for each request. Returns in the process that was forked, with the request and where it is to write; in the
    other with None, when nobody can ask any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ended, ends = socket.socketpair()
    tells: dict[int, int] = {}
    with asked, ended, ends:
        ends.setblocking(False)
        signal.set_wakeup_fd(ends.fileno(), warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([asked, ended], [], [])
            if ended in ready:
                ended.recv(_ENDS_AT_ONCE)
                _tell_ends(tells)
            if asked in ready:
                request, given, _, _ = socket.recv_fds(asked, _REQUEST_BYTES, 3)
                if not request:
                    return None
                output, errors, tell = given
                pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    return json.loads(request), output, errors
                tells[pid] = tell
                handle = os.pidfd_open(pid)
                socket.send_fds(asked, [str(pid).encode()], [handle])
                for number in (output, errors, handle):
                    os.close(number)


def _tell_ends(tells: dict[int, int]) -> None:
    for pid in list(tells):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            tell = tells.pop(pid)
            os.write(tell, os.waitstatus_to_exitcode(status).to_bytes(_STATUS_BYTES, "little", signed=True))
            os.close(tell)


def _become(request: _Request, output: int, errors: int) -> None:
    """Leaves nothing of the process that forked but what it has imported."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.closerange(_FIRST_OF_OTHERS, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    if request["cores"]:
        os.sched_setaffinity(0, request["cores"])
    sys.argv = [sys.argv[0], *request["arguments"]]


def _share_encoder() -> None:
    """All that are forked have one in memory: to load it takes a core half a second each."""
    from rag import embedding, multilingual_encoder
    from store.settings import Settings

    spec = embedding.choose_embedder(Settings(_env_file=None))  # type: ignore[call-arg]
    if spec is not None and spec.engine == "multilingual-encoder":
        encoder_of = cache(multilingual_encoder.MultilingualEncoder)
        encoder_of(Path(spec.source))
        vars(multilingual_encoder)["MultilingualEncoder"] = encoder_of


def _main() -> None:
    from api import command_line, server  # noqa: F401 - what `serve` imports, too

    _share_encoder()
    gc.freeze()
    asked = _wait_for_requests(socket.socket(fileno=int(sys.argv[1])))
    if asked is not None:
        _become(*asked)
        command_line.main()


if __name__ == "__main__":
    _main()
