"""Turns and cancels over real child processes."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ingest.child_line import Work
from ingest.children import ChildDied, ChildPool, PoolClosed, WorkCancelled
from tests.ingest import child_work
from tests.ingest.conftest import WAIT_S, wait_for_end


@pytest.fixture
def places() -> int:
    return 1


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextmanager
def busy(pool: ChildPool, threads: ThreadPoolExecutor, folder: Path, tag: str = "") -> Iterator[Future[bytes]]:
    """One place of the pool is taken as long as the block lasts."""
    path = str(folder / f"busy-{tag}-{random.random()}")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        server.settimeout(WAIT_S)
        work = threads.submit(pool.run, child_work.meet, path, tag=tag)
        visitor = server.accept()[0]
        try:
            # Until it has said so the child may still be connecting, and would meet a closed end.
            assert visitor.recv(4) == b"here"
            yield work
        finally:
            with suppress(OSError):
                visitor.sendall(b"go")
            visitor.close()
        wait([work], timeout=WAIT_S)


def wait_in_line(pool: ChildPool, threads: ThreadPoolExecutor, log: Path, tag: str, **how: Any) -> Future[str]:
    """A work that has joined the line when this returns."""
    work = threads.submit(partial(pool.run, child_work.note, str(log), tag, tag=tag, **how))
    wait_until(lambda: tag in pool.tags)
    return work


def test_works_are_done_urgent_first_then_owner_by_owner(
    pool: ChildPool, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with busy(pool, threads, tmp_path):
        works = [wait_in_line(pool, threads, log, f"a{number}", owner="a") for number in range(4)]
        works += [wait_in_line(pool, threads, log, f"b{number}", owner="b") for number in range(2)]
        works += [wait_in_line(pool, threads, log, f"now{number}", owner="a", urgent=True) for number in range(2)]
    assert len({work.result(WAIT_S) for work in works}) == 8
    assert log.read_text().split() == ["now0", "now1", "b0", "a0", "b1", "a1", "a2", "a3"]
    assert pool.tags == set()


def test_a_cancel_takes_who_waits_out_of_the_line_and_leaves_the_rest(
    pool: ChildPool, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with busy(pool, threads, tmp_path, "working") as working:
        works = {tag: wait_in_line(pool, threads, log, tag) for tag in ("first", "second", "third")}
        assert pool.cancel("second")
        with pytest.raises(WorkCancelled, match="second"):
            works["second"].result(WAIT_S)
        assert pool.tags == {"working", "first", "third"}
        assert not pool.cancel("second")
        assert not working.done()
    assert working.result(WAIT_S) == b"go"
    assert (works["first"].result(WAIT_S), works["third"].result(WAIT_S)) == ("first", "third")
    assert log.read_text().split() == ["first", "third"]


@pytest.mark.parametrize("function", [child_work.say_and_hang, child_work.hang_in_native_code])
def test_a_cancel_kills_the_child_at_work_with_all_it_started_and_frees_the_place(
    function: Callable[..., object], pool: ChildPool, threads: ThreadPoolExecutor, fifo: Path
) -> None:
    work = threads.submit(pool.run, function, str(fifo), tag="long")
    handles = [os.pidfd_open(int(pid)) for pid in fifo.read_text().split()]
    following = threads.submit(pool.run, child_work.add, 1, 2)
    assert pool.cancel("long")
    with pytest.raises(WorkCancelled, match="long"):
        work.result(WAIT_S)
    assert all(wait_for_end(handle) for handle in handles)
    assert following.result(WAIT_S) == 3


def test_a_cancel_ends_every_work_under_its_tag_and_no_other(
    threads: ThreadPoolExecutor, fifo: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with ExitStack() as stack:
        pool = stack.enter_context(ChildPool("test", places=2, timeout_s=WAIT_S))
        other_pool = stack.enter_context(ChildPool("other", places=1, timeout_s=WAIT_S))
        unharmed = [
            stack.enter_context(busy(pool, threads, tmp_path, "other")),
            stack.enter_context(busy(other_pool, threads, tmp_path, "call")),
        ]
        works: list[Future[Any]] = [threads.submit(pool.run, child_work.say_and_hang, str(fifo), tag="call")]
        fifo.read_text()
        works.append(threads.submit(pool.run, child_work.note, str(log), "call", tag="call"))
        wait_until(lambda: len(pool._line) == 1)
        assert pool.cancel("call")
        for work in works:
            with pytest.raises(WorkCancelled):
                work.result(WAIT_S)
        assert not any(work.done() for work in unharmed)
    assert [work.result(WAIT_S) for work in unharmed] == [b"go", b"go"]
    assert not log.exists()


class AtTheGap(ChildPool):
    """Calls `act` whenever work has a place and no child yet."""

    act: Callable[[], object] = staticmethod(lambda: None)

    def _wait_for_place(self, work: Work[Any]) -> None:
        super()._wait_for_place(work)
        self.act()


@pytest.fixture
def gap() -> Iterator[AtTheGap]:
    with AtTheGap("test", places=1, timeout_s=WAIT_S) as pool:
        yield pool


@pytest.mark.parametrize("has_idle_child", [True, False])
def test_a_cancel_between_place_and_child_is_not_lost(has_idle_child: bool, gap: AtTheGap, tmp_path: Path) -> None:
    before = [gap.run(child_work.pid)] if has_idle_child else []
    answers: list[bool] = []
    gap.act = lambda: answers.append(gap.cancel("call"))
    with pytest.raises(WorkCancelled, match="call"):
        gap.run(child_work.note, str(tmp_path / "log"), "call", tag="call")
    assert answers == [True]
    assert not (tmp_path / "log").exists()
    assert gap.tags == set()
    assert gap.child_pids == before
    gap.act = lambda: None
    assert gap.run(child_work.add, 1, 2) == 3


@pytest.mark.parametrize("has_idle_child", [True, False])
def test_a_close_between_place_and_child_is_not_lost(
    has_idle_child: bool, gap: AtTheGap, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    if has_idle_child:
        gap.run(child_work.pid)
    closes: list[Future[None]] = []

    def close() -> None:
        closes.append(threads.submit(gap.close))
        wait_until(lambda: gap._closed)

    gap.act = close
    with pytest.raises(PoolClosed):
        gap.run(child_work.note, str(tmp_path / "log"), "call")
    closes[0].result(WAIT_S)
    assert not (tmp_path / "log").exists()
    assert gap.child_pids == []


def test_a_second_cancel_kills_again_what_the_first_did_not_end(
    pool: ChildPool, threads: ThreadPoolExecutor, fifo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = threads.submit(pool.run, child_work.hang_in_native_code, str(fifo), tag="call")
    handle = os.pidfd_open(int(fifo.read_text()))
    with monkeypatch.context() as patch:
        patch.setattr("ingest.children._Child.kill", lambda _: None)
        assert pool.cancel("call")
    assert not work.done()
    assert pool.cancel("call")
    with pytest.raises(WorkCancelled):
        work.result(WAIT_S)
    assert wait_for_end(handle)
    assert not pool.cancel("call")


def test_work_whose_child_is_dead_already_can_be_cancelled_until_its_thread_knows(gap: AtTheGap) -> None:
    """Who is told that the work was cancelled must not see it tried again as one whose child died."""
    give_back = gap._give_back

    def cancel_and_give_back(work: Work[Any], child: Any, reusable: bool) -> None:
        assert gap.cancel("call")
        give_back(work, child, reusable)

    with pytest.raises(ChildDied):
        gap.run(child_work.kill_self, tag="call")
    gap._give_back = cancel_and_give_back  # type: ignore[method-assign]
    with pytest.raises(WorkCancelled):
        gap.run(child_work.kill_self, tag="call")


def test_work_that_is_over_or_never_was_cannot_be_cancelled(pool: ChildPool) -> None:
    assert not pool.cancel("nobody")
    first = pool.run(child_work.pid, tag="done")
    assert not pool.cancel("done")
    assert pool.run(child_work.pid, tag="done") == first
    with pytest.raises(ValueError, match="tag"):
        pool.cancel("")


def test_cancels_at_random_moments_lose_no_place_and_no_other_work(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    chance = random.Random(5)
    with ChildPool("test", places=2, timeout_s=WAIT_S) as pool:
        works = {
            f"{number}": threads.submit(
                pool.run,
                child_work.echo,
                bytes([number]) * 1000,
                tag=f"{number}",
                owner=f"{number % 3}",
                urgent=number % 5 == 0,
            )
            for number in range(120)
        }
        cancelled = set()
        while wait(works.values(), timeout=chance.uniform(0, 0.03)).not_done:
            tags = sorted(pool.tags)
            if tags and (tag := chance.choice(tags[:2] + tags)) and pool.cancel(tag):
                cancelled.add(tag)
        assert cancelled
        for tag, work in works.items():
            if tag in cancelled:
                with pytest.raises(WorkCancelled):
                    work.result(WAIT_S)
            else:
                assert work.result(WAIT_S) == bytes([int(tag)]) * 1000
        with busy(pool, threads, tmp_path, "one"), busy(pool, threads, tmp_path, "two"):
            assert pool.tags == {"one", "two"}


def test_an_interrupt_while_it_waits_leaves_neither_line_nor_place_behind(
    pool: ChildPool, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    def interrupt_when_waiting() -> None:
        wait_until(lambda: "waits" in pool.tags)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with busy(pool, threads, tmp_path):
            threads.submit(interrupt_when_waiting)
            with pytest.raises(Interrupted):
                pool.run(child_work.pid, tag="waits")
            assert pool.tags == set()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert pool.run(child_work.add, 1, 1) == 2


def test_a_pool_that_closes_ends_cancelled_work_too(threads: ThreadPoolExecutor, fifo: Path) -> None:
    pool = ChildPool("test", places=1, timeout_s=WAIT_S)
    works: list[Future[Any]] = [threads.submit(pool.run, child_work.say_and_hang, str(fifo), tag="call")]
    fifo.read_text()
    works.append(threads.submit(pool.run, child_work.pid, tag="waits"))
    wait_until(lambda: "waits" in pool.tags)
    pool.cancel("call")
    pool.close()
    assert isinstance(works[0].exception(WAIT_S), (WorkCancelled, PoolClosed))
    assert isinstance(works[1].exception(WAIT_S), (PoolClosed, type(None)))
    assert pool.tags == set()
    assert not pool.cancel("call")
