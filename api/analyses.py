"""The Public layer's work on one communication: analysing it anew, what it taught, and deleting it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from api.communications import JobStatus, SpeakerSummaryItem, item_body
from api.fields import UuidText
from api.http import Body, Call, NoInput, Operation, json_response
from api.speech_requests import Prompt
from ingest import analyses as orders
from ingest import analysis_job
from ingest.corrections import require_settled
from ingest.deletion import delete_communication as delete
from store import analyses, analysis, communications
from store.errors import Conflict, NotFound, NotPermitted


class AnalysisWish(Body):
    """`user_summary` is the prompt of a report of your own; left out, that of the earlier order counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_summary: Annotated[Prompt, ...] | None = None


class OrderedAnalysis(BaseModel):
    """The stages as they are now; poll `GET /v1/communications` until each of them has ended."""

    communication_id: UuidText
    summary_generation_status: JobStatus
    qc_generation_status: JobStatus
    memory_generation_status: JobStatus


class LearnedList(BaseModel):
    """What is remembered of people from this communication."""

    items: list[SpeakerSummaryItem]


def analyse_again(call: Call[NoInput, AnalysisWish]) -> Response:
    communication_id, services = call.path_id("communication_id", "communication"), call.services
    with services.database.write() as connection:
        require_settled(call.tenant_id, connection, communication_id)
        if not communications.list_content(call.tenant_id, connection, communication_id, limit=1):
            raise Conflict("There is nothing to analyse.", code="no_content")
        earlier = analyses.get_of(call.tenant_id, connection, communication_id)
        order = orders.order(
            call.tenant_id,
            connection,
            services.settings,
            communication_id,
            user_summary=call.body.user_summary or (earlier.user_prompt if earlier else None),
            webhook_url=earlier.webhook_url if earlier else None,
            key_id=call.principal.key_id or (earlier.key_id if earlier else None),
        )
        statuses = analysis.stage_statuses(call.tenant_id, connection, communication_id)
        answer = OrderedAnalysis.model_validate(
            {
                "communication_id": communication_id,
                "summary_generation_status": statuses.get("summary", "skipped"),
                "qc_generation_status": statuses.get("qc", "skipped"),
                "memory_generation_status": statuses.get("memory", "skipped"),
            }
        )
        if order is not None:
            call.note(connection, "communication.analysed", communication_id)
            call.keep(connection, answer, 202)
    # Not raised inside: the pause that goes with it must last.
    if order is None:
        raise NotPermitted("The balance does not cover the analysis; the client is paused.", code="client_inactive")
    analysis_job.start(order)
    return json_response(answer, 202)


def list_learned(call: Call[NoInput, NoInput]) -> LearnedList:
    communication_id = call.path_id("communication_id", "communication")
    with call.services.database.read() as connection:
        if communications.get(call.tenant_id, connection, communication_id) is None:
            raise NotFound("No such communication.")
        items = analysis.list_learned(call.tenant_id, connection, communication_id)
    return LearnedList(items=[SpeakerSummaryItem(**item_body(item)) for item in items])


def delete_communication(call: Call[NoInput, NoInput]) -> Response:
    communication_id = call.path_id("communication_id", "communication")
    if not delete(call.services.workshop, call.tenant_id, communication_id, actor=call.actor):
        raise NotFound("No such communication.")
    return Response(status_code=204)


_COMMUNICATION = "/v1/communications/{communication_id}"
OPERATIONS = (
    Operation(
        "POST",
        _COMMUNICATION + "/analysis",
        analyse_again,
        "Analyse again",
        response=OrderedAnalysis,
        body=AnalysisWish,
        status=202,
        errors=(400, 401, 403, 404, 409),
        paused=False,
        idempotent=True,
        audited=("communication.analysed",),
    ),
    Operation(
        "GET",
        _COMMUNICATION + "/memory",
        list_learned,
        "List what a communication taught",
        response=LearnedList,
        errors=(401, 404),
    ),
    Operation(
        "DELETE",
        _COMMUNICATION,
        delete_communication,
        "Delete a communication",
        response=None,
        status=204,
        errors=(401, 403, 404),
        paused=False,
        audited=("communication.deleted",),
    ),
)
