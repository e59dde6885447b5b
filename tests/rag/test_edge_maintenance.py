"""Tidying the embedded index: a copy is improved elsewhere and takes the shard's place, and nothing is lost."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid4

import numpy as np
import pytest

from ingest.children import ChildPool
from rag import edge_maintenance, edge_shards
from rag.edge_maintenance import state_of
from rag.index import Candidates, Filter, Point, ShardDamaged
from rag.qdrant_edge_index import EdgeIndex

TENANT = str(UUID(int=1))
ROOT = Path(__file__).parents[2]
POINTS = 200
Result = TypeVar("Result")


class Meanwhile:
    """A pool that does something of the test's, and then the work, in this process."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self.works = 0

    def run(self, function: Callable[..., Result], *args: object) -> Result:
        self._act()
        result = function(*args)
        self.works += 1
        return result


def passage(number: int, text: str = "") -> Point:
    vectors = np.random.default_rng(number).standard_normal((2, 4)).astype(np.float32)
    return Point(str(UUID(int=number + 1)), vectors, text or f"word{number}", {"document_id": f"d{number % 10}"})


def ids(index: EdgeIndex) -> set[int]:
    return {UUID(each).int - 1 for number in range(10) for each in index.ids_of(TENANT, document_id=f"d{number}")}


def _cosines(found: Candidates) -> dict[str, float | None]:
    return {each.id: each.dense for each in found.found}


def left_in(index: EdgeIndex) -> list[str]:
    """What stands in its folder, but for the empty shard that others are copied from."""
    names = sorted(entry.name for entry in index._shards.folder.iterdir())
    return [name for name in names if not name.startswith(".empty-")]


def garbage(index: EdgeIndex) -> int:
    with index._shards.reading(TENANT) as shard:
        assert shard is not None
        return state_of(shard, index._shards.folder / TENANT).garbage


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_maintenance, "GARBAGE_FROM_POINTS", 20)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[EdgeIndex]:
    """With so much garbage that tidying is due: the documents d0 to d4 are deleted."""
    made = EdgeIndex(tmp_path / "index", 4)
    made.upsert(TENANT, [passage(number) for number in range(POINTS)])
    for number in range(5):
        made.delete(TENANT, document_id=f"d{number}")
    yield made
    made.close()


KEPT = {number for number in range(POINTS) if number % 10 >= 5}


def test_a_child_process_throws_deleted_points_out_and_searches_find_the_same(index: EdgeIndex) -> None:
    query = np.ones(4, np.float32)
    before = index.search_hybrid(TENANT, query, "word77 word78", Filter(), 20)
    assert garbage(index) == POINTS // 2
    with ChildPool("maintenance", 1, 120) as pool:
        index.maintain(pool)
    assert garbage(index) == 0
    assert ids(index) == KEPT
    after = index.search_hybrid(TENANT, query, "word77 word78", Filter(), 20)
    assert after.points == before.points
    assert after.idf == pytest.approx(before.idf)
    assert _cosines(after) == pytest.approx(_cosines(before))
    assert left_in(index) == [TENANT, "index.json", "lock"]


def test_a_tidied_index_opens_again_and_takes_writes(index: EdgeIndex, tmp_path: Path) -> None:
    index.maintain()
    index.close()
    again = EdgeIndex(tmp_path / "index", 4)
    again.upsert(TENANT, [passage(5, "новые слова"), passage(POINTS)])
    again.delete(TENANT, document_id="d9")
    assert ids(again) == {number for number in KEPT if number % 10 != 9} | {POINTS}
    assert [UUID(hit.id).int - 1 for hit in again.search_text(TENANT, "слово", Filter(), 5)] == [5]
    again.close()


def test_what_is_written_meanwhile_is_there_afterwards_and_searches_see_it_at_once(index: EdgeIndex) -> None:
    def write() -> None:
        index.upsert(TENANT, [passage(1000), passage(6, "ersetzt")])
        index.delete(TENANT, document_id="d5")
        index.delete_points(TENANT, [str(UUID(int=8))])  # passage 7
        index.upsert(TENANT, [passage(15, "again")])
        assert len(index.search_text(TENANT, "ersetzt", Filter(), 5)) == 1

    pool = Meanwhile(write)
    index.maintain(pool)
    assert pool.works == 1
    assert ids(index) == {number for number in KEPT if number % 10 != 5} - {7} | {1000, 15}
    for word, number in (("ersetzt", 6), ("again", 15), ("word1000", 1000)):
        assert [UUID(hit.id).int - 1 for hit in index.search_text(TENANT, word, Filter(), 5)] == [number]
    assert index.search_text(TENANT, "word6", Filter(), 5) == []


