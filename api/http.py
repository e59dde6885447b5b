"""What every REST layer shares: operations with validated input, error bodies, and the answers' common headers.

An `Operation` carries the models that check its requests, so the OpenAPI files are generated from the same models.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, cast

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accounts.principal import Principal, authenticate
from api.limits import enforce_limit
from api.services import Services
from store.errors import InvalidRequest, NotAuthenticated, NotFound, ParleyError, TooLarge
from store.ids import parse_id

log = structlog.get_logger(__name__)


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


class Error(BaseModel):
    """What went wrong: `message` for people, `code` for programs, `param` names the field."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorBody(BaseModel):
    error: Error


QueryT = TypeVar("QueryT", bound=BaseModel)
BodyT = TypeVar("BodyT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call(Generic[QueryT, BodyT]):
    """One authenticated request with its validated input."""

    request: Request
    services: Services
    principal: Principal
    query: QueryT
    body: BodyT

    @property
    def tenant_id(self) -> str:
        return self.principal.tenant_id

    def path_id(self, name: str, what: str) -> str:
        """A UUID of the path. Raises NotFound where it is none: nothing has such an id."""
        found = parse_id(self.request.path_params[name])
        if found is None:
            raise NotFound(f"No such {what}.")
        return found


Answer = BaseModel | Response
Handler = Callable[[Call[Any, Any]], Answer] | Callable[[Call[Any, Any]], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    `paused` tells whether a paused client may use it; `bearer_only` that an x-api-key header does not count;
    `limit` names a setting with the calls a minute and key. `form` describes a multipart body in place of a JSON one.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    response: type[BaseModel] | None
    query: type[BaseModel] = NoInput
    body: type[BaseModel] = NoInput
    form: type[BaseModel] | None = None
    status: int = 200
    errors: tuple[int, ...] = (400, 401)
    paused: bool = True
    feature: str | None = None
    bearer_only: bool = False
    limit: str | None = None


def route(operation: Operation, prefix: str = "") -> Route:
    """The Starlette route of an operation."""
    return Route(prefix + operation.path, partial(_serve, operation), methods=[operation.method])


async def _serve(operation: Operation, request: Request) -> Response:
    services: Services = request.app.state.services
    if operation.body is NoInput and not inspect.iscoroutinefunction(operation.handler):
        # The usual read: authentication, validation and query together in one thread.
        return await run_in_threadpool(_serve_in_thread, operation, services, request)
    principal = await run_in_threadpool(_admit, operation, services, request)
    body: BaseModel = NoInput()
    if operation.body is not NoInput:
        raw = await read_body(request, services.settings.max_json_bytes)
        body = parse_json(operation.body, raw)
    call = Call(request, services, principal, parse_query(operation.query, request), body)
    if inspect.iscoroutinefunction(operation.handler):
        answer = await operation.handler(call)
    else:
        answer = await run_in_threadpool(operation.handler, call)
    return _response(operation, cast(Answer, answer))


def _serve_in_thread(operation: Operation, services: Services, request: Request) -> Response:
    principal = _admit(operation, services, request)
    call = Call(request, services, principal, parse_query(operation.query, request), NoInput())
    return _response(operation, cast(Answer, operation.handler(call)))


def _admit(operation: Operation, services: Services, request: Request) -> Principal:
    token = bearer_token(request, allow_header=not operation.bearer_only)
    principal = authenticate(services.database, services.keyring, token)
    if not operation.paused:
        principal.require_active()
    if operation.feature:
        principal.require_feature(operation.feature)
    if operation.limit:
        limit: int = getattr(services.settings, operation.limit)
        enforce_limit(services.database, f"{operation.limit}:{principal.key.id}", limit)
    return principal


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


_SERVER_ERRORS = {
    500: "Something went wrong on our side",
    502: "Something that this request needs failed",
    503: "This cannot be served at the moment",
}


def error_of(error: ParleyError) -> Error:
    """The one place where an error gets its public shape. Of a 5xx it says the request id alone: the log has the
    rest."""
    message = error.message
    if error.status >= 500:
        request_id = structlog.contextvars.get_contextvars().get("request_id", "unknown")
        message = f"{_SERVER_ERRORS.get(error.status, _SERVER_ERRORS[500])} (request {request_id})."
    return Error(message=message, type=error.type, param=error.param, code=error.code)


def error_response(error: ParleyError) -> Response:
    """The documented answer to an error, with the headers that belong to its status."""
    body = ErrorBody(error=error_of(error))
    headers = {}
    if error.status in (429, 503):
        headers["Retry-After"] = str(error.retry_after_s or 1)
    if error.status == 413:
        headers["Connection"] = "close"  # the rest of the body is not read
    return json_response(body, error.status, **headers)
