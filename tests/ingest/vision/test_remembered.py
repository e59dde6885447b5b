"""What the next worker is told of what was said: what is still there is not told again, and what is new is."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from ingest.vision.remembered import Remembered
from ingest.vision.scenarios.findings import EventType, Finding, Tracked
from tests.support.scene_camera import BEGIN, PLATE, SOMEBODY


def code(text: str, number: int = 1) -> Finding:
    return Finding("barcode_read", f"QR Code:{text}:{number}", 0.9, SOMEBODY, details={"text": text})


def test_a_new_code_in_the_first_picture_after_a_take_over_is_told_though_another_was_told_before() -> None:
    first = Remembered(None, BEGIN, 640, 360)
    first.note(code("PALLET-1"), BEGIN)
    second = Remembered(first.exported(BEGIN), BEGIN, 640, 360)
    assert second.note(code("PALLET-2"), BEGIN) is None
    assert second.note(code("PALLET-1"), BEGIN) is not None


def test_who_is_still_there_once_a_model_is_loaded_is_not_told_again() -> None:
    intruder = Finding("zone_intrusion", "vault:1:1", 0.9, SOMEBODY, 1, "vault")
    first = Remembered(None, BEGIN, 640, 360)
    first.note(intruder, BEGIN)
    second = Remembered(first.exported(BEGIN), BEGIN, 640, 360)
    second.tick(BEGIN)
    loaded = BEGIN + timedelta(seconds=40)  # all the time the first look took
    second.tick(loaded)
    assert second.note(intruder, loaded + timedelta(seconds=1)) is not None


def told(finding: Finding) -> tuple[str, datetime]:
    """What a worker leaves that dies as it tells of that, and when."""
    worker = Remembered(None, BEGIN, 640, 360)
    worker.note(finding, BEGIN)
    return worker.exported(BEGIN), BEGIN


def lived(exported: str, at: datetime, finding: Finding | None, for_s: float = 4) -> tuple[str, datetime]:
    """What a worker of some seconds leaves and when; `finding` is what it finds after a second."""
    worker = Remembered(exported, at, 640, 360)
    for tenths in range(0, round(for_s * 10), 2):
        worker.tick(at + timedelta(seconds=tenths / 10))
        if tenths == 10 and finding is not None:
            assert worker.note(finding, at + timedelta(seconds=1)) is not None
            worker.follow([Tracked(1, SOMEBODY, 0.9)], [], at + timedelta(seconds=1))
    end = at + timedelta(seconds=for_s)
    return worker.exported(end), end + timedelta(seconds=1)


def test_who_left_is_forgotten_though_no_worker_lives_for_long() -> None:
    intruder = Finding("zone_intrusion", "vault:1:1", 0.9, SOMEBODY, 1, "vault")
    exported, at = told(intruder)
    for _ in range(3):
        exported, at = lived(exported, at, None)
    assert Remembered(exported, at, 640, 360).note(intruder, at) is not None, "twelve seconds prove nothing yet"
    exported, at = lived(exported, at, None)
    assert Remembered(exported, at, 640, 360).note(intruder, at) is None, "somebody else in the same place"


def test_who_stays_is_known_however_many_workers_come_and_go() -> None:
    intruder = Finding("zone_intrusion", "vault:1:1", 0.9, SOMEBODY, 1, "vault")
    exported, at = told(intruder)
    for _ in range(20):
        exported, at = lived(exported, at, intruder)
    assert Remembered(exported, at, 640, 360).note(intruder, at) is not None


@pytest.mark.parametrize("kind", ["no_helmet", "fire"])
def test_what_takes_several_looks_is_known_though_no_worker_lives_for_long_enough_to_find_it(kind: EventType) -> None:
    finding = Finding(kind, f"{kind}:1", 0.9, SOMEBODY, 1)
    exported, at = told(finding)
    for _ in range(6):
        exported, at = lived(exported, at, None)
    assert Remembered(exported, at, 640, 360).note(finding, at) is not None


def test_a_code_is_remembered_for_as_long_as_it_is_seen_and_ten_seconds() -> None:
    def read(number: int) -> Finding:
        details = {"text": "PALLET-1", "format": "QR Code"}
        return Finding("barcode_read", f"QR Code:PALLET-1:{number}", 0.9, SOMEBODY, details=details)

    def known(exported: str, at: datetime) -> bool:
        return Remembered(exported, at, 640, 360).note(read(7), at) is not None

    def later(seconds: float) -> datetime:
        return BEGIN + timedelta(seconds=seconds)

    first = Remembered(None, BEGIN, 640, 360)
    assert first.note(read(1), BEGIN) is None
    for second in range(1, 3600, 2):
        first.see(("barcode_read",), [read(1).subject], later(second))
        first.tick(later(second))
    assert known(first.exported(later(3600)), later(3630)), "seen all the time, until the worker died"
    assert not known(first.exported(later(3600)), later(3700)), "long ago"
    assert known(first.exported(later(3660)), later(3661)), "the camera sent no pictures"
    second_worker = Remembered(first.exported(later(3600)), later(3601), 640, 360)
    second_worker.tick(later(3601))
    assert known(second_worker.exported(later(3620)), later(3621)), "the second had no time to read it"
    for worker in (first, second_worker):
        for half_seconds in range(2, 30):
            worker.tick(later(3601 + half_seconds / 2))
    assert not known(first.exported(later(3615)), later(3616)), "carried away while the first was still there"
    assert not known(second_worker.exported(later(3615)), later(3616)), "the second did not see it any more"


def test_what_is_there_after_a_pause_is_remembered_though_the_first_look_missed_it() -> None:
    first = Remembered(None, BEGIN, 640, 360)
    at = BEGIN + timedelta(seconds=12)
    first.note(code("PALLET-1"), BEGIN)
    first.tick(at)  # no pictures came meanwhile
    first.see(("barcode_read",), [code("PALLET-1").subject], at + timedelta(seconds=0.3))
    later = at + timedelta(seconds=1)
    first.tick(later)
    assert Remembered(first.exported(later), later, 640, 360).note(code("PALLET-1"), later) is not None


def test_a_code_that_was_seen_after_a_pause_is_away_from_then_on() -> None:
    first = Remembered(None, BEGIN, 640, 360)
    first.note(code("PALLET-1"), BEGIN)
    for second in range(48, 73):  # no pictures came before, and it was carried away after the first
        at = BEGIN + timedelta(seconds=second)
        if second == 48:
            first.see(("barcode_read",), [code("PALLET-1").subject], at)
        first.tick(at)
    assert Remembered(first.exported(at), at, 640, 360).note(code("PALLET-1"), at) is None


def test_what_stands_there_is_not_forgotten_for_what_passes() -> None:
    first = Remembered(None, BEGIN, 640, 360)
    first.note(code("PALLET-1"), BEGIN)
    for number in range(1000):
        at = BEGIN + timedelta(seconds=number / 20)
        first.note(code(f"PARCEL-{number}"), at)
        first.see(("barcode_read",), [code("PALLET-1").subject], at)
    assert Remembered(first.exported(at), at, 640, 360).note(code("PALLET-1"), at) is not None


def plate(text: str, in_view_s: float = 0.0) -> Finding:
    return Finding("plate_read", f"{text}:1", 0.9, PLATE, details={"text": text}, in_view_s=in_view_s)


def test_plates_that_stand_there_are_not_told_again_after_a_take_over_however_late_they_are_read() -> None:
    first = Remembered(None, BEGIN, 640, 360)
    for number in range(20):
        first.note(plate(f"A{number:03}BC77"), BEGIN)
    second = Remembered(first.exported(BEGIN), BEGIN, 640, 360)
    for tenths in range(450):
        at = BEGIN + timedelta(seconds=tenths / 10)
        second.tick(at)
        if tenths % 20 == 10 and tenths < 380:
            assert second.note(plate(f"A{tenths // 20:03}BC77", in_view_s=tenths / 10), at) is not None
    assert second.note(plate("A019BC77", in_view_s=2.0), at) is None, "it drove away, and has come back"
    assert second.note(plate("A000BC78", in_view_s=45.0), at) is None
    third = Remembered(second.exported(at), at, 640, 360)
    assert third.note(plate("A018BC77"), at) is not None, "the second told of it, as far as the third knows"


def test_what_was_told_is_remembered_for_as_long_as_nothing_moves() -> None:
    details = {"text": "PALLET-1", "format": "QR Code"}
    finding = Finding("barcode_read", "QR Code:PALLET-1:1", 0.9, SOMEBODY, details=details)
    first = Remembered(None, BEGIN, 640, 360)
    first.note(finding, BEGIN)
    for second in range(1, 30):
        first.rest(BEGIN + timedelta(seconds=second))
    first.tick(now := BEGIN + timedelta(seconds=30))
    assert Remembered(first.exported(now), now, 640, 360).note(finding, now) is not None


@pytest.mark.parametrize("before", ["", "[]", "{}", '{"at": "2026-11-23T12:00:00+00:00", "said": [{"type": "fire"}]}'])
def test_what_another_release_left_is_passed_over(before: str) -> None:
    finding = Finding("fire", "fire:1", 0.9, SOMEBODY)
    assert Remembered(before, BEGIN, 640, 360).note(finding, BEGIN) is None
