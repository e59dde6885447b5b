"""The Public layer's corrections: what people change in a timeline, with the history of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.communications import SpeakerExternalId
from api.fields import UtcTime, Uuid, UuidText
from api.http import Body, Call, NoInput, Operation
from ingest import corrections as service
from ingest.corrections import Whose
from store import communications, corrections
from store.errors import NotFound

MOST_SHOWN = 200
_MOST_INDEX = 1_000_000

Label = Annotated[str, Field(min_length=1, max_length=64)]


class ItemCorrection(Body):
    """What is left out stays. `label` is one that the timeline has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Annotated[str, Field(max_length=100_000)] | None = None
    label: Label | None = None

    @model_validator(mode="after")
    def _says_something(self) -> ItemCorrection:
        if self.text is None and self.label is None:
            raise ValueError("give text or label")
        return self


class SpeakerCorrection(Body):
    """Whose voice `label` is: a person by `speaker_id`, or by `name` or `external_id`, whose profile is made where
    there is none. With none of them the label is nobody's. `role` is theirs in this communication, if they are new in
    it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: Label
    speaker_id: Uuid | None = None
    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")] | None = None
    external_id: SpeakerExternalId | None = None
    role: Literal["client", "sales", "support", "employee"] | None = None


class CorrectionRecord(BaseModel):
    """`text`: of item `idx`. `label`: who said item `idx`, by labels. `speaker`: whose voice `label` is, by names;
    null is nobody's."""

    id: UuidText
    kind: Literal["text", "label", "speaker"]
    idx: int | None
    label: str | None
    before: str | None
    after: str | None
    actor: str = Field(description="Who did it: `cabinet` with its person, or the key.")
    created_at: UtcTime


class CorrectionList(BaseModel):
    """Newest first, at most 200."""

    items: list[CorrectionRecord]


def correct_item(call: Call[NoInput, ItemCorrection]) -> CorrectionList:
    communication_id = call.path_id("communication_id", "communication")
    number = call.request.path_params["idx"]
    # The length first: of too many digits Python makes no number.
    is_number = len(number) <= len(str(_MOST_INDEX)) and number.isascii() and number.isdigit()
    if not is_number or int(number) > _MOST_INDEX:
        raise NotFound("The communication has no such item.")
    service.correct_item(
        call.services.workshop,
        call.tenant_id,
        communication_id,
        int(number),
        text=call.body.text,
        label=call.body.label,
        actor=call.actor,
    )
    return _history(call, communication_id)


def correct_speaker(call: Call[NoInput, SpeakerCorrection]) -> CorrectionList:
    communication_id, body = call.path_id("communication_id", "communication"), call.body
    service.correct_speaker(
        call.services.workshop,
        call.tenant_id,
        communication_id,
        body.label,
        Whose(body.speaker_id, body.name, body.external_id, body.role),
        actor=call.actor,
    )
    return _history(call, communication_id)


def list_corrections(call: Call[NoInput, NoInput]) -> CorrectionList:
    communication_id = call.path_id("communication_id", "communication")
    with call.services.database.read() as connection:
        if communications.get(call.tenant_id, connection, communication_id) is None:
            raise NotFound("No such communication.")
    return _history(call, communication_id)


def _history(
    call: Call[NoInput, ItemCorrection] | Call[NoInput, SpeakerCorrection] | Call[NoInput, NoInput],
    communication_id: str,
) -> CorrectionList:
    with call.services.database.read() as connection:
        rows = corrections.list_of(call.tenant_id, connection, communication_id, limit=MOST_SHOWN)
    return CorrectionList(items=[CorrectionRecord.model_validate(row, from_attributes=True) for row in rows])


_COMMUNICATION = "/v1/communications/{communication_id}"
OPERATIONS = (
    Operation(
        "PATCH",
        _COMMUNICATION + "/content/{idx}",
        correct_item,
        "Correct what was said",
        response=CorrectionList,
        body=ItemCorrection,
        errors=(400, 401, 403, 404, 409),
        paused=False,
        audited=("communication.corrected",),
    ),
    Operation(
        "PATCH",
        _COMMUNICATION + "/speakers",
        correct_speaker,
        "Correct who speaks",
        response=CorrectionList,
        body=SpeakerCorrection,
        errors=(400, 401, 403, 404, 409),
        paused=False,
        audited=("communication.corrected",),
    ),
    Operation(
        "GET",
        _COMMUNICATION + "/corrections",
        list_corrections,
        "List corrections",
        response=CorrectionList,
        errors=(401, 404),
    ),
)
