"""Pictures into a network's square and boxes out of its answer."""

from __future__ import annotations

import numpy as np
import pytest

from ingest.vision.yolo import GREY, boxes_of, fit_into, letterbox


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (720, 1280), (640, 640), (64, 48), (1919, 1079)])
def test_a_picture_lies_in_the_middle_of_the_square(width: int, height: int) -> None:
    picture = np.full((height, width, 3), 255, np.uint8)
    planes, fit = letterbox(picture, 640)
    assert (planes.shape, planes.dtype) == ((1, 3, 640, 640), np.float32)
    white = np.argwhere(planes[0, 0] == 1)
    top, left = white.min(axis=0)
    bottom, right = white.max(axis=0) + 1
    assert (left, top) == (fit.left, fit.top)
    assert max(right - left, bottom - top) == 640
    assert abs((right - left) - width * fit.scale) <= 1
    assert abs(left - (640 - right)) <= 1
    assert abs(top - (640 - bottom)) <= 1
    if width != height:
        assert planes.min() == np.float32(GREY / 255)


def test_channels_stay_in_their_order() -> None:
    picture = np.zeros((640, 640, 3), np.uint8)
    picture[..., 0] = 200
    planes, _ = letterbox(picture, 640)
    assert [round(float(plane.max()) * 255) for plane in planes[0]] == [200, 0, 0]


@pytest.mark.parametrize("layout", ["v5", "v8"])
def test_boxes_come_back_in_pixels_of_the_picture(layout: str) -> None:
    fit = fit_into(1280, 720, 640)  # scale 0.5, 140 above
    wanted = np.array(
        [[100, 200, 300, 400], [110, 205, 305, 400], [100, 200, 300, 400], [900, 500, 1300, 760]], np.float32
    )
    square = wanted * 0.5 + np.array([0, 140, 0, 140], np.float32)
    centre = np.concatenate([(square[:, :2] + square[:, 2:]) / 2, square[:, 2:] - square[:, :2]], axis=1)
    scores = np.array([[0.9, 0.1], [0.8, 0.1], [0.2, 0.7], [0.1, 0.3]], np.float32)
    if layout == "v8":
        output = np.concatenate([centre, scores], axis=1).T[None]
    else:
        output = np.concatenate([centre, np.ones((4, 1), np.float32), scores], axis=1)[None]
    boxes = boxes_of(output, fit, layout=layout)  # type: ignore[arg-type]
    # The second is the first again; the third is of another class; the fourth ends with the picture.
    assert boxes.classes.tolist() == [0, 1, 1]
    assert boxes.scores.tolist() == pytest.approx([0.9, 0.7, 0.3])
    assert boxes.xyxy[0].tolist() == pytest.approx([100, 200, 300, 400])
    assert boxes.xyxy[2].tolist() == pytest.approx([900, 500, 1280, 720])


def test_an_empty_picture_has_no_boxes_and_a_full_one_has_a_bound() -> None:
    fit = fit_into(640, 640, 640)
    assert len(boxes_of(np.zeros((1, 84, 8400), np.float32), fit, layout="v8")) == 0
    source = np.random.default_rng(1)
    output = np.concatenate(
        [source.uniform(0, 640, (2, 8400)), np.full((2, 8400), 2.0), source.uniform(0.3, 1, (80, 8400))]
    ).astype(np.float32)[None]
    boxes = boxes_of(output, fit, layout="v8")
    assert len(boxes) == 300
    assert (np.diff(boxes.scores) <= 0).all()
