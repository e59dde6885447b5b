"""What a detector and its child say to each other: a header in JSON, then tables of numbers.

The child reads files of anybody's making. So nothing that it says is unpickled: it is numbers and text, and checked.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ingest.vision.detect_poses import Poses
from ingest.vision.network_files import KEYPOINTS
from ingest.vision.networks import Description
from ingest.vision.yolo import Boxes, Floats

_LENGTH = struct.Struct("!I")
_BOX_COLUMNS = 6
_POSE_COLUMNS = _BOX_COLUMNS + 3 * KEYPOINTS


class Garbled(Exception):
    """The message is none that the other side would send."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One to be looked at: where it lies, how large it was (pixels), and what is wanted of it."""

    slot: int
    width: int
    height: int
    confidence: float
    classes: tuple[int, ...] | None


def question(model: str, size: int = 0, pictures: Sequence[Picture] = ()) -> bytes:
    """Asks to look at pictures in a model's size, or, without any, to open the model and to describe it."""
    return json.dumps(
        {"model": model, "size": size, "pictures": [list(asdict(each).values()) for each in pictures]}
    ).encode()


def parse_question(message: bytes | bytearray) -> tuple[str, int, list[Picture]]:
    asked = json.loads(message)
    return asked["model"], asked["size"], [Picture(*each) for each in asked["pictures"]]


def answer(header: Mapping[str, Any], tables: Sequence[Floats] = ()) -> bytes:
    head = json.dumps({**header, "shapes": [table.shape for table in tables]}).encode()
    return b"".join([_LENGTH.pack(len(head)), head, *(table.astype(np.float32).tobytes() for table in tables)])


def parse_answer(message: bytes | bytearray) -> tuple[dict[str, Any], list[Floats]]:
    """Raises Garbled."""
    try:
        (length,) = _LENGTH.unpack_from(message)
        place = _LENGTH.size + length
        header = json.loads(message[_LENGTH.size : place])
        tables = []
        for rows, columns in header["shapes"]:
            tables.append(np.frombuffer(message, np.float32, rows * columns, place).reshape(rows, columns))
            place += rows * columns * 4
    except (struct.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise Garbled(f"{type(error).__name__}: {error}") from error
    if not isinstance(header, dict) or place != len(message):
        raise Garbled("the message is longer than what it announces")
    return header, tables


def described(description: Description) -> dict[str, Any]:
    """As a header."""
    return {
        "names": list(description.names.values()),
        "size": description.size,
        "layout": description.layout,
        "task": description.task,
        "runtime": description.runtime,
    }


def parse_description(header: Mapping[str, Any]) -> Description:
    """Raises Garbled."""
    try:
        names = {number: str(label) for number, label in enumerate(header["names"])}
        return Description(names, int(header["size"]), header["layout"], header["task"], header["runtime"])
    except (KeyError, TypeError, ValueError) as error:
        raise Garbled(f"{type(error).__name__}: {error}") from error


def table_of(found: Boxes | Poses) -> Floats:
    """A row a thing: x1, y1, x2, y2, score, class, and 17 times x, y, certainty for people with key points."""
    boxes = found.boxes if isinstance(found, Poses) else found
    columns: list[Floats] = [boxes.xyxy, boxes.scores[:, None], boxes.classes[:, None].astype(np.float32)]
    if isinstance(found, Poses):
        columns.append(found.keypoints.reshape(len(found), 3 * KEYPOINTS))
    return np.concatenate(columns, axis=1)


def boxes_in(table: Floats) -> Boxes:
    """Raises Garbled."""
    if table.shape[1] not in (_BOX_COLUMNS, _POSE_COLUMNS):
        raise Garbled(f"{table.shape[1]} columns")
    return Boxes(table[:, :4], table[:, 4], table[:, 5].astype(np.int64))


def poses_in(table: Floats) -> Poses:
    """Raises Garbled."""
    if table.shape[1] != _POSE_COLUMNS:
        raise Garbled(f"{table.shape[1]} columns")
    return Poses(boxes_in(table), table[:, _BOX_COLUMNS:].reshape(-1, KEYPOINTS, 3))
