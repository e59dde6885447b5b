"""What a worker writes of a camera, as the next one finds it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from ingest.vision.recorder import Recorder, Sums, as_jpeg
from ingest.vision.visitors import UNKNOWN_FROM, Visitors
from store import accounts, camera_events, camera_streams, camera_traffic
from store.blobs import Blobs
from store.camera_traffic import Queue
from store.database import Connection, Database
from store.errors import Unavailable
from store.ids import new_id
from store.settings import Settings
from tests.support.camera_workers import held_stream
from tests.support.migrated import migrated_postgresql, migrated_sqlite
from tests.support.scene_camera import VAULT, Camera, Seeing

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
DAY = NOON.date()


class Cut(Database):
    """One whose next transaction fails at its end: it is taken back, or it is there and nobody is told so."""

    cut: Literal["taken back", "not told", ""] = ""

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        how, self.cut = self.cut, ""
        with super().write(durable=durable) as connection:
            yield connection
            if how == "taken back":
                raise Unavailable("the link was cut")
        if how:
            raise Unavailable("the link was cut")


class House:
    """A stream that the recorder's worker has."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Cut(settings)
        self.recorder = Recorder(self.database, Blobs(settings), "worker", on_delivery=lambda _: None)
        with self.database.write() as connection:
            tenant = accounts.create_tenant(connection, name="Shop", external_id="shop", features=["vision"])
            assert tenant is not None
        self.stream = held_stream(self.database, tenant.id, "worker")

    def known(self, day: date = DAY) -> int:
        return len(self.recorder.known_visitors(self.stream, day)._gallery)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    url = ""
    if request.param == "postgresql":
        url = migrated_postgresql(request.getfixturevalue("postgresql_cluster"))
    else:
        migrated_sqlite(tmp_path)
    made = House(Settings(data_dir=tmp_path, database_url=url, _env_file=None))  # type: ignore[call-arg]
    yield made
    made.database.close()


def met(visitors: Visitors, person: int) -> int:
    """The number of somebody who walked by."""
    look = np.random.default_rng(person).normal(size=512).astype(np.float32)
    for picture in range(6):
        visitors.see(person, look, 0.9, 100.0 * person + picture)
    visit = visitors.visitor_of(person, is_over=True)
    assert visit is not None
    return visit.visitor


def test_another_worker_knows_the_visitors_of_the_day_and_goes_on_with_their_numbers(house: House) -> None:
    visitors = house.recorder.known_visitors(house.stream, DAY)
    assert [met(visitors, person) for person in (1, 2, 3)] == [1, 2, 3]
    house.recorder.record(house.stream, [], [(NOON, 3)], visitors.take_changed())
    later = house.recorder.known_visitors(house.stream, DAY)
    assert [met(later, person) for person in (2, 4)] == [2, 4]
    house.recorder.record(house.stream, [], [(NOON, 9), (NOON, UNKNOWN_FROM + 1)], later.take_changed())
    assert house.known() == 4
    assert met(house.recorder.known_visitors(house.stream, DAY), 5) == 10, "of some nobody knows any more"
    assert met(house.recorder.known_visitors(house.stream, date(2026, 11, 24)), 5) == 1


def test_who_was_seen_by_a_camera_is_nobody_to_another_at_a_new_address(house: House) -> None:
    visitors = house.recorder.known_visitors(house.stream, DAY)
    met(visitors, 1)
    house.recorder.record(house.stream, [], (), visitors.take_changed())
    assert house.known() == 1
    with house.database.write() as connection:
        camera_streams.update(house.stream.tenant_id, connection, house.stream.id, url=b"another")
    # The worker has not heard of it.
    met(visitors, 2)
    house.recorder.record(house.stream, [], (), visitors.take_changed())
    assert house.known() == 0


def test_waits_are_kept_by_the_zone_and_make_the_hour_s_figure_together(house: House) -> None:
    for sums in (Sums({"till": (2, 60.0)}), Sums({"till": (1, 30.0), "bar": (3, 30.0)})):
        house.recorder.add_sums(house.stream, NOON, sums)
    hour = timedelta(hours=1)
    with house.database.read() as connection:
        (bucket,) = camera_traffic.series(
            house.stream.tenant_id, connection, house.stream.id, NOON, NOON + hour, step=hour
        )
    assert bucket.queues == (Queue("bar", 3, 10.0), Queue("till", 3, 30.0))
    assert bucket.avg_queue_sec == 20.0


def pictures(house: House) -> tuple[list[str], list[bytes]]:
    """What the events name, and what there is of it."""
    with house.database.read() as connection:
        events = camera_events.list_page(house.stream.tenant_id, connection, limit=10)
    named = [event.snapshot_key for event in events if event.snapshot_key is not None]
    assert len(named) == len(events)
    there = Blobs(house.settings)
    return named, [there.read(key) for key in named]


@pytest.mark.parametrize("cut", ["taken back", "not told"])
def test_an_event_has_its_picture_however_its_transaction_ended(house: House, cut: Literal["taken back"]) -> None:
    camera = Camera("safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.vehicles = [(400, 100, 600, 300)]
    camera.runs(3)
    house.database.cut = cut
    with pytest.raises(Unavailable):
        house.recorder.record(house.stream, camera.found)
    assert len(pictures(house)[0]) == (cut == "not told")
    (event_id,) = house.recorder.record(house.stream, camera.found)
    assert event_id is not None
    assert len(pictures(house)[0]) == 1
    (again,) = house.recorder.record(house.stream, [replace(camera.found[0], event_id=new_id())])
    assert again is None, "it is known by its subject"
    house.database.cut = cut
    better = np.full((108, 192, 3), 200, np.uint8)
    with pytest.raises(Unavailable):
        house.recorder.replace_picture(house.stream, event_id, better)
    (key,), (kept,) = pictures(house)
    assert (as_jpeg(better) == kept) == (cut == "not told")
    house.recorder.replace_picture(house.stream, event_id, better)
    (other,), (kept,) = pictures(house)
    assert (other != key, kept) == (True, as_jpeg(better))
    folder = house.settings.data_dir / "blobs" / camera_events.EVENT_PICTURES
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1, "of the others none is left"


def test_an_intruder_s_event_says_what_it_is_and_has_a_number_from_one_on(house: House) -> None:
    camera = Camera("safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.vehicles = [(400, 100, 600, 300)]
    camera.runs(3)
    house.recorder.record(house.stream, camera.found)
    with house.database.read() as connection:
        (event,) = camera_events.list_page(house.stream.tenant_id, connection, limit=10)
    assert event.type == "zone_intrusion"
    assert (event.metadata["object"], event.metadata["track_id"], event.metadata["zone"]) == ("vehicle", 1, "vault")
