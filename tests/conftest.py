"""Fixtures of the whole suite: one running server for most tests, accounts on it, PostgreSQL where it is installed."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator

import httpcore2
import pytest

from tests.support import postgresql
from tests.support.server import Account, RunningServer

pytest_plugins = ["tests.contract.plugin"]

# Else each request of a test, over plain HTTP too, reads all certificates of the system anew: 20 ms of work.
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)

OTHERS_BESIDE = 3  # files that follow each one that needs models
_numbers = itertools.count(1)


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


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in a hook of its own
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For runs over several processes: a file stays in one, and so does all that needs the calls that are recognised
    once a process. What needs models keeps a processor busy and most of the rest waits for servers and browsers, so
    the one is spread among the other, from the beginning on: it takes longest."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        fixtures: tuple[str, ...] = getattr(item, "fixturenames", ())
        name = "heard" if "heard" in fixtures else item.path.as_posix()
        item.add_marker(pytest.mark.xdist_group(name))
        groups.setdefault(name, []).append(item)
    busy = [each for each in groups.values() if any(item.get_closest_marker("models") for item in each)]
    others = iter([each for each in groups.values() if each not in busy])
    mixed = [group for each in busy for group in (each, *itertools.islice(others, OTHERS_BESIDE))]
    items[:] = itertools.chain.from_iterable([*mixed, *others])
