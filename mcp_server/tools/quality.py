"""The tool that reads the quality control of one conversation: get_qc_evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from ingest.analysis.catalogs import CRITERIA, SCENARIOS
from ingest.analysis.reading import read_settings
from ingest.analysis.scenarios import ScenarioSetting
from mcp_server.registry import Arguments, Tool, ToolContext, ToolError
from mcp_server.tools.shapes import QUOTED, Id, Quoted, communication_url, local_time, shorten
from store import details
from store.details import Details

EVIDENCE_CHARACTERS = 400
COMMENT_CHARACTERS = 2_000
MESSAGE_CHARACTERS = 300
_WHY = {
    "pending": "its analysis has not begun yet; ask again later",
    "processing": "its analysis is at work; ask again later",
    "skipped": "too little was said, no scenario is switched on, or its analysis was not ordered",
    "error": "its analysis failed",
}


class GetEvaluation(Arguments):
    communication_id: Id


class QcCriterion(BaseModel):
    """`value` is null unless `state` is decided; the others are not_applicable and undecided."""

    code: str
    label: Quoted
    value: bool | float | None
    state: str
    evidence: Quoted | None


class QcEvaluation(BaseModel):
    """`status` is that of the stage: success, or skipped, pending, processing, error, and then `why`. `is_partial`:
    some criteria could not be decided."""

    text_is: str = QUOTED
    communication_id: str
    kind: str
    channel_type: str
    title: Quoted
    occured_at: str
    url: str
    status: str
    why: str | None
    scenario_code: str | None = None
    scenario: Quoted | None = None
    score_pct: float | None = None
    is_partial: bool | None = None
    comment: Quoted | None = None
    criteria: list[QcCriterion] = []


def get_qc_evaluation(context: ToolContext, arguments: GetEvaluation) -> QcEvaluation:
    with context.database.read() as connection:
        found = details.find_newest(context.tenant_id, connection, communication_id=arguments.communication_id)
        if found is None:
            raise ToolError(f"communication not found: {arguments.communication_id}")
        settings = read_settings(context.tenant, connection)
    row = found.communication
    evaluated = QcEvaluation(
        communication_id=row.id,
        kind=row.kind,
        channel_type=row.channel_type,
        title=row.title,
        occured_at=local_time(context, row.occured_at),
        url=communication_url(context, row.id),
        status=found.qc_status,
        why=_why(context, found),
    )
    if found.evaluation is None:
        return evaluated
    code, language = found.evaluation.scenario_code, context.tenant.language
    scenario = next((each for each in settings.scenarios if each.code == code), None)
    evaluated.scenario_code = code
    evaluated.scenario = scenario.name if scenario else SCENARIOS[code].label(language) if code in SCENARIOS else code
    evaluated.score_pct = found.evaluation.score_pct
    evaluated.is_partial = found.evaluation.status == "partial"
    evaluated.comment = shorten(found.evaluation.comment, COMMENT_CHARACTERS) if found.evaluation.comment else None
    evaluated.criteria = list(_criteria(found.evaluation.criteria, scenario, language))
    return evaluated


def _why(context: ToolContext, found: Details) -> str | None:
    if found.qc_status == "success":
        return None
    if found.qc_status == "skipped" and not context.tenant.qc_enabled:
        return "quality control is switched off in the account's settings"
    why = _WHY[found.qc_status]
    if found.qc_status == "error" and found.qc_error_message:
        return f"{why}: {shorten(found.qc_error_message, MESSAGE_CHARACTERS)}"
    return why


def _criteria(
    judged: Iterable[dict[str, Any]], scenario: ScenarioSetting | None, language: str
) -> Iterable[QcCriterion]:
    names = {each.code: each.name for each in scenario.criteria} if scenario is not None else {}
    for each in judged:
        code = each["code"]
        label = names.get(code) or (CRITERIA[code].label(language) if code in CRITERIA else code)
        evidence = shorten(each["evidence"], EVIDENCE_CHARACTERS) if each.get("evidence") else None
        yield QcCriterion(
            code=code, label=label, value=each["value"], state=each.get("state", "decided"), evidence=evidence
        )


TOOLS = (
    Tool(
        name="get_qc_evaluation",
        title="Read a quality evaluation",
        description=(
            "The quality checklist of one conversation: score, and each criterion with its verdict and the words that "
            "prove it; or why there is none. For averages and rankings use rank_qc."
        ),
        arguments=GetEvaluation,
        result=QcEvaluation,
        function=get_qc_evaluation,
        feature="qc",
        of_analysis=True,
    ),
)
