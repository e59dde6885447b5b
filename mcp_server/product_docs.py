"""Parley's own documentation, as the package carries it, and an index over it that is made with the first question.

Its vectors are kept in a file, so that only the first process after a change of pages or model computes them.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import structlog

from ingest.documents import markdown
from ingest.documents.parsed import Limits, Outline, ParsedDocument
from ingest.workshop import ShuttingDown
from rag.chunking import Chunk, chunk_sections
from rag.embedding import Embedder
from rag.index import Filter, Point, Value, Vector
from rag.search import Found, Searcher
from rag.small_index import SmallIndex

log = structlog.get_logger(__name__)

DOCS_FOLDER = Path(__file__).parent.parent / "docs"
CONTENTS = "README.md"
"""Lists the other pages, and says nothing that they do not."""

# Bulk work of documents may be before ours in the embedding child: then the first calls answer by words alone, and only
# one that finds nothing so, since the pages are English, waits longer.
_PATIENCE_S = 2.0
_LONG_PATIENCE_S = 20.0
_TRY_AGAIN_S = 60.0
_EVERYTHING = Filter()
_NOT_IN_AN_ANCHOR = re.compile(r"[^\w\- ]")


def page_files() -> list[str]:
    """The names of the pages."""
    return sorted(path.name for path in DOCS_FOLDER.glob("*.md"))


def anchor_of(heading: str) -> str:
    """The fragment that leads to a heading, made as code hosts make it, so that links work there and here."""
    return _NOT_IN_AN_ANCHOR.sub("", heading.strip().lower()).replace(" ", "-")


@cache
def written_at(file: str) -> datetime:
    """When this installation's copy of a page was written."""
    return datetime.fromtimestamp(int((DOCS_FOLDER / file).stat().st_mtime), UTC)


@cache
def passages() -> tuple[Point, ...]:
    """Every page but the list of them, cut along its headings; without vectors."""
    found: list[Point] = []
    for name in page_files():
        if name != CONTENTS:
            found += _passages_of(name)
    return tuple(found)


def _passages_of(name: str) -> list[Point]:
    page = markdown.parse((DOCS_FOLDER / name).read_bytes(), name, Outline(Limits()))
    return [
        Point(f"{name}:{chunk.index}", None, chunk.text, _payload(name, page, chunk))
        for chunk in chunk_sections(page.sections)
    ]


def _payload(name: str, page: ParsedDocument, chunk: Chunk) -> dict[str, Value]:
    section = next(section for section in reversed(page.sections) if section.start <= chunk.start)
    return {
        "title": " › ".join(dict.fromkeys([page.title, *chunk.title_path])),
        "file": name,
        "anchor": anchor_of(section.title_path[-1]) if section.title_path else "",
    }


@dataclass(slots=True)
class _Work:
    """Making the index of one model: by words alone until it is done, and where it failed."""

    index: SmallIndex
    began_s: float = field(default_factory=time.monotonic)
    done: threading.Event = field(default_factory=threading.Event)
    has_vectors: bool = False

    @property
    def is_due_again(self) -> bool:
        return self.done.is_set() and not self.has_vectors and time.monotonic() - self.began_s > _TRY_AGAIN_S


class ProductDocs:
    """The documentation, to be searched. Thread-safe; one a process is enough."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work: dict[str, _Work] = {}
        self._by_words: SmallIndex | None = None

    def search(self, query: str, limit: int, embedder: Embedder | None, folder: Path | None) -> list[Found]:
        """The best `limit` passages, best first. `folder` keeps the vectors; None keeps them in memory alone."""
        for patience_s in (_PATIENCE_S, _LONG_PATIENCE_S):
            searcher = self.searcher(embedder, folder, patience_s)
            if found := searcher.search("", query, _EVERYTHING, limit):
                return found
        return []

    def searcher(self, embedder: Embedder | None, folder: Path | None, patience_s: float = _PATIENCE_S) -> Searcher:
        """Over all pages, by meaning too where there is a model and the vectors are there within `patience_s`."""
        with self._lock:
            if self._by_words is None:
                self._by_words = SmallIndex(passages())
            if embedder is None:
                return Searcher(self._by_words, None)
            work = self._work.get(embedder.name)
            if work is None or work.is_due_again:
                work = _Work(self._by_words)
                self._work = {embedder.name: work}
                threading.Thread(target=_make_index, args=(work, embedder, folder), daemon=True).start()
        work.done.wait(max(0.0, work.began_s + patience_s - time.monotonic()))
        return Searcher(work.index, embedder if work.has_vectors else None)


def _make_index(work: _Work, embedder: Embedder, folder: Path | None) -> None:
    try:
        points = passages()
        vectors = _vectors(embedder, [f"{point.payload['title']}\n{point.text}" for point in points], folder)
        work.index = SmallIndex([replace(point, vector=vector) for point, vector in zip(points, vectors, strict=True)])
        work.has_vectors = True
    # Any engine may fail in any way, and the server may end meanwhile: words still find the pages.
    except (Exception, ShuttingDown) as error:
        log.warning("the documentation is searched by words alone", model=embedder.name, error=repr(error))
    finally:
        work.done.set()


def _vectors(embedder: Embedder, texts: Sequence[str], folder: Path | None) -> list[Vector]:
    if folder is None:
        return embedder.embed_for_index(texts)
    path = folder / f"{hashlib.sha256(embedder.name.encode()).hexdigest()[:16]}.npz"
    key = hashlib.sha256("\0".join([embedder.name, str(embedder.dimension), *texts]).encode()).hexdigest()
    kept = _read(path, key, len(texts), embedder.dimension)
    if kept is not None:
        return kept
    made = embedder.embed_for_index(texts)
    _write(path, key, made)
    return made


def _read(path: Path, key: str, count: int, dimension: int) -> list[Vector] | None:
    """What `_write` put there; None where it is of other texts, or cannot be read."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if str(stored["key"]) != key:
                return None
            ends: list[int] = stored["ends"].tolist()
            rows: Vector = stored["rows"].astype(np.float32)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    if len(ends) != count or rows.ndim != 2 or rows.shape != (ends[-1], dimension):
        return None
    return [rows[start:end] for start, end in pairwise([0, *ends])]


def _write(path: Path, key: str, vectors: Sequence[Vector]) -> None:
    """Whole or not at all; where it cannot be written, the next process computes it again."""
    ends = np.cumsum([len(each) for each in vectors])
    partial = path.with_suffix(f".{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            np.savez(file, key=np.array(key), ends=ends, rows=np.vstack(vectors))
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        log.warning("vectors of the documentation could not be kept", error=str(error))
