"""The detector's child: shared by many threads, killed, hung and closed, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ingest.vision.detector import (
    Detector,
    DetectorClosed,
    DetectorDied,
    DetectorTimedOut,
)
from ingest.vision.network_files import NetworkUnusable
from ingest.vision.networks import open_network
from ingest.vision.yolo import Boxes
from tests.ingest.conftest import WAIT_S, wait_for_end
from tests.ingest.vision.test_networks import (
    COCO,
    POSE,
    SIZE,
    boxes_in,
    model_at,
    picture_of,
    small_network,
)

ROOT = Path(__file__).parents[3]
Picture = npt.NDArray[np.uint8]


def red(share: float, width: int = SIZE, height: int = SIZE) -> Picture:
    picture = np.zeros((height, width, 3), np.uint8)
    picture[..., 0] = round(share * 255)
    return picture


def score(boxes: Boxes) -> float:
    assert len(boxes) == 1
    return float(boxes.scores[0])


def until(holds: Callable[[], bool]) -> None:
    end_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end_s, "it never came to that"
        threading.Event().wait(0.005)


def descriptors() -> dict[str, str]:
    found = {}
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one that lists them is gone
            found[entry.name] = str(entry.readlink())
    return found


def mappings() -> int:
    return Path("/proc/self/maps").read_text().count("memfd:detector")


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return small_network(tmp_path / "small.onnx")


@pytest.fixture
def detector(network: Path) -> Iterator[Detector]:
    with Detector({"small": network}, threads=1, runtime="onnxruntime") as made:
        yield made


@pytest.fixture
def stopped(detector: Detector) -> int:
    """The process id of the detector's child, which has the network in memory and does nothing more."""
    detector.about("small")
    assert detector.child_pid is not None
    os.kill(detector.child_pid, signal.SIGSTOP)
    return detector.child_pid


def test_the_child_starts_with_the_first_call_and_stays(detector: Detector) -> None:
    assert detector.figures.starts == 0
    assert score(detector.detect("small", red(0.6))) == pytest.approx(0.6, abs=0.01)
    first = detector.child_pid
    assert first not in (None, os.getpid())
    assert score(detector.detect("small", red(0.4))) == pytest.approx(0.4, abs=0.01)
    assert detector.child_pid == first
    figures = detector.figures
    assert (figures.pictures, figures.batches, figures.starts, figures.waiting) == (2, 2, 1, 0)
    assert figures.latency_ms > 0


def test_boxes_are_in_pixels_of_the_picture_and_only_of_what_was_asked_for(detector: Detector) -> None:
    picture = red(1.0, 256, 128)
    picture[..., 1] = 200
    # Half of the square is the grey border; both colours lie on the same thing, the redder one wins.
    boxes = detector.detect("small", picture)
    assert boxes.xyxy.tolist() == [[64, 0, 192, 128]]
    assert boxes.classes.tolist() == [0]
    assert score(boxes) == pytest.approx((1 + 114 / 255) / 2, abs=1e-4)
    assert len(detector.detect("small", picture, classes=[1])) == 0
    assert len(detector.detect("small", picture, classes=[1, 0])) == 1
    assert len(detector.detect("small", picture, confidence=0.8)) == 0
    assert detector.about("small").numbers_of(["red thing"]) == (0,)


def test_each_of_many_threads_gets_the_answer_to_its_own_picture(network: Path) -> None:
    pictures, callers = 40, 12
    with (
        Detector({"small": network, "again": network}, threads=1, slots=5, runtime="onnxruntime") as detector,
        ThreadPoolExecutor(callers) as threads,
    ):

        def look(caller: int) -> None:
            for place in range(pictures):
                share = 0.3 + (caller * pictures + place) / (callers * pictures) * 0.7
                sides = SIZE * (1 + place % 3), SIZE * (1 + caller % 4)
                side = max(sides)
                wanted = (share * sides[0] * sides[1] + 114 / 255 * (side**2 - sides[0] * sides[1])) / side**2
                found = detector.detect("again" if place % 2 else "small", red(share, *sides), timeout_s=WAIT_S)
                assert score(found) == pytest.approx(wanted, abs=0.02)
                assert found.xyxy[0] == pytest.approx(np.clip(_middle(*sides), 0, [*sides, *sides]), abs=side / SIZE)

        for done in [threads.submit(look, caller) for caller in range(callers)]:
            done.result()
        assert detector.figures.pictures == pictures * callers
        assert detector._slots.free == 5


def _middle(width: int, height: int) -> list[float]:
    """The middle half of the square around a picture."""
    side = max(width, height) / 4
    return [width / 2 - side, height / 2 - side, width / 2 + side, height / 2 + side]


