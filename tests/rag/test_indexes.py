"""Two indexes side by side: one serves while one of another model grows, and takes over when it is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_client import QdrantClient
from qdrant_client import models as models_of_qdrant

from rag import indexes as indexes_module
from rag.embedding import EmbedderSpec
from rag.generation import Passage
from rag.index import Filter, ShardDamaged
from rag.index_places import FolderPlace, ServerPlace
from rag.indexes import Indexes
from rag.search import Searcher
from store.errors import Unavailable
from store.ids import new_id
from store.settings import load_settings
from tests.support.embedders import NEW, OLD, Models

TENANT, OTHER = new_id(), new_id()


class House:
    """Opens indexes over one folder, and counts what is told to be missed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "index"
        self.models = Models()
        self.missed: list[tuple[str, str | None]] = []
        self.opened: list[Indexes] = []

    def open(self, wanted: EmbedderSpec | None) -> Indexes:
        for each in self.opened:
            each.close()
        place = FolderPlace(load_settings(data_dir=self.folder.parent))
        opened = Indexes(place, wanted, self.models.load, lambda name, tenant_id: self.missed.append((name, tenant_id)))
        self.opened = [opened]
        return opened


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr(indexes_module, "_CLOSE_AFTER_S", 0.0)
    monkeypatch.setattr(indexes_module, "_LOAD_AGAIN_S", 0.0)
    made = House(tmp_path)
    yield made
    for each in made.opened:
        each.close()


def passage(word: str, **payload: str) -> Passage:
    return Passage(new_id(), word, {"kind": "document", **payload})


def found(indexes: Indexes, query: str, tenant_id: str = TENANT) -> list[str]:
    hits = Searcher(*indexes.serving).search(tenant_id, query, Filter(), 10)
    return sorted(hit.text for hit in hits if hit.bm25 > 0 or (hit.dense or 0) > 0.99)


def complete(indexes: Indexes) -> None:
    wanted = indexes.wanted
    assert wanted is not None
    wanted.index.mark_complete()


def test_a_new_model_takes_over_when_its_index_is_complete_and_not_before(house: House) -> None:
    first = house.open(OLD)
    there = [passage("сова"), passage("лиса")]
    first.put(TENANT, there)
    complete(first)

    indexes = house.open(NEW)
    assert indexes.names == ["old-model", "new-model"]
    indexes.look()
    assert found(indexes, "сова") == ["сова"]
    assert indexes.fill("new-model", TENANT, there[:1]) == {there[0].id}
    indexes.look()
    assert found(indexes, "лиса") == ["лиса"], "what is not in the new index yet is found in the old one"

    indexes.fill("new-model", TENANT, there)
    complete(indexes)
    indexes.look()
    assert indexes.names == ["new-model"]
    assert found(indexes, "лиса") == ["лиса"]
    assert found(indexes, "сова") == ["сова"]
    assert indexes.serving_spec == NEW
    indexes.look()
    assert house.models.loaded["old-model"].closed
    assert [path.name for path in house.folder.glob("*") if not path.name.startswith(".")] == ["new-model"]


def test_what_is_written_and_deleted_meanwhile_is_so_before_and_after_the_switch(house: House) -> None:
    first = house.open(OLD)
    document, speaker = new_id(), new_id()
    first.put(TENANT, [passage("сова", document_id=document), passage("лиса", speaker_id=speaker), passage("рысь")])
    complete(first)

    indexes = house.open(NEW)
    added = [passage("выдра"), passage("бобр", document_id=document)]
    indexes.put(TENANT, added)
    indexes.fill("new-model", TENANT, [passage("лиса", speaker_id=speaker)])
    assert indexes.ids_of(TENANT, document_id=document) > {added[1].id}
    indexes.delete(TENANT, document_id=document)
    indexes.delete(TENANT, speaker_id=speaker)
    indexes.delete_points(TENANT, [added[0].id])
    indexes.put(TENANT, [passage("норка")])
    for _ in range(2):
        assert [found(indexes, word) for word in ("сова", "лиса", "выдра", "бобр", "норка")] == [[]] * 4 + [["норка"]]
        complete(indexes)
        indexes.look()
    assert indexes.serving_name == "new-model"
    assert house.missed == []


