"""Field types that several layers' models share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from store.ids import as_id

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


def _form_boolean(value: Any) -> bool:
    text = str(value).lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError("is none of true/false, 1/0, yes/no, on/off")


def _moment(value: Any) -> datetime:
    try:
        if not isinstance(value, str) or len(value) < len("2026-01-01T00:00"):
            raise ValueError
        moment = datetime.fromisoformat(value)
        # Beyond these years a change of zone can leave the calendar.
        if not 1900 <= moment.year <= 2200:
            raise ValueError
    except ValueError:
        raise ValueError("is no date and time of ISO 8601, for example 2026-01-31T09:00:00Z") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def utc_text(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, as all answers have it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def left_out() -> Any:
    """A field of a PATCH that need not be there: what is left out stays. It is null only where its type says so."""
    return Field(default=None, json_schema_extra=_without_default)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


FormBoolean = Annotated[bool, BeforeValidator(_form_boolean)]
Moment = Annotated[datetime, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]
UtcTime = Annotated[
    datetime, PlainSerializer(utc_text, return_type=str), WithJsonSchema({"type": "string", "format": "date-time"})
]
Uuid = Annotated[str, AfterValidator(as_id), Field(json_schema_extra={"format": "uuid"})]
UuidText = Annotated[str, Field(json_schema_extra={"format": "uuid"})]  # one of our own, in an answer
PageLimit = Annotated[int, Field(ge=1, le=100)]
PageOffset = Annotated[int, Field(ge=0, le=2**31 - 1)]
