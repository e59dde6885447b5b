"""Barcodes and matrix codes: read in a picture by ZXing-C++, told once for each visit of a code.

A symbology without a check of its own can be seen in any fence or radiator. Those are taken from a length on only, and
only once two frames agree. What a code says came from whoever printed it: it is data, and made safe to show.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt
import zxingcpp
from cv2.typing import MatLike
from zxingcpp import Barcode, BarcodeFormat, ContentType

from ingest.vision.scenarios.findings import Box, Finding

Pixels = npt.NDArray[np.uint8]

AWAY_S = 10.0
"""A code that was out of view for longer comes back as a new visit."""
MOST_CODES = 100
MOST_CHARACTERS = 7089
"""As many as the largest QR code holds; escaped, more are cut."""
MOST_SIDE = 16_384
_MOST_KEPT = 1000
_SUBJECT_CHARACTERS = 64
_ENLARGED_UP_TO, _HALVED_FROM = 1600, 800

_FORMATS = zxingcpp.barcode_formats_from_str(
    "Code128,Code39,Code93,Codabar,ITF,EAN13,EAN8,UPCA,UPCE,DataBar,DataBarExp,DataBarLtd,"
    "QRCode,MicroQRCode,rMQRCode,DataMatrix,AztecCode,PDF417,MaxiCode"
)
_LINES = zxingcpp.barcode_formats_from_str("Code128,Code93,EAN13,UPCA,DataBar,DataBarExp")
_ANGLES = (30.0, 60.0)
"""ZXing reads bars turned by up to 17 degrees from either side of the picture; degrees."""
# The share of misreadings that a symbology's own check lets pass: the form of its bars alone, a digit modulo 10, a
# character modulo 103. What corrects errors also sees them.
_PASSING = {
    BarcodeFormat.Codabar: 0.4,
    BarcodeFormat.ITF: 0.4,
    BarcodeFormat.Code39: 0.3,
    BarcodeFormat.EANUPC: 0.1,
    BarcodeFormat.DataBar: 0.02,
    BarcodeFormat.Code128: 0.01,
    BarcodeFormat.Code93: 0.01,
}
_CORRECTED = 0.001
_LEAST_CHARACTERS = {BarcodeFormat.Codabar: 6, BarcodeFormat.ITF: 6, BarcodeFormat.Code39: 4}
_SHORT_CHECKED = {BarcodeFormat.UPCE, BarcodeFormat.EAN8}  # few bars and one digit to check
_WEAK_FRAMES = 2
_CONTROLS = {0: "NUL", 4: "EOT", 9: "HT", 10: "LF", 13: "CR", 28: "FS", 29: "GS", 30: "RS", 31: "US", 127: "DEL"}


@dataclass(frozen=True, slots=True)
class Code:
    """A code in one picture. `text` is printable; `format` is ZXing's name of the symbology; `is_weak`: one sight of it
    proves nothing; `confidence`: one less the share of misreadings that its symbology lets pass."""

    text: str
    format: str
    box: Box
    confidence: float
    is_weak: bool = False


def read_codes(image: Pixels, *, thorough: bool = True) -> list[Code]:
    """All codes in a picture (height x width x 3, RGB). `thorough`: where nothing is found, look again at it blurred,
    enlarged, halved, turned and with more contrast: up to ten times the work. Raises ValueError for another shape."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError("a picture is height x width x 3 of bytes")
    if 0 in image.shape or max(image.shape) > MOST_SIDE:
        raise ValueError(f"a picture's sides have 1 to {MOST_SIDE} pixels")
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    height, width = grey.shape
    found = _codes_seen_by(_Look(grey), width, height)
    if not found and thorough:
        # The more often one looks, the more there is that looks like a code without a check.
        looked = (
            [code for code in _codes_seen_by(look, width, height) if not code.is_weak] for look in _second_looks(grey)
        )
        found = next(filter(None, looked), [])
    return found[:MOST_CODES]


def safe_text(text: str) -> str:
    """Printable: what controls, reorders or hides other characters is named, as in <GS> or <U+202E>."""
    return "".join(character if _is_plain(character) else _named(ord(character)) for character in text)


def safe_bytes(content: bytes) -> str:
    """UTF-8 text made safe; where it is none, ASCII with all other bytes as in <x80>."""
    try:
        return safe_text(content.decode())
    except UnicodeDecodeError:
        return "".join(_named(byte) if byte < 128 and not chr(byte).isprintable() else _ascii(byte) for byte in content)


def _ascii(byte: int) -> str:
    return chr(byte) if byte < 128 else f"<x{byte:02X}>"


def _is_plain(character: str) -> bool:
    return character == " " or unicodedata.category(character)[0] not in "CZ"


def _named(value: int) -> str:
    return f"<{_CONTROLS.get(value) or f'U+{value:04X}'}>"


@dataclass(frozen=True, slots=True)
class _Look:
    """A picture made out of another. `back` (2 x 3) takes its points to where they are in that other."""

    grey: MatLike
    back: MatLike = field(default_factory=lambda: np.eye(2, 3))
    formats: zxingcpp.BarcodeFormats = _FORMATS
    binarizer: zxingcpp.Binarizer = zxingcpp.Binarizer.LocalAverage


