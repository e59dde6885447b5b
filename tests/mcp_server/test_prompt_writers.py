"""The periods that the prompts name, on any day of the week."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from unittest import mock

import pytest

from mcp_server.prompts import get_prompt
from store.accounts import FEATURES
from store.clocks import CLOCK
from tests.mcp_server.test_registry import context, tenant

_CALL = re.compile(r"^\d+\. (\w+) (\{.*\})$", re.MULTILINE)


def report(at: datetime, **arguments: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """The text of the weekly report as it is asked for at a moment, and the periods of its calls."""
    with mock.patch.object(CLOCK, "time_s", return_value=at.timestamp()):
        result = get_prompt(context(*FEATURES), "weekly_quality_report", arguments)
    text = result.messages[0].content.text  # type: ignore[union-attr]
    return text, [(tool, json.loads(given)) for tool, given in _CALL.findall(text)]


@pytest.mark.parametrize(
    ("day", "same_weekday"), [("2026-03-02", "2026-02-23"), ("2026-03-05", "2026-02-26"), ("2026-03-08", "2026-03-01")]
)
@pytest.mark.parametrize("language", ["ru", "en"])
def test_a_week_that_goes_on_is_compared_with_the_same_weekdays(day: str, same_weekday: str, language: str) -> None:
    text, calls = report(datetime.fromisoformat(f"{day}T09:00:00Z"), week="this", language=language)
    metrics = [arguments for tool, arguments in calls if tool == "get_period_metrics"]
    assert metrics == [{"from": "2026-03-02", "to": day}, {"from": "2026-02-23", "to": same_weekday}]
    assert calls[3][0] == "get_period_metrics"  # the text calls it the fourth
    assert ("fourth" in text) == (language == "en")
    assert ("четвёртого" in text) == (language == "ru")
    assert f"2026-02-23 {'to' if language == 'en' else 'по'} {same_weekday}" in text


@pytest.mark.parametrize("language", ["ru", "en"])
def test_a_whole_week_is_compared_with_the_one_before_by_one_call(language: str) -> None:
    text, calls = report(datetime(2026, 3, 2, 9, tzinfo=UTC), language=language)
    metrics = [arguments for tool, arguments in calls if tool == "get_period_metrics"]
    assert metrics == [{"from": "2026-02-23", "to": "2026-03-01"}]
    assert "$" not in text


def test_the_week_begins_by_the_accounts_clock() -> None:
    """Sunday evening in UTC is Monday in Vladivostok."""
    moment = datetime(2026, 3, 1, 20, tzinfo=UTC)
    with mock.patch.object(CLOCK, "time_s", return_value=moment.timestamp()):
        there = replace(context(), tenant=replace(tenant(*FEATURES), time_zone="Asia/Vladivostok"))
        result = get_prompt(there, "weekly_quality_report", {"week": "this"})
    assert '{"from": "2026-03-02", "to": "2026-03-02"}' in result.messages[0].content.text  # type: ignore[union-attr]
