"""The Vision layer's events and aggregates: what was seen, its pictures, and traffic by the hour and day."""

from __future__ import annotations

import base64
import io
import json
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.fields import Moment, PageLimit, UtcTime, Uuid, UuidText
from api.http import Call, NoInput, Query
from api.media import StoredFile, send_file
from api.services import Services
from api.vision import vision_operation
from ingest.vision.heat_picture import draw_heat
from ingest.vision.scenarios.findings import EventType
from store import camera_events, camera_streams, camera_traffic
from store.camera_events import Event
from store.camera_streams import Scenario
from store.database import Connection
from store.errors import InvalidRequest, NotFound
from store.ids import as_id

SNAPSHOT_LIFETIME_S = 3600
MOST_HOURS = 24 * 92
MOST_DAYS = 3660
_PURPOSE = "snapshot"

Granularity = Literal["hour", "day"]


class EventQuery(Query):
    """`from` is inside, `to` is not. `cursor` is the `next_cursor` of the page before. `text`: how a plate, a
    container's number or a code begins; case, spaces and signs do not matter, nor which alphabet a Russian plate is
    written in."""

    stream_id: Uuid | None = None
    scenario: Scenario | None = None
    type: EventType | None = None
    text: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    begin: Moment | None = Field(None, alias="from")
    end: Moment | None = Field(None, alias="to")
    limit: PageLimit = 50
    cursor: Annotated[str, Field(max_length=500)] | None = None


class EventRecord(BaseModel):
    """`stream_name` is the camera's; null where it was deleted since. `snapshot_url` is a link that needs no key and
    expires; null where no picture is kept. `metadata` has, as far as they apply, the zone's name, the track's number,
    the `object` that is in a restricted zone (person or vehicle, each with numbers of its own), the box (x1, y1, x2, y2
    in pixels), and what was read."""

    id: UuidText
    stream_id: UuidText
    stream_name: str | None
    scenario: Scenario
    type: str
    confidence: Annotated[float, Field(ge=0, le=1)]
    occurred_at: UtcTime
    snapshot_url: str | None
    metadata: dict[str, Any]


class EventList(BaseModel):
    """Newest first; `next_cursor` is null on the last page."""

    items: list[EventRecord]
    next_cursor: str | None


class TrafficQuery(Query):
    """Whole days of UTC, both inside."""

    stream_id: Uuid
    granularity: Granularity = "hour"
    begin: date = Field(alias="from")
    end: date = Field(alias="to")


class ZoneQueue(BaseModel):
    """The queue of a zone, by the name that it had: `people` who left it, after `avg_queue_sec` seconds on average."""

    zone: str
    people: int
    avg_queue_sec: float


class TrafficBucket(BaseModel):
    """An hour or a day from `bucket` on. A visitor who comes again is counted once in it; `avg_queue_sec` is of those
    who left a queue in it, and `queues` has the same by the zone, of the zones whose queue somebody left."""

    bucket: UtcTime
    unique_visitors: int
    avg_queue_sec: float
    entered: int
    left: int
    queues: list[ZoneQueue]


class TrafficSeries(BaseModel):
    stream_id: UuidText
    granularity: Granularity
    series: list[TrafficBucket]


class HeatQuery(Query):
    """Whole days of UTC, both inside."""

    stream_id: Uuid
    begin: date = Field(alias="from")
    end: date = Field(alias="to")


class HeatMap(BaseModel):
    """`cells` are rows from above, of person-seconds in each cell of the picture."""

    stream_id: UuidText
    rows: int
    columns: int
    cells: list[list[float]]


def list_events(call: Call[EventQuery, NoInput]) -> EventList:
    query = call.query
    with call.services.database.read() as connection:
        rows = camera_events.list_page(
            call.tenant_id,
            connection,
            stream_id=query.stream_id,
            scenario=query.scenario,
            kind=query.type,
            text=_key(query.text),
            begin=query.begin,
            end=query.end,
            after=_position(query.cursor),
            limit=query.limit + 1,
        )
        names = camera_streams.names_of(call.tenant_id, connection, {row.stream_id for row in rows})
    page = rows[: query.limit]
    is_last = len(rows) <= query.limit
    return EventList(
        items=[_event(call, row, names.get(row.stream_id)) for row in page],
        next_cursor=None if is_last else _cursor(page[-1]),
    )


def _key(text: str | None) -> str | None:
    """Raises InvalidRequest for a text that has nothing to search for."""
    key = None if text is None else camera_events.search_key(text)
    if key == "":
        raise InvalidRequest("text: has no letter and no digit.", param="text")
    return key


def _event(call: Call[Any, Any], row: Event, stream_name: str | None) -> EventRecord:
    return EventRecord(
        id=row.id,
        stream_id=row.stream_id,
        stream_name=stream_name,
        scenario=row.scenario,
        type=row.type,
        confidence=round(row.confidence, 3),
        occurred_at=row.occurred_at,
        snapshot_url=None if row.snapshot_key is None else _snapshot_url(call, row),
        metadata=row.metadata,
    )


