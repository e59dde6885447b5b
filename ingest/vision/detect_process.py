"""The server's side of a detector's child process: started as `ingest.children` starts its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from ingest.child_main import receive, send
from ingest.children import ending_of
from ingest.vision.detect_messages import Garbled, parse_answer
from ingest.vision.yolo import Floats

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ingest.vision.detector_child import serve_detector; "
    "serve_detector(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])"
)


class Gone(Exception):
    """The child answers no more; the message says why. It has to be stopped."""


class DetectorProcess:
    """One child. `opened`: the models that it has in memory. Only `kill` may be called from another thread."""

    def __init__(self, settings: Mapping[str, Any], memory_number: int) -> None:
        """`settings` as `serve_detector` takes them. Raises OSError."""
        self.opened: set[str] = set()
        self._socket, theirs = socket.socketpair()
        try:
            with theirs:
                numbers = (theirs.fileno(), memory_number)
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START, json.dumps(sys.path), *map(str, numbers), json.dumps(settings)],
                    pass_fds=numbers,
                    stdin=subprocess.DEVNULL,
                    stdout=2,  # the server's own output may be a protocol or a table
                    process_group=0,  # so that Ctrl-C reaches the server alone
                )
        # Whatever kept the process from starting.
        except BaseException:
            self._socket.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, message: bytes, timeout_s: float) -> tuple[dict[str, Any], list[Floats]]:
        """Sends a question and waits for its answer. Raises Gone, also after `timeout_s`."""
        deadline_s = time.monotonic() + timeout_s
        try:
            self._socket.settimeout(timeout_s)
            send(self._socket, message)
            answered = receive(self._socket, deadline_s)
        except TimeoutError:
            raise Gone(f"it did not answer within {timeout_s:g} s") from None
        except OSError:
            answered = None
        if answered is None:
            raise Gone(ending_of(self._process))
        try:
            return parse_answer(answered)
        except Garbled as error:
            raise Gone(f"it answered nonsense ({error})") from error

    def kill(self) -> None:
        """Returns at once."""
        if not self.has_ended:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Kills the child, waits for its end and frees what it held."""
        self.kill()
        self._process.wait()
        self._socket.close()
