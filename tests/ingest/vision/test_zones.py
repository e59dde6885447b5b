"""Zones: what lies in them, and which polygons are none."""

from __future__ import annotations

import pytest

from ingest.vision.zones import Zone, foot_point, problem_of

CORNER = Zone("corner", "restricted", ((0.0, 0.0), (0.5, 0.0), (0.5, 0.5), (0.25, 0.25), (0.0, 0.5)))


def test_a_point_is_in_a_zone_with_a_dent() -> None:
    assert (0.1, 0.1) in CORNER
    assert (0.25, 0.4) not in CORNER
    assert (0.9, 0.9) not in CORNER
    assert 0 < CORNER.area < 0.25


def test_neighbours_share_no_point_of_their_common_side() -> None:
    left = Zone("left", "queue", ((0, 0), (0.5, 0), (0.5, 1), (0, 1)))
    right = Zone("right", "queue", ((0.5, 0), (1, 0), (1, 1), (0.5, 1)))
    for y in (0.1, 0.5, 0.9):
        assert ((0.5, y) in left) + ((0.5, y) in right) == 1


def test_a_box_stands_where_its_lower_side_is() -> None:
    assert foot_point((100, 50, 300, 360), 1280, 720) == (200 / 1280, 0.5)


@pytest.mark.parametrize(
    ("polygon", "problem"),
    [
        ([[0, 0], [1, 1]], "3 to 64 points"),
        ([[0, 0], [1, 0], [1.5, 1]], "from 0 to 1"),
        ([[0, 0], [1, 0], [0.5]], "from 0 to 1"),
        ([[0, 0], [1, 1], [1, 0], [0, 1]], "do not cross"),
        ([[0, 0], [0.5, 0.5], [1, 1]], "too small"),
    ],
)
def test_what_is_no_polygon_is_said(polygon: list[list[float]], problem: str) -> None:
    assert problem in (problem_of(polygon) or "")


def test_any_real_polygon_is_one() -> None:
    assert problem_of(CORNER.polygon) is None
    assert problem_of([[0, 0], [1, 0], [1, 1], [0, 1]]) is None
