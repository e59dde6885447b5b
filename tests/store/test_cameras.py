"""Cameras in the store, on both databases: who watches which stream, how long events are kept, figures that add up."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from store import accounts, camera_events, camera_standing, camera_streams, camera_traffic, camera_visitors
from store import database as store_database
from store.camera_standing import Tally
from store.camera_streams import Health, Stream
from store.camera_traffic import HEAT_COLUMNS, HEAT_ROWS, Queue
from store.camera_visitors import VisitorLooks
from store.database import Database, now
from store.ids import new_id

HOUR = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = HOUR.date()
LEASE_S = 60.0


def tenant(database: Database, *, camera_limit: int = 24) -> str:
    with database.write() as connection:
        made = accounts.create_tenant(connection, name="Shop", external_id=new_id())
        assert made is not None
        accounts.update_tenant(made.id, connection, camera_limit=camera_limit)
    return made.id


def stream(database: Database, tenant_id: str, **values: Any) -> Stream:
    fields: dict[str, Any] = {
        "name": "Door",
        "url": b"sealed",
        "shown_url": "rtsp://10.0.0.1/",
        "transport": "tcp",
        "scenarios": ["traffic"],
        "site_id": None,
        "geo": None,
        "webhook_url": None,
        "key_id": None,
    }
    with database.write() as connection:
        return camera_streams.add(tenant_id, connection, **{**fields, **values})


def take(database: Database, worker: str, most: int, lease_s: float = LEASE_S) -> set[str]:
    with database.write() as connection:
        return {each.id for each in camera_streams.take_free(connection, worker, most=most, lease_s=lease_s)}


def renew(database: Database, worker: str, lease_s: float = LEASE_S) -> set[str]:
    with database.write() as connection:
        return {each.id for each in camera_streams.renew_leases(connection, worker, lease_s=lease_s)}


def judge(database: Database, *, every_s: float = 0, lease_s: float = LEASE_S) -> int:
    with database.write() as connection:
        return camera_standing.judge(connection, every_s=every_s, lease_s=lease_s)


def test_a_stream_has_one_worker_until_its_lease_ends(database: Database) -> None:
    tenant_id = tenant(database)
    ids = {stream(database, tenant_id).id for _ in range(5)}
    first = take(database, "a", 3)
    assert len(first) == 3
    second = take(database, "b", 5)
    assert first | second == ids
    assert not first & second
    assert take(database, "c", 5) == set()
    assert renew(database, "a") == first
    renew(database, "a", lease_s=-1)
    assert take(database, "b", 2) < first
    assert len(renew(database, "a")) == 1


def test_workers_that_take_at_once_never_take_the_same(database: Database) -> None:
    tenant_id = tenant(database)
    ids = {stream(database, tenant_id).id for _ in range(24)}
    taken: list[set[str]] = []
    start = threading.Barrier(6)

    def work(name: str) -> None:
        start.wait()
        taken.extend(take(database, name, 1) for _ in range(4))

    threads = [threading.Thread(target=work, args=(f"worker {number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while more := take(database, "last", 1):
        taken.append(more)
    assert sum(map(len, taken)) == len(ids)
    assert set().union(*taken) == ids


def test_what_a_worker_lost_or_gave_back_is_not_its_own(database: Database) -> None:
    tenant_id = tenant(database)
    made = stream(database, tenant_id)
    take(database, "a", 1)
    health = Health("online", "", (), 25.0, 40.0, 640, 360)
    with database.write() as connection:
        held = camera_streams.hold(tenant_id, connection, made.id, "a")
        assert held is not None
        assert (held.id, held.url) == (made.id, made.url)
        camera_streams.report_health(tenant_id, connection, made.id, "a", health, b"seen")
        camera_streams.give_back(connection, "a", [made.id])
        assert not camera_streams.is_mine(tenant_id, connection, made.id, "a")
        assert camera_streams.hold(tenant_id, connection, made.id, "a") is None
        other = Health("offline", "gone", (), 0.0, 0.0, 0, 0)
        camera_streams.report_health(tenant_id, connection, made.id, "a", other, None)
        kept = camera_streams.get(tenant_id, connection, made.id)
        assert kept is not None
        assert (kept.status, kept.message, kept.fps) == ("reconnecting", camera_streams.SOON, 0.0)
        assert camera_streams.progress_of(tenant_id, connection, made.id) == b"seen"
    assert take(database, "b", 1) == {made.id}
    with database.write() as connection:
        camera_streams.report_worker(connection, "b", places=4, streams=1)
        assert camera_streams.is_heard(connection, "b", seen_within_s=60)
        camera_streams.forget_worker(connection, "b")
        assert not camera_streams.is_heard(connection, "b", seen_within_s=60)
    assert take(database, "c", 1) == {made.id}


WAITS = ("reconnecting", camera_streams.SOON, 0.0, 0.0)


def told(database: Database, made: Stream) -> tuple[str, str, float, float]:
    with database.read() as connection:
        now = camera_streams.get(made.tenant_id, connection, made.id)
        assert now is not None
        listed, _ = camera_streams.list_page(made.tenant_id, connection, limit=10, offset=0)
        assert listed == [now]
    return now.status, now.message, now.fps, now.latency_ms


def test_what_a_worker_said_that_is_silent_or_gone_is_told_no_longer(database: Database) -> None:
    made = stream(database, tenant(database))
    assert told(database, made)[0] == "connecting"
    take(database, "a", 1)
    with database.write() as connection:
        camera_streams.report_health(
            made.tenant_id, connection, made.id, "a", Health("online", "", (), 25.0, 40.0, 640, 360), None
        )
        assert camera_streams.count_by_status(connection) == {"online": 1}
    assert told(database, made) == ("online", "", 25.0, 40.0)
    renew(database, "a", lease_s=-1)
    assert told(database, made) == WAITS
    with database.write() as connection:
        assert camera_streams.count_by_status(connection) == {"reconnecting": 1}
    renew(database, "a")
    assert told(database, made) == ("online", "", 25.0, 40.0)
    with database.write() as connection:
        camera_streams.forget_worker(connection, "a")
        table = camera_streams.camera_streams.c
        row = connection.execute(sa.select(table.status, table.fps, table.latency_ms, table.worker_id)).one()
    assert tuple(row) == ("reconnecting", 0.0, 0.0, None)
    assert told(database, made) == WAITS


def test_a_worker_whose_clock_is_fast_takes_no_stream_of_another(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    if database.is_sqlite:
        pytest.skip("one machine, one clock")
    tenant_id = tenant(database)
    first, second = (stream(database, tenant_id).id for _ in range(2))
    assert take(database, "right", 1) == {first}
    with database.write() as connection:
        camera_streams.report_worker(connection, "right", places=1, streams=1)
    with monkeypatch.context() as fast:
        for module in (store_database, camera_streams):
            fast.setattr(module, "now", lambda: now() + timedelta(hours=1))
        assert take(database, "fast", 2) == {second}
        with database.write() as connection:
            camera_streams.report_worker(connection, "fast", places=1, streams=1)
            assert all(camera_streams.is_heard(connection, each, seen_within_s=LEASE_S) for each in ("right", "fast"))
    with database.read() as connection:
        seen = connection.execute(sa.select(camera_streams.camera_workers.c.seen_at)).scalars()
        assert all(each <= now() + timedelta(minutes=1) for each in seen)
    assert take(database, "right", 2) == set()


def test_a_lease_from_before_the_clock_was_set_back_is_no_lease(database: Database) -> None:
    made = stream(database, tenant(database))
    take(database, "gone", 1)
    renew(database, "gone", lease_s=3600)
    assert take(database, "b", 1) == {made.id}


def test_where_no_pictures_come_none_takes_any_time(database: Database) -> None:
    made = stream(database, tenant(database))
    take(database, "a", 1)
    with database.write() as connection:
        camera_streams.report_health(
            made.tenant_id, connection, made.id, "a", Health("offline", "gone", (), 0.0, 40.0, 640, 360), None
        )
    assert told(database, made) == ("offline", "gone", 0.0, 0.0)


def test_a_deleted_stream_is_watched_by_nobody_and_its_address_is_gone(database: Database) -> None:
    tenant_id = tenant(database)
    made = stream(database, tenant_id)
    take(database, "a", 1)
    with database.write() as connection:
        assert camera_streams.delete(tenant_id, connection, made.id)
        assert not camera_streams.delete(tenant_id, connection, made.id)
        row = connection.execute(sa.select(camera_streams.camera_streams)).one()
    assert (row.url, row.shown_url) == (b"", "")
    assert renew(database, "a") == set()
    assert take(database, "b", 1) == set()


def standing(database: Database, made: Stream) -> tuple[str, str, str | None]:
    with database.read() as connection:
        now = camera_streams.get(made.tenant_id, connection, made.id)
    assert now is not None
    return now.status, now.message, now.worker_id


@pytest.mark.parametrize(
    ("change", "back", "said"),
    [
        ({"is_active": False}, {"is_active": True}, "the client is paused"),
        ({"features": ["chat", "kb"]}, {"features": ["vision"]}, "the Vision module is switched off"),
        ({"camera_limit": 0}, {"camera_limit": 2}, "the plan has 0 cameras, and older ones than this are in use"),
    ],
)
def test_streams_of_who_may_have_none_are_stopped_and_go_on_afterwards(
    database: Database, change: dict[str, Any], back: dict[str, Any], said: str
) -> None:
    tenant_id = tenant(database)
    others = stream(database, tenant(database))
    made, own, waiting = (
        stream(database, tenant_id),
        stream(database, tenant_id, is_own=True),
        stream(database, tenant_id),
    )
    assert take(database, "a", 3) == {others.id, made.id, own.id}
    with database.write() as connection:
        accounts.update_tenant(tenant_id, connection, **change)
    assert judge(database) > 0
    assert judge(database) == 0, "each is told once"
    stays = 1 + ("camera_limit" in change)  # the operator's own are of no plan
    with database.read() as connection:
        assert camera_standing.tally(connection).streams == stays
        assert camera_standing.need_worker(connection)
    for each in (made, waiting):
        assert standing(database, each) == ("error", said, None)
    assert len(renew(database, "a")) == stays
    assert take(database, "b", 5) == set()
    with database.write() as connection:
        accounts.update_tenant(tenant_id, connection, **back)
    assert judge(database) > 0
    assert standing(database, made) == ("reconnecting", camera_streams.SOON, None)
    assert take(database, "b", 5) >= {made.id, waiting.id}
    assert judge(database) == 0


def test_of_too_many_cameras_the_oldest_go_on(database: Database) -> None:
    tenant_id = tenant(database)
    made = [stream(database, tenant_id) for _ in range(4)]
    take(database, "a", 4)
    with database.write() as connection:
        accounts.update_tenant(tenant_id, connection, camera_limit=3)
    assert judge(database) == 1
    assert renew(database, "a") == {each.id for each in made[:3]}
    with database.write() as connection:
        camera_streams.delete(tenant_id, connection, made[0].id)
    assert judge(database) == 1
    assert take(database, "b", 4) == {made[3].id}


def test_a_stream_that_its_worker_holds_at_the_moment_is_stopped_the_next_time(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("one writer at a time")
    tenant_id = tenant(database)
    made, other = stream(database, tenant_id), stream(database, tenant_id)
    take(database, "a", 2)
    with database.write() as connection:
        accounts.update_tenant(tenant_id, connection, is_active=False)
    with database.write() as connection:
        assert camera_streams.hold(tenant_id, connection, made.id, "a") is not None
        assert judge(database) == 1
    assert standing(database, other)[0] == "error"
    assert judge(database) == 1
    assert standing(database, made) == ("error", "the client is paused", None)


def test_one_judges_for_all_and_only_when_it_is_due(database: Database) -> None:
    tenant_id = tenant(database)
    for _ in range(3):
        stream(database, tenant_id)
    with database.write() as connection:
        camera_streams.report_worker(connection, "a", places=4, streams=0)
        camera_streams.report_worker(connection, "b", places=6, streams=0)
    take(database, "a", 1)
    assert judge(database) == 0
    with database.read() as connection:
        assert camera_standing.tally(connection) == Tally(streams=3, free=2, places=10)
    with database.write() as connection:
        accounts.update_tenant(tenant_id, connection, is_active=False)
    assert judge(database, every_s=LEASE_S) == 0, "somebody did it just now"
    if not database.is_sqlite:
        with database.write() as connection:
            assert camera_standing.judge(connection, every_s=0, lease_s=LEASE_S) == 3
            assert judge(database) == 0, "somebody does it at this moment"
    else:
        assert judge(database) == 3
    with database.read() as connection:
        assert camera_standing.tally(connection).streams == 0


def test_a_worker_is_needed_until_it_was_said_that_nothing_is_watched(database: Database) -> None:
    def is_needed() -> bool:
        with database.read() as connection:
            return camera_standing.need_worker(connection)

    tenant_id = tenant(database)
    made = stream(database, tenant_id)
    for change, is_watched in (({"is_active": False}, False), ({"is_active": True}, True)):
        with database.write() as connection:
            accounts.update_tenant(tenant_id, connection, **change)
        assert is_needed(), "it is to be judged anew"
        judge(database)
        assert is_needed() == is_watched
    with database.write() as connection:
        camera_streams.delete(tenant_id, connection, made.id)
    assert not is_needed()


@pytest.mark.parametrize("status", ["connecting", "reconnecting"])
def test_why_a_stream_waits_is_said_once_it_has_waited_for_longer_than_a_start_takes(
    database: Database, status: str
) -> None:
    made = stream(database, tenant(database), status=status)
    table = camera_streams.camera_streams

    def wait(seconds: float) -> None:
        began = {"leased_until": now() - timedelta(seconds=seconds)}
        if status == "connecting":  # nobody had it ever
            began = {"created_at": now() - timedelta(seconds=seconds)}
        with database.write() as connection:
            connection.execute(sa.update(table).values(**began))

    assert told(database, made)[:2] == (status, camera_streams.SOON)
    wait(camera_streams.TAKEN_WITHIN_S + 1)
    assert told(database, made)[:2] == (status, camera_streams.NO_WORKER)
    judge(database)  # which a worker does that lives
    assert told(database, made)[:2] == (status, camera_streams.NO_ROOM)
    judge(database, lease_s=-1)
    assert told(database, made)[:2] == (status, camera_streams.NO_WORKER)
    take(database, "a", 1)
    assert told(database, made)[:2] == (status, "")
    with database.write() as connection:
        camera_streams.forget_worker(connection, "a")
    assert told(database, made)[:2] == (status, camera_streams.SOON), "it waits anew"


def event(database: Database, made: Stream, subject: str, at: datetime) -> bool:
    with database.write() as connection:
        return camera_events.add(
            made.tenant_id,
            connection,
            made.id,
            new_id(),
            subject=subject,
            scenario="safety",
            kind="fall",
            confidence=1.5,
            occurred_at=at,
            details={"zone": "a"},
            snapshot_key="key",
        )


def test_the_same_finding_is_one_event(database: Database) -> None:
    tenant_id = tenant(database)
    one, two = stream(database, tenant_id), stream(database, tenant_id)
    assert event(database, one, "7", HOUR)
    assert not event(database, one, "7", HOUR + timedelta(hours=1))
    assert event(database, two, "7", HOUR)
    with database.read() as connection:
        found = camera_events.list_page(tenant_id, connection, limit=10)
        again = camera_streams.get(tenant_id, connection, one.id)
    assert [each.confidence for each in found] == [1.0, 1.0]
    assert again is not None
    assert again.last_event_at == HOUR


def test_what_was_read_before_there_were_keys_is_found_once_they_are_filled(database: Database) -> None:
    made = stream(database, tenant(database))
    table = camera_events.camera_events
    for number, kind in enumerate(("plate_read", "barcode_read", "fall", "container_read")):
        with database.write() as connection:
            camera_events.add(
                made.tenant_id, connection, made.id, new_id(), subject=str(number), scenario="lpr", kind=kind,
                confidence=0.9, occurred_at=HOUR, details={"text": f"A-{number}"}, snapshot_key=None,
            )  # fmt: skip
    with database.write() as connection:
        connection.execute(sa.update(table).values(search_key=None))
        assert camera_events.list_page(made.tenant_id, connection, text="a", limit=10) == []
        assert camera_events.fill_keys(connection) is None
        found = camera_events.list_page(made.tenant_id, connection, text="a", limit=10)
    assert {event.metadata["text"] for event in found} == {"A-0", "A-1", "A-3"}


def test_events_go_when_their_account_keeps_them_no_longer(database: Database) -> None:
    short, long = tenant(database), tenant(database)
    with database.write() as connection:
        accounts.update_tenant(long, connection, camera_days=90)
    old = now() - timedelta(days=40)
    for tenant_id in (short, long):
        made = stream(database, tenant_id)
        event(database, made, "old", old)
        event(database, made, "new", now())
    with database.write() as connection:
        expired = camera_events.list_expired(connection, limit=10)
        assert [(each.tenant_id, each.occurred_at.date()) for each in expired] == [(short, old.date())]
        camera_events.remove(connection, [each.id for each in expired])
        assert camera_events.list_expired(connection, limit=10) == []
        assert len(camera_events.list_page(short, connection, limit=10)) == 1
        assert len(camera_events.list_page(long, connection, limit=10)) == 2


def test_a_deleted_stream_goes_with_the_last_of_its_events(database: Database) -> None:
    tenant_id = tenant(database)
    made, other = stream(database, tenant_id), stream(database, tenant_id)
    event(database, made, "1", HOUR)
    with database.write() as connection:
        camera_streams.delete(tenant_id, connection, made.id)
        camera_streams.forget_deleted(connection)
        rows = connection.execute(sa.select(camera_streams.camera_streams.c.id)).scalars().all()
        assert set(rows) == {made.id, other.id}
        found = camera_events.list_page(tenant_id, connection, limit=10)
        camera_events.remove(connection, [each.id for each in found])
        camera_streams.forget_deleted(connection)
        rows = connection.execute(sa.select(camera_streams.camera_streams.c.id)).scalars().all()
        assert set(rows) == {other.id}


def known(database: Database, made: Stream, day: date = DAY, tenant_id: str | None = None) -> list[int]:
    with database.read() as connection:
        rows = camera_visitors.of_day(tenant_id or made.tenant_id, connection, made.id, day)
    return [each.visitor for each in rows]


def remember(database: Database, made: Stream, *visitors: int, day: date = DAY, looks: bytes = b"x") -> None:
    changed = [VisitorLooks(day, visitor, came, looks) for came, visitor in enumerate(visitors, 1)]
    with database.write() as connection:
        camera_visitors.put(made.tenant_id, connection, made.id, changed)


def test_what_visitors_look_like_is_kept_for_their_day_by_who_came_last(database: Database) -> None:
    made = stream(database, tenant(database))
    remember(database, made, 3, 1, 2)
    assert known(database, made) == [3, 1, 2]
    remember(database, made, 2, 1, 3)
    assert known(database, made) == [2, 1, 3]
    remember(database, made, 1, looks=b"")
    assert known(database, made) == [2, 3]
    assert known(database, made, tenant_id=new_id()) == []
    tomorrow = DAY + timedelta(days=1)
    remember(database, made, 1, day=tomorrow)
    assert (known(database, made), known(database, made, tomorrow)) == ([], [1])


def test_nobody_is_known_of_another_camera_or_of_one_that_is_gone_or_by_the_next_day(database: Database) -> None:
    tenant_id = tenant(database)
    moved, ended, silent, renamed = (stream(database, tenant_id) for _ in range(4))
    for each in (moved, ended, renamed):
        remember(database, each, 1, 2, day=now().date())
    remember(database, silent, 1, 2)
    with database.write() as connection:
        camera_streams.update(tenant_id, connection, moved.id, url=b"another")
        camera_streams.update(tenant_id, connection, renamed.id, name="Till")
        camera_streams.delete(tenant_id, connection, ended.id)
        camera_visitors.forget_old(connection)
        left = connection.execute(sa.select(camera_visitors.camera_visitors.c.stream_id)).scalars().all()
    assert set(left) == {renamed.id}


def test_numbers_of_visitors_go_on_after_the_highest_of_the_day(database: Database) -> None:
    made = stream(database, tenant(database))
    day = HOUR.replace(hour=0)
    with database.write() as connection:
        for hour, visitor in ((-1, 90), (0, 5), (23, 7), (23, 1_000_003), (24, 80)):
            at = day + timedelta(hours=hour)
            camera_traffic.add_visitor(made.tenant_id, connection, made.id, at, visitor)
        highest = camera_traffic.last_visitor(made.tenant_id, connection, made.id, day, below=1_000_000)
        later = day + timedelta(days=5)
        assert camera_traffic.last_visitor(made.tenant_id, connection, made.id, later, below=1_000_000) == 0
    assert highest == 7


def test_figures_of_an_hour_add_up_whoever_writes_them(database: Database) -> None:
    made = stream(database, tenant(database))
    heat = np.ones((HEAT_ROWS, HEAT_COLUMNS), np.float32)
    waits = {"till": (1, 4.5), "bar": (3, 30.0)}

    def count() -> None:
        for _ in range(10):
            with database.write() as connection:
                camera_traffic.add(made.tenant_id, connection, made.id, HOUR, entered=1, left=2, waits=waits, heat=heat)
                camera_traffic.add_visitor(made.tenant_id, connection, made.id, HOUR, 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as connection:
        end = HOUR + timedelta(hours=1)
        (bucket,) = camera_traffic.series(made.tenant_id, connection, made.id, HOUR, end, step=timedelta(hours=1))
        warm = camera_traffic.heat(made.tenant_id, connection, made.id, HOUR, end)
        other = camera_traffic.heat(new_id(), connection, made.id, HOUR, end)
    assert (bucket.entered, bucket.left, bucket.avg_queue_sec, bucket.unique_visitors) == (40, 80, 8.6, 1)
    assert bucket.queues == (Queue("bar", 120, 10.0), Queue("till", 40, 4.5))
    assert warm.shape == (HEAT_ROWS, HEAT_COLUMNS)
    assert np.all(warm == 40)
    assert not other.any()
