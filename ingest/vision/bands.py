"""Lets a network look at a wide picture without the grey above and below it.

A camera's picture of 16:9 fills 360 of the 640 rows that an exported YOLO network takes; 384 hold it, and to look at
those costs three fifths. Exports without dynamic shapes carry the place of each cell as a constant, which is cut to
the cells that are left: weights and answers stay what they were. ultralytics does the same with .pt files (`rect`).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ingest.vision.yolo import Fit, Floats

_STRIDE = 32
_SHARES = (3 / 5, 3 / 4)
"""Of the square's rows: what pictures of 16:9 and 4:3 need. Few, since each is a compiled network of its own."""
_STRIDES = (8, 16, 32)


def rows_for(fit: Fit, size: int) -> int:
    """How many rows in the middle of the square hold the picture."""
    needed = max(1, round(fit.height * fit.scale))
    heights = (_rows(size, share) for share in _SHARES)
    return next((rows for rows in heights if needed <= rows), size)


def in_band(fit: Fit, size: int, rows: int) -> Fit:
    """How the picture lies in the middle `rows` of the square."""
    return replace(fit, top=fit.top - (size - rows) // 2)


def cut_to(model: Any, size: int, rows: int) -> None:
    """Makes an OpenVINO network for size x size pictures one for `rows` x size. Raises ValueError for one whose cells
    are not those of YOLOv8; what the library raises for one that cannot be cut."""
    openvino: Any = importlib.import_module("openvino")
    opset: Any = importlib.import_module("openvino.opset13")

    # The shape before the constants: each change of a node is checked against its neighbours at once.
    (entry,) = model.get_parameters()
    entry.set_partial_shape(openvino.PartialShape([1, 3, rows, size]))
    cells, kept = _cells(size, size), _cells(rows, size)
    for node in model.get_ops():
        shape = list(node.output(0).get_shape()) if node.get_type_name() == "Constant" else []
        if not shape or shape[-1] != cells.shape[1]:
            continue
        cut = _cut(np.asarray(node.data, np.float32).reshape(-1, shape[-1]), cells, kept)
        constant = opset.constant(cut.reshape([*shape[:-1], kept.shape[1]]).astype(node.data.dtype))
        for user in node.output(0).get_target_inputs():
            user.replace_source_output(constant.output(0))
    model.validate_nodes_and_infer_types()
    answers = model.output(0).partial_shape
    if answers.is_dynamic or answers[len(answers) - 1].get_length() != kept.shape[1]:
        raise ValueError(f"the network answers in the shape {answers} for {rows} rows")


def can_be_cut(model: Any, size: int) -> bool:
    """Whether the network looks at any band of a square."""
    try:
        for rows in bands_of(size):
            cut_to(model.clone(), size, rows)
    # ValueError of ours, and whatever the library has for a graph that fits no other shape.
    except (ValueError, RuntimeError):
        return False
    return True


def bands_of(size: int) -> Sequence[int]:
    return [_rows(size, share) for share in _SHARES]


def _cut(places: Floats, cells: Floats, kept: Floats) -> Floats:
    """A constant of all cells for those that are kept. Raises ValueError."""
    for known, cut in ((cells[2:], kept[2:]), (cells[:2], kept[:2]), (cells[:2] - 0.5, kept[:2] - 0.5)):
        if places.shape == known.shape and np.array_equal(places, known):
            return cut
    raise ValueError("the network has a constant for each cell that is not understood")


def _rows(size: int, share: float) -> int:
    # The middle of the square has to begin at a whole pixel, hence an even number of steps of 16.
    return min(size, -(-round(size * share) // _STRIDE) * _STRIDE)


def _cells(rows: int, columns: int) -> Floats:
    """3 x cells: x, y of the middle of each, in cells, and how many pixels wide it is; the finest grid first."""
    parts = []
    for stride in _STRIDES:
        y, x = np.mgrid[: rows // stride, : columns // stride].astype(np.float32) + np.float32(0.5)
        parts.append(np.stack([x.ravel(), y.ravel(), np.full(x.size, stride, np.float32)]))
    return np.concatenate(parts, axis=1)
