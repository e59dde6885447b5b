"""How well scenarios see: helmets, vests, people, fire and smoke in labelled pictures, and unique visitors in a video.

    python -m bench.vision_scenarios [MODELS_FOLDER [DATA_FOLDER]]

The folders are those of the shared material if not said. Precision and recall come with their counts; what is not
there is skipped. Few pictures, of few scenes: a figure here says how a change does, not how a camera will.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from PIL import Image

from ingest.vision.networks import Network, open_network
from ingest.vision.reidentify import Appearance, cut_out
from ingest.vision.scenarios.findings import Box, Tracked
from ingest.vision.scenarios.ppe import SURE_FROM, UNSURE_FROM, Equipment, Item, Ppe, close_up
from ingest.vision.tracking import Tracker
from ingest.vision.visitors import SAME_FROM, Visitors, quality_of
from ingest.vision.yolo import Boxes, Pixels, boxes_of, letterbox

SHARED = Path(__file__).parents[2] / "shared"
LEAST = 0.03
EQUIPMENT_THRESHOLDS = (0.05, 0.1, 0.25, 0.4)
BURNING_THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
PEOPLE_IN_VIDEO = 6  # counted by eye; all different
# The labels of the pictures of building sites, read off them: heads with and without helmet, trunks without and with
# a vest or other working clothes. `vest` there is wider than what the model calls so.
HELMET, HEAD, PLAIN, VEST = range(4)
LABELLED = {HELMET: "helmet", HEAD: "no_helmet", PLAIN: "no_vest", VEST: "vest"}
FIRE, SMOKE = 0, 2


@dataclass(frozen=True, slots=True)
class Labelled:
    image: Pixels
    things: list[tuple[int, Box]]


@dataclass
class Tally:
    """Of what was found: `right` of `found`, and `right` of `there`."""

    right: int = 0
    found: int = 0
    there: int = 0

    def __str__(self) -> str:
        precision, recall = self.right / max(1, self.found), self.right / max(1, self.there)
        return (
            f"precision {precision:.2f} ({self.right} of {self.found}), "
            f"recall {recall:.2f} ({self.right} of {self.there})"
        )


def labelled(folder: Path) -> Iterator[Labelled]:
    """Pictures with YOLO labels, boxes or polygons, in `images` and `labels`."""
    for path in sorted((folder / "images").glob("*.jpg")):
        image = np.asarray(Image.open(path).convert("RGB"))
        height, width = image.shape[:2]
        things = []
        for line in (folder / "labels" / f"{path.stem}.txt").read_text(encoding="utf-8").splitlines():
            label, *values = map(float, line.split())
            if len(values) == 4:
                x, y, wide, tall = values
                xs, ys = [x - wide / 2, x + wide / 2], [y - tall / 2, y + tall / 2]
            else:
                xs, ys = values[::2], values[1::2]
            things.append((int(label), (min(xs) * width, min(ys) * height, max(xs) * width, max(ys) * height)))
        yield Labelled(image, things)


def look(network: Network, image: Pixels, part: Box | None = None, confidence: float = LEAST) -> Boxes:
    """At a picture, or at a part of it; boxes are in the picture's pixels."""
    left, top, right, bottom = (int(side) for side in part or (0, 0, image.shape[1], image.shape[0]))
    planes, fit = letterbox(np.ascontiguousarray(image[top:bottom, left:right]), network.size)
    boxes = boxes_of(network.run(planes)[0], fit, layout=network.layout, confidence=confidence)
    return Boxes(boxes.xyxy + np.array([left, top, left, top], np.float32), boxes.scores, boxes.classes)


def as_box(row: Sequence[float]) -> Box:
    return float(row[0]), float(row[1]), float(row[2]), float(row[3])


