"""The people of an account's cabinet: listed, invited by mail, given another role, removed. For owners and keys."""

from __future__ import annotations

from math import ceil
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from accounts import mail, operators, sign_in
from accounts.clients import normal_email
from accounts.mail import Letter
from api.entrance import link_of
from api.fields import UtcTime, left_out
from api.http import Body, Call, NoInput, Operation
from api.limits import enforce_limit
from api.page_texts import TEXTS
from api.paging import PageQuery, Pagination, pagination
from store import operators as stored
from store.accounts import Tenant
from store.database import Connection
from store.errors import NotFound
from store.operators import Operator

LETTERS_PER_HOUR = 60
_DAY_S = 86_400

Role = Literal["owner", "operator", "viewer"]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class OperatorRecord(BaseModel):
    """A person of the account. `seen_at` is when they opened a session last: null while they are only invited."""

    id: str
    email: str
    name: str | None
    role: Role
    created_at: UtcTime
    seen_at: UtcTime | None


class OperatorList(BaseModel):
    items: list[OperatorRecord]
    pagination: Pagination


class Invitation(Body):
    """Who is invited, and as what: a viewer reads, an operator works with content, an owner may do everything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    email: Annotated[str, Field(min_length=3, max_length=320, json_schema_extra={"format": "email"})]
    name: Name | None = None
    role: Role


class OperatorPatch(Body):
    """What is named is changed, the rest stays."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name | None = left_out()
    role: Role = left_out()


def list_operators(call: Call[PageQuery, NoInput]) -> OperatorList:
    query = call.query
    with call.services.database.read() as connection:
        rows, total = stored.list_page(call.tenant_id, connection, limit=query.limit, offset=query.offset)
    return OperatorList(items=[_record(row) for row in rows], pagination=pagination(query, len(rows), total))


def invite_operator(call: Call[NoInput, Invitation]) -> OperatorRecord:
    """The letter goes first: where it cannot be sent, nobody was added. What a letter links to exists a moment later,
    in the transaction that adds the person."""
    body = call.body
    email = normal_email(body.email.strip())
    assert email is not None
    _enforce_limit(call)
    tenant = call.principal.tenant
    with call.services.database.read() as connection:
        operators.check_room(tenant.id, connection, email)
    code = sign_in.new_text(call.services.keyring)
    _send(call, tenant, email, body.role, code)
    with call.services.database.write() as connection:
        name = body.name.strip() if body.name else None
        made = operators.invite(tenant, connection, email=email, name=name, role=body.role, actor=call.actor)
        _keep_code(call, connection, made, code)
        answer = _record(made)
        call.keep(connection, answer, 201)
    return answer


def invite_again(call: Call[NoInput, NoInput]) -> OperatorRecord:
    operator_id = call.path_id("operator_id", "operator")
    with call.services.database.read() as connection:
        operator = stored.get(call.tenant_id, connection, operator_id)
    if operator is None:
        raise NotFound("No such operator.")
    _enforce_limit(call)
    code = sign_in.new_text(call.services.keyring)
    _send(call, call.principal.tenant, operator.email, operator.role, code)
    with call.services.database.write() as connection:
        there = stored.get(call.tenant_id, connection, operator_id)
        if there is None:
            raise NotFound("No such operator.")
        _keep_code(call, connection, there, code)
        details = {"email": there.email}
        call.note(connection, "operator.invited_again", operator_id, details)
        answer = _record(there)
        call.keep(connection, answer, 202)
    return answer


def update_operator(call: Call[NoInput, OperatorPatch]) -> OperatorRecord:
    operator_id = call.path_id("operator_id", "operator")
    values: dict[str, Any] = {name: getattr(call.body, name) for name in call.body.model_fields_set}
    if values.get("name"):
        values["name"] = values["name"].strip()
    with call.services.database.write() as connection:
        changed = operators.change(call.tenant_id, connection, operator_id, actor=call.actor, **values)
    return _record(changed)


def delete_operator(call: Call[NoInput, NoInput]) -> Response:
    operator_id = call.path_id("operator_id", "operator")
    with call.services.database.write() as connection:
        operators.remove(call.tenant_id, connection, operator_id, actor=call.actor)
    return Response(status_code=204)


def _enforce_limit(call: Call[Any, Any]) -> None:
    bucket = f"invitations:{call.tenant_id}"
    enforce_limit(call.services.database, bucket, LETTERS_PER_HOUR, window_s=3600, request=call.request)


def _send(call: Call[Any, Any], tenant: Tenant, email: str, role: str, code: str) -> None:
    """Raises UpstreamFailed mail_failed."""
    settings = call.services.settings
    t, link = TEXTS[tenant.language if tenant.language in TEXTS else "en"], link_of(settings, code)
    text = t["invitation_mail_text"].format(
        account=tenant.name,
        role=t[f"role_{role}"],
        link=link,
        days=ceil(settings.invitation_lifetime_s / _DAY_S),
        entrance=settings.effective_cabinet_url,
    )
    mail.send(settings, Letter(email, t["invitation_mail_subject"].format(account=tenant.name), text, link))


def _keep_code(call: Call[Any, Any], connection: Connection, operator: Operator, code: str) -> None:
    sign_in.keep_code(
        connection,
        call.services.keyring,
        code,
        email=operator.email,
        lifetime_s=call.services.settings.invitation_lifetime_s,
        operator_id=operator.id,
    )


def _record(operator: Operator) -> OperatorRecord:
    return OperatorRecord(
        id=operator.id,
        email=operator.email,
        name=operator.name,
        role=operator.role,  # type: ignore[arg-type]
        created_at=operator.created_at,
        seen_at=operator.seen_at,
    )


_ONE = "/v1/operators/{operator_id}"

OPERATIONS = (
    Operation("GET", "/v1/operators", list_operators, "List the people of the account", OperatorList, query=PageQuery),
    Operation(
        "POST",
        "/v1/operators",
        invite_operator,
        "Invite a person",
        OperatorRecord,
        body=Invitation,
        status=201,
        errors=(400, 401, 403, 409, 422, 429, 502),
        paused=False,
        idempotent=True,
        role="owner",
        audited=("operator.invited",),
    ),
    Operation(
        "PATCH",
        _ONE,
        update_operator,
        "Change a person's name or role",
        OperatorRecord,
        body=OperatorPatch,
        errors=(400, 401, 403, 404, 409),
        paused=False,
        role="owner",
        audited=("operator.changed",),
    ),
    # Somebody who must go has to go in any state of the account.
    Operation(
        "DELETE",
        _ONE,
        delete_operator,
        "Remove a person",
        None,
        status=204,
        errors=(401, 404, 409),
        role="owner",
        audited=("operator.removed",),
    ),
    Operation(
        "POST",
        _ONE + "/invitation",
        invite_again,
        "Send the invitation again",
        OperatorRecord,
        status=202,
        errors=(401, 403, 404, 409, 422, 429, 502),
        paused=False,
        idempotent=True,
        role="owner",
        audited=("operator.invited_again",),
    ),
)
