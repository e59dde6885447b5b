"""Exported networks: opened, understood and run by both libraries; damaged and hostile ones refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from ingest.vision.detect_poses import poses_of
from ingest.vision.network_files import NetworkUnusable
from ingest.vision.network_runtimes import Runtime
from ingest.vision.networks import PEOPLE, VEHICLES, Network, open_network
from ingest.vision.yolo import Boxes, boxes_of, fit_into, letterbox
from store import weights
from store.settings import load_settings

SHARED = Path(__file__).parents[4] / "shared"
MODELS, PICTURES = SHARED / "models", SHARED / "data" / "vision"
COCO, POSE = MODELS / "yolov8n-coco-int8-openvino", MODELS / "yolov8n-pose-int8-openvino"
PLATES = MODELS / "plate-detector-yolov5n.onnx"
RUNTIMES: tuple[Runtime, ...] = ("openvino", "onnxruntime")
SIZE = 64
CELLS = 64 + 16 + 4
SAID = {"names": "{0: 'red thing', 1: 'green_thing'}", "task": "detect", "imgsz": f"[{SIZE}, {SIZE}]"}


def small_network(
    path: Path,
    *,
    size: int = SIZE,
    layout: str = "v8",
    batch: int | str = 1,
    said: Mapping[str, str] = SAID,
    columns: int | None = None,
    cells: int | None = None,
) -> Path:
    """Finds one thing in the middle of each picture, as a red one as surely as the picture is red, as a green one as
    surely as it is green."""
    from onnx import TensorProto, helper, numpy_helper, save

    before = 4 if layout == "v8" else 5
    columns = columns or before + 2
    count = cells or (CELLS if layout == "v8" else 3 * CELLS) * (size // SIZE) ** 2
    base = np.zeros((1, columns, count), np.float32)
    base[0, :4, 0] = size / 2
    base[0, 4:before] = 1
    share = np.zeros((columns, 3), np.float32)
    share[before, 0] = share[before + 1, 1] = 1
    first = np.zeros((1, 1, count), np.float32)
    first[..., 0] = 1
    weights: dict[str, npt.NDArray[Any]] = {
        "base": base,
        "share": share,
        "first": first,
        "flat": np.array([0, 3, 1], np.int64),
    }
    nodes = [
        helper.make_node("GlobalAveragePool", ["images"], ["mean"]),
        helper.make_node("Reshape", ["mean", "flat"], ["colour"]),
        helper.make_node("MatMul", ["share", "colour"], ["scores"]),
        helper.make_node("Mul", ["scores", "first"], ["lit"]),
        helper.make_node("Add", ["lit", "base"], ["found"]),
        helper.make_node("Transpose", ["found"], ["output0"], perm=[0, 1, 2] if layout == "v8" else [0, 2, 1]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, [batch, 3, size, size])],
        [helper.make_tensor_value_info("output0", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, dict(said))
    save(model, path)
    return path


def picture_of(name: str) -> npt.NDArray[np.uint8]:
    path = PICTURES / name
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    return np.asarray(Image.open(path).convert("RGB"))


def model_at(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    return path


def boxes_in(network: Network, picture: npt.NDArray[np.uint8]) -> Boxes:
    planes, fit = letterbox(picture, network.size)
    (output,) = network.run(planes)
    return boxes_of(output, fit, layout=network.layout, classes=len(network.names))


def coloured(*colours: tuple[float, float, float]) -> npt.NDArray[np.float32]:
    planes = np.empty((len(colours), 3, SIZE, SIZE), np.float32)
    planes[:] = np.array(colours, np.float32).reshape(-1, 3, 1, 1)
    return planes


def test_an_openvino_network_knows_its_classes_and_finds_four_people_and_a_bus() -> None:
    network = open_network(model_at(COCO), threads=1)
    assert (network.size, network.layout, network.task, network.runtime) == (640, "v8", "detect", "openvino")
    assert (network.names[0], network.names[79], len(network.names)) == ("person", "toothbrush", 80)
    boxes = boxes_in(network, picture_of("bus.jpg"))
    found = [network.names[number] for number in boxes.classes]
    assert (found.count("person"), found.count("bus")) == (4, 1)
    (bus,) = boxes.xyxy[boxes.classes == 5]
    assert np.abs(bus - [23, 231, 805, 757]).max() < 40  # where the unquantized network sees it


def test_the_permissive_network_finds_people_and_a_bus_in_the_same_form() -> None:
    folder = weights.find(load_settings(), "ssd-mobilenet-v2-coco")
    if folder is None:
        pytest.skip("ssd-mobilenet-v2-coco is not installed: parley models pull ssd-mobilenet-v2-coco")
    network = open_network(folder, threads=1)
    assert (network.layout, network.task, len(network.names)) == ("v5", "detect", 80)
    assert network.numbers_of(PEOPLE + VEHICLES) == (0, 1, 2, 3, 5, 7)
    assert (network.names[79], network.names[60]) == ("toothbrush", "dining table")
    boxes = boxes_in(network, picture_of("bus.jpg"))
    found = [network.names[number] for number in boxes.classes]
    assert found.count("bus") == 1
    assert 2 <= found.count("person") <= 4
    (bus,) = boxes.xyxy[boxes.classes == 5]
    assert np.abs(bus - [2, 232, 810, 727]).max() < 40


def test_another_graph_of_tensorflow_is_refused(tmp_path: Path) -> None:
    (tmp_path / "frozen_inference_graph.pb").write_bytes(b"\n\x05hello")
    with pytest.raises(NetworkUnusable, match="no SSD detector"):
        open_network(tmp_path, threads=1)


def test_a_pose_network_finds_people_with_their_key_points() -> None:
    network = open_network(model_at(POSE), threads=1)
    assert (network.layout, network.task, dict(network.names)) == ("v8", "pose", {0: "person"})
    planes, fit = letterbox(picture_of("bus.jpg"), network.size)
    (output,) = network.run(planes)
    poses = poses_of(output, fit, confidence=0.5)
    assert 3 <= len(poses) <= 4
    assert poses.keypoints.shape == (len(poses), 17, 3)
    plain = boxes_of(output, fit, layout="v8", confidence=0.5, classes=1)
    assert np.array_equal(plain.xyxy, poses.boxes.xyxy)
    for box, points in zip(poses.boxes.xyxy, poses.keypoints, strict=True):
        sure = points[points[:, 2] > 0.5]
        assert len(sure) >= 8
        inside = (sure[:, :2] >= box[:2] - 10) & (sure[:, :2] <= box[2:] + 10)
        assert inside.all()
        shoulders, hips, ankles = points[5:7, 1].mean(), points[11:13, 1].mean(), points[15:17, 1].mean()
        assert shoulders < hips < ankles


def test_key_points_come_back_in_pixels_of_the_picture() -> None:
    fit = fit_into(1280, 720, 640)  # scale 0.5, 140 above
    output = np.zeros((1, 56, 8400), np.float32)
    points = np.stack([np.linspace(100, 300, 17), np.linspace(200, 400, 17), np.linspace(0, 1, 17)], axis=1)
    for place, score in ((7, 0.9), (8, 0.8), (9, 0.1)):  # the second is the first again, the third is none
        output[0, :5, place] = [100, 290, 100, 100, score]
        output[0, 5:, place] = (points * (0.5, 0.5, 1) + (0, 140, 0)).ravel()
    poses = poses_of(output, fit)
    assert poses.boxes.xyxy.tolist() == [[100, 200, 300, 400]]
    assert poses.boxes.scores.tolist() == pytest.approx([0.9])
    assert poses.keypoints[0] == pytest.approx(points, abs=1e-3)


def test_both_libraries_answer_alike_to_a_yolov5_network() -> None:
    picture = picture_of("car.jpg")
    networks = [open_network(model_at(PLATES), threads=1, runtime=runtime) for runtime in RUNTIMES]
    assert [network.layout for network in networks] == ["v5", "v5"]
    assert [dict(network.names) for network in networks] == [{0: "License-Plate"}] * 2
    planes, _ = letterbox(picture, 640)
    ours, theirs = (network.run(planes)[0] for network in networks)
    # Were it run in bf16, coordinates of up to 640 would be off by two pixels.
    assert np.abs(ours - theirs).max() < 0.05


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("layout", ["v8", "v5"])
@pytest.mark.parametrize("batch", [1, "batch"])
def test_pictures_are_answered_each_by_itself_and_in_order(
    tmp_path: Path, runtime: Runtime, layout: str, batch: int | str
) -> None:
    network = open_network(small_network(tmp_path / "a.onnx", layout=layout, batch=batch), 1, runtime)
    assert (network.size, network.layout, network.task, network.runtime) == (SIZE, layout, "detect", runtime)
    assert network.names == {0: "red thing", 1: "green_thing"}
    assert network.run(coloured()) == []
    first = network.run(coloured((0.5, 0.25, 0), (0, 0.75, 1), (1, 0, 0)))
    second = network.run(coloured((0, 0.25, 0)))
    wanted = [(0, 0.5), (1, 0.75), (0, 1.0), (1, 0.25)]
    for output, (number, score) in zip([*first, *second], wanted, strict=True):
        boxes = boxes_of(output, fit_into(SIZE, SIZE, SIZE), layout=network.layout, classes=2)
        assert boxes.xyxy.tolist() == [[16, 16, 48, 48]]
        assert (boxes.classes.tolist(), boxes.scores.tolist()) == ([number], pytest.approx([score], abs=1e-5))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_network_that_leaves_its_size_open_is_run_in_the_size_that_it_names(tmp_path: Path, runtime: Runtime) -> None:
    from onnx import load, save

    path = small_network(tmp_path / "a.onnx", batch="batch")
    model = load(path)
    for place in (2, 3):
        model.graph.input[0].type.tensor_type.shape.dim[place].dim_param = f"side{place}"
    save(model, path)
    assert open_network(path, 1, runtime).size == SIZE


def test_classes_without_a_label_are_known_by_their_number(tmp_path: Path) -> None:
    assert open_network(small_network(tmp_path / "a.onnx", said={}), 1).names == {0: "0", 1: "1"}


def test_labels_are_found_however_they_are_written(tmp_path: Path) -> None:
    network = open_network(small_network(tmp_path / "a.onnx"), 1)
    assert network.numbers_of(["Green-Thing", "red_thing"]) == (1, 0)
    with pytest.raises(ValueError, match="no blue thing; it knows red thing, green_thing"):
        network.numbers_of(["red thing", "blue thing"])
    assert open_network(model_at(COCO), threads=1).numbers_of(VEHICLES) == (1, 2, 3, 5, 7)


BAD_SHEETS: dict[str, dict[str, str]] = {
    "calls something": {"names": "__import__('os').system('true')"},
    "nests without end": {"names": "[" * 5000 + "]" * 5000},
    "three names for two classes": {"names": "{0: 'a', 1: 'b', 2: 'c'}"},
    "names from one on": {"names": "{1: 'a', 2: 'b'}"},
    "names that are no text": {"names": "{0: ['a'], 1: 'b'}"},
    "a text for names": {"names": "'red'"},
    "another task": {"task": "segment"},
    "poses without key points": {"task": "pose"},
    "a hand's key points": {"task": "pose", "kpt_shape": "[21, 3]"},
    "its own suppression": {"end2end": "True"},
    "not square": {"imgsz": "[64, 96]"},
    "no size at all": {"imgsz": "['64']"},
}


@pytest.mark.parametrize("said", BAD_SHEETS.values(), ids=BAD_SHEETS)
def test_an_onnx_network_that_says_nonsense_of_itself_is_unusable(tmp_path: Path, said: dict[str, str]) -> None:
    path = small_network(tmp_path / "a.onnx", said=SAID | said)
    with pytest.raises(NetworkUnusable, match=r"a\.onnx"):
        open_network(path, 1)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"batch": 4}, "4 pictures at once"),
        ({"size": 80}, "80 pixels"),
        ({"size": 2048}, "2048 pixels"),
        ({"cells": 300}, "no YOLO detector's"),
        ({"columns": 9}, "9 channels"),
    ],
)
def test_a_network_of_another_form_is_unusable(
    tmp_path: Path, runtime: Runtime, form: dict[str, Any], message: str
) -> None:
    if "size" in form:
        form = form | {"cells": 300}
    path = small_network(tmp_path / "a.onnx", **form)
    with pytest.raises(NetworkUnusable, match=message):
        open_network(path, 1, runtime)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_damaged_files_are_unusable(tmp_path: Path, runtime: Runtime) -> None:
    whole = small_network(tmp_path / "whole.onnx").read_bytes()
    refused = 0
    damaged = tmp_path / "damaged.onnx"
    source = np.random.default_rng(5)
    for place in range(40):
        data = bytearray(whole[: int(source.integers(1, len(whole)))] if place % 2 else whole)
        for at in source.integers(0, len(data), 20):
            data[at] = int(source.integers(0, 256))
        damaged.write_bytes(data)
        try:
            # What is damaged where it does not matter may run.
            assert len(open_network(damaged, 1, runtime).run(coloured((1, 0, 0)))) == 1
        except NetworkUnusable:
            refused += 1
    assert refused >= 20


def test_what_is_no_network_is_unusable(tmp_path: Path) -> None:
    text = tmp_path / "notes.onnx"
    text.write_text("nothing of the kind")
    empty = tmp_path / "empty.onnx"
    empty.touch()
    pickled = tmp_path / "yolo.pt"
    pickled.write_bytes(b"\x80\x04.")
    folder = tmp_path / "folder"
    folder.mkdir()
    for path in (text, empty, pickled, folder, tmp_path / "missing.onnx", tmp_path):
        with pytest.raises(NetworkUnusable):
            open_network(path, 1)


def test_weights_in_another_file_are_not_opened(tmp_path: Path) -> None:
    from onnx import TensorProto, load

    path = small_network(tmp_path / "a.onnx")
    model = load(path)
    (tensor,) = [each for each in model.graph.initializer if each.name == "share"]
    (tmp_path / "secret").write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secret")
    path.write_bytes(model.SerializeToString())
    with pytest.raises(NetworkUnusable, match="another file"):
        open_network(path, 1)


def openvino_folder(tmp_path: Path, sheet: str | None) -> Path:
    import openvino

    folder = tmp_path / "network"
    folder.mkdir()
    openvino.save_model(openvino.Core().read_model(small_network(tmp_path / "a.onnx", said={})), folder / "a.xml")
    if sheet is not None:
        (folder / "metadata.yaml").write_text(sheet)
    return folder


def test_an_openvino_folder_is_read_with_its_sheet(tmp_path: Path) -> None:
    folder = openvino_folder(tmp_path, "task: detect\nimgsz:\n- 64\n- 64\nnames:\n  0: no\n  1: 7\n")
    network = open_network(folder, 1)
    assert (network.names, network.runtime) == ({0: "False", 1: "7"}, "openvino")
    with pytest.raises(NetworkUnusable, match="ONNX Runtime"):
        open_network(folder, 1, "onnxruntime")


@pytest.mark.parametrize(
    "sheet",
    [
        "names: !!python/object/apply:os.mkdir ['{made}']",
        "names: [",
        "- 1\n- 2",
        "[" * 3000,
        "names: {{0: a}}",
        "x: " + "y" * 2_000_000,
    ],
)
def test_a_hostile_sheet_makes_its_folder_unusable_and_runs_nothing(tmp_path: Path, sheet: str) -> None:
    made = tmp_path / "made"
    folder = openvino_folder(tmp_path, sheet.replace("{made}", str(made)).replace("{{", "{").replace("}}", "}"))
    with pytest.raises(NetworkUnusable):
        open_network(folder, 1)
    assert not made.exists()


def test_damaged_openvino_folders_are_unusable(tmp_path: Path) -> None:
    folder = openvino_folder(tmp_path, None)
    graph, weights = (folder / "a.xml").read_text(), (folder / "a.bin").read_bytes()
    assert open_network(folder, 1).layout == "v8"
    for text, data in ((graph[: len(graph) // 2], weights), (graph, weights[:50]), ("<net/>", weights), ("", b"")):
        (folder / "a.xml").write_text(text)
        (folder / "a.bin").write_bytes(data)
        with pytest.raises(NetworkUnusable):
            open_network(folder, 1)
    (folder / "a.bin").unlink()
    with pytest.raises(NetworkUnusable):
        open_network(folder, 1)
