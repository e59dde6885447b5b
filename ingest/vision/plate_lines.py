"""The networks that read short texts: PP-OCR's line recogniser and text detector, and the one for Russian plates.

PP-OCR's files lie in the rapidocr package and are opened as data: the package itself would fetch what it misses.
Their preparation follows rapidocr 3.10 and PaddleOCR; the Russian network is LPRNet behind a spatial transformer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from cv2.typing import MatLike

from ingest.vision.plate_lattice import lattice_of

Pixels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Corners = npt.NDArray[np.float32]
"""4 x 2, clockwise from the upper left."""
Run = Callable[[Floats], Floats]

LINE_HEIGHT = 48
_LEAST_WIDTH, _MOST_WIDTH = 320, 1280
_BATCH = 6
_RUSSIAN_CHARACTERS = (*"0123456789ABEKMHOPCTYX", "")
_RUSSIAN_WIDTH, _RUSSIAN_HEIGHT = 94, 24
_TEXT_SIDE = 960
_LEAST_TEXT, _LEAST_LINE, _UNCLIP, _MOST_LINES = 0.3, 0.5, 1.6, 40


def open_run(path: Path, threads: int) -> tuple[Run, dict[str, str]]:
    """A network of one input and one output, and what its file says about it. Raises FileNotFoundError."""
    import onnxruntime

    if not path.is_file():
        raise FileNotFoundError(f"there is no network at {path}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that wait do so without turning: other children need the cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    entrance = session.get_inputs()[0].name

    def run(planes: Floats) -> Floats:
        answer: Floats = session.run(None, {entrance: planes})[0]
        return answer

    return run, dict(session.get_modelmeta().custom_metadata_map)


def ocr_file(task: str) -> Path:
    """PP-OCR's network for "det" or "rec" in the rapidocr package. Raises FileNotFoundError."""
    package = find_spec("rapidocr")
    folders = (package.submodule_search_locations or []) if package is not None else []
    files = [path for folder in folders for path in sorted(Path(folder, "models").glob(f"PP-OCR*_{task}_*.onnx"))]
    if not files:
        raise FileNotFoundError("PP-OCR's networks are in the package rapidocr, which is not installed")
    return files[-1]


class LineReader:
    """PP-OCR's recogniser of one line of text."""

    def __init__(self, threads: int) -> None:
        self._run, said = open_run(ocr_file("rec"), threads)
        # The blank comes first, the space last; neither is in the list.
        self._characters = ("", *said["character"].splitlines(), " ")

    def read(self, lines: Sequence[Pixels]) -> list[Floats]:
        """A lattice for each picture of a line (height x width x 3, RGB)."""
        lattices: list[Floats] = []
        for start in range(0, len(lines), _BATCH):
            some = lines[start : start + _BATCH]
            widths = [_line_width(line) for line in some]
            batch = np.zeros((len(some), 3, LINE_HEIGHT, max(_LEAST_WIDTH, *widths)), np.float32)
            for place, (line, width) in enumerate(zip(some, widths, strict=True)):
                batch[place, :, :, :width] = _planes(line, width, LINE_HEIGHT)
            lattices += [lattice_of(answer, self._characters) for answer in self._run(batch)]
        return lattices


class RussianReader:
    """STN-LPRNet, trained on Russian plates of one line."""

    def __init__(self, path: Path, threads: int) -> None:
        self._run, _ = open_run(path, threads)

    def read(self, crops: Sequence[Pixels]) -> list[Floats]:
        """A lattice for each picture of a plate (height x width x 3, RGB)."""
        lattices = []
        for crop in crops:
            # From 0 to 1: of the usual ranges the one with which it reads best.
            planes = (_planes(crop, _RUSSIAN_WIDTH, _RUSSIAN_HEIGHT)[None] + 1) / 2
            logits = self._run(np.asarray(planes, np.float32))[0]
            chances = np.exp(logits - logits.max(axis=0))
            lattices.append(lattice_of((chances / chances.sum(axis=0)).T, _RUSSIAN_CHARACTERS))
        return lattices


