"""A few requests of every operation, good and bad, made from the descriptions; `make soak` sends more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.partner import make_partner
from tests.support.fuzz import ask_as_described, things_of
from tests.support.server import RunningServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

EXAMPLES = 4


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path_factory.mktemp("asked"), payment_provider="sandbox", chat_requests_per_minute="100000"
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.mark.parametrize("layer", ["public", "speech"])
def test_a_client_is_answered_as_described(asked: RunningServer, layer: str) -> None:
    account = asked.new_client(f"client of {layer}", email=f"{layer}@example.com")
    sent, failures = ask_as_described(layer, asked.url, account.headers, EXAMPLES, ids=things_of(account))
    assert failures == []
    assert sent > EXAMPLES


def test_a_partner_is_answered_as_described(asked: RunningServer) -> None:
    partner = make_partner(asked)
    ids = {"external_id": partner.made()["external_id"]}
    sent, failures = ask_as_described("integration", asked.url, partner.headers, EXAMPLES, ids=ids)
    assert failures == []
    assert sent > EXAMPLES
