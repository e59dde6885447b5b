"""An index whose damaged shards are put aside, so that one account's is made anew while the others go on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import structlog

from rag.index import (
    Candidates,
    Filter,
    Hit,
    IndexCounts,
    Point,
    Pool,
    ShardDamaged,
    Stored,
    Subject,
    Value,
    Vector,
    VectorIndex,
)

log = structlog.get_logger(__name__)

# Why a shard that is whole may not open now, in the words of the operating system.
_PASSING = ("No space left", "Too many open files", "Cannot allocate memory", "index is closed")

Result = TypeVar("Result")


class MendingIndex:
    """A `VectorIndex`. `damaged` is told the tenant, whose passages must be put in again, before the shard goes.

    A write is done then into a new shard. A search raises ShardDamaged once: an empty shard would say that there is
    nothing to be found.
    """

    def __init__(self, index: VectorIndex, damaged: Callable[[str], None]) -> None:
        self._index = index
        self._damaged = damaged
        self._mending = threading.Lock()

    def upsert(self, tenant_id: str, points: Sequence[Point]) -> None:
        self._mended(tenant_id, lambda: self._index.upsert(tenant_id, points))

    def set_payload(self, tenant_id: str, ids: Collection[str], values: Mapping[str, Value]) -> None:
        self._mended(tenant_id, lambda: self._index.set_payload(tenant_id, ids, values))

    def delete(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> None:
        self._mended(
            tenant_id,
            lambda: self._index.delete(
                tenant_id, document_id=document_id, communication_id=communication_id, speaker_id=speaker_id
            ),
        )

    def delete_points(self, tenant_id: str, ids: Collection[str]) -> None:
        self._mended(tenant_id, lambda: self._index.delete_points(tenant_id, ids))

    def delete_tenant(self, tenant_id: str) -> None:
        self._index.delete_tenant(tenant_id)

    def ids_of(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> set[str]:
        return self._mended(
            tenant_id,
            lambda: self._index.ids_of(
                tenant_id, document_id=document_id, communication_id=communication_id, speaker_id=speaker_id
            ),
        )

    def subjects(self, after: str | None, limit: int) -> tuple[set[Subject], str | None]:
        return self._index.subjects(after, limit)

    def passages(self, tenant_id: str, ids: Sequence[str]) -> dict[str, Stored]:
        return self._mended(tenant_id, lambda: self._index.passages(tenant_id, ids))

    def search_hybrid(
        self, tenant_id: str, vector: Vector | None, query_text: str, filter: Filter, limit: int
    ) -> Candidates:
        return self._noticed(tenant_id, lambda: self._index.search_hybrid(tenant_id, vector, query_text, filter, limit))

    def search_dense(self, tenant_id: str, vector: Vector, filter: Filter, limit: int) -> list[Hit]:
        return self._noticed(tenant_id, lambda: self._index.search_dense(tenant_id, vector, filter, limit))

    def search_text(self, tenant_id: str, query_text: str, filter: Filter, limit: int) -> list[Hit]:
        return self._noticed(tenant_id, lambda: self._index.search_text(tenant_id, query_text, filter, limit))

    def term_idf(self, tenant_id: str, terms: Sequence[str]) -> dict[str, float]:
        return self._noticed(tenant_id, lambda: self._index.term_idf(tenant_id, terms))

    def count(self, tenant_id: str) -> int:
        return self._noticed(tenant_id, lambda: self._index.count(tenant_id))

    def counts(self) -> IndexCounts:
        return self._index.counts()

    def ready(self) -> bool:
        return self._index.ready()

    def is_complete(self) -> bool:
        return self._index.is_complete()

    def is_current(self) -> bool:
        return self._index.is_current()

    def mark_complete(self) -> None:
        self._index.mark_complete()

    def maintain(self, pool: Pool | None = None) -> None:
        self._index.maintain(pool)

    def close(self) -> None:
        self._index.close()

    def _mended(self, tenant_id: str, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except ShardDamaged as error:
            self._mend(tenant_id, error)
        return call()

    def _noticed(self, tenant_id: str, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except ShardDamaged as error:
            self._mend(tenant_id, error)
            raise

    def _mend(self, tenant_id: str, error: ShardDamaged) -> None:
        if any(sign in error.detail for sign in _PASSING):
            raise error
        with self._mending:
            try:
                self._index.count(tenant_id)
            except ShardDamaged:
                log.error(
                    "a damaged shard is put away; its account is indexed anew", tenant_id=tenant_id, error=error.detail
                )
                self._damaged(tenant_id)
                self._index.delete_tenant(tenant_id)
