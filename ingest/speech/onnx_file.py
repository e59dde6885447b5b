"""The weights in an ONNX file, and which operation works with which: read as data, nothing is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.speech.ctranslate2_file import NotAModel

if TYPE_CHECKING:
    import numpy.typing as npt

    Tensor = npt.NDArray[Any]


@dataclass(slots=True)
class Weights:
    """`tensors` by name; `users`: which tensors an operation works with, by the operation's name."""

    tensors: dict[str, Tensor] = field(default_factory=dict)
    users: dict[str, list[str]] = field(default_factory=dict)


def read(path: Path) -> Weights:
    """Every tensor of a model and of the branches in it. Raises NotAModel, OSError."""
    import onnx
    from google.protobuf.message import DecodeError

    found = Weights()
    try:
        # A model may name other files for its weights: those of anybody are not opened.
        _read_graph(onnx.load(path, load_external_data=False).graph, found)
    except (DecodeError, ValueError, TypeError) as error:
        raise NotAModel(f"{path} is not an ONNX model that can be read ({error})") from error
    if not found.tensors:
        raise NotAModel(f"{path} is not an ONNX model with weights")
    return found


def _read_graph(graph: Any, found: Weights) -> None:
    from onnx import TensorProto, numpy_helper

    for tensor in graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            raise ValueError(f"the weights {tensor.name} lie in another file")
        found.tensors[tensor.name] = numpy_helper.to_array(tensor)
    for node in graph.node:
        found.users[node.name] = list(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _read_graph(attribute.g, found)
