"""The Vision layer's streams: cameras that are watched, what for, and how it goes with each."""

from __future__ import annotations

import json
from datetime import UTC
from email.utils import format_datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from starlette.responses import Response

from accounts.camera_addresses import CameraGuard, check_camera_url, shown
from accounts.outbound import MAX_URL_CHARACTERS, check_url, without_path
from api.fields import UtcTime, UuidText, left_out
from api.http import Body, Call, NoInput, Operation
from api.paging import PageQuery, Pagination, pagination
from ingest.vision.recorder import NEWEST_KEPT, newest_key
from ingest.vision.zones import problem_of
from store import accounts, camera_streams
from store.blobs import BlobMissing
from store.camera_streams import Scenario, State, Stream
from store.database import now
from store.errors import InvalidRequest, NotFound, StreamLimitExceeded

MOST_ZONES = 32
MOST_POINTS = 16


def _known(scenarios: Any, validate: ValidatorFunctionWrapHandler) -> list[Scenario]:
    """One that is unknown is an error of the list: the contract names `scenarios`, and not a place in it."""
    try:
        known: list[Scenario] = validate(scenarios)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = f"item {first['loc'][0]}: " if first["loc"] else ""
        raise ValueError(f"{where}{first['msg']}") from None
    return known


def _each_once(scenarios: list[Scenario]) -> list[Scenario]:
    if len(set(scenarios)) != len(scenarios):
        raise ValueError("names a scenario twice")
    return scenarios


def _polygon(points: list[list[float]]) -> list[list[float]]:
    problem = problem_of(points)
    if problem is not None:
        raise ValueError(problem)
    return points


def _named_once(zones: list[Zone]) -> list[Zone]:
    if len({zone.name for zone in zones}) != len(zones):
        raise ValueError("two zones have the same name")
    return zones


Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Scenarios = Annotated[list[Scenario], Field(min_length=1), AfterValidator(_each_once), WrapValidator(_known)]
# Its bounds are told here and held by `check_camera_url`, so that whatever is wrong with it has one code.
CameraUrl = Annotated[
    str,
    WithJsonSchema(
        {"type": "string", "minLength": 1, "maxLength": MAX_URL_CHARACTERS, "examples": ["rtsp://10.0.0.7/stream1"]}
    ),
]
WebhookUrl = Annotated[str, Field(max_length=MAX_URL_CHARACTERS)]
SiteId = Annotated[str, Field(max_length=200)]
Relative = Annotated[float, Field(ge=0, le=1)]
Metres = Annotated[float, Field(ge=-1_000_000, le=1_000_000, allow_inf_nan=False)]


class Geo(BaseModel):
    """Where the camera is: coordinates in degrees, and the floor. Other keys are kept as they are."""

    model_config = ConfigDict(extra="allow", frozen=True)

    lat: Annotated[float, Field(ge=-90, le=90)] | None = None
    lon: Annotated[float, Field(ge=-180, le=180)] | None = None
    floor: int | Annotated[str, Field(max_length=50)] | None = None

    @model_validator(mode="after")
    def _has_numbers_of_json(self) -> Self:
        try:
            json.dumps(self.model_extra, allow_nan=False)
        except ValueError:
            raise ValueError("holds a number that is none of JSON's") from None
        return self


class Zone(BaseModel):
    """A part of the picture: `polygon` has points [x, y], each from 0 to 1, from the upper left corner. Whoever steps
    into a restricted zone is an event; people who wait in a queue zone are counted; who comes out of an entrance zone
    has entered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"\S")]
    kind: Literal["restricted", "queue", "entrance"]
    polygon: Annotated[list[list[float]], AfterValidator(_polygon)]


class Calibration(BaseModel):
    """A point of the picture (relative, x and y) and where it is on the floor (metres, x and y)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    image: Annotated[list[Relative], Field(min_length=2, max_length=2)]
    floor: Annotated[list[Metres], Field(min_length=2, max_length=2)]


Zones = Annotated[list[Zone], Field(max_length=MOST_ZONES), AfterValidator(_named_once)]
Calibrations = Annotated[list[Calibration], Field(max_length=MOST_POINTS)]
Transport = Literal["tcp", "udp"]


class StreamBody(Body):
    """`site_id` is the site's or branch's id in the caller's own system; `webhook_url` is told of each event."""

    name: Name
    rtsp_url: CameraUrl
    scenarios: Scenarios
    site_id: SiteId | None = None
    geo: Geo | None = None
    webhook_url: WebhookUrl | None = None
    transport: Transport = "tcp"
    zones: Zones = Field(default_factory=list)
    calibration: Calibrations = Field(default_factory=list)


