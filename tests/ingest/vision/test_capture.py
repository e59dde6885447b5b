"""Cameras come and go: a capture over a real RTSP server that is killed, frozen, changed and spoilt."""

from __future__ import annotations

import logging
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from accounts.camera_addresses import CameraGuard
from ingest.vision import capture as capture_module
from ingest.vision.capture import Capture, Status
from ingest.vision.sources import Picture, Pulse, Source
from ingest.vision.watch import Tools, Watch
from store.camera_streams import Stream
from tests.support.camera_history import WAIT_S, History, wait_for_frame
from tests.support.clips import write_clip
from tests.support.mjpeg import mjpeg_camera
from tests.support.reconnects import held_after_reconnects
from tests.support.rtsp import (
    RtspServer,
    flip_bytes,
    garble,
    lose,
    read_stamp,
    relay_to,
    running_server,
    silent_server,
)

QUICK: dict[str, Any] = {"open_timeout_s": 5.0, "read_timeout_s": 5.0, "backoff_s": (0.05, 0.1, 0.2)}
IMPATIENT = QUICK | {"read_timeout_s": 1.0}
SOON_S = 5.0


@pytest.fixture(scope="module")
def server() -> Iterator[RtspServer]:
    """One that the tests leave as it is."""
    with running_server(width=640, height=360) as running:
        yield running


@pytest.fixture
def history() -> History:
    return History()


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_pictures_come_whole_with_their_times_and_the_camera_s_figures(
    server: RtspServer, history: History, transport: Any
) -> None:
    with Capture(server.url(), transport=transport, on_change=history, **QUICK) as capture:
        first = wait_for_frame(capture)
        later = wait_for_frame(capture, first.number + 30)
        before, after = read_stamp(first.image), read_stamp(later.image)
        assert before is not None
        assert after is not None
        assert after.number - before.number >= 30
        assert later.image.shape == (360, 640, 3)
        assert later.image.dtype == np.uint8
        assert after.clock_s - 0.001 <= later.arrived_s <= time.monotonic()
        assert abs((datetime.now(UTC) - later.seen_at).total_seconds()) < WAIT_S
        status = capture.status
        assert (status.state, status.codec, status.width, status.height) == ("online", "h264", 640, 360)
        assert status.fps > 0
        assert status.latency_ms > 0
        assert status.since <= datetime.now(UTC)
    assert history.states == ["online"]


def test_a_thumbnail_is_the_picture_in_small_and_grey(server: RtspServer) -> None:
    with Capture(server.url(), **QUICK) as capture:
        frame = wait_for_frame(capture)
        small = frame.thumbnail(160)
        assert small.shape == (90, 160)
        grey = frame.image[80:, :, 1].astype(float).reshape(70, 4, 160, 4).mean(axis=(1, 3))
        assert np.abs(small[20:] - grey).mean() < 20
        assert frame.thumbnail(10_000).shape == (360, 640)


def test_pictures_that_nobody_took_are_dropped(server: RtspServer) -> None:
    with Capture(server.url(), **QUICK) as capture:
        number = wait_for_frame(capture).number
        newest = wait_for_frame(capture, number + 20)
        assert newest.number > number + 20
        assert capture.newest(newest.number + 1_000_000, timeout_s=0.01) is None
        again = capture.newest(0, timeout_s=0.0)
        assert again is not None, "the newest stays, for who did not see it"
        assert again.number >= newest.number


def test_a_killed_server_is_found_again_with_another_resolution_and_other_cameras_go_on(
    server: RtspServer, history: History
) -> None:
    others = History()
    with (
        running_server(width=320, height=240) as own,
        Capture(server.url(), on_change=others, **QUICK) as other,
        Capture(own.url(), on_change=history, **QUICK) as capture,
    ):
        last = wait_for_frame(capture, 5)
        running = wait_for_frame(other)
        own.kill()
        broken = history.state("reconnecting")
        assert broken.message
        wait_for_frame(other, running.number + 10)
        own.start(width=480, height=352)
        online = history.wait(lambda status: status.width == 480)
        assert (online.state, online.message, online.height) == ("online", "", 352)
        found = wait_for_frame(capture, last.number)
        assert found.image.shape == (352, 480, 3)
        assert found.number > last.number
        assert read_stamp(found.image) is not None
        assert others.states == ["online"]
        wait_for_frame(other, running.number + 20)


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_frozen_server_is_noticed_and_found_again(history: History, transport: Any) -> None:
    with running_server() as own, Capture(own.url(), transport=transport, on_change=history, **IMPATIENT) as capture:
        number = wait_for_frame(capture).number
        own.freeze()
        assert "no answer within 1 s" in history.state("reconnecting").message
        told = len(history.told)
        own.thaw()
        history.state("online", after=told)
        assert read_stamp(wait_for_frame(capture, number).image) is not None


