"""Keeps the process that watches cameras alive while there are any: started when the first is registered, started
again when it dies, and let go when none is left."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time

import structlog

from accounts import ledger, webhooks
from ingest.child_main import receive, send
from store import camera_standing, camera_streams, deliveries, meters
from store.database import Database
from store.errors import ParleyError
from store.ids import new_id
from store.settings import Settings

log = structlog.get_logger(__name__)

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ingest.vision.worker import work; work(int(sys.argv[2]))"
)
_LOOK_S = 5.0
_END_S = 10.0
_PAUSES_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_WELL_AFTER_S = 60.0
_START_S = 180.0
_LEAST_PATIENCE_S = 15.0  # a turn of the worker's may wait for streams that end, and for the database


class CameraSupervisor:
    """One a server. `wake` after a stream was registered: else it is found within a few seconds."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._woken = threading.Event()
        self._closing = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._worker_id = ""
        self._silent_after_s, self._looked_s = 0.0, time.monotonic()
        self._thread = threading.Thread(target=self._supervise, name="camera supervisor", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        """Ends the process; its streams are free for others at once, or when their leases end."""
        self._closing.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(2 * _END_S)

    @property
    def process_id(self) -> int | None:
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def _supervise(self) -> None:
        deaths = 0
        while not self._closing.is_set():
            self._woken.clear()
            if not self._has_streams():
                self._end()
                self._woken.wait(_LOOK_S)
                continue
            began_s = time.monotonic()
            try:
                self._begin()
            except OSError:
                log.exception("the process that watches cameras could not be started")
            while not self._closing.is_set() and self.process_id is not None and self._has_streams():
                self._woken.wait(_LOOK_S)
                self._woken.clear()
                if self._is_silent():
                    log.error("the process that watches cameras hangs, and is killed")
                    self._kill()
            if self._closing.is_set() or self.process_id is not None:
                continue
            deaths = 0 if time.monotonic() - began_s > _WELL_AFTER_S else deaths + 1
            pause_s = _PAUSES_S[min(deaths, len(_PAUSES_S) - 1)]
            log.warning("the process that watches cameras died, and is started again", pause_s=pause_s)
            if self._process is None or self._process.returncode:  # else it ended by itself, for a new one
                meters.CAMERAS.inc()
            self._end()
            self._woken.wait(pause_s)
        self._end()

    def _has_streams(self) -> bool:
        try:
            with self._database.read() as connection:
                return camera_standing.need_worker(connection)
        except ParleyError:
            return self._process is not None

    def _is_silent(self) -> bool:
        """Whether the worker has not said for two leases that it is alive, though it could. Its streams are others' by
        then, where there are others. Where this process stood still itself, so may have the worker."""
        lease_s, now_s = self._settings.camera_lease_s, time.monotonic()
        stood_still, self._looked_s = now_s - self._looked_s > 2 * _LOOK_S, now_s
        try:
            with self._database.read() as connection:
                is_heard = camera_streams.is_heard(connection, self._worker_id, seen_within_s=lease_s)
        except ParleyError:
            is_heard = True  # where we cannot read, it cannot write
        patient_until_s = now_s + max(lease_s, _LEAST_PATIENCE_S)
        if is_heard:
            self._silent_after_s = patient_until_s
        elif stood_still:  # of the time for its start nothing is taken
            self._silent_after_s = max(self._silent_after_s, patient_until_s)
        return now_s > self._silent_after_s

    def _begin(self) -> None:
        if self._process is not None:
            return
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(sys.path), str(number)],
                pass_fds=(number,),
                stdin=subprocess.DEVNULL,
                stdout=2,
                process_group=0,
            )
        self._socket = ours
        self._worker_id = new_id()
        self._looked_s = time.monotonic()
        self._silent_after_s = self._looked_s + max(_START_S, 2 * self._settings.camera_lease_s)
        send(ours, pickle.dumps((self._worker_id, self._settings)))
        arguments = (ours, self._process)
        threading.Thread(target=self._listen, args=arguments, name="camera worker's words", daemon=True).start()

    def _listen(self, connection: socket.socket, process: subprocess.Popen[bytes]) -> None:
        """Starts the webhooks that the worker wrote, counts what it charged, and sees it end."""
        with contextlib.suppress(OSError):
            while (told := receive(connection, None)) is not None:
                words = json.loads(told)
                if "charged_micro" in words:
                    ledger.count_charge("vision", words["charged_micro"])
                elif "news" in words:
                    meters.add(words["news"])
                else:
                    self._start_webhook(*words["delivery"])
        # Its sockets close before it can be seen to have ended.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
        self._woken.set()

    def _start_webhook(self, tenant_id: str, delivery_id: str) -> None:
        try:
            with self._database.read() as connection:
                delivery = deliveries.get(tenant_id, connection, delivery_id)
        except ParleyError:
            return  # the sweeper finds it
        webhooks.start(delivery)

    def _kill(self) -> None:
        process = self._process
        assert process is not None, "there is a worker"
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _end(self) -> None:
        process, connection = self._process, self._socket
        if process is None or connection is None:
            return
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._kill()
        connection.close()
        self._process = self._socket = None
        # Who was killed could not do it: its streams would be nobody's until their leases end.
        with contextlib.suppress(ParleyError), self._database.write() as database:
            camera_streams.forget_worker(database, self._worker_id)
