"""What becomes of what waits for a store: in its order, once, within bounds, and to the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from ingest.vision import writer as writer_module
from ingest.vision.recorder import Found, LeaseLost, Recorder
from ingest.vision.scenarios.findings import Finding
from ingest.vision.writer import Writer
from store.camera_streams import Stream
from store.errors import Unavailable
from tests.support.calls import wait_until

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


class Store:
    """A recorder that does what it is told to, `before` it takes anything."""

    def __init__(self) -> None:
        self.before: Callable[[], None] = lambda: None
        self.tries = 0
        self.events: list[Found] = []
        self.visitors: list[tuple[datetime, int]] = []
        self.better: list[str] = []
        self.newest: list[bytes] = []
        self.told: list[bytes | None] = []

    def _try(self) -> None:
        self.tries += 1
        self.before()

    def record(self, _: Stream, found: list[Found], visitors: list[Any], __: object, progress: bytes | None) -> None:
        self._try()
        self.events += found
        self.visitors += visitors
        self.told.append(progress)

    def replace_picture(self, _: Stream, event_id: str, __: bytes) -> None:
        self._try()
        self.better.append(event_id)

    def keep_newest(self, _: Stream, picture: bytes) -> None:
        self._try()
        self.newest.append(picture)

    @property
    def subjects(self) -> list[str]:
        return [each.subject for each in self.events]


class Halt:
    """Of whoever asks the store, until it is over; then `failure` is raised."""

    def __init__(self, failure: Exception | None = None) -> None:
        self._is_there, self._is_over = threading.Event(), threading.Event()
        self._failure = failure

    def __call__(self) -> None:
        self._is_there.set()
        assert self._is_over.wait(60)
        if self._failure is not None:
            raise self._failure

    def wait(self) -> None:
        assert self._is_there.wait(60)

    def end(self) -> None:
        self._is_over.set()


class Fails:
    def __init__(self, *failures: Exception, always: Exception | None = None) -> None:
        self._failures, self._always = list(failures), always

    def __call__(self) -> None:
        if self._failures:
            raise self._failures.pop(0)
        if self._always is not None:
            raise self._always


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(writer_module, "_RETRY_S", 0.01)
    return Store()


@pytest.fixture
def writer(store: Store) -> Iterator[Writer]:
    stream = cast(Stream, type("Door", (), {"id": "door"}))
    with Writer(lambda: stream, cast(Recorder, store)) as made:
        yield made
        store.before = lambda: None


def picture(grey: int = 0) -> npt.NDArray[np.uint8]:
    return np.full((36, 64, 3), grey, np.uint8)


def found(subject: str) -> Found:
    return Found(Finding("person_entered", subject, 0.9), subject, picture(), NOON, 64, 36)


def away() -> Unavailable:
    return Unavailable("The blob store does not answer.")


def test_what_was_found_while_a_try_hung_comes_after_what_that_tried(store: Store, writer: Writer) -> None:
    store.before = halt = Halt(away())
    writer.add([found("1")], b"1")
    halt.wait()
    writer.add([found("2")], b"2")
    writer.add_people([(NOON, 7)], [], b"3")
    assert not writer.has_written_all
    store.before = lambda: None
    halt.end()
    wait_until(lambda: writer.has_written_all, 0.001)
    assert store.subjects == ["1", "2"]
    assert (store.visitors, store.told) == ([(NOON, 7)], [b"3"])


def test_all_that_waits_is_written_before_an_orderly_end(store: Store, writer: Writer) -> None:
    store.before = halt = Halt()
    writer.add([found("0")], b"0")
    halt.wait()
    for number in range(1, 40):
        writer.add([found(str(number))], str(number).encode())
    store.before = lambda: None
    threading.Timer(0.1, halt.end).start()
    writer.finish()
    assert store.subjects == [str(number) for number in range(40)]
    assert store.told[-1] == b"39"
    assert not writer._thread.is_alive()


def test_the_end_waits_for_one_more_try_and_no_longer(store: Store, writer: Writer) -> None:
    store.before = halt = Halt(away())
    writer.add([found("1")], b"1")
    halt.wait()
    threading.Timer(0.1, halt.end).start()
    writer.finish()
    assert store.tries == 2, "what hung since before says nothing of the store as it is now"
    assert not writer._thread.is_alive()
    assert not writer.has_written_all


def test_nothing_is_written_after_the_lease_went(store: Store, writer: Writer) -> None:
    store.before = Fails(LeaseLost())
    writer.add([found("1")], b"1")
    writer.keep_newest(picture())
    wait_until(lambda: not writer._thread.is_alive(), 0.001)
    writer.add([found("2")], b"2")
    with pytest.raises(LeaseLost):
        writer.check()
    writer.finish()
    assert store.tries == 1
    assert not writer.has_written_all, "nobody may be told that it was"


def test_who_looks_may_learn_first_that_the_lease_went(store: Store) -> None:
    writer = Writer(lambda: cast(Stream, None), cast(Recorder, store))
    store.before = halt = Halt(away())

    def look() -> None:
        with writer:
            writer.add([found("1")], b"1")
            halt.wait()
            threading.Timer(0.1, halt.end).start()
            raise LeaseLost

    with pytest.raises(LeaseLost):
        look()
    assert store.tries == 1
    assert not writer._thread.is_alive()


def test_what_cannot_be_written_keeps_nothing_else_back_and_is_told(store: Store, writer: Writer) -> None:
    store.before = Fails(KeyError("odd"))
    writer.add([found("1"), found("2")], b"2")
    wait_until(lambda: writer.has_written_all and writer.failure is None, 0.001)
    assert store.subjects == ["2"]
    store.before = Fails(always=KeyError("odd"))
    writer.add([found("3")], b"3")
    wait_until(lambda: isinstance(writer.failure, KeyError), 0.001)
    wait_until(lambda: writer.failure is None, 0.001)  # nothing waits any more


def test_a_better_picture_is_that_of_an_event_that_waits_or_comes_after_it(store: Store, writer: Writer) -> None:
    store.before = halt = Halt(away())
    first, second = found("1"), found("2")
    writer.add([first], b"1")
    halt.wait()
    writer.add([second], b"2")
    for each in (first, second):
        writer.replace_picture(each.event_id, picture(200))
    store.before = Fails(away(), away())
    halt.end()
    wait_until(lambda: store.better == [first.event_id], 0.001)
    assert store.subjects == ["1", "2"]
    assert store.events[0].image != store.events[1].image


def test_the_newest_picture_waits_for_events_and_is_the_newest(store: Store, writer: Writer) -> None:
    store.before = halt = Halt(away())
    writer.add([found("1")], b"1")
    halt.wait()
    for grey in (10, 20, 30):
        writer.keep_newest(picture(grey))
    store.before = lambda: None
    halt.end()
    wait_until(lambda: bool(store.newest), 0.001)
    assert store.subjects == ["1"]
    assert store.newest == [writer_module.newest_as_jpeg(picture(30))]


def test_after_a_newest_picture_that_hung_events_find_a_pause(
    store: Store, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock_s = [1000.0]
    monkeypatch.setattr(writer_module, "time", SimpleNamespace(monotonic=lambda: clock_s[0]))
    store.before = halt = Halt(away())
    writer.keep_newest(picture())
    halt.wait()
    clock_s[0] += 30
    writer.keep_newest(picture(30))
    writer.add([found("1")], b"1")
    store.before = lambda: None
    halt.end()
    wait_until(lambda: writer.has_written_all, 0.001)
    clock_s[0] += 4
    writer.add([found("2")], b"2")
    wait_until(lambda: writer.has_written_all, 0.001)
    assert (store.subjects, store.newest, store.tries) == (["1", "2"], [], 3)
    assert writer.failure is None, "no event failed"
    clock_s[0] += 2
    writer.add([found("3")], b"3")
    wait_until(lambda: bool(store.newest), 0.001)


def test_what_waits_is_bounded(store: Store, writer: Writer) -> None:
    store.before = halt = Halt(away())
    writer.add([found("0")], b"0")
    halt.wait()
    for number in range(1, 500):
        writer.add([found(str(number))], b"")
        writer.replace_picture(f"of before {number}", picture())
    store.before = lambda: None
    halt.end()
    wait_until(lambda: len(store.better) == 20, 0.001)
    assert [int(each) for each in store.subjects] == list(range(400, 500))
    assert store.better[-1] == "of before 499"
