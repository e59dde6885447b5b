"""Model files: what there is, where it lies, and how it is had. `weights.toml` is the list.

A model is a folder that holds exactly the files of one of its sources, each with the sha256 of the list. It is looked
for in the models directory of the settings, then in the cache. Nothing out of a download is ever run.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from store.settings import Settings

_LIST = Path(__file__).with_name("weights.toml")
_MARKER = "checked.json"
_BLOCK = 1024 * 1024

Progress = Callable[[str, int, int], None]
"""Called with the model's name, bytes that are ready and bytes in all."""


class ModelMissing(Exception):
    """The files of a model are not there. The message says how to get them."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The files of the model {name!r} are not installed. Fetch them by `parley models pull {name}`, "
            "or put them into a folder of that name in PARLEY_MODELS_DIR."
        )
        self.name = name


class SourceFailed(Exception):
    """A source could not give what the list says it holds. The message is for people."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file inside a package: a wheel of the Python index, a tarball of the npm registry, or a Debian package (by its
    path below `pool`)."""

    package: str
    member: str


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model. `remote` is its name at the hub, `parts` are what it is joined of from packages."""

    path: str
    size: int
    sha256: str
    remote: str = ""
    parts: tuple[Part, ...] = ()


_KINDS = ("hub", "github", "packages", "npm", "debian")
_OF_PACKAGES = ("packages", "npm", "debian")


@dataclass(frozen=True, slots=True)
class Source:
    kind: Literal["hub", "github", "packages", "npm", "debian"]
    files: tuple[ModelFile, ...]
    repo: str = ""
    revision: str = ""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class Weights:
    """One model of the list; `sources` in the order in which they are tried."""

    name: str
    purpose: str
    licence: str
    sources: tuple[Source, ...]
    default: bool = False
    instead: str = ""


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """A model that no index carries: its files lie in the models directory, or it is not there. An operator's own file
    of that name, made otherwise, is taken too: the sha256 says which was measured."""

    name: str
    purpose: str
    licence: str
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def is_installed(self, settings: Settings) -> bool:
        folder = settings.models_dir
        return folder is not None and all((folder / file.path).is_file() for file in self.files)


@dataclass(frozen=True, slots=True)
class PullResult:
    """What became of one name. `problem` is empty when `path` holds the model (`name`, or what stood in for it)."""

    name: str
    state: Literal["present", "pulled", "failed"]
    path: Path | None = None
    source: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class VerifyResult:
    name: str
    path: Path
    problem: str


def parse_catalog(text: str) -> tuple[Weights, ...]:
    """Reads a list in the form of `weights.toml`. Raises ValueError for what it must not hold."""
    models = tuple(_parse_model(table) for table in tomllib.loads(text)["model"])
    names = {model.name for model in models}
    if len(names) != len(models) or any(model.instead and model.instead not in names for model in models):
        raise ValueError("names of models must be unique, and `instead` must be one of them")
    return models


@cache
def catalog() -> tuple[Weights, ...]:
    """Every model that Parley knows."""
    return parse_catalog(_LIST.read_text(encoding="utf-8"))


@cache
def own_files() -> tuple[OwnFiles, ...]:
    """The models that come as an operator's own files."""
    tables = tomllib.loads(_LIST.read_text(encoding="utf-8"))["own"]
    return tuple(
        OwnFiles(table["name"], table["purpose"], table["licence"], _parse_files(table["files"])) for table in tables
    )


def default_names() -> tuple[str, ...]:
    """What `parley models pull` takes without names."""
    return tuple(model.name for model in catalog() if model.default)


def find(settings: Settings, name: str) -> Path | None:
    """The folder with a model's files, or None. Compares names and sizes; `verify` reads the files too."""
    model = _known(name)
    for folder in _places(settings, name):
        if _complete(folder, model, need_marker=folder.parent == _cache(settings)):
            return folder
    return None


def require(settings: Settings, name: str) -> Path:
    """The folder with a model's files. Raises ModelMissing."""
    folder = find(settings, name)
    if folder is None:
        raise ModelMissing(name)
    return folder


def pull(settings: Settings, names: Sequence[str], progress: Progress | None = None) -> list[PullResult]:
    """Fetches models into the cache (without names: the default ones) and returns one result a name.

    A pull that broke off goes on where it stopped; two at once wait for each other. Raises KeyError for a name that is
    not in the list.
    """
    from store.weights_sources import Fetcher

    models = [_known(name) for name in (names or default_names())]
    with Fetcher() as fetcher:
        return [_pull_one(settings, model, fetcher, progress or (lambda *_: None)) for model in models]


