"""The other engine: ultralytics itself, from the whole picture to the boxes, where the operator asks for it.

It is AGPL-3.0 and brings torch, so it is an extra, imported only when it was chosen, and only in the detector's child.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ingest.vision.detect_poses import Poses
from ingest.vision.network_files import KEYPOINTS, NetworkUnusable
from ingest.vision.networks import Description, Network, open_network
from ingest.vision.yolo import GREY, MOST_BOXES, OVERLAP, Boxes, Pixels

MISSING = (
    "PARLEY_VISION_ENGINE is ultralytics, but the package is not installed: "
    "pip install 'parley[ultralytics]' (AGPL-3.0, brings torch and torchvision)"
)
_QUIET = {
    # Else it runs pip by itself for what it misses, and tells its makers what it was used for.
    "YOLO_AUTOINSTALL": "false",
    "YOLO_OFFLINE": "true",
    "YOLO_VERBOSE": "false",
}


def is_installed() -> bool:
    """Without importing any of it."""
    return all(find_spec(name) for name in ("ultralytics", "torch", "torchvision"))


@dataclass(frozen=True, slots=True)
class UltralyticsNetwork(Description):
    """One in memory. Not for several threads."""

    model: Any  # ultralytics.YOLO

    def look(self, images: Sequence[Pixels], confidence: float) -> list[Boxes | Poses]:
        """What is in each picture (height x width x 3, RGB), in its pixels, best first."""
        found = self.model.predict(
            [np.ascontiguousarray(image[..., ::-1]) for image in images],
            imgsz=self.size,
            conf=confidence,
            iou=OVERLAP,
            max_det=MOST_BOXES,
            rect=False,
            device="cpu",
            verbose=False,
            save=False,
        )
        return [self._read(each) for each in found]

    def _read(self, found: Any) -> Boxes | Poses:
        table = found.boxes.data.numpy().astype(np.float32)
        boxes = Boxes(table[:, :4], table[:, 4], table[:, 5].astype(np.int64))
        if self.task == "detect":
            return boxes
        return Poses(boxes, found.keypoints.data.numpy().astype(np.float32).reshape(-1, KEYPOINTS, 3))


def open_by_ultralytics(folder_or_file: Path, threads: int) -> UltralyticsNetwork | Network:
    """Loads an exported network. One of YOLOv5 is left to Parley's own engine: ultralytics runs such exports no more.

    Raises NetworkUnusable, also where ultralytics is not installed.
    """
    if not is_installed():
        raise NetworkUnusable(MISSING)
    # What it is, and that it is harmless, is found out in the usual way.
    known = open_network(folder_or_file, threads)
    if known.layout != "v8":
        return known
    for name, value in _QUIET.items():
        os.environ[name] = value
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "parley" / "ultralytics"
    cache.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("YOLO_CONFIG_DIR", str(cache))
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    try:
        return _load(folder_or_file, known)
    # torch, OpenVINO and ONNX Runtime have errors of many kinds, which have no other base.
    except Exception as error:
        raise NetworkUnusable(
            f"{folder_or_file} cannot be loaded by ultralytics ({str(error).strip()[:500]})"
        ) from error


def _load(folder_or_file: Path, known: Network) -> UltralyticsNetwork:
    from ultralytics import YOLO, settings

    if settings["sync"]:
        settings.update({"sync": False})
    description = known.names, known.size, known.layout, known.task, "ultralytics"
    with tempfile.TemporaryDirectory() as folder:
        path = folder_or_file.absolute()
        if path.is_dir():
            # It knows the kind of an export by its name alone.
            path = Path(folder) / f"{path.name}_openvino_model"
            path.symlink_to(folder_or_file.absolute())
        network = UltralyticsNetwork(*description, YOLO(path, task=known.task))  # type: ignore[arg-type]
        network.look([np.full((known.size, known.size, 3), GREY, np.uint8)], 0.25)
    return network
