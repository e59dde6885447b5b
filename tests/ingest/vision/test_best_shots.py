"""The best picture of an event, and where on the floor somebody stands."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from av import VideoFrame

from ingest.vision.best_shots import FOR_S, BestShots, sharpness
from ingest.vision.calibration import Floor
from ingest.vision.frames import Frame
from ingest.vision.scenarios.findings import Box, Tracked

WIDTH, HEIGHT = 640, 480
SHARP = np.random.default_rng(3).integers(0, 255, (HEIGHT, WIDTH, 3), np.uint8)
BLURRED = np.full_like(SHARP, 120)
SMALL: Box = (300.0, 200.0, 330.0, 280.0)
LARGE: Box = (280.0, 100.0, 360.0, 300.0)


def better(shots: BestShots, box: Box, at_s: float, image: np.ndarray = SHARP, number: int = 1) -> list[str]:  # type: ignore[type-arg]
    frame = Frame(1, 0, datetime.now(UTC), at_s, True, WIDTH, HEIGHT, VideoFrame.from_ndarray(image, format="rgb24"))
    return shots.better([Tracked(number, box, 0.9)], frame)


def test_a_larger_picture_takes_the_place_and_a_smaller_one_does_not() -> None:
    shots = BestShots(WIDTH, HEIGHT)
    shots.begin("event", 1, SMALL, SHARP, 10.0)
    assert better(shots, SMALL, 10.5) == []
    assert better(shots, LARGE, 11.0) == ["event"]
    assert better(shots, LARGE, 11.5) == [], "it must be better by something that can be seen"
    assert better(shots, SMALL, 12.0) == []


def test_a_blurred_one_and_one_that_leaves_the_picture_are_no_better() -> None:
    shots = BestShots(WIDTH, HEIGHT)
    shots.begin("event", 1, SMALL, SHARP, 10.0)
    assert better(shots, LARGE, 10.5, BLURRED) == []
    assert better(shots, (0.0, 100.0, 40.0, 200.0), 11.0) == []
    assert sharpness(SHARP) > 10 > sharpness(BLURRED)


def test_only_the_same_track_and_only_for_a_while() -> None:
    shots = BestShots(WIDTH, HEIGHT)
    shots.begin("event", 1, SMALL, SHARP, 10.0)
    assert better(shots, LARGE, 10.5, number=2) == []
    assert better(shots, LARGE, 10.0 + FOR_S + 0.1) == []


def test_who_stands_before_a_car_is_not_hidden_by_it_and_the_car_gets_a_better_picture_too() -> None:
    shots = BestShots(WIDTH, HEIGHT)
    shots.begin("person", 1, SMALL, SHARP, 10.0)
    shots.begin("car", -1, (250.0, 180.0, 350.0, 240.0), SHARP, 10.0)
    car = Tracked(-1, (100.0, 50.0, 500.0, 350.0), 0.9)
    frame = Frame(1, 0, datetime.now(UTC), 11.0, True, WIDTH, HEIGHT, VideoFrame.from_ndarray(SHARP, format="rgb24"))
    assert shots.better([car, Tracked(1, LARGE, 0.9)], frame) == ["person", "car"]


CORNERS = [
    {"image": [0.2, 0.4], "floor": [0.0, 10.0]},
    {"image": [0.8, 0.4], "floor": [4.0, 10.0]},
    {"image": [0.9, 0.9], "floor": [4.0, 2.0]},
    {"image": [0.1, 0.9], "floor": [0.0, 2.0]},
]


def test_measured_points_are_where_they_were_measured() -> None:
    floor = Floor.of(CORNERS)
    assert floor is not None
    for corner in CORNERS:
        assert floor.place((corner["image"][0], corner["image"][1])) == pytest.approx(corner["floor"], abs=1e-6)
    place = floor.place((0.5, 0.6))
    assert place is not None
    assert place[0] == pytest.approx(2.0)
    assert 2 < place[1] < 10


@pytest.mark.parametrize(
    "points",
    [
        CORNERS[:3],
        [{"image": [0.1 * n, 0.1 * n], "floor": [n, n]} for n in range(5)],
        [{"image": [0.5, 0.5], "floor": [1, 1]}] * 4,
    ],
)
def test_too_few_points_and_points_on_a_line_tell_nothing(points: list[dict[str, list[float]]]) -> None:
    assert Floor.of(points) is None
