"""An index goes to the other engine, or to another folder, and back: as it is, and without anything embedded again."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from rag import kept_points
from rag.edge_points import EdgePoints
from rag.embedding import EmbedderSpec
from rag.generation import Passage
from rag.index import Filter, Point, Vector
from rag.index_move import MovedIndex, NotMovable, is_same_place, move_index
from rag.index_places import ServerPlace, open_place
from rag.indexes import Indexes
from rag.kept_points import KeptIndex, KeptPoint, pages
from rag.search import Searcher
from rag.server_points import ServerPoints
from store.settings import Settings, load_settings
from tests.support.embedders import NEW, OLD, HashEmbedder, Models
from tests.support.qdrant import Qdrant, running_qdrant

TENANT, OTHER, EMPTY = (str(UUID(int=number)) for number in (1, 2, 3))
TENANTS = {TENANT, OTHER, EMPTY}
NAME = "new-model"
ANIMALS = ("сова", "лиса", "рысь", "выдра", "бобр", "норка", "ёж", "волк", "кабан", "лось")
ENGINES = ("folder", "server")
WAIT_S = 60.0


@pytest.fixture(scope="module")
def qdrant() -> Iterator[Qdrant]:
    with running_qdrant() as running:
        yield running


@pytest.fixture(autouse=True)
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes are open for a moment each: the client's own thread would ask a server that is gone for its version."""
    connect = ServerPlace._connect
    monkeypatch.setattr(ServerPlace, "_connect", lambda place, **_options: connect(place, check=False))


def settings_of(kind: str, folder: Path, qdrant: Qdrant) -> Settings:
    """Each of an installation of its own: what two of them call alike is not the same on the server."""
    return load_settings(
        data_dir=folder, qdrant_url=qdrant.url if kind == "server" else "", secret_key=f"of {folder}" * 8
    )


def passages(tenant_id: str) -> list[Passage]:
    return [
        Passage(
            str(UUID(int=1000 + number)),  # the same in both accounts
            word,
            {"kind": "document", "title": f"О них: {tenant_id[-1]}", "participants": [], "idx": number, "page": None},
        )
        for number, word in enumerate(ANIMALS)
    ]


def fill(settings: Settings, *, complete: bool = True) -> None:
    """With passages of one vector each, one of several, and one of none."""
    with closing(Indexes(open_place(settings), NEW, Models().load)) as indexes:
        for tenant_id in (TENANT, OTHER):
            indexes.put(tenant_id, passages(tenant_id))
        assert indexes.wanted is not None
        index = indexes.wanted.index
        rows = np.random.default_rng(1).normal(size=(3, 6)).astype(np.float32)
        several: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        index.upsert(TENANT, [Point(str(UUID(int=5)), several, "сова и лиса", {"kind": "document"})])
        index.upsert(TENANT, [Point(str(UUID(int=6)), None, "рысь одна", {"kind": "document"})])
        if complete:
            index.mark_complete()


def move(
    source: Settings, target: Settings, spec: EmbedderSpec | None = NEW, told: list[tuple[str, int]] | None = None
) -> MovedIndex:
    return move_index(source, target, spec, TENANTS, lambda what, count: (told or []).append((what, count)))


@contextmanager
def opened(settings: Settings) -> Iterator[KeptIndex]:
    place = open_place(settings)
    made_for = place.made_for(NAME)
    assert made_for is not None
    with closing(place.open_made(NAME, made_for)) as index:
        yield index


def kept(settings: Settings, tenant_id: str = TENANT) -> dict[str, KeptPoint]:
    with opened(settings) as index:
        return {point.id: point for page in pages(index.points, tenant_id) for point in page}


def answers(settings: Settings) -> list[list[tuple[str, float, float]]]:
    """What searches find, with their scores by meaning and by words."""
    found = []
    with closing(Indexes(open_place(settings), NEW, Models().load)) as indexes:
        searcher = Searcher(*indexes.serving)
        for tenant_id in sorted(TENANTS):
            for query in ("сова", "лиса рысь", "никто"):
                hits = searcher.search(tenant_id, query, Filter(), 20)
                found.append(sorted((hit.id, round(hit.dense or 0.0, 4), round(hit.bm25, 4)) for hit in hits))
    return found


def refill(settings: Settings) -> set[str]:
    """The ids of what a pass over all of it puts in. An embedding fails the test."""
    models = Models()

    def load(spec: EmbedderSpec) -> HashEmbedder:
        loaded = models.load(spec)
        assert isinstance(loaded, HashEmbedder)
        loaded.fails = True
        return loaded

    with closing(Indexes(open_place(settings), NEW, load)) as indexes:
        return {id_ for each in (TENANT, OTHER) for id_ in indexes.fill(NAME, each, passages(each))}