def overlap(first: Box, second: Box) -> float:
    """Intersection over union."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    common = max(0.0, width) * max(0.0, height)
    return common / (sum((box[2] - box[0]) * (box[3] - box[1]) for box in (first, second)) - common)


def number_of(network: Network, label: str) -> int | None:
    return next((number for number, name in network.names.items() if str(name).lower() == label), None)


def people_in(network: Network, image: Pixels, confidence: float = 0.4) -> list[Tracked]:
    found = look(network, image, confidence=confidence)
    person = number_of(network, "person")
    return [
        Tracked(place, as_box(box), float(score))
        for place, (box, score, label) in enumerate(zip(found.xyxy, found.scores, found.classes, strict=True))
        if label == person
    ]


def items_in(network: Network, boxes: Boxes) -> list[Item]:
    return [
        Item(str(network.names[int(label)]), as_box(box), float(score))
        for box, score, label in zip(boxes.xyxy, boxes.scores, boxes.classes, strict=True)
    ]


def equipment(pictures: Sequence[Labelled], network: Network) -> None:
    found = [items_in(network, look(network, picture.image)) for picture in pictures]
    for label, number in (("helmet", HELMET), ("vest", VEST)):
        for threshold in EQUIPMENT_THRESHOLDS:
            tally = Tally()
            for picture, items in zip(pictures, found, strict=True):
                left = [box for each, box in picture.things if each == number]
                tally.there += len(left)
                for item in items:
                    if item.label != label or item.confidence < threshold:
                        continue
                    tally.found += 1
                    nearest = max(left, key=lambda box: overlap(box, item.box), default=None)
                    if nearest and overlap(nearest, item.box) >= 0.5:
                        left.remove(nearest)
                        tally.right += 1
            print(f"  {label}, boxes at IoU .5, confidence {threshold:.2f}: {tally}")


def people(pictures: Sequence[Labelled], network: Network) -> None:
    """A labelled head, with or without a helmet, is a person. Nobody labelled the people without a head in sight."""
    for threshold in (0.25, 0.4, 0.5):
        heads = met = boxes = with_head = 0
        for picture in pictures:
            seen = people_in(network, picture.image, threshold)
            centres = [
                ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
                for label, box in picture.things
                if label in (HELMET, HEAD)
            ]
            held = [[p.box[0] <= x <= p.box[2] and p.box[1] - 5 <= y <= p.box[3] for p in seen] for x, y in centres]
            heads, met = heads + len(centres), met + sum(map(any, held))
            boxes += len(seen)
            with_head += sum(any(row[place] for row in held) for place in range(len(seen)))
        print(
            f"  people, confidence {threshold:.2f}: recall {met / max(1, heads):.2f} ({met} of {heads} heads lie in a "
            f"box); {with_head} of {boxes} boxes hold a labelled head"
        )


def worn_by_people(pictures: Sequence[Labelled], detector: Network, network: Network) -> None:
    """One look at each person who can be judged: the rates on which `ppe.Answers` rests."""
    told: Counter[tuple[str, str, str, str]] = Counter()
    for picture in pictures:
        height, width = picture.image.shape[:2]
        seen = people_in(detector, picture.image)
        judge = Ppe(frozenset(LABELLED.values()), width, height)
        truth = judge._carried(seen, [Item(LABELLED[label], box, 1.0) for label, box in picture.things])
        whole = items_in(network, look(network, picture.image))
        for person in seen:
            near = items_in(network, look(network, picture.image, close_up(person.box, width, height)))
            for item in judge.items:
                if (person.number, item) not in truth or not judge._can_see(item, person, seen):
                    continue
                for way, items in (("whole picture", whole), ("close look", near)):
                    said = judge._carried(seen if way == "whole picture" else [person], items)
                    told[item, way, truth[person.number, item], said.get((person.number, item), "nothing")] += 1
    for item in ("helmet", "vest"):
        for way in ("whole picture", "close look"):
            for is_so in ("worn", "missing"):
                counts = {said: told[item, way, is_so, said] for said in ("worn", "unsure", "nothing")}
                print(
                    f"  {item}, {way}, truly {is_so}: {counts['worn']} of {sum(counts.values())} called worn "
                    f"(from {SURE_FROM}), {counts['unsure']} unsure (from {UNSURE_FROM}), {counts['nothing']} nothing"
                )


def alarms(pictures: Sequence[Labelled], detector: Network, network: Network) -> None:
    """Each picture shown for five seconds: who is said to lack something. In a video looks differ more."""
    said: Counter[tuple[str, str]] = Counter()
    there: Counter[tuple[str, str]] = Counter()
    sure: dict[str, list[float]] = {"helmet": [], "vest": []}
    for picture in pictures:
        height, width = picture.image.shape[:2]
        seen = people_in(detector, picture.image)
        judge = Ppe(frozenset(LABELLED.values()), width, height)
        truth = judge._carried(seen, [Item(LABELLED[label], box, 1.0) for label, box in picture.things])
        items = [
            each
            for person in seen
            for each in items_in(network, look(network, picture.image, close_up(person.box, width, height)))
        ]
        ppe = Ppe(frozenset(map(str, network.names.values())), width, height)
        found = [finding for frame in range(50) for finding in ppe.step(frame / 10, seen, items, [])]
        for finding in found:
            assert finding.number is not None
            item: Equipment = "helmet" if finding.type == "no_helmet" else "vest"
            is_so = truth.get((finding.number, item), "not labelled")
            said[item, is_so] += 1
            sure[item].append(finding.confidence)
        there.update((each, is_so) for (_, each), is_so in truth.items())
    for name, confidences in sure.items():
        print(
            f"  no_{name} after five seconds: said of {said[name, 'missing']} of {there[name, 'missing']} who lack it "
            f"and of {said[name, 'worn']} of {there[name, 'worn']} who wear it (small, cut and hidden people, who are "
            f"not judged, included); mean confidence {np.mean(confidences or [0]):.2f}"
        )


def _has(boxes: Boxes, label: int | None, confidence: float) -> bool:
    return bool(((boxes.classes == label) & (boxes.scores >= confidence)).any())


def burning(pictures: Sequence[Labelled], others: Sequence[Labelled], network: Network) -> None:
    """A picture counts as one that burns where anything of the kind is labelled in it."""
    looks = [look(network, picture.image) for picture in pictures]
    elsewhere = [look(network, picture.image) for picture in others]
    for label, number in (("fire", FIRE), ("smoke", SMOKE)):
        mine = number_of(network, label)
        is_so = [any(each == number for each, _ in picture.things) for picture in pictures]
        for threshold in BURNING_THRESHOLDS:
            said = [_has(boxes, mine, threshold) for boxes in looks]
            right = sum(a and b for a, b in zip(is_so, said, strict=True))
            tally = Tally(right, sum(said), sum(is_so))
            wrong = sum(_has(boxes, mine, threshold) for boxes in elsewhere)
            print(
                f"  {label} in a picture, confidence {threshold:.2f}: {tally}; "
                f"said of {wrong} of {len(others)} pictures of building sites"
            )


@dataclass(frozen=True, slots=True)
class Passing:
    """A tracked person in a frame of the video."""

    now_s: float
    track: int
    crop: Pixels
    quality: float


def passing(video: Path, detector: Network) -> list[Passing]:
    """Five looks a second. A track's end is a passing without a picture."""
    import av

    tracker, seen = Tracker(), []
    with av.open(str(video)) as container:
        for number, frame in enumerate(container.decode(video=0)):
            if number % 2:
                continue
            now_s = float(frame.time or 0)
            image: Pixels = np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
            found = look(detector, image, confidence=0.25)
            kept = found.classes == number_of(detector, "person")
            tracked, _ = tracker.step(Boxes(found.xyxy[kept], found.scores[kept], found.classes[kept]), now_s)
            for person in tracked:
                crop = cut_out(image, person.box)
                if crop is not None:
                    quality = quality_of(person.box, person.confidence, image.shape[1], image.shape[0])
                    seen.append(Passing(now_s, person.number, crop.copy(), quality))
    return seen


