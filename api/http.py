"""What every REST layer shares: operations with validated input, error bodies, and the answers' common headers.

An `Operation` carries the models that check its requests, so the OpenAPI files are generated from the same models.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accounts.principal import Principal, authenticate
from api import idempotency
from api.browser_session import calling_session
from api.errors import ErrorBody as ErrorBody
from api.errors import error_of as error_of
from api.errors import error_response as error_response
from api.idempotency import Claim
from api.limits import enforce_limit
from api.services import Services
from store import audit
from store.audit import Action
from store.database import Connection
from store.errors import InvalidRequest, NotAuthenticated, NotFound, TooLarge
from store.ids import parse_id
from store.integrations import Integration

_READS = ("GET", "HEAD")
# An escape of NUL, unless its backslash is itself escaped.
_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class NoInput(BaseModel):
    """Stands for the query or the body of an operation that has none; undocumented fields are ignored."""


class Query(BaseModel):
    """Base of query parameters: undocumented ones are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Body(BaseModel):
    """Base of JSON bodies: undocumented fields are ignored unless a model says `extra="forbid"`."""

    model_config = ConfigDict(extra="ignore", frozen=True)


QueryT = TypeVar("QueryT", bound=BaseModel)
BodyT = TypeVar("BodyT", bound=BaseModel)


Caller = Principal | Integration


@dataclass(frozen=True, slots=True)
class Call(Generic[QueryT, BodyT]):
    """One admitted request with its validated input."""

    request: Request
    services: Services
    caller: Caller
    query: QueryT
    body: BodyT
    claim: Claim | None = None

    @property
    def principal(self) -> Principal:
        """The client. Only for operations that admit clients."""
        assert isinstance(self.caller, Principal)
        return self.caller

    @property
    def integration(self) -> Integration:
        """The partner. Only for operations that admit integrations."""
        assert isinstance(self.caller, Integration)
        return self.caller

    @property
    def tenant_id(self) -> str:
        return self.principal.tenant_id

    @property
    def actor(self) -> str:
        """Who does it, as the audit log names them: "key sk_live_AbCdEf", "cabinet", "integration NAME"."""
        if isinstance(self.caller, Integration):
            return f"integration {self.caller.name}"
        return self.caller.actor

    def note(
        self, connection: Connection, action: Action, subject: str | None = None, details: dict[str, Any] | None = None
    ) -> None:
        """Notes in the audit log what a client does, in the transaction that does it."""
        if action in audit.OF_PEOPLE_ALONE and self.principal.session is None:
            return
        audit.add(self.tenant_id, connection, actor=self.actor, action=action, subject=subject, details=details)

    def path_id(self, name: str, what: str) -> str:
        """A UUID of the path. Raises NotFound where it is none: nothing has such an id."""
        found = parse_id(self.request.path_params[name])
        if found is None:
            raise NotFound(f"No such {what}.")
        return found

    def identify(self, *parts: str) -> None:
        """Says what a streamed body was (its file's digest, its fields), so that an Idempotency-Key is good for this
        body alone. Every idempotent operation with a `form` calls it once its body is read and before it does anything
        that lasts.

        Raises what answers the request instead: AnsweredBefore with the stored answer, or Unprocessable
        idempotency_key_reused. Does nothing without a key.
        """
        if self.claim is not None:
            self.claim.identify(*parts)

    def keep(self, connection: Connection, answer: BaseModel | dict[str, Any], status: int, **headers: str) -> None:
        """Stores the answer to this request's Idempotency-Key in the transaction that does what it tells of: both
        last, or neither. Does nothing without a key. Raises Conflict where another took the key over meanwhile."""
        if self.claim is not None:
            self.claim.keep(connection, json_response(answer, status, **headers))


Answer = BaseModel | Response
Handler = Callable[[Call[Any, Any]], Answer] | Callable[[Call[Any, Any]], Awaitable[Answer]]


