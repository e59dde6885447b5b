"""One contract, two adapters: the embedded index and a Qdrant server answer the same."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest

from rag.index import Filter, IndexMismatch, Point, Value, Vector, VectorIndex
from rag.qdrant_edge_index import EdgeIndex
from rag.qdrant_server_index import ServerIndex
from tests.rag.conftest import DIMENSION, server_index

TENANT = str(UUID(int=1))
OTHER_TENANT = str(UUID(int=2))
ALL = Filter()


def uid(number: int) -> str:
    return str(UUID(int=1000 + number))


def vector(*numbers: float) -> Vector:
    return np.array(numbers, dtype=np.float32)


def point(number: int, text: str, numbers: tuple[float, ...] = (1, 0, 0, 0), **payload: Value) -> Point:
    return Point(uid(number), vector(*numbers), text, dict(payload))


LIBRARY = [
    point(
        1, "Возврат товара возможен в течение 14 дней.", (1, 0, 0, 0), kind="document", space_id="a", document_id="d1"
    ),
    point(2, "Договор продлевается автоматически.", (0.8, 0.6, 0, 0), kind="document", space_id="b", document_id="d2"),
    point(3, "Delivery takes three days.", (0, 1, 0, 0), kind="document", space_id="a", document_id="d3"),
    point(
        4,
        "АННА: вернём деньги за товар завтра",
        (0.6, 0, 0.8, 0),
        kind="communication",
        communication_id="c1",
        communication_kind="call",
        channel_type="phone",
        direction="inbound",
        occured_at_s=1_700_000_000,
    ),
    point(
        5,
        "JOHN: deliveries were late",
        (0, 0, 1, 0),
        kind="communication",
        communication_id="c2",
        communication_kind="chat",
        channel_type="widget",
        direction="outbound",
        occured_at_s=1_700_100_000,
    ),
]


@pytest.fixture(scope="module")
def library(shared_index: VectorIndex) -> VectorIndex:
    """Not to be changed."""
    shared_index.upsert(TENANT, LIBRARY)
    return shared_index


@pytest.fixture
def filled(index: VectorIndex) -> VectorIndex:
    index.upsert(TENANT, LIBRARY)
    return index


def numbers(hits: list[str]) -> list[int]:
    return [UUID(found).int - 1000 for found in hits]


def dense(index: VectorIndex, query: Vector, wanted: Filter = ALL, limit: int = 10, tenant: str = TENANT) -> list[int]:
    return numbers([hit.id for hit in index.search_dense(tenant, query, wanted, limit)])


def words(index: VectorIndex, query: str, wanted: Filter = ALL, limit: int = 10, tenant: str = TENANT) -> list[int]:
    return numbers([hit.id for hit in index.search_text(tenant, query, wanted, limit)])


def test_dense_search_orders_by_cosine_and_returns_what_was_stored(library: VectorIndex) -> None:
    hits = library.search_dense(TENANT, vector(2, 0, 0, 0), ALL, 3)
    assert numbers([hit.id for hit in hits]) == [1, 2, 4]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.8, 0.6], abs=1e-6)
    assert hits[0].text == LIBRARY[0].text
    assert hits[0].payload == {"kind": "document", "space_id": "a", "document_id": "d1"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("возвратов товаров", [1, 4]),  # two of the words in the first, one in the second
        ("договоры", [2]),
        ("deliveries", [5, 3]),  # the shorter passage first
        ("ДЕНЬГАМИ", [4]),
        ("что и как", []),  # stop words alone
        ("бетономешалка", []),
        ("", []),
    ],
)
def test_text_search_matches_stems_in_russian_and_english(
    library: VectorIndex, query: str, expected: list[int]
) -> None:
    assert words(library, query) == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(kind="document"), [1, 2, 3]),
        (Filter(kind="communication"), [4, 5]),
        (Filter(space_ids=("a",)), [1, 3]),
        (Filter(space_ids=("a", "b")), [1, 2, 3]),
        (Filter(space_ids=()), []),
        (Filter(space_ids=("nowhere",)), []),
        (Filter(communication_kind="call"), [4]),
        (Filter(channel_type="widget"), [5]),
        (Filter(direction="inbound"), [4]),
        (Filter(from_s=1_700_000_000), [4, 5]),
        (Filter(from_s=1_700_000_001), [5]),
        (Filter(to_s=1_700_000_000), [4]),
        (Filter(from_s=1_700_000_001, to_s=1_700_099_999), []),
        (Filter(kind="document", from_s=0), []),
        (Filter(document_id="d2"), [2]),
        (Filter(communication_id="c2"), [5]),
        (Filter(space_ids=("a",), document_id="d2"), []),
        (Filter(point_ids=(uid(2), uid(5), uid(99))), [2, 5]),
        (Filter(point_ids=()), []),
    ],
)
def test_filters_hold_in_dense_and_text_search(library: VectorIndex, wanted: Filter, expected: list[int]) -> None:
    every_word = "возврат договор delivery деньги late"
    assert sorted(dense(library, vector(1, 1, 1, 1), wanted)) == expected
    assert sorted(words(library, every_word, wanted)) == expected


def test_limit_bounds_the_list(library: VectorIndex) -> None:
    assert dense(library, vector(1, 0, 0, 0), limit=1) == [1]
    assert dense(library, vector(1, 0, 0, 0), limit=0) == []


def test_the_closest_of_several_vectors_of_a_passage_counts(index: VectorIndex) -> None:
    several = np.array([[0, 0.6, 0.8, 0], [1, 0, 0, 0]], dtype=np.float32)
    index.upsert(TENANT, [Point(uid(1), several, "many parts"), point(2, "one part", (0.9, 0.1, 0, 0))])
    hits = index.search_dense(TENANT, vector(1, 0, 0, 0), ALL, 10)
    assert numbers([hit.id for hit in hits]) == [1, 2]
    assert hits[0].score == pytest.approx(1.0)


def test_a_point_without_a_vector_is_found_by_its_words(index: VectorIndex) -> None:
    index.upsert(TENANT, [Point(uid(1), None, "тариф на доставку")])
    assert words(index, "тарифы") == [1]
    assert dense(index, vector(1, 0, 0, 0)) == []


def test_the_title_is_searched_for_words_too(index: VectorIndex) -> None:
    index.upsert(TENANT, [point(1, "Срок составляет 14 дней.", title="Возврат товара")])
    assert words(index, "возврат") == [1]


def test_upsert_of_a_known_id_replaces_text_vector_and_payload(filled: VectorIndex) -> None:
    filled.upsert(TENANT, [point(1, "Совсем другие слова", (0, 0, 0, 1), kind="document", document_id="d9")])
    filled.upsert(TENANT, [point(1, "Совсем другие слова", (0, 0, 0, 1), kind="document", document_id="d9")])
    assert filled.count(TENANT) == 5
    assert words(filled, "возврат") == []
    assert words(filled, "слово") == [1]
    assert dense(filled, vector(0, 0, 0, 1), limit=1) == [1]
    assert dense(filled, vector(1, 1, 1, 1), Filter(document_id="d1")) == []


def test_deleting_a_document_or_a_communication_leaves_the_others(filled: VectorIndex) -> None:
    filled.delete(TENANT, document_id="d1")
    filled.delete(TENANT, communication_id="c2")
    filled.delete(TENANT, document_id="unknown")
    assert sorted(dense(filled, vector(1, 1, 1, 1))) == [2, 3, 4]
    assert words(filled, "возврат delivery") == [3]


@pytest.mark.parametrize("named", [{}, {"document_id": "d1", "communication_id": "c1"}])
def test_a_deletion_must_name_exactly_one_thing(library: VectorIndex, named: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="either"):
        library.delete(TENANT, **named)
    assert library.count(TENANT) == 5


def test_tenants_see_and_touch_only_their_own_points_even_with_equal_ids(filled: VectorIndex) -> None:
    assert dense(filled, vector(1, 0, 0, 0), tenant=OTHER_TENANT) == []
    filled.upsert(OTHER_TENANT, [point(1, "чужой возврат", (1, 0, 0, 0), document_id="d1")])
    assert [hit.text for hit in filled.search_text(OTHER_TENANT, "возврат", ALL, 10)] == ["чужой возврат"]
    assert [hit.text for hit in filled.search_text(TENANT, "возврат", ALL, 10)] == [LIBRARY[0].text]
    filled.delete(OTHER_TENANT, document_id="d1")
    assert (filled.count(TENANT), filled.count(OTHER_TENANT)) == (5, 0)


def test_a_deleted_tenant_is_gone_and_may_begin_anew(filled: VectorIndex) -> None:
    filled.upsert(OTHER_TENANT, [point(1, "остаётся")])
    filled.delete_tenant(TENANT)
    filled.delete_tenant(TENANT)
    assert (filled.count(TENANT), filled.count(OTHER_TENANT)) == (0, 1)
    filled.upsert(TENANT, [point(7, "новое начало")])
    assert words(filled, "начало") == [7]


def test_idf_counts_the_tenants_living_points_alone(filled: VectorIndex) -> None:
    filled.upsert(OTHER_TENANT, [point(number, "возврат возврат") for number in range(20)])
    filled.upsert(TENANT, [point(6, "возврат", document_id="d6")])
    filled.delete(TENANT, document_id="d6")
    idf = filled.term_idf(TENANT, ["возврат", "deliveri", "нигд"])
    # ln(1 + (n - df + .5) / (df + .5)) with n = 5
    assert idf == pytest.approx({"возврат": np.log(4), "deliveri": np.log(2.4), "нигд": np.log(12)}, rel=1e-5)
    assert filled.term_idf(TENANT, []) == {}


def test_both_adapters_give_the_same_bm25_scores(tmp_path: Path) -> None:
    adapters: list[VectorIndex] = [EdgeIndex(tmp_path / "index", DIMENSION), server_index()]
    lists = []
    for adapter in adapters:
        adapter.upsert(TENANT, LIBRARY)
        adapter.delete(TENANT, document_id="d2")
        lists.append([(hit.id, hit.score) for hit in adapter.search_text(TENANT, "возврат товара delivery", ALL, 10)])
        adapter.close()
    assert [found for found, _ in lists[0]] == [found for found, _ in lists[1]]
    assert [score for _, score in lists[0]] == pytest.approx([score for _, score in lists[1]], rel=1e-5)


@pytest.mark.parametrize("tenant", ["", "..", "../other", "a/b", "tenant", "\0"])
def test_a_tenant_id_that_is_no_uuid_is_refused(library: VectorIndex, tenant: str) -> None:
    with pytest.raises(ValueError, match="UUID"):
        library.upsert(tenant, [point(1, "text")])
    with pytest.raises(ValueError, match="UUID"):
        library.search_text(tenant, "text", ALL, 10)
    with pytest.raises(ValueError, match="UUID"):
        library.delete_tenant(tenant)


@pytest.mark.parametrize(
    "bad",
    [
        Point(uid(1), vector(1, 0), "short vector"),
        Point(uid(1), np.empty((0, DIMENSION), dtype=np.float32), "no vector"),
        Point(uid(1), vector(1, 0, 0, float("nan")), "not a number"),
        Point("not a uuid", vector(1, 0, 0, 0), "id"),
        Point(uid(1), None, "own field", {"tenant_id": OTHER_TENANT}),
        Point(uid(1), None, "own field", {"text": "other"}),
    ],
)
def test_a_bad_point_is_refused_and_nothing_of_its_batch_is_stored(library: VectorIndex, bad: Point) -> None:
    with pytest.raises(ValueError, match=r"vector|UUID|own"):
        library.upsert(OTHER_TENANT, [point(2, "good"), bad])
    assert library.count(OTHER_TENANT) == 0


def test_a_query_vector_of_another_dimension_is_refused(library: VectorIndex) -> None:
    with pytest.raises(ValueError, match="4 numbers"):
        library.search_dense(TENANT, vector(1, 0), ALL, 10)


def test_a_large_upsert_is_stored_whole(index: VectorIndex) -> None:
    index.upsert(TENANT, [Point(str(uuid4()), vector(1, 0, 0, 0), f"passage {n}") for n in range(600)])
    index.upsert(TENANT, [])
    assert index.count(TENANT) == 600


def test_the_index_says_that_it_is_ready_and_what_it_holds(library: VectorIndex) -> None:
    assert library.ready()
    counts = library.counts()
    assert (counts.tenants, counts.open_shards) == (1, 1) or counts.points == 5


def test_a_collection_made_for_another_model_is_refused() -> None:
    made = server_index()
    with pytest.raises(IndexMismatch, match="dimension"):
        ServerIndex(made._client, DIMENSION + 1)
    with pytest.raises(IndexMismatch, match="another"):
        ServerIndex(made._client, DIMENSION, model="another")
    made.close()
