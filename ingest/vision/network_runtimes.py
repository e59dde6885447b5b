"""The two libraries that run networks, in one form: OpenVINO, and ONNX Runtime where that is not installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ingest.vision.network_files import NetworkUnusable

Floats = npt.NDArray[np.float32]
Runtime = Literal["openvino", "onnxruntime"]

_USUAL_SIZE = 640
_LEAST_SIZE, MOST_SIZE = 32, 1280
_STRIDE = 32


class Engine(Protocol):
    """A network in memory. `size`: of its input, in pixels."""

    size: int

    def run(self, planes: Floats) -> list[Floats]:
        """The first output for each of n x 3 x size x size pictures, without the leading 1."""


def runtime_for(graph: Path, wanted: Runtime | None) -> Runtime:
    """OpenVINO where it is installed. Raises NetworkUnusable for what cannot be run with what is."""
    has_openvino = importlib.util.find_spec("openvino") is not None
    runtime = wanted or ("openvino" if has_openvino or graph.suffix == ".xml" else "onnxruntime")
    if runtime == "openvino" and not has_openvino:
        raise NetworkUnusable(f"{graph} needs OpenVINO, which is not installed")
    if runtime == "onnxruntime" and graph.suffix != ".onnx":
        raise NetworkUnusable(f"{graph} cannot be run by ONNX Runtime: only .onnx files can")
    return runtime


def start(graph: Path, runtime: Runtime, size: int | None, threads: int) -> Engine:
    """Loads the network. `size`: of its input, where the graph leaves it open. Raises NetworkUnusable."""
    maker = OpenVinoEngine if runtime == "openvino" else OnnxRuntimeEngine
    try:
        return maker(graph, size, threads)
    except NetworkUnusable:
        raise
    # Both libraries have errors of many kinds for a damaged file, which have no other base.
    except Exception as error:
        raise NetworkUnusable(f"{graph} cannot be loaded by {runtime} ({str(error).strip()[:500]})") from error


class OpenVinoEngine:
    """Pictures of a network for single ones overlap: the next is handed over while one is looked at."""

    def __init__(self, graph: Path, size: int | None, threads: int) -> None:
        openvino: Any = importlib.import_module("openvino")
        core = openvino.Core()
        model = core.read_model(graph)
        shapes = [
            [side.get_length() if side.is_static else None for side in entry.partial_shape] for entry in model.inputs
        ]
        self.size, is_single = _checked(graph, shapes, size)
        self._type = _number_type(graph, model.input(0).element_type.get_type_name())
        if any(side is None for side in shapes[0]):
            model.reshape({model.input(0): [1 if is_single else -1, 3, self.size, self.size]})
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
            # It would take bf16 where the processor can: boxes are then pixels off.
            "INFERENCE_PRECISION_HINT": "f32",
        }
        self._compiled = core.compile_model(model, "CPU", settings)
        self._is_single = is_single
        self._tensor = openvino.Tensor
        self._requests: list[Any] = []

    def run(self, planes: Floats) -> list[Floats]:
        planes = np.ascontiguousarray(planes, self._type)
        parts = [planes[place : place + 1] for place in range(len(planes))] if self._is_single else [planes]
        while len(self._requests) < len(parts):
            self._requests.append(self._compiled.create_infer_request())
        requests = self._requests[: len(parts)]
        for request, part in zip(requests, parts, strict=True):
            request.set_input_tensor(self._tensor(part, shared_memory=True))
            request.start_async()
        outputs: list[Floats] = []
        for request in requests:
            request.wait()
            # The next run writes over what is not copied.
            outputs.extend(request.get_output_tensor(0).data.astype(np.float32))
        return outputs


class OnnxRuntimeEngine:
    """One picture after another where the network is for single ones."""

    def __init__(self, graph: Path, size: int | None, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        # Threads that wait do so without turning: other children need the cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session: Any = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        inputs = self._session.get_inputs()
        shapes = [[side if isinstance(side, int) else None for side in entry.shape] for entry in inputs]
        self.size, self._is_single = _checked(graph, shapes, size)
        self._type = _number_type(graph, inputs[0].type)
        self._input = inputs[0].name
        self._output = self._session.get_outputs()[0].name

    def run(self, planes: Floats) -> list[Floats]:
        planes = np.ascontiguousarray(planes, self._type)
        parts = [planes[place : place + 1] for place in range(len(planes))] if self._is_single else [planes]
        return [
            np.asarray(output, np.float32)
            for part in parts
            for output in self._session.run([self._output], {self._input: part})[0]
        ]


def _checked(graph: Path, shapes: Sequence[Sequence[int | None]], said: int | None) -> tuple[int, bool]:
    """The size of the input, and whether it takes one picture at a time."""
    if len(shapes) != 1 or len(shapes[0]) != 4 or shapes[0][1] not in (3, None):
        raise NetworkUnusable(f"{graph} does not take one picture of three colours")
    batch, _, height, width = shapes[0]
    size = height or width or said or _USUAL_SIZE
    if {height, width} - {size, None}:
        raise NetworkUnusable(f"{graph} takes pictures of {width} x {height}: only square ones are supported")
    if size % _STRIDE or not _LEAST_SIZE <= size <= MOST_SIZE:
        raise NetworkUnusable(
            f"{graph} takes pictures of {size} pixels: {_LEAST_SIZE} to {MOST_SIZE}, by {_STRIDE}, are supported"
        )
    if batch not in (1, None):
        raise NetworkUnusable(f"{graph} takes {batch} pictures at once: export it with batch=1 or dynamic=True")
    return size, batch == 1


def _number_type(graph: Path, name: str) -> type[np.floating[Any]]:
    types: dict[str, type[np.floating[Any]]] = {
        "f32": np.float32,
        "tensor(float)": np.float32,
        "f16": np.float16,
        "tensor(float16)": np.float16,
    }
    if name not in types:
        raise NetworkUnusable(f"{graph} takes {name:.30}, not floating point numbers")
    return types[name]
