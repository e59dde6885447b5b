"""The Public layer's spaces of the knowledge base, and who may see them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.fields import UtcTime, Uuid
from api.http import Body, Call, NoInput, Operation
from api.paging import PageQuery, Pagination, pagination
from ingest.documents import documents
from store import accounts, chats, kb_spaces, space_access
from store.database import Connection
from store.errors import InvalidRequest, NotFound
from store.kb_spaces import Space
from store.space_access import Access

MOST_GRANTS = 1000

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Description = Annotated[str, Field(max_length=2000)]
Grants = Annotated[list[Uuid], Field(max_length=MOST_GRANTS)]


class SpaceAccess(BaseModel):
    """Who sees a limited space: these chats, for those who write in them, and whoever calls with these keys. The
    cabinet sees every space."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chat_ids: Grants = []
    key_ids: Grants = []


class SpaceBody(Body):
    """Without `access`, all chats and keys of the account see the space."""

    name: Name
    description: Description = ""
    access: SpaceAccess | None = None


class SpacePatch(Body):
    """`access: null` opens the space to all."""

    name: Name | None = None
    description: Description | None = None
    access: SpaceAccess | None = None


class SpaceRecord(BaseModel):
    id: str
    name: str
    description: str
    document_count: int
    access: SpaceAccess | None
    created_at: UtcTime
    updated_at: UtcTime


class SpaceList(BaseModel):
    items: list[SpaceRecord]
    pagination: Pagination


def _records(call: Call[Any, Any], connection: Connection, rows: list[Space]) -> list[SpaceRecord]:
    limits = space_access.access_of(call.tenant_id, connection, [row.id for row in rows if row.is_limited])
    return [
        SpaceRecord(
            id=row.id,
            name=row.name,
            description=row.description,
            document_count=row.document_count,
            access=SpaceAccess.model_validate(limits[row.id], from_attributes=True) if row.id in limits else None,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )
        for row in rows
    ]


def open_spaces(call: Call[Any, Any], connection: Connection) -> tuple[str, ...] | None:
    """The spaces that the caller may see; None: all, as in the cabinet."""
    if call.principal.key_id is None:
        return None
    return space_access.allowed_spaces(call.tenant_id, connection, key_id=call.principal.key_id)


def space_is_open(call: Call[Any, Any], connection: Connection, space_id: str) -> bool:
    allowed = open_spaces(call, connection)
    return allowed is None or space_id in allowed


def require_space(call: Call[Any, Any], space_id: str | None = None, what: str = "space") -> Space:
    """The space of the path, or the one that the `what` of the path is of. Raises NotFound for what the caller may not
    see."""
    space_id = space_id or call.path_id("space_id", "space")
    with call.services.database.read() as connection:
        row = kb_spaces.get_space(call.tenant_id, connection, space_id)
        if row is None or not space_is_open(call, connection, row.id):
            raise NotFound(f"No such {what}.")
    return row


def list_spaces(call: Call[PageQuery, NoInput]) -> SpaceList:
    with call.services.database.read() as connection:
        rows, total = kb_spaces.list_spaces(
            call.tenant_id,
            connection,
            limit=call.query.limit,
            offset=call.query.offset,
            among=open_spaces(call, connection),
        )
        items = _records(call, connection, rows)
    return SpaceList(items=items, pagination=pagination(call.query, len(rows), total))


def create_space(call: Call[NoInput, SpaceBody]) -> SpaceRecord:
    with call.services.database.write() as connection:
        row = kb_spaces.create_space(
            call.tenant_id, connection, name=call.body.name.strip(), description=call.body.description
        )
        if call.body.access is not None:
            _limit(call, connection, row.id, call.body.access)
        call.note(connection, "space.created", row.id)
        answer = _read(call, connection, row.id)
        call.keep(connection, answer, 201)
    return answer


def _read(call: Call[Any, Any], connection: Connection, space_id: str) -> SpaceRecord:
    row = kb_spaces.get_space(call.tenant_id, connection, space_id)
    if row is None:
        raise NotFound("No such space.")
    return _records(call, connection, [row])[0]


def _limit(call: Call[Any, Any], connection: Connection, space_id: str, access: SpaceAccess | None) -> None:
    """Raises InvalidRequest for chats and keys that the account has not, and where the caller would lock itself out."""
    if access is not None:
        known = {chat.id for chat in chats.list_all(call.tenant_id, connection)}
        if unknown := set(access.chat_ids) - known:
            raise InvalidRequest(f"access.chat_ids: no such chat: {min(unknown)}.", param="access.chat_ids")
        active = {key.id for key in accounts.list_keys(call.tenant_id, connection) if key.revoked_at is None}
        if unknown := set(access.key_ids) - active:
            raise InvalidRequest(f"access.key_ids: no such key: {min(unknown)}.", param="access.key_ids")
        if call.principal.key_id not in (None, *access.key_ids):
            raise InvalidRequest(
                "access: the key that this request came with must be among key_ids, or it could not take this back.",
                param="access",
            )
    granted = None if access is None else Access(tuple(access.chat_ids), tuple(access.key_ids))
    space_access.limit_space(call.tenant_id, connection, space_id, granted)


def read_space(call: Call[NoInput, NoInput]) -> SpaceRecord:
    space = require_space(call)
    with call.services.database.read() as connection:
        return _read(call, connection, space.id)


def update_space(call: Call[NoInput, SpacePatch]) -> SpaceRecord:
    space = require_space(call)
    body = call.body
    values = body.model_dump(exclude_none=True, exclude={"access"})
    with call.services.database.write() as connection:
        if values:
            kb_spaces.update_space(call.tenant_id, connection, space.id, **values)
        if "access" in body.model_fields_set:
            _limit(call, connection, space.id, body.access)
        if changed := {*values, *(body.model_fields_set & {"access"})}:
            call.note(connection, "space.changed", space.id, {"fields": sorted(changed)})
        return _read(call, connection, space.id)


def delete_space(call: Call[NoInput, NoInput]) -> Response:
    space = require_space(call)
    documents.remove_space(call.tenant_id, space.id, actor=call.actor)
    return Response(status_code=204)


_SPACES = "/v1/kb/spaces"
_SPACE = "/v1/kb/spaces/{space_id}"
_READ = (401, 403, 404)
_WRITE = (400, 401, 403, 404)


def kb_operation(method: str, path: str, handler: Any, summary: str, response: Any, **options: Any) -> Operation:
    """An operation of the knowledge base: its feature must be on, and a paused account may read."""
    paused = method == "GET"
    return Operation(method, path, handler, summary, response=response, feature="kb", paused=paused, **options)


OPERATIONS = (
    kb_operation("GET", _SPACES, list_spaces, "List spaces", SpaceList, query=PageQuery, errors=(400, 401, 403)),
    kb_operation(
        "POST",
        _SPACES,
        create_space,
        "Create a space",
        SpaceRecord,
        body=SpaceBody,
        status=201,
        errors=(400, 401, 403),
        idempotent=True,
        audited=("space.created",),
    ),
    kb_operation("GET", _SPACE, read_space, "Read a space", SpaceRecord, errors=_READ),
    kb_operation(
        "PATCH",
        _SPACE,
        update_space,
        "Change a space",
        SpaceRecord,
        body=SpacePatch,
        errors=_WRITE,
        audited=("space.changed",),
    ),
    kb_operation(
        "DELETE",
        _SPACE,
        delete_space,
        "Delete a space and its documents",
        None,
        status=204,
        errors=_READ,
        audited=("space.deleted",),
    ),
)