def test_a_passage_that_is_there_as_it_is_now_is_not_embedded_again(house: House) -> None:
    indexes = house.open(NEW)
    one = passage("сова", title="Птицы")
    assert indexes.fill("new-model", TENANT, [one]) == {one.id}
    assert indexes.fill("new-model", TENANT, [one]) == set()
    retitled = replace(one, payload=one.payload | {"title": "Звери"})
    assert indexes.fill("new-model", TENANT, [retitled]) == {one.id}
    assert indexes.fill("new-model", TENANT, [replace(retitled, text="филин")]) == {one.id}


def test_what_is_only_told_otherwise_is_not_embedded_again(house: House) -> None:
    indexes = house.open(NEW)
    talk = Passage(new_id(), "сова", {"kind": "communication", "participants": ["anna"], "start_ms": 5})
    indexes.put(TENANT, [talk])
    house.models.loaded["new-model"].fails = True
    told = replace(talk, payload={"kind": "communication", "participants": ["olga"], "category": "sales"})
    indexes.put(TENANT, [told])
    indexes.put(TENANT, [told])
    (stored,) = indexes.serving[0].passages(TENANT, [talk.id]).values()
    assert stored.payload == told.payload
    assert found(indexes, "сова") == ["сова"]
    retold = replace(talk, payload=told.payload | {"participants": ["petr"]})
    assert indexes.fill("new-model", TENANT, [retold]) == {talk.id}
    assert indexes.fill("new-model", TENANT, [retold]) == set()
    with pytest.raises(Unavailable):
        indexes.put(TENANT, [replace(told, payload=told.payload | {"title": "Птицы"})])


def test_without_its_old_model_the_old_index_is_searched_by_words_and_what_it_lacks_is_noted(house: House) -> None:
    first = house.open(OLD)
    first.put(TENANT, [passage("сова")])
    complete(first)
    house.models.away = {"old-model"}

    indexes = house.open(NEW)
    assert indexes.serving_name == "old-model"
    assert indexes.serving[1] is None
    assert found(indexes, "сова") == ["сова"]
    added = passage("лиса")
    indexes.put(TENANT, [added])
    assert found(indexes, "лиса") == ["лиса"]
    assert house.missed == [("old-model", TENANT)]

    house.models.away = set()
    back = house.open(OLD)
    assert back.fill("old-model", TENANT, [added]) == {added.id}, "it had no vector"


def test_a_model_that_cannot_be_loaded_stops_neither_start_nor_searches_nor_uploads(house: House) -> None:
    first = house.open(OLD)
    first.put(TENANT, [passage("сова")])
    complete(first)
    house.models.away = {"new-model"}
    unknown = replace(NEW, dimension=None)

    indexes = house.open(unknown)
    assert found(indexes, "сова") == ["сова"]
    assert "does not answer" in indexes.trouble
    indexes.put(TENANT, [passage("лиса")])
    assert house.missed == [("new-model", TENANT)]
    indexes.look()
    assert indexes.names == ["old-model"]

    house.models.away = set()
    indexes.look()
    assert (indexes.names, indexes.trouble) == (["old-model", "new-model"], "")
    added = passage("рысь")
    indexes.put(TENANT, [added])
    assert indexes.fill("new-model", TENANT, [added]) == set()


def test_with_nothing_but_an_unknown_model_searches_go_by_words(house: House) -> None:
    house.models.away = {"new-model"}
    indexes = house.open(replace(NEW, dimension=None))
    indexes.put(TENANT, [passage("сова")])
    assert found(indexes, "сова") == ["сова"]


def test_its_own_index_without_its_model_is_searched_by_words_and_takes_nothing_in(house: House) -> None:
    first = house.open(NEW)
    first.put(TENANT, [passage("сова")])
    complete(first)
    house.models.away = {"new-model"}
    indexes = house.open(replace(NEW, dimension=None))
    assert found(indexes, "сова") == ["сова"]
    with pytest.raises(Unavailable, match="cannot be loaded"):
        indexes.put(TENANT, [passage("лиса")])
    house.models.away = set()
    indexes.look()
    indexes.put(TENANT, [passage("лиса")])
    assert found(indexes, "лиса") == ["лиса"]


