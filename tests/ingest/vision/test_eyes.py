"""Models of the operator's own that turn out to be of no use: said in the notes, and nobody else's loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from ingest.vision.detector import Detector, DetectorDied, DetectorFailed
from ingest.vision.eyes import Eyes
from ingest.vision.models import Role
from ingest.vision.network_files import NetworkUnusable
from store.camera_streams import Scenario
from tests.ingest.vision.test_networks import SAID, small_network

PICTURE = np.zeros((64, 64, 3), np.uint8)
WHOLE = (0.0, 0.0, 64.0, 64.0)
LOOKS: dict[Role, tuple[Scenario, Callable[[Eyes], Any]]] = {
    "objects": ("traffic", lambda eyes: eyes.people_and_vehicles(PICTURE, vehicles=True)),
    "poses": ("safety", lambda eyes: eyes.poses(PICTURE)),
    "fire": ("safety", lambda eyes: eyes.burning(PICTURE)),
    "ppe": ("ppe", lambda eyes: eyes.equipment(PICTURE, WHOLE)),
    "plates": ("lpr", lambda eyes: eyes.plates(PICTURE)),
    "people": ("traffic", lambda eyes: eyes.embed([PICTURE])),
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    noise = folder / "noise.onnx"
    noise.write_bytes(np.random.default_rng(1).bytes(5000))
    return {
        "noise": noise,
        "things": small_network(folder / "things.onnx"),
        "person": small_network(folder / "person.onnx", said=SAID | {"names": "{0: 'person', 1: 'tree'}"}),
        "fire": small_network(folder / "fire.onnx", said=SAID | {"names": "{0: 'fire', 1: 'smoke'}"}),
    }


@pytest.fixture(scope="module")
def eyes_with(paths: dict[str, Path]) -> Iterator[Callable[..., Eyes]]:
    detectors: list[Detector] = []

    def made(**roles: str) -> Eyes:
        models = {cast(Role, role): paths[name] for role, name in roles.items()}
        detectors.append(Detector({str(role): path for role, path in models.items()}, 1))
        return Eyes(detectors[-1], models)

    yield made
    for detector in detectors:
        detector.close()


def test_noise_in_place_of_any_model_is_said_and_takes_no_other_along(eyes_with: Callable[..., Eyes]) -> None:
    eyes = eyes_with(**dict.fromkeys(LOOKS, "noise"))
    for role, (scenario, look) in LOOKS.items():
        assert look(eyes) in (None, [], (None, None))
        assert not eyes.has(role)
        (said,) = [note for note in eyes.notes([scenario]) if note.startswith(f"the model for {role} ")]
        assert "noise" not in said, "clients learn no names of files"
        look(eyes)
    assert eyes.read_plate(PICTURE, WHOLE) == []
    assert eyes.read_container(PICTURE, WHOLE) == []
    assert eyes.equipment_known() == frozenset()


def test_a_model_of_another_kind_is_of_no_use_and_the_others_go_on(eyes_with: Callable[..., Eyes]) -> None:
    eyes = eyes_with(objects="things", poses="things", people="things", fire="fire")
    for role in ("objects", "poses", "people"):
        LOOKS[cast(Role, role)][1](eyes)
        assert not eyes.has(cast(Role, role))
    burning = eyes.burning(np.full((64, 64, 3), (255, 0, 0), np.uint8))
    assert [each.kind for each in burning or []] == ["fire"]


def test_a_model_that_knows_people_alone_sees_them(eyes_with: Callable[..., Eyes]) -> None:
    eyes = eyes_with(objects="person")
    people, vehicles = eyes.people_and_vehicles(np.full((64, 64, 3), (255, 0, 0), np.uint8), vehicles=True)
    assert people is not None
    assert vehicles is not None
    assert (len(people), len(vehicles)) == (1, 0)


class Failing:
    """A detector whose network opens, and then raises what it is given."""

    def __init__(self, *errors: Exception | None) -> None:
        self.errors = list(errors)

    def detect(self, *_: object, **__: object) -> str:
        error = self.errors.pop(0)
        if error is not None:
            raise error
        return "boxes"


def eyes_of(detector: Failing) -> Eyes:
    return Eyes(cast(Detector, detector), {"plates": Path("plates.onnx")})


def test_a_child_that_dies_is_no_fault_of_the_model() -> None:
    eyes = eyes_of(Failing(*[DetectorDied("killed")] * 20))
    for _ in range(20):
        with pytest.raises(DetectorDied):
            eyes.plates(PICTURE)
    assert eyes.has("plates")


def test_a_network_that_fails_on_picture_after_picture_is_used_no_more() -> None:
    failures = [DetectorFailed("too much")] * 4
    eyes = eyes_of(Failing(*failures, None, *failures, DetectorFailed("too much")))
    for _ in range(4):
        with pytest.raises(DetectorFailed):
            eyes.plates(PICTURE)
    assert eyes.plates(PICTURE) is not None
    for _ in range(4):
        with pytest.raises(DetectorFailed):
            eyes.plates(PICTURE)
    assert eyes.has("plates")
    assert eyes.plates(PICTURE) is None
    assert not eyes.has("plates")


def test_an_unusable_network_is_asked_once() -> None:
    detector = Failing(NetworkUnusable("/srv/secret/plates.onnx is damaged"))
    eyes = eyes_of(detector)
    assert eyes.plates(PICTURE) is None
    assert eyes.plates(PICTURE) is None
    assert not any("secret" in note for note in eyes.notes(["lpr"]))


def test_what_is_missing_for_containers_is_said() -> None:
    assert any("people and vehicles" in note for note in eyes_of(Failing()).notes(["lpr"]))
