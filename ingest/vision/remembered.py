"""What was said of whom is still in the picture: so that the worker which takes a stream over does not say it again."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from ingest.vision.attention import LOOK_S, UNSEEN_S
from ingest.vision.scenarios import barcodes, fire, plates
from ingest.vision.scenarios.findings import Box, EventType, Finding, Tracked, overlap

GOOD_FOR = timedelta(seconds=60)
"""A report that is older tells nothing of who is there now."""
_AT_FIRST = timedelta(seconds=15)
_LOOK, _UNSEEN = timedelta(seconds=LOOK_S), timedelta(seconds=UNSEEN_S)
_AWAY: Mapping[str, timedelta] = {
    "plate_read": timedelta(seconds=plates.AWAY_S),
    "container_read": timedelta(seconds=plates.AWAY_S),
    "barcode_read": timedelta(seconds=barcodes.AWAY_S),
    "fire": timedelta(seconds=fire.GONE_AFTER_S),
    "smoke": timedelta(seconds=fire.GONE_AFTER_S),
}
"""Unseen for longer, it comes back as another event; all else is forgotten with its track, and after `GOOD_FOR`."""
_READ_LATE = ("plate_read", "container_read")
"""Told when they have been read, whose turn may come late: that they were away is known only then."""
_SAME_FROM = 0.2
_AT_ONCE = timedelta(seconds=3)
_SOON = ("person_entered", "zone_intrusion", "fall")
"""Whoever they are told of is found at once, if still there. All else takes several looks, for which a worker may not
live long enough."""
_MOVED: Mapping[str, timedelta] = {
    **dict.fromkeys(_SOON, _AT_ONCE),
    **dict.fromkeys(("no_helmet", "no_vest", "no_mask", "no_gloves"), _AT_FIRST),
}
"""For so long somebody elsewhere is one of those of whom it was said before, as long as there are any left: people walk
while nobody looks. By the event: some are known at once, others by several looks."""
_MOST = 500


@dataclass(frozen=True, slots=True)
class Said:
    """`box` is relative, 0 to 1: the next worker's picture may have another size. `unseen_s`: for how long it was not
    seen when it was told of; `sought_s`: for how long the workers since then looked, together, and did not find it.
    `is_counted`: among the visitors, for who entered."""

    type: str
    zone: str | None
    text: str
    box: Box | None
    unseen_s: float = 0.0
    sought_s: float = 0.0
    is_counted: bool = True


@dataclass(slots=True)
class _Open:
    """Something said by this worker. `number`: of the track that it was said of, where it ends with that."""

    said: Said
    number: int | None
    seen_at: datetime


class Remembered:
    """One stream's, for one size of picture. Not for several threads. `before`: what another worker `exported`, if any
    did. All times are of the pictures."""

    def __init__(self, before: str | None, now: datetime, width: int, height: int) -> None:
        self._size = width, height
        self._open: dict[tuple[str, str], _Open] = {}  # by type and subject
        self._before = _parsed(before, now)
        self._made_at = now
        self._began_at: datetime | None = None
        self._blind = timedelta(0)  # since then, while a look waited for others or for a model, or no picture came
        self._up_to = now

    def note(self, finding: Finding, at: datetime) -> Said | None:
        """Notes a finding. What the worker before had said of it already, each once; None where it is news."""
        self.tick(at)
        box = self._relative(finding.box)
        is_same = (said for said in self._before if _is_same(said, finding, box) and self._is_back(said, finding, at))
        before = next(is_same, None) or self._moved(finding, at)
        if before is not None:
            self._before.remove(before)
        self._say(finding, at)
        return before

    def follow(self, seen: Sequence[Tracked], ended: Collection[int], at: datetime) -> None:
        """Where those are now of whom something was said; who has gone is forgotten. People and vehicles, under the
        numbers of their findings; plates have tracks with numbers of their own, and are told of by `see`."""
        boxes = {each.number: each.box for each in seen}
        for key, entry in list(self._open.items()):
            if entry.number in ended:
                del self._open[key]
            elif entry.number in boxes:
                entry.said = replace(entry.said, box=self._relative(boxes[entry.number]))
                entry.seen_at = at

    def see(self, kinds: Sequence[EventType], subjects: Sequence[str], at: datetime) -> None:
        """What was said before and is there still, by its subject, for what has no track."""
        for entry in (self._open.get((kind, subject)) for kind in kinds for subject in subjects):
            if entry is not None:
                entry.seen_at = at

    def tick(self, at: datetime) -> None:
        """The picture of that time was looked at: what was too long away is forgotten."""
        if self._began_at is None:
            self._began_at = at
        else:
            self._blind += self._waited(at, _LOOK)
            for entry in self._open.values():
                entry.seen_at = min(at, entry.seen_at + self._unwatched(entry, at))
        self._up_to = at
        self._before = [said for said in self._before if not self._is_over(said, at)]
        # For longer than it counts: what came back in time may be told so late.
        self._open = {key: entry for key, entry in self._open.items() if at - entry.seen_at <= GOOD_FOR}

    def rest(self, at: datetime) -> None:
        """Nothing has moved up to then, so nobody looked: what was there still is, and this time is not counted."""
        for entry in self._open.values():
            entry.seen_at += at - self._up_to
        self._up_to = at

    def exported(self, now: datetime, uncounted: Collection[int] = ()) -> str:
        """With what the worker before said and nobody has seen yet, since this one's time may be short too.
        `uncounted`: people who entered and are none of the visitors yet."""
        rows = []
        for entry in self._open.values():
            unseen = max(timedelta(0), now - entry.seen_at - self._unwatched(entry, now))
            if unseen <= _away(entry.said):
                is_counted = entry.said.type != "person_entered" or entry.number not in uncounted
                rows.append(replace(entry.said, unseen_s=unseen.total_seconds(), is_counted=is_counted))
        since_s = self._since(now).total_seconds()
        rows += [
            replace(said, unseen_s=said.unseen_s + since_s, sought_s=said.sought_s + since_s)
            for said in self._before
            if not self._is_over(said, now) and self._unseen(said, now) <= _away(said)
        ]
        return json.dumps({"at": now.isoformat(), "said": [asdict(row) for row in rows[:_MOST]]})

    def _since(self, at: datetime) -> timedelta:
        if self._began_at is None:
            return timedelta(0)
        return max(timedelta(0), at - self._began_at - self._blind - self._waited(at, _LOOK))

    def _unwatched(self, entry: _Open, at: datetime) -> timedelta:
        """Of the time up to a look at `at`, what is none in which it was away; tracks end by a clock of their own, and
        after a long time it is something else."""
        waited = self._waited(at, _UNSEEN)
        return waited if entry.said.type in _AWAY and waited <= GOOD_FOR else timedelta(0)

    def _waited(self, at: datetime, longer_than: timedelta) -> timedelta:
        """For a look at `at`."""
        return max(timedelta(0), at - self._up_to - longer_than)

    def _unseen(self, said: Said, at: datetime) -> timedelta:
        """Nobody looked between the two workers: that time is not one in which it was unseen."""
        return timedelta(seconds=said.unseen_s) + self._since(at)

    def _is_back(self, said: Said, finding: Finding, at: datetime) -> bool:
        """Whether it came into view in time, of what was read late."""
        return self._unseen(said, at) - timedelta(seconds=finding.in_view_s) <= _away(said)

    def _is_over(self, said: Said, at: datetime) -> bool:
        if at - self._made_at > GOOD_FOR:  # pictures came, and none could be looked at
            return True
        if said.type in _READ_LATE:
            return False
        sought_before = timedelta(seconds=said.sought_s if said.type in _SOON else 0)
        return sought_before + self._since(at) > _AT_FIRST or self._unseen(said, at) > _away(said)

    def _moved(self, finding: Finding, at: datetime) -> Said | None:
        """The nearest of those in the same zone, if it may be any of them: codes, plates and fires do not walk."""
        box, most = self._relative(finding.box), _MOVED.get(finding.type)
        if box is None or most is None or self._since(at) > most:
            return None
        alike = [said for said in self._before if (said.type, said.zone) == (finding.type, finding.zone)]
        return min(alike, key=lambda said: _apart(said.box, box), default=None)

    def _say(self, finding: Finding, at: datetime) -> None:
        # Nobody is there any more of whom this was said; and queues are left to the next worker by `QueuesLeft`.
        if finding.type in ("person_left", "queue_formed", "queue_cleared"):
            return
        if len(self._open) >= _MOST:
            del self._open[min(self._open, key=lambda each: self._open[each].seen_at)]
        number = None if finding.type in _AWAY else finding.number
        said = Said(finding.type, finding.zone, _text(finding), self._relative(finding.box))
        self._open[finding.type, finding.subject] = _Open(said, number, at)

    def _relative(self, box: Box | None) -> Box | None:
        width, height = self._size
        return box and (box[0] / width, box[1] / height, box[2] / width, box[3] / height)


def _away(said: Said) -> timedelta:
    return _AWAY.get(said.type, GOOD_FOR)


def _parsed(before: str | None, now: datetime) -> list[Said]:
    if before is None:
        return []
    try:
        told = json.loads(before)
        if now - datetime.fromisoformat(told["at"]) > GOOD_FOR:
            return []
        return [_said(row) for row in told["said"]]
    except (ValueError, KeyError, TypeError):
        return []  # of another release


def _said(row: Mapping[str, object]) -> Said:
    box, unseen_s = row["box"], row["unseen_s"]
    sought_s = row.get("sought_s", 0.0)  # releases before this one tell nothing of that
    assert box is None or isinstance(box, list)
    assert isinstance(unseen_s, int | float)
    assert isinstance(sought_s, int | float)
    place: Box | None = None if box is None else (float(box[0]), float(box[1]), float(box[2]), float(box[3]))
    zone = None if row["zone"] is None else str(row["zone"])
    return Said(
        str(row["type"]), zone, str(row["text"]), place, float(unseen_s), float(sought_s), bool(row["is_counted"])
    )


def _apart(one: Box | None, other: Box) -> float:
    """Between the middles of two relative boxes."""
    if one is None:
        return math.inf
    return math.dist((one[0] + one[2], one[1] + one[3]), (other[0] + other[2], other[1] + other[3])) / 2


def _text(finding: Finding) -> str:
    return str(finding.details.get("text", ""))


def _is_same(said: Said, finding: Finding, box: Box | None) -> bool:
    if (said.type, said.zone) != (finding.type, finding.zone):
        return False
    if said.text or _text(finding):
        return said.text == _text(finding)
    if said.box is None or box is None:
        return said.box is box
    return overlap(said.box, box) >= _SAME_FROM
