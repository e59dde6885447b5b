"""Waiting for what the server does after its answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

WAIT_S = 120.0


def eventually(ask: Callable[[], Found], holds: Callable[[Found], object]) -> Found:
    """What `ask` gives, as soon as it holds."""
    deadline = time.monotonic() + WAIT_S
    while True:
        found = ask()
        if holds(found):
            return found
        assert time.monotonic() < deadline, f"did not come to hold: {found!r}"
        time.sleep(0.1)
