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
    bodies: int  # of raw HTTP
    rpc_bodies: int  # of JSON-RPC
    slow_clients: int
    damaged_files: int
    odd_documents: int
    searches: int
    communications: int  # of one account


SMALL = Size(
    kills=2,
    examples=5,
    bodies=160,
    rpc_bodies=600,
    slow_clients=300,
    damaged_files=20,
    odd_documents=40,
    searches=400,
    communications=5_000,
)
FULL = Size(
    kills=20,
    examples=120,
    bodies=6000,
    rpc_bodies=50_000,
    slow_clients=1500,
    damaged_files=200,
    odd_documents=300,
    searches=10_000,
    communications=100_000,
)


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
