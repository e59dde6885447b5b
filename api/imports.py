"""The Public layer's import of conversations whose text is known: as JSON, or as the export of a chat or mail box."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, Lock, to_thread
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, ValidationInfo, field_validator
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from accounts.outbound import check_url
from api.communications import ChannelType, Direction, Kind, RecordId
from api.fields import FormBoolean, Moment, Uuid, UuidText
from api.http import Call, NoInput, Operation, json_response, parse_json, parse_values, read_body
from api.media_uploads import refuse_declared
from api.multipart import is_multipart, receive_form
from api.speech_requests import MOST_SPEAKERS, Prompt, SpeakerInput, Text, Url
from ingest import announced_blobs, import_files, imports
from ingest.analysis_job import start
from ingest.children import ChildError
from ingest.imports import Imported, UnusableMedia, Wishes
from ingest.messages.imported import ImportedConversation, ImportedMedia, ImportedPerson, ImportedTurn, MediaType
from ingest.messages.reading import Unreadable
from ingest.workshop import ShuttingDown, run_or_shut_down
from store import media
from store.database import Connection, now
from store.errors import InvalidRequest, Unavailable
from store.ids import new_id

MOST_ITEMS = 10_000
MOST_MEDIA = 100  # of an item
MOST_REFS = 1000  # of an import
TEXT_CHARACTERS = 1_000_000  # of an item
MOST_MS = 31 * 24 * 3_600_000
MOST_OWN = 200
CHANNELS = {"call": ("phone",), "chat": ("telegram", "whatsapp", "widget"), "email": ("email",)}

Result = TypeVar("Result")

NoCall = Call[NoInput, NoInput]
Label = Annotated[Text, Field(min_length=1, max_length=64)]
Milliseconds = Annotated[int, Field(ge=0, le=MOST_MS)]


class _Given(BaseModel):
    """Undocumented fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class LabelledSpeaker(SpeakerInput):
    """`label` says which items of `content` are this person's; without it analysis tells, where it can."""

    label: Label | None = None


class PostedMedia(_Given):
    """A file that was uploaded by `POST /v1/media`. `type` and `name` are told by the upload when left out."""

    ref: Uuid
    type: MediaType | None = None
    name: Annotated[Text, Field(max_length=300)] | None = None


class PostedItem(_Given):
    """What was said or written at once. `at` is when; of a call `start_ms` and `end_ms` say where in it."""

    text: Annotated[Text, Field(max_length=TEXT_CHARACTERS)] | None = None
    label: Label | None = None
    at: Moment | None = None
    start_ms: Milliseconds | None = None
    end_ms: Milliseconds | None = None
    media: Annotated[list[PostedMedia], Field(max_length=MOST_MEDIA)] | None = None

    @field_validator("end_ms")
    @classmethod
    def _ends_after_its_start(cls, value: int | None, info: ValidationInfo) -> int | None:
        start_ms = info.data.get("start_ms")
        if value is not None and start_ms is not None and value < start_ms:
            raise ValueError("is before start_ms")
        return value

    @property
    def is_empty(self) -> bool:
        return not self.text and not self.media


_SUMMARY = "Ask for analysis. Without it: whether `speakers` are given."


class PostedConversation(_Given):
    """A conversation whose text is known. `channel_type` goes with `kind`: phone with call, email with email, the
    others with chat."""

    kind: Kind
    channel_type: ChannelType
    content: Annotated[list[PostedItem], Field(min_length=1, max_length=MOST_ITEMS)]
    direction: Direction | None = None
    occured_at: Moment | None = Field(None, description="Without it: the first `at`, else now.")
    request_record_id: RecordId | None = Field(
        None, description="Your own id of it. The same content under the same id again is the communication there is."
    )
    language: Literal["ru", "en"] | None = Field(None, description="Told by the text when left out.")
    speakers: Annotated[list[LabelledSpeaker], Field(max_length=MOST_SPEAKERS)] | None = None
    summary: StrictBool | None = Field(None, description=_SUMMARY)
    user_summary: Prompt | None = Field(None, description="The prompt of a report of your own.")
    webhook_url: Url | None = Field(
        None, description="Told of this request's events, in place of the account's own address."
    )


def _own(value: str) -> str:
    if len(import_files.own_of(value)) > MOST_OWN:
        raise ValueError(f"has more than {MOST_OWN} entries")
    return value


class ExportForm(_Given):
    """The fields beside `file`."""

    summary: FormBoolean | None = Field(None, description="Ask for analysis of each conversation. Without it: none.")
    user_summary: Prompt | None = None
    webhook_url: Url | None = None
    own: Annotated[Text, Field(max_length=20_000), AfterValidator(_own)] = Field(
        "", description="Addresses, domains and names of your company's people, comma-separated."
    )