class StreamPatch(Body):
    """What is named is changed, the rest stays; null takes back what may be left out."""

    name: Name = left_out()
    rtsp_url: CameraUrl = left_out()
    scenarios: Scenarios = left_out()
    site_id: SiteId | None = left_out()
    geo: Geo | None = left_out()
    webhook_url: WebhookUrl | None = left_out()
    transport: Transport = left_out()
    zones: Zones = left_out()
    calibration: Calibrations = left_out()


class StreamRecord(BaseModel):
    """`rtsp_url` is shown without user, password and query, and without the parts of its path that hold a value.
    `message` says why a stream is not online, `notes` what its detectors do not know. `fps` is what the camera sends;
    `latency_ms`, from a picture's arrival to what was found in it, is the mean of the last seconds."""

    id: UuidText
    name: str
    rtsp_url: str
    transport: Transport
    scenarios: list[Scenario]
    site_id: str | None
    geo: Geo | None
    webhook_url: str | None
    zones: list[Zone]
    calibration: list[Calibration]
    status: State
    message: str
    notes: list[str]
    fps: float
    latency_ms: float
    width: int
    height: int
    last_event_at: UtcTime | None
    created_at: UtcTime
    updated_at: UtcTime


class StreamList(BaseModel):
    items: list[StreamRecord]
    pagination: Pagination


