"""Clustering of voices: their number is found, and hardly depends on the threshold."""

from __future__ import annotations

import numpy as np
import pytest

from ingest.speech import clustering


def stretches(
    seconds: list[float], voices: list[int], noise: float = 0.55, alike: float = 0.35, seed: int = 3
) -> clustering.Clusters:
    """A stretch for each length, of the voice of that number. Voices have `alike` as their cosine."""
    chance = np.random.default_rng(seed)
    common, *own = np.linalg.qr(chance.normal(size=(192, 2 + max(voices))))[0].T
    centres = np.array([np.sqrt(alike) * common + np.sqrt(1 - alike) * one for one in own])
    vectors = []
    for length, voice in zip(seconds, voices, strict=True):
        away = chance.normal(size=192) / np.sqrt(192)
        vector = centres[voice] + away * noise * np.sqrt(4 / length)
        vectors.append(vector / np.linalg.norm(vector))
    return clustering.single(np.array(vectors, np.float32), np.array(seconds, np.float32))


@pytest.mark.parametrize("voices", [1, 2, 3, 5])
@pytest.mark.parametrize("offset", [-0.05, 0.0, 0.05])
def test_the_number_of_voices_is_found_and_stands_when_the_threshold_moves(voices: int, offset: float) -> None:
    count = 12 * voices
    given = stretches([4.0] * count, [number % voices for number in range(count)])
    found = clustering.voices(given, threshold=clustering.SAME + offset)
    assert len(found) == voices
    for members in found.members:
        assert len({number % voices for number in members}) == 1


def test_a_moment_that_sounds_different_is_no_voice_and_a_sentence_is() -> None:
    for seconds, voices in ((1.6, 1), (6.0, 2)):
        given = stretches([*[4.0] * 10, seconds], [*[0] * 10, 1], noise=0.3, alike=0.3)
        assert len(clustering.voices(given)) == voices


def test_one_short_word_is_still_a_voice() -> None:
    assert len(clustering.voices(stretches([0.5], [0]))) == 1


def test_an_expected_number_decides_where_it_is_near_and_cannot_where_it_is_not() -> None:
    near = stretches([4.0] * 24, [number % 2 for number in range(24)], alike=0.62)
    assert len(clustering.voices(near, threshold=0.6)) != len(clustering.voices(near, threshold=0.6, expected=2)) == 2
    far = stretches([4.0] * 24, [number % 2 for number in range(24)], alike=0.1)
    assert len(clustering.voices(far, expected=1)) == 2


def test_pieces_clustered_one_by_one_give_what_all_at_once_gives() -> None:
    seconds, voices = [4.0] * 40, [number % 2 for number in range(40)]
    whole = stretches(seconds, voices)
    parts = [
        clustering.merged(whole.take(range(start, start + 10)), clustering.SURELY_SAME) for start in (0, 10, 20, 30)
    ]
    found = clustering.voices(clustering.together(parts))
    assert sorted(sorted(some) for some in found.members) == [list(range(0, 40, 2)), list(range(1, 40, 2))]
    assert sum(len(part) for part in parts) < 40


def unlike(count: int, seconds: float = 4.0) -> clustering.Clusters:
    """Stretches of as many voices, none of which is like another."""
    vectors = np.random.default_rng(5).normal(size=(count, 192))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return clustering.single(vectors.astype(np.float32), np.full(count, seconds, np.float32))


@pytest.mark.parametrize("expected", [None, 3])
def test_a_day_of_voices_that_are_all_unlike_is_compared_once_and_gives_a_bounded_number(
    expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = 0
    likeness = clustering._likeness

    def counting(between: clustering.Array, *others: object) -> clustering.Array:
        nonlocal looked_at
        looked_at += between.size
        return likeness(between, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(clustering, "_likeness", counting)
    found = clustering.voices(unlike(5000), expected=expected)
    assert len(found) == clustering.MOST_VOICES
    trials = 1 if expected is None else 7
    assert looked_at <= trials * 1.2 * clustering.MOST_COMPARED**2


def test_of_too_many_the_longest_are_compared() -> None:
    many = clustering.together(
        [unlike(clustering.MOST_COMPARED, 2.0), stretches([6.0] * 12, [n % 2 for n in range(12)])]
    )
    kept = clustering.largest(many, 12)
    assert (kept.weight == 6).all()
    assert len(clustering.voices(kept)) == 2
    assert clustering.largest(kept, 12) is kept


def test_a_mixture_of_two_large_voices_is_no_voice() -> None:
    given = stretches([4.0] * 40, [number % 4 for number in range(40)], noise=0.2, alike=0.0)
    centres = clustering.merged(given, clustering.SAME).centroids
    mixture = (centres[0] + centres[1]) / np.linalg.norm(centres[0] + centres[1])
    mixed = clustering.single(np.stack([mixture]).astype(np.float32), np.array([5.0], np.float32))
    # At a threshold under which it is merged with neither.
    both = clustering.together([given, mixed])
    assert len(clustering.merged(both, 0.95)) == 5
    assert len(clustering.voices(both, threshold=0.95)) == 4
