"""The weights in an ONNX file, read as data: a protobuf of which only tensors and their users are looked at.

The `onnx` package would do it too, but for one conversion its 20 MB and its protobuf pin are too much.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.speech.ctranslate2_file import NotAModel

if TYPE_CHECKING:
    import numpy.typing as npt

    Tensor = npt.NDArray[Any]

# ONNX's numbers of the element types that weights have (TensorProto.DataType); shapes and axes are of others.
_TYPES = {1: "float32", 2: "uint8", 3: "int8", 10: "float16"}
# Fields of the messages of onnx.proto that are followed.
_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_TENSOR = 1, 5
_NODE_INPUT, _NODE_NAME, _NODE_OPERATION, _NODE_ATTRIBUTE = 1, 3, 4, 5
_ATTRIBUTE_GRAPH = 6
_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_FLOATS, _TENSOR_INTS, _TENSOR_NAME, _TENSOR_BYTES = 1, 2, 4, 5, 8, 9


@dataclass(slots=True)
class Weights:
    """`tensors` by name; `users`: which tensors an operation works with, by the operation's name."""

    tensors: dict[str, Tensor] = field(default_factory=dict)
    users: dict[str, list[str]] = field(default_factory=dict)


def read(path: Path) -> Weights:
    """Every tensor of a model and of the branches in it. Raises NotAModel, OSError."""
    found = Weights()
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    try:
        for number, value in _fields(data):
            if number == _MODEL_GRAPH:
                _read_graph(value, found)
    except (IndexError, ValueError, KeyError, TypeError) as error:
        raise NotAModel(f"{path} is not an ONNX model that can be read ({error})") from error
    if not found.tensors:
        raise NotAModel(f"{path} is not an ONNX model with weights")
    return found


def _read_graph(graph: memoryview, found: Weights) -> None:
    for number, value in _fields(graph):
        if number == _GRAPH_TENSOR:
            name, tensor = _tensor(value)
            if tensor is not None:
                found.tensors[name] = tensor
        elif number == _GRAPH_NODE:
            _read_node(value, found)


def _read_node(node: memoryview, found: Weights) -> None:
    name, inputs = "", []
    for number, value in _fields(node):
        if number == _NODE_NAME:
            name = bytes(value).decode()
        elif number == _NODE_INPUT:
            inputs.append(bytes(value).decode())
        elif number == _NODE_ATTRIBUTE:
            for inner, graph in _fields(value):
                if inner == _ATTRIBUTE_GRAPH:
                    _read_graph(graph, found)
    found.users[name] = inputs


def _tensor(message: memoryview) -> tuple[str, Tensor | None]:
    import numpy as np

    name, kind, shape = "", 0, []
    data: memoryview | None = None
    numbers: list[int] = []
    for number, value in _fields(message):
        if number == _TENSOR_SHAPE:
            shape += [value] if isinstance(value, int) else list(_packed(value))
        elif number == _TENSOR_TYPE:
            kind = value
        elif number == _TENSOR_NAME:
            name = bytes(value).decode()
        elif number in {_TENSOR_BYTES, _TENSOR_FLOATS}:
            data = value
        elif number == _TENSOR_INTS:
            numbers += [value] if isinstance(value, int) else list(_packed(value))
    if kind not in _TYPES:
        return name, None
    values = np.array(numbers, _TYPES[kind]) if data is None else np.frombuffer(data, _TYPES[kind])
    return name, values.reshape(shape)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Number and value of each field: an int for varints, else the bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        value: int | memoryview
        if kind == 0:
            value, at = _varint(message, at)
        else:
            if kind == 2:
                size, at = _varint(message, at)
            else:
                size = {1: 8, 5: 4}[kind]
            if at + size > len(message):
                raise IndexError("it ends too early")
            value = message[at : at + size]
            at += size
        yield key >> 3, value


def _packed(data: memoryview) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