def _record(call: Call[Any, Any], row: Stream) -> StreamRecord:
    url = row.webhook_url
    return StreamRecord(
        id=row.id,
        name=row.name,
        rtsp_url=row.shown_url,
        transport=row.transport,
        scenarios=list(row.scenarios),
        site_id=row.site_id,
        geo=None if row.geo is None else Geo.model_validate(row.geo),
        webhook_url=url if url is None or call.principal.has_role("operator") else without_path(url),
        zones=[Zone.model_validate(zone) for zone in row.zones],
        calibration=[Calibration.model_validate(point) for point in row.calibration],
        status=row.status,
        message=row.message,
        notes=list(row.notes),
        fps=round(row.fps, 1),
        latency_ms=round(row.latency_ms, 1),
        width=row.width,
        height=row.height,
        last_event_at=row.last_event_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _values(call: Call[Any, Any], body: StreamBody | StreamPatch) -> dict[str, Any]:
    """The columns that a body sets. Raises InvalidRequest."""
    values = body.model_dump(include=body.model_fields_set, mode="json", exclude={"rtsp_url"})
    if "geo" in values and body.geo is not None:
        values["geo"] = body.geo.model_dump(mode="json", exclude_unset=True)
    if "rtsp_url" in body.model_fields_set:
        url = check_camera_url(body.rtsp_url)
        CameraGuard.of(call.services.settings.camera_networks).check(url)
        values |= {"url": call.services.keyring.encrypt(url.encode()), "shown_url": shown(url)}
    if values.get("webhook_url"):
        check_url(values["webhook_url"], param="webhook_url")
        values["key_id"] = call.principal.key_id
    elif "webhook_url" in values:
        values["webhook_url"] = None
    if "name" in values:
        values["name"] = values["name"].strip()
    return values


def require_stream(call: Call[Any, Any], stream_id: str | None = None) -> Stream:
    """The stream of the path, or of that id. Raises NotFound."""
    stream_id = stream_id or call.path_id("stream_id", "stream")
    with call.services.database.read() as connection:
        row = camera_streams.get(call.tenant_id, connection, stream_id)
    if row is None:
        raise NotFound("No such stream.")
    return row


def list_streams(call: Call[PageQuery, NoInput]) -> StreamList:
    with call.services.database.read() as connection:
        rows, total = camera_streams.list_page(
            call.tenant_id, connection, limit=call.query.limit, offset=call.query.offset
        )
    return StreamList(items=[_record(call, row) for row in rows], pagination=pagination(call.query, len(rows), total))


def create_stream(call: Call[NoInput, StreamBody]) -> StreamRecord:
    values = {"site_id": None, "geo": None, "webhook_url": None, "key_id": None, "transport": "tcp"}
    values |= _values(call, call.body)
    with call.services.database.write() as connection:
        tenant = accounts.get_tenant(call.tenant_id, connection, lock=True)
        assert tenant is not None, "a caller has an account"
        if camera_streams.count(call.tenant_id, connection, of_plan=True) >= tenant.camera_limit:
            raise StreamLimitExceeded(f"The plan has {tenant.camera_limit} cameras, and all are in use.")
        row = camera_streams.add(call.tenant_id, connection, **values)
        call.note(connection, "stream.created", row.id)
        answer = _record(call, row)
        call.keep(connection, answer, 201)
    call.services.cameras.wake()
    return answer


def read_stream(call: Call[NoInput, NoInput]) -> StreamRecord:
    return _record(call, require_stream(call))


def update_stream(call: Call[NoInput, StreamPatch]) -> StreamRecord:
    row = require_stream(call)
    if row.is_own and "rtsp_url" in call.body.model_fields_set:
        # The operator's may be anywhere, which is for the operator alone to say.
        raise InvalidRequest("rtsp_url: the operator set up this stream; register another one.", param="rtsp_url")
    values = _values(call, call.body)
    with call.services.database.write() as connection:
        if values:
            camera_streams.update(call.tenant_id, connection, row.id, **values)
            changed = {"fields": ", ".join(sorted(call.body.model_fields_set))}
            call.note(connection, "stream.changed", row.id, changed)
        now = camera_streams.get(call.tenant_id, connection, row.id)
    if now is None:
        raise NotFound("No such stream.")
    return _record(call, now)


def delete_stream(call: Call[NoInput, NoInput]) -> Response:
    """Its events stay for as long as events are kept."""
    stream_id = call.path_id("stream_id", "stream")
    house = call.services.workshop
    with call.services.database.write() as connection:
        if not camera_streams.delete(call.tenant_id, connection, stream_id):
            raise NotFound("No such stream.")
        call.note(connection, "stream.deleted", stream_id)
    # After the row: a worker that writes one more picture sees then that the stream is gone, and takes it back.
    house.blobs.delete(newest_key(call.tenant_id, stream_id))
    return Response(status_code=204)


def read_stream_snapshot(call: Call[NoInput, NoInput]) -> Response:
    """What the worker saw last: a picture that is older than a day is nobody's business any more."""
    stream = require_stream(call)
    blobs, key = call.services.workshop.blobs, newest_key(call.tenant_id, stream.id)
    unknown = NotFound("There is no picture of this camera yet.", code="no_picture")
    try:
        taken_at = blobs.entry(key).modified_at
        if now() - taken_at > NEWEST_KEPT:
            blobs.delete(key)
            raise unknown
        picture = blobs.read(key)
    except BlobMissing:
        raise unknown from None
    headers = {
        "Cache-Control": "no-store",
        "Last-Modified": format_datetime(taken_at.astimezone(UTC), usegmt=True),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return Response(picture, media_type="image/jpeg", headers=headers)


_STREAMS = "/v1/streams"
_STREAM = "/v1/streams/{stream_id}"


def vision_operation(method: str, path: str, handler: Any, summary: str, response: Any, **options: Any) -> Operation:
    """An operation of Vision: its feature must be on, and a paused account may read."""
    return Operation(
        method,
        path,
        handler,
        summary,
        response=response,
        feature="vision",
        paused=method == "GET",
        bearer_only=True,
        **options,
    )


OPERATIONS = (
    vision_operation(
        "GET", _STREAMS, list_streams, "List streams", StreamList, query=PageQuery, errors=(400, 401, 403)
    ),
    vision_operation(
        "POST",
        _STREAMS,
        create_stream,
        "Register a camera",
        StreamRecord,
        body=StreamBody,
        status=201,
        errors=(400, 401, 402, 403),
        idempotent=True,
        audited=("stream.created",),
    ),
    vision_operation("GET", _STREAM, read_stream, "Read a stream", StreamRecord, errors=(401, 403, 404)),
    vision_operation(
        "PATCH",
        _STREAM,
        update_stream,
        "Change a stream",
        StreamRecord,
        body=StreamPatch,
        errors=(400, 401, 403, 404),
        audited=("stream.changed",),
    ),
    vision_operation(
        "GET",
        _STREAM + "/snapshot",
        read_stream_snapshot,
        "Read a camera's newest picture",
        None,
        content="image/jpeg",
        answer_headers={200: {"Last-Modified": "When the picture was taken."}},
        errors=(401, 403, 404),
    ),
    vision_operation(
        "DELETE",
        _STREAM,
        delete_stream,
        "End a stream",
        None,
        status=204,
        errors=(401, 403, 404),
        audited=("stream.deleted",),
    ),
)
