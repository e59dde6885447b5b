"""Plates and containers: found and read in pictures, and told once for each visit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw, ImageFont

from ingest.vision.plate_crops import cut_out, two_lines
from ingest.vision.plate_lattice import ALPHABET, chance_of, formatted_texts, free_text, joined, lattice_of
from ingest.vision.plate_lines import by_rows, ocr_file, open_run, straightened
from ingest.vision.plate_reader import SURE, PlateReader
from ingest.vision.scenarios import plates
from ingest.vision.scenarios.container_numbers import check_digit
from ingest.vision.scenarios.findings import Finding, Tracked
from ingest.vision.scenarios.plate_formats import FORMATS
from ingest.vision.scenarios.plates import AWAY_S, SETTLED_VOTES, PlateReading, Plates

Pixels = npt.NDArray[np.uint8]

SHARED = Path(__file__).parents[4] / "shared"
PHOTOGRAPHS = SHARED / "data" / "vision"
DETECTOR, RUSSIAN = (
    SHARED / "models" / f"{name}.onnx" for name in ("plate-detector-fastanpr", "ru-plate-ocr-stn-lprnet")
)
FACE = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf")
with_networks = pytest.mark.skipif(not DETECTOR.exists() or not RUSSIAN.exists(), reason="no networks for plates here")


def lattice(*steps: dict[str, float]) -> npt.NDArray[np.float32]:
    """Each step: what is seen with which chance; "" is the blank."""
    characters = (*ALPHABET, "")
    return lattice_of(
        np.array([[step.get(each, 0.0) for each in characters] for step in steps], np.float32), characters
    )


def spelled(text: str, **doubtful: dict[str, float]) -> npt.NDArray[np.float32]:
    """A lattice that says the text clearly; `doubtful`: by place (_0, _1, ...) what is seen instead."""
    steps: list[dict[str, float]] = []
    for place, character in enumerate(text):
        steps += [doubtful.get(f"_{place}", {character: 1.0}), {"": 1.0}]
    return lattice(*steps)


# What was seen, as text


def test_repeated_characters_are_one_unless_a_blank_parts_them() -> None:
    seen = lattice({"A": 0.9}, {"A": 0.9}, {"": 0.9}, {"A": 0.9}, {"7": 0.9}, {"7": 0.9}, {"": 1.0})
    assert free_text(seen) == "AA7"
    assert free_text(joined([lattice({"7": 1.0}), lattice({"7": 1.0})])) == "77"


def test_a_chance_counts_all_ways_to_say_a_text() -> None:
    half = lattice({"A": 0.5, "": 0.5}, {"A": 0.5, "": 0.5})
    assert chance_of(half, "A") == pytest.approx(0.75, abs=1e-3)
    assert chance_of(half, "AA") == pytest.approx(0.0, abs=1e-3)  # a blank would have to part them
    assert chance_of(spelled("KX"), "KX") == pytest.approx(1.0, abs=1e-3)
    assert chance_of(spelled("KX"), "XK") < 1e-6


def test_other_alphabets_small_letters_and_separators_come_to_one_form() -> None:
    characters = ("", "а", "-", "Ö", "木", "В", "b")
    answers = np.eye(len(characters), dtype=np.float32)[[1, 2, 3, 0, 5, 0, 6]]
    assert free_text(lattice_of(answers, characters)) == "AOBB"


def test_a_format_decides_between_what_looks_alike_and_does_not_outvote_what_is_clear() -> None:
    doubtful = spelled("P123BC77", _0={"R": 0.6, "P": 0.4}, _5={"0": 0.55, "O": 0.15, "C": 0.3})
    assert free_text(doubtful) == "R123B077"
    russian = [number for number, form in enumerate(FORMATS) if form.country == "RU"]
    found = formatted_texts(doubtful, russian)
    assert max(found, key=lambda text: chance_of(doubtful, text)) == "P123BC77"
    assert {FORMATS[number].country for number in found["P123BC77"]} == {"RU"}
    assert formatted_texts(spelled("A000BC00"), russian) == {}
    clear = spelled("WXYZ")
    assert max((chance_of(clear, text) for text in formatted_texts(clear)), default=0.0) < 1e-6


def test_a_text_longer_than_the_lattice_is_no_guess() -> None:
    assert formatted_texts(lattice({"A": 1.0}, {"": 1.0})) == {}


# Cuts


def test_a_cut_stays_in_the_picture_and_too_small_a_one_is_none() -> None:
    image = np.zeros((100, 200, 3), np.uint8)
    cut = cut_out(image, (-50.0, 80.0, 250.0, 140.0))
    assert cut is not None
    assert cut.shape == (20, 200, 3)
    shrunk = cut_out(image, (0, 0, 100, 50), off_height=0.1, off_width=0.05)
    assert shrunk is not None
    assert shrunk.shape[:2] == (40, 90)
    for box in ((10, 10, 12, 40), (300, 10, 400, 60), (50, 50, 40, 40)):
        assert cut_out(image, box) is None


def test_two_lines_are_parted_between_them_and_one_line_is_left_whole() -> None:
    assert two_lines(np.zeros((50, 250, 3), np.uint8)) is None
    plate = np.full((100, 140, 3), 255, np.uint8)
    plate[10:44, 20:120:8], plate[56:90, 20:120:8] = 0, 0
    halves = two_lines(plate)
    assert halves is not None
    upper, lower = halves
    assert 44 <= upper.shape[0] <= 57
    assert upper.shape[0] + lower.shape[0] == 101


def test_a_tilted_piece_is_straightened_and_a_tall_one_laid_down() -> None:
    image = np.zeros((100, 100, 3), np.uint8)
    image[20:40, 30:90] = 200
    corners = np.array([[30, 20], [90, 20], [90, 40], [30, 40]], np.float32)
    piece = straightened(image, corners)
    assert piece.shape == (20, 60, 3)
    assert piece.mean() > 190
    assert straightened(image.transpose(1, 0, 2), corners[[0, 3, 2, 1]][:, ::-1]).shape == (20, 60, 3)


def test_pieces_of_text_are_read_row_by_row_though_rows_are_uneven() -> None:
    def piece(left: float, top: float) -> npt.NDArray[np.float32]:
        return np.array([[left, top], [left + 40, top], [left + 40, top + 20], [left, top + 20]], np.float32)

    wanted = [piece(10, 53), piece(60, 50), piece(110, 55), piece(10, 80), piece(70, 78)]
    found = by_rows([wanted[place] for place in (4, 1, 0, 3, 2)])
    assert [each[0].tolist() for each in found] == [each[0].tolist() for each in wanted]


def test_a_network_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        open_run(tmp_path / "nothing.onnx", 1)


# With the networks


@pytest.fixture(scope="module")
def reader() -> PlateReader:
    return PlateReader(DETECTOR, RUSSIAN, 2)


def labelled() -> list[tuple[Pixels, str]]:
    texts = [path.read_text(encoding="utf-8").split() for path in sorted((PHOTOGRAPHS / "plates-eu").glob("*.txt"))]
    return [(photograph(PHOTOGRAPHS / "plates-eu" / name), text) for name, *_, text in texts]


def photograph(path: Path) -> Pixels:
    return np.asarray(Image.open(path).convert("RGB"))


@with_networks
@pytest.mark.skipif(not (PHOTOGRAPHS / "plates-eu").is_dir(), reason="no photographs of plates here")
def test_european_plates_are_found_and_read_and_sure_readings_are_right(reader: PlateReader) -> None:
    exact = sure = 0
    frames = labelled()
    for image, text in frames:
        readings = [reading for box in reader.find(image).xyxy.tolist() for reading in reader.read(image, box)[:1]]
        best = max(readings, key=lambda reading: reading.confidence, default=PlateReading("", 0.0))
        exact += best.text == text
        if best.confidence >= 0.9:
            sure += 1
            assert best.text.replace("O", "0") == text.replace("O", "0")
    assert exact / len(frames) >= 0.6
    assert sure > 0


@with_networks
@pytest.mark.skipif(not (PHOTOGRAPHS / "plates-eu").is_dir(), reason="no photographs of plates here")
def test_one_cut_confirms_what_was_read_surely_and_several_threads_read_alike(reader: PlateReader) -> None:
    plates = [(image, box) for image, _ in labelled() for box in reader.find(image).xyxy.tolist()]
    known = [(image, box, read[0]) for image, box in plates if (read := reader.read(image, box))]
    sure = [each for each in known if each[2].confidence >= SURE]
    assert len(sure) >= 10
    with ThreadPoolExecutor(3) as threads:
        confirmed = list(threads.map(lambda each: reader.read(each[0], each[1], is_sure=True)[0], sure))
    assert [each.text for each in confirmed] == [reading.text for _, _, reading in sure]
    assert min(each.confidence for each in confirmed) > 0.8


@with_networks
@pytest.mark.skipif(not (PHOTOGRAPHS / "car.jpg").exists(), reason="no photograph of a Russian plate here")
def test_a_small_russian_plate_is_read_as_russian(reader: PlateReader) -> None:
    image = photograph(PHOTOGRAPHS / "car.jpg")
    boxes = reader.find(image)
    assert len(boxes) == 1
    first = reader.read(image, boxes.xyxy[0])[0]
    assert (first.text, first.country, first.form) == ("B840OK197", "RU", "LDDDLLDDD")


@with_networks
def test_without_the_russian_network_plates_are_read_all_the_same() -> None:
    reader = PlateReader(DETECTOR, None, 1)
    image = np.full((80, 300, 3), 250, np.uint8)
    written(image, "KR 4R75C", (20, 15), 50)
    assert reader.read(image, (0, 0, 300, 80))[0].text == "KR4R75C"


@with_networks
def test_where_nothing_can_be_read_nothing_is_said(reader: PlateReader) -> None:
    grey = np.full((200, 300, 3), 128, np.uint8)
    assert len(reader.find(grey)) == 0
    assert all(reading.confidence < 0.5 for reading in reader.read(grey, (50, 50, 250, 100)))
    assert reader.read(grey, (10, 10, 12, 12)) == []
    assert reader.read_container(grey, (0.0, 0.0, 300.0, 200.0)) == []


@with_networks
def test_a_plate_of_two_lines_is_read_from_above(reader: PlateReader) -> None:
    image = np.full((140, 190, 3), 250, np.uint8)
    written(image, "WA", (40, 8), 56)
    written(image, "12345", (10, 72), 56)
    assert reader.read(image, (0, 0, 190, 140))[0].text == "WA12345"


@with_networks
@pytest.mark.parametrize("lines", [["MSKU 907032 3"], ["CSQU", "305438 3", "45G1"]])
def test_a_number_is_read_on_a_container(reader: PlateReader, lines: list[str]) -> None:
    image = np.full((360, 640, 3), (140, 60, 40), np.uint8)
    for row, line in enumerate(lines):
        written(image, line, (90, 60 + 70 * row), 50, colour=(240, 240, 240))
    (reading,) = reader.read_container(image, (20.0, 20.0, 620.0, 340.0))
    assert reading.kind == "container"
    assert reading.text == "".join(lines).replace(" ", "")[:11]
    assert check_digit(reading.text[:10]) == int(reading.text[10])
    assert 0.3 < reading.confidence <= 1


def written(
    image: Pixels, text: str, place: tuple[int, int], height: int, colour: tuple[int, ...] = (10, 10, 10)
) -> None:
    if not FACE.exists():
        pytest.skip("the typeface DejaVu is not installed")
    drawn = Image.fromarray(image)
    ImageDraw.Draw(drawn).text(place, text, colour, ImageFont.truetype(str(FACE), height))
    image[:] = np.asarray(drawn)


def test_the_recogniser_comes_with_its_package() -> None:
    pytest.importorskip("rapidocr")
    assert ocr_file("rec").is_file()
    assert ocr_file("det").is_file()


# Visits


def car(number: int = 1) -> Tracked:
    return Tracked(number, (10.0, 20.0, 110.0, 50.0), 0.9)


def plate(text: str = "A123BC77", confidence: float = 0.9, **more: Any) -> PlateReading:
    return PlateReading(text, confidence, **({"country": "RU", "form": "LDDDLLDD"} | more))


def step(
    camera: Plates,
    now_s: float,
    seen: Sequence[Tracked],
    readings: Mapping[int, Sequence[PlateReading]],
    ended: Sequence[int],
) -> list[Finding]:
    """A frame with these, of which some are read in it."""
    for thing in seen:
        camera.read(thing, readings.get(thing.number, []))
    return camera.step(now_s, seen, ended)


def drive(camera: Plates, *texts: str, start_s: float = 0.0, number: int = 1, confidence: float = 0.9) -> list[Finding]:
    """A car that is read so in one frame after the other, and then drives away."""
    found: list[Finding] = []
    for place, text in enumerate(texts):
        readings = {number: [plate(text, confidence)]} if text else {}
        found += step(camera, start_s + place / 5, [car(number)], readings, [])
    return found + step(camera, start_s + len(texts) / 5, [], {}, [number])


@pytest.mark.proves("vision.event.types.lpr")
def test_a_plate_is_told_once_when_enough_frames_agree() -> None:
    camera = Plates()
    assert not camera.is_told(1)
    told = [step(camera, place / 5, [car()], {1: [plate()]}, []) for place in range(20)]
    assert camera.is_told(1)
    assert [len(each) for each in told] == [0] * (SETTLED_VOTES - 1) + [1] + [0] * (20 - SETTLED_VOTES)
    (finding,) = told[SETTLED_VOTES - 1]
    assert (finding.type, finding.number, finding.box) == ("plate_read", 1, car().box)
    assert finding.details == {"text": "A123BC77", "votes": SETTLED_VOTES, "country": "RU", "format": "LDDDLLDD"}
    assert finding.confidence == pytest.approx(0.9)
    assert step(camera, 5.0, [], {}, [1]) == []
    assert not camera.is_told(1)


def test_frames_that_disagree_wait_and_the_majority_is_told_at_the_end() -> None:
    camera = Plates()
    found = drive(camera, "A123BC77", "A128BC77", "A123BC77", "A128BC77", "A123BC77")
    assert [each.details["text"] for each in found] == ["A123BC77"]
    assert found[0].confidence == pytest.approx(0.9 * 3 / 5)


def test_one_good_reading_is_enough_when_the_car_is_gone_and_a_poor_one_is_not() -> None:
    assert [each.details["votes"] for each in drive(Plates(), "A123BC77")] == [1]
    assert drive(Plates(), "A123BC77", confidence=0.4) == []
    assert drive(Plates(), *["A123BC77"] * 10, confidence=0.4) == []
    assert drive(Plates(), "", "") == []


def test_a_new_track_of_the_same_car_is_no_new_event_until_it_was_away() -> None:
    camera = Plates()
    assert len(drive(camera, *["A123BC77"] * 5, start_s=0.0, number=1)) == 1
    assert drive(camera, *["A123BC77"] * 5, start_s=AWAY_S - 1, number=2) == []
    last_s = AWAY_S - 1 + 0.8
    assert drive(camera, *["A123BC77"] * 5, start_s=last_s + AWAY_S - 1, number=3) == []
    (again,) = drive(camera, *["A123BC77"] * 5, start_s=last_s + 3 * AWAY_S, number=4)
    assert again.number == 4


def test_a_car_that_came_back_in_time_is_no_new_event_however_late_its_plate_is_read() -> None:
    camera = Plates()
    assert len(drive(camera, *["A123BC77"] * 5, start_s=0.0, number=1)) == 1
    unread = [""] * 30  # others are read first
    assert drive(camera, *unread, *["A123BC77"] * 5, start_s=AWAY_S - 1, number=2) == []
    assert camera.misses_some
    gone_s = AWAY_S - 1 + 34 / 5 + AWAY_S + 1
    assert step(camera, gone_s, [], {}, []) == []
    assert not camera.misses_some
    assert len(drive(camera, *unread, *["A123BC77"] * 5, start_s=gone_s, number=3)) == 1


def test_a_car_that_stays_in_view_is_not_away() -> None:
    camera = Plates()
    found = [finding for place in range(300) for finding in step(camera, place / 5, [car()], {1: [plate()]}, [])]
    assert len(found) == 1
    assert step(camera, 60.0, [], {}, [1]) == []
    assert drive(camera, *["A123BC77"] * 4, start_s=61.0, number=2) == []


def test_two_cars_are_two_events_and_subjects_differ() -> None:
    camera = Plates()
    found = []
    for place in range(4):
        readings = {1: [plate("A123BC77")], 2: [plate("K999MM50")]}
        found += step(camera, place / 5, [car(1), car(2)], readings, [])
    assert {(each.number, each.details["text"]) for each in found} == {(1, "A123BC77"), (2, "K999MM50")}
    assert len({each.subject for each in found}) == 2


def test_of_several_readings_in_a_frame_the_surest_counts() -> None:
    camera = Plates()
    found = []
    for place in range(SETTLED_VOTES):
        found += step(camera, place / 5, [car()], {1: [plate("X000XX", 0.1), plate(), plate("A128BC77", 0.3)]}, [])
    assert [each.details["text"] for each in found] == ["A123BC77"]


@pytest.mark.proves("vision.event.types.lpr", "vision.scenario.lpr")
def test_a_container_is_told_with_its_check_digit_and_a_wrong_one_is_not() -> None:
    camera = Plates()
    right, wrong = (plate(text, kind="container", country="", form="") for text in ("MSKU9070323", "MSKU9070324"))
    found = []
    for place in range(SETTLED_VOTES):
        found += step(camera, place / 5, [car(1), car(2)], {1: [right], 2: [wrong]}, [])
    found += step(camera, 2.0, [], {}, [1, 2])
    assert [(each.type, each.number) for each in found] == [("container_read", 1)]
    assert found[0].details == {"text": "MSKU9070323", "votes": SETTLED_VOTES, "check_digit": 3}


def test_what_is_read_after_a_car_was_seen_last_counts_and_unknown_ends_do_nothing() -> None:
    camera = Plates()
    assert camera.step(0.0, [], [8]) == []
    camera.read(car(7), [plate()])
    assert camera.step(0.2, [], []) == []
    (finding,) = camera.step(0.4, [], [7])
    assert (finding.number, finding.box) == (7, car().box)


def test_neither_tracks_nor_texts_grow_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plates, "_MOST_TRACKS", 10)
    monkeypatch.setattr(plates, "_MOST_TEXTS", 5)
    camera = Plates()
    for number in range(100):
        step(camera, number / 100, [car(number)], {number: [plate(f"A{number:03}BC77", 0.3)]}, [])
        step(camera, number / 100, [car(0)], {0: [plate(f"B{number:03}BC77", 0.3)]}, [])
    assert len(camera._tracks) <= 12
    assert all(len(track.readings) <= 5 for track in camera._tracks.values())
