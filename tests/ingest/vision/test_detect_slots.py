"""What a detector and its child share: slots of memory, handed out in order, and messages that are checked."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ingest.vision.detect_messages import Garbled, answer, parse_answer, parse_description
from ingest.vision.detect_slots import SLOT_BYTES, Slots, letterbox_into, planes_of
from ingest.vision.yolo import letterbox
from tests.ingest.conftest import WAIT_S
from tests.ingest.vision.test_detector import until


def test_slots_go_to_callers_in_the_order_of_their_coming(threads: ThreadPoolExecutor) -> None:
    slots = Slots(1)
    end_s = time.monotonic() + WAIT_S
    assert slots.take(end_s) == 0
    served: list[int] = []

    def wait(caller: int) -> None:
        slot = slots.take(end_s)
        assert slot == 0
        served.append(caller)
        slots.give_back(slot)

    waits = []
    for caller in range(6):
        waits.append(threads.submit(wait, caller))
        until(lambda: len(slots._line) == len(waits))
    with pytest.raises(TimeoutError):
        slots.take(time.monotonic() + 0.01)
    slots.give_back(0)
    for done in waits:
        done.result()
    assert served == [0, 1, 2, 3, 4, 5]
    assert slots.free == 1
    slots.close()
    assert slots.take(end_s) is None


def test_a_picture_lies_in_its_slot_as_yolo_letterboxes_it() -> None:
    slots = Slots(2)
    source = np.random.default_rng(7)
    for width, height in ((640, 640), (640, 353), (211, 640), (320, 180)):
        picture = source.integers(0, 256, (height, width, 3), np.uint8)
        square = slots.square(1, 640)
        square[:] = 255  # of the picture before
        fit = letterbox_into(picture, square)
        planes, wanted = letterbox(picture, 640)
        assert fit == wanted
        assert np.array_equal(planes_of([square, square])[1:], planes)
    assert not slots.square(0, 640).any()
    del square
    slots.close()


def test_slots_are_apart() -> None:
    slots = Slots(3)
    largest = SLOT_BYTES // 3
    side = int(largest**0.5)
    slots.square(1, side)[:] = 7
    assert not slots.square(0, side).any()
    assert not slots.square(2, side).any()
    slots.close()


def test_nothing_that_a_child_may_say_is_taken_for_an_answer() -> None:
    table = np.arange(12, dtype=np.float32).reshape(2, 6)
    whole = answer({"a": 1}, [table, np.zeros((0, 6), np.float32)])
    header, tables = parse_answer(whole)
    assert (header["a"], tables[0].tolist(), tables[1].shape) == (1, table.tolist(), (0, 6))
    bad = [b"", whole[:3], whole[:-1], whole + b"x", b"\xff" * 50, whole.replace(b"[2, 6]", b"[9, 9]")]
    bad += [whole.replace(b"[2, 6]", each) for each in (b"[-1,6]", b"[2]   ", b"[2.5,6]"[:6], b'"2,6" ')]
    for message in bad:
        with pytest.raises(Garbled):
            parse_answer(message)
    with pytest.raises(Garbled):
        parse_description({"names": 5})


def test_the_memory_goes_with_the_last_slot_that_is_in_use() -> None:
    slots = Slots(2)
    end_s = time.monotonic() + WAIT_S
    assert {slots.take(end_s), slots.take(end_s)} == {0, 1}
    slots.close()
    slots.square(1, 64)[:] = 5
    slots.give_back(0)
    assert slots.square(1, 64).all()
    slots.give_back(1)
    with pytest.raises(ValueError, match="closed"):
        slots.square(1, 64)
