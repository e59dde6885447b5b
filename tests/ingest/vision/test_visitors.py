"""Unique visitors: made-up vectors, and the people of a video, one of whom comes five times."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ingest.vision.gallery import Gallery, packed, unit, unpacked
from ingest.vision.reidentify import DIMENSIONS, Appearance, cut_out
from ingest.vision.scenarios.findings import Tracked
from ingest.vision.visitors import (
    LEAST_PICTURES,
    MOST_LOOKS,
    MOST_VISITORS,
    NEW_AFTER_PICTURES,
    Visit,
    Visitors,
    quality_of,
)
from store.camera_visitors import VisitorLooks

SHARED = Path(__file__).parents[4] / "shared"
VIDEO = SHARED / "data" / "vision" / "one-by-one-person-detection.mp4"
NETWORK = SHARED / "models" / "osnet_x0_25_msmt17.onnx"
DETECTOR = SHARED / "models" / "yolov8n-coco-int8-openvino"
DAY = date(2026, 11, 23)
Floats = npt.NDArray[np.float32]
Pixels = npt.NDArray[np.uint8]


def looks_of(person: int, count: int = 1, noise: float = 0.3) -> Floats:
    """Vectors as a network gives them: much is common to all people, then what is the person's own, then chance."""
    common = np.random.default_rng(999).normal(size=DIMENSIONS)
    own = np.random.default_rng(person).normal(size=DIMENSIONS)
    chance = np.random.default_rng([person, count]).normal(size=(count, DIMENSIONS))
    vectors = 1.5 * common + own + noise * chance
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


class Door:
    def __init__(self, visitors: Visitors | None = None) -> None:
        self.visitors = visitors or Visitors(DAY)
        self.now_s = 50.0
        self.tracks = 0

    def passes(self, vectors: Floats, quality: float = 0.9) -> Visit | None:
        self.tracks += 1
        for vector in vectors:
            self.visitors.see(self.tracks, vector, quality, self.now_s)
            self.now_s += 0.25
        return self.visitors.visitor_of(self.tracks, is_over=True)


def test_five_times_the_same_person_is_one_visitor_and_others_are_others() -> None:
    door = Door()
    visits = [door.passes(looks_of(7, count)) for count in (6, 7, 8, 9, 10)]
    assert [visit and (visit.visitor, visit.is_new) for visit in visits] == [(1, True)] + [(1, False)] * 4
    for person in range(20, 40):
        door.passes(looks_of(person, 6))
    assert door.visitors.count == 21


def test_who_is_already_known_is_told_while_the_track_lasts_and_a_stranger_later() -> None:
    visitors = Visitors(DAY)
    told: dict[int, int] = {}
    for track, person in ((1, 3), (2, 3), (3, 4)):
        for place, vector in enumerate(looks_of(person, 20)):
            visitors.see(track, vector, 0.9, track * 100 + place * 0.25)
            if visitors.visitor_of(track) and track not in told:
                told[track] = place + 1
        visitors.visitor_of(track, is_over=True)
    assert told[1] == told[3] == NEW_AFTER_PICTURES
    assert told[2] < NEW_AFTER_PICTURES
    assert visitors.count == 2


def test_two_people_who_are_there_together_are_two_however_alike() -> None:
    door = Door()
    door.passes(looks_of(9, 6))  # a third, who is gone
    visitors = door.visitors
    for place, vector in enumerate(looks_of(5, 20, noise=0.01)):
        for track in (11, 12):
            visitors.see(track, vector, 0.9, 100 + place * 0.25)
    first, second = (visitors.visitor_of(track) for track in (11, 12))
    assert first is not None
    assert second is not None
    assert (first.visitor, second.visitor, visitors.count) == (2, 3, 3)


def test_poor_pictures_make_nobody() -> None:
    door = Door()
    assert door.passes(looks_of(1, 20), quality=0.05) is None
    assert door.passes(looks_of(1, 2), quality=0.3) is None
    assert door.visitors.visitor_of(99, is_over=True) is None
    assert door.visitors.count == 0
    door.passes(looks_of(1, 6))
    known = door.passes(looks_of(1, 2), quality=0.3)
    assert known is not None
    assert (known.visitor, door.visitors.count) == (1, 1)


