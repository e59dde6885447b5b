"""What goes on in the queues of a camera when a worker ends: whoever watches next goes on with it."""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from ingest.vision.zones import Point

MOST_WAITING = 200
"""Those who wait longest; beyond that a queue is no matter of a camera."""
_LONGEST_S = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """Somebody who is in a queue's zone. `unseen_s`: so long ago they were seen in it last; `place` is relative."""

    zone: str
    waited_s: float
    unseen_s: float
    place: Point


@dataclass(frozen=True, slots=True)
class QueuesLeft:
    """`formed`: the zones whose queues were told and are not gone. All as of `at`."""

    at: datetime
    waiting: Sequence[Waiting] = ()
    formed: Sequence[str] = ()

    def exported(self) -> str:
        longest = heapq.nlargest(MOST_WAITING, self.waiting, key=lambda each: each.waited_s)
        rows = [asdict(each) for each in longest]
        return json.dumps({"at": self.at.isoformat(), "waiting": rows, "formed": list(self.formed)})


def parsed(left: str | None) -> QueuesLeft | None:
    """What was exported; None where nothing was, or something else."""
    if not left:
        return None
    try:
        told = json.loads(left)
        return QueuesLeft(
            datetime.fromisoformat(told["at"]),
            [_waiting(**row) for row in told["waiting"]],
            [str(zone) for zone in told["formed"]],
        )
    except (ValueError, KeyError, TypeError):
        return None  # of another release


def _waiting(zone: str, waited_s: float, unseen_s: float, place: Sequence[float]) -> Waiting:
    x, y = map(float, place)
    if not (0 <= unseen_s <= waited_s <= _LONGEST_S and math.isfinite(x + y)):
        raise ValueError("nobody waits like that")
    return Waiting(str(zone), float(waited_s), float(unseen_s), (x, y))
