"""The shards of an embedded index: opened on demand, searched by many threads at once, replaced while in use.

qdrant-edge lets other threads run while it searches and holds the GIL while it writes. So searches share a shard, and
each write is short and waits, without the GIL, until no search is under way.
"""

from __future__ import annotations

import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import qdrant_edge as edge

from rag.empty_shards import EmptyShards, index_fields
from rag.index import ShardDamaged
from store.errors import Unavailable

MAX_JOURNALLED_POINTS = 5_000
"""Some 15 KB each. Where more come while a shard is being improved, that is tried again later."""
ROOM_BYTES = 256 << 20
"""Free on the disk, or nothing is written. Qdrant maps its files into memory, sparse as they are, and a page for which
the disk has no room is no error: the kernel ends the process (SIGBUS)."""
_NEXT = ".next-"


class GaveUp(Exception):
    """A shard could not be replaced now; it is as good as it was."""


class ReadersWriterLock:
    """Many readers or one writer. A writer that waits goes before readers that come after it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._writing = False
        self._writers_waiting = 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._writing and self._writers_waiting == 0)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                if self._readers == 0:
                    self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        with self._changed:
            self._writers_waiting += 1
            try:
                self._changed.wait_for(lambda: not self._writing and self._readers == 0)
                self._writing = True
            finally:
                self._writers_waiting -= 1
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()


@dataclass(slots=True)
class Journal:
    """What was written since a copy was made. `gave_up` where that was too much, or the copy is of no use any more."""

    operations: list[edge.UpdateOperation] = field(default_factory=list)
    points: int = 0
    gave_up: str = ""

    def add(self, operation: edge.UpdateOperation, points: int) -> None:
        self.points += max(1, points)
        if self.points > MAX_JOURNALLED_POINTS:
            self.give_up("too much was written meanwhile")
        if not self.gave_up:
            self.operations.append(operation)

    def give_up(self, why: str) -> None:
        self.gave_up = self.gave_up or why
        self.operations.clear()


@dataclass(slots=True)
class Slot:
    """A tenant's place among the open shards.

    `users` is guarded by the index. Who writes holds `writes`, and `access` exclusively for each change of `shard`.
    """

    writes: threading.Lock = field(default_factory=threading.Lock)
    access: ReadersWriterLock = field(default_factory=ReadersWriterLock)
    shard: edge.EdgeShard | None = None
    users: int = 0
    journal: Journal | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """Of a shard, and how many points it holds."""

    folder: Path
    points: int


class Writer:
    """Changes one shard, in steps between which searches go on."""

    def __init__(self, slot: Slot, shard: edge.EdgeShard, folder: Path) -> None:
        self._slot = slot
        self._folder = folder
        self.shard = shard

    def apply(self, operation: edge.UpdateOperation, points: int = 1) -> None:
        """`points`: how many the operation carries. Raises Unavailable where the disk is nearly full."""
        with self._slot.access.exclusive():
            _require_room(self._folder)
            if self._slot.journal is not None:
                self._slot.journal.add(operation, points)
            self.shard.update(operation)


class EdgeShards:
    """One folder a tenant in `folder`. At most `max_open` stay open, the least recently used is closed first."""

    def __init__(self, folder: Path, dimension: int, max_open: int) -> None:
        assert max_open > 0
        self.folder = folder
        self._max_open = max_open
        self._empty = EmptyShards(folder, dimension)
        self._guard = threading.Lock()
        self._slots: OrderedDict[str, Slot] = OrderedDict()
        self._closed = False
        self._clear_up()
        self.written = set(self.tenants())
        """Tenants whose shards may have changed since somebody last looked at them and took them out of here."""

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def open_shards(self) -> int:
        with self._guard:
            return sum(slot.shard is not None for slot in self._slots.values())

    def tenants(self) -> list[str]:
        return [entry.name for entry in self.folder.iterdir() if entry.is_dir() and not entry.name.startswith(".")]

    @contextmanager
    def reading(self, tenant_id: str) -> Iterator[edge.EdgeShard | None]:
        """The tenant's shard, or None where it has none."""
        name = _folder_name(tenant_id)
        with self._slot(name) as slot:
            while True:
                if slot.shard is None:
                    with slot.access.exclusive():
                        self._open(slot, name)
                with slot.access.shared():
                    # One that could not be opened again after it was replaced is none that is not there.
                    if slot.shard is not None or not (self.folder / name).exists():
                        yield slot.shard
                        return

    @contextmanager
    def writing(self, tenant_id: str, create: bool = False) -> Iterator[Writer | None]:
        """None where the tenant has no shard and `create` is not asked for. One writer a tenant at a time."""
        name = _folder_name(tenant_id)
        with self._slot(name) as slot, slot.writes:
            if slot.shard is None:
                with slot.access.exclusive():
                    self._open(slot, name, create)
            self.written.add(name)
            yield None if slot.shard is None else Writer(slot, slot.shard, self.folder)

    def remove(self, tenant_id: str) -> None:
        name = _folder_name(tenant_id)
        with self._slot(name) as slot, slot.writes, slot.access.exclusive():
            self._check_open()
            if slot.journal is not None:
                slot.journal.give_up("the account was deleted meanwhile")
            _close(slot)
            gone = self._put_away(self.folder / name)
        shutil.rmtree(gone, ignore_errors=True)

    @contextmanager
    def copied(self, tenant_id: str, copy: Callable[[Path, Path], None]) -> Iterator[Copy]:
        """A copy of the shard's folder, complete on the disk; what is written from then on is journalled.

        Writes of the tenant wait while `copy` works, searches do not. Whatever is left of the copy is deleted.
        """
        name = _folder_name(tenant_id)
        draft = self.folder / f".work-{uuid4()}"
        with self._slot(name) as slot:
            try:
                with slot.writes:
                    with slot.access.exclusive():
                        self._open(slot, name)
                    if slot.shard is None:
                        raise GaveUp("the account is gone")
                    assert slot.journal is None
                    slot.shard.flush()
                    points = slot.shard.count(edge.CountRequest())
                    copy(self.folder / name, draft)
                    slot.journal = Journal()
                yield Copy(draft, points)
            finally:
                slot.journal = None
                shutil.rmtree(draft, ignore_errors=True)

    def replace(self, tenant_id: str, draft: Path) -> None:
        """Puts the improved copy in the shard's place, with what was written meanwhile. Raises GaveUp, and Unavailable
        where the disk is nearly full.

        A crash before `.next-` is renamed leaves the old shard in its place; between the two renames after that it
        leaves only the new one, which `_clear_up` puts there; both hold everything.
        """
        name = _folder_name(tenant_id)
        gone: Path | None = None
        try:
            with self._slot(name) as slot:
                self._replay(slot, draft)
                with slot.writes:
                    self._check_open()
                    self._replay(slot, draft)
                    with slot.access.exclusive():
                        _require_room(self.folder)  # or it could not be opened again
                        _close(slot)
                        gone = self._exchange(name, draft)
                        slot.journal = None
                        self._open(slot, name)
        finally:
            if gone is not None:
                shutil.rmtree(gone, ignore_errors=True)

    def close(self) -> None:
        """Waits for the calls under way and closes every shard. Later calls raise ShardDamaged."""
        with self._guard:
            self._closed = True
            slots = list(self._slots.values())
            self._slots.clear()
        for slot in slots:
            with slot.writes, slot.access.exclusive():
                _close(slot)
        self._empty.close()

    def _replay(self, slot: Slot, draft: Path) -> None:
        """Writes into the copy what was journalled until now."""
        journal = slot.journal
        assert journal is not None
        if journal.operations:
            _require_room(self.folder)
            shard = edge.EdgeShard.load(str(draft))
            try:
                with slot.access.exclusive():
                    operations, journal.operations, journal.points = journal.operations, [], 0
                for operation in operations:
                    shard.update(operation)
                shard.flush()
            finally:
                shard.close()
        if journal.gave_up:
            raise GaveUp(journal.gave_up)

    @contextmanager
    def _slot(self, name: str) -> Iterator[Slot]:
        with self._guard:
            self._check_open()
            slot = self._slots.setdefault(name, Slot())
            self._slots.move_to_end(name)
            slot.users += 1
        try:
            yield slot
        finally:
            with self._guard:
                slot.users -= 1
                self._close_surplus()

    def _check_open(self) -> None:
        if self._closed:
            raise ShardDamaged("The index is closed.")

    def _close_surplus(self) -> None:
        """Called with the guard held. Closing takes milliseconds, and nobody may open the shard meanwhile.

        One that could not be opened has no other closed for it: on a disk that is nearly full none is opened again.
        """
        idle = [(name, slot) for name, slot in self._slots.items() if slot.users == 0]
        surplus = sum(slot.shard is not None for slot in self._slots.values()) - self._max_open
        for name, slot in idle:
            if slot.shard is None or surplus > 0:
                surplus -= slot.shard is not None
                _close(self._slots.pop(name))

    def _open(self, slot: Slot, name: str, create: bool = False) -> None:
        """Called with exclusive access."""
        self._check_open()  # it may have been closed while this call waited
        folder = self.folder / name
        if slot.shard is not None or not (create or folder.exists()):
            return
        _require_room(self.folder)  # opening writes, too
        if not folder.exists():
            self._empty.put(folder)
            _require_room(self.folder)
        try:
            slot.shard = edge.EdgeShard.load(str(folder))
            index_fields(slot.shard)
        # qdrant-edge raises bare Exceptions, whatever went wrong.
        except Exception as error:
            raise ShardDamaged(
                f"The shard in {folder} cannot be opened ({error}). Move that folder away and index the account anew."
            ) from error

    def _put_away(self, folder: Path) -> Path:
        """Renamed first: a crash leaves the whole shard or none."""
        gone = self.folder / f".deleted-{uuid4()}"
        if folder.exists():
            folder.rename(gone)
        return gone

    def _exchange(self, name: str, draft: Path) -> Path:
        """Where the old shard is then."""
        place, following = self.folder / name, self.folder / (_NEXT + name)
        draft.rename(following)
        try:
            gone = self._put_away(place)
            following.rename(place)
        except OSError:
            if not place.exists():
                gone.rename(place)
            following.rename(draft)
            raise
        return gone

    def _clear_up(self) -> None:
        """After a process that did not live to finish what it had begun."""
        for following in self.folder.glob(f"{_NEXT}*"):
            place = self.folder / following.name.removeprefix(_NEXT)
            if not place.exists():
                following.rename(place)
        for leftover in self.folder.glob(".*-*"):
            # A child of that process may still write there; then the next start clears the rest.
            shutil.rmtree(leftover, ignore_errors=True)


def _require_room(folder: Path) -> None:
    if shutil.disk_usage(folder).free < ROOM_BYTES:
        raise Unavailable("The disk of the index has no room.", retry_after_s=30)


def _close(slot: Slot) -> None:
    if slot.shard is not None:
        slot.shard.close()
        slot.shard = None


def _folder_name(tenant_id: str) -> str:
    """A UUID's canonical form, which no path can hide in. Raises ValueError for anything else."""
    return str(UUID(tenant_id))
