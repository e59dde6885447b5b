"""Quality control tried on one conversation with scenarios that are not saved: nothing is stored or charged."""

from __future__ import annotations

import dataclasses

import structlog
from pydantic import BaseModel

from api.fields import Uuid, UuidText
from api.http import Call, NoInput, Operation
from api.limits import enforce_limit
from api.quality import QcScenariosBody, ValueType, settings_of
from ingest.analysis import built_in, combine
from ingest.analysis.catalogs import CRITERIA, DETERMINISTIC, Language
from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Judgement
from ingest.analysis.quality import evaluate
from ingest.analysis.reading import read_conversation
from ingest.analysis.scenarios import ScenarioSetting
from ingest.children import ChildDied, PoolClosed
from store import analysis, details
from store.errors import NotFound, Unavailable, Unprocessable

log = structlog.get_logger(__name__)

PREVIEWS_PER_MINUTE = 30


class QcPreviewBody(QcScenariosBody):
    """The scenarios as they would be saved, and the conversation to judge by them."""

    communication_id: Uuid


class QcPreviewCriterion(BaseModel):
    """`value` is null unless `state` is decided; `evidence` are words of the turn `idx`."""

    code: str
    name: str
    value_type: ValueType
    value: bool | float | None
    state: str
    evidence: str | None
    idx: int | None


class QcPreview(BaseModel):
    """What the built-in engine makes of it; where a language model judges too, it may decide criteria that are open
    here. `scenario_code` is null where no scenario is switched on. `saved_` is what is stored of the conversation."""

    communication_id: UuidText
    title: str
    scenario_code: str | None
    scenario_name: str | None
    score_pct: float | None
    is_partial: bool
    comment: str | None
    criteria: list[QcPreviewCriterion]
    saved_scenario_code: str | None
    saved_score_pct: float | None


def preview_qc_scenarios(call: Call[NoInput, QcPreviewBody]) -> QcPreview:
    """Raises NotFound, Unprocessable too_little_said, RateLimited and Unavailable."""
    services, tenant, body = call.services, call.principal.tenant, call.body
    settings = settings_of(body, tenant)
    enforce_limit(services.database, f"qc_preview:{tenant.id}", PREVIEWS_PER_MINUTE, request=call.request)
    with services.database.read() as connection:
        conversation = read_conversation(tenant, connection, body.communication_id)
        found = details.find_newest(tenant.id, connection, communication_id=body.communication_id)
        category = analysis.category_of(tenant.id, connection, body.communication_id)
    if conversation is None or found is None:
        raise NotFound("No such communication.")
    if conversation.words < services.settings.analysis_min_words:
        raise Unprocessable("Too little was said to judge it.", code="too_little_said")
    conversation = dataclasses.replace(conversation, company=settings.company)
    judged = _judged(call, conversation, category)
    scenario = settings.choose(judged.ranked)
    saved = found.evaluation
    preview = QcPreview(
        communication_id=conversation.id,
        title=found.communication.title,
        scenario_code=None,
        scenario_name=None,
        score_pct=None,
        is_partial=False,
        comment=None,
        criteria=[],
        saved_scenario_code=saved.scenario_code if saved else None,
        saved_score_pct=saved.score_pct if saved else None,
    )
    if scenario is None:
        return preview
    codes = [criterion.code for criterion in scenario.asked]
    judgements = combine.judge(codes, judged.votes, {}, deterministic=DETERMINISTIC, fields=())
    language: Language = "en" if tenant.language == "en" else "ru"
    made = evaluate(scenario, judgements, language=language, engines={})
    return preview.model_copy(
        update={
            "scenario_code": scenario.code,
            "scenario_name": scenario.name,
            "score_pct": made.score_pct,
            "is_partial": made.is_partial,
            "comment": made.comment,
            "criteria": [_criterion(scenario, judgement) for judgement in judgements],
        }
    )


def _judged(call: Call[NoInput, QcPreviewBody], conversation: Conversation, category: str | None) -> built_in.Judged:
    house = call.services.workshop
    try:
        return house.pools.analysis.run(
            built_in.evaluate,
            conversation,
            category,
            tuple(CRITERIA),
            house.indexes.serving_spec,
            urgent=True,
            owner=call.tenant_id,
            tag=f"preview {conversation.id}",
        )
    except PoolClosed:
        raise Unavailable("The server stops; try again in a moment.") from None
    except ChildDied:
        log.warning("a child died at a preview", communication_id=conversation.id)
        raise Unavailable("This conversation could not be judged.") from None


def _criterion(scenario: ScenarioSetting, judgement: Judgement) -> QcPreviewCriterion:
    names = {criterion.code: criterion.name for criterion in scenario.criteria}
    vote = judgement.vote
    return QcPreviewCriterion(
        code=judgement.code,
        name=names[judgement.code],
        value_type=CRITERIA[judgement.code].value_type,
        value=vote.value,
        state=vote.state,
        evidence=vote.quote.text if vote.quote else None,
        idx=vote.quote.idx if vote.quote else None,
    )


OPERATIONS = (
    Operation(
        "POST",
        "/v1/qc/scenarios/preview",
        preview_qc_scenarios,
        "Try scenarios on a conversation",
        QcPreview,
        body=QcPreviewBody,
        errors=(400, 401, 403, 404, 422, 429, 503),
        feature="qc",
        paused=False,
        unaudited="Nothing is stored.",
    ),
)
