"""The tool that ranks scores of quality control: rank_qc."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from ingest.analysis.catalogs import CATEGORIES, category_label
from ingest.analysis.reading import read_settings
from mcp_server.registry import Tool, ToolContext
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
from store import communications, rankings_qc
from store.communications import Communication
from store.database import Connection
from store.speakers import Speaker

TITLE_CHARACTERS = 100


class RankQc(RankArguments):
    group_by: rankings_qc.Group = "person"
    order: Literal["best", "worst"] = "best"
    min_evaluations: int = Field(1, ge=1, le=10_000, description="Leaves out groups with fewer, against luck.")


class RankedScore(BaseModel):
    """`score_pct` is the mean; of a criterion how often it was met where it was decided. The conversation is the newest
    that was evaluated; of a criterion the newest that failed it. `url` leads to the person, where it is one."""

    id: str | None
    name: Quoted
    evaluations: int
    score_pct: float
    weakest_criterion: Quoted | None
    weakest_pct: float | None
    communication_id: str | None
    kind: str | None
    title: Quoted | None
    occured_at: str | None
    url: str | None


class QcRanking(BaseModel):
    text_is: str = QUOTED
    period: PeriodShown
    items: list[RankedScore]
    next_cursor: str | None


def rank_qc(context: ToolContext, arguments: RankQc) -> QcRanking:
    group, tenant_id = arguments.group_by, context.tenant_id
    period, page = period_of(context, arguments), page_of(arguments, least=arguments.order == "worst")
    wanted = wanted_of(arguments, period, "staff" if group in ("person", "department") else None)
    with context.database.read() as connection:
        found = rankings_qc.rank_qc(
            tenant_id, connection, wanted, page, group=group, min_evaluations=arguments.min_evaluations
        )
        rows, cursor = cut_page(arguments, found)
        keys = [row.key for row in rows]
        weakest = rankings_qc.weakest(tenant_id, connection, wanted, keys, group=group)
        newest = rankings_qc.newest(tenant_id, connection, wanted, rows, group=group)
        conversations = communications.get_many(tenant_id, connection, list(newest.values()))
        people = profiles_of(context, connection, group, keys)
        names = _names(context, connection, group)
        criteria = _names(context, connection, "criterion") if weakest else {}
    items = []
    for row in rows:
        person, worst = people.get(row.key), weakest.get(row.key)
        if worst is not None and worst.score >= 100:
            worst = None  # all were met
        there = conversations.get(newest.get(row.key, ""))
        items.append(
            RankedScore(
                id=None if group == "department" else row.key,
                name=person_name(person) if person else names.get(row.key, row.key),
                evaluations=row.evaluations,
                score_pct=round(row.score, 1),
                weakest_criterion=criteria.get(worst.code, worst.code) if worst else None,
                weakest_pct=round(worst.score, 1) if worst else None,
                communication_id=there.id if there else None,
                kind=there.kind if there else None,
                title=shorten(there.title, TITLE_CHARACTERS) if there else None,
                occured_at=local_time(context, there.occured_at) if there else None,
                url=_url(context, person, there),
            )
        )
    return QcRanking(period=period.shown(), items=items, next_cursor=cursor)


def _names(context: ToolContext, connection: Connection, group: str) -> dict[str, str]:
    """Of codes, as the account calls them."""
    if group not in ("scenario", "criterion", "category"):
        return {}
    if group == "category":
        return {code: label for code in CATEGORIES if (label := category_label(code, context.tenant.language))}
    scenarios = read_settings(context.tenant, connection).scenarios
    if group == "scenario":
        return {each.code: each.name for each in scenarios}
    return {each.code: each.name for scenario in reversed(scenarios) for each in scenario.criteria}


def _url(context: ToolContext, person: Speaker | None, there: Communication | None) -> str | None:
    if person is not None:
        return person_url(context, person.id)
    return communication_url(context, there.id) if there else None


TOOLS = (
    Tool(
        name="rank_qc",
        title="Rank quality scores",
        description=(
            "Best or worst quality-control scores of employees, departments, scenarios, criteria or categories. One "
            "conversation's checklist: get_qc_evaluation."
        ),
        arguments=RankQc,
        result=QcRanking,
        function=rank_qc,
        feature="qc",
        of_analysis=True,
    ),
)
