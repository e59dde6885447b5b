"""The threads of requests: few, shared out among accounts, in turns."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
import structlog

from mcp_server.threads import Threads


class Slow:
    """Work that ends when it is let go; what ran, in the order in which it began."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.began: list[str] = []
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()

    def __call__(self, name: str) -> str:
        with self._lock:
            self.began.append(name)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        assert self.gate.wait(60)
        with self._lock:
            self.at_once -= 1
        return name


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def slow() -> Iterator[Slow]:
    found = Slow()
    yield found
    found.gate.set()


async def until_begun(slow: Slow, count: int) -> None:
    async with asyncio.timeout(60):
        while len(slow.began) < count:
            await asyncio.sleep(0.01)


@pytest.mark.anyio
async def test_what_is_returned_and_raised_reaches_the_caller() -> None:
    threads = Threads(2, 1, "test")
    for owner in ("a", "", "", ""):
        assert await threads.run(owner, divmod, 7, 2) == (3, 1)
    with pytest.raises(RuntimeError, match="StopIteration"):  # which no future takes
        await threads.run("a", next, iter(()))
    for _ in range(5):  # what failed has given its place back
        with pytest.raises(ZeroDivisionError):
            await threads.run("a", divmod, 7, 0)
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        assert (await threads.run("a", structlog.contextvars.get_contextvars))["request_id"] == "r-1"


@pytest.mark.anyio
async def test_slow_calls_of_one_account_stop_nobody_else(slow: Slow) -> None:
    threads = Threads(4, 2, "test")
    theirs = [asyncio.create_task(threads.run("busy", slow, f"busy {number}")) for number in range(50)]
    await until_begun(slow, 2)
    async with asyncio.timeout(60):
        assert await threads.run("other", divmod, 7, 2) == (3, 1)
    assert slow.began == ["busy 0", "busy 1"]
    slow.gate.set()
    assert await asyncio.gather(*theirs) == [f"busy {number}" for number in range(50)]
    assert slow.most_at_once <= 2


@pytest.mark.anyio
async def test_those_who_wait_take_turns(slow: Slow) -> None:
    threads = Threads(1, 1, "test")
    tasks = [asyncio.create_task(threads.run("a", slow, "a0"))]
    await until_begun(slow, 1)
    tasks += [asyncio.create_task(threads.run("a", slow, f"a{number}")) for number in (1, 2, 3)]
    tasks += [asyncio.create_task(threads.run("b", slow, f"b{number}")) for number in (1, 2)]
    await asyncio.sleep(0)
    slow.gate.set()
    await asyncio.gather(*tasks)
    assert slow.began == ["a0", "a1", "b1", "a2", "b2", "a3"]


@pytest.mark.anyio
async def test_what_was_cancelled_while_it_waited_never_begins_and_keeps_no_place(slow: Slow) -> None:
    threads = Threads(1, 1, "test")
    first = asyncio.create_task(threads.run("a", slow, "first"))
    await until_begun(slow, 1)
    waiting = [asyncio.create_task(threads.run(owner, slow, owner)) for owner in ("a", "b", "c")]
    await asyncio.sleep(0)
    for task in waiting[:2]:
        task.cancel()
    results = await asyncio.gather(*waiting[:2], return_exceptions=True)
    assert [type(each) for each in results] == [asyncio.CancelledError] * 2
    slow.gate.set()
    assert await asyncio.gather(first, waiting[2]) == ["first", "c"]
    assert slow.began == ["first", "c"]
    assert await threads.run("a", divmod, 7, 2) == (3, 1)


@pytest.mark.anyio
async def test_one_cancelled_in_the_moment_of_its_turn_hands_it_on(slow: Slow) -> None:
    threads = Threads(1, 1, "test")
    slow.gate.set()
    for _ in range(200):
        tasks = [asyncio.create_task(threads.run(owner, slow, owner)) for owner in ("a", "b", "c")]
        await tasks[0]
        tasks[1].cancel()
        await asyncio.wait(tasks)
        assert await tasks[2] == "c"


@pytest.mark.anyio
async def test_one_that_is_cancelled_while_it_runs_keeps_its_place_until_it_ends(slow: Slow) -> None:
    threads = Threads(2, 1, "test")
    running = asyncio.create_task(threads.run("a", slow, "a0"))
    await until_begun(slow, 1)
    running.cancel()
    await asyncio.wait([running])
    after = asyncio.create_task(threads.run("a", slow, "a1"))
    async with asyncio.timeout(60):
        assert await threads.run("b", divmod, 7, 2) == (3, 1)
    assert slow.began == ["a0"]
    slow.gate.set()
    assert await after == "a1"


@pytest.mark.anyio
async def test_where_no_thread_can_be_started_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(2, 2, "test")

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            await threads.run("a", divmod, 7, 2)
    async with asyncio.timeout(60):
        assert await threads.run("a", divmod, 7, 2) == (3, 1)
        # With one, others do without.
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            found = await asyncio.gather(*(threads.run(owner, divmod, 7, 2) for owner in "abc"))
    assert found == [(3, 1)] * 3
