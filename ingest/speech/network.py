"""Builds a network's graph from its weights, in memory, and runs it by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

_OPSET = 17


class Graph:
    """A graph under construction. Values are named by strings; `add` gives the name of what it makes."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._weights: dict[str, npt.NDArray[Any]] = {}

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """The name of the first output; further ones are that name with `.1`, `.2`, ... behind it."""
        from onnx import helper

        name = f"v{len(self._nodes)}"
        names = [name, *(f"{name}.{n}" for n in range(1, outputs))]
        self._nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return name

    def weight(self, array: npt.NDArray[Any]) -> str:
        name = f"w{len(self._weights)}"
        self._weights[name] = array
        return name

    def whole(self, *numbers: int) -> str:
        """A constant vector of whole numbers: axes, shapes, sizes."""
        import numpy as np

        return self.weight(np.array(numbers, np.int64))

    def session(self, inputs: Mapping[str, Sequence[int | str]], output: str, threads: int) -> Session:
        """The graph ready to run on float32 `inputs` of those shapes (a name stands for any size)."""
        import onnxruntime
        from onnx import TensorProto, helper, numpy_helper

        # The large weights are handed over beside the graph, so that they are in memory once.
        beside = {name: array for name, array in self._weights.items() if array.nbytes > 1024}
        within = [numpy_helper.from_array(self._weights[name], name) for name in self._weights.keys() - beside.keys()]
        declared = [_external(name, array) for name, array in beside.items()]
        given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
        wanted = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self._nodes, "network", given, wanted, within + declared)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Threads that wait do so without turning: other children need the cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        options.add_external_initializers(
            list(beside), [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in beside.values()]
        )
        return Session(
            onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]), output
        )


class Session:
    """A network that can be run."""

    def __init__(self, session: Any, output: str) -> None:
        self._session = session
        self._output = output

    def run(self, **inputs: Array) -> Array:
        result: Array = self._session.run([self._output], inputs)[0]
        return result


def _external(name: str, array: npt.NDArray[Any]) -> Any:
    """A weight that the graph names but does not hold."""
    from onnx import TensorProto, helper

    tensor = TensorProto(name=name, dims=array.shape, data_type=helper.np_dtype_to_tensor_dtype(array.dtype))
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="memory")
    return tensor
