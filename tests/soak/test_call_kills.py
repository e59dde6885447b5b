"""kill -9 of the server, and of its children, at each stage of a call: the task ends in success, once."""

from __future__ import annotations

import io
import random
import shutil
import time
import wave
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.soak.conftest import SMALL, Size, chosen
from tests.support.audio import call_clip
from tests.support.calls import RECORDING, Calls, can_diarize, wait_until
from tests.support.job_steps import JobSteps, Stage
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.server import RunningServer

pytestmark = [pytest.mark.soak, pytest.mark.models]

CLIP_S = 20
TRIES = 5
SILENCE_S = 30 * 60  # decoded for most of a second
LONG_RECORDING = "/long.wav"
STEPS = {"fetch_call", "hand_over_call", "prepare_call", "recognise_part", "store_call", "finish_call"}
DIARIZATION_STEPS = {"listen_to_call", "tell_voices"}
IN_CHILDREN = {"prepare_call", "recognise_part", *DIARIZATION_STEPS}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        running.answer(RECORDING, Reply(body=call_clip("01", 0, CLIP_S)))
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def call_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningServer]:
    more = {}
    if request.param == "postgresql":
        request.getfixturevalue("at_full_size")
        more = {"database_url": request.getfixturevalue("postgresql_url")}
    running = RunningServer(
        tmp_path / "data",
        allowed_networks="127.0.0.0/8",
        webhook_retry_schedule=",".join(["1"] * 30),
        mcp_requests_per_minute="1000000",
        sweep_s="1",
        asr_model="whisper-base",  # the quickest: what is tried is not the recognition
        **more,
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def steps(call_server: RunningServer) -> Iterator[JobSteps]:
    with closing(JobSteps(call_server)) as opened:
        yield opened


def undisturbed(calls: Calls, steps: JobSteps, say: Callable[[str], None]) -> list[Stage]:
    task_id = calls.start()
    succeeded(calls, task_id)
    wait_until(lambda: steps.statuses(task_id) == {"SUCCESS"})
    stages = steps.stages(task_id)
    if not can_diarize():
        say(f"NOT TRIED, since the models that tell voices apart are not here: {', '.join(sorted(DIARIZATION_STEPS))}")
    assert {stage.name for stage in stages} == (STEPS | DIARIZATION_STEPS if can_diarize() else STEPS)
    return stages


def succeeded(calls: Calls, task_id: str) -> dict[str, Any]:
    """The result of the task, when it has ended."""
    record = calls.account.finished_task(task_id)
    assert record["transcription_status"] == "success", (record, calls.account.server.log()[-8000:])
    found: dict[str, Any] = record["transcription_result_body"]
    return found


def rounds(size: Size) -> range:
    """How often a stage is tried at most until a kill hits it: a few kills may all miss, many do not."""
    return range(TRIES if size is SMALL else 1)


def assert_hit(hits: Counter[str], aimed: list[Stage], say: Callable[[str], None]) -> None:
    """A stage may be over before the kill, but not most of those that take their time."""
    say(f"{hits.total()} of {len(aimed)} kills hit a call: {dict(hits)}")
    long = [stage for stage in aimed if stage.took_s > 0.5]
    assert hits.total() >= max(1, len(long) // 2), (hits, aimed)


def test_a_call_ends_once_at_whatever_stage_the_server_is_killed(
    call_server: RunningServer,
    receiver: Receiver,
    steps: JobSteps,
    size: Size,
    chance: random.Random,
    say: Callable[[str], None],
) -> None:
    calls = Calls(call_server, receiver)
    stages = undisturbed(calls, steps, say)
    aimed = chosen(stages, size, chance)
    hits: Counter[str] = Counter()
    for stage in aimed:
        for _ in rounds(size):
            task_id = calls.start()
            if steps.wait_for(task_id, stage):
                time.sleep(chance.uniform(0, stage.took_s))
            call_server.kill()
            number = steps.at(task_id)
            call_server.start()
            if number is not None and number < len(stages):
                hits[stages[number].name] += 1
                break
    assert_hit(hits, aimed, say)
    calls.assert_each_was_done_once(steps)


@pytest.mark.parametrize("call_server", ["sqlite"], indirect=True)
def test_a_call_ends_once_at_whatever_stage_its_children_are_killed(
    call_server: RunningServer,
    receiver: Receiver,
    steps: JobSteps,
    size: Size,
    chance: random.Random,
    say: Callable[[str], None],
) -> None:
    calls = Calls(call_server, receiver)
    stages = undisturbed(calls, steps, say)
    aimed = chosen([stage for stage in stages if stage.name in IN_CHILDREN], size, chance)
    hits: Counter[str] = Counter()
    for stage in aimed:
        for _ in rounds(size):
            task_id = calls.start()
            if steps.wait_for(task_id, stage):
                time.sleep(chance.uniform(0, stage.took_s))
            killed = call_server.kill_children()
            number = steps.at(task_id)
            succeeded(calls, task_id)
            if killed and number is not None and number < len(stages) and stages[number].name in IN_CHILDREN:
                hits[stages[number].name] += 1
                break
    assert_hit(hits, aimed, say)
    calls.assert_each_was_done_once(steps)


@pytest.mark.parametrize("call_server", ["sqlite"], indirect=True)
def test_a_kill_while_a_lost_recording_is_decoded_again_costs_no_word(
    call_server: RunningServer, receiver: Receiver, steps: JobSteps
) -> None:
    """Files that were written by halves lie where whole ones are looked for, and the speech is in the missing half."""
    receiver.answer(LONG_RECORDING, Reply(body=speech_after_silence()))
    calls = Calls(call_server, receiver)
    first_id = calls.start(LONG_RECORDING, diarize=False)
    expected = succeeded(calls, first_id)
    assert expected["segments"]
    wait_until(lambda: steps.statuses(first_id) == {"SUCCESS"})
    recognition = next(stage for stage in steps.stages(first_id) if stage.name == "recognise_part")

    task_id = calls.start(LONG_RECORDING, diarize=False)
    folder = call_server.data_dir / "work" / task_id
    assert steps.wait_for(task_id, recognition)
    call_server.kill()
    assert steps.at(task_id) == recognition.number, "it was recognised before the kill"
    whole_bytes = decoded_bytes(folder)
    for _ in range(TRIES):
        shutil.rmtree(folder)
        call_server.start()
        wait_until(lambda: decoded_bytes(folder) > 0, pause_s=0.005)
        call_server.kill()
        if 0 < decoded_bytes(folder) < whole_bytes:
            break
    assert 0 < decoded_bytes(folder) < whole_bytes, "it was decoded before the kill"
    assert steps.at(task_id) == recognition.number
    call_server.start()
    assert succeeded(calls, task_id) == expected
    calls.assert_each_was_done_once(steps)


def decoded_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*.s16"))


def speech_after_silence() -> bytes:
    """A wav file of one channel at 16 kHz."""
    out = io.BytesIO()
    with wave.open(io.BytesIO(call_clip("01", 0, CLIP_S))) as clip, wave.open(out, "wb") as made:
        made.setnchannels(1)
        made.setsampwidth(2)
        made.setframerate(clip.getframerate())
        made.writeframes(bytes(SILENCE_S * clip.getframerate() * 2))
        both = np.frombuffer(clip.readframes(clip.getnframes()), "<i2").astype(np.int32)
        made.writeframes(((both[::2] + both[1::2]) // 2).astype("<i2").tobytes())
    return out.getvalue()
