"""Authenticated `GET /public/v1/communications?id=` on 100,000 communications, side by side with a bare Starlette route
that runs the same SQL (`bench/bare_reads.py`). Rounds of the two alternate, so that a busy machine hurts both alike;
processor time a request hardly depends on what else runs."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import sqlalchemy as sa

from accounts.keys import Keyring
from bench.load import Answered, Load, run_load
from store.database import Database
from tests.support.server import Account, RunningServer, free_port

COMMUNICATIONS = 100_000
TURNS = 8
ROUNDS = 10
ROUND_S = 2.0
PATHS = 5_000
_FIRST = "01900000000070008000"  # of an id; the last twelve digits count
FLOOR = 0.6


@dataclass
class Side:
    """One of the two servers."""

    name: str
    process_id: int
    port: int
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    rounds: list[Answered] = field(default_factory=list)
    cpu_s: float = 0.0

    def run(self, numbers: list[int], seconds: float, *, counts: bool = True) -> None:
        paths = [f"{self.path}?id={communication_id(number)}" for number in numbers]
        before = _cpu_s(self.process_id)
        answered = run_load(Load("127.0.0.1", self.port, paths, self.headers, seconds))
        if counts:
            self.rounds.append(answered)
            self.cpu_s += _cpu_s(self.process_id) - before

    @property
    def per_s(self) -> float:
        return statistics.median(each.per_s for each in self.rounds)

    @property
    def cpu_ms(self) -> float:
        """Of the server's processor time, a request."""
        return self.cpu_s * 1000 / sum(each.requests for each in self.rounds)

    def row(self) -> str:
        p50, p99 = (statistics.median(getattr(each, name) for each in self.rounds) for name in ("p50_ms", "p99_ms"))
        size = self.rounds[0].bytes_each
        return f"{self.name:<28}{self.per_s:>10,.0f}{self.cpu_ms:>14.3f}{p50:>10.2f}{p99:>10.2f}{size:>12,.0f}"


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(Path(folder), log_level="info")
        try:
            server.start()  # before there is anything that it would put into its index
            account = server.new_client("bench")
            began = time.perf_counter()
            fill(server.database, account.tenant_id)
            print(f"{COMMUNICATIONS:,} communications of {TURNS} turns made in {time.perf_counter() - began:.1f} s")
            key_hash = Keyring.of(server.settings).hash(account.made.api_key)
            with running_bare(server.data_dir, key_hash) as (bare_process, bare_port):
                sides = both_sides(server, account, bare_process, bare_port)
                measure(sides, rounds)
        finally:
            server.close()
    print(f"{'':<28}{'requests/s':>10}{'CPU ms each':>14}{'p50 ms':>10}{'p99 ms':>10}{'bytes':>12}")
    for side in sides:
        print(side.row())
    bare, parley = sides
    pairs = zip(bare.rounds, parley.rounds, strict=True)
    ratio = statistics.median(ours.per_s / theirs.per_s for theirs, ours in pairs)
    by_cpu = bare.cpu_ms / parley.cpu_ms
    print(f"parley reaches {ratio:.0%} of the bare route's requests/s ({by_cpu:.0%} by processor time)")
    return 0 if ratio >= FLOOR else 1


def both_sides(server: RunningServer, account: Account, bare_process: int, bare_port: int) -> list[Side]:
    assert server.process is not None
    path = "/public/v1/communications"
    answer = account.get(path, params={"id": communication_id(7)})
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["content"]) == TURNS
    return [
        Side("bare Starlette, same SQL", bare_process, bare_port, "/bare"),
        Side("GET /public/v1/communications", server.process.pid, server.port, path, account.headers),
    ]


def measure(sides: list[Side], rounds: int) -> None:
    chance = random.Random(7)
    for number in range(rounds + 1):
        numbers = chance.sample(range(COMMUNICATIONS), PATHS)
        for side in sides:
            side.run(numbers, ROUND_S if number else 1.0, counts=number > 0)


def communication_id(number: int) -> str:
    digits = f"{_FIRST}{number:012x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def fill(database: Database, tenant_id: str) -> None:
    """Calls as recognition leaves them, with two people each: made by the database itself, in seconds."""
    assert database.is_sqlite
    values = {
        "tenant": tenant_id.replace("-", ""),
        "first": _FIRST,
        "task": "01900000000070009000",
        "person": "0190000000007000a000",
        "most": COMMUNICATIONS,
        "turns": TURNS,
        "at": "2026-03-04 05:06:07.000000",
    }
    number = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :most) "
    turn = f"{number}, t(j) AS (SELECT 0 UNION ALL SELECT j + 1 FROM t WHERE j + 1 < :turns) "
    id_ = ":first || printf('%012x', i)"
    statements = (
        "INSERT INTO communications (id, tenant_id, kind, channel_type, request_record_id, direction, language,"
        " duration_ms, title, is_closed, occured_at, created_at, updated_at)"
        f" {number} SELECT {id_}, :tenant, 'call', 'phone', 'record-' || i, 'in', 'ru', 61000, 'A call', 1, :at, :at,"
        " :at FROM n",
        "INSERT INTO content_items (communication_id, idx, tenant_id, kind, at, text, label, start_ms, end_ms, media)"
        f" {turn} SELECT {id_}, j, :tenant, 'audio_utterance', :at,"
        " 'Добрый день! Подскажите, пожалуйста, когда привезут заказ номер ' || i, 'SPEAKER_0' || (j % 2),"
        " j * 7000, j * 7000 + 6000, '[]' FROM n, t",
        "INSERT INTO speakers (id, tenant_id, external_id, name, name_key, role, created_at, updated_at)"
        f" {number} SELECT :person || printf('%012x', i), :tenant, 'person-' || i, 'Person ' || i, 'person ' || i,"
        " 'client', :at, :at FROM n WHERE i < 1000",
        "INSERT INTO communication_speakers (communication_id, speaker_id, tenant_id, position, role, label)"
        f" {turn} SELECT {id_}, :person || printf('%012x', (i + j * 500) % 1000), :tenant, j, 'client',"
        " 'SPEAKER_0' || j FROM n, t WHERE j < 2",
        "INSERT INTO transcription_tasks (id, tenant_id, communication_id, status, progress, blob_key, file_name,"
        " parameters, version, occured_at, created_at, updated_at)"
        f" {number} SELECT :task || printf('%012x', i), :tenant, {id_}, 'success', 1, 'none', 'call.wav', '{{}}', 3,"
        " :at, :at, :at FROM n",
    )
    with database.write() as connection:
        for statement in statements:
            connection.execute(sa.text(statement), values)
    with database.write() as connection:
        connection.execute(sa.text("ANALYZE"))


@contextmanager
def running_bare(data_dir: Path, key_hash: str) -> Iterator[tuple[int, int]]:
    """(process id, port) of the bare server."""
    port = free_port()
    command = [sys.executable, "-m", "bench.bare_reads", str(data_dir), str(port), key_hash]
    process = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                httpx2.get(f"http://127.0.0.1:{port}/bare", params={"id": communication_id(7)})
                break
            except httpx2.HTTPError:
                assert time.monotonic() < deadline, "the bare server did not start"
                time.sleep(0.05)
        yield process.pid, port
    finally:
        process.terminate()
        process.wait(timeout=10)


def _cpu_s(process_id: int) -> float:
    """Processor time of a process and its threads so far."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
