"""Qdrant's REST API on loopback over the engine of qdrant-client's own memory mode: no package index has the server.

It answers what `rag.qdrant_server_index` and `rag.index_places` ask. PARLEY_TEST_QDRANT_URL names a real server to be
used in its place.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import TypeAdapter
from qdrant_client import QdrantClient, models

_REAL = "PARLEY_TEST_QDRANT_URL"

_CREATE = TypeAdapter(models.CreateCollection)
_POINTS = TypeAdapter(models.PointsList)
_SELECTOR: TypeAdapter[Any] = TypeAdapter(models.PointsSelector)
_SET = TypeAdapter(models.SetPayload)
_SCROLL = TypeAdapter(models.ScrollRequest)
_COUNT = TypeAdapter(models.CountRequest)
_RETRIEVE = TypeAdapter(models.PointRequest)
_QUERY = TypeAdapter(models.QueryRequest)
_BATCH = TypeAdapter(models.QueryRequestBatch)


class Qdrant:
    """A server that can be stopped and started again with what it holds, where it is ours."""

    def __init__(self, host: str) -> None:
        self.is_ours = _REAL not in os.environ
        self.host, self.port = host, 0
        self._server: _Server | None = None
        if self.is_ours:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # payload indexes have no effect in memory
                self._engine = _Engine()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}" if self.is_ours else os.environ[_REAL]

    def is_of(self, version: str) -> None:
        """What it says of itself from now on, where it is ours."""
        self._engine.version = version

    @property
    def answered(self) -> int:
        """How many requests, where it is ours."""
        return self._engine.answered if self.is_ours else 0

    def hang(self) -> None:
        """From now on it takes requests and answers none, where it is ours, until it goes on."""
        self._engine.answers.clear()

    def go_on(self) -> None:
        self._engine.answers.set()

    def start(self) -> None:
        if not self.is_ours:
            return
        self._server = _Server((self.host, self.port), _handler(self._engine))
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self.go_on()
            self._server.is_over = True
            self._server.shutdown()
            self._server.server_close()
        self._server = None


@contextmanager
def running_qdrant(host: str = "127.0.0.1") -> Iterator[Qdrant]:
    """Empty, where it is ours."""
    qdrant = Qdrant(host)
    qdrant.start()
    try:
        yield qdrant
    finally:
        qdrant.stop()


class _Server(ThreadingHTTPServer):
    is_over = False


class _Engine:
    def __init__(self) -> None:
        self._client = QdrantClient(":memory:")
        self._lock = threading.Lock()
        self.answers = threading.Event()
        self.answers.set()
        self.answered = 0
        self.version = _version()

    def answer(self, method: str, parts: list[str], body: Any) -> Any:
        """The `result` of a request. Raises KeyError for what is not known here or not there."""
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.answered += 1
            if parts == ["collections"]:
                return self._client.get_collections()
            name, *rest = parts[1:]
            if rest == ["exists"]:
                return {"exists": self._client.collection_exists(name)}
            if not rest and method == "PUT":
                return self._create(name, body)
            if not self._client.collection_exists(name):
                raise KeyError(name)
            return self._of_collection[f"{method} {'/'.join(rest)}"](self, name, body)

    def _create(self, name: str, body: Any) -> bool:
        asked = _CREATE.validate_python(body)
        return self._client.create_collection(
            name, vectors_config=asked.vectors, sparse_vectors_config=asked.sparse_vectors
        )

    def _info(self, name: str, _body: Any) -> Any:
        return self._client.get_collection(name)

    def _update(self, name: str, body: Any) -> bool:
        return self._client.update_collection(name, metadata=body.get("metadata"))

    def _drop(self, name: str, _body: Any) -> bool:
        return self._client.delete_collection(name)

    def _upsert(self, name: str, body: Any) -> Any:
        return self._client.upsert(name, _POINTS.validate_python(body).points)

    def _set_payload(self, name: str, body: Any) -> Any:
        asked = _SET.validate_python(body)
        assert asked.filter is not None
        return self._client.set_payload(name, asked.payload, models.FilterSelector(filter=asked.filter))

    def _delete(self, name: str, body: Any) -> Any:
        return self._client.delete(name, _SELECTOR.validate_python(body))

    def _scroll(self, name: str, body: Any) -> Any:
        asked = _SCROLL.validate_python(body)
        points, after = self._client.scroll(
            name,
            asked.filter,
            limit=asked.limit or 10,
            offset=asked.offset,
            with_payload=asked.with_payload or False,
            with_vectors=asked.with_vector or False,
        )
        return {"points": points, "next_page_offset": after}

    def _retrieve(self, name: str, body: Any) -> Any:
        asked = _RETRIEVE.validate_python(body)
        return self._client.retrieve(
            name, asked.ids, with_payload=asked.with_payload or False, with_vectors=asked.with_vector or False
        )

    def _count(self, name: str, body: Any) -> Any:
        asked = _COUNT.validate_python(body)
        return self._client.count(name, asked.filter, exact=bool(asked.exact))

    def _query(self, name: str, body: Any) -> Any:
        return self._client.query_batch_points(name, [_QUERY.validate_python(body)])[0]

    def _queries(self, name: str, body: Any) -> Any:
        return self._client.query_batch_points(name, _BATCH.validate_python(body).searches)

    def _nothing(self, _name: str, _body: Any) -> Any:
        return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)

    _of_collection: dict[str, Callable[[_Engine, str, Any], Any]] = {  # noqa: RUF012
        "GET ": _info,
        "PATCH ": _update,
        "DELETE ": _drop,
        "PUT index": _nothing,
        "PUT points": _upsert,
        "POST points": _retrieve,
        "POST points/payload": _set_payload,
        "POST points/delete": _delete,
        "POST points/scroll": _scroll,
        "POST points/count": _count,
        "POST points/query": _query,
        "POST points/query/batch": _queries,
    }


def _handler(engine: _Engine) -> type[BaseHTTPRequestHandler]:
    encode: TypeAdapter[Any] = TypeAdapter(Any)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server: _Server

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"null")
            parts = [part for part in self.path.split("?")[0].split("/") if part]
            engine.answers.wait()
            if self.server.is_over:  # a connection that is kept is served on else
                self.close_connection = True
                return
            if not parts:
                self._send(200, encode.dump_json({"title": "qdrant", "version": engine.version}))
                return
            try:
                result = engine.answer(self.command, parts, body)
            except (KeyError, ValueError) as error:
                status = 404 if isinstance(error, KeyError) else 409 if "already exists" in str(error) else 400
                self._send(status, encode.dump_json({"status": {"error": str(error)}, "time": 0.0}))
                return
            self._send(200, encode.dump_json({"result": result, "status": "ok", "time": 0.0}))

        do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(BrokenPipeError):  # who asked may have waited for long enough
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: a test's output is its own."""

    return Handler


def _version() -> str:
    """The client's own, which it compares with the server's."""
    from importlib.metadata import version

    return version("qdrant-client")
