"""Fixtures of the whole suite: one running server for most tests, accounts on it, PostgreSQL where it is installed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from tests.support.server import Account, RunningServer

pytest_plugins = ["tests.contract.plugin"]

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without a language model, shared by tests that leave it running and use accounts of their own."""
    running = RunningServer(tmp_path_factory.mktemp("server"), mcp_requests_per_minute="100000")
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
