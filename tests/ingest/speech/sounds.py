"""Recordings for the speech tests: made here, the demo's calls, and the shared data where it is."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest

from ingest.speech.recognise import Engine, choose_engine
from store.settings import load_settings
from store.weights import ModelMissing

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


def shared_speech(name: str) -> Path:
    path = ROOT.parent / "shared" / "data" / "speech" / name
    if not path.exists():
        pytest.skip(f"no {name}: the shared speech data is not here")
    return path


def engine() -> Engine:
    try:
        return choose_engine(load_settings())
    except ModelMissing as missing:
        pytest.skip(str(missing))
