"""A large installation, reckoned and then simulated: `python -m bench.scale [--costs FILE]`.

The first half multiplies what the clients ask for in the busiest hour by what each unit costs (`bench.costs`, whose
last line is a FILE) and divides by what a machine may be loaded with. The second half does not believe it: a day of
calls arrives as they do (more in the morning, a few large clients, long calls and short ones) and is worked off as the
queues do it, client by client in turn, while a tenth of the workers vanish in the busiest hour. It tells how long calls
wait with the machines of the first half, and with fewer. docs/scale.md explains both.
"""

from __future__ import annotations

import heapq
import json
import math
import random
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

TENANTS = 10_000
CALLS_A_DAY = 1_000_000
CALL_MINUTES = 4.0  # mean
CALL_SPREAD = 0.9  # sigma of the lognormal distribution of lengths
CHUNKS = 100_000_000
CAMERAS = 20_000
# Shares of a day's calls, hour by hour.
HOURS = (1, 1, 1, 1, 1, 2, 3, 5, 8, 10, 11, 10, 8, 9, 9, 8, 6, 3, 1, 1, 1, 0, 0, 0)
CORES, MEMORY_GIB = 16, 64  # of a machine
LOADED = 0.7  # of its cores or memory, in the busiest hour
# What one process and its children keep busy: Python code runs on one core at a time, recognition decodes on one, and
# cameras were measured on two.
CORES_A_PROCESS = {"api": 1.0, "workers for calls": 1.0, "workers for cameras": 2.0}
# To PostgreSQL, with pools of four: of rows, of jobs, and of who watches cameras.
CONNECTIONS_A_PROCESS = {"api": 8, "workers for calls": 8, "workers for cameras": 12}

CALL_MINUTE = "a minute of a call of two voices, Whisper base"
IDLE = "a second in which nobody asks"
# How many of each unit come with a call.
WITH_A_CALL = {
    CALL_MINUTE: CALL_MINUTES,
    "a conversation of ten turns analysed by rules": 1.0,
    "a webhook": 3.0,
    "a page of the list (25 communications)": 3.0,
    "agent: search_communications": 2.0,
    "agent: search_documents": 0.5,
    "an answer of a chat, by quotation": 0.2,
    "a document of some pages": 0.02,
}
# Processor milliseconds, as `python -m bench.costs` measured them; docs/scale.md names the machine and the day.
MEASURED = {
    IDLE: {"api": 25.33, "worker": 51.32, "database": 7.5},
    CALL_MINUTE: {"api": 303.2, "worker": 10886.8, "database": 115.3},
    "a conversation of ten turns analysed by rules": {"api": 31.2, "worker": 272.3, "database": 39.8},
    "a webhook": {"api": 0.0, "worker": 9.26, "database": 16.62},
    "a page of the list (25 communications)": {"api": 11.97, "worker": 0.0, "database": 5.93},
    "agent: search_communications": {"api": 13.02, "worker": 0.0, "database": 1.83},
    "agent: search_documents": {"api": 31.27, "worker": 0.0, "database": 2.07},
    "an answer of a chat, by quotation": {"api": 83.97, "worker": 0.0, "database": 6.67},
    "a document of some pages": {"api": 23.65, "worker": 352.56, "database": 21.71},
}
STREAMS_A_CORE = 8.8  # half of the time still, ten looks a second (`bench.vision_engines`)
NEWEST_EVERY_S, NEWEST_BYTES = 5.0, 40_000  # 960 pixels wide
# What a camera process asks of PostgreSQL, among 1,624 of them with 20,000 streams, and what one of them asks for all:
# seconds between two, and milliseconds of PostgreSQL's processor. docs/scale.md says of which machine.
OF_A_CAMERA_PROCESS = {"leases": (3.0, 2.32), "whether it is needed and alive": (5.0, 0.29)}
OF_A_CAMERA = {"how it goes": (2.0, 0.23), "its newest picture": (NEWEST_EVERY_S, 0.46), "its figures": (10.0, 0.77)}
OF_ALL_CAMERAS = {"who may be watched, and how many": (1.5, 66.5)}
# Every five seconds a worker looks at the last heartbeat of each process: milliseconds of its own and of PostgreSQL's
# processor for one of 2,648 of them.
A_LOOK_EVERY_S = 5.0
OF_A_LOOK = {"worker": 14.4 / 2648, "database": 1.7 / 2648}
# Five vectors of 512 numbers (`bench.index_scale`), words, payload and graph; as int8, those of full length on disk.
CHUNK_BYTES, QUANTIZED_CHUNK_BYTES = (5 * 512 * each + 1_500 for each in (4, 1))
CALL_DATABASE_BYTES = 24_000  # of four minutes and their analysis, indexes included (`bench.costs`: three turns, 6,858)
CALL_BLOB_BYTES = CALL_MINUTES * 60 * 8_000  # at 64 kbit/s