def test_another_worker_goes_on_with_what_was_kept() -> None:
    door = Door()
    for person in range(5):
        door.passes(looks_of(person, 6))
    other = Door(Visitors(DAY, known=door.visitors.take_changed()))
    assert other.visitors.count == 5
    other.tracks = 100
    again, stranger = other.passes(looks_of(3, 9)), other.passes(looks_of(8, 9))
    assert again is not None
    assert (again.visitor, again.is_new) == (4, False)
    assert stranger is not None
    assert (stranger.visitor, stranger.is_new) == (6, True)
    assert Visitors(DAY, known=other.visitors.take_changed(), count=30).count == 30, "some were forgotten"


def test_only_those_who_came_are_written_and_nobody_while_nothing_changes() -> None:
    door = Door()
    for person in range(5):
        door.passes(looks_of(person, 6))
    assert {each.visitor for each in door.visitors.take_changed()} == {1, 2, 3, 4, 5}
    assert door.visitors.take_changed() == []
    door.passes(looks_of(2, 9))
    (came,) = door.visitors.take_changed()
    assert came.visitor == 3
    assert 0 < len(came.looks) <= MOST_LOOKS * (DIMENSIONS + 1) * 2


@pytest.mark.parametrize("looks", [b"\0", b"PK nonsense", bytes((DIMENSIONS + 1) * 2)])
def test_what_another_release_kept_is_passed_over_and_its_numbers_are_not_given_again(looks: bytes) -> None:
    door = Door(Visitors(DAY, known=[VisitorLooks(DAY, 3, 1, looks)]))
    stranger = door.passes(looks_of(1, 9))
    assert stranger is not None
    assert (stranger.visitor, stranger.is_new) == (4, True)


def test_what_is_kept_is_bounded_and_the_count_goes_on() -> None:
    made = np.random.default_rng(1).normal(size=(MOST_VISITORS + 5, DIMENSIONS)).astype(np.float32)
    # The comparison with all of them is not what this is about.
    door = Door(Visitors(DAY, same_from=2.0))
    for vector in made:
        door.passes(np.repeat(vector[None], 2, axis=0))
    assert door.visitors.count == MOST_VISITORS + 5
    kept = door.visitors.take_changed()
    assert [each.visitor for each in kept if not each.looks] == [1, 2, 3, 4, 5]
    door = Door(Visitors(DAY, known=[each for each in kept if each.looks]))
    forgotten = door.passes(np.repeat(made[:1], 6, axis=0))
    assert forgotten is not None
    assert (forgotten.visitor, forgotten.is_new) == (MOST_VISITORS + 6, True)
    known = door.passes(np.repeat(made[-1:], 6, axis=0))
    assert known is not None
    assert (known.visitor, known.is_new) == (MOST_VISITORS + 5, False)


def test_somebody_is_compared_again_only_when_another_picture_was_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    nearest = Gallery.nearest

    def counted(gallery: Gallery, vector: Floats, apart: set[int]) -> tuple[int, float, float]:
        nonlocal compared
        compared += 1
        return nearest(gallery, vector, apart)

    monkeypatch.setattr(Gallery, "nearest", counted)
    visitors = Visitors(DAY)
    for place, vector in enumerate(looks_of(1, NEW_AFTER_PICTURES - 1)):
        visitors.see(1, vector, 0.9, 50 + place * 0.25)
        assert [visitors.visitor_of(1) for _ in range(10)] == [None] * 10
    assert compared == NEW_AFTER_PICTURES - LEAST_PICTURES


