"""Cameras are watched while the store of their pictures is away: what came and went meanwhile is told of afterwards."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import httpx2
import numpy as np
import pytest
from PIL import Image

from ingest.vision.scenarios.barcodes import read_codes
from tests.support.bucket import Bucket, running_bucket
from tests.support.calls import wait_until
from tests.support.parcels import SHOWN_BY, Parcels, all_events, write_belt
from tests.support.rtsp import RtspServer, need_server, running_server, silent_server
from tests.support.server import RunningServer

PARCELS, SHOWN_S = 8, 1.0


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with running_bucket() as running:
        yield running


@pytest.fixture
def belt(tmp_path: Path) -> Iterator[RtspServer]:
    need_server()
    clip = write_belt(tmp_path / "belt.mp4", PARCELS)
    with running_server(clip=clip, **SHOWN_BY) as running:
        yield running


@pytest.fixture
def watching(bucket: Bucket, tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path / "data", blob_url=bucket.url, camera_networks="127.0.0.0/8")
    try:
        yield running.start()
    finally:
        running.close()


def refusing(_: int) -> AbstractContextManager[object]:
    return nullcontext()


@pytest.mark.parametrize("away", [refusing, silent_server])
def test_what_passes_while_the_bucket_is_away_has_its_event_and_its_picture(
    away: Callable[[int], AbstractContextManager[object]], bucket: Bucket, belt: RtspServer, watching: RunningServer
) -> None:
    account = watching.new_client("watched", balance_rub="10000")
    parcels = Parcels(account, belt, parcels=PARCELS)
    parcels.wait_until_online()
    parcels.show_next()
    parcels.wait_until_found()
    bucket.stop()
    with away(bucket.port):
        while parcels.shown < PARCELS:
            parcels.show_next()
            time.sleep(SHOWN_S)  # it is in view for so long, and nobody waits for it
    bucket.start()
    wait_until(lambda: len(all_events(account)) == PARCELS)
    parcels.assert_each_was_told_once()
    for event in all_events(account):
        answer = httpx2.get(event["snapshot_url"])
        assert answer.status_code == 200, answer.text
        with Image.open(io.BytesIO(answer.content)) as picture:
            shown = read_codes(np.asarray(picture))
        assert [code.text for code in shown] == [event["metadata"]["text"]]
