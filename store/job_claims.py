"""Jobs that a process has claimed and does not work on.

DBOS claims a job in one transaction and begins it once that is acknowledged. Where the acknowledgement is lost on its
way, or the job cannot be begun, its row says for good that this process has it; and since that one's heartbeat goes on,
nobody takes it over.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import NamedTuple

LOST_AFTER_S = 120.0
"""From its claim to its thread a job takes milliseconds; where the database goes away between the two, DBOS asks again
after 90 s at most."""
_LATE = 1.2  # times as long as meant, at most, between two looks on a machine that is busy


class Claim(NamedTuple):
    """`token` is made anew for each claim."""

    job_id: str
    token: str | None


class LostClaims:
    """Tells which claims nothing works on: those that were at no look of so much running time, and were there at each.
    A process that was stopped for a while meanwhile, or whose database was, has not looked."""

    def __init__(self, *, looks_every_s: float) -> None:
        self._most_between_s = looks_every_s * _LATE
        self._looked_s: float | None = None
        self._idle_s: dict[Claim, float] = {}

    def look(self, claims: Collection[Claim], at_work: Collection[str]) -> list[Claim]:
        """`at_work`: the ids of jobs that this process works on, read after the claims."""
        looked_s = time.monotonic()
        passed_s = min(looked_s - self._looked_s, self._most_between_s) if self._looked_s is not None else 0.0
        self._looked_s = looked_s
        before, self._idle_s = self._idle_s, {}
        for claim in claims:
            if claim.job_id not in at_work:
                self._idle_s[claim] = before[claim] + passed_s if claim in before else 0.0
        return [claim for claim, idle_s in self._idle_s.items() if idle_s > LOST_AFTER_S]
