"""Real audio for tests: pieces of the demo company's calls."""

from __future__ import annotations

import io
from pathlib import Path

CALLS = Path(__file__).parents[2] / "demo" / "calls"


def call_clip(name: str, start_s: float = 0.0, end_s: float = 1e9) -> bytes:
    """Seconds of a demo call as a stereo WAV file; `name` is the beginning of its file name."""
    import av

    source = next(iter(sorted(CALLS.glob(f"{name}*.opus"))))
    out = io.BytesIO()
    with av.open(str(source)) as given, av.open(out, "w", format="wav") as made:
        stream = made.add_stream("pcm_s16le", rate=16000, layout="stereo")
        resampler = av.AudioResampler(format="s16", layout="stereo", rate=16000)
        for frame in given.decode(audio=0):
            if frame.time is None or frame.time < start_s:
                continue
            if frame.time >= end_s:
                break
            frame.pts = None
            for resampled in resampler.resample(frame):
                made.mux(stream.encode(resampled))
        made.mux(stream.encode(None))
    return out.getvalue()
