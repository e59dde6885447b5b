"""The tool that counts over a period: get_period_metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import reduce
from itertools import islice
from operator import add
from typing import Any, Literal, cast, get_args

from pydantic import BaseModel

from ingest.analysis.catalogs import category_label
from ingest.analysis.reading import read_settings
from mcp_server.registry import Tool, ToolContext, ToolError
from mcp_server.tools.periods import Period, PeriodArguments, PeriodShown, period_of
from mcp_server.tools.shapes import QUOTED, Cursor, Quoted, make_cursor, open_cursor
from store import figures
from store.database import Connection
from store.figures import Kind, Selection, Sums

GROUPS_A_PAGE = 62
TIMES = ("day", "week", "month")
COLUMNS = get_args(figures.Column)


class GetPeriodMetrics(PeriodArguments):
    group_by: Literal["day", "week", "month", "kind", "channel_type", "direction", "category"] | None = None
    cursor: Cursor | None = None


class Figures(BaseModel):
    """Shares are of what is known: answered of answered and unanswered, staff's talk of calls whose voices are told
    apart. A first reply is that of the company, in chats and mails."""

    count: int
    duration_s: int
    avg_duration_s: int | None
    answered: int
    unanswered: int
    answered_pct: float | None
    staff_talk_pct: float | None
    avg_first_reply_s: int | None
    commitments: int
    qc_score_pct: float | None


class Share(BaseModel):
    """`code` is null for what was not analysed; `pct` is of all."""

    code: str | None
    label: Quoted | None
    count: int
    pct: float
    qc_score_pct: float | None


class MetricsGroup(BaseModel):
    """`key` is a value of what is grouped by, null where there is none; of a time its first day in the period."""

    key: str | None
    label: str | None
    figures: Figures


class PeriodMetrics(BaseModel):
    """`before` is of as many days before the period, `change` is total less before."""

    text_is: str = QUOTED
    period: PeriodShown
    total: Figures
    before: Figures
    change: Figures
    count_change_pct: float | None
    categories: list[Share]
    qc_scenarios: list[Share]
    items: list[MetricsGroup]
    next_cursor: str | None


def get_period_metrics(context: ToolContext, arguments: GetPeriodMetrics) -> PeriodMetrics:
    period = period_of(context, arguments)
    before = period.before()
    wanted = _selection(period, arguments)
    judged = "qc" in context.tenant.features
    with context.database.read() as connection:
        groups, next_day = _groups(context, connection, arguments, period)
        # Where the groups hold everything, adding them is quicker than counting again.
        total = (
            reduce(add, (group.sums for group in groups), Sums())
            if groups and arguments.cursor is None and next_day is None
            else figures.sum_up(context.tenant_id, connection, wanted)
        )
        earlier = figures.sum_up(context.tenant_id, connection, _selection(before, arguments))
        kinds = figures.list_kinds(context.tenant_id, connection, wanted)
        names = {each.code: each.name for each in read_settings(context.tenant, connection).scenarios}
    total_shown, earlier_shown = _shown(total, judged=judged), _shown(earlier, judged=judged)
    return PeriodMetrics(
        period=period.shown(),
        total=total_shown,
        before=earlier_shown,
        change=_change(total_shown, earlier_shown),
        count_change_pct=_pct(total.count - earlier.count, earlier.count),
        categories=_shares(
            [(kind.category, category_label(kind.category, context.tenant.language), kind) for kind in kinds],
            total.count,
            judged=judged,
        ),
        qc_scenarios=_shares(
            [(kind.scenario_code, names.get(kind.scenario_code), kind) for kind in kinds if kind.scenario_code],
            total.count,
            judged=judged,
        )
        if judged
        else [],
        items=[
            MetricsGroup(key=each.key, label=each.label, figures=_shown(each.sums, judged=judged)) for each in groups
        ],
        next_cursor=make_cursor(arguments, day=next_day.isoformat()) if next_day else None,
    )


@dataclass(frozen=True, slots=True)
class _Group:
    key: str | None
    label: str | None
    sums: Sums


def _groups(
    context: ToolContext, connection: Connection, arguments: GetPeriodMetrics, period: Period
) -> tuple[list[_Group], date | None]:
    """A page of groups, and the first day of the next page. Of a time there is one for each stretch of it, in their
    order; of a column one for each value, the most frequent first."""
    by = arguments.group_by
    if arguments.cursor is not None and by not in TIMES:
        raise ToolError("cursor: goes with group_by day, week or month alone")
    if by is None:
        return [], None
    if by in COLUMNS:
        column = cast(figures.Column, by)
        found = figures.sum_up_by(context.tenant_id, connection, _selection(period, arguments), column)
        language = context.tenant.language
        return [
            _Group(key, category_label(key, language) if by == "category" else None, sums)
            for key, sums in sorted(found.items(), key=lambda each: (-each[1].count, each[0] or ""))
        ], None
    page = list(islice(_stretches(_from_cursor(period, arguments), by), GROUPS_A_PAGE))
    groups = [
        _Group(
            stretch.first.isoformat(),
            None if by == "day" else f"{stretch.first}..{stretch.last}",
            figures.sum_up(context.tenant_id, connection, _selection(stretch, arguments)),
        )
        for stretch in page
    ]
    following = page[-1].last + timedelta(days=1)
    return groups, following if following <= period.last else None


def _from_cursor(period: Period, arguments: GetPeriodMetrics) -> Period:
    """What the cursor's page and those behind it are of."""
    values = open_cursor(arguments, "day")
    if values is None:
        return period
    try:
        day = date.fromisoformat(values["day"])
    except (TypeError, ValueError):
        day = date.max
    if not period.first <= day <= period.last:
        raise ToolError("cursor: is not one of this period; leave it out to begin again")
    return replace(period, first=day)


