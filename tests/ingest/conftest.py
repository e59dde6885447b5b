"""What the tests of the child pool share."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingest.children import ChildPool

WAIT_S = 120.0


@pytest.fixture
def places() -> int:
    """Of the pool; a test module may want another number."""
    return 2


@pytest.fixture
def pool(places: int) -> Iterator[ChildPool]:
    with ChildPool("test", places, timeout_s=WAIT_S) as children:
        yield children


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(32) as executor:
        yield executor


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "pids"
    os.mkfifo(path)
    return path


def wait_for_end(process_handle: int) -> bool:
    """Whether the process behind a pidfd ends in time."""
    poll = select.poll()
    poll.register(process_handle, select.POLLIN)
    try:
        return bool(poll.poll(WAIT_S * 1000))
    finally:
        os.close(process_handle)
