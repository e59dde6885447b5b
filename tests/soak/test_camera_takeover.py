"""kill -9 of who watches cameras, with the lease as it is by default: what its cameras show is soon found again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from ingest.vision.demo_pictures import code_picture
from tests.soak.conftest import Size
from tests.support.camera_workers import camera_worker, owners, server_with_cameras
from tests.support.clips import GREY, write_pictures
from tests.support.rtsp import need_server, running_server
from tests.support.server import Account, RunningServer

pytestmark = pytest.mark.soak

STREAMS, EVENTS = "/vision/v1/streams", "/vision/v1/events"
COUNT = 4
WAIT_S = 300.0


def picture(number: int) -> npt.NDArray[np.uint8]:
    """640 x 360: a code that no other has; none at all the first time."""
    shown = Image.new("RGB", (640, 360), (GREY,) * 3)
    if number:
        shown.paste(code_picture(f"PARCEL-{number:06d}", "QRCode", 4), (240, 100))
    return np.asarray(shown, np.uint8)


def found(account: Account) -> int:
    """How many codes were found, each once by each camera."""
    page = account.get(EVENTS, params={"limit": 100}).json()
    assert page["next_cursor"] is None
    events = page["items"]
    seen = {(event["stream_id"], event["metadata"]["text"]) for event in events}
    assert len(seen) == len(events), "told twice"
    return len(seen)


def are_online(account: Account) -> bool:
    return {stream["status"] for stream in account.get(STREAMS).json()["items"]} == {"online"}


def wait_until(holds: Callable[[], bool], server: RunningServer) -> None:
    end_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end_s, (owners(server), server.log()[-4000:])
        time.sleep(0.1)


def test_what_cameras_of_a_dead_worker_show_is_found_within_half_a_minute(
    postgresql_url: str, size: Size, say: Callable[[str], None], tmp_path: Path
) -> None:
    need_server()
    clip = write_pictures(tmp_path / "codes.mp4", [picture(number) for number in range(size.kills + 1)])
    took_s = []
    with (
        server_with_cameras(tmp_path / "data", postgresql_url, places=COUNT, allowed_networks="127.0.0.0/8") as server,
        running_server(width=640, height=360, fps=5, key_every=5, clip=clip, on_cue=True) as camera,
    ):
        account = server.new_client("watched")
        for number in range(COUNT):
            fields = {"name": f"Belt {number}", "rtsp_url": camera.url(), "scenarios": ["barcode"]}
            assert account.post(STREAMS, json=fields).status_code == 201
        for number in range(1, size.kills + 1):
            with camera_worker(server) as other:
                wait_until(lambda: len(owners(server)) == 2 and "nobody" not in owners(server), server)
                wait_until(lambda: are_online(account), server)
                other.kill()
                killed_s = time.monotonic()
                camera.show(number, number)
                wait_until(lambda: found(account) == number * COUNT, server)  # noqa: B023 - waited for at once
                took_s.append(time.monotonic() - killed_s)
    say(f"{len(took_s)} kills; what was shown was found after {max(took_s):.1f} s at most")
    assert max(took_s) < size.taken_over_s
