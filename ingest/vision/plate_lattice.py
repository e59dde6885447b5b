"""What a text recogniser saw, as probabilities in time, and the likeliest text in it that a plate's format allows.

Recognisers with CTC (Graves et al., 2006) give at each step the chance of each character and of none. Taking the best
text first and mending it by a format afterwards forgets how near the second-best character was; here the format is part
of the search (Viterbi), so a doubtful 8 becomes a B where only letters stand, and a clear one refuses that format.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from ingest.vision.scenarios.plate_formats import FORMATS, fits, normal_text

Floats = npt.NDArray[np.float32]
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
BLANK = len(ALPHABET)
_SEPARATORS = frozenset(" -.·•:,'|_")
_FLOOR = 1e-6
_SURELY = np.log(0.999)
# How often a reader of all kinds of text takes the one for the other; plates write O and 0 alike.
_CONFUSIONS = {"O0": 0.15, "I1": 0.03, "B8": 0.02, "S5": 0.02, "Z2": 0.02, "G6": 0.02, "D0": 0.02, "Q0": 0.02}
_NEVER = np.float32(-1e9)
_FAR_BEHIND = 7.0  # of the likeliest path: a thousandth


def lattice_of(probabilities: Floats, characters: tuple[str, ...]) -> Floats:
    """At most steps x 37 logarithms over ALPHABET and the blank, out of steps x n probabilities over `characters`, of
    which an empty one is the blank. Small letters count as capitals, Cyrillic ones that look alike as Latin; what
    separates groups counts as blank; all else cannot stand on a plate and is left out."""
    places, targets = _kept(characters)
    summed = np.zeros((BLANK + 1, len(probabilities)), np.float32)
    np.add.at(summed, targets, probabilities[:, places].T)
    summed = np.maximum(summed.T @ _mixing(), _FLOOR)
    lattice: Floats = np.log(summed / summed.sum(axis=1, keepdims=True))
    # Sure blanks in a row say no more than one, and most of a line's picture is blank.
    is_silent = lattice[:, BLANK] > _SURELY
    heard: Floats = lattice[~(is_silent & np.concatenate([[False], is_silent[:-1]]))]
    return heard


@cache
def _kept(characters: tuple[str, ...]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Which of a network's characters count, and as which of ours."""
    targets = np.array([_target(character) for character in characters])
    places = np.flatnonzero(targets >= 0)
    return places, targets[places]


@cache
def _mixing() -> Floats:
    mixing = np.eye(BLANK + 1, dtype=np.float32)
    for pair, often in _CONFUSIONS.items():
        one, other = (ALPHABET.index(character) for character in pair)
        mixing[one, other] = mixing[other, one] = often
    rows: Floats = mixing / mixing.sum(axis=1, keepdims=True)
    return rows


def _target(character: str) -> int:
    if character == "" or character in _SEPARATORS:
        return BLANK
    plain = normal_text(unicodedata.normalize("NFKD", character))
    return ALPHABET.index(plain) if len(plain) == 1 else -1


def joined(lattices: Sequence[Floats]) -> Floats:
    """Lines one after the other, with a blank between so that equal characters at the seam stay two."""
    blank = np.full((1, BLANK + 1), np.log(_FLOOR), np.float32)
    blank[0, BLANK] = 0.0
    parts = [part for lattice in lattices for part in (lattice, blank)]
    return np.concatenate(parts[:-1])


def free_text(lattice: Floats) -> str:
    """The text of the best path, of whatever format."""
    best = lattice.argmax(axis=1)
    changed = np.concatenate([[True], best[1:] != best[:-1]])
    return "".join(ALPHABET[character] for character in best[changed & (best != BLANK)])


def formatted_texts(lattice: Floats, formats: Sequence[int] | None = None) -> dict[str, tuple[int, ...]]:
    """Texts that fit a pattern of FORMATS, or of those whose numbers are given: the likeliest of each pattern, of these
    the few likeliest; and the numbers of the formats that each fits."""
    masks, groups, lengths = _masks()
    if formats is not None:
        wanted = [place for place, group in enumerate(groups) if set(group) & set(formats)]
        masks, lengths, groups = masks[wanted], lengths[wanted], [groups[place] for place in wanted]
    paths = _best_of_each(lattice, masks, lengths)
    least = max(chance for _, chance in paths) - _FAR_BEHIND
    found: dict[str, tuple[int, ...]] = {}
    for (text, chance), group in zip(paths, groups, strict=True):
        # Not every text of a pattern is a plate: no Russian series begins with 000, and no region is 00.
        possible = [number for number in group if fits(text, FORMATS[number])] if chance >= least else []
        if possible:
            found[text] = (*found.get(text, ()), *possible)
    return found


