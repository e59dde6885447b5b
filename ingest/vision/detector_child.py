"""What runs in a detector's child process: networks that look at the pictures in shared memory."""

from __future__ import annotations

import json
import mmap
import os
import resource
import select
import signal
import socket
import threading
import traceback
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ingest.child_main import receive, send
from ingest.vision.bands import in_band, rows_for
from ingest.vision.detect_messages import Picture, answer, described, parse_question, table_of
from ingest.vision.detect_poses import Poses, poses_of
from ingest.vision.detect_slots import picture_in, planes_of, square_in
from ingest.vision.network_files import NetworkUnusable
from ingest.vision.networks import Network, open_network
from ingest.vision.ultralytics_engine import UltralyticsNetwork, open_by_ultralytics
from ingest.vision.yolo import Boxes, Fit, Floats, Pixels, boxes_of, fit_into


def serve_detector(socket_number: int, memory_number: int, settings_json: str) -> None:
    """The child's life: answers one question after another until the server goes away. Never returns.

    `settings_json`: `models` (paths by name), `threads`, `runtime` (or null), `nice`.
    """
    # The server decides when a child ends: on Ctrl-C or a service manager's SIGTERM it may still be at work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Native code that crashes on a network is expected now and then: no core file for each.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    connection = socket.socket(fileno=socket_number)
    connection.set_inheritable(False)
    threading.Thread(target=_die_with_the_server, args=(connection,), daemon=True).start()
    settings = json.loads(settings_json)
    os.nice(settings["nice"])
    memory = mmap.mmap(memory_number, 0, prot=mmap.PROT_READ)
    os.close(memory_number)
    networks = _Networks(settings)
    while True:
        message = receive(connection, None)
        if message is None:
            os._exit(0)
        try:
            send(connection, _answer(message, networks, memory))
        except OSError:
            os._exit(0)


def _die_with_the_server(connection: socket.socket) -> None:
    """Ends the child when the server's end of the socket closes, even in the middle of work."""
    poll = select.poll()
    poll.register(connection, select.POLLHUP | select.POLLRDHUP)
    poll.poll()
    os.killpg(0, signal.SIGKILL)


class _Networks:
    """Opened when they are first asked for. One that is unusable stays so for the child's life: to try a large file
    again for each picture would hold up all streams."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._opened: dict[str, Network | UltralyticsNetwork | str] = {}

    def get(self, model: str) -> Network | UltralyticsNetwork:
        """Raises NetworkUnusable."""
        found = self._opened.get(model)
        if found is None:
            try:
                path, runtime = Path(self._settings["models"][model]), self._settings["runtime"]
                opens = open_by_ultralytics if runtime == "ultralytics" else partial(open_network, runtime=runtime)
                found = opens(path, self._settings["threads"])
            except NetworkUnusable as error:
                found = str(error)
            self._opened[model] = found
        if isinstance(found, str):
            raise NetworkUnusable(found)
        return found


def _answer(message: bytearray, networks: _Networks, memory: mmap.mmap) -> bytes:
    model = ""
    try:
        model, size, pictures = parse_question(message)
        network = networks.get(model)
        if not pictures:
            return answer(described(network))
        assert size == network.size, "the server knows the size from this child"
        if isinstance(network, UltralyticsNetwork):
            images = [picture_in(memory, picture.slot, picture.width, picture.height) for picture in pictures]
            everything = network.look(images, min(picture.confidence for picture in pictures))
        else:
            everything = _look(network, [square_in(memory, picture.slot, size) for picture in pictures], pictures)
        return answer({}, [table_of(_wanted(*each)) for each in zip(everything, pictures, strict=True)])
    except NetworkUnusable as error:
        return answer({"error": "unusable", "text": str(error)})
    # Whatever the library raises belongs to the callers in the server; the child lives on.
    except Exception as error:
        # Its own text may name files of the server, and those who are told of the failure are its clients.
        text = f"The model {model} failed ({type(error).__name__})."
        return answer({"error": "failed", "text": text, "trace": traceback.format_exc()[-4000:]})


def _look(network: Network, squares: list[Pixels], pictures: list[Picture]) -> list[Boxes | Poses]:
    """Those at once that are of one shape, which is mostly all."""
    fits = [fit_into(picture.width, picture.height, network.size) for picture in pictures]
    rows = [rows_for(fit, network.size) if network.engine.takes_bands else network.size for fit in fits]
    everything: dict[int, Boxes | Poses] = {}
    for height in set(rows):
        top = (network.size - height) // 2
        places = [place for place, its_rows in enumerate(rows) if its_rows == height]
        outputs = network.run(planes_of([squares[place][top : top + height] for place in places]))
        for place, output in zip(places, outputs, strict=True):
            fit = in_band(fits[place], network.size, height)
            everything[place] = _found(output, fit, pictures[place].confidence, network)
    return [everything[place] for place in range(len(pictures))]


def _found(output: Floats, fit: Fit, confidence: float, network: Network) -> Boxes | Poses:
    if network.task == "pose":
        return poses_of(output, fit, classes=len(network.names), confidence=confidence)
    return boxes_of(output, fit, layout=network.layout, confidence=confidence, classes=len(network.names))


def _wanted(found: Boxes | Poses, picture: Picture) -> Boxes | Poses:
    """Of what was found, the classes and scores that the picture's caller asked for."""
    boxes = found.boxes if isinstance(found, Poses) else found
    wanted = boxes.scores >= picture.confidence
    if picture.classes is not None:
        wanted &= np.isin(boxes.classes, picture.classes)
    chosen = Boxes(boxes.xyxy[wanted], boxes.scores[wanted], boxes.classes[wanted])
    return Poses(chosen, found.keypoints[wanted]) if isinstance(found, Poses) else chosen
