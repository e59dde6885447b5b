"""The motion gate: open while something moves, and closed by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from ingest.vision.motion import FORGET_S, KEEPS_MOVING_S, WIDTH, MotionGate

HEIGHT = 54
Picture = npt.NDArray[np.uint8]
STEP_S = 0.1


@pytest.fixture
def scene() -> Callable[..., Picture]:
    source = np.random.default_rng(3)
    base = source.integers(40, 200, (HEIGHT, WIDTH)).astype(np.float32)

    def make(*, light: float = 0, noise: float = 2, figure_at: int | None = None) -> Picture:
        picture = base + light + source.normal(0, noise, base.shape)
        if figure_at is not None:
            picture[20:32, figure_at : figure_at + 4] += 90
        return np.clip(picture, 0, 255).astype(np.uint8)

    return make


def opened(gate: MotionGate, pictures: list[Picture], start_s: float = 0.0) -> list[bool]:
    return [gate.moves(picture, start_s + place * STEP_S) for place, picture in enumerate(pictures)]


@pytest.mark.parametrize("noise", [0, 2, 6])
def test_a_still_scene_closes_it_and_noise_does_not_open_it(scene: Callable[..., Picture], noise: float) -> None:
    found = opened(MotionGate(), [scene(noise=noise) for _ in range(200)])
    assert found[0]
    assert not any(found[int(KEEPS_MOVING_S / STEP_S) + 1 :])


def test_a_small_figure_opens_it_at_once_and_for_as_long_as_it_walks(scene: Callable[..., Picture]) -> None:
    gate = MotionGate()
    opened(gate, [scene() for _ in range(100)])
    walking = opened(gate, [scene(figure_at=place % 80) for place in range(60)], 10.0)
    assert all(walking)
    gone = opened(gate, [scene() for _ in range(100)], 16.0)
    assert not gone[-1]


def test_a_figure_that_stays_becomes_part_of_the_scene(scene: Callable[..., Picture]) -> None:
    gate = MotionGate()
    opened(gate, [scene() for _ in range(100)])
    stays = opened(gate, [scene(figure_at=40) for _ in range(int(6 * FORGET_S / STEP_S))], 10.0)
    assert stays[0]
    assert not stays[-1]


def test_light_that_changes_slowly_or_for_all_is_no_movement(scene: Callable[..., Picture]) -> None:
    gate = MotionGate()
    opened(gate, [scene() for _ in range(100)])
    dusk = opened(gate, [scene(light=-place * 0.1) for place in range(300)], 10.0)
    assert not any(dusk)
    lamp = opened(gate, [scene(light=25) for _ in range(20)], 40.0)
    assert not any(lamp)


def test_a_picture_of_another_size_counts_as_movement(scene: Callable[..., Picture]) -> None:
    gate = MotionGate()
    opened(gate, [scene() for _ in range(100)])
    assert gate.moves(np.zeros((72, WIDTH), np.uint8), 10.0)
