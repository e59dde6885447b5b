"""What keeps the embedded index fast: deleted points thrown out, and a graph (HNSW) over the vectors of large accounts.

qdrant-edge holds the GIL while it does that, for minutes where a graph is built. So a child process does it on a copy
of the tenant's folder; what is written meanwhile goes into the old shard, is journalled, and is written into the copy
before that takes the old one's place. A journal in memory is enough: until then the old shard holds everything.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import qdrant_edge as edge
import structlog

from rag.edge_shards import EdgeShards, GaveUp
from rag.empty_shards import shard_config
from rag.index import Pool
from store.errors import Unavailable

log = structlog.get_logger(__name__)

GRAPH_FROM_POINTS = 20_000
"""Of about five vectors each: from there on a scan of all of them takes more than some 20 ms."""
GARBAGE_FROM_POINTS = 2_000
_GARBAGE_SHARE = 0.2
_SHARDS_A_CALL = 20
_AGAIN_S = 600.0
_SPARE_BYTES = 256 << 20
_NOTES = "maintained.json"
_GRAPH_FROM_KB = 10_000
_NEVER_KB = 1 << 40
_COPY_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class State:
    """What a shard holds. `garbage`: points that were deleted and still take room and time. `graphed`: points that the
    graph was built over."""

    points: int
    garbage: int
    graphed: int

    @property
    def wants_graph(self) -> bool:
        return self.points >= GRAPH_FROM_POINTS

    @property
    def is_due(self) -> bool:
        full_of_garbage = self.garbage >= GARBAGE_FROM_POINTS and self.garbage > _GARBAGE_SHARE * self.points
        return full_of_garbage or self.points + self.garbage - self.graphed >= GRAPH_FROM_POINTS


class EdgeMaintenance:
    """Of all shards of an index. One call at a time works; another returns at once."""

    def __init__(self, shards: EdgeShards, dimension: int) -> None:
        self._shards = shards
        self._dimension = dimension
        self._working = threading.Lock()
        self._not_before_s: dict[str, float] = {}

    def run(self, pool: Pool | None) -> None:
        """Without a pool in this process, which stands still meanwhile. Raises what the pool raises when closed."""
        if not self._working.acquire(blocking=False):
            return
        try:
            now_s = time.monotonic()
            waiting = [each for each in sorted(self._shards.written) if self._not_before_s.get(each, now_s) <= now_s]
            for tenant_id in waiting[:_SHARDS_A_CALL]:
                self._shards.written.discard(tenant_id)  # first: what is written from here on counts the next time
                self._not_before_s.pop(tenant_id, None)
                try:
                    self._look_after(tenant_id, pool)
                # Whatever failed, the shard is as it was.
                except Exception as error:
                    self._shards.written.add(tenant_id)
                    self._not_before_s[tenant_id] = time.monotonic() + _AGAIN_S
                    if self._shards.closed:
                        return
                    if isinstance(error, GaveUp | Unavailable):
                        log.info("the search index was not tidied now", tenant_id=tenant_id, reason=str(error))
                    else:
                        log.exception("the search index could not be tidied", tenant_id=tenant_id)
        finally:
            self._working.release()

    def _look_after(self, tenant_id: str, pool: Pool | None) -> None:
        with self._shards.reading(tenant_id) as shard:
            if shard is None:
                return
            state = state_of(shard, self._shards.folder / tenant_id)
        if not state.is_due:
            return
        started_s = time.monotonic()
        self._check_room(tenant_id)
        with self._shards.copied(tenant_id, _copy) as copy:
            arguments = (str(copy.folder), self._dimension, state.wants_graph, GARBAGE_FROM_POINTS)
            after = improve(*arguments) if pool is None else pool.run(improve, *arguments)
            if after != copy.points:
                raise GaveUp(f"the improved copy holds {after} points instead of {copy.points}")
            self._shards.replace(tenant_id, copy.folder)
        log.info(
            "the search index was tidied",
            tenant_id=tenant_id,
            points=state.points,
            garbage=state.garbage,
            graph=state.wants_graph,
            seconds=round(time.monotonic() - started_s, 1),
        )

    def _check_room(self, tenant_id: str) -> None:
        """For the copy, and for what is built in it before the old goes."""
        files = (self._shards.folder / tenant_id).rglob("*")
        taken = sum(each.stat().st_blocks * 512 for each in files if each.is_file())
        if shutil.disk_usage(self._shards.folder).free < 3 * taken + _SPARE_BYTES:
            raise GaveUp("the disk is too full")


def state_of(shard: edge.EdgeShard, folder: Path) -> State:
    # qdrant-edge does not tell how many it stores besides those that live; each has 8 bytes in these files.
    stored = sum(each.stat().st_size // 8 for each in folder.glob("segments/*/*id_tracker.versions"))
    points = shard.info().points_count
    return State(points, max(0, stored - points), _graphed(folder))


def improve(folder: str, dimension: int, graph: bool, garbage_from: int) -> int:
    """Rewrites a shard that nobody has open, and sees to it that it is on the disk. How many points it holds."""
    config = shard_config(
        dimension,
        hnsw_config=edge.HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=10_000),
        optimizers=edge.EdgeOptimizersConfig(
            deleted_threshold=_GARBAGE_SHARE / 2,
            vacuum_min_vector_number=garbage_from // 2,
            default_segment_number=1,
            indexing_threshold=_GRAPH_FROM_KB if graph else _NEVER_KB,
        ),
    )
    shard = edge.EdgeShard.load(folder, config)
    try:
        shard.optimize()
        shard.flush()
        info, points = shard.info(), shard.count(edge.CountRequest())
    finally:
        shard.close()
    graphed = max(0, info.indexed_vectors_count - info.points_count) if graph else 0
    (Path(folder) / _NOTES).write_text(json.dumps({"graphed": graphed}), encoding="ascii")
    for each in Path(folder).rglob("*"):
        with each.open("rb") if each.is_file() else nullcontext() as file:
            if file is not None:
                os.fsync(file.fileno())
    return points


def _graphed(folder: Path) -> int:
    """As of the last time."""
    try:
        return int(json.loads((folder / _NOTES).read_text(encoding="ascii"))["graphed"])
    except FileNotFoundError:
        return 0


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, copy_function=_copy_file)


def _copy_file(source: str, target: str) -> None:
    """Without the holes: qdrant-edge makes files of many MB for a few points."""
    with Path(source).open("rb") as reading, Path(target).open("wb") as writing:
        size, at = os.fstat(reading.fileno()).st_size, 0
        os.ftruncate(writing.fileno(), size)
        while at < size:
            try:
                at = os.lseek(reading.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # a hole until the end
                    return
                raise
            until = os.lseek(reading.fileno(), at, os.SEEK_HOLE)
            os.lseek(writing.fileno(), at, os.SEEK_SET)
            while at < until:
                at += os.sendfile(writing.fileno(), reading.fileno(), at, min(until - at, _COPY_BYTES))
