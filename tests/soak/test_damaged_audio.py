"""Recordings with random bytes changed, through the whole server: refused, or transcribed and billed as decoded."""

from __future__ import annotations

import io
import random
import wave
from decimal import Decimal
from pathlib import Path

import pytest

from accounts import ledger
from tests.ingest.speech.sounds import by_ffmpeg, mutated
from tests.soak.conftest import Size
from tests.support.audio import call_clip
from tests.support.server import Account, RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.models]

A_SECOND_RUB = Decimal("0.02")
FILM = "-f lavfi -i testsrc=size=64x64:rate=5:duration=4 -shortest -c:v mpeg4"
FORMATS = (
    ("wav", ""),
    ("wav", "-c:a pcm_alaw -ar 8000"),
    ("wav", "-c:a adpcm_ms -ar 8000"),
    ("wav", "-c:a libgsm_ms -ar 8000 -ac 1"),
    ("gsm", "-c:a libgsm -ar 8000 -ac 1"),
    ("mp3", "-c:a libmp3lame -b:a 48k"),
    ("m4a", "-c:a aac -b:a 48k"),
    ("aac", "-c:a aac -b:a 48k"),
    ("ogg", "-c:a libopus -b:a 32k"),
    ("ogg", "-c:a libvorbis"),
    ("webm", "-c:a libopus -b:a 32k"),
    ("flac", ""),
    ("wma", "-c:a wmav2"),
    ("aiff", ""),
    ("mp4", f"{FILM} -c:a aac"),
    ("mkv", f"{FILM} -c:a aac"),
    ("avi", f"{FILM} -c:a libmp3lame"),
    ("ts", f"{FILM} -c:a aac"),
)


def debits_of(account: Account) -> dict[str, Decimal]:
    """What was charged for each communication, roubles."""
    found: dict[str, Decimal] = {}
    while True:
        query = {"kind": "debit", "limit": 100, "offset": len(found)}
        items = account.get("/public/v1/balance/history", params=query).json()["items"]
        for item in items:
            assert item["source_ref"] not in found, "charged twice"
            found[item["source_ref"]] = -Decimal(str(item["amount_rub"]))
        if len(items) < 100:
            return found


def test_damaged_recordings_end_well_or_with_an_error_and_cost_what_was_decoded(
    own_server: RunningServer, size: Size, chance: random.Random, tmp_path: Path
) -> None:
    account = own_server.new_client("client", balance_rub="100000")
    clip = tmp_path / "clip.wav"
    clip.write_bytes(call_clip("01", 2, 6))
    with wave.open(io.BytesIO(clip.read_bytes())) as whole:
        assert whole.getnframes() > 60_000
    seeds = [
        by_ffmpeg(clip, tmp_path / f"{n}.{ending}", options).read_bytes() for n, (ending, options) in enumerate(FORMATS)
    ]
    refused = 0
    accepted: list[tuple[str, str]] = []
    for number in range(size.damaged_files):
        answer = account.upload_audio(mutated(seeds[number % len(seeds)], chance), f"{number}.wav", language="ru")
        if answer.status_code == 202:
            accepted.append((answer.json()["task_id"], answer.json()["communication_id"]))
        else:
            assert (answer.status_code, answer.json()["error"]["param"]) == (400, "file"), answer.text
            refused += 1
    seconds: dict[str, int] = {}
    failed = 0
    for task_id, communication_id in accepted:
        record = account.finished_task(task_id)
        if record["transcription_status"] == "error":
            assert record["transcription_error_message"]
            failed += 1
            continue
        result = record["transcription_result_body"]
        assert 0 < result["audio_duration_ms"] < 130_000
        assert all(
            0 <= each["start"] <= each["end"] <= result["audio_duration_ms"] / 1000 for each in result["segments"]
        )
        seconds[communication_id] = -(-result["audio_duration_ms"] // 1000)
    print(f"{len(seconds)} transcribed, {refused} refused, {failed} failed")
    assert len(seconds) > size.damaged_files // 3
    assert debits_of(account) == {communication: A_SECOND_RUB * count for communication, count in seconds.items()}
    with own_server.database.read() as connection:
        assert ledger.balance(account.tenant_id, connection).held_micro == 0
    assert ledger.verify(own_server.database) == []
    assert account.get("/readyz").status_code == 200
    whole_task = account.upload_audio(clip.read_bytes(), language="ru").json()["task_id"]
    assert account.finished_task(whole_task)["transcription_status"] == "success"
