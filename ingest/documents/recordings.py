"""Reads a recording, audio or video, as a document: decoded, recognised part by part, put into paragraphs with times.

Each piece is done in a child process, by client in turn with everybody's calls, and kept in the work folder, so that a
job that was killed goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import structlog

from ingest.children import ChildDied, ChildOutOfMemory, ChildPool, ChildTimedOut
from ingest.documents import recording_charges
from ingest.documents.parsed import DocumentError, Limits, Outline
from ingest.documents.reading import Packed, Read, ReadingStopped, pack, unpack
from ingest.documents.recording_charges import Heard
from ingest.speech import transcribe
from ingest.speech.decode import (
    MAX_DECODED_BYTES,
    MAX_DURATION_MS,
    SAMPLE_RATE,
    AudioInfo,
    Undecodable,
    media_type,
)
from ingest.speech.recognise import Engine, choose_engine
from ingest.speech.samples import NoRoom
from ingest.workshop import TRIES, Workshop, run_or_shut_down
from store.weights import ModelMissing

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

UNPAID = "client_inactive: the balance does not cover the transcription of this recording."

_DECODED, _RECOGNISED = 0.05, 0.98

# A paragraph is what a citation's times are exact to.
_FULL_PARAGRAPH = 300
_SHORT_PARAGRAPH = 100
_PAUSE_S = 2.0
_HEADING_MS = 10 * 60 * 1000


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
    max_bytes = house.settings.max_document_bytes
    limits = Limits(max_bytes=max_bytes)
    packed: Packed = _ask(house.pools.documents, recording, _assemble, recording, prepared, limits, heard)
    progress(1.0)
    return unpack(packed)


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
            segments = _ask(house.pools.speech, recording, _recognise_part, recording.sound, part, engine, language)
            _keep(recording.part(number), segments)
        done_ms += part["speech_ms"]
        progress(_DECODED + (_RECOGNISED - _DECODED) * done_ms / max(prepared["speech_ms"], 1))


def _recognise_part(folder: Path, part: transcribe.Part, engine: Engine, language: str) -> list[transcribe.Segment]:
    return transcribe.recognise_part(folder, part, engine, language=language)


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


def _assemble(recording: Recording, prepared: transcribe.Prepared, limits: Limits, heard: Heard) -> Packed:
    """The recognised parts as a document, in a child."""
    parts = [_kept(recording.part(number)) or [] for number in range(len(prepared["parts"]))]
    segments = [each for each in transcribe.merge(prepared, parts, "")["segments"] if each["text"].strip()]
    if not any(character.isalnum() for each in segments for character in each["text"]):
        raise DocumentError("empty", "No words are understood in the recording.")
    outline = Outline(limits)
    has_headings = prepared["duration_ms"] >= _HEADING_MS
    next_ms = 0
    for paragraph in _paragraphs(segments):
        start_ms = round(paragraph[0]["start"] * 1000)
        if has_headings and start_ms >= next_ms:
            outline.heading(1, _clock(start_ms))
            next_ms = (start_ms // _HEADING_MS + 1) * _HEADING_MS
        outline.heard(start_ms, round(max(each["end"] for each in paragraph) * 1000))
        outline.block(_text(paragraph))
    info: Any = prepared["source"]
    parsed = outline.finish(media_type(AudioInfo(**info)), recording.name)
    return pack(parsed, limits, heard)


def _paragraphs(segments: Sequence[transcribe.Segment]) -> Iterator[list[transcribe.Segment]]:
    """A few utterances each, sooner where nobody speaks for a while."""
    paragraph: list[transcribe.Segment] = []
    characters, until = 0, 0.0
    for segment in segments:
        is_full = characters >= _FULL_PARAGRAPH
        pauses = characters >= _SHORT_PARAGRAPH and segment["start"] - until >= _PAUSE_S
        if paragraph and (is_full or pauses):
            yield paragraph
            paragraph, characters = [], 0
        paragraph.append(segment)
        characters += len(segment["text"])
        until = max(until, segment["end"])
    if paragraph:
        yield paragraph


def _text(paragraph: Sequence[transcribe.Segment]) -> str:
    """A line for each who speaks in turn, where the channels keep them apart."""
    text = paragraph[0]["text"].strip()
    for before, segment in pairwise(paragraph):
        text += (" " if segment["speaker"] == before["speaker"] else "\n") + segment["text"].strip()
    return text


def _clock(ms: int) -> str:
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"


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
