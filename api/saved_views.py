"""Saved views: named sets of filters of the list of communications, for everybody of the account."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import Response

from api.fields import UtcTime, UuidText
from api.http import Body, Call, NoInput, Operation
from store import saved_views
from store.errors import Conflict, NotFound

MOST_VIEWS = 100

FilterName = Annotated[str, StringConstraints(min_length=1, max_length=40, pattern=r"^[a-z_]+$")]
FilterText = Annotated[str, StringConstraints(min_length=1, max_length=400)]


class NewView(Body):
    """`filters` are the parameters of `GET /v1/communications/search` by their names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    filters: Annotated[dict[FilterName, FilterText], Field(max_length=20)]


class ViewBody(BaseModel):
    id: UuidText
    name: str
    filters: dict[str, str]
    created_at: UtcTime


class ViewList(BaseModel):
    items: list[ViewBody]


def list_views(call: Call[NoInput, NoInput]) -> ViewList:
    with call.services.database.read() as connection:
        rows = saved_views.list_all(call.tenant_id, connection)
    return ViewList(items=[ViewBody.model_validate(row, from_attributes=True) for row in rows])


def save_view(call: Call[NoInput, NewView]) -> ViewBody:
    with call.services.database.write() as connection:
        if len(saved_views.list_all(call.tenant_id, connection)) >= MOST_VIEWS:
            raise Conflict(f"There are {MOST_VIEWS} views already.", code="too_many_views")
        made = saved_views.add(call.tenant_id, connection, name=call.body.name, filters=dict(call.body.filters))
        if made is None:
            raise Conflict("There is a view of this name.", code="name_taken")
        call.note(connection, "view.saved", made.id)
        answer = ViewBody.model_validate(made, from_attributes=True)
        call.keep(connection, answer, 201)
    return answer


def delete_view(call: Call[NoInput, NoInput]) -> Response:
    view_id = call.path_id("view_id", "view")
    with call.services.database.write() as connection:
        if not saved_views.delete(call.tenant_id, connection, view_id):
            raise NotFound("No such view.")
        call.note(connection, "view.deleted", view_id)
    return Response(status_code=204)


OPERATIONS = (
    Operation("GET", "/v1/views", list_views, "List saved views", response=ViewList, errors=(401,)),
    Operation(
        "POST",
        "/v1/views",
        save_view,
        "Save a view",
        response=ViewBody,
        body=NewView,
        status=201,
        errors=(400, 401, 403, 409),
        paused=False,
        idempotent=True,
        audited=("view.saved",),
    ),
    Operation(
        "DELETE",
        "/v1/views/{view_id}",
        delete_view,
        "Delete a saved view",
        response=None,
        status=204,
        errors=(401, 403, 404),
        paused=False,
        audited=("view.deleted",),
    ),
)
