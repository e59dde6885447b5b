"""One camera's scene over made-up boxes: what a take-over, a failing detector and scenarios beside each other cost."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ingest.vision.detector import DetectorDied
from ingest.vision.scenarios import queues_left
from ingest.vision.scenarios.queues_left import MOST_WAITING, QueuesLeft, Waiting
from ingest.vision.scenarios.traffic import AGAIN_AFTER_S
from tests.support.scene_camera import AT_THE_BORDER, BEGIN, PLATE, QUEUE, SOMEBODY, TILL, VAULT, Camera, Seeing


def test_who_stands_there_is_one_visitor_however_often_the_stream_is_taken_over() -> None:
    camera = Camera("traffic", eyes=Seeing())
    camera.eyes.people = [SOMEBODY]
    assert camera.runs(5) == ["person_entered"]
    for _ in range(3):
        camera.taken_over()
        assert camera.runs(5) == []
    assert len(set(camera.visitors)) == 1


def test_who_walks_on_while_nobody_looks_is_not_told_again_and_who_comes_then_is() -> None:
    camera = Camera("traffic", "safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.people = [SOMEBODY]
    assert sorted(camera.runs(5)) == ["person_entered", "zone_intrusion"]
    camera.taken_over(after_s=20)
    camera.eyes.people = [(500, 120, 560, 320)]
    assert camera.runs(4) == []
    camera.eyes.people = [(500, 120, 560, 320), (200, 100, 260, 300)]
    assert sorted(camera.runs(4)) == ["person_entered", "zone_intrusion"]
    camera.taken_over(after_s=20)
    camera.eyes.people = [(20, 100, 80, 300), (300, 100, 360, 300), (400, 100, 460, 300)]
    assert sorted(camera.runs(4)) == ["person_entered", "zone_intrusion"], "three where two were"


@pytest.mark.parametrize("every_s", [1.2, 3.0])
def test_who_walks_on_while_nobody_looks_is_not_told_again_though_looks_are_few(every_s: float) -> None:
    camera = Camera("traffic", "safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.people = [SOMEBODY]
    assert sorted(camera.runs(5)) == ["person_entered", "zone_intrusion"]
    camera.taken_over(after_s=20)
    camera.eyes.people = [(500, 120, 560, 320)]
    for _ in range(10):
        assert camera.runs(0.1) == []
        camera.now_s += every_s - 0.1


def test_who_entered_is_counted_though_their_track_goes_on_under_another_number() -> None:
    camera = Camera("traffic", eyes=Seeing("people"))
    camera.eyes.people = [(100, 100, 150, 190)]
    assert camera.runs(0.5) == ["person_entered"]
    assert camera.visitors == []
    camera.now_s += 8  # the detector is started again
    camera.eyes.people = [(190, 100, 240, 190)]
    assert camera.runs(10) == []
    assert len(camera.visitors) == 1


def test_who_left_a_picture_in_which_nothing_moves_any_more_is_told_of_at_once() -> None:
    camera = Camera("traffic", eyes=Seeing())
    camera.eyes.people = [AT_THE_BORDER]
    assert camera.runs(5) == ["person_entered"]
    camera.eyes.people = []
    assert camera.runs(1.5) == [], "the gate closes before a track is given up"
    assert camera.runs(2, moves=False) == ["person_left"]


def test_who_vanishes_within_a_still_picture_is_looked_for_and_told_of_soon() -> None:
    camera = Camera("traffic", eyes=Seeing("people"))
    camera.eyes.people = [SOMEBODY]
    assert camera.runs(5) == ["person_entered"]
    for _ in range(3):
        camera.eyes.people = []
        assert camera.runs(2.3) == []
        camera.eyes.people = [SOMEBODY]
        assert camera.runs(5) == [], "hidden by what passed"
    camera.taken_over()
    assert camera.runs(5) == [], "one of whom it was told, under whatever number"
    camera.eyes.people = []
    camera.runs(1.5)
    assert camera.runs(AGAIN_AFTER_S, moves=False) == ["person_left"]


def test_who_left_is_shown_as_seen_last() -> None:
    camera = Camera("traffic", eyes=Seeing())
    camera.eyes.people = [AT_THE_BORDER]
    camera.runs(5)
    last = camera.images[-1]
    camera.eyes.people = []
    assert camera.runs(4) == ["person_left"]
    assert camera.found[-1].image is last


def test_who_entered_just_before_a_take_over_is_still_counted_by_appearance() -> None:
    camera = Camera("traffic", eyes=Seeing("people"))
    camera.eyes.people = [SOMEBODY]
    assert camera.runs(1) == ["person_entered"]
    assert camera.visitors == []
    camera.taken_over()
    assert camera.runs(6) == []
    assert camera.visitors == [1]
    camera.taken_over()
    camera.runs(6)
    assert camera.visitors == [1]


def test_who_entered_just_before_midnight_is_a_visitor_of_the_day_after() -> None:
    camera = Camera("traffic", eyes=Seeing("people"))
    camera.now_s = 12 * 3600 - 1.0
    camera.eyes.people = [SOMEBODY]
    assert camera.runs(1) == ["person_entered"]
    assert camera.visitors == []
    assert camera.runs(10) == []
    assert camera.visitors == [1]
    assert {each.day for each in camera.looks.values()} == {BEGIN.date() + timedelta(days=1)}


def test_what_visitors_look_like_is_written_when_it_changes_and_not_with_every_report() -> None:
    camera = Camera("traffic", eyes=Seeing("people"))
    camera.eyes.people = [SOMEBODY]
    camera.runs(6)
    assert list(camera.looks) == [1]
    camera.looks.clear()
    camera.runs(20)
    assert camera.looks == {}
    assert len(camera.scene.progress(camera._at(camera.now_s))) < 2000


def test_a_queue_is_told_once_though_the_stream_is_taken_over_twice_within_seconds() -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    camera.eyes.people = list(QUEUE)
    assert camera.runs(20).count("queue_formed") == 1
    camera.taken_over()
    assert camera.runs(5) == []  # too short to see a queue
    camera.taken_over()
    assert camera.runs(30) == []
    camera.eyes.people = []
    assert camera.runs(20).count("queue_cleared") == 1


@pytest.mark.parametrize("pause_s", [1.5, 8])
@pytest.mark.parametrize("seen_s", [0.1, 0.3])
def test_a_queue_is_told_once_though_looks_have_to_wait_after_the_take_over(seen_s: float, pause_s: float) -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    camera.eyes.people = list(QUEUE)
    assert camera.runs(20).count("queue_formed") == 1
    camera.taken_over(after_s=6)
    assert camera.runs(seen_s, moves=False) == []
    camera.now_s += pause_s  # other cameras' pictures are looked at, models are loaded
    assert camera.runs(30, moves=False) == []
    camera.eyes.people = []
    assert camera.runs(20).count("queue_cleared") == 1


def test_a_queue_that_left_a_picture_in_which_nothing_moves_any_more_is_told_of_in_time() -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    camera.eyes.people = list(QUEUE)
    assert "queue_formed" in camera.runs(20)
    camera.eyes.people = []
    camera.runs(1.5)
    assert "queue_cleared" in camera.runs(7, moves=False)


def test_a_queue_that_was_gone_before_the_take_over_is_told_of_when_it_forms_again() -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    for _ in range(2):
        camera.eyes.people = list(QUEUE)
        assert camera.runs(20).count("queue_formed") == 1
        camera.eyes.people = []
        assert camera.runs(20).count("queue_cleared") == 1
        camera.taken_over()


def waited(camera: Camera) -> dict[str, tuple[int, float]]:
    """How many people left which queue since it was last asked, and how long they had waited, together."""
    sums = camera.scene.take_sums()
    return {} if sums is None else {zone: (people, round(seconds)) for zone, (people, seconds) in sums.waits.items()}


@pytest.mark.parametrize(
    "change", ["another worker", "a long time without any", "another size", "another zone besides"]
)
def test_people_who_wait_go_on_waiting_when_the_stream_is_taken_over(change: str) -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    camera.eyes.people = list(QUEUE)
    assert "queue_formed" in camera.runs(30)
    if change == "another size":
        camera.eyes.people = [(left * 2, top * 2, right * 2, bottom * 2) for left, top, right, bottom in QUEUE]
        camera.taken_over(scale=2)
    elif change == "another zone besides":
        camera.taken_over(zones=[TILL, VAULT])
    else:
        camera.taken_over(after_s=40 if change == "a long time without any" else 0)
        camera.eyes.people = [(left + 50, top, right + 50, bottom) for left, top, right, bottom in QUEUE]
    camera.taken_over(scale=camera.scale)  # before it looked once
    assert camera.runs(30) == []
    assert "till" not in waited(camera)
    camera.eyes.people = []
    assert "queue_cleared" in camera.runs(12)
    people, seconds = waited(camera)["till"]
    longest = 100 if change == "a long time without any" else 60
    assert (people, seconds) == (3, pytest.approx(3 * longest, abs=2))


def test_a_queue_that_dissolves_while_nobody_watches_is_cleared_and_its_waits_are_counted() -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    camera.eyes.people = list(QUEUE)
    camera.runs(30)
    camera.eyes.people = []
    camera.taken_over(after_s=20)
    assert camera.runs(8) == ["queue_cleared"]
    assert waited(camera) == {"till": (3, pytest.approx(90, abs=2))}, "up to when they were seen"
    assert camera.runs(20) == []
    camera.eyes.people = list(QUEUE)
    assert camera.runs(20).count("queue_formed") == 1


def test_who_waits_after_a_long_time_without_anybody_who_watches_is_another() -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    camera.eyes.people = list(QUEUE)
    camera.runs(30)
    camera.taken_over(after_s=3600)
    camera.runs(30)
    assert waited(camera) == {"till": (3, pytest.approx(90, abs=2))}
    camera.eyes.people = []
    assert camera.runs(12).count("queue_cleared") == 1
    assert waited(camera) == {"till": (3, pytest.approx(90, abs=2))}


def test_the_queue_of_a_zone_that_is_no_more_is_gone() -> None:
    camera = Camera("traffic", eyes=Seeing(), zones=[TILL])
    camera.eyes.people = list(QUEUE)
    camera.runs(30)
    camera.taken_over(zones=[VAULT])
    assert camera.runs(10) == ["queue_cleared"]
    assert waited(camera) == {"till": (3, pytest.approx(90, abs=2))}


def test_of_a_crowd_those_who_wait_longest_are_left_to_the_next_worker() -> None:
    waiting = [Waiting("till", 10.0 + number, 0.0, (0.5, 0.5)) for number in range(MOST_WAITING + 50)]
    left = queues_left.parsed(QueuesLeft(BEGIN, waiting, ["till"]).exported())
    assert left is not None
    assert (left.at, left.formed) == (BEGIN, ["till"])
    assert sorted(left.waiting, key=lambda each: each.waited_s) == waiting[50:]
    assert len(left.exported()) < 30_000


@pytest.mark.parametrize(
    "left",
    [
        "",
        "[]",
        "nonsense",
        '{"at": "2026-11-23T12:00:00+00:00", "formed": []}',
        '{"at": "2026-11-23T12:00:00+00:00", "formed": [], "waiting": [{"zone": "till"}]}',
        '{"at": "2026-11-23T12:00:00+00:00", "formed": [],'
        ' "waiting": [{"zone": "till", "waited_s": NaN, "unseen_s": 0, "place": [0, 0]}]}',
    ],
)
def test_queues_that_another_release_left_are_passed_over(left: str) -> None:
    assert queues_left.parsed(left) is None


def test_another_resolution_tells_nobody_again() -> None:
    camera = Camera("traffic", "safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.people, camera.eyes.vehicles = [SOMEBODY], [(400, 100, 600, 300)]
    assert sorted(camera.runs(5)) == ["person_entered", "zone_intrusion", "zone_intrusion"]
    camera.eyes.people, camera.eyes.vehicles = [(200, 200, 320, 600)], [(800, 200, 1200, 600)]
    camera.taken_over(scale=2)
    assert camera.runs(5) == []
    camera.eyes.vehicles = []
    camera.runs(20)
    camera.taken_over(scale=2)
    camera.eyes.vehicles = [(800, 200, 1200, 600)]
    assert camera.runs(5) == ["zone_intrusion"], "it had driven away"


@pytest.mark.parametrize("kind", ["plates", "fire"])
def test_what_is_still_there_is_not_told_again_and_what_came_back_is(kind: str) -> None:
    eyes = Seeing(kind)
    camera = Camera("lpr" if kind == "plates" else "safety", eyes=eyes)
    seen = eyes.plate_boxes if kind == "plates" else eyes.flames
    told = ["plate_read" if kind == "plates" else "fire"]
    seen.append((100, 100, 300, 250))
    assert camera.runs(60) == told
    camera.taken_over(after_s=20)  # nobody knows of that time
    assert camera.runs(20) == []
    seen.clear()
    camera.runs(28)
    seen.append((100, 100, 300, 250))
    if kind == "fire":
        assert camera.runs(5) == [], "gone for less than it takes"
        seen.clear()
        camera.runs(32)
        seen.append((100, 100, 300, 250))
        camera.taken_over()
        assert camera.runs(5) == told
    else:
        camera.taken_over()
        assert camera.runs(5) == told


def test_a_step_into_a_zone_is_told_before_what_takes_longer() -> None:
    camera = Camera("traffic", "safety", "lpr", eyes=Seeing("plates", "people"), zones=[VAULT])
    camera.eyes.people, camera.eyes.plate_boxes = [SOMEBODY], [PLATE]
    camera.runs(0.4)
    plates_seen_before: list[int] = []
    for _ in range(20):
        before = camera.eyes.plate_looks
        frame = camera.frame()
        plates_seen_before += [
            camera.eyes.plate_looks - before
            for found in camera.scene.step(frame, True)
            if found[0].finding.type == "zone_intrusion"
        ]
        camera.now_s += 0.2  # plates are looked at in each of them
    assert plates_seen_before == [0]


def test_two_fires_are_both_remembered() -> None:
    camera = Camera("safety", eyes=Seeing("fire"))
    camera.eyes.flames = [(20, 20, 220, 220), (400, 100, 620, 320)]
    assert camera.runs(5) == ["fire", "fire"]
    camera.taken_over()
    assert camera.runs(10) == []


def test_a_plates_track_is_not_taken_for_a_persons() -> None:
    camera = Camera("traffic", "lpr", eyes=Seeing("plates"))
    camera.eyes.people, camera.eyes.plate_boxes = [AT_THE_BORDER], [(400, 200, 480, 230)]
    assert sorted(camera.runs(5)) == ["person_entered", "plate_read"]
    camera.eyes.people = []
    assert camera.runs(4) == ["person_left"]
    camera.taken_over()
    assert camera.runs(5) == [], "the plate, whose track has the number that the person's had, is still there"


def test_a_detector_that_fails_takes_nothing_along_that_others_found() -> None:
    eyes = Seeing("people", "ppe", "fire", "plates")
    camera = Camera("traffic", "ppe", "safety", "lpr", eyes=eyes, zones=[VAULT])
    eyes.failing = {"people", "ppe", "fire"}
    eyes.people, eyes.plate_boxes = [SOMEBODY], [(400, 200, 480, 230)]
    assert sorted(camera.runs(3)) == ["person_entered", "plate_read", "zone_intrusion"]
    assert isinstance(camera.scene.failure, DetectorDied)
    eyes.failing = set()
    assert camera.runs(10) == ["no_helmet"]
    assert camera.scene.failure is None
    assert camera.visitors == [1], "who entered meanwhile is told apart later"
    eyes.failing = {"objects"}
    assert camera.runs(1) == []
    eyes.failing = set()
    eyes.people = []
    assert camera.runs(5) == ["person_left"]


def test_who_stands_there_while_the_detector_is_started_again_is_not_told_again() -> None:
    camera = Camera("traffic", "safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.people = [SOMEBODY]
    assert sorted(camera.runs(5)) == ["person_entered", "zone_intrusion"]
    for _ in range(2):
        camera.eyes.failing = {"objects"}
        camera.runs(0.1)
        camera.now_s += 6  # a look waits until it has started
    camera.eyes.failing = set()
    assert camera.runs(8) == []
    camera.now_s += 3600
    assert "person_left" in camera.runs(8), "an hour later it is somebody else"


def test_a_plate_that_has_gone_is_told_of_though_another_cannot_be_read() -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    camera.eyes.plate_boxes = [(400, 200, 480, 230)]
    assert camera.runs(0.5) == []  # read once or twice
    camera.eyes.failing = {"plates"}
    camera.eyes.plate_boxes = [(100, 50, 180, 80)]
    assert camera.runs(5) == ["plate_read"]


def test_a_plate_is_shown_as_it_was_read_best() -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    camera.eyes.sure = [0.6, 0.95, 0.7]
    for left in range(400, 440, 4):
        camera.eyes.plate_boxes = [(left, 200, left + 80, 230)]
        camera.runs(0.2)
    (found,) = camera.found
    image, box = camera.eyes.read[1]
    assert found.image is image
    assert found.finding.box == pytest.approx(box)
    assert len(camera.eyes.read) == 3
    assert camera.eyes.was_sure == [False, False, True], "what was read surely is only confirmed"


def test_nothing_waits_until_texts_are_read_and_their_events_have_the_time_of_the_picture_read() -> None:
    camera = Camera("safety", "lpr", eyes=Seeing("plates"), zones=[VAULT])
    camera.eyes.busy = True
    camera.eyes.plate_boxes, camera.eyes.vehicles = [PLATE], [(400, 100, 600, 300)]
    assert camera.runs(3) == ["zone_intrusion"]
    assert len(camera.eyes.unread) == 2, "one look at a plate and one for a container, though many pictures came"
    camera.eyes.plate_boxes = camera.eyes.vehicles = []
    assert camera.runs(10) == [], "what may yet be read is not decided"
    camera.eyes.finish()
    assert sorted(camera.runs(2, moves=False)) == ["container_read", "plate_read"]
    for found in camera.found[1:]:
        assert found.seen_at <= BEGIN + timedelta(seconds=102), "as seen then, and not as told of now"
        assert any(found.image is image for image in camera.images[:20])
    assert camera.eyes.unread == []


def test_while_one_text_is_read_the_next_look_waits_for_the_newest_picture() -> None:
    camera = Camera("lpr", eyes=Seeing("plates"))
    camera.eyes.busy = True
    for left in range(400, 440, 4):
        camera.eyes.plate_boxes = [(left, 200, left + 80, 230)]
        camera.runs(0.2)
    camera.eyes.finish()
    camera.runs(0.2)
    camera.eyes.finish()
    (_, first), (_, second) = camera.eyes.read
    assert first[0] < 410
    assert second[0] > 430


@pytest.mark.parametrize("scenarios", [("lpr",), ("lpr", "safety")])
def test_a_container_that_drives_away_after_a_glimpse_is_told_of(scenarios: tuple[str, ...]) -> None:
    camera = Camera(*scenarios, eyes=Seeing("plates"))
    camera.eyes.vehicles = [(100, 100, 300, 300)]
    assert camera.runs(2.5) == []
    camera.eyes.vehicles = []
    assert camera.runs(10) == ["container_read"]


def test_people_and_vehicles_have_numbers_of_their_own() -> None:
    camera = Camera("safety", eyes=Seeing(), zones=[VAULT])
    camera.eyes.people, camera.eyes.vehicles = [SOMEBODY], [(400, 100, 600, 300)]
    assert camera.runs(3) == ["zone_intrusion"] * 2
    camera.eyes.people = []
    camera.runs(5)
    camera.taken_over()
    assert camera.runs(3) == [], "the vehicle has not moved"
    numbers = [each.finding.number for each in camera.found]
    assert sorted(numbers, key=lambda number: number or 0) == [-1, 1]
    assert [each.number for each in camera.scene.seen] == [-1]
    assert sorted(str(each.finding.details["object"]) for each in camera.found) == ["person", "vehicle"]
