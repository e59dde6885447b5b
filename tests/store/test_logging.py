"""Log lines: written together while all is well, at once when something is not, and none lost at the end."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from store.logging import GatheringHandler


class Stream(io.StringIO):
    """Counts how often it is written to."""

    writes = 0

    def write(self, text: str) -> int:
        self.writes += bool(text)
        return super().write(text)


@pytest.fixture
def stream() -> Stream:
    return Stream()


@pytest.fixture
def log(stream: Stream) -> Iterator[logging.Logger]:
    logger = logging.Logger("gathered", logging.INFO)
    handler = GatheringHandler(stream)
    logger.addHandler(handler)
    yield logger
    handler.close()


def wait_for(text: str, stream: Stream) -> None:
    deadline = time.monotonic() + 120
    while text not in stream.getvalue():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_line_is_written_soon_without_another_after_it(log: logging.Logger, stream: Stream) -> None:
    for text in ("first", "second"):
        log.info(text)
        wait_for(f"{text}\n", stream)


def test_a_warning_is_written_at_once_and_behind_what_came_before(log: logging.Logger, stream: Stream) -> None:
    for number in range(100):
        log.info("line %d", number)
    log.warning("late")
    lines = stream.getvalue().splitlines()
    assert lines == [*(f"line {number}" for number in range(100)), "late"]
    assert stream.writes < 20


def test_lines_of_many_threads_are_all_there_once_and_whole(log: logging.Logger, stream: Stream) -> None:
    def write(number: int) -> None:
        for each in range(200):
            log.log(logging.ERROR if each % 50 == 0 else logging.INFO, "%d-%d", number, each)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for handler in log.handlers:
        handler.flush()  # as logging.shutdown() does when the process ends
    expected = {f"{number}-{each}" for number in range(8) for each in range(200)}
    assert sorted(stream.getvalue().splitlines()) == sorted(expected)


def test_a_stream_that_is_gone_hurts_nobody(log: logging.Logger, stream: Stream) -> None:
    stream.close()
    log.warning("into the void")
    log.info("and again")
    for handler in log.handlers:
        handler.flush()


def test_a_traceback_on_a_terminal_shows_no_values() -> None:
    program = """
import structlog
from store.logging import configure_logging
from store.settings import Settings
configure_logging(Settings(log_format="console", _env_file=None))
said = "what Anna " + "said"
try:
    raise RuntimeError(len(said))
except RuntimeError:
    structlog.get_logger().exception("it failed")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert "RuntimeError: 14" in ended.stderr
    assert "what Anna said" not in ended.stderr
