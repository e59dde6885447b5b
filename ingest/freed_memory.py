"""What glibc keeps of the memory that is freed, bounded: of a process that lives for weeks each peak would stay.

Both functions do nothing with another C library.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

_LIBRARY = "libc.so.6"
_M_ARENA_MAX = -8  # of malloc.h


def bound_arenas() -> None:
    """glibc keeps an arena of its own for nearly every thread, and what one freed another does not get: two are enough
    for threads that wait most of the time, and cost far less memory."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(_LIBRARY).mallopt(_M_ARENA_MAX, 2)


def give_back() -> None:
    """Gives whole pages that are free back to the system, from amid those in use too; a few milliseconds."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(_LIBRARY).malloc_trim(0)
