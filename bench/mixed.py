"""A long day in short: reads, agents, chats, calls, documents and webhooks at once: `python -m bench.mixed [MINUTES]`.

Each kind of client asks at a pace of its own, whatever the answers take, so that a slow server has more to do at once
and not less to do. After a third of the time a recording of 1 GB is uploaded, and after half of it 1,500 connections
open that hardly say a word. When the day is over, what was accepted is waited for. The model is one that costs no time.

Before all that, as many reads are asked for at once as there may be, and again: connections to the database come with
the number of questions at one moment, up to a bound, and SQLite keeps their descriptors for the next ones. So there are
as many from the beginning as there ever will be, and whatever comes on top is a leak.

Memory and descriptors are compared at their medians over a sixth of the time: the second, when everything is warm,
against the last. How many children there are is chance: a pool has its second for as long as calls or documents have
overlapped in the last minutes. So it is one process of each kind, the server and a child of each pool, that must not
grow; what all of them hold is told too, and the most that it was.
"""

from __future__ import annotations

import asyncio
import math
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import httpx2

from bench.bounds import said
from bench.chat_streams import at_share
from bench.mcp_data import Company, Filled, fill
from store.statistics import Statistics
from tests.contract import material
from tests.support.audio import call_clip
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.server import Account, RunningServer, free_port
from tests.support.slow_clients import CLOSED_WITHIN_S, allow_many_connections, open_slow, wait_until_closed

Value = TypeVar("Value")

MINUTES = 30.0
SAMPLE_S = 5.0
SLOWEST_READ_MS = 250.0
MOST_GROWTH = 0.05
SETTLED_S = 60.0
LARGE_BYTES = 1_000_000_000
AT_ONCE, ROUNDS_AT_ONCE = 200, 10
SLOW_CLIENTS = 1500
# How often each kind of client asks, a second.
PACES = {"read": 15.0, "agent": 8.0, "chat": 0.5, "document": 0.1, "call": 0.04}
RECORDING, HOOK = "/recording.wav", "/hook"


@dataclass(frozen=True)
class Usage:
    """Of one process: memory of its own in MB, and open descriptors."""

    memory: float
    descriptors: int


Look = dict[str, list[Usage]]
"""The processes at one moment, by kind: the server, and the children by their pools."""
SERVER = "server"


