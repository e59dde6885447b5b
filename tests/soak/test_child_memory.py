"""The speech child lives as long as calls keep coming: what one call took must be free for the next."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.children import ChildPool
from ingest.speech import transcribe
from ingest.speech.recognise import Engine, choose_engine
from store.settings import load_settings
from tests.soak.conftest import Size
from tests.support.audio import call_clip

pytestmark = [pytest.mark.soak, pytest.mark.models]

WARM_UP = 10
MAX_GROWTH_MB = 40
CALLS_A_SIZE = 3


@pytest.fixture
def pool() -> Iterator[ChildPool]:
    with ChildPool("speech", 1, 600.0) as children:
        yield children


def hear(path: Path, folder: Path, engine: Engine) -> int:
    """A whole call, and how many MB the child holds after it."""
    recording = transcribe.prepare(path, folder)
    assert transcribe.detect_language(folder, recording, engine)
    for part in recording["parts"]:
        transcribe.recognise_part(folder, part, engine, language="ru", words=False)
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmRSS"))


@pytest.mark.usefixtures("at_full_size")
def test_a_speech_child_does_not_grow_with_the_calls_it_heard(pool: ChildPool, tmp_path: Path, size: Size) -> None:
    engine = choose_engine(load_settings(asr_model="whisper-base"))
    held_mb = []
    for number in range(WARM_UP + size.kills * CALLS_A_SIZE):
        path = tmp_path / "call.wav"
        start_s = (number * 7) % 60
        path.write_bytes(call_clip("01", start_s, start_s + 2 + number % 5))
        folder = tmp_path / "work"
        folder.mkdir()
        held_mb.append(pool.run(hear, path, folder, engine))
        shutil.rmtree(folder)
    print("MB held after each call:", held_mb)
    warm_mb = max(held_mb[:WARM_UP])
    assert max(held_mb[-WARM_UP:]) <= warm_mb + MAX_GROWTH_MB, held_mb
