"""The tool that counts over a period: what it counts, of which days, in which groups."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from rag.language_model import estimate_tokens
from store import analysis, communications, retention, speakers
from store.communications import ContentItem
from store.speakers import Attending
from tests.contract.mcp import found_by, refusal, rpc
from tests.support.server import Account

TOOL = "get_period_metrics"
WEEK = {"from_": "2026-03-02", "to": "2026-03-08"}
MOST_TOKENS = 20_000


def keep(
    account: Account,
    at: str,
    *,
    kind: str = "call",
    channel_type: str = "phone",
    direction: str = "in",
    turns: tuple[tuple[str, int], ...] = (),
    duration_s: int | None = None,
    category: str | None = None,
    promises: int = 0,
    qc: tuple[str, float | None] | None = None,
) -> str:
    """A communication as jobs leave it, of a client A and an employee B; `turns` are (label, seconds) of talk, or of
    the time since the first one. Its id."""
    tenant_id, moment = account.tenant_id, datetime.fromisoformat(at)
    with account.server.database.write() as connection:
        row = communications.create(
            tenant_id,
            connection,
            kind=kind,
            channel_type=channel_type,
            direction=direction,
            occured_at=moment,
            title="",
            is_closed=True,
            duration_ms=None if duration_s is None else duration_s * 1000,
        )
        people = [
            speakers.upsert(tenant_id, connection, external_id=f"person-{label}", name=None, role=role)
            for label, role in (("A", "client"), ("B", "support"))
        ]
        attending = [Attending(one.id, one.role, label) for one, label in zip(people, "AB", strict=True)]
        speakers.attach(tenant_id, connection, row.id, attending)
        items = [
            ContentItem("audio_utterance", "слова", label, 0, seconds * 1000)
            if kind == "call"
            else ContentItem("chat_message", "слова", label, at=moment + timedelta(seconds=seconds))
            for label, seconds in turns
        ]
        communications.replace_content(tenant_id, connection, row.id, items)
        if category or promises:
            made = [analysis.NewItem("commitment", "перезвонит") for _ in range(promises)]
            analysis.put_summary(tenant_id, connection, row.id, text="", category=category, items=made)
        if qc is not None:
            code, score_pct = qc
            analysis.put_qc(
                tenant_id,
                connection,
                row.id,
                scenario_code=code,
                score_pct=score_pct,
                comment=None,
                status="success",
                criteria=[],
            )
    return row.id


def keep_week(account: Account) -> None:
    """Five conversations of the first week of March, and two of the week before."""
    keep(
        account,
        "2026-03-02T09:00:00+03:00",
        turns=(("A", 30), ("B", 90)),
        duration_s=150,
        category="sales",
        promises=2,
        qc=("new_request", 80.0),
    )
    keep(
        account,
        "2026-03-03T09:00:00+03:00",
        direction="out",
        turns=(("A", 10), ("B", 30)),
        duration_s=50,
        category="sales",
        qc=("sales_outbound", 60.0),
    )
    keep(account, "2026-03-03T10:00:00+03:00", duration_s=10, category="no_contact")
    chat = {"kind": "chat", "channel_type": "telegram"}
    keep(account, "2026-03-08T23:59:59+03:00", turns=(("A", 0), ("B", 40)), category="support", **chat)  # type: ignore[arg-type]
    keep(account, "2026-03-05T12:00:00+03:00", turns=(("A", 0),), **chat)  # type: ignore[arg-type]
    keep(account, "2026-02-23T00:00:00+03:00", turns=(("A", 60), ("B", 60)), duration_s=120, qc=("complaint", 50.0))
    keep(account, "2026-03-01T23:59:59+03:00", turns=(("A", 60),), duration_s=60)


@pytest.mark.proves("mcp.tool.get-period-metrics", "mcp.args.group-optional")
def test_a_period_is_counted_and_compared_with_the_one_before(account: Account) -> None:
    keep_week(account)
    found = found_by(account, TOOL, **WEEK)
    assert found["period"] == {"first_day": "2026-03-02", "last_day": "2026-03-08", "time_zone": "Europe/Moscow"}
    assert found["total"] == {
        "count": 5,
        "duration_s": 210,
        "avg_duration_s": 70,
        "answered": 3,
        "unanswered": 2,
        "answered_pct": 60.0,
        "staff_talk_pct": 75.0,
        "avg_first_reply_s": 40,
        "commitments": 2,
        "qc_score_pct": 70.0,
    }
    assert found["before"] == {
        "count": 2,
        "duration_s": 180,
        "avg_duration_s": 90,
        "answered": 1,
        "unanswered": 0,
        "answered_pct": 100.0,
        "staff_talk_pct": 50.0,
        "avg_first_reply_s": None,
        "commitments": 0,
        "qc_score_pct": 50.0,
    }
    assert found["change"] == {
        "count": 3,
        "duration_s": 30,
        "avg_duration_s": -20,
        "answered": 2,
        "unanswered": 2,
        "answered_pct": -40.0,
        "staff_talk_pct": 25.0,
        "avg_first_reply_s": None,
        "commitments": 2,
        "qc_score_pct": 20.0,
    }
    assert found["count_change_pct"] == 150.0
    assert [(each["code"], each["label"], each["count"], each["pct"]) for each in found["categories"]] == [
        ("sales", "Продажа", 2, 40.0),
        (None, None, 1, 20.0),
        ("no_contact", "Нет контакта", 1, 20.0),
        ("support", "Поддержка", 1, 20.0),
    ]
    assert [each["qc_score_pct"] for each in found["categories"]] == [70.0, None, None, None]
    assert [(each["code"], each["label"], each["qc_score_pct"]) for each in found["qc_scenarios"]] == [
        ("new_request", "Новое обращение", 80.0),
        ("sales_outbound", "Исходящая продажа", 60.0),
    ]
    assert (found["items"], found["next_cursor"]) == ([], None)


def test_where_nothing_happened_there_are_zeros_and_no_averages(account: Account) -> None:
    found = found_by(account, TOOL)
    assert found["total"] == found["before"]
    assert {name: value for name, value in found["total"].items() if value is not None} == {
        "count": 0,
        "duration_s": 0,
        "answered": 0,
        "unanswered": 0,
        "commitments": 0,
    }
    assert (found["count_change_pct"], found["categories"], found["qc_scenarios"]) == (None, [], [])


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"kind": "chat"}, 2),
        ({"channel_type": "phone"}, 3),
        ({"direction": "out"}, 1),
        ({"kind": "call", "channel_type": "phone", "direction": "in"}, 2),
        ({"kind": "email"}, 0),
    ],
)
def test_filters_hold_for_all_that_is_counted(account: Account, filters: dict[str, str], count: int) -> None:
    keep_week(account)
    found = found_by(account, TOOL, group_by="day", **WEEK, **filters)
    assert found["total"]["count"] == count
    assert sum(each["count"] for each in found["categories"]) == count
    assert sum(each["figures"]["count"] for each in found["items"]) == count


def grouped(account: Account, by: str, **arguments: Any) -> dict[str | None, int]:
    found = found_by(account, TOOL, group_by=by, **(arguments or WEEK))
    assert found["next_cursor"] is None
    return {each["key"]: each["figures"]["count"] for each in found["items"]}


def test_groups_are_days_weeks_and_months_or_the_values_of_a_column(account: Account) -> None:
    keep_week(account)
    days = grouped(account, "day")
    assert list(days) == [f"2026-03-0{day}" for day in range(2, 9)]
    assert list(days.values()) == [1, 2, 0, 1, 0, 0, 1]
    assert grouped(account, "kind") == {"call": 3, "chat": 2}
    assert grouped(account, "channel_type") == {"phone": 3, "telegram": 2}
    assert grouped(account, "direction") == {"in": 4, "out": 1}
    assert grouped(account, "category") == {"sales": 2, None: 1, "no_contact": 1, "support": 1}
    month = {"from_": "2026-02-20", "to": "2026-03-08"}
    assert grouped(account, "week", **month) == {"2026-02-20": 0, "2026-02-23": 2, "2026-03-02": 5}
    assert grouped(account, "month", **month) == {"2026-02-20": 1, "2026-03-01": 6}
    weeks = found_by(account, TOOL, group_by="week", **month)["items"]
    assert [each["label"] for each in weeks] == [
        "2026-02-20..2026-02-22",
        "2026-02-23..2026-03-01",
        "2026-03-02..2026-03-08",
    ]
    labels = [each["label"] for each in found_by(account, TOOL, group_by="category", **WEEK)["items"]]
    assert labels == ["Продажа", None, "Нет контакта", "Поддержка"]


def test_a_group_has_the_same_figures_as_a_period_of_its_own(account: Account) -> None:
    keep_week(account)
    groups = found_by(account, TOOL, group_by="day", **WEEK)["items"]
    for group in groups:
        alone = found_by(account, TOOL, from_=group["key"], to=group["key"])
        assert group["figures"] == alone["total"]
    by_kind = found_by(account, TOOL, group_by="kind", **WEEK)
    assert by_kind["total"] == found_by(account, TOOL, **WEEK)["total"]


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        pytest.param("Europe/Berlin", "2026-03-29", 23, id="clocks go forward"),
        pytest.param("Europe/Berlin", "2025-10-26", 25, id="clocks go back"),
        pytest.param("Africa/Cairo", "2025-04-25", 23, id="midnight is left out"),
        pytest.param("Asia/Kathmandu", "2026-03-29", 24, id="a zone of quarters"),
        pytest.param("Pacific/Kiritimati", "2026-03-29", 24, id="the first to have the day"),
    ],
)
@pytest.mark.proves("mcp.args.period")
def test_days_are_whole_days_of_the_accounts_zone(
    new_account: Callable[..., Account], zone: str, day: str, hours: int
) -> None:
    account = new_account(time_zone=zone)
    start = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    second = timedelta(seconds=1)
    for moment in (start - second, start, start + timedelta(hours=hours) - second, start + timedelta(hours=hours)):
        keep(account, moment.isoformat())
    found = found_by(account, TOOL, from_=day, to=day, group_by="day")
    assert (found["total"]["count"], found["before"]["count"]) == (2, 1)
    assert found["items"] == [{"key": day, "label": None, "figures": found["total"]}]
    assert found["period"] == {"first_day": day, "last_day": day, "time_zone": zone}


@pytest.mark.proves("mcp.args.period-default")
def test_without_from_and_to_it_is_the_last_30_days_with_today(account: Account) -> None:
    zone = ZoneInfo("Europe/Moscow")
    before = datetime.now(zone).date()
    found = found_by(account, TOOL)["period"]
    last = datetime.fromisoformat(found["last_day"]).date()
    assert before <= last <= datetime.now(zone).date()
    assert found["first_day"] == str(last - timedelta(days=29))
    only_last = found_by(account, TOOL, to="2026-03-31")["period"]
    assert (only_last["first_day"], only_last["last_day"]) == ("2026-03-02", "2026-03-31")
    only_first = found_by(account, TOOL, from_=str(last - timedelta(days=2)))["period"]
    assert only_first["first_day"] == str(last - timedelta(days=2))


def test_days_of_a_long_period_come_in_pages_within_the_bound(account: Account) -> None:
    keep(account, "2016-05-05T12:00:00+03:00")
    arguments = {"from_": "2016-03-01", "to": "2026-03-08", "group_by": "day"}
    days: list[str] = []
    cursor = None
    for page in range(3):
        found = found_by(account, TOOL, **arguments, **({"cursor": cursor} if cursor else {}))
        assert estimate_tokens(json.dumps(found)) < MOST_TOKENS
        days += [each["key"] for each in found["items"]]
        cursor = found["next_cursor"]
        assert cursor is not None, page
    first = datetime(2016, 3, 1, tzinfo=UTC)
    assert days == [str((first + timedelta(days=number)).date()) for number in range(len(days))]
    assert (len(days), found["total"]["count"]) == (3 * 62, 1)
    weeks = found_by(account, TOOL, from_="2025-01-01", to="2026-03-08", group_by="week")
    assert [len(weeks["items"]), weeks["items"][-1]["key"]] == [62, "2026-03-02"]
    months = found_by(account, TOOL, from_="2016-03-01", to="2026-03-08", group_by="month")
    rest = found_by(account, TOOL, from_="2016-03-01", to="2026-03-08", group_by="month", cursor=months["next_cursor"])
    keys = [each["key"] for each in months["items"] + rest["items"]]
    assert (len(keys), keys[0], keys[-1], rest["next_cursor"]) == (121, "2016-03-01", "2026-03-01", None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"from_": "2026-03-08", "to": "2026-03-02"}, "from: 2026-03-08 is after to: 2026-03-02"),
        ({"from_": "2016-03-01", "to": "2026-03-09"}, "at most 3660 days"),
        ({"from_": "1899-12-31", "to": "1900-01-05"}, "from: 1899-12-31 is outside of"),
        ({"to": "9999-12-31"}, "to: 9999-12-31 is outside of"),
        ({"to": "0001-01-05"}, "to: 0001-01-05 is outside of"),
        ({"from_": "2026-02-30"}, "from"),
        ({"from_": "2026-03-02T10:00:00Z"}, "from"),
        ({"from_": 1772409600}, "from"),
        ({"group_by": "person"}, "group_by"),
        ({"kind": "fax"}, "kind"),
        ({"tenant_id": "x"}, "tenant_id"),
        ({"cursor": "e30", "group_by": "day"}, "cursor: is not one of"),
        ({"cursor": "eyJkYXkiOjV9", "group_by": "day"}, "cursor: is not one of"),
        ({"cursor": "eyJkYXkiOiIxOTk5LTAxLTAxIn0", "group_by": "day"}, "cursor: is not one of"),
        ({"cursor": "\x00", "group_by": "day"}, "cursor"),
        ({"cursor": "eyJkYXkiOiIxOTk5LTAxLTAxIn0", "group_by": "kind"}, "cursor: goes with group_by day"),
        ({"cursor": "eyJkYXkiOiIxOTk5LTAxLTAxIn0"}, "cursor: goes with group_by day"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_words_to_act_on(
    account: Account, arguments: dict[str, Any], words: str
) -> None:
    assert words in refusal(account, TOOL, **arguments)


def test_another_account_is_not_counted(account: Account, new_account: Callable[..., Account]) -> None:
    keep_week(account)
    other = new_account()
    keep(other, "2026-03-03T10:00:00+03:00", turns=(("A", 10), ("B", 10)), category="billing")
    assert found_by(other, TOOL, **WEEK)["total"]["count"] == 1
    assert grouped(other, "category") == {"billing": 1}
    assert grouped(account, "kind") == {"call": 3, "chat": 2}


def test_quality_is_told_where_the_account_has_quality_control(new_account: Callable[..., Account]) -> None:
    account = new_account(features=("chat", "memory", "kb"))
    keep_week(account)
    found = found_by(account, TOOL, group_by="category", **WEEK)
    assert found["qc_scenarios"] == []
    shown = [found["total"], found["before"], found["change"], *found["categories"]]
    shown += [each["figures"] for each in found["items"]]
    assert {each["qc_score_pct"] for each in shown} == {None}


def test_what_is_deleted_is_not_counted_any_more(account: Account) -> None:
    kept = keep(account, "2026-03-04T10:00:00+03:00", turns=(("A", 10), ("B", 10)), category="billing")
    assert found_by(account, TOOL, **WEEK)["total"]["count"] == 1
    with account.server.database.write() as connection:
        retention.remove(account.tenant_id, connection, [kept])
    assert found_by(account, TOOL, **WEEK)["total"]["count"] == 0


def test_the_tool_is_told_of(account: Account) -> None:
    tools = {tool["name"]: tool for tool in rpc(account, "tools/list")["result"]["tools"]}
    schema = tools[TOOL]["inputSchema"]
    assert "required" not in schema
    assert schema["additionalProperties"] is False