def test_what_waits_while_the_child_is_busy_goes_to_it_as_one_batch(
    detector: Detector, stopped: int, threads: ThreadPoolExecutor
) -> None:
    first = threads.submit(detector.detect, "small", red(0.9))
    until(lambda: detector.figures.working == 1)
    others = [threads.submit(detector.detect, "small", red(0.3 + place / 10)) for place in range(5)]
    until(lambda: detector.figures.waiting == 5)
    os.kill(stopped, signal.SIGCONT)
    assert score(first.result()) == pytest.approx(0.9, abs=0.01)
    assert [score(other.result()) for other in others] == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7], abs=0.01)
    assert (detector.figures.pictures, detector.figures.batches) == (6, 2)


def test_callers_of_a_killed_child_hear_of_it_at_once_and_the_next_call_has_a_new_one(
    detector: Detector, stopped: int, threads: ThreadPoolExecutor
) -> None:
    calls = [threads.submit(detector.detect, "small", red(0.5), timeout_s=10 * WAIT_S) for _ in range(4)]
    until(lambda: detector.figures.waiting + detector.figures.working == 4)
    os.kill(stopped, signal.SIGKILL)
    for call in calls:
        assert isinstance(call.exception(WAIT_S), DetectorDied)
    assert score(detector.detect("small", red(0.7))) == pytest.approx(0.7, abs=0.01)
    assert detector.child_pid != stopped
    assert detector.figures.starts == 2


def test_a_child_that_died_while_nobody_waited_is_replaced_unseen(detector: Detector) -> None:
    detector.about("small")
    assert detector.child_pid is not None
    handle = os.pidfd_open(detector.child_pid)
    os.kill(detector.child_pid, signal.SIGKILL)
    assert wait_for_end(handle)
    assert score(detector.detect("small", red(0.7))) == pytest.approx(0.7, abs=0.01)


def kill_at_work(detector: Detector, pictures: int) -> None:
    """Kills the child after it has looked at so many more pictures, and waits for the next one."""
    wanted = detector.figures.pictures + pictures
    until(lambda: detector.figures.pictures >= wanted)
    pid = detector.child_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: detector.child_pid not in (pid, None))


def detector_children() -> list[int]:
    """Of this process, those that ended and are not waited for too."""
    found = []
    for listed in Path("/proc/self/task").glob("*/children"):
        for child in map(int, listed.read_text().split()):
            with suppress(OSError):
                is_zombie = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
                if is_zombie or b"detector_child" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(child)
    return found


@pytest.mark.soak
def test_twenty_kills_under_load_leave_nothing_behind(network: Path, threads: ThreadPoolExecutor) -> None:
    kills, callers = 20, 4
    before, mapped = descriptors(), mappings()
    over = threading.Event()

    def look(detector: Detector, caller: int) -> tuple[int, int]:
        answers = deaths = 0
        while not over.is_set():
            share = 0.3 + caller / 10
            try:
                assert score(detector.detect("small", red(share), timeout_s=WAIT_S)) == pytest.approx(share, abs=0.01)
                answers += 1
            except DetectorDied:
                deaths += 1
        return answers, deaths

    with Detector({"small": network}, threads=1, runtime="onnxruntime") as detector:
        detector.about("small")
        with_child = len(descriptors())
        looks = [threads.submit(look, detector, caller) for caller in range(callers)]
        try:
            for _ in range(kills):
                kill_at_work(detector, 2 * callers)
        finally:
            over.set()
            counts = [done.result(WAIT_S) for done in looks]
        assert all(answers > kills for answers, _ in counts)
        assert 1 <= sum(deaths for _, deaths in counts) <= kills * callers
        assert detector.figures.starts == kills + 1
        assert len(descriptors()) == with_child
        assert detector._slots.free == 8
        assert mappings() == mapped + 1
    assert (len(descriptors()), mappings()) == (len(before), mapped), descriptors()
    assert detector_children() == []


def test_a_child_that_hangs_is_killed(detector: Detector, stopped: int) -> None:
    handle = os.pidfd_open(stopped)
    with pytest.raises(DetectorTimedOut):
        detector.detect("small", red(0.5), timeout_s=0.1)
    assert wait_for_end(handle)
    assert score(detector.detect("small", red(0.5))) == pytest.approx(0.5, abs=0.01)


def test_an_impatient_caller_costs_no_child_and_no_slot(detector: Detector, stopped: int) -> None:
    for _ in range(20):
        with pytest.raises(DetectorTimedOut):
            detector.detect("small", red(0.5), timeout_s=0.01)
    os.kill(stopped, signal.SIGCONT)
    assert score(detector.detect("small", red(0.8))) == pytest.approx(0.8, abs=0.01)
    assert detector.child_pid == stopped
    assert detector._slots.free == 8