def visitors_among(
    seen: Sequence[Passing],
    appearance: Appearance,
    change: Callable[[Pixels, int], Pixels],
    rounds: int = 1,
    same_from: float = SAME_FROM,
) -> int:
    """Unique visitors, where the passings happen `rounds` times, each an hour after the one before."""
    visitors = Visitors(date(2026, 1, 1), same_from)
    for again in range(rounds):
        for track in dict.fromkeys(each.track for each in seen):
            number = again * 10_000 + track
            for each in seen:
                if each.track == track:
                    vector = appearance.embed([change(each.crop, again)])[0]
                    visitors.see(number, vector, each.quality, again * 3600 + each.now_s)
            visitors.visitor_of(number, is_over=True)
    return visitors.count


def returned(crop: Pixels, again: int) -> Pixels:
    """The same person at another time: mirrored, darker, brighter, darker and mirrored."""
    light = (1.0, 1.0, 0.8, 1.15, 0.75)[again % 5]
    changed = np.clip(crop * light, 0, 255).astype(np.uint8)
    return np.ascontiguousarray(changed[:, ::-1]) if again in (1, 4) else changed


def unique_visitors(video: Path, detector: Network, appearance: Appearance) -> None:
    seen = passing(video, detector)
    tracks = list(dict.fromkeys(each.track for each in seen))
    for same_from in (SAME_FROM - 0.04, SAME_FROM, SAME_FROM + 0.04):
        count = visitors_among(seen, appearance, lambda crop, _: crop, same_from=same_from)
        print(f"  visitors of the video, from cosine {same_from:.2f}: {count}, truly {PEOPLE_IN_VIDEO}")
    alone = [
        visitors_among([each for each in seen if each.track == track], appearance, returned, 5) for track in tracks
    ]
    print(
        f"  each of {len(tracks)} tracks alone, in and out five times, mirrored, darker, brighter: {alone}, "
        "truly 1 each (0: a scrap of a track, which is nobody)"
    )
    twice = visitors_among(seen, appearance, lambda crop, again: returned(crop, again and 4), 2)
    print(f"  all of them, and all again darker and mirrored: {twice}, truly {PEOPLE_IN_VIDEO}")


