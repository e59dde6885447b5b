"""Ogg files put together end to end, as radio servers and some recorders leave them: where each one begins.

FFmpeg goes on into the next one only where it has the same channels and codec. Page header: RFC 3533, section 6.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

MOST_LINKS = 1000
MOST_PAGES = 5_000_000
"""A day with a page for every 20 ms has 4.3 million. What lies behind belongs to the last link found."""

_HEADER = struct.Struct("<4sBBqIIIB")
_LONGEST_HEADER = _HEADER.size + 255
_PAGE = re.compile(rb"OggS\x00[\x00-\x07]")
"""The capture pattern, the version, and the flags that there are."""
_PAGE_BYTES = 6
_BEGINS = 0x02
_READ_BYTES = 256 * 1024


def links(path: Path) -> list[int]:
    """The byte at which each link of the chain begins; [0] for a file that is none, or is damaged where it goes on."""
    with path.open("rb") as file:
        return links_in(file)


def links_in(file: BinaryIO) -> list[int]:
    """`links` of an open file, which is read once, from its beginning."""
    found: list[int] = []
    begun = False
    for place, flags in islice(_pages(file), MOST_PAGES):
        # The streams of one link all begin before anything else comes.
        begins = bool(flags & _BEGINS)
        if begins and not begun:
            found.append(place)
            if len(found) == MOST_LINKS:
                break
        begun = begins
    return found or [0]


def _pages(file: BinaryIO) -> Iterator[tuple[int, int]]:
    """(byte at which it begins, flags) of each page; damage between pages is searched for the next one."""
    place = start = 0
    buffer = b""
    while True:
        if place + _LONGEST_HEADER > start + len(buffer):
            file.seek(place)
            start, buffer = place, file.read(_READ_BYTES)
        at = place - start
        if len(buffer) - at < _HEADER.size:
            return
        page = _PAGE.search(buffer, at)
        if page is None or page.start() > at:
            place = start + (page.start() if page else len(buffer) - _PAGE_BYTES + 1)
            continue
        *_, flags, _, _, _, _, segments = _HEADER.unpack_from(buffer, at)
        yield place, flags
        at += _HEADER.size
        place += _HEADER.size + segments + sum(buffer[at : at + segments])
