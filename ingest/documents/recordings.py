"""Reads a recording, audio or video, as a document: decoded, recognised part by part, put into paragraphs with times.

Each piece is done in a child process, by client in turn with everybody's calls, and kept in the work folder, so that a
job that was killed goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog

from ingest.children import ChildDied, ChildOutOfMemory, ChildPool, ChildTimedOut
from ingest.documents import recording_charges, spoken
from ingest.documents.parsed import DocumentError, Limits
from ingest.documents.reading import Read, ReadingStopped, unpack
from ingest.documents.recording_charges import Heard
from ingest.speech import transcribe
from ingest.speech.decode import MAX_DECODED_BYTES, MAX_DURATION_MS, SAMPLE_RATE, Undecodable
from ingest.speech.recognise import Engine, choose_engine
from ingest.speech.samples import NoRoom
from ingest.workshop import TRIES, Workshop, run_or_shut_down
from store.weights import ModelMissing

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

UNPAID = "client_inactive: the balance does not cover the transcription of this recording."

_DECODED, _RECOGNISED = 0.05, 0.98


@dataclass(frozen=True, slots=True)
class Recording:
    """A run's recording: the file, and where the run keeps what it need not do again."""

    tenant_id: str
    document_id: str
    run: int
    path: Path
    name: str
    work_folder: Path

    @property
    def sound(self) -> Path:
        return self.work_folder / "sound"

    @property
    def prepared(self) -> Path:
        return self.work_folder / "prepared.json"

    @property
    def language(self) -> Path:
        return self.work_folder / "language.json"

    def part(self, number: int) -> Path:
        return self.work_folder / "parts" / f"{number}.json"


def hear_document(
    house: Workshop, recording: Recording, *, go_on: Callable[[], bool], progress: Callable[[float], None]
) -> Read:
    """The recording as a document; what it costs is held then, for the caller to charge or to release.

    `go_on` is asked between pieces, `progress` is told 0 to 1. Raises DocumentError, ReadingStopped where `go_on` says
    no, and what ends the server's own work (ShuttingDown).
    """
    _check(go_on)
    try:
        engine = choose_engine(house.settings)
    except ModelMissing as missing:
        log.warning("a recording cannot be transcribed", document_id=recording.document_id, problem=str(missing))
        message = "No speech model is installed on the server. Its administrator gets one by `parley models pull`."
        raise DocumentError("internal_error", message) from None
    prepared = _prepare(house, recording)
    progress(_DECODED)
    if not prepared["parts"]:
        raise DocumentError("empty", "There is no speech in the recording.")
    _check(go_on)
    heard = Heard(audio_ms=prepared["duration_ms"], sha256=_sha256(recording.path))
    with house.database.write() as connection:
        is_held = recording_charges.hold(recording.tenant_id, connection, recording.document_id, recording.run, heard)
    if not is_held:
        raise DocumentError("internal_error", UNPAID)
    _recognise(house, recording, prepared, engine, go_on, progress)
    limits = Limits(max_bytes=house.settings.max_document_bytes)
    parts = [recording.part(number) for number in range(len(prepared["parts"]))]
    packed = _ask(house.pools.documents, recording, spoken.assemble, parts, prepared, limits, recording.name)
    progress(1.0)
    return replace(unpack(packed), heard=heard)


def _check(go_on: Callable[[], bool]) -> None:
    if not go_on():
        raise ReadingStopped


def _prepare(house: Workshop, recording: Recording) -> transcribe.Prepared:
    """Decodes, unless an earlier try of the run did, and its samples are still there."""
    prepared: transcribe.Prepared | None = _kept(recording.prepared)
    if prepared is not None and transcribe.is_prepared(recording.sound, prepared):
        return prepared
    recording.prepared.unlink(missing_ok=True)
    shutil.rmtree(recording.sound, ignore_errors=True)
    recording.sound.mkdir(parents=True)
    try:
        prepared = _ask(house.pools.decoding, recording, transcribe.prepare, recording.path, recording.sound)
    except NoRoom:
        raise DocumentError("internal_error", "The server's disk has no room for the recording.") from None
    except Undecodable as error:
        raise DocumentError("unreadable", f"The recording cannot be decoded: {error}.") from None
    if _is_cut(recording.sound, prepared):
        raise DocumentError("too_large", f"The recording is longer than {MAX_DURATION_MS // 3_600_000} hours.")
    _keep(recording.prepared, prepared)
    return prepared


def _is_cut(folder: Path, prepared: transcribe.Prepared) -> bool:
    """Whether it was longer than is decoded."""
    channels = len(list(folder.glob("channel-*.s16")))
    most_ms = min(MAX_DURATION_MS, MAX_DECODED_BYTES * 1000 // (2 * SAMPLE_RATE * max(channels, 1)))
    return prepared["duration_ms"] >= most_ms


def _recognise(
    house: Workshop,
    recording: Recording,
    prepared: transcribe.Prepared,
    engine: Engine,
    go_on: Callable[[], bool],
    progress: Callable[[float], None],
) -> None:
    """Each part stands in the line of the pool anew, so that everybody else gets a turn between two."""
    language: str | None = _kept(recording.language)
    if language is None:
        language = _ask(house.pools.speech, recording, transcribe.detect_language, recording.sound, prepared, engine)
        _keep(recording.language, language)
    done_ms = 0
    for number, part in enumerate(prepared["parts"]):
        if not recording.part(number).exists():
            _check(go_on)
            recognise = partial(transcribe.recognise_part, language=language)
            segments = _ask(house.pools.speech, recording, recognise, recording.sound, part, engine)
            _keep(recording.part(number), segments)
        done_ms += part["speech_ms"]
        progress(_DECODED + (_RECOGNISED - _DECODED) * done_ms / max(prepared["speech_ms"], 1))


def _ask(pool: ChildPool, recording: Recording, function: Callable[..., Result], *arguments: object) -> Result:
    """Again where the child dies: it may have been somebody else's doing. Raises DocumentError where it does so again
    and again, in the speech engine's child for a reason of the server's."""
    is_ours = pool.name == "speech"
    try:
        return run_or_shut_down(pool, function, *arguments, owner=recording.tenant_id, tries=TRIES)
    except ChildDied:
        if is_ours:
            raise DocumentError("internal_error", "The speech engine stopped on it again and again.") from None
        raise DocumentError("unreadable", "Reading the recording crashes the reader.") from None
    except ChildTimedOut:
        code = "internal_error" if is_ours else "too_large"
        raise DocumentError(code, "Reading the recording takes longer than is allowed.") from None
    except ChildOutOfMemory:
        code = "internal_error" if is_ours else "too_large"
        raise DocumentError(code, "Reading the recording takes more memory than is allowed.") from None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _kept(path: Path) -> Any:
    """What an earlier try kept; None where it did not come so far."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _keep(path: Path, value: object) -> None:
    """It is there wholly or not at all, however the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    fresh.replace(path)