def test_a_server_that_never_answers_is_offline_after_a_while(history: History) -> None:
    quick = QUICK | {"open_timeout_s": 0.3, "offline_after_s": 1.0}
    with silent_server() as port, Capture(f"rtsp://127.0.0.1:{port}/camera", on_change=history, **quick) as capture:
        assert capture.status.state == "connecting"
        offline = history.state("offline")
        assert "no answer within 0.3 s" in offline.message
        assert set(history.states) == {"connecting", "offline"}
        assert capture.newest(timeout_s=0) is None


def test_a_port_where_nobody_listens_is_offline_after_a_while(history: History) -> None:
    with Capture("rtsp://127.0.0.1:1/camera", on_change=history, **(QUICK | {"offline_after_s": 0.5})):
        assert history.state("offline").message == "the connection is refused"


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`resolve(addresses)`: where the host camera.example is from now on; nowhere without any."""
    known: list[str] = []
    real = socket.getaddrinfo

    def fake(host: str, port: int, *arguments: Any, **options: Any) -> list[Any]:
        if host != "camera.example":
            return real(host, port, *arguments, **options)
        if not known:
            raise socket.gaierror("no such name")
        return [found for address in known for found in real(address, port, *arguments, **options)]

    def put(*addresses: str) -> None:
        known[:] = addresses

    monkeypatch.setattr(socket, "getaddrinfo", fake)
    return put


def named_camera(own: RtspServer) -> Callable[[int], str]:
    """The address of a camera at a host's name, as a worker gives it to a capture."""
    watch = object.__new__(Watch)  # of a stream, without its threads
    guard = CameraGuard.of(["127.0.0.0/8"])
    url = f"rtsp://camera.example:{own.port}/camera"
    watch.stream = cast(Stream, None)
    watch._tools = cast(Tools, SimpleNamespace(opens=lambda _, tried: guard.resolved(url, WAIT_S, tried)))
    return watch._address


def test_a_camera_with_a_host_name_is_found_again_at_its_new_address(
    history: History, resolve: Callable[..., None]
) -> None:
    resolve("127.0.0.1")
    with running_server() as own, Capture(named_camera(own), on_change=history, **QUICK) as capture:
        number = wait_for_frame(capture).number
        resolve("127.0.0.2")  # nobody listens there: the camera has moved
        own.kill()
        assert history.state("reconnecting").message
        own.start()
        resolve()
        history.wait(lambda status: "cannot be resolved" in status.message)
        resolve("127.0.0.1")
        wait_for_frame(capture, number + 1)
        resolve("169.254.169.254")
        told = len(history.told)
        own.kill()
        assert "network where cameras may not be" in history.state("error", after=told).message


def test_the_addresses_of_a_host_take_turns_until_one_gives_pictures(
    history: History, resolve: Callable[..., None]
) -> None:
    resolve("127.0.0.2", "127.0.0.3", "127.0.0.1")
    with running_server() as own, Capture(named_camera(own), on_change=history, **QUICK) as capture:
        number = wait_for_frame(capture).number
        own.kill()
        own.start()
        assert wait_for_frame(capture, number + 1).image.shape


def test_closing_does_not_wait_for_a_camera_that_does_not_answer() -> None:
    with silent_server() as port:
        capture = Capture(f"rtsp://127.0.0.1:{port}/camera", open_timeout_s=30.0).start()
        waiting: list[object] = []
        taker = threading.Thread(target=lambda: waiting.append(capture.newest(timeout_s=WAIT_S)))
        taker.start()
        begin_s = time.monotonic()
        capture.close()
        taker.join(SOON_S)
        assert waiting == [None]
        assert time.monotonic() - begin_s < SOON_S


