"""Days and times as agents give them."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from mcp_server.registry import Arguments
from mcp_server.tools.commitments import SearchCommitments
from mcp_server.tools.communications import SearchCommunications
from mcp_server.tools.periods import PeriodArguments


@pytest.mark.parametrize("written", ["2026", "20260131", "1769817600000", 2026, 1769817600.5, "31.01.2026", True])
@pytest.mark.parametrize(
    ("arguments", "name"),
    [(SearchCommunications, "from"), (SearchCommitments, "due_to"), (PeriodArguments, "to")],
)
def test_digits_are_no_seconds_since_1970(arguments: type[Arguments], name: str, written: object) -> None:
    with pytest.raises(ValidationError, match="is no day"):
        arguments.model_validate_json(json.dumps({name: written}), strict=True)


@pytest.mark.parametrize("written", ["2026-02-31", "2026-01-31T25:00:00", "2026-01-31 at ten"])
def test_what_is_no_day_of_the_calendar_is_said(written: str) -> None:
    with pytest.raises(ValidationError, match="is no "):
        SearchCommunications.model_validate_json(json.dumps({"from": written}), strict=True)


@pytest.mark.parametrize("written", ["2026-01-31", "2026-01-31T10:00:00+03:00", "2026-01-31T10:00:00Z"])
def test_a_day_or_a_time_is_taken(written: str) -> None:
    taken = SearchCommunications.model_validate_json(json.dumps({"from": written}), strict=True).from_
    assert taken is not None
    assert taken.isoformat() == written.replace("Z", "+00:00")
    day = written[:10]
    assert str(PeriodArguments.model_validate_json(json.dumps({"to": day}), strict=True).to) == day
    assert str(SearchCommitments.model_validate_json(json.dumps({"due_to": day}), strict=True).due_to) == day
