"""The local language model: one GGUF file, served by a child process that lives only while it is asked.

The child speaks the OpenAI protocol on a free port of loopback, behind a random key, so that nobody else on the machine
uses it. It starts with the first question, is replaced if it dies, and is let go after a while unused.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import structlog

from rag.local_model_server import Launch
from rag.precedence import Precedence
from store.errors import Unavailable, UpstreamFailed
from store.settings import Settings

PREFERRED = ("qwen2.5-1.5b-instruct", "qwen2.5-coder-1.5b-instruct")
CONTEXT_TOKENS = 4096
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 3.0
HEALTH_TIMEOUT_S = 2.0

SERVER_COMMAND = (sys.executable, "-m", "rag.local_model_server")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the child answers: base URL of its OpenAI API, its key, its process id."""

    api_base: str
    api_key: str
    pid: int


def find_model(settings: Settings) -> tuple[str, Path] | None:
    """Name and GGUF file of the best local model that is installed, or None."""
    from store import weights

    for name in PREFERRED:
        with contextlib.suppress(KeyError):  # not in this release's list of models
            folder = weights.find(settings, name)
            files = sorted(folder.glob("*.gguf")) if folder is not None else []
            if files:
                return name, files[0]
    return None


class LocalModel:
    """Owns the child process. Safe to use from any thread; many first questions start one child.

    `precedence` is between those who share it: chats, and work in the background.
    """

    def __init__(self, name: str, file: Path, *, threads: int = 0, idle_s: float = 600.0) -> None:
        self.name = name
        self.file = file
        cores = os.cpu_count() or 1
        self.reading_threads = threads or cores
        # The threads of one answer wait for each other at every token, so one that has to share its core stalls all:
        # on 2 busy cores 2 threads wrote 0.6 to 2.4 tokens a second and 1 thread 8 to 21 (nearly idle: 34 and 23).
        self.writing_threads = threads or max(1, cores - 1)
        self.idle_s = idle_s
        self.precedence = Precedence()
        self._process: subprocess.Popen[bytes] | None = None
        self._endpoint: Endpoint | None = None
        self._stderr: deque[str] = deque(maxlen=20)
        self._process_lock = threading.RLock()
        self._use_lock = threading.Lock()
        self._in_use = 0
        self._last_used_s = time.monotonic()
        self._closed = threading.Event()
        # A thread of its own: waiting for a start must not fill the loop's shared pool.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="local-model-start")

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Keeps the idle watch from ending the child. Never blocks for long."""
        with self._use_lock:
            self._in_use += 1
        try:
            yield
        finally:
            with self._use_lock:
                self._in_use -= 1
                self._last_used_s = time.monotonic()

    async def endpoint(self) -> Endpoint:
        """The running child, started if need be. Raises Unavailable or UpstreamFailed. Call it within `in_use`."""
        if self._closed.is_set():
            raise Unavailable("The server is stopping.", retry_after_s=5)
        return await asyncio.get_running_loop().run_in_executor(self._starter, self.ensure_running)

    def ensure_running(self) -> Endpoint:
        """Blocks until the child answers. Raises UpstreamFailed where it cannot be started."""
        with self._process_lock:
            if self._process is not None and self._process.poll() is None and self._endpoint is not None:
                return self._endpoint
            if self._closed.is_set():
                raise Unavailable("The server is stopping.", retry_after_s=5)
            self._end_child()
            if not self.file.is_file():
                raise Unavailable("The local model's file is missing: run `parley models pull`.", retry_after_s=60)
            return self._start()

    def current(self) -> Endpoint | None:
        """The child that was started last, alive or not. Never blocks."""
        return self._endpoint

    def drop_if_unhealthy(self, endpoint: Endpoint) -> None:
        """Ends the child when it no longer answers, so that the next question starts another."""
        if _healthy(endpoint):
            return
        with self._process_lock:
            if self._endpoint == endpoint:
                log.warning("local_model_unhealthy", model=self.name, pid=endpoint.pid)
                self._end_child()

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def close(self) -> None:
        """Ends the child, one that still loads its model at once. Further questions are refused."""
        self._closed.set()
        # A start holds the lock until its child answers or ends.
        if (process := self._process) is not None and self._endpoint is None:
            process.kill()
        with self._process_lock:
            self._end_child()
        self._starter.shutdown(wait=False, cancel_futures=True)

    def _start(self) -> Endpoint:
        started_s = time.monotonic()
        api_key = secrets.token_urlsafe(24)
        self._stderr.clear()
        process = subprocess.Popen(
            SERVER_COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=Path(__file__).resolve().parents[1],
            start_new_session=True,  # Ctrl-C reaches the server alone, which then ends the child in order
        )
        self._process = process
        if self._closed.is_set():  # since the caller looked; `close` may have found no process to end
            process.kill()
        self._last_used_s = started_s
        launch = Launch(
            model_file=str(self.file),
            alias=self.name,
            api_key=api_key,
            reading_threads=self.reading_threads,
            writing_threads=self.writing_threads,
            context_tokens=CONTEXT_TOKENS,
            parent_pid=os.getpid(),
        )
        try:
            address = self._greet(process, launch)
            endpoint = Endpoint(f"{address}/v1", api_key, process.pid)
            if not _healthy(endpoint):
                raise OSError("the model's process does not answer")
        except (OSError, ValueError, KeyError) as error:
            self._end_child()
            if self._closed.is_set():
                raise Unavailable("The server is stopping.", retry_after_s=5) from None
            log.error("local_model_failed_to_start", model=self.name, reason=str(error), stderr=list(self._stderr))
            raise UpstreamFailed("The local model could not be started.") from error
        self._endpoint = endpoint
        threading.Thread(target=self._watch_idle, args=(process,), name="local-model-idle", daemon=True).start()
        log.info(
            "local_model_started", model=self.name, pid=process.pid, seconds=round(time.monotonic() - started_s, 1)
        )
        return endpoint

    def _greet(self, process: subprocess.Popen[bytes], launch: Launch) -> str:
        """Hands over the launch line and reads the address. Raises OSError or ValueError."""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        threading.Thread(target=self._drain, args=(process.stderr,), name="local-model-log", daemon=True).start()
        process.stdin.write(launch.to_line())
        process.stdin.flush()
        deadline = threading.Timer(START_TIMEOUT_S, process.kill)
        deadline.daemon = True
        deadline.start()
        try:
            line = process.stdout.readline()
        finally:
            deadline.cancel()
        if not line:
            raise OSError("the model's process ended while loading")
        address = json.loads(line)["address"]
        if not isinstance(address, str) or not address.startswith("http://127.0.0.1:"):
            raise ValueError("the model's process gave no loopback address")
        return address

    def _drain(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._stderr.append(line.decode(errors="replace").rstrip())

    def _watch_idle(self, process: subprocess.Popen[bytes]) -> None:
        while not self._closed.wait(min(self.idle_s / 4, 5.0)):
            if process.poll() is not None:
                return
            with self._process_lock:
                # A question that begins now waits for the process lock and then finds (and starts) another child.
                if self._is_idle() and self._process is process:
                    log.info("local_model_let_go", model=self.name, pid=process.pid)
                    self._end_child()
                    return

    def _is_idle(self) -> bool:
        with self._use_lock:
            return self._in_use == 0 and time.monotonic() - self._last_used_s > self.idle_s

    def _end_child(self) -> None:
        process, self._process, self._endpoint = self._process, None, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _healthy(endpoint: Endpoint) -> bool:
    address = endpoint.api_base.removesuffix("/v1")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback never goes through a proxy
    try:
        with opener.open(f"{address}/health", timeout=HEALTH_TIMEOUT_S) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
