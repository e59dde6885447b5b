"""Damaged and hostile sound: decoded as far as it goes or refused, in bounded room on the disk."""

from __future__ import annotations

import random
import shutil
import struct
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.speech import decode as decoding
from ingest.speech.channels import voices
from ingest.speech.decode import MAX_DECODED_BYTES, MIN_FREE_BYTES, Undecodable, decode, probe, samples_of
from tests.ingest.speech.sounds import mutated, noise, tone, write_encoded, write_wav

SEEDS = (
    ("a.mp3", "libmp3lame", 44100),
    ("a.ogg", "libopus", 48000),
    ("a.flac", "flac", 44100),
    ("a.m4a", "aac", 44100),
    ("a.mka", "aac", 44100),
    ("a.ts", "aac", 44100),
)
MUTATIONS_EACH = 12


def outcome(path: Path, folder: Path) -> str:
    """What came of a file; any error but Undecodable ends the test's process with it."""
    try:
        probe(path)
        probed = True
    except Undecodable:
        probed = False
    try:
        decoded = decode(path, folder)
    except Undecodable as error:
        return f"{probed} {error}"
    assert decoded.duration_ms * 16 <= len(samples_of(decoded.files[0]))
    return f"{probed} decoded"


def test_mutated_files_are_decoded_or_refused_but_raise_nothing_else(tmp_path: Path) -> None:
    seeds = [write_wav(tmp_path / "a.wav", tone(1), tone(1, 700))]
    for name, codec, rate in SEEDS:
        seeds.append(write_encoded(tmp_path / name, codec, tone(1, rate=rate), tone(1, 700, rate=rate), rate=rate))
    chance = random.Random(7)
    found = []
    for seed in seeds:
        data = seed.read_bytes()
        for number in range(MUTATIONS_EACH):
            path = tmp_path / f"{number}-{seed.name}"
            path.write_bytes(mutated(data, chance))
            found.append(outcome(path, tmp_path / "work"))
    assert len(found) == len(seeds) * MUTATIONS_EACH
    assert found.count("True decoded") > len(found) // 2
    assert any(each.startswith("False") for each in found)


@pytest.mark.parametrize("value", [0x00, 0x09, 0x7F, 0xFF])
def test_no_byte_of_a_wav_header_raises_anything_but_undecodable(tmp_path: Path, value: int) -> None:
    data = write_wav(tmp_path / "a.wav", tone(0.5), tone(0.5)).read_bytes()
    path = tmp_path / "b.wav"
    found = []
    for place in range(44):
        path.write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
        found.append(outcome(path, tmp_path / "work"))
    assert 15 < found.count("True decoded") < 44


