"""Fields of points: what conversations are filtered by, changed alone, and known of by indexes of earlier releases."""

from __future__ import annotations

import warnings
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from qdrant_client import QdrantClient

from rag import empty_shards, qdrant_server_index
from rag.index import Filter, Point, Stored, Value, VectorIndex
from rag.qdrant_edge_index import EdgeIndex
from rag.qdrant_server_index import ServerIndex
from tests.rag.conftest import DIMENSION

TENANT, OTHER_TENANT = str(UUID(int=1)), str(UUID(int=2))
VECTOR = np.array([1, 0, 0, 0], dtype=np.float32)


def uid(number: int) -> str:
    return str(UUID(int=1000 + number))


def talk(number: int, people: list[str], roles: list[str], category: str | None = None) -> Point:
    payload: dict[str, Value] = {
        "kind": "communication",
        "communication_id": f"c{number}",
        "participants": people,
        "participant_roles": roles,
        "category": category,
    }
    return Point(uid(number), VECTOR, f"parcel {number}", payload)


TALKS = [
    talk(1, ["anna", "olga"], ["client", "sales"], "supply"),
    talk(2, ["anna", "petr"], ["client", "support"], "complaint"),
    talk(3, ["olga", "petr"], ["employee", "sales"], "internal"),
    talk(4, [], []),
]


def found(index: VectorIndex, wanted: Filter, tenant_id: str = TENANT) -> list[int]:
    hits = index.search_dense(tenant_id, VECTOR, wanted, 10)
    assert {hit.id for hit in index.search_text(tenant_id, "parcel", wanted, 10)} == {hit.id for hit in hits}
    return sorted(UUID(hit.id).int - 1000 for hit in hits)


@pytest.fixture
def filled(index: VectorIndex) -> VectorIndex:
    index.upsert(TENANT, TALKS)
    index.upsert(OTHER_TENANT, TALKS[:1])
    return index


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(), [1, 2, 3, 4]),
        (Filter(participants=("anna",)), [1, 2]),
        (Filter(participants=("anna", "olga")), [1]),
        (Filter(participants=("nobody",)), []),
        (Filter(participant_role="sales"), [1, 3]),
        (Filter(participant_role="client", participants=("petr",)), [2]),
        (Filter(category="internal"), [3]),
        (Filter(category="supply", participants=("petr",)), []),
    ],
)
def test_conversations_are_filtered_by_people_roles_and_category(
    filled: VectorIndex, wanted: Filter, expected: list[int]
) -> None:
    assert found(filled, wanted) == expected


def test_fields_are_changed_alone(filled: VectorIndex) -> None:
    gone = uid(99)
    filled.set_payload(
        TENANT, [uid(1), uid(4), gone], {"category": "billing", "participants": ["anna"], "direction": None}
    )
    filled.set_payload(TENANT, [uid(2)], {"category": None})
    filled.set_payload(TENANT, [], {"category": "billing"})
    assert found(filled, Filter(category="billing")) == [1, 4]
    assert found(filled, Filter(participants=("anna",))) == [1, 2, 4]
    assert found(filled, Filter(participants=("olga",))) == [3]
    assert found(filled, Filter(category="complaint")) == []
    assert filled.count(TENANT) == 4, "what is not there is not made"
    assert filled.passages(TENANT, [uid(3)])[uid(3)] == Stored("parcel 3", TALKS[2].payload)
    assert filled.passages(TENANT, [uid(1)])[uid(1)].text == "parcel 1"
    assert found(filled, Filter(category="supply"), OTHER_TENANT) == [1], "another tenant's point of the same id"
    filled.set_payload(str(UUID(int=3)), [uid(1)], {"category": "billing"})


@pytest.mark.parametrize("name", ["title", "text", "tenant_id", "point_id"])
def test_what_is_searched_for_is_no_field_to_change(filled: VectorIndex, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        filled.set_payload(TENANT, [uid(1)], {name: "x"})


def open_server(client: QdrantClient) -> ServerIndex:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Payload indexes have no effect")
        return ServerIndex(client, DIMENSION, model="one")


def test_an_index_that_an_earlier_release_filled_is_complete_but_not_current(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    edge = EdgeIndex(tmp_path / "index", DIMENSION)
    assert not edge.is_current()
    (tmp_path / "index" / "complete").touch()
    assert (edge.is_complete(), edge.is_current()) == (True, False)
    edge.mark_complete()
    assert (edge.is_complete(), edge.is_current()) == (True, True)
    edge.close()

    client = QdrantClient(":memory:")
    server = open_server(client)
    assert not server.is_current()
    client.update_collection("parley", metadata={"dimension": DIMENSION, "model": "one", "complete": True})
    server = open_server(client)
    assert (server.is_complete(), server.is_current()) == (True, False)
    server.mark_complete()
    assert (open_server(client).is_complete(), open_server(client).is_current()) == (True, True)
    client.close()


def test_a_shard_of_an_earlier_release_gets_the_indexes_of_new_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(empty_shards, "KEYWORD_FIELDS", ("kind",))
        made = EdgeIndex(tmp_path, DIMENSION)
        made.upsert(TENANT, TALKS)
        made.close()
    again = EdgeIndex(tmp_path, DIMENSION)
    assert found(again, Filter(participants=("anna",))) == [1, 2]
    with again._shards.reading(TENANT) as shard:
        assert shard is not None
        assert {"kind", "participants", "participant_roles", "category"} <= set(shard.info().payload_schema)
    again.close()


def test_a_collection_of_an_earlier_release_gets_the_indexes_of_new_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    client = QdrantClient(":memory:")
    made: list[str] = []

    def create(_collection: str, name: str, *_: object) -> None:
        made.append(name)

    with monkeypatch.context() as earlier:
        earlier.setattr(qdrant_server_index, "KEYWORD_FIELDS", ("kind",))
        open_server(client)
    monkeypatch.setattr(client, "create_payload_index", create)
    open_server(client)
    assert {"participants", "participant_roles", "category"} <= set(made)
    client.close()
