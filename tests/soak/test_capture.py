"""A camera on a bad line: what a hundred breaks of it leave behind."""

from __future__ import annotations

import pytest

from tests.support.reconnects import held_after_reconnects
from tests.support.rtsp import running_server

pytestmark = pytest.mark.soak

WARM_UP, RECONNECTS = 10, 100  # in every size: it takes half a minute
MAX_GROWTH_MB = 15


def test_a_hundred_reconnects_hold_no_more_than_ten() -> None:
    with running_server(width=640, height=360) as server:
        before, after = held_after_reconnects(server, WARM_UP, RECONNECTS)
    print("held after the first reconnects and after all:", before, after)
    assert not after.exceeds(before), (before, after)
    assert after.memory_mb <= before.memory_mb + MAX_GROWTH_MB, (before, after)
