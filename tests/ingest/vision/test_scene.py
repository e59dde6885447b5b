"""One camera's scene over made-up boxes: what a take-over, a failing detector and scenarios beside each other cost."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
import zxingcpp

from ingest.vision.attention import SELDOM_S
from ingest.vision.detector import DetectorDied
from ingest.vision.eyes import Eyes
from ingest.vision.frames import Frame
from ingest.vision.recorder import Found
from ingest.vision.remembered import Remembered
from ingest.vision.scenarios.findings import Box, Finding, overlap
from ingest.vision.scenarios.fire import Burning
from ingest.vision.scenarios.plates import PlateReading
from ingest.vision.scenarios.traffic import AGAIN_AFTER_S
from ingest.vision.scene import Scene
from ingest.vision.yolo import Boxes
from store.camera_streams import Stream

BEGIN = datetime(2026, 11, 23, 12, tzinfo=UTC)
STEP_S = 0.1
EVERYWHERE = [[0, 0], [1, 0], [1, 1], [0, 1]]
TILL = {"name": "till", "kind": "queue", "polygon": EVERYWHERE}
VAULT = {"name": "vault", "kind": "restricted", "polygon": EVERYWHERE}
SOMEBODY: Box = (100, 100, 160, 300)
AT_THE_BORDER: Box = (5, 100, 65, 300)
QUEUE: tuple[Box, ...] = (SOMEBODY, (200, 100, 260, 300), (300, 100, 360, 300))
NOISE = np.random.default_rng(0).integers(0, 255, (720, 1280, 3), np.uint8)


def boxes_of(boxes: Iterable[Box]) -> Boxes:
    xyxy = np.array(list(boxes), np.float32).reshape(-1, 4)
    return Boxes(xyxy, np.full(len(xyxy), 0.9, np.float32), np.zeros(len(xyxy), np.int64))


class Seeing:
    """Sees what it is told to; the roles of `failing` raise."""

    def __init__(self, *roles: str) -> None:
        self.roles = {"objects", *roles}
        self.people: list[Box] = []
        self.vehicles: list[Box] = []
        self.plate_boxes: list[Box] = []
        self.flames: list[Box] = []
        self.container = "MSKU6011672"
        self.container_on: Box | None = None  # of the vehicles; without one each has it
        self.searched: list[Box] = []
        self.plate_looks = 0
        self.failing: set[str] = set()
        self.sure = [0.95]  # of each reading of a plate, and of all after them the last
        self.read: list[tuple[Any, Box]] = []
        self.person = 1

    def _check(self, role: str) -> None:
        if role in self.failing:
            raise DetectorDied(role)

    def has(self, role: str) -> bool:
        return role in self.roles

    def equipment_known(self) -> frozenset[str]:
        return frozenset({"helmet"})

    def people_and_vehicles(self, _: object, *, vehicles: bool) -> tuple[Boxes, Boxes | None]:
        self._check("objects")
        return boxes_of(self.people), boxes_of(self.vehicles) if vehicles else None

    def embed(self, crops: list[object]) -> npt.NDArray[np.float32]:
        self._check("people")
        return np.random.default_rng(self.person).normal(size=(len(crops), 512)).astype(np.float32)

    def equipment(self, *_: object) -> list[Any]:
        self._check("ppe")
        return []

    def burning(self, _: object) -> list[Burning]:
        self._check("fire")
        return [Burning("fire", box, 0.6) for box in self.flames]

    def plates(self, _: object) -> Boxes:
        self.plate_looks += 1
        return boxes_of(self.plate_boxes)

    def read_plate(self, image: object, box: Box) -> list[PlateReading]:
        self._check("plates")
        self.read.append((image, box))
        sure = self.sure[min(len(self.read), len(self.sure)) - 1]
        return [PlateReading("A123BC77", sure, "RU", "LDDDLLDD")]

    def read_container(self, _: object, box: Box) -> PlateReading | None:
        self.searched.append(box)
        if self.container_on is not None and overlap(box, self.container_on) < 0.9:
            return None
        return PlateReading(self.container, 0.95, kind="container")


class Camera:
    """`taken_over`: another worker begins with what the one before had reported."""

    def __init__(self, *scenarios: str, eyes: Seeing, zones: Iterable[dict[str, Any]] = (), scale: int = 1) -> None:
        self.eyes, self.scale, self.now_s = eyes, scale, 100.0
        self._stream = cast(Stream, SimpleNamespace(scenarios=scenarios, zones=list(zones)))
        self.scene = self._new(None)
        self.found: list[Found] = []
        self.visitors: list[int] = []
        self.images: list[Any] = []
        self.image, self.flickers = NOISE, True

    def _new(self, progress: bytes | None) -> Scene:
        return Scene(
            self._stream, 640 * self.scale, 360 * self.scale, cast(Eyes, self.eyes), progress, self._at(self.now_s)
        )

    @staticmethod
    def _at(now_s: float) -> datetime:
        return BEGIN + timedelta(seconds=now_s)

    def runs(self, seconds: float, *, moves: bool = True) -> list[str]:
        """The types of what is found meanwhile. `moves`: whether the motion gate is open."""
        before = len(self.found)
        for _ in range(round(seconds / STEP_S)):
            frame = self.frame()
            self.images.append(frame.image)
            for found in self.scene.step(frame, moves):
                self.found += found
            self.visitors += self.scene.take_visitors()
            self.now_s += STEP_S
        return [each.finding.type for each in self.found[before:]]

    def frame(self) -> Frame:
        """The picture of this moment."""
        width, height = 640 * self.scale, 360 * self.scale
        seed = round(self.now_s * 10) if self.flickers else 0
        flicker = np.random.default_rng(seed).integers(0, 255, (90, 160), np.uint8)
        frame = SimpleNamespace(
            arrived_s=self.now_s,
            seen_at=self._at(self.now_s),
            image=self.image[:height, :width],
            width=width,
            height=height,
            thumbnail=lambda _: flicker,
        )
        return cast(Frame, frame)

    def taken_over(self, *, after_s: float = 0.0, scale: int = 1) -> None:
        progress = self.scene.progress(self._at(self.now_s))
        self.now_s, self.scale = self.now_s + after_s, scale
        self.scene = self._new(progress)


def test_who_stands_there_is_one_visitor_however_often_the_stream_is_taken_over() -> None:
    camera = Camera("traffic", eyes=Seeing())
    camera.eyes.people = [SOMEBODY]
    assert camera.runs(5) == ["person_entered"]
    for _ in range(3):
        camera.taken_over()
        assert camera.runs(5) == []
    assert len(set(camera.visitors)) == 1


def test_who_walks_on_while_nobody_looks_is_not_told_again_and_who_comes_then_is() -> None:
    camera = Camera("traffic", "safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.people = [SOMEBODY]
    assert sorted(camera.runs(5)) == ["person_entered", "zone_intrusion"]
    camera.taken_over(after_s=20)
    camera.eyes.people = [(500, 120, 560, 320)]
    assert camera.runs(4) == []
    camera.eyes.people = [(500, 120, 560, 320), (200, 100, 260, 300)]
    assert sorted(camera.runs(4)) == ["person_entered", "zone_intrusion"]
    camera.taken_over(after_s=20)
    camera.eyes.people = [(20, 100, 80, 300), (300, 100, 360, 300), (400, 100, 460, 300)]
    assert sorted(camera.runs(4)) == ["person_entered", "zone_intrusion"], "three where two were"


def test_who_left_a_picture_in_which_nothing_moves_any_more_is_told_of_at_once() -> None:
    camera = Camera("traffic", eyes=Seeing())
    camera.eyes.people = [AT_THE_BORDER]
    assert camera.runs(5) == ["person_entered"]
    camera.eyes.people = []
    assert camera.runs(1.5) == [], "the gate closes before a track is given up"
    assert camera.runs(2, moves=False) == ["person_left"]


def test_who_vanishes_within_a_still_picture_is_looked_for_and_told_of_soon() -> None:
    camera = Camera("traffic", eyes=Seeing("people"))
    camera.eyes.people = [SOMEBODY]
    assert camera.runs(5) == ["person_entered"]
    for _ in range(3):
        camera.eyes.people = []
        assert camera.runs(2.3) == []
        camera.eyes.people = [SOMEBODY]
        assert camera.runs(5) == [], "hidden by what passed"
    camera.taken_over()
    assert camera.runs(5) == [], "one of whom it was told, under whatever number"
    camera.eyes.people = []
    camera.runs(1.5)
    assert camera.runs(AGAIN_AFTER_S, moves=False) == ["person_left"]


def test_who_left_is_shown_as_seen_last() -> None:
    camera = Camera("traffic", eyes=Seeing())
    camera.eyes.people = [AT_THE_BORDER]
    camera.runs(5)
    last = camera.images[-1]
    camera.eyes.people = []
    assert camera.runs(4) == ["person_left"]
    assert camera.found[-1].image is last


def test_who_entered_just_before_a_take_over_is_still_counted_by_appearance() -> None:
    camera = Camera("traffic", eyes=Seeing("people"))
    camera.eyes.people = [SOMEBODY]
    assert camera.runs(1) == ["person_entered"]
    assert camera.visitors == []
    camera.taken_over()
    assert camera.runs(6) == []
    assert camera.visitors == [1]
    camera.taken_over()
    camera.runs(6)
    assert camera.visitors == [1]


def test_a_queue_is_told_once_though_the_stream_is_taken_over_twice_within_seconds() -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    camera.eyes.people = list(QUEUE)
    assert camera.runs(20).count("queue_formed") == 1
    camera.taken_over()
    assert camera.runs(5) == []  # too short to see a queue
    camera.taken_over()
    assert camera.runs(30) == []
    camera.eyes.people = []
    assert camera.runs(20).count("queue_cleared") == 1


def test_a_queue_that_left_a_picture_in_which_nothing_moves_any_more_is_told_of_in_time() -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    camera.eyes.people = list(QUEUE)
    assert "queue_formed" in camera.runs(20)
    camera.eyes.people = []
    camera.runs(1.5)
    assert "queue_cleared" in camera.runs(7, moves=False)


def test_a_queue_that_was_gone_before_the_take_over_is_told_of_when_it_forms_again() -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    for _ in range(2):
        camera.eyes.people = list(QUEUE)
        assert camera.runs(20).count("queue_formed") == 1
        camera.eyes.people = []
        assert camera.runs(20).count("queue_cleared") == 1
        camera.taken_over()


def test_another_resolution_tells_nobody_again() -> None:
    camera = Camera("traffic", "safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.people, camera.eyes.vehicles = [SOMEBODY], [(400, 100, 600, 300)]
    assert sorted(camera.runs(5)) == ["person_entered", "zone_intrusion", "zone_intrusion"]
    camera.eyes.people, camera.eyes.vehicles = [(200, 200, 320, 600)], [(800, 200, 1200, 600)]
    camera.taken_over(scale=2)
    assert camera.runs(5) == []
    camera.eyes.vehicles = []
    camera.runs(20)
    camera.taken_over(scale=2)
    camera.eyes.vehicles = [(800, 200, 1200, 600)]
    assert camera.runs(5) == ["zone_intrusion"], "it had driven away"


@pytest.mark.parametrize("kind", ["plates", "fire"])
def test_what_is_still_there_is_not_told_again_and_what_came_back_is(kind: str) -> None:
    eyes = Seeing(kind)
    camera = Camera("lpr" if kind == "plates" else "safety", eyes=eyes)
    seen = eyes.plate_boxes if kind == "plates" else eyes.flames
    told = ["plate_read" if kind == "plates" else "fire"]
    seen.append((100, 100, 300, 250))
    assert camera.runs(60) == told
    camera.taken_over(after_s=20)  # nobody knows of that time
    assert camera.runs(20) == []
    seen.clear()
    camera.runs(28)
    seen.append((100, 100, 300, 250))
    if kind == "fire":
        assert camera.runs(5) == [], "gone for less than it takes"
        seen.clear()
        camera.runs(32)
        seen.append((100, 100, 300, 250))
        camera.taken_over()
        assert camera.runs(5) == told
    else:
        camera.taken_over()
        assert camera.runs(5) == told


PLATE: Box = (400, 200, 480, 230)


@pytest.mark.parametrize("there", ["a plate", "a sign", "a code", "a lamp", "a fire"])
def test_what_is_told_or_cannot_be_told_does_not_keep_a_still_picture_looked_at(there: str) -> None:
    eyes = Seeing("plates", "fire")
    camera = Camera("lpr", "safety", "barcode", eyes=eyes)
    if there == "a code":
        code = zxingcpp.create_barcode("PALLET-000417", zxingcpp.BarcodeFormat.QRCode)
        drawn = np.array(code.to_image(scale=4))
        camera.image = np.full((360, 640, 3), 255, np.uint8)
        camera.image[50 : 50 + drawn.shape[0], 50 : 50 + drawn.shape[1]] = drawn[..., None]
    eyes.plate_boxes = [PLATE] if there in ("a plate", "a sign") else []
    eyes.sure = [0.1] if there == "a sign" else eyes.sure
    eyes.flames = [(100, 100, 300, 250)] if there in ("a lamp", "a fire") else []
    camera.flickers = there == "a fire"
    told = {"a plate": ["plate_read"], "a code": ["barcode_read"], "a fire": ["fire"]}
    assert camera.runs(10) == told.get(there, [])
    camera.runs(5, moves=False)
    before = eyes.plate_looks
    assert camera.runs(60, moves=False) == []
    judged_again = 35 if there == "a lamp" else 0  # once in a minute
    assert 60 / SELDOM_S - 1 <= eyes.plate_looks - before <= 60 / SELDOM_S + 1 + judged_again


def test_what_was_hidden_for_a_moment_in_a_still_picture_is_not_told_again() -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    camera.eyes.plate_boxes = [PLATE]
    assert camera.runs(5) == ["plate_read"]
    camera.eyes.plate_boxes = []
    camera.runs(3.2, moves=False)
    camera.eyes.plate_boxes = [PLATE]
    assert camera.runs(30, moves=False) == []
    camera.now_s += 30  # no pictures came
    assert camera.runs(5) == []
    camera.eyes.plate_boxes = []
    camera.runs(20)
    camera.eyes.plate_boxes = [PLATE]
    assert camera.runs(5) == ["plate_read"], "it had driven away"
    camera.eyes.plate_boxes = []
    camera.runs(2)
    camera.runs(20, moves=False)
    camera.eyes.plate_boxes = [PLATE]
    assert camera.runs(5) == ["plate_read"], "though nothing moved after it had driven away"


def test_a_still_vehicle_that_the_detector_loses_for_a_moment_is_one_intrusion() -> None:
    camera = Camera("safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.vehicles = [(400, 100, 600, 300)]
    assert camera.runs(5) == ["zone_intrusion"]
    camera.runs(20, moves=False)
    camera.eyes.vehicles = []
    camera.runs(14, moves=False)  # up to the next look, and until its track is given up
    camera.eyes.vehicles = [(400, 100, 600, 300)]
    assert camera.runs(40, moves=False) == []
    camera.eyes.vehicles = []
    camera.runs(10)
    camera.eyes.vehicles = [(400, 100, 600, 300)]
    assert camera.runs(5) == ["zone_intrusion"]


def test_a_container_is_found_among_many_vehicles_and_those_without_one_are_read_seldom() -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    parked: list[Box] = [(left, 20, left + 90, 110) for left in range(0, 600, 100)]
    camera.eyes.vehicles, camera.eyes.container_on = [*parked], (0, 0, 1, 1)
    assert camera.runs(90) == []
    assert len(camera.eyes.searched) >= 100
    camera.eyes.searched.clear()
    camera.eyes.container_on = (100, 200, 400, 340)
    camera.eyes.vehicles = [*parked, camera.eyes.container_on]
    assert camera.runs(8) == ["container_read"], "the last that came is read first"
    camera.runs(52)
    assert len(camera.eyes.searched) <= 3 + 2 * len(parked) + 2


def test_a_step_into_a_zone_is_told_before_what_takes_longer() -> None:
    camera = Camera("traffic", "safety", "lpr", eyes=Seeing("plates", "people"), zones=[VAULT])
    camera.eyes.people, camera.eyes.plate_boxes = [SOMEBODY], [PLATE]
    camera.runs(0.4)
    plates_seen_before: list[int] = []
    for _ in range(20):
        before = camera.eyes.plate_looks
        frame = camera.frame()
        plates_seen_before += [
            camera.eyes.plate_looks - before
            for found in camera.scene.step(frame, True)
            if found[0].finding.type == "zone_intrusion"
        ]
        camera.now_s += 0.2  # plates are looked at in each of them
    assert plates_seen_before == [0]


def test_two_fires_are_both_remembered() -> None:
    camera = Camera("safety", eyes=Seeing("fire"))
    camera.eyes.flames = [(20, 20, 220, 220), (400, 100, 620, 320)]
    assert camera.runs(5) == ["fire", "fire"]
    camera.taken_over()
    assert camera.runs(10) == []


def test_a_plates_track_is_not_taken_for_a_persons() -> None:
    camera = Camera("traffic", "lpr", eyes=Seeing("plates"))
    camera.eyes.people, camera.eyes.plate_boxes = [AT_THE_BORDER], [(400, 200, 480, 230)]
    assert sorted(camera.runs(5)) == ["person_entered", "plate_read"]
    camera.eyes.people = []
    assert camera.runs(4) == ["person_left"]
    camera.taken_over()
    assert camera.runs(5) == [], "the plate, whose track has the number that the person's had, is still there"


def test_a_detector_that_fails_takes_nothing_along_that_others_found() -> None:
    eyes = Seeing("people", "ppe", "fire", "plates")
    camera = Camera("traffic", "ppe", "safety", "lpr", eyes=eyes, zones=[VAULT])
    eyes.failing = {"people", "ppe", "fire"}
    eyes.people, eyes.plate_boxes = [SOMEBODY], [(400, 200, 480, 230)]
    assert sorted(camera.runs(3)) == ["person_entered", "plate_read", "zone_intrusion"]
    assert isinstance(camera.scene.failure, DetectorDied)
    eyes.failing = set()
    assert camera.runs(10) == ["no_helmet"]
    assert camera.scene.failure is None
    assert camera.visitors == [1], "who entered meanwhile is told apart later"
    eyes.failing = {"objects"}
    assert camera.runs(1) == []
    eyes.failing = set()
    eyes.people = []
    assert camera.runs(5) == ["person_left"]


def test_a_plate_that_has_gone_is_told_of_though_another_cannot_be_read() -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    camera.eyes.plate_boxes = [(400, 200, 480, 230)]
    assert camera.runs(0.5) == []  # read once or twice
    camera.eyes.failing = {"plates"}
    camera.eyes.plate_boxes = [(100, 50, 180, 80)]
    assert camera.runs(5) == ["plate_read"]


def test_a_plate_is_shown_as_it_was_read_best() -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    camera.eyes.sure = [0.6, 0.95, 0.7]
    for left in range(400, 440, 4):
        camera.eyes.plate_boxes = [(left, 200, left + 80, 230)]
        camera.runs(0.2)
    (found,) = camera.found
    image, box = camera.eyes.read[1]
    assert found.image is image
    assert found.finding.box == pytest.approx(box)
    assert len(camera.eyes.read) == 3


@pytest.mark.parametrize("scenarios", [("lpr",), ("lpr", "safety")])
def test_a_container_that_drives_away_after_a_glimpse_is_told_of(scenarios: tuple[str, ...]) -> None:
    camera = Camera(*scenarios, eyes=Seeing("plates"))
    camera.eyes.vehicles = [(100, 100, 300, 300)]
    assert camera.runs(2.5) == []
    camera.eyes.vehicles = []
    assert camera.runs(10) == ["container_read"]


def test_people_and_vehicles_have_numbers_of_their_own() -> None:
    camera = Camera("safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.people, camera.eyes.vehicles = [SOMEBODY], [(400, 100, 600, 300)]
    assert camera.runs(3) == ["zone_intrusion"] * 2
    camera.eyes.people = []
    camera.runs(5)
    camera.taken_over()
    assert camera.runs(3) == [], "the vehicle has not moved"
    numbers = [each.finding.number for each in camera.found]
    assert sorted(numbers, key=lambda number: number or 0) == [-1, 1]


def test_a_code_is_remembered_for_as_long_as_it_is_seen_and_ten_seconds() -> None:
    def read(number: int) -> Finding:
        details = {"text": "PALLET-1", "format": "QR Code"}
        return Finding("barcode_read", f"QR Code:PALLET-1:{number}", 0.9, SOMEBODY, details=details)

    def known(exported: str, at: datetime) -> bool:
        return Remembered(exported, at, 640, 360).note(read(7), at) is not None

    def later(seconds: float) -> datetime:
        return BEGIN + timedelta(seconds=seconds)

    first = Remembered(None, BEGIN, 640, 360)
    assert first.note(read(1), BEGIN) is None
    for second in range(1, 3600, 2):
        first.see(("barcode_read",), [read(1).subject], later(second))
        first.tick(later(second))
    assert known(first.exported(later(3600)), later(3630)), "seen all the time, until the worker died"
    assert not known(first.exported(later(3600)), later(3700)), "long ago"
    assert not known(first.exported(later(3615)), later(3616)), "carried away while the first was still there"
    second_worker = Remembered(first.exported(later(3600)), later(3601), 640, 360)
    second_worker.tick(later(3601))
    assert known(second_worker.exported(later(3605)), later(3606)), "the second had no time to read it"
    assert not known(second_worker.exported(later(3613)), later(3614)), "the second did not see it any more"


def test_what_was_told_is_remembered_for_as_long_as_nothing_moves() -> None:
    details = {"text": "PALLET-1", "format": "QR Code"}
    finding = Finding("barcode_read", "QR Code:PALLET-1:1", 0.9, SOMEBODY, details=details)
    first = Remembered(None, BEGIN, 640, 360)
    first.note(finding, BEGIN)
    for second in range(1, 30):
        first.rest(BEGIN + timedelta(seconds=second))
    first.tick(now := BEGIN + timedelta(seconds=30))
    assert Remembered(first.exported(now), now, 640, 360).note(finding, now) is not None


@pytest.mark.parametrize("before", ["", "[]", "{}", '{"at": "2026-11-23T12:00:00+00:00", "said": [{"type": "fire"}]}'])
def test_what_another_release_left_is_passed_over(before: str) -> None:
    finding = Finding("fire", "fire:1", 0.9, SOMEBODY)
    assert Remembered(before, BEGIN, 640, 360).note(finding, BEGIN) is None
