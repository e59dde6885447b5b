"""The tool that reads one conversation: get_communication."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Literal, TypeVar

from pydantic import BaseModel, Field
from pydantic_core import to_json

from ingest.analysis.catalogs import category_label
from mcp_server.readable import readable_item
from mcp_server.registry import Arguments, Tool, ToolContext, ToolError
from mcp_server.tools.shapes import (
    QUOTED,
    Cursor,
    Id,
    Quoted,
    communication_url,
    foreign_cursor,
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
MOST_ITEMS = 30  # of one part, as of MOST_PEOPLE
MOST_PEOPLE = 50
CUT = " … (cut: next_cursor goes on)"

Row = TypeVar("Row", bound=BaseModel)


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
    """What analysis found: a fact (`criteria`, under a key of the category) or a promise with its deadline; `done_at`
    is when somebody marked that as kept. `idx` is the turn that says it, `start_ms` where that begins in the
    recording."""

    id: str
    item_type: str
    subtype: str | None
    content: Quoted
    deadline: str | None
    done_at: str | None
    idx: int | None
    start_ms: int | None


class CommunicationCard(BaseModel):
    """`more` says how many of them this part has not, where it has not all. Totals are null for who may not know."""

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
    participants_total: int | None
    items: list[CardItem]
    facts_total: int | None
    promises_total: int | None
    more: str | None
    content: list[Turn]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class _Position:
    """Where a part begins: at a turn and a character of it, and how many items and people the parts before had."""

    idx: int = 0
    character: int = 0
    items: int = 0
    people: int = 0

    def cursor(self, arguments: GetCommunication) -> str:
        return make_cursor(arguments, at=[self.idx, self.character, self.items, self.people])


def get_communication(context: ToolContext, arguments: GetCommunication) -> CommunicationCard:
    position = _position(arguments)
    with context.database.read() as connection:
        found = details.find_newest(context.tenant_id, connection, communication_id=arguments.communication_id)
        if found is None or found.communication.channel_type in context.hidden_channels:
            raise ToolError(f"communication not found: {arguments.communication_id}")
        content = (
            communications.list_content(context.tenant_id, connection, found.communication.id, first_idx=position.idx)
            if arguments.detail == "full"
            else []
        )
        people = speakers.list_participants(context.tenant_id, connection, found.communication.id)
        items = (
            analysis.list_items(context.tenant_id, connection, found.communication.id) if context.sees_analysis else []
        )
    most = context.answer_tokens - _CARRIER_TOKENS
    card, after = _card(context, found, people, items, position, most), position
    if context.sees_analysis:
        after = _tell_what_is_left(card, position)
    taken = _cost(card) if content else 0
    card.content, on = _fit(context, content, position.character, max(most - taken, most // 4))
    if on is not None:
        card.next_cursor = replace(after, idx=on[0], character=on[1]).cursor(arguments)
    elif card.more is not None:
        # Behind the last turn, where the text was read: none of it comes again.
        end = content[-1][0] + 1 if content else position.idx
        card.next_cursor = replace(after, idx=end, character=0).cursor(arguments)
    return card


def _position(arguments: GetCommunication) -> _Position:
    values = open_cursor(arguments, "at")
    if values is None:
        return _Position()
    numbers = values["at"]
    if not isinstance(numbers, list) or len(numbers) != len(fields(_Position)):
        raise foreign_cursor()
    if any(type(number) is not int or not 0 <= number < 2**31 for number in numbers):
        raise foreign_cursor()
    return _Position(*numbers)


def _tell_what_is_left(card: CommunicationCard, position: _Position) -> _Position:
    """Notes in the card what later parts have, and gives how far this one came."""
    assert card.participants_total is not None
    items_total = (card.facts_total or 0) + (card.promises_total or 0)
    after = replace(
        position,
        items=min(position.items + len(card.items), items_total),
        people=min(position.people + len(card.participants), card.participants_total),
    )
    counts = (
        ("facts and promises", after.items, items_total),
        ("participants", after.people, card.participants_total),
    )
    left = [f"{shown} of {total} {name}" for name, shown, total in counts if shown < total]
    card.more = f"{', '.join(left)}; the rest: next_cursor" if left else None
    return after


def _fit(
    context: ToolContext, content: list[tuple[int, communications.ContentItem]], first_character: int, room: int
) -> tuple[list[Turn], tuple[int, int] | None]:
    """The turns that fit into `room` tokens, and the turn and its character to go on from. Only one that fills an
    answer alone is cut, between words where it has any."""
    turns: list[Turn] = []
    for number, (idx, item) in enumerate(content):
        start = first_character if number == 0 else 0
        turn = _turn(context, idx, item, item.text[start:])
        cost = _cost(turn)
        if cost > room and turns:
            return turns, (idx, 0)
        if cost > room:
            shown = _cut(turn, cost, room)
            return [shown], (idx, start + len(shown.text) - len(CUT))
        room -= cost
        turns.append(turn)
    return turns, None


def _turn(context: ToolContext, idx: int, item: communications.ContentItem, text: str) -> Turn:
    at = local_time(context, item.at) if item.at is not None and item.start_ms is None else None
    return Turn(idx=idx, label=item.label, at=at, start_ms=item.start_ms, text=text)


def _cut(turn: Turn, cost: int, room: int) -> Turn:
    """Its beginning, with the mark of a cut."""

    def cut(text: str) -> Turn:
        return turn.model_copy(update={"text": text + CUT})

    return cut(_piece(turn.text, cost, room, lambda text: _cost(cut(text))))


def _cost(part: BaseModel) -> int:
    """The tokens of the form that takes more of them: an answer's JSON and its readable form have the same bound."""
    return max(estimate_tokens(to_json(part).decode()), estimate_tokens(readable_item(part)))


