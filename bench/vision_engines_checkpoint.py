"""A .pt file of ultralytics made of an .onnx one with the same weights, since none is in a package index.

The exporter keeps the name of each convolution's weights (batch normalisation folded in), so each has its place in the
fused network; one without fails. `python -m bench.vision_engines_checkpoint MODEL.onnx ARCHITECTURE.yaml TO.pt`
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any


def rebuild(exported: Path, architecture: str, to: Path) -> None:
    """Raises KeyError or RuntimeError where the weights are not those of the architecture."""
    import onnx
    import torch
    from onnx import numpy_helper
    from ultralytics import YOLO

    graph = onnx.load(exported)
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.graph.initializer}
    network: Any = YOLO(architecture, task="detect").model.fuse(verbose=False)
    network.load_state_dict({name: torch.from_numpy(weights[name].copy()) for name in network.state_dict()})
    network.names = ast.literal_eval(next(each.value for each in graph.metadata_props if each.key == "names"))
    torch.save({"model": network.eval(), "train_args": {}}, to)


if __name__ == "__main__":
    rebuild(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
