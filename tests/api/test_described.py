"""A few requests of every operation, good and bad, made from the descriptions; `make soak` sends more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.access import make_owner
from tests.support.fuzz import ask_as_described, server_to_ask
from tests.support.server import RunningServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

EXAMPLES = 2


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[RunningServer]:
    running = server_to_ask(tmp_path / "data")
    try:
        yield running.start()
    finally:
        running.close()


def test_clients_and_partners_are_answered_as_described(asked: RunningServer) -> None:
    answered = ask_as_described(make_owner(asked.new_client("client", email="client@example.com")), EXAMPLES)
    assert answered.failures == []
    assert answered.never_done == set(), "nothing is proved of what no request could do"