@dataclass
class Seen:
    """What the clients and the watch saw."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    looks: list[Look] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    accepted: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # calls and documents
    lost: list[str] = field(default_factory=list)  # of them, what did not end well and once
    uploaded_s: float | None = None
    closed_s: float | None = None  # when the server had let the last slow connection go


class Day:
    def __init__(self, account: Account, filled: Filled, space_id: str, receiver: Receiver, http: httpx2.AsyncClient):
        self.account, self.filled, self.space_id = account, filled, space_id
        self.receiver, self.http = receiver, http
        self.seen = Seen()
        self._random = random.Random(11)
        self._number = 0

    async def run(self, seconds: float) -> None:
        asks: dict[str, Callable[[], Awaitable[httpx2.Response]]] = {
            "read": self._read,
            "agent": self._agent,
            "chat": self._chat,
            "document": self._document,
            "call": self._call,
        }
        for _ in range(ROUNDS_AT_ONCE):
            await asyncio.gather(*(self._answered("read at first", self._read) for _ in range(AT_ONCE)))
        until = time.monotonic() + seconds
        await asyncio.gather(
            self._watch(until),
            *(self._ask(kind, asks[kind], until) for kind in PACES),
            self._after(seconds / 3, self._upload_large),
            self._after(seconds / 2, self._connect_slowly),
        )

    async def _after(self, seconds: float, do: Callable[[], None]) -> None:
        await asyncio.sleep(seconds)
        await asyncio.to_thread(do)

    def _upload_large(self) -> None:
        began = time.perf_counter()
        with tempfile.TemporaryFile() as recording:
            write_silence(recording, LARGE_BYTES)
            answer = self.account.post(
                "/v1/audio/transcriptions", files={"file": ("day.wav", recording)}, data={"language": "ru"}, timeout=600
            )
        if answer.status_code == 202:
            self.seen.uploaded_s = time.perf_counter() - began
            self.seen.accepted["recording"].append(answer.json()["task_id"])
        else:
            self.seen.failures.append(f"upload: {answer.status_code} {answer.text[:300]}")

    def _connect_slowly(self) -> None:
        began = time.monotonic()
        try:
            self.seen.closed_s = wait_until_closed(open_slow(self.account, SLOW_CLIENTS), began)
        except (AssertionError, OSError) as error:
            self.seen.failures.append(f"slow connections: {error!r}")

    async def _ask(self, kind: str, ask: Callable[[], Awaitable[httpx2.Response]], until: float) -> None:
        asked: set[asyncio.Task[None]] = set()
        due = time.monotonic() + self._random.random()
        while due < until:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            task = asyncio.create_task(self._timed(kind, ask))
            asked.add(task)
            task.add_done_callback(asked.discard)
            due += self._random.expovariate(PACES[kind])
        await asyncio.gather(*asked)

    async def _timed(self, kind: str, ask: Callable[[], Awaitable[httpx2.Response]]) -> None:
        began = time.perf_counter()
        if await self._answered(kind, ask):
            self.seen.times[kind].append((time.perf_counter() - began) * 1000)

    async def _answered(self, kind: str, ask: Callable[[], Awaitable[httpx2.Response]]) -> bool:
        """Whether there was an answer, of whatever kind."""
        try:
            answer = await ask()
        # Whatever it is, an answer that cannot be read too: nobody else looks at it.
        except Exception as error:
            self.seen.failures.append(f"{kind}: {error!r}")
            return False
        self.seen.statuses[kind, answer.status_code] += 1
        if answer.status_code >= 400 or (kind == "agent" and not _is_result(answer)):
            self.seen.failures.append(f"{kind}: {answer.status_code} {answer.text[:300]}")
        return True

    async def _read(self) -> httpx2.Response:
        some = self._random.choice(self.filled.communication_ids)
        paths = (
            "/public/v1/communications/search?limit=25",
            f"/public/v1/communications?id={some}",
            "/public/v1/commitments?limit=25",
            "/public/v1/balance",
            f"/public/v1/kb/spaces/{self.space_id}/documents?limit=25",
        )
        return await self.http.get(self._random.choice(paths))

    async def _agent(self) -> httpx2.Response:
        some = self._random.choice(self.filled.communication_ids)
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("list_kb_spaces", {}),
            ("get_communication", {"communication_id": some, "detail": "card"}),
            ("search_communications", {"limit": 10}),
            ("search_documents", {"query": "when can a machine be returned"}),
            ("get_period_metrics", {}),
        )
        name, arguments = self._random.choice(calls)
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        return await self.http.post("/mcp", json=body)

    async def _chat(self) -> httpx2.Response:
        path = f"/public/v1/chats/{self.account.chat_id}/messages"
        return await self.http.post(path, json={"text": "When can a coffee machine be returned?"})

    async def _document(self) -> httpx2.Response:
        self._number += 1
        text = f"# Rule {self._number}\n\n{material.PARKING}\n\nRule {self._number} holds from May on."
        path = f"/public/v1/kb/spaces/{self.space_id}/documents"
        answer = await self.http.post(path, files={"file": (f"rule-{self._number}.md", text.encode())})
        return self._noted("document", answer, "id")

    async def _call(self) -> httpx2.Response:
        body = {"fileUrl": self.receiver.url(RECORDING), "language": "ru", "webhook_url": self.receiver.url(HOOK)}
        answer = await self.http.post("/v1/audio/transcriptions", json=body)
        return self._noted("call", answer, "task_id")

    def _noted(self, kind: str, answer: httpx2.Response, name: str) -> httpx2.Response:
        if answer.status_code == 202:
            self.seen.accepted[kind].append(answer.json()[name])
        return answer

    def settle(self) -> None:
        """Waits for all that was accepted, and for what is told of it."""
        accepted = self.seen.accepted
        for task_id in (*accepted["call"], *accepted["recording"]):
            status = self.account.finished_task(task_id)["transcription_status"]
            if status != "success":
                self.seen.lost.append(f"call: {status}")
        for document_id in accepted["document"]:
            status = self.account.finished_document(document_id)["status"]
            if status != "success":
                self.seen.lost.append(f"document: {status}")
        until = time.monotonic() + SETTLED_S
        while len(self._told()) < len(accepted["call"]) and time.monotonic() < until:
            time.sleep(1)
        told = self._told()
        self.seen.lost += ["webhook: none" for task_id in accepted["call"] if task_id not in told]
        self.seen.lost += ["webhook: two of a call" for ids in told.values() if len(ids) > 1]

    def _told(self) -> dict[str, set[str]]:
        """By call, the ids of its events."""
        ids: dict[str, set[str]] = defaultdict(set)
        for each in self.receiver.at(HOOK):
            ids[each.json["task_id"]].add(each.id)
        return ids

    async def _watch(self, until: float) -> None:
        process = self.account.server.process
        assert process is not None
        while time.monotonic() < until:
            look: Look = defaultdict(list)
            for each in (process.pid, *self.account.server.child_ids()):
                with suppress(OSError):  # it has just ended
                    look[SERVER if each == process.pid else _pool(each)].append(_usage(each))
            self.seen.looks.append(look)
            await asyncio.sleep(SAMPLE_S)


def _is_result(answer: httpx2.Response) -> bool:
    """Of a tool that did what it was asked for."""
    try:
        return not answer.json()["result"].get("isError", False)
    except (ValueError, KeyError):
        return False


def write_silence(file: BinaryIO, size: int) -> None:
    """A stereo WAV of 48 kHz and `size` bytes that takes no room on the disk."""
    rate, channels, width = 48_000, 2, 2
    form = struct.pack(
        "<4sIHHIIHH", b"fmt ", 16, 1, channels, rate, rate * channels * width, channels * width, 8 * width
    )
    head = struct.pack("<4sI4s", b"RIFF", size - 8, b"WAVE") + form
    file.write(head + struct.pack("<4sI", b"data", size - len(head) - 8))
    file.truncate(size)
    file.seek(0)


def _pool(process_id: int) -> str:
    return Path(f"/proc/{process_id}/comm").read_text().strip()


def _usage(process_id: int) -> Usage:
    rollup = Path(f"/proc/{process_id}/smaps_rollup").read_text()
    own = sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_"))
    return Usage(own / 1024, sum(1 for _ in Path(f"/proc/{process_id}/fd").iterdir()))


def main() -> int:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES
    allow_many_connections()
    port = free_port()
    model = subprocess.Popen([sys.executable, "-m", "bench.chat_streams", "model", str(port)])
    with tempfile.TemporaryDirectory() as folder, receiving() as receiver:
        receiver.answer(RECORDING, Reply(body=call_clip("01", 0, 20)))
        server = RunningServer(
            Path(folder),
            llm_model="openai/bench-20",
            llm_api_base=f"http://127.0.0.1:{port}/v1",
            llm_api_key="bench",
            allowed_networks="127.0.0.0/8",
            mcp_requests_per_minute="100000",
            chat_requests_per_minute="100000",
            log_level="warning",
        )
        try:
            seen = asyncio.run(_day(server, receiver, minutes * 60))
            told = len(receiver.at(HOOK))
        finally:
            server.close()
            model.terminate()
            model.wait()
    return 0 if report(seen, minutes, told) else 1


async def _day(server: RunningServer, receiver: Receiver, seconds: float) -> Seen:
    server.start()
    account = server.new_client("bench", features=["qc", "memory", "kb", "chat"], balance_rub="1000000")
    filled = fill(server.database, account.tenant_id, Company(communications=20_000))
    Statistics(server.database).sweep()
    space_id = account.new_space()
    account.add_document(space_id, material.RETURNS.encode(), "returns.html")
    limits = httpx2.Limits(max_connections=200, max_keepalive_connections=200)
    async with httpx2.AsyncClient(base_url=server.url, headers=account.headers, timeout=120, limits=limits) as http:
        day = Day(account, filled, space_id, receiver, http)
        await day.run(seconds)
        await asyncio.to_thread(day.settle)
    return day.seen


def report(seen: Seen, minutes: float, told: int) -> bool:
    print(f"{minutes:g} minutes, {len(seen.looks)} looks at the server")
    print(f"{'':<12}{'answers':>9}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'most ms':>9}")
    for kind, times in seen.times.items():
        shares = [at_share(times, share) for share in (0.5, 0.95, 0.99, 1.0)]
        print(f"{kind:<12}{len(times):>9}" + "".join(f"{each:>9.0f}" for each in shares))
    print(
        f"accepted: {', '.join(f'{len(ids)} {kind}s' for kind, ids in seen.accepted.items())}; webhooks taken: {told}"
    )
    for loss, count in Counter(seen.lost).items():
        print(f"  {count} x {loss}")
    if seen.uploaded_s is not None:
        print(f"1 GB uploaded in {seen.uploaded_s:.1f} s")
    if seen.closed_s is not None:
        print(f"{SLOW_CLIENTS} slow connections: the last was closed after {seen.closed_s:.1f} s")
    for failure, count in Counter(seen.failures).most_common(5):
        print(f"  {count} x {failure}")
    memory, opened = _tell_usage(seen.looks)
    bounds = {
        "no answer is a 5xx, and none was lost": not seen.failures,
        "all that was accepted ended in success, each call told of under one id": not seen.lost,
        "1 GB was taken, and slow connections were closed in time": seen.uploaded_s is not None
        and seen.closed_s is not None
        and seen.closed_s < CLOSED_WITHIN_S,
        f"memory of one of each kind, {memory[0]:.0f} to {memory[1]:.0f} MB, grew by no more than {MOST_GROWTH:.0%}": (
            memory[1] <= memory[0] * (1 + MOST_GROWTH)
        ),
        f"descriptors of one of each kind, {opened[0]:.0f} to {opened[1]:.0f}, did not grow": (
            opened[1] <= opened[0] * (1 + MOST_GROWTH)
        ),
        f"p99 of reads under {SLOWEST_READ_MS:.0f} ms": at_share(seen.times["read"], 0.99) < SLOWEST_READ_MS,
    }
    for bound, holds in bounds.items():
        said(bound, holds)
    return all(bounds.values())


def _tell_usage(looks: Sequence[Look]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Prints what each kind of process and all of them held; memory and descriptors of one of each kind, in the second
    sixth and in the last."""
    memory, descriptors = (_by_kind(looks, attrgetter(name)) for name in ("memory", "descriptors"))
    print(f"{'':<18}{'how many':>12}{'MB of one, by sixths':>48}{'descriptors of one':>22}")
    for kind, medians in memory.items():
        most = max(len(look.get(kind, ())) for look in looks)
        opened = f"{descriptors[kind][1]:.0f} to {descriptors[kind][-1]:.0f}"
        print(f"{kind:<18}{f'up to {most}':>12}{''.join(f'{each:>8.0f}' for each in medians)}{opened:>22}")
    all_of = [[usage for found in look.values() for usage in found] for look in looks]
    for name, values in (
        ("memory of all, MB", [sum(usage.memory for usage in each) for each in all_of]),
        ("descriptors of all", [sum(usage.descriptors for usage in each) for each in all_of]),
        ("processes", [len(each) for each in all_of]),
    ):
        shown = ", ".join(f"{statistics.median(sixth):.0f}" for sixth in _sixths(values))
        print(f"{name}: {shown} by sixths, at most {max(values):.0f}")
    return _of_one(memory), _of_one(descriptors)


def _by_kind(looks: Sequence[Look], what: Callable[[Usage], float]) -> dict[str, list[float]]:
    """Medians of one process by sixths, the server first; NaN where there was none of the kind."""
    kinds = sorted({kind for look in looks for kind in look}, key=lambda kind: (kind != SERVER, kind))
    return {
        kind: [
            statistics.median([what(usage) for look in sixth for usage in look.get(kind, ())] or [math.nan])
            for sixth in _sixths(looks)
        ]
        for kind in kinds
    }


def _of_one(medians: dict[str, list[float]]) -> tuple[float, float]:
    """The second sixth and the last, summed over the kinds that were there in both."""
    both = [(each[1], each[-1]) for each in medians.values() if not math.isnan(each[1] + each[-1])]
    return sum(begin for begin, _ in both), sum(end for _, end in both)


def _sixths(values: Sequence[Value]) -> list[Sequence[Value]]:
    size = max(1, len(values) // 6)
    return [values[number * size : (number + 1) * size] or values[-1:] for number in range(6)]


if __name__ == "__main__":
    sys.exit(main())
