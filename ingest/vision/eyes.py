"""Everything that looks at pictures, shared by the streams of a worker: detectors, readers, and what each knows."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import structlog

from ingest.vision.detect_poses import Poses
from ingest.vision.detector import Detector, DetectorError, DetectorFailed
from ingest.vision.gallery import Floats
from ingest.vision.models import Role
from ingest.vision.network_files import NetworkUnusable
from ingest.vision.networks import PEOPLE, VEHICLES, Description
from ingest.vision.plate_reader import PlateReader
from ingest.vision.reidentify import Appearance
from ingest.vision.scenarios.findings import Box
from ingest.vision.scenarios.fire import LEAST_CONFIDENCE, Burning
from ingest.vision.scenarios.plates import PlateReading
from ingest.vision.scenarios.ppe import UNSURE_FROM, Item, close_up, unknown_in_words
from ingest.vision.yolo import Boxes, Pixels
from store.camera_streams import Scenario

log = structlog.get_logger(__name__)
T = TypeVar("T")

_REFUSALS = 5
"""Pictures in a row on which a network fails, and it is used no more: one may have been too much for the machine."""
_OBJECTS_FROM, _PLATES_FROM = 0.25, 0.25
_MISSING: Mapping[Role, str] = {
    "objects": "no detector of people and vehicles is installed: nothing but codes and plates can be read; "
    "`parley models pull` fetches one",
    "poses": "no detector of poses is installed: falls are not seen; `parley models pull yolov8n-pose` fetches one",
    "plates": "no detector of plates is installed: plates are not read",
    "ppe": "no detector of protective equipment is installed",
    "fire": "no detector of fire and smoke is installed",
    "people": "no model to tell people apart is installed: who comes again is counted as another visitor",
}
_NEEDS: Mapping[Scenario, tuple[Role, ...]] = {
    "traffic": ("objects", "people"),
    "ppe": ("objects", "ppe"),
    "safety": ("objects", "poses", "fire"),
    "lpr": ("objects", "plates", "ru_plates"),  # numbers of containers are looked for on vehicles
    "barcode": (),
}


class Eyes:
    """May be used from any thread. What is not installed sees nothing, and `notes` say so; so does what turns out to be
    no model that can be used, since one of the operator's own must not take the others' work along. What a detector
    raises besides is raised: DetectorError."""

    def __init__(self, detector: Detector, models: Mapping[Role, Path]) -> None:
        self._detector = detector
        self._models = models
        self._opened: PlateReader | None = None
        self._opening = threading.Lock()
        self._readers = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2), thread_name_prefix="reader")
        self._telling_apart = threading.Lock()
        self._unusable: set[Role] = set()
        self._refusals: dict[Role, int] = {}

    def has(self, role: Role) -> bool:
        return role in self._models and role not in self._unusable

    def people_and_vehicles(self, image: Pixels, *, vehicles: bool) -> tuple[Boxes | None, Boxes | None]:
        """Of one look. None for what was not looked for."""

        def look() -> tuple[Boxes | None, Boxes | None]:
            about = self._detector.about("objects")
            people = about.numbers_of(PEOPLE)
            wheels = _known(about, VEHICLES) if vehicles else ()
            found = self._look("objects", image, _OBJECTS_FROM, (*people, *wheels))
            return _only(found, people), _only(found, wheels) if vehicles else None

        nobody: tuple[Boxes | None, Boxes | None] = None, None
        return self._use("objects", look, nobody)

    def equipment(self, image: Pixels, person: Box) -> list[Item]:
        """What a person wears, and their neighbours as far as they are near: from close by, since helmets are small."""
        height, width = image.shape[:2]
        left, top, right, bottom = (round(value) for value in close_up(person, width, height))
        close = image[top:bottom, left:right]

        def look() -> list[Item]:
            found = self._look("ppe", close, UNSURE_FROM)
            names = self._detector.about("ppe").names
            return [
                Item(names[number], (x1 + left, y1 + top, x2 + left, y2 + top), score)
                for number, (x1, y1, x2, y2), score in _rows(found)
            ]

        return self._use("ppe", look, []) if close.size else []

    def equipment_known(self) -> frozenset[str]:
        return self._use("ppe", lambda: frozenset(self._detector.about("ppe").names.values()), frozenset())

    def burning(self, image: Pixels) -> list[Burning] | None:
        """None where nobody looked."""

        def look() -> list[Burning]:
            found = self._look("fire", image, LEAST_CONFIDENCE)
            kinds = {number: name.lower() for number, name in self._detector.about("fire").names.items()}
            return [
                Burning("fire" if kinds[number] == "fire" else "smoke", box, score)
                for number, box, score in _rows(found)
                if kinds[number] in ("fire", "smoke")
            ]

        return self._use("fire", look, None)

    def poses(self, image: Pixels) -> Poses | None:
        """None where nobody looked."""

        def look() -> Poses:
            if self._detector.about("poses").task != "pose":
                raise NetworkUnusable("it finds no key points")
            return _of_picture(lambda: self._detector.poses("poses", image))

        return self._use("poses", look, None)

    def plates(self, image: Pixels) -> Boxes | None:
        """None where nobody looked."""
        return self._use("plates", lambda: self._look("plates", image, _PLATES_FROM), None)

    def later(self, look: Callable[[], T]) -> Future[T]:
        """A look that takes long, on one of few threads."""
        return self._readers.submit(look)

    def read_plate(self, image: Pixels, box: Box, *, is_sure: bool = False) -> list[PlateReading]:
        """`is_sure`: another picture of it was read surely."""
        return self._use("plates", lambda: self._reader().read(image, box, is_sure=is_sure), [])

    def read_container(self, image: Pixels, box: Box) -> list[PlateReading]:
        return self._use("plates", lambda: self._reader().read_container(image, box), [])

    def embed(self, crops: Sequence[Pixels]) -> Floats | None:
        """n x 512, one for each crop of a person. None where nobody looked."""

        def look() -> Floats:
            appearance = self._appearance
            try:
                vectors = appearance.embed(crops)
            # The runtime has errors of many kinds, which have no other base.
            except Exception as error:
                raise DetectorFailed(f"The model people failed ({type(error).__name__}).") from error
            if not (np.isfinite(vectors).all() and vectors.any(axis=1).all()):
                raise DetectorFailed("The model people gave no vectors.")
            return vectors

        with self._telling_apart:
            return self._use("people", look, None)

    def notes(self, scenarios: Sequence[Scenario]) -> tuple[str, ...]:
        """What these scenarios will not see with the models that there are, in words."""
        return tuple(note for note in map(self._note, _roles(scenarios)) if note)

    def _note(self, role: Role) -> str:
        if role not in self._models:
            return _MISSING.get(role, "")
        unknown = ""
        if role == "ppe":
            with suppress(DetectorError):  # the next report says it
                unknown = unknown_in_words(self.equipment_known()) or ""
        # Without the reason, which names files of the server: those who read this may be its clients.
        return f"the model for {role} cannot be used: the server's log says why" if role in self._unusable else unknown

    def _use(self, role: Role, look: Callable[[], T], otherwise: T) -> T:
        """What a look with a role's model gives; `otherwise` where there is none that can be used."""
        if not self.has(role):
            return otherwise
        try:
            seen = look()
        except (NetworkUnusable, ValueError, FileNotFoundError) as error:
            self._give_up(role, error)
            return otherwise
        except DetectorFailed as error:
            self._refusals[role] = self._refusals.get(role, 0) + 1
            if self._refusals[role] < _REFUSALS:
                raise
            self._give_up(role, error)
            return otherwise
        self._refusals[role] = 0
        return seen

    def _give_up(self, role: Role, error: Exception) -> None:
        self._unusable.add(role)
        log.warning("a model cannot be used", role=role, path=str(self._models[role]), error=str(error)[:500])

    def _look(self, role: Role, image: Pixels, confidence: float, classes: Sequence[int] | None = None) -> Boxes:
        return _of_picture(lambda: self._detector.detect(role, image, confidence=confidence, classes=classes))

    def _reader(self) -> PlateReader:
        with self._opening:
            self._opened = self._opened or self._open_reader()
            return self._opened

    def _open_reader(self) -> PlateReader:
        if self.has("ru_plates"):
            try:
                return PlateReader(self._models["plates"], self._models["ru_plates"])
            except NetworkUnusable:
                raise
            # Whatever its library raises; what is the matter with the rest is raised below again.
            except Exception as error:
                self._give_up("ru_plates", error)
        return PlateReader(self._models["plates"])

    @cached_property
    def _appearance(self) -> Appearance:
        return Appearance(self._models["people"])


def _roles(scenarios: Sequence[Scenario]) -> list[Role]:
    return list(dict.fromkeys(role for scenario in scenarios for role in _NEEDS[scenario]))


def _of_picture(look: Callable[[], T]) -> T:
    """A look at a picture that the detector does not take says nothing of its network."""
    try:
        return look()
    except ValueError as error:
        raise DetectorError(str(error)) from error


def _known(about: Description, labels: Sequence[str]) -> tuple[int, ...]:
    """The classes of those labels that a network knows: one of the operator's own may know people alone."""
    found: list[int] = []
    for label in labels:
        with suppress(ValueError):
            found += about.numbers_of((label,))
    return tuple(found)


def _only(found: Boxes, classes: Sequence[int]) -> Boxes:
    kept = [place for place, number in enumerate(found.classes) if number in classes]
    return Boxes(found.xyxy[kept], found.scores[kept], found.classes[kept])


def _rows(found: Boxes) -> list[tuple[int, Box, float]]:
    as_box: Callable[[Sequence[float]], Box] = lambda row: (row[0], row[1], row[2], row[3])  # noqa: E731
    return [
        (int(number), as_box(row.tolist()), float(score))
        for number, row, score in zip(found.classes, found.xyxy, found.scores, strict=True)
    ]
