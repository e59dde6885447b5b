"""Memory that a detector's callers and its child share: a slot for each picture in flight."""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections import deque
from dataclasses import dataclass, field
from threading import Event, Lock

import cv2
import numpy as np

from ingest.vision.network_runtimes import MOST_SIZE
from ingest.vision.yolo import GREY, Fit, Floats, Pixels, fit_into, resized

SLOT_BYTES = 3840 * 2160 * 3
"""For a whole picture, where the network's side makes the square of it. What is not written takes no memory."""
assert SLOT_BYTES >= MOST_SIZE * MOST_SIZE * 3


def square_in(memory: mmap.mmap, slot: int, size: int) -> Pixels:
    """The picture in a slot: size x size x 3, RGB."""
    return picture_in(memory, slot, size, size)


def picture_in(memory: mmap.mmap, slot: int, width: int, height: int) -> Pixels:
    """The picture in a slot: height x width x 3, RGB."""
    flat = np.frombuffer(memory, np.uint8, width * height * 3, slot * SLOT_BYTES)
    return flat.reshape(height, width, 3)


def letterbox_into(image: Pixels, square: Pixels) -> Fit:
    """Writes a picture (height x width x 3, RGB) into the square (size x size x 3), as `yolo.letterbox` lays it."""
    height, width = image.shape[:2]
    fit = fit_into(width, height, len(square))
    inner_width, inner_height = max(1, round(width * fit.scale)), max(1, round(height * fit.scale))
    image = resized(image, inner_width, inner_height)
    bottom, right = fit.top + inner_height, fit.left + inner_width
    square[: fit.top] = square[bottom:] = GREY
    square[:, : fit.left] = square[:, right:] = GREY
    square[fit.top : bottom, fit.left : right] = image
    return fit


def planes_of(squares: list[Pixels]) -> Floats:
    """n x 3 x rows x size, 0 to 1, of n pictures of rows x size x 3."""
    planes = np.empty((len(squares), 3, *squares[0].shape[:2]), np.float32)
    for place, square in enumerate(squares):
        # Split first: half of the time that numpy needs to divide colour by colour in place.
        for plane, colour in zip(planes[place], cv2.split(square), strict=True):
            np.divide(colour, np.float32(255), out=plane)
    return planes


@dataclass(slots=True, eq=False)
class _Turn:
    slot: int | None = None
    come: Event = field(default_factory=Event)


class Slots:
    """So many pictures can be in flight; who finds no slot stands in line, so a busy stream does not push in.

    The memory belongs to no name and no child: it goes when the last process that has it ends. Pages that were never
    written take none.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError("a detector needs a slot")
        self.count = count
        self.number = os.memfd_create("detector")
        try:
            os.ftruncate(self.number, count * SLOT_BYTES)
            self._memory = mmap.mmap(self.number, count * SLOT_BYTES)
        # The file has no name, so that nobody else could close it.
        except BaseException:
            os.close(self.number)
            raise
        self._lock = Lock()
        self._free = list(range(count))
        self._line: deque[_Turn] = deque()
        self._closed = False

    @property
    def free(self) -> int:
        """How many are."""
        with self._lock:
            return len(self._free)

    def square(self, slot: int, size: int) -> Pixels:
        return square_in(self._memory, slot, size)

    def picture(self, slot: int, width: int, height: int) -> Pixels:
        return picture_in(self._memory, slot, width, height)

    def take(self, deadline_s: float) -> int | None:
        """A slot, the callers in the order of their coming; None once the slots are closed. Raises TimeoutError."""
        turn = _Turn()
        with self._lock:
            if self._closed:
                return None
            if self._free:
                return self._free.pop()
            self._line.append(turn)
        try:
            turn.come.wait(max(0.0, deadline_s - time.monotonic()))
        # An interrupt, too, must not lose the slot that came meanwhile.
        except BaseException:
            self._leave(turn)
            if turn.slot is not None:
                self.give_back(turn.slot)
            raise
        self._leave(turn)
        if turn.slot is None and not self._closed:
            raise TimeoutError
        return turn.slot

    def give_back(self, slot: int) -> None:
        with self._lock:
            assert slot not in self._free, "a slot is given back once"
            if self._line:
                turn = self._line.popleft()
                turn.slot = slot
                turn.come.set()
            else:
                self._free.append(slot)
            self._let_go()

    def close(self) -> None:
        """Wakes those in line. The memory goes with the last slot that is given back."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            for turn in self._line:
                turn.come.set()
            self._line.clear()
            os.close(self.number)
            self._let_go()

    def _let_go(self) -> None:
        """Needs the lock."""
        if self._closed and len(self._free) == self.count:
            # Whoever still holds a view of it, such as an error's traceback, keeps it until then.
            with contextlib.suppress(BufferError):
                self._memory.close()

    def _leave(self, turn: _Turn) -> None:
        with self._lock, contextlib.suppress(ValueError):
            self._line.remove(turn)
