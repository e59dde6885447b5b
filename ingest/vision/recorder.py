"""Writes what was found: the events, what they count for, their webhooks, and that they were told, in one transaction;
their pictures before that, so that no event ever points at a picture that is not there."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import structlog
from PIL import Image

from accounts import webhooks
from ingest.vision.calibration import Floor
from ingest.vision.scenarios.findings import EventType, Finding
from ingest.vision.visitors import UNKNOWN_FROM, Visitors
from ingest.vision.zones import foot_point
from store import camera_events, camera_streams, camera_traffic, camera_visitors
from store.blobs import NEWEST_PICTURES, Blobs
from store.camera_streams import Health, Scenario, Stream
from store.camera_traffic import Heat
from store.camera_visitors import VisitorLooks
from store.database import Connection, Database
from store.deliveries import Delivery
from store.errors import ParleyError
from store.ids import new_id

log = structlog.get_logger(__name__)

SCENARIOS: dict[EventType, Scenario] = {
    "person_entered": "traffic",
    "person_left": "traffic",
    "queue_formed": "traffic",
    "queue_cleared": "traffic",
    "no_helmet": "ppe",
    "no_vest": "ppe",
    "no_mask": "ppe",
    "no_gloves": "ppe",
    "fire": "safety",
    "smoke": "safety",
    "fall": "safety",
    "zone_intrusion": "safety",
    "plate_read": "lpr",
    "container_read": "lpr",
    "barcode_read": "barcode",
}
_QUALITY = 85
WIDEST = 1280
"""Pixels of an event's picture from left to right, at most."""
_NEWEST_QUALITY, _NEWEST_WIDEST = 75, 960
NEWEST_KEPT = timedelta(days=1)
"""How long a stream's newest picture is anybody's business where no newer one comes."""


class LeaseLost(Exception):
    """Another worker has the stream by now: nothing was written."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What was counted since it was last written. `waits`: how many people left the queue of a zone, and how long they
    had been in it, together."""

    waits: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    heat: Heat | None = None

    def __add__(self, more: Sums) -> Sums:
        heats = [heat for heat in (self.heat, more.heat) if heat is not None]
        heat = heats[0] if len(heats) == 1 else heats[0] + heats[1] if heats else None
        waits = dict(self.waits)
        for zone, (people, seconds) in more.waits.items():
            before = waits.get(zone, (0, 0.0))
            waits[zone] = before[0] + people, before[1] + seconds
        return Sums(waits, heat)


@dataclass(frozen=True, slots=True)
class Found:
    """A finding with the picture that shows it: height x width x 3, RGB, or a file of that. `subject` tells it from all
    others of its type in the stream. `width`, `height` of the frame, in whose pixels the box is. `event_id` is that of
    its event, however often it is tried to write it."""

    finding: Finding
    subject: str
    image: npt.NDArray[np.uint8] | bytes
    seen_at: datetime
    width: int
    height: int
    event_id: str = field(default_factory=new_id)


