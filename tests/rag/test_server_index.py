"""What is the Qdrant server's alone: the network between, what it is asked for, a collection that is half made."""

from __future__ import annotations

import json
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from rag.index import DENSE, KEYWORD_FIELDS, Filter, IndexMismatch, Point
from rag.index_places import ServerPlace
from rag.qdrant_server_index import ServerIndex
from store.errors import Unavailable
from store.settings import load_settings
from tests.rag.conftest import DIMENSION

TENANT = str(UUID(int=1))
VECTOR = np.ones(DIMENSION, dtype=np.float32)
DONE: dict[str, Any] = {"status": "acknowledged", "operation_id": 1}


@dataclass
class Qdrant:
    """Answers as Qdrant's REST API does, to what an index asks, and keeps what was asked."""

    url: str = ""
    exists: bool = False
    metadata: dict[str, Any] | None = None
    vectors: dict[str, Any] | None = None
    broken: tuple[int, dict[str, str], bytes] | None = None
    hangs_up: bool = False
    asked: list[tuple[str, str, Any]] = field(default_factory=list)

    def answer(self, method: str, path: str, body: Any) -> object:
        self.asked.append((method, path, body))
        place = path.split("?")[0]
        if place.endswith("/exists"):
            return {"exists": self.exists}
        is_collection = place.removeprefix("/collections/").count("/") == 0
        if is_collection and method != "GET":
            self.exists = True
            self.metadata = (body or {}).get("metadata", self.metadata)
            self.vectors = (body or {}).get("vectors", self.vectors)
            return True
        if is_collection:
            return self._info()
        if place.endswith("/points/query/batch"):
            return [{"points": []} for _ in body["searches"]]
        if place.endswith("/points/count"):
            return {"count": 0}
        return DONE

    def _info(self) -> dict[str, Any]:
        hnsw = {"m": 0, "ef_construct": 100, "full_scan_threshold": 10_000}
        optimizers = {
            "deleted_threshold": 0.2,
            "vacuum_min_vector_number": 1000,
            "default_segment_number": 0,
            "flush_interval_sec": 5,
        }
        config = {
            "params": {"vectors": self.vectors},
            "hnsw_config": hnsw,
            "optimizer_config": optimizers,
            "metadata": self.metadata,
        }
        return {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "config": config,
            "payload_schema": {},
            "points_count": 0,
        }

    def to(self, ending: str) -> list[Any]:
        """The bodies of the requests to paths that end so."""
        return [body for _, path, body in self.asked if path.split("?")[0].endswith(ending)]


@pytest.fixture
def qdrant() -> Iterator[Qdrant]:
    state = Qdrant()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if state.hangs_up:
                self.close_connection = True
                return
            status, headers, content = state.broken or (200, {}, b"")
            if state.broken is None:
                result = state.answer(self.command, self.path, json.loads(body) if body else None)
                content = json.dumps({"result": result, "status": "ok", "time": 0}).encode()
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(content))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None: ...

    for method in ("GET", "PUT", "POST", "PATCH"):
        setattr(Handler, f"do_{method}", Handler.handle_any)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def index(qdrant: Qdrant) -> Iterator[ServerIndex]:
    made = ServerIndex(QdrantClient(url=qdrant.url, check_compatibility=False), DIMENSION, model="one")
    yield made
    made.close()


def passage(vectors: int = 1) -> Point:
    return Point(str(uuid4()), np.ones((vectors, DIMENSION), dtype=np.float32), "text", {"document_id": "d"})


