"""Work of every kind at once, whatever becomes of the installation meanwhile: calls, documents, analyses, chats,
payments, webhooks and a camera; and that each thing was done once."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

from store.ids import new_id
from tests.support.analyses import assert_analysed_once, send_at_last
from tests.support.calls import Calls
from tests.support.job_steps import JobSteps
from tests.support.money_load import Load
from tests.support.parcels import SHOWN_BY, Parcels, write_belt
from tests.support.receiver import Receiver
from tests.support.rtsp import RtspServer, running_server
from tests.support.server import RunningServer

ASKED_OF = {"payment_provider": "sandbox", "chat_requests_per_minute": "1000000"}
"""Settings of who answers, for this."""
TAKES_ALL = "speech,documents,analysis,vision,errands"
"""What workers take who do it all."""
PARCELS = 200
_CHAT_RESTS_S = 0.5
_LOOKS_S = 4.0
"""From one parcel to the next, at least."""


@contextmanager
def running_belt(folder: Path, host: str = "127.0.0.1") -> Iterator[RtspServer]:
    """What the camera sees. Skips the test where there is no RTSP server."""
    with running_server(**SHOWN_BY, clip=write_belt(folder / "belt.mp4", PARCELS), most=PARCELS + 1, host=host) as belt:
        yield belt


class AllWork:
    """Each request is sent again, under its key, until it is accepted."""

    def __init__(
        self,
        api: RunningServer,
        receiver: Receiver,
        belt: RtspServer,
        chance: random.Random,
        *,
        workers: Sequence[RunningServer] = (),
        call_every_s: float,
        analysis_every_s: float,
        may_expire: bool = False,
    ) -> None:
        """`workers`: who does it, where that is not who answers; from a new piece of work to the next of its kind, so
        long; `may_expire`: as `Load` has it."""
        self.api = api
        self.calls = Calls(api, receiver, workers=workers)
        payer = api.new_client(f"payer {new_id()}", email=f"{new_id()}@example.com")
        self.load = Load(payer, receiver, chance, pause_s=_CHAT_RESTS_S, may_expire=may_expire)
        self.parcels = Parcels(api.new_client(f"watched {new_id()}"), belt, parcels=PARCELS, receiver=receiver)
        self._analyst = api.new_client(f"analysed {new_id()}")
        self.analysed: list[str] = []
        self._works: tuple[tuple[float, Callable[[], object]], ...] = (
            (call_every_s, self.calls.start_at_last),
            (analysis_every_s, self.analyse),
            (_LOOKS_S, self.parcels.show_next_when_found),
        )
        self._stop = threading.Event()

    def __str__(self) -> str:
        load = self.load
        counts = {
            "calls": len(self.calls.started),
            "analyses": len(self.analysed),
            "documents": len(load.documents),
            "answers of a chat": len(load.messages),
            "payments": len(load.paid),
            "parcels": self.parcels.shown,
        }
        return ", ".join(f"{count} {name}" for name, count in counts.items())

    def analyse(self) -> None:
        self.analysed.append(send_at_last(self._analyst))

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the block is; then each brings its request to an end. Raises what one of them raised."""
        self.parcels.wait_until_online()
        self._stop.clear()
        with ThreadPoolExecutor(len(self._works)) as threads, self.load.running():
            begun = [threads.submit(self._again_and_again, *work) for work in self._works]
            try:
                yield
            finally:
                self._stop.set()
                # What ended one of them early says more than what the block misses of it.
                for each in begun:
                    if each.done():
                        each.result()
            for each in begun:
                each.result()

    def _again_and_again(self, every_s: float, work: Callable[[], object]) -> None:
        while True:
            work()
            if self._stop.wait(every_s):
                return

    def assert_each_was_done_once(self) -> None:
        with closing(JobSteps(self.api)) as steps:
            self.calls.assert_each_was_done_once(steps)
        self.load.assert_each_was_done_once()
        assert_analysed_once(self._analyst, self.analysed)
        self.parcels.assert_each_was_told_once()
