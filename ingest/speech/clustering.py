"""How many voices there are, and which stretch of speech is whose.

Agglomerative, average linkage, stopped by a measure that compares two clusters with how alike each is in itself: the
mean similarity between them over the geometric mean of those within them. Two halves of one voice come near 1 however
clear the recording is, where a threshold on the plain cosine would have to know the telephone line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

SAME = 0.67
"""Two clusters that are more alike than this are one voice."""
SURELY_SAME = 0.85
"""For merging within a piece of the recording, before all pieces are compared."""
HINT_REACH = 0.12
"""How far the threshold may move to come to the number of voices that was expected."""
CLUSTERED_S = 1.5
"""Shorter stretches are too noisy to say how many voices there are, where there are longer ones."""
MIN_VOICE_S = 2.0
"""Less clean speech than this makes no voice of its own."""
MOST_COMPARED = 2000
"""Clusters of all pieces that are compared with each other, the longest; each costs all others."""
MOST_VOICES = 64
"""Each costs every frame of the recording; further ones are given to those that they are most like."""

# A few seconds that sound different may be a laugh or a cough: less speech must differ more to be a voice of its own.
_DOUBT, _DOUBT_S = 0.25, 4.0
_PRIOR_PAIRS = 3.0
_MIXTURE_SHARE = 0.5
_MOST_MIXED = 20  # voices, the largest, of which another may be a mixture
_ROWS = 128
_LEAST_WITHIN, _MOST_WITHIN = 0.45, 0.9


@dataclass(frozen=True, slots=True)
class Clusters:
    """Sums over the members of each cluster, all that merging needs. `members` are numbers of stretches.

    `total` (n, dimensions): vectors by weight; `weight`, `squares`: seconds and their squares; `likeness`: what the
    similarity of two of its members is expected to be, from their length, by weight.
    """

    total: Array
    weight: Array
    squares: Array
    likeness: Array
    members: list[list[int]]

    def __len__(self) -> int:
        return len(self.members)

    @property
    def centroids(self) -> Array:
        """Unit vectors (n, dimensions)."""
        import numpy as np

        lengths = np.linalg.norm(self.total, axis=1, keepdims=True)
        unit: Array = self.total / np.maximum(lengths, 1e-9)
        return unit

    def take(self, numbers: Sequence[int]) -> Clusters:
        import numpy as np

        chosen = np.array(numbers, np.int64)
        return Clusters(
            self.total[chosen],
            self.weight[chosen],
            self.squares[chosen],
            self.likeness[chosen],
            [self.members[number] for number in numbers],
        )


def single(vectors: Array, seconds: Array, first: int = 0) -> Clusters:
    """A cluster for each stretch, from unit vectors (n, dimensions) and lengths; members are numbered from `first`."""
    import numpy as np

    weight = seconds.astype(np.float32)
    # How alike two stretches of one voice are grows with their length: measured 0.5 at 1.5 s, 0.75 at 4 to 5 s.
    likeness = np.sqrt(0.9 * weight / (weight + 1))
    members = [[first + number] for number in range(len(weight))]
    return Clusters(vectors * weight[:, None], weight, weight**2, weight * likeness, members)


def together(parts: Sequence[Clusters]) -> Clusters:
    """Clusters of several pieces in one list."""
    import numpy as np

    parts = [part for part in parts if len(part)]
    if not parts:
        return single(np.zeros((0, 1), np.float32), np.zeros(0, np.float32))
    total, weight, squares, likeness = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("total", "weight", "squares", "likeness")
    )
    return Clusters(total, weight, squares, likeness, [members for part in parts for members in part.members])


def merged(clusters: Clusters, threshold: float) -> Clusters:
    """Joins the two most alike, again and again, until none are more alike than the threshold.

    Room for one float32 for each pair.
    """
    import numpy as np

    left = Clusters(
        clusters.total.copy(),
        clusters.weight.copy(),
        clusters.squares.copy(),
        clusters.likeness.copy(),
        [list(some) for some in clusters.members],
    )
    within = _within(left)
    alike = _all_alike(left, within)
    # The first of the most alike of each row, so that a merge need not look at all pairs.
    nearest = alike.argmax(axis=1) if len(left) else np.zeros(0, np.int64)
    best = alike[np.arange(len(left)), nearest]
    gone = np.zeros(len(left), np.bool_)
    while len(left) > 1:
        one = int(best.argmax())
        other = int(nearest[one])
        if float(best[one]) <= threshold:
            break
        for array in (left.total, left.weight, left.squares, left.likeness):
            array[one] += array[other]
        left.members[one] += left.members[other]
        gone[other] = True
        within[one] = _within(left.take([one]))[0]
        row = _alike(left, within, one)
        row[gone] = -np.inf
        alike[one], alike[:, one] = row, row
        alike[other], alike[:, other] = -np.inf, -np.inf
        best[other] = -np.inf
        stale = ((nearest == one) | (nearest == other)) & ~gone
        nearer = (row > best) | ((row == best) & (one < nearest) & ~gone)
        best[nearer], nearest[nearer] = row[nearer], one
        stale[one] = True
        for number in np.flatnonzero(stale & ~nearer).tolist():
            nearest[number] = alike[number].argmax()
            best[number] = alike[number, nearest[number]]
    return left.take(np.flatnonzero(~gone).tolist())


def long_enough(clusters: Clusters) -> Clusters:
    """Those that are fit to be compared; all where none is."""
    kept = [number for number in range(len(clusters)) if clusters.weight[number] >= CLUSTERED_S]
    return clusters.take(kept or range(len(clusters)))


def largest(clusters: Clusters, most: int) -> Clusters:
    """The longest, no more than `most`, in the order they were in."""
    import numpy as np

    if len(clusters) <= most:
        return clusters
    return clusters.take(sorted(np.argsort(-clusters.weight, kind="stable")[:most].tolist()))


def voices(clusters: Clusters, *, threshold: float = SAME, expected: int | None = None) -> Clusters:
    """The voices of a recording, at least one where there is any stretch. `expected` is a hint, not a bound.

    They are made of the MOST_COMPARED longest clusters, and are MOST_VOICES at most.
    """
    clusters = largest(long_enough(clusters), MOST_COMPARED)
    if expected is None:
        return _voices_among(merged(clusters, threshold), threshold)
    # The first of the best: the threshold is moved no further than the hint needs.
    thresholds = [threshold + HINT_REACH * step / 3 for step in (0, 1, -1, 2, -2, 3, -3)]
    trials = {}
    for value in sorted(thresholds, reverse=True):
        clusters = merged(clusters, value)  # a lower threshold goes on from where a higher one stopped
        trials[value] = _voices_among(clusters, value)
    return min((trials[value] for value in thresholds), key=lambda trial: abs(len(trial) - expected))


def _voices_among(clusters: Clusters, threshold: float) -> Clusters:
    """Without what is too small for a voice, or a mixture of two others; the largest stays in any case."""
    import numpy as np

    within = _within(clusters)
    kept: list[int] = []
    # How alike those that a mixture may be of are to all.
    mixed = np.zeros((0, len(clusters)), np.float32)
    for number in np.argsort(-clusters.weight, kind="stable").tolist():
        if len(kept) == MOST_VOICES or (kept and clusters.weight[number] < MIN_VOICE_S):
            break
        whole = clusters.weight[kept[: len(mixed)]] * _MIXTURE_SHARE >= clusters.weight[number]
        if _is_mixture(mixed[whole][:, [*np.array(kept, np.int64)[: len(mixed)][whole], number]], threshold):
            continue
        kept.append(number)
        if len(mixed) < _MOST_MIXED:
            mixed = np.vstack([mixed, _alike(clusters, within, number)])
    return clusters.take(sorted(kept))


def _is_mixture(alike: Array, threshold: float) -> bool:
    """Whether a cluster is stretches in which two larger voices speak: more like some sum of them than like a third.

    `alike` (n, n + 1): the larger ones, and in the last column the cluster. The measure is the multiple correlation
    with both of a pair, which is at least the correlation with either.
    """
    import numpy as np

    one, other = np.triu_indices(len(alike), 1)
    to_cluster, both = alike[:, -1].astype(np.float64), alike[one, other].astype(np.float64)
    first, second = to_cluster[one], to_cluster[other]
    shares = np.minimum(first - both * second, second - both * first)
    squared = (first**2 + second**2 - 2 * both * first * second) / np.maximum(1 - both**2, 1e-6)
    return bool(((shares > 0) & (squared > threshold**2)).any())


def _all_alike(clusters: Clusters, within: Array) -> Array:
    """`_alike` of each (n, n), some rows at a time."""
    import numpy as np

    count = len(clusters)
    alike = np.empty((count, count), np.float32)
    for first in range(0, count, _ROWS):
        rows = slice(first, first + _ROWS)
        between = clusters.total[rows] @ clusters.total.T
        alike[rows] = _likeness(between, clusters.weight, clusters.weight[rows, None], within, within[rows, None])
    np.fill_diagonal(alike, -np.inf)
    return alike


def _alike(clusters: Clusters, within: Array, number: int) -> Array:
    """How alike one cluster and each of the others are; -inf for itself."""
    import numpy as np

    between = clusters.total @ clusters.total[number]
    alike = _likeness(between, clusters.weight, clusters.weight[number], within, within[number])
    alike[number] = -np.inf
    return alike


def _likeness(between: Array, weight: Array, other_weight: Any, within: Array, other_within: Any) -> Array:
    import numpy as np

    doubt = _DOUBT * np.exp(-np.minimum(weight, other_weight) / _DOUBT_S)
    alike: Array = between / (weight * other_weight) / np.sqrt(within * other_within) + doubt
    return alike


def _within(clusters: Clusters) -> Array:
    """The mean similarity of two members of each cluster: what is expected from their length, then what is seen."""
    import numpy as np

    square = clusters.weight**2
    pairs = square - clusters.squares
    seen = np.einsum("nd,nd->n", clusters.total, clusters.total) - clusters.squares
    expected = (clusters.likeness / clusters.weight) ** 2
    number = pairs / np.maximum(square, 1e-9) * np.array([len(some) for some in clusters.members], np.int64)
    trust = number / (number + _PRIOR_PAIRS)
    mixed = trust * seen / np.maximum(pairs, 1e-9) + (1 - trust) * expected
    result: Array = np.clip(mixed, _LEAST_WITHIN, _MOST_WITHIN).astype(np.float32)
    return result
