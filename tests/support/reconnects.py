"""What a process holds after a camera was lost and found many times."""

from __future__ import annotations

import gc
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from ingest.vision.capture import Capture
from tests.support.camera_history import History, wait_for_frame
from tests.support.rtsp import RtspServer, relay_to

SETTLED_S = 10.0


@dataclass(frozen=True)
class Held:
    descriptors: int
    threads: int
    memory_mb: float

    def exceeds(self, other: Held) -> bool:
        return self.descriptors > other.descriptors or self.threads > other.threads


def held() -> Held:
    gc.collect()
    status = Path("/proc/self/status").read_text()
    memory_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    tasks = len(list(Path("/proc/self/task").iterdir()))
    return Held(len(list(Path("/proc/self/fd").iterdir())), tasks, memory_kb / 1024)


def held_after_reconnects(server: RtspServer, warm_up: int, count: int) -> tuple[Held, Held]:
    """What is held online after `warm_up` reconnects, and after `count` more: the relay's own ends may come late."""
    history = History()
    with (
        relay_to(server) as relay,
        Capture(server.url(port=relay.port), on_change=history, backoff_s=(0.01,)) as capture,
    ):
        number = wait_for_frame(capture).number
        history.state("online")
        before = held()
        for turn in range(warm_up + count):
            told = len(history.told)
            relay.cut()
            history.state("reconnecting", after=told)
            history.state("online", after=told)
            number = wait_for_frame(capture, number).number
            if turn < warm_up:
                before = held()
        after = held()
        end_s = time.monotonic() + SETTLED_S
        while after.exceeds(before) and time.monotonic() < end_s:
            threading.Event().wait(0.1)
            after = held()
        return before, after
