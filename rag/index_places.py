"""Where indexes are kept: one an embedding model, side by side, so that a new one grows while the old one serves."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from accounts.keys import Keyring
from rag.embedding import EmbedderSpec, choose_embedder
from rag.index import IndexMismatch, VectorIndex
from store.settings import Settings
from store.weights import ModelMissing

WORDS_ONLY = "words-only"
# The index needs a dimension before any model is there; searching by words alone puts no vector in it.
_NO_MODEL_DIMENSION = 8
_COLLECTION = "parley-"
_TIMEOUT_S = 30


def index_name(spec: EmbedderSpec | None) -> str:
    """What the index of this model is called, as a folder and as a collection."""
    return re.sub(r"[^a-z0-9]+", "-", (spec.name if spec else WORDS_ONLY).lower()).strip("-")[-80:]


class IndexPlace(Protocol):
    """The indexes of one installation, and beside each of them which model it was made for."""

    is_shared: bool
    """Whether other processes open the same indexes."""

    def names(self) -> list[str]:
        """Of the indexes that are there, the one that was begun last first."""

    def open(self, name: str, spec: EmbedderSpec | None, dimension: int) -> VectorIndex:
        """Makes it where there is none, and in place of one of another model or dimension. Raises IndexLocked."""

    def spec_of(self, name: str) -> EmbedderSpec | None:
        """Whose passages it holds, with the dimension; None where it needs no model or nothing is known of it."""

    def drop(self, name: str) -> None:
        """Deletes an index that nobody has open."""


def open_place(settings: Settings) -> IndexPlace:
    """The place that the settings name."""
    if settings.qdrant_url:
        return ServerPlace(settings)
    return FolderPlace(settings)


def dimension_of_index(spec: EmbedderSpec | None) -> int | None:
    """None where only loading the model tells it."""
    return spec.dimension if spec is not None else _NO_MODEL_DIMENSION


class FolderPlace:
    """A folder each in the data folder."""

    is_shared = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._root = settings.data_dir.absolute() / "index"

    def names(self) -> list[str]:
        found = [entry for entry in self._root.glob("*/shards/index.json") if not entry.parts[-3].startswith(".")]
        return [entry.parts[-3] for entry in sorted(found, key=lambda entry: -entry.stat().st_mtime)]

    def open(self, name: str, spec: EmbedderSpec | None, dimension: int) -> VectorIndex:
        from rag.qdrant_edge_index import EdgeIndex

        folder = self._root / name
        folder.mkdir(parents=True, exist_ok=True)
        model = spec.name if spec else WORDS_ONLY
        try:
            index = EdgeIndex(folder / "shards", dimension, model=model)
        except IndexMismatch:
            self.drop(name)
            folder.mkdir()
            index = EdgeIndex(folder / "shards", dimension, model=model)
        save_spec(folder, spec, dimension)
        return index

    def spec_of(self, name: str) -> EmbedderSpec | None:
        if (noted := read_spec(self._root / name)) is not None:
            return noted
        try:
            made_for = json.loads((self._root / name / "shards" / "index.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return _recalled(self._settings, made_for)

    def drop(self, name: str) -> None:
        folder = self._root / name
        if folder.exists():
            # Renamed first: what a crash leaves is no index any more.
            shutil.rmtree(folder.rename(self._root / f".deleted-{uuid4()}"))
        for leftover in self._root.glob(".deleted-*"):
            shutil.rmtree(leftover, ignore_errors=True)


class ServerPlace:
    """A collection each on a Qdrant server. What is noted of their models stays in this installation's data folder."""

    is_shared = True

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._url = settings.qdrant_url
        self._key = settings.qdrant_api_key.get_secret_value() or None
        self._notes = settings.data_dir.absolute() / "index"
        # Several installations may share a server, and each deletes what is its own and not used any more.
        self._prefix = f"{_COLLECTION}{Keyring.of(settings).installation_id}-"

    def names(self) -> list[str]:
        with self._client() as client:
            found = [each.name for each in client.get_collections().collections]
        return sorted(name.removeprefix(self._prefix) for name in found if name.startswith(self._prefix))

    def open(self, name: str, spec: EmbedderSpec | None, dimension: int) -> VectorIndex:
        from rag.qdrant_server_index import ServerIndex

        model = spec.name if spec else WORDS_ONLY
        folder = self._notes / name
        folder.mkdir(parents=True, exist_ok=True)
        try:
            index = ServerIndex(self._connect(), dimension, collection=self._prefix + name, model=model)
        except IndexMismatch:
            self.drop(name)
            index = ServerIndex(self._connect(), dimension, collection=self._prefix + name, model=model)
        folder.mkdir(parents=True, exist_ok=True)
        save_spec(folder, spec, dimension)
        return index

    def spec_of(self, name: str) -> EmbedderSpec | None:
        if (noted := read_spec(self._notes / name)) is not None:
            return noted
        with self._client() as client:
            if not client.collection_exists(self._prefix + name):
                return None
            made_for = client.get_collection(self._prefix + name).config.metadata
        return _recalled(self._settings, made_for or {})

    def drop(self, name: str) -> None:
        with self._client() as client:
            client.delete_collection(self._prefix + name)
        shutil.rmtree(self._notes / name, ignore_errors=True)

    def _connect(self) -> Any:  # Any: the client is imported only where a server is used
        from qdrant_client import QdrantClient

        return QdrantClient(url=self._url, api_key=self._key, timeout=_TIMEOUT_S)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        client = self._connect()
        try:
            yield client
        finally:
            client.close()


def _recalled(settings: Settings, made_for: dict[str, Any]) -> EmbedderSpec | None:
    """The model of an index that has no note of it here: as the settings would take it today."""
    model, dimension = made_for.get("model"), made_for.get("dimension")
    if not model or model == WORDS_ONLY or not isinstance(dimension, int):
        return None
    try:
        spec = choose_embedder(settings.model_copy(update={"embedding_model": model}))
    except ModelMissing:
        spec = None
    return replace(spec or EmbedderSpec("sentence-transformers", model, model, None, False), dimension=dimension)


def save_spec(folder: Path, spec: EmbedderSpec | None, dimension: int) -> None:
    """Notes for later starts by which model the index beside it was made."""
    if spec is None:
        return
    draft = folder / "model.draft"
    draft.write_text(json.dumps(asdict(spec) | {"dimension": dimension}), encoding="utf-8")
    draft.rename(folder / "model.json")


def read_spec(folder: Path) -> EmbedderSpec | None:
    """What `save_spec` noted; None where that is not there or of another release."""
    try:
        values: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return EmbedderSpec(**{each.name: values[each.name] for each in fields(EmbedderSpec)})
    except (OSError, ValueError, KeyError, TypeError):
        return None
