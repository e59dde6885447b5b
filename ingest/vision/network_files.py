"""What a network's file says about the network, read as data: nothing in it is run.

ultralytics writes it beside an OpenVINO export (`metadata.yaml`) and into the properties of an ONNX one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Task = Literal["detect", "pose"]

KEYPOINTS = 17
"""Of a person, in the order of COCO: nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles; left first."""
_MOST_CLASSES = 20_000
_LONGEST_LABEL = 100
_MOST_SHEET_BYTES = 1024 * 1024
_MOST_NETWORK_BYTES = 2 * 1024 * 1024 * 1024


class NetworkUnusable(Exception):
    """No network that can be run here: the file is missing, damaged, hostile or of an unknown form."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the file says. `names`: the label of each class, None where it does not say. `size`: of its input, in
    pixels, where it says so."""

    graph: Path
    names: dict[int, str] | None
    task: Task
    size: int | None


def read_sheet(folder_or_file: Path) -> Sheet:
    """Of a folder with an OpenVINO network (.xml, .bin, metadata.yaml) or of an .onnx file. Raises NetworkUnusable."""
    try:
        if folder_or_file.is_dir():
            graph, said = _openvino_sheet(folder_or_file)
        elif folder_or_file.suffix == ".onnx":
            graph, said = folder_or_file, _onnx_sheet(folder_or_file)
        else:
            raise NetworkUnusable(f"{folder_or_file} is neither a folder with an OpenVINO network nor an .onnx file")
    except OSError as error:
        raise NetworkUnusable(f"{folder_or_file} cannot be read ({error})") from error
    try:
        return Sheet(graph, _names(said.get("names")), _task(said), _size(said.get("imgsz")))
    except ValueError as error:
        raise NetworkUnusable(f"{folder_or_file} describes itself in a way that is not understood: {error}") from error


def _openvino_sheet(folder: Path) -> tuple[Path, Mapping[str, Any]]:
    graphs = sorted(folder.glob("*.xml"))
    if len(graphs) != 1:
        raise NetworkUnusable(f"{folder} has {len(graphs)} .xml files: one network has one")
    weights = graphs[0].with_suffix(".bin")
    if graphs[0].stat().st_size + weights.stat().st_size > _MOST_NETWORK_BYTES:
        raise NetworkUnusable(f"{folder} is too large for a detector")
    sheet = folder / "metadata.yaml"
    return graphs[0], _yaml(sheet) if sheet.exists() else {}


def _yaml(path: Path) -> Mapping[str, Any]:
    import yaml  # type: ignore[import-untyped]

    if path.stat().st_size > _MOST_SHEET_BYTES:
        raise NetworkUnusable(f"{path} is too long")
    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NetworkUnusable(f"{path} is not plain YAML ({type(error).__name__})") from error
    if not isinstance(said, dict):
        raise NetworkUnusable(f"{path} does not describe a network")
    return said


def _onnx_sheet(path: Path) -> Mapping[str, Any]:
    import onnx
    from google.protobuf.message import DecodeError

    if path.stat().st_size > _MOST_NETWORK_BYTES:
        raise NetworkUnusable(f"{path} is too large for a detector")
    try:
        model = onnx.load(path, load_external_data=False)
    except (DecodeError, ValueError, TypeError) as error:
        raise NetworkUnusable(f"{path} is not an ONNX network ({error})") from error
    if not model.graph.output:
        raise NetworkUnusable(f"{path} is not an ONNX network: it has no output")
    # A model may name any file of the machine as its weights.
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in _tensors(model.graph)):
        raise NetworkUnusable(f"{path} has weights in another file: export it as one")
    texts = {each.key: each.value for each in model.metadata_props}
    if sum(map(len, texts.values())) > _MOST_SHEET_BYTES:
        raise NetworkUnusable(f"{path} says too much about itself")
    said: dict[str, Any] = {}
    for key in texts.keys() & {"names", "imgsz", "kpt_shape", "end2end"}:
        try:
            said[key] = ast.literal_eval(texts[key])
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise NetworkUnusable(f"{path}: its {key} are no plain values ({type(error).__name__})") from error
    return said | ({"task": texts["task"]} if "task" in texts else {})


def _tensors(graph: Any) -> Iterator[Any]:
    """Those in the branches of a graph, too."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            yield attribute.t
            yield from attribute.tensors
            for branch in (attribute.g, *attribute.graphs):
                # An attribute without a graph gives an empty one, which has none in it in turn.
                if branch.node or branch.initializer:
                    yield from _tensors(branch)


def _names(said: object) -> dict[int, str] | None:
    if said is None:
        return None
    names = dict(enumerate(said)) if isinstance(said, list | tuple) else said
    if not isinstance(names, dict) or not 0 < len(names) <= _MOST_CLASSES:
        raise ValueError("its names are no list of labels")
    # YAML reads the label "no" as False, and a number as one.
    if {*names} != {*range(len(names))} or any(not isinstance(label, str | int | float) for label in names.values()):
        raise ValueError("its classes are not numbered from 0, or a label is no text")
    return {int(number): str(names[number])[:_LONGEST_LABEL] for number in sorted(names)}


def _task(said: Mapping[str, Any]) -> Task:
    task = said.get("task", "detect")
    if said.get("end2end") is True:
        raise ValueError("it was exported with end2end, which is not supported: export it with end2end=False")
    if task == "pose" and list(said.get("kpt_shape") or [KEYPOINTS, 3]) == [KEYPOINTS, 3]:
        return "pose"
    if task == "detect":
        return "detect"
    raise ValueError(f"its task is {task!s:.50}: only detect, and pose with {KEYPOINTS} key points, are known")


def _size(said: object) -> int | None:
    if said is None:
        return None
    sides: list[Any] = list(said) if isinstance(said, list | tuple) else [said]
    if not sides or any(type(side) is not int for side in sides) or len({*sides}) != 1:
        raise ValueError("its input is not square")
    return int(sides[0])