def test_who_came_before_midnight_is_told_apart_after_it() -> None:
    visitors = Visitors(DAY)
    pictures = looks_of(1, NEW_AFTER_PICTURES)
    for place, vector in enumerate(pictures[: NEW_AFTER_PICTURES // 2]):
        visitors.see(1, vector, 0.9, 50 + place * 0.25)
    visitors = visitors.next_day(DAY + timedelta(days=1))
    for place, vector in enumerate(pictures[NEW_AFTER_PICTURES // 2 :]):
        visitors.see(1, vector, 0.9, 60 + place * 0.25)
    visit = visitors.visitor_of(1)
    assert visit is not None
    assert (visit.visitor, visit.is_new) == (1, True)


def test_the_nearest_are_those_of_the_plain_sum() -> None:
    """Against the definition, over visitors of several looks, some of whom are gone."""
    chance = np.random.default_rng(4)
    gallery = Gallery()
    for visitor in range(1, 60):
        vectors = chance.normal(size=(1 + visitor % 3, DIMENSIONS)).astype(np.float32) + 0.5
        gallery.put(visitor, [(1.0, unit(vector)) for vector in vectors])
    for visitor in range(1, 60, 4):
        gallery.remove(visitor)
    for visitor in range(100, 110):
        gallery.put(visitor, [(2.0, unit(chance.normal(size=DIMENSIONS).astype(np.float32) + 0.5))])
    people = [visitor for visitor in range(1, 110) if gallery.looks(visitor)]
    looks = {visitor: np.array([look for _, look in gallery.looks(visitor)]) for visitor in people}
    centre = sum(each.mean(axis=0) for each in looks.values()) / (len(people) + 1)
    vector = unit(looks[30][0] + 0.5 * looks[101][0])
    cosines = {
        visitor: max(float(unit(look - centre) @ unit(vector - centre)) for look in each)
        for visitor, each in looks.items()
        if visitor != 30
    }
    first, second = sorted(cosines, key=lambda visitor: -cosines[visitor])[:2]
    nearest, similarity, next_similarity = gallery.nearest(vector, {30, 999})
    assert (nearest, len(gallery)) == (first, len(people))
    assert (similarity, next_similarity) == pytest.approx((cosines[first], cosines[second]), abs=1e-4)
    assert unpacked(packed(gallery.looks(30)))[0][1] == pytest.approx(looks[30][0], abs=1e-3)


def test_quality_prefers_people_who_are_large_whole_and_alone() -> None:
    good = quality_of((100, 100, 180, 300), 0.9, 1280, 720)
    assert good == pytest.approx(0.9)
    worse = (
        quality_of((100, 100, 110, 125), 0.9, 1280, 720),
        quality_of((0, 100, 80, 300), 0.9, 1280, 720),
        quality_of((100, 100, 300, 300), 0.9, 1280, 720),
        quality_of((100, 100, 180, 300), 0.9, 1280, 720, [(120, 100, 200, 300)]),
    )
    assert all(0 <= each < good for each in worse)
    assert quality_of((5, 5, 5, 5), 0.9, 1280, 720) == 0


def test_a_vector_that_is_none_is_refused() -> None:
    for vector in (np.zeros(DIMENSIONS), np.full(DIMENSIONS, np.nan)):
        with pytest.raises(ValueError, match="embedding"):
            Visitors(DAY).see(1, vector.astype(np.float32), 0.9, 0.0)


# The real network and people

Passage = list[tuple[float, Pixels, Tracked]]


@pytest.fixture(scope="module")
def appearance() -> Appearance:
    if not NETWORK.exists():
        pytest.skip(f"{NETWORK} is not on this machine")
    return Appearance(NETWORK)


def passages(most: int | None = None) -> list[Passage]:
    """Of the first people of the video, or of all: the time, the frame, the person, at 2.5 pictures a second. Each is
    looked for once, and no further than somebody asked."""
    if not (VIDEO.exists() and DETECTOR.exists()):
        pytest.skip(f"{VIDEO} or {DETECTOR} is not on this machine")
    found, following = _looked_at()
    found.extend(itertools.islice(following, None if most is None else max(0, most - len(found))))
    return found[:most]


@cache
def _looked_at() -> tuple[list[Passage], Iterator[Passage]]:
    """What was found until now, and what follows."""
    return [], _passages()


def _passages() -> Iterator[Passage]:
    import av

    from ingest.vision.networks import open_network
    from ingest.vision.yolo import boxes_of, letterbox

    network = open_network(DETECTOR, 2)
    passage: Passage = []
    with av.open(str(VIDEO)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if number % 4:
                continue
            picture: Pixels = np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
            planes, fit = letterbox(picture, network.size)
            boxes = boxes_of(network.run(planes)[0], fit, layout=network.layout, confidence=0.4)
            people = [place for place, label in enumerate(boxes.classes) if network.names[int(label)] == "person"]
            if people:
                x1, y1, x2, y2 = map(float, boxes.xyxy[people[0]])
                seen = Tracked(0, (x1, y1, x2, y2), float(boxes.scores[people[0]]))
                passage.append((number / 10, picture, seen))
            elif passage and number / 10 - passage[-1][0] > 2:
                if len(passage) > 5:
                    yield passage
                passage = []
    if len(passage) > 5:
        yield passage


def walk_in(
    visitors: Visitors,
    track: int,
    passage: Passage,
    appearance: Appearance,
    look: Callable[[Pixels], Pixels] = lambda picture: picture,
) -> Visit | None:
    for now_s, picture, seen in passage:
        height, width = picture.shape[:2]
        crop = cut_out(picture, seen.box)
        if crop is not None:
            quality = quality_of(seen.box, seen.confidence, width, height)
            visitors.see(track, appearance.embed([look(crop)])[0], quality, track * 1000 + now_s)
    return visitors.visitor_of(track, is_over=True)


def test_vectors_are_of_one_length_and_light_and_side_hardly_change_them(appearance: Appearance) -> None:
    one, another = passages(2)
    _, picture, seen = one[len(one) // 2]
    crop = cut_out(picture, seen.box)
    assert crop is not None
    _, other_picture, other = another[len(another) // 2]
    stranger = cut_out(other_picture, other.box)
    assert stranger is not None
    vectors = appearance.embed([crop, np.ascontiguousarray(crop[:, ::-1]), (crop * 0.8).astype(np.uint8), stranger])
    assert vectors.shape == (4, DIMENSIONS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    near = vectors[1:] @ vectors[0]
    assert near[:2].min() > near[2] + 0.1
    assert appearance.embed([]).shape == (0, DIMENSIONS)


def test_what_is_no_picture_or_no_network_is_refused(appearance: Appearance, tmp_path: Path) -> None:
    for crop in (np.zeros((0, 10, 3), np.uint8), np.zeros((10, 10), np.uint8)):
        with pytest.raises(ValueError, match="height x width x 3"):
            appearance.embed([crop])
    (tmp_path / "none.onnx").write_bytes(b"none")
    with pytest.raises(ValueError, match=r"none\.onnx cannot be opened"):
        Appearance(tmp_path / "none.onnx")


@pytest.mark.parametrize(("most", "people"), [(2, 2), pytest.param(None, 6, marks=pytest.mark.soak)])
def test_so_many_people_of_the_video_are_so_many(appearance: Appearance, most: int | None, people: int) -> None:
    visitors = Visitors(DAY)
    for track, passage in enumerate(passages(most)):
        walk_in(visitors, track, passage, appearance)
    assert visitors.count == people


@pytest.mark.parametrize("person", [0, *(pytest.param(each, marks=pytest.mark.soak) for each in range(1, 6))])
def test_one_who_walks_in_and_out_five_times_is_one(appearance: Appearance, person: int) -> None:
    """Each time a little different: mirrored, darker, lighter, only the first half of the way."""
    visitors, passage = Visitors(DAY), passages(person + 1)[person]
    changes: list[Callable[[Pixels], Pixels]] = [
        lambda picture: picture,
        lambda picture: np.ascontiguousarray(picture[:, ::-1]),
        lambda picture: (picture * 0.8).astype(np.uint8),
        lambda picture: np.clip(picture * 1.15, 0, 255).astype(np.uint8),
    ]
    for track, change in enumerate(changes):
        walk_in(visitors, track, passage, appearance, change)
    walk_in(visitors, len(changes), passage[: len(passage) * 2 // 3], appearance)
    assert visitors.count == 1
