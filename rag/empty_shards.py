"""Empty shards of an embedded index: one is made, the others are copies of it.

qdrant-edge takes a third of a second to make a shard with the indexes of its fields, and holds the GIL meanwhile. Its
files are mostly holes: a copy of what is in them takes a twentieth of that and keeps no other thread from its work.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import qdrant_edge as edge

from rag.index import DENSE, INTEGER_FIELDS, KEYWORD_FIELDS, TERMS


class EmptyShards:
    """Puts empty shards into `folder`."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._dimension = dimension
        self._guard = threading.Lock()
        self._pattern: Path | None = None

    def put(self, place: Path) -> None:
        """Makes one at `place`, in the folder, where nothing may be. It is never found half made."""
        pattern = self._made_pattern()
        draft = self._folder / f".new-{uuid4()}"
        if _has_holes(pattern):
            shutil.copytree(pattern, draft, copy_function=_copy_without_holes)
        else:  # a file system that keeps none, or says nothing of them: a copy would be hundreds of megabytes
            _create(draft, self._dimension)
        draft.rename(place)

    def close(self) -> None:
        with self._guard:
            if self._pattern is not None:
                shutil.rmtree(self._pattern, ignore_errors=True)
                self._pattern = None

    def _made_pattern(self) -> Path:
        with self._guard:
            if self._pattern is None or not self._pattern.exists():
                pattern = self._folder / f".empty-{uuid4()}"
                _create(pattern, self._dimension)
                self._pattern = pattern
            return self._pattern


def shard_config(
    dimension: int,
    hnsw_config: edge.HnswIndexConfig | None = None,
    optimizers: edge.EdgeOptimizersConfig | None = None,
) -> edge.EdgeConfig:
    return edge.EdgeConfig(
        vectors={
            DENSE: edge.EdgeVectorParams(
                size=dimension,
                distance=edge.Distance.Cosine,
                multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
            )
        },
        sparse_vectors={TERMS: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        hnsw_config=hnsw_config,
        optimizers=optimizers,
    )


def index_fields(shard: edge.EdgeShard) -> None:
    """Those that are not indexed yet: a release may filter by more fields than the one that made the shard."""
    there = shard.info().payload_schema
    for names, kind in (
        (KEYWORD_FIELDS, edge.PayloadSchemaType.Keyword),
        (INTEGER_FIELDS, edge.PayloadSchemaType.Integer),
    ):
        for name in names:
            if name not in there:
                shard.update(edge.UpdateOperation.create_field_index(name, kind))


def _create(folder: Path, dimension: int) -> None:
    shard = edge.EdgeShard.create(str(folder), shard_config(dimension))
    index_fields(shard)
    shard.flush()
    shard.close()


def _has_holes(folder: Path) -> bool:
    """Of a shard: its log is prepared in full size."""
    log = max((folder / "wal").iterdir(), key=lambda path: path.stat().st_size)
    with log.open("rb") as file, suppress(OSError):
        return os.lseek(file.fileno(), 0, os.SEEK_HOLE) < log.stat().st_size
    return False


def _copy_without_holes(source: str, target: str) -> None:
    with Path(source).open("rb") as read, Path(target).open("wb") as written:
        size = os.fstat(read.fileno()).st_size
        os.ftruncate(written.fileno(), size)
        end = 0
        while (start := _next_data(read.fileno(), end)) is not None:
            end = os.lseek(read.fileno(), start, os.SEEK_HOLE)
            read.seek(start)
            written.seek(start)
            written.write(read.read(end - start))


def _next_data(descriptor: int, position: int) -> int | None:
    """Where bytes are from a position on; None where nothing but a hole follows."""
    try:
        return os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise
