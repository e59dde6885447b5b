"""Two workers at one subject: what is in the index in the end is what the store has, also where one does not come to
its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from ingest import timelines
from rag.generation import Passage
from store import accounts, communications, index_work
from store.communications import ContentItem
from store.database import Database, now
from store.ids import new_id
from store.index_work import DELETE_BLOB, INDEX_COMMUNICATION, IndexWork
from tests.store.conftest import database as database


class Killed(BaseException):
    """The process ends here."""


class Index:
    """Holds the texts of points by their ids. `before` and `after` happen around the next time something is put in."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.before: Callable[[], None] | None = None
        self.after: Callable[[], None] | None = None

    def ids_of(self, *_: object, **__: object) -> set[str]:
        return set(self.texts)

    def put(self, _tenant_id: str, passages: Sequence[Passage]) -> None:
        before, after, self.before, self.after = self.before, self.after, None, None
        if before is not None:
            before()
        self.texts.update({passage.id: passage.text for passage in passages})
        if after is not None:
            after()

    def delete_points(self, _tenant_id: str, ids: set[str]) -> None:
        for each in ids:
            self.texts.pop(each, None)


class House(SimpleNamespace):
    """The parts of a workshop that index work needs, and a call."""

    database: Database
    indexes: Index
    tenant_id: str
    call_id: str

    def say(self, text: str) -> IndexWork:
        with self.database.write() as connection:
            said = [ContentItem("audio_utterance", text, "A", 0, 900)]
            communications.replace_content(self.tenant_id, connection, self.call_id, said)
            return index_work.add(self.tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=self.call_id)

    def change(self) -> None:
        """As another process does it, from the change to the end of what follows from it."""
        timelines.do_index_work(self, self.say("new"))  # type: ignore[arg-type]

    def delete(self) -> None:
        with self.database.write() as connection:
            table = communications.communications
            connection.execute(sa.delete(table).where(table.c.id == self.call_id))
            work = index_work.add(self.tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=self.call_id)
        timelines.do_index_work(self, work)  # type: ignore[arg-type]

    @property
    def found(self) -> str:
        return " ".join(self.indexes.texts.values())

    def rows(self) -> set[str]:
        with self.database.read() as connection:
            return set(connection.execute(sa.select(index_work.index_work.c.action)).scalars())

    def pass_an_hour(self) -> None:
        with self.database.write() as connection:
            connection.execute(sa.update(index_work.index_work).values(changed_at=now() - timedelta(seconds=1)))


@pytest.fixture
def house(database: Database, monkeypatch: pytest.MonkeyPatch) -> House:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="A company")
        assert tenant is not None
        call = communications.create(
            tenant.id, connection, kind="call", channel_type="phone", occured_at=now(), title="A call"
        )
    made = House(database=database, indexes=Index(), tenant_id=tenant.id, call_id=call.id)
    monkeypatch.setattr(timelines, "workshop", lambda: made)
    return made


def fail(error: BaseException) -> Callable[[], None]:
    def raise_it() -> None:
        raise error

    return raise_it


def test_who_is_alone_at_a_subject_leaves_nothing_to_be_done(house: House) -> None:
    house.say("old")
    timelines.sweep()
    assert "old" in house.found
    assert house.rows() == set()


def test_who_is_slow_mends_what_it_put_over_something_newer(house: House) -> None:
    house.say("old")
    house.indexes.before = house.change
    timelines.sweep()
    assert "new" in house.found
    assert house.rows() == set()


@pytest.mark.parametrize("change", [House.change, House.delete])
def test_what_a_kill_left_of_something_older_goes_later(house: House, change: Callable[[House], None]) -> None:
    house.say("old")
    house.indexes.before = lambda: change(house)
    house.indexes.after = fail(Killed())
    with pytest.raises(Killed):
        timelines.sweep()
    assert "old" in house.found
    with house.database.read() as connection:
        assert index_work.list_open(connection) == [], "the other one has ticked it off"
    house.pass_an_hour()
    timelines.sweep()
    timelines.sweep()
    assert "old" not in house.found
    assert bool(house.found) == (change is House.change)
    assert house.rows() == set()


def test_what_is_looked_at_again_may_fail_and_be_killed_too(house: House) -> None:
    house.say("old")
    house.indexes.before, house.indexes.after = house.change, fail(Killed())
    with pytest.raises(Killed):
        timelines.sweep()
    house.pass_an_hour()
    timelines.sweep()
    house.indexes.before = fail(RuntimeError("the index is away"))
    with capture_logs():
        timelines.sweep()
    house.indexes.before = fail(Killed())
    with pytest.raises(Killed):
        timelines.sweep()
    assert "old" in house.found
    timelines.sweep()
    assert "new" in house.found
    house.pass_an_hour()
    timelines.sweep()
    timelines.sweep()
    assert house.rows() == set()


def test_what_fails_after_it_put_in_something_older_is_open_again(house: House) -> None:
    house.say("old")
    house.indexes.before, house.indexes.after = house.change, fail(RuntimeError("the database restarts"))
    with capture_logs():
        timelines.sweep()
    assert "old" in house.found
    timelines.sweep()
    assert "new" in house.found


def test_a_blob_that_could_not_go_and_was_taken_in_meanwhile_is_not_to_go_again(database: Database) -> None:
    tenant_id, subject = new_id(), new_id()
    with database.write() as connection:
        work = index_work.add(tenant_id, connection, action=DELETE_BLOB, subject_id=subject, blob_key="a blob")
        index_work.withdraw(tenant_id, connection, DELETE_BLOB, [subject])
        index_work.put_back(tenant_id, connection, work)
        assert index_work.list_open(connection) == []


def test_who_comes_late_ticks_off_no_change_that_came_after_the_row_was_gone(database: Database) -> None:
    tenant_id, subject = new_id(), new_id()
    with database.write() as connection:
        work = index_work.add(tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=subject)
        index_work.done(tenant_id, connection, work)
        newer = index_work.add(tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=subject)
        index_work.done(tenant_id, connection, work)
        assert index_work.list_open(connection) == [newer]


def test_a_look_stays_noted_until_everybody_who_was_at_the_subject_has_ended(database: Database) -> None:
    tenant_id, subject = new_id(), new_id()

    def noted() -> set[Any]:
        with database.read() as connection:
            return set(connection.execute(sa.select(index_work.index_work.c.version)).scalars())

    with database.write() as connection:
        index_work.begin(tenant_id, connection, INDEX_COMMUNICATION, subject)
        index_work.begin(tenant_id, connection, INDEX_COMMUNICATION, subject)
    assert noted() == {2}
    for left in ({1}, set(), set()):
        with database.write() as connection:
            index_work.end(tenant_id, connection, INDEX_COMMUNICATION, subject)
        assert noted() == left