def test_what_the_new_model_fails_at_is_taken_in_by_the_old_one_and_noted(house: House) -> None:
    complete(house.open(OLD))
    indexes = house.open(NEW)
    house.models.loaded["new-model"].fails = True
    indexes.put(TENANT, [passage("сова")])
    assert found(indexes, "сова") == ["сова"]
    assert house.missed == [("new-model", TENANT)]


def test_one_account_s_damaged_shard_is_made_anew_and_the_others_go_on(house: House) -> None:
    indexes = house.open(NEW)
    for tenant_id in (TENANT, OTHER):
        indexes.put(tenant_id, [passage("сова")])
    complete(indexes)
    indexes.close()
    shard = house.folder / "new-model" / "shards" / TENANT
    for path in shard.rglob("*"):
        if path.is_file():
            path.write_bytes(b"broken")

    again = house.open(NEW)
    assert found(again, "сова", OTHER) == ["сова"]
    with pytest.raises(ShardDamaged):
        found(again, "сова")
    assert house.missed == [("new-model", TENANT)]
    again.put(TENANT, [passage("лиса")])
    assert found(again, "лиса") == ["лиса"]
    assert len(house.missed) == 1


def test_an_index_of_another_dimension_under_the_same_name_is_made_anew(house: House) -> None:
    first = house.open(NEW)
    first.put(TENANT, [passage("сова")])
    complete(first)
    first.close()
    path = house.folder / "new-model" / "shards" / "index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dimension": 99}))
    indexes = house.open(NEW)
    assert indexes.wanted is not None
    assert not indexes.wanted.index.is_complete()
    assert found(indexes, "сова") == []


def test_an_earlier_model_that_fails_leaves_what_comes_in_to_be_found_by_words(house: House) -> None:
    complete(house.open(OLD))
    indexes = house.open(NEW)
    house.models.loaded["old-model"].fails = True
    added = passage("сова")
    indexes.put(TENANT, [added])
    assert found(indexes, "сова") == ["сова"]
    assert house.missed == [("old-model", TENANT)]
    assert indexes.fill("new-model", TENANT, [added]) == set()


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
def test_a_server_s_indexes_change_over_in_every_process_and_are_deleted_by_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes_module, "_CLOSE_AFTER_S", 0.0)
    client = QdrantClient(":memory:")
    monkeypatch.setattr(client, "close", lambda: None)
    monkeypatch.setattr(ServerPlace, "_connect", lambda _self, **_options: client)
    models = Models()

    def open_one(wanted: EmbedderSpec, data_dir: str) -> Indexes:
        settings = load_settings(data_dir=tmp_path / data_dir, qdrant_url="http://qdrant", secret_key="of both" * 8)
        return Indexes(ServerPlace(settings), wanted, models.load)

    before = open_one(OLD, "one")
    (old,) = [each.name for each in client.get_collections().collections]
    other_installation = {"dense": models_of_qdrant.VectorParams(size=4, distance=models_of_qdrant.Distance.COSINE)}
    client.create_collection("parley-0123456789ab-old-model", other_installation)
    added = passage("сова")
    before.put(TENANT, [added])
    complete(before)
    one, other = open_one(NEW, "one"), open_one(NEW, "other")
    # The other machine has no note of the old model: its index is searched by words there.
    assert [each.names for each in (one, other)] == [["old-model", "new-model"]] * 2
    assert [found(each, "сова") for each in (one, other)] == [["сова"]] * 2
    one.fill("new-model", TENANT, [added])
    complete(one)
    for each in (one, other):
        each.look()
        each.look()
        assert each.names == ["new-model"]
        assert found(each, "сова") == ["сова"]
    assert client.collection_exists(old), "another process may still search it"
    other.look(alone=True)
    assert not client.collection_exists(old)
    assert client.collection_exists("parley-0123456789ab-old-model"), "it is another installation's"
