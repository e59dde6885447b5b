"""Decoding: any container by its content, damaged and cut files as far as they go, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ingest.speech.decode import AudioInfo, Undecodable, decode, probe, samples_of
from tests.ingest.speech.sounds import shared_speech, tone, write_encoded, write_wav


def peak_hz(file: Path) -> float:
    samples = samples_of(file)[:].astype(np.float64)
    return float(np.argmax(np.abs(np.fft.rfft(samples)))) * 16_000 / len(samples)


def test_a_wav_file_keeps_its_channels_apart_at_16_khz(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", tone(2, 300, rate=8000), tone(2, 900, rate=8000), rate=8000)
    assert probe(path) == AudioInfo(2000, 2, 8000, "pcm_s16le", "wav")
    decoded = decode(path, tmp_path / "work")
    assert (decoded.duration_ms, decoded.truncated, decoded.damaged_packets) == (2000, False, 0)
    assert [round(peak_hz(file)) for file in decoded.files] == [300, 900]


@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [("a.mp3", "libmp3lame", 44100), ("a.ogg", "libopus", 48000), ("a.flac", "flac", 22050), ("a.m4a", "aac", 44100)],
)
def test_compressed_sound_is_decoded(tmp_path: Path, name: str, codec: str, rate: int) -> None:
    path = write_encoded(tmp_path / name, codec, tone(3, 440, rate=rate), rate=rate)
    decoded = decode(path, tmp_path / "work")
    assert abs(decoded.duration_ms - 3000) < 120
    assert not decoded.truncated
    assert abs(peak_hz(decoded.files[0]) - 440) < 2


def test_the_sound_of_a_video_is_decoded(tmp_path: Path) -> None:
    path = write_encoded(
        tmp_path / "a.mp4", "aac", tone(1, rate=44100), tone(1, 800, rate=44100), rate=44100, video=True
    )
    assert probe(path).channels == 2
    assert len(decode(path, tmp_path / "work").files) == 2


def test_the_name_does_not_matter(tmp_path: Path) -> None:
    path = write_encoded(tmp_path / "a.mp3", "libmp3lame", tone(1, rate=44100), rate=44100).rename(tmp_path / "b.txt")
    assert probe(path).codec.startswith("mp3")


def test_a_truncated_mp3_gives_what_is_there(tmp_path: Path) -> None:
    path = write_encoded(tmp_path / "a.mp3", "libmp3lame", tone(10, rate=44100), rate=44100)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    decoded = decode(path, tmp_path / "work")
    assert 4500 < decoded.duration_ms < 5500
    assert decoded.truncated


def test_a_truncated_wav_gives_what_is_there(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", tone(4))
    path.write_bytes(path.read_bytes()[:64_044])
    assert decode(path, tmp_path / "work").duration_ms == 2000


def test_damaged_packets_are_skipped_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = write_encoded(tmp_path / "a.mp3", "libmp3lame", tone(20, rate=44100), rate=44100)
    data = bytearray(path.read_bytes())
    for place in range(5000, len(data), 9000):
        data[place : place + 40] = bytes(40)
    path.write_bytes(bytes(data))
    decoded = decode(path, tmp_path / "work")
    assert decoded.duration_ms > 17_000


def test_a_real_damaged_mp3_keeps_nearly_all_of_its_sound(tmp_path: Path) -> None:
    data = bytearray(shared_speech("multilingual.mp3").read_bytes())
    for place in range(3000, len(data), 2500):
        data[place] ^= 0xFF
    path = tmp_path / "damaged.mp3"
    path.write_bytes(bytes(data))
    decoded = decode(path, tmp_path / "work")
    assert decoded.duration_ms > 50_000
    assert decoded.truncated


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n" + bytes(2000),
        b"just a text, and not a short one" * 100,
        b"RIFF\x00\x00\x00\x00WAVE",
        b"#EXTM3U\n#EXTINF:10,\n/etc/hostname\n#EXT-X-ENDLIST\n",
        b"ffconcat version 1.0\nfile /etc/hostname\n",
        bytes(range(256)) * 64,
    ],
    ids=["empty", "png", "text", "bare-riff", "playlist", "concat", "bytes"],
)
def test_what_holds_no_sound_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "sound.wav"
    path.write_bytes(data)
    with pytest.raises(Undecodable):
        probe(path)
    with pytest.raises(Undecodable):
        decode(path, tmp_path / "work")


def test_200_mb_of_zeros_are_refused_without_reading_them_all(tmp_path: Path) -> None:
    path = tmp_path / "zeros.wav"
    with path.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    with pytest.raises(Undecodable):
        probe(path)


def test_a_video_without_sound_is_refused(tmp_path: Path) -> None:
    import av

    path = tmp_path / "silent.mp4"
    with av.open(str(path), "w") as container:
        picture = container.add_stream("mpeg4", rate=25)
        picture.width = picture.height = 64
        picture.pix_fmt = "yuv420p"
        container.mux(picture.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")))
        container.mux(picture.encode(None))
    with pytest.raises(Undecodable, match="holds no sound"):
        probe(path)


def test_a_recording_longer_than_allowed_is_cut_there(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", tone(5))
    decoded = decode(path, tmp_path / "work", max_duration_ms=2000)
    assert (decoded.duration_ms, decoded.truncated) == (2000, True)
    assert len(samples_of(decoded.files[0])) == 32_000


def test_decoding_twice_gives_the_same_files(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", tone(1))
    first = decode(path, tmp_path / "work")
    data = first.files[0].read_bytes()
    assert decode(path, tmp_path / "work") == first
    assert first.files[0].read_bytes() == data
