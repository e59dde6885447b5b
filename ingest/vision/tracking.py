"""Follows things from frame to frame, by ByteTrack (https://arxiv.org/abs/2110.06864) of the library `trackers`.

Given the time of each frame, the library scales its Kalman filter's steps to the seconds between frames and gives up
tracks after seconds, so the frame rate may change at any time. What it does not know: that a frame was skipped because
nothing moved. Hence `Tracker.rest`.
"""

from __future__ import annotations

import numpy as np

from ingest.vision.attention import OTHERS_AFTER_S
from ingest.vision.scenarios.findings import Tracked
from ingest.vision.yolo import Boxes, without_overlaps

GIVE_UP_S = 2.0
_STEPS_PER_S = 30.0
"""The library's unit of time, for which its noise is tuned; not the rate of the frames."""
_LEAST_STEP_S, _LONGEST_STEP_S = 1e-3, 1.5
"""A longer pause, as where a detector has to be started again, counts as so long: nobody looked, and who stands there
afterwards has been there all the time. The longest must be less than `GIVE_UP_S`."""
_SAME_THING = 0.7
"""A van is often found twice, as a car and as a truck, with boxes that overlap so much (IoU)."""


class Tracker:
    """One camera's things of one kind, such as people, or vehicles of all classes. Not for several threads.

    `give_up_s`: so long out of sight, and a track ends. A track begins with a box of at least `begins_at`, and counts
    when the next frame has it too; it goes on with weaker boxes. Importing the library takes a second, once.
    """

    def __init__(self, give_up_s: float = GIVE_UP_S, begins_at: float = 0.5) -> None:
        from trackers import ByteTrackTracker

        if give_up_s <= 0:
            raise ValueError("a track must be allowed to be out of sight")
        self._tracker = ByteTrackTracker(
            # Its type says whole frames; it only ever divides.
            lost_track_buffer=give_up_s * 30,  # type: ignore[arg-type]
            frame_rate=_STEPS_PER_S,
            track_activation_threshold=begins_at,
            high_conf_det_threshold=begins_at,
        )
        self._seen_s: float | None = None
        self._clock_s = 0.0
        self._alive: set[int] = set()
        self.misses_some = False
        """Whether a track that is not given up was out of sight in the frame before."""
        self.begins_some = False
        """Whether there was something in the frame before that counts when the next frame has it too."""
        self._begins_at = begins_at

    def step(self, boxes: Boxes, now_s: float) -> tuple[list[Tracked], list[int]]:
        """The tracks in the frame of `now_s` (monotonic, or the camera's time), and the numbers, from 1 on, that were
        given up since the last step. Raises ValueError where time runs back."""
        import supervision

        pause_s = self._since(now_s)
        self._clock_s += max(_LEAST_STEP_S, pause_s if pause_s > OTHERS_AFTER_S else min(pause_s, _LONGEST_STEP_S))
        self._seen_s = now_s
        chosen = without_overlaps(boxes.xyxy, np.zeros(len(boxes), np.int64), _SAME_THING)
        found = self._tracker.update(
            supervision.Detections(boxes.xyxy[chosen], confidence=boxes.scores[chosen]), timestamp=self._clock_s
        )
        confirmed = self._tracker.tracked_objects.tracker_id
        assert found.tracker_id is not None
        assert confirmed is not None
        alive = {number + 1 for number in confirmed.tolist()}
        given_up = sorted(self._alive - alive)
        self._alive = alive
        self.misses_some, self.begins_some = bool(alive), False
        if not len(found):
            return [], given_up
        assert found.confidence is not None
        rows = list(zip(found.tracker_id.tolist(), found.xyxy.tolist(), found.confidence.tolist(), strict=True))
        self.begins_some = any(number < 0 and confidence >= self._begins_at for number, _, confidence in rows)
        tracked = [Tracked(number + 1, tuple(box), confidence) for number, box, confidence in rows if number >= 0]
        self.misses_some = bool(alive - {each.number for each in tracked})
        return sorted(tracked, key=lambda each: each.number), given_up

    def rest(self, now_s: float) -> None:
        """Nothing has moved up to `now_s`, so nobody looked: what was there still is, and this time is not counted.

        Raises ValueError where time runs back."""
        self._since(now_s)
        self._seen_s = now_s

    def _since(self, now_s: float) -> float:
        if self._seen_s is None:
            return 0.0
        if now_s < self._seen_s:
            raise ValueError(f"frames come in order: {now_s} is before {self._seen_s}")
        return now_s - self._seen_s
