"""A real RTSP server on loopback that can be hurt: killed, frozen, restarted otherwise, or heard through a bad line.

Its pictures carry their number and the clock in their upper left corner, so that a test can tell which one it got, when
it was made, and whether it is whole.
"""

from __future__ import annotations

import binascii
import contextlib
import os
import random
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PROGRAM = Path(__file__).with_name("rtsp_program.py")
PYTHON = "/usr/bin/python3"
START_S = 60.0

# As tests.support.rtsp_program draws it; that one runs where this module cannot be imported.
_BLOCK, _COLUMNS, _ROWS = 16, 20, 4

_ELEMENTS = ("appsrc", "x264enc", "rtph264pay", "x265enc", "rtph265pay", "jpegenc", "rtpjpegpay", "alawenc")
_LOOKS = (
    "import gi; gi.require_version('Gst', '1.0'); gi.require_version('GstRtspServer', '1.0'); "
    "from gi.repository import Gst, GstRtspServer; Gst.init(None); "
    f"raise SystemExit(not all(map(Gst.ElementFactory.find, {_ELEMENTS})))"
)


@cache
def is_installed() -> bool:
    try:
        return subprocess.run([PYTHON, "-c", _LOOKS], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def need_server() -> None:
    if not is_installed():
        pytest.skip("GStreamer's RTSP server is not installed (scripts/install-system-packages)")


@dataclass(frozen=True)
class Stamp:
    """What a picture says of itself: its number, and the monotonic clock when it was drawn."""

    number: int
    clock_s: float


def read_stamp(image: np.ndarray[Any, np.dtype[np.uint8]]) -> Stamp | None:
    """The stamp of an RGB picture; None where it cannot be read, as in a damaged one."""
    middle = _BLOCK // 2
    blocks = image[middle : _ROWS * _BLOCK : _BLOCK, middle : _COLUMNS * _BLOCK : _BLOCK, 1] > 127
    raw = np.packbits(blocks.ravel()).tobytes()
    if binascii.crc_hqx(raw[:8], 0xFFFF) != int.from_bytes(raw[8:], "big"):
        return None
    return Stamp(int.from_bytes(raw[:3], "big"), int.from_bytes(raw[3:8], "big") / 1000)


class RtspServer:
    """The server in a process of its own. Options are those of `rtsp_program`: width=640, codec="h265", user="u"."""

    def __init__(self, **options: object) -> None:
        self.port = 0
        self._host = str(options.get("host", "127.0.0.1"))
        self._options = options
        self._process: subprocess.Popen[str] | None = None

    def start(self, **options: object) -> RtspServer:
        """Starts it, on the same port as before; `options` change how it was."""
        self._options |= options
        line = [PYTHON, str(PROGRAM), "--port", str(self.port)]
        for name, value in self._options.items():
            line += [f"--{name.replace('_', '-')}"] if value is True else [f"--{name.replace('_', '-')}", str(value)]
        self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], START_S)
        said = self._process.stdout.readline().split() if ready else []
        assert said[:1] == ["ready"], "the RTSP server did not start"
        self.port = int(said[1])
        return self

    def url(self, path: str = "/camera", credentials: str = "", port: int | None = None) -> str:
        return f"rtsp://{credentials}{self._host}:{port or self.port}{path}"

    def show(self, first: int, last: int) -> None:
        """Of a server with `on_cue`: the clip's pictures from `first` up to `last`, where it stands still then."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{first} {last}\n")
        self._process.stdin.flush()

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is None:
            return
        self._signal(signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process = None

    def _signal(self, number: int) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)


@contextlib.contextmanager
def running_server(**options: object) -> Iterator[RtspServer]:
    need_server()
    server = RtspServer(**options)
    try:
        yield server.start()
    finally:
        server.kill()


@contextlib.contextmanager
def silent_server(port: int = 0) -> Iterator[int]:
    """The port of a server that takes every connection and never says a word. `port`: which to take."""
    with socket.create_server(("127.0.0.1", port), backlog=100) as listening:
        held: list[socket.socket] = []

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    held.append(listening.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield listening.getsockname()[1]
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            for connection in held:
                connection.close()


Damage = Callable[[bytes], bytes | None]
"""What becomes of an RTP packet on the line; None: it is lost."""


class Relay:
    """A line to a server, over which RTP inside TCP goes through `damage` while that is set. Counts what it changed."""

    def __init__(self, port: int) -> None:
        self.damage: Damage | None = None
        self.changed = 0
        self._target = port
        self._open: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends every connection; new ones are taken."""
        while self._open:
            with contextlib.suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self._open.append(near)
                far = socket.create_connection(("127.0.0.1", self._target))
                for work in (self._forward, self._back):
                    threading.Thread(target=work, args=(near, far), daemon=True).start()

    def _forward(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError), far:
            while data := near.recv(65536):
                far.sendall(data)
            far.shutdown(socket.SHUT_RDWR)

    def _back(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError), near, far.makefile("rb") as given:
            while begin := given.read(1):
                near.sendall(self._interleaved(given) if begin == b"$" else self._answer(begin, given))

    def _interleaved(self, given: Any) -> bytes:
        head = given.read(3)
        data = given.read(int.from_bytes(head[1:], "big"))
        if self.damage is not None and head[0] == 0:
            made = self.damage(data)
            self.changed += made != data
            if made is None:
                return b""
            data, head = made, head[:1] + len(made).to_bytes(2, "big")
        return b"$" + head + data

    @staticmethod
    def _answer(begin: bytes, given: Any) -> bytes:
        text = begin
        length = 0
        while line := given.readline():
            text += line
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            if line == b"\r\n":
                return text + bytes(given.read(length))
        raise EOFError


@contextlib.contextmanager
def relay_to(server: RtspServer) -> Iterator[Relay]:
    relay = Relay(server.port)
    try:
        yield relay
    finally:
        relay.close()


def flip_bytes(share: float, chance: random.Random) -> Damage:
    """Changes some bytes in that share of the packets, never in their headers."""

    def damage(packet: bytes) -> bytes:
        if chance.random() >= share or len(packet) < 40:
            return packet
        changed = bytearray(packet)
        for _ in range(4):
            changed[chance.randrange(20, len(changed))] ^= chance.randrange(1, 256)
        return bytes(changed)

    return damage


def lose(share: float, chance: random.Random) -> Damage:
    return lambda packet: None if chance.random() < share else packet


def garble(packet: bytes) -> bytes:
    """Of this nothing can be decoded, while packets go on coming."""
    return packet[:12] + bytes([0x41]) + b"\x00" * (len(packet) - 13)