def test_a_stream_that_starts_in_the_middle_leaves_the_first_one_whole(tmp_path: Path) -> None:
    first = write_encoded(tmp_path / "a.ts", "mp2", tone(60), rate=16_000).read_bytes()
    alone = decode(tmp_path / "a.ts", tmp_path / "alone")
    second = bytearray(first[: len(first) // 4])
    for place in range(0, len(second) - 187, 188):  # its sound and its program table move from stream 256 to 259
        if bytes(second[place + 1 : place + 3]) in (b"\x41\x00", b"\x01\x00"):
            second[place + 2] = 3
    path = tmp_path / "b.ts"
    path.write_bytes(first + bytes(second))
    decoded = decode(path, tmp_path / "work")
    assert (decoded.duration_ms, decoded.damaged_packets) == (alone.duration_ms, 0)


def wav_at(path: Path, rate: int) -> Path:
    """A WAV file of two seconds at 16 kHz whose header claims another rate."""
    write_wav(path, tone(2))
    data = bytearray(path.read_bytes())
    struct.pack_into("<II", data, 24, rate, rate * 2 % 2**32)
    path.write_bytes(bytes(data))
    return path


@pytest.mark.parametrize("rate", [1, 999, 1_000_001, 2**31 - 1])
def test_a_sample_rate_that_no_recording_has_is_refused(tmp_path: Path, rate: int) -> None:
    path = wav_at(tmp_path / "a.wav", rate)
    with pytest.raises(Undecodable):
        probe(path)
    with pytest.raises(Undecodable):
        decode(path, tmp_path / "work")


def test_a_frame_that_the_resampler_refuses_is_counted_and_the_rest_is_kept(tmp_path: Path) -> None:
    import av

    path = write_wav(tmp_path / "a.wav", tone(2, rate=8000), rate=8000)
    whole = decode(path, tmp_path / "whole")

    calls = 0
    make = av.AudioResampler

    class Refusing:
        """The resampler, which fails twice; PyAV's own cannot be derived from."""

        def __init__(self, **options: Any) -> None:
            self._real = make(**options)

        def resample(self, frame: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls in (2, 3):
                raise (MemoryError() if calls == 2 else av.error.ArgumentError(22, "Invalid argument"))
            return self._real.resample(frame)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(av, "AudioResampler", Refusing)
        decoded = decode(path, tmp_path / "work")
    assert (decoded.damaged_packets, decoded.truncated) == (2, True)
    assert 0 < decoded.duration_ms < whole.duration_ms


def test_text_that_is_not_utf_8_in_the_tags_does_not_matter(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", tone(1))
    data = path.read_bytes()
    tags = b"LIST" + struct.pack("<I", 20) + b"INFOINAM" + struct.pack("<I", 8) + b"\xff\xfe\xe9\xe0abc\x00"
    path.write_bytes(b"RIFF" + struct.pack("<I", len(data) + len(tags) - 8) + data[8:36] + tags + data[36:])
    assert probe(path).duration_ms == 1000
    assert decode(path, tmp_path / "work").duration_ms == 1000


def test_all_channels_together_stay_under_the_bound(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", *(noise(2, seed=number) for number in range(8)))
    decoded = decode(path, tmp_path / "work", max_bytes=8 * 2 * 16_000)
    assert (decoded.duration_ms, decoded.truncated) == (1000, True)
    assert sum(file.stat().st_size for file in decoded.files) == 8 * 2 * 16_000
    assert MAX_DECODED_BYTES == 5_529_600_000


@pytest.fixture
def nearly_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders on a disk where, when they are empty, 100 kB more are free than have to stay so."""
    usage = type(shutil.disk_usage("."))

    def of(folder: Path) -> Any:
        used = sum(file.stat().st_size for file in folder.iterdir() if file.suffix == ".s16")
        return usage(10**12, 10**12 - MIN_FREE_BYTES, MIN_FREE_BYTES + 100_000 - used)

    monkeypatch.setattr(shutil, "disk_usage", of)
    monkeypatch.setattr(decoding, "_CHECKED_BYTES", 64_000)


@pytest.mark.usefixtures("nearly_full")
def test_a_disk_that_would_get_full_stops_it_and_nothing_is_left(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "short.wav", tone(1))
    assert decode(path, tmp_path / "work").duration_ms == 1000
    long = write_wav(tmp_path / "long.wav", tone(30), tone(30))
    with pytest.raises(Undecodable, match="disk has no room"):
        decode(long, tmp_path / "long")
    assert list((tmp_path / "long").iterdir()) == []


@pytest.mark.usefixtures("nearly_full")
def test_no_mixed_channel_is_written_where_the_disk_would_get_full(tmp_path: Path) -> None:
    files = []
    for number in range(2):
        files.append(tmp_path / f"channel-{number}.s16")
        files[-1].write_bytes((noise(4, seed=number) * 32767).astype("<i2").tobytes())
    with pytest.raises(Undecodable, match="disk has no room"):
        voices(files, keep_apart=False)
    assert len(voices(files, keep_apart=True)) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("seconds", [1, 30])  # full when the file is closed, and in the middle
def test_a_full_disk_is_told_as_such(tmp_path: Path, seconds: int) -> None:
    path = write_wav(tmp_path / "a.wav", tone(seconds))
    work = tmp_path / "work"
    work.mkdir()
    (work / "channel-0.s16").symlink_to("/dev/full")
    with pytest.raises(Undecodable, match="disk has no room"):
        decode(path, work)
    assert list(work.iterdir()) == []


def peaks(path: Path, folder: Path) -> tuple[int, list[int]]:
    """The channels that the container has, and the loudest frequency of each decoded one, Hz."""
    files = decode(path, folder).files
    spectra = [np.abs(np.fft.rfft(samples_of(file)[:16_000].astype(np.float64))) for file in files]
    return probe(path).channels, [int(np.argmax(spectrum)) for spectrum in spectra]


def peaks_in_a_child(path: Path, folder: Path) -> tuple[int, list[int]]:
    """A crash of the decoder ends the child (BrokenProcessPool), not the tests."""
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(peaks, path, folder).result()


@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_eight_channels_stay_apart(tmp_path: Path, rate: int) -> None:
    tones = [200 + 50 * number for number in range(8)]
    path = write_wav(tmp_path / "a.wav", *(tone(1, hz, rate=rate) for hz in tones), rate=rate)
    assert peaks_in_a_child(path, tmp_path / "work") == (8, tones)


def test_surround_sound_of_eight_channels_is_decoded(tmp_path: Path) -> None:
    import av

    tones = [200 + 50 * number for number in range(8)]
    path = tmp_path / "a.flac"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("flac", rate=16_000, layout="7.1")
        packed = (np.stack([tone(2, hz) for hz in tones], 1) * 32767).astype(np.int16).reshape(1, -1)
        sound = av.AudioFrame.from_ndarray(packed, format="s16", layout="7.1")
        sound.sample_rate = 16_000
        for frame in av.AudioResampler("s16", "7.1", 16_000, frame_size=4096).resample(sound):
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    assert peaks_in_a_child(path, tmp_path / "work") == (8, tones)


@pytest.mark.parametrize(("channels", "speaking"), [(9, 0), (9, 8), (64, 40)])
def test_more_than_eight_channels_become_one_in_which_each_is_heard(
    tmp_path: Path, channels: int, speaking: int
) -> None:
    signals = [noise(1, level=1e-4, seed=number) for number in range(channels)]
    signals[speaking] += tone(1, 440, level=0.3)
    path = write_wav(tmp_path / "a.wav", *signals)
    assert peaks_in_a_child(path, tmp_path / "work") == (channels, [440])
    loudness = np.abs(samples_of(tmp_path / "work" / "channel-0.s16")[:].astype(np.int32)).max() / 32768
    assert loudness == pytest.approx(0.3 / channels**0.5, rel=0.05)


def test_the_same_loud_sound_on_nine_channels_is_limited_and_does_not_wrap_round(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", *[tone(1, level=0.9)] * 9)
    samples = samples_of(decode(path, tmp_path / "work").files[0])[:].astype(np.int32)
    assert (samples.min(), samples.max()) == (-32768, 32767)
    assert np.abs(np.diff(samples)).max() < 20_000


def test_more_channels_than_the_resampler_takes_are_refused(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", *[tone(1)] * 65)
    with pytest.raises(Undecodable, match="more than 64 channels"):
        probe(path)
    with pytest.raises(Undecodable, match="more than 64 channels"):
        decode(path, tmp_path / "work")
