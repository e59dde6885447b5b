"""The voices of a call: the steps that tell them apart, and what an account that wants it remembers of them.

A voice is bound to a person here only when it is known: a speaker who came with an id and was heard before is found
again by voice, and the only voice of a call that names one person is that person's. All else stays unbound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypedDict

import structlog

from ingest.call_work import (
    DECODED,
    LISTENED,
    decoded_folder,
    files_of,
    folder_of,
    has_ended,
    note_progress,
    run,
    task_of,
)
from ingest.children import WorkCancelled
from ingest.outages import lasting_step
from ingest.speech import diarize, transcribe
from ingest.speech import voices as matching
from ingest.speech.decode import SAMPLE_RATE
from ingest.speech.diarize import Diarized
from ingest.workshop import workshop
from store import accounts, speakers, voices
from store.database import Connection
from store.transcriptions import Task
from store.weights import ModelMissing

log = structlog.get_logger(__name__)

Pieces = Mapping[str, list[list[int]]]
"""What to listen to, [start_ms, end_ms] each, by the channel's file."""

Labels = Mapping[str, Sequence[Any] | None]
"""Every label of the timeline, and where voices were told apart [the channel's own label, number of the voice]."""


class Told(TypedDict, total=False):
    """By the label of the channel: its voices, or one voice of it where it was only sampled."""

    diarized: dict[str, Diarized]
    sampled: dict[str, diarize.Voice]


def are_wanted(connection: Connection, task: Task) -> bool:
    """Whether the account remembers voices and somebody who can be known by theirs takes part."""
    tenant = accounts.get_tenant(task.tenant_id, connection)
    if tenant is None or not tenant.voices_enabled:
        return False
    people = speakers.list_participants(task.tenant_id, connection, task.communication_id)
    return any(person.external_id for person in people)


def pieces_of(recording: transcribe.Prepared) -> dict[str, list[list[int]]]:
    samples = recording["duration_ms"] * SAMPLE_RATE // 1000
    return {file: diarize.pieces(samples) for file in files_of(recording).values()}


@lasting_step("listen_to_call")
def listen(
    tenant_id: str, task_id: str, recording: transcribe.Prepared, file: str, piece: list[int], done: float
) -> None:
    """Listens for voices in one piece of a channel; what it finds is left in the work folder. `done` is the share of
    all pieces that are heard with this one."""
    house = workshop()
    task = task_of(house, tenant_id, task_id)
    if has_ended(task):
        return
    try:
        folder = decoded_folder(house, task, recording)
        run(house.pools.speech, task, diarize.listen, folder, file, piece, diarize.choose_models(house.settings))
    except WorkCancelled:
        return
    note_progress(house, task, DECODED + (LISTENED - DECODED) * done)


@lasting_step("tell_voices")
def tell(tenant_id: str, task_id: str, recording: transcribe.Prepared, pieces: Pieces) -> Told:
    """The voices of each channel, out of the pieces that were listened to; without pieces, one sampled voice of it."""
    house = workshop()
    task = task_of(house, tenant_id, task_id)
    if has_ended(task):
        return {}
    try:
        models = diarize.choose_models(house.settings)
        folder = decoded_folder(house, task, recording)
        if not pieces:
            return {"sampled": _sampled(task, recording, models)}
        found = {}
        for label, file in files_of(recording).items():
            if not diarize.heard(folder, file, pieces[file]):  # another machine's work, or its folder was lost
                for piece in pieces[file]:
                    run(house.pools.speech, task, diarize.listen, folder, file, piece, models)
            settle = partial(diarize.settle, expected=task.parameters.get("expected_speakers"))
            found[label] = run(house.pools.decoding, task, settle, folder, file, pieces[file])
        if not _are_wanted_now(task):
            for diarized in found.values():  # what a step returns is stored, too
                diarized["voices"] = [{"clean_ms": 0, "embedding": []} for _ in diarized["voices"]]
        return {"diarized": found}
    except WorkCancelled:
        return {}
    except ModelMissing as missing:
        log.warning("voices are not remembered", task_id=task_id, error=str(missing))
        return {}


def _are_wanted_now(task: Task) -> bool:
    with workshop().database.read() as connection:
        return are_wanted(connection, task)


def _sampled(task: Task, recording: transcribe.Prepared, models: diarize.Models) -> dict[str, diarize.Voice]:
    house = workshop()
    sampled = {}
    for label, file in files_of(recording).items():
        parts = [part for part in recording["parts"] if part["speaker"] == label]
        stretches = [stretch for part in parts for window in part["windows"] for stretch in window]
        voice = run(house.pools.speech, task, diarize.sample_voice, folder_of(house, task.id), file, stretches, models)
        if voice is not None:
            sampled[label] = voice
    return sampled


def _by_label(told: Told, labels: Labels) -> dict[str, diarize.Voice]:
    """The voice under each label of the timeline that was heard clean."""
    diarized = told.get("diarized", {})
    found = {
        label: diarized[place[0]]["voices"][place[1]]
        for label, place in labels.items()
        if place and place[0] in diarized
    }
    found.update(told.get("sampled", {}))
    return {label: voice for label, voice in found.items() if voice["embedding"]}


def keep(connection: Connection, task: Task, told: Told, labels: Labels) -> None:
    """Remembers the voices of a call where the account wants it, and binds those that are known. Locks the account's
    row, so that voices which are switched off, or a speaker who is deleted, meanwhile do not stay."""
    tenant_id, communication_id = task.tenant_id, task.communication_id
    heard = _by_label(told, labels)
    if not heard:
        return
    tenant = accounts.get_tenant(tenant_id, connection, lock=True)
    if tenant is None or not tenant.voices_enabled:
        return
    kept = {label: voices.Voice(tuple(voice["embedding"]), voice["clean_ms"]) for label, voice in heard.items()}
    voices.put_heard(tenant_id, connection, communication_id, model=diarize.EMBEDDING, voices=kept)
    people = speakers.list_participants(tenant_id, connection, communication_id)
    ids = [person.id for person in people if person.external_id]
    known = voices.list_known(tenant_id, connection, ids, model=diarize.EMBEDDING)
    bound = matching.recognise(heard, {speaker_id: voice.embedding for speaker_id, voice in known.items()})
    if not known and len(people) == len(ids) == 1:
        bound = _only_voice(heard, labels, ids[0])
    for label, speaker_id in bound.items():
        if speakers.bind_label(tenant_id, connection, communication_id, speaker_id, label):
            voices.teach(tenant_id, connection, communication_id, label, speaker_id)


def _only_voice(heard: Mapping[str, diarize.Voice], labels: Labels, speaker_id: str) -> dict[str, str]:
    """The one label of the whole timeline, where it was heard well: of two voices the clean one need not be theirs."""
    clean = [label for label, voice in heard.items() if voice["clean_ms"] >= matching.MIN_CLEAN_MS]
    return {clean[0]: speaker_id} if len(clean) == 1 and clean == list(labels) else {}
