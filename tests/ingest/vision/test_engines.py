"""The engines of the detector: Parley's own, which looks at no more of a square than it has to, and ultralytics."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ingest.vision import ultralytics_engine
from ingest.vision.bands import bands_of, in_band, rows_for
from ingest.vision.detector import Detector
from ingest.vision.models import describe_models, runtime_of
from ingest.vision.network_files import NetworkUnusable
from ingest.vision.networks import open_network
from ingest.vision.yolo import fit_into
from store.settings import load_settings
from tests.ingest.conftest import WAIT_S
from tests.ingest.vision.test_networks import COCO, POSE, model_at, picture_of, small_network

ROOT = Path(__file__).parents[3]
needs_ultralytics = pytest.mark.skipif(
    not ultralytics_engine.is_installed(),
    reason="ultralytics is not installed here (an extra; scripts/set-up-ultralytics makes an environment with it)",
)


def test_parleys_own_engine_is_the_one_unless_the_operator_chooses() -> None:
    assert runtime_of(load_settings()) is None
    assert runtime_of(load_settings(vision_engine="ultralytics")) == "ultralytics"


@pytest.fixture
def _without_ultralytics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ultralytics_engine, "find_spec", lambda _name: None)


@pytest.mark.usefixtures("_without_ultralytics")
def test_a_chosen_engine_that_is_missing_is_named_by_the_doctor_with_the_way_to_get_it() -> None:
    ok, said = describe_models(load_settings(vision_engine="ultralytics"))
    assert not ok
    assert "PARLEY_VISION_ENGINE" in said
    assert "pip install 'parley[ultralytics]'" in said
    assert "AGPL-3.0" in said


@pytest.mark.usefixtures("_without_ultralytics")
def test_a_network_cannot_be_opened_by_an_engine_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(NetworkUnusable, match="PARLEY_VISION_ENGINE is ultralytics"):
        ultralytics_engine.open_by_ultralytics(small_network(tmp_path / "small.onnx"), threads=1)


def test_who_asks_a_detector_learns_that_its_engine_is_missing(tmp_path: Path) -> None:
    if ultralytics_engine.is_installed():
        pytest.skip("ultralytics is installed here")
    network = small_network(tmp_path / "small.onnx")
    with (
        Detector({"small": network}, threads=1, runtime="ultralytics") as detector,
        pytest.raises(NetworkUnusable, match="pip install"),
    ):
        detector.detect("small", np.zeros((64, 64, 3), np.uint8))


def test_ultralytics_is_imported_by_nobody_who_has_not_chosen_it() -> None:
    program = (
        "import sys, ingest.vision.detector_child, ingest.vision.worker; "
        "print([name for name in sys.modules if name.split('.')[0] in ('ultralytics', 'torch')])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@needs_ultralytics
def test_ultralytics_answers_as_the_own_engine_does() -> None:
    models = {"objects": model_at(COCO), "poses": model_at(POSE)}
    picture = picture_of("bus.jpg")
    with Detector(models, threads=2) as own, Detector(models, threads=2, runtime="ultralytics") as other:
        assert other.about("objects").names == own.about("objects").names
        assert other.about("objects").runtime == "ultralytics"
        ours, theirs = own.detect("objects", picture), other.detect("objects", picture)
        assert ours.classes.tolist() == theirs.classes.tolist()
        assert np.abs(ours.xyxy - theirs.xyxy).max() < 3
        assert len(other.detect("objects", picture, classes=[5])) == 1
        assert len(other.detect("objects", np.zeros((40, 60, 3), np.uint8))) == 0
        assert other.poses("poses", picture).keypoints.shape == own.poses("poses", picture).keypoints.shape


@pytest.mark.parametrize(
    ("width", "height", "rows"), [(1280, 720, 384), (768, 432, 384), (640, 480, 480), (500, 500, 640), (720, 1280, 640)]
)
def test_a_wide_picture_needs_a_band_of_the_square(width: int, height: int, rows: int) -> None:
    fit = fit_into(width, height, 640)
    assert rows_for(fit, 640) == rows
    band = in_band(fit, 640, rows)
    assert band.top >= 0
    assert band.top + round(height * fit.scale) <= rows


@pytest.mark.parametrize("size", [32, 64, 320, 640, 736, 1280])
def test_bands_are_of_whole_cells(size: int) -> None:
    assert all(rows % 32 == 0 and 0 < rows <= size for rows in bands_of(size))


def test_a_network_finds_the_same_in_a_band_as_in_the_square() -> None:
    path = model_at(COCO)
    engine = open_network(path, threads=2).engine
    assert engine.takes_bands
    wide = picture_of("zidane.jpg")
    with Detector({"objects": path}, threads=2) as detector:
        cut = detector.detect("objects", wide, timeout_s=WAIT_S)
        tall = np.full((wide.shape[1], wide.shape[1], 3), 114, np.uint8)
        top = (tall.shape[0] - wide.shape[0]) // 2
        tall[top : top + wide.shape[0]] = wide
        whole = detector.detect("objects", tall, timeout_s=WAIT_S)
    assert cut.classes.tolist() == whole.classes.tolist()
    assert np.abs(cut.xyxy - (whole.xyxy - np.array([0, top, 0, top], np.float32))).max() < 12


def test_a_network_that_cannot_be_cut_looks_at_the_square(tmp_path: Path) -> None:
    assert not open_network(small_network(tmp_path / "small.onnx"), threads=1, runtime="openvino").engine.takes_bands
