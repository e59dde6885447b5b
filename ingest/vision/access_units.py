"""Puts H.264 packets together to whole pictures, without waiting for the next one to begin.

FFmpeg's own parser knows that a picture is complete only when the next one begins: 40 ms later at 25 pictures a second,
100 ms at 10. Read without it, each packet holds what one RTP packet did (RFC 6184): one or more units, each behind a
start code, or a fragment that continues the last one. A fragment is filled up to the sender's limit unless it is the
last of its unit, and cameras keep to their number of slices a picture: so the end is seen when it comes. Where a camera
does otherwise, its pictures end with the next one's beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

from ingest.vision.frame_numbers import KEY_SLICE, SLICE, START

_SURE_AFTER = 3
"""So many pictures in a row had the same number of slices."""
_MOST_MISTAKES = 3
_SHORT_BYTES = 1000
"""A unit below this, in one packet, is not a first fragment, while the sender's limit is not known."""
_MOST_BYTES = 16 * 1024 * 1024
_FRAGMENT_HEAD = len(START) + 1


@dataclass(frozen=True, slots=True)
class AccessUnit:
    """The units of one picture. `arrived_s`: the monotonic time of its last packet. Damaged: a part of it is lost."""

    data: bytes
    arrived_s: float
    is_key: bool
    is_damaged: bool


class AccessUnits:
    """Packets go in, in order; each access unit comes out once."""

    def __init__(self) -> None:
        self.mistakes = 0
        self._usual_slices = 0
        self._times_usual = 0
        self._fragment_bytes = 0
        self._begin(None, [])

    def _begin(self, stamp: int | None, parts: list[bytes]) -> None:
        self._stamp = stamp
        self._parts = parts
        self._bytes = sum(map(len, parts))
        self._slices = 0
        self._last_start_bytes = 0
        self._arrived_s = 0.0
        self._is_key = False
        self._is_damaged = False
        self._is_out = False

    def feed(self, data: bytes, stamp: int | None, arrived_s: float) -> list[AccessUnit]:
        """What is complete with this packet; `stamp` is the picture's time, the same in all of its packets."""
        complete = []
        # Some cameras stamp badly: a slice that begins with the first macroblock begins a picture, too.
        if stamp != self._stamp or (self._slices and _begins_picture(data)):
            complete = self._end()
            # Parameter sets may come under a stamp of their own.
            before = self._parts if not self._slices and not self._is_damaged else []
            self._begin(stamp, before)
        if data:
            self._add(data, arrived_s)
            if not self._is_out and self._ends_with(data):
                complete.append(self._unit())
                self._is_out = True
        return complete

    def _end(self) -> list[AccessUnit]:
        if self._slices == self._usual_slices:
            self._times_usual += 1
        elif self._slices:
            self._usual_slices, self._times_usual = self._slices, 0
        # If more came than was taken for the whole, it is out already: the decoder saw a part, and has to know.
        is_news = self._is_damaged or (self._slices > 0 and not self._is_out)
        return [self._unit()] if is_news else []

    def _add(self, data: bytes, arrived_s: float) -> None:
        self._arrived_s = arrived_s
        if data.startswith(START):
            kinds = [unit[0] & 31 for unit in data.split(START)[1:] if unit]
            slices = sum(kind in (SLICE, KEY_SLICE) for kind in kinds)
            is_late = self._is_out and slices > 0
            self._slices += slices
            self._is_key = self._is_key or KEY_SLICE in kinds
            self._last_start_bytes = len(data) - _FRAGMENT_HEAD if len(kinds) == 1 else 0
        else:
            is_late = self._is_out
            # A short unit that is no slice has no more fragments: the first one of these is lost.
            is_lost = not self._last_start_bytes or (not self._slices and len(data) > self._last_start_bytes)
            if is_lost and not is_late:
                self._is_damaged = True
            else:
                self._fragment_bytes = self._last_start_bytes
        if is_late:
            self.mistakes += 1
            self._is_damaged = True
        self._bytes += len(data)
        if self._bytes > _MOST_BYTES:
            self._is_damaged = True
            self._parts.clear()
        else:
            self._parts.append(data)

    def _ends_with(self, data: bytes) -> bool:
        if self.mistakes >= _MOST_MISTAKES or self._times_usual < _SURE_AFTER or self._slices != self._usual_slices:
            return False
        if not data.startswith(START):
            return len(data) < self._last_start_bytes
        return self._last_start_bytes < (self._fragment_bytes or _SHORT_BYTES)

    def _unit(self) -> AccessUnit:
        return AccessUnit(b"".join(self._parts), self._arrived_s, self._is_key, self._is_damaged)


def _begins_picture(data: bytes) -> bool:
    if not data.startswith(START):
        return False
    # "0", the number of the first macroblock, is written as one bit that is set.
    return any(unit[0] & 31 in (SLICE, KEY_SLICE) and unit[1] & 0x80 for unit in data.split(START) if len(unit) > 1)
