"""Protective equipment: labels of many models, what cannot be told, generated people, and bare heads of a video."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from ingest.vision.scenarios.findings import Box, Finding, Tracked
from ingest.vision.scenarios.ppe import (
    LEAST_S,
    MISSING_FROM,
    Item,
    Ppe,
    close_up,
    item_of,
    unknown_in_words,
    unknown_items,
)

WIDTH, HEIGHT = 1280, 720
STEP_S = 0.2
HELMETS_AND_VESTS = frozenset({"helmet", "vest"})
ALL = frozenset({"Hardhat", "NO-Hardhat", "Safety Vest", "NO-Safety Vest", "Mask", "NO-Mask", "gloves", "no_gloves"})
SHARED = Path(__file__).parents[4] / "shared"
VIDEO = SHARED / "data" / "vision" / "one-by-one-person-detection.mp4"
EQUIPMENT = SHARED / "models" / "ppe-helmet-vest-yolov5n.onnx"
PEOPLE = SHARED / "models" / "yolov8n-coco-int8-openvino"


def person(number: int = 1, x: float = 600, y: float = 200, tall: float = 300) -> Tracked:
    return Tracked(number, (x, y, x + tall / 2.5, y + tall), 0.9)


def on_head(who: Tracked, label: str = "helmet", confidence: float = 0.8) -> Item:
    left, top, right, bottom = who.box
    third = (right - left) / 3
    return Item(label, (left + third, top - 5, right - third, top + 0.12 * (bottom - top)), confidence)


def on_chest(who: Tracked, label: str = "vest", confidence: float = 0.8) -> Item:
    left, top, right, bottom = who.box
    tall = bottom - top
    return Item(label, (left + 10, top + 0.2 * tall, right - 10, top + 0.5 * tall), confidence)


class Site:
    def __init__(self, knows: frozenset[str] = HELMETS_AND_VESTS) -> None:
        self.ppe = Ppe(knows, WIDTH, HEIGHT)
        self.now_s = 10.0
        self.found: list[Finding] = []

    def see(
        self, people: Iterable[Tracked], items: Iterable[Item] = (), seconds: float = STEP_S, ended: Iterable[int] = ()
    ) -> list[str]:
        people, items, new = list(people), list(items), []
        for _ in range(round(seconds / STEP_S)):
            new += self.ppe.step(self.now_s, people, items, list(ended))
            self.now_s += STEP_S
        self.found += new
        return [each.type for each in new]


@pytest.mark.parametrize(
    ("label", "meaning"),
    [
        ("Hardhat", ("helmet", True)),
        ("NO-Hardhat", ("helmet", False)),
        ("head", ("helmet", False)),
        ("Safety Vest", ("vest", True)),
        ("no_vest", ("vest", False)),
        ("with_mask", ("mask", True)),
        ("without_mask", ("mask", False)),
        ("mask_weared_incorrect", ("mask", False)),
        ("Gloves", ("gloves", True)),
        ("person", None),
        ("machinery", None),
        ("", None),
    ],
)
def test_labels_of_many_models_mean_the_same(label: str, meaning: tuple[str, bool] | None) -> None:
    assert item_of(label) == meaning


def test_what_a_model_does_not_know_is_said_and_never_an_event() -> None:
    assert unknown_items(["helmet", "vest"]) == ("mask", "gloves")
    assert unknown_in_words(["helmet", "vest"]) == "This model does not know masks, gloves."
    assert unknown_items(ALL) == ()
    assert unknown_in_words(ALL) is None
    assert unknown_items(["Mask", "glove"]) == ("helmet", "vest", "mask", "gloves")  # hidden hands are no bare ones
    site = Site(frozenset({"helmet"}))
    who = person()
    strange = [Item("no_mask", on_head(who).box, 0.9), on_chest(who, "NO-Safety Vest")]
    assert site.see([who], [on_head(who), *strange], 10) == []
    assert Site(frozenset({"person", "car"})).see([who], seconds=10) == []


def test_a_bare_head_is_said_once_and_with_a_probability() -> None:
    site = Site()
    who = person()
    assert site.see([who], [on_chest(who)], LEAST_S - STEP_S) == []
    assert site.see([who], [on_chest(who)], 30) == ["no_helmet"]
    finding = site.found[0]
    assert (finding.number, finding.box, finding.details["item"]) == (1, who.box, "helmet")
    assert MISSING_FROM <= finding.confidence < 0.95
    assert finding.details["looks_with_item"] == 0


def test_who_wears_all_is_never_said_even_where_the_model_often_overlooks_it() -> None:
    site = Site()
    who = person()
    for frame in range(200):
        items = [on_head(who)] * (frame % 3 == 0) + [on_chest(who)] * (frame % 2)
        assert site.see([who], items) == []


def test_taken_off_put_on_and_taken_off_again_are_two_events() -> None:
    site = Site()
    who = person()
    worn, bare = [on_head(who), on_chest(who)], [on_chest(who)]
    assert site.see([who], worn, 10) == []
    assert site.see([who], bare, 10) == ["no_helmet"]
    assert site.see([who], worn, 10) == []
    assert site.see([who], bare, 10) == ["no_helmet"]
    assert len({each.subject for each in site.found}) == 2


@pytest.mark.proves("vision.scenario.ppe", "vision.event.types.ppe")
def test_classes_of_the_missing_item_tell_at_once_more() -> None:
    site = Site(ALL)
    who = person()
    negatives = [
        on_head(who, "NO-Hardhat"),
        on_chest(who, "NO-Safety Vest"),
        on_head(who, "NO-Mask"),
        on_chest(who, "no_gloves"),
    ]
    assert sorted(site.see([who], negatives, 10)) == ["no_gloves", "no_helmet", "no_mask", "no_vest"]
    assert min(each.confidence for each in site.found) > 0.9
    # Where a model knows both and says neither, nobody knows.
    assert Site(ALL).see([who], seconds=20) == []


@pytest.mark.parametrize(
    "who",
    [
        person(tall=60),
        person(y=0),
        person(x=0),
        person(x=WIDTH - 120),
        Tracked(1, (200, 200, 500, 400), 0.9),
    ],
    ids=["small", "head cut", "cut left", "cut right", "wider than tall"],
)
def test_who_cannot_be_seen_well_is_not_judged(who: Tracked) -> None:
    assert Site().see([who], seconds=20) == []


def test_who_is_hidden_by_another_is_not_judged_and_a_helmet_belongs_to_one_person() -> None:
    front, behind = person(1), person(2, x=620, y=180)
    site = Site()
    assert site.see([front, behind], [on_head(front), on_chest(front)], 20) == []
    apart = person(2, x=900)
    assert site.see([front, apart], [on_head(front), on_chest(front), on_chest(apart)], 20) == ["no_helmet"]
    assert site.found[0].number == 2


def test_a_helmet_in_the_hand_is_not_worn_and_a_doubtful_box_says_nothing() -> None:
    who = person()
    left, _, _, bottom = who.box
    in_hand = Item("helmet", (left, bottom - 150, left + 40, bottom - 115), 0.9)
    assert Site().see([who], [in_hand, on_chest(who)], 20) == ["no_helmet"]
    assert Site().see([who], [on_head(who, confidence=0.15), on_chest(who)], 20) == []
    assert Site().see([who], [on_head(who, confidence=0.05), on_chest(who)], 20) == ["no_helmet"]


def test_few_looks_are_enough_when_they_are_slow_and_a_new_track_is_a_new_person() -> None:
    ppe = Ppe(frozenset({"helmet"}), WIDTH, HEIGHT)
    found = [each.type for second in range(20) for each in ppe.step(second * 1.01, [person()], [], [])]
    assert found == ["no_helmet"]
    found = [each.type for second in range(20, 30) for each in ppe.step(second * 1.01, [person(2)], [], [1])]
    assert found == ["no_helmet"]


def test_the_close_up_lies_in_the_picture_and_holds_the_person() -> None:
    assert close_up((600, 200, 720, 500), WIDTH, HEIGHT) == (540, 140, 780, 560)
    assert close_up((5, 10, 105, 715), WIDTH, HEIGHT) == (0, 0, 155, HEIGHT)


@pytest.mark.soak
def test_the_bare_heads_of_a_video_are_seen() -> None:
    """Six people walk through it, none with a helmet; four are shown whole and long enough."""
    for path in (VIDEO, EQUIPMENT, PEOPLE):
        if not path.exists():
            pytest.skip(f"{path} is not on this machine")
    import av

    from ingest.vision.networks import open_network
    from ingest.vision.tracking import Tracker
    from ingest.vision.yolo import Boxes, boxes_of, letterbox

    people, equipment = open_network(PEOPLE, 2), open_network(EQUIPMENT, 2)
    tracker, ppe = Tracker(), Ppe(frozenset({"helmet"}), 768, 432)
    said: list[Finding] = []
    with av.open(str(VIDEO)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if number % 4:
                continue
            picture = np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
            planes, fit = letterbox(picture, people.size)
            found = boxes_of(people.run(planes)[0], fit, layout=people.layout)
            persons = found.classes == 0
            seen, ended = tracker.step(
                Boxes(found.xyxy[persons], found.scores[persons], found.classes[persons]), number / 10
            )
            items: list[Item] = []
            for each in seen:
                left, top, right, bottom = (int(side) for side in close_up(each.box, 768, 432))
                planes, fit = letterbox(np.ascontiguousarray(picture[top:bottom, left:right]), equipment.size)
                worn = boxes_of(equipment.run(planes)[0], fit, layout=equipment.layout, confidence=0.1)
                for row, score, label in zip(worn.xyxy.tolist(), worn.scores, worn.classes, strict=True):
                    box: Box = (row[0] + left, row[1] + top, row[2] + left, row[3] + top)
                    items.append(Item(equipment.names[int(label)], box, float(score)))
            said += ppe.step(number / 10, seen, items, ended)
    assert {each.type for each in said} == {"no_helmet"}
    assert len(said) == len({each.number for each in said})
    assert 4 <= len(said) <= 6
