"""Still pictures: what is looked at seldom, and is told of once nevertheless."""

from __future__ import annotations

import numpy as np
import pytest
import zxingcpp

from ingest.vision.attention import SELDOM_S
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
