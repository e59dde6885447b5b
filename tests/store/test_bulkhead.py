"""The bulkhead, over threads: who is refused, who waits for a place, and who tries again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from store import bulkhead as bulkhead_module
from store.bulkhead import Bulkhead
from store.errors import Unavailable

WAIT_S = 30.0


def away() -> Unavailable:
    return Unavailable("It does not answer.")


def failing(bulkhead: Bulkhead, after_s: float = 0.0) -> None:
    def fail() -> None:
        with bulkhead.call():
            time.sleep(after_s)
            raise Unavailable("Not even in the end.")

    with pytest.raises(Unavailable, match="in the end"):
        fail()


def is_refused(bulkhead: Bulkhead, *, looks: bool = False) -> bool:
    try:
        with bulkhead.look() if looks else bulkhead.call():
            return False
    except Unavailable:
        return True


class Held:
    """Calls that are under way until they are let go."""

    def __init__(self, bulkhead: Bulkhead, threads: ThreadPoolExecutor, count: int) -> None:
        self._go = threading.Event()
        self._bulkhead = bulkhead
        under_way = threading.Barrier(count + 1)
        self.calls: list[Future[None]] = [threads.submit(self._call, under_way.wait) for _ in range(count)]
        under_way.wait(WAIT_S)

    def _call(self, begun: Callable[[], object]) -> None:
        with self._bulkhead.call():
            begun()
            assert self._go.wait(WAIT_S)

    def let_go(self) -> None:
        self._go.set()
        for call in self.calls:
            call.result(WAIT_S)


def test_a_call_that_fails_late_puts_it_in_doubt_and_one_that_is_answered_ends_that() -> None:
    bulkhead = Bulkhead(away, at_once=4, waiting=4, late_s=0.05)
    failing(bulkhead, after_s=0.1)
    with ThreadPoolExecutor() as threads:
        trying = Held(bulkhead, threads, 1)
        assert is_refused(bulkhead), "one alone tries"
        assert is_refused(bulkhead, looks=True)
        trying.let_go()
        held = Held(bulkhead, threads, 3)
        assert not is_refused(bulkhead)
        held.let_go()


def test_in_doubt_another_tries_where_the_one_that_does_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulkhead_module, "_TRIAL_EVERY_S", 0.0)
    bulkhead = Bulkhead(away, at_once=2, waiting=4, late_s=0.0)
    failing(bulkhead)
    with ThreadPoolExecutor() as threads:
        hanging = Held(bulkhead, threads, 1)
        assert not is_refused(bulkhead)
        hanging.let_go()


def test_a_call_that_fails_at_once_is_no_reason_to_doubt() -> None:
    bulkhead = Bulkhead(away, at_once=4, waiting=4, late_s=WAIT_S)
    for _ in range(8):
        failing(bulkhead)
    with ThreadPoolExecutor() as threads:
        held = Held(bulkhead, threads, 3)
        assert not is_refused(bulkhead)
        held.let_go()


def test_nor_is_one_that_fails_late_while_others_are_answered() -> None:
    bulkhead = Bulkhead(away, at_once=4, waiting=4, late_s=0.0)
    with ThreadPoolExecutor() as threads:
        begun, answered = threading.Event(), threading.Event()

        def fail_late() -> None:
            with bulkhead.call():
                begun.set()
                assert answered.wait(WAIT_S)
                raise away()

        late = threads.submit(fail_late)
        assert begun.wait(WAIT_S)
        assert not is_refused(bulkhead)
        answered.set()
        assert isinstance(late.exception(WAIT_S), Unavailable)
        held = Held(bulkhead, threads, 3)
        held.let_go()


def test_nor_is_an_error_that_is_an_answer() -> None:
    bulkhead = Bulkhead(away, at_once=4, waiting=4, late_s=0.0)
    with pytest.raises(KeyError), bulkhead.call():
        raise KeyError
    with ThreadPoolExecutor() as threads:
        held = Held(bulkhead, threads, 3)
        assert not is_refused(bulkhead)
        held.let_go()


def test_who_finds_no_place_is_refused_once_all_others_are_late() -> None:
    bulkhead = Bulkhead(away, at_once=2, waiting=4, late_s=0.1)
    with ThreadPoolExecutor() as threads:
        held = Held(bulkhead, threads, 2)
        assert is_refused(bulkhead)
        assert is_refused(bulkhead, looks=True)
        held.let_go()
    assert not is_refused(bulkhead)


def test_one_slow_call_keeps_nobody_from_the_other_places() -> None:
    bulkhead = Bulkhead(away, at_once=2, waiting=4, late_s=0.5)
    with ThreadPoolExecutor() as threads:
        slow = Held(bulkhead, threads, 1)
        time.sleep(0.6)  # it is late
        for _ in range(3):
            asked = [threads.submit(is_refused, bulkhead) for _ in range(4)]
            assert not any(each.result(WAIT_S) for each in asked)
        slow.let_go()


def test_who_finds_no_place_gets_the_next_and_who_looks_does_not_wait() -> None:
    bulkhead = Bulkhead(away, at_once=2, waiting=4, late_s=WAIT_S)
    with ThreadPoolExecutor() as threads:
        held = Held(bulkhead, threads, 2)
        waiting = threads.submit(is_refused, bulkhead)
        assert not is_refused(bulkhead, looks=True)
        assert not waiting.done()
        held.let_go()
        assert not waiting.result(WAIT_S)


def test_no_more_wait_than_may_however_slow_the_answers_are() -> None:
    bulkhead = Bulkhead(away, at_once=2, waiting=1, late_s=WAIT_S)
    with ThreadPoolExecutor() as threads:
        held = Held(bulkhead, threads, 2)
        waiting = threads.submit(is_refused, bulkhead)
        while not bulkhead._waiting:
            time.sleep(0.01)
        assert is_refused(bulkhead)
        held.let_go()
        assert not waiting.result(WAIT_S)


def test_two_look_at_once_and_keep_nobody_from_being_refused() -> None:
    bulkhead = Bulkhead(away, at_once=1, waiting=4, late_s=0.3)
    done = threading.Event()

    def look(begun: threading.Event) -> None:
        with bulkhead.look():
            begun.set()
            assert done.wait(WAIT_S)

    with ThreadPoolExecutor() as threads:
        held = Held(bulkhead, threads, 1)
        for _ in range(2):
            begun = threading.Event()
            threads.submit(look, begun)
            assert begun.wait(WAIT_S)
        assert is_refused(bulkhead, looks=True)
        assert is_refused(bulkhead), "the one that has a place is late, whoever looks"
        done.set()
        held.let_go()
