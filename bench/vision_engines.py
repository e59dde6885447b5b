"""Parley's own detector against ultralytics: `python -m bench.vision_engines [agreement|streams] [SECONDS [ROUNDS]]`.

Agreement: mAP of both engines with the same exported weights on the same pictures. Streams: how many of the same clips
Parley's pipeline watches on this machine, and how many a `model.track(stream=True)` loop does with the same exported
weights and with a .pt file, in turns. The .pt is no YOLOv8n, which no package index has: it is a YOLO11n made anew from
its ONNX export. Parley is held to 4 times its streams on clips that are still for half of the time, with the motion
gate, which the loop has none of; with every picture looked at that ratio is printed and bound to nothing.

Needs scripts/set-up-ultralytics, and detectors and clips of ../shared.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np

if TYPE_CHECKING:
    from bench.vision_engines_agreement import Labelled

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
VISION, MODELS = SHARED / "data/vision", SHARED / "models"
CLIP = VISION / "one-by-one-person-detection.mp4"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "parley"
PYTHON = CACHE / "ultralytics-env/bin/python"
ROUNDS, SECONDS, STREAMS = 3, 10.0, 4
_SECTION_S = 60
"""What stood in the picture and left is movement to the gate for up to 17 s more: sections are long against that."""
# Parley's streams over those of the loop: same export; and with the motion gate, on clips that are still half of the
# time: same export, .pt. Of the detector that is taken by default; for other weights the same ratios are printed.
LEAST_MOVING, LEAST_HALF_STILL, LEAST_CHECKPOINT = 1.3, 2.0, 4.0


def main() -> int:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if not PYTHON.exists() or not VISION.is_dir():
        print("skipped: scripts/set-up-ultralytics makes the other side; pictures and weights are in ../shared")
        return 0
    if Path(sys.executable) != PYTHON:
        quiet = {"YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false", "YOLO_VERBOSE": "false"}
        environment = {**os.environ, **quiet, "YOLO_CONFIG_DIR": str(CACHE / "ultralytics")}
        command = [str(PYTHON), "-m", "bench.vision_engines", *sys.argv[1:]]
        return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
    parts = {each for each in sys.argv[1:] if each in ("agreement", "streams")} or {"agreement", "streams"}
    numbers = [float(each) for each in sys.argv[1:] if each not in parts]
    seconds, rounds = numbers[0] if numbers else SECONDS, int(numbers[1]) if len(numbers) > 1 else ROUNDS
    from store import weights
    from store.settings import load_settings

    folder = weights.find(load_settings(), "yolo11n-coco")
    with tempfile.TemporaryDirectory() as made:
        checkpoint = None
        if folder is not None:
            checkpoint = _checkpoint(folder / "yolo11n.onnx", Path(made) / "yolo11n.pt")
        exports = {"YOLOv8n, OpenVINO int8": _openvino(MODELS / "yolov8n-coco-int8-openvino", Path(made))}
        if folder is not None:
            exports["YOLO11n, ONNX float32"] = folder / "yolo11n.onnx"
        held = []
        if "agreement" in parts:
            held.append(agreement(exports, checkpoint))
        if "streams" in parts:
            held.append(streams(exports, checkpoint, Path(made), seconds, rounds))
    return 0 if all(held) else 1


def agreement(exports: Mapping[str, Path], checkpoint: Path | None) -> bool:
    from bench import vision_engines_agreement as sets

    print("mAP@.5:.95 of both engines, the same exported weights on the same pictures")
    print(f"{'':<52}{'pictures':>9}{'things':>8}{'Parley':>9}{'ultralytics':>13}{'difference':>12}")
    held = [
        sets.compare("plates, labelled (YOLOv8n, ONNX)", *_labelled("plate-detector-fastanpr.onnx", sets.plates)),
        sets.compare("fire and smoke, labelled (YOLOv8s, ONNX)", *_labelled("fire-smoke.onnx", sets.fires)),
    ]
    if checkpoint is not None:
        scenes = list(sets.scenes(VISION))
        squares = [sets.squared(image) for image in scenes]
        truth = sets.as_truth(squares, sets.found_by_checkpoint(checkpoint, squares))
        print("As the .pt file (YOLO11n) finds it, in pictures made square:")
        held += [sets.compare_people_and_vehicles(name, path, truth) for name, path in exports.items()]
        wide = [image for image in scenes if image.shape[0] * 16 == image.shape[1] * 9]
        truth = sets.as_truth(wide, sets.found_by_checkpoint(checkpoint, wide))
        print("The same in cameras' pictures as they are, Parley's by the export and ultralytics' by the .pt file:")
        name, export = next((name, path) for name, path in exports.items() if path.suffix == ".onnx")
        held.append(sets.compare_people_and_vehicles(name, export, truth, checkpoint))
    else:
        print("COCO: skipped, yolo11n-coco is not installed (parley models pull yolo11n-coco)")
    return all(held)


def _labelled(model: str, read: Callable[[Path], Iterable[Labelled]]) -> tuple[Path, list[Labelled]]:
    folder = VISION / ("plates-eu" if model.startswith("plate") else "fire-smoke")
    return MODELS / model, list(read(folder))


def streams(exports: Mapping[str, Path], checkpoint: Path | None, folder: Path, seconds: float, rounds: int) -> bool:
    still = half_still(CLIP, folder / "half-still.mp4")
    held = [_compare(still, name, export, checkpoint, seconds, rounds) for name, export in exports.items()]
    return held[0]


def _compare(still: Path, name: str, export: Path, checkpoint: Path | None, seconds: float, rounds: int) -> bool:
    """Prints a table, in which the sides took turns. Whether the bounds hold."""
    from bench.vision_engines_loops import Run, parley, ultralytics

    clip, fps, cores = CLIP, _fps(CLIP), os.cpu_count() or 1
    sides: dict[str, Callable[[], Run]] = {
        "Parley, every picture": lambda: parley(export, clip, seconds, gated=False, streams=STREAMS, fps=fps),
        "loop, export": lambda: ultralytics(export, clip, seconds),
        f"{cores} loops, export": lambda: ultralytics(export, clip, seconds, loops=cores),
        "Parley, motion gate, half still": lambda: parley(
            export, still, seconds, gated=True, streams=STREAMS, fps=fps, least=_whole(still)
        ),
        "loop, export, half still": lambda: ultralytics(export, still, seconds),
    }
    if checkpoint is not None:
        sides["loop, YOLO11n .pt"] = lambda: ultralytics(checkpoint, clip, seconds)
        sides["loop, YOLO11n .pt, half still"] = lambda: ultralytics(checkpoint, still, seconds)
        sides[f"{cores} loops, YOLO11n .pt"] = lambda: ultralytics(checkpoint, clip, seconds, loops=cores)
    runs: dict[str, list[Run]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side, run in sides.items():
            runs[side].append(run())
    print(f"\n{clip.name}, {fps:g} pictures a second, {name}: medians of {rounds}")
    print(f"{'':<34}{'pictures/s':>12}{'streams':>9}{'CPU ms each':>13}{'streams/core':>14}{'looked at':>11}")
    per_s = {side: statistics.median(run.per_s for run in each) for side, each in runs.items()}
    cpu_ms = {side: statistics.median(run.cpu_ms for run in each) for side, each in runs.items()}
    for side, each in runs.items():
        looked = sum(run.looked_at for run in each) / sum(run.pictures for run in each)
        by_core = 1000 / cpu_ms[side] / fps
        measured = f"{per_s[side]:>12.1f}{per_s[side] / fps:>9.1f}{cpu_ms[side]:>13.1f}{by_core:>14.1f}{looked:>10.0%}"
        print(f"{side:<34}{measured}")
    bounds = [
        ("Parley, every picture", "loop, export", LEAST_MOVING),
        ("Parley, motion gate, half still", "loop, export, half still", LEAST_HALF_STILL),
    ]
    if checkpoint is not None:
        bounds.append(("Parley, motion gate, half still", "loop, YOLO11n .pt, half still", LEAST_CHECKPOINT))
        bounds.append(("Parley, every picture", "loop, YOLO11n .pt", 0.0))
        print("The .pt is a YOLO11n made anew from its ONNX export; 4 times its streams is asked with the gate alone.")
    held = []
    for ours, theirs, least in bounds:
        ratio = per_s[ours] / per_s[theirs]
        held.append(ratio >= least)
        verdict = "holds" if held[-1] else "DOES NOT HOLD"
        print(
            f"{verdict if least else 'besides'}: {ours} / {theirs}: {ratio:.2f} times the streams"
            f"{f', at least {least}' if least else ''} "
            f"(by CPU time {cpu_ms[theirs] / cpu_ms[ours]:.2f})"
        )
    return all(held)


def half_still(clip: Path, to: Path) -> Path:
    """The clip in sections, and after each one as long in which nothing moves: the empty scene, which is the median of
    the clip's pictures, with a camera's noise."""
    with av.open(str(clip)) as opened:
        stream = opened.streams.video[0]
        rate = stream.average_rate
        pictures = [frame.to_ndarray(format="rgb24") for frame in opened.decode(video=0)]
    assert rate is not None
    empty = np.median(pictures[:: max(1, len(pictures) // 40)], axis=0).astype(np.int16)
    noise = np.random.default_rng(1)
    section = round(min(_SECTION_S * float(rate), len(pictures) / 2))
    with av.open(str(to), "w") as made:
        out = made.add_stream("libx264", rate=rate, options={"preset": "veryfast", "crf": "20"})
        out.height, out.width = empty.shape[:2]
        out.pix_fmt = "yuv420p"
        for begin in range(0, len(pictures) - section + 1, section):
            moving = pictures[begin : begin + section]
            still = (np.clip(empty + noise.integers(-3, 4, empty.shape), 0, 255).astype(np.uint8) for _ in moving)
            for picture in (*moving, *still):
                made.mux(out.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        made.mux(out.encode())
    return to


def _whole(still: Path) -> int:
    """So many pictures that each stream is moving and still for as long."""
    from bench.vision_engines_loops import pictures_of

    return STREAMS * pictures_of(still) // 2


def _fps(clip: Path) -> float:
    with av.open(str(clip)) as opened:
        return float(opened.streams.video[0].average_rate or 25)


def _openvino(folder: Path, made: Path) -> Path:
    """ultralytics knows the kind of an export by its name."""
    link = made / f"{folder.name}_openvino_model"
    link.symlink_to(folder)
    return link


def _checkpoint(export: Path, to: Path) -> Path:
    from bench.vision_engines_checkpoint import rebuild

    rebuild(export, "yolo11n.yaml", to)
    return to


if __name__ == "__main__":
    sys.exit(main())
