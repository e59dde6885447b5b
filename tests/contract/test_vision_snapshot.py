"""What workers write over the API's back: the newest picture of a camera, for as long as it says something, and where
the webhooks of its events go."""

from __future__ import annotations

import io
import os
import time
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from PIL import Image

from ingest.vision.recorder import Found, LeaseLost, Recorder, as_jpeg, newest_key
from ingest.vision.scenarios.findings import Finding
from store import camera_streams
from store.blobs import Blobs
from store.database import now
from store.deliveries import Delivery
from tests.contract.test_vision import STREAMS, made
from tests.contract.test_vision import camera_server as camera_server
from tests.contract.test_vision import watched as watched
from tests.support.server import Account

PICTURE = np.full((1080, 1920, 3), 90, np.uint8)


def snapshot(stream: dict[str, Any]) -> str:
    return f"{STREAMS}/{stream['id']}/snapshot"


def keep(account: Account, stream: dict[str, Any]) -> str:
    """Keeps a picture of the stream as its worker does; its key."""
    key = newest_key(account.tenant_id, stream["id"])
    Blobs(account.server.settings).put(key, as_jpeg(PICTURE, widest=960, quality=75))
    return key


def no_picture(account: Account, stream: dict[str, Any]) -> bool:
    answer = account.get(snapshot(stream))
    return (answer.status_code, answer.json()["error"]["code"]) == (404, "no_picture")


def test_the_newest_picture_is_small_and_says_when_it_was_taken(watched: Account) -> None:
    stream = made(watched)
    assert no_picture(watched, stream)
    before = now().replace(microsecond=0)
    keep(watched, stream)
    answer = watched.get(snapshot(stream))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["cache-control"] == "no-store"
    assert before <= parsedate_to_datetime(answer.headers["last-modified"]) <= now()
    assert Image.open(io.BytesIO(answer.content)).size == (960, 540)


def test_a_picture_of_yesterday_is_forgotten(watched: Account) -> None:
    stream = made(watched)
    key = keep(watched, stream)
    blobs = Blobs(watched.server.settings)
    path = blobs.local_path(key)
    assert path is not None
    old_s = time.time() - 25 * 3600
    os.utime(path, (old_s, old_s))
    assert no_picture(watched, stream)
    assert not blobs.exists(key)


def test_the_picture_ends_with_its_camera_even_where_a_worker_comes_late(watched: Account) -> None:
    stream = made(watched)
    key = keep(watched, stream)
    with watched.server.database.read() as connection:
        row = camera_streams.get(watched.tenant_id, connection, stream["id"])
    assert row is not None
    assert watched.request("DELETE", f"{STREAMS}/{stream['id']}").status_code == 204
    blobs = Blobs(watched.server.settings)
    assert not blobs.exists(key)
    late = Recorder(watched.server.database, blobs, "another worker", on_delivery=lambda _: None)
    with pytest.raises(LeaseLost):
        late.keep_newest(row, PICTURE)
    assert not blobs.exists(key)
    assert watched.get(snapshot(stream)).status_code == 404


def test_a_new_webhook_address_holds_from_the_next_event_on(watched: Account) -> None:
    stream = made(watched, webhook_url="https://old.example/hook")
    database, mine = watched.server.database, {"worker_id": "of the test", "leased_until": now() + timedelta(hours=1)}
    table = camera_streams.camera_streams
    with database.write() as connection:
        connection.execute(sa.update(table).where(table.c.id == stream["id"]).values(**mine))
        held = camera_streams.get(watched.tenant_id, connection, stream["id"])
    assert held is not None
    told: list[Delivery] = []
    recorder = Recorder(database, Blobs(watched.server.settings), "of the test", on_delivery=told.append)

    def record(name: str) -> list[str]:
        told.clear()
        finding = Finding("fire", name, 0.9)
        recorder.record(held, [Found(finding, name, PICTURE, now(), 1920, 1080)])
        return [each.url for each in told]

    assert record("first") == ["https://old.example/hook"]
    address = f"{STREAMS}/{stream['id']}"
    assert watched.request("PATCH", address, json={"webhook_url": "https://new.example/hook"}).status_code == 200
    assert record("second") == ["https://new.example/hook"]
    assert watched.request("PATCH", address, json={"webhook_url": None}).status_code == 200
    assert record("third") == []
