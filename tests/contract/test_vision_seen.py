"""Cameras that send pictures: from a real RTSP server through capture, detection and scenarios to events, webhooks and
aggregates, over real HTTP."""

from __future__ import annotations

import io
import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from PIL import Image

from accounts.keys import Keyring
from api.vision_events import SNAPSHOT_LIFETIME_S
from store import accounts, camera_streams
from store.ids import new_id
from tests.contract.test_vision import EVENTS, STREAMS, TRAFFIC, made
from tests.support.camera_workers import assert_paid_once, own_worker
from tests.support.clips import letterboxed, write_codes, write_pictures
from tests.support.hostile_camera import hostile_camera, trap
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.rtsp import RtspServer, need_server, running_server
from tests.support.server import Account, RunningServer

SHARED = Path(__file__).parents[2].parent / "shared"
MODELS, PEOPLE = SHARED / "models", SHARED / "data/vision/one-by-one-person-detection.mp4"
WAIT_S = 120.0
TAKEN_OVER_S = 30.0
COMES, GOES = range(920, 939), range(1188, 1202)
ONE_PERSON = sorted((*range(918, 950), *range(1178, 1206), *COMES, *GOES))
"""Of the pictures of PEOPLE: one comes in and goes, at half the pace in the doors, so that a busy machine sees it too;
what is between is standing about."""
CODES = ("4006381333931", "PALLET-000417")