@pytest.mark.parametrize(("here", "there"), [("folder", "server"), ("server", "folder"), ("folder", "folder")])
def test_an_index_goes_and_comes_back_and_nothing_is_embedded_again(
    here: str, there: str, tmp_path: Path, qdrant: Qdrant
) -> None:
    source, target = settings_of(here, tmp_path / "here", qdrant), settings_of(there, tmp_path / "there", qdrant)
    back = settings_of(here, tmp_path / "back", qdrant)
    fill(source)
    before = answers(source)
    assert [bool(found) for found in before] == [True] * 6 + [False] * 3
    told: list[tuple[str, int]] = [("", 0)]
    for one, other in ((source, target), (target, back)):
        moved = move(one, other, told=told)
        (part,) = moved.parts
        assert (part.name, part.is_whole, part.target[0]) == ("index", True, 2 * len(ANIMALS) + 2)
        assert (moved.is_full, moved.unreadable) == (True, {})
        assert answers(other) == before
        assert refill(other) == set()
        with opened(other) as index:
            assert index.is_current()
            assert [index.count(each) for each in (TENANT, OTHER, EMPTY)] == [len(ANIMALS) + 2, len(ANIMALS), 0]
        # Nothing is written by another move, and nothing of the source is changed.
        with pytest.MonkeyPatch.context() as patch:
            refuse_writes(patch)
            assert move(one, other).parts == moved.parts
    assert told[1:] == [("index", 2 * len(ANIMALS) + 2)] * 2
    assert answers(source) == before
    first, last = kept(source), kept(back)
    assert all(last[id_].is_like(point) for id_, point in first.items())
    assert last[str(UUID(int=6))].vectors is None
    if "server" not in (here, there):
        assert all(last[id_].digest(TENANT) == point.digest(TENANT) for id_, point in first.items()), "bit for bit"


@pytest.mark.parametrize("there", ENGINES)
def test_an_account_that_was_deleted_since_goes_there_too(there: str, tmp_path: Path, qdrant: Qdrant) -> None:
    source, target = settings_of("folder", tmp_path / "here", qdrant), settings_of(there, tmp_path / "there", qdrant)
    fill(source)
    move(source, target)
    with opened(source) as index:
        index.delete_tenant(OTHER)
    for _ in range(2):
        moved = move_index(source, target, NEW, {TENANT}, lambda what, count: None, gone={OTHER, EMPTY})
        assert moved.is_full
        with opened(target) as index:
            assert [index.count(each) for each in (TENANT, OTHER)] == [len(ANIMALS) + 2, 0]


def refuse_writes(patch: pytest.MonkeyPatch) -> None:
    def put(_points: object, _tenant_id: str, points: Sequence[KeptPoint]) -> None:
        assert not points

    for each in (EdgePoints, ServerPoints):
        patch.setattr(each, "put", put)


def killed_move(source: Settings, target: Settings, puts: int) -> None:
    """For a child process: dies in the middle of writing, as by `kill -9`."""
    kept_points._PAGE = 4
    left = iter(range(puts))
    for kind in (EdgePoints, ServerPoints):

        def put(self: Any, tenant_id: str, points: Sequence[KeptPoint], whole: Any = kind.put) -> None:
            if points and next(left, None) is None:
                whole(self, tenant_id, points[:2])
                os.kill(os.getpid(), signal.SIGKILL)
            whole(self, tenant_id, points)

        setattr(kind, "put", put)  # noqa: B010
    move(source, target)


