"""What a question is answered from, for agents, REST and evaluation alike: candidates of the hybrid search that are
still true, each said once, in the best order there is, and with their neighbours where these are wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rag.duplicates import Distinct
from rag.embedding import Embedder
from rag.index import Filter
from rag.reranking import Reranker
from rag.search import Found, Searcher
from store import analysis, communications, knowledge
from store.database import Connection, Database
from store.knowledge import CurrentChunk

RERANKED = 30
MOST_CHARACTERS = 4000
"""Of a passage together with its neighbours."""

# How deep the search looks. What a deeper look adds comes behind all that is there already: an order that did not
# depend on how much of it is asked for could else not be read page by page.
_DEPTHS = (50, 200, 800, 3200)


@dataclass(frozen=True, slots=True)
class Looked:
    """`is_cut`: there are fewer passages than were asked for, since the search looks no deeper: there may be more."""

    passages: list[Found]
    is_cut: bool


class Retriever:
    """Thread-safe. Made for a few questions: it keeps the index that served when it was made."""

    def __init__(self, searcher: Searcher, database: Database, reranker: Reranker | None = None) -> None:
        self._searcher = searcher
        self._database = database
        self._reranker = reranker

    @property
    def embedder(self) -> Embedder | None:
        """The model of the index that is searched; None where that is searched by words alone."""
        return self._searcher.embedder

    @property
    def reranker_name(self) -> str | None:
        return self._reranker.name if self._reranker is not None else None

    def find(self, tenant_id: str, query: str, filter: Filter, limit: int, *, neighbours: int = 0) -> list[Found]:
        """The best `limit` passages, best first, with scores that do not rise. Fewer only where there are no more, or
        where a few thousand candidates do not hold so many.

        `neighbours`: so many chunks before and after each passage of a document are joined to it, at most to
        `MOST_CHARACTERS`; what one passage took in does not come again. Raises what the index raises.
        """
        assert neighbours >= 0
        passages = self._look(tenant_id, query, filter, limit, neighbours).passages
        if not neighbours or not passages:
            return passages
        with self._database.read() as connection:
            return _expanded(tenant_id, connection, passages, neighbours)

    def look(self, tenant_id: str, query: str, filter: Filter, limit: int) -> Looked:
        """What `find` gives, and whether fewer are all that there are."""
        return self._look(tenant_id, query, filter, limit, 0)

    def _look(self, tenant_id: str, query: str, filter: Filter, limit: int, neighbours: int) -> Looked:
        assert limit > 0
        kept, looked_at_all = _Kept(neighbours), False
        wanted = max(limit, RERANKED) if self._reranker is not None else limit
        for batch, ends in self._candidates(tenant_id, query, filter, wanted):
            kept.take(batch, wanted)
            looked_at_all = ends
            if len(kept.passages) >= wanted:
                break
        passages = [replace(each, duplicates=kept.duplicates[each.id]) for each in kept.passages]
        passages = _never_rising(self._reranked(query, passages))[:limit]
        return Looked(passages, is_cut=len(passages) < limit and not looked_at_all)

    def _candidates(
        self, tenant_id: str, query: str, filter: Filter, wanted: int
    ) -> Iterator[tuple[list[Found], bool]]:
        """All that can be found and the store still has, in batches, each passage once; with each, whether it ends what
        there is."""
        seen: set[str] = set()
        gone: set[str] = set()
        # The first look fetches a little more than is needed: mostly nothing is dropped.
        for depth in (min(wanted + 10, _DEPTHS[0]), *_DEPTHS):
            # Else a large one on its way into the index, or out of it, could stand before all that there is.
            narrower = replace(filter, without_document_ids=tuple(sorted(gone))) if gone else filter
            found = self._searcher.search(tenant_id, query, narrower, depth)
            fresh = [each for each in found if each.id not in seen]
            with self._database.read() as connection:
                current = _current(tenant_id, connection, fresh)
                if missing := _documents_of(fresh) - _documents_of(current):
                    gone |= missing - knowledge.findable(tenant_id, connection, missing)
            ends = len(found) < depth
            yield current, ends
            if ends:
                return
            seen.update(each.id for each in fresh)

    def _reranked(self, query: str, passages: list[Found]) -> list[Found]:
        if self._reranker is None:
            return passages
        first = passages[:RERANKED]
        order = self._reranker.order(query, [_titled(each) for each in first])
        if order is None:
            return passages
        assert sorted(order) == list(range(len(first)))
        # The scores stay with the places: a cross-encoder's are of another kind, and no probabilities either.
        moved = [replace(first[place], score=each.score) for place, each in zip(order, first, strict=True)]
        return [*moved, *passages[RERANKED:]]


@dataclass(slots=True)
class _Kept:
    """What is kept of the candidates, and how many duplicates of each were not."""

    neighbours: int
    passages: list[Found] = field(default_factory=list)
    duplicates: Counter[str] = field(default_factory=Counter)
    _distinct: Distinct = field(default_factory=Distinct)

    def take(self, candidates: Sequence[Found], most: int) -> None:
        for each in candidates:
            if len(self.passages) >= most:
                return
            original = self._distinct.find_original(each.id, each.text, _group(each))
            if original is None:
                self.passages.append(each)
            else:
                self.duplicates[original] += 1


def _documents_of(found: Sequence[Found]) -> set[str]:
    return {str(each.payload["document_id"]) for each in found if each.payload.get("kind") == "document"}


def _group(found: Found) -> Hashable:
    """Within what the same words are the same thing: two clients who say the same said it both."""
    kind = found.payload.get("kind")
    owner = {"communication": "communication_id", "memory": "speaker_id"}.get(str(kind))
    return kind, found.payload.get(owner) if owner else None


def _titled(found: Found) -> str:
    title = found.payload.get("title")
    return f"{title}\n{found.text}" if isinstance(title, str) else found.text


def _never_rising(passages: Sequence[Found]) -> list[Found]:
    """A deeper look has its own mean and spread, so that its scores may stand above those of the one before."""
    result: list[Found] = []
    for each in passages:
        bound = min(each.score, result[-1].score) if result else each.score
        result.append(each if bound == each.score else replace(each, score=bound))
    return result


def _current(tenant_id: str, connection: Connection, found: Sequence[Found]) -> list[Found]:
    """Those that the store still has: an index follows deletions and new versions a moment later."""

    def ids(kind: str, key: str | None = None) -> list[str]:
        of_kind = (each for each in found if each.payload.get("kind") == kind)
        return list(dict.fromkeys(str(each.payload[key]) if key else each.id for each in of_kind))

    there: set[str] = set()
    chunks: dict[str, CurrentChunk] = {}
    if chunk_ids := ids("document"):
        chunks = knowledge.current_chunks(tenant_id, connection, chunk_ids)
    if communication_ids := ids("communication", "communication_id"):
        there.update(communications.get_many(tenant_id, connection, communication_ids))
    if item_ids := ids("memory"):
        there.update(analysis.get_items(tenant_id, connection, item_ids))
    current = []
    for each in found:
        if (chunk := chunks.get(each.id)) is not None:
            current.append(_as_stored(each, chunk))
        elif each.id in there or each.payload.get("communication_id") in there:
            current.append(each)
    return current


def _as_stored(found: Found, chunk: CurrentChunk) -> Found:
    payload = found.payload | {
        "document_id": chunk.document_id,
        "space_id": chunk.space_id,
        "title": " › ".join(dict.fromkeys([chunk.title, *chunk.title_path])),
        "page": chunk.page,
        "idx": chunk.idx,
        "start_char": chunk.start_char,
        "end_char": chunk.end_char,
        "start_ms": chunk.start_ms,
        "end_ms": chunk.end_ms,
    }
    return replace(found, text=chunk.text, payload=payload)


def _expanded(tenant_id: str, connection: Connection, passages: Sequence[Found], neighbours: int) -> list[Found]:
    result = []
    taken = {(str(each.payload.get("document_id")), each.payload.get("idx")) for each in passages}
    for each in passages:
        document_id, idx = each.payload.get("document_id"), each.payload.get("idx")
        if each.payload.get("kind") != "document" or not isinstance(document_id, str) or not isinstance(idx, int):
            result.append(each)
            continue
        rows = knowledge.neighbours(tenant_id, connection, document_id, first=idx - neighbours, last=idx + neighbours)
        by_idx = {row.idx: row for row in rows if row.idx == idx or (document_id, row.idx) not in taken}
        # Reindexed since: its numbers are of another version.
        if idx not in by_idx or by_idx[idx].id != each.id:
            result.append(each)
            continue
        window = _window(by_idx, idx, neighbours)
        taken.update((document_id, row.idx) for row in window)
        payload = each.payload | {"start_char": window[0].start_char, "end_char": window[-1].end_char}
        result.append(replace(each, text=_join(window), payload=payload))
    return result


def _window(by_idx: dict[int, CurrentChunk], idx: int, neighbours: int) -> list[CurrentChunk]:
    """The chunk with what stands beside it without a gap, the nearer first, within `MOST_CHARACTERS`."""
    first = last = idx
    for distance in range(1, neighbours + 1):
        for before in (True, False):
            place = idx - distance if before else idx + distance
            low, high = (place, last) if before else (first, place)
            if place not in by_idx or abs(place - (first if before else last)) != 1:
                continue
            if by_idx[high].end_char - by_idx[low].start_char <= MOST_CHARACTERS:
                first, last = low, high
    return [by_idx[place] for place in range(first, last + 1)]


def _join(window: Sequence[CurrentChunk]) -> str:
    """Their stretch of the document; what two of them share stands in it once. Between chunks is white space alone."""
    parts = [window[0].text]
    end = window[0].end_char
    for chunk in window[1:]:
        gap = chunk.start_char - end
        parts.append("\n" * min(gap, 2) + chunk.text if gap >= 0 else chunk.text[-gap:])
        end = max(end, chunk.end_char)
    return "".join(parts)
