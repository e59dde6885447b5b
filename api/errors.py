"""The one place where an error gets its public body: Integration has one of its own, all other layers share one."""

from __future__ import annotations

from typing import Any

import structlog
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.responses import Response

from store.errors import ParleyError

INTEGRATION_PATH = "/integration"


class Error(BaseModel):
    """What went wrong: `message` for people, `code` for programs, `param` names the field."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorBody(BaseModel):
    error: Error


class IntegrationError(BaseModel):
    """What went wrong: `code` for programs, `message` for people, and what belongs to the code: `field` names the
    field of a validation_error, `email` the address of an email_taken."""

    code: str
    message: str
    details: dict[str, Any] = Field(examples=[{"field": "external_id"}])


class IntegrationErrorBody(BaseModel):
    error: IntegrationError


_SERVER_ERRORS = {
    500: "Something went wrong on our side",
    502: "Something that this request needs failed",
    503: "This cannot be served at the moment",
}
# A 400 of the other layers is a 422 here, whatever was invalid: the documents know no 400 of Integration.
_INTEGRATION_STATUSES = {400: 422}
_INTEGRATION_CODES = {
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "request_timeout",
    409: "conflict",
    413: "body_too_large",
    429: "rate_limit_exceeded",
    431: "head_too_large",
    502: "upstream_failed",
    503: "unavailable",
}


def is_integration(path: str) -> bool:
    """Whether a path belongs to the layer with error bodies of its own."""
    return path == INTEGRATION_PATH or path.startswith(INTEGRATION_PATH + "/")


def error_of(error: ParleyError) -> Error:
    """The error as Speech, Public and Vision show it. Of a 5xx it says the request id alone: the log has the rest."""
    return Error(message=_message(error), type=error.type, param=error.param, code=error.code)


def _integration_error(error: ParleyError) -> IntegrationError:
    if error.status == 401:
        code = "unauthorized"
    elif error.status in (400, 422) and error.code in (None, "invalid_request_error"):
        code = "validation_error"
    elif error.status in (405, 413, 500, 502, 503) or error.code is None:
        code = _INTEGRATION_CODES.get(error.status, "internal_error")
    else:
        code = error.code
    details = dict(error.details)
    if error.param is not None and error.status < 500:
        details.setdefault("field", error.param)
    return IntegrationError(code=code, message=_message(error), details=details)


def _message(error: ParleyError) -> str:
    if error.status < 500:
        return error.message
    request_id = structlog.contextvars.get_contextvars().get("request_id", "unknown")
    return f"{_SERVER_ERRORS.get(error.status, _SERVER_ERRORS[500])} (request {request_id})."


def error_response(error: ParleyError, path: str = "") -> Response:
    """The documented answer to an error of a request for `path`, with the headers that belong to its status."""
    body: BaseModel
    status = error.status
    if is_integration(path):
        body = IntegrationErrorBody(error=_integration_error(error))
        status = _INTEGRATION_STATUSES.get(status, status)
    else:
        body = ErrorBody(error=error_of(error))
    headers = {}
    if status in (429, 503) or error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s or 1)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status in (408, 413):
        headers["Connection"] = "close"  # the rest of the body is not read
    return Response(to_json(body), status_code=status, media_type="application/json", headers=headers)