class ExportUpload(ExportForm):
    """A mail (.eml), a mail box (.mbox), or the export of a Telegram or WhatsApp chat; a ZIP of such files."""

    file: str = Field(json_schema_extra={"format": "binary"})


class AcceptedConversation(BaseModel):
    """Read it by `GET /v1/communications`. The rest is told of an export alone: all its conversations, how many of
    them are new or have grown, and how many were there."""

    communication_id: UuidText
    communication_ids: list[UuidText] | None = Field(default=None, exclude_if=lambda value: value is None)
    imported: int | None = Field(default=None, exclude_if=lambda value: value is None)
    known: int | None = Field(default=None, exclude_if=lambda value: value is None)


async def import_communication(call: NoCall) -> Response:
    if is_multipart(call.request):
        return await _import_export(call)
    raw = await read_body(call.request, call.services.settings.max_import_bytes)
    return await run_in_threadpool(_import_posted, call, raw)


def _import_posted(call: NoCall, raw: bytes) -> Response:
    body = parse_json(PostedConversation, raw)
    _check(body)
    call.identify("json", body.model_dump_json())

    def also(connection: Connection, found: Imported) -> None:
        if found.state != "known":
            call.note(connection, "communication.imported", found.communication_id)
        call.keep(connection, _accepted(found), 202)

    try:
        conversation, wishes = _conversation(call, body), _wishes(call, body, bool(body.speakers))
        found = imports.accept(call.tenant_id, conversation, wishes, also=also)
    except UnusableMedia as unusable:
        raise _unusable(body, unusable) from None
    return json_response(_accepted(found), 202)


def _check(body: PostedConversation) -> None:
    """What one field alone does not tell. Raises InvalidRequest."""
    if body.channel_type not in CHANNELS[body.kind]:
        fitting = " or ".join(CHANNELS[body.kind])
        raise InvalidRequest(f"channel_type: of kind {body.kind} is {fitting}.", param="channel_type")
    labels: set[str] = set()
    for number, speaker in enumerate(body.speakers or ()):
        if speaker.label is not None and speaker.label in labels:
            param = f"speakers.{number}.label"
            raise InvalidRequest(f"{param}: is another speaker's label.", param=param)
        labels.add(speaker.label or "")
    if all(item.is_empty for item in body.content):
        raise InvalidRequest("content: has neither text nor media.", param="content")
    refs = 0
    for number, item in enumerate(body.content):
        refs += len(item.media or ())
        if refs > MOST_REFS:
            param = f"content.{number}.media"
            raise InvalidRequest(f"{param}: the items have more than {MOST_REFS:,} files in all.", param=param)
    if body.webhook_url is not None:
        check_url(body.webhook_url, param="webhook_url")


def _wishes(call: NoCall, fields: PostedConversation | ExportForm, by_default: bool) -> Wishes:
    return Wishes(
        summary=by_default if fields.summary is None else fields.summary,
        user_summary=fields.user_summary or None,
        webhook_url=fields.webhook_url,
        key_id=call.principal.key_id,
    )


def _conversation(call: NoCall, body: PostedConversation) -> ImportedConversation:
    """Raises UnusableMedia."""
    types = _types_of(call, [file.ref for item in body.content for file in item.media or ()])
    first_at = min((item.at for item in body.content if item.at is not None), default=None)
    return ImportedConversation(
        kind=body.kind,
        channel_type=body.channel_type,
        occured_at=body.occured_at or first_at or now(),
        turns=tuple(_turn(item, types) for item in body.content if not item.is_empty),
        people=tuple(
            ImportedPerson(each.label, each.name, each.id, each.role, each.department) for each in body.speakers or ()
        ),
        direction=body.direction,
        language=body.language,
        record_id=body.request_record_id,
    )


def _turn(item: PostedItem, types: dict[str, MediaType]) -> ImportedTurn:
    files = tuple(
        ImportedMedia(file.type or types[file.ref], file.name or None, ref=file.ref) for file in item.media or ()
    )
    return ImportedTurn(item.text or "", item.label, item.at, item.start_ms, item.end_ms, files)


def _types_of(call: NoCall, refs: Sequence[str]) -> dict[str, MediaType]:
    """By ref. Raises UnusableMedia for one that is none of this account's."""
    with call.services.database.read() as connection:
        found = media.get_many(call.tenant_id, connection, list(dict.fromkeys(refs))) if refs else {}
    for ref in refs:
        if ref not in found:
            raise UnusableMedia(ref, "there is no such media")
    return {ref: row.type for ref, row in found.items()}  # type: ignore[misc]


