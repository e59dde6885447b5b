"""What was said of whom is still in the picture: so that the worker which takes a stream over does not say it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from ingest.vision.scenarios.findings import Box, Finding, Tracked, overlap

GOOD_FOR = timedelta(seconds=60)
"""A report that is older tells nothing of who is there now."""
_AT_FIRST_S = 15.0
_SAME_FROM = 0.2
_MOST = 500


@dataclass(frozen=True, slots=True)
class Said:
    type: str
    zone: str | None
    text: str
    box: Box | None


class Remembered:
    """One stream's. Not for several threads. `before`: what another worker `exported` at `at`, if any did."""

    def __init__(self, before: str | None, now: datetime) -> None:
        self._open: dict[tuple[str, str | None, int | None, str], Said] = {}
        self._before = _parsed(before, now)
        self._began_s: float | None = None

    def is_known(self, finding: Finding, now_s: float) -> bool:
        """Whether the worker before has said this already, of somebody who is still where they were. Each once."""
        if self._began_s is None:
            self._began_s = now_s
        if now_s - self._began_s > _AT_FIRST_S:
            self._before = []
        found = next((said for said in self._before if _is_same(said, finding)), None)
        if found is not None:
            self._before.remove(found)
            self.note(finding)
        return found is not None

    def note(self, finding: Finding) -> None:
        """Notes what was said now."""
        if finding.type == "person_left":
            return
        if len(self._open) >= _MOST:
            del self._open[next(iter(self._open))]
        said = Said(finding.type, finding.zone, _text(finding), finding.box)
        self._open[finding.type, finding.zone, finding.number, said.text] = said

    def follow(self, seen: Sequence[Tracked], ended: Sequence[int]) -> None:
        """Where those are now of whom something was said; who has gone is forgotten."""
        boxes = {each.number: each.box for each in seen}
        for key, said in list(self._open.items()):
            number = key[2]
            if number in ended:
                del self._open[key]
            elif number in boxes:
                self._open[key] = Said(said.type, said.zone, said.text, boxes[number])

    def exported(self, now: datetime) -> str:
        return json.dumps({"at": now.isoformat(), "said": [asdict(said) for said in self._open.values()]})


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
    box = row["box"]
    assert box is None or isinstance(box, list)
    place: Box | None = None if box is None else (float(box[0]), float(box[1]), float(box[2]), float(box[3]))
    return Said(str(row["type"]), None if row["zone"] is None else str(row["zone"]), str(row["text"]), place)


def _text(finding: Finding) -> str:
    return str(finding.details.get("text", ""))


def _is_same(said: Said, finding: Finding) -> bool:
    if (said.type, said.zone) != (finding.type, finding.zone):
        return False
    if said.text or _text(finding):
        return said.text == _text(finding)
    if said.box is None or finding.box is None:
        return said.box is finding.box
    return overlap(said.box, finding.box) >= _SAME_FROM
