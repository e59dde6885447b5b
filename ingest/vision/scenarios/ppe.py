"""Protective equipment: who wears no helmet, vest, mask or gloves, decided over several looks at each person.

A model may have a class for the item, one for its absence ("no_helmet", a bare "head"), or both. That no box of a
helmet or a vest is on a person says something, because head and torso can be seen; that none of a mask or of gloves
is there says nothing, since faces turn away and hands are hidden: these need a class for the absence.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ingest.vision.scenarios.findings import Box, EventType, Finding, Tracked

Equipment = Literal["helmet", "vest", "mask", "gloves"]
ITEMS: tuple[Equipment, ...] = ("helmet", "vest", "mask", "gloves")
LEAST_LOOKS = 5
LEAST_S = 1.5
"""So many looks, over so long a time, must there be before anything is said of a person."""
MISSING_FROM, WORN_FROM = 0.7, 0.2
"""Of the probability that an item is missing: an event from the first on; below the second it is worn again."""
SURE_FROM, UNSURE_FROM = 0.25, 0.1
"""Of a box's confidence: it counts from the first on, is as if it were not there below the second, and between both
says neither (there a helmet is as likely as a bare head)."""
WINDOW_S, WINDOW_LOOKS = 4.0, 8
"""The looks of so long count, and the last so many of `FORGET_S` where fewer were taken."""
FORGET_S = 30.0
LEAST_HEIGHT = 80.0
"""Of a person, in pixels: smaller ones are not judged."""
WHOLE_BORDER = 3.0
_INDEPENDENT_S = 0.5  # looks closer together tell the same thing, and share the weight of one
_LOOK_EVERY_S = 0.1
_MOST_HIDDEN = 0.35  # of the region of an item, by another person
_PLURALS = {"helmet": "helmets", "vest": "vests", "mask": "masks", "gloves": "gloves"}
_EVENTS: dict[Equipment, EventType] = {item: f"no_{item}" for item in ITEMS}  # type: ignore[misc]
_BY_ABSENCE: frozenset[Equipment] = frozenset({"helmet", "vest"})
# As published models name them; in lower case, without what is not a letter.
_NAMES: tuple[tuple[Equipment, bool, str], ...] = (
    ("helmet", True, "helmet hardhat safetyhelmet withhelmet helmeton wearinghelmet hat headhelmet hardhaton"),
    ("helmet", False, "nohelmet nohardhat withouthelmet nosafetyhelmet head barehead helmetoff nohat personnohelmet"),
    ("vest", True, "vest safetyvest reflectivevest withvest reflectivejacket hivis hivisvest highvisvest vests"),
    ("vest", False, "novest nosafetyvest withoutvest noreflectivevest noreflectivejacket nohivis"),
    ("mask", True, "mask facemask withmask maskon wearingmask medicalmask respirator"),
    ("mask", False, "nomask nofacemask withoutmask maskoff maskwornincorrectly maskwearedincorrect incorrectmask"),
    ("gloves", True, "gloves glove safetygloves withgloves safetyglove"),
    ("gloves", False, "nogloves noglove withoutgloves nosafetygloves barehand barehands"),
)
_LABELS = {name: (item, worn) for item, worn, names in _NAMES for name in names.split()}
# Where an item's middle is on a person: from the upper side of the box to the lower, 0 to 1.
_HEIGHTS: dict[Equipment, tuple[float, float]] = {
    "helmet": (-0.1, 0.4),
    "vest": (0.1, 0.75),
    "mask": (-0.05, 0.45),
    "gloves": (0.1, 1.0),
}
# What must be visible of a person for the item to be seen.
_REGIONS: dict[Equipment, tuple[float, float]] = {
    "helmet": (0.0, 0.2),
    "vest": (0.2, 0.55),
    "mask": (0.0, 0.2),
    "gloves": (0.2, 0.7),
}


@dataclass(frozen=True, slots=True)
class Item:
    """What a detector found in a frame. `label` is the model's own; `box` in pixels; `confidence` 0 to 1."""

    label: str
    box: Box
    confidence: float


@dataclass(frozen=True, slots=True)
class Answers:
    """How often one look at a person gives a box that says "worn", one that says "missing", or none: parameters of a
    Dirichlet distribution, since a helmet that the model overlooks once it overlooks again. 0 for what it cannot say.
    """

    worn: float
    missing: float
    nothing: float


# Measured on pictures and a video by `bench.vision_scenarios`, and rounded: a close look finds six helmets of ten,
# many looks at the same people eight, and one look a helmet on a bare head of twenty. For classes of the missing item,
# which no shared model has, the same is assumed.
_ONLY_WORN = {True: Answers(0.4, 0.0, 0.25), False: Answers(0.3, 0.0, 5.7)}
_ONLY_MISSING = {True: Answers(0.0, 0.3, 5.7), False: Answers(0.0, 0.4, 0.25)}
_BOTH = {True: Answers(0.4, 0.05, 0.25), False: Answers(0.05, 0.4, 0.25)}

