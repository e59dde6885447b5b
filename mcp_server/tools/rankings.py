"""The tools that rank over a period, what they share, and the first of them: rank_people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field

from mcp_server.registry import Tool, ToolContext, ToolError
from mcp_server.tools.moments import today
from mcp_server.tools.periods import Period, PeriodArguments, PeriodShown, period_of
from mcp_server.tools.shapes import (
    QUOTED,
    Cursor,
    Id,
    Quoted,
    cursor_offset,
    local_time,
    make_cursor,
    person_name,
    person_url,
)
from store import rankings_people, speakers
from store.database import Connection
from store.rankings import Page, Wanted

MOST_OFFSET = 10_000_000

Row = TypeVar("Row")
_OF_EVERYBODY = ("communications", "talk", "talk_share")
Role = Literal["client", "staff", "sales", "support", "employee", "unknown"]


class RankArguments(PeriodArguments):
    speaker_id: Id | None = Field(None, description="Only conversations of this person.")
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    cursor: Cursor | None = None


class RankPeople(RankArguments):
    group_by: rankings_people.Group = "person"
    by: rankings_people.By = Field(
        "communications",
        description="open_promises: not marked as done, and whose day is not past.",
    )
    order: Literal["most", "least"] = "most"
    role: Role | None = Field(
        None, description="In the conversation. staff: any of the company's; the default for scores and promises."
    )


class RankedPerson(BaseModel):
    """Talk is of calls in which the voice is known. Where promises are ranked, those that are overdue are counted, and
    those that are open: all others that nobody marked as done."""

    id: str | None
    name: Quoted
    department: Quoted | None
    role: str | None
    communications: int
    talk_s: int | None
    talk_pct: float | None
    qc_score_pct: float | None
    promises: int
    open_promises: int | None
    overdue_promises: int | None
    last_contact: str
    url: str | None


class PeopleRanking(BaseModel):
    text_is: str = QUOTED
    period: PeriodShown
    items: list[RankedPerson]
    next_cursor: str | None


def rank_people(context: ToolContext, arguments: RankPeople) -> PeopleRanking:
    judged = "qc" in context.tenant.features
    if arguments.by == "qc_score" and not judged:
        raise ToolError("by: qc_score needs quality control, which this account does not have")
    period, page = period_of(context, arguments), page_of(arguments, least=arguments.order == "least")
    # Clients are neither judged nor do they promise.
    role = arguments.role or (None if arguments.by in _OF_EVERYBODY else "staff")
    with context.database.read() as connection:
        found = rankings_people.rank_people(
            context.tenant_id,
            connection,
            wanted_of(arguments, period, role),
            page,
            group=arguments.group_by,
            by=arguments.by,
            today=today(context),
        )
        rows, cursor = cut_page(arguments, found)
        people = profiles_of(context, connection, arguments.group_by, [row.key for row in rows])
    items = [
        RankedPerson(
            id=person.id if person else None,
            name=person_name(person) if person else row.key,
            department=person.department if person else row.key,
            role=person.role if person else None,
            communications=row.communications,
            talk_s=None if row.talk_ms is None else row.talk_ms // 1000,
            talk_pct=pct(row.talk_share),
            qc_score_pct=rounded(row.qc_score) if judged and (person is None or person.role != "client") else None,
            promises=row.promises,
            open_promises=None
            if row.overdue_promises is None
            else row.promises - row.overdue_promises - (row.kept_promises or 0),
            overdue_promises=row.overdue_promises,
            last_contact=local_time(context, row.last_at),
            url=person_url(context, person.id) if person else None,
        )
        for row, person in ((row, people.get(row.key)) for row in rows)
    ]
    return PeopleRanking(period=period.shown(), items=items, next_cursor=cursor)


def wanted_of(arguments: RankArguments, period: Period, role: str | None) -> Wanted:
    return Wanted(
        start=period.start,
        end=period.end,
        kind=arguments.kind,
        channel_type=arguments.channel_type,
        direction=arguments.direction,
        speaker_id=arguments.speaker_id,
        role=role,
    )


def page_of(arguments: RankArguments, *, least: bool = False) -> Page:
    """One more than is shown, to tell whether there is a next page."""
    return Page(arguments.limit + 1, cursor_offset(arguments, most=MOST_OFFSET), least)


def cut_page(arguments: RankArguments, found: Sequence[Row]) -> tuple[list[Row], str | None]:
    end = cursor_offset(arguments, most=MOST_OFFSET) + arguments.limit
    return list(found[: arguments.limit]), make_cursor(arguments, offset=end) if len(found) > arguments.limit else None


def profiles_of(
    context: ToolContext, connection: Connection, group: str, keys: Sequence[str]
) -> dict[str, speakers.Speaker]:
    """The profiles, where the groups are people."""
    if group not in ("person", "client", "staff"):
        return {}
    return speakers.get_many(context.tenant_id, connection, keys)


def pct(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 1)


def rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 1)


TOOLS = (
    Tool(
        name="rank_people",
        title="Rank people and departments",
        description=(
            "People or departments by contacts, talk, quality score or promises. One person's conversations: "
            "search_communications."
        ),
        arguments=RankPeople,
        result=PeopleRanking,
        function=rank_people,
        of_analysis=True,
    ),
)