def admit_client(operation: Operation, services: Services, request: Request) -> Principal:
    """Admits clients by their key, and the cabinet by its cookie where no key was sent. Raises NotAuthenticated,
    NotPermitted and RateLimited."""
    token = bearer_token(request, allow_header=not operation.bearer_only)
    found = calling_session(request) if token is None else None
    if found is not None:
        session, tenant = found
        principal = Principal(tenant, session=session)
    else:
        with services.database.read() as connection:
            principal = authenticate(connection, services.keyring, token)
    principal.require_role(operation.needed_role)
    if not operation.paused:
        principal.require_active()
    if operation.feature:
        principal.require_feature(operation.feature)
    if operation.limit:
        limit: int = getattr(services.settings, operation.limit)
        enforce_limit(services.database, f"{operation.limit}:{principal.id}", limit, request=request)
    return principal


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    `paused` tells whether a paused client may use it; `bearer_only` that an x-api-key header does not count;
    `limit` names a setting with the calls a minute and key. `form` describes a multipart body, which the handler reads
    itself, and `form_alternative` a JSON body that may come in its place. `other_answers` are further successes by
    their status; `streams` says that the answer comes as server-sent events to those who accept them. `content` is the
    media type of an answer that is no JSON, `request_headers` and `answer_headers` (by status) describe headers.
    `idempotent`: an Idempotency-Key is honoured (see api/idempotency.py); `join` gives the stream of an answer in work,
    by the id of its claim. `admit` lets callers in.
    `one_read`: admission and handler read in one transaction; for a handler that writes nothing.
    `description` is said where api/descriptions.py has no text of the handler's name.
    `role` is what a person of the cabinet needs at least: viewer, operator or owner; see `needed_role`.
    `audited` are the actions, one of which goes into the audit log; `unaudited` says why none does. What clients change
    has one of the two.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    response: type[BaseModel] | None
    query: type[BaseModel] = NoInput
    body: type[BaseModel] = NoInput
    form: type[BaseModel] | None = None
    form_alternative: type[BaseModel] | None = None
    status: int = 200
    other_answers: Mapping[int, type[BaseModel] | None] = field(default_factory=dict)
    content: str | None = None
    request_headers: Mapping[str, str] = field(default_factory=dict)
    answer_headers: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    streams: bool = False
    errors: tuple[int, ...] = (400, 401)
    paused: bool = True
    feature: str | None = None
    bearer_only: bool = False
    limit: str | None = None
    idempotent: bool = False
    join: Callable[[Services, Request, str], Response | None] | None = None
    one_read: bool = False
    role: str | None = None
    description: str | None = None
    audited: tuple[Action, ...] = ()
    unaudited: str | None = None
    admit: Callable[[Operation, Services, Request], Caller] = admit_client

    def __post_init__(self) -> None:
        assert not (self.audited and self.unaudited)
        is_change = self.admit is admit_client and self.method not in _READS
        assert self.audited or self.unaudited or not is_change, f"{self.method} {self.path}: say what the audit log has"

    @property
    def needed_role(self) -> str:
        """Where nothing is declared a viewer reads, and an operator does all else. Keys may do what owners may."""
        return self.role or ("viewer" if self.method in _READS else "operator")


def route(operation: Operation, prefix: str = "") -> Route:
    """The Starlette route of an operation."""
    return Route(prefix + operation.path, partial(_serve, operation), methods=[operation.method])


async def _serve(operation: Operation, request: Request) -> Response:
    services: Services = request.app.state.services
    has_key = operation.idempotent and idempotency.HEADER in request.headers
    if operation.body is NoInput and not has_key and not inspect.iscoroutinefunction(operation.handler):
        # The usual read: authentication, validation and query together in one thread.
        return await run_in_threadpool(_serve_in_thread, operation, services, request)
    caller = await run_in_threadpool(operation.admit, operation, services, request)
    body: BaseModel = NoInput()
    if operation.body is not NoInput:
        raw = await read_body(request, services.settings.max_json_bytes)
        body = parse_json(operation.body, raw)
    query = parse_query(operation.query, request)
    if not has_key:
        return await _handle(operation, Call(request, services, caller, query, body))
    claim = idempotency.claim_of(request, services, caller_id=_owner_id(caller), operation=operation)
    # A streamed body is known to its handler alone, which calls `identify`.
    streams = operation.streams and wants_events(request)
    content = None if operation.form is not None else to_json([query, body, streams])
    call = Call(request, services, caller, query, body, claim)
    join = partial(operation.join, services, request) if operation.join is not None and streams else None
    return await claim.answer_once(content, partial(_handle, operation, call), join)


