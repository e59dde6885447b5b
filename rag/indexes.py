"""The indexes in use: the one that searches ask, and beside it the one of another embedding model that is being built.

Every write and every deletion goes to both, so that the new one is whole when it takes over. What could not be written
to one of them is told to `missed`: it must be filled again (`ingest/reindex.py`) before it counts as complete.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial

import structlog

from rag.embedding import Embedder, EmbedderSpec
from rag.generation import Generation, LoadedEmbedder, Passage
from rag.index import IndexCounts, Pool, VectorIndex
from rag.index_places import WORDS_ONLY, IndexPlace, dimension_of_index, index_name
from rag.mending import MendingIndex
from store.errors import Unavailable

log = structlog.get_logger(__name__)

_LOAD_AGAIN_S = 30.0
_CLOSE_AFTER_S = 60.0
"""Searches that asked an index before it was replaced are done by then."""


@dataclass(slots=True)
class _Retired:
    generation: Generation
    at_s: float = field(default_factory=time.monotonic)


def _ignore(_name: str, _tenant_id: str | None) -> None:
    """For those who keep no account of what was missed."""


class Indexes:
    """Thread-safe. `load` makes an embedder of its model, or raises; `missed` is told the index, and the tenant or None
    for all of them, that must be filled again."""

    def __init__(
        self,
        place: IndexPlace,
        wanted: EmbedderSpec | None,
        load: Callable[[EmbedderSpec], LoadedEmbedder],
        missed: Callable[[str, str | None], None] = _ignore,
    ) -> None:
        """Raises IndexLocked where another process owns an embedded index."""
        self.name = index_name(wanted)
        """Of the index that is wanted."""
        self.trouble = ""
        """Why the wanted model is not loaded."""
        self._place = place
        self._wanted = wanted
        self._load = load
        self._missed = missed
        self._looking = threading.Lock()
        self._changing = threading.Lock()
        self._tried_at_s = -_LOAD_AGAIN_S
        self._building: Generation | None = None
        self._retired: list[_Retired] = []
        self._closed = False
        self._serving = self._begin()
        log.info("the index is open", serving=self._serving.name, building=self.building_name)

    @property
    def serving(self) -> tuple[VectorIndex, Embedder | None]:
        """What searches ask now; both are of one model."""
        generation = self._serving
        return generation.index, generation.embedder

    @property
    def serving_name(self) -> str:
        return self._serving.name

    @property
    def serving_spec(self) -> EmbedderSpec | None:
        """The model that queries are embedded by, for loading it elsewhere; None also where it is a provider's."""
        spec = None if self._serving.embedder is None else self._serving.spec
        return None if spec is None or spec.is_remote else spec

    @property
    def building_name(self) -> str | None:
        return self._building.name if self._building is not None else None

    @property
    def wanted(self) -> Generation | None:
        """The index of the model that the settings want; None until its dimension is known."""
        return self.in_use(self.name)

    @property
    def names(self) -> list[str]:
        """Of the indexes in use, the serving one first."""
        return [each.name for each in self._in_use()]

    def in_use(self, name: str) -> Generation | None:
        return next((each for each in self._in_use() if each.name == name), None)

    def put(self, tenant_id: str, passages: Sequence[Passage]) -> None:
        """Has every index in use hold these, by their ids. What it holds already is not embedded again."""
        serving, *building = self._in_use()
        if serving.lacks_model and serving.name == self.name:
            raise Unavailable("The embedding model cannot be loaded.", code="model_unavailable", retry_after_s=60)
        self._put_into_serving(serving, tenant_id, passages)
        if self.wanted is None:
            self._missed(self.name, tenant_id)
        for generation in building:
            if generation.lacks_model:
                self._missed(generation.name, tenant_id)
                continue
            try:
                generation.put(tenant_id, passages)
            # Searches have it; what the new index lacks is noted and put in later.
            except Exception:
                log.exception("could not be put into the index that is being built", index=generation.name)
                self._missed(generation.name, tenant_id)

    def _put_into_serving(self, serving: Generation, tenant_id: str, passages: Sequence[Passage]) -> None:
        if not serving.lacks_model:
            try:
                serving.put(tenant_id, passages)
                return
            # An earlier model need not work any more; until the wanted index serves, these are found by words.
            except Exception:
                if serving.name == self.name:
                    raise
                log.exception("the earlier embedding model fails", index=serving.name)
        serving.put(tenant_id, passages, with_vectors=False)
        self._missed(serving.name, tenant_id)

    def fill(self, name: str, tenant_id: str, passages: Sequence[Passage]) -> set[str]:
        """Puts into one index what it does not hold, or holds otherwise; the ids of that."""
        generation = self.in_use(name)
        if generation is None or generation.lacks_model:
            raise Unavailable(self.trouble or "The embedding model is not loaded.", retry_after_s=60)
        return generation.put(tenant_id, passages)

    def delete(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> None:
        for each in self._in_use():
            each.index.delete(
                tenant_id, document_id=document_id, communication_id=communication_id, speaker_id=speaker_id
            )

    def delete_points(self, tenant_id: str, ids: Collection[str]) -> None:
        for each in self._in_use():
            each.index.delete_points(tenant_id, ids)

    def delete_tenant(self, tenant_id: str) -> None:
        for each in self._in_use():
            each.index.delete_tenant(tenant_id)

    def ids_of(
        self,
        tenant_id: str,
        *,
        document_id: str | None = None,
        communication_id: str | None = None,
        speaker_id: str | None = None,
    ) -> set[str]:
        """Of all indexes in use together."""
        found: set[str] = set()
        for each in self._in_use():
            found |= each.index.ids_of(
                tenant_id, document_id=document_id, communication_id=communication_id, speaker_id=speaker_id
            )
        return found

    def ready(self) -> bool:
        return self._serving.index.ready()

    def counts(self) -> IndexCounts:
        """Of the index that serves."""
        return self._serving.index.counts()

    def look(self, *, alone: bool = False) -> None:
        """To be called now and then: loads a model that could not be loaded before, switches over to the wanted index
        once it is complete, closes what is no longer needed, and deletes it where nobody else may use it: where this
        process is `alone`, or owns the place anyway."""
        if not self._looking.acquire(blocking=False):
            return
        try:
            self._load_wanted()
            self._switch()
            self._clear(alone)
        finally:
            self._looking.release()

    def maintain(self, pool: Pool) -> None:
        """May take minutes; calls nobody back."""
        for each in self._in_use():
            each.index.maintain(pool)

    def let_go(self) -> None:
        """Ends the embedders: who waits for one of them is told that the server stops."""
        self._closed = True
        for generation in (*self._in_use(), *(each.generation for each in self._retired)):
            if generation.embedder is not None:
                generation.embedder.close()

    def close(self) -> None:
        self._closed = True
        with self._looking:
            for generation in (*self._in_use(), *(each.generation for each in self._retired)):
                generation.close()

    def _in_use(self) -> list[Generation]:
        """The serving one first."""
        with self._changing:
            return [self._serving] if self._building is None else [self._serving, self._building]

    def _begin(self) -> Generation:
        wanted = self._open_wanted()
        if wanted is not None and wanted.index.is_complete():
            return wanted
        earlier = self._open_earlier()
        if earlier is not None:
            self._building = wanted
            return earlier
        return wanted or self._open(WORDS_ONLY, None, None)

    def _open(self, name: str, spec: EmbedderSpec | None, embedder: LoadedEmbedder | None) -> Generation:
        dimension = embedder.dimension if embedder is not None else dimension_of_index(spec)
        assert dimension is not None, "an index has a dimension"
        index = MendingIndex(self._place.open(name, spec, dimension), partial(self._missed, name))
        return Generation(name, spec, index, embedder)

    def _open_wanted(self) -> Generation | None:
        embedder = self._loaded(self._wanted)
        spec = self._wanted
        if spec is not None and embedder is None and spec.dimension is None:
            spec = self._place.spec_of(self.name)
            if spec is None or spec.dimension is None:
                return None
        return self._open(self.name, spec, embedder)

    def _loaded(self, spec: EmbedderSpec | None) -> LoadedEmbedder | None:
        """None where there is none to load, and where it cannot be loaded."""
        if spec is None:
            return None
        self._tried_at_s = time.monotonic()
        try:
            return self._load(spec)
        # Whatever an engine raises: the server starts, says so, and tries again.
        except Exception as error:
            log.exception("the embedding model cannot be loaded", model=spec.name)
            if spec is self._wanted:
                self.trouble = f"{spec.name} cannot be loaded: {str(error) or type(error).__name__}"
            return None

    def _open_earlier(self) -> Generation | None:
        """A complete index of another model, one whose model can still be loaded before one that is searched by words
        alone."""
        by_words: Generation | None = None
        for name in self._place.names():
            if name == self.name:
                continue
            spec = self._place.spec_of(name)
            if spec is None and name != WORDS_ONLY:
                continue
            found = self._open(name, spec, None)
            if not found.index.is_complete():
                found.close()
                continue
            found.embedder = self._loaded(spec)
            if found.embedder is not None:
                if by_words is not None:
                    by_words.close()
                return found
            if by_words is None:
                by_words = found
            else:
                found.close()
        return by_words

    def _load_wanted(self) -> None:
        wanted = self.wanted
        loaded = self._wanted is None or (wanted is not None and wanted.embedder is not None)
        if loaded or self._closed or time.monotonic() - self._tried_at_s < _LOAD_AGAIN_S:
            return
        embedder = self._loaded(self._wanted)
        if embedder is None:
            return
        self.trouble = ""
        log.info("the embedding model is loaded", model=embedder.name)
        if wanted is not None:
            wanted.embedder = embedder
            return
        building = self._open(self.name, self._wanted, embedder)
        with self._changing:
            self._building = building

    def _switch(self) -> None:
        building = self._building
        if building is None or building.lacks_model or not building.index.is_complete():
            return
        with self._changing:
            self._retired.append(_Retired(self._serving))
            self._serving, self._building = building, None
        log.info("searches use the new index", index=building.name, before=self._retired[-1].generation.name)

    def _clear(self, alone: bool) -> None:
        """Deletes what nobody uses once the wanted index serves."""
        ended = [each for each in self._retired if time.monotonic() - each.at_s >= _CLOSE_AFTER_S]
        for retired in ended:
            retired.generation.close()
            self._retired.remove(retired)
        if self._serving.name != self.name or not self._serving.index.is_complete():
            return
        if self._place.is_shared and not alone:
            return
        open_names = {self.name, *(each.generation.name for each in self._retired)}
        for name in set(self._place.names()) - open_names:
            self._place.drop(name)
            log.info("an index of an earlier model is deleted", index=name)
