"""Sees that H.264 pictures are missing by the numbers in their headers (ITU-T H.264, 7.3 and 7.4.3, frame_num).

A picture that fits into one packet can be lost without a trace, and what leans on it is then decoded without an error,
and wrong. FFmpeg notices, and fills the gap with a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

START = b"\x00\x00\x00\x01"
SLICE, KEY_SLICE, PARAMETERS = 1, 5, 7

_HEAD_BYTES = 48
_WITH_CHROMA = {100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135}
_INTRA = {2, 7}
_LEANED_ON = 0x60  # nal_ref_idc: pictures without it may be lost, and are not counted


@dataclass(frozen=True, slots=True)
class _Parameters:
    """What a sequence parameter set says of frame numbers."""

    frame_number_bits: int
    has_planes: bool
    allows_gaps: bool


class FrameNumbers:
    """Follows the numbers from picture to picture."""

    def __init__(self, extradata: bytes | None) -> None:
        self._parameters: _Parameters | None = None
        self._last: int | None = None
        if extradata and extradata.startswith(START):
            self.misses(extradata)

    def misses(self, data: bytes) -> bool:
        """Whether a picture that others lean on is missing before this one; False where that cannot be told."""
        for unit in data.split(START):
            kind = unit[0] & 31 if unit else 0
            if kind == PARAMETERS:
                self._parameters = _parameters(unit)
            elif kind in (SLICE, KEY_SLICE):
                return self._follows_a_gap(unit, kind)
        return False

    def _follows_a_gap(self, unit: bytes, kind: int) -> bool:
        parameters = self._parameters
        if parameters is None or parameters.allows_gaps:
            return False
        bits = _Bits(unit)
        try:
            bits.number()
            is_intra = bits.number() in _INTRA
            bits.number()
            bits.take(2 if parameters.has_planes else 0)
            number = bits.take(parameters.frame_number_bits)
        except IndexError:
            return False
        last = self._last
        if unit[0] & _LEANED_ON:
            self._last = number
        if kind == KEY_SLICE or is_intra or last is None:
            return False
        # The same number again is the second field of a frame.
        return number not in (last, (last + 1) % (1 << parameters.frame_number_bits))


class _Bits:
    """Bits of a unit's head, from behind its first byte. Raises IndexError at its end."""

    def __init__(self, unit: bytes) -> None:
        head = unit[1:_HEAD_BYTES].replace(b"\x00\x00\x03", b"\x00\x00")
        self._bits = "".join(f"{byte:08b}" for byte in head)
        self._at = 0

    def take(self, count: int) -> int:
        if self._at + count > len(self._bits):
            raise IndexError
        taken = self._bits[self._at : self._at + count]
        self._at += count
        return int(taken, 2) if taken else 0

    def number(self) -> int:
        """An Exp-Golomb code: ue(v)."""
        zeros = 0
        while self.take(1) == 0:
            zeros += 1
        return (1 << zeros) - 1 + self.take(zeros)

    def signed(self) -> int:
        value = self.number()
        return (value + 1) // 2 if value % 2 else -(value // 2)


def _parameters(unit: bytes) -> _Parameters | None:
    bits = _Bits(unit)
    try:
        profile = bits.take(8)
        bits.take(16)
        bits.number()
        has_planes = False
        if profile in _WITH_CHROMA:
            chroma = bits.number()
            has_planes = chroma == 3 and bits.take(1) == 1
            bits.number()
            bits.number()
            bits.take(1)
            if bits.take(1):
                return None  # scaling lists: such streams go unchecked
        frame_number_bits = bits.number() + 4
        order = bits.number()
        if order == 0:
            bits.number()
        elif order == 1:
            bits.take(1)
            bits.signed()
            bits.signed()
            for _ in range(bits.number()):
                bits.signed()
        bits.number()
        return _Parameters(frame_number_bits, has_planes, bits.take(1) == 1)
    except IndexError:
        return None
