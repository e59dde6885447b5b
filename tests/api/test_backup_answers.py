"""Whatever it is asked, a restored installation answers as the one did that was backed up."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from tests.contract.access import KEYED, TOOLS, Owner, Row, make_owner
from tests.support import postgresql
from tests.support.backups import WAIT_S, LoadOfUploads, parley
from tests.support.calls import wait_until
from tests.support.cluster import running_cluster_of_processes
from tests.support.server import Account, RunningServer

_OF_NOW = re.compile(rb'http://127\.0\.0\.1:\d+|"message":"[a-z ]*worker[a-z ]*"')
"""In what is answered: where the server is, and why nobody watches a camera."""
_NOTED = ("/public/v1/account/exports/{export_id}/file", "/public/v1/tool-calls")
"""What the questions change: who fetches the one is noted, for `/public/v1/audit`, and the other lists them."""
_NOT_IN_IT = "/vision/v1/streams/{stream_id}/snapshot"
"""What a camera shows at the moment."""
READS = [
    row
    for row in KEYED
    if row.path not in (*_NOTED, _NOT_IN_IT) and (row.method == "GET" or row.path == "/public/v1/search")
]
SETTINGS = {
    "mcp_requests_per_minute": "100000",
    "payment_provider": "sandbox",
    "sweep_s": "0.5",
    "webhook_retry_schedule": "1",
}
"""With the last, nothing of the owner's goes on by itself after a while; nobody watches its camera, which would."""
TAKES = {"worker_takes": "speech,documents,analysis,errands"}
Answers = dict[str, tuple[int, bytes]]


def asked(owner: Owner, server: RunningServer) -> Answers:
    """What each route that is read and each tool answers to the owner."""
    account = Account(server, owner.account.made)
    answers = {row.name: ask(owner, account, row) for row in READS}
    for tool, questions in TOOLS.items():
        for arguments, _ in questions:
            found = account.call_tool(tool, **owner.filled(arguments))
            answers[f"{tool} {arguments}"] = (200, _OF_NOW.sub(b"", json.dumps(found).encode()))
    return answers


def ask(owner: Owner, account: Account, row: Row) -> tuple[int, bytes]:
    answer = account.request(row.method, owner.url(row), **owner.options(row))
    assert answer.status_code < 500, (row.name, answer.text)
    return answer.status_code, _OF_NOW.sub(b"", answer.content)


def different(before: Answers, after: Answers) -> dict[str, object]:
    """By what was asked, from where on the answers are not the same."""
    found: dict[str, object] = {}
    for name, (status, body) in before.items():
        if (status, body) != after[name]:
            pairs = enumerate(zip(body, after[name][1], strict=False))
            start = max(0, next((at for at, (one, other) in pairs if one != other), 0) - 100)
            found[name] = (status, body[start : start + 300]), (after[name][0], after[name][1][start : start + 300])
    return found


def settled(owner: Owner) -> Answers:
    """Answers that stay the same, by what the questions themselves change."""
    before: Answers = {}
    deadline = time.monotonic() + WAIT_S
    while before != (now := asked(owner, owner.account.server)):
        assert time.monotonic() < deadline, different(before, now)
        before = now
        time.sleep(2)
    return before


def assert_answers_as_before(owner: Owner, before: Answers, restored: RunningServer) -> None:
    """Once its index is filled, which is not in a backup."""
    deadline = time.monotonic() + WAIT_S
    while changed := different(before, asked(owner, restored)):
        assert time.monotonic() < deadline, changed
        time.sleep(1)


def backed_up_under_load(server: RunningServer, path: Path) -> None:
    account = server.new_client("under load")
    load = LoadOfUploads(account, account.new_space())
    load.start()
    try:
        wait_until(lambda: load.documents >= 3)
        ended = parley(server, "backup", str(path))
    finally:
        load.end()
    assert ended.returncode == 0, ended.stderr


def test_a_restored_server_answers_as_before(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "server", **SETTINGS, **TAKES)
    restored = RunningServer(tmp_path / "restored", **SETTINGS, **TAKES)
    try:
        owner = make_owner(server.start().new_client("owner"))
        before = settled(owner)
        backed_up_under_load(server, tmp_path / "backup.tar")
        server.kill()
        ended = parley(restored, "restore", str(tmp_path / "backup.tar"), "--force")
        assert ended.returncode == 0, ended.stderr
        assert_answers_as_before(owner, before, restored.start())
    finally:
        server.close()
        restored.close()


@pytest.mark.postgresql
def test_restored_processes_answer_as_before(tmp_path: Path, postgresql_cluster: str) -> None:
    """Of an installation on PostgreSQL, a bucket and a Qdrant, in other ones of each. Its role is no administrator of
    PostgreSQL's, and one has made extensions in its database."""
    backup = tmp_path / "backup.tar"
    urls = [postgresql.new_database_of(role, postgresql_cluster) for role in ("first_owner", "second_owner")]
    postgresql.as_administrator(urls[0], "CREATE EXTENSION pgcrypto", "CREATE EXTENSION pg_stat_statements")
    with running_cluster_of_processes(tmp_path / "first", urls[0]) as first:
        api = first.start("api", **SETTINGS)
        first.start("worker", **SETTINGS, **TAKES)
        owner = make_owner(api.new_client("owner"))
        before = settled(owner)
        backed_up_under_load(api, backup)
    with running_cluster_of_processes(tmp_path / "second", urls[1]) as second:
        restored = second.prepare("api", **SETTINGS)
        ended = parley(restored, "restore", str(backup), "--force")
        assert ended.returncode == 0, ended.stderr
        restored.start()
        second.start("worker", **SETTINGS, **TAKES)
        assert_answers_as_before(owner, before, restored)