@pytest.mark.parametrize("digest", [False, True])
def test_credentials_are_used_and_told_to_nobody(
    history: History, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], digest: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    login: dict[str, Any] = {"user": "viewer", "password": "s3cret-word"} | ({"digest": True} if digest else {})
    with running_server(**login) as own:
        for credentials in ("", "viewer:wr0ng-word@"):
            refused = History()
            with Capture(own.url(credentials=credentials), on_change=refused, **QUICK) as capture:
                assert refused.state("error").message == "user name or password are refused"
                assert "wr0ng-word" not in repr(capture)
            assert "wr0ng-word" not in repr(refused.told)
        with Capture(own.url(credentials="viewer:s3cret-word@"), on_change=history, **QUICK) as capture:
            wait_for_frame(capture)
            own.kill()
            history.state("reconnecting")
            assert "s3cret-word" not in repr(capture) + repr(history.told)
    written = capfd.readouterr()
    for word in ("s3cret-word", "wr0ng-word"):
        assert word not in caplog.text + written.out + written.err


def test_a_path_that_the_camera_does_not_know_is_an_error(server: RtspServer, history: History) -> None:
    with Capture(server.url("/nothing"), on_change=history, **QUICK):
        assert history.state("error").message == "the camera knows no such path (404)"


@pytest.mark.parametrize(
    ("codec", "message"),
    [("h265", "sends hevc, and only H.264"), ("mjpeg", "sends mjpeg, and only H.264")],
)
def test_what_is_not_h264_is_an_error(history: History, codec: str, message: str) -> None:
    with running_server(codec=codec) as own, Capture(own.url(), on_change=history, **QUICK) as capture:
        assert message in history.state("error").message
        assert capture.newest(timeout_s=0) is None


def test_a_server_with_sound_alone_is_offline_after_a_while(history: History) -> None:
    quick = QUICK | {"offline_after_s": 0.5}
    with running_server(codec="none") as own, Capture(own.url(), on_change=history, **quick):
        assert "has no video" in history.state("offline").message


def test_an_error_is_tried_again_after_the_longest_wait_alone(history: History) -> None:
    patient = QUICK | {"backoff_s": (0.01, 1.5)}
    with running_server(codec="h265") as own, Capture(own.url(), on_change=history, **patient) as capture:
        history.state("error")
        own.kill()
        own.start(codec="h264")
        history.state("online")
        wait_for_frame(capture)
        assert history.states == ["error", "online"]


@pytest.mark.parametrize("slices", [1, 4])
@pytest.mark.parametrize("damage", [flip_bytes, lose])
def test_of_damaged_packets_no_damaged_picture_comes(history: History, damage: Callable[..., Any], slices: int) -> None:
    with running_server(slices=slices, key_every=10) as own, relay_to(own) as relay:
        with Capture(own.url(port=relay.port), on_change=history, **QUICK) as capture:
            number = wait_for_frame(capture).number
            relay.damage = damage(0.02, random.Random(7))
            last = number + 30
            while number < last or not capture.status.damaged:
                frame = wait_for_frame(capture, number)
                number = frame.number
                assert read_stamp(frame.image) is not None
                assert number < last + 2000, "nothing is damaged"
            assert relay.changed > 0
            relay.damage = None
            wait_for_frame(capture, number + 20)
        # Told more than once where a hurt header gave a picture another size, which nothing can tell from a new one.
        assert set(history.states) == {"online"}


def test_packets_without_a_picture_are_not_taken_for_a_camera_that_works(history: History) -> None:
    with running_server() as own, relay_to(own) as relay:
        quick = QUICK | {"picture_timeout_s": 1.0}
        with Capture(own.url(port=relay.port), on_change=history, **quick) as capture:
            number = wait_for_frame(capture).number
            relay.damage = garble
            assert "no whole picture came for 1 s" in history.state("reconnecting").message
            relay.damage = None
            frame = wait_for_frame(capture, number + 20)
            assert read_stamp(frame.image) is not None


def test_pictures_that_are_sent_out_of_order_come_in_order(history: History) -> None:
    with running_server(reordered=True) as own, Capture(own.url(), on_change=history, **QUICK) as capture:
        number, shown = 0, -1
        for _ in range(40):
            frame = wait_for_frame(capture, number)
            stamp = read_stamp(frame.image)
            assert stamp is not None
            assert stamp.number > shown
            assert stamp.clock_s <= frame.arrived_s
            number, shown = frame.number, stamp.number


