"""The contract's requirements, and which tests name them.

Read statically (TOML and syntax trees, no test is imported), so that a run of any part of the tests says the same.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
REQUIREMENTS = Path(__file__).resolve().parent / "requirements"
BENCHES = TESTS.parent / "bench"
DOCUMENTS = ("speech-and-public-api", "integration-mcp-and-vision-api", "decisions")
# The work that a requirement waits for, in the order in which it is planned.
LAYERS = ("accounts", "speech", "analysis", "knowledge", "mcp", "chat", "vision", "cabinet", "scale")
LONGEST_PARAPHRASE = 200  # characters
ID_FORM = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+")
# A test under one of these marks does not run, or may fail: it proves nothing.
EMPTY_MARKS = frozenset({"skip", "xfail"})


class ManifestError(Exception):
    """A requirements file that is not of the documented form."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One sentence or table row of the contract; `open` is the layer it waits for, None where it stands now. `bench`
    is the module of `bench` that measures it, where it is a speed: no test times anything."""

    id: str
    says: str
    source: str
    open: str | None
    file: str
    bench: str | None = None

    @property
    def area(self) -> str:
        return self.id.partition(".")[0]

    @property
    def document(self) -> str:
        return self.source.partition(",")[0]


@dataclass(frozen=True, slots=True)
class Mark:
    """One `pytest.mark.proves(...)`: the ids it names, and what is wrong with it (None: nothing)."""

    where: str
    ids: tuple[str, ...]
    fault: str | None


def load(folder: Path = REQUIREMENTS) -> tuple[Requirement, ...]:
    """All requirements, by file and then in the file's order.

    Raises:
        ManifestError: a file without requirements, an entry with a missing, unknown or non-string key, or with a bench
            that is not there.
    """
    found: list[Requirement] = []
    for path in sorted(folder.glob("*.toml")):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        entries = content.get("requirement")
        if set(content) != {"requirement"} or not isinstance(entries, list):
            raise ManifestError(f"{path.name}: expected [[requirement]] entries and nothing else")
        for entry in entries:
            if not {"id", "says", "source"} <= set(entry) <= {"id", "says", "source", "open", "bench"}:
                raise ManifestError(f"{path.name}: wrong keys in {entry}")
            if not all(isinstance(value, str) for value in entry.values()):
                raise ManifestError(f"{path.name}: every value is a string, not so in {entry}")
            bench = entry.get("bench")
            if bench is not None and not (BENCHES / f"{bench}.py").is_file():
                raise ManifestError(f"{path.name}: there is no bench of {entry}")
            found.append(Requirement(entry["id"], entry["says"], entry["source"], entry.get("open"), path.stem, bench))
    return tuple(found)


def marks_under(folder: Path = TESTS) -> tuple[Mark, ...]:
    """Every `proves` mark in the test files under `folder`: on tests, classes, `pytest.param`s and modules."""
    return tuple(mark for path in sorted(folder.rglob("test_*.py")) for mark in _marks_of(path, folder))


def _marks_of(path: Path, folder: Path) -> Iterator[Mark]:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    faults = _faults_by_place(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _mark_name(node) == "proves":
            ids = tuple(arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
            literal = bool(ids) and len(ids) == len(node.args) and not node.keywords
            fault = faults.get(node) if literal else "names its ids otherwise than as literal strings"
            yield Mark(f"{path.relative_to(folder).as_posix()}:{node.lineno}", ids, fault)


def _faults_by_place(tree: ast.Module) -> dict[ast.AST, str]:
    """Calls that decorate what pytest does not collect, or does not run."""
    faults: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        start = "Test" if isinstance(node, ast.ClassDef) else "test"
        empty = EMPTY_MARKS & {_mark_name(decorator) for decorator in node.decorator_list}
        for inner in (inner for decorator in node.decorator_list for inner in ast.walk(decorator)):
            if not node.name.startswith(start):
                faults[inner] = f"stands on {node.name}, which is no test"
            elif empty:
                faults[inner] = f"stands on a test marked {', '.join(sorted(empty))}"
        if isinstance(node, ast.ClassDef) and empty:
            faults |= {inner: f"stands in {node.name}, marked {', '.join(sorted(empty))}" for inner in ast.walk(node)}
    return faults


def _mark_name(node: ast.expr) -> str:
    """`x` of `pytest.mark.x`, `mark.x` and calls of them; an empty string for anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    if not isinstance(node, ast.Attribute):
        return ""
    holder = node.value
    is_mark = (isinstance(holder, ast.Attribute) and holder.attr == "mark") or (
        isinstance(holder, ast.Name) and holder.id == "mark"
    )
    return node.attr if is_mark else ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Requirements in four parts: tested, tested though marked open, standing without a test, waiting for work."""

    tested: tuple[Requirement, ...]
    reopened: tuple[Requirement, ...]
    missing: tuple[Requirement, ...]
    waiting: tuple[Requirement, ...]

    @property
    def all(self) -> tuple[Requirement, ...]:
        return self.tested + self.reopened + self.missing + self.waiting


def cover(requirements: Iterable[Requirement], marks: Iterable[Mark]) -> Coverage:
    """Sort the requirements by whether a sound mark names them, or a bench measures them."""
    named = {identifier for mark in marks if mark.fault is None for identifier in mark.ids}
    parts: dict[tuple[bool, bool], list[Requirement]] = {(t, o): [] for t in (True, False) for o in (True, False)}
    for requirement in requirements:
        shown = requirement.id in named or requirement.bench is not None
        parts[shown, requirement.open is not None].append(requirement)
    return Coverage(
        tested=tuple(parts[True, False]),
        reopened=tuple(parts[True, True]),
        missing=tuple(parts[False, False]),
        waiting=tuple(parts[False, True]),
    )


def totals(coverage: Coverage) -> str:
    """One line: how much of the contract has a test."""
    tested = len(coverage.tested) + len(coverage.reopened)
    return (
        f"contract: {len(coverage.all)} requirements, {tested} with a test, "
        f"{len(coverage.missing)} without, {len(coverage.waiting)} open"
    )


def table(coverage: Coverage) -> list[str]:
    """A line an area, the totals, and the open ones by layer."""
    parts = (coverage.all, coverage.tested + coverage.reopened, coverage.missing, coverage.waiting)
    counts = [Counter(requirement.area for requirement in part) for part in parts]
    lines = [f"{'area':<16}{'total':>7}{'tested':>8}{'missing':>9}{'open':>6}"]
    lines += [_row(area, [count[area] for count in counts]) for area in sorted(counts[0])]
    lines.append(_row("all", [count.total() for count in counts]))
    by_layer = Counter(requirement.open for requirement in coverage.waiting)
    if by_layer:
        lines.append("open by layer: " + ", ".join(f"{layer} {by_layer[layer]}" for layer in LAYERS if by_layer[layer]))
    return lines


def _row(name: str, numbers: list[int]) -> str:
    total, tested, missing, waiting = numbers
    return f"{name:<16}{total:>7}{tested:>8}{missing:>9}{waiting:>6}"


def listing(heading: str, requirements: Iterable[Requirement]) -> list[str]:
    """The heading and a line a requirement: id, layer where it is open, paraphrase."""
    lines = [heading]
    for requirement in requirements:
        layer = f" [{requirement.open}]" if requirement.open else ""
        lines.append(f"  {requirement.id}{layer}: {requirement.says}")
    return lines
