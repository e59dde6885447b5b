"""How much: SOAK=small for CI, anything else for the full size."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support.server import RunningServer

T = TypeVar("T")


@dataclass(frozen=True)
class Size:
    kills: int
    every_stage: bool  # so many kills in each stage of a call; else in all
    examples: int  # of requests, for each operation, of each kind
    bodies: int  # of raw HTTP
    rpc_bodies: int  # of JSON-RPC
    slow_clients: int
    damaged_files: int
    odd_documents: int
    searches: int
    communications: int  # of one account
    cut_s: float  # for how long a link is cut
    restarts_s: float  # for how long a database is restarted, every ten seconds
    away_s: float  # for how long a store is away
    in_flight: int  # calls, when the release changes
    scraped_s: float  # for how long Prometheus waits for a page (`deploy/prometheus.yaml`)
    taken_over_s: float  # for how long work is nobody's; longer where the machine is busy with other tests


SMALL = Size(
    kills=1,
    every_stage=False,
    examples=4,
    bodies=160,
    rpc_bodies=600,
    slow_clients=200,
    damaged_files=10,
    odd_documents=20,
    searches=200,
    communications=3_000,
    cut_s=10.0,
    restarts_s=20.0,
    away_s=10.0,
    in_flight=4,
    scraped_s=60.0,
    taken_over_s=120.0,
)
FULL = Size(
    kills=20,
    every_stage=True,
    examples=120,
    bodies=6000,
    rpc_bodies=50_000,
    slow_clients=1500,
    damaged_files=200,
    odd_documents=300,
    searches=10_000,
    communications=100_000,
    cut_s=60.0,
    restarts_s=300.0,
    away_s=300.0,
    in_flight=50,
    scraped_s=15.0,
    taken_over_s=30.0,
)


def chosen(stages: Sequence[T], size: Size, chance: random.Random) -> list[T]:
    """Every stage as often as the size says; some of them where it is small."""
    rounds = [stage for _ in range(size.kills) for stage in chance.sample(stages, len(stages))]
    return rounds if size.every_stage else rounds[: size.kills]


@pytest.fixture(scope="session")
def size() -> Size:
    return SMALL if os.environ.get("SOAK") == "small" else FULL


@pytest.fixture
def at_full_size(size: Size) -> None:
    """Of a test that takes too long for every change."""
    if size is SMALL:
        pytest.skip("at full size alone: SOAK=full")


@pytest.fixture
def chance() -> random.Random:
    """Random moments, the same in every run unless SOAK_SEED says otherwise."""
    return random.Random(int(os.environ.get("SOAK_SEED", "7")))


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Prints what a reader of the run should know, whether the test passes or not."""

    def printed(text: str) -> None:
        with capsys.disabled():
            print(f"\n{text}")

    return printed


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path / "data", sweep_s="1", mcp_requests_per_minute="1000000")
    try:
        yield running.start()
    finally:
        running.close()
