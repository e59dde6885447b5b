"""One camera's scene over made-up boxes, picture by picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ingest.vision.detector import DetectorDied
from ingest.vision.eyes import Eyes
from ingest.vision.frames import Frame
from ingest.vision.recorder import Found
from ingest.vision.scenarios.findings import Box, overlap
from ingest.vision.scenarios.fire import Burning
from ingest.vision.scenarios.plates import PlateReading
from ingest.vision.scene import Scene
from ingest.vision.visitors import Visitors
from ingest.vision.yolo import Boxes
from store.camera_streams import Stream
from store.camera_visitors import VisitorLooks

T = TypeVar("T")
BEGIN = datetime(2026, 11, 23, 12, tzinfo=UTC)
STEP_S = 0.1
EVERYWHERE = [[0, 0], [1, 0], [1, 1], [0, 1]]
TILL = {"name": "till", "kind": "queue", "polygon": EVERYWHERE}
VAULT = {"name": "vault", "kind": "restricted", "polygon": EVERYWHERE}
SOMEBODY: Box = (100, 100, 160, 300)
AT_THE_BORDER: Box = (5, 100, 65, 300)
QUEUE: tuple[Box, ...] = (SOMEBODY, (200, 100, 260, 300), (300, 100, 360, 300))
PLATE: Box = (400, 200, 480, 230)
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
        self.was_sure: list[bool] = []  # whether a plate was said to have been read surely, at each reading
        self.person = 1
        self.busy = False
        self.unread: list[Callable[[], None]] = []

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

    def read_plate(self, image: object, box: Box, *, is_sure: bool) -> list[PlateReading]:
        self._check("plates")
        self.was_sure.append(is_sure)
        self.read.append((image, box))
        sure = self.sure[min(len(self.read), len(self.sure)) - 1]
        return [PlateReading("A123BC77", sure, "RU", "LDDDLLDD")]

    def read_container(self, _: object, box: Box) -> list[PlateReading]:
        self.searched.append(box)
        if self.container_on is not None and overlap(box, self.container_on) < 0.9:
            return []
        return [PlateReading(self.container, 0.95, kind="container")]

    def later(self, look: Callable[[], T]) -> Future[T]:
        """At once, unless readers are `busy`: then when `finish` is called."""
        reading: Future[T] = Future()

        def read() -> None:
            try:
                reading.set_result(look())
            except Exception as error:
                reading.set_exception(error)

        self.unread.append(read)
        if not self.busy:
            self.finish()
        return reading

    def finish(self) -> None:
        for read in self.unread:
            read()
        self.unread.clear()


class Camera:
    """`taken_over`: another worker begins with what the one before had reported."""

    def __init__(self, *scenarios: str, eyes: Seeing, zones: Iterable[dict[str, Any]] = (), scale: int = 1) -> None:
        self.eyes, self.scale, self.now_s = eyes, scale, 100.0
        self._stream = cast(Stream, SimpleNamespace(scenarios=scenarios, zones=list(zones)))
        self.looks: dict[int, VisitorLooks] = {}
        """Of the day's visitors, as the store has them."""
        self.scene = self._new(None)
        self.found: list[Found] = []
        self.visitors: list[int] = []
        self.images: list[Any] = []
        self.image, self.flickers = NOISE, True

    def _new(self, progress: bytes | None) -> Scene:
        now = self._at(self.now_s)
        visitors = Visitors(now.date(), known=[each for each in self.looks.values() if each.day == now.date()])
        size = 640 * self.scale, 360 * self.scale
        return Scene(self._stream, *size, cast(Eyes, self.eyes), progress, visitors, now)

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
            self.looks |= {each.visitor: each for each in self.scene.take_looks()}
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

    def taken_over(
        self, *, after_s: float = 0.0, scale: int = 1, zones: Iterable[dict[str, Any]] | None = None
    ) -> None:
        progress = self.scene.progress(self._at(self.now_s))
        self.now_s, self.scale = self.now_s + after_s, scale
        self._stream.zones[:] = self._stream.zones if zones is None else zones
        self.scene = self._new(progress)
