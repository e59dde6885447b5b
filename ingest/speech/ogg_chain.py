"""Ogg files put together end to end, as radio servers and some recorders leave them: where each one begins.

FFmpeg goes on into the next one only where it has the same channels and codec. Page header: RFC 3533, section 6.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

MOST_LINKS = 1000

_HEADER = struct.Struct("<4sBBqIIIB")
_BEGINS = 0x02
_READ_BYTES = 64 * 1024


def links(path: Path) -> list[int]:
    """The byte at which each link of the chain begins; [0] for a file that is none, or is damaged where it goes on."""
    found: list[int] = []
    with path.open("rb", buffering=_READ_BYTES) as file:
        begun = False
        place: int | None = 0
        while place is not None and len(found) < MOST_LINKS:
            file.seek(place)
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                break
            magic, version, flags, *_, segments = _HEADER.unpack(header)
            if magic != b"OggS" or version != 0:
                place = _next_page(file, place + 1)
                continue
            # The streams of one link all begin before anything else comes.
            begins = bool(flags & _BEGINS)
            if begins and not begun:
                found.append(place)
            begun = begins
            place += _HEADER.size + segments + sum(file.read(segments))
    return found or [0]


def _next_page(file: BinaryIO, place: int) -> int | None:
    """Where the next page may begin behind damage."""
    file.seek(place)
    kept = b""
    while data := file.read(_READ_BYTES):
        at = (kept + data).find(b"OggS")
        if at >= 0:
            return place - len(kept) + at
        place += len(data)
        kept = data[-3:]
    return None
