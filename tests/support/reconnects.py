"""What a process holds after a camera was lost and found many times."""

from __future__ import annotations

from ingest.vision.capture import Capture
from tests.support.camera_history import History, wait_for_frame
from tests.support.held import Held, held, settled
from tests.support.rtsp import RtspServer, relay_to


def held_after_reconnects(server: RtspServer, warm_up: int, count: int) -> tuple[Held, Held]:
    """What is held online after `warm_up` reconnects, and after `count` more: the relay's own ends may come late."""
    history = History()
    with (
        relay_to(server) as relay,
        Capture(server.url(port=relay.port), on_change=history, backoff_s=(0.01,)) as capture,
    ):
        number = wait_for_frame(capture).number
        history.state("online")
        before = held()
        for turn in range(warm_up + count):
            told = len(history.told)
            relay.cut()
            history.state("reconnecting", after=told)
            history.state("online", after=told)
            number = wait_for_frame(capture, number).number
            if turn < warm_up:
                before = held()
        return before, settled(before)
