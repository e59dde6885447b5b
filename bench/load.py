"""A load client in a process of its own: keep-alive connections that ask one after the other, with next to no work for
the client. `python -m bench.load` reads one JSON object from stdin and writes one to stdout."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field

CONNECTIONS = 8


@dataclass(frozen=True)
class Load:
    """GETs of `paths`, or POSTs of `bodies` to the only one, taken in turn by all connections, for `seconds`; each with
    the next of `keys`, where there are any."""

    host: str
    port: int
    paths: list[str]
    headers: dict[str, str]
    seconds: float
    connections: int = CONNECTIONS
    bodies: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Answered:
    """`p50_ms` and the others are times from sending a request to the end of its answer."""

    requests: int
    seconds: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    bytes_each: float

    @property
    def per_s(self) -> float:
        return self.requests / self.seconds


def run_load(load: Load) -> Answered:
    """Runs the load from a process of its own. Raises CalledProcessError where an answer was not a 200."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        input=json.dumps(asdict(load)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Answered(**json.loads(done.stdout))


class _Asker(asyncio.Protocol):
    """One connection: sends the next request when the answer before it is whole."""

    def __init__(self, requests: list[bytes], first: int, step: int, until: float) -> None:
        self.requests, self.number, self.step, self.until = requests, first, step, until
        self.times: list[float] = []
        self.bytes = 0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._buffer = b""
        self._expected = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._ask()

    def _ask(self) -> None:
        self._began = time.perf_counter()
        if self._began >= self.until:
            self.transport.close()
            self.ended.set_result(None)
            return
        self._buffer, self._expected = b"", -1
        self.transport.write(self.requests[self.number % len(self.requests)])
        self.number += self.step

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._expected < 0:
            head, found, _ = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 200 "):
                self.ended.set_exception(AssertionError(self._buffer[:2000].decode()))
                self.transport.close()
                return
            lines = head.lower().split(b"\r\n")
            length = next(line for line in lines if line.startswith(b"content-length:"))
            self._expected = len(head) + 4 + int(length.partition(b":")[2])
        if len(self._buffer) >= self._expected:
            self.times.append(time.perf_counter() - self._began)
            self.bytes += self._expected
            self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_exception(error or AssertionError("the server closed the connection"))


def _requests(load: Load) -> list[bytes]:
    """In the order in which they are taken: again and again, so that with `keys` each comes in its turn."""
    headers = {"Host": f"{load.host}:{load.port}", **load.headers}
    if load.bodies:
        headers["Content-Type"] = "application/json"
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    whats = load.bodies or load.paths
    requests = []
    for number in range(max(len(whats), len(load.keys))):
        what = whats[number % len(whats)]
        key = f"Authorization: Bearer {load.keys[number % len(load.keys)]}\r\n" if load.keys else ""
        if load.bodies:
            body = what.encode()
            begin = f"POST {load.paths[0]} HTTP/1.1\r\n{head}{key}Content-Length: {len(body)}\r\n\r\n"
            requests.append(begin.encode() + body)
        else:
            requests.append(f"GET {what} HTTP/1.1\r\n{head}{key}\r\n".encode())
    return requests


async def _ask_all(load: Load) -> Answered:
    requests = _requests(load)
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    askers = [
        (
            await loop.create_connection(
                lambda first=first: _Asker(requests, first, load.connections, began + load.seconds),  # type: ignore[misc]
                load.host,
                load.port,
            )
        )[1]
        for first in range(load.connections)
    ]
    await asyncio.gather(*(asker.ended for asker in askers))
    seconds = time.perf_counter() - began
    times = sorted(each for asker in askers for each in asker.times)
    return Answered(
        requests=len(times),
        seconds=seconds,
        p50_ms=times[len(times) // 2] * 1000,
        p95_ms=times[int(len(times) * 0.95)] * 1000,
        p99_ms=times[int(len(times) * 0.99)] * 1000,
        bytes_each=sum(asker.bytes for asker in askers) / len(times),
    )


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(_ask_all(Load(**json.load(sys.stdin)))))))
