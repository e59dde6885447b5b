"""What is the embedded index's alone: its folder, its owner, the death of the process, many threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest

from rag import edge_shards
from rag.index import Filter, IndexLocked, IndexMismatch, Point, ShardDamaged
from rag.qdrant_edge_index import EdgeIndex
from store.errors import Unavailable

TENANT, OTHER = str(UUID(int=1)), str(UUID(int=2))
ROOT = Path(__file__).parents[2]
CHILD = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from uuid import UUID
    import numpy as np
    from rag.index import Point
    from rag.qdrant_edge_index import EdgeIndex

    index = EdgeIndex(Path(sys.argv[1]), 4)
    points = [Point(str(UUID(int=n)), np.ones(4, np.float32), f"word{n}", {"document_id": f"d{n}"}) for n in range(300)]
    index.upsert(str(UUID(int=1)), points)
    index.delete(str(UUID(int=1)), document_id="d7")
    print("returned", flush=True)
    sys.stdin.read()
    """
)


def passage(number: int) -> Point:
    return Point(str(UUID(int=number)), np.ones(4, np.float32), f"word{number}", {"document_id": f"d{number}"})


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has upserted 300 points, deleted one, and still owns `tmp_path`."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "returned\n"
        yield process
        process.kill()


def test_what_upsert_and_delete_did_survives_kill_9(tmp_path: Path, owner: subprocess.Popen[str]) -> None:
    os.kill(owner.pid, signal.SIGKILL)
    assert owner.wait() == -signal.SIGKILL
    index = EdgeIndex(tmp_path, 4)
    assert index.count(TENANT) == 299
    assert [hit.id for hit in index.search_text(TENANT, "word299", Filter(), 5)] == [str(UUID(int=299))]
    assert index.search_text(TENANT, "word7", Filter(), 5) == []
    index.upsert(TENANT, [passage(7)])
    assert index.count(TENANT) == 300
    index.close()


def test_a_second_process_is_told_who_owns_the_folder(tmp_path: Path, owner: subprocess.Popen[str]) -> None:
    with pytest.raises(IndexLocked, match=f"process {owner.pid}"):
        EdgeIndex(tmp_path, 4)


def test_a_second_index_in_the_same_process_is_refused_until_the_first_is_closed(tmp_path: Path) -> None:
    first = EdgeIndex(tmp_path, 4)
    with pytest.raises(IndexLocked, match="already open"):
        EdgeIndex(tmp_path, 4)
    first.close()
    EdgeIndex(tmp_path, 4).close()


def test_points_are_there_after_close_and_open(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 4)
    index.upsert(TENANT, [passage(1)])
    index.close()
    assert not index.ready()
    again = EdgeIndex(tmp_path, 4)
    assert again.count(TENANT) == 1
    again.close()


def test_on_a_disk_that_is_nearly_full_nothing_is_written_and_what_is_open_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that finds no room for its mapped files ends the process."""
    index = EdgeIndex(tmp_path, 4)
    index.upsert(TENANT, [passage(1)])
    monkeypatch.setattr(edge_shards, "ROOM_BYTES", 1 << 60)
    for write in (
        lambda: index.upsert(TENANT, [passage(2)]),
        lambda: index.upsert(OTHER, [passage(2)]),
        lambda: index.delete(TENANT, document_id="d1"),
    ):
        with pytest.raises(Unavailable, match="no room"):
            write()
    assert [hit.id for hit in index.search_text(TENANT, "word1", Filter(), 5)] == [passage(1).id]
    monkeypatch.undo()
    index.upsert(TENANT, [passage(2)])
    assert (index.count(TENANT), index.count(OTHER)) == (2, 0)
    index.close()
    again = EdgeIndex(tmp_path, 4)
    monkeypatch.setattr(edge_shards, "ROOM_BYTES", 1 << 60)
    with pytest.raises(Unavailable, match="no room"):
        again.count(TENANT)
    monkeypatch.undo()
    assert again.count(TENANT) == 2
    again.close()


def test_on_a_disk_that_is_nearly_full_what_cannot_be_opened_has_nothing_else_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not be opened again: each account that asks would take another's search from it."""
    index = EdgeIndex(tmp_path, 4, max_open=1)
    index.upsert(OTHER, [passage(2)])
    index.upsert(TENANT, [passage(1)])
    monkeypatch.setattr(edge_shards, "ROOM_BYTES", 1 << 60)
    with pytest.raises(Unavailable, match="no room"):
        index.count(OTHER)
    assert index.count(TENANT) == 1
    monkeypatch.undo()
    assert index.count(OTHER) == 1
    index.close()


def test_a_closed_index_refuses_calls(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 4)
    index.close()
    index.close()
    with pytest.raises(ShardDamaged, match="closed"):
        index.count(TENANT)


def test_an_index_made_for_another_dimension_or_model_is_refused_and_left_free(tmp_path: Path) -> None:
    EdgeIndex(tmp_path, 4, model="one").close()
    with pytest.raises(IndexMismatch, match="dimension"):
        EdgeIndex(tmp_path, 8, model="one")
    with pytest.raises(IndexMismatch, match="model"):
        EdgeIndex(tmp_path, 4, model="two")
    EdgeIndex(tmp_path, 4, model="one").close()


def test_a_damaged_shard_is_reported_and_leaves_other_tenants_alone(tmp_path: Path) -> None:
    other = str(UUID(int=2))
    index = EdgeIndex(tmp_path, 4)
    index.upsert(TENANT, [passage(1)])
    index.upsert(other, [passage(1)])
    index.close()
    (tmp_path / TENANT / "edge_config.json").write_text("{")
    again = EdgeIndex(tmp_path, 4)
    for _ in range(2):
        with pytest.raises(ShardDamaged) as caught:
            again.count(TENANT)
    assert str(tmp_path / TENANT) in caught.value.detail
    assert str(tmp_path) not in caught.value.message
    assert again.count(other) == 1
    again.delete_tenant(TENANT)
    assert again.count(TENANT) == 0
    again.close()


def test_remains_of_an_unfinished_creation_are_cleared(tmp_path: Path) -> None:
    (tmp_path / f".new-{uuid4()}" / "segments").mkdir(parents=True)
    (tmp_path / f".deleted-{uuid4()}").mkdir()
    index = EdgeIndex(tmp_path, 4)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["index.json", "lock"]
    index.close()


def test_reading_makes_no_shard_for_a_tenant_without_points(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 4)
    assert index.count(TENANT) == 0
    assert index.search_text(TENANT, "word", Filter(), 5) == []
    index.delete(TENANT, document_id="d1")
    assert index.counts().tenants == 0
    index.close()


def test_the_number_of_open_shards_is_bounded_and_all_stay_reachable(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 4, max_open=2)
    tenants = [str(UUID(int=number)) for number in range(4)]
    for tenant in tenants:
        index.upsert(tenant, [passage(1)])
    counts = index.counts()
    assert (counts.tenants, counts.open_shards) == (4, 2)
    assert [index.count(tenant) for tenant in tenants] == [1, 1, 1, 1]
    index.close()


def test_many_threads_write_search_and_delete_while_shards_come_and_go(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 4, max_open=1)
    tenants = [str(UUID(int=number)) for number in (1, 2)]

    def work(number: int) -> int:
        tenant = tenants[number % 2]
        index.upsert(tenant, [passage(number), passage(1000 + number)])
        index.delete(tenant, document_id=f"d{1000 + number}")
        return len(index.search_text(tenant, f"word{number}", Filter(), 5))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(12)))
    assert found == [1] * 12
    assert [index.count(tenant) for tenant in tenants] == [6, 6]
    index.close()
