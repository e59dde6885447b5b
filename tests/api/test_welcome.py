"""What a server says of licences to whoever started it, with a demo company and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from api.welcome import say_welcome
from store.settings import load_settings

AGPL, EXPORTED = "plate-detector-yolov5n.onnx", "yolov8n-coco-int8-openvino"


@pytest.mark.parametrize(
    ("installed", "engine", "named"),
    [
        ((), {}, ""),
        (("osnet_x0_25_msmt17.onnx",), {}, ""),
        ((AGPL, "osnet_x0_25_msmt17.onnx"), {}, "plate-detector-yolov5n: AGPL-3.0"),
        ((AGPL, EXPORTED), {}, f"plate-detector-yolov5n, {EXPORTED}: AGPL-3.0"),
        ((), {"vision_engine": "ultralytics"}, "ultralytics: AGPL-3.0"),
        ((AGPL,), {"vision_models": f"objects={AGPL}"}, "  plate-detector-yolov5n: AGPL-3.0"),
        ((AGPL,), {"vision_models": "objects=/nowhere"}, ""),
    ],
)
@pytest.mark.parametrize("has_demo", [True, False])
def test_the_agpl_of_a_detector_is_said_wherever_there_is_one(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    installed: tuple[str, ...],
    engine: dict[str, Any],
    named: str,
    has_demo: bool,
) -> None:
    models = tmp_path / "models"
    models.mkdir()
    for name in installed:
        if name == EXPORTED:
            (models / name).mkdir()
            sheet = "task: detect\nlicense: AGPL-3.0 License (https://ultralytics.com/license)\n"
            (models / name / "metadata.yaml").write_text(sheet)
        else:
            (models / name).touch()
    (tmp_path / "data").mkdir()
    if has_demo:
        (tmp_path / "data/demo.json").write_text('{"space_id": "1"}')
    say_welcome(load_settings(data_dir=tmp_path / "data", cache_dir=tmp_path / "none", models_dir=models, **engine))
    said = capsys.readouterr().out
    assert ("The demo cabinet" in said) is has_demo
    assert ("AGPL" in said) is bool(named)
    assert named in said
