"""Traffic over made-up tracks: entries and exits, trembling boxes, queues, heat."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import pytest

from ingest.vision.scenarios.findings import Finding, Tracked
from ingest.vision.scenarios.traffic import AGAIN_AFTER_S, LEFT_QUEUE_AFTER_S, QUEUE_AFTER_S, STEADY_FRAMES, Traffic
from ingest.vision.zones import Zone

WIDTH, HEIGHT = 1000, 500
DOOR = Zone("door", "entrance", ((0, 0), (0.2, 0), (0.2, 1), (0, 1)))
TILL = Zone("till", "queue", ((0.5, 0), (1, 0), (1, 1), (0.5, 1)))
STEP_S = 0.1


def at(number: int, x: float, y: float = 0.8) -> Tracked:
    """A person whose feet are there."""
    return Tracked(number, (x * WIDTH - 20, y * HEIGHT - 100, x * WIDTH + 20, y * HEIGHT), 0.9)


class Camera:
    def __init__(self, *zones: Zone) -> None:
        self.traffic = Traffic(zones, WIDTH, HEIGHT)
        self.now_s = 100.0
        self.found: list[Finding] = []

    def see(self, *people: Tracked, ended: Iterable[int] = (), times: int = 1) -> None:
        for _ in range(times):
            self.found += self.traffic.step(self.now_s, people, list(ended))
            self.now_s += STEP_S

    def walk(self, number: int, *places: float) -> None:
        for x in places:
            self.see(at(number, x))

    @property
    def types(self) -> list[str]:
        return [finding.type for finding in self.found]


def steps(start: float, end: float, count: int = 20) -> list[float]:
    return [start + (end - start) * place / (count - 1) for place in range(count)]


def test_who_comes_out_of_the_door_entered_and_who_vanishes_in_it_left() -> None:
    camera = Camera(DOOR)
    camera.walk(1, *steps(0.05, 0.7), *steps(0.7, 0.05))
    camera.see(ended=[1])
    assert camera.types == ["person_entered", "person_left"]
    assert [(each.zone, each.number) for each in camera.found] == [("door", 1), ("door", 1)]


def test_five_times_in_and_out_are_five_entries() -> None:
    camera = Camera(DOOR)
    for number in range(5):
        camera.walk(number, *steps(0.05, 0.7), *steps(0.7, 0.05))
        camera.see(ended=[number])
    assert camera.types == ["person_entered", "person_left"] * 5
    assert len({(each.type, each.subject) for each in camera.found}) == 10


def test_who_only_passes_the_door_or_is_lost_in_the_room_does_neither() -> None:
    camera = Camera(DOOR)
    camera.walk(1, *steps(0.9, 0.4))
    camera.see(ended=[1])
    camera.walk(2, *[0.19, 0.21] * 10)  # on the border, trembling
    assert camera.types == []


def test_a_glimpse_is_nobody() -> None:
    camera = Camera()
    camera.see(at(1, 0.5), times=STEADY_FRAMES - 1)
    camera.see(ended=[1])
    assert camera.types == []


def test_without_a_door_the_picture_itself_is_entered_and_left() -> None:
    camera = Camera()
    camera.walk(1, *steps(0.02, 0.98))
    camera.see(ended=[1, 99])
    assert camera.types == ["person_entered", "person_left"]
    camera.walk(2, *steps(0.98, 0.02))
    assert camera.types[2:] == ["person_entered"], "another, though the first was just there"


def test_who_is_hidden_for_some_seconds_neither_left_nor_came() -> None:
    camera = Camera()
    camera.see(at(1, 0.5), times=20)
    for number in range(1, 4):
        camera.see(times=20)
        camera.see(ended=[number])
        assert camera.traffic.wants_looks, "whether they come back"
        camera.see(at(number + 1, 0.5 + number / 20), times=20)
    assert [(each.type, each.number) for each in camera.found] == [("person_entered", 1)]
    assert not camera.traffic.wants_looks
    camera.see(times=20)
    camera.see(ended=[4])
    camera.see(at(5, 0.1), times=10)
    assert camera.types[1:] == ["person_entered"], "somebody who is too far away to be the same"
    camera.see(at(5, 0.1), times=40)
    assert [(each.type, each.number) for each in camera.found[2:]] == [("person_left", 4)]


def test_a_track_that_goes_on_under_another_number_before_it_is_given_up_is_one_person() -> None:
    camera = Camera()
    camera.see(at(1, 0.5), times=20)
    camera.see(times=10)
    camera.see(at(2, 0.55), times=10)
    assert camera.traffic.gone_on == []
    camera.see(at(2, 0.55), ended=[1], times=100)
    assert camera.types == ["person_entered"]


def test_who_is_seen_far_away_after_a_pause_is_another_than_who_was_lost_before() -> None:
    camera = Camera()
    camera.see(at(1, 0.2), times=20)
    camera.see(ended=[1])
    camera.now_s += 30  # no pictures came
    camera.see(at(2, 0.9), times=60)
    assert sorted((each.type, each.number) for each in camera.found) == [
        ("person_entered", 1),
        ("person_entered", 2),
        ("person_left", 1),
    ]


def test_who_comes_out_of_the_door_is_another_than_who_was_lost_beside_it() -> None:
    camera = Camera(DOOR)
    camera.walk(1, *steps(0.05, 0.25))
    camera.see(at(1, 0.25), times=20)
    camera.see(times=20)
    camera.see(ended=[1])
    camera.walk(2, *steps(0.19, 0.4))
    assert camera.types == ["person_entered"]
    camera.walk(3, *steps(0.1, 0.4))
    assert camera.types == ["person_entered"] * 2


def test_a_queue_is_said_once_when_it_forms_and_once_when_it_is_gone() -> None:
    camera = Camera(TILL)
    waiting = [at(number, 0.6 + number / 10) for number in range(3)]
    camera.see(*waiting, times=200)
    formed = [each for each in camera.found if each.type == "queue_formed"]
    assert [(each.zone, each.details["people"]) for each in formed] == [("till", 3)]
    assert float(formed[0].details["longest_wait_s"]) >= QUEUE_AFTER_S
    camera.see(waiting[0], at(1, 0.2), at(2, 0.2), times=200)
    assert camera.types.count("queue_formed") == camera.types.count("queue_cleared") == 1
    waited = camera.traffic.waited["till"]
    assert waited.people == 2
    assert waited.seconds / waited.people == pytest.approx(200 * STEP_S, abs=0.2)


def test_who_waits_goes_on_waiting_though_looks_have_to_wait_after_the_camera_was_taken_over() -> None:
    camera = Camera(TILL)
    waiting = [at(number, 0.6 + number / 10) for number in range(3)]
    camera.see(*waiting, times=200)
    assert camera.types.count("queue_formed") == 1
    left = camera.traffic.left(datetime.now(UTC))
    after = Camera(TILL)
    assert after.traffic.go_on(left, after.now_s, gap_s=4) == []
    after.see()  # tracks begin at the second look
    after.now_s += 30  # other cameras' pictures are looked at, and models are loaded
    after.see(*waiting, times=100)
    assert not {"queue_formed", "queue_cleared"} & set(after.types)
    after.see(times=2)
    after.now_s += 30  # nor is a queue gone because two looks far apart missed it
    after.see(*waiting, times=100)
    assert not {"queue_formed", "queue_cleared"} & set(after.types)
    after.see(*(at(number, 0.2) for number in range(3)), times=100)
    assert (after.types.count("queue_formed"), after.types.count("queue_cleared")) == (0, 1)
    assert after.traffic.waited["till"].seconds >= 3 * (200 * STEP_S + 4 + 60)


def test_a_wait_goes_on_past_a_step_aside_and_a_broken_track() -> None:
    camera = Camera(TILL)
    camera.see(at(1, 0.7), times=100)
    camera.see(at(1, 0.45), times=20)
    camera.see(at(1, 0.7), times=100)
    assert camera.traffic.waited == {}
    camera.see(times=20)
    camera.see(ended=[1])
    camera.see(at(2, 0.72), times=100)
    camera.see(at(2, 0.3), times=round(LEFT_QUEUE_AFTER_S / STEP_S) + 2)
    waited = camera.traffic.waited["till"]
    assert (waited.people, waited.seconds) == (1, pytest.approx(341 * STEP_S, abs=0.2))
    camera.see(at(3, 0.7), times=100)
    camera.see(ended=[3])
    camera.see(times=round(AGAIN_AFTER_S / STEP_S) + 1)
    assert (waited.people, waited.seconds) == (2, pytest.approx(441 * STEP_S, abs=0.3)), "up to when they were seen"


def test_a_box_that_trembles_before_a_pause_and_after_it_ends_no_wait() -> None:
    camera = Camera(TILL)
    camera.see(at(1, 0.7), times=100)
    camera.see(at(1, 0.45))
    camera.now_s += 8  # no pictures came
    camera.see(at(1, 0.45))
    camera.see(at(1, 0.7), times=20)
    camera.see(at(1, 0.3), times=40)
    waited = camera.traffic.waited["till"]
    assert (waited.people, waited.seconds) == (1, pytest.approx(8 + 122 * STEP_S, abs=0.2))
    camera.see(at(1, 0.7), times=100)
    camera.now_s += 8
    camera.see(at(1, 0.3), times=40)
    assert waited.people == 2
    assert waited.seconds == pytest.approx(8 + 222 * STEP_S, abs=0.4), "up to when they were seen in it"


def test_who_was_there_before_a_pause_may_have_walked_far_in_it() -> None:
    camera = Camera()
    camera.see(at(1, 0.2), times=20)
    camera.now_s += 8  # the detector is started again
    camera.see(at(2, 0.55), times=20)
    camera.see(at(2, 0.55), ended=[1], times=100)
    assert camera.types == ["person_entered"]


def test_who_only_crosses_a_queues_zone_did_not_wait() -> None:
    camera = Camera(TILL)
    camera.walk(1, *steps(0.4, 0.9), *steps(0.9, 0.4))
    camera.see(ended=[1])
    camera.see(times=round(AGAIN_AFTER_S / STEP_S))
    assert camera.traffic.waited["till"].people == 1  # there and back: 4 seconds
    camera.walk(2, *steps(0.45, 0.6, 8), *steps(0.6, 0.45, 8))
    camera.see(at(2, 0.3), times=40)
    assert camera.traffic.waited["till"].people == 1


def test_heat_is_person_seconds_where_they_stood() -> None:
    camera = Camera()
    camera.see(at(1, 0.5), at(2, 1.0, 1.0), times=101)
    heat = camera.traffic.heat
    assert heat.sum() == pytest.approx(2 * 10.0, rel=0.01)
    assert heat[-1, -1] == pytest.approx(10.0, rel=0.01)
    assert heat[int(0.8 * 36), 32] == pytest.approx(10.0, rel=0.01)
