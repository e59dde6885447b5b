"""A belt that brings parcels, each with a code that no other has, and cameras over it: each is told of once by each."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import numpy.typing as npt
from PIL import Image

from ingest.vision.demo_pictures import code_picture
from tests.support.calls import wait_until
from tests.support.camera_workers import assert_paid_once
from tests.support.clips import GREY, write_pictures
from tests.support.receiver import Receiver
from tests.support.rtsp import RtspServer
from tests.support.server import Account

_STREAMS, _EVENTS = "/vision/v1/streams", "/vision/v1/events"
_HOOK = "/parcels"
_WAIT_S = 300.0
SHOWN_BY = {"width": 640, "height": 360, "fps": 5, "key_every": 5, "on_cue": True}
"""The options of the RTSP server that shows the belt."""


def write_belt(path: Path, parcels: int) -> Path:
    """A clip that begins with an empty belt."""
    return write_pictures(path, [_picture(number) for number in range(parcels + 1)])


def _code(number: int) -> str:
    return f"PARCEL-{number:06d}"


def _picture(number: int) -> npt.NDArray[np.uint8]:
    """640 x 360."""
    shown = Image.new("RGB", (640, 360), (GREY,) * 3)
    if number:
        shown.paste(code_picture(_code(number), "QRCode", 4), (240, 100))
    return np.asarray(shown, np.uint8)


def all_events(account: Account) -> list[dict[str, Any]]:
    """Of the account's cameras, page by page."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = account.get(_EVENTS, params={"limit": 100, **cursor})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


class Parcels:
    """Nothing is on the belt until the first is shown."""

    def __init__(
        self, account: Account, belt: RtspServer, *, parcels: int, cameras: int = 1, receiver: Receiver | None = None
    ) -> None:
        """`belt` shows the clip of `write_belt` with so many; `receiver` is told of what the cameras see."""
        self._account, self._belt, self._parcels, self._receiver = account, belt, parcels, receiver
        hook = {"webhook_url": receiver.url(_HOOK)} if receiver is not None else {}
        belt.show(0, 0)
        self.stream_ids: list[str] = []
        for number in range(cameras):
            fields = {"name": f"Belt {number}", "rtsp_url": belt.url(), "scenarios": ["barcode"], **hook}
            answer = account.post_at_last(_STREAMS, json=fields)
            assert answer.status_code == 201, answer.text
            self.stream_ids.append(str(answer.json()["id"]))
        self.shown = 0
        self._turn = threading.Lock()

    def show_next(self) -> None:
        assert self.shown < self._parcels, "the belt has no more"
        self.shown += 1
        self._belt.show(self.shown, self.shown)

    def show_next_when_found(self) -> None:
        """May be called while the database, or who answers, is away; the last one stays."""
        with self._turn:
            if self.shown < self._parcels and self.are_found():
                self.show_next()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """All that was shown is found, and whoever shows the next when one is found shows nothing meanwhile."""
        with self._turn:
            self.wait_until_found()
            yield

    def are_found(self) -> bool:
        """All that were shown, by each camera; False, too, where that cannot be known."""
        try:
            answer = self._account.get(_EVENTS, params={"limit": 100})
        except httpx2.HTTPError:
            return False
        if answer.status_code == 503:
            return False
        assert answer.status_code == 200, answer.text
        newest = {(each["stream_id"], each["metadata"]["text"]) for each in answer.json()["items"]}
        return self.shown == 0 or newest >= {(stream_id, _code(self.shown)) for stream_id in self.stream_ids}

    def are_online(self) -> bool:
        answer = self._account.get(_STREAMS)
        assert answer.status_code == 200, answer.text
        return {stream["status"] for stream in answer.json()["items"]} == {"online"}

    def wait_until_online(self) -> None:
        wait_until(self.are_online, wait_s=_WAIT_S)

    def wait_until_found(self) -> None:
        wait_until(self.are_found, wait_s=_WAIT_S)

    def wait_for_more(self) -> None:
        """Where somebody shows the next whenever one is found: until one is found that nobody had seen before."""
        shown = self.shown
        wait_until(lambda: self.shown > shown + 1, wait_s=_WAIT_S)

    def assert_each_was_told_once(self) -> None:
        """And each day of each camera was paid for once."""
        self.wait_until_found()
        events = all_events(self._account)
        expected = Counter((each, _code(number + 1)) for each in self.stream_ids for number in range(self.shown))
        seen = Counter((event["stream_id"], event["metadata"]["text"]) for event in events)
        assert seen == expected, (expected - seen, seen - expected)
        assert_paid_once(self._account, self.stream_ids)
        if self._receiver is None:
            return
        event_ids = {event["id"] for event in events}
        wait_until(lambda: self._told().keys() >= event_ids)
        told = self._told()
        assert told.keys() == event_ids
        assert {len(ids) for ids in told.values()} <= {1}

    def _told(self) -> dict[str, set[str]]:
        """By the event, under which ids it came."""
        assert self._receiver is not None
        told: dict[str, set[str]] = defaultdict(set)
        for received in self._receiver.at(_HOOK):
            told[received.json["event_id"]].add(received.id)
        return told
