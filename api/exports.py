"""The Public layer's export of a communication as a file: text, subtitles, JSON or PDF."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from starlette.responses import Response

from api.communications import CommunicationDetails, CommunicationQuery, read_communication
from api.export_pdf import as_pdf
from api.export_texts import Exported, Fact, Quality, Utterance, Verdict, as_srt, as_txt
from api.export_words import Language
from api.http import Call, NoInput, Operation, Query
from api.media import disposition
from ingest.analysis.catalogs import category_label, key_label
from ingest.analysis.scenarios import QualitySettings, quality_settings
from store import analysis, communications, details, speakers
from store import quality_settings as stored_settings
from store.communications import Communication
from store.details import Evaluation
from store.errors import InvalidRequest, NotFound
from store.speakers import Participant

Format = Literal["txt", "srt", "json", "pdf"]

_MEDIA_TYPES = {
    "txt": "text/plain; charset=utf-8",
    "srt": "application/x-subrip; charset=utf-8",
    "json": "application/json",
    "pdf": "application/pdf",
}
_WRITERS: dict[str, Callable[[Exported], bytes]] = {
    "txt": lambda exported: as_txt(exported).encode(),
    "srt": lambda exported: as_srt(exported).encode(),
    "pdf": as_pdf,
}


class ExportQuery(Query):
    """`srt` is for calls alone, whose turns have times; `language` is that of headings and names in `txt` and `pdf`:
    left out, the account's."""

    format: Format
    language: Language | None = None


def export_communication(call: Call[ExportQuery, NoInput]) -> Response:
    communication_id, wanted = call.path_id("communication_id", "communication"), call.query.format
    exported = _exported(call, communication_id)
    if wanted == "srt" and not any(turn.start_ms is not None for turn in exported.turns):
        raise InvalidRequest("format: srt is for recordings, whose turns have times.", param="format")
    if wanted == "json":
        whole = Call(call.request, call.services, call.caller, CommunicationQuery(id=communication_id), NoInput())
        content = bytes(read_communication(whole).body)
    else:
        content = _WRITERS[wanted](exported)
    # A program that copies the archive reads each conversation anyway; a person takes a file along.
    if call.principal.session is not None:
        with call.services.database.write() as connection:
            call.note(connection, "communication.exported", communication_id, {"format": wanted})
    name = f"{exported.kind}-{exported.at:%Y-%m-%d-%H%M}.{wanted}"
    headers = {
        "Content-Disposition": disposition(name, "attachment"),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "private, no-cache",
    }
    return Response(content, media_type=_MEDIA_TYPES[wanted], headers=headers)


def _exported(call: Call[ExportQuery, NoInput], communication_id: str) -> Exported:
    tenant = call.principal.tenant
    language: Language = call.query.language or ("en" if tenant.language == "en" else "ru")
    with call.services.database.read() as connection:
        found = details.find_newest(call.tenant_id, connection, communication_id=communication_id)
        if found is None:
            raise NotFound("No such communication.")
        content = communications.list_content(call.tenant_id, connection, communication_id)
        people = speakers.list_participants(call.tenant_id, connection, communication_id)
        items = analysis.list_items(call.tenant_id, connection, communication_id)
        stored = stored_settings.get(call.tenant_id, connection)
    row, zone = found.communication, ZoneInfo(tenant.time_zone)
    names = {person.label: person.name or person.external_id or "" for person in people if person.label}
    settings = quality_settings(stored, language=language, tenant_name=tenant.name)
    return Exported(
        language=language,
        kind=row.kind,
        channel_type=row.channel_type,
        direction=row.direction,
        at=row.occured_at.astimezone(zone),
        duration_ms=row.duration_ms,
        subject=_subject(row, people),
        record_id=row.request_record_id,
        category=category_label(found.category, language),
        people=[(person.name or person.external_id or "?", person.role) for person in people],
        summary=found.summary_text,
        report=found.user_summary,
        facts=_facts(items, language),
        commitments=[
            (item.content, _due((item.meta or {}).get("deadline"), zone))
            for item in items
            if item.item_type == "commitment"
        ],
        quality=_quality(found.evaluation, settings) if found.evaluation else None,
        turns=[
            Utterance(
                who=names.get(item.label or "") or item.label or "",
                text=item.text,
                start_ms=item.start_ms,
                end_ms=item.end_ms,
                at=item.at.astimezone(zone) if item.at else None,
                files=[str(media.get("name") or media.get("type") or "") for media in item.media],
            )
            for _, item in content
        ],
    )


def _subject(row: Communication, people: Iterable[Participant]) -> str | None:
    """A mail's, where it has one: else its title is who takes part, its id or its kind (`ingest.import_turns`)."""
    known = {row.kind, row.request_record_id, *(name for each in people for name in (each.name, each.external_id))}
    return row.title if row.kind == "email" and not known.issuperset(row.title.split(", ")) else None


def _due(deadline: str | None, zone: ZoneInfo) -> date | None:
    """A day, or a moment in the account's time zone."""
    if not deadline:
        return None
    return datetime.fromisoformat(deadline).astimezone(zone) if "T" in deadline else date.fromisoformat(deadline)


def _quality(found: Evaluation, settings: QualitySettings) -> Quality:
    """As the page of the communication shows it: first what was not met, then what could not be decided."""
    scenario = next((each for each in settings.scenarios if each.code == found.scenario_code), None)
    # A criterion is called what this scenario calls it, else what another does.
    scenarios = [*settings.scenarios, *([scenario] if scenario else [])]
    names = {criterion.code: criterion.name for each in scenarios for criterion in each.criteria}
    applicable = [each for each in found.criteria if each["state"] != "not_applicable"]
    others = [each for each in found.criteria if each["state"] == "not_applicable"]

    def name_of(criterion: dict[str, Any]) -> str:
        return names.get(criterion["code"]) or criterion["code"].replace("_", " ")

    def rank(criterion: dict[str, Any]) -> int:
        return 0 if criterion["value"] is False else 1 if criterion["state"] == "undecided" else 2

    return Quality(
        scenario=scenario.name if scenario else found.scenario_code,
        score_pct=found.score_pct,
        verdicts=[
            Verdict(name_of(each), each["value"], each.get("evidence") or "") for each in sorted(applicable, key=rank)
        ],
        not_applicable=[name_of(each) for each in others],
    )


def _facts(items: Iterable[analysis.Item], language: str) -> list[Fact]:
    """What stands under several keys is told once."""
    labels: dict[str, list[str]] = {}
    for item in items:
        if item.item_type == "criteria":
            label = key_label(item.subtype, language)
            labels.setdefault(item.content, []).extend([label] if label else [])
    return [Fact(content, said) for content, said in labels.items()]


OPERATIONS = (
    Operation(
        "GET",
        "/v1/communications/{communication_id}/export",
        export_communication,
        "Export a communication",
        response=CommunicationDetails,
        query=ExportQuery,
        content="*/*",
        errors=(400, 401, 404),
        audited=("communication.exported",),
    ),
)
