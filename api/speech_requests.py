"""What POST /v1/audio/transcriptions takes, in its two forms: multipart with the file, JSON with a link."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import from_json

from accounts.outbound import MAX_URL_CHARACTERS, check_url
from api.fields import FormBoolean, Moment
from api.http import invalid_request, parse_values
from store.errors import InvalidRequest
from store.speakers import MOST_NAME_CHARACTERS, name_key

RECORD_ID_CHARACTERS = 30
PROMPT_CHARACTERS = 64_000
SPEAKER_ID_CHARACTERS = 50
MOST_SPEAKERS = 100


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("holds a NUL character")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]
RecordId = Annotated[Text, Field(min_length=1, max_length=RECORD_ID_CHARACTERS)]
Prompt = Annotated[Text, Field(max_length=PROMPT_CHARACTERS)]
Url = Annotated[str, Field(max_length=MAX_URL_CHARACTERS, json_schema_extra={"format": "uri"})]
PersonText = Annotated[Text, Field(max_length=MOST_NAME_CHARACTERS)]


class SpeakerInput(BaseModel):
    """Somebody who takes part in the call. `id` is your own of the person, `role` the one they have in this call:
    client, sales, support, employee or unknown. Another role becomes employee, an empty one unknown."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Annotated[Text, Field(max_length=SPEAKER_ID_CHARACTERS)] | None = None
    name: PersonText | None = None
    role: str | None = None
    department: PersonText | None = None


def _speakers_of_text(value: Any) -> Any:
    try:
        return from_json(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"is no JSON: {error}") from None


Speakers = Annotated[list[SpeakerInput], Field(max_length=MOST_SPEAKERS)]
SpeakersText = Annotated[
    Speakers,
    BeforeValidator(_speakers_of_text),
    WithJsonSchema(
        {"type": "string", "contentMediaType": "application/json", "description": "Who takes part: a JSON array."}
    ),
]


class _Fields(BaseModel):
    """What both forms take in the same way. Undocumented fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    timestamp_detail: Literal["segment", "word"] = Field(
        "segment", description="`word`: each segment has its words with their start."
    )
    language: Literal["ru", "en"] | None = Field(None, description="Found from the audio when left out.")
    user_summary: Prompt | None = Field(None, description="The prompt of a report of your own.")
    record_id: RecordId | None = Field(None, description="Your own id of the call. It need not be unique.")
    direction: Literal["in", "out"] | None = None
    occured_at: Moment | None = Field(None, description="When the call took place. Without it: now.")
    webhook_url: Url | None = Field(
        None, description="Told of this request's events, in place of the account's own address."
    )


_DIARIZE = "Tell voices apart within a channel."
_CHANNELS = "Keep channels apart: the left one is SPEAKER_00. `false` mixes them down."
_SUMMARY = "Ask for analysis. Without it: whether `speakers` are given."


class TranscriptionForm(_Fields):
    """The fields beside `file`."""

    mode: Literal["sync", "async"] = Field("async", description="`sync`: the answer is the transcription itself.")
    diarize: FormBoolean = Field(False, description=_DIARIZE)
    channel_speakers: FormBoolean = Field(True, description=_CHANNELS)
    summary: FormBoolean | None = Field(None, description=_SUMMARY)
    speakers: SpeakersText = Field(default_factory=list)


class Upload(TranscriptionForm):
    """The multipart body. `speakers` is the text of a JSON array."""

    file: str = Field(
        json_schema_extra={"format": "binary"}, description="Any audio that FFmpeg reads, or video with sound."
    )


class LinkedRecording(_Fields):
    """The JSON body. It is always worked on asynchronously."""

    fileUrl: Url = Field(description="A public http or https address, fetched after the answer.")  # noqa: N815
    diarize: StrictBool = Field(False, description=_DIARIZE)
    channel_speakers: StrictBool = Field(True, description=_CHANNELS)
    summary: StrictBool | None = Field(None, description=_SUMMARY)
    speakers: Speakers = Field(default_factory=list, description="Who takes part.")


@dataclass(frozen=True, slots=True)
class Order:
    """A request in either form, checked. `text` is all of it, for the fingerprint of an Idempotency-Key."""

    fields: TranscriptionForm | LinkedRecording
    text: str

    @property
    def file_url(self) -> str | None:
        return self.fields.fileUrl if isinstance(self.fields, LinkedRecording) else None

    @property
    def people(self) -> list[SpeakerInput]:
        return merged(self.fields.speakers)

    @property
    def summary(self) -> bool:
        """Asked for, or implied by speakers where nothing is said."""
        return bool(self.fields.speakers) if self.fields.summary is None else self.fields.summary

    @property
    def wants_sync(self) -> bool:
        """What analysis follows is not waited for."""
        return isinstance(self.fields, TranscriptionForm) and self.fields.mode == "sync" and not self.summary

    def parameters(self) -> dict[str, Any]:
        """What the job reads of it."""
        fields = self.fields
        return {
            "language": fields.language,
            "channel_speakers": fields.channel_speakers,
            "words": fields.timestamp_detail == "word",
            "diarize": fields.diarize,
            "summary": self.summary,
            "user_summary": fields.user_summary or None,
            "webhook_url": fields.webhook_url,
            "file_url": self.file_url,
            "expected_speakers": len(self.people) or None,
            "knows_somebody": any(person.id or person.name for person in self.people),
        }


def parse_form(values: dict[str, str]) -> Order:
    """The fields of a multipart body; an empty one is one that was not sent. Raises InvalidRequest."""
    return _order(parse_values(TranscriptionForm, {name: text for name, text in values.items() if text != ""}))


def parse_link(raw: bytes) -> Order:
    """A JSON body; null is a field that was not sent. Raises InvalidRequest, missing_file where there is no fileUrl."""
    try:
        found = from_json(raw)
    except ValueError as error:
        raise InvalidRequest(f"The body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidRequest("The body is no JSON object.")
    values = {name: value for name, value in found.items() if value is not None}
    if values.get("fileUrl", "") == "":
        raise InvalidRequest("There is no file: give its address as fileUrl.", code="missing_file", param="fileUrl")
    try:
        fields = LinkedRecording.model_validate(values)
    except ValidationError as error:
        raise invalid_request(error) from None
    check_url(fields.fileUrl, param="fileUrl")
    return _order(fields)


def _order(fields: TranscriptionForm | LinkedRecording) -> Order:
    if fields.webhook_url is not None:
        check_url(fields.webhook_url, param="webhook_url")
    return Order(fields, fields.model_dump_json())


def merged(people: Iterable[SpeakerInput]) -> list[SpeakerInput]:
    """Each person once, where they come first: elements with the same id are one, without an id those of the same
    name. What a later element says replaces what an earlier one did."""
    found: dict[object, SpeakerInput] = {}
    for number, person in enumerate(people):
        given = {name: text for name, text in person if (text or "").strip()}
        own_id, name = given.get("id"), given.get("name")
        key: object = ("id", own_id.strip()) if own_id else ("name", name_key(name)) if name else number
        there = found.get(key)
        found[key] = SpeakerInput(**given) if there is None else there.model_copy(update=given)
    return list(found.values())
