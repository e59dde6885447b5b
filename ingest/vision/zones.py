"""Zones of a camera's picture: polygons in relative coordinates, 0 to 1 from the upper left corner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

ZoneKind = Literal["restricted", "queue", "entrance"]
Point = tuple[float, float]
LEAST_POINTS, MOST_POINTS = 3, 64
_BORDER = 0.9999


@dataclass(frozen=True, slots=True)
class Zone:
    """A polygon without crossing sides; the last point is joined to the first."""

    name: str
    kind: ZoneKind
    polygon: tuple[Point, ...]

    def __contains__(self, point: Point) -> bool:
        """By the even-odd rule. A point on a side that two zones share is in one of them."""
        x, y = point
        inside = False
        for (ax, ay), (bx, by) in _sides(self.polygon):
            if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
                inside = not inside
        return inside

    @property
    def area(self) -> float:
        """As a share of the picture."""
        return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in _sides(self.polygon))) / 2


def zone_of(row: Mapping[str, object]) -> Zone:
    """A zone as its stream keeps it."""
    polygon = row["polygon"]
    assert isinstance(polygon, list)
    return Zone(str(row["name"]), row["kind"], tuple((float(x), float(y)) for x, y in polygon))  # type: ignore[arg-type]


def foot_point(box: Sequence[float], width: int, height: int) -> Point:
    """Where a person or a vehicle stands: the middle of the lower side of its box (x1, y1, x2, y2 in pixels). Feet on
    the picture's border are in a zone that ends there."""
    return min((box[0] + box[2]) / 2 / width, _BORDER), min(box[3] / height, _BORDER)


def problem_of(polygon: Sequence[Sequence[float]]) -> str | None:
    """What is wrong with a polygon, in words for its owner; None where nothing is."""
    if not LEAST_POINTS <= len(polygon) <= MOST_POINTS:
        return f"a polygon has {LEAST_POINTS} to {MOST_POINTS} points"
    if any(len(point) != 2 or not all(0 <= value <= 1 for value in point) for point in polygon):
        return "a point is [x, y], each from 0 to 1"
    points = [(float(point[0]), float(point[1])) for point in polygon]
    sides = _sides(points)
    for first in range(len(sides)):
        for second in range(first + 1, len(sides)):
            are_neighbours = second - first in (1, len(sides) - 1)
            if not are_neighbours and _cross(sides[first], sides[second]):
                return "the sides of a polygon do not cross"
    if Zone("", "restricted", tuple(points)).area < 1e-4:
        return "the polygon is too small"
    return None


def _sides(points: Sequence[Point]) -> list[tuple[Point, Point]]:
    return list(zip(points, [*points[1:], points[0]], strict=True))


def _cross(first: tuple[Point, Point], second: tuple[Point, Point]) -> bool:
    (a, b), (c, d) = first, second
    return _turns(a, b, c) * _turns(a, b, d) <= 0 and _turns(c, d, a) * _turns(c, d, b) <= 0 and _overlap(first, second)


def _turns(a: Point, b: Point, c: Point) -> float:
    """Positive where the way from a over b to c turns one way, negative the other, 0 where it is straight."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _overlap(first: tuple[Point, Point], second: tuple[Point, Point]) -> bool:
    """Whether the boxes around two sides touch: straight ones in a row have no turn and need not."""
    return all(
        min(first[0][axis], first[1][axis]) <= max(second[0][axis], second[1][axis])
        and min(second[0][axis], second[1][axis]) <= max(first[0][axis], first[1][axis])
        for axis in (0, 1)
    )
