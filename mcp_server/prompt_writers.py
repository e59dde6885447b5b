"""Writes the prompts: which tools to call, with which arguments, and what the server knows already."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from mcp_server import prompt_texts as texts
from mcp_server.cards import person_card
from mcp_server.quoting import quote
from mcp_server.registry import ToolContext
from mcp_server.tools.moments import today
from mcp_server.tools.shapes import person_url
from store import details, people_search, speakers
from store.database import Connection
from store.ids import parse_id
from store.speakers import Speaker

CARD_TOKENS = 6_000
CARD_CONTACTS = 5
MOST_PEOPLE = 10
OVERDUE_DAYS = 30
WEEKS = ("last", "this")
DAYS = ("7", "30", "90")

Values = Mapping[str, str]
Call = tuple[str, dict[str, Any]]


class Wrong(ValueError):
    """An argument that fits its description, and yet nothing can be written for it."""


def prepare_for_call(context: ToolContext, language: str, values: Values) -> str:
    """What is known of the person, and how to learn more; or how to find out who is meant."""
    with context.database.read() as connection:
        people = _people(context, connection, values["person"])
        newest = (
            details.list_of_speaker(context.tenant_id, connection, people[0].id, limit=1) if len(people) == 1 else []
        )
    if not people:
        calls = _calls(("search_speakers", {"query": values["person"]}))
        return texts.filled(texts.UNKNOWN_PERSON, language, calls=calls)
    if len(people) > 1:
        shown = [f"{each.id} {each.role} {person_url(context, each.id)}\n{quote(each.name or '')}" for each in people]
        calls = _calls(("search_communications", {"participants": ["ID"], "limit": 5}), *_calls_about(context, "ID"))
        return texts.filled(texts.SEVERAL_PEOPLE, language, people="\n\n".join(shown), calls=calls)
    (person,) = people
    card = person_card(
        context, person.id, None, language=language, most_tokens=CARD_TOKENS, most_contacts=CARD_CONTACTS
    )
    if card is None:
        raise Wrong("person: was deleted a moment ago")
    latest: list[Call] = [("get_communication", {"communication_id": each.communication.id}) for each in newest]
    calls = _calls(*latest, *_calls_about(context, person.id))
    return texts.filled(texts.KNOWN_PERSON, language, card=card.text, calls=calls, today=today(context).isoformat())


def _people(context: ToolContext, connection: Connection, named: str) -> list[Speaker]:
    """Who is meant: by id, else by the whole name or external id, else by parts of the name; best fit first."""
    id_ = parse_id(named)
    if id_ is not None:
        found = speakers.get(context.tenant_id, connection, id_)
        return [found] if found is not None else []
    people = people_search.search(context.tenant_id, connection, query=named, limit=MOST_PEOPLE)
    return [each.speaker for each in people if each.rank == 0] or [each.speaker for each in people]


def _calls_about(context: ToolContext, speaker_id: str) -> list[Call]:
    about = {"speaker_id": speaker_id, "limit": 20}
    calls: list[Call] = [("search_commitments", {"open": True, **about})]
    return [*calls, ("search_memory", about)] if "memory" in context.tenant.features else calls


def promises_of_the_week(context: ToolContext, language: str, values: Values) -> str:
    day = today(context)
    monday, sunday = _week_of(day)
    since = (day - timedelta(days=OVERDUE_DAYS)).isoformat()
    calls = _calls(
        ("search_commitments", {"overdue": True, "due_from": since, "limit": 50}),
        (
            "search_commitments",
            {"open": True, "due_from": day.isoformat(), "due_to": sunday.isoformat(), "order": "due", "limit": 50},
        ),
        ("search_commitments", {"from": monday.isoformat(), "to": day.isoformat(), "limit": 50}),
    )
    days = {"since": since, "today": day.isoformat(), "monday": monday.isoformat(), "sunday": sunday.isoformat()}
    return texts.filled(texts.PROMISES, language, calls=calls, **days)


def weekly_quality_report(context: ToolContext, language: str, values: Values) -> str:
    day = today(context)
    is_whole = values.get("week") != "this"
    monday, sunday = _week_of(day - timedelta(days=7) if is_whole else day)
    last = min(sunday, day)
    period = _period(monday, last)
    # What get_period_metrics calls "before" are as many days: of a week that goes on, those before Monday.
    earlier = _period(monday - timedelta(days=7), last - timedelta(days=7))
    compared: list[Call] = [] if is_whole else [("get_period_metrics", earlier)]
    calls = _calls(
        ("get_period_metrics", period),
        ("rank_qc", {**period, "group_by": "criterion", "order": "worst", "min_evaluations": 1, "limit": 5}),
        ("rank_qc", {**period, "group_by": "person", "min_evaluations": 1, "limit": 50}),
        *compared,
    )
    against = texts.AGAINST_LAST_WEEK if is_whole else texts.AGAINST_SAME_WEEKDAYS
    return texts.filled(
        texts.QUALITY,
        language,
        calls=calls,
        monday=period["from"],
        sunday=period["to"],
        against=texts.filled(against, language, first=earlier["from"], last=earlier["to"]),
    )


def complaint_review(context: ToolContext, language: str, values: Values) -> str:
    last = today(context)
    first = last - timedelta(days=int(values.get("days", "30")) - 1)
    period = _period(first, last)
    calls = _calls(
        ("search_communications", {"category": "complaint", **period, "limit": 50}),
        ("rank_signals", {**period, "signal": "requested_resolution", "group_by": "value"}),
    )
    return texts.filled(texts.COMPLAINTS, language, calls=calls, first=period["from"], last=period["to"])


def find_answer(context: ToolContext, language: str, values: Values) -> str:
    query = {"query": values["question"]}
    calls = _calls(("search_documents", query), ("search_communications", query))
    return texts.filled(texts.ANSWER, language, question=values["question"], calls=calls)


def _week_of(day: date) -> tuple[date, date]:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def _period(first: date, last: date) -> dict[str, str]:
    return {"from": first.isoformat(), "to": last.isoformat()}


def _calls(*calls: Call) -> str:
    """Numbered, each a tool's name and its arguments as JSON."""
    return "\n".join(
        f"{number}. {name} {json.dumps(arguments, ensure_ascii=False)}"
        for number, (name, arguments) in enumerate(calls, start=1)
    )