class TextFinder:
    """PP-OCR's detector of text (DB: differentiable binarization, Liao et al., 2020)."""

    def __init__(self, threads: int) -> None:
        self._run, _ = open_run(ocr_file("det"), threads)

    def find(self, image: Pixels) -> list[Corners]:
        """The corners of each piece of text in pixels of the picture: row by row, in each from the left."""
        height, width = image.shape[:2]
        scale = _TEXT_SIDE / max(height, width)
        inner_width, inner_height = (max(32, round(side * scale / 32) * 32) for side in (width, height))
        chances = self._run(_planes(image, inner_width, inner_height)[None])[0, 0]
        mask = cv2.dilate((chances > _LEAST_TEXT).astype(np.uint8), np.ones((2, 2), np.uint8))
        outlines, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
        back = np.array([width / inner_width, height / inner_height], np.float32)
        found = []
        for outline in sorted(outlines, key=cv2.contourArea, reverse=True)[:_MOST_LINES]:
            centre, (long, short), angle = cv2.minAreaRect(outline)
            if min(long, short) < 3 or _mean_inside(chances, outline) < _LEAST_LINE:
                continue
            more = long * short * _UNCLIP / (long + short)  # to each side half of it: area * ratio / circumference
            corners = _clockwise(cv2.boxPoints((centre, (long + more, short + more), angle)))
            found.append(np.asarray(corners * back, np.float32))
        return by_rows(found)


def by_rows(pieces: Sequence[Corners]) -> list[Corners]:
    """Pieces whose middles are less than half a height apart are in one row."""
    rows: list[list[Corners]] = []
    for piece in sorted(pieces, key=lambda piece: float(piece[:, 1].mean())):
        above = rows[-1][0] if rows else None
        if above is not None and piece[:, 1].mean() - above[:, 1].mean() < np.ptp(above[:, 1]) / 2:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [piece for row in rows for piece in sorted(row, key=lambda piece: float(piece[:, 0].mean()))]


def straightened(image: Pixels, corners: Corners) -> Pixels:
    """What is inside four corners, as a rectangle; pieces taller than wide are turned to lie."""
    width = round(max(np.linalg.norm(corners[0] - corners[1]), np.linalg.norm(corners[3] - corners[2])))
    height = round(max(np.linalg.norm(corners[0] - corners[3]), np.linalg.norm(corners[1] - corners[2])))
    width, height = max(1, width), max(1, height)
    wanted = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), wanted)
    piece = cv2.warpPerspective(image, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.ascontiguousarray(np.rot90(piece) if height > 1.5 * width else piece, np.uint8)


def _line_width(line: Pixels) -> int:
    width, height = int(line.shape[1]), int(line.shape[0])
    return min(_MOST_WIDTH, max(1, round(LINE_HEIGHT * width / height)))


def _planes(picture: Pixels, width: int, height: int) -> Floats:
    """3 x height x width, blue first, -1 to 1."""
    way = cv2.INTER_CUBIC if picture.shape[0] < height else cv2.INTER_AREA
    resized = cv2.resize(picture[..., ::-1], (width, height), interpolation=way)
    planes: Floats = resized.transpose(2, 0, 1).astype(np.float32) / 127.5 - 1
    return planes


def _mean_inside(chances: Floats, outline: MatLike) -> float:
    left, top, width, height = cv2.boundingRect(outline)
    inside = np.zeros((height, width), np.uint8)
    cv2.fillPoly(inside, [np.asarray(outline - np.array([left, top]), np.int32)], 1)
    return float(cv2.mean(chances[top : top + height, left : left + width], inside)[0])


def _clockwise(corners: MatLike) -> Corners:
    """Of any four corners of a rectangle, the upper left one first."""
    by_column = corners[np.argsort(corners[:, 0], kind="stable")]
    left, right = by_column[:2], by_column[2:]
    left, right = left[np.argsort(left[:, 1])], right[np.argsort(right[:, 1])]
    return np.array([left[0], right[0], right[1], left[1]], np.float32)
