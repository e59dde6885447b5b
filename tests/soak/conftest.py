"""How much: SOAK=small for CI, anything else for the full size."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.server import RunningServer


@dataclass(frozen=True)
class Size:
    kills: int
    examples: int  # of requests, for each operation
    bodies: int  # of JSON-RPC
    slow_clients: int
    damaged_files: int


SMALL = Size(kills=3, examples=5, bodies=160, slow_clients=300, damaged_files=20)
FULL = Size(kills=20, examples=120, bodies=6000, slow_clients=1500, damaged_files=200)


@pytest.fixture(scope="session")
def size() -> Size:
    return SMALL if os.environ.get("SOAK") == "small" else FULL


@pytest.fixture
def chance() -> random.Random:
    """Random moments, the same in every run unless SOAK_SEED says otherwise."""
    return random.Random(int(os.environ.get("SOAK_SEED", "7")))


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path / "data", sweep_s="1", mcp_requests_per_minute="1000000")
    try:
        yield running.start()
    finally:
        running.close()
