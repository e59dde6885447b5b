"""Traffic: who comes and goes, where people stay, and queues.

An entrance is a zone in front of a door: who comes out of it into the picture has entered, who goes into it and is seen
no more has left. Where a camera has no entrance its whole border is one, and so is any place in which somebody comes
into view or vanishes for good, such as a door that nobody drew. Who a person is, and whether the same one came before,
is told by re-identification; here people are tracks, and one that breaks off goes on in one that soon begins nearby.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ingest.vision.attention import OTHERS_AFTER_S, UNSEEN_S
from ingest.vision.scenarios.findings import EventType, Finding, Tracked
from ingest.vision.scenarios.queues_left import QueuesLeft, Waiting
from ingest.vision.zones import Point, Zone, foot_point

HEAT_COLUMNS, HEAT_ROWS = 64, 36
STEADY_FRAMES = 3
"""So long a track must be on the other side of a border: boxes tremble."""
QUEUE_PEOPLE = 3
QUEUE_AFTER_S = 5.0
"""So long a queue must be there, or be gone."""
_PASSING_S = 3.0  # who is in a queue's zone for less only crosses it
LEFT_QUEUE_AFTER_S = 2.5
"""So long out of a queue's zone, and the wait is over: who steps aside, or whose box trembles, still waits."""
AGAIN_AFTER_S = 5.0
"""So long after somebody was lost within the picture, a track that begins nearby is the same person's."""
_BORDER = 0.03  # of the picture's width or height: who is as near to its border comes or goes there
_NEAR, _NEAR_A_SECOND = 0.5, 0.5  # in heights of the person: how far one gets while nobody sees them
_LEAST_HEIGHT, _MOST_HEIGHT = 0.5, 2.0  # of what it was
_MISSED_S = 0.5  # a track that the tracker still looks for may go on under another number
_MOST_LOST = 64


@dataclass
class Waited:
    """How long people waited in a queue's zone, of those who left it. Seconds."""

    people: int = 0
    seconds: float = 0.0


class _Outside(NamedTuple):
    """Of a queue's zone: when they were last seen in it, and on the clock of looks when they were first out of it."""

    last_in_s: float
    since_clock_s: float


@dataclass
class _Person:
    last: Tracked
    last_s: float
    last_clock_s: float
    is_inside_door: bool | None = None  # steadily; None while it is not known
    frames_otherwise: int = 0
    entered: bool = False
    door: str | None = None
    queue_since_s: dict[str, float] = field(default_factory=dict)
    outside: dict[str, _Outside] = field(default_factory=dict)  # of a queue's zone, for who may come back to it

    def last_in_s(self, zone: str) -> float:
        """When they were last seen in a queue's zone."""
        outside = self.outside.get(zone)
        return self.last_s if outside is None else outside.last_in_s


@dataclass
class _Queue:
    is_there: bool = False
    otherwise_since_clock_s: float | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class _Wait:
    """Somebody's, as the worker before left it."""

    zone: str
    since_s: float
    last_s: float
    place: Point


