"""What the server says of its indexes to those who cannot open them, doctor and metrics: notes in the data folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from store.settings import Settings

Noted = TypeVar("Noted")


@dataclass(frozen=True, slots=True)
class Progress:
    """Of an index that is being filled: subjects gone over, of how many, and how many of them failed."""

    done: int
    total: int
    failed: int
    at: str


@dataclass(frozen=True, slots=True)
class IndexState:
    """The names of the index that searches use, and of the one that is wanted but not whole yet; `trouble`: why the
    wanted model is not loaded."""

    serving: str
    building: str | None
    trouble: str


def write_state(settings: Settings, state: IndexState) -> None:
    _write(_folder(settings) / "state.json", state)


def read_state(settings: Settings) -> IndexState | None:
    return _read(_folder(settings) / "state.json", IndexState)


def write_progress(settings: Settings, name: str, progress: Progress | None) -> None:
    """None where it is done."""
    path = progress_path(settings, name)
    if progress is None:
        path.unlink(missing_ok=True)
    else:
        _write(path, progress)


def read_progress(settings: Settings, name: str) -> Progress | None:
    return _read(progress_path(settings, name), Progress)


def progress_path(settings: Settings, name: str) -> Path:
    return _folder(settings) / name / "progress.json"


def describe_state(settings: Settings) -> tuple[bool, str]:
    """Whether all is well with the index, and a line on it, as the server said last."""
    state = read_state(settings)
    if state is None:
        return True, "no server has opened an index yet"
    parts = [f"searches use the index {state.serving}"]
    filled = state.building or state.serving
    progress = read_progress(settings, filled)
    if progress is not None:
        failed = f", {progress.failed} failed and are tried again" if progress.failed else ""
        parts.append(f"{filled} is being filled: {progress.done} of {progress.total}{failed} (at {progress.at})")
    elif state.building is not None:
        parts.append(f"{filled} is to be filled, by a running server")
    if state.trouble:
        parts.append(state.trouble)
    return not state.trouble and (progress is None or not progress.failed), "; ".join(parts)


def _folder(settings: Settings) -> Path:
    return settings.data_dir.absolute() / "index"


def _write(path: Path, value: Any) -> None:  # Any: asdict takes no narrower type
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(asdict(value)), encoding="utf-8")
    draft.rename(path)


def _read(path: Path, kind: type[Noted]) -> Noted | None:
    try:
        return kind(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
