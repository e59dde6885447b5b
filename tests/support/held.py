"""What a process holds of its machine: whether something is left behind each time is seen by it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SETTLED_S = 10.0
_BREATH_MB, _POOLED = 10.0, 48


@dataclass(frozen=True)
class Held:
    descriptors: int
    threads: int
    memory_mb: float

    def exceeds(self, other: Held) -> bool:
        return self.descriptors > other.descriptors or self.threads > other.threads


def held(process_id: int | str = "self") -> Held:
    gc.collect()
    process = Path(f"/proc/{process_id}")
    status = (process / "status").read_text()
    memory_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return Held(len(list((process / "fd").iterdir())), len(list((process / "task").iterdir())), memory_kb / 1024)


def settled(before: Held, look: Callable[[], Held] = held) -> Held:
    """What is held now; what is about to go is given a moment for it."""
    after = look()
    end_s = time.monotonic() + SETTLED_S
    while after.exceeds(before) and time.monotonic() < end_s:
        time.sleep(0.1)
        after = look()
    return after


def assert_nothing_is_left(process_id: int, before: Held) -> None:
    """By as much again of what was done `before`."""
    after = settled(before, lambda: held(process_id))
    print(f"{before} halfway, {after} at the end")
    # Pools of threads and of connections may have grown, which stay; what is left each time is far more.
    assert max(after.descriptors - before.descriptors, after.threads - before.threads) < _POOLED, (before, after)
    assert after.memory_mb < 1.05 * before.memory_mb + _BREATH_MB, (before, after)
