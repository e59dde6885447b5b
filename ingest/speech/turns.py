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
    """The turns of a channel, to be asked by time."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = sorted(turns, key=lambda turn: turn["start_ms"])
        self._starts = [turn["start_ms"] for turn in self._turns]
        # How far the turns up to each one reach, and which of them does: turns may lie within others.
        self._reach: list[int] = []
        self._reaching: list[Turn] = []
        for turn in self._turns:
            last = self._reaching[-1] if self._reaching else turn
            self._reaching.append(turn if turn["end_ms"] >= last["end_ms"] else last)
            self._reach.append(self._reaching[-1]["end_ms"])

    def voice_of(self, start_s: float, end_s: float, before: int | None) -> int:
        """The voice that covers most of the span; where none does, the nearest. `before` spoke the word in front."""
        start_ms, end_ms = start_s * 1000, max(end_s * 1000, start_s * 1000 + 1)
        behind = bisect_left(self._starts, end_ms)
        shares: dict[int, float] = {}
        for turn in self._turns[bisect_right(self._reach, start_ms) : behind]:
            shared = min(end_ms, turn["end_ms"]) - max(start_ms, turn["start_ms"])
            if shared > 0:
                shares[turn["voice"]] = shares.get(turn["voice"], 0.0) + shared
        if not shares:
            return self._nearest(start_ms, end_ms, behind)
        if before is not None and shares.get(before, 0.0) >= _STAYS * (end_ms - start_ms):
            return before
        return max(shares, key=shares.__getitem__)

    def _nearest(self, start_ms: float, end_ms: float, behind: int) -> int:
        if behind == 0:
            return self._turns[0]["voice"]
        left = self._reaching[behind - 1]
        if behind == len(self._turns) or start_ms - left["end_ms"] <= self._starts[behind] - end_ms:
            return left["voice"]
        return self._turns[behind]["voice"]
