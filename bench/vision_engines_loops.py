"""The two sides of `bench.vision_engines`: Parley's pipeline, and ultralytics' own loop, over the same clip.

Both decode, detect things of all classes and follow them by ByteTrack, for a while, after having warmed up.
`python -m bench.vision_engines_loops MODEL CLIP SECONDS CORE` is ultralytics' loop, in a process of its own.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import av

from ingest.vision.attention import SELDOM_S, WATCHFUL_S
from ingest.vision.detector import Detector
from ingest.vision.frames import Frame
from ingest.vision.motion import WIDTH, MotionGate
from ingest.vision.tracking import Tracker

_WARM_PICTURES = 30


@dataclass(frozen=True, slots=True)
class Run:
    """Pictures that were done with, and the time that took: of the clock, and of all processes' CPU."""

    pictures: int
    wall_s: float
    cpu_s: float
    looked_at: int

    @property
    def per_s(self) -> float:
        return self.pictures / self.wall_s

    @property
    def cpu_ms(self) -> float:
        return self.cpu_s / self.pictures * 1000


def parley(model: Path, clip: Path, seconds: float, *, gated: bool, streams: int, fps: float, least: int = 0) -> Run:
    """So many streams, a thread each as in a worker. `gated`: still pictures are looked at as seldom as by `Scene`.
    `least`: goes on until so many pictures are done with, for a clip whose parts differ."""
    with Detector({"objects": model}, os.cpu_count() or 1, slots=streams) as detector:
        detector.about("objects")
        # Each is at another place of the clip, as cameras are.
        apart = pictures_of(clip) // streams
        watchers = [_Watcher(detector, clip, number * apart, gated, fps) for number in range(streams)]
        for watcher in watchers:
            watcher.thread.start()
        while any(watcher.pictures < _WARM_PICTURES for watcher in watchers):
            time.sleep(0.05)
            assert all(watcher.thread.is_alive() for watcher in watchers), "a stream ended"
        begun = _counted(watchers, detector)
        time.sleep(seconds)
        while sum(watcher.pictures for watcher in watchers) - begun[0] < least:
            time.sleep(0.05)
        ended = _counted(watchers, detector)
        for watcher in watchers:
            watcher.stop.set()
        for watcher in watchers:
            watcher.thread.join()
    pictures, looked_at, wall_s, cpu_s = (after - before for before, after in zip(begun, ended, strict=True))
    return Run(int(pictures), wall_s, cpu_s, int(looked_at))


def ultralytics(model: Path, clip: Path, seconds: float, loops: int = 1) -> Run:
    """`loops` > 1: so many at once, on a core each."""
    command = [sys.executable, "-m", "bench.vision_engines_loops", str(model), str(clip), str(seconds)]
    cores = ["" if loops == 1 else str(core) for core in range(loops)]
    begun = [subprocess.Popen([*command, core], stdout=subprocess.PIPE) for core in cores]
    runs = [Run(**json.loads(process.communicate()[0].splitlines()[-1])) for process in begun]
    return Run(
        sum(run.pictures for run in runs),
        sum(run.wall_s for run in runs) / loops,
        sum(run.cpu_s for run in runs),
        sum(run.looked_at for run in runs),
    )


class _Watcher:
    def __init__(self, detector: Detector, clip: Path, begin: int, gated: bool, fps: float) -> None:
        self.stop = threading.Event()
        self.pictures = self.looked_at = 0
        self.thread = threading.Thread(target=self._watch, args=(detector, clip, begin, gated, fps), daemon=True)

    def _watch(self, detector: Detector, clip: Path, begin: int, gated: bool, fps: float) -> None:
        tracker, gate, looked_s, seldom_s = Tracker(), MotionGate(), float("-inf"), SELDOM_S
        for number, picture in enumerate(itertools.islice(_pictures(clip), begin, None)):
            if self.stop.is_set():
                return
            now_s = number / fps
            frame = Frame(number, 0, datetime.now(UTC), now_s, False, picture.width, picture.height, picture)
            if not gated or gate.moves(frame.thumbnail(WIDTH), now_s) or now_s - looked_s >= seldom_s:
                found, looked_s = detector.detect("objects", frame.image, timeout_s=60), now_s
                tracker.step(found, now_s)
                seldom_s = WATCHFUL_S if len(found) else SELDOM_S
                self.looked_at += 1
            else:
                tracker.rest(now_s)
            self.pictures += 1


def _counted(watchers: list[_Watcher], detector: Detector) -> tuple[int, int, float, float]:
    pictures, looked_at = (sum(getattr(each, name) for each in watchers) for name in ("pictures", "looked_at"))
    assert detector.child_pid is not None
    fields = Path(f"/proc/{detector.child_pid}/stat").read_text().rsplit(")", 1)[1].split()
    child_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return pictures, looked_at, time.monotonic(), time.process_time() + child_s


def pictures_of(clip: Path) -> int:
    with av.open(str(clip)) as opened:
        return opened.streams.video[0].frames


def _pictures(clip: Path) -> Iterator[Any]:
    """Again and again."""
    with av.open(str(clip)) as opened:
        # As `capture` decodes: many streams share the cores, so that threads for each gain nothing.
        opened.streams.video[0].codec_context.thread_count = 1
        while True:
            opened.seek(0)
            yield from opened.decode(video=0)


def _loop(model: Path, clip: Path, seconds: float) -> Run:
    """ultralytics' own, with its ByteTrack, which costs less than what it takes by default."""
    from ultralytics import YOLO

    loaded = YOLO(model, task="detect")
    begin_s = begin_cpu_s = 0.0
    done = 0
    while True:
        for _ in loaded.track(str(clip), stream=True, tracker="bytetrack.yaml", verbose=False, persist=done > 0):
            done += 1
            if done == _WARM_PICTURES:
                begin_s, begin_cpu_s = time.monotonic(), time.process_time()
            if done > _WARM_PICTURES and time.monotonic() - begin_s >= seconds:
                pictures = done - _WARM_PICTURES
                return Run(pictures, time.monotonic() - begin_s, time.process_time() - begin_cpu_s, pictures)


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked[3]:
        os.sched_setaffinity(0, {int(asked[3])})
    print(json.dumps(asdict(_loop(Path(asked[0]), Path(asked[1]), float(asked[2])))))
