"""Safety: who stands in a restricted zone, and what burns; generated scenes, and the detector over real pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ingest.vision.scenarios.findings import Box, Finding, Tracked
from ingest.vision.scenarios.fire import GONE_AFTER_S, LEAST_LOOKS, SURE_CONFIDENCE, Burning, Fire, liveliness
from ingest.vision.scenarios.intrusion import AGAIN_AFTER_S, STEADY_S, Intrusion
from ingest.vision.zones import Zone

WIDTH, HEIGHT = 1000, 500
STEP_S = 0.1
SHARED = Path(__file__).parents[4] / "shared"
PICTURES = SHARED / "data" / "vision" / "fire-smoke" / "valid" / "images"
NETWORK = SHARED / "models" / "fire-smoke.onnx"
Grey = npt.NDArray[np.uint8]

# Intrusion

VAULT = Zone("vault", "restricted", ((0.5, 0), (1, 0), (1, 1), (0.5, 1)))
LOBBY = Zone("lobby", "entrance", ((0, 0), (0.5, 0), (0.5, 1), (0, 1)))


def at(number: int, x: float, y: float = 0.8) -> Tracked:
    """A person whose feet are there."""
    return Tracked(number, (x * WIDTH - 30, y * HEIGHT - 150, x * WIDTH + 30, y * HEIGHT), 0.9)


class Guarded:
    def __init__(self, *zones: Zone) -> None:
        self.intrusion = Intrusion(zones or (VAULT, LOBBY), WIDTH, HEIGHT)
        self.now_s = 100.0
        self.found: list[Finding] = []

    def see(self, *things: Tracked, ended: Iterable[int] = (), seconds: float = STEP_S) -> int:
        new: list[Finding] = []
        for _ in range(round(seconds / STEP_S)):
            new += self.intrusion.step(self.now_s, things, list(ended))
            self.now_s += STEP_S
        self.found += new
        return len(new)


@pytest.mark.proves("vision.scenario.safety", "vision.event.types.safety")
def test_who_steps_into_a_restricted_zone_is_said_once_a_stay() -> None:
    scene = Guarded()
    assert scene.see(at(1, 0.3), seconds=5) == 0
    assert scene.see(at(1, 0.7), seconds=STEADY_S - STEP_S) == 0
    assert scene.see(at(1, 0.7), seconds=60) == 1
    assert scene.see(at(1, 0.4), seconds=AGAIN_AFTER_S - 1) == 0
    assert scene.see(at(1, 0.7), seconds=10) == 0  # the same stay
    assert scene.see(at(1, 0.4), seconds=AGAIN_AFTER_S + 1) == 0
    assert scene.see(at(1, 0.7), seconds=10) == 1
    assert [(each.type, each.zone, each.number) for each in scene.found] == [("zone_intrusion", "vault", 1)] * 2
    assert len({each.subject for each in scene.found}) == 2


def test_each_person_and_each_zone_is_an_event_of_its_own_and_other_zones_are_none() -> None:
    office = Zone("office", "restricted", ((0, 0), (0.3, 0), (0.3, 1), (0, 1)))
    scene = Guarded(VAULT, LOBBY, office)
    assert scene.see(at(1, 0.7), at(2, 0.8), at(3, 0.4), seconds=5) == 2
    assert scene.see(at(1, 0.1), at(2, 0.8), at(3, 0.4), seconds=5) == 1
    assert [each.zone for each in scene.found] == ["vault", "vault", "office"]


def test_trembling_at_the_border_and_crossing_a_corner_are_nothing() -> None:
    scene = Guarded()
    for _ in range(50):
        assert scene.see(at(1, 0.51), at(2, 0.49)) == 0
        assert scene.see(at(1, 0.49), at(2, 0.49)) == 0
    assert scene.see(at(3, 0.55), seconds=0.3) == scene.see(at(3, 0.45), seconds=5) == 0


def test_feet_on_the_lower_border_are_in_a_zone_that_ends_there_and_the_body_does_not_count() -> None:
    assert Guarded().see(at(1, 0.7, 1.0), seconds=2) == 1
    upper = Zone("upper", "restricted", ((0, 0), (1, 0), (1, 0.6), (0, 0.6)))
    assert Guarded(upper).see(at(1, 0.7, 0.8), seconds=2) == 0


def test_a_track_that_breaks_off_and_goes_on_under_another_number_is_one_stay() -> None:
    scene = Guarded()
    assert scene.see(at(1, 0.7), seconds=3) == 1
    assert scene.see(seconds=1) == 0
    assert scene.see(at(2, 0.71), ended=[1]) == 0
    assert scene.see(at(2, 0.71), seconds=5) == 0
    assert scene.see(at(3, 0.95), seconds=5) == 1  # somebody else
    assert scene.see(ended=[2, 3], seconds=AGAIN_AFTER_S + 1) == 0
    assert scene.see(at(4, 0.71), seconds=5) == 1  # long after


# Fire

FLAME: Box = (400, 200, 600, 400)
_SMALL = (80, 160)


def still(_: int) -> Grey:
    """A picture of a fire, and nothing moves."""
    return np.asarray(np.random.default_rng(3).integers(60, 220, _SMALL), np.uint8)


def changed(number: int, change: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]) -> Grey:
    """The still scene with the flame's place changed, and a camera's noise."""
    picture = still(0).astype(np.float64)
    picture[32:64, 64:96] = change(picture[32:64, 64:96])
    picture += np.random.default_rng([5, number]).normal(0, 0.7, _SMALL)
    return np.asarray(np.clip(picture, 0, 255), np.uint8)


def flickering(number: int) -> Grey:
    rough = np.random.default_rng([9, number]).normal(0, 25, (8, 8))
    return changed(number, lambda place: place + np.kron(rough, np.ones((4, 4))))


def billowing(number: int) -> Grey:
    """A soft cloud that rises and swells."""
    rows, columns = np.mgrid[0:32, 0:32]
    wave = sum(
        np.sin((columns * across + rows * 0.9 + number * (0.5 + across)) / 3 + across * 7) for across in (0.3, 0.7, 1.1)
    )
    return changed(number, lambda place: 0.3 * place + 120 + 6 * np.asarray(wave))


def noisy(number: int) -> Grey:
    return changed(number, lambda place: place)


def blinking(number: int) -> Grey:
    return changed(number, lambda place: place * (1.0 if number % 6 < 3 else 0.5))


def shaking(number: int) -> Grey:
    """A camera on a mast: the picture moves to and fro by less than one of its pixels."""
    shift = 0.6 * np.sin(number * 1.3)
    return changed(number, lambda place: place + shift * np.gradient(place, axis=1) * 0.3)


def watch(
    grey: Callable[[int], Grey],
    kind: str = "fire",
    seen: Callable[[int], float] = lambda number: 0.5,
    seconds: float = 8.0,
    box: Callable[[int], Box] = lambda number: FLAME,
    fire: Fire | None = None,
    begins: int = 0,
    every_s: float = STEP_S,
) -> list[Finding]:
    """`seen`: the detector's score in each frame, 0 for nothing. `every_s`: between two of them."""
    fire = fire or Fire(WIDTH, HEIGHT)
    found: list[Finding] = []
    for number in range(begins, begins + round(seconds / every_s)):
        score = seen(number)
        boxes = [Burning(kind, box(number), score)] if score else []  # type: ignore[arg-type]
        found += fire.step(50 + number * every_s, boxes, grey(number))
    return found