@pytest.mark.parametrize(("here", "there"), [("folder", "server"), ("server", "folder")])
def test_a_move_that_was_killed_goes_on_where_it_was(
    here: str, there: str, tmp_path: Path, qdrant: Qdrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = settings_of(here, tmp_path / "here", qdrant), settings_of(there, tmp_path / "there", qdrant)
    fill(source)
    for puts, there_then in ((1, 6), (0, 8)):
        child = multiprocessing.get_context("spawn").Process(target=killed_move, args=(source, target, puts))
        child.start()
        child.join(WAIT_S)
        assert child.exitcode == -signal.SIGKILL
        with opened(target) as index:
            assert (index.count(TENANT), index.is_complete()) == (there_then, False)
    put: list[str] = []
    for kind in (EdgePoints, ServerPoints):

        def counted(self: Any, tenant_id: str, points: Sequence[KeptPoint], whole: Any = kind.put) -> None:
            put.extend(point.id for point in points)
            whole(self, tenant_id, points)

        monkeypatch.setattr(kind, "put", counted)
    assert move(source, target).is_full
    assert len(put) == 2 * len(ANIMALS) + 2 - 8
    assert answers(target) == answers(source)


@pytest.mark.parametrize("there", ENGINES)
def test_what_the_target_has_otherwise_or_besides_is_as_in_the_source_afterwards(
    there: str, tmp_path: Path, qdrant: Qdrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_points, "_PAGE", 3)
    source, target = settings_of("folder", tmp_path / "here", qdrant), settings_of(there, tmp_path / "there", qdrant)
    fill(source)
    move(source, target)
    ids = [passage.id for passage in passages(TENANT)]
    with opened(target) as index:
        index.set_payload(TENANT, ids[:1], {"page": 7})
        index.delete_points(TENANT, ids[1:2])
        strange = np.eye(6, dtype=np.float32)
        index.upsert(OTHER, [Point(ids[2], strange[0], ANIMALS[2], dict(passages(OTHER)[2].payload))])
        index.upsert(EMPTY, [Point(id_, strange[1], "только там", {}) for id_ in ids])
    assert move(source, target).is_full
    assert answers(target) == answers(source)
    for tenant_id in TENANTS:
        ours, theirs = kept(source, tenant_id), kept(target, tenant_id)
        assert ours.keys() == theirs.keys()
        assert all(theirs[id_].is_like(point) for id_, point in ours.items())


@pytest.mark.parametrize("what", ["lost", "changed", "more"])
def test_what_was_not_written_as_it_is_is_seen_by_the_comparison(
    what: str, tmp_path: Path, qdrant: Qdrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = (settings_of("folder", tmp_path / name, qdrant) for name in ("here", "there"))
    fill(source)
    whole = EdgePoints.put

    def put(self: EdgePoints, tenant_id: str, points: Sequence[KeptPoint]) -> None:
        if tenant_id == OTHER:
            first, *rest = points
            assert first.vectors is not None
            strange = KeptPoint(first.id, first.text, first.payload, first.terms, -first.vectors)
            another = KeptPoint(str(UUID(int=9)), first.text, first.payload, first.terms, first.vectors)
            points = {"lost": rest, "changed": [strange, *rest], "more": [*points, another]}[what]
        whole(self, tenant_id, points)

    monkeypatch.setattr(EdgePoints, "put", put)
    if what == "more":
        monkeypatch.setattr("rag.index_move._delete_strays", lambda *_arguments: None)
    moved = move(source, target)
    assert [(part.name, part.is_whole) for part in moved.parts] == [("index", False), (f"index of {OTHER}", False)]
    assert not moved.is_full
    with opened(target) as index:
        assert not index.is_complete()


def test_one_that_is_not_full_is_moved_and_filled_further_there(tmp_path: Path, qdrant: Qdrant) -> None:
    source, target = settings_of("folder", tmp_path / "here", qdrant), settings_of("server", tmp_path / "there", qdrant)
    fill(source, complete=False)
    moved = move(source, target)
    assert all(part.is_whole for part in moved.parts)
    assert not moved.is_full
    with opened(target) as index:
        assert not index.is_complete()
    assert refill(target) == set()


def test_an_index_of_another_model_and_none_at_all_are_left_to_the_first_start(tmp_path: Path, qdrant: Qdrant) -> None:
    for here, there in (("folder", "server"), ("server", "folder")):
        source = settings_of(here, tmp_path / f"here {here}", qdrant)
        target = settings_of(there, tmp_path / f"there {there}", qdrant)
        with pytest.raises(NotMovable, match="none here yet"):
            move(source, target)
        fill(source)
        with pytest.raises(NotMovable, match=r"of another model \(new-model\) than old-model"):
            move(source, target, OLD)
        with pytest.raises(NotMovable, match=r"of another model \(new-model, 6 numbers\) than new-model"):
            move(source, target, EmbedderSpec("sentence-transformers", NAME, NAME, 7, in_process=False))
        assert open_place(target).names() == []
        # A model whose dimension only loading it would tell is known by its index.
        assert move(source, target, EmbedderSpec("sentence-transformers", NAME, NAME, None, in_process=False)).is_full
        noted = open_place(target).spec_of(NAME)
        assert noted is not None
        assert noted.dimension == 6


def test_a_damaged_shard_here_is_left_out_and_one_there_is_made_again(tmp_path: Path, qdrant: Qdrant) -> None:
    source, target = (settings_of("folder", tmp_path / name, qdrant) for name in ("here", "there"))
    fill(source)
    move(source, target)
    spoil(target, TENANT)
    moved = move(source, target)
    assert (moved.is_full, moved.unreadable) == (True, {})
    assert answers(target) == answers(source)

    spoil(source, OTHER)
    moved = move(source, target)
    assert moved.unreadable.keys() == {OTHER}
    assert "cannot be opened" in moved.unreadable[OTHER]
    assert moved.is_full
    with opened(target) as index:
        assert [index.count(each) for each in (TENANT, OTHER)] == [len(ANIMALS) + 2, 0]


def spoil(settings: Settings, tenant_id: str) -> None:
    for path in (settings.data_dir / "index" / NAME / "shards" / tenant_id).rglob("*"):
        if path.is_file():
            path.write_bytes(b"broken")


def test_a_server_s_index_in_place_of_another_leaves_the_embedded_one_beside_its_notes(
    tmp_path: Path, qdrant: Qdrant
) -> None:
    folder, server = (settings_of(kind, tmp_path, qdrant) for kind in ENGINES)
    other = EmbedderSpec("sentence-transformers", NAME, NAME, 4, in_process=False)
    open_place(server).open(NAME, other, 4).close()
    fill(folder)
    assert not is_same_place(folder, server)
    assert is_same_place(server, server)
    assert move(folder, server).is_full
    assert answers(server) == answers(folder)
    open_place(server).drop(NAME)
    assert open_place(server).names() == []
    assert json.loads((tmp_path / "index" / NAME / "shards" / "index.json").read_text())["dimension"] == 6
    assert len(kept(folder)) == len(ANIMALS) + 2
