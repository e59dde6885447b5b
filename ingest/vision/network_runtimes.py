"""The two libraries that run networks, in one form: OpenVINO, and ONNX Runtime where that is not installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ingest.vision.bands import bands_of, can_be_cut, cut_to
from ingest.vision.network_files import NetworkUnusable

Floats = npt.NDArray[np.float32]
Runtime = Literal["openvino", "onnxruntime", "ultralytics"]
"""The last looks at whole pictures by itself (`ultralytics_engine`): only what runs a bare network is here."""

_USUAL_SIZE = 640
_LEAST_SIZE, MOST_SIZE = 32, 1280
_STRIDE = 32
_AT_ONCE = 2


class Engine(Protocol):
    """A network in memory. `size`: of its input, in pixels. `takes_bands`: pictures may have fewer rows than that, as
    `bands` chooses them."""

    size: int
    takes_bands: bool

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
    """Two pictures at once, with half of the threads each: threads that share a picture wait for each other, which on
    two cores costs a quarter of their time. The next is handed over while others are looked at."""

    def __init__(self, graph: Path, size: int | None, threads: int) -> None:
        self._openvino: Any = importlib.import_module("openvino")
        self._core = self._openvino.Core()
        self._model = self._core.read_model(graph)
        entries = self._model.inputs
        shapes = [[side.get_length() if side.is_static else None for side in entry.partial_shape] for entry in entries]
        self.size, _ = _checked(graph, shapes, size)
        self._type = _number_type(graph, self._model.input(0).element_type.get_type_name())
        self._threads = threads
        self.takes_bands = can_be_cut(self._model, self.size)
        if any(side is None for side in shapes[0]):
            self._model.reshape({self._model.input(0): [1, 3, self.size, self.size]})
        self._requests: dict[int, list[Any]] = {}
        # At once: a picture would time out while its band is compiled on a busy machine.
        for rows in bands_of(self.size) if self.takes_bands else ():
            self._requests_for(rows, 1)

    def run(self, planes: Floats) -> list[Floats]:
        planes = np.ascontiguousarray(planes, self._type)
        requests = self._requests_for(planes.shape[2], len(planes))
        for place, request in enumerate(requests):
            part = self._openvino.Tensor(planes[place : place + 1], shared_memory=True)
            request.set_input_tensor(part)
            request.start_async()
        outputs: list[Floats] = []
        for request in requests:
            request.wait()
            # The next run writes over what is not copied.
            outputs.extend(request.get_output_tensor(0).data.astype(np.float32))
        return outputs

    def _requests_for(self, rows: int, count: int) -> list[Any]:
        """So many, of the network for pictures of `rows`."""
        requests = self._requests.setdefault(rows, [])
        if not requests:
            model = self._model.clone()
            if rows != self.size:
                cut_to(model, self.size, rows)
            settings = {
                "PERFORMANCE_HINT": "LATENCY",
                "INFERENCE_NUM_THREADS": self._threads,
                "NUM_STREAMS": min(self._threads, _AT_ONCE),
                # It would take bf16 where the processor can: boxes are then pixels off.
                "INFERENCE_PRECISION_HINT": "f32",
            }
            requests.append(self._core.compile_model(model, "CPU", settings).create_infer_request())
        while len(requests) < count:
            requests.append(requests[0].get_compiled_model().create_infer_request())
        return requests[:count]


class OnnxRuntimeEngine:
    """One picture after another where the network is for single ones."""

    takes_bands = False

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
