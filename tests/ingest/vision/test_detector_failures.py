"""What a detector's failure says to clients, and what to the log."""

from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from ingest.vision.detector import Detector, DetectorFailed
from tests.ingest.vision.test_detector import red
from tests.ingest.vision.test_networks import small_network

_FAILS = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import ingest.vision.detector_child as child; "
    "child._look = lambda *_: open('/nowhere/of-the-server'); "
    "child.serve_detector(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])"
)


def test_a_network_that_fails_is_told_in_short_and_logged_at_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.vision.detect_process._START", _FAILS)
    models = {"small": small_network(tmp_path / "small.onnx")}
    with Detector(models, threads=1, runtime="onnxruntime") as detector, capture_logs() as logs:
        for _ in range(2):
            with pytest.raises(DetectorFailed) as raised:
                detector.detect("small", red(0.5))
            assert str(raised.value) == "The model small failed (FileNotFoundError)."
        assert detector.figures.starts == 1, "the child lives on"
    traces = [entry["trace"] for entry in logs if entry["log_level"] == "error"]
    assert len(traces) == 2
    assert all("Traceback" in trace and "/nowhere/of-the-server" in trace for trace in traces)