_Look = Literal["worn", "missing", "nothing", "unsure"]


@dataclass
class _Watch:
    """One item of one person."""

    looks: deque[tuple[float, float, _Look]] = field(default_factory=lambda: deque(maxlen=64))  # time, weight, what
    said: bool = False
    times: int = 0


@dataclass
class _Person:
    watches: dict[Equipment, _Watch] = field(default_factory=dict)
    seen_s: float = 0.0


def item_of(label: str) -> tuple[Equipment, bool] | None:
    """The item that a model's class is about, and whether the class says that it is worn; None for other classes."""
    return _LABELS.get(re.sub(r"[^a-z]", "", label.lower()))


def unknown_items(model_names: Iterable[str]) -> tuple[Equipment, ...]:
    """The items about which a model with these classes can say nothing, in the order of ITEMS."""
    known = {each for each in map(item_of, model_names) if each}
    return tuple(
        item for item in ITEMS if (item, False) not in known and not (item in _BY_ABSENCE and (item, True) in known)
    )


def unknown_in_words(model_names: Iterable[str]) -> str | None:
    """The same for a stream's status, like "This model does not know masks, gloves."; None where it knows all."""
    unknown = unknown_items(model_names)
    return f"This model does not know {', '.join(_PLURALS[item] for item in unknown)}." if unknown else None


class Ppe:
    """One camera's. Not for several threads.

    A finding's confidence is the probability that the item is missing, where half of the people lack it and the
    detector answers as `Answers` has it (Bayes' rule over the looks of the last seconds; looks less than half a second
    apart share one look's weight). The detector should see people closely (`close_up`): of whole pictures it finds a
    fifth fewer helmets.
    """

    def __init__(self, knows: frozenset[str], width: int, height: int) -> None:
        """`knows`: the classes of the model, under its own names. `width`, `height` of the frames in pixels."""
        self._known = {each for each in map(item_of, knows) if each}
        unknown = unknown_items(knows)
        self.items: tuple[Equipment, ...] = tuple(item for item in ITEMS if item not in unknown)
        """Those that are watched."""
        self._size = width, height
        self._people: dict[int, _Person] = {}

    def step(
        self, now_s: float, people: Sequence[Tracked], items: Sequence[Item], ended: Sequence[int]
    ) -> list[Finding]:
        """What a frame at `now_s` (monotonic) tells. `ended`: tracks that the tracker has given up."""
        for number in ended:
            self._people.pop(number, None)
        for number in [each for each, person in self._people.items() if now_s - person.seen_s > FORGET_S]:
            del self._people[number]
        carried = self._carried(people, items)
        findings = []
        for seen in people:
            person = self._people.setdefault(seen.number, _Person())
            person.seen_s = now_s
            for item in self.items:
                box_says = carried.get((seen.number, item))
                # A box on a person who is half hidden still counts; that none is there does not.
                if box_says is None and not self._can_see(item, seen, people):
                    continue
                watch = person.watches.setdefault(item, _Watch())
                finding = self._looked(now_s, seen, item, watch, box_says or "nothing")
                if finding:
                    findings.append(finding)
        return findings

    def _carried(self, people: Sequence[Tracked], items: Sequence[Item]) -> dict[tuple[int, Equipment], _Look]:
        """What the boxes say of each person. Each box belongs to one person alone; of two boxes the better counts."""
        best: dict[tuple[int, Equipment], tuple[float, _Look]] = {}
        for each in items:
            meaning = item_of(each.label)
            if meaning is None or meaning not in self._known or each.confidence < UNSURE_FROM:
                continue
            item, is_worn = meaning
            owner = min(
                (person for person in people if _fits(item, each.box, person.box)),
                key=lambda person: _distance(item, each.box, person.box),
                default=None,
            )
            if owner is None:
                continue
            look: _Look = "unsure" if each.confidence < SURE_FROM else "worn" if is_worn else "missing"
            said = each.confidence, look
            best[owner.number, item] = max(best.get((owner.number, item), said), said)
        return {key: look for key, (_, look) in best.items()}

    def _can_see(self, item: Equipment, seen: Tracked, people: Sequence[Tracked]) -> bool:
        left, top, right, bottom = seen.box
        if bottom - top < LEAST_HEIGHT or bottom - top < right - left:
            return False
        if top < WHOLE_BORDER or left < WHOLE_BORDER or right > self._size[0] - WHOLE_BORDER:
            return False
        if item != "helmet" and item != "mask" and bottom > self._size[1] - WHOLE_BORDER:
            return False
        region = _region(item, seen.box)
        return all(_share(region, other.box) <= _MOST_HIDDEN for other in people if other.number != seen.number)

    def _looked(self, now_s: float, seen: Tracked, item: Equipment, watch: _Watch, look: _Look) -> Finding | None:
        since_s = now_s - watch.looks[-1][0] if watch.looks else math.inf
        if since_s < _LOOK_EVERY_S * 0.9:
            return None
        watch.looks.append((now_s, min(1.0, since_s / _INDEPENDENT_S), look))
        while now_s - watch.looks[0][0] > (WINDOW_S if len(watch.looks) > WINDOW_LOOKS else FORGET_S):
            watch.looks.popleft()
        if len(watch.looks) < LEAST_LOOKS or now_s - watch.looks[0][0] < LEAST_S:
            return None
        probability = self._missing(item, watch.looks)
        if watch.said and probability <= WORN_FROM:
            watch.said = False
        if watch.said or probability < MISSING_FROM:
            return None
        watch.said = True
        watch.times += 1
        details: dict[str, str | int | float] = {
            "item": item,
            "looks": len(watch.looks),
            "looks_with_item": sum(each[2] == "worn" for each in watch.looks),
            "seen_s": round(now_s - watch.looks[0][0], 1),
        }
        subject = f"{seen.number}:{watch.times}"
        return Finding(_EVENTS[item], subject, round(probability, 3), seen.box, seen.number, details=details)

    def _missing(self, item: Equipment, looks: Iterable[tuple[float, float, _Look]]) -> float:
        """The probability that the item is missing."""
        sums: dict[_Look, float] = {"worn": 0.0, "missing": 0.0, "nothing": 0.0, "unsure": 0.0}
        for _, weight, look in looks:
            sums[look] += weight
        if item not in _BY_ABSENCE:
            sums["nothing"] = 0.0
        knows_both = {(item, True), (item, False)} <= self._known
        answers = _BOTH if knows_both else _ONLY_WORN if (item, True) in self._known else _ONLY_MISSING
        odds = _log_likelihood(answers[False], sums) - _log_likelihood(answers[True], sums)
        return 1 / (1 + math.exp(-odds))


