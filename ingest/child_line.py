"""Who is next: the line of works that wait for a child process.

Urgent work goes first, then the owner who was served least recently, then who came first. One owner's thousand works
so delay another's one by a single piece, and a stream of urgent ones leaves every fifth place to the rest.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

URGENT_IN_A_ROW = 4
OWNERS_REMEMBERED = 10_000


class Killable(Protocol):
    def kill(self) -> None:
        """Ends it; returns at once."""


Child = TypeVar("Child", bound=Killable)


@dataclass(slots=True, eq=False)
class Work(Generic[Child]):
    """One piece of work on its way through a pool. It waits in the line, then holds a place, then is over."""

    urgent: bool = False
    owner: str = ""
    tag: str = ""
    has_place: bool = False
    is_cancelled: bool = False
    child: Child | None = None

    def cancel(self) -> None:
        """Whoever works on it is killed. Needs the pool's lock, which keeps the child from going on to other work."""
        self.is_cancelled = True
        if self.child is not None:
            self.child.kill()


class Line(Generic[Child]):
    """Works in the order of their coming, and when each owner was served last. Needs the pool's lock throughout."""

    def __init__(self) -> None:
        self._waiting: dict[Work[Child], None] = {}
        self._served: OrderedDict[str, int] = OrderedDict()
        self._count = 0
        self._urgent_in_a_row = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def join(self, work: Work[Child]) -> None:
        self._waiting[work] = None

    def leave(self, work: Work[Child]) -> None:
        """Nothing happens where it does not wait any more."""
        self._waiting.pop(work, None)

    def next(self) -> Work[Child]:
        """Takes the work out of the line whose turn it is. Raises ValueError where none waits."""
        urgent = [work for work in self._waiting if work.urgent]
        rest = [work for work in self._waiting if not work.urgent]
        prefers_urgent = bool(urgent) and (not rest or self._urgent_in_a_row < URGENT_IN_A_ROW)
        self._urgent_in_a_row = self._urgent_in_a_row + 1 if prefers_urgent and rest else 0
        # min() keeps the first of equals: who came first.
        work = min(urgent if prefers_urgent else rest, key=lambda each: self._served.get(each.owner, 0))
        del self._waiting[work]
        self._note_served(work.owner)
        return work

    def _note_served(self, owner: str) -> None:
        self._count += 1
        self._served[owner] = self._count
        self._served.move_to_end(owner)
        if len(self._served) > OWNERS_REMEMBERED:
            self._served.popitem(last=False)
