"""Voices: told apart on one channel, and known again across calls where the account wants that."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from ingest.speech.diarize import choose_models
from store import voices
from store.settings import load_settings
from store.weights import ModelMissing
from tests.contract.recordings import RATE, Samples, spoken, wav
from tests.support.analyses import analysed
from tests.support.audio import CALLS
from tests.support.server import Account

pytestmark = pytest.mark.models

CLIP_S = 46.0
DANIEL = {"id": "daniel", "name": "Daniel Hart", "role": "support"}
SARAH = {"id": "sarah", "name": "Sarah Quinn", "role": "client"}


@pytest.fixture(scope="module", autouse=True)
def models() -> None:
    try:
        choose_models(load_settings())
    except ModelMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def account(new_account: Callable[..., Account]) -> Account:
    return new_account()


def transcribed(account: Account, samples: Samples, **fields: str) -> dict[str, Any]:
    """The communication of a call that was heard to its end. Unless asked for, nobody is told by what they say."""
    answer = account.upload_audio(wav(samples), language="en", **{"summary": "false", **fields})
    assert answer.status_code == 202, answer.text
    record = account.finished_task(answer.json()["task_id"])
    assert record["transcription_status"] == "success", record
    found: dict[str, Any] = account.get(f"/public/v1/communications?id={record['communication_id']}").json()
    return found


def one_channel(start_s: float, end_s: float) -> Samples:
    """Both people of the demo's call on one channel."""
    both = spoken("04", start_s, end_s)
    return (both.sum(axis=1) // 2).astype("int16")[:, None]


def turns(start_s: float, end_s: float) -> list[tuple[str, float, float]]:
    """Who spoke when, seconds from the start of the clip."""
    truth = json.loads(next(iter(CALLS.glob("04*.truth.json"))).read_text(encoding="utf-8"))
    found = [
        (turn["label"], turn["start_ms"] / 1000 - start_s, turn["end_ms"] / 1000 - start_s) for turn in truth["turns"]
    ]
    return [turn for turn in found if turn[2] > 0 and turn[1] < end_s - start_s]


def speaking(label: str, seconds: float = 20.0) -> Samples:
    """Only what one of the two says, one behind the other, on one channel."""
    side = int(label[-2:])
    import numpy as np

    pieces: list[Samples] = []
    for who, start, end in turns(0, 120):
        if who == label:
            pieces.append(spoken("04", 0, 120)[int(start * RATE) : int(end * RATE), side : side + 1])
    return np.concatenate(pieces)[: int(seconds * RATE)]


def labels(communication: dict[str, Any]) -> dict[str, str | None]:
    return {person["external_id"]: person["label"] for person in communication["speakers"]}


def stored(account: Account) -> tuple[int, int]:
    """How many voices of the account are in the database: heard, known."""
    with account.server.database.read() as connection:
        counted = [
            connection.execute(
                sa.select(sa.func.count()).select_from(table).where(table.c.tenant_id == account.tenant_id)
            ).scalar_one()
            for table in (voices.heard_voices, voices.speaker_voices)
        ]
    return counted[0], counted[1]


def switch_voices(account: Account, on: bool) -> None:
    answer = account.request("PATCH", "/public/v1/settings", json={"voices": on})
    assert answer.status_code == 200, answer.text


@pytest.mark.proves("speech.diarize.separates-voices", "speech.speakers.count-is-hint")
@pytest.mark.parametrize("named", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_two_people_on_one_channel_are_told_apart(account: Account, named: int) -> None:
    """However many are named: that is a hint and no bound."""
    people = json.dumps([{"id": f"person-{number}"} for number in range(named)])
    content = transcribed(account, one_channel(0, CLIP_S), diarize="true", speakers=people)["content"]
    assert {item["label"] for item in content} == {"SPEAKER_00", "SPEAKER_01"}
    assert content[0]["label"] == "SPEAKER_00"
    shared: Counter[tuple[str, str]] = Counter()
    for item in content:
        for who, start_s, end_s in turns(0, CLIP_S):
            overlap_ms = min(item["end_ms"], end_s * 1000) - max(item["start_ms"], start_s * 1000)
            shared[who, item["label"]] += max(0, round(overlap_ms))
    right = sum(shared[who, who] for who in ("SPEAKER_00", "SPEAKER_01"))
    assert right > 0.9 * shared.total(), shared


@pytest.mark.proves("speech.speakers.count-is-hint")
def test_one_alone_is_one_however_many_are_named(account: Account) -> None:
    three = json.dumps([{"id": "a"}, {"id": "b"}, {"id": "c"}])
    alone = transcribed(account, speaking("SPEAKER_01"), diarize="true", speakers=three)
    assert {item["label"] for item in alone["content"]} == {"SPEAKER_00"}


def test_without_diarize_one_channel_has_one_label(account: Account) -> None:
    content = transcribed(account, one_channel(0, 20))["content"]
    assert {item["label"] for item in content} == {"SPEAKER_00"}


def test_who_was_heard_before_is_known_by_voice_on_either_side_of_a_call(account: Account) -> None:
    switch_voices(account, True)
    alone = transcribed(account, speaking("SPEAKER_00"), speakers=json.dumps([DANIEL]))
    assert labels(alone) == {"daniel": "SPEAKER_00"}
    assert stored(account) == (1, 1)
    people = json.dumps([SARAH, DANIEL])
    call = spoken("04", CLIP_S, CLIP_S + 30)
    assert labels(transcribed(account, call, speakers=people)) == {"daniel": "SPEAKER_00", "sarah": None}
    swapped = transcribed(account, call[:, ::-1], speakers=people)
    assert labels(swapped) == {"daniel": "SPEAKER_01", "sarah": None}


def test_who_is_told_by_what_they_say_is_known_by_voice_from_then_on(account: Account) -> None:
    switch_voices(account, True)
    people = json.dumps([SARAH, DANIEL])
    call = transcribed(account, spoken("04", 0, CLIP_S), speakers=people, summary="true")
    assert labels(analysed(account, call["id"])) == {"daniel": "SPEAKER_00", "sarah": "SPEAKER_01"}
    assert stored(account) == (2, 2)


@pytest.mark.soak
def test_a_voice_on_one_channel_with_another_is_known_too(account: Account) -> None:
    switch_voices(account, True)
    transcribed(account, speaking("SPEAKER_01"), speakers=json.dumps([SARAH]))
    call = transcribed(account, one_channel(CLIP_S, CLIP_S + 45), diarize="true", speakers=json.dumps([DANIEL, SARAH]))
    label = labels(call)["sarah"]
    assert label is not None
    said = " ".join(item["text"] for item in call["content"] if item["label"] == label)
    others = " ".join(item["text"] for item in call["content"] if item["label"] != label)
    assert said
    assert others
    assert labels(call)["daniel"] is None


@pytest.mark.soak
def test_the_one_who_is_named_is_not_taken_for_the_one_who_speaks_most(account: Account) -> None:
    switch_voices(account, True)
    call = spoken("04", 0, 30).copy()
    hello = spoken("04", 0, 3)[:, 0]  # all that the one who is named says
    call[:, 0] = 0
    call[: len(hello), 0] = hello
    assert labels(transcribed(account, call, speakers=json.dumps([DANIEL]))) == {"daniel": None}
    assert stored(account)[1] == 0


def test_a_stranger_is_not_taken_for_who_is_named(account: Account) -> None:
    switch_voices(account, True)
    transcribed(account, speaking("SPEAKER_01"), speakers=json.dumps([SARAH]))
    stranger = transcribed(account, speaking("SPEAKER_00"), speakers=json.dumps([SARAH]))
    assert labels(stranger) == {"sarah": None}
    assert stored(account) == (2, 1)


def test_an_account_that_did_not_ask_for_it_has_no_voice_stored(account: Account) -> None:
    people = json.dumps([DANIEL])
    assert labels(transcribed(account, speaking("SPEAKER_00"), speakers=people)) == {"daniel": None}
    assert labels(transcribed(account, speaking("SPEAKER_00"), speakers=people, diarize="true")) == {"daniel": None}
    assert stored(account) == (0, 0)


def test_voices_go_when_they_are_switched_off_and_with_their_speaker(account: Account) -> None:
    switch_voices(account, True)
    call = transcribed(account, speaking("SPEAKER_00"), speakers=json.dumps([DANIEL]))
    assert stored(account) == (1, 1)
    (person,) = call["speakers"]
    assert account.request("DELETE", f"/public/v1/speakers/{person['id']}").status_code == 204
    assert account.get("/public/v1/speakers/profile?speaker_external_id=daniel").status_code == 404
    assert stored(account) == (0, 0)
    transcribed(account, speaking("SPEAKER_00"), speakers=json.dumps([DANIEL]))
    assert stored(account) == (1, 1)
    switch_voices(account, False)
    assert stored(account) == (0, 0)
