"""Requests made from the descriptions and raw bytes: never a 5xx, a hang or a leak."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import accounts
from store.accounts import Tenant
from tests.contract.access import make_owner
from tests.contract.waiting import eventually
from tests.soak.conftest import Size
from tests.support.fuzz import Asked, ask_as_described, quietly, server_to_ask
from tests.support.held import Held, assert_nothing_is_left, held
from tests.support.server import RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[RunningServer]:
    running = server_to_ask(tmp_path / "data")
    try:
        yield running.start()
    finally:
        running.close()


def test_requests_made_from_the_descriptions_are_answered_as_described(
    asked: RunningServer, size: Size, say: Callable[[str], None]
) -> None:
    """In two rounds, the second of which leaves nothing that the first did not. Each is about a client of its own."""
    rounds = [ask_all(asked, size.examples // 2, chance=0)]
    before = held(asked.process.pid)
    rounds.append(ask_all(asked, size.examples // 2, chance=1))
    sent, done = sum(each.sent for each in rounds), sum(each.done.total() for each in rounds)
    failures = [failure for each in rounds for failure in each.failures]
    say(f"{sent} requests made from the descriptions, {done} good ones done, {len(failures)} answered otherwise")
    assert failures == []
    assert [each.never_done for each in rounds] == [set(), set()], "nothing is proved of what no request could do"
    assert_nothing_is_left(asked.process.pid, before)
    assert "Traceback" not in asked.log()


def ask_all(server: RunningServer, examples: int, *, chance: int) -> Asked:
    """The last request deletes the client, and this waits until nothing of it is there."""
    client = server.new_client(f"client {chance}", email=f"client{chance}@example.com")
    asked = ask_as_described(make_owner(client), examples, chance=chance)

    def row() -> Tenant | None:
        with server.database.read() as connection:
            return accounts.get_tenant(client.tenant_id, connection)

    eventually(row, lambda tenant: tenant is None)
    return asked


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