def _second_looks(grey: MatLike) -> Iterator[_Look]:
    """In the order of how much each finds in pictures that were blurred, shrunk, darkened and made noisy."""
    longest = max(grey.shape)
    yield _Look(cv2.GaussianBlur(grey, (0, 0), 1.2))
    if longest <= _ENLARGED_UP_TO:
        yield _Look(cv2.resize(grey, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), np.eye(2, 3) / 2)
    if longest >= _HALVED_FROM:
        yield _Look(cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.eye(2, 3) * 2)
    yield _Look(grey, binarizer=zxingcpp.Binarizer.GlobalHistogram)
    stretched = cv2.createCLAHE(2.0, (8, 8)).apply(grey)
    yield _Look(stretched)
    yield _Look(cv2.addWeighted(stretched, 2.0, cv2.GaussianBlur(stretched, (0, 0), 2.0), -1.0, 0))
    yield from (_turned(grey, angle) for angle in _ANGLES)


def _turned(grey: MatLike, angle: float) -> _Look:
    height, width = grey.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    cosine, sine = abs(turn[0, 0]), abs(turn[0, 1])
    size = round(width * cosine + height * sine), round(width * sine + height * cosine)
    turn[:, 2] += (size[0] - width) / 2, (size[1] - height) / 2
    turned = cv2.warpAffine(grey, turn, size, borderMode=cv2.BORDER_REPLICATE)
    return _Look(turned, cv2.invertAffineTransform(turn), _LINES)


def _codes_seen_by(look: _Look, width: int, height: int) -> list[Code]:
    """In a picture of that width and height, of which the look was made."""
    found = zxingcpp.read_barcodes(
        np.ascontiguousarray(look.grey),
        formats=look.formats,
        text_mode=zxingcpp.TextMode.Plain,
        binarizer=look.binarizer,
    )
    codes = (_code(barcode, look.back, width, height) for barcode in found)
    return [code for code in codes if code is not None]


def _code(barcode: Barcode, back: MatLike, width: int, height: int) -> Code | None:
    is_text = barcode.content_type is not ContentType.Binary and barcode.text != ""
    text = safe_text(barcode.text) if is_text else safe_bytes(barcode.bytes)
    symbology = barcode.symbology
    if not barcode.valid or len(text) < _LEAST_CHARACTERS.get(symbology, 1):
        return None
    if len(text) > MOST_CHARACTERS:
        text = text[: MOST_CHARACTERS - 1] + "…"
    place = barcode.position
    points = (place.top_left, place.top_right, place.bottom_left, place.bottom_right)
    corners = np.array([[point.x, point.y, 1] for point in points]) @ back.T
    left, top = np.clip(corners.min(axis=0), 0, (width, height)).tolist()
    right, bottom = np.clip(corners.max(axis=0) + 1, 0, (width, height)).tolist()
    is_weak = symbology in _LEAST_CHARACTERS or barcode.format in _SHORT_CHECKED
    box = (left, top, right, bottom)
    return Code(text, str(barcode.format), box, 1 - _PASSING.get(symbology, _CORRECTED), is_weak)


@dataclass
class _Visit:
    last_s: float
    frames: int = 0
    subject: str | None = None  # once it is told


class Barcodes:
    """One camera's. Not for several threads."""

    def __init__(self) -> None:
        self._visits: dict[tuple[str, str], _Visit] = {}
        self._told = 0
        self.present: list[str] = []
        """The subjects of what was told and is in the last frame."""
        self.wants_looks = False
        """Whether a weak code waits for its second frame, or one that was told is out of view and may come back."""

    def step(self, now_s: float, codes: Sequence[Code]) -> list[Finding]:
        """What a frame at `now_s` tells, by a monotonic clock that runs while somebody looks: the codes that have come
        into view. The same code twice in a picture is one."""
        findings: list[Finding] = []
        self.present = []
        self._forget(now_s)
        for code in {(code.format, code.text): code for code in codes[:MOST_CODES]}.values():
            visit = self._visits.setdefault((code.format, code.text), _Visit(now_s))
            visit.last_s = now_s
            visit.frames += 1
            if visit.subject is None and (visit.frames >= _WEAK_FRAMES or not code.is_weak):
                self._told += 1
                findings.append(_finding(code, visit.frames, self._told))
                visit.subject = findings[-1].subject
            if visit.subject is not None:
                self.present.append(visit.subject)
        self.wants_looks = any((visit.subject is None) == (visit.last_s == now_s) for visit in self._visits.values())
        return findings

    def _forget(self, now_s: float) -> None:
        gone = [key for key, visit in self._visits.items() if now_s - visit.last_s > AWAY_S]
        # A camera before a stream of ever new codes must not grow: the longest unseen go first.
        by_age = sorted(self._visits, key=lambda key: self._visits[key].last_s)
        for key in {*gone, *by_age[: max(0, len(by_age) - _MOST_KEPT)]}:
            del self._visits[key]


def _finding(code: Code, frames: int, number: int) -> Finding:
    named = code.text
    if len(named) > _SUBJECT_CHARACTERS:
        named = hashlib.sha256(named.encode()).hexdigest()
    confidence = 1 - (1 - code.confidence) ** frames
    details = {"text": code.text, "format": code.format}
    return Finding("barcode_read", f"{code.format}:{named}:{number}", confidence, code.box, details=details)
