"""The Public layer's reads of communications."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from api.fields import UtcTime, Uuid
from api.http import Call, NoInput, Operation, Query
from store import communications, transcriptions
from store.communications import ContentItem
from store.errors import InvalidRequest, NotFound

RecordId = Annotated[str, Field(min_length=1, max_length=64)]
JobStatus = Literal["pending", "processing", "success", "error", "skipped"]


class CommunicationQuery(Query):
    id: Uuid | None = None
    request_record_id: RecordId | None = None


class Media(BaseModel):
    type: Literal["audio", "image", "video", "file"]
    ref: str
    mime: str | None = None
    name: str | None = None
    size_bytes: int | None = None
    duration_ms: int | None = None


class ContentItemBody(BaseModel):
    """One turn of the timeline."""

    idx: int
    kind: Literal["audio_utterance", "chat_message", "email_message"]
    at: UtcTime | None
    text: str
    label: str | None
    start_ms: int | None
    end_ms: int | None
    media: list[Media]


class CommunicationSpeaker(BaseModel):
    id: str
    external_id: str | None
    name: str | None
    role: str
    label: str | None


class CommunicationDetails(BaseModel):
    """A communication with its timeline, which is the only source of its text."""

    tenant_id: str
    id: str
    kind: Literal["call", "chat", "email"]
    channel_type: Literal["phone", "telegram", "whatsapp", "email", "widget"]
    communication_status: Literal["active", "closed"]
    request_record_id: str | None
    created_at: UtcTime
    occured_at: UtcTime
    duration_ms: int | None
    language: str | None
    direction: Literal["in", "out"] | None
    transcription_status: Literal["pending", "processing", "success", "error"] | None
    summary_generation_status: JobStatus
    qc_generation_status: JobStatus
    memory_generation_status: JobStatus
    qc_generation_error_message: str | None
    qc_generation_updated_at: UtcTime | None
    qc_evaluation: dict[str, Any] | None
    content: list[ContentItemBody] | None
    summary_text: str | None
    user_summary: str | None
    category: str | None
    category_label: str | None
    speakers: list[CommunicationSpeaker]
    summary_items: list[dict[str, Any]]


def read_communication(call: Call[CommunicationQuery, NoInput]) -> CommunicationDetails:
    query = call.query
    if query.id is None and query.request_record_id is None:
        raise InvalidRequest("Give id or request_record_id.", param="id")
    with call.services.database.read() as connection:
        row = communications.find_newest(
            call.tenant_id, connection, communication_id=query.id, request_record_id=query.request_record_id
        )
        if row is None:
            raise NotFound("No such communication.")
        task = transcriptions.newest_of(call.tenant_id, connection, row.id)
        items = communications.list_content(call.tenant_id, connection, row.id)
    status = task[1] if task else None
    return CommunicationDetails(
        tenant_id=row.tenant_id,
        id=row.id,
        kind=row.kind,  # type: ignore[arg-type]
        channel_type=row.channel_type,  # type: ignore[arg-type]
        communication_status=row.status(chat_quiet_s=call.services.settings.chat_quiet_s),  # type: ignore[arg-type]
        request_record_id=row.request_record_id,
        created_at=row.created_at,
        occured_at=row.occured_at,
        duration_ms=row.duration_ms,
        language=row.language,
        direction=row.direction,  # type: ignore[arg-type]
        transcription_status=status,  # type: ignore[arg-type]
        # No analysis runs yet, and a missing job reads as skipped.
        summary_generation_status="skipped",
        qc_generation_status="skipped",
        memory_generation_status="skipped",
        qc_generation_error_message=None,
        qc_generation_updated_at=None,
        qc_evaluation=None,
        content=[_item(idx, item) for idx, item in items] if items or status in (None, "success") else None,
        summary_text=None,
        user_summary=None,
        category=None,
        category_label=None,
        speakers=[],
        summary_items=[],
    )


def _item(idx: int, item: ContentItem) -> ContentItemBody:
    return ContentItemBody(
        idx=idx,
        kind=item.kind,  # type: ignore[arg-type]
        at=item.at,
        text=item.text,
        label=item.label,
        start_ms=item.start_ms,
        end_ms=item.end_ms,
        media=[Media.model_validate(media) for media in item.media],
    )


OPERATIONS = (
    Operation(
        "GET",
        "/v1/communications",
        read_communication,
        "Read a communication",
        response=CommunicationDetails,
        query=CommunicationQuery,
        errors=(400, 401, 404),
    ),
)
