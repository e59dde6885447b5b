"""What is retrieved, over a real database and a real index: true, once, in order, with its neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest
import sqlalchemy as sa

from rag import retrieval
from rag.duplicates import Distinct
from rag.index import Filter, Point, Value
from rag.qdrant_edge_index import EdgeIndex
from rag.reranking import Reranker, RerankerSpec
from rag.retrieval import MOST_CHARACTERS, RERANKED, Retriever
from rag.search import Searcher
from store import accounts, kb_spaces, knowledge
from store.database import Database
from store.ids import new_id
from store.knowledge import StoredChunk
from store.migrate import migrate
from store.settings import load_settings

ALL = Filter()
DOCUMENTS = Filter(kinds=("document",))


class House:
    """A database and an index without an embedding model, with what the tests put in."""

    def __init__(self, folder: Path) -> None:
        settings = load_settings(_env_file=None, data_dir=folder, database_url="", qdrant_url="")
        self.database = Database(settings)
        migrate(self.database)
        self.index = EdgeIndex(folder / "shards", 8)
        self.retriever = Retriever(Searcher(self.index, None), self.database)

    def close(self) -> None:
        self.index.close()
        self.database.close()

    def new_tenant(self) -> str:
        with self.database.write() as connection:
            tenant = accounts.create_tenant(connection, name=new_id(), features=["kb"])
        assert tenant is not None
        return tenant.id

    def new_space(self, tenant_id: str) -> str:
        with self.database.write() as connection:
            return kb_spaces.create_space(tenant_id, connection, name="Space", description="").id

    def add_document(self, tenant_id: str, space_id: str, chunks: Sequence[str], overlap: int = 0) -> str:
        """A document whose chunks share `overlap` characters each, in the store and in the index."""
        document_id = new_id()
        rows, start = [], 0
        for idx, text in enumerate(chunks):
            id_ = str(uuid5(NAMESPACE_URL, f"{document_id} {idx}"))
            rows.append(StoredChunk(id_, idx, text, ["Heading"], idx + 1, start, start + len(text), None, None))
            start += len(text) - overlap if overlap else len(text) + 2
        with self.database.write() as connection:
            knowledge.add_document(
                tenant_id, connection, document_id=document_id, space_id=space_id, title="Title", file_name="a.txt",
                size_bytes=1, sha256=new_id(), blob_key=new_id(),
            )  # fmt: skip
            values = [
                {"tenant_id": tenant_id, "document_id": document_id, "run": 1}
                | {name: getattr(row, name) for name in StoredChunk.__dataclass_fields__}
                for row in rows
            ]
            connection.execute(sa.insert(knowledge.chunks), values)
            connection.execute(
                sa.update(knowledge.documents)
                .where(knowledge.documents.c.tenant_id == tenant_id, knowledge.documents.c.id == document_id)
                .values(version=1, status="success", chunk_count=len(rows))
            )
        self.index.upsert(tenant_id, [Point(row.id, None, row.text, _payload(document_id, space_id)) for row in rows])
        return document_id

    def texts(self, tenant_id: str, query: str, limit: int = 10, filter: Filter = ALL) -> list[str]:
        return [found.text for found in self.retriever.find(tenant_id, query, filter, limit)]


def _payload(document_id: str, space_id: str) -> dict[str, Value]:
    return {"kind": "document", "document_id": document_id, "space_id": space_id}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("house"))
    yield made
    made.close()


@pytest.fixture
def tenant_id(house: House) -> str:
    return house.new_tenant()


@pytest.fixture
def add(house: House, tenant_id: str) -> Callable[..., str]:
    space_id = house.new_space(tenant_id)

    def make(*chunks: str, overlap: int = 0) -> str:
        return house.add_document(tenant_id, space_id, chunks, overlap)

    return make


def numbered(count: int) -> list[str]:
    """Texts about apples, the earlier the more, that no two say the same."""
    return [f"apple {'apple ' * (count - n)} basket {n:03d} holds row {n * 7:04d}" for n in range(count)]


def test_text_title_and_page_come_from_the_store(house: House, tenant_id: str, add: Callable[..., str]) -> None:
    document_id = add("The kettle boils.", "The lamp glows.")
    (found,) = house.retriever.find(tenant_id, "lamp", ALL, 10)
    assert found.text == "The lamp glows."
    expected = {"document_id": document_id, "title": "Title › Heading", "page": 2, "idx": 1, "start_char": 19}
    assert expected.items() <= found.payload.items()


def test_a_point_that_the_store_does_not_know_is_not_found_and_another_takes_its_place(
    house: House, tenant_id: str, add: Callable[..., str]
) -> None:
    best = add(*numbered(30)[:12])
    other = add(*numbered(30)[12:])
    with house.database.write() as connection:
        knowledge.delete_document(tenant_id, connection, best)
    found = house.retriever.find(tenant_id, "apple", ALL, 10)
    assert [each.payload["document_id"] for each in found] == [other] * 10


def test_a_version_that_is_not_the_current_one_is_not_found(
    house: House, tenant_id: str, add: Callable[..., str]
) -> None:
    document_id = add("An apple of the next version.")
    with house.database.write() as connection:
        connection.execute(
            sa.update(knowledge.documents)
            .where(knowledge.documents.c.tenant_id == tenant_id, knowledge.documents.c.id == document_id)
            .values(version=0)
        )
    assert house.texts(tenant_id, "apple") == []


def test_a_large_document_on_its_way_in_or_out_hides_nothing(
    house: House, tenant_id: str, add: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "_DEPTHS", (10, 20))  # else it would take thousands of passages to show
    large = add(*numbered(60))
    small = add("Of one apple this basket tells.")
    with house.database.write() as connection:
        knowledge.delete_document(tenant_id, connection, large)
    (found,) = house.retriever.find(tenant_id, "apple basket", ALL, 5)
    assert found.payload["document_id"] == small


def test_conversations_and_memory_that_were_deleted_are_not_found(house: House, tenant_id: str) -> None:
    gone: list[dict[str, Value]] = [
        {"kind": "communication", "communication_id": new_id()},
        {"kind": "memory", "speaker_id": new_id()},
        {},
    ]
    house.index.upsert(tenant_id, [Point(new_id(), None, "an apple", payload) for payload in gone])
    assert house.texts(tenant_id, "apple") == []


class TestDuplicates:
    def test_the_same_text_in_two_documents_is_found_once_with_the_number_of_others(
        self, house: House, tenant_id: str, add: Callable[..., str]
    ) -> None:
        text = "Our couriers deliver within the city on working days, from morning until the evening."
        add(text)
        add(text.replace(", from", "  from"), "Nothing else is here.")
        add(text.upper().lower())
        (found,) = house.retriever.find(tenant_id, "couriers deliver", ALL, 10)
        assert found.duplicates == 2

    def test_what_is_left_out_makes_room(self, house: House, tenant_id: str, add: Callable[..., str]) -> None:
        for _ in range(5):
            add("apple apple apple pie with sugar and cream on top of it")
        add("an apple tree in the garden behind the house", "an apple fell")
        assert len(house.texts(tenant_id, "apple", 3)) == 3

    def test_another_tenants_copy_does_not_count(self, house: House, tenant_id: str, add: Callable[..., str]) -> None:
        text = "The lift is looked after on Mondays by two engineers."
        add(text)
        other = house.new_tenant()
        house.add_document(other, house.new_space(other), [text])
        (found,) = house.retriever.find(tenant_id, "lift", ALL, 10)
        assert found.duplicates == 0

    @pytest.mark.parametrize(
        ("one", "other", "same"),
        [
            ("{} costs 900 roubles", "{} costs 950 roubles", False),
            ("{} in Tula", "{} in Tver", False),
            ("{} and it opens early", "{} and it opens early", True),
            ("{}, and it opens early", "{} — and it opens EARLY".lower(), True),
            ("{} first", "{}", True),
            ("{}", "{} and then much more is said that was not said before at all by anybody", False),
        ],
    )
    def test_texts_of_one_pattern_that_differ_in_a_number_or_a_name_are_two(
        self, one: str, other: str, same: bool
    ) -> None:
        pattern = "a long text that is written over and over again with hardly a change in its words " * 2
        distinct = Distinct()
        assert distinct.find_original("one", one.format(pattern), "g") is None
        assert (distinct.find_original("other", other.format(pattern), "g") == "one") is same

    def test_of_different_groups_nothing_is_the_same(self) -> None:
        distinct = Distinct()
        assert distinct.find_original("one", "Hello, how are you?", "call 1") is None
        assert distinct.find_original("two", "Hello, how are you?", "call 2") is None
        assert distinct.find_original("three", "Hello, how are you?", "call 1") == "one"

    @pytest.mark.parametrize("text", ["", "?!", "word", "\0", "два слова"])
    def test_texts_of_few_words_are_compared_too(self, text: str) -> None:
        distinct = Distinct()
        assert distinct.find_original("one", text, "g") is None
        assert distinct.find_original("two", "something else entirely", "g") is None


class TestOrder:
    def test_a_list_read_page_by_page_is_the_list_read_at_once(
        self, house: House, tenant_id: str, add: Callable[..., str]
    ) -> None:
        texts = numbered(260)
        add(*texts[::2])
        add(*texts[1::2])
        add(*texts[:40])
        whole = house.retriever.find(tenant_id, "apple basket", ALL, 260)
        assert sorted(each.text for each in whole) == sorted(texts)
        scores = [each.score for each in whole]
        assert scores == sorted(scores, reverse=True)
        for limit in (1, 10, 49, 51, 120, 201):
            part = house.retriever.find(tenant_id, "apple basket", ALL, limit)
            assert [each.id for each in part] == [each.id for each in whole[:limit]]

    def test_filters_hold(self, house: House, tenant_id: str, add: Callable[..., str]) -> None:
        add("an apple")
        assert house.texts(tenant_id, "apple", filter=Filter(kinds=("communication",))) == []
        assert house.texts(tenant_id, "apple", filter=Filter(kinds=("document",), space_ids=(new_id(),))) == []
        assert house.texts(tenant_id, "apple", filter=DOCUMENTS) == ["an apple"]
        assert house.texts(tenant_id, "   ") == []


class Backwards:
    """A pool whose child likes the last passage best."""

    def __init__(self, *, late: bool = False) -> None:
        self.asked: list[Sequence[str]] = []
        self.late = late

    def run(self, _function: object, *args: object) -> list[float] | None:
        texts = args[2]
        assert isinstance(texts, list)
        self.asked.append(texts)
        return None if self.late else [float(place) for place in range(len(texts))]


class TestReranking:
    def make(self, house: House, pool: Backwards) -> Retriever:
        reranker = Reranker(RerankerSpec("backwards", ""), pool, 60.0)  # type: ignore[arg-type]
        return Retriever(Searcher(house.index, None), house.database, reranker)

    def test_the_best_of_the_search_are_put_in_the_rerankers_order_whatever_the_limit(
        self, house: House, tenant_id: str, add: Callable[..., str]
    ) -> None:
        add(*numbered(40))
        pool = Backwards()
        retriever = self.make(house, pool)
        plain = house.retriever.find(tenant_id, "apple", ALL, 40)
        reranked = retriever.find(tenant_id, "apple", ALL, 40)
        expected = [each.id for each in (*plain[:RERANKED][::-1], *plain[RERANKED:])]
        assert [each.id for each in reranked] == expected
        assert [each.id for each in retriever.find(tenant_id, "apple", ALL, 5)] == expected[:5]
        assert [each.score for each in reranked] == [each.score for each in plain], "no score of the model is shown"
        assert all(len(texts) == RERANKED for texts in pool.asked)
        assert pool.asked[0][0].startswith("Title › Heading\n")
        assert retriever.reranker_name == "backwards"

    def test_a_late_one_leaves_the_order_of_the_search(
        self, house: House, tenant_id: str, add: Callable[..., str]
    ) -> None:
        add(*numbered(5))
        late = self.make(house, Backwards(late=True)).find(tenant_id, "apple", ALL, 5)
        assert late == house.retriever.find(tenant_id, "apple", ALL, 5)


class TestNeighbours:
    def test_what_stands_beside_a_passage_is_joined_to_it_and_its_page_stays(
        self, house: House, tenant_id: str, add: Callable[..., str]
    ) -> None:
        add("Zero.", "One.", "Two with a lamp.", "Three.", "Four.")
        (found,) = house.retriever.find(tenant_id, "lamp", ALL, 10, neighbours=1)
        assert found.text == "One.\n\nTwo with a lamp.\n\nThree."
        assert (found.payload["page"], found.payload["idx"]) == (3, 2)
        (wide,) = house.retriever.find(tenant_id, "lamp", ALL, 10, neighbours=2)
        assert wide.text == "Zero.\n\nOne.\n\nTwo with a lamp.\n\nThree.\n\nFour."
        assert wide.payload["end_char"] == len(wide.text)

    def test_what_neighbours_share_stands_there_once(
        self, house: House, tenant_id: str, add: Callable[..., str]
    ) -> None:
        full = "".join(f"word{n} " for n in range(66)) + "lamp " + "".join(f"more{n} " for n in range(60))
        cuts = [full[start : start + 220] for start in range(0, len(full), 200)]
        add(*cuts, overlap=20)
        (found,) = house.retriever.find(tenant_id, "lamp", ALL, 10, neighbours=1)
        assert found.text in full
        assert "lamp" in found.text
        assert len(found.text) > 600

    def test_a_passage_that_another_one_took_in_does_not_come_twice(
        self, house: House, tenant_id: str, add: Callable[..., str]
    ) -> None:
        add("Zero.", "An apple here.", "Between.", "An apple there too.", "Four.")
        found = house.retriever.find(tenant_id, "apple", ALL, 10, neighbours=1)
        joined = "\n".join(each.text for each in found)
        assert len(found) == 2
        for text in ("Zero.", "An apple here.", "Between.", "An apple there too.", "Four."):
            assert joined.count(text) == 1

    def test_together_they_are_bounded(self, house: House, tenant_id: str, add: Callable[..., str]) -> None:
        add("x " * 900, "y " * 900, "a lamp", "z " * 900, "w " * 900)
        (found,) = house.retriever.find(tenant_id, "lamp", ALL, 10, neighbours=2)
        assert "a lamp" in found.text
        assert math.ceil(MOST_CHARACTERS / 2) < len(found.text) <= MOST_CHARACTERS
