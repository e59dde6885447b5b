"""An Ethernet cable between two TAP devices of which each frame comes out later than it went in, and some never do:
what `netem` does, for kernels without it."""

from __future__ import annotations

import fcntl
import os
import random
import select
import struct
import threading
import time
from collections import deque
from contextlib import suppress

_TUN = "/dev/net/tun"
_TUNSETIFF = 0x400454CA
_TAP, _NO_HEADER = 0x0002, 0x1000
_LONGEST_FRAME = 65_536
_LOOK_S = 0.2


class SlowLine:
    """`ends`: names of the devices, which are made. `delay_s`, one way, and `lost`, the share of frames, may be changed
    at any time. Raises OSError where no device can be made."""

    def __init__(self, ends: tuple[str, str]) -> None:
        self.delay_s, self.lost = 0.0, 0.0
        self._ends = [_tap(name) for name in ends]
        self._chance = random.Random(1)
        self._stop = threading.Event()
        self._carrier = threading.Thread(target=self._carry, name="slow line", daemon=True)
        self._carrier.start()

    def close(self) -> None:
        """The devices go with it."""
        self._stop.set()
        self._carrier.join()
        for end in self._ends:
            os.close(end)

    def _carry(self) -> None:
        on_the_way: deque[tuple[float, int, bytes]] = deque()
        there = dict(zip(self._ends, reversed(self._ends), strict=True))
        while not self._stop.is_set():
            wait_s = min(_LOOK_S, max(0.0, on_the_way[0][0] - time.monotonic())) if on_the_way else _LOOK_S
            came, _, _ = select.select(self._ends, [], [], wait_s)
            for end in came:
                with suppress(OSError):  # a device that is down
                    frame = os.read(end, _LONGEST_FRAME)
                    if self._chance.random() >= self.lost:
                        on_the_way.append((time.monotonic() + self.delay_s, there[end], frame))
            while on_the_way and on_the_way[0][0] <= time.monotonic():
                _, end, frame = on_the_way.popleft()
                with suppress(OSError):
                    os.write(end, frame)


def _tap(name: str) -> int:
    end = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK)
    try:
        fcntl.ioctl(end, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _TAP | _NO_HEADER))
    except OSError:
        os.close(end)
        raise
    return end
