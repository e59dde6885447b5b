"""Opens exported YOLO networks: OpenVINO folders and ONNX files, as ultralytics and YOLOv5 write them; and the SSD
networks of TensorFlow's zoo, which answer in the same form (`ssd`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ingest.vision.network_files import KEYPOINTS, NetworkUnusable, Task, read_sheet
from ingest.vision.network_runtimes import Engine, Runtime, runtime_for, start
from ingest.vision.ssd import NAMES, SsdEngine, graph_in
from ingest.vision.yolo import GREY, Floats, Layout

PEOPLE = ("person",)
VEHICLES = ("bicycle", "car", "motorcycle", "bus", "truck")
"""Labels of COCO."""

_GRIDS = ((8, 16, 32), (8, 16, 32, 64), (4, 8, 16, 32))
"""In steps of so many pixels a network looks for things: the usual ones, and those for large and for small things."""
_KEYPOINT_CHANNELS = 3 * KEYPOINTS


@dataclass(frozen=True, slots=True)
class Description:
    """Of a network. `names`: the label of each class; `size`: of its square input, in pixels."""

    names: Mapping[int, str]
    size: int
    layout: Layout
    task: Task
    runtime: Runtime

    def numbers_of(self, labels: Iterable[str]) -> tuple[int, ...]:
        """The classes with these labels; case, spaces, `-` and `_` do not matter. Raises ValueError for a label that
        the network does not know."""
        known = {_plain(label): number for number, label in self.names.items()}
        wanted = list(labels)
        unknown = [label for label in wanted if _plain(label) not in known]
        if unknown:
            raise ValueError(f"the network knows no {', '.join(unknown)}; it knows {', '.join(self.names.values())}")
        return tuple(known[_plain(label)] for label in wanted)


@dataclass(frozen=True, slots=True)
class Network(Description):
    """One in memory. Not for several threads."""

    engine: Engine

    def run(self, planes: Floats) -> list[Floats]:
        """The raw output for each of n x 3 x size x size pictures (RGB, 0 to 1): v8 channels x candidates, v5
        candidates x channels, in pixels of the input. With `engine.takes_bands` the pictures may have as many rows as
        `bands.rows_for` says."""
        assert (planes.shape[1], planes.shape[3]) == (3, self.size), planes.shape
        assert planes.shape[2] == self.size or self.engine.takes_bands, planes.shape
        return self.engine.run(planes) if len(planes) else []


def open_network(folder_or_file: Path, threads: int, runtime: Runtime | None = None) -> Network:
    """Loads a network and looks at a grey picture with it, since only an answer shows its form.

    `runtime`: OpenVINO where it is installed, if not said. Raises NetworkUnusable.
    """
    if threads < 1:
        raise ValueError("a network needs a thread")
    if (graph := graph_in(folder_or_file)) is not None:
        engine: Engine = SsdEngine(graph, threads)
        return Network(NAMES, engine.size, "v5", "detect", "openvino", engine)
    sheet = read_sheet(folder_or_file)
    chosen = runtime_for(sheet.graph, runtime)
    engine = start(sheet.graph, chosen, sheet.size, threads)
    layout, channels = _form(folder_or_file, engine)
    extra = 4 if layout == "v8" else 5
    if sheet.task == "pose":
        if layout != "v8":
            raise NetworkUnusable(f"{folder_or_file} finds poses, but answers in the form of YOLOv5")
        extra += _KEYPOINT_CHANNELS
    classes = channels - extra
    if classes < 1 or (sheet.names is not None and len(sheet.names) != classes):
        said = f"{len(sheet.names or ())} classes" if sheet.names else f"the task {sheet.task}"
        raise NetworkUnusable(f"{folder_or_file} answers with {channels} channels, which does not fit {said}")
    names = sheet.names or {number: str(number) for number in range(classes)}
    return Network(names, engine.size, layout, sheet.task, chosen, engine)


def _form(path: Path, engine: Engine) -> tuple[Layout, int]:
    """The layout of its answers, and how many channels they have."""
    try:
        (output,) = engine.run(np.full((1, 3, engine.size, engine.size), GREY / 255, np.float32))
    # Whatever the library raises: the graph is of its maker's choice.
    except Exception as error:
        raise NetworkUnusable(f"{path} fails at a grey picture ({str(error).strip()[:500]})") from error
    for strides in _GRIDS:
        cells = sum((engine.size // stride) ** 2 for stride in strides)
        if output.ndim == 2 and output.shape[1] == cells:
            return "v8", output.shape[0]
        if output.ndim == 2 and output.shape[0] == 3 * cells:
            return "v5", output.shape[1]
    raise NetworkUnusable(f"{path} answers in the shape {output.shape}, which is no YOLO detector's")


def _plain(label: str) -> str:
    return label.casefold().replace("_", " ").replace("-", " ").strip()