def test_where_too_much_is_written_meanwhile_the_old_shard_stays_with_everything(
    index: EdgeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_shards, "MAX_JOURNALLED_POINTS", 50)
    pool = Meanwhile(lambda: index.upsert(TENANT, [passage(number) for number in range(1000, 1060)]))
    index.maintain(pool)
    assert (pool.works, garbage(index)) == (1, POINTS // 2)
    assert ids(index) == KEPT | set(range(1000, 1060))
    index.maintain(pool)  # not at once again
    assert pool.works == 1
    assert left_in(index) == [TENANT, "index.json", "lock"]


def test_a_tenant_deleted_meanwhile_does_not_come_back(index: EdgeIndex) -> None:
    index.maintain(Meanwhile(lambda: index.delete_tenant(TENANT)))
    assert index.count(TENANT) == 0
    index.upsert(TENANT, [passage(3)])
    assert ids(index) == {3}


def test_a_tenant_deleted_and_begun_anew_meanwhile_has_the_new_points_alone(index: EdgeIndex) -> None:
    def begin_anew() -> None:
        index.delete_tenant(TENANT)
        index.upsert(TENANT, [passage(3)])

    index.maintain(Meanwhile(begin_anew))
    assert ids(index) == {3}


def test_a_child_that_fails_leaves_all_as_it_was(index: EdgeIndex) -> None:
    def fail() -> None:
        raise RuntimeError("killed")

    index.maintain(Meanwhile(fail))
    assert (ids(index), garbage(index)) == (KEPT, POINTS // 2)
    assert left_in(index) == [TENANT, "index.json", "lock"]


def test_a_copy_that_lost_points_is_not_taken(index: EdgeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_maintenance, "improve", lambda *_args: 3)
    index.maintain()
    assert (ids(index), garbage(index)) == (KEPT, POINTS // 2)


def test_an_index_closed_meanwhile_keeps_everything(index: EdgeIndex, tmp_path: Path) -> None:
    index.maintain(Meanwhile(index.close))
    with pytest.raises(ShardDamaged, match="closed"):
        index.count(TENANT)
    again = EdgeIndex(tmp_path / "index", 4)
    assert ids(again) == KEPT
    again.close()


def test_nothing_is_done_without_need_or_room(index: EdgeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_maintenance, "_SPARE_BYTES", 1 << 60)
    pool = Meanwhile(lambda: None)
    index.maintain(pool)
    assert pool.works == 0
    other = str(UUID(int=2))
    index.upsert(other, [passage(number) for number in range(30)])
    index.delete(other, document_id="d1")
    index.maintain(pool)
    assert pool.works == 0


def test_a_large_account_gets_a_graph_once_and_searches_through_it_find_the_nearest(
    index: EdgeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_maintenance, "GRAPH_FROM_POINTS", 400)
    monkeypatch.setattr(edge_maintenance, "_GRAPH_FROM_KB", 1)
    tenant = str(UUID(int=2))
    points = [passage(number) for number in range(600)]
    index.upsert(tenant, points)
    pool = Meanwhile(lambda: None)
    index.maintain(pool)
    index.upsert(tenant, [passage(2_000)])
    index.maintain(pool)
    assert pool.works == 2  # one for each tenant
    assert list((index._shards.folder / tenant).rglob("graph.bin"))
    with index._shards.reading(tenant) as shard:
        assert shard is not None
        state = state_of(shard, index._shards.folder / tenant)
    assert (state.points, state.garbage, state.graphed, state.is_due) == (601, 0, 600, False)
    rows = np.array([point.vector for point in (*points, passage(2_000))])
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    right = 0
    for number in range(20):
        query = np.random.default_rng(5_000 + number).standard_normal(4).astype(np.float32)
        nearest = np.argsort(-(rows @ query).max(axis=1))[:10]
        hits = index.search_dense(tenant, query, Filter(), 10)
        right += len({UUID(hit.id).int - 1 for hit in hits} & {each if each < 600 else 2_000 for each in nearest})
    assert right >= 0.98 * 200


def test_searches_and_writes_of_many_threads_go_on_while_shards_are_replaced(index: EdgeIndex) -> None:
    stop = threading.Event()
    found: list[int] = []
    failures: list[Exception] = []

    def search() -> None:
        while not stop.is_set():
            try:
                found.append(len(index.search_text(TENANT, "word77", Filter(), 5)))
            except Exception as error:  # whatever it is, the test shows it
                failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        index.maintain(Meanwhile(lambda: index.upsert(TENANT, [passage(3000)])))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert set(found) == {1}
    assert ids(index) == KEPT | {3000}


def test_a_start_after_a_crash_between_the_renames_takes_the_new_shard(index: EdgeIndex, tmp_path: Path) -> None:
    index.close()
    folder = tmp_path / "index"
    (folder / TENANT).rename(folder / f".next-{TENANT}")
    (folder / f".deleted-{uuid4()}").mkdir()
    again = EdgeIndex(folder, 4)
    assert ids(again) == KEPT
    assert sorted(entry.name for entry in folder.iterdir()) == [TENANT, "index.json", "lock"]
    again.close()


def test_a_start_after_a_crash_before_the_renames_keeps_the_old_shard(index: EdgeIndex, tmp_path: Path) -> None:
    index.close()
    folder = tmp_path / "index"
    for leftover in (f".next-{TENANT}", f".work-{uuid4()}"):
        shutil.copytree(folder / TENANT, folder / leftover)
        (folder / leftover / "edge_config.json").write_text("{")
    again = EdgeIndex(folder, 4)
    assert ids(again) == KEPT
    assert sorted(entry.name for entry in folder.iterdir()) == [TENANT, "index.json", "lock"]
    again.close()


STAGES = ("copied", "improved", "next", "away", "in place")
CHILD = textwrap.dedent(
    """
    import json, os, signal, sys
    from pathlib import Path
    from rag import edge_maintenance
    from rag.qdrant_edge_index import EdgeIndex
    from tests.rag.test_edge_maintenance import POINTS, TENANT, passage

    folder, stage = Path(sys.argv[1]), sys.argv[2]
    edge_maintenance.GARBAGE_FROM_POINTS = 20

    def die(now):
        if now == stage:
            os.kill(os.getpid(), signal.SIGKILL)

    rename = Path.rename

    def watched(self, target):
        result = rename(self, target)
        name = Path(target).name
        die("next" if name.startswith(".next-") else "away" if name.startswith(".deleted-") else "in place")
        return result

    class Pool:
        def run(self, function, *args):
            die("copied")
            index.upsert(TENANT, [passage(1000)])
            index.delete(TENANT, document_id="d5")
            print("written", flush=True)
            result = function(*args)
            die("improved")
            return result

    index = EdgeIndex(folder, 4)
    index.upsert(TENANT, [passage(number) for number in range(POINTS)])
    for number in range(5):
        index.delete(TENANT, document_id=f"d{number}")
    Path.rename = watched
    index.maintain(Pool())
    """
)


@pytest.mark.parametrize("stage", STAGES)
def test_kill_9_at_any_stage_loses_nothing(tmp_path: Path, stage: str) -> None:
    folder = tmp_path / "index"
    done = subprocess.run([sys.executable, "-c", CHILD, str(folder), stage], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    again = EdgeIndex(folder, 4)
    written = stage != "copied"
    assert ids(again) == ({number for number in KEPT if number % 10 != 5} | {1000} if written else KEPT)
    assert garbage(again) == (20 if stage in ("away", "in place") else 120 if written else 100)
    assert sorted(entry.name for entry in folder.iterdir()) == [TENANT, "index.json", "lock"]
    again.maintain()
    assert len(ids(again)) == (81 if written else 100)
    again.close()


def test_a_copy_has_the_bytes_and_holes_of_the_files(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        file.write(b"begin")
        file.seek(1 << 20)
        file.write(b"middle")
        file.truncate(3 << 20)
    edge_maintenance._copy_file(str(source), str(target))
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_blocks <= source.stat().st_blocks
    (tmp_path / "empty").touch()
    edge_maintenance._copy_file(str(tmp_path / "empty"), str(target))
    assert target.read_bytes() == b""
