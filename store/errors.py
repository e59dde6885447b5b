"""The errors that callers see: each class carries its HTTP status and the `type` that goes with it.

One place (`api/http.py`) turns them into bodies. Rooms below raise them and know nothing else of HTTP.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from typing import ClassVar


class ParleyError(Exception):
    """Base of everything that is answered with a documented error body.

    `message` is for people, `code` for programs, `param` names the field that was wrong. `details` are what belongs to
    a code besides; only Integration's bodies show them.
    """

    status: ClassVar[int] = 500
    type: ClassVar[str] = "api_error"
    default_code: ClassVar[str | None] = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        retry_after_s: int | None = None,
        details: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code if code is not None else self.default_code
        self.param = param
        self.retry_after_s = retry_after_s
        self.details = dict(details or {})

    def __reduce__(self) -> tuple[object, ...]:
        # Errors travel from child processes; by default unpickling would call __init__ without its keywords.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class InvalidRequest(ParleyError):
    status = 400
    type = "invalid_request_error"
    default_code = "invalid_request_error"


class NotAuthenticated(ParleyError):
    """`code` is missing_api_key, invalid_api_key, malformed_bearer or other_account."""

    status = 401
    type = "authentication_error"
    default_code = "invalid_api_key"


class StreamLimitExceeded(ParleyError):
    """All cameras of the plan are in use."""

    status = 402
    type = "permission_error"
    default_code = "stream_limit_exceeded"


class NotPermitted(ParleyError):
    """`code` is client_inactive, feature_disabled, role_not_allowed or ip_not_allowed."""

    status = 403
    type = "permission_error"


class NotFound(ParleyError):
    status = 404
    type = "not_found_error"


class MethodNotAllowed(ParleyError):
    status = 405
    type = "invalid_request_error"


class TooSlow(ParleyError):
    """The request's head or body came slower than it may."""

    status = 408
    type = "invalid_request_error"
    default_code = "request_timeout"


class Conflict(ParleyError):
    status = 409
    type = "invalid_request_error"


class TooLarge(ParleyError):
    status = 413
    type = "invalid_request_error"
    default_code = "file_too_large"


class HeadTooLarge(ParleyError):
    status = 431
    type = "invalid_request_error"
    default_code = "head_too_large"


class Unprocessable(ParleyError):
    status = 422
    type = "invalid_request_error"


class RateLimited(ParleyError):
    """Answered with `Retry-After`: give `retry_after_s`."""

    status = 429
    type = "rate_limit_error"


class InternalError(ParleyError):
    status = 500
    type = "api_error"
    default_code = "api_error"


class UpstreamFailed(ParleyError):
    """A model provider, payment provider or recognition engine did not answer as it should."""

    status = 502
    type = "api_error"
    default_code = "api_error"


class Unavailable(ParleyError):
    """A part that the request needs is not configured or not ready; answered with `Retry-After`."""

    status = 503
    type = "unavailable_error"
