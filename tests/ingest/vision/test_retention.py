"""The newest pictures of cameras are kept for a day, whether somebody reads them or not."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from ingest.vision import retention
from ingest.vision.recorder import newest_key
from ingest.vision.retention import CameraSweep
from store import accounts, camera_events, camera_streams, camera_visitors
from store.blobs import Blobs
from store.camera_events import EVENT_PICTURES
from store.camera_visitors import VisitorLooks
from store.database import Database, now
from store.ids import new_id
from store.settings import Settings
from tests.support.migrated import migrated_sqlite

HOUR_S = 3600.0


class Cameras:
    """An account whose cameras keep pictures."""

    def __init__(self, database: Database, blobs: Blobs, name: str) -> None:
        self.database = database
        self.blobs = blobs
        with database.write() as connection:
            tenant = accounts.create_tenant(connection, name=name, external_id=name, features=["vision"])
        assert tenant is not None
        self.tenant_id = tenant.id

    def add(self, *, hours_ago: float) -> tuple[str, str]:
        """(id, key) of a stream whose newest picture is so old."""
        with self.database.write() as connection:
            stream = camera_streams.add(
                self.tenant_id,
                connection,
                name="Till",
                url=b"sealed",
                shown_url="rtsp://cam/1",
                scenarios=["traffic"],
                transport="tcp",
            )
        key = newest_key(self.tenant_id, stream.id)
        self.blobs.put(key, b"picture")
        path = self.blobs.local_path(key)
        assert path is not None
        taken_s = time.time() - hours_ago * HOUR_S
        os.utime(path, (taken_s, taken_s))
        return stream.id, key


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    migrated_sqlite(tmp_path)
    settings = Settings(data_dir=tmp_path, _env_file=None)  # type: ignore[call-arg]
    opened = SimpleNamespace(settings=settings, database=Database(settings), blobs=Blobs(settings))
    monkeypatch.setattr(retention, "workshop", lambda: opened)
    yield opened
    opened.database.close()


def test_a_picture_that_is_a_day_old_goes_though_nobody_reads_it(house: SimpleNamespace) -> None:
    one, other = (Cameras(house.database, house.blobs, name) for name in ("one", "other"))
    _, offline = one.add(hours_ago=25)
    _, online = one.add(hours_ago=0.1)
    _, unwatched = other.add(hours_ago=24.5)
    with house.database.write() as connection:
        accounts.update_tenant(other.tenant_id, connection, features=[])  # vision is switched off
    house.blobs.put(f"{one.tenant_id}/audio/call", b"sound")
    CameraSweep().sweep()
    assert [house.blobs.exists(key) for key in (offline, unwatched)] == [False, False]
    assert house.blobs.exists(online)
    assert house.blobs.exists(f"{one.tenant_id}/audio/call")


def test_a_picture_that_outlived_its_stream_goes_at_once(house: SimpleNamespace) -> None:
    cameras = Cameras(house.database, house.blobs, "one")
    ended, left = cameras.add(hours_ago=0.1)
    with house.database.write() as connection:
        # The server was killed before it deleted the picture.
        assert camera_streams.delete(cameras.tenant_id, connection, ended)
    CameraSweep().sweep()
    assert not house.blobs.exists(left)


def test_a_picture_that_no_event_names_goes(house: SimpleNamespace) -> None:
    cameras = Cameras(house.database, house.blobs, "one")
    stream_id, _ = cameras.add(hours_ago=0.1)
    keys = {}
    for name, hours_ago in (("named", 2), ("lost", 2), ("new", 0.5)):
        keys[name] = f"{EVENT_PICTURES}/{cameras.tenant_id}/{stream_id}/{name}.jpg"
        house.blobs.put(keys[name], b"picture")
        taken_s = time.time() - hours_ago * HOUR_S
        os.utime(house.blobs.local_path(keys[name]), (taken_s, taken_s))
    with house.database.write() as connection:
        camera_events.add(
            cameras.tenant_id,
            connection,
            stream_id,
            new_id(),
            subject="1",
            scenario="barcode",
            kind="barcode_read",
            confidence=0.9,
            occurred_at=now(),
            details={},
            snapshot_key=keys["named"],
        )
    CameraSweep().sweep()
    assert {name for name, key in keys.items() if house.blobs.exists(key)} == {"named", "new"}


def test_what_a_worker_of_the_release_before_reads_is_found_after_a_sweep(
    house: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now_s=0.0)
    monkeypatch.setattr(retention, "time", SimpleNamespace(monotonic=lambda: clock.now_s))
    monkeypatch.setattr(retention, "_AT_ONCE", 2)
    cameras = [Cameras(house.database, house.blobs, name) for name in ("one", "other")]
    streams = [each.add(hours_ago=0.1)[0] for each in cameras]

    def read_by_the_release_before(text: str, *, hours_ago: float) -> None:
        for each, stream_id in zip(cameras, streams, strict=True):
            event_id = new_id()
            with house.database.write() as connection:
                camera_events.add(
                    each.tenant_id,
                    connection,
                    stream_id,
                    event_id,
                    subject=text,
                    scenario="lpr",
                    kind="plate_read",
                    confidence=0.9,
                    occurred_at=now() - timedelta(hours=hours_ago),
                    details={"text": text},
                    snapshot_key=None,
                )
                table = camera_events.camera_events
                connection.execute(sa.update(table).where(table.c.id == event_id).values(search_key=None))

    def found(text: str) -> int:
        with house.database.read() as connection:
            pages = [camera_events.list_page(each.tenant_id, connection, text=text, limit=9) for each in cameras]
        return sum(map(len, pages))

    sweep = CameraSweep()
    for text in ("A-1", "A-2"):
        read_by_the_release_before(text, hours_ago=50)
    for _ in range(3):  # what was there at the start, in batches
        sweep.sweep()
    assert found("a") == 4
    read_by_the_release_before("B-1", hours_ago=0.1)
    read_by_the_release_before("C-1", hours_ago=2)
    sweep.sweep()
    assert (found("b"), found("c")) == (2, 0)
    clock.now_s = 24 * HOUR_S
    sweep.sweep()
    assert found("c") == 2


def test_what_visitors_look_like_goes_with_their_day_though_nobody_comes_after_them(house: SimpleNamespace) -> None:
    cameras = Cameras(house.database, house.blobs, "one")
    stream_id, _ = cameras.add(hours_ago=0.1)
    yesterday, today = now().date() - timedelta(days=1), now().date()

    def meet(day: date) -> None:
        with house.database.write() as connection:
            camera_visitors.put(cameras.tenant_id, connection, stream_id, [VisitorLooks(day, 1, 1, b"looks")])

    def known(day: date) -> int:
        with house.database.read() as connection:
            return len(camera_visitors.of_day(cameras.tenant_id, connection, stream_id, day))

    meet(yesterday)
    assert known(yesterday) == 1
    CameraSweep().sweep()
    assert known(yesterday) == 0
    meet(today)
    CameraSweep().sweep()
    assert known(today) == 1


def test_pictures_are_looked_at_now_and_then(house: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now_s=0.0)
    monkeypatch.setattr(retention, "time", SimpleNamespace(monotonic=lambda: clock.now_s))
    cameras = Cameras(house.database, house.blobs, "one")
    sweep = CameraSweep()
    sweep.sweep()
    _, old = cameras.add(hours_ago=25)
    for minutes, is_there in ((30, True), (61, False)):
        clock.now_s = minutes * 60.0
        sweep.sweep()
        assert house.blobs.exists(old) == is_there