@pytest.fixture(scope="module")
def seeing_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One that may reach cameras and receivers on loopback, with what detectors there are."""
    need_server()
    running = RunningServer(
        tmp_path_factory.mktemp("seeing-server"),
        camera_networks="127.0.0.0/8",
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule="0.2,0.2,0.2",
        sweep_s="0.5",
        camera_lease_s="4",
        **({"models_dir": str(MODELS)} if MODELS.is_dir() else {}),
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def viewer(seeing_server: RunningServer) -> Iterator[Account]:
    """An account with money whose cameras are ended after the test."""
    account = seeing_server.new_client(f"viewer {new_id()}")
    account.add_money("1000")
    yield account
    for stream in account.get(STREAMS).json()["items"]:
        account.request("DELETE", f"{STREAMS}/{stream['id']}")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


def wait_for(what: Callable[[], Any], account: Account, most_s: float = WAIT_S) -> Any:
    deadline = time.monotonic() + most_s
    while not (found := what()):
        assert time.monotonic() < deadline, account.server.log()[-4000:]
        time.sleep(0.1)
    return found


def events(account: Account, **query: str) -> list[dict[str, Any]]:
    answer = account.get(EVENTS, params={"limit": 100, **query})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def state(account: Account, stream_id: str) -> dict[str, Any]:
    found: dict[str, Any] = account.get(f"{STREAMS}/{stream_id}").json()
    return found


@pytest.fixture(scope="module")
def codes_camera(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RtspServer]:
    """Shows two codes, all the time."""
    need_server()
    clip = write_codes(tmp_path_factory.mktemp("clips") / "codes.mp4", CODES)
    with running_server(width=640, height=360, fps=10, clip=clip) as camera:
        yield camera


@pytest.mark.proves(
    "vision.scenario.barcode",
    "vision.event.types.barcode",
    "vision.event.shape",
    "vision.event.confidence",
    "vision.event.occurred-at",
    "vision.event.once",
    "vision.event.metadata",
    "vision.event.snapshot-signed",
    "vision.webhook.detection-created",
    "vision.webhook.event-id",
    "vision.webhook.delivery",
    "vision.webhook.signature",
    "money.charge.vision",
)
def test_codes_in_the_picture_are_an_event_each_with_a_snapshot_and_a_webhook(
    viewer: Account, codes_camera: RtspServer, receiver: Receiver
) -> None:
    before = datetime.now(UTC)
    url = receiver.answer("/seen", Reply(500), Reply())
    fields = {"scenarios": ["barcode"], "rtsp_url": codes_camera.url(), "webhook_url": url}
    stream = made(viewer, **fields)
    wait_for(lambda: len(events(viewer)) >= 2, viewer)
    receiver.wait("/seen", 3)
    time.sleep(2)  # what stays in the picture for long is told no second time
    found = events(viewer)
    assert sorted(event["metadata"]["text"] for event in found) == sorted(CODES)
    for event in found:
        assert set(event) == {
            "id",
            "stream_id",
            "stream_name",
            "scenario",
            "type",
            "confidence",
            "occurred_at",
            "snapshot_url",
            "metadata",
        }
        assert (event["stream_id"], event["scenario"], event["type"]) == (stream["id"], "barcode", "barcode_read")
        assert 0.5 < event["confidence"] <= 1
        assert event["occurred_at"].endswith("Z")
        assert before <= datetime.fromisoformat(event["occurred_at"]) <= datetime.now(UTC)
        left, top, right, bottom = event["metadata"]["box"]
        assert 0 <= left < right <= 640
        assert 100 <= top < bottom <= 360
        shown = httpx2.get(event["snapshot_url"])
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/jpeg")
        with Image.open(io.BytesIO(shown.content)) as picture:
            assert picture.size == (640, 360)
        assert httpx2.get(event["snapshot_url"][:-4] + "AAAA").status_code == 404
    told = receiver.at("/seen")
    assert {hook.json["event_id"] for hook in told} == {event["id"] for event in found}
    assert len({hook.id for hook in told}) == 2
    for hook in told:
        assert hook.json == {
            "event": "detection.created",
            "event_id": hook.json["event_id"],
            "stream_id": stream["id"],
        }
        assert hook.is_signed_by(viewer.made.api_key)
    assert {debit["product"] for debit in viewer.debits()} == {"vision"}
    assert_paid_once(viewer, [stream["id"]])
    assert state(viewer, stream["id"])["last_event_at"] == max(event["occurred_at"] for event in found)


def test_a_link_to_a_snapshot_ends(viewer: Account) -> None:
    keyring = Keyring.of(viewer.server.settings)
    assert keyring.open_token("snapshot", keyring.sign_token("snapshot", {}, lifetime_s=SNAPSHOT_LIFETIME_S))
    expired = keyring.sign_token("snapshot", {"tenant": viewer.tenant_id, "event": new_id()}, lifetime_s=-1)
    assert viewer.get(f"/vision/v1/snapshots/{expired}").status_code == 404


@pytest.mark.proves("vision.status.values", "vision.probe.codec")
def test_a_camera_that_is_lost_found_and_of_another_codec(viewer: Account) -> None:
    with running_server(width=320, height=240, fps=10) as camera:
        stream_id = made(viewer, scenarios=["barcode"], rtsp_url=camera.url())["id"]
        online = wait_for(lambda: (now := state(viewer, stream_id))["status"] == "online" and now, viewer)
        assert (online["width"], online["height"], online["message"]) == (320, 240, "")
        assert 'parley_camera_streams{status="online"} 1.0' in viewer.get("/metrics").text
        wait_for(lambda: 'parley_charged_rub_total{product="vision"}' in viewer.get("/metrics").text, viewer)
        camera.kill()
        lost = wait_for(lambda: (now := state(viewer, stream_id))["status"] == "reconnecting" and now, viewer)
        assert lost["message"]
        camera.start()
        wait_for(lambda: state(viewer, stream_id)["status"] == "online", viewer)
        camera.kill()
        camera.start(codec="h265")
        other = wait_for(lambda: (now := state(viewer, stream_id))["status"] == "error" and now, viewer)
        assert "H.264" in other["message"]


@pytest.mark.parametrize(
    ("change", "back", "word"),
    [
        ({"is_active": False}, {"is_active": True}, "paused"),
        ({"camera_limit": 0}, {"camera_limit": 4}, "plan"),
        ({"features": ["chat"]}, {"features": ["vision"]}, "Vision module"),
    ],
)
def test_who_may_have_no_cameras_any_more_has_none_watched_until_they_may_again(
    viewer: Account, codes_camera: RtspServer, change: dict[str, Any], back: dict[str, Any], word: str
) -> None:
    def set_to(values: dict[str, Any]) -> None:
        with viewer.server.database.write() as connection:
            accounts.update_tenant(viewer.tenant_id, connection, **values)

    def is_stopped() -> bool:
        with viewer.server.database.read() as connection:
            row = camera_streams.get(viewer.tenant_id, connection, stream_id)
        return row is not None and (row.status, row.worker_id) == ("error", None) and word in row.message

    stream_id = made(viewer, scenarios=["barcode"], rtsp_url=codes_camera.url())["id"]
    wait_for(lambda: state(viewer, stream_id)["status"] == "online", viewer)
    set_to(change)
    wait_for(is_stopped, viewer)
    if "features" not in change:
        assert word in state(viewer, stream_id)["message"]
    set_to(back)
    wait_for(lambda: state(viewer, stream_id)["status"] == "online", viewer)


def test_a_camera_that_sends_its_viewers_elsewhere_is_an_error(viewer: Account) -> None:
    with trap() as other, hostile_camera(DESCRIBE=f"302 -\r\nLocation: rtsp://127.0.0.1:{other.port}/") as camera:
        stream_id = made(viewer, scenarios=["barcode"], rtsp_url=camera.url)["id"]
        now = wait_for(lambda: (now := state(viewer, stream_id))["status"] == "error" and now, viewer)
        assert "another address" in now["message"]
        assert not other.was_called


def test_a_worker_that_is_killed_is_replaced_and_says_nothing_twice(viewer: Account, codes_camera: RtspServer) -> None:
    stream_id = made(viewer, scenarios=["barcode"], rtsp_url=codes_camera.url())["id"]
    wait_for(lambda: len(events(viewer)) == 2, viewer)
    # At once: that it was told is written with it.
    killed = own_worker(viewer.server)
    os.kill(killed, signal.SIGKILL)
    # Nobody else can have the stream: its status is written anew by the next worker.
    change = {"name": "Seen by another"}
    assert viewer.request("PATCH", f"{STREAMS}/{stream_id}", json=change).status_code == 200
    wait_for(lambda: own_worker(viewer.server) not in (0, killed), viewer)
    time.sleep(TAKEN_OVER_S / 2)
    wait_for(lambda: state(viewer, stream_id)["status"] == "online", viewer)
    assert len(events(viewer)) == 2
    assert_paid_once(viewer, [stream_id])


@pytest.mark.soak
@pytest.mark.proves("vision.scenario.traffic")
@pytest.mark.skipif(not (PEOPLE.is_file() and MODELS.is_dir()), reason="needs ../shared: people who walk, a detector")
def test_people_who_come_and_go_are_counted_and_known_again(viewer: Account) -> None:
    stairs = {"name": "stairs", "kind": "restricted", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}
    # So slow that a machine that is busy with much else sees them walk.
    with running_server(width=768, height=432, fps=6, clip=PEOPLE) as camera:
        # The floor is the picture itself, ten metres wide and five deep.
        corners = [{"image": [x, y], "floor": [10 * x, 5 * y]} for x in (0.1, 0.9) for y in (0.2, 0.8)]
        fields = {"scenarios": ["traffic", "safety"], "zones": [stairs], "calibration": corners}
        stream = made(viewer, rtsp_url=camera.url(), **fields)

        def visits() -> tuple[int, int, int]:
            """How many events of people who entered there are, how many of them are counted, and of how many people."""
            query = {"stream_id": stream["id"], "granularity": "day", **yesterday_and_today()}
            days = viewer.get(TRAFFIC, params=query).json()["series"]
            told = kinds(viewer).count("person_entered")
            return (told, days[-1]["entered"], days[-1]["unique_visitors"]) if days else (told, 0, 0)

        def is_seen() -> bool:
            """The clip shows the same people again and again."""
            told, _, people = visits()
            return kinds(viewer).count("person_left") >= 2 and 1 <= people < told

        wait_for(is_seen, viewer, 3.5 * WAIT_S)
        working = state(viewer, stream["id"])
    found = events(viewer)
    assert {"person_entered", "person_left", "zone_intrusion"} <= {event["type"] for event in found}
    (first, *_) = [event for event in reversed(found) if event["type"] == "zone_intrusion"]
    assert first["metadata"]["zone"] == "stairs"
    assert first["metadata"]["track_id"] >= 1
    left, top, right, bottom = first["metadata"]["box"]
    assert bottom - top > right - left > 20
    assert first["metadata"]["floor"] == pytest.approx([(left + right) / 2 / 76.8, bottom / 86.4], abs=0.1)
    for event in found[-4:]:
        shown = httpx2.get(next(each["snapshot_url"] for each in events(viewer) if each["id"] == event["id"]))
        assert shown.status_code == 200, "a better picture takes the place of one that is there"
    assert working["latency_ms"] > 0
    told, entered, people = visits()
    assert entered <= told
    assert 1 <= people < told


WALKS = 5
WALK_S = 35.0
DOOR = [[0, 0.95], [0.78, 0.95], [0.78, 0], [1, 0], [1, 1], [0, 1]]
"""Below and to the right: where the people of the clip come from and go to."""


def walks_of_one(path: Path) -> tuple[Path, int]:
    """A clip of one of the people, who comes in, stands, and goes, each time in another light; and the number of
    pictures of each time, which begins and ends with an empty room."""
    import av

    with av.open(str(PEOPLE)) as container:
        shown = {
            number: np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
            for number, frame in enumerate(container.decode(video=0))
            if number in ONE_PERSON
        }
    once = [shown[number] for number in ONE_PERSON]
    lights = np.linspace(0.8, 1.15, WALKS)
    pictures = [np.clip(picture * light, 0, 255).astype(np.uint8) for light in lights for picture in once]
    return write_pictures(path, pictures), len(once)


@pytest.mark.proves("vision.scenario.traffic")
@pytest.mark.skipif(not (PEOPLE.is_file() and MODELS.is_dir()), reason="needs ../shared: a person who walks, detectors")
def test_one_who_comes_and_goes_five_times_is_one_visitor_and_five_entries(viewer: Account, tmp_path: Path) -> None:
    clip, length = walks_of_one(tmp_path / "one.mp4")
    door = {"name": "door", "kind": "entrance", "polygon": DOOR}
    with running_server(width=768, height=432, fps=8, clip=clip, most=WALKS * length, on_cue=True) as camera:
        stream_id = made(viewer, scenarios=["traffic"], rtsp_url=camera.url(), zones=[door])["id"]
        # A latency is told once the detector, which takes its time to start, has looked at a picture.
        wait_for(lambda: (now := state(viewer, stream_id))["status"] == "online" and now["latency_ms"] > 0, viewer)
        for walk in range(WALKS):
            walked_at = 0.0

            def has_left(walk: int = walk) -> bool:
                # A machine that was too busy to see the walk is shown it again.
                nonlocal walked_at
                if kinds(viewer).count("person_entered") <= walk and time.monotonic() - walked_at > WALK_S:
                    camera.show(walk * length, (walk + 1) * length - 1)
                    walked_at = time.monotonic()
                return kinds(viewer).count("person_left") > walk

            wait_for(has_left, viewer)
        query = {"stream_id": stream_id, "granularity": "day", **yesterday_and_today()}
        days = viewer.get(TRAFFIC, params=query).json()["series"]
    assert kinds(viewer) == ["person_entered", "person_left"] * WALKS
    assert sum(day["entered"] for day in days) == sum(day["left"] for day in days) == WALKS
    assert {day["unique_visitors"] for day in days if day["entered"]} == {1}, "each day they are new"


def kinds(account: Account) -> list[str]:
    """Oldest first."""
    return [event["type"] for event in reversed(events(account))]


def yesterday_and_today() -> dict[str, str]:
    day = datetime.now(UTC).date()
    return {"from": str(day - timedelta(days=1)), "to": str(day)}


@pytest.mark.proves("vision.event.types.traffic")
@pytest.mark.skipif(not MODELS.is_dir(), reason="needs ../shared: people who wait, a detector")
def test_people_who_wait_are_a_queue_until_they_are_gone(viewer: Account, tmp_path: Path) -> None:
    waiting = letterboxed(SHARED / "data/vision/bus.jpg", (640, 480))
    empty = np.full_like(waiting, 114)
    clip = write_pictures(tmp_path / "queue.mp4", [waiting] * 80 + [empty] * 80, fps=5)
    till = {"name": "till", "kind": "queue", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}
    with running_server(width=640, height=480, fps=5, clip=clip) as camera:
        stream = made(viewer, scenarios=["traffic"], rtsp_url=camera.url(), zones=[till])
        wait_for(lambda: {"queue_formed", "queue_cleared"} <= {each["type"] for each in events(viewer)}, viewer)
    formed = next(each for each in events(viewer) if each["type"] == "queue_formed")
    assert formed["metadata"]["zone"] == "till"
    assert formed["metadata"]["people"] >= 3
    assert formed["metadata"]["longest_wait_s"] >= 3
    assert formed["stream_id"] == stream["id"]


@pytest.mark.proves("vision.scenario.lpr")
@pytest.mark.skipif(not MODELS.is_dir(), reason="needs ../shared: cars with plates, a detector")
def test_a_plate_in_the_picture_is_read_once(viewer: Account, tmp_path: Path) -> None:
    file = "test_011"
    _, *_, text = (SHARED / f"data/vision/plates-eu/{file}.txt").read_text().split()
    clip = write_pictures(
        tmp_path / "car.mp4", [letterboxed(SHARED / f"data/vision/plates-eu/{file}.jpg", (1280, 720))] * 20, fps=10
    )
    with running_server(width=1280, height=720, fps=10, bitrate=6000, clip=clip) as camera:
        made(viewer, scenarios=["lpr"], rtsp_url=camera.url())
        wait_for(lambda: events(viewer, scenario="lpr"), viewer)
        time.sleep(3)
    found = events(viewer)
    assert [(each["type"], each["metadata"]["text"]) for each in found] == [("plate_read", text)]
