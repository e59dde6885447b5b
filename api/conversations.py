"""The site widget's conversations for the account's own people: reading them, and answering in the agent's place."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from api.fields import UtcTime, Uuid, UuidText
from api.http import Body, Call, NoInput, Operation
from api.paging import PageQuery, Pagination, pagination
from api.widget import ConversationMessage, answer_key, message_of
from chat import conversations
from store import chats, widget, widget_abuse
from store.database import Connection
from store.errors import NotFound
from store.widget import WidgetConversation

MOST_SHOWN = 300

OperatorName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
OperatorText = Annotated[str, Field(min_length=1, max_length=4000, pattern=r"\S")]


class ConversationQuery(PageQuery):
    """`wants_person`: those whose visitor waits for a person, or has one; false: those that the agent has. `state`:
    `waiting` are those whose visitor waits, who waits longest first; `taken` those that a person has; `agent` the
    others."""

    chat_id: Uuid | None = None
    state: Literal["waiting", "taken", "agent"] | None = None
    wants_person: Literal["true", "false"] | None = None


class TakeoverBody(Body):
    """`operator_name` is what the visitor sees; `replace` takes the conversation from another person, too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    operator_name: OperatorName
    replace: bool = False


class OperatorMessage(Body):
    """`operator_name` is who writes, where that is not who took the conversation over."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: OperatorText
    operator_name: OperatorName | None = None


class LastMessage(BaseModel):
    """At most its first 300 characters."""

    role: Literal["visitor", "agent", "operator"]
    text: str


class ConversationRecord(BaseModel):
    """`id` is the communication's. `operator_name` is null while the agent answers."""

    id: UuidText
    chat_id: UuidText | None
    operator_name: str | None
    person_requested_at: UtcTime | None
    contact: dict[str, str] | None
    message_count: int
    created_at: UtcTime
    last_message_at: UtcTime


class ListedConversation(ConversationRecord):
    last_message: LastMessage | None


class ConversationList(BaseModel):
    items: list[ListedConversation]
    pagination: Pagination


class ReadMessage(ConversationMessage):
    """With what the visitor wrote beside a vote."""

    comment: str | None


class ConversationDetails(ConversationRecord):
    messages: list[ReadMessage]


def _values(row: WidgetConversation) -> dict[str, Any]:
    return {
        "id": row.id,
        "chat_id": row.chat_id,
        "operator_name": row.operator_name,
        "person_requested_at": row.person_requested_at,
        "contact": row.contact,
        "message_count": row.turns,
        "created_at": row.created_at,
        "last_message_at": row.last_at,
    }


def list_conversations(call: Call[ConversationQuery, NoInput]) -> ConversationList:
    wanted = call.query.wants_person
    with call.services.database.read() as connection:
        rows, total = widget.list_page(
            call.tenant_id,
            connection,
            limit=call.query.limit,
            offset=call.query.offset,
            chat_id=call.query.chat_id,
            wants_person=None if wanted is None else wanted == "true",
            state=call.query.state,
        )
        said = widget.last_turns(call.tenant_id, connection, rows)
    items = [ListedConversation(**_values(row), last_message=_last(said.get(row.id))) for row in rows]
    return ConversationList(items=items, pagination=pagination(call.query, len(rows), total))


def _last(turn: widget.Turn | None) -> LastMessage | None:
    return None if turn is None else LastMessage(role=turn.role, text=turn.text[:MOST_SHOWN])


def read_conversation(call: Call[NoInput, NoInput]) -> ConversationDetails:
    return _details(call, call.path_id("conversation_id", "conversation"))


def _details(call: Call[Any, Any], conversation_id: str) -> ConversationDetails:
    row, turns = conversations.read(call.services.database, call.tenant_id, conversation_id)
    if row is None:
        raise NotFound("No such conversation.")
    return ConversationDetails(**_values(row), messages=[_message(turn) for turn in turns])


def _message(turn: widget.Turn) -> ReadMessage:
    return ReadMessage(**message_of(turn).model_dump(), comment=turn.comment)


async def take_conversation_over(call: Call[NoInput, TakeoverBody]) -> ConversationDetails:
    conversation_id = call.path_id("conversation_id", "conversation")
    take = partial(conversations.take_over, replace=call.body.replace, actor=call.actor)
    name = call.body.operator_name.strip()
    stopped = await run_sync(take, call.services.database, call.tenant_id, conversation_id, name)
    # Those in work in another process see it within seconds.
    for turn in stopped:
        call.services.answers.stop(answer_key(turn), "handed_over")
    return await run_sync(_details, call, conversation_id)


def release_conversation(call: Call[NoInput, NoInput]) -> ConversationDetails:
    conversation_id = call.path_id("conversation_id", "conversation")
    conversations.hand_back(call.services.database, call.tenant_id, conversation_id, actor=call.actor)
    return _details(call, conversation_id)


