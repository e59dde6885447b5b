"""Both adapters under the same tests, and the built-in embedding model where it is installed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from rag.embedding import BUILT_IN_MODEL, Embedder, choose_embedder
from rag.index import VectorIndex
from rag.qdrant_edge_index import EdgeIndex
from rag.qdrant_server_index import ServerIndex
from store.settings import load_settings

DIMENSION = 4


def server_index(dimension: int = DIMENSION) -> ServerIndex:
    with warnings.catch_warnings():
        # The client's memory mode says that payload indexes have no effect there.
        warnings.filterwarnings("ignore", message="Payload indexes have no effect")
        return ServerIndex(QdrantClient(":memory:"), dimension)


def _made(kind: str, folder: Path) -> VectorIndex:
    return EdgeIndex(folder, DIMENSION) if kind == "edge" else server_index()


@pytest.fixture(params=["edge", "server"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorIndex]:
    made = _made(request.param, tmp_path / "index")
    yield made
    made.close()


@pytest.fixture(scope="module", params=["edge", "server"])
def shared_index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VectorIndex]:
    """For tests that only read: making a shard takes many writes to the disk."""
    made = _made(request.param, tmp_path_factory.mktemp("index"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    spec = choose_embedder(load_settings(embedding_model=""))
    if spec is None:
        pytest.skip(f"the model {BUILT_IN_MODEL} is not installed (parley models pull)")
    return spec.load()