def main(arguments: Sequence[str]) -> int:
    models = Path(arguments[0]) if arguments else SHARED / "models"
    data = (Path(arguments[1]) if len(arguments) > 1 else SHARED / "data") / "vision"
    networks = {
        name: open_network(models / name, 2) if (models / name).exists() else None
        for name in ("yolov8n-coco-int8-openvino", "ppe-helmet-vest-yolov5n.onnx", "fire-smoke.onnx")
    }
    detector, protective, fire = networks.values()
    sites, flames = list(labelled(data / "ppe")), list(labelled(data / "fire-smoke" / "valid"))
    print(f"protective equipment: {len(sites)} pictures")
    if sites and protective:
        equipment(sites, protective)
    else:
        print("  skipped: the pictures or the model are not there")
    if sites and detector:
        people(sites, detector)
    if sites and detector and protective:
        worn_by_people(sites, detector, protective)
        alarms(sites, detector, protective)
    print(f"fire and smoke: {len(flames)} pictures")
    if flames and fire:
        burning(flames, sites, fire)
    else:
        print("  skipped: the pictures or the model are not there")
    video, network = data / "one-by-one-person-detection.mp4", models / "osnet_x0_25_msmt17.onnx"
    print("unique visitors")
    if video.exists() and network.exists() and detector:
        unique_visitors(video, detector, Appearance(network))
    else:
        print("  skipped: the video or a model is not there")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
