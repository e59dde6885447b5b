"""Everything that looks at pictures, shared by the streams of a worker: detectors, readers, and what each knows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import structlog

from ingest.vision.detect_poses import Poses
from ingest.vision.detector import Detector, DetectorError
from ingest.vision.models import Role
from ingest.vision.network_files import NetworkUnusable
from ingest.vision.networks import PEOPLE, VEHICLES
from ingest.vision.plate_reader import PlateReader
from ingest.vision.reidentify import Appearance
from ingest.vision.scenarios.findings import Box
from ingest.vision.scenarios.fire import LEAST_CONFIDENCE, Burning
from ingest.vision.scenarios.plates import PlateReading
from ingest.vision.scenarios.ppe import UNSURE_FROM, Item, close_up, unknown_in_words
from ingest.vision.visitors import Floats
from ingest.vision.yolo import Boxes, Pixels
from store.camera_streams import Scenario

log = structlog.get_logger(__name__)

_OBJECTS_FROM, _PLATES_FROM = 0.25, 0.25
_MISSING: Mapping[Role, str] = {
    "objects": "no detector of people and vehicles is installed: nothing but codes can be read",
    "poses": "no detector of poses is installed: falls are not seen",
    "plates": "no detector of plates is installed: plates are not read",
    "ppe": "no detector of protective equipment is installed",
    "fire": "no detector of fire and smoke is installed",
    "people": "no model to tell people apart is installed: who comes again is counted as another visitor",
}
_NEEDS: Mapping[Scenario, tuple[Role, ...]] = {
    "traffic": ("objects", "people"),
    "ppe": ("objects", "ppe"),
    "safety": ("objects", "poses", "fire"),
    "lpr": ("plates",),
    "barcode": (),
}


class Eyes:
    """May be used from any thread. What is not installed sees nothing, and `notes` say so."""

    def __init__(self, detector: Detector, models: Mapping[Role, Path]) -> None:
        self._detector = detector
        self._models = models
        self._reading = threading.Lock()
        self._telling_apart = threading.Lock()
        self._unusable: dict[Role, str] = {}
        self._said: dict[tuple[Scenario, ...], tuple[str, ...]] = {}

    def has(self, role: Role) -> bool:
        return role in self._models and role not in self._unusable

    def people_and_vehicles(self, image: Pixels, *, vehicles: bool) -> tuple[Boxes | None, Boxes | None]:
        """Of one look. None for what was not looked for."""
        if not self.has("objects"):
            return None, None
        about = self._detector.about("objects")
        people = about.numbers_of(PEOPLE)
        wheels = about.numbers_of(VEHICLES) if vehicles else ()
        found = self._detector.detect("objects", image, confidence=_OBJECTS_FROM, classes=(*people, *wheels))
        return _only(found, people), _only(found, wheels) if vehicles else None

    def equipment(self, image: Pixels, person: Box) -> list[Item]:
        """What a person wears, and their neighbours as far as they are near: from close by, since helmets are small."""
        height, width = image.shape[:2]
        left, top, right, bottom = (round(value) for value in close_up(person, width, height))
        found = self._look("ppe", image[top:bottom, left:right], UNSURE_FROM)
        names = self._names("ppe")
        return [
            Item(names[number], (x1 + left, y1 + top, x2 + left, y2 + top), score)
            for number, (x1, y1, x2, y2), score in _rows(found)
        ]

    def equipment_known(self) -> frozenset[str]:
        return frozenset(self._names("ppe").values()) if self.has("ppe") else frozenset()

    def burning(self, image: Pixels) -> list[Burning]:
        found = self._look("fire", image, LEAST_CONFIDENCE)
        names = self._names("fire")
        kinds = {number: name.lower() for number, name in names.items()}
        return [
            Burning("fire" if kinds[number] == "fire" else "smoke", box, score)
            for number, box, score in _rows(found)
            if kinds[number] in ("fire", "smoke")
        ]

    def poses(self, image: Pixels) -> Poses:
        return self._detector.poses("poses", image)

    def plates(self, image: Pixels) -> Boxes:
        return self._look("plates", image, _PLATES_FROM)

    def read_plate(self, image: Pixels, box: Box) -> list[PlateReading]:
        with self._reading:
            return self._reader.read(image, box)

    def read_container(self, image: Pixels, box: Box) -> PlateReading | None:
        with self._reading:
            return self._reader.read_container(image, box)

    def embed(self, crops: Sequence[Pixels]) -> Floats:
        """n x 512, one for each crop of a person."""
        with self._telling_apart:
            return self._appearance.embed(crops)

    def notes(self, scenarios: Sequence[Scenario]) -> tuple[str, ...]:
        """What these scenarios will not see with the models that there are, in words."""
        key = tuple(scenarios)
        if key not in self._said:
            self._said[key] = tuple(self._note(role) for role in _roles(key) if self._note(role))
        return self._said[key]

    def _note(self, role: Role) -> str:
        if role not in self._models:
            return _MISSING[role]
        if role in self._unusable:
            return self._unusable[role]
        if role == "ppe":
            return unknown_in_words(self._names("ppe").values()) or ""
        return ""

    def _look(self, role: Role, image: Pixels, confidence: float) -> Boxes:
        return self._detector.detect(role, image, confidence=confidence)

    def _names(self, role: Role) -> Mapping[int, str]:
        try:
            return self._detector.about(role).names
        except (NetworkUnusable, DetectorError) as error:
            self._unusable[role] = f"the model of {role} cannot be used: {error}"[:300]
            log.warning("a model cannot be used", role=role, error=str(error)[:500])
            return {}

    @cached_property
    def _reader(self) -> PlateReader:
        return PlateReader(self._models["plates"], self._models.get("ru_plates"))

    @cached_property
    def _appearance(self) -> Appearance:
        return Appearance(self._models["people"])


def _roles(scenarios: Sequence[Scenario]) -> list[Role]:
    return list(dict.fromkeys(role for scenario in scenarios for role in _NEEDS[scenario]))


def _only(found: Boxes, classes: Sequence[int]) -> Boxes:
    kept = [place for place, number in enumerate(found.classes) if number in classes]
    return Boxes(found.xyxy[kept], found.scores[kept], found.classes[kept])


def _rows(found: Boxes) -> list[tuple[int, Box, float]]:
    as_box: Callable[[Sequence[float]], Box] = lambda row: (row[0], row[1], row[2], row[3])  # noqa: E731
    return [
        (int(number), as_box(row.tolist()), float(score))
        for number, row, score in zip(found.classes, found.xyxy, found.scores, strict=True)
    ]