def verify(settings: Settings) -> list[VerifyResult]:
    """Reads every installed model again and compares each file's sha256. `problem` is empty where all is well."""
    results = []
    for model in catalog():
        folder = find(settings, model.name)
        if folder is not None:
            sums = {path.relative_to(folder).as_posix(): sha256_of(path) for path in _files_in(folder)}
            fits = any(all(sums.get(file.path) == file.sha256 for file in source.files) for source in model.sources)
            problem = "" if fits else "the files differ from the list; remove the folder and pull the model again"
            results.append(VerifyResult(model.name, folder, problem))
    return results


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _pull_one(settings: Settings, model: Weights, fetcher: Any, progress: Progress) -> PullResult:
    problems: list[str] = []
    target = _cache(settings) / model.name
    present = find(settings, model.name)
    if present is not None:
        return PullResult(model.name, "present", present)
    with _locked(_cache(settings) / f".{model.name}.lock"):
        present = find(settings, model.name)
        if present is not None:
            return PullResult(model.name, "present", present)
        partial = target.with_name(f"{model.name}.partial")
        for source in model.sources:
            work = partial / source.kind
            work.mkdir(parents=True, exist_ok=True)
            try:
                fetcher.fetch(source, work, lambda done, size=source.size: progress(model.name, done, size))
            except SourceFailed as failure:
                problems.append(str(failure))
                _remove_empty(work, partial)
                continue
            except OSError as error:
                return PullResult(model.name, "failed", problem=f"{model.name}: the files cannot be written ({error})")
            _write_marker(work, source)
            shutil.rmtree(target, ignore_errors=True)
            work.rename(target)
            shutil.rmtree(partial, ignore_errors=True)
            return PullResult(model.name, "pulled", target, source.kind)
    problem = f"{model.name}: " + "; ".join(problems or ["no source is listed"])
    if model.instead:
        other = _pull_one(settings, _known(model.instead), fetcher, progress)
        problem = f"{problem}; {other.problem}" if other.problem else ""
        return PullResult(other.name, other.state, other.path, other.source, problem)
    return PullResult(model.name, "failed", problem=problem)


def _known(name: str) -> Weights:
    for model in catalog():
        if model.name == name:
            return model
    raise KeyError(f"no model {name!r}; there are: {', '.join(model.name for model in catalog())}")


def _cache(settings: Settings) -> Path:
    return settings.cache_dir.expanduser() / "models"


def _places(settings: Settings, name: str) -> list[Path]:
    places = [_cache(settings) / name]
    if settings.models_dir is not None:
        places.insert(0, settings.models_dir.expanduser() / name)
    return places


def _complete(folder: Path, model: Weights, *, need_marker: bool) -> bool:
    """Whether the folder holds a source's files. In the cache they were checked when they came, which the marker says;
    a folder that the operator filled has no marker."""
    checked = None
    if need_marker:
        try:
            checked = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
    for source in model.sources:
        if checked is not None and checked != _marker(source):
            continue
        if all(_size(folder / file.path) == file.size for file in source.files):
            return True
    return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _files_in(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and path.name != _MARKER)


def _remove_empty(*folders: Path) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _marker(source: Source) -> dict[str, str]:
    return {file.path: file.sha256 for file in source.files}


def _write_marker(folder: Path, source: Source) -> None:
    (folder / _MARKER).write_text(json.dumps(_marker(source), indent=1), encoding="utf-8")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Waits for the lock on a file. The kernel lets it go when the process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _parse_model(table: dict[str, Any]) -> Weights:
    sources = tuple(_parse_source(kind, table[kind]) for kind in _KINDS if kind in table)
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", table["name"]) or not sources:
        raise ValueError(f"not a model: {table['name']!r}")
    return Weights(
        table["name"],
        table["purpose"],
        table["licence"],
        sources,
        table.get("default", False),
        table.get("instead", ""),
    )


def _parse_files(rows: Sequence[dict[str, Any]]) -> tuple[ModelFile, ...]:
    return tuple(
        ModelFile(
            _inside(file["path"]),
            int(file["size"]),
            _sha256(file["sha256"]),
            _inside(file.get("remote", file["path"])),
            tuple(part for row in file.get("parts", ()) for part in _parse_parts(row)),
        )
        for file in rows
    )


def _parse_source(kind: Any, table: dict[str, Any]) -> Source:
    files = _parse_files(table["files"])
    if not files or (kind in _OF_PACKAGES and not all(file.parts for file in files)):
        raise ValueError("a source needs files, and a file from packages its parts")
    return Source(kind, files, table.get("repo", ""), table.get("revision", ""))


def _parse_parts(row: dict[str, Any]) -> Iterator[Part]:
    for n in range(1, row.get("count", 1) + 1):
        yield Part(row["package"].format(n=n), _inside(row["member"].format(n=n)))


def _inside(path: str) -> str:
    """A relative path that stays in its folder. Raises ValueError."""
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\\" in path or ":" in path:
        raise ValueError(f"a path that leaves its folder: {path!r}")
    return path


def _sha256(value: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", value):
        raise ValueError(f"not a sha256: {value!r}")
    return value
