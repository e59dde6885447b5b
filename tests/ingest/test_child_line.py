"""Whose turn it is, without any process."""

from __future__ import annotations

import pytest

from ingest import child_line
from ingest.child_line import URGENT_IN_A_ROW, Line, Work


class NoChild:
    def kill(self) -> None:
        raise AssertionError("nobody works yet")


class People(Line[NoChild]):
    """A line in which `come("a b! c")` lets owners join, in order, those with ! in a hurry."""

    def come(self, owners: str) -> None:
        for name in owners.split():
            owner = name.rstrip("!")
            self.join(Work(urgent=name.endswith("!"), owner=owner, tag=owner))

    def served(self, count: int) -> str:
        return " ".join(work.owner + "!" * work.urgent for work in (self.next() for _ in range(count)))


@pytest.fixture
def line() -> People:
    return People()


def test_without_owners_who_came_first_goes_first(line: People) -> None:
    works = [Work[NoChild](tag=str(number)) for number in range(5)]
    for work in works:
        line.join(work)
    assert [line.next() for _ in works] == works
    assert len(line) == 0


def test_owners_take_turns_however_many_works_one_of_them_has(line: People) -> None:
    line.come("a a a a a b b c")
    assert line.served(8) == "a b c a b a a a"


def test_an_owner_who_comes_late_waits_for_one_work_of_each_other(line: People) -> None:
    line.come("a a a b b b")
    assert line.served(2) == "a b"
    line.come("c")
    assert line.served(5) == "c a b a b"


def test_who_was_served_least_recently_goes_first_though_it_was_away_meanwhile(line: People) -> None:
    line.come("a b")
    assert line.served(2) == "a b"
    line.come("b a")
    assert line.served(2) == "a b"


def test_urgent_work_goes_first_and_its_owners_take_turns(line: People) -> None:
    line.come("a a b! b! c!")
    assert line.served(5) == "b! c! b! a a"


def test_a_stream_of_urgent_work_leaves_every_fifth_place_to_the_rest(line: People) -> None:
    assert URGENT_IN_A_ROW == 4
    line.come("a a")
    order = []
    for _ in range(11):
        line.come("u!")
        order.append(line.served(1))
    assert order == ["u!"] * 4 + ["a"] + ["u!"] * 4 + ["a"] + ["u!"]


def test_urgent_work_that_delayed_nobody_does_not_count_against_the_next(line: People) -> None:
    line.come("u! u! u! u! u! u!")
    assert line.served(6) == " ".join(["u!"] * 6)
    line.come("a u!")
    assert line.served(2) == "u! a"


def test_who_leaves_is_not_served_and_may_leave_twice(line: People) -> None:
    line.come("a")
    gone = Work[NoChild](owner="b")
    line.join(gone)
    line.leave(gone)
    line.leave(gone)
    assert line.served(1) == "a"
    with pytest.raises(ValueError, match="empty"):
        line.next()


def test_owners_are_forgotten_in_the_end(line: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_line, "OWNERS_REMEMBERED", 3)
    for number in range(50):
        line.come(f"owner-{number}")
        line.served(1)
    assert len(line._served) == 3
    line.come("owner-49 owner-48 owner-0")
    assert line.served(3) == "owner-0 owner-48 owner-49"