def _snapshot_url(call: Call[Any, Any], row: Event) -> str:
    claims = {"tenant": row.tenant_id, "event": row.id}
    token = call.services.keyring.sign_token(_PURPOSE, claims, lifetime_s=SNAPSHOT_LIFETIME_S)
    return f"{call.services.settings.effective_public_url}/vision/v1/snapshots/{token}"


def _cursor(row: Event) -> str:
    return base64.urlsafe_b64encode(json.dumps([row.occurred_at.isoformat(), row.id]).encode()).decode().rstrip("=")


def _position(cursor: str | None) -> tuple[datetime, str] | None:
    """Raises InvalidRequest for a cursor that is none of ours."""
    if cursor is None:
        return None
    try:
        at, event_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        moment = datetime.fromisoformat(at)
        return moment.astimezone(UTC), as_id(event_id)
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise InvalidRequest("cursor: is not one of this list; leave it out to begin again.", param="cursor") from None


def read_snapshot(request: Request) -> Response:
    """The token in the path is all that is asked for."""
    services: Services = request.app.state.services
    unknown = NotFound("No such snapshot, or its link has expired.")
    claims = services.keyring.open_token(_PURPOSE, request.path_params["token"])
    row = None
    if claims is not None:
        with services.database.read() as connection:
            row = camera_events.get(claims["tenant"], connection, claims["event"])
    if row is None or row.snapshot_key is None:
        raise unknown
    file = StoredFile(row.snapshot_key.rpartition("/")[2], row.snapshot_key, "image/jpeg", f"{row.type}.jpg")
    return send_file(services, request, file, unknown)


def read_traffic(call: Call[TrafficQuery, NoInput]) -> TrafficSeries:
    query = call.query
    begin, end = _days(query.begin, query.end, MOST_HOURS // 24 if query.granularity == "hour" else MOST_DAYS)
    step = timedelta(hours=1) if query.granularity == "hour" else timedelta(days=1)
    with call.services.database.read() as connection:
        _require_known(call, connection, query.stream_id)
        buckets = camera_traffic.series(call.tenant_id, connection, query.stream_id, begin, end, step=step)
    series = [
        TrafficBucket(
            bucket=each.begin,
            unique_visitors=each.unique_visitors,
            avg_queue_sec=each.avg_queue_sec,
            entered=each.entered,
            left=each.left,
            queues=[
                ZoneQueue(zone=queue.zone, people=queue.people, avg_queue_sec=queue.avg_queue_sec)
                for queue in each.queues
            ],
        )
        for each in buckets
    ]
    return TrafficSeries(stream_id=query.stream_id, granularity=query.granularity, series=series)


def read_heatmap(call: Call[HeatQuery, NoInput]) -> HeatMap | Response:
    begin, end = _days(call.query.begin, call.query.end, MOST_DAYS)
    with call.services.database.read() as connection:
        _require_known(call, connection, call.query.stream_id)
        heat = camera_traffic.heat(call.tenant_id, connection, call.query.stream_id, begin, end)
    if "image/png" in call.request.headers.get("accept", ""):
        picture = io.BytesIO()
        draw_heat(heat).save(picture, "PNG")
        return Response(picture.getvalue(), media_type="image/png", headers={"Vary": "Accept"})
    rows, columns = heat.shape
    cells = [[round(float(value), 1) for value in row] for row in heat]
    return HeatMap(stream_id=call.query.stream_id, rows=rows, columns=columns, cells=cells)


def _require_known(call: Call[Any, Any], connection: Connection, stream_id: str) -> None:
    """Figures outlive their camera, as its events do. Raises NotFound."""
    if not camera_streams.is_known(call.tenant_id, connection, stream_id):
        raise NotFound("No such stream.")


def _days(begin: date, end: date, most: int) -> tuple[datetime, datetime]:
    """From the first day's begin up to, not including, the day after the last. Raises InvalidRequest."""
    if end < begin:
        raise InvalidRequest("to: is before from.", param="to")
    if (end - begin).days >= most:
        raise InvalidRequest(f"to: at most {most} days at a time.", param="to")
    if not 1900 <= begin.year <= end.year <= 2200:
        raise InvalidRequest("from: is out of the calendar.", param="from")
    first = datetime(begin.year, begin.month, begin.day, tzinfo=UTC)
    return first, first + timedelta(days=(end - begin).days + 1)


ROUTES = (Route("/vision/v1/snapshots/{token}", read_snapshot, methods=["GET"]),)

OPERATIONS = (
    vision_operation(
        "GET", "/v1/events", list_events, "List events", EventList, query=EventQuery, errors=(400, 401, 403)
    ),
    vision_operation(
        "GET",
        "/v1/analytics/traffic",
        read_traffic,
        "Read traffic by hour or day",
        TrafficSeries,
        query=TrafficQuery,
        errors=(400, 401, 403, 404),
    ),
    vision_operation(
        "GET",
        "/v1/analytics/heatmap",
        read_heatmap,
        "Read where people were",
        HeatMap,
        query=HeatQuery,
        errors=(400, 401, 403, 404),
    ),
)