def close_up(person: Box, width: int, height: int) -> Box:
    """The part of a frame of `width` x `height` that a detector of equipment should be given to see a person well: the
    box, half its width more on each side, in whole pixels."""
    left, top, right, bottom = person
    more = (right - left) / 2
    return (
        float(max(0, math.floor(left - more))),
        float(max(0, math.floor(top - more))),
        float(min(width, math.ceil(right + more))),
        float(min(height, math.ceil(bottom + more))),
    )


def _log_likelihood(answers: Answers, sums: dict[_Look, float]) -> float:
    """Of the looks: a Dirichlet-multinomial without the number of their orders, which is common to all."""
    pairs = [
        (answers.worn, sums["worn"]),
        (answers.missing, sums["missing"]),
        (answers.nothing, sums["nothing"]),
    ]
    likely = 0.0
    total = looks = 0.0
    for strength, seen in pairs:
        if strength > 0:
            likely += math.lgamma(strength + seen) - math.lgamma(strength)
            total, looks = total + strength, looks + seen
    return likely + math.lgamma(total) - math.lgamma(total + looks)


def _fits(item: Equipment, box: Box, person: Box) -> bool:
    """Whether a box can be that of an item on a person."""
    width, height = person[2] - person[0], person[3] - person[1]
    if width <= 0 or height <= 0:
        return False
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    above, below = _HEIGHTS[item]
    return (
        person[0] - 0.1 * width <= x <= person[2] + 0.1 * width
        and person[1] + above * height <= y <= person[1] + below * height
        and 0.05 * width <= box[2] - box[0] <= 1.2 * width
    )


def _distance(item: Equipment, box: Box, person: Box) -> float:
    """From where the item should be on a person, in widths of the person."""
    region = _region(item, person)
    x = (box[0] + box[2] - region[0] - region[2]) / 2
    y = (box[1] + box[3] - region[1] - region[3]) / 2
    return math.hypot(x, y) / (person[2] - person[0])


def _region(item: Equipment, person: Box) -> Box:
    left, top, right, bottom = person
    first, last = _REGIONS[item]
    inset = 0.2 * (right - left)
    return left + inset, top + first * (bottom - top), right - inset, top + last * (bottom - top)


def _share(region: Box, other: Box) -> float:
    """How much of a region another box covers."""
    width = min(region[2], other[2]) - max(region[0], other[0])
    height = min(region[3], other[3]) - max(region[1], other[1])
    area = (region[2] - region[0]) * (region[3] - region[1])
    return max(0.0, width) * max(0.0, height) / area if area > 0 else 0.0
