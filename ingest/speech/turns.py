"""Whose words they are: gives the words of a channel to the voices that diarization found in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingest.speech.diarize import Diarized, Turn
    from ingest.speech.transcribe import Segment, Word

_STAYS = 0.5
"""Where voices overlap, the one that spoke before keeps a word of which it covers this share."""


@dataclass(slots=True)
class Attributed:
    """Segments under their speakers' labels, in order of time, and which voice of which channel each label is."""

    segments: list[Segment] = field(default_factory=list)
    voices: dict[str, tuple[str, int]] = field(default_factory=dict)
    """label: (the channel's own label, number of the voice in it)"""


Source = tuple[str, int | None]


def attribute(segments: Iterable[Segment], diarized: Mapping[str, Diarized]) -> Attributed:
    """Gives the words of each segment to voices, and what a voice says in one go a segment and its label.

    `diarized` holds what was found in a channel, by the channel's label. Of several channels each keeps its label for
    the voice that says most in it, and other voices get the labels behind those of the channels; the voices of a
    single channel are numbered as they first speak. Segments of a channel without voices keep its label.
    """
    turns = {channel: _Turns(found["turns"]) for channel, found in diarized.items() if found["turns"]}
    pieces: list[tuple[Source, Segment]] = []
    for segment in segments:
        channel = segment["speaker"]
        if channel in turns:
            pieces += [((channel, voice), piece) for voice, piece in _split(segment, turns[channel])]
        else:
            pieces.append(((channel, None), segment))
    pieces.sort(key=lambda it: (it[1]["start"], it[1]["end"], it[0][0]))
    labels = _labels(pieces, sorted({*diarized, *(source[0] for source, _ in pieces)}))
    found = Attributed()
    for (channel, voice), piece in pieces:
        label = labels[channel, voice]
        found.segments.append({**piece, "speaker": label})
        if voice is not None:
            found.voices[label] = (channel, voice)
    return found


def _labels(pieces: Sequence[tuple[Source, Segment]], channels: Sequence[str]) -> dict[Source, str]:
    labels: dict[Source, str] = {}
    taken = 0
    if channels != ["SPEAKER_00"]:
        said: Counter[Source] = Counter()
        for source, piece in pieces:
            said[source] += len(piece["text"])
        for (channel, voice), _ in said.most_common():
            if channel not in labels.values():
                labels[channel, voice] = channel
        taken = max((int(channel.removeprefix("SPEAKER_")) for channel in channels), default=-1) + 1
    for source, _ in pieces:
        if source not in labels:
            labels[source] = f"SPEAKER_{taken:02d}"
            taken += 1
    return labels


def _split(segment: Segment, turns: _Turns) -> Iterable[tuple[int, Segment]]:
    """The segment cut where another voice goes on: (voice, its part), in order of time."""
    words = segment.get("words")
    if not words:
        yield turns.voice_of(segment["start"], segment["end"], None), segment
        return
    runs: list[tuple[int, list[Word]]] = []
    before: int | None = None
    for word in words:
        voice = turns.voice_of(word["start"], word["end"], before)
        if voice != before:
            runs.append((voice, []))
        runs[-1][1].append(word)
        before = voice
    for number, (voice, part) in enumerate(runs):
        start = segment["start"] if number == 0 else part[0]["start"]
        end = segment["end"] if number == len(runs) - 1 else part[-1]["end"]
        text = segment["text"] if len(runs) == 1 else " ".join(word["word"] for word in part)
        yield voice, {**segment, "start": start, "end": max(start, end), "text": text, "words": part}


class _Turns:
    """The turns of a channel, to be asked by time; those of one voice do not overlap."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._spans: dict[int, tuple[list[int], list[int]]] = {}
        for turn in sorted(turns, key=lambda turn: turn["start_ms"]):
            starts, ends = self._spans.setdefault(turn["voice"], ([], []))
            starts.append(turn["start_ms"])
            ends.append(max(turn["end_ms"], ends[-1] if ends else 0))

    def voice_of(self, start_s: float, end_s: float, before: int | None) -> int:
        """The voice that covers most of the span; where none does, the nearest. `before` spoke the word in front."""
        start_ms, end_ms = start_s * 1000, max(end_s * 1000, start_s * 1000 + 1)
        shares = {voice: self._shared_ms(voice, start_ms, end_ms) for voice in self._spans}
        if before is not None and shares[before] >= _STAYS * (end_ms - start_ms):
            return before
        most = max(shares, key=shares.__getitem__)
        if shares[most] > 0:
            return most
        return min(self._spans, key=lambda voice: self._gap_ms(voice, start_ms, end_ms))

    def _shared_ms(self, voice: int, start_ms: float, end_ms: float) -> float:
        starts, ends = self._spans[voice]
        among = range(bisect_right(ends, start_ms), bisect_left(starts, end_ms))
        return sum(min(end_ms, ends[place]) - max(start_ms, starts[place]) for place in among)

    def _gap_ms(self, voice: int, start_ms: float, end_ms: float) -> float:
        """From a span in which the voice is silent to its nearest turn."""
        starts, ends = self._spans[voice]
        behind = bisect_left(starts, end_ms)
        left = start_ms - ends[behind - 1] if behind else float("inf")
        right = starts[behind] - end_ms if behind < len(starts) else float("inf")
        return min(left, right)