def test_a_child_that_cannot_start_is_tried_again_less_and_less_often(
    detector: Detector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.vision.detect_process._START", "raise SystemExit(3)")
    for _ in range(5):
        with pytest.raises(DetectorDied, match="exit status 3"):
            detector.about("small")
    with pytest.raises(DetectorTimedOut):
        detector.about("small", timeout_s=0.02)
    assert detector.figures.starts == 5
    monkeypatch.undo()
    assert score(detector.detect("small", red(0.5))) == pytest.approx(0.5, abs=0.01)


def test_a_machine_that_has_no_process_to_give_is_told_of(
    detector: Detector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = len(descriptors())
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    for _ in range(3):
        with pytest.raises(DetectorDied, match="No such file"):
            detector.about("small")
    assert len(descriptors()) == before


def test_closing_ends_the_child_and_every_wait(detector: Detector, stopped: int, threads: ThreadPoolExecutor) -> None:
    handle = os.pidfd_open(stopped)
    calls: list[Future[Boxes]] = [
        threads.submit(detector.detect, "small", red(0.5), timeout_s=10 * WAIT_S) for _ in range(12)
    ]
    until(lambda: len(detector._slots._line) == 4)
    detector.close()
    assert wait_for_end(handle)
    for call in calls:
        assert isinstance(call.exception(WAIT_S), DetectorClosed)
    with pytest.raises(DetectorClosed):
        detector.detect("small", red(0.5))
    detector.close()


def test_the_child_inherits_no_socket_but_its_own(detector: Detector) -> None:
    with socket.socket() as listening:
        listening.set_inheritable(True)
        detector.about("small")
        links = [str(entry.readlink()) for entry in Path(f"/proc/{detector.child_pid}/fd").iterdir()]
    assert sum(link.startswith("socket:") for link in links) == 1


@pytest.mark.parametrize("is_at_work", [False, True])
def test_the_child_ends_with_the_server_even_when_that_is_killed(
    network: Path, tmp_path: Path, is_at_work: bool
) -> None:
    endless = tmp_path / "endless.onnx"
    os.mkfifo(endless)
    program = (
        "import sys, threading, time; from pathlib import Path; from ingest.vision.detector import Detector\n"
        "detector = Detector({'asked': Path(sys.argv[1])}, threads=1, runtime='onnxruntime')\n"
        "threading.Thread(target=detector.about, args=('asked',), daemon=True).start()\n"
        "while detector.child_pid is None: time.sleep(0.01)\n"
        "print(detector.child_pid, flush=True); time.sleep(600)"
    )
    asked = endless if is_at_work else network
    with subprocess.Popen(
        [sys.executable, "-c", program, str(asked)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        handle = os.pidfd_open(int(server.stdout.readline()))
        writer = opened_by_a_reader(endless) if is_at_work else None
        server.kill()
    assert wait_for_end(handle)
    if writer is not None:
        os.close(writer)


def opened_by_a_reader(fifo: Path) -> int:
    """The end to write to, once someone reads, and waits for what never comes."""
    found: list[int] = []

    def is_read() -> bool:
        with suppress(OSError):
            found.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
        return bool(found)

    until(is_read)
    return found[0]


def test_an_unusable_network_is_said_to_be_and_harms_no_other(network: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(network.read_bytes()[:300])
    models = {"small": network, "broken": broken, "missing": tmp_path / "missing.onnx"}
    with Detector(models, threads=1, runtime="onnxruntime") as detector:
        for name in ("broken", "missing", "broken"):
            with pytest.raises(NetworkUnusable, match=name):
                detector.detect(name, red(0.5))
        assert score(detector.detect("small", red(0.5))) == pytest.approx(0.5, abs=0.01)
        assert detector.figures.starts == 1
        with pytest.raises(KeyError):
            detector.about("unknown")
        with pytest.raises(ValueError, match="key points"):
            detector.poses("small", red(0.5))


@pytest.mark.parametrize(
    "picture",
    [
        np.zeros((8, 8), np.uint8),
        np.zeros((8, 8, 4), np.uint8),
        np.zeros((0, 8, 3), np.uint8),
        np.zeros((8, 8, 3), np.float32),
    ],
)
def test_what_is_no_picture_is_refused_before_it_goes_anywhere(detector: Detector, picture: Picture) -> None:
    with pytest.raises(ValueError, match="a picture is"):
        detector.detect("small", picture)
    assert detector.child_pid is None


def test_a_picture_may_be_a_line(detector: Detector) -> None:
    for width, height in ((3000, 1), (1, 3000), (1, 1)):
        assert len(detector.detect("small", red(0.5, width, height))) == 1


def test_the_child_sees_what_the_network_sees() -> None:
    picture = picture_of("bus.jpg")
    with Detector({"coco": model_at(COCO), "pose": model_at(POSE)}, threads=2) as detector:
        about = detector.about("coco")
        boxes = detector.detect("coco", picture, classes=about.numbers_of(["person", "bus"]))
        poses = detector.poses("pose", picture, confidence=0.5)
        assert len(detector.detect("pose", picture, confidence=0.5)) == len(poses)
    names = [about.names[number] for number in boxes.classes]
    assert (names.count("person"), names.count("bus"), len(names)) == (4, 1, 5)
    near = boxes_in(open_network(COCO, 2), picture)
    assert np.abs(np.sort(near.xyxy, axis=0) - np.sort(boxes.xyxy, axis=0)).max() < 8
    assert 3 <= len(poses) <= 4
    assert ((poses.keypoints[..., 2] > 0.5).sum(axis=1) >= 8).all()
