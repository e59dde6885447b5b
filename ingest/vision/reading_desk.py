"""Texts of one stream that are read on other threads: reading takes long, and what else a picture shows does not wait.

One look is under way at a time, so the next one is at the newest picture there is then; nothing piles up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime

from ingest.vision.scenarios.findings import Tracked
from ingest.vision.scenarios.plates import PlateReading
from ingest.vision.yolo import Pixels

Reading = Future[Sequence[PlateReading]]


@dataclass(frozen=True, slots=True)
class Look:
    """A thing as it was in the picture in which it is read, and when that was (UTC)."""

    thing: Tracked
    image: Pixels
    seen_at: datetime
    reading: Reading

    @property
    def says_something(self) -> bool:
        return self.reading.exception() is None and bool(self.reading.result())


class ReadingDesk:
    """Of things of one kind. Not for several threads."""

    def __init__(self) -> None:
        self._looks: list[Look] = []
        self._ended: list[int] = []

    @property
    def is_free(self) -> bool:
        """Whether all that was begun was taken."""
        return not self._looks

    @property
    def has_news(self) -> bool:
        """Whether what was read should be taken soon."""
        return self._is_read and (bool(self._ended) or any(look.says_something for look in self._looks))

    @property
    def _is_read(self) -> bool:
        return all(look.reading.done() for look in self._looks)

    def begin(
        self, things: Sequence[Tracked], image: Pixels, seen_at: datetime, read: Callable[[Tracked], Reading]
    ) -> None:
        """Has these read, where it is free."""
        assert self.is_free, "one look at a time"
        self._looks = [Look(thing, image, seen_at, read(thing)) for thing in things]

    def take(self) -> list[Look]:
        """What was begun, once all of it is read."""
        if not self._is_read:
            return []
        looks, self._looks = self._looks, []
        return looks

    def settled(self, ended: Sequence[int]) -> list[int]:
        """Of the tracks that ended now or before, those of which nothing more will be read."""
        waiting = {look.thing.number for look in self._looks}
        ended = [*self._ended, *ended]
        self._ended = [number for number in ended if number in waiting]
        return [number for number in ended if number not in waiting]
