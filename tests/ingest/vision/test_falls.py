"""Falls: stick figures that fall, sit down, bend, crouch, lie down and walk away, and the poses of real workers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ingest.vision.scenarios.falls import LIES_FOR_S, Falls, Points, Pose, body_of, posture_of
from ingest.vision.scenarios.findings import Finding, Tracked

SHARED = Path(__file__).parents[4] / "shared"
PICTURES = SHARED / "data" / "vision" / "ppe" / "images"
NETWORK = SHARED / "models" / "yolov8n-pose-int8-openvino"
RATE = 10.0
TORSO, THIGH, SHIN = 0.5, 0.42, 0.42
"""Of a person, in metres."""
Joints = tuple[float, float, float]
"""Degrees from upright: of the torso, of the thigh (90: the knee is in front), of the shin."""

STANDING: Joints = (3, 0, 0)
SITTING: Joints = (5, 80, 0)
BENT: Joints = (85, 5, 0)
CROUCHING: Joints = (30, 110, -40)
LYING: Joints = (85, -85, -85)
ON_THE_BACK: Joints = (-85, 85, 85)


def figure(joints: Joints, x: float = 500, feet_y: float = 600, scale: float = 200, noise: float = 0.0) -> Points:
    """A person seen from the side: 17 x 3, `scale` pixels a metre, standing on `feet_y`."""
    torso, thigh, shin = (math.radians(angle) for angle in joints)
    ankle = np.zeros(2)
    knee = ankle + SHIN * np.array([-math.sin(shin), -math.cos(shin)])
    hip = knee + THIGH * np.array([-math.sin(thigh), -math.cos(thigh)])
    shoulder = hip + TORSO * np.array([math.sin(torso), -math.cos(torso)])
    head = shoulder + 0.25 * np.array([math.sin(torso), -math.cos(torso)])
    metres = np.array([head] * 5 + [shoulder] * 6 + [hip] * 2 + [knee] * 2 + [ankle] * 2)
    metres[:, 1] -= metres[:, 1].max()  # the lowest point is on the floor
    points = np.zeros((17, 3), np.float32)
    points[:, :2] = metres * scale + (x, feet_y)
    points[:, :2] += noise * np.random.default_rng(int(x + scale)).normal(size=(17, 2))
    points[:, 2] = 0.9
    return points


def pose(points: Points, number: int = 1) -> Pose:
    left, top = points[:, :2].min(axis=0)
    right, bottom = points[:, :2].max(axis=0)
    return Pose(Tracked(number, (float(left), float(top), float(right), float(bottom)), 0.9), points)


def between(first: Joints, last: Joints, share: float) -> Joints:
    torso, thigh, shin = (a + (b - a) * min(1.0, max(0.0, share)) for a, b in zip(first, last, strict=True))
    return torso, thigh, shin


def changes(*stages: tuple[Joints, float, float]) -> Iterator[Joints]:
    """Goes to each pose within so many seconds, and holds it for so many."""
    now = STANDING
    for wanted, moves_s, holds_s in stages:
        for frame in range(round(moves_s * RATE)):
            yield between(now, wanted, (frame + 1) / (moves_s * RATE))
        for _ in range(round(holds_s * RATE)):
            yield wanted
        now = wanted


def run(figures: Sequence[Points], falls: Falls | None = None, rate: float = RATE) -> list[Finding]:
    falls = falls or Falls()
    found: list[Finding] = []
    for place, points in enumerate(figures):
        found += falls.step(100 + place / rate, [pose(points)])
    return found


def play(*stages: tuple[Joints, float, float], **values: float) -> list[Finding]:
    return run([figure(joints, **values) for joints in changes((STANDING, 0, 2), *stages)])


@pytest.mark.parametrize("fall_s", [0.3, 0.6, 1.0])
@pytest.mark.proves("vision.scenario.safety", "vision.event.types.safety")
@pytest.mark.parametrize("lying", [LYING, ON_THE_BACK, (95, -70, -100)], ids=["forward", "backward", "crumpled"])
def test_a_fall_is_said_once(fall_s: float, lying: Joints) -> None:
    found = play((lying, fall_s, 8), noise=2)
    assert [(each.type, each.number) for each in found] == [("fall", 1)]
    assert float(found[0].details["lay_s"]) >= LIES_FOR_S
    assert 0.6 < found[0].confidence <= 0.9


def test_a_fall_towards_the_camera_is_seen_by_how_flat_the_body_becomes() -> None:
    standing = [figure(STANDING)] * 20
    flat = figure(STANDING).copy()
    flat[:, 1] = 600 - (600 - flat[:, 1]) * 0.3
    found = run([*standing, *[flat] * 30])
    assert [each.type for each in found] == ["fall"]


@pytest.mark.parametrize(
    "stages",
    [
        [(SITTING, 0.5, 5)],
        [(BENT, 0.5, 5), (STANDING, 0.5, 3)],
        [(CROUCHING, 0.5, 5), (STANDING, 0.5, 3)],
        [(SITTING, 1.0, 1.0), (ON_THE_BACK, 1.0, 8)],
        [(LYING, 5.0, 8)],
        [(LYING, 0.6, 0.8), (STANDING, 0.8, 5)],
    ],
    ids=["sits down", "bends", "crouches", "lies down by sitting", "lies down slowly", "stumbles and gets up"],
)
@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_what_is_no_fall(stages: list[tuple[Joints, float, float]], noise: float) -> None:
    assert play(*stages, noise=noise) == []


def test_who_walks_away_and_who_lies_from_the_beginning_did_not_fall() -> None:
    away = [figure(STANDING, feet_y=600 - step * 4, scale=200 - step * 1.5) for step in range(100)]
    assert run(away) == []
    assert run([figure(LYING)] * 100) == []


def test_who_gets_up_and_falls_again_is_two_falls_and_a_glimpse_is_none() -> None:
    found = play((LYING, 0.5, 4), (STANDING, 1, 4), (LYING, 0.5, 4))
    assert [each.subject for each in found] == ["1:1", "1:2"]
    assert play((LYING, 0.1, 0.2), (STANDING, 0.1, 5)) == []


def test_a_fall_is_seen_at_two_pictures_a_second_and_with_the_fall_itself_unseen() -> None:
    standing, lying = [figure(STANDING)] * 6, [figure(LYING)] * 10
    assert [each.type for each in run([*standing, *lying], rate=2)] == ["fall"]
    falls = Falls()
    assert run(standing, falls, rate=2) == []
    later = [each for place in range(20) for each in falls.step(104 + place / 10, [pose(figure(LYING))])]
    assert [each.type for each in later] == ["fall"]


def test_a_body_whose_legs_cannot_be_seen_is_not_judged() -> None:
    cut = figure(LYING)
    cut[13:, 2] = 0.1
    assert body_of(cut) is None
    assert posture_of(None) == "unknown"
    assert run([*[figure(STANDING)] * 20, *[cut] * 40]) == []


def test_tracks_are_people_of_their_own_and_are_forgotten() -> None:
    falls = Falls()
    for frame in range(20):
        falls.step(frame / 10, [pose(figure(STANDING), 1)])
    # Another person lies where the first stood.
    found = [each for frame in range(40) for each in falls.step(2 + frame / 10, [pose(figure(LYING), 2)], [1])]
    assert found == []
    with pytest.raises(ValueError, match="17 x 3"):
        falls.step(9, [Pose(Tracked(1, (0, 0, 1, 1), 0.9), np.zeros((17, 2), np.float32))])


@cache
def workers() -> list[Points]:
    """The key points of the people in the pictures of building sites, none of whom lies."""
    if not (PICTURES.is_dir() and NETWORK.exists()):
        pytest.skip(f"{PICTURES} or {NETWORK} is not on this machine")
    from PIL import Image

    from ingest.vision.detect_poses import poses_of
    from ingest.vision.networks import open_network
    from ingest.vision.yolo import letterbox

    network = open_network(NETWORK, 2)
    found: list[Points] = []
    for path in sorted(PICTURES.glob("*.jpg")):
        planes, fit = letterbox(np.asarray(Image.open(path).convert("RGB")), network.size)
        found += list(poses_of(network.run(planes)[0], fit).keypoints)
    return found


def test_no_worker_lies() -> None:
    postures = [posture_of(body_of(points)) for points in workers()]
    assert len(postures) > 100
    assert postures.count("upright") > 40
    assert postures.count("lying") == 0


def test_no_worker_is_called_fallen_whether_shown_for_long_or_after_standing_upright_there() -> None:
    for points in workers():
        assert run([points] * 50) == []
        body = body_of(points)
        if body is None:
            continue
        # As tall as they may be upright, by their torso; feet where theirs are.
        feet_y = float(points[points[:, 2] >= 0.4][:, 1].max())
        standing = figure(STANDING, float(points[:, 0].mean()), feet_y, body.torso / TORSO)
        assert run([*[standing] * 10, *[points] * 50]) == []
