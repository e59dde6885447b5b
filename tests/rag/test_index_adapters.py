"""One contract, two adapters: the embedded index and a Qdrant server answer the same."""

from __future__ import annotations

import warnings
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
from qdrant_client import QdrantClient

from rag.index import Filter, IndexMismatch, Point, Stored, Subject, Value, Vector, VectorIndex
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
        (Filter(kinds=("document",)), [1, 2, 3]),
        (Filter(kinds=("communication",)), [4, 5]),
        (Filter(kinds=("document",), space_ids=("a",)), [1, 3]),
        (Filter(kinds=("document",), space_ids=("a", "b")), [1, 2, 3]),
        (Filter(kinds=("document",), space_ids=()), []),
        (Filter(kinds=("document",), space_ids=("nowhere",)), []),
        # What has no space is bounded by none.
        (Filter(space_ids=("a",)), [1, 3, 4, 5]),
        (Filter(space_ids=()), [4, 5]),
        (Filter(kinds=("document", "communication"), space_ids=("b",)), [2, 4, 5]),
        (Filter(kinds=("communication",), space_ids=("a",)), [4, 5]),
        (Filter(kinds=()), []),
        (Filter(communication_kind="call"), [4]),
        (Filter(channel_type="widget"), [5]),
        (Filter(direction="inbound"), [4]),
        (Filter(from_s=1_700_000_000), [4, 5]),
        (Filter(from_s=1_700_000_001), [5]),
        (Filter(to_s=1_700_000_000), [4]),
        (Filter(from_s=1_700_000_001, to_s=1_700_099_999), []),
        (Filter(kinds=("document",), from_s=0), []),
        (Filter(document_id="d2"), [2]),
        (Filter(without_document_ids=("d2", "d3")), [1, 4, 5]),
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


def test_whose_passages_a_server_holds_is_told_page_by_page(filled: VectorIndex) -> None:
    """Of all tenants; a speaker's memory too, and nothing of points that are nobody's."""
    fact = point(6, "Anna has a cat", (1, 0, 0, 0), kind="memory", speaker_id="s1")
    filled.upsert(OTHER_TENANT, [fact, point(7, "Nobody's", (1, 0, 0, 0))])
    found: set[Subject] = set()
    after: str | None = None
    for _ in range(10):
        page, after = filled.subjects(after, 3)
        found |= page
        if after is None:
            break
    if isinstance(filled, EdgeIndex):
        assert found == set()
        return
    documents = {Subject(TENANT, "document", id_) for id_ in ("d1", "d2", "d3")}
    communications = {Subject(TENANT, "communication", id_) for id_ in ("c1", "c2")}
    assert found == documents | communications | {Subject(OTHER_TENANT, "memory", "s1")}


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
    with pytest.raises(ValueError, match="give one of"):
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


def test_hybrid_candidates_have_both_scores_and_they_are_those_of_the_two_searches(library: VectorIndex) -> None:
    query, text, wanted = vector(1, 0.2, 0, 0), "возврат delivery", Filter(kinds=("document",))
    found = library.search_hybrid(TENANT, query, text, wanted, 2)
    cosines = {hit.id: hit.score for hit in library.search_dense(TENANT, query, wanted, 10)}
    bm25 = {hit.id: hit.score for hit in library.search_text(TENANT, text, wanted, 10)}
    assert sorted(numbers([each.id for each in found.found])) == [1, 2, 3]
    assert {each.id: each.dense for each in found.found} == pytest.approx(cosines, abs=1e-6)
    # 3 is not among the two nearest and 2 has none of the words: both still have both scores.
    assert {each.id: each.bm25 for each in found.found} == pytest.approx({uid(2): 0.0} | bm25, rel=1e-5)
    assert found.points == 5
    assert found.idf == pytest.approx(library.term_idf(TENANT, ["возврат", "deliveri"]))


@pytest.mark.parametrize(
    ("query", "text", "wanted", "expected"),
    [
        (None, "возврат", ALL, {1: (None, True)}),
        (vector(1, 0, 0, 0), "", Filter(document_id="d1"), {1: (1.0, False)}),
        (vector(1, 0, 0, 0), "что и как", Filter(document_id="d1"), {1: (1.0, False)}),
        (vector(1, 0, 0, 0), "бетономешалка", Filter(document_id="d1"), {1: (1.0, False)}),
        (None, "", ALL, {}),
        (vector(1, 0, 0, 0), "возврат", Filter(kinds=()), {}),
        # Spaces bound documents alone, in both halves of the search.
        (vector(0, 0, 1, 0), "деньги delivery", Filter(space_ids=()), {4: (0.8, True), 5: (1.0, True)}),
    ],
)
def test_hybrid_search_does_with_one_half_and_keeps_to_its_filter(
    library: VectorIndex,
    query: Vector | None,
    text: str,
    wanted: Filter,
    expected: dict[int, tuple[float | None, bool]],
) -> None:
    found = library.search_hybrid(TENANT, query, text, wanted, 10).found
    got = {numbers([each.id])[0]: (each.dense, each.bm25 > 0) for each in found}
    assert {number: has_words for number, (_, has_words) in got.items()} == {
        number: has_words for number, (_, has_words) in expected.items()
    }
    for number, (cosine, _) in expected.items():
        assert got[number][0] == (None if cosine is None else pytest.approx(cosine, abs=1e-6))


