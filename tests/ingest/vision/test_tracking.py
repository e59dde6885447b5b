"""Tracks: the same number from frame to frame, whatever the frame rate, and given up by time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ingest.vision.networks import open_network
from ingest.vision.tracking import GIVE_UP_S, Tracker
from ingest.vision.yolo import Boxes
from tests.ingest.vision.test_networks import COCO, PICTURES, boxes_in, model_at

Box = tuple[float, float, float, float]


def boxes(*found: tuple[Box, float], classes: Sequence[int] | None = None) -> Boxes:
    found = tuple(sorted(found, key=lambda each: -each[1]))
    xyxy = np.array([box for box, _ in found], np.float32).reshape(-1, 4)
    scores = np.array([score for _, score in found], np.float32)
    return Boxes(xyxy, scores, np.array(classes if classes is not None else [0] * len(found), np.int64))


def person(x: float, y: float = 100.0, score: float = 0.8) -> tuple[Box, float]:
    return (x, y, x + 60, y + 160), score


def walk(tracker: Tracker, times_s: Sequence[float], *places: float, speed: float = 0.0) -> list[int]:
    """People who go on by `speed` pixels a second; the numbers that they have at the end, from left to right."""
    numbers: list[int] = []
    for now_s in times_s:
        tracked, _ = tracker.step(boxes(*(person(place + speed * (now_s - times_s[0])) for place in places)), now_s)
        numbers = [each.number for each in sorted(tracked, key=lambda each: each.box[0])]
    return numbers


def test_a_thing_counts_from_its_second_frame_and_numbers_begin_at_one() -> None:
    tracker = Tracker()
    assert tracker.step(boxes(person(100), person(400)), 10.0) == ([], [])
    tracked, given_up = tracker.step(boxes(person(102), person(400, score=0.7)), 10.1)
    assert ([each.number for each in tracked], given_up) == ([1, 2], [])
    assert tracked[0].box == pytest.approx((102, 100, 162, 260))
    assert [each.confidence for each in tracked] == pytest.approx([0.8, 0.7])


@pytest.mark.parametrize("fps", [2.0, 5.0, 10.0, 30.0])
def test_walkers_keep_their_numbers_at_any_frame_rate(fps: float) -> None:
    times_s = [100 + place / fps for place in range(int(6 * fps))]
    assert walk(Tracker(), times_s, 0, 300, 600, speed=60) == [1, 2, 3]


def test_walkers_keep_their_numbers_while_the_frame_rate_changes() -> None:
    source = np.random.default_rng(11)
    times_s = np.cumsum(source.choice([0.033, 0.1, 0.25, 0.5, 1.0], 80)).tolist()
    assert walk(Tracker(), times_s, 0, 300, 600, speed=40) == [1, 2, 3]


def test_one_who_is_fast_is_foreseen_through_a_gap() -> None:
    tracker = Tracker()
    for place in range(10):
        tracker.step(boxes(person(place * 40.0)), place * 0.1)
    # 400 pixels a second: a second later nothing overlaps with where it was seen last.
    tracked, _ = tracker.step(boxes(person(360 + 400.0)), 1.9)
    assert [each.number for each in tracked] == [1]


@pytest.mark.parametrize("fps", [2.0, 10.0, 30.0])
@pytest.mark.parametrize(("away_s", "is_kept"), [(GIVE_UP_S - 0.4, True), (GIVE_UP_S + 0.4, False)])
def test_a_track_is_given_up_by_time_and_told_once(fps: float, away_s: float, is_kept: bool) -> None:
    tracker = Tracker()
    times_s = [place / fps for place in range(5)]
    assert walk(tracker, times_s, 100) == [1]
    given_up = []
    for place in range(1, int(away_s * fps) + 1):
        tracked, gone = tracker.step(boxes(), times_s[-1] + place / fps)
        assert tracked == []
        given_up += gone
    back_s = times_s[-1] + away_s
    _, gone = tracker.step(boxes(person(100)), back_s + 0.01)
    tracked, later = tracker.step(boxes(person(100)), back_s + 0.11)
    assert [each.number for each in tracked] == [1 if is_kept else 2]
    assert given_up + gone + later == ([] if is_kept else [1])


def test_frames_that_nobody_looked_at_count_as_absence_unless_nothing_moved() -> None:
    looked, rested = Tracker(), Tracker()
    for tracker in (looked, rested):
        assert walk(tracker, [0.0, 0.1, 0.2], 100, 300) == [1, 2]
    for now_s in range(1, 600):
        rested.rest(float(now_s))
    tracked, given_up = rested.step(boxes(person(100), person(300)), 600.0)
    assert ([each.number for each in tracked], given_up) == ([1, 2], [])
    tracked, given_up = looked.step(boxes(person(100), person(300)), 600.0)
    assert (tracked, given_up) == ([], [1, 2])


def test_after_a_rest_absence_counts_again() -> None:
    tracker = Tracker()
    walk(tracker, [0.0, 0.1, 0.2], 100)
    tracker.rest(60.0)
    given_up = [tracker.step(boxes(), 60.0 + place / 10)[1] for place in range(1, 31)]
    assert [place for place, gone in enumerate(given_up, 1) if gone] == [pytest.approx(10 * GIVE_UP_S, abs=2)]


def test_a_weak_box_goes_on_with_a_track_and_begins_none() -> None:
    tracker = Tracker()
    for place in range(5):
        assert tracker.step(boxes(person(100, score=0.3)), place / 10) == ([], [])
    walk(tracker, [0.5, 0.6], 100)
    tracked, _ = tracker.step(boxes(person(101, score=0.3)), 0.7)
    assert [each.number for each in tracked] == [1]
    assert tracked[0].confidence == pytest.approx(0.3)


def test_what_is_found_as_two_classes_is_one_thing() -> None:
    tracker = Tracker()
    van = (100.0, 100.0, 400.0, 300.0)
    for place in range(4):
        tracked, _ = tracker.step(boxes((van, 0.8), (van, 0.7), classes=[2, 7]), place / 10)
    assert [each.number for each in tracked] == [1]


def test_time_stands_but_does_not_run_back() -> None:
    tracker = Tracker()
    tracker.step(boxes(person(100)), 5.0)
    tracked, _ = tracker.step(boxes(person(100)), 5.0)
    assert [each.number for each in tracked] == [1]
    with pytest.raises(ValueError, match="in order"):
        tracker.step(boxes(person(100)), 4.9)
    with pytest.raises(ValueError, match="in order"):
        tracker.rest(4.9)
    with pytest.raises(ValueError, match="out of sight"):
        Tracker(give_up_s=0)


def frames(path: Path, fps: float) -> Iterator[tuple[float, npt.NDArray[np.uint8]]]:
    import av

    with av.open(str(path)) as clip:
        wanted_s = 0.0
        for frame in clip.decode(video=0):
            assert frame.time is not None
            if frame.time >= wanted_s:
                wanted_s += 1 / fps
                image: Any = frame.to_ndarray(format="rgb24")
                yield frame.time, image


@pytest.mark.parametrize(
    ("begin_s", "end_s", "people"),
    [(5.0, 26.0, 2), pytest.param(0.0, 140.0, 6, marks=pytest.mark.soak)],
)
def test_people_who_come_one_by_one_have_a_track_each(begin_s: float, end_s: float, people: int) -> None:
    clip = PICTURES / "one-by-one-person-detection.mp4"
    network = open_network(model_at(COCO), threads=2)
    if not clip.exists():
        pytest.skip(f"{clip} is not on this machine")
    tracker = Tracker()
    spans: dict[int, list[float]] = {}
    ends: dict[int, float] = {}
    for now_s, image in frames(clip, 10.0):
        if now_s > end_s:
            break
        if now_s < begin_s:
            continue
        found = boxes_in(network, image)
        (person,) = network.numbers_of(["person"])
        which = found.classes == person
        tracked, given_up = tracker.step(Boxes(found.xyxy[which], found.scores[which], found.classes[which]), now_s)
        for each in tracked:
            spans.setdefault(each.number, []).append(now_s)
        ends |= dict.fromkeys(given_up, now_s)
    print({number: (times[0], times[-1]) for number, times in spans.items()})
    assert sorted(spans) == list(range(1, people + 1))
    assert spans[1][0] == pytest.approx(6.4, abs=0.5)
    assert spans[1][-1] == pytest.approx(19.6, abs=0.5)
    assert ends[1] - spans[1][-1] == pytest.approx(GIVE_UP_S, abs=0.3)
    assert all(len(times) > 20 for times in spans.values())
