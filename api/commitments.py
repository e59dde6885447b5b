"""The Public layer's promises: lists by their deadline, and marks of those that were kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from api.fields import UtcTime, Uuid, UuidText
from api.http import Body, Call, NoInput, Operation
from api.paging import PageQuery, Pagination, pagination
from mcp_server.tools.moments import Day
from mcp_server.tools.periods import day_start
from store import promise_lists, speakers
from store.database import Connection, now
from store.errors import InvalidRequest, NotFound
from store.promise_lists import Listed, Side, State, Wanted
from store.speakers import Participant, Speaker

MOST_WORDS = 8
MOST_PEOPLE = 4


class CommitmentQuery(PageQuery):
    state: State = "open"
    speaker_id: Uuid | None = None
    maker_id: Uuid | None = None
    side: Side | None = None
    query: Annotated[str, Field(max_length=200)] | None = None
    from_: Day | None = Field(None, alias="from", description="First day of the conversations, in the account's zone.")
    to: Day | None = Field(None, description="Last day of the conversations, inclusive.")


class CommitmentPerson(BaseModel):
    speaker_id: UuidText
    name: str | None
    external_id: str | None
    role: str


class CommitmentSource(BaseModel):
    """The conversation that it was made in."""

    id: UuidText
    kind: str
    channel_type: str
    direction: str | None
    title: str
    occured_at: UtcTime


class Commitment(BaseModel):
    """`deadline` is a day, or a moment with its offset, of the account's time zone; `due_on` its day. `quote` are the
    words of the turn `idx` that it was found in. `made_by` is null where nobody knows whose voice it was; `done_by` is
    who marked it."""

    id: UuidText
    content: str
    deadline: str | None
    deadline_text: str | None
    due_on: str | None
    is_overdue: bool
    quote: str | None
    idx: int | None
    side: Side
    made_by: CommitmentPerson | None
    people: list[CommitmentPerson]
    communication: CommitmentSource
    done_at: UtcTime | None
    done_by: str | None


class CommitmentCounts(BaseModel):
    """By state, of all that fit the other filters. `week` are the seven days that begin today; `open` all that are not
    done; `all` these and those that are."""

    overdue: int
    today: int
    week: int
    later: int
    no_date: int
    open: int
    done: int
    all: int


class CommitmentList(BaseModel):
    """`today` is the day that it is in the account's time zone."""

    items: list[Commitment]
    counts: CommitmentCounts
    today: str
    pagination: Pagination


class CommitmentBody(Body):
    done: bool


def list_commitments(call: Call[CommitmentQuery, NoInput]) -> CommitmentList:
    query = call.query
    if query.from_ and query.to and query.to < query.from_:
        raise InvalidRequest("to: is before the beginning of the period.", param="to")
    zone = ZoneInfo(call.principal.tenant.time_zone)
    wanted = Wanted(
        today=today_of(call),
        speaker_id=query.speaker_id,
        maker_id=query.maker_id,
        side=query.side,
        words=(query.query or "").lower().replace("ё", "е").split()[:MOST_WORDS],
        since=day_start(query.from_, zone) if query.from_ else None,
        until=day_start(query.to + timedelta(days=1), zone) if query.to else None,
    )
    with call.services.database.read() as connection:
        rows = promise_lists.list_page(
            call.tenant_id, connection, wanted, query.state, limit=query.limit, offset=query.offset
        )
        counts = promise_lists.count_by_state(call.tenant_id, connection, wanted)
        items = _shown(call, connection, rows)
    return CommitmentList(
        items=items,
        counts=CommitmentCounts(**counts),
        today=wanted.today.isoformat(),
        pagination=pagination(query, len(items), counts[query.state]),
    )


def mark_commitment(call: Call[NoInput, CommitmentBody]) -> Commitment:
    commitment_id = call.path_id("commitment_id", "commitment")
    with call.services.database.write() as connection:
        changed = promise_lists.mark(call.tenant_id, connection, commitment_id, is_done=call.body.done, by=call.actor)
        row = promise_lists.get(call.tenant_id, connection, commitment_id)
        if row is None:
            raise NotFound("No such commitment.")
        if changed:
            call.note(connection, "commitment.done" if call.body.done else "commitment.undone", commitment_id)
        return _shown(call, connection, [row])[0]


def today_of(call: Call[Any, Any]) -> date:
    """In the account's time zone."""
    return now().astimezone(ZoneInfo(call.principal.tenant.time_zone)).date()


def _shown(call: Call[Any, Any], connection: Connection, rows: Sequence[Listed]) -> list[Commitment]:
    people = speakers.list_participants_of(
        call.tenant_id, connection, list(dict.fromkeys(row.communication_id for row in rows))
    )
    makers = speakers.get_many(call.tenant_id, connection, [row.speaker_id for row in rows if row.speaker_id])
    today = today_of(call)
    return [
        _commitment(row, makers.get(row.speaker_id or ""), people[row.communication_id][:MOST_PEOPLE], today)
        for row in rows
    ]


def _commitment(row: Listed, maker: Speaker | None, people: Sequence[Participant], today: date) -> Commitment:
    meta = row.meta or {}
    idx = meta.get("idx")
    return Commitment(
        id=row.id,
        content=row.content,
        deadline=meta.get("deadline"),
        deadline_text=meta.get("deadline_text"),
        due_on=row.due_on.isoformat() if row.due_on else None,
        is_overdue=row.due_on is not None and row.due_on < today and row.done_at is None,
        quote=meta.get("quote"),
        idx=idx if isinstance(idx, int) else None,
        side="theirs" if maker is not None and maker.role == "client" else "ours",
        made_by=_person(maker) if maker is not None else None,
        people=[_person(person) for person in people],
        communication=CommitmentSource(
            id=row.communication_id,
            kind=row.kind,
            channel_type=row.channel_type,
            direction=row.direction,
            title=row.title,
            occured_at=row.occured_at,
        ),
        done_at=row.done_at,
        done_by=row.done_by,
    )


def _person(person: Speaker | Participant) -> CommitmentPerson:
    return CommitmentPerson(speaker_id=person.id, name=person.name, external_id=person.external_id, role=person.role)


OPERATIONS = (
    Operation(
        "GET",
        "/v1/commitments",
        list_commitments,
        "List promises",
        CommitmentList,
        query=CommitmentQuery,
        errors=(400, 401),
        one_read=True,
    ),
    Operation(
        "PATCH",
        "/v1/commitments/{commitment_id}",
        mark_commitment,
        "Mark a promise as kept",
        Commitment,
        body=CommitmentBody,
        errors=(400, 401, 403, 404),
        paused=False,
        audited=("commitment.done", "commitment.undone"),
    ),
)