def test_hybrid_search_gives_a_point_without_a_vector_no_cosine(index: VectorIndex) -> None:
    index.upsert(TENANT, [Point(uid(1), None, "тариф"), point(2, "прочее")])
    found = {each.id: each for each in index.search_hybrid(TENANT, vector(1, 0, 0, 0), "тариф", ALL, 10).found}
    assert found[uid(1)].dense is None
    assert found[uid(1)].bm25 > 0
    assert found[uid(2)].dense == pytest.approx(1.0)
    assert found[uid(2)].bm25 == 0


def test_hybrid_search_of_a_tenant_without_points_finds_nothing(library: VectorIndex) -> None:
    found = library.search_hybrid(OTHER_TENANT, vector(1, 0, 0, 0), "возврат", ALL, 10)
    assert (found.found, found.points) == ([], 0)


def test_hybrid_search_refuses_a_vector_of_another_dimension(library: VectorIndex) -> None:
    with pytest.raises(ValueError, match="4 numbers"):
        library.search_hybrid(TENANT, vector(1, 0), "возврат", ALL, 10)


def test_ids_of_a_document_a_communication_or_a_speaker(filled: VectorIndex) -> None:
    filled.upsert(TENANT, [point(6, "ещё о возврате", document_id="d1"), point(7, "голос", speaker_id="s1")])
    filled.upsert(OTHER_TENANT, [point(8, "чужое", document_id="d1")])
    assert filled.ids_of(TENANT, document_id="d1") == {uid(1), uid(6)}
    assert filled.ids_of(TENANT, communication_id="c2") == {uid(5)}
    assert filled.ids_of(TENANT, speaker_id="s1") == {uid(7)}
    assert filled.ids_of(TENANT, document_id="unknown") == set()
    assert filled.ids_of(str(UUID(int=3)), document_id="d1") == set()
    with pytest.raises(ValueError, match="give one of"):
        filled.ids_of(TENANT)


def test_deleting_points_by_id_takes_those_that_are_there_of_that_tenant(filled: VectorIndex) -> None:
    filled.upsert(OTHER_TENANT, [point(1, "чужой возврат")])
    filled.delete_points(TENANT, {uid(1), uid(5), uid(99)})
    filled.delete_points(TENANT, [])
    filled.delete_points(str(UUID(int=3)), [uid(1)])
    assert (filled.count(TENANT), filled.count(OTHER_TENANT)) == (3, 1)
    assert sorted(dense(filled, vector(1, 1, 1, 1))) == [2, 3, 4]


def test_more_points_than_one_request_takes_are_listed_and_deleted(index: VectorIndex) -> None:
    points = [point(number, "слово", document_id="d1") for number in range(2_100)]
    index.upsert(TENANT, points)
    assert index.ids_of(TENANT, document_id="d1") == {each.id for each in points}
    index.delete_points(TENANT, [each.id for each in points[1:]])
    assert index.ids_of(TENANT, document_id="d1") == {points[0].id}


def test_passages_tells_text_and_payload_of_those_that_are_there(library: VectorIndex) -> None:
    found = library.passages(TENANT, [uid(4), uid(99), uid(1)])
    assert found == {
        number: Stored(each.text, each.payload) for number, each in ((uid(1), LIBRARY[0]), (uid(4), LIBRARY[3]))
    }
    assert library.passages(TENANT, []) == {}
    assert library.passages(OTHER_TENANT, [uid(1)]) == {}


def test_an_index_is_complete_once_marked_and_stays_so_when_opened_again(tmp_path: Path) -> None:
    client = QdrantClient(":memory:")

    def open_edge(model: str) -> VectorIndex:
        return EdgeIndex(tmp_path / model, DIMENSION, model=model)

    def open_server(model: str) -> VectorIndex:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Payload indexes have no effect")
            return ServerIndex(client, DIMENSION, collection=model, model=model)

    edge_index = open_edge("one")
    assert not edge_index.is_complete()
    edge_index.mark_complete()
    edge_index.mark_complete()
    edge_index.close()
    again = open_edge("one")
    assert again.is_complete()
    other = open_edge("two")
    assert not other.is_complete()
    again.close()
    other.close()

    server = open_server("one")
    assert not server.is_complete()
    server.mark_complete()
    assert open_server("one").is_complete()
    assert not open_server("two").is_complete()
    server.close()
