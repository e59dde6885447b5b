"""The circuit breaker, over threads: who is refused, who waits for a place, and who tries again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from store.circuit import Circuit
from store.errors import Unavailable

WAIT_S = 30.0


def away() -> Unavailable:
    return Unavailable("It does not answer.")


def answered(circuit: Circuit) -> str:
    with circuit.call():
        return "answer"


def failing(circuit: Circuit, after_s: float = 0.0) -> None:
    def fail() -> None:
        with circuit.call():
            time.sleep(after_s)
            raise Unavailable("Not even in the end.")

    with pytest.raises(Unavailable, match="in the end"):
        fail()


def is_refused(circuit: Circuit) -> bool:
    try:
        return answered(circuit) != "answer"
    except Unavailable:
        return True


class Held:
    """Calls that are under way until they are let go."""

    def __init__(self, circuit: Circuit, threads: ThreadPoolExecutor, count: int, *, usual_s: float = 0.0) -> None:
        self._go = threading.Event()
        self._circuit, self._usual_s = circuit, usual_s
        under_way = threading.Barrier(count + 1)
        self.calls: list[Future[None]] = [threads.submit(self._call, under_way.wait) for _ in range(count)]
        under_way.wait(WAIT_S)

    def _call(self, begun: Callable[[], object]) -> None:
        with self._circuit.call(self._usual_s):
            begun()
            assert self._go.wait(WAIT_S)

    def let_go(self) -> None:
        self._go.set()
        for call in self.calls:
            call.result(WAIT_S)


def test_a_call_that_fails_late_opens_it_and_one_that_is_answered_closes_it() -> None:
    circuit = Circuit(away, at_once=4, late_s=0.05, open_s=0.2)
    failing(circuit, after_s=0.1)
    assert is_refused(circuit)
    time.sleep(0.3)
    failing(circuit)  # the one that tries, whose failure counts however soon it comes
    assert is_refused(circuit)
    time.sleep(0.3)
    assert answered(circuit) == "answer"
    assert answered(circuit) == "answer"


def test_a_call_that_fails_at_once_opens_nothing() -> None:
    circuit = Circuit(away, at_once=4, late_s=WAIT_S, open_s=WAIT_S)
    for _ in range(8):
        failing(circuit)
    assert answered(circuit) == "answer"


def test_an_error_that_is_an_answer_opens_nothing() -> None:
    circuit = Circuit(away, at_once=4, late_s=0.0, open_s=WAIT_S)
    with pytest.raises(KeyError), circuit.call():
        raise KeyError
    assert answered(circuit) == "answer"


def test_one_alone_tries_again() -> None:
    circuit = Circuit(away, at_once=4, late_s=0.0, open_s=0.0)
    failing(circuit)
    with ThreadPoolExecutor() as threads:
        trying = Held(circuit, threads, 1)
        assert is_refused(circuit)
        trying.let_go()
    assert answered(circuit) == "answer"


def test_who_finds_no_place_is_refused_once_a_call_is_late() -> None:
    circuit = Circuit(away, at_once=2, late_s=0.1, open_s=0.0)
    with ThreadPoolExecutor() as threads:
        held = Held(circuit, threads, 2)
        assert is_refused(circuit)
        held.let_go()
    assert answered(circuit) == "answer"


def test_who_finds_no_place_among_calls_that_are_in_time_gets_the_next() -> None:
    circuit = Circuit(away, at_once=2, late_s=0.0, open_s=0.0)
    with ThreadPoolExecutor() as threads:
        held = Held(circuit, threads, 2, usual_s=WAIT_S)
        waiting = threads.submit(answered, circuit)
        time.sleep(0.1)
        assert not waiting.done()
        held.let_go()
        assert waiting.result(WAIT_S) == "answer"
