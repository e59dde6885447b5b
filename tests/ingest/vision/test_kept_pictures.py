"""Pictures that wait for their events: few, and no larger than they will be stored."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from ingest.vision.kept_pictures import Image, KeptPictures
from ingest.vision.scenarios.findings import Box, EventType, Finding, Tracked

BOX: Box = (3000, 1000, 3400, 1100)
THEN = datetime(2026, 11, 23, 12, tzinfo=UTC)
NOTHING = np.zeros((2160, 3840, 3), np.uint8)


def picture(shade: int) -> Image:
    return np.full((2160, 3840, 3), shade, np.uint8)


def shown(kept: KeptPictures, number: int, told: EventType = "plate_read") -> tuple[Box | None, Image]:
    finding, image, _ = kept.shown(Finding(told, "A123BC77:1", 0.9, (0, 0, 1, 1), number), NOTHING, THEN)
    return finding.box, image


def test_large_pictures_are_kept_as_small_as_they_are_stored_with_the_boxes_of_their_frames() -> None:
    kept = KeptPictures()
    both, last = picture(10), picture(30)
    for number in (1, 2):
        kept.best("plate_read", Tracked(number, BOX, 0.9), both, THEN, 0.5)
    kept.best("plate_read", Tracked(3, BOX, 0.9), last, THEN, 0.5)
    (box, first), (_, second) = shown(kept, 1), shown(kept, 2)
    assert box == BOX
    assert first.shape == (720, 1280, 3)
    assert int(first[0, 0, 0]) == 10
    assert second is first, "one picture for all that is seen in it"
    assert shown(kept, 3)[1] is last, "mostly the next one takes its place: it is not worth the work"


def test_who_is_seen_no_more_is_kept_small_while_others_stay() -> None:
    kept = KeptPictures()
    first, second = Tracked(1, BOX, 0.9), Tracked(2, BOX, 0.9)
    kept.newest("person_left", [first, second], picture(10))
    last = picture(20)
    kept.newest("person_left", [second], last)
    assert shown(kept, 1, "person_left")[1].shape == (720, 1280, 3)
    assert shown(kept, 2, "person_left")[1] is last
    assert shown(kept, 3, "person_left")[1] is NOTHING


def test_a_worse_picture_is_no_reason_to_forget_a_better_one_and_too_many_are_not_kept() -> None:
    kept = KeptPictures()
    thing = Tracked(1, BOX, 0.9)
    kept.best("plate_read", thing, picture(10), THEN, 0.9)
    kept.best("plate_read", thing, picture(20), THEN, 0.5)
    assert int(shown(kept, 1)[1][0, 0, 0]) == 10
    for number in range(9):
        kept.best("plate_read", Tracked(number, BOX, 0.9), picture(number), THEN, 0.5)
    assert shown(kept, 0)[1] is NOTHING
    assert int(shown(kept, 1)[1][0, 0, 0]) == 1
