"""Periods of metrics and rankings: whole days of the account's time zone, and what they are in UTC."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, Field

from mcp_server.registry import Arguments, ToolContext, ToolError
from mcp_server.tools.shapes import ChannelType, CommunicationKind, Direction
from store.database import now

DEFAULT_DAYS = 30
MOST_DAYS = 3660
# Beyond these a day has no border in UTC, or no day before it.
_EARLIEST = date(1900, 1, 1)
_LATEST = date(9990, 1, 1)


def day_as_written(value: object) -> object:
    """Digits alone would be read as seconds since 1970, and an answer about another time looks like any other."""
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        with suppress(ValueError):
            return date.fromisoformat(value)
    if isinstance(value, date):
        return value
    raise ValueError("is no day, as 2026-01-31")


WrittenDate = Annotated[date, BeforeValidator(day_as_written)]


class PeriodArguments(Arguments):
    """Base of the arguments of tools that count over a period."""

    from_: WrittenDate | None = Field(None, alias="from", description="By default 29 days before `to`.")
    to: WrittenDate | None = Field(None, description="Inclusive; by default today.")
    kind: CommunicationKind | None = None
    channel_type: ChannelType | None = None
    direction: Direction | None = None


class PeriodShown(BaseModel):
    """The period that was counted, as days of the account's time zone."""

    first_day: str
    last_day: str
    time_zone: str


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days, both inclusive, in `zone`."""

    first: date
    last: date
    zone: ZoneInfo

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def start(self) -> datetime:
        """UTC, inclusive."""
        return day_start(self.first, self.zone)

    @property
    def end(self) -> datetime:
        """UTC, exclusive."""
        return day_start(self.last + timedelta(days=1), self.zone)

    def before(self) -> Period:
        """As many days that end where this period begins."""
        return Period(self.first - timedelta(days=self.days), self.first - timedelta(days=1), self.zone)

    def shown(self) -> PeriodShown:
        return PeriodShown(first_day=self.first.isoformat(), last_day=self.last.isoformat(), time_zone=self.zone.key)


def day_start(day: date, zone: ZoneInfo) -> datetime:
    """When the day begins, in UTC. A midnight that a change of clocks leaves out is the moment of that change."""
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)


def period_of(context: ToolContext, arguments: PeriodArguments, *, moment: datetime | None = None) -> Period:
    """The period that is asked for. Raises ToolError for one that is turned round, too long or out of all time."""
    zone = ZoneInfo(context.tenant.time_zone)
    last = arguments.to or (moment or now()).astimezone(zone).date()
    _check_day("to", last)
    first = arguments.from_ or last - timedelta(days=DEFAULT_DAYS - 1)
    _check_day("from", first)
    if first > last:
        raise ToolError(f"from: {first} is after to: {last}; both are days, and from is the earlier one")
    if (last - first).days >= MOST_DAYS:
        raise ToolError(f"from, to: the period has at most {MOST_DAYS} days; ask for a shorter one")
    return Period(first, last, zone)


def _check_day(name: str, day: date) -> None:
    if not _EARLIEST <= day <= _LATEST:
        raise ToolError(f"{name}: {day} is outside of {_EARLIEST} to {_LATEST}")
