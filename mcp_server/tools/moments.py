"""Bounds in time as agents give them: a day of the account's time zone, or a moment with its offset."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from mcp_server.registry import ToolContext, ToolError
from mcp_server.tools.periods import WrittenDate, day_as_written, day_start
from mcp_server.tools.shapes import with_zone
from store.database import now

# Beyond these a day has no border in UTC.
_EARLIEST = date(1900, 1, 1)
_LATEST = date(9990, 1, 1)


def _usual(day: date) -> date:
    if not _EARLIEST <= day <= _LATEST:
        raise ValueError(f"is not between {_EARLIEST} and {_LATEST}")
    return day


def _day_or_moment(bound: date | datetime) -> date | datetime:
    if isinstance(bound, datetime):
        _usual(with_zone(bound).date())
        return bound
    return _usual(bound)


def _as_written(value: object) -> object:
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d[T ]", value):
        with suppress(ValueError):
            return datetime.fromisoformat(value)
        raise ValueError("is no time, as 2026-01-31T10:00:00+03:00")
    return day_as_written(value)


Day = Annotated[WrittenDate, AfterValidator(_usual)]
Bound = Annotated[
    date | datetime, BeforeValidator(_as_written), AfterValidator(_day_or_moment), WithJsonSchema({"type": "string"})
]


def in_order(first: date | datetime | None, last: date | datetime | None, name: str = "to") -> None:
    """Raises ToolError where the last is before the first: nothing could be found."""
    if first is not None and last is not None and last < first:
        raise ToolError(f"{name}: is before the beginning of the period")


def zone_of(context: ToolContext) -> ZoneInfo:
    return ZoneInfo(context.tenant.time_zone)


def today(context: ToolContext) -> date:
    """In the account's time zone."""
    return now().astimezone(zone_of(context)).date()


def since(context: ToolContext, bound: date | datetime | None) -> datetime | None:
    """The first moment that the bound lets in."""
    if bound is None or isinstance(bound, datetime):
        return bound
    return day_start(bound, zone_of(context))


def until(context: ToolContext, bound: date | datetime | None) -> datetime | None:
    """The first moment that is out: the bound itself, or what comes after its day."""
    if bound is None or isinstance(bound, datetime):
        return bound
    return day_start(bound + timedelta(days=1), zone_of(context))
