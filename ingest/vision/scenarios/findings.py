"""What scenarios take and give: things that were tracked from frame to frame, and what was found out about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

EventType = Literal[
    "person_entered",
    "person_left",
    "queue_formed",
    "queue_cleared",
    "no_helmet",
    "no_vest",
    "no_mask",
    "no_gloves",
    "fire",
    "smoke",
    "fall",
    "zone_intrusion",
    "plate_read",
    "container_read",
    "barcode_read",
]
Box = tuple[float, float, float, float]
"""x1, y1, x2, y2 in pixels of the frame."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """One thing in one frame. The number is the same in every frame that it is in. Where people and vehicles meet,
    those of vehicles are below 0: both are counted from 1."""

    number: int
    box: Box
    confidence: float


@dataclass(frozen=True, slots=True)
class Finding:
    """An event to be. `subject` tells it from others of its type in the stream, so that it becomes one event only;
    `details` go into the event's metadata. `in_view_s`: since when it was in view as it was told of, for what is told
    when it has been read."""

    type: EventType
    subject: str
    confidence: float
    box: Box | None = None
    number: int | None = None
    zone: str | None = None
    details: Mapping[str, str | int | float] = field(default_factory=dict)
    in_view_s: float = 0.0


def object_of(number: int) -> Literal["person", "vehicle"]:
    return "person" if number > 0 else "vehicle"


def overlap(first: Box, second: Box) -> float:
    """Intersection over union."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    common = max(0.0, width) * max(0.0, height)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (first, second))
    return common / (areas - common) if areas > common else 0.0