def answer_conversation(call: Call[NoInput, OperatorMessage]) -> ConversationMessage:
    conversation_id = call.path_id("conversation_id", "conversation")

    def also(connection: Connection, turn: widget.Turn) -> None:
        call.note(connection, "conversation.answered", conversation_id)
        call.keep(connection, message_of(turn), 201)

    turn = conversations.say(
        call.services.database,
        call.tenant_id,
        conversation_id,
        call.body.text,
        author=(call.body.operator_name or "").strip() or None,
        also=also,
    )
    return message_of(turn)


class AnswerQuery(PageQuery):
    """`verdict`: answers that visitors found helpful (`up`) or not (`down`), or that found nothing (`unanswered`)."""

    verdict: Literal["up", "down", "unanswered"]


class JudgedAnswer(BaseModel):
    """`comment` is what the visitor wrote beside the vote."""

    conversation_id: UuidText
    message_id: UuidText
    question: str | None
    answer: str
    feedback: Literal["up", "down"] | None
    comment: str | None
    at: UtcTime


class JudgedAnswers(BaseModel):
    items: list[JudgedAnswer]
    pagination: Pagination


def list_judged_answers(call: Call[AnswerQuery, NoInput]) -> JudgedAnswers:
    chat_id, query = call.path_id("chat_id", "chat"), call.query
    with call.services.database.read() as connection:
        if chats.get(call.tenant_id, connection, chat_id) is None:
            raise NotFound("No such chat.")
        rows, total = widget.list_judged(
            call.tenant_id, connection, chat_id, query.verdict, limit=query.limit, offset=query.offset
        )
    items = [JudgedAnswer.model_validate(row, from_attributes=True) for row in rows]
    return JudgedAnswers(items=items, pagination=pagination(query, len(rows), total))


class Refusal(BaseModel):
    """`reason`: a page that is not the chat's (`origin`), too many calls (`rate`, once a minute; `daily_limit`, once a
    day), a captcha that was not solved."""

    at: UtcTime
    reason: Literal["origin", "rate", "daily_limit", "captcha"]
    address: str
    origin: str | None


class RefusalList(BaseModel):
    items: list[Refusal]
    pagination: Pagination


def list_refusals(call: Call[PageQuery, NoInput]) -> RefusalList:
    chat_id = call.path_id("chat_id", "chat")
    with call.services.database.read() as connection:
        if chats.get(call.tenant_id, connection, chat_id) is None:
            raise NotFound("No such chat.")
        rows, total = widget_abuse.list_page(
            call.tenant_id, connection, chat_id, limit=call.query.limit, offset=call.query.offset
        )
    items = [Refusal.model_validate(row, from_attributes=True) for row in rows]
    return RefusalList(items=items, pagination=pagination(call.query, len(rows), total))


OPERATIONS = (
    Operation(
        "GET",
        "/v1/chats/{chat_id}/refused",
        list_refusals,
        "List what a chat's widget refused",
        response=RefusalList,
        query=PageQuery,
        feature="chat",
        errors=(400, 401, 403, 404),
        one_read=True,
    ),
    Operation(
        "GET",
        "/v1/chats/{chat_id}/answers",
        list_judged_answers,
        "List a chat's answers by what became of them",
        response=JudgedAnswers,
        query=AnswerQuery,
        feature="chat",
        errors=(400, 401, 403, 404),
        one_read=True,
    ),
    Operation(
        "GET",
        "/v1/conversations",
        list_conversations,
        "List the widget's conversations",
        response=ConversationList,
        query=ConversationQuery,
        feature="chat",
        errors=(400, 401, 403),
        one_read=True,
    ),
    Operation(
        "GET",
        "/v1/conversations/{conversation_id}",
        read_conversation,
        "Read a conversation of the widget",
        response=ConversationDetails,
        feature="chat",
        errors=(401, 403, 404),
        one_read=True,
    ),
    Operation(
        "POST",
        "/v1/conversations/{conversation_id}/takeover",
        take_conversation_over,
        "Take a conversation over from the agent",
        response=ConversationDetails,
        body=TakeoverBody,
        paused=False,
        feature="chat",
        errors=(400, 401, 403, 404, 409),
        audited=("conversation.taken_over",),
    ),
    Operation(
        "POST",
        "/v1/conversations/{conversation_id}/release",
        release_conversation,
        "Give a conversation back to the agent",
        response=ConversationDetails,
        paused=False,
        feature="chat",
        errors=(401, 403, 404),
        audited=("conversation.released",),
    ),
    Operation(
        "POST",
        "/v1/conversations/{conversation_id}/messages",
        answer_conversation,
        "Answer in a conversation",
        response=ConversationMessage,
        body=OperatorMessage,
        status=201,
        paused=False,
        feature="chat",
        errors=(400, 401, 403, 404, 409),
        idempotent=True,
        audited=("conversation.answered",),
    ),
)
