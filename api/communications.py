"""The Public layer's reads of communications: one with everything in it, and a person's list.

Answers are made of rows by hand, since these are the reads that programs repeat most; the models describe them, and the
contract's tests hold each answer against its description.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.fields import UtcTime, Uuid, UuidText, utc_text
from api.http import Call, NoInput, Operation, Query, json_response
from api.paging import Page, PageQuery
from ingest.analysis.catalogs import category_label
from store import analysis, communications, details, speakers
from store.analysis import Item
from store.communications import Communication, ContentItem
from store.details import Details, Evaluation, Summarised
from store.errors import InvalidRequest, NotFound
from store.speakers import Participant

RecordId = Annotated[str, Field(min_length=1, max_length=64)]
SpeakerName = Annotated[str, Field(min_length=1, max_length=64)]
SpeakerExternalId = Annotated[str, Field(min_length=1, max_length=64)]
Kind = Literal["call", "chat", "email"]
ChannelType = Literal["phone", "telegram", "whatsapp", "email", "widget"]
Direction = Literal["in", "out"]
JobStatus = Literal["pending", "processing", "success", "error", "skipped"]


class CommunicationQuery(Query):
    id: Uuid | None = None
    request_record_id: RecordId | None = None


class CommunicationListQuery(PageQuery):
    speaker_id: Uuid | None = None
    speaker_name: SpeakerName | None = None
    speaker_external_id: SpeakerExternalId | None = None


class Media(BaseModel):
    type: Literal["audio", "image", "video", "file"]
    ref: str
    mime: str | None = None
    name: str | None = None
    size_bytes: int | None = None
    duration_ms: int | None = None


_MEDIA_FIELDS = tuple(Media.model_fields)


class Recording(BaseModel):
    """A call's own audio, which `GET /v1/media/{ref}` answers with. What is not known is null."""

    type: Literal["audio"]
    ref: UuidText
    mime: str | None
    name: str | None
    size_bytes: int | None
    duration_ms: int | None


