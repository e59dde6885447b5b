"""A generation: an index together with the model that its passages are embedded by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from rag.embedding import Embedder, EmbedderSpec
from rag.index import Point, Stored, Value, Vector, VectorIndex

_FILL_BATCH = 128
_WITHOUT_VECTOR = "without_vector"


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage to be found. `context`: headings that are embedded before the text and not quoted."""

    id: str
    text: str
    payload: dict[str, Value]
    context: str = ""


class LoadedEmbedder(Embedder, Protocol):
    """An embedder with what it holds: memory, a child process."""

    def close(self) -> None: ...


@dataclass(slots=True, eq=False)
class Generation:
    """An index and the model that its passages are embedded by: `spec` None where by none, `embedder` None also where
    it cannot be loaded (any more, or now)."""

    name: str
    spec: EmbedderSpec | None
    index: VectorIndex
    embedder: LoadedEmbedder | None

    @property
    def lacks_model(self) -> bool:
        return self.spec is not None and self.embedder is None

    def put(self, tenant_id: str, passages: Sequence[Passage], *, with_vectors: bool = True) -> set[str]:
        """Puts in what the index does not hold, or holds otherwise; the ids of that. Where fields alone are others, the
        text is not embedded again."""
        put: set[str] = set()
        for start in range(0, len(passages), _FILL_BATCH):
            batch = passages[start : start + _FILL_BATCH]
            there = self.index.passages(tenant_id, [passage.id for passage in batch])
            different = [passage for passage in batch if not _says(there.get(passage.id), passage)]
            changes = {passage.id: _changed_fields(there.get(passage.id), passage) for passage in different}
            lacking = [passage for passage in different if changes[passage.id] is None]
            if lacking:
                self._insert(tenant_id, lacking, with_vectors=with_vectors)
            by_change: dict[str, tuple[dict[str, Value], list[str]]] = {}
            for id_, change in changes.items():
                if change is not None:
                    by_change.setdefault(json.dumps(change, sort_keys=True), (change, []))[1].append(id_)
            for change, ids in by_change.values():
                self.index.set_payload(tenant_id, ids, change)
            put |= changes.keys()
        return put

    def close(self) -> None:
        with suppress(Exception):  # it is not used any more, whatever is the matter with it
            self.index.close()
        if self.embedder is not None:
            self.embedder.close()

    def _insert(self, tenant_id: str, passages: Sequence[Passage], *, with_vectors: bool) -> None:
        embedder = self.embedder if with_vectors else None
        vectors: Iterable[Vector | None] = [None] * len(passages)
        if embedder is not None:
            vectors = embedder.embed_for_index(
                [f"{each.context}\n{each.text}" if each.context else each.text for each in passages]
            )
        # Its own model would embed it otherwise than it is now, should it come back.
        extra: dict[str, Value] = {_WITHOUT_VECTOR: 1} if self.spec is not None and embedder is None else {}
        points = [
            Point(passage.id, vector, passage.text, passage.payload | extra)
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        self.index.upsert(tenant_id, points)


def _changed_fields(stored: Stored | None, passage: Passage) -> dict[str, Value] | None:
    """What the index must be told of a passage whose words it has; None where it must have it anew."""
    if stored is None or stored.text != passage.text or _WITHOUT_VECTOR in stored.payload:
        return None
    before, after = _told(stored.payload), _told(passage.payload)
    changed = {key: after.get(key) for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    return None if "title" in changed else changed


def _says(stored: Stored | None, passage: Passage) -> bool:
    return stored is not None and stored.text == passage.text and _told(stored.payload) == _told(passage.payload)


def _told(payload: dict[str, Value]) -> dict[str, Value]:
    """Without what says nothing: an index may leave it out."""
    return {key: value for key, value in payload.items() if value is not None}