@pytest.mark.proves("vision.scenario.safety", "vision.event.types.safety")
@pytest.mark.parametrize(("kind", "grey"), [("fire", flickering), ("smoke", billowing), ("smoke", flickering)])
def test_what_burns_is_said_once_with_its_place(kind: str, grey: Callable[[int], Grey]) -> None:
    found = watch(grey, kind, seconds=40)
    assert [each.type for each in found] == [kind]
    assert found[0].box == pytest.approx(FLAME)
    assert found[0].confidence == pytest.approx(0.5)


@pytest.mark.parametrize("every_s", [0.7, 1.0, 3.0])
def test_a_fire_is_told_of_by_a_camera_that_sends_few_pictures_too(every_s: float) -> None:
    fire = Fire(WIDTH, HEIGHT)
    assert len(watch(flickering, fire=fire, seconds=LEAST_LOOKS * every_s, every_s=every_s)) == 1
    assert watch(flickering, fire=fire, begins=LEAST_LOOKS, seconds=100 * every_s, every_s=every_s) == []
    assert watch(flickering, seen=lambda number: 0.5 * (number % 4 == 0), seconds=60, every_s=every_s) == []


def test_what_burns_after_hours_without_a_look_is_another_fire_and_has_to_be_looked_at_anew() -> None:
    fire = Fire(WIDTH, HEIGHT)
    assert watch(flickering, fire=fire, seconds=(LEAST_LOOKS - 1) * 0.5, every_s=0.5) == []
    assert watch(flickering, fire=fire, begins=20_000, seconds=0.5, every_s=0.5) == [], "one look, hours later"
    assert len(watch(flickering, fire=fire, begins=20_001, seconds=5, every_s=0.5)) == 1
    assert len(watch(flickering, fire=fire, begins=60_000, seconds=5, every_s=0.5)) == 1


def test_a_fire_is_not_told_again_because_the_first_look_after_a_long_pause_missed_it() -> None:
    fire = Fire(WIDTH, HEIGHT)
    assert len(watch(flickering, fire=fire, seconds=5)) == 1
    begins = round((5 + GONE_AFTER_S + 10) / STEP_S)
    assert watch(flickering, fire=fire, begins=begins, seen=lambda number: 0.5 * (number > begins)) == []


