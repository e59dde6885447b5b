"""Times stay true: lost packets leave silence, wrong time stamps nothing, and chained or changing streams go on."""

from __future__ import annotations

import io
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from ingest.speech import ogg_chain, resampling
from ingest.speech.decode import decode, samples_of
from ingest.speech.ogg_chain import links, links_in
from ingest.speech.resampling import Clock, Damage, Resampler
from tests.ingest.speech.sounds import RATE, Signal, by_ffmpeg, tone, write_encoded, write_wav

RATES = {"libopus": 48000, "aac": 16000, "flac": 16000, "libmp3lame": 16000}


def melody() -> Signal:
    """Ten seconds, another tone in each: 300, 400, ... 1200 Hz."""
    return np.concatenate([tone(1, 300 + 100 * second) for second in range(10)])


def heard(path: Path, folder: Path) -> tuple[list[int], Any]:
    """The loudest frequency in the middle of each second, 0 for silence; and what was decoded."""
    decoded = decode(path, folder)
    samples = samples_of(decoded.files[0])[:].astype(np.float64)
    found = []
    for start in range(RATE // 4, len(samples) - RATE // 2, RATE):
        part = samples[start : start + RATE // 2]
        loudest = int(np.argmax(np.abs(np.fft.rfft(part)))) * 2
        found.append(round(loudest, -1) if np.abs(part).max() > 50 else 0)
    return found, decoded


def written(path: Path, codec: str, signal: Signal) -> Path:
    rate = RATES.get(codec, RATE)
    return write_encoded(path, codec, np.repeat(signal, rate // RATE), rate=rate)


def repacked(source: Path, target: Path, change: Callable[[float], float | None]) -> Path:
    """The packets of a recording with other time stamps, seconds; None drops one."""
    with av.open(str(source)) as given, av.open(str(target), "w") as made:
        stream = made.add_stream_from_template(given.streams.audio[0])
        for packet in given.demux(given.streams.audio[0]):
            if packet.pts is None or packet.time_base is None:
                continue
            at_s = change(float(packet.pts * packet.time_base))
            if at_s is None:
                continue
            packet.pts = packet.dts = round(at_s / packet.time_base)
            packet.stream = stream
            made.mux(packet)
    return target


TONES = [300 + 100 * second for second in range(10)]


@pytest.mark.parametrize(
    ("ending", "codec"), [("webm", "libopus"), ("mka", "libopus"), ("m4a", "aac"), ("ogg", "libopus"), ("flv", "aac")]
)
def test_lost_packets_leave_silence_so_that_what_follows_keeps_its_time(
    tmp_path: Path, ending: str, codec: str
) -> None:
    whole = written(tmp_path / f"a.{ending}", codec, melody())
    torn = repacked(whole, tmp_path / f"b.{ending}", lambda at: None if 3.9 < at < 6.1 else at)
    found, decoded = heard(torn, tmp_path / "work")
    # An Ogg page, a second of sound, has one time stamp for all of it.
    assert found[:3] + found[6:] == TONES[:3] + TONES[6:]
    assert found.count(0) == 2
    assert decoded.silence_ms == pytest.approx(2200, abs=80)


def test_many_short_losses_do_not_add_up(tmp_path: Path) -> None:
    whole = written(tmp_path / "a.webm", "libopus", melody())
    torn = repacked(whole, tmp_path / "b.webm", lambda at: None if int(at * 50) % 10 == 3 else at)
    decoded = decode(torn, tmp_path / "work")
    assert decoded.duration_ms == pytest.approx(10_000, abs=80)
    last = samples_of(decoded.files[0])[-RATE // 2 :].astype(np.float64)
    assert int(np.argmax(np.abs(np.fft.rfft(last)))) * 2 == TONES[-1]


def test_damaged_packets_leave_silence_too(tmp_path: Path) -> None:
    path = written(tmp_path / "a.mka", "aac", melody())
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 10 : len(data) * 3 // 10] = bytes(len(data) // 10)
    path.write_bytes(bytes(data))
    found, decoded = heard(path, tmp_path / "work")
    assert found[:1] + found[5:] == TONES[:1] + TONES[5:]  # the reader goes on with the next cluster, at 5 s
    assert 0 in found
    assert decoded.truncated


def test_a_leap_longer_than_the_recording_says_to_be_is_none_of_time(tmp_path: Path) -> None:
    whole = written(tmp_path / "a.mka", "libopus", melody())
    damaged = repacked(whole, tmp_path / "b.mka", lambda at: at + 300 if at > 5 else at)
    duration = (tmp_path / "b.mka").read_bytes().index(b"\x44\x89\x88")  # Duration: 8 bytes follow
    data = bytearray(damaged.read_bytes())
    data[duration + 3 : duration + 11] = np.array([10_000.0], ">f8").tobytes()
    damaged.write_bytes(bytes(data))
    found, decoded = heard(damaged, tmp_path / "work")
    assert (found, decoded.silence_ms) == (TONES, 0)


class Frame:
    """What the clock reads of a decoded frame: a second of sound, and its time stamp."""

    sample_rate = samples = 16_000
    time_base = 1

    def __init__(self, pts: int | None) -> None:
        self.pts = pts


def holes(
    *stamps: int | None, origin_s: float | None = None, claimed_ms: int | None = None, sound_s: float = 3600
) -> list[float]:
    """The holes before frames with these stamps, where `sound_s` was decoded before them."""
    damage = Damage()
    damage.sound_s = sound_s
    clock = Clock(origin_s, claimed_ms)
    found = []
    for hole, _ in clock.placed((Frame(stamp) for stamp in stamps), damage):
        found.append(hole)
        damage.sound_s += 1
        damage.silence_ms += round(hole * 1000)
    return found


def test_holes_are_bounded_and_must_be_confirmed() -> None:
    assert holes(0, 1, 5, 6, 7) == [0, 0, 3, 0, 0]
    assert holes(0, 1, 5, 2, 3) == [0, 0, 0, 0, 0]
    assert holes(0, 1, 5) == [0, 0, 0]
    assert holes(0, 1, 700, 701) == [0, 0, 0, 0]
    assert holes(0, 1, 602, 603) == [0, 0, resampling.LONGEST_HOLE_S, 0]
    assert holes(0, 5, 6, claimed_ms=3000) == [0, 0, 0]
    assert holes(10, 11, 3, 4, 8, 9) == [0, 0, 0, 0, 3, 0]
    assert holes(None, None, 5, 6) == [0, 0, 0, 0]
    assert holes(7, 8, origin_s=5) == [2, 0]
    assert holes(100, 101, origin_s=5) == [0, 0]
    assert holes() == []


def test_silence_is_never_more_than_the_sound_before_it_and_a_minute() -> None:
    assert holes(0, 1, 63, 64, sound_s=0) == [0, 0, 61, 0]
    assert holes(0, 1, 65, 66, sound_s=0) == [0, 0, 0, 0]
    many = holes(*[stamp for second in range(0, 10_000, 100) for stamp in (second, second + 1)])
    assert 3600 < sum(many) <= 3600 + 2 * 100 + 60
    assert holes(0, 1, 302, 303, sound_s=240) == [0, 0, 300, 0]


@pytest.mark.parametrize("ending", ["mka", "ogg"])
def test_a_few_packets_whose_time_stamps_leap_do_not_become_hours(tmp_path: Path, ending: str) -> None:
    whole = written(tmp_path / f"a.{ending}", "libopus", melody())
    torn = repacked(whole, tmp_path / f"b.{ending}", lambda at: at + 500 * int(at))
    many = tmp_path / f"c.{ending}"
    # A minute each would be as much as the links of a chain are many.
    many.write_bytes(torn.read_bytes() * (20 if ending == "ogg" else 1))
    decoded = decode(many, tmp_path / "work")
    sound_ms = decoded.duration_ms - decoded.silence_ms
    assert sound_ms == pytest.approx(200_000 if ending == "ogg" else 10_000, rel=0.05)
    assert decoded.silence_ms <= sound_ms + 60_000


def test_sound_that_begins_late_in_every_link_of_a_chain_has_one_minute_for_all() -> None:
    damage = Damage()
    resampler = Resampler(damage)
    samples = 0
    for _ in range(50):
        frames = [sound_at(50 + second) for second in range(2)]
        blocks = resampler.blocks([[frame] for frame in frames], Clock(0, None))
        samples += sum(block.shape[1] for block in blocks)
    assert damage.sound_s == 100
    assert 100_000 <= damage.silence_ms <= 160_000
    assert samples * 1000 // RATE == pytest.approx(100_000 + damage.silence_ms, abs=100)


def sound_at(second: int) -> Any:
    frame = av.AudioFrame.from_ndarray(np.zeros((1, RATE), np.int16), format="s16", layout="mono")
    frame.sample_rate = RATE
    frame.pts = second * RATE
    frame.time_base = Fraction(1, RATE)
    return frame


def test_sound_that_begins_after_the_pictures_keeps_its_distance(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        picture = container.add_stream("mpeg4", rate=5)
        picture.width = picture.height = 64
        picture.pix_fmt = "yuv420p"
        stream = container.add_stream("flac", rate=RATE, layout="mono")
        for _ in range(20):
            container.mux(picture.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")))
        container.mux(picture.encode(None))
        samples = (tone(2, 500) * 32767).astype(np.int16).reshape(1, -1)
        sound = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        sound.sample_rate = RATE
        sound.pts = 2 * RATE
        for frame in av.AudioResampler("s16", "mono", RATE, frame_size=1600).resample(sound):
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    found, _ = heard(path, tmp_path / "work")
    assert found == [0, 0, 500, 500]


@pytest.mark.parametrize("options", ["-c:a libopus", "-c:a libopus -ac 2", "-c:a flac", "-c:a libvorbis -ar 44100"])
def test_chained_ogg_files_are_one_recording(tmp_path: Path, options: str) -> None:
    first = write_encoded(tmp_path / "a.ogg", "libopus", tone(3, 500, rate=48000), rate=48000)
    other = by_ffmpeg(write_wav(tmp_path / "b.wav", tone(2, 700)), tmp_path / "b.ogg", options)
    path = tmp_path / "c.ogg"
    path.write_bytes(first.read_bytes() + other.read_bytes() + first.read_bytes())
    assert len(links(path)) == 3
    found, decoded = heard(path, tmp_path / "work")
    assert found == [500, 500, 500, 700, 700, 500, 500, 500]
    assert not decoded.truncated


def test_a_link_that_cannot_be_opened_is_left_out_of_the_chain(tmp_path: Path) -> None:
    first = write_encoded(tmp_path / "a.ogg", "libopus", tone(2, 500, rate=48000), rate=48000).read_bytes()
    broken = bytearray(first)
    broken[28:36] = bytes(8)
    path = tmp_path / "c.ogg"
    path.write_bytes(first + bytes(broken) + b"rubbish" * 20_000 + first)
    found, _ = heard(path, tmp_path / "work")
    assert found[:2] == found[-2:] == [500, 500]


class Counted(io.BytesIO):
    """A file that knows how much of it was read, again and again included."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.taken += len(data)
        return data


@pytest.mark.parametrize(
    "rubbish", [b"OggS\x01", b"OggS", b"OggS\x00", bytes(7)], ids=["later", "word", "page", "zeros"]
)
def test_rubbish_that_looks_like_pages_is_read_once_and_the_chain_goes_on_behind_it(
    tmp_path: Path, rubbish: bytes
) -> None:
    first = write_encoded(tmp_path / "a.ogg", "libopus", tone(2, 500, rate=48000), rate=48000).read_bytes()
    between = first + rubbish * (5_000_000 // len(rubbish))
    file = Counted(between + bytes(70_000) + first)
    assert links_in(file) == [0, len(between) + 70_000]
    assert file.taken < 1.05 * len(file.getvalue())


def test_a_chain_is_searched_for_no_more_pages_and_links_than_a_recording_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write_encoded(tmp_path / "a.ogg", "libopus", tone(1, 500, rate=48000), rate=48000).read_bytes()
    empty = b"OggS" + bytes(23)
    monkeypatch.setattr(ogg_chain, "MOST_PAGES", 1000)
    assert len(links_in(io.BytesIO(first + empty * 900 + first))) == 2
    file = Counted(first + empty * 1_000_000 + first)
    assert links_in(file) == [0]
    assert file.taken < len(file.getvalue()) // 10
    monkeypatch.setattr(ogg_chain, "MOST_LINKS", 3)
    assert links_in(io.BytesIO(first * 5)) == [0, len(first), 2 * len(first)]


def test_streams_that_change_rate_and_layout_midway_go_on(tmp_path: Path) -> None:
    for ending, codec in (("aac", "aac"), ("mp3", "libmp3lame")):
        one = write_encoded(tmp_path / f"a.{ending}", codec, tone(3, 500), rate=RATE)
        two = write_encoded(
            tmp_path / f"b.{ending}", codec, tone(3, 700, rate=44100), tone(3, 700, rate=44100), rate=44100
        )
        path = tmp_path / f"c.{ending}"
        path.write_bytes(one.read_bytes() + two.read_bytes())
        found, decoded = heard(path, tmp_path / ending)
        assert (len(decoded.files), found[:3], found[4:6]) == (1, [500] * 3, [700] * 2)
        assert decoded.duration_ms == pytest.approx(6000, abs=250)


def test_a_wav_file_has_no_holes(tmp_path: Path) -> None:
    found, decoded = heard(write_wav(tmp_path / "a.wav", melody()), tmp_path / "work")
    assert (found, decoded.silence_ms, decoded.duration_ms) == (TONES, 0, 10_000)
