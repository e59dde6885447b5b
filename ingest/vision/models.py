"""Which detectors there are: those that the settings name, else those that are installed, the best first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast, get_args

from ingest.vision import ultralytics_engine
from ingest.vision.network_runtimes import Runtime
from store import weights
from store.errors import InvalidRequest
from store.settings import Settings

Role = Literal["objects", "poses", "plates", "ppe", "fire", "people", "ru_plates"]
"""What a model is for: people and vehicles, poses, plates, protective equipment, fire and smoke, telling people apart,
text of Russian plates."""

# Names of `parley models list`, then of files and folders in PARLEY_MODELS_DIR.
KNOWN_DETECTORS: Mapping[Role, tuple[str, ...]] = {
    "objects": ("yolov8n-coco", "yolov8n-coco-int8-openvino", "yolo11n-coco", "ssd-mobilenet-v2-coco"),
    "poses": ("yolov8n-pose", "yolov8n-pose-int8-openvino"),
    "plates": ("plate-detector-fastanpr", "plate-detector-yolov5n"),
    "ppe": ("ppe-helmet-vest-yolov5n",),
    "fire": ("fire-smoke",),
    "people": ("osnet_x0_25_msmt17",),
    "ru_plates": ("ru-plate-ocr-stn-lprnet",),
}


def find_models(settings: Settings) -> dict[Role, Path]:
    """The file or folder of each model that is there. Raises InvalidRequest for a setting that names none."""
    named = _named(settings)
    found: dict[Role, Path] = {}
    for role, names in KNOWN_DETECTORS.items():
        path = named.get(role) or next(filter(None, (_installed(settings, name) for name in names)), None)
        if path is not None:
            found[role] = path
    return found


def runtime_of(settings: Settings) -> Runtime | None:
    """What the settings let the detectors run by; None: what is best for each file."""
    return "ultralytics" if settings.vision_engine == "ultralytics" else None


def describe_models(settings: Settings) -> tuple[bool, str]:
    """Whether people and vehicles can be seen, and what sees what, with the licences that are known."""
    found = find_models(settings)
    if settings.vision_engine == "ultralytics" and not ultralytics_engine.is_installed():
        return False, ultralytics_engine.MISSING
    if "objects" not in found:
        return False, "no detector of people and vehicles is installed: run `parley models pull`"
    parts = [
        f"{role} by {name} ({licence or 'licence not known here'})"
        for role, (name, licence) in _licences(found).items()
    ]
    missing = [role for role in KNOWN_DETECTORS if role not in found]
    parts += ["run by ultralytics (AGPL-3.0)"] if settings.vision_engine == "ultralytics" else []
    return True, "; ".join(parts) + (f"; without a model: {', '.join(missing)}" if missing else "")


def under_agpl(settings: Settings) -> list[str]:
    """What of the detectors that are there, by its name, is AGPL-3.0. Raises InvalidRequest as `find_models` does."""
    named = {name for name, licence in _licences(find_models(settings)).values() if licence == "AGPL-3.0"}
    return [*sorted(named), *(["ultralytics"] if settings.vision_engine == "ultralytics" else [])]


def _licences(found: Mapping[Role, Path]) -> dict[Role, tuple[str, str]]:
    """Name and licence of each model, the second empty where it is not known."""
    licences = {model.name: model.licence for model in weights.catalog()}
    licences |= {model.name: model.licence for model in weights.own_files()}
    named: dict[Role, tuple[str, str]] = {}
    for role, path in found.items():
        name = path.stem if path.suffix else path.name
        name = next((known for known in (name, path.parent.name) if known in licences), name)
        named[role] = name, licences.get(name) or _said_beside(path)
    return named


def _said_beside(path: Path) -> str:
    """The licence of a folder of ultralytics' exporter, as it writes it there: AGPL-3.0 or nothing."""
    try:
        sheet = (path / "metadata.yaml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
    return "AGPL-3.0" if "license: AGPL-3.0" in sheet else ""


def _named(settings: Settings) -> dict[Role, Path]:
    named: dict[Role, Path] = {}
    for text in settings.vision_models:
        role, _, place = text.partition("=")
        path = _installed(settings, place) or Path(place)
        if role not in get_args(Role) or not place or not path.exists():
            raise InvalidRequest(
                f"PARLEY_VISION_MODELS: {text[:200]!r} is no role and path that exists, nor a model that is installed."
            )
        named[cast(Role, role)] = path
    return named


def _installed(settings: Settings, name: str) -> Path | None:
    if any(model.name == name for model in weights.catalog()):
        folder = weights.find(settings, name)
        if folder is not None:
            return next(folder.glob("*.onnx"), folder)
    if settings.models_dir is None:
        return None
    places = (settings.models_dir / name, settings.models_dir / f"{name}.onnx")
    return next((place for place in places if place.exists()), None)