def test_sound_beside_the_video_is_left_alone(history: History) -> None:
    with running_server(sound=True) as own, Capture(own.url(), on_change=history, **QUICK) as capture:
        assert read_stamp(wait_for_frame(capture, 10).image) is not None


def test_many_reconnects_leave_nothing_behind(server: RtspServer) -> None:
    before, after = held_after_reconnects(server, warm_up=2, count=5)
    assert not after.exceeds(before), (before, after)


def hang(_: Source, pulse: Pulse) -> Iterator[Picture]:
    pulse.beat(0.0)
    threading.Event().wait(SOON_S)
    yield from ()


def test_a_reader_that_hangs_is_left_behind(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pulse, "GRACE_S", 0.05)
    monkeypatch.setattr(capture_module, "pictures", hang)
    with Capture("rtsp://127.0.0.1:1/camera", on_change=history, **QUICK) as capture:
        assert history.state("connecting").message == "the reading of the camera hangs"
        assert "has to be restarted" in history.state("error").message
        assert capture.hangs
        readers = [thread for thread in threading.enumerate() if thread.name == "camera reader"]
        assert len(readers) <= 3, "hanging threads are not piled up"


def test_a_listener_that_fails_does_not_end_the_capture(server: RtspServer) -> None:
    def fail(_: Status) -> None:
        raise RuntimeError("not today")

    with Capture(server.url(), on_change=fail, **QUICK) as capture:
        wait_for_frame(capture, 5)


def test_a_file_is_shown_again_and_again_at_its_own_pace(tmp_path: Path, history: History) -> None:
    clip = write_clip(tmp_path / "clip.mp4", frames=10, fps=25)
    with Capture(str(clip), on_change=history, **QUICK) as capture:
        first = wait_for_frame(capture)
        last = wait_for_frame(capture, 24)
        assert last.arrived_s - first.arrived_s >= 0.9 * 24 / 25
        assert last.image.shape == (240, 320, 3)
    assert history.states == ["online"]


def test_a_resolution_that_changes_within_the_stream_is_followed(tmp_path: Path, history: History) -> None:
    parts = [
        write_clip(tmp_path / "small.h264", width=320, height=240, frames=15),
        write_clip(tmp_path / "large.h264", width=640, height=480, frames=15),
    ]
    both = tmp_path / "both.h264"
    both.write_bytes(b"".join(part.read_bytes() for part in parts))
    with Capture(str(both), on_change=history, **QUICK) as capture:
        history.wait(lambda status: status.width == 320)
        assert history.wait(lambda status: status.width == 640).height == 480
        told = len(history.told)
        assert history.wait(lambda status: status.width == 320, after=told - 1).state == "online"
        assert wait_for_frame(capture).image.shape in ((240, 320, 3), (480, 640, 3))


@pytest.mark.parametrize("name", ["missing.mp4", "text.mp4", "list.m3u8"])
def test_a_file_that_holds_no_video_is_told(tmp_path: Path, history: History, name: str) -> None:
    clip = write_clip(tmp_path / "clip.mp4")
    (tmp_path / "text.mp4").write_text("no video at all")
    (tmp_path / "list.m3u8").write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{clip}\n#EXT-X-ENDLIST\n")
    with Capture(str(tmp_path / name), on_change=history, **QUICK) as capture:
        assert history.wait(lambda status: status.message != "").state in ("error", "connecting")
        assert capture.newest(timeout_s=0.2) is None


@pytest.mark.parametrize("address", ["ftp://127.0.0.1/clip.mp4", "concat:clip.mp4", "pipe:0"])
def test_other_kinds_of_address_are_refused(history: History, address: str) -> None:
    with Capture(address, on_change=history, **QUICK):
        assert history.state("error")


def test_mjpeg_over_http_is_read(history: History) -> None:
    with mjpeg_camera() as url:
        with Capture(url + "/mjpeg", on_change=history, **QUICK) as capture:
            frame = wait_for_frame(capture, 5)
            assert frame.image.shape == (120, 160, 3)
            assert np.abs(frame.image[60, 80].astype(int) - (10, 200, 30)).max() < 12, "red, green, blue in that order"
            assert capture.status.codec == "mjpeg"
        missing = History()
        with Capture(url + "/other", on_change=missing, **QUICK):
            assert missing.state("error").message == "the camera knows no such path (404)"
