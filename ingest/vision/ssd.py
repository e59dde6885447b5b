"""SSD networks of TensorFlow's detection model zoo (Apache-2.0), for those who cannot take the AGPL of the YOLO family.

Source: the zoo's documentation of `frozen_inference_graph.pb`, which scales its pictures and removes overlapping boxes
by itself, and numbers what it finds as COCO's annotations do.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ingest.vision.network_files import NetworkUnusable

Floats = npt.NDArray[np.float32]

FILE = "frozen_inference_graph.pb"
SIZE = 320
"""Of the letterboxed square, in pixels; the graph makes it the 300 that it was trained for."""

_LABELS = {
    1: "person bicycle car motorcycle airplane bus train truck boat",
    10: "traffic_light fire_hydrant",
    13: "stop_sign parking_meter bench bird cat dog horse sheep cow elephant bear zebra giraffe",
    27: "backpack umbrella",
    31: "handbag tie suitcase frisbee skis snowboard sports_ball kite baseball_bat baseball_glove skateboard surfboard",
    43: "tennis_racket bottle",
    46: "wine_glass cup fork knife spoon bowl banana apple sandwich orange broccoli carrot hot_dog pizza donut cake",
    62: "chair couch potted_plant bed",
    67: "dining_table",
    70: "toilet",
    72: "tv laptop mouse remote keyboard cell_phone microwave oven toaster sink refrigerator",
    84: "book clock vase scissors teddy_bear hair_drier toothbrush",
}
_NUMBERED = {
    first + place: label.replace("_", " ")
    for first, labels in _LABELS.items()
    for place, label in enumerate(labels.split())
}
NAMES = dict(enumerate(_NUMBERED.values()))
_CHANNELS = 5 + len(NAMES)
_PLACES = np.zeros(max(_NUMBERED) + 1, np.int64)
_PLACES[list(_NUMBERED)] = np.arange(5, _CHANNELS)


def graph_in(folder_or_file: Path) -> Path | None:
    """The zoo's file, if that is what it is."""
    graph = folder_or_file / FILE if folder_or_file.is_dir() else folder_or_file
    return graph if graph.suffix == ".pb" and graph.is_file() else None


class SsdEngine:
    """One in memory, run by OpenVINO. Its answers are given the form of YOLOv5's: candidates x (box, 1, classes).

    Raises NetworkUnusable for another graph.
    """

    size = SIZE
    takes_bands = False

    def __init__(self, graph: Path, threads: int) -> None:
        settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
        try:
            openvino: Any = importlib.import_module("openvino")
            core = openvino.Core()
            model = core.read_model(graph)
            model.reshape([1, SIZE, SIZE, 3])
            places = {name: place for place, output in enumerate(model.outputs) for name in output.get_names()}
            self._outputs = [places[f"detection_{kind}:0"] for kind in ("boxes", "scores", "classes")]
            self._request = core.compile_model(model, "CPU", settings).create_infer_request()
        # The library has errors of many kinds for a damaged file, which have no other base.
        except Exception as error:
            raise NetworkUnusable(f"{graph} is no SSD detector of the zoo ({str(error).strip()[:500]})") from error

    def run(self, planes: Floats) -> list[Floats]:
        """Of n x 3 x size x size pictures (RGB, 0 to 1)."""
        pixels = np.rint(planes * 255).astype(np.uint8).transpose(0, 2, 3, 1)
        return [self._look(np.ascontiguousarray(picture[None])) for picture in pixels]

    def _look(self, picture: npt.NDArray[np.uint8]) -> Floats:
        self._request.infer([picture])
        boxes, scores, classes = (self._request.get_output_tensor(index).data[0] for index in self._outputs)
        top, left, bottom, right = (boxes * SIZE).T
        rows = np.zeros((len(scores), _CHANNELS), np.float32)
        rows[:, :5] = np.stack(
            [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top, 1 + 0 * top], axis=1
        )
        numbers = classes.astype(np.int64).clip(1, len(_PLACES) - 1)
        rows[np.arange(len(scores)), _PLACES[numbers]] = scores
        return rows