def _within(rows: Iterable[Row], most: int, room: int) -> list[Row]:
    """The first of them that fit, one at least."""
    listed = list(islice(rows, most))
    # No byte is more than one token, the readable form has three times as many at most, and most texts are short.
    if 3 * sum(len(to_json(row)) for row in listed) <= room:
        return listed
    shown: list[Row] = []
    for row in listed:
        room -= _cost(row)
        if room < 0 and shown:
            break
        shown.append(row)
    return shown


def _piece(text: str, cost: int, room: int, cost_of: Callable[[str], int]) -> str:
    """The beginning of a text of `cost` tokens that fits into `room`, one character at least."""
    end = len(text)
    while cost > room and end > 1:
        end = int(end * min(0.95, room / cost))
        cost = cost_of(text[:end])
    border = max(text.rfind(space, end - 200, end) for space in " \n")
    return text[: border + 1] if border > 0 else text[: max(end, 1)]


def _card(
    context: ToolContext,
    found: Details,
    people: list[Participant],
    items: list[Item],
    position: _Position,
    most_tokens: int,
) -> CommunicationCard:
    """Without its turns. What analysis made of it is for the company alone, and its summary in the first part. People
    whom earlier parts had all come again: turns are read by their labels."""
    row = found.communication
    sees = context.sees_analysis
    shows_summary = sees and position == _Position()
    facts = sum(item.item_type == "criteria" for item in items)
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
        summary_text=_shown(found.summary_text, most_tokens) if shows_summary else None,
        user_summary=_shown(found.user_summary, most_tokens) if shows_summary else None,
        category=found.category,
        category_label=category_label(found.category, context.tenant.language),
        participants=_within(
            (
                CardParticipant(id=person.id, name=person_name(person), role=person.role, label=person.label)
                for person in (people[position.people :] or people if sees else ())
            ),
            MOST_PEOPLE,
            most_tokens // 5,
        ),
        participants_total=len(people) if sees else None,
        items=_within((_item(context, item) for item in items[position.items :]), MOST_ITEMS, most_tokens // 4),
        facts_total=facts if sees else None,
        promises_total=len(items) - facts if sees else None,
        more=None,
        content=[],
        next_cursor=None,
    )


def _item(context: ToolContext, item: Item) -> CardItem:
    meta = item.meta or {}
    return CardItem(
        id=item.id,
        item_type=item.item_type,
        subtype=item.subtype,
        content=shorten(item.content, ITEM_CHARACTERS),
        deadline=meta.get("deadline"),
        done_at=local_time(context, item.done_at) if item.done_at is not None else None,
        idx=meta.get("idx"),
        start_ms=meta.get("start_ms"),
    )


def _shown(text: str | None, most_tokens: int) -> str | None:
    """At most a tenth of the answer."""
    if not text:
        return None
    shown = shorten(text, SUMMARY_CHARACTERS)
    cost, room = _quoted_cost(shown), most_tokens // 10
    return shown if cost <= room else f"{_piece(shown, cost, room, _quoted_cost).rstrip()}…"


class _Summary(BaseModel):
    summary_text: Quoted


def _quoted_cost(text: str) -> int:
    return _cost(_Summary(summary_text=text))


TOOLS = (
    Tool(
        name="get_communication",
        title="Read one conversation",
        description=(
            "One call, chat or mail: its data, summary, participants, facts, promises, and each turn of its text; a "
            "long one in parts. To find one use search_communications."
        ),
        arguments=GetCommunication,
        result=CommunicationCard,
        function=get_communication,
    ),
)