@dataclass(frozen=True)
class Part:
    """A kind of machine: cores that it keeps busy in the busiest hour, how many of it and of processes on all of them,
    and what it runs out of."""

    name: str
    cores: float | None
    machines: int
    processes: int | None
    runs_out_of: str


def busiest_calls_s() -> float:
    return CALLS_A_DAY * max(HOURS) / sum(HOURS) / 3600


def busy_cores(costs: dict[str, dict[str, float]], side: str) -> float:
    of_a_call = sum(costs[unit][side] * count for unit, count in WITH_A_CALL.items())
    return of_a_call / 1000 * busiest_calls_s()


def watching_cores(processes: int) -> float:
    """Of PostgreSQL, for so many processes that watch all cameras."""
    asked = ((processes, OF_A_CAMERA_PROCESS), (CAMERAS, OF_A_CAMERA), (1, OF_ALL_CAMERAS))
    return sum(count * ms / 1000 / every_s for count, each in asked for every_s, ms in each.values())


def machines(cores: float) -> int:
    return math.ceil(cores / (CORES * LOADED))


def processing(costs: dict[str, dict[str, float]], others: int = 0) -> list[Part]:
    """The parts that are processes, each of which looks at so many others."""
    needed = {
        "api": (busy_cores(costs, "api"), "api"),
        "workers for calls": (busy_cores(costs, "worker"), "worker"),
        "workers for cameras": (CAMERAS / STREAMS_A_CORE, "worker"),
    }
    found = []
    for name, (cores, side) in needed.items():
        # Of each process, whether anybody asks or not.
        idle = costs[IDLE][side] / 1000 + others * OF_A_LOOK.get(side, 0.0) / 1000 / A_LOOK_EVERY_S
        processes = math.ceil(cores / (CORES_A_PROCESS[name] * LOADED - idle))
        busy = cores + processes * idle
        found.append(Part(name, busy, machines(busy), processes, "cores"))
    return found


def processes_of(found: list[Part]) -> int:
    return sum(part.processes or 0 for part in found)


def parts(costs: dict[str, dict[str, float]]) -> list[Part]:
    found = processing(costs, processes_of(processing(costs)))
    processes = processes_of(found)
    # Each process looks for work, whether there is any or not.
    looking = processes * costs[IDLE]["database"] / 1000
    looking += processes**2 * OF_A_LOOK["database"] / 1000 / A_LOOK_EVERY_S
    watching = watching_cores(found[-1].processes or 0)
    database = busy_cores(costs, "database") + looking + watching
    primary = (
        f"one primary of {database / LOADED:.0f} cores ({looking:.1f} busy with looking for work and at each other, "
        f"{watching:.1f} with who watches which camera and how it goes), "
        f"{sum(CONNECTIONS_A_PROCESS[part.name] * (part.processes or 0) for part in found):,} connections"
    )
    memory, quantized = (
        math.ceil(CHUNKS * each / (MEMORY_GIB * 2**30 * LOADED)) for each in (CHUNK_BYTES, QUANTIZED_CHUNK_BYTES)
    )
    index = f"memory ({quantized} machines with quantized vectors)"
    return [*found, Part("PostgreSQL", database, 1, None, primary), Part("Qdrant", None, memory, None, index)]


@dataclass
class Seen:
    """Of a simulated day: seconds that each call waited for a place, and how many stood in line at most."""

    waits: list[float] = field(default_factory=list)
    longest_line: int = 0

    def at(self, share: float) -> float:
        ordered = sorted(self.waits)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True)
class Call:
    at: float  # seconds since midnight
    tenant: int
    work_s: float


class Line:
    """Calls that wait: whose turn it is gives one and then stands behind the other clients."""

    def __init__(self) -> None:
        self._calls: dict[int, deque[Call]] = {}
        self._turns: deque[int] = deque()
        self.length = 0

    def stand(self, call: Call) -> None:
        calls = self._calls.setdefault(call.tenant, deque())
        if not calls:
            self._turns.append(call.tenant)
        calls.append(call)
        self.length += 1

    def next(self) -> Call:
        tenant = self._turns.popleft()
        call = self._calls[tenant].popleft()
        if self._calls[tenant]:
            self._turns.append(tenant)
        self.length -= 1
        return call