def test_a_cluster_holds_a_new_index_as_the_settings_say(
    qdrant: Qdrant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = QdrantClient(url=qdrant.url, check_compatibility=False)
    monkeypatch.setattr(ServerPlace, "_connect", lambda _self, **_options: client)
    settings = load_settings(
        _env_file=None,
        data_dir=tmp_path,
        qdrant_url=qdrant.url,
        qdrant_shards=6,
        qdrant_replicas=2,
        qdrant_quantized=True,
    )
    made = ServerPlace(settings).open("words-only", None, DIMENSION)
    made.search_hybrid(TENANT, VECTOR, "", Filter(), 5)
    made.close()
    (created,) = (body for method, _, body in qdrant.asked if method == "PUT" and "vectors" in (body or {}))
    assert (created["shard_number"], created["replication_factor"]) == (6, 2)
    dense = created["vectors"][DENSE]
    assert dense["on_disk"] is True
    assert dense["quantization_config"]["scalar"]["type"] == "int8"
    (search,) = qdrant.to("/points/query/batch")[0]["searches"]
    assert search["params"]["quantization"] == {"rescore": True, "oversampling": 2.0}


CALLS: dict[str, Callable[[ServerIndex], object]] = {
    "upsert": lambda index: index.upsert(TENANT, [passage()]),
    "delete": lambda index: index.delete(TENANT, document_id="d"),
    "delete_points": lambda index: index.delete_points(TENANT, [str(uuid4())]),
    "delete_tenant": lambda index: index.delete_tenant(TENANT),
    "ids_of": lambda index: index.ids_of(TENANT, document_id="d"),
    "search_hybrid": lambda index: index.search_hybrid(TENANT, VECTOR, "word", Filter(), 5),
    "search_dense": lambda index: index.search_dense(TENANT, VECTOR, Filter(), 5),
    "search_text": lambda index: index.search_text(TENANT, "word", Filter(), 5),
    "passages": lambda index: index.passages(TENANT, [str(uuid4())]),
    "term_idf": lambda index: index.term_idf(TENANT, ["word"]),
    "count": lambda index: index.count(TENANT),
    "counts": lambda index: index.counts(),
    "set_payload": lambda index: index.set_payload(TENANT, [str(uuid4())], {"category": "sales"}),
    "is_complete": lambda index: index.is_complete(),
    "is_current": lambda index: index.is_current(),
    "mark_complete": lambda index: index.mark_complete(),
}


@pytest.mark.parametrize("call", list(CALLS))
def test_a_server_that_fails_is_unavailable_in_every_call(index: ServerIndex, qdrant: Qdrant, call: str) -> None:
    qdrant.broken = (503, {}, b"no healthy upstream")
    with pytest.raises(Unavailable) as caught:
        CALLS[call](index)
    assert (caught.value.status, caught.value.code) == (503, "index_unavailable")
    assert qdrant.url not in caught.value.message


@pytest.mark.parametrize(
    ("status", "headers", "retry_after_s"),
    [(500, {}, 10), (401, {}, 10), (404, {}, 10), (429, {}, 10), (429, {"Retry-After": "7"}, 7), (200, {}, 10)],
)
def test_what_is_no_answer_of_the_collection_is_unavailable_too(
    index: ServerIndex, qdrant: Qdrant, status: int, headers: dict[str, str], retry_after_s: int
) -> None:
    qdrant.broken = (status, headers, b"<html>a page</html>")
    with pytest.raises(Unavailable) as caught:
        index.count(TENANT)
    assert caught.value.retry_after_s == retry_after_s
    assert not index.ready()


def test_a_connection_that_breaks_or_is_refused_is_unavailable(index: ServerIndex, qdrant: Qdrant) -> None:
    assert index.ready()
    qdrant.hangs_up = True
    with pytest.raises(Unavailable):
        index.count(TENANT)
    assert not index.ready()
    refused = QdrantClient(url="http://127.0.0.1:9", check_compatibility=False)
    with pytest.raises(Unavailable):
        ServerIndex(refused, DIMENSION)
    refused.close()


def test_a_request_that_the_server_refuses_is_our_own_error(index: ServerIndex, qdrant: Qdrant) -> None:
    qdrant.broken = (400, {}, b'{"status": {"error": "bad request"}}')
    with pytest.raises(UnexpectedResponse, match="400"):
        index.count(TENANT)


def test_a_new_collection_is_partitioned_by_tenant_and_says_last_what_it_was_made_for(
    index: ServerIndex, qdrant: Qdrant
) -> None:
    assert qdrant.metadata == {"dimension": DIMENSION, "model": "one"}
    assert qdrant.asked[-2][0] == "PATCH", "the metadata come last, but for the look at them"
    made = {each["field_name"]: each["field_schema"] for each in qdrant.to("/index")}
    assert made["tenant_id"]["is_tenant"] is True
    assert set(KEYWORD_FIELDS) < set(made)


def test_writes_wait_until_they_are_done_and_large_ones_are_cut_by_their_numbers(
    index: ServerIndex, qdrant: Qdrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.upsert(TENANT, [passage() for _ in range(600)])
    assert [len(body["points"]) for body in qdrant.to("/points")] == [256, 256, 88]
    qdrant.asked.clear()
    monkeypatch.setattr("rag.server_points._BATCH_NUMBERS", 20 * DIMENSION)
    index.upsert(TENANT, [passage(vectors=4) for _ in range(12)])
    assert [len(body["points"]) for body in qdrant.to("/points")] == [5, 5, 2]
    index.delete_tenant(TENANT)
    index.delete_points(TENANT, [str(uuid4())])
    writes = [path for _, path, _ in qdrant.asked if re.search(r"/points(/delete)?\?", path)]
    assert len(writes) == 5
    assert all("wait=true" in path for path in writes)


def test_a_hybrid_search_is_one_request_and_each_part_of_it_names_the_tenant(
    index: ServerIndex, qdrant: Qdrant
) -> None:
    qdrant.asked.clear()
    index.search_hybrid(TENANT, VECTOR, "two words", Filter(kinds=("document",)), 5)
    (batch,) = qdrant.to("/query/batch")
    assert len(batch["searches"]) == 4
    named = {"key": "tenant_id", "match": {"value": TENANT}}
    assert all(named in search["filter"]["must"] for search in batch["searches"])


def opened(client: QdrantClient) -> ServerIndex:
    with warnings.catch_warnings():
        # The client's memory mode says that payload indexes have no effect there.
        warnings.filterwarnings("ignore", message="Payload indexes have no effect")
        return ServerIndex(client, DIMENSION, model="one")


def half_made(client: QdrantClient) -> None:
    dense = models.VectorParams(
        size=DIMENSION,
        distance=models.Distance.COSINE,
        multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
    )
    terms = models.SparseVectorParams(modifier=models.Modifier.IDF)
    client.create_collection("parley", vectors_config={"dense": dense}, sparse_vectors_config={"terms": terms})


def test_a_collection_that_was_left_half_made_is_finished() -> None:
    client = QdrantClient(":memory:")
    half_made(client)
    index = opened(client)
    index.upsert(TENANT, [passage()])
    index.mark_complete()
    assert opened(client).count(TENANT) == 1
    assert opened(client).is_complete()
    index.close()


def test_a_collection_of_somebody_else_is_not_taken() -> None:
    client = QdrantClient(":memory:")
    half_made(client)
    client.upsert("parley", [models.PointStruct(id=1, vector={"dense": [[1.0] * DIMENSION]})])
    with pytest.raises(IndexMismatch):
        opened(client)
    client.close()
