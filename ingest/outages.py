"""Steps that outlast an outage: a database, a store, an index, a disk or a provider that is away for most of an hour
costs time, and no work."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

from ingest.speech.samples import NoRoom
from store.errors import Unavailable, UpstreamFailed
from store.jobs import step

_ATTEMPTS, _TIMES_LONGER = 19, 1.5
"""A second after the first, then so many times longer each time: 49 minutes, and after an outage never longer to wait
than half of what it took."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Decorator(Protocol):
    def __call__(self, function: Callable[Parameters, Result], /) -> Callable[Parameters, Result]: ...


def is_passing(error: BaseException) -> bool:
    """Whether what failed so is worth another try after a while."""
    return isinstance(error, (OSError, Unavailable, UpstreamFailed, NoRoom))


def lasting_step(name: str) -> Decorator:
    """A step that is tried again while something is away; whatever else fails it is told at once."""
    return step(
        name=name, retries_allowed=True, max_attempts=_ATTEMPTS, backoff_rate=_TIMES_LONGER, should_retry=is_passing
    )


def closing_step(name: str) -> Decorator:
    """One that writes down how the work ended, and is tried again whatever failed it."""
    return step(name=name, retries_allowed=True, max_attempts=_ATTEMPTS, backoff_rate=_TIMES_LONGER)