def _selection(period: Period, arguments: GetPeriodMetrics) -> Selection:
    return Selection(period.start, period.end, arguments.kind, arguments.channel_type, arguments.direction)


def _stretches(period: Period, by: str) -> Iterator[Period]:
    """Its days, weeks from Monday, or months, in their order; the first and the last one may be cut."""
    first = period.first
    while first <= period.last:
        last = min(_last_day(first, by), period.last)
        yield replace(period, first=first, last=last)
        first = last + timedelta(days=1)


def _last_day(day: date, by: str) -> date:
    if by == "week":
        return day + timedelta(days=6 - day.weekday())
    if by == "month":
        return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return day


def _shares(kinds: Iterable[tuple[str | None, str | None, Kind]], of: int, *, judged: bool) -> list[Share]:
    """Of (code, label, some communications), added up by code, the most frequent first."""
    labels: dict[str | None, str | None] = {}
    sums: dict[str | None, Sums] = defaultdict(Sums)
    for code, label, kind in kinds:
        labels[code] = label or code
        sums[code] += Sums(count=kind.count, scores=kind.scores, score_pct=kind.score_pct)
    return [
        Share(
            code=code,
            label=labels[code],
            count=each.count,
            pct=_pct(each.count, of) or 0.0,
            qc_score_pct=_score(each, judged=judged),
        )
        for code, each in sorted(sums.items(), key=lambda item: (-item[1].count, item[0] or ""))
    ]


def _shown(sums: Sums, *, judged: bool) -> Figures:
    return Figures(
        count=sums.count,
        duration_s=round(sums.duration_ms / 1000),
        avg_duration_s=_mean(sums.duration_ms / 1000, sums.durations),
        answered=sums.answered,
        unanswered=sums.unanswered,
        answered_pct=_pct(sums.answered, sums.answered + sums.unanswered),
        staff_talk_pct=_pct(sums.staff_ms, sums.staff_ms + sums.client_ms),
        avg_first_reply_s=_mean(sums.first_reply_s, sums.replies),
        commitments=sums.commitments,
        qc_score_pct=_score(sums, judged=judged),
    )


def _score(sums: Sums, *, judged: bool) -> float | None:
    return round(sums.score_pct / sums.scores, 1) if judged and sums.scores else None


def _change(now: Figures, before: Figures) -> Figures:
    """Number by number; null where one of them is missing."""
    values: dict[str, Any] = {}
    for name in Figures.model_fields:
        one, other = getattr(now, name), getattr(before, name)
        values[name] = None if one is None or other is None else round(one - other, 1)
    return Figures(**values)


def _mean(total: float, count: int) -> int | None:
    return round(total / count) if count else None


def _pct(part: float, whole: float) -> float | None:
    return round(100 * part / whole, 1) if whole else None


TOOLS = (
    Tool(
        name="get_period_metrics",
        title="Count over a period",
        description=(
            "Figures of whole days (by default the last 30) beside the days before: conversations, durations, answered "
            "share, categories, talk share, quality. For who or what leads use rank_people, rank_signals or rank_qc."
        ),
        arguments=GetPeriodMetrics,
        result=PeriodMetrics,
        function=get_period_metrics,
        of_analysis=True,
    ),
)
