"""Copies of an empty shard are shards of their own."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
import qdrant_edge as edge

from rag import empty_shards
from rag.empty_shards import EmptyShards
from rag.index import INTEGER_FIELDS, KEYWORD_FIELDS
from rag.qdrant_edge_index import EdgeIndex
from store.ids import new_id
from tests.rag.conftest import DIMENSION
from tests.rag.test_index_fields import TALKS

FIELDS = {*KEYWORD_FIELDS, *INTEGER_FIELDS}


def space_taken(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def contents(folder: Path) -> dict[Path, bytes]:
    """A digest of each file's bytes, holes as zeros."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder): hashlib.sha256(path.read_bytes()).digest() for path in files}


@pytest.mark.parametrize("holes", [True, False], ids=["files with holes", "a file system without them"])
def test_every_one_has_the_indexes_and_takes_as_little_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holes: bool
) -> None:
    if not holes:
        monkeypatch.setattr(empty_shards, "_has_holes", lambda _: False)
    empty = EmptyShards(tmp_path, DIMENSION)
    for name in ("first", "second"):
        empty.put(tmp_path / name)
        assert space_taken(tmp_path / name) < 2_000_000
        shard = edge.EdgeShard.load(str(tmp_path / name))
        assert set(shard.info().payload_schema) == FIELDS
        assert shard.info().points_count == 0
        shard.close()
    empty.close()
    assert {path.name for path in tmp_path.iterdir()} == {"first", "second"}


def test_what_is_copied_holds_the_same_bytes(tmp_path: Path) -> None:
    empty_shards._create(tmp_path / "pattern", DIMENSION)
    shutil.copytree(tmp_path / "pattern", tmp_path / "copy", copy_function=empty_shards._copy_without_holes)
    held, copied = contents(tmp_path / "pattern"), contents(tmp_path / "copy")
    assert held
    assert copied == held


def test_what_one_tenant_has_no_other_has(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, DIMENSION)
    first, second, third = (new_id() for _ in range(3))
    index.upsert(first, TALKS)
    index.upsert(second, TALKS[:1])
    assert [index.count(tenant) for tenant in (first, second, third)] == [len(TALKS), 1, 0]
    index.close()
    again = EdgeIndex(tmp_path, DIMENSION)
    assert [again.count(tenant) for tenant in (first, second, third)] == [len(TALKS), 1, 0]
    again.close()
