"""The tool that ranks what was noticed in conversations: rank_signals."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from ingest.analysis.catalogs import category_label
from mcp_server.registry import Tool, ToolContext, ToolError
from mcp_server.tools.periods import PeriodShown, period_of
from mcp_server.tools.rankings import RankArguments, cut_page, page_of, profiles_of, wanted_of
from mcp_server.tools.shapes import (
    QUOTED,
    Quoted,
    communication_url,
    local_time,
    person_name,
    person_url,
    shorten,
)
from store import rankings_signals, speakers
from store.rankings_signals import Example

# Most of one text, and of all of its kind on a page.
VALUE_CHARACTERS, PAGE_VALUES = 160, 4_500
TITLE_CHARACTERS, PAGE_TITLES = 100, 3_000
QUOTE_CHARACTERS, PAGE_QUOTES = 300, 6_000

Signal = Literal[
    "objection",
    "competitors",
    "churn_risk",
    "disputes",
    "urgency",
    "severity",
    "escalation",
    "requested_resolution",
    "constraints",
    "contact_outcome",
]


class RankSignals(RankArguments):
    signal: Signal | None = Field(None, description="Without it any; value needs one.")
    group_by: rankings_signals.Group = Field("signal", description="value: what was said, the most frequent first.")


class RankedSignal(BaseModel):
    """`pct` is of the group's conversations; of a value, of those with its signal. The rest is the newest example;
    `url` leads to the person, where it is one."""

    id: str | None
    name: Quoted
    count: int
    pct: float
    signal: str | None
    quote: Quoted | None
    communication_id: str | None
    kind: str | None
    title: Quoted | None
    occured_at: str
    url: str | None


class SignalRanking(BaseModel):
    text_is: str = QUOTED
    period: PeriodShown
    items: list[RankedSignal]
    next_cursor: str | None


def rank_signals(context: ToolContext, arguments: RankSignals) -> SignalRanking:
    group, signal = arguments.group_by, arguments.signal
    if group == "value" and signal is None:
        raise ToolError("signal: group_by value needs one, for example objection")
    period, page = period_of(context, arguments), page_of(arguments)
    wanted = wanted_of(arguments, period, group if group in ("client", "staff") else None)
    with context.database.read() as connection:
        found = rankings_signals.rank_signals(context.tenant_id, connection, wanted, page, group=group, signal=signal)
        rows, cursor = cut_page(arguments, found)
        examples = rankings_signals.examples(context.tenant_id, connection, wanted, rows, group=group, signal=signal)
        people = profiles_of(context, connection, group, [str(row.key) for row in rows])
    most_of_quote = min(QUOTE_CHARACTERS, PAGE_QUOTES // arguments.limit)
    most_of_title = min(TITLE_CHARACTERS, PAGE_TITLES // arguments.limit)
    most_of_value = min(VALUE_CHARACTERS, PAGE_VALUES // arguments.limit)
    items = []
    for row in rows:
        key, example, person = str(row.key), examples.get(row.key), people.get(str(row.key))
        items.append(
            RankedSignal(
                id=key if person or group in ("signal", "category") else None,
                name=shorten(example.content, most_of_value)
                if group == "value" and example
                else _name(context, group, key, person),
                count=row.count,
                pct=round(100 * row.share, 1),
                signal=example.signal if example else None,
                quote=shorten(example.quote or example.content, most_of_quote) if example else None,
                communication_id=example.communication_id if example else None,
                kind=example.kind if example else None,
                title=shorten(example.title, most_of_title) if example else None,
                occured_at=local_time(context, row.newest_at),
                url=_url(context, person, example),
            )
        )
    return SignalRanking(period=period.shown(), items=items, next_cursor=cursor)


def _name(context: ToolContext, group: str, key: str, person: speakers.Speaker | None) -> str:
    if person is not None:
        return person_name(person)
    return category_label(key, context.tenant.language) or key if group == "category" else key


def _url(context: ToolContext, person: speakers.Speaker | None, example: Example | None) -> str | None:
    if person is not None:
        return person_url(context, person.id)
    return communication_url(context, example.communication_id) if example else None


TOOLS = (
    Tool(
        name="rank_signals",
        title="Rank signals",
        description=(
            "How often signals (objections, churn risk, competitors, ...) came up in conversations: which, what was "
            "said, with whom; each with its newest example. For one conversation's facts use get_communication."
        ),
        arguments=RankSignals,
        result=SignalRanking,
        function=rank_signals,
        of_analysis=True,
    ),
)
