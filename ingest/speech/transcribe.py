"""A recording to its transcript, in pieces that a durable job can do one by one, each in a child process.

    prepare -> detect_language (unless given) -> recognise_part, a part at a time -> merge

What goes in and out is plain data (JSON); samples stay in the work folder. Every piece can be done again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from ingest.speech.channels import voices
from ingest.speech.credibility import credible, is_loop, suspicious, text_of, without_loops
from ingest.speech.crosstalk import within
from ingest.speech.decode import MAX_DURATION_MS, SAMPLE_RATE, decode, samples_of
from ingest.speech.recognise import MAX_WINDOW_S, Engine, Recogniser, TimedWord, load
from ingest.speech.voice_activity import Stretch, stretches

if TYPE_CHECKING:
    from ingest.speech.recognise import Sound

WINDOWS_A_PART = 4
"""About two minutes of speech: what others wait for at most, where clients take turns part by part."""
_OPEN_WINDOWS = 8
"""How many of the newest windows a stretch may still go into."""
_SENTENCE_CUT_S = 5.0
_UNHEARD_MS = 1000
_LANGUAGE_WINDOWS = 5
_USUAL_LANGUAGES = ("ru", "en")
_SURE_OF_ANOTHER = 0.8


class Word(TypedDict):
    """Seconds from the start of the recording."""

    word: str
    start: float
    end: float


class Segment(TypedDict):
    """One utterance. `start` and `end` are seconds from the start of the recording."""

    start: float
    end: float
    text: str
    speaker: str
    words: NotRequired[list[Word]]


class Part(TypedDict):
    """Speech of one channel to recognise in one go: windows, each a list of stretches [start_ms, end_ms]."""

    file: str
    speaker: str
    windows: list[list[list[int]]]
    speech_ms: int


class Prepared(TypedDict):
    """`duration_ms` is what was decoded, and what is charged; `source` says what the container declared."""

    duration_ms: int
    truncated: bool
    damaged_packets: int
    speech_ms: int
    speakers: list[str]
    parts: list[Part]
    source: dict[str, int | str | None]


class Transcript(TypedDict):
    language: str
    text: str
    segments: list[Segment]
    audio_duration_ms: int


def prepare(
    path: Path, work_folder: Path, *, channel_speakers: bool = True, max_duration_ms: int = MAX_DURATION_MS
) -> Prepared:
    """Decodes a recording into the work folder and finds its speech. Raises decode.Undecodable."""
    decoded = decode(path, work_folder, max_duration_ms=max_duration_ms)
    channels = voices(decoded.files, keep_apart=channel_speakers)
    parts: list[Part] = []
    for channel in channels:
        windows = _windows(within(stretches(samples_of(channel.file)), channel.own))
        for first in range(0, len(windows), WINDOWS_A_PART):
            some = windows[first : first + WINDOWS_A_PART]
            speech_ms = sum(end - start for window in some for start, end in window)
            parts.append(
                {"file": channel.file.name, "speaker": channel.speaker, "windows": some, "speech_ms": speech_ms}
            )
    return {
        "duration_ms": decoded.duration_ms,
        "truncated": decoded.truncated,
        "damaged_packets": decoded.damaged_packets,
        "speech_ms": sum(part["speech_ms"] for part in parts),
        "speakers": [channel.speaker for channel in channels],
        "parts": parts,
        "source": asdict(decoded.info),
    }


def is_prepared(work_folder: Path, prepared: Prepared) -> bool:
    """Whether all samples are still there; else `prepare` has to run again (with the same result). One that was
    killed left files that are too short."""
    least_bytes = prepared["duration_ms"] * SAMPLE_RATE // 1000 * 2
    files = {work_folder / part["file"] for part in prepared["parts"]}
    return all(file.is_file() and file.stat().st_size >= least_bytes for file in files)


def detect_language(work_folder: Path, prepared: Prepared, engine: Engine, *, default: str = "en") -> str:
    """The language of the whole recording, heard in several places of all channels; `default` without speech.

    Russian or English, unless another one is heard for sure: on the telephone one is easily taken for its relative.
    """
    windows = [(part, window) for part in prepared["parts"] for window in part["windows"]]
    if not windows:
        return default
    windows.sort(key=lambda item: -_length_ms(item[1]))
    sounds = [_sound(work_folder, part, window)[0] for part, window in windows[:_LANGUAGE_WINDOWS]]
    likely = load(engine).languages(sounds)
    best = max(likely, key=likely.__getitem__)
    if likely[best] >= _SURE_OF_ANOTHER:
        return best
    return max(_USUAL_LANGUAGES, key=lambda language: likely.get(language, 0.0))


def recognise_part(
    work_folder: Path, part: Part, engine: Engine, *, language: str, words: bool = False
) -> list[Segment]:
    """The utterances of one part, in order of time."""
    return recognise_windows(work_folder, part, load(engine), language=language, words=words)


def recognise_windows(
    work_folder: Path, part: Part, recogniser: Recogniser, *, language: str, words: bool = False
) -> list[Segment]:
    """As `recognise_part`, with an engine that is loaded.

    A quick result that cannot be right, and a stretch that got no words, are heard again one by one and carefully.
    """
    heard = [_sound(work_folder, part, window) for window in part["windows"]]
    quick = recogniser.batch([sound for sound, _ in heard], language) if heard else []
    segments: list[Segment] = []
    for window, (sound, starts), found in zip(part["windows"], heard, quick, strict=True):
        again = suspicious(found, len(sound) / SAMPLE_RATE, language)
        shares = _share(found, starts)
        for (start_ms, end_ms), offset, share in zip(window, starts, shares, strict=True):
            if again or (not share and end_ms - start_ms >= _UNHEARD_MS) or is_loop(text_of(share)):
                first = round(offset * SAMPLE_RATE)
                clip = sound[first : first + (end_ms - start_ms) * SAMPLE_RATE // 1000]
                share, offset = recogniser.careful(clip, language), 0.0
            if is_loop(text_of(share)):
                once = without_loops(share)
                share = once if len(once) * 2 >= len(share) else []  # mostly a loop: nothing was said
            if share and credible(share, (end_ms - start_ms) / 1000):
                segments += _segments(share, (start_ms, end_ms), start_ms / 1000 - offset, part["speaker"], words)
    return sorted(segments, key=lambda segment: segment["start"])


def merge(prepared: Prepared, results: Iterable[Sequence[Segment]], language: str) -> Transcript:
    """One timeline of all parts, by time."""
    segments = sorted(
        (segment for part in results for segment in part), key=lambda it: (it["start"], it["end"], it["speaker"])
    )
    return {
        "language": language,
        "text": " ".join(segment["text"] for segment in segments),
        "segments": segments,
        "audio_duration_ms": prepared["duration_ms"],
    }


def transcribe(
    path: Path,
    work_folder: Path,
    engine: Engine,
    *,
    language: str = "",
    channel_speakers: bool = True,
    words: bool = False,
) -> Transcript:
    """All pieces in one go. Raises decode.Undecodable."""
    prepared = prepare(path, work_folder, channel_speakers=channel_speakers)
    language = language or detect_language(work_folder, prepared, engine)
    parts = (recognise_part(work_folder, part, engine, language=language, words=words) for part in prepared["parts"])
    return merge(prepared, parts, language)


def _windows(found: Sequence[Stretch]) -> list[list[list[int]]]:
    """Packs stretches into windows of at most what the engine hears at a time, each where it leaves the least room.

    Only the last few windows are looked at, so that a part stays near one place of the recording. Against filling one
    window after the other that saves an eighth of the windows, each of which costs the same however full.
    """
    limit_ms = round(MAX_WINDOW_S * 1000)
    windows: list[list[list[int]]] = []
    for start, end in found:
        fits = [window for window in windows[-_OPEN_WINDOWS:] if _length_ms(window) + end - start <= limit_ms]
        if not fits:
            fits = [[]]
            windows += fits
        max(fits, key=_length_ms).append([start, end])
    return windows


def _length_ms(window: Sequence[Sequence[int]]) -> int:
    return sum(end - start for start, end in window)


def _sound(work_folder: Path, part: Part, window: Sequence[Sequence[int]]) -> tuple[Sound, list[float]]:
    """The stretches of a window behind each other, and the second at which each starts in that."""
    import numpy as np

    signal = samples_of(work_folder / part["file"])
    clips = [signal[start * SAMPLE_RATE // 1000 : end * SAMPLE_RATE // 1000] for start, end in window]
    starts = np.cumsum([0, *(len(clip) for clip in clips[:-1])]) / SAMPLE_RATE
    return np.concatenate(clips).astype(np.float32) / np.float32(32768), [float(start) for start in starts]


def _share(words: Sequence[TimedWord], starts: Sequence[float]) -> list[list[TimedWord]]:
    """Gives each word to the stretch in which its middle lies."""
    shares: list[list[TimedWord]] = [[] for _ in starts]
    for word in words:
        middle = (word.start + word.end) / 2
        shares[max(sum(start <= middle for start in starts) - 1, 0)].append(word)
    return shares


def _segments(
    found: Sequence[TimedWord], span_ms: tuple[int, int], shift: float, speaker: str, words: bool
) -> list[Segment]:
    """The utterances of a stretch: cut after a sentence once it is long enough; times stay inside the stretch."""
    low, high = span_ms[0] / 1000, span_ms[1] / 1000

    def clamped(seconds: float) -> float:
        return round(min(max(seconds + shift, low), high), 3)

    groups: list[list[TimedWord]] = [[]]
    for word in found:
        group = groups[-1]
        sentence_ended = bool(group) and group[-1].text.rstrip().endswith((".", "?", "!", "…"))
        if sentence_ended and group[-1].end - group[0].start >= _SENTENCE_CUT_S:
            groups.append([])
        groups[-1].append(word)
    segments: list[Segment] = []
    for group in groups:
        segment: Segment = {
            "start": clamped(group[0].start),
            "end": clamped(group[-1].end),
            "text": text_of(group),
            "speaker": speaker,
        }
        if words:
            segment["words"] = [
                {"word": text_of([word]), "start": clamped(word.start), "end": clamped(word.end)}
                for word in _whole_words(group)
            ]
        segments.append(segment)
    return segments


def _whole_words(found: Sequence[TimedWord]) -> Iterator[TimedWord]:
    """Engines split words at signs ("o'clock", "48-27", "8%"): what follows without a space belongs to its word."""
    whole: TimedWord | None = None
    for word in found:
        if whole is not None and not word.text.startswith(" "):
            whole = replace(whole, text=whole.text + word.text, end=max(whole.end, word.end))
            continue
        if whole is not None:
            yield whole
        whole = word
    if whole is not None:
        yield whole
