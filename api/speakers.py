"""The Public layer's speaker profiles."""

from __future__ import annotations

from pydantic import BaseModel
from starlette.responses import Response

from api.communications import SpeakerExternalId, SpeakerName, SpeakerSummaryItem, item_body
from api.fields import UtcTime, UuidText, utc_text
from api.http import Call, NoInput, Operation, Query, json_response
from ingest.analysis.rules.morphology import name_forms
from store import accounts, analysis, forgetting, index_work, speakers, voices
from store.errors import InvalidRequest, NotFound
from store.index_work import INDEX_COMMUNICATION, INDEX_MEMORY


class SpeakerQuery(Query):
    speaker_name: SpeakerName | None = None
    speaker_external_id: SpeakerExternalId | None = None


class SpeakerProfile(BaseModel):
    """A person with what is remembered of them. `speaker_external_id` and `speaker_name` are empty where unknown."""

    tenant_id: UuidText
    speaker_id: UuidText
    speaker_external_id: str
    speaker_name: str
    speaker_role: str
    speaker_department: str | None
    speaker_created_at: UtcTime
    speaker_updated_at: UtcTime
    summary_items: list[SpeakerSummaryItem]


def read_speaker_profile(call: Call[SpeakerQuery, NoInput]) -> Response:
    query = call.query
    if query.speaker_name is None and query.speaker_external_id is None:
        raise InvalidRequest("Give speaker_name or speaker_external_id.", param="speaker_name")
    with call.services.database.read() as connection:
        speaker = speakers.find(
            call.tenant_id, connection, external_id=query.speaker_external_id, name=query.speaker_name
        )
        if speaker is None:
            raise NotFound("No such speaker.")
        items = analysis.list_items_of_speaker(call.tenant_id, connection, speaker.id)
    return json_response(
        {
            "tenant_id": speaker.tenant_id,
            "speaker_id": speaker.id,
            "speaker_external_id": speaker.external_id or "",
            "speaker_name": speaker.name or "",
            "speaker_role": speaker.role,
            "speaker_department": speaker.department,
            "speaker_created_at": utc_text(speaker.created_at),
            "speaker_updated_at": utc_text(speaker.updated_at),
            "summary_items": [item_body(item) for item in items],
        }
    )


def delete_speaker(call: Call[NoInput, NoInput]) -> Response:
    speaker_id = call.path_id("speaker_id", "speaker")
    with call.services.database.write() as connection:
        forgetting.lock(call.tenant_id, connection, speaker_id)  # before the account, as everywhere
        accounts.get_tenant(call.tenant_id, connection, lock=True)  # no call that ends now binds the speaker again
        voices.forget_speaker(call.tenant_id, connection, speaker_id)
        named = forgetting.take_name_out(call.tenant_id, connection, speaker_id, name_forms)
        attended = speakers.list_attended(call.tenant_id, connection, speaker_id)
        if not speakers.delete(call.tenant_id, connection, speaker_id):
            raise NotFound("No such speaker.")
        for each in {speaker_id, *named}:
            index_work.add(call.tenant_id, connection, action=INDEX_MEMORY, subject_id=each)
        index_work.add_many(call.tenant_id, connection, action=INDEX_COMMUNICATION, blob_keys=dict.fromkeys(attended))
        call.note(connection, "speaker.deleted", speaker_id)
    return Response(status_code=204)


OPERATIONS = (
    Operation(
        "GET",
        "/v1/speakers/profile",
        read_speaker_profile,
        "Read a speaker's profile",
        response=SpeakerProfile,
        query=SpeakerQuery,
        errors=(400, 401, 404),
        one_read=True,
    ),
    Operation(
        "DELETE",
        "/v1/speakers/{speaker_id}",
        delete_speaker,
        "Delete a speaker",
        None,
        status=204,
        errors=(401, 403, 404),
        paused=False,
        audited=("speaker.deleted",),
    ),
)
