"""Which claims of a process nothing works on, by its own running time."""

from __future__ import annotations

import pytest

from store import job_claims
from store.job_claims import LOST_AFTER_S, Claim, LostClaims

EVERY_S = 5.0
LOST, LONG = Claim("lost", "a"), Claim("long", "b")


class Clock:
    def __init__(self) -> None:
        self.at_s = 1000.0

    def monotonic(self) -> float:
        return self.at_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(job_claims, "time", made)
    return made


def look_on(clock: Clock, claims: LostClaims, seconds: float, *, at_work: set[str], of: list[Claim]) -> list[Claim]:
    """What the last look of so many seconds says."""
    found: list[Claim] = []
    for _ in range(int(seconds / EVERY_S)):
        clock.at_s += EVERY_S
        found = claims.look(of, at_work)
    return found


def test_a_claim_without_its_job_is_lost_after_a_while_and_one_at_work_never_is(clock: Clock) -> None:
    claims = LostClaims(looks_every_s=EVERY_S)
    assert look_on(clock, claims, LOST_AFTER_S, at_work={"long"}, of=[LOST, LONG]) == []
    assert look_on(clock, claims, 2 * EVERY_S, at_work={"long"}, of=[LOST, LONG]) == [LOST]
    assert look_on(clock, claims, 10 * LOST_AFTER_S, at_work={"long"}, of=[LONG]) == []


def test_a_job_that_is_at_work_at_one_look_was_not_lost_before(clock: Clock) -> None:
    claims = LostClaims(looks_every_s=EVERY_S)
    look_on(clock, claims, LOST_AFTER_S, at_work=set(), of=[LOST])
    look_on(clock, claims, EVERY_S, at_work={"lost"}, of=[LOST])
    assert look_on(clock, claims, LOST_AFTER_S, at_work=set(), of=[LOST]) == []


def test_a_job_that_is_claimed_again_begins_anew(clock: Clock) -> None:
    claims = LostClaims(looks_every_s=EVERY_S)
    look_on(clock, claims, LOST_AFTER_S, at_work=set(), of=[LOST])
    assert look_on(clock, claims, LOST_AFTER_S, at_work=set(), of=[Claim("lost", "another")]) == []


def test_time_in_which_the_process_could_not_look_does_not_count(clock: Clock) -> None:
    claims = LostClaims(looks_every_s=EVERY_S)
    claims.look([LOST], set())
    clock.at_s += 10 * LOST_AFTER_S
    assert claims.look([LOST], set()) == []
