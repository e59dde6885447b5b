"""Rate limits: what an answer tells of them, and that processes share them exactly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa
from starlette.requests import Request

from api.limits import counted_address, enforce_limit, forget_old_windows
from store import limits
from store.database import Database
from store.errors import RateLimited
from store.migrate import migrate
from store.settings import Settings
from tests.contract.conftest import CHAT_REQUESTS_PER_MINUTE, small_server  # noqa: F401
from tests.support.server import Account, RunningServer

HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
LIMIT = 60
HIT = """
import sys
from store import limits
from store.database import Database
from store.settings import Settings

database = Database(Settings(data_dir=sys.argv[1], database_url=sys.argv[2], _env_file=None))
allowed = 0
sys.stdout.write("ready\\n")
sys.stdout.flush()
sys.stdin.readline()
for _ in range(100):
    with database.count() as connection:
        # A window of a year: the test must not straddle two.
        allowed += not limits.hit(connection, "bucket", limit=int(sys.argv[3]), window_s=365 * 24 * 3600).is_over
sys.stdout.write(f"{allowed}\\n")
"""


def told(answer: httpx2.Response) -> tuple[int, int, int]:
    limit, remaining, reset_s = (int(answer.headers[name]) for name in HEADERS)
    return limit, remaining, reset_s


def test_a_limited_operation_says_what_is_left(small_server: RunningServer) -> None:  # noqa: F811
    account = small_server.new_client("limited")
    path = f"/public/v1/chats/{account.chat_id}/messages"
    answers = [account.post(path, json={"text": ""}) for _ in range(2 * CHAT_REQUESTS_PER_MINUTE + 1)]
    refused = [answer.json()["error"]["code"] for answer in answers if answer.status_code == 429]
    assert set(refused) == {"rate_limit_exceeded"}  # a new minute may have begun after it
    for answer in answers:
        limit, remaining, reset_s = told(answer)
        assert limit == CHAT_REQUESTS_PER_MINUTE
        assert 1 <= reset_s <= 60
        assert remaining in range(limit)
        if answer.status_code == 429:
            assert remaining == 0
            assert abs(int(answer.headers["Retry-After"]) - reset_s) <= 1
    if all(told(answer)[2] <= told(answers[0])[2] for answer in answers):  # no new minute began
        assert [told(answer)[1] for answer in answers] == [2, 1, 0, 0, 0, 0, 0]


def test_an_operation_without_a_limit_tells_of_none(account: Account) -> None:
    answer = account.get("/public/v1/chats/list")
    assert not any(name in answer.headers for name in HEADERS)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_two_processes_together_allow_exactly_the_limit(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgresql_url") if kind == "postgresql" else ""
    database = Database(Settings(data_dir=tmp_path, database_url=url, _env_file=None))  # type: ignore[call-arg]
    migrate(database)
    database.close()
    command = [sys.executable, "-c", HIT, str(tmp_path), url, str(LIMIT)]
    pipe = subprocess.PIPE
    processes = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(2)]
    start: list[Callable[[], None]] = []
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdin is not None
            assert process.stdout.readline() == "ready\n"
            start.append(process.stdin.close)
        for each in start:
            each()
        allowed = []
        for process in processes:
            assert process.stdout is not None
            allowed.append(int(process.stdout.readline()))
            assert process.wait(timeout=60) == 0
    finally:
        for process in processes:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
    assert sum(allowed) == LIMIT


def test_a_large_limit_is_taken_in_shares_and_never_exceeded(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, _env_file=None)  # type: ignore[call-arg]
    first, second = Database(settings), Database(settings)
    migrate(first)
    year_s, limit = 365 * 24 * 3600, 400
    with ThreadPoolExecutor(4) as pool:

        def ask(database: Database) -> bool:
            try:
                enforce_limit(database, "bucket", limit, window_s=year_s)
            except RateLimited:
                return False
            return True

        asked = list(pool.map(ask, [first, second] * limit))
        allowed = sum(asked)
    assert allowed == limit
    with first.count() as connection:
        (counted,) = connection.execute(sa.select(limits.rate_windows.c.count)).one()
    assert counted > limit
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:aaaa::7", "2001:db8:1:2::/64"),
        ("fe80::7%eth0", "fe80::/64"),
        ("a socket", "a socket"),
    ],
)
def test_a_whole_network_of_ipv6_counts_as_one_address(address: str, counted: str) -> None:
    assert counted_address(Request({"type": "http", "client": (address, 1)})) == counted


def test_what_a_release_before_counted_in_the_database_itself_goes_too(tmp_path: Path) -> None:
    database = Database(Settings(data_dir=tmp_path, _env_file=None))  # type: ignore[call-arg]
    migrate(database)
    for counting in (database.write, database.count):
        with counting() as connection:
            connection.execute(sa.insert(limits.rate_windows).values(bucket="old", window=1, count=9))
    forget_old_windows(database)
    for counting in (database.write, database.count):
        with counting() as connection:
            assert connection.execute(sa.select(limits.rate_windows)).all() == []
    database.close()
