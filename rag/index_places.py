"""Where indexes are kept: one an embedding model, side by side, so that a new one grows while the old one serves."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from accounts.keys import Keyring
from rag.embedding import EmbedderSpec, choose_embedder
from rag.index import IndexMismatch
from rag.kept_points import KeptIndex
from store.settings import Settings
from store.weights import ModelMissing

WORDS_ONLY = "words-only"
# The index needs a dimension before any model is there; searching by words alone puts no vector in it.
_NO_MODEL_DIMENSION = 8
_COLLECTION = "parley-"
_TIMEOUT_S = 30
_READ_TIMEOUT_S = 10
"""Of what people wait for, and of what tells Prometheus that the server is away: it waits for 15 s."""


def index_name(spec: EmbedderSpec | None) -> str:
    """What the index of this model is called, as a folder and as a collection."""
    return re.sub(r"[^a-z0-9]+", "-", (spec.name if spec else WORDS_ONLY).lower()).strip("-")[-80:]


@dataclass(frozen=True, slots=True)
class MadeFor:
    """The model of an index by its name, or WORDS_ONLY, and how many numbers its vectors have."""

    model: str
    dimension: int


class IndexPlace(Protocol):
    """The indexes of one installation, and beside each of them which model it was made for."""

    is_shared: bool
    """Whether other processes open the same indexes."""

    def names(self) -> list[str]:
        """Of the indexes that are there, the one that was begun last first."""

    def open(self, name: str, spec: EmbedderSpec | None, dimension: int) -> KeptIndex:
        """Makes it where there is none, and in place of one of another model or dimension. Raises IndexLocked, and
        IndexTooOld as whatever asks a server does."""

    def made_for(self, name: str) -> MadeFor | None:
        """None where there is no such index."""

    def open_made(self, name: str, made_for: MadeFor) -> KeptIndex:
        """Opens one that is there, and never puts another in its place. Raises IndexLocked."""

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

    def open(self, name: str, spec: EmbedderSpec | None, dimension: int) -> KeptIndex:
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

    def made_for(self, name: str) -> MadeFor | None:
        try:
            return _read_made_for(json.loads((self._root / name / "shards" / "index.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None

    def open_made(self, name: str, made_for: MadeFor) -> KeptIndex:
        from rag.qdrant_edge_index import EdgeIndex

        return EdgeIndex(self._root / name / "shards", made_for.dimension, model=made_for.model)

    def spec_of(self, name: str) -> EmbedderSpec | None:
        return read_spec(self._root / name) or _recalled(self._settings, self.made_for(name))

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

    def open(self, name: str, spec: EmbedderSpec | None, dimension: int) -> KeptIndex:
        from rag.qdrant_server_index import Layout, ServerIndex

        wanted = self._settings
        layout = Layout(wanted.qdrant_shards or None, wanted.qdrant_replicas, wanted.qdrant_quantized)
        model = spec.name if spec else WORDS_ONLY
        folder = self._notes / name
        folder.mkdir(parents=True, exist_ok=True)
        try:
            index = ServerIndex(self._connect(), dimension, self._prefix + name, model, layout, self._reader())
        except IndexMismatch:
            self.drop(name)
            index = ServerIndex(self._connect(), dimension, self._prefix + name, model, layout, self._reader())
        folder.mkdir(parents=True, exist_ok=True)
        save_spec(folder, spec, dimension)
        return index

    def made_for(self, name: str) -> MadeFor | None:
        with self._client() as client:
            if not client.collection_exists(self._prefix + name):
                return None
            return _read_made_for(client.get_collection(self._prefix + name).config.metadata or {})

    def open_made(self, name: str, made_for: MadeFor) -> KeptIndex:
        from rag.qdrant_server_index import ServerIndex

        return ServerIndex(
            self._connect(), made_for.dimension, self._prefix + name, made_for.model, reader=self._reader()
        )

    def spec_of(self, name: str) -> EmbedderSpec | None:
        return read_spec(self._notes / name) or _recalled(self._settings, self.made_for(name))

    def drop(self, name: str) -> None:
        with self._client() as client:
            client.delete_collection(self._prefix + name)
        # The notes alone: an embedded index of the same model may lie beside them, from before there was a server.
        for note in (self._notes / name).glob("*.json"):
            note.unlink(missing_ok=True)
        with suppress(OSError):
            (self._notes / name).rmdir()

    def _connect(
        self, *, check: bool = True, timeout_s: int = _TIMEOUT_S
    ) -> Any:  # Any: the client is imported only where a server is used
        """`check`: a thread of the client's asks for the server's version, and warns of one that is far from its own.
        Raises IndexTooOld."""
        from qdrant_client import QdrantClient

        from rag.server_version import refuse_older

        client = QdrantClient(url=self._url, api_key=self._key, timeout=timeout_s, check_compatibility=check)
        try:
            refuse_older(client)
        except BaseException:
            client.close()
            raise
        return client

    def _reader(self) -> Any:
        return self._connect(check=False, timeout_s=_READ_TIMEOUT_S)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        from rag.server_queries import answering

        client = self._connect(check=False)
        try:
            with answering():
                yield client
        finally:
            client.close()


def _read_made_for(noted: dict[str, Any]) -> MadeFor | None:
    model, dimension = noted.get("model"), noted.get("dimension")
    return MadeFor(model, dimension) if isinstance(model, str) and isinstance(dimension, int) else None


def _recalled(settings: Settings, made_for: MadeFor | None) -> EmbedderSpec | None:
    """The model of an index that has no note of it here: as the settings would take it today."""
    if made_for is None or made_for.model in ("", WORDS_ONLY):
        return None
    model = made_for.model
    try:
        spec = choose_embedder(settings.model_copy(update={"embedding_model": model}))
    except ModelMissing:
        spec = None
    found = spec or EmbedderSpec("sentence-transformers", model, model, None, False)
    return replace(found, dimension=made_for.dimension)


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
