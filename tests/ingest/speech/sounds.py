"""Recordings for the speech tests: made here, the demo's calls, and the shared data where it is."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import wave
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest

from ingest.speech.recognise import Engine, choose_engine
from store.settings import load_settings
from store.weights import ModelMissing
from tests.support.audio import call_clip

ROOT = Path(__file__).parents[3]
RATE = 16_000

Signal = npt.NDArray[np.float64]


def tone(seconds: float, hz: float = 440.0, level: float = 0.3, rate: int = RATE) -> Signal:
    return level * np.sin(2 * np.pi * hz * np.arange(int(seconds * rate)) / rate)


def noise(seconds: float, level: float = 0.05, seed: int = 0) -> Signal:
    return level * np.random.default_rng(seed).normal(size=int(seconds * RATE))


def write_wav(path: Path, *channels: Signal, rate: int = RATE) -> Path:
    samples = (np.clip(np.stack(channels, 1), -1, 1) * 32767).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(len(channels))
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return path


def write_encoded(path: Path, codec: str, *channels: Signal, rate: int, video: bool = False) -> Path:
    """The signal in a container that the name's ending chooses, with a small picture track when asked."""
    layout = "stereo" if len(channels) == 2 else "mono"
    with av.open(str(path), "w") as container:
        picture = container.add_stream("mpeg4", rate=25) if video else None
        stream: Any = container.add_stream(codec, rate=rate, layout=layout)
        if picture is not None:
            picture.width = picture.height = 64
            picture.pix_fmt = "yuv420p"
            for step in range(25):
                image = av.VideoFrame.from_ndarray(np.full((64, 64, 3), step * 9, np.uint8), format="rgb24")
                container.mux(picture.encode(image))
            container.mux(picture.encode(None))
        sound = av.AudioFrame.from_ndarray(np.stack(channels).astype(np.float32), format="fltp", layout=layout)
        sound.sample_rate = rate
        for frame in av.AudioResampler(format=stream.format, layout=layout, rate=rate).resample(sound):
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def by_ffmpeg(source: Path, target: Path, options: str) -> Path:
    """The source as the installed ffmpeg encodes it, under `target` without its ending: a name that tells nothing."""
    program = shutil.which("ffmpeg")
    if program is None:
        pytest.skip("ffmpeg is not installed (scripts/install-system-packages)")
    command = [program, "-v", "error", "-y", "-i", str(source), *options.split(), str(target)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return target.rename(target.with_suffix(""))


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, half of the times in the header; a large number written over a place, or the end cut."""
    damaged = bytearray(data)
    reach = len(damaged) if chance.random() < 0.5 else min(len(damaged), 600)
    for _ in range(chance.choice((1, 4, 16, 64))):
        damaged[chance.randrange(reach)] = chance.randrange(256)
    if chance.random() < 0.3:
        place = chance.randrange(reach - 8)
        damaged[place : place + 8] = chance.choice((2**31, 2**60, 2**63, 2**64 - 1)).to_bytes(8, "big")
    if chance.random() < 0.2:
        del damaged[chance.randrange(len(damaged)) :]
    return bytes(damaged)


@cache
def call_sides() -> tuple[Signal, Signal]:
    """A minute of a real conversation, one side a channel."""
    with wave.open(io.BytesIO(call_clip("01", 0, 60.5))) as clip:
        samples = np.frombuffer(clip.readframes(60 * RATE), "<i2").reshape(-1, 2) / 32768
    return samples[:, 0], samples[:, 1]


def shared_speech(name: str) -> Path:
    path = ROOT.parent / "shared" / "data" / "speech" / name
    if not path.exists():
        pytest.skip(f"no {name}: the shared speech data is not here")
    return path


def engine() -> Engine:
    """The quick model: what these tests look at is not how few errors it makes."""
    try:
        return choose_engine(load_settings(asr_model="whisper-base", asr_engine=""))
    except ModelMissing as missing:
        pytest.skip(str(missing))