def test_what_was_left_of_looks_before_nothing_moved_is_no_sign_of_a_fire() -> None:
    fire = Fire(WIDTH, HEIGHT)
    for number in range(0, 4000, 100):  # a look at a still picture every ten seconds
        fire.rest(50 + (number - 1) * STEP_S)
        box = Burning("fire", FLAME, 0.5)
        assert fire.step(50 + number * STEP_S, [box], flickering(number)) == [], "the light of another hour"


@pytest.mark.parametrize("grey", [still, noisy, blinking, shaking])
@pytest.mark.parametrize("kind", ["fire", "smoke"])
@pytest.mark.parametrize("every_s", [STEP_S, 1.0])
def test_a_poster_a_lamp_that_blinks_and_a_camera_that_shakes_are_no_fire(
    kind: str, grey: Callable[[int], Grey], every_s: float
) -> None:
    assert watch(grey, kind, seconds=200 * every_s, every_s=every_s) == []


def test_flames_may_be_missed_now_and_then_but_not_mostly_and_once_must_be_sure() -> None:
    assert len(watch(flickering, seen=lambda number: 0.5 * (number % 3 > 0))) == 1
    assert watch(flickering, seen=lambda number: 0.5 * (number % 4 == 0)) == []
    assert watch(flickering, seen=lambda number: SURE_CONFIDENCE - 0.05) == []
    assert len(watch(flickering, seen=lambda number: 0.3 if number % 10 == 0 else 0.15)) == 1


def test_what_is_seen_at_another_place_each_time_is_no_fire() -> None:
    def wandering(number: int) -> Box:
        left = (number * 160) % 800
        return left, 100, left + 60, 160

    assert watch(flickering, box=wandering) == []


def test_after_it_was_gone_for_long_a_fire_is_another_and_two_places_are_two() -> None:
    fire = Fire(WIDTH, HEIGHT)
    assert len(watch(flickering, fire=fire, seconds=5)) == 1
    assert watch(flickering, fire=fire, seen=lambda number: 0, seconds=GONE_AFTER_S - 5, begins=50) == []
    assert watch(flickering, fire=fire, seconds=5, begins=300) == []
    assert watch(flickering, fire=fire, seen=lambda number: 0, seconds=GONE_AFTER_S + 1, begins=350) == []
    again = watch(flickering, fire=fire, seconds=5, begins=670)
    assert len(again) == 1
    elsewhere = watch(
        lambda number: flickering(number)[:, ::-1], fire=fire, box=lambda number: (405, 205, 605, 405), begins=720
    )
    assert elsewhere == []
    both = Fire(WIDTH, HEIGHT)
    watch(flickering, fire=both, seconds=5)
    there: Box = (0, 200, 200, 400)
    other = watch(
        lambda number: np.roll(flickering(number), -64, axis=1), fire=both, box=lambda number: there, begins=50
    )
    assert len(other) == 1


def test_a_place_of_a_few_pixels_and_a_picture_of_another_size_tell_nothing() -> None:
    assert watch(flickering, box=lambda number: (400, 200, 410, 210)) == []
    assert watch(lambda number: flickering(number)[: 80 - 10 * (number % 2)]) == []
    with pytest.raises(ValueError, match="at least 4"):
        liveliness(np.zeros((3, 50), np.uint8))


def test_photos_of_fire_are_posters_until_they_flicker() -> None:
    """The detector over real pictures: each is shown for five seconds as it is, then with flames that move."""
    if not (PICTURES.is_dir() and NETWORK.exists()):
        pytest.skip(f"{PICTURES} or {NETWORK} is not on this machine")
    from PIL import Image

    from ingest.vision.networks import open_network
    from ingest.vision.yolo import boxes_of, letterbox

    network = open_network(NETWORK, 2)
    names = [str(network.names[number]) for number in range(2)]
    seen = said = 0
    for path in sorted(PICTURES.glob("*.jpg"))[::3]:
        image = Image.open(path).convert("RGB")
        planes, fit = letterbox(np.asarray(image), network.size)
        boxes = boxes_of(network.run(planes)[0], fit, layout=network.layout, confidence=SURE_CONFIDENCE)
        burning = [
            Burning("fire" if names[int(label)] == "fire" else "smoke", tuple(box.tolist()), float(score))
            for box, label, score in zip(boxes.xyxy, boxes.classes, boxes.scores, strict=True)
        ]
        if not burning:
            continue
        seen += 1
        small = np.asarray(image.convert("L").resize((160, 120)), np.float64)
        poster, alive = Fire(*image.size), Fire(*image.size)
        found: list[Finding] = []
        for number in range(50):
            source = np.random.default_rng([seen, number])
            noise = source.normal(0, 0.7, small.shape)
            flames = np.kron(source.normal(0, 15, (30, 40)), np.ones((4, 4)))
            as_it_is = np.asarray(np.clip(small + noise, 0, 255), np.uint8)
            assert poster.step(number * STEP_S, burning, as_it_is) == []
            found += alive.step(number * STEP_S, burning, np.asarray(np.clip(small + flames, 0, 255), np.uint8))
        said += bool(found)
    assert seen >= 5
    assert said == seen
