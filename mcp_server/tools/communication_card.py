"""The tool that reads one conversation: get_communication."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, Field

from ingest.analysis.catalogs import category_label
from mcp_server.registry import Arguments, Tool, ToolContext, ToolError
from mcp_server.tools.shapes import (
    QUOTED,
    Cursor,
    Id,
    Quoted,
    communication_url,
    local_time,
    make_cursor,
    open_cursor,
    person_name,
    shorten,
)
from rag.language_model import estimate_tokens
from store import analysis, communications, details, speakers
from store.analysis import Item
from store.details import Details
from store.speakers import Participant

_CARRIER_TOKENS = 500  # what carries an answer
SUMMARY_CHARACTERS = 3_000
ITEM_CHARACTERS = 300
MOST_ITEMS = 30
MOST_PEOPLE = 50
TURN_TOKENS = 40  # what a turn has beside its text
CUT = " … (cut: next_cursor goes on)"


class GetCommunication(Arguments):
    communication_id: Id
    detail: Literal["card", "full"] = Field(default="full", description="card: without its text.")
    cursor: Cursor | None = None


class Turn(BaseModel):
    """`at` is when a message was written, `start_ms` where an utterance begins in the recording."""

    idx: int
    label: Quoted | None
    at: str | None
    start_ms: int | None
    text: Quoted


class CardParticipant(BaseModel):
    """`label` joins the turns; null where nobody knows which voice is theirs."""

    id: str
    name: Quoted
    role: str
    label: Quoted | None


class CardItem(BaseModel):
    """What analysis found: a fact (`criteria`, under a key of the category) or a promise with its deadline."""

    item_type: str
    subtype: str | None
    content: Quoted
    deadline: str | None


class CommunicationCard(BaseModel):
    text_is: str = QUOTED
    id: str
    kind: str
    channel_type: str
    direction: str | None
    title: Quoted
    occured_at: str
    duration_ms: int | None
    language: str | None
    communication_status: str
    transcription_status: str | None
    request_record_id: Quoted | None
    url: str
    summary_generation_status: str
    qc_generation_status: str
    memory_generation_status: str
    summary_text: Quoted | None
    user_summary: Quoted | None
    category: str | None
    category_label: str | None
    participants: list[CardParticipant]
    items: list[CardItem]
    content: list[Turn]
    next_cursor: str | None


def get_communication(context: ToolContext, arguments: GetCommunication) -> CommunicationCard:
    position = open_cursor(arguments.cursor, "idx", "from")
    first_idx, first_character = (position["idx"], position["from"]) if position else (0, 0)
    if any(type(number) is not int or not 0 <= number < 2**31 for number in (first_idx, first_character)):
        raise ToolError("cursor: is not one of this tool's; leave it out to begin again")
    with context.database.read() as connection:
        found = details.find_newest(context.tenant_id, connection, communication_id=arguments.communication_id)
        if found is None:
            raise ToolError(f"communication not found: {arguments.communication_id}")
        content = (
            communications.list_content(context.tenant_id, connection, found.communication.id, first_idx=first_idx)
            if arguments.detail == "full"
            else []
        )
        people = speakers.list_participants(context.tenant_id, connection, found.communication.id)
        shows_analysis = context.sees_analysis and position is None
        items = analysis.list_items(context.tenant_id, connection, found.communication.id) if shows_analysis else []
    card = _card(context, found, people, items, shows_analysis=shows_analysis)
    most = context.answer_tokens - _CARRIER_TOKENS
    room = max(most - estimate_tokens(card.model_dump_json()), most // 2)
    card.content, card.next_cursor = _fit(context, content, first_character, room)
    return card


def _fit(
    context: ToolContext, content: list[tuple[int, communications.ContentItem]], first_character: int, room: int
) -> tuple[list[Turn], str | None]:
    """The turns that fit into `room` tokens, and the cursor to go on from. Only one that fills an answer alone is cut,
    between words where it has any."""
    turns: list[Turn] = []
    most = room
    for number, (idx, item) in enumerate(content):
        start = first_character if number == 0 else 0
        text = item.text[start:]
        cost = _tokens(text)
        room -= cost + TURN_TOKENS
        if room < 0 and turns:
            return turns, make_cursor(**{"idx": idx, "from": 0})
        shown = text if cost <= most else _piece(text, cost, most)
        is_cut = len(shown) < len(text)
        at = local_time(context, item.at) if item.at is not None and item.start_ms is None else None
        turns.append(
            Turn(idx=idx, label=item.label, at=at, start_ms=item.start_ms, text=shown + CUT if is_cut else shown)
        )
        if is_cut:
            return turns, make_cursor(**{"idx": idx, "from": start + len(shown)})
    return turns, None


def _piece(text: str, cost: int, room: int) -> str:
    """The beginning of a text of `cost` tokens that fits into `room`."""
    end = len(text)
    while cost > room:
        end = int(end * min(0.95, room / cost))
        cost = _tokens(text[:end])
    border = max(text.rfind(space, end - 200, end) for space in " \n")
    return text[: border + 1] if border > 0 else text[: max(end, 1)]


def _tokens(text: str) -> int:
    """As JSON carries it, or with the mark that each line has in the readable form."""
    return estimate_tokens(json.dumps(text, ensure_ascii=False)) + text.count("\n")


def _card(
    context: ToolContext, found: Details, people: list[Participant], items: list[Item], *, shows_analysis: bool
) -> CommunicationCard:
    """Without its turns. What analysis made of it is in the first part, and for the company alone."""
    row = found.communication
    return CommunicationCard(
        id=row.id,
        kind=row.kind,
        channel_type=row.channel_type,
        direction=row.direction,
        title=row.title,
        occured_at=local_time(context, row.occured_at),
        duration_ms=row.duration_ms,
        language=row.language,
        communication_status=row.status(chat_quiet_s=context.chat_quiet_s),
        transcription_status=found.transcription_status,
        request_record_id=row.request_record_id,
        url=communication_url(context, row.id),
        summary_generation_status=found.summary_status,
        qc_generation_status=found.qc_status,
        memory_generation_status=found.memory_status,
        summary_text=_shown(found.summary_text) if shows_analysis else None,
        user_summary=_shown(found.user_summary) if shows_analysis else None,
        category=found.category,
        category_label=category_label(found.category, context.tenant.language),
        participants=[
            CardParticipant(id=person.id, name=person_name(person), role=person.role, label=person.label)
            for person in (people[:MOST_PEOPLE] if context.sees_analysis else ())
        ],
        items=[
            CardItem(
                item_type=item.item_type,
                subtype=item.subtype,
                content=shorten(item.content, ITEM_CHARACTERS),
                deadline=(item.meta or {}).get("deadline"),
            )
            for item in items[:MOST_ITEMS]
        ],
        content=[],
        next_cursor=None,
    )


def _shown(text: str | None) -> str | None:
    return shorten(text, SUMMARY_CHARACTERS) if text else None


TOOLS = (
    Tool(
        name="get_communication",
        title="Read one conversation",
        description=(
            "The card of one call, chat or mail: its data, summary, participants, what was promised, and each turn of "
            "its text, in parts when it is long."
        ),
        arguments=GetCommunication,
        result=CommunicationCard,
        function=get_communication,
    ),
)
