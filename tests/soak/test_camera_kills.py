"""kill -9 of who watches cameras and of who answers, again and again: the others go on, nothing is told twice, and what
is shown meanwhile is told once; who waited in a queue waits on."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sqlalchemy as sa
from PIL import Image

from ingest.vision.demo_pictures import code_picture
from store import accounts
from store.camera_events import camera_events
from tests.soak.conftest import Size
from tests.support import events as webhook_events
from tests.support.camera_workers import (
    CameraWorker,
    assert_paid_once,
    camera_worker,
    detectors,
    live_workers,
    own_worker,
    owners,
    progress,
    server_with_cameras,
)
from tests.support.clips import GREY, letterboxed, write_codes, write_pictures
from tests.support.parcels import all_events
from tests.support.receiver import Received, Receiver, Reply, receiving
from tests.support.rtsp import RtspServer, need_server, running_server
from tests.support.server import RunningServer

pytestmark = pytest.mark.soak

SHARED = Path(__file__).parents[2].parent / "shared"
MODELS, PHOTO = SHARED / "models", SHARED / "data/vision/bus.jpg"
STREAMS, TRAFFIC = "/vision/v1/streams", "/vision/v1/analytics/traffic"
CODES = ("4006381333931", "PALLET-000417")
COUNT = 6
TILLS = 3
WAIT_S = 300.0
LEASE_S = 4
SWEEP_S = 0.5
WATCHING = 2
BAYS = 8
STAGES = ("shown", "recorded", "told")
FOUND_S = 0.8
"""About how long it takes from a new picture to the first event of it."""
HOOK = "/seen"
SOMEBODY = (215, 395, 350, 865)
"""Of the photo: left, top, right, bottom."""
OBJECTS = {"vision_models": f"objects={MODELS / 'yolov8n-coco-int8-openvino'}"} if MODELS.is_dir() else {}
"""People and vehicles alone: other detectors would see nothing of what is shown, and take their time."""


@pytest.fixture
def models() -> dict[str, str]:
    """All detectors that there are."""
    return {"models_dir": str(MODELS)} if MODELS.is_dir() else {}


@pytest.fixture
def shared_server(tmp_path: Path, postgresql_url: str, models: dict[str, str]) -> Iterator[RunningServer]:
    need_server()
    settings = {
        "allowed_networks": "127.0.0.0/8",
        "webhook_retry_schedule": ",".join(["1"] * 30),
        "sweep_s": str(SWEEP_S),
        **models,
    }
    with server_with_cameras(tmp_path / "data", postgresql_url, places=COUNT, lease_s=LEASE_S, **settings) as running:
        yield running


class Watched:
    """An account's cameras, watched by the server's own worker and by another."""

    def __init__(self, server: RunningServer, chance: random.Random, workers: ExitStack) -> None:
        self._server, self._chance, self._workers = server, chance, workers
        self._other: CameraWorker = workers.enter_context(camera_worker(server))
        self.account = server.new_client("watched")
        with server.database.write() as connection:
            accounts.update_tenant(self.account.tenant_id, connection, camera_limit=COUNT)

    def add(self, name: str, **fields: object) -> str:
        answer = self.account.post(STREAMS, json={"name": name, **fields})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def events(self) -> list[dict[str, Any]]:
        return all_events(self.account)

    def recorded(self) -> int:
        """How many events there are, whether anybody answers or not."""
        query = sa.select(sa.func.count()).where(camera_events.c.tenant_id == self.account.tenant_id)
        with self._server.database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def remembers(self, zone: str) -> bool:
        """Whether a worker that takes a camera over now would be told of somebody in that zone."""
        told = filter(None, progress(self._server).values())
        said = [each for row in told for each in json.loads(json.loads(row)["said"])["said"]]
        return any(each["zone"] == zone for each in said)

    def queue_left(self, stream_id: str) -> tuple[int, float]:
        """How many people left its queue, and how many seconds they had been in it on average."""
        day = datetime.now(UTC).date()
        query = {"stream_id": stream_id, "granularity": "day", "from": str(day - timedelta(days=1)), "to": str(day)}
        days = self.account.get(TRAFFIC, params=query).json()["series"]
        return next(((each["people"], each["avg_queue_sec"]) for day in days for each in day["queues"]), (0, 0.0))

    def all_are_online(self) -> bool:
        live = live_workers(self._server)
        states = {stream["status"] for stream in self.account.get(STREAMS).json()["items"]}
        return set(owners(self._server)) <= live and len(live) == 2 and states == {"online"}

    def wait_for(self, what: Callable[[], bool], pause_s: float = 0.2) -> None:
        end_s = time.monotonic() + WAIT_S
        while not what():
            assert time.monotonic() < end_s, (owners(self._server), self.events(), self._server.log()[-4000:])
            time.sleep(pause_s)

    def wait_until_all_are_watched(self) -> None:
        """Again, after a kill: until a lease has ended the dead count for alive."""
        time.sleep(LEASE_S)
        self.wait_for(self.all_are_online)

    def kill_one(self) -> None:
        """After a moment; and waits until all are watched again."""
        time.sleep(3 * self._chance.random())
        self.kill_worker()
        self.wait_until_all_are_watched()

    def kill_worker(self) -> None:
        if self._chance.random() < 0.5:
            self.wait_for(lambda: own_worker(self._server) > 0)
            os.kill(own_worker(self._server), signal.SIGKILL)
        else:
            self._other.kill()
            self._other = self._workers.enter_context(camera_worker(self._server))

    def kill_server(self) -> None:
        """Its worker ends by itself then."""
        self._server.kill()
        self._server.start()

    def kill_detectors(self) -> None:
        """Of both workers."""
        running: list[int] = []
        for worker in (own_worker(self._server), self._other.process_id):
            running += detectors(worker)
        assert running, "nobody looks at pictures"
        for process_id in running:
            os.kill(process_id, signal.SIGKILL)


@pytest.fixture
def watched(shared_server: RunningServer, chance: random.Random) -> Iterator[Watched]:
    with ExitStack() as workers:
        yield Watched(shared_server, chance, workers)


def test_workers_that_are_killed_lose_no_stream_and_tell_nothing_twice(
    watched: Watched, size: Size, tmp_path: Path
) -> None:
    with running_server(
        width=640, height=360, fps=5, key_every=5, clip=write_codes(tmp_path / "codes.mp4", CODES)
    ) as camera:
        ids = [watched.add(f"Belt {number}", rtsp_url=camera.url(), scenarios=["barcode"]) for number in range(COUNT)]
        once = Counter({(stream_id, code): 1 for stream_id in ids for code in CODES})

        def said() -> Counter[tuple[str, str]]:
            return Counter((event["stream_id"], event["metadata"]["text"]) for event in watched.events())

        watched.wait_for(lambda: said() == once and watched.all_are_online())
        for _ in range(size.kills):
            watched.kill_one()
            assert said() == once
    assert_paid_once(watched.account, ids)


@pytest.mark.skipif(not MODELS.is_dir(), reason="needs ../shared: people who wait, a detector")
def test_a_queue_is_told_once_and_who_waits_in_it_waits_on_whoever_watches(
    watched: Watched, size: Size, tmp_path: Path
) -> None:
    waiting = letterboxed(PHOTO, (640, 480))
    clip = write_pictures(tmp_path / "queue.mp4", [waiting, np.full_like(waiting, GREY)], fps=5)
    till = {"name": "till", "kind": "queue", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}
    door = {"name": "door", "kind": "entrance", "polygon": [[0, 0], [0.01, 0], [0.01, 0.01], [0, 0.01]]}
    with running_server(width=640, height=480, fps=5, key_every=5, clip=clip, on_cue=True) as camera:
        ids = [
            watched.add(f"Till {number}", rtsp_url=camera.url(), scenarios=["traffic"], zones=[till, door])
            for number in range(TILLS)
        ]

        def said() -> Counter[tuple[str, str]]:
            return Counter((event["stream_id"], event["type"]) for event in watched.events())

        formed = Counter({(stream_id, "queue_formed"): 1 for stream_id in ids})
        watched.wait_for(lambda: said() == formed and watched.all_are_online())
        formed_s = time.monotonic()
        for _ in range(size.kills):
            watched.kill_one()
            assert said() == formed
        waited_s = time.monotonic() - formed_s
        camera.show(1, 1)
        cleared = Counter({(stream_id, "queue_cleared"): 1 for stream_id in ids})
        watched.wait_for(lambda: said() == formed + cleared)
        watched.wait_for(lambda: all(watched.queue_left(stream_id)[0] for stream_id in ids))
    for people, average_s in map(watched.queue_left, ids):
        assert people >= 3
        # Of each of those who were there when it was told, whoever was taken for another meanwhile.
        assert people * average_s >= 3 * waited_s


def code_of(number: int) -> str:
    return f"PARCEL-{number:06d}"


def bay_of(number: int) -> str:
    return f"bay {number % BAYS}"


def parcel_and_somebody(number: int) -> npt.NDArray[np.uint8]:
    """640 x 360: a code, and, where there is a detector, somebody who stands in a bay."""
    picture = Image.new("RGB", (640, 360), (GREY,) * 3)
    picture.paste(code_picture(code_of(number), "QRCode", 4), (500, 8))
    if MODELS.is_dir():
        with Image.open(PHOTO) as photo:
            somebody = photo.convert("RGB").crop(SOMEBODY).resize((60, 200))
        picture.paste(somebody, (number % BAYS * 80 + 10, 150))
    return np.asarray(picture, np.uint8)


class Shown:
    """What a camera shows on cue, a new code and somebody in another bay each time; and what is told of it."""

    def __init__(self, watched: Watched, camera: RtspServer, receiver: Receiver, chance: random.Random) -> None:
        self._watched, self._camera, self._receiver, self._chance = watched, camera, receiver, chance
        receiver.answer_by(HOOK, self._take)
        scenarios, zones = ["barcode"], []
        if MODELS.is_dir():
            scenarios.append("safety")
            edges = [number / BAYS for number in range(BAYS + 1)]
            zones = [
                {"name": bay_of(number), "kind": "restricted", "polygon": [[x, 0], [end, 0], [end, 1], [x, 1]]}
                for number, (x, end) in enumerate(pairwise(edges))
            ]
        fields = {"rtsp_url": camera.url(), "scenarios": scenarios, "zones": zones, "webhook_url": receiver.url(HOOK)}
        self.stream_ids = [watched.add(f"Bays {number}", **fields) for number in range(WATCHING)]
        self._number = 0
        self._before = 0
        self.expected: Counter[tuple[str, str]] = Counter()

    def _take(self, _: Received) -> Reply:
        """Not at once: so that who sends can be killed meanwhile."""
        time.sleep(self._chance.uniform(0, 0.2))
        return Reply()

    def next(self) -> None:
        self._number += 1
        self._before = self.expected.total()
        things = [code_of(self._number), *([bay_of(self._number)] if MODELS.is_dir() else [])]
        # Until then somebody there is the one of whom it was told.
        self._watched.wait_for(lambda: not self._watched.remembers(bay_of(self._number)))
        self.expected += Counter((stream_id, thing) for stream_id in self.stream_ids for thing in things)
        self._camera.show(self._number, self._number)

    def wait_for(self, stage: str) -> None:
        """Until what is shown may be found any moment, or some of it is recorded, or told."""
        if stage == "shown":
            time.sleep(self._chance.uniform(0, FOUND_S))
            return
        least = self._chance.randint(self._before + 1, self.expected.total())
        count = self._watched.recorded if stage == "recorded" else lambda: len(self._told())
        self._watched.wait_for(lambda: count() >= least, pause_s=0.01)

    @property
    def is_all_recorded(self) -> bool:
        return self._watched.recorded() >= self.expected.total()

    def wait_until_told(self) -> None:
        """It stays in view so long, whoever has to begin anew for that."""
        with suppress(AssertionError):  # what is missing or too much says more than the time
            self._watched.wait_for(lambda: self._said() >= self.expected and len(self._told()) >= self.expected.total())
        self.assert_told_once()

    def assert_told_once(self) -> None:
        said = self._said()
        assert said == self.expected, (self.expected - said, said - self.expected, self._watched.events())
        told = self._told()
        assert sorted(told) == sorted(event["id"] for event in self._watched.events())
        assert {len(ids) for ids in told.values()} == {1}

    def assert_each_is_signed_and_delivered(self) -> None:
        account = self._watched.account
        assert all(received.is_signed_by(account.made.api_key) for received in self._receiver.at(HOOK))
        deliveries = webhook_events.listed(account)
        assert Counter(each["status"] for each in deliveries) == {"delivered": self.expected.total()}

    def _said(self) -> Counter[tuple[str, str]]:
        things = [(event["stream_id"], event["metadata"]) for event in self._watched.events()]
        return Counter((stream_id, metadata.get("text") or metadata["zone"]) for stream_id, metadata in things)

    def _told(self) -> dict[str, set[str]]:
        """By the event, under which ids it came."""
        told: dict[str, set[str]] = defaultdict(set)
        for received in self._receiver.at(HOOK):
            told[received.json["event_id"]].add(received.id)
        return told


@pytest.mark.parametrize("models", [OBJECTS], ids=["objects"])
def test_what_is_shown_while_who_watches_or_answers_is_killed_is_told_once(
    watched: Watched, size: Size, chance: random.Random, say: Callable[[str], None], tmp_path: Path
) -> None:
    kills = [watched.kill_worker, watched.kill_server, *([watched.kill_detectors] if MODELS.is_dir() else [])]
    rounds = [
        (kill, STAGES[(turn + place) % len(STAGES)]) for turn in range(size.kills) for place, kill in enumerate(kills)
    ]
    nothing = np.full((360, 640, 3), GREY, np.uint8)
    clip = write_pictures(tmp_path / "bays.mp4", [nothing, *(parcel_and_somebody(n + 1) for n in range(len(rounds)))])
    early = 0
    with (
        running_server(width=640, height=360, fps=5, key_every=5, clip=clip, on_cue=True) as camera,
        receiving() as receiver,
    ):
        shown = Shown(watched, camera, receiver, chance)
        watched.wait_until_all_are_watched()
        for kill, stage in rounds:
            shown.next()
            shown.wait_for(stage)
            early += not shown.is_all_recorded
            kill()
            watched.wait_until_all_are_watched()
            shown.wait_until_told()
        time.sleep(2 * (LEASE_S + SWEEP_S))
        shown.assert_told_once()
        shown.assert_each_is_signed_and_delivered()
    say(f"{early} of {len(rounds)} kills came before all that was shown was recorded")
    assert early >= len(rounds) / 3
    assert_paid_once(watched.account, shown.stream_ids)
