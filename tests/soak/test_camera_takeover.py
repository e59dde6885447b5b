"""kill -9 of who watches cameras, with the lease as it is by default: what its cameras show is soon found again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.soak.conftest import Size
from tests.support.calls import wait_until
from tests.support.camera_workers import camera_worker, owners, server_with_cameras
from tests.support.parcels import SHOWN_BY, Parcels, write_belt
from tests.support.rtsp import need_server, running_server

pytestmark = pytest.mark.soak

COUNT = 4


def test_what_cameras_of_a_dead_worker_show_is_found_within_half_a_minute(
    postgresql_url: str, size: Size, say: Callable[[str], None], tmp_path: Path
) -> None:
    need_server()
    took_s = []
    with (
        server_with_cameras(tmp_path / "data", postgresql_url, places=COUNT, allowed_networks="127.0.0.0/8") as server,
        running_server(**SHOWN_BY, clip=write_belt(tmp_path / "belt.mp4", size.kills)) as belt,
    ):
        parcels = Parcels(server.new_client("watched"), belt, parcels=size.kills, cameras=COUNT)
        for _ in range(size.kills):
            with camera_worker(server) as other:
                wait_until(lambda: len(owners(server)) == 2 and "nobody" not in owners(server))
                parcels.wait_until_online()
                other.kill()
                killed_s = time.monotonic()
                parcels.show_next()
                parcels.wait_until_found()
                took_s.append(time.monotonic() - killed_s)
        parcels.assert_each_was_told_once()
    say(f"{len(took_s)} kills; what was shown was found after {max(took_s):.1f} s at most")
    assert max(took_s) < size.taken_over_s