class Recorder:
    """A worker's. Safe for many threads."""

    def __init__(
        self, database: Database, blobs: Blobs, worker_id: str, *, on_delivery: Callable[[Delivery], None]
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._worker_id = worker_id
        self._on_delivery = on_delivery

    def record(
        self,
        stream: Stream,
        findings: Sequence[Found],
        visitors: Sequence[tuple[datetime, int]] = (),
        looks: Sequence[VisitorLooks] = (),
        progress: bytes | None = None,
    ) -> list[str | None]:
        """Findings as events, whose ids it gives, None for one that was recorded before as another; visitors, and what
        is new of their looks; and `progress`, by which whoever goes on knows that all of it was told. All or nothing.
        Raises LeaseLost, and what the stores raise."""
        pictures = [(found.event_id, _picture_key(stream, found.event_id)) for found in findings]
        written: list[str | None] = []
        deliveries: list[Delivery | None] = []
        try:
            for found, (_, key) in zip(findings, pictures, strict=True):
                self._blobs.put(key, found.image if isinstance(found.image, bytes) else as_jpeg(found.image))
            with self._database.write() as connection:
                # Where its webhooks go may have been changed since the worker read it.
                held = self._hold(connection, stream)
                for found, (event_id, key) in zip(findings, pictures, strict=True):
                    is_new = self._add(connection, stream, found, key)
                    is_there = is_new or camera_events.get(stream.tenant_id, connection, event_id) is not None
                    written.append(event_id if is_there else None)
                    deliveries.append(self._emit(connection, held, event_id) if is_new else None)
                for at, visitor in visitors:
                    camera_traffic.add_visitor(stream.tenant_id, connection, stream.id, hour_of(at), visitor)
                if held.url == stream.url:  # another camera has visitors of its own
                    camera_visitors.put(stream.tenant_id, connection, stream.id, looks)
                if progress is not None:
                    camera_streams.note_progress(stream.tenant_id, connection, stream.id, progress)
        # Whatever it was: with no event that has them, the pictures go.
        except BaseException:
            self._delete_unnamed(stream, pictures)
            raise
        self._delete(key for event_id, key in pictures if event_id not in written)
        for delivery in deliveries:
            if delivery is not None:
                self._on_delivery(delivery)
        return written

    def known_visitors(self, stream: Stream, day: date) -> Visitors:
        """Those of the day whom the workers before have met. Raises what the store raises."""
        begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
        with self._database.read() as connection:
            known = camera_visitors.of_day(stream.tenant_id, connection, stream.id, day)
            # Some of those counted are remembered no more.
            count = camera_traffic.last_visitor(stream.tenant_id, connection, stream.id, begin, below=UNKNOWN_FROM)
        return Visitors(day, known=known, count=count)

    @staticmethod
    def _add(connection: Connection, stream: Stream, found: Found, key: str) -> bool:
        """False where it is there already."""
        finding = found.finding
        is_new = camera_events.add(
            stream.tenant_id,
            connection,
            stream.id,
            found.event_id,
            subject=found.subject,
            scenario=SCENARIOS[finding.type],
            kind=finding.type,
            confidence=finding.confidence,
            occurred_at=found.seen_at,
            details=_metadata(stream, found),
            snapshot_key=key,
        )
        if is_new and finding.type in ("person_entered", "person_left"):
            came = finding.type == "person_entered"
            hour = hour_of(found.seen_at)
            camera_traffic.add(stream.tenant_id, connection, stream.id, hour, entered=came, left=not came)
        return is_new

    def replace_picture(self, stream: Stream, event_id: str, image: npt.NDArray[np.uint8] | bytes) -> None:
        """Gives an event a better picture; does nothing where the event is gone. Raises what the stores raise."""
        with self._database.read() as connection:
            event = camera_events.get(stream.tenant_id, connection, event_id)
        if event is None:
            return
        key = _picture_key(stream, new_id())
        self._blobs.put(key, image if isinstance(image, bytes) else as_jpeg(image))
        try:
            with self._database.write() as connection:
                camera_events.set_snapshot(stream.tenant_id, connection, event_id, key)
        finally:
            self._delete_unnamed(stream, [(event_id, key), (event_id, event.snapshot_key)])

    def keep_newest(self, stream: Stream, image: npt.NDArray[np.uint8] | bytes) -> None:
        """What the camera shows now, in place of the picture before. Raises LeaseLost, and what the stores raise."""
        key = newest_key(stream.tenant_id, stream.id)
        self._blobs.put(key, image if isinstance(image, bytes) else newest_as_jpeg(image))
        with self._database.read() as connection:
            is_mine = camera_streams.is_mine(stream.tenant_id, connection, stream.id, self._worker_id)
            is_there = is_mine or camera_streams.get(stream.tenant_id, connection, stream.id) is not None
        if not is_there:
            # Ended meanwhile: its picture was deleted before this one came.
            self._blobs.delete(key)
        if not is_mine:
            raise LeaseLost

    def add_sums(self, stream: Stream, at: datetime, sums: Sums) -> None:
        """Raises LeaseLost."""
        with self._database.write(durable=False) as connection:
            self._hold(connection, stream)
            camera_traffic.add(
                stream.tenant_id,
                connection,
                stream.id,
                hour_of(at),
                waits=sums.waits,
                heat=sums.heat,
            )

    def report(self, stream: Stream, health: Health, progress: bytes | None) -> None:
        with self._database.write(durable=False) as connection:
            camera_streams.report_health(stream.tenant_id, connection, stream.id, self._worker_id, health, progress)

    def _hold(self, connection: Connection, stream: Stream) -> Stream:
        """The stream as it is now. Raises LeaseLost."""
        held = camera_streams.hold(stream.tenant_id, connection, stream.id, self._worker_id)
        if held is None:
            raise LeaseLost
        return held

    def _delete_unnamed(self, stream: Stream, pictures: Sequence[tuple[str, str | None]]) -> None:
        """Deletes those whose events do not name them. A commit whose acknowledgement was lost on the way is a commit,
        so the store is asked: where it does not answer nothing is deleted, since a picture too many is better than an
        event without one."""
        with suppress(ParleyError):
            with self._database.read() as connection:
                events = {name: camera_events.get(stream.tenant_id, connection, name) for name, _ in pictures}
            named = {event.snapshot_key for event in events.values() if event is not None}
            self._delete(key for _, key in pictures if key is not None and key not in named)

    def _delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._blobs.delete(key)

    @staticmethod
    def _emit(connection: Connection, stream: Stream, event_id: str) -> Delivery | None:
        if not stream.webhook_url:
            return None
        return webhooks.emit(
            stream.tenant_id,
            connection,
            event="detection.created",
            subject=event_id,
            fields={"event_id": event_id, "stream_id": stream.id},
            url=stream.webhook_url,
            key_id=stream.key_id,
        )


def _picture_key(stream: Stream, name: str) -> str:
    return f"{camera_events.EVENT_PICTURES}/{stream.tenant_id}/{stream.id}/{name}.jpg"


def newest_folder(tenant_id: str) -> str:
    """Where the blob store has the newest pictures of an account's streams: among what goes with the account."""
    return f"{tenant_id}/{NEWEST_PICTURES}"


def newest_key(tenant_id: str, stream_id: str) -> str:
    return f"{newest_folder(tenant_id)}/{stream_id}.jpg"


def as_jpeg(image: npt.NDArray[np.uint8], *, widest: int = WIDEST, quality: int = _QUALITY) -> bytes:
    """A picture (height x width x 3, RGB) as a file, at most `widest` pixels wide."""
    picture = Image.fromarray(image)
    if picture.width > widest:
        picture = picture.resize((widest, round(picture.height * widest / picture.width)), reducing_gap=2.0)
    made = io.BytesIO()
    picture.save(made, "JPEG", quality=quality)
    return made.getvalue()


def newest_as_jpeg(image: npt.NDArray[np.uint8]) -> bytes:
    """A stream's newest picture as a file."""
    return as_jpeg(image, widest=_NEWEST_WIDEST, quality=_NEWEST_QUALITY)


def _metadata(stream: Stream, found: Found) -> dict[str, Any]:
    finding = found.finding
    floor = Floor.of(stream.calibration) if finding.box is not None else None
    place = floor.place(foot_point(finding.box, found.width, found.height)) if floor and finding.box else None
    known: dict[str, Any] = {
        "zone": finding.zone,
        "track_id": None if finding.number is None else abs(finding.number),
        "box": None if finding.box is None else [round(value) for value in finding.box],
        "floor": None if place is None else [round(value, 2) for value in place],
        "frame": {"width": found.width, "height": found.height},
    }
    return {name: value for name, value in known.items() if value is not None} | dict(finding.details)


def hour_of(at: datetime) -> datetime:
    """The hour that what was counted then belongs to."""
    return at.replace(minute=0, second=0, microsecond=0)
