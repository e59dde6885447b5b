"""A process that watches camera streams: takes as many as it can hold, keeps its leases, and shares with the others.

Beside the server, since cameras send what they like, and decoders and detectors are native code: what kills this
process leaves the server, and another worker goes on with its streams. It ends when the server's end of its socket
closes.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from typing import Any

import cv2
import structlog
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from accounts import ledger
from accounts.camera_addresses import CameraGuard
from accounts.keys import Keyring
from ingest.child_main import receive, send
from ingest.vision.detector import Detector
from ingest.vision.eyes import Eyes
from ingest.vision.models import find_models, runtime_of
from ingest.vision.recorder import Recorder
from ingest.vision.watch import Tools, Watch
from store import camera_standing, camera_streams, meters
from store.blobs import Blobs
from store.camera_standing import Tally
from store.camera_streams import Scenario, Stream
from store.database import Database
from store.deliveries import Delivery
from store.errors import ParleyError
from store.logging import configure_logging
from store.settings import Settings
from store.signatures import Signatures

log = structlog.get_logger(__name__)

_STREAMS_A_CORE = 8
_OPEN_TIMEOUT_S = 10.0
_END_S = 5.0
_LEAST_LIFE_S = 600.0
_SHRINK_AFTER_S, _GROW_AFTER_S, _LONGEST_WAIT_S = 15.0, 60.0, 3600.0


class Worker:
    """`worker_id`: what its server knows it by, which frees its streams where it dies. `on_charge` is told how much, in
    millionths of a rouble, `on_news` what was counted."""

    def __init__(
        self,
        worker_id: str,
        settings: Settings,
        *,
        on_delivery: Callable[[Delivery], None],
        on_charge: Callable[[int], None],
        on_news: Callable[[meters.News], None],
    ) -> None:
        self.id = worker_id
        self._on_charge = on_charge
        self._on_news, self._untold = on_news, meters.Untold()
        self._settings = settings
        self._signatures = Signatures(settings)
        self._database = Database(settings)
        self._keyring = Keyring.of(settings)
        self._guard = CameraGuard.of(settings.camera_networks)
        self._most = settings.camera_places or _STREAMS_A_CORE * (os.cpu_count() or 1)
        self._places = self._most
        self._waits_s: dict[int, float] = {}  # before so many streams are tried again, which were too many
        self._work: set[frozenset[Scenario]] = set()  # the scenarios of streams with which they were
        self._began_s = self._settled_s = time.monotonic()
        self._lease_s = settings.camera_lease_s
        self._watches: dict[str, Watch] = {}
        models = find_models(settings)
        self._detector = Detector(
            {str(role): path for role, path in models.items()},
            settings.detector_threads or os.cpu_count() or 1,
            runtime=runtime_of(settings),
        )
        self._tools = Tools(
            eyes=Eyes(self._detector, models),
            recorder=Recorder(self._database, Blobs(settings), self.id, on_delivery=on_delivery),
            opens=self._open,
            pays=self._pay,
            fps=settings.camera_fps,
        )

    def run(self, stop: threading.Event) -> None:
        """Until `stop`, or until only a new process helps; then its streams are free for others."""
        try:
            while not stop.is_set() and not self._is_spent():
                began_s = time.monotonic()
                try:
                    self._turn()
                except ParleyError as error:
                    log.warning("the leases of the streams were not renewed", error=str(error))
                if news := self._untold.news():
                    self._on_news(news)
                stop.wait(max(0.1, self._lease_s / 5 - (time.monotonic() - began_s)))
        finally:
            self._end()

    def _is_spent(self) -> bool:
        """Whether a camera's readers hang for good. One that does that to every process interrupts the other streams
        of its worker once in ten minutes at most."""
        if time.monotonic() - self._began_s < _LEAST_LIFE_S:
            return False
        hanging = [watch.stream.id for watch in self._watches.values() if watch.hangs]
        if hanging:
            log.error("readers of cameras hang: the worker ends, and a new one is started", stream_ids=hanging)
        return bool(hanging)

    def _turn(self) -> None:
        with self._database.write(durable=False) as connection:
            camera_streams.report_worker(connection, self.id, places=self._room, streams=len(self._watches))
            # Twice as often as anybody's turn comes: who is alone, or comes new, finds what is true now.
            camera_standing.judge(connection, every_s=self._lease_s / 10, lease_s=self._lease_s)
        with self._database.write(durable=False) as connection:
            mine = camera_streams.renew_leases(connection, self.id, lease_s=self._lease_s)
            tally = camera_standing.tally(connection)
            share = self._share(tally)
            # To look for free ones is to look through all: who has none does it in any case, since it has just begun.
            if len(mine) < share and (tally.free or not mine):
                mine += camera_streams.take_free(connection, self.id, most=share - len(mine), lease_s=self._lease_s)
        # The newest of ours go: those watched longest know most of their people.
        self._watch(mine[:share])
        if given := [stream.id for stream in mine[share:]]:
            # Only now: what their watches wrote at their end says to the next worker what was told.
            with self._database.write() as connection:
                camera_streams.give_back(connection, self.id, given)

    @property
    def _room(self) -> int:
        """How many streams can be held; none where the pictures of what happens in them could not be kept."""
        return self._places if self._signatures.are_taken() else 0

    def _share(self, tally: Tally) -> int:
        """How many streams are ours: in the proportion of what the workers can hold, rounded up, so that none is left
        over."""
        room = self._room
        held = max(tally.places, room, 1)  # it may be of before we came
        return min(room, -(-tally.streams * room // held))

    def _watch(self, mine: list[Stream]) -> None:
        wanted = {stream.id: stream for stream in mine}
        ended = [
            stream_id
            for stream_id, watch in self._watches.items()
            if stream_id not in wanted or not watch.takes(wanted[stream_id]) or not watch.is_alive
        ]
        moved = {each for each in ended if each in wanted and self._watches[each].stream.url != wanted[each].url}
        # All at once: the leases of the others do not wait for each in turn.
        for stream_id in ended:
            self._watches[stream_id].stop()
        # Nor do they run out while one waits that looks at a picture.
        ends_s = time.monotonic() + min(_END_S, self._lease_s / 2)
        for stream_id in ended:
            self._watches.pop(stream_id).join(max(0.0, ends_s - time.monotonic()))
        for stream_id, stream in wanted.items():
            if stream_id not in self._watches:
                progress = None
                if stream_id not in moved:  # of another camera nothing was told
                    with self._database.read() as connection:
                        progress = camera_streams.progress_of(stream.tenant_id, connection, stream_id)
                self._watches[stream_id] = Watch(stream, self._tools, progress)
                self._watches[stream_id].start()
        self._measure()

    def _measure(self) -> None:
        """Takes one place less where pictures are passed over, and one more again once they are not; each time only
        after the change before could show what it does. The more often a number was too large, the longer it is not
        tried again: each time costs the streams that come and go their tracks."""
        now_s, count = time.monotonic(), len(self._watches)
        since_s = now_s - self._settled_s
        self._forget_other_work()
        behind = sum(watch.is_behind for watch in self._watches.values())
        if since_s >= _SHRINK_AFTER_S and behind > count / 2 and count > 1 and self._places >= count:
            self._places = count - 1
            self._waits_s[count] = min(2 * self._waits_s.get(count, _GROW_AFTER_S), _LONGEST_WAIT_S)
            log.warning("too many camera streams for this worker", streams=count, places=self._places)
        elif since_s >= self._waits_s.get(self._places + 1, _GROW_AFTER_S) and not behind and self._places < self._most:
            self._places += 1
        else:
            return
        self._settled_s = now_s
        for watch in self._watches.values():
            watch.measure_anew()

    def _forget_other_work(self) -> None:
        """What was too much says nothing of streams that ask for other scenarios."""
        work = {frozenset(watch.stream.scenarios) for watch in self._watches.values()}
        if not work <= self._work:
            self._waits_s.clear()
            self._work = work

    def _open(self, stream: Stream, tried: int) -> str:
        url = self._keyring.decrypt(stream.url).decode()
        return url if stream.is_own else self._guard.resolved(url, _OPEN_TIMEOUT_S, tried)

    def _pay(self, stream: Stream, day: date) -> bool:
        """A day of a stream is held and charged once, whoever watches it."""
        key = f"vision:{stream.id}:{day.isoformat()}"
        line = ledger.Line("vision", 1)
        charged_micro = 0
        with self._database.write() as connection:
            held = ledger.hold(
                stream.tenant_id, connection, key=key, lines=[line], source="camera_stream", source_ref=stream.id
            )
            if held:
                ledger.use(stream.tenant_id, connection, hold_key=key, key=key, line=line)
                description = f"Camera {stream.name}, {day}"
                charged_micro = ledger.charge(stream.tenant_id, connection, hold_key=key, description=description)
        if charged_micro:
            self._on_charge(charged_micro)
        return held

    def _end(self) -> None:
        for watch in self._watches.values():
            watch.stop()
        for watch in self._watches.values():
            watch.join(_END_S)
        with suppress(ParleyError), self._database.write() as connection:
            camera_streams.forget_worker(connection, self.id)
        self._detector.close()
        self._database.close()


class Line:
    """The worker's end of the socket to its server: says which webhooks are to be sent and what was charged, and sees
    the server's end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._telling = threading.Lock()

    def tell_delivery(self, delivery: Delivery) -> None:
        """The server has the jobs that send webhooks; what it does not hear of, its sweep finds."""
        self._tell({"delivery": [delivery.tenant_id, delivery.id]})

    def tell_charge(self, amount_micro: int) -> None:
        """The server has the figures that Prometheus reads."""
        self._tell({"charged_micro": amount_micro})

    def tell_news(self, news: meters.News) -> None:
        """As with charges."""
        self._tell({"news": news})

    def _tell(self, words: dict[str, Any]) -> None:
        with self._telling, suppress(OSError):
            send(self._connection, json.dumps(words).encode())

    def wait_for_the_end(self) -> None:
        while self._connection.recv(1024):
            pass


def work(socket_number: int) -> None:
    """The process's life: reads its settings from the server, then watches until the server is gone. Never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection = socket.socket(fileno=socket_number)
    connection.set_inheritable(False)
    told = receive(connection, None)
    if told is None:
        os._exit(0)
    worker_id: str
    settings: Settings
    worker_id, settings = pickle.loads(told)  # noqa: S301 - from the server that started this process
    configure_logging(settings)
    # The streams' threads share the cores already.
    cv2.setNumThreads(1)
    threadpool_limits(limits=1, user_api="blas")
    stop = threading.Event()
    line = Line(connection)

    def end_with_the_server() -> None:
        with suppress(OSError):
            line.wait_for_the_end()
        stop.set()
        time.sleep(2 * _END_S)
        os._exit(1)

    threading.Thread(target=end_with_the_server, name="server's end", daemon=True).start()
    worker = Worker(
        worker_id, settings, on_delivery=line.tell_delivery, on_charge=line.tell_charge, on_news=line.tell_news
    )
    worker.run(stop)
    logging.shutdown()
    os._exit(0)  # readers that hang in a camera are not waited for
