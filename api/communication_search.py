"""The Public layer's list of communications: by words and meaning, or newest first, with filters and cursors."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from math import ceil
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field, StringConstraints

from api.communications import ChannelType, CommunicationSpeaker, Direction, JobStatus, Kind, speaker_body
from api.fields import PageLimit, UtcTime, Uuid, UuidText
from api.http import Call, NoInput, Operation, Query
from ingest.analysis.catalogs import category_label
from mcp_server.tools.communications import best_passages
from mcp_server.tools.moments import Bound
from mcp_server.tools.periods import day_start
from mcp_server.tools.rankings_signals import Signal
from mcp_server.tools.shapes import Category
from rag.index import Filter
from rag.search import Found
from store import communication_lists, communications, speakers
from store.communication_lists import Wanted
from store.communications import Cursor
from store.errors import InvalidRequest
from store.ids import parse_id

MOST_RANKED = 500
"""Of the best matches; who wants more asks better."""
_OPENING_TURNS = 3
_SUMMARY_CHARACTERS = 600
_PASSAGE_CHARACTERS = 400


class CommunicationSearchQuery(Query):
    """All filters that are given must hold."""

    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)] | None = Field(
        None, description="Words, or what is meant by them: the best matches first. Without it: the newest first."
    )
    kind: Kind | None = None
    channel_type: ChannelType | None = None
    direction: Direction | None = None
    category: Category | Literal["none"] | None = Field(
        None, description="`none`: those that have none, since they were not analysed."
    )
    participant: Uuid | None = Field(None, description="The id of a person who takes part.")
    scenario: Annotated[str, Field(min_length=1, max_length=32)] | None = Field(
        None, description="The code of the scenario that quality control went by."
    )
    score_from: Annotated[float, Field(ge=0, le=100)] | None = None
    score_to: Annotated[float, Field(ge=0, le=100)] | None = None
    tone: communication_lists.Tone | None = Field(
        None,
        description="How quality control found the tone of the staff, where it could tell (criterion tone_of_voice): "
        "unfriendly below 0.4, friendly from 0.7.",
    )
    answered: bool | None = Field(
        None,
        description="Of calls: whether somebody was reached; of chats and mails: whether both sides wrote. What cannot "
        "be told yet fits neither. Missed calls are `kind=call&direction=in&answered=false`.",
    )
    replied: bool | None = Field(
        None,
        description="Of chats and mails: whether the company replied to the client. `true` are those that "
        "avg_first_reply_s of `get_period_metrics` is of.",
    )
    signal: Signal | None = Field(None, description="The signal that came up, as in the tool `rank_signals`.")
    from_: Bound | None = Field(None, alias="from", description="First day (YYYY-MM-DD), or time with its offset.")
    to: Bound | None = Field(None, description="Last day, inclusive, or time, exclusive.")
    limit: PageLimit = 50
    cursor: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        None, description="`next_cursor` of the page before."
    )


class Passage(BaseModel):
    """What fits the query best. `start_ms` is where in the recording."""

    text: str
    start_ms: int | None


class ListedCommunication(BaseModel):
    """`title` is a mail's subject, a chat's name, or the name of a recording's file. `opening` are the first words
    where there is no summary; `passage` is there where a query was given."""

    id: UuidText
    kind: Kind
    channel_type: ChannelType
    direction: Direction | None
    occured_at: UtcTime
    duration_ms: int | None
    request_record_id: str | None
    title: str
    category: str | None
    category_label: str | None
    summary_text: str | None
    opening: str | None
    scenario_code: str | None
    score_pct: float | None
    transcription_status: Literal["pending", "processing", "success", "error"] | None
    summary_generation_status: JobStatus
    speakers: list[CommunicationSpeaker]
    passage: Passage | None


class CommunicationSearchPage(BaseModel):
    """`total` is told with the first page of a list without a query."""

    items: list[ListedCommunication]
    next_cursor: str | None
    total: int | None


SearchCall = Call[CommunicationSearchQuery, NoInput]


def search_communications(call: SearchCall) -> CommunicationSearchPage:
    query = call.query
    since, until = _bounds(call)
    wanted = Wanted(
        kind=query.kind,
        channel_type=query.channel_type,
        direction=query.direction,
        category=None if query.category == "none" else query.category,
        uncategorised=query.category == "none",
        participant=query.participant,
        scenario=query.scenario,
        score_from=query.score_from,
        score_to=query.score_to,
        tone=query.tone,
        answered=query.answered,
        replied=query.replied,
        signal=query.signal,
        since=since,
        until=until,
    )
    return _ranked(call, wanted) if query.query else _newest(call, wanted)


def _bounds(call: SearchCall) -> tuple[datetime | None, datetime | None]:
    zone = ZoneInfo(call.principal.tenant.time_zone)
    first, last = call.query.from_, call.query.to
    since = _moment(first, zone) if first is not None else None
    # A day is part of the period as a whole.
    behind = timedelta(days=0 if isinstance(last, datetime) else 1)
    until = _moment(last + behind, zone) if last is not None else None
    if since is not None and until is not None and until < since:
        raise InvalidRequest("to: is before the beginning of the period.", param="to")
    return since, until


def _moment(bound: date | datetime, zone: ZoneInfo) -> datetime:
    if not isinstance(bound, datetime):
        return day_start(bound, zone)
    return bound if bound.tzinfo is not None else bound.replace(tzinfo=zone)


def _newest(call: SearchCall, wanted: Wanted) -> CommunicationSearchPage:
    limit, before = call.query.limit, _position(call.query.cursor)
    with call.services.database.read() as connection:
        ids = communication_lists.list_ids(call.tenant_id, connection, wanted, limit=limit + 1, before=before)
        total = None if before else communication_lists.count(call.tenant_id, connection, wanted)
    items = _items(call, ids[:limit], {})
    last = items[-1] if len(ids) > limit and items else None
    cursor = f"{last.occured_at.isoformat()}_{last.id}" if last else None
    return CommunicationSearchPage(items=items, next_cursor=cursor, total=total)


def _ranked(call: SearchCall, wanted: Wanted) -> CommunicationSearchPage:
    query, limit = call.query, call.query.limit
    assert query.query
    offset = _offset(query.cursor)
    found_by = Filter(
        kinds=("communication",),
        communication_kind=wanted.kind,
        channel_type=wanted.channel_type,
        direction=wanted.direction,
        participants=(wanted.participant,) if wanted.participant else (),
        category=wanted.category,
        from_s=int(wanted.since.timestamp()) if wanted.since else None,
        to_s=ceil(wanted.until.timestamp()) - 1 if wanted.until else None,
    )
    only_figures_tell = (
        *(wanted.scenario, wanted.score_from, wanted.score_to, wanted.tone),
        *(wanted.answered, wanted.replied, wanted.signal, wanted.uncategorised or None),
    )
    by_figures = any(each is not None for each in only_figures_tell)
    # The index knows nothing of these: they are looked at afterwards, among the best.
    count = MOST_RANKED if by_figures else min(offset + limit + 1, MOST_RANKED)
    best, _ = best_passages(call.services.workshop.retriever, call.tenant_id, query.query, found_by, count)
    ids = list(best)
    if by_figures:
        with call.services.database.read() as connection:
            fitting = communication_lists.fitting(call.tenant_id, connection, ids, wanted)
        ids = [each for each in ids if each in fitting]
    end = offset + limit
    items = _items(call, ids[offset:end], best)
    cursor = str(end) if len(ids) > end else None
    return CommunicationSearchPage(items=items, next_cursor=cursor, total=None)


def _items(call: SearchCall, ids: list[str], best: dict[str, Found]) -> list[ListedCommunication]:
    tenant_id, language = call.tenant_id, call.principal.tenant.language
    with call.services.database.read() as connection:
        rows = communications.get_many(tenant_id, connection, ids)
        shown = communication_lists.listed(tenant_id, connection, ids)
        people = speakers.list_participants_of(tenant_id, connection, ids)
        openings = {
            each: communications.list_content(tenant_id, connection, each, limit=_OPENING_TURNS)
            for each in ids
            if each in shown and not shown[each].summary_text
        }
    items = []
    for each in ids:
        # What was deleted a moment ago is on its way out of the index.
        if each not in rows or each not in shown:
            continue
        row, more, found = rows[each], shown[each], best.get(each)
        opening = " ".join(item.text for _, item in openings.get(each, ()))
        items.append(
            ListedCommunication.model_validate(
                {
                    "id": row.id,
                    "kind": row.kind,
                    "channel_type": row.channel_type,
                    "direction": row.direction,
                    "occured_at": row.occured_at,
                    "duration_ms": row.duration_ms,
                    "request_record_id": row.request_record_id,
                    "title": row.title,
                    "category": more.category,
                    "category_label": category_label(more.category, language),
                    "summary_text": more.summary_text[:_SUMMARY_CHARACTERS] if more.summary_text else None,
                    "opening": opening[:_PASSAGE_CHARACTERS] or None,
                    "scenario_code": more.scenario_code,
                    "score_pct": more.score_pct,
                    "transcription_status": more.transcription_status,
                    "summary_generation_status": more.summary_status or "skipped",
                    "speakers": [CommunicationSpeaker(**speaker_body(person)) for person in people.get(each, ())],
                    "passage": _passage(found) if found else None,
                }
            )
        )
    return items


def _passage(found: Found) -> Passage:
    start_ms = found.payload.get("start_ms")
    return Passage(
        text=found.text[:_PASSAGE_CHARACTERS], start_ms=int(start_ms) if isinstance(start_ms, int | float) else None
    )


def _position(cursor: str | None) -> Cursor | None:
    if cursor is None:
        return None
    at, _, id_ = cursor.partition("_")
    try:
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not id_:
            raise ValueError
    except ValueError:
        raise _wrong_cursor() from None
    return Cursor(moment, _id_of(id_))


def _id_of(text: str) -> str:
    found = parse_id(text)
    if found is None:
        raise _wrong_cursor()
    return found


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or int(cursor) > MOST_RANKED:
        raise _wrong_cursor()
    return int(cursor)


def _wrong_cursor() -> InvalidRequest:
    return InvalidRequest("cursor: is none of this list's.", param="cursor")


OPERATIONS = (
    Operation(
        "GET",
        "/v1/communications/search",
        search_communications,
        "Search and list communications",
        response=CommunicationSearchPage,
        query=CommunicationSearchQuery,
        errors=(400, 401, 503),
    ),
)
