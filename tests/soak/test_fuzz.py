"""Requests made from the descriptions and raw bytes: never a 5xx, never a hang."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.partner import make_partner
from tests.soak.conftest import Size
from tests.support.fuzz import ask_as_described, quietly, things_of
from tests.support.held import Held, assert_nothing_is_left, held
from tests.support.server import RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

STATUSES = frozenset({200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 413, 422, 429})


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(
        tmp_path / "data",
        payment_provider="sandbox",
        chat_requests_per_minute="1000000",
        mcp_requests_per_minute="1000000",
    )
    try:
        yield running.start()
    finally:
        running.close()


def test_requests_made_from_the_descriptions_are_answered_as_described(asked: RunningServer, size: Size) -> None:
    account, partner = asked.new_client("client", email="client@example.com"), make_partner(asked)
    callers = {
        "public": (account.headers, things_of(account)),
        "speech": (account.headers, {}),
        "vision": (account.headers, {}),
        "integration": (partner.headers, {"external_id": partner.made()["external_id"]}),
    }
    total, failures = 0, []
    for layer, (headers, ids) in callers.items():
        sent, wrong = ask_as_described(layer, asked.url, headers, size.examples, ids=ids)
        total += sent
        failures += wrong
    print(f"{total} requests made from the descriptions, {len(failures)} answered otherwise")
    assert failures == []


HEADER_TEXT = st.text(st.characters(min_codepoint=1, max_codepoint=255, exclude_characters="\r\n"), max_size=60)
HEADS = st.tuples(
    st.sampled_from([b"GET", b"POST", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", b"CONNECT", b"get"])
    | st.binary(max_size=9),
    st.sampled_from([b"/public/v1/kb/spaces", b"/integration/v1/clients", b"/mcp", b"/v1/audio/transcriptions", b"*"])
    | st.binary(max_size=80),
    st.sampled_from([b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0"]) | st.binary(max_size=9),
)
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("Content-Length", "Transfer-Encoding", "Expect", "Connection", "Upgrade", "Host", "Idempotency-Key"),
                *("Authorization", "X-Api-Key", "Content-Type", "Accept", "If-None-Match", "X-Request-Id"),
            ]
        )
        | HEADER_TEXT,
        st.sampled_from(["0", "-1", "5", "99999999", "chunked", "100-continue", "keep-alive", "websocket", "*/*"])
        | HEADER_TEXT,
    ),
    max_size=6,
)


def test_bytes_of_any_shape_are_answered_or_ended(asked: RunningServer, size: Size) -> None:
    """Raw requests, whole and half: each is answered without a 5xx, and the server lives on."""
    failures: list[str] = []
    asked_before: list[Held] = []
    sent = 0

    @quietly(size.bodies)
    @given(head=HEADS, headers=HEADERS, body=st.binary(max_size=200), is_whole=st.booleans())
    def ask(head: tuple[bytes, ...], headers: list[tuple[str, str]], body: bytes, is_whole: bool) -> None:
        lines = [f"{name}: {value}".encode("latin-1") for name, value in headers]
        raw = b"\r\n".join([b" ".join(head), *lines, b"", b""]) + body
        with socket.create_connection(("127.0.0.1", asked.port), timeout=30) as connection:
            connection.sendall(raw if is_whole else raw[: len(raw) // 2])
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            try:
                while part := connection.recv(65536):
                    answer += part
            except ConnectionError:
                pass
        nonlocal sent
        sent += 1
        if sent == size.bodies // 2:
            asked_before.append(held(asked.process.pid))
        if b"HTTP/1.1 5" in answer or b"Traceback" in answer:
            failures.append(f"{raw!r}: {answer[:300]!r}")

    ask()
    assert failures == []
    assert_nothing_is_left(asked.process.pid, *asked_before)
    assert httpx2.get(asked.url + "/healthz").status_code == 200
    assert "Traceback" not in asked.log()