def chance_of(lattice: Floats, text: str) -> float:
    """How likely the lattice is to mean the text, over all its paths (the forward half of CTC), 0 to 1."""
    symbols = [BLANK]
    for character in text:
        symbols += [ALPHABET.index(character), BLANK]
    row = np.array(symbols)
    may_skip = np.zeros(len(row), bool)
    may_skip[3::2] = row[3::2] != row[1:-2:2]
    chances = np.zeros(len(row))
    chances[0] = 1.0
    for step in np.exp(lattice.astype(np.float64)):
        moved = chances.copy()
        moved[1:] += chances[:-1]
        moved[2:][may_skip[2:]] += chances[:-2][may_skip[2:]]
        chances = moved * step[row]
    return float(min(1.0, chances[-2:].sum()))


@cache
def _masks() -> tuple[Floats, list[tuple[int, ...]], npt.NDArray[np.int64]]:
    """For each pattern that differs, 0 where a character may stand and _NEVER where not (patterns x places x 36), the
    formats that have it, and its length."""
    groups: dict[tuple[str, str], list[int]] = {}
    for number, form in enumerate(FORMATS):
        groups.setdefault((form.pattern, form.letters), []).append(number)
    longest = max(len(pattern) for pattern, _ in groups)
    masks = np.full((len(groups), longest, BLANK), _NEVER, np.float32)
    for place, (pattern, letters) in enumerate(groups):
        first_of_region = pattern.find("R")
        for at, wanted in enumerate(pattern):
            allowed = FORMATS[groups[pattern, letters][0]].allowed(wanted)
            if at == first_of_region and pattern.endswith("RRR"):
                allowed = "123456789"
            masks[place, at, [ALPHABET.index(character) for character in allowed]] = 0.0
    lengths = np.array([len(pattern) for pattern, _ in groups])
    return masks, [tuple(group) for group in groups.values()], lengths


def _best_of_each(lattice: Floats, masks: Floats, lengths: npt.NDArray[np.int64]) -> list[tuple[str, float]]:
    """The likeliest path through the lattice for each pattern: its text, empty where the lattice is too short, and the
    logarithm of its chance.

    `ends[p, k, c]`: the best path so far that has k + 1 characters of pattern p, ends on c and not on a blank;
    `rests[p, k]`: that has k characters and ends on a blank.
    """
    patterns, places, _ = masks.shape
    steps = len(lattice)
    ends = np.full((patterns, places, BLANK), _NEVER, np.float32)
    rests = np.full((patterns, places + 1), _NEVER, np.float32)
    rests[:, 0] = 0.0
    came = np.zeros((steps, patterns, places, BLANK), np.int8)  # -1: stayed; BLANK: after a blank; else after that one
    rested = np.zeros((steps, patterns, places + 1), np.int8)  # -1: stayed; else after that character
    every = np.arange(BLANK)
    for step in range(steps):
        best = ends.argmax(axis=2)
        highest = np.take_along_axis(ends, best[..., None], axis=2)
        others = ends.copy()
        np.put_along_axis(others, best[..., None], _NEVER, axis=2)
        second = others.argmax(axis=2)
        lower = np.take_along_axis(others, second[..., None], axis=2)
        # A character follows itself only over a blank; hence the second best where the best is the same.
        is_same = every == best[..., None]
        direct, by = np.where(is_same, lower, highest), np.where(is_same, second[..., None], best[..., None])
        before = np.concatenate([np.full((patterns, 1, BLANK), _NEVER, np.float32), direct[:, :-1]], axis=1)
        by = np.concatenate([np.zeros((patterns, 1, BLANK), np.int64), by[:, :-1]], axis=1)
        options = np.stack([ends, np.broadcast_to(rests[:, :-1, None], ends.shape), before])
        choice = options.argmax(axis=0)
        came[step] = np.where(choice == 0, -1, np.where(choice == 1, BLANK, by))
        after_character = np.concatenate([np.full((patterns, 1), _NEVER, np.float32), highest[..., 0]], axis=1)
        rested[step] = np.where(
            rests >= after_character, -1, np.concatenate([np.zeros((patterns, 1), np.int64), best], axis=1)
        )
        rests = np.maximum(rests, after_character) + lattice[step, BLANK]
        ends = options.max(axis=0) + lattice[step, :BLANK] + masks
    return [_traced(ends, rests, came, rested, pattern, int(length)) for pattern, length in enumerate(lengths)]


def _traced(
    ends: Floats,
    rests: Floats,
    came: npt.NDArray[np.int8],
    rested: npt.NDArray[np.int8],
    pattern: int,
    length: int,
) -> tuple[str, float]:
    last = int(ends[pattern, length - 1].argmax())
    on_character, on_blank = float(ends[pattern, length - 1, last]), float(rests[pattern, length])
    chance = max(on_character, on_blank)
    if chance < float(_NEVER) / 2:
        return "", chance
    place, character = length, last if on_character >= on_blank else BLANK
    text = ALPHABET[character] if character != BLANK else ""
    for step in range(len(came) - 1, -1, -1):
        if character == BLANK:
            before = int(rested[step, pattern, place])
            if before >= 0:
                character = before
                text = ALPHABET[character] + text
            continue
        before = int(came[step, pattern, place - 1, character])
        if before >= 0:
            place -= 1
            character = before
            if character != BLANK:
                text = ALPHABET[character] + text
    return text, chance
