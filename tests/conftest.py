"""Fixtures of the whole suite: one running server for most tests, accounts on it, PostgreSQL where it is installed."""

from __future__ import annotations

import functools
import gc
import itertools
from collections.abc import Callable, Iterator

import httpcore2
import hypothesis
import pytest

from tests.support import postgresql
from tests.support.server import Account, RunningServer

pytest_plugins = ["tests.contract.plugin", "tests.sharing"]

# Else each request of a test, over plain HTTP too, reads all certificates of the system anew: 20 ms of work.
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)

# Else each start of a server imports all anew: two seconds of a core.
RunningServer.forks = True

# How long an example takes says more of what else the machine does than of the code.
hypothesis.settings.register_profile("parley", deadline=None)
hypothesis.settings.load_profile("parley")

_numbers = itertools.count(1)


def pytest_collection_finish() -> None:
    """What is there now stays: else each look for garbage goes through it, a sixth of this process' time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without a language model, shared by tests that leave it running and use accounts of their own."""
    running = RunningServer(
        tmp_path_factory.mktemp("server"),
        mcp_requests_per_minute="100000",
        sweep_s="1",
        payment_provider="sandbox",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def new_account(server: RunningServer) -> Callable[..., Account]:
    """Makes an account that no other test knows."""

    def make(**values: object) -> Account:
        return server.new_client(f"client-{next(_numbers)}", **values)

    return make


@pytest.fixture
def account(new_account: Callable[..., Account]) -> Account:
    return new_account()


@pytest.fixture(scope="session")
def postgresql_cluster() -> Iterator[str]:
    """The URL pattern of a PostgreSQL that lives as long as the run."""
    if postgresql.programs() is None:
        pytest.skip("PostgreSQL is not installed (scripts/install-system-packages)")
    with postgresql.running_cluster() as url:
        yield url


@pytest.fixture
def postgresql_url(postgresql_cluster: str) -> str:
    """An empty database of its own on the run's cluster."""
    return postgresql.new_database(postgresql_cluster)