class ContentItemBody(BaseModel):
    """One turn of the timeline."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    idx: Annotated[int, Field(ge=0)]
    kind: Literal["audio_utterance", "chat_message", "email_message"]
    at: UtcTime | None
    text: str
    label: str | None
    start_ms: int | None
    end_ms: int | None
    media: list[Media]


class CommunicationSpeaker(BaseModel):
    """Who took part. `external_id` and `name` are empty where the caller gave none; `label` joins the timeline."""

    id: UuidText
    external_id: str
    name: str
    role: str
    label: str | None


class SpeakerSummaryItem(BaseModel):
    """What analysis found: a fact, a promise (its deadline in `meta.deadline`), or what is remembered of a person."""

    id: UuidText
    summary_id: UuidText | None
    item_type: Literal["criteria", "commitment", "memory"]
    subtype: str | None
    content: str
    meta: dict[str, Any] | None
    speaker_id: UuidText | None
    created_at: UtcTime


class QcVote(BaseModel):
    """What one engine says: `built-in`, or the name of a language model."""

    engine: str
    state: Literal["decided", "not_applicable", "undecided"]
    value: bool | int | float | None
    evidence: str


class QcCriterion(BaseModel):
    """`value` is true, false or a number, or null where the criterion does not apply or could not be decided, which
    `state` tells apart. `evidence` is quoted from the timeline, word for word, from the turn `idx`, which older
    evaluations do not name; `votes` are those of each engine."""

    model_config = ConfigDict(extra="allow")

    code: str
    value_type: Literal["binary", "numeric"]
    value: bool | int | float | None
    evidence: str
    idx: int | None = None
    state: Literal["decided", "not_applicable", "undecided"]
    votes: list[QcVote]


class QcEvaluation(BaseModel):
    evaluation_id: UuidText
    scenario_code: str
    score_pct: float | None
    comment: str | None
    status: Literal["success", "partial"]
    criteria: list[QcCriterion]
    engines: dict[str, str] | None = Field(description="Which engine decided what.")


class CommunicationDetails(BaseModel):
    """A communication with its timeline, which is the only source of its text."""

    tenant_id: UuidText
    id: UuidText
    kind: Kind
    channel_type: ChannelType
    communication_status: Literal["active", "closed"]
    request_record_id: str | None
    title: str = Field(description="A mail's subject, a chat's name; of a recording, the name of its file.")
    created_at: UtcTime
    occured_at: UtcTime
    duration_ms: int | None
    language: str | None
    direction: Direction | None
    transcription_status: Literal["pending", "processing", "success", "error"] | None
    transcription_error_message: str | None = Field(description="Why the recording was not recognised.")
    summary_generation_status: JobStatus
    qc_generation_status: JobStatus
    memory_generation_status: JobStatus
    analysed_at: UtcTime | None = Field(description="When the analysis had its last result; null where it has none.")
    qc_generation_error_message: str | None
    qc_generation_updated_at: UtcTime | None
    qc_evaluation: QcEvaluation | None
    content: list[ContentItemBody] | None
    recording: Recording | None
    summary_text: str | None
    user_summary: str | None
    category: str | None
    category_label: str | None
    analysis_engines: dict[str, str] | None = Field(description="Which engine made which field of the summary.")
    speakers: list[CommunicationSpeaker]
    summary_items: list[SpeakerSummaryItem]


class CommunicationBySpeaker(BaseModel):
    """A communication in a list. Its generation statuses are read with GET /v1/communications."""

    tenant_id: UuidText
    id: UuidText
    kind: Kind
    channel_type: ChannelType
    request_record_id: str | None
    created_at: UtcTime
    occured_at: UtcTime
    duration_ms: int | None
    language: str | None
    direction: Direction | None
    category: str | None
    label_ru: str | None
    summary_text: str | None
    user_summary: str | None
    speakers: list[CommunicationSpeaker]


class CommunicationList(BaseModel):
    items: list[CommunicationBySpeaker]
    pagination: Page


def read_communication(call: Call[CommunicationQuery, NoInput]) -> Response:
    query = call.query
    if query.id is None and query.request_record_id is None:
        raise InvalidRequest("Give id or request_record_id.", param="id")
    with call.services.database.read() as connection:
        found = details.find_newest(
            call.tenant_id, connection, communication_id=query.id, request_record_id=query.request_record_id
        )
        if found is None:
            raise NotFound("No such communication.")
        row = found.communication
        content = communications.list_content(call.tenant_id, connection, row.id)
        people = speakers.list_participants(call.tenant_id, connection, row.id)
        items = analysis.list_items(call.tenant_id, connection, row.id)
    is_whole = bool(content) or found.transcription_status in (None, "success")
    return json_response(
        {
            **_card(row),
            "title": row.title,
            "communication_status": row.status(chat_quiet_s=call.services.settings.chat_quiet_s),
            "transcription_status": found.transcription_status,
            "transcription_error_message": found.transcription_error_message,
            "summary_generation_status": found.summary_status,
            "qc_generation_status": found.qc_status,
            "memory_generation_status": found.memory_status,
            "analysed_at": utc_text(found.analysed_at) if found.analysed_at else None,
            "qc_generation_error_message": found.qc_error_message,
            "qc_generation_updated_at": utc_text(found.qc_updated_at) if found.qc_updated_at else None,
            "qc_evaluation": _evaluation(found.evaluation) if found.evaluation else None,
            "content": [_turn(idx, item) for idx, item in content] if is_whole else None,
            "recording": _recording(found),
            "summary_text": found.summary_text,
            "user_summary": found.user_summary,
            "category": found.category,
            "category_label": category_label(found.category, call.principal.tenant.language),
            "analysis_engines": found.engines,
            "speakers": [speaker_body(person) for person in people],
            "summary_items": [item_body(item) for item in items],
        }
    )


def list_communications(call: Call[CommunicationListQuery, NoInput]) -> Response:
    query = call.query
    if query.speaker_id is None and query.speaker_name is None and query.speaker_external_id is None:
        raise InvalidRequest("Give speaker_id, speaker_name or speaker_external_id.", param="speaker_id")
    rows: list[Summarised] = []
    with call.services.database.read() as connection:
        speaker = speakers.find(
            call.tenant_id,
            connection,
            speaker_id=query.speaker_id,
            external_id=query.speaker_external_id,
            name=query.speaker_name,
        )
        if speaker is not None:
            rows = details.list_of_speaker(
                call.tenant_id, connection, speaker.id, limit=query.limit, offset=query.offset
            )
        ids = [row.communication.id for row in rows]
        people = speakers.list_participants_of(call.tenant_id, connection, ids)
    items = [
        {
            **_card(row.communication),
            "summary_text": row.summary_text,
            "user_summary": row.user_summary,
            "category": row.category,
            "label_ru": category_label(row.category, call.principal.tenant.language),
            "speakers": [speaker_body(person) for person in people[row.communication.id]],
        }
        for row in rows
    ]
    pagination = {"limit": query.limit, "offset": query.offset, "count": len(items)}
    return json_response({"items": items, "pagination": pagination})


def _card(row: Communication) -> dict[str, Any]:
    """What every form of a communication has."""
    return {
        "tenant_id": row.tenant_id,
        "id": row.id,
        "kind": row.kind,
        "channel_type": row.channel_type,
        "request_record_id": row.request_record_id,
        "created_at": utc_text(row.created_at),
        "occured_at": utc_text(row.occured_at),
        "duration_ms": row.duration_ms,
        "language": row.language,
        "direction": row.direction,
    }


def _recording(found: Details) -> dict[str, Any] | None:
    """None where there is no file, or none yet, or none any more."""
    if found.size_bytes == 0 or (found.size_bytes is None and found.transcription_status != "success"):
        return None
    return {
        "type": "audio",
        "ref": found.communication.id,
        "mime": found.media_type,
        "name": found.file_name or None,
        "size_bytes": found.size_bytes,
        "duration_ms": found.communication.duration_ms,
    }


def _turn(idx: int, item: ContentItem) -> dict[str, Any]:
    return {
        "idx": idx,
        "kind": item.kind,
        "at": utc_text(item.at) if item.at else None,
        "text": item.text,
        "label": item.label,
        "start_ms": item.start_ms,
        "end_ms": item.end_ms,
        "media": [_known(media) for media in item.media],
    }


def _known(media: Mapping[str, Any]) -> dict[str, Any]:
    """What nobody told of it is left out."""
    return {name: media[name] for name in _MEDIA_FIELDS if media.get(name) is not None}


def _evaluation(found: Evaluation) -> dict[str, Any]:
    return {
        "evaluation_id": found.id,
        "scenario_code": found.scenario_code,
        "score_pct": found.score_pct,
        "comment": found.comment,
        "status": found.status,
        "criteria": found.criteria,
        "engines": found.engines,
    }


def speaker_body(person: Participant) -> dict[str, Any]:
    return {
        "id": person.id,
        "external_id": person.external_id or "",
        "name": person.name or "",
        "role": person.role,
        "label": person.label,
    }


def item_body(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "summary_id": item.summary_id,
        "item_type": item.item_type,
        "subtype": item.subtype,
        "content": item.content,
        "meta": item.meta,
        "speaker_id": item.speaker_id,
        "created_at": utc_text(item.created_at),
    }


OPERATIONS = (
    Operation(
        "GET",
        "/v1/communications",
        read_communication,
        "Read a communication",
        response=CommunicationDetails,
        query=CommunicationQuery,
        errors=(400, 401, 404),
        one_read=True,
    ),
    Operation(
        "GET",
        "/v1/communications/list",
        list_communications,
        "List a person's communications",
        response=CommunicationList,
        query=CommunicationListQuery,
        errors=(400, 401),
        one_read=True,
    ),
)
