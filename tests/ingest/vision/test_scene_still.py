"""Still pictures: what is looked at seldom, and is told of once nevertheless."""

from __future__ import annotations

import numpy as np
import pytest
import zxingcpp

from ingest.vision.attention import SELDOM_S
from ingest.vision.reading_turns import MOST_BLANK, MOST_OF_ONE_PLACE, MOST_READINGS
from ingest.vision.scenarios.findings import Box
from tests.support.scene_camera import PLATE, VAULT, Camera, Seeing


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
    judged_again = {"a lamp": 35, "a sign": 2}.get(there, 0)  # once in a minute, and in half a minute
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
    assert {camera.eyes.searched.count(box) for box in parked} == {MOST_BLANK}
    camera.eyes.searched.clear()
    camera.eyes.container_on = (100, 200, 400, 340)
    camera.eyes.vehicles = [*parked, camera.eyes.container_on]
    assert camera.runs(8) == ["container_read"], "the last that came is read first"
    camera.runs(52)
    assert len(camera.eyes.searched) <= 3 + 2 * len(parked) + 2


def test_what_stands_still_is_read_a_few_times_and_again_when_it_moves() -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    camera.eyes.plate_boxes, camera.eyes.sure = [PLATE], [0.1]
    camera.runs(10)
    assert len(camera.eyes.read) == MOST_OF_ONE_PLACE, "the same picture says the same again"
    camera.runs(300, moves=False)
    assert len(camera.eyes.read) == MOST_OF_ONE_PLACE + 2, "light changes"
    camera.eyes.read.clear()
    left, top, right, bottom = PLATE
    for moved in range(0, 120, 5):
        camera.eyes.plate_boxes = [(left + moved, top, right + moved, bottom)]
        camera.runs(0.4)
    assert MOST_READINGS - MOST_OF_ONE_PLACE - 3 <= len(camera.eyes.read) <= MOST_READINGS
    camera.eyes.sure = [0.95]
    assert camera.runs(130) == ["plate_read"], "it is clear now"


def test_what_is_first_seen_when_nothing_moves_any_more_is_told_of_at_once() -> None:
    camera = Camera("lpr", "safety", eyes=Seeing("plates"), zones=[VAULT])
    camera.runs(3)
    camera.runs(3, moves=False)
    camera.eyes.plate_boxes, camera.eyes.vehicles = [PLATE], [(400, 100, 600, 300)]
    camera.eyes.container_on = (0, 0, 1, 1)
    assert sorted(camera.runs(SELDOM_S + 4, moves=False)) == ["plate_read", "zone_intrusion"]


@pytest.mark.parametrize("pause_s", [1.5, 8])
def test_what_is_seen_before_looks_have_to_wait_is_looked_at_again_then(pause_s: float) -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    camera.eyes.plate_boxes = [PLATE]
    assert camera.runs(0.1, moves=False) == []
    camera.now_s += pause_s
    assert camera.runs(1.5, moves=False) == ["plate_read"]


def test_what_is_seen_once_and_never_twice_does_not_keep_a_still_picture_looked_at() -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    for number in range(600):
        camera.eyes.plate_boxes = [((number * 90) % 500, 200, (number * 90) % 500 + 80, 230)]
        camera.runs(0.1, moves=False)
    assert camera.eyes.plate_looks <= 60 / SELDOM_S * (1 + 1.2 / 0.2) + 7
