"""Moves an index to another engine or another folder, so that nothing is embedded again.

Account by account and page by page, what the target lacks of the source's points, or has otherwise, is put there as it
is, with its vectors, and what it has besides is deleted. So a move that was broken off, or that the source went on
after, is begun again and goes on where it was. Afterwards both are read again and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from dataclasses import dataclass, field, replace

from accounts.keys import Keyring
from rag.embedding import EmbedderSpec
from rag.index import ShardDamaged
from rag.index_places import WORDS_ONLY, IndexPlace, index_name, open_place
from rag.kept_points import KeptIndex, KeptPoints, pages
from store.moves import Checksum, Part, total
from store.settings import Settings


class NotMovable(Exception):
    """The index is left out, and made anew by the first start of the target. Says why."""


@dataclass(slots=True)
class MovedIndex:
    """`parts`: what was compared, all of it and then each account of which the sides differ. `unreadable`: accounts
    whose part of the source could not be read, which must be indexed anew, each with why. `is_full`: the target's start
    need not look for what is lacking of the others."""

    parts: list[Part] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    is_full: bool = False


def is_same_place(source: Settings, target: Settings) -> bool:
    """Whether both name the very same index."""
    if source.qdrant_url or target.qdrant_url:
        same_server = source.qdrant_url.rstrip("/") == target.qdrant_url.rstrip("/")
        return same_server and Keyring.of(source).installation_id == Keyring.of(target).installation_id
    return source.data_dir.absolute() == target.data_dir.absolute()


def move_index(
    source: Settings,
    target: Settings,
    spec: EmbedderSpec | None,
    tenant_ids: Set[str],
    tell: Callable[[str, int], None],
    *,
    gone: Set[str] = frozenset(),
) -> MovedIndex:
    """Makes the target's index as the source's, where that is of the model `spec`, which the target's settings want.
    `gone`: accounts that were deleted since an earlier move.

    Raises NotMovable where it is not, rag.index.IndexLocked where a process owns either of them, Unavailable where a
    server does not answer.
    """
    own, other = _opened(open_place(source), open_place(target), spec)
    try:
        moved = MovedIndex()
        for tenant_id in sorted(gone):
            other.delete_tenant(tenant_id)
        count = 0
        for tenant_id in sorted(tenant_ids):
            try:
                count += _copy(own, other, tenant_id)
            except ShardDamaged as error:
                moved.unreadable[tenant_id] = error.detail
        tell("index", count)
        moved.parts = _compare(own.points, other, sorted(tenant_ids - moved.unreadable.keys()))
        if all(part.is_whole for part in moved.parts) and own.is_current():
            other.mark_complete()
            moved.is_full = True
        return moved
    finally:
        own.close()
        other.close()


def _opened(source: IndexPlace, target: IndexPlace, spec: EmbedderSpec | None) -> tuple[KeptIndex, KeptIndex]:
    name, model = index_name(spec), spec.name if spec else WORDS_ONLY
    made_for = source.made_for(name)
    if made_for is None:
        there = ", ".join(source.names())
        raise NotMovable(f"it is of another model ({there}) than {model}" if there else "there is none here yet")
    if made_for.model != model or (spec is not None and spec.dimension not in (None, made_for.dimension)):
        raise NotMovable(f"it is of another model ({made_for.model}, {made_for.dimension} numbers) than {model}")
    own = source.open_made(name, made_for)
    try:
        known = replace(spec, dimension=made_for.dimension) if spec is not None else None
        return own, target.open(name, known, made_for.dimension)
    except BaseException:
        own.close()
        raise


def _copy(source: KeptIndex, target: KeptIndex, tenant_id: str) -> int:
    """How many points of the tenant there are. Raises ShardDamaged where the source's cannot be read; then the target
    has none."""
    try:
        return _copy_all(source.points, target, tenant_id)
    except ShardDamaged:
        target.delete_tenant(tenant_id)  # where it is the target's that is damaged, it is made again
        return _copy_all(source.points, target, tenant_id)


def _copy_all(source: KeptPoints, target: KeptIndex, tenant_id: str) -> int:
    count = 0
    for page in pages(source, tenant_id):
        there = target.points.get(tenant_id, [point.id for point in page])
        target.points.put(
            tenant_id, [point for point in page if point.id not in there or not point.is_like(there[point.id])]
        )
        count += len(page)
    if target.count(tenant_id) != count:
        _delete_strays(source, target, tenant_id)
    return count


def _delete_strays(source: KeptPoints, target: KeptIndex, tenant_id: str) -> None:
    for page in pages(target.points, tenant_id, whole=False):
        ids = [point.id for point in page]
        known = source.get(tenant_id, ids, whole=False)
        target.delete_points(tenant_id, [id_ for id_ in ids if id_ not in known])


def _compare(source: KeptPoints, target: KeptIndex, tenant_ids: Collection[str]) -> list[Part]:
    """All of it, then each account of which the sides differ."""
    accounts = [_compare_account(source, target, tenant_id) for tenant_id in tenant_ids]
    whole = Part("index", total(each.source for each in accounts), total(each.target for each in accounts))
    return [whole, *(each for each in accounts if not each.is_whole)]


def _compare_account(source: KeptPoints, target: KeptIndex, tenant_id: str) -> Part:
    """Of the target's, those are summed that have the source's ids; being as many, they are all that is there."""
    ours, theirs = Checksum(), Checksum()
    for page in pages(source, tenant_id):
        there = target.points.get(tenant_id, [point.id for point in page])
        for point in page:
            digest = point.digest(tenant_id)
            ours.add(digest)
            if (found := there.get(point.id)) is not None:
                theirs.add(digest if point.is_like(found) else found.digest(tenant_id))
    _, checksum = theirs.value
    return Part(f"index of {tenant_id}", ours.value, (target.count(tenant_id), checksum))