async def _handle(operation: Operation, call: Call[Any, Any]) -> Response:
    if inspect.iscoroutinefunction(operation.handler):
        answer = await operation.handler(call)
    else:
        answer = await run_in_threadpool(operation.handler, call)
    return _response(operation, cast(Answer, answer))


def _serve_in_thread(operation: Operation, services: Services, request: Request) -> Response:
    with services.database.one_read() if operation.one_read else nullcontext():
        caller = operation.admit(operation, services, request)
        call = Call(request, services, caller, parse_query(operation.query, request), NoInput())
        answer = cast(Answer, operation.handler(call))
    return _response(operation, answer)


def _owner_id(caller: Caller) -> str:
    return caller.id if isinstance(caller, Integration) else caller.tenant_id


def _response(operation: Operation, answer: Answer) -> Response:
    if isinstance(answer, Response):
        return answer
    return json_response(answer, operation.status)


def json_response(answer: BaseModel | dict[str, Any], status: int = 200, **headers: str) -> Response:
    return Response(to_json(answer), status_code=status, media_type="application/json", headers=headers)


def bearer_token(request: Request, *, allow_header: bool = True) -> str | None:
    """The key of `Authorization: Bearer` or of `x-api-key`. Raises NotAuthenticated malformed_bearer."""
    authorization = request.headers.get("authorization")
    if authorization is not None:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise NotAuthenticated("The Authorization header is not 'Bearer <key>'.", code="malformed_bearer")
        return token.strip()
    return request.headers.get("x-api-key") if allow_header else None


def wants_events(request: Request) -> bool:
    """Whether the answer is asked for as server-sent events: `Accept` names them, and not with q=0."""
    for accepted in request.headers.get("accept", "").lower().split(","):
        media_type, *parameters = (part.strip() for part in accepted.split(";"))
        if media_type == "text/event-stream":
            weight = next((part[2:] for part in parameters if part.startswith("q=")), "1")
            return weight.strip("0.") != ""
    return False


async def read_body(request: Request, max_bytes: int) -> bytes:
    """The whole body. Raises TooLarge as soon as it passes `max_bytes`."""
    too_large = TooLarge(f"The body is larger than {max_bytes} bytes.", code="body_too_large")
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > max_bytes:
        raise too_large
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise too_large
    return bytes(body)


ModelT = TypeVar("ModelT", bound=BaseModel)


def parse_json(model: type[ModelT], raw: bytes) -> ModelT:
    """The validated body. Raises InvalidRequest naming the field that was wrong."""
    if _ESCAPED_NUL.search(raw):
        raise InvalidRequest("The body holds a NUL character.")
    try:
        return model.model_validate_json(raw, strict=True)
    except ValidationError as error:
        raise invalid_request(error) from None


def parse_query(model: type[ModelT], request: Request) -> ModelT:
    """The validated query parameters. Raises InvalidRequest naming the one that was wrong."""
    parameters = dict(request.query_params)
    for name, value in parameters.items():
        if "\x00" in value:
            raise InvalidRequest(f"{name}: holds a NUL character.", param=name[:100])
    return parse_values(model, parameters)


def parse_values(model: type[ModelT], values: dict[str, Any]) -> ModelT:
    """Validates text values (query parameters, form fields) against a model. Raises InvalidRequest."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise invalid_request(error) from None


def invalid_request(error: ValidationError) -> InvalidRequest:
    """The first thing that is wrong, said with the field's name."""
    first = error.errors(include_url=False, include_input=False)[0]
    param = ".".join(str(part) for part in first["loc"])[:100] or None  # an unknown field's name may be long
    message = first["msg"].removeprefix("Value error, ")
    return InvalidRequest(f"{param}: {message}" if param else message, param=param)
