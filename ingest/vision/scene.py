"""What happens in front of one camera: each picture that is looked at goes through the trackers and the scenarios that
the stream asks for, and out come findings, visitors and sums."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

import numpy as np

from ingest.vision.attention import SEARCHING_S, Attention
from ingest.vision.eyes import Eyes
from ingest.vision.frames import Frame
from ingest.vision.kept_pictures import KeptPictures
from ingest.vision.motion import WIDTH
from ingest.vision.plate_reader import SURE
from ingest.vision.reading_desk import Reading, ReadingDesk
from ingest.vision.reading_turns import ReadingTurns
from ingest.vision.recorder import Found, Sums
from ingest.vision.reidentify import cut_out
from ingest.vision.remembered import Remembered
from ingest.vision.scenarios import queues_left
from ingest.vision.scenarios.barcodes import Barcodes, read_codes
from ingest.vision.scenarios.falls import Falls, Pose
from ingest.vision.scenarios.findings import Box, EventType, Finding, Tracked, overlap
from ingest.vision.scenarios.fire import Fire
from ingest.vision.scenarios.intrusion import Intrusion
from ingest.vision.scenarios.plates import Plates
from ingest.vision.scenarios.ppe import Ppe
from ingest.vision.scenarios.traffic import Traffic
from ingest.vision.tracking import Tracker
from ingest.vision.visitors import LEAST_QUALITY, UNKNOWN_FROM, Visitors, quality_of
from ingest.vision.yolo import Pixels
from ingest.vision.zones import zone_of
from store.camera_streams import Stream
from store.camera_visitors import VisitorLooks
from store.ids import new_id

_CODES_S = 0.4
_FIRE_S = 0.35
_POSES_S = 0.2
_EQUIPMENT_S, _EQUIPMENT_AT_ONCE = 0.3, 3
_PLATES_S = 0.2
_CONTAINERS_S = 1.0
_PLATE_FROM = 0.3
MOST_LOOKS, _LOOKS_S = 20, 0.2
"""At one person's appearance, and the pause between two."""
_SAME_PERSON = 0.5

T = TypeVar("T")
_Part = Callable[[], list[Finding]]