class Traffic:
    """One camera's. Not for several threads."""

    def __init__(self, zones: Sequence[Zone], width: int, height: int) -> None:
        self._doors = [zone for zone in zones if zone.kind == "entrance"]
        self._queues = {zone.name: (zone, _Queue()) for zone in zones if zone.kind == "queue"}
        self._size = width, height
        self._people: dict[int, _Person] = {}
        self._lost: list[_Person] = []
        self._waits: list[_Wait] = []  # of whom nobody knows yet who goes on with them
        self._waits_until_clock_s = float("-inf")
        self._numbers = count(1)
        self._last_s: float | None = None
        # As `Attention` counts: that a look had to wait says nothing of a queue, or of who was lost.
        self._clock_s = 0.0
        self.heat: npt.NDArray[np.float64] = np.zeros((HEAT_ROWS, HEAT_COLUMNS))
        """Person-seconds in each cell since it was last taken; rows from above."""
        self.waited: dict[str, Waited] = {}
        """By the zone, since it was last taken."""
        self.gone_on: list[tuple[int, Finding]] = []
        """Of the last step: who entered, the number that they had, and what was told with their new one."""

    def go_on(self, left: QueuesLeft, now_s: float, gap_s: float) -> list[Finding]:
        """With what the worker before left, `gap_s` ago: before the first step, which is at `now_s`. Who stands in a
        queue's zone then goes on with one of its waits, the nearest. Queues whose zones are no more are gone."""
        ended_s = now_s - max(0.0, gap_s)
        for each in left.waiting:
            wait = _Wait(each.zone, ended_s - each.waited_s, ended_s - each.unseen_s, each.place)
            if gap_s > OTHERS_AFTER_S or each.zone not in self._queues:
                self._count_wait(wait.zone, wait.last_s - wait.since_s)
            else:
                self._waits.append(wait)
        self._waits_until_clock_s = self._clock_s + AGAIN_AFTER_S
        gone = []
        for name in left.formed:
            number = next(self._numbers)
            if name in self._queues:
                queue = self._queues[name][1]
                queue.is_there, queue.number = True, number
            else:
                details = {"people": 0, "longest_wait_s": 0.0}
                gone.append(Finding("queue_cleared", f"{name}:{number}", 1.0, zone=name, details=details))
        return gone

    def left(self, at: datetime) -> QueuesLeft:
        """For the worker after this one. `at`: when the last step was."""
        now_s = self._last_s or 0.0
        waits = [
            _Wait(name, since_s, person.last_in_s(name), foot_point(person.last.box, *self._size))
            for person in (*self._people.values(), *self._lost)
            for name, since_s in person.queue_since_s.items()
        ]
        waiting = [
            Waiting(each.zone, now_s - each.since_s, now_s - each.last_s, each.place) for each in (*waits, *self._waits)
        ]
        return QueuesLeft(at, waiting, [name for name, (_, queue) in self._queues.items() if queue.is_there])

    def step(self, now_s: float, people: Sequence[Tracked], ended: Sequence[int]) -> list[Finding]:
        """What a frame at `now_s` (monotonic) tells. `ended`: tracks that the tracker has given up."""
        pause_s = now_s - self._last_s if self._last_s is not None else 0.0
        lasted = min(1.0, pause_s)
        if pause_s > OTHERS_AFTER_S:
            self._clock_s += pause_s
            for _, queue in self._queues.values():
                queue.otherwise_since_clock_s = None  # others may wait there now, and are not known yet
        else:
            self._clock_s += min(UNSEEN_S, pause_s)
        self._last_s, self.gone_on = now_s, []
        findings = self._given_up()
        for seen in people:
            person = self._people.get(seen.number) or self._begun(seen, now_s)
            before_s = person.last_s
            person.last, person.last_s, person.last_clock_s = seen, now_s, self._clock_s
            place = foot_point(seen.box, *self._size)
            self._warm(place, lasted)
            findings += self._passed(person, seen, place)
            for name, (zone, _) in self._queues.items():
                if place in zone:
                    if name not in person.queue_since_s:
                        person.queue_since_s[name] = self._waiting_since(name, place, now_s)
                    person.outside.pop(name, None)
                elif name in person.queue_since_s:
                    since = person.outside.setdefault(name, _Outside(before_s, self._clock_s))
                    if self._clock_s - since.since_clock_s >= LEFT_QUEUE_AFTER_S:
                        self._left_queue(person, name)
        for number in ended:
            findings += self._ended(number)
        for name, (_, queue) in self._queues.items():
            findings += self._queue_changed(name, queue, now_s)
        return findings

    def may_go_on(self, number: int) -> bool:
        """Whether somebody with that number is there, or was lost and may be found again with another."""
        return number in self._people or any(person.last.number == number for person in self._lost)

    @property
    def wants_looks(self) -> bool:
        """Whether somebody was lost within the picture, and may be found again or have left; or a queue may have formed
        or be gone, which takes some looks to say."""
        return bool(self._lost or self._waits) or any(
            queue.otherwise_since_clock_s is not None for _, queue in self._queues.values()
        )

    def _warm(self, place: Point, seconds: float) -> None:
        column = min(HEAT_COLUMNS - 1, max(0, int(place[0] * HEAT_COLUMNS)))
        row = min(HEAT_ROWS - 1, max(0, int(place[1] * HEAT_ROWS)))
        self.heat[row, column] += seconds

    def _passed(self, person: _Person, seen: Tracked, place: Point) -> list[Finding]:
        """Who has come through a door, once they are steadily out of it."""
        door = next((zone.name for zone in self._doors if place in zone), None)
        is_inside = door is not None
        if person.is_inside_door is None or is_inside != person.is_inside_door:
            person.frames_otherwise += 1
            if person.frames_otherwise < STEADY_FRAMES:
                return []
            before, person.is_inside_door = person.is_inside_door, is_inside
            person.frames_otherwise = 0
            came_out = before is True and not is_inside
            came_in_view = before is None and not self._doors
            if not person.entered and (came_out or came_in_view):
                person.entered = True
                return [_finding("person_entered", seen, person.door)]
        else:
            person.frames_otherwise = 0
        person.door = door or person.door
        return []

    def _ended(self, number: int) -> list[Finding]:
        person = self._people.pop(number, None)
        if person is None:
            return []
        if not self._is_at_door(person.last):
            self._lost.append(person)
            return self._gone(self._lost.pop(0)) if len(self._lost) > _MOST_LOST else []
        return self._gone(person)

    def _given_up(self) -> list[Finding]:
        """Of those lost within the picture who were not found again. Waits with which nobody goes on are over too."""
        if self._clock_s > self._waits_until_clock_s:
            for wait in self._waits:
                self._count_wait(wait.zone, wait.last_s - wait.since_s)
            self._waits = []
        again_from_s = self._clock_s - AGAIN_AFTER_S
        gone = [person for person in self._lost if person.last_clock_s < again_from_s]
        self._lost = [person for person in self._lost if person.last_clock_s >= again_from_s]
        return [finding for person in gone for finding in self._gone(person)]

    def _gone(self, person: _Person) -> list[Finding]:
        for name in list(person.queue_since_s):
            self._left_queue(person, name)
        was_steady = person.is_inside_door is not None
        left = person.is_inside_door if self._doors else was_steady
        return [_finding("person_left", person.last, person.door)] if left else []

    def _begun(self, seen: Tracked, now_s: float) -> _Person:
        """A new track; it is that of the nearest who was lost here, unless it begins where people come from."""
        missed = [
            each
            for each in self._people.values()
            if now_s - each.last_s >= _MISSED_S and not self._is_at_door(each.last)
        ]
        # Who was lost is looked for where they may be within that time, however long nobody looked.
        unseen_s = [(each, min(now_s - each.last_s, AGAIN_AFTER_S)) for each in self._lost]
        unseen_s += [(each, now_s - each.last_s) for each in missed]
        near = [each for each, seconds in unseen_s if _is_near(each, seen, seconds)]
        if self._is_at_door(seen) or not near:
            person = _Person(seen, now_s, self._clock_s)
        else:
            person = min(near, key=lambda each: _distance(each, seen))
            self._lost = [each for each in self._lost if each is not person]
            self._people.pop(person.last.number, None)
            if person.entered:
                self.gone_on.append((person.last.number, _finding("person_entered", seen, person.door)))
        self._people[seen.number] = person
        return person

    def _is_at_door(self, seen: Tracked) -> bool:
        if self._doors:
            place = foot_point(seen.box, *self._size)
            return any(place in zone for zone in self._doors)
        left, top, right, bottom = seen.box
        across, down = _BORDER * self._size[0], _BORDER * self._size[1]
        return left < across or top < down or right > self._size[0] - across or bottom > self._size[1] - down

    def _left_queue(self, person: _Person, name: str) -> None:
        self._count_wait(name, person.last_in_s(name) - person.queue_since_s.pop(name))
        person.outside.pop(name, None)

    def _count_wait(self, name: str, seconds: float) -> None:
        if seconds >= _PASSING_S:
            waited = self.waited.setdefault(name, Waited())
            waited.people += 1
            waited.seconds += seconds

    def _waiting_since(self, name: str, place: Point, now_s: float) -> float:
        """Since when somebody waits who is first seen in a queue's zone: people step forward while nobody looks, so the
        nearest of those who waited there may be anywhere in it."""
        waits = [each for each in self._waits if each.zone == name]
        if not waits:
            return now_s
        nearest = min(waits, key=lambda each: math.dist(each.place, place))
        self._waits.remove(nearest)
        return nearest.since_s

    def _queue_changed(self, name: str, queue: _Queue, now_s: float) -> list[Finding]:
        waiting = [
            person
            for person in self._people.values()
            if name in person.queue_since_s
            and (person.outside[name].last_in_s if name in person.outside else now_s)
            >= person.queue_since_s[name] + _PASSING_S
        ]
        if (len(waiting) >= QUEUE_PEOPLE) == queue.is_there:
            queue.otherwise_since_clock_s = None
            return []
        if queue.otherwise_since_clock_s is None:
            queue.otherwise_since_clock_s = self._clock_s
        if self._clock_s - queue.otherwise_since_clock_s < QUEUE_AFTER_S:
            return []
        queue.is_there, queue.otherwise_since_clock_s = not queue.is_there, None
        if queue.is_there:
            queue.number = next(self._numbers)
        longest = max((now_s - person.queue_since_s[name] for person in waiting), default=0.0)
        details: dict[str, str | int | float] = {"people": len(waiting), "longest_wait_s": round(longest, 1)}
        confidence = min((person.last.confidence for person in waiting), default=1.0)
        kind: EventType = "queue_formed" if queue.is_there else "queue_cleared"
        return [Finding(kind, f"{name}:{queue.number}", confidence, zone=name, details=details)]


def _is_near(lost: _Person, seen: Tracked, unseen_s: float) -> bool:
    height, height_now = (box[3] - box[1] for box in (lost.last.box, seen.box))
    if not _LEAST_HEIGHT * height <= height_now <= _MOST_HEIGHT * height:
        return False
    return _distance(lost, seen) <= height * (_NEAR + _NEAR_A_SECOND * unseen_s)


def _distance(lost: _Person, seen: Tracked) -> float:
    """In pixels, between the middles of the feet."""
    (left, _, right, bottom), (left_now, _, right_now, bottom_now) = lost.last.box, seen.box
    return math.hypot((left_now + right_now - left - right) / 2, bottom_now - bottom)


def _finding(kind: Literal["person_entered", "person_left"], seen: Tracked, door: str | None) -> Finding:
    return Finding(kind, str(seen.number), seen.confidence, seen.box, seen.number, door)
