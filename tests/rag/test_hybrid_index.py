"""Hybrid candidates, passages and points by their ids: what both index adapters answer alike."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from rag.index import Candidate, Filter, Point, Vector, VectorIndex
from rag.qdrant_edge_index import EdgeIndex
from tests.rag.conftest import DIMENSION, server_index

TENANT = str(UUID(int=1))
OTHER_TENANT = str(UUID(int=2))
ALL = Filter()
WORDS = ("тариф", "возврат", "доставка", "договор", "refund", "delivery", "contract", "price")


def uid(number: int) -> str:
    return str(UUID(int=1000 + number))


def passages(count: int, seed: int = 5) -> list[Point]:
    """Of few words and directions, so that they differ in both; every fourth is a call, which has no space."""
    rng = np.random.default_rng(seed)
    points = []
    for number in range(count):
        text = " ".join(rng.choice(WORDS, size=int(rng.integers(2, 12))))
        rows = rng.standard_normal((int(rng.integers(1, 4)), DIMENSION)).astype(np.float32)
        where = {"kind": "document", "space_id": f"s{number % 3}", "document_id": f"d{number % 5}"}
        call = {"kind": "communication", "communication_id": f"c{number}"}
        points.append(Point(uid(number), rows, text, {**(where if number % 4 else call)}))
    return points


def direction(seed: int) -> Vector:
    found: Vector = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return found


@pytest.fixture(scope="module")
def library(shared_index: VectorIndex) -> VectorIndex:
    """Not to be changed."""
    shared_index.upsert(TENANT, passages(60))
    return shared_index


@pytest.fixture
def filled(index: VectorIndex) -> VectorIndex:
    index.upsert(TENANT, passages(12))
    return index


def by_id(found: list[Candidate]) -> dict[str, Candidate]:
    assert len({each.id for each in found}) == len(found)
    return {each.id: each for each in found}


@pytest.mark.parametrize("wanted", [ALL, Filter(kinds=("document",), space_ids=("s1",)), Filter(space_ids=("s2",))])
def test_candidates_are_the_best_by_meaning_and_the_best_by_words_with_both_scores(
    library: VectorIndex, wanted: Filter
) -> None:
    vector, query = direction(1), "возврат refund"
    found = by_id(library.search_hybrid(TENANT, vector, query, wanted, 5).found)
    meaning = {hit.id: hit.score for hit in library.search_dense(TENANT, vector, wanted, 60)}
    words = {hit.id: hit.score for hit in library.search_text(TENANT, query, wanted, 60)}
    assert found.keys() == set(list(meaning)[:5]) | set(list(words)[:5])
    for each in found.values():
        assert each.dense == pytest.approx(meaning[each.id], abs=1e-5)
        assert each.bm25 == pytest.approx(words.get(each.id, 0.0), rel=1e-5)


def test_candidates_tell_the_idf_of_the_querys_terms_and_the_number_of_points(library: VectorIndex) -> None:
    found = library.search_hybrid(TENANT, direction(1), "возвраты и нигде", ALL, 5)
    assert found.idf == pytest.approx(library.term_idf(TENANT, ["возврат", "нигд"]))
    assert found.points == 60


def test_deleted_points_are_counted_no_more(filled: VectorIndex) -> None:
    filled.delete_points(TENANT, [uid(1), uid(2)])
    assert filled.search_hybrid(TENANT, direction(1), "тариф", ALL, 5).points == 10


def test_without_a_vector_words_alone_decide_and_without_words_meaning_alone(library: VectorIndex) -> None:
    words = library.search_hybrid(TENANT, None, "delivery", ALL, 5).found
    assert sorted(each.id for each in words) == sorted(
        hit.id for hit in library.search_text(TENANT, "delivery", ALL, 5)
    )
    assert all(each.dense is None for each in words)
    meaning = library.search_hybrid(TENANT, direction(2), "и что это", ALL, 5).found
    assert [each.bm25 for each in meaning] == [0.0] * 5


@pytest.mark.parametrize("wanted", [Filter(kinds=()), Filter(point_ids=()), Filter(kinds=("document",), space_ids=())])
def test_a_filter_that_nothing_can_match_finds_nothing(library: VectorIndex, wanted: Filter) -> None:
    assert library.search_hybrid(TENANT, direction(1), "delivery", wanted, 5).found == []


def test_a_tenant_without_points_has_no_candidates_and_no_passages(library: VectorIndex) -> None:
    found = library.search_hybrid(OTHER_TENANT, direction(1), "delivery", ALL, 5)
    assert (found.found, found.points) == ([], 0)
    assert library.passages(OTHER_TENANT, [uid(1)]) == {}
    assert library.ids_of(OTHER_TENANT, document_id="d1") == set()


def test_a_query_vector_of_another_dimension_is_refused(library: VectorIndex) -> None:
    with pytest.raises(ValueError, match="4 numbers"):
        library.search_hybrid(TENANT, np.ones(2, dtype=np.float32), "delivery", ALL, 5)


def test_a_passage_found_by_words_that_has_no_vector_has_no_cosine(filled: VectorIndex) -> None:
    filled.upsert(TENANT, [Point(uid(50), None, "единственное")])
    found = by_id(filled.search_hybrid(TENANT, direction(1), "единственное", ALL, 3).found)
    assert found[uid(50)].dense is None
    assert found[uid(50)].bm25 > 0


def test_passages_are_given_as_they_were_stored_and_unknown_ids_left_out(library: VectorIndex) -> None:
    there = passages(60)[7]
    found = library.passages(TENANT, [there.id, uid(999)])
    assert found.keys() == {there.id}
    assert found[there.id].text == there.text
    assert found[there.id].payload == there.payload
    assert library.passages(TENANT, []) == {}


def test_points_are_deleted_by_their_ids_for_their_tenant_alone(filled: VectorIndex) -> None:
    filled.upsert(OTHER_TENANT, passages(3))
    filled.delete_points(TENANT, [uid(1), uid(2), uid(999)])
    filled.delete_points(TENANT, [])
    assert (filled.count(TENANT), filled.count(OTHER_TENANT)) == (10, 3)
    assert filled.passages(TENANT, [uid(1), uid(2), uid(3)]).keys() == {uid(3)}


def test_ids_are_listed_by_what_they_belong_to_however_many(filled: VectorIndex) -> None:
    many = [Point(uid(100 + number), None, "слово", {"document_id": "long"}) for number in range(1500)]
    filled.upsert(TENANT, many)
    assert filled.ids_of(TENANT, document_id="long") == {point.id for point in many}
    assert filled.ids_of(TENANT, communication_id="c4") == {uid(4)}
    assert filled.ids_of(TENANT, document_id="nowhere") == set()
    with pytest.raises(ValueError, match="give one of"):
        filled.ids_of(TENANT)


def test_an_index_is_complete_once_that_was_said(index: VectorIndex) -> None:
    assert not index.is_complete()
    index.mark_complete()
    index.mark_complete()
    assert index.is_complete()


def test_both_adapters_find_the_same_candidates_with_the_same_scores(tmp_path: Path) -> None:
    adapters: list[VectorIndex] = [EdgeIndex(tmp_path / "index", DIMENSION), server_index()]
    wanted = [ALL, Filter(kinds=("document",)), Filter(space_ids=("s0", "s1")), Filter(kinds=("document", "memory"))]
    for adapter in adapters:
        adapter.upsert(TENANT, passages(80))
        adapter.delete(TENANT, document_id="d3")
    rng = np.random.default_rng(8)
    for number in range(20):
        query = " ".join(rng.choice(WORDS, size=3))
        one, other = (
            adapter.search_hybrid(TENANT, direction(100 + number), query, wanted[number % 4], 100)
            for adapter in adapters
        )
        assert one.points == other.points
        assert one.idf == pytest.approx(other.idf, rel=1e-5)
        left, right = by_id(one.found), by_id(other.found)
        assert left.keys() == right.keys()
        for point_id, candidate in left.items():
            assert candidate.dense == pytest.approx(right[point_id].dense, abs=1e-5)
            assert candidate.bm25 == pytest.approx(right[point_id].bm25, rel=1e-5)
    for adapter in adapters:
        adapter.close()