class Scene:
    """One stream's, for one size of picture. Not for several threads. `progress`, `visitors`: what the scene before
    left, and whom it knew."""

    def __init__(
        self,
        stream: Stream,
        width: int,
        height: int,
        eyes: Eyes,
        progress: bytes | None,
        visitors: Visitors,
        now: datetime,
    ) -> None:
        self.size = width, height
        self.visitors = visitors
        self.seen: list[Tracked] = []
        """Who and what is in the picture that was looked at last, as findings number them."""
        self.failure: Exception | None = None
        """What a part of the last step failed by; what the others found was given all the same."""
        self._eyes = eyes
        self._scenarios = frozenset(stream.scenarios)
        zones = [zone_of(row) for row in stream.zones]
        self._run = new_id()[-12:]
        self._traffic = Traffic(zones, width, height)
        self._intrusion = Intrusion(zones, width, height)
        self._ppe = Ppe(eyes.equipment_known() if "ppe" in self._scenarios else frozenset(), width, height)
        self._falls, self._fire = Falls(), Fire(width, height)
        self._plates, self._containers, self._barcodes = Plates(), Plates(), Barcodes()
        self._people, self._vehicles = Tracker(), Tracker()
        self._plate_tracks = Tracker(begins_at=_PLATE_FROM)  # what is no plate is not read as one
        told = _told(progress)
        self._queues_left = queues_left.parsed(told.get("queues"))
        self._counted_at = now
        self._remembered = Remembered(told.get("said"), now, width, height)
        self._known_visitors = 0
        self._entered: set[int] = set()  # who is none of the visitors yet
        self._gone_vehicles: list[int] = []  # since the last look for containers
        self._looks: dict[int, tuple[int, float]] = {}  # how often a person's appearance was noted, and when last
        self._equipped_s: dict[int, float] = {}  # when a person was last looked at for equipment
        self._plate_turns, self._container_turns = ReadingTurns(), ReadingTurns()
        self._plate_desk, self._container_desk = ReadingDesk(), ReadingDesk()
        self._new_visitors: list[int] = []
        self._looked_s = self._codes_s = self._plates_s = self._containers_s = float("-inf")
        self._fire_s = self._poses_s = float("-inf")
        self._attention = Attention()
        self._pictures = KeptPictures()

    def step(self, frame: Frame, moves: bool) -> Iterator[list[Found]]:
        """What a picture tells, as soon as each part of it is found: who steps into a zone does not wait until plates
        are read. To be taken to its end. `moves`: whether anything does in it; a still one is looked at now and then.
        """
        now_s, self.failure = frame.arrived_s, None
        has_news = self._plate_desk.has_news or self._container_desk.has_news
        if not self._attention.looks(now_s, moves or has_news):
            for tracker in (self._people, self._vehicles, self._plate_tracks):
                tracker.rest(now_s)
            self._fire.rest(now_s)
            self._remembered.rest(frame.seen_at)
            return
        self._looked_s, self.seen = now_s, []
        image = frame.image
        parts: tuple[_Part, ...] = (
            *(self._try(lambda: self._at_things(frame, image, now_s, moves)) or ()),
            lambda: self._at_fire(frame, image, now_s),
            lambda: self._at_codes(image, now_s),
            lambda: self._at_plates(frame, image, now_s),
        )
        for part in parts:
            news = self._news(self._try(part) or [], frame)
            shown = [self._pictures.shown(each, image, frame.seen_at) for each in news]
            if shown:
                yield [
                    Found(each, f"{self._run}:{each.subject}"[:200], picture, seen_at, frame.width, frame.height)
                    for each, picture, seen_at in shown
                ]
        self._remember(frame.seen_at)

    def take_visitors(self) -> list[int]:
        """Of the day, those who were told apart since it was last asked."""
        new, self._new_visitors = self._new_visitors, []
        return new

    def take_looks(self) -> list[VisitorLooks]:
        """What became known of how visitors look since it was last asked."""
        return self.visitors.take_changed()

    @property
    def has_waits(self) -> bool:
        """Whether somebody's wait is over whose sum nobody has taken: the next scene will not know of it."""
        return bool(self._traffic.waited)

    def take_sums(self) -> Sums | None:
        """What was counted since it was last asked; None where nothing was."""
        heat = self._traffic.heat.astype(np.float32)
        waits = {zone: (each.people, each.seconds) for zone, each in self._traffic.waited.items()}
        if not waits and not heat.any():
            return None
        self._traffic.heat[:] = 0
        self._traffic.waited.clear()
        return Sums(waits, heat)

    def progress(self, now: datetime) -> bytes:
        """For the scene after this one."""
        queues = self._queues_left or self._traffic.left(self._counted_at)
        return json.dumps({"said": self._remembered.exported(now, self._entered), "queues": queues.exported()}).encode()

    def _try(self, part: Callable[[], T]) -> T | None:
        """What a part of a step gives; None where it fails. Tracks that end and borders that are crossed are told once:
        that one detector fails must not take along what others found, whatever it fails by."""
        try:
            return part()
        except Exception as error:
            self.failure = self.failure or error
            return None

    def _news(self, findings: Sequence[Finding], frame: Frame) -> list[Finding]:
        """Those that the worker before has not told already."""
        news = []
        for finding in findings:
            before = self._remembered.note(finding, frame.seen_at)
            # The worker before may have had no time to tell who it is that entered.
            if finding.type == "person_entered" and finding.number and (before is None or not before.is_counted):
                self._entered.add(finding.number)
            if before is None:
                news.append(finding)
        return news

    def _remember(self, at: datetime) -> None:
        """What is still there of what was said."""
        looks: tuple[tuple[float, tuple[EventType, ...], Sequence[str]], ...] = (
            (self._fire_s, ("fire", "smoke"), self._fire.present),
            (self._codes_s, ("barcode_read",), self._barcodes.present),
            (self._plates_s, ("plate_read",), self._plates.present),
            (self._containers_s, ("container_read",), self._containers.present),
        )
        for last_s, kinds, present in looks:
            if last_s == self._looked_s:
                self._remembered.see(kinds, present, at)
        if self.failure is None:
            self._remembered.tick(at)

    def _at_things(self, frame: Frame, image: Pixels, now_s: float, moves: bool) -> list[_Part]:
        """Follows people and vehicles. What is to be found out about them then, the quickest first."""
        wanted = self._scenarios & {"traffic", "ppe", "safety"}
        reads_containers = "lpr" in self._scenarios and self._eyes.has("plates")
        wants_containers = reads_containers and now_s - self._containers_s >= _CONTAINERS_S
        if not wanted and not wants_containers:
            return []
        found, wheels = self._eyes.people_and_vehicles(image, vehicles="safety" in wanted or wants_containers)
        clock_s = self._attention.clock_s
        parts: list[_Part] = []
        last: list[_Part] = []
        if wheels is not None:
            vehicles, gone = self._vehicles.step(wheels, now_s)
            self._search(self._vehicles, now_s)
            if "safety" in wanted:
                ours, ours_gone = [_renumbered(each) for each in vehicles], [-number for number in gone]
                self.seen += ours
                self._remembered.follow(ours, ours_gone, frame.seen_at)
                parts.append(lambda: self._intrusion.step(clock_s, ours, ours_gone, moves=moves))
            if reads_containers:
                self._gone_vehicles += gone
            if wants_containers:
                last.append(lambda: self._at_containers(frame, image, vehicles, now_s))
        if found is None or not wanted:
            return [*parts, *last]
        people, ended = self._people.step(found, now_s)
        self._pictures.newest("person_left", people, image)
        self._search(self._people, now_s)
        self.seen += people
        self._attention.somebody_there = bool(people)
        self._remembered.follow(people, ended, frame.seen_at)
        if "safety" in wanted:
            parts.append(lambda: self._intrusion.step(clock_s, people, ended, moves=moves))
        if "traffic" in wanted:
            parts.append(lambda: self._count(frame, people, ended, now_s))
            parts.append(lambda: self._identify(image, people, ended, now_s))
        if "safety" in wanted and (ended or now_s - self._poses_s >= _POSES_S):
            parts.append(lambda: self._at_poses(image, people, ended, now_s))
        if "ppe" in wanted and self._eyes.has("ppe"):
            parts.append(lambda: self._at_equipment(image, people, ended, now_s))
        return [*parts, *last]

    def _search(self, tracker: Tracker, now_s: float) -> None:
        """A track begins and ends after some looks with it and without, and pictures in which nothing moves get few."""
        if tracker.misses_some:
            self._attention.stay(now_s, SEARCHING_S)
        if tracker.begins_some:
            self._attention.confirm(now_s)

    def _at_equipment(
        self, image: Pixels, people: Sequence[Tracked], ended: Sequence[int], now_s: float
    ) -> list[Finding]:
        """At a few people at a time, those first who were looked at longest ago."""
        for number in ended:
            self._equipped_s.pop(number, None)
        due = [each for each in people if now_s - self._equipped_s.get(each.number, float("-inf")) >= _EQUIPMENT_S]
        due = sorted(due, key=lambda each: self._equipped_s.get(each.number, float("-inf")))[:_EQUIPMENT_AT_ONCE]
        looks = [self._eyes.equipment(image, person.box) for person in due]
        if not self._eyes.has("ppe"):  # it was found to be of no use: nobody was looked at
            return []
        items = [item for look in looks for item in look]
        self._equipped_s |= {person.number: now_s for person in due}
        return self._ppe.step(now_s, due, items, ended) if due or ended else []

    def _count(self, frame: Frame, people: Sequence[Tracked], ended: Sequence[int], now_s: float) -> list[Finding]:
        if frame.seen_at.date() != self.visitors.day:
            self.visitors = self.visitors.next_day(frame.seen_at.date())
        findings: list[Finding] = []
        if self._queues_left is not None:
            left, self._queues_left = self._queues_left, None
            findings += self._traffic.go_on(left, now_s, (frame.seen_at - left.at).total_seconds())
        findings += self._traffic.step(now_s, people, ended)
        self._counted_at = frame.seen_at
        for before, finding in self._traffic.gone_on:
            self._remembered.note(finding, frame.seen_at)
            if before in self._entered and finding.number:
                self._entered.discard(before)
                self._entered.add(finding.number)
        if self._traffic.wants_looks:
            self._attention.stay(now_s, SEARCHING_S)
        return findings

    def _identify(self, image: Pixels, people: Sequence[Tracked], ended: Sequence[int], now_s: float) -> list[Finding]:
        """Who of those that entered is a visitor known before; no finding, but `take_visitors`."""
        if self._eyes.has("people"):
            self._try(lambda: self._look_at_each(image, people, now_s))
            self._try(lambda: self._tell_apart(people, ended))
        # Without a model, or where that has just been found to be of no use, everyone is another.
        if not self._eyes.has("people"):
            for _ in range(len(self._entered)):
                self._known_visitors += 1
                self._new_visitors.append(UNKNOWN_FROM + int(self._run[:4], 16) * 10_000 + self._known_visitors)
            self._entered = set()
        return []

    def _look_at_each(self, image: Pixels, people: Sequence[Tracked], now_s: float) -> None:
        boxes = [each.box for each in people]
        for place, person in enumerate(people):
            others = boxes[:place] + boxes[place + 1 :]
            quality = quality_of(person.box, person.confidence, *self.size, others)
            looks, last_s = self._looks.get(person.number, (0, float("-inf")))
            if looks >= MOST_LOOKS or now_s - last_s < _LOOKS_S or quality < LEAST_QUALITY:
                continue
            crop = cut_out(image, person.box)
            vectors = None if crop is None else self._eyes.embed([crop])
            if vectors is not None:
                self._looks[person.number] = looks + 1, now_s
                self.visitors.see(person.number, vectors[0], quality, now_s)

    def _tell_apart(self, people: Sequence[Tracked], ended: Sequence[int]) -> None:
        """Who of those that entered is a visitor known before."""
        for number in [*(person.number for person in people), *ended]:
            visit = self.visitors.visitor_of(number, is_over=number in ended)
            if visit is not None and number in self._entered:
                self._new_visitors.append(visit.visitor)
                self._entered.discard(number)
        self._entered = {number for number in self._entered if self._traffic.may_go_on(number)}
        for number in ended:
            self._looks.pop(number, None)

    def _at_poses(self, image: Pixels, people: Sequence[Tracked], ended: Sequence[int], now_s: float) -> list[Finding]:
        self._poses_s = now_s
        return self._falls.step(now_s, self._poses(image, people), ended)

    def _poses(self, image: Pixels, people: Sequence[Tracked]) -> list[Pose]:
        if not people or not self._eyes.has("poses"):
            return []
        poses = self._eyes.poses(image)
        if poses is None:
            return []
        found: list[Pose] = []
        for person in people:
            overlaps = [overlap(person.box, _box(row)) for row in poses.boxes.xyxy]
            if overlaps and max(overlaps) >= _SAME_PERSON:
                found.append(Pose(person, poses.keypoints[int(np.argmax(overlaps))]))
        return found

    def _at_fire(self, frame: Frame, image: Pixels, now_s: float) -> list[Finding]:
        if "safety" not in self._scenarios or not self._eyes.has("fire") or now_s - self._fire_s < _FIRE_S:
            return []
        self._fire_s = now_s
        burning = self._eyes.burning(image)
        if burning is None:
            return []
        findings = self._fire.step(now_s, burning, frame.thumbnail(WIDTH))
        if self._fire.wants_looks:
            self._attention.stay(now_s)
        return findings

    def _at_codes(self, image: Pixels, now_s: float) -> list[Finding]:
        if "barcode" not in self._scenarios or now_s - self._codes_s < _CODES_S:
            return []
        self._codes_s = now_s
        findings = self._barcodes.step(self._attention.clock_s, read_codes(image, thorough=False))
        if self._barcodes.wants_looks:
            self._attention.stay(now_s)
        return findings

    def _at_plates(self, frame: Frame, image: Pixels, now_s: float) -> list[Finding]:
        if "lpr" not in self._scenarios or not self._eyes.has("plates") or now_s - self._plates_s < _PLATES_S:
            return []
        self._plates_s = now_s
        found = self._eyes.plates(image)
        if found is None:
            return []
        tracked, gone = self._plate_tracks.step(found, now_s)
        if self._plate_tracks.begins_some:
            self._attention.confirm(now_s)
        self._plate_turns.found(self._take_read(self._plate_desk, self._plates, "plate_read"))
        ended = self._plate_desk.settled(gone)
        findings = self._plates.step(self._attention.clock_s, tracked, ended)
        unread = self._plate_turns.unread(tracked, self._plates.is_told)
        if self._plate_desk.is_free:
            due = self._plate_turns.due(tracked, now_s, self._plates.is_told)
            self._plate_desk.begin(due, image, frame.seen_at, partial(self._read_plate, image))
        if unread or self._plates.misses_some:
            self._attention.stay(now_s)
        self._plate_turns.forget(ended)
        return findings

    def _at_containers(self, frame: Frame, image: Pixels, vehicles: Sequence[Tracked], now_s: float) -> list[Finding]:
        self._containers_s = now_s
        gone, self._gone_vehicles = self._gone_vehicles, []
        is_told = partial(self._containers.is_told, kind="container")
        read = self._take_read(self._container_desk, self._containers, "container_read")
        findings = self._containers.step(self._attention.clock_s, vehicles, self._container_desk.settled(gone))
        self._container_turns.found(read)
        self._container_turns.forget(gone)
        if self._container_desk.is_free:
            due = self._container_turns.due(vehicles, now_s, is_told)
            self._container_desk.begin(due, image, frame.seen_at, partial(self._read_container, image))
        if not all(map(is_told, read)) or self._containers.misses_some:
            self._attention.stay(now_s)
        return findings

    def _read_plate(self, image: Pixels, plate: Tracked) -> Reading:
        is_sure = self._plates.confidence_of(plate.number) >= SURE
        return self._eyes.later(lambda: self._eyes.read_plate(image, plate.box, is_sure=is_sure))

    def _read_container(self, image: Pixels, vehicle: Tracked) -> Reading:
        return self._eyes.later(lambda: self._eyes.read_container(image, vehicle.box))

    def _take_read(self, desk: ReadingDesk, plates: Plates, told: EventType) -> list[int]:
        """Counts what was read meanwhile; gives the numbers of the things on which something was."""
        numbers = []
        for look in desk.take():
            # One that cannot be read is no reason to forget the others.
            readings = self._try(look.reading.result)
            if not readings:
                continue
            numbers.append(look.thing.number)
            plates.read(look.thing, readings)
            if not plates.is_told(look.thing.number, readings[0].kind):
                surest = max(reading.confidence for reading in readings)
                self._pictures.best(told, look.thing, look.image, look.seen_at, surest)
        return numbers


def _box(row: Sequence[float]) -> Box:
    return float(row[0]), float(row[1]), float(row[2]), float(row[3])


def _renumbered(vehicle: Tracked) -> Tracked:
    """Vehicles and people have numbers of their own."""
    return Tracked(-vehicle.number, vehicle.box, vehicle.confidence)


def _told(progress: bytes | None) -> dict[str, str]:
    try:
        told = json.loads(progress) if progress else {}
    except ValueError:
        return {}  # of another release
    return told if isinstance(told, dict) else {}