@dataclass
class Day:
    """One day of calls over `places`, each of them one core that recognises.

    `lost`: the share of places that vanish in the middle of the busiest hour, for half an hour. What they had in work
    stands in line again once that was noticed, and is begun anew.
    """

    places: int
    work_s_a_minute: float
    lost: float = 0.0
    scale: float = 0.1  # of the calls of a day; the waits are those of a smaller installation, so no shorter
    chance: random.Random = field(default_factory=lambda: random.Random(11))

    NOTICED_S = 30.0
    AWAY_S = 1800.0

    def run(self) -> Seen:
        seen, line = Seen(), Line()
        working: list[tuple[float, int, Call]] = []  # a heap by the moment in which each ends
        places = self.places
        for number, (now, what) in enumerate(self._moments(working)):
            if isinstance(what, Call):
                line.stand(what)
            elif what:
                places += what
                if what < 0:
                    self._begin_anew(working, line, now)
            while line.length and len(working) < places:
                call = line.next()
                seen.waits.append(max(0.0, now - call.at))
                heapq.heappush(working, (max(now, call.at) + call.work_s, number, call))
            seen.longest_line = max(seen.longest_line, line.length)
        return seen

    def _begin_anew(self, working: list[tuple[float, int, Call]], line: Line, now: float) -> None:
        """Puts the share of calls that were in work on the lost places back into the line."""
        self.chance.shuffle(working)
        kept = round(len(working) * (1 - self.lost))
        for _, _, call in working[kept:]:
            line.stand(Call(now + self.NOTICED_S, call.tenant, call.work_s))
        del working[kept:]
        heapq.heapify(working)

    def _moments(self, working: list[tuple[float, int, Call]]) -> Iterator[tuple[float, Call | int]]:
        """What happens, in order: a call that comes, places that go or come back (their number), a free one (0)."""
        gone = round(self.places * self.lost)
        gone_at = (HOURS.index(max(HOURS)) + 0.5) * 3600
        changes = deque([(gone_at, -gone), (gone_at + self.AWAY_S, gone)] if gone else [])
        calls = self._calls()
        coming = next(calls, None)
        while coming is not None or working or changes:
            ends = working[0][0] if working else math.inf
            comes = coming.at if coming else math.inf
            change = changes[0][0] if changes else math.inf
            if ends <= min(comes, change):
                heapq.heappop(working)
                yield ends, 0
            elif change <= comes:
                yield changes.popleft()
            else:
                assert coming is not None
                yield comes, coming
                coming = next(calls, None)

    def _calls(self) -> Iterator[Call]:
        """Clients by Zipf's law, so that the largest has one call of every seventy."""
        weights = list(accumulate(1 / (rank + 10) for rank in range(TENANTS)))
        mu = math.log(CALL_MINUTES) - CALL_SPREAD**2 / 2
        for hour, share in enumerate(HOURS):
            count = round(CALLS_A_DAY * self.scale * share / sum(HOURS))
            tenants = self.chance.choices(range(TENANTS), cum_weights=weights, k=count)
            moments = sorted(self.chance.random() for _ in range(count))
            for moment, tenant in zip(moments, tenants, strict=True):
                minutes = self.chance.lognormvariate(mu, CALL_SPREAD)
                yield Call((hour + moment) * 3600, tenant, minutes * self.work_s_a_minute)


def main() -> int:
    costs = MEASURED
    if "--costs" in sys.argv:
        costs = json.loads(Path(sys.argv[sys.argv.index("--costs") + 1]).read_text().splitlines()[-1])
    print(f"{busiest_calls_s():.1f} calls a second in the busiest hour; machines of {CORES} cores, {LOADED:.0%} loaded")
    print(f"{'part':<22}{'cores busy':>12}{'machines':>10}{'processes':>11}   what it runs out of first")
    for part in parts(costs):
        cores = "" if part.cores is None else f"{part.cores:.1f}"
        print(f"{part.name:<22}{cores:>12}{part.machines:>10}{part.processes or '':>11}   {part.runs_out_of}")
    print(f"a day: {CALLS_A_DAY * CALL_DATABASE_BYTES / 1e9:.0f} GB of rows, ", end="")
    print(f"{CALLS_A_DAY * CALL_BLOB_BYTES / 1e12:.1f} TB of recordings, ", end="")
    pictures_s = CAMERAS / NEWEST_EVERY_S
    print(f"{pictures_s * NEWEST_BYTES * 86400 / 1e12:.1f} TB of cameras' newest pictures, {pictures_s:,.0f} a second")
    work_s = costs[CALL_MINUTE]["worker"] / 1000
    busy = CALL_MINUTES * work_s * busiest_calls_s()
    print(
        f"\na day simulated, a tenth of its size: seconds that calls wait\n{'places':>8}{'load':>7}{'lost':>7}", end=""
    )
    print(f"{'p50':>9}{'p95':>9}{'p99':>9}{'most':>9}{'longest line':>14}")
    for load, lost in ((LOADED, 0.0), (LOADED, 0.1), (LOADED, 0.3), (0.85, 0.0), (0.95, 0.0), (0.95, 0.1), (1.05, 0.0)):
        day = Day(places=round(busy * Day.scale / load), work_s_a_minute=work_s, lost=lost)
        seen = day.run()
        waits = "".join(f"{seen.at(share):>9.1f}" for share in (0.5, 0.95, 0.99, 1.0))
        print(f"{day.places:>8}{load:>7.2f}{lost:>7.2f}{waits}{seen.longest_line:>14}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
