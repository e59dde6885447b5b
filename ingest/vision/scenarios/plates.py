"""Plates of vehicles and numbers of containers: many readings in, one event for each visit out.

All texts are capital Latin letters and digits without gaps. The twelve Cyrillic letters of Russian plates are kept as
the Latin ones that they look like, so that a plate has one form however it was typed or read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ingest.vision.scenarios.container_numbers import read_container_number
from ingest.vision.scenarios.findings import Finding, Tracked
from ingest.vision.scenarios.plate_votes import Votes

AWAY_S = 10.0
"""A plate that was out of view for longer comes back as a new visit."""
_KEPT_S = 60.0
"""So long a visit is remembered: that a plate came back in time is known once it is read, whose turn may come late."""
SETTLED_VOTES = 3
SETTLED_SHARE = 0.75
GOOD_ENOUGH = 0.5
"""What the surest reading of a text, times the share of votes for it, must have for an event. Many votes for what no
reader was ever half sure of are the same mistake many times."""
_MOST_TRACKS = 1000
_MOST_TEXTS = 50


@dataclass(frozen=True, slots=True)
class PlateReading:
    """What was read in one picture. `confidence`: the chance that the whole text is right, 0 to 1. `country`: ISO
    3166-1 alpha-2, empty where several countries have such plates, or none that is known. `form`: letters as L, digits
    as D, empty for a text of no known format."""

    text: str
    confidence: float
    country: str = ""
    form: str = ""
    kind: Literal["plate", "container"] = "plate"


@dataclass
class _Track:
    last: Tracked
    votes: Votes = field(default_factory=Votes)
    readings: dict[str, PlateReading] = field(default_factory=dict)  # the surest one of each text
    told: str | None = None


@dataclass
class _Visit:
    subject: str
    seen_s: float


_Kind = Literal["plate", "container"]
_KINDS: tuple[_Kind, ...] = ("plate", "container")


class Plates:
    """One camera's. Not for several threads."""

    def __init__(self) -> None:
        self._tracks: dict[tuple[int, _Kind], _Track] = {}
        self._visits: dict[tuple[_Kind, str], _Visit] = {}
        self._began_s: dict[int, float] = {}  # when a track was in view first
        self._now_s = 0.0
        self._told = 0
        self.present: list[str] = []
        """The subjects of what was told and is in the last frame."""

    def read(self, thing: Tracked, readings: Sequence[PlateReading]) -> None:
        """What was read on a vehicle, plate or container in one frame, of which the surest of each kind counts. It may
        be out of view by now, and its track must not have been told to have ended."""
        for kind in _KINDS:
            of_kind = [each for each in readings if each.kind == kind and each.text]
            if not of_kind:
                continue
            track = self._tracks.setdefault((thing.number, kind), _Track(thing))
            if track.told is None:
                _vote(track, max(of_kind, key=lambda reading: reading.confidence))

    def step(self, now_s: float, tracked: Sequence[Tracked], ended: Sequence[int]) -> list[Finding]:
        """What a frame at `now_s` tells, by a monotonic clock that runs while somebody looks. `tracked`: what is in it;
        `ended`: tracks that the tracker has given up, of which nothing more will be read."""
        self._now_s = now_s
        self._forget(now_s)
        self.present = []
        findings: list[Finding] = []
        for thing in tracked:
            self._began_s.setdefault(thing.number, now_s)
            for kind in _KINDS:
                track = self._tracks.get((thing.number, kind))
                if track is not None:
                    track.last = thing
                    findings += self._settled(now_s, kind, track)
        for number in ended:
            for kind in _KINDS:
                track = self._tracks.pop((number, kind), None)
                if track is not None:
                    findings += self._tell(now_s, kind, track)
            self._began_s.pop(number, None)
        return findings

    def is_told(self, number: int, kind: _Kind = "plate") -> bool:
        """Whether a track has had its event: it need not be read any more."""
        track = self._tracks.get((number, kind))
        return track is not None and track.told is not None

    def confidence_of(self, number: int) -> float:
        """That of a plate's surest reading; 0 before the first."""
        track = self._tracks.get((number, "plate"))
        return max((each.confidence for each in track.readings.values()), default=0.0) if track else 0.0

    @property
    def misses_some(self) -> bool:
        """Whether what was told is out of view, and not for so long that it would come back as a new visit."""
        return any(
            visit.subject not in self.present and self._now_s - visit.seen_s <= AWAY_S
            for visit in self._visits.values()
        )

    def _settled(self, now_s: float, kind: _Kind, track: _Track) -> list[Finding]:
        if track.told is not None:
            self._seen(now_s, kind, track.told)
            return []
        agreed = track.votes.reading()
        if agreed is None or agreed.votes < SETTLED_VOTES or agreed.confidence < SETTLED_SHARE:
            return []
        return self._tell(now_s, kind, track)

    def _tell(self, now_s: float, kind: _Kind, track: _Track) -> list[Finding]:
        """The event of a track, unless it was told, is too doubtful, or the same text was here a moment ago."""
        agreed = track.votes.reading()
        if track.told is not None or agreed is None:
            return []
        surest = track.readings.get(agreed.text)
        if surest is None or surest.confidence * agreed.confidence < GOOD_ENOUGH:
            return []
        track.told = agreed.text
        visit, began_s = self._visits.get((kind, agreed.text)), self._began_s.get(track.last.number, now_s)
        was_here = visit is not None and began_s - visit.seen_s <= AWAY_S
        if not was_here:
            self._visits.pop((kind, agreed.text), None)
        self._seen(now_s, kind, agreed.text)
        if was_here:
            return []
        details: dict[str, str | int | float] = {"text": agreed.text, "votes": agreed.votes}
        if kind == "plate":
            details |= {"country": surest.country, "format": surest.form}
        else:
            details |= {"check_digit": int(agreed.text[-1])}
        return [
            Finding(
                "plate_read" if kind == "plate" else "container_read",
                self._visits[kind, agreed.text].subject,
                surest.confidence * agreed.confidence,
                track.last.box,
                track.last.number,
                details=details,
                in_view_s=now_s - began_s,
            )
        ]

    def _seen(self, now_s: float, kind: _Kind, text: str) -> None:
        visit = self._visits.get((kind, text))
        if visit is None:
            self._told += 1
            visit = self._visits[kind, text] = _Visit(f"{text}:{self._told}", now_s)
        visit.seen_s = now_s
        self.present.append(visit.subject)

    def _forget(self, now_s: float) -> None:
        for key in [key for key, visit in self._visits.items() if now_s - visit.seen_s > _KEPT_S]:
            del self._visits[key]
        while len(self._tracks) > _MOST_TRACKS:
            del self._tracks[next(iter(self._tracks))]
        while len(self._began_s) > _MOST_TRACKS:
            del self._began_s[next(iter(self._began_s))]


def _vote(track: _Track, reading: PlateReading) -> None:
    """A container's number without the digit that checks it is no number."""
    if reading.kind == "container" and read_container_number(reading.text) != reading.text:
        return
    track.votes.add(reading.text, reading.confidence)
    known = track.readings.get(reading.text)
    if known is None and len(track.readings) >= _MOST_TEXTS:
        return
    if known is None or reading.confidence > known.confidence:
        track.readings[reading.text] = reading
