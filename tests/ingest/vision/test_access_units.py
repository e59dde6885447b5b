"""Packets of H.264, as FFmpeg hands them on unparsed, become pictures as soon as their last one is there."""

from __future__ import annotations

from ingest.vision.access_units import AccessUnit, AccessUnits

START = b"\x00\x00\x00\x01"
KEY, DELTA = b"\x65", b"\x41"
FULL = 1386


def packets(size: int, kind: bytes = DELTA, full: int = FULL, first: bool = True) -> list[bytes]:
    """A slice of `size` bytes as its RTP packets' contents; `first`: it begins with the picture's first macroblock."""
    body = (b"\x9a" if first else b"\x1a") * size
    first, rest = (body, b"") if size < full else (body[:full], body[full:])
    return [START + kind + first, *(rest[at : at + full] for at in range(0, len(rest), full))]


def fed(units: AccessUnits, given: list[bytes], stamp: int) -> list[list[AccessUnit]]:
    """What came out with each packet."""
    return [units.feed(packet, stamp, stamp + index / 100) for index, packet in enumerate(given)]


def warm(slices: int = 1) -> AccessUnits:
    """One that saw enough pictures to know the camera's ways: the last of them may be inside still."""
    units = AccessUnits()
    for stamp in range(6):
        fed(units, packets(3 * FULL - 100) + packets(200, first=False) * (slices - 1), stamp)
    return units


def test_at_first_a_picture_ends_where_the_next_begins() -> None:
    units = AccessUnits()
    assert fed(units, packets(3000, KEY), 1) == [[], [], []]
    (unit,) = units.feed(packets(100)[0], 2, 9.0)
    assert unit == AccessUnit(b"".join(packets(3000, KEY)), 1.02, True, False)


def test_a_known_camera_s_picture_is_there_with_its_last_packet() -> None:
    units = warm()
    *before, (unit,) = fed(units, packets(3000), 10)
    assert before == [[], []]
    assert unit == AccessUnit(b"".join(packets(3000)), 10.02, False, False)
    assert units.feed(packets(100)[0], 11, 11.0)[0].data == packets(100)[0]
    assert units.mistakes == 0


def test_pictures_of_several_slices_wait_for_the_last_of_them() -> None:
    units = warm(slices=3)
    given = packets(200) + packets(3000, first=False) + packets(50, first=False)
    *before, (unit,) = fed(units, given, 10)
    assert not any(before)
    assert unit.data == b"".join(given)


def test_units_that_share_a_packet_are_told_apart() -> None:
    units = warm()
    together = START + b"\x09\x10" + START + b"\x67abc" + START + b"\x68abc" + packets(300, KEY)[0]
    ((unit,),) = fed(units, [together], 10)
    assert unit.is_key
    assert unit.data == together


def test_a_last_fragment_as_long_as_the_others_only_makes_it_wait() -> None:
    units = warm()
    assert fed(units, packets(2 * FULL), 10) == [[], []]
    (first, second) = units.feed(packets(100)[0], 11, 11.0)
    assert first.data == b"".join(packets(2 * FULL))
    assert not first.is_damaged
    assert second.data == packets(100)[0]


def test_a_camera_that_does_otherwise_is_no_longer_guessed_at() -> None:
    units = warm()
    uneven = [START + DELTA + b"\x9a" * 800, b"\x9a" * 700, b"\x9a" * 600]
    came = [unit for stamp in range(10, 20) for some in fed(units, uneven, stamp) for unit in some]
    assert units.mistakes == 3
    assert [unit.data for unit in came if not unit.is_damaged][-3:] == [b"".join(uneven)] * 3
    assert any(unit.is_damaged for unit in came), "the decoder is told of a picture that it got in part"


def test_pictures_under_one_stamp_are_told_apart_by_their_first_slices() -> None:
    units = AccessUnits()
    fed(units, packets(3000, KEY), 1)
    (unit,) = units.feed(packets(100)[0], 1, 2.0)
    assert unit.data == b"".join(packets(3000, KEY))


def test_parameter_sets_under_a_stamp_of_their_own_go_with_the_next_picture() -> None:
    units = warm()
    assert units.feed(START + b"\x67abc", 10, 10.0) == []
    assert units.feed(START + b"\x68abc", 10, 10.0) == []
    ((unit,),) = fed(units, packets(300, KEY), 11)
    assert unit.data == START + b"\x67abc" + START + b"\x68abc" + packets(300, KEY)[0]


def test_a_fragment_without_its_beginning_is_damage() -> None:
    units = warm()
    units.feed(packets(100)[0], 10, 10.0)
    assert fed(units, packets(3000)[1:], 11) == [[], []]
    (unit, _) = units.feed(packets(100)[0], 12, 12.0)
    assert unit.is_damaged


def test_fragments_behind_a_short_unit_that_is_no_slice_are_damage() -> None:
    units = warm()
    units.feed(START + b"\x09\x30", 10, 10.0)
    assert fed(units, packets(3000)[1:], 10) == [[], []]
    (unit, _) = units.feed(packets(100)[0], 11, 11.0)
    assert unit.is_damaged


def test_a_picture_without_end_does_not_fill_memory() -> None:
    units = AccessUnits()
    units.feed(packets(FULL)[0], 1, 1.0)
    for _ in range(30):
        assert units.feed(b"\x9a" * 1024 * 1024, 1, 1.0) == []
    (unit,) = units.feed(packets(100)[0], 2, 2.0)
    assert unit.is_damaged
    assert len(unit.data) <= 16 * 1024 * 1024