def _unusable(body: PostedConversation, unusable: UnusableMedia) -> InvalidRequest:
    for at, item in enumerate(body.content):
        for number, file in enumerate(item.media or ()):
            if file.ref == unusable.ref:
                param = f"content.{at}.media.{number}.ref"
                return InvalidRequest(f"{param}: {unusable.message}.", param=param)
    raise AssertionError("only what was posted is looked for")


def _accepted(found: Imported) -> AcceptedConversation:
    return AcceptedConversation(communication_id=found.communication_id)


# An import takes its time: no more of them at once than leave threads for everything else, and one of an account.
_EXPORTS = CapacityLimiter(2)
_LINES: WeakValueDictionary[str, Lock] = WeakValueDictionary()


async def _import_export(call: NoCall) -> Response:
    house, most = call.services.workshop, call.services.settings.max_document_bytes
    refuse_declared(call.request, most)
    import_id = new_id()
    key = f"{call.tenant_id}/imports/{import_id}"
    await run_in_threadpool(announced_blobs.announce, house.database, call.tenant_id, key)
    try:
        writer = await run_in_threadpool(house.blobs.writer, key)
        form = await receive_form(call.request, writer, max_file_bytes=most, known=ExportForm.model_fields.keys())
        if form.file is None:
            raise InvalidRequest("There is no file.", code="missing_file", param="file")
        fields = parse_values(ExportForm, {name: text for name, text in form.fields.items() if text != ""})
        if fields.webhook_url is not None:
            check_url(fields.webhook_url, param="webhook_url")
        await run_in_threadpool(call.identify, form.file.sha256, form.file_name, fields.model_dump_json())
        found = await in_turn(call.tenant_id, _take_in, call, key, form.file_name, fields)
    # Stored or refused: nobody needs the file itself any more.
    finally:
        await run_in_threadpool(announced_blobs.discard, house.database, house.blobs, call.tenant_id, key)
    if not found:
        raise InvalidRequest("There is no conversation in the file.", param="file")
    return json_response(_all_accepted(found), 202)


async def in_turn(tenant_id: str, work: Callable[..., Result], *arguments: Any) -> Result:
    """Runs an import in a thread; the account's own wait for each other and take nobody's place meanwhile."""
    async with _LINES.setdefault(tenant_id, Lock()):
        return await to_thread.run_sync(work, *arguments, limiter=_EXPORTS)


def _take_in(call: NoCall, key: str, file_name: str, fields: ExportForm) -> list[Imported]:
    house = call.services.workshop

    def run(*work: Any) -> int:
        count: int = run_or_shut_down(house.pools.documents, *work, owner=call.tenant_id)
        return count

    new: set[str] = set()

    def stored(found: Imported, _: ImportedConversation) -> None:
        if found.state != "known":
            new.add(found.communication_id)
        if found.order is not None:
            start(found.order)

    try:
        with house.blobs.as_file(key) as path:
            return import_files.import_file(
                house.database,
                house.blobs,
                house.settings,
                call.tenant_id,
                run,
                path,
                file_name=file_name.replace("\\", "/").rsplit("/", 1)[-1],
                wishes=_wishes(call, fields, by_default=False),
                own=import_files.own_of(fields.own),
                stored=stored,
            )
    except Unreadable as error:
        raise InvalidRequest(f"The file cannot be imported: {error.message}", param="file") from None
    except ShuttingDown:
        raise Unavailable("The server is stopping.") from None
    except ChildError as error:
        raise InvalidRequest("The file cannot be read.", param="file") from error
    # What was stored before something went wrong stays.
    finally:
        if new:
            with house.database.write() as connection:
                call.note(connection, "communication.imported", details={"count": len(new)})


def _all_accepted(found: Sequence[Imported]) -> AcceptedConversation:
    ids = list(dict.fromkeys(each.communication_id for each in found))
    known = sum(each.state == "known" for each in found)
    newest = max(found, key=lambda each: each.occured_at)
    return AcceptedConversation(
        communication_id=newest.communication_id, communication_ids=ids, imported=len(found) - known, known=known
    )


OPERATIONS = (
    Operation(
        "POST",
        "/v1/communications",
        import_communication,
        "Import a conversation",
        response=AcceptedConversation,
        form=ExportUpload,
        form_alternative=PostedConversation,
        status=202,
        errors=(400, 401, 403, 413),
        paused=False,
        idempotent=True,
        audited=("communication.imported",),
    ),
)
