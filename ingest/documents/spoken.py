"""What was recognised of a recording, as paragraphs with times: a child's work (`child_work`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from ingest.documents.child_work import Packed, pack
from ingest.documents.parsed import DocumentError, Limits, Outline
from ingest.speech import transcribe
from ingest.speech.decode import AudioInfo, media_type

# A paragraph is what a citation's times are exact to.
_FULL_PARAGRAPH = 300
_SHORT_PARAGRAPH = 100
_PAUSE_S = 2.0
_HEADING_MS = 10 * 60 * 1000


def assemble(files: Sequence[Path], prepared: transcribe.Prepared, limits: Limits, name: str) -> Packed:
    """The recognised parts, each in a file, as a document. Raises DocumentError."""
    parts: list[list[transcribe.Segment]] = [json.loads(file.read_text(encoding="utf-8")) for file in files]
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
    parsed = outline.finish(media_type(AudioInfo(**info)), name)
    return pack(parsed, limits)


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
