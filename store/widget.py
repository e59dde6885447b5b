"""Tables and queries of the site widget's conversations: their turns, who has the word, and what visitors were refused.

A conversation is a communication (kind chat, channel widget) that its visitor can go on with; `widget_turns` holds what
the communication's content has no place for: what became of a message, its sources, what the visitor thought of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from store.database import id_column, metadata, now, time_column
from store.scope import across_tenants
from store.widget_roles import Role

Status = Literal["answering", "answered", "failed", "cancelled", "kept"]
"""Of a visitor's message; `kept`: a person has the conversation. What others say is always `kept`."""
State = Literal["waiting", "taken", "agent"]
"""Of a conversation: its visitor asked for a person and none is there; a person has it; the agent answers."""
Verdict = Literal["up", "down", "unanswered"]

widget_conversations = sa.Table(
    "widget_conversations",
    metadata,
    id_column("id", sa.ForeignKey("communications.id", ondelete="CASCADE"), primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("chat_id", sa.ForeignKey("chats.id", ondelete="SET NULL"), nullable=True, index=True),
    time_column("created_at", nullable=False),
    time_column("last_at", nullable=False),
    sa.Column("turns", sa.Integer, nullable=False),
    sa.Column("analysed_turns", sa.Integer, nullable=False),  # how many there were when it was last analysed
    sa.Column("operator_name", sa.String(200), nullable=True),  # who has taken it over; null: the agent answers
    time_column("person_requested_at", nullable=True),
    sa.Column("contact", sa.JSON(none_as_null=True), nullable=True),
    sa.Index(None, "tenant_id", "last_at", "id"),
    sa.Index(
        "ix_widget_conversations_unanalysed",
        "last_at",
        sqlite_where=sa.text("analysed_turns < turns"),
        postgresql_where=sa.text("analysed_turns < turns"),
    ),
    sa.Index(
        "ix_widget_conversations_waiting",
        *("tenant_id", "person_requested_at", "id", "operator_name"),
        sqlite_where=sa.text("person_requested_at IS NOT NULL"),
        postgresql_where=sa.text("person_requested_at IS NOT NULL"),
    ),
    sa.Index(
        "ix_widget_conversations_taken",
        *("tenant_id", "last_at", "id"),
        sqlite_where=sa.text("operator_name IS NOT NULL"),
        postgresql_where=sa.text("operator_name IS NOT NULL"),
    ),
)

widget_turns = sa.Table(
    "widget_turns",
    metadata,
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True),
    id_column("conversation_id", sa.ForeignKey("widget_conversations.id", ondelete="CASCADE"), primary_key=True),
    id_column("id", primary_key=True),  # a visitor's message has the one that the visitor gave
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("role", sa.String(10), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    time_column("at", nullable=False),
    sa.Column("status", sa.String(10), nullable=False),
    id_column("reply_to", nullable=True),
    sa.Column("author", sa.String(200), nullable=True),
    sa.Column("answer", sa.JSON(none_as_null=True), nullable=True),  # of an agent's: the data of its last event
    time_column("touched_at", nullable=True),  # while it is answered: when its process last said so
    id_column("attempt", nullable=True),  # the try that answers it: what an earlier one does now counts no more
    sa.Column("feedback", sa.String(4), nullable=True),
    sa.Column("comment", sa.Text, nullable=True),
    sa.Index(None, "conversation_id", "number", unique=True),
    sa.Index(
        "ix_widget_turns_judged",
        *("tenant_id", "feedback", "at", "id", "conversation_id"),
        sqlite_where=sa.text("feedback IS NOT NULL"),
        postgresql_where=sa.text("feedback IS NOT NULL"),
    ),
)


@dataclass(frozen=True, slots=True)
class WidgetConversation:
    id: str
    tenant_id: str
    chat_id: str | None
    created_at: datetime
    last_at: datetime
    turns: int
    analysed_turns: int
    operator_name: str | None
    person_requested_at: datetime | None
    contact: dict[str, str] | None


@dataclass(frozen=True, slots=True)
class Turn:
    tenant_id: str
    conversation_id: str
    id: str
    number: int
    role: Role
    text: str
    at: datetime
    status: Status
    reply_to: str | None = None
    author: str | None = None
    answer: dict[str, Any] | None = None
    touched_at: datetime | None = None
    attempt: str | None = None
    feedback: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An agent's answer with the question before it."""

    conversation_id: str
    message_id: str
    question: str | None
    answer: str
    feedback: str | None
    comment: str | None
    at: datetime


def _conversation(row: Row[Any]) -> WidgetConversation:
    return WidgetConversation(**row._mapping)


def _turn(row: Row[Any]) -> Turn:
    return Turn(**row._mapping)


def create(tenant_id: str, connection: Connection, conversation_id: str, *, chat_id: str) -> None:
    """Of a communication that is there."""
    moment = now()
    connection.execute(
        sa.insert(widget_conversations).values(
            id=conversation_id,
            tenant_id=tenant_id,
            chat_id=chat_id,
            created_at=moment,
            last_at=moment,
            turns=0,
            analysed_turns=0,
        )
    )


def get(
    tenant_id: str, connection: Connection, conversation_id: str, *, lock: bool = False
) -> WidgetConversation | None:
    """With `lock` no other transaction that locks it goes on before this one ends."""
    table = widget_conversations.c
    query = sa.select(widget_conversations).where(table.tenant_id == tenant_id, table.id == conversation_id)
    row = connection.execute(query.with_for_update() if lock else query).first()
    return _conversation(row) if row else None


def lock(tenant_id: str, connection: Connection, conversation_ids: Sequence[str]) -> None:
    """Those among them that are there, as `get` does."""
    table = widget_conversations.c
    query = sa.select(table.id).where(table.tenant_id == tenant_id, table.id.in_(conversation_ids))
    connection.execute(query.order_by(table.id).with_for_update()).all()


def list_page(
    tenant_id: str,
    connection: Connection,
    *,
    limit: int,
    offset: int = 0,
    chat_id: str | None = None,
    wants_person: bool | None = None,
    state: State | None = None,
) -> tuple[list[WidgetConversation], int]:
    """Those with the last message first, and how many there are. `wants_person`: a visitor waits for one, or one has
    it. Of those who wait, whoever waits longest is first."""
    table = widget_conversations.c
    query = sa.select(widget_conversations).where(table.tenant_id == tenant_id)
    if chat_id is not None:
        query = query.where(table.chat_id == chat_id)
    if wants_person is not None:
        waits = sa.or_(table.person_requested_at.is_not(None), table.operator_name.is_not(None))
        query = query.where(waits if wants_person else sa.not_(waits))
    if state is not None:
        has_person, is_asked_for = table.operator_name.is_not(None), table.person_requested_at.is_not(None)
        conditions: dict[State, list[sa.ColumnElement[bool]]] = {
            "waiting": [sa.not_(has_person), is_asked_for],
            "taken": [has_person],
            "agent": [sa.not_(has_person), sa.not_(is_asked_for)],
        }
        query = query.where(*conditions[state])
    total = connection.execute(sa.select(sa.func.count()).select_from(query.subquery())).scalar_one()
    order = [table.person_requested_at] if state == "waiting" else [table.last_at.desc()]
    page = query.order_by(*order, table.id.desc()).limit(limit).offset(offset)
    return [_conversation(row) for row in connection.execute(page)], total


def last_turns(tenant_id: str, connection: Connection, rows: Sequence[WidgetConversation]) -> dict[str, Turn]:
    """By conversation, what was said last in it."""
    table = widget_turns.c
    wanted = [sa.and_(table.conversation_id == row.id, table.number == row.turns) for row in rows]
    if not wanted:
        return {}
    found = connection.execute(sa.select(widget_turns).where(table.tenant_id == tenant_id, sa.or_(*wanted)))
    return {row.conversation_id: _turn(row) for row in found}


def list_judged(
    tenant_id: str, connection: Connection, chat_id: str, verdict: Verdict, *, limit: int, offset: int = 0
) -> tuple[list[JudgedAnswer], int]:
    """The answers of a chat that visitors voted for or against, or that found nothing; newest first, and how many there
    are."""
    table, asked = widget_turns.c, widget_turns.alias("asked")
    is_right = table.answer["found"].as_boolean().is_(False) if verdict == "unanswered" else table.feedback == verdict
    query = (
        sa.select(table.conversation_id, table.id, asked.c.text, table.text, table.feedback, table.comment, table.at)
        .join(widget_conversations, widget_conversations.c.id == table.conversation_id)
        .outerjoin(
            asked,
            sa.and_(
                asked.c.tenant_id == tenant_id,
                asked.c.conversation_id == table.conversation_id,
                asked.c.id == table.reply_to,
            ),
        )
        .where(
            table.tenant_id == tenant_id,
            widget_conversations.c.tenant_id == tenant_id,
            widget_conversations.c.chat_id == chat_id,
            table.role == "agent",
            is_right,
        )
    )
    total = connection.execute(query.with_only_columns(sa.func.count())).scalar_one()
    page = query.order_by(table.at.desc(), table.id.desc()).limit(limit).offset(offset)
    return [JudgedAnswer(*row) for row in connection.execute(page)], total


def update(tenant_id: str, connection: Connection, conversation_id: str, **values: Any) -> None:
    """Sets the given columns."""
    table = widget_conversations.c
    connection.execute(
        sa.update(widget_conversations)
        .where(table.tenant_id == tenant_id, table.id == conversation_id)
        .values(**values)
    )


def add_turn(
    tenant_id: str,
    connection: Connection,
    conversation: WidgetConversation,
    turn_id: str,
    role: Role,
    text: str,
    status: Status,
    **values: Any,
) -> Turn:
    """The next turn of a conversation that the caller has locked; `values` are other columns."""
    moment = now()
    added: dict[str, Any] = {
        "tenant_id": tenant_id,
        "conversation_id": conversation.id,
        "id": turn_id,
        "number": _count(tenant_id, connection, conversation.id) + 1,
        "role": role,
        "text": text,
        "at": moment,
        "status": status,
        **values,
    }
    connection.execute(sa.insert(widget_turns).values(**added))
    update(tenant_id, connection, conversation.id, turns=added["number"], last_at=moment)
    return Turn(**added)


def _count(tenant_id: str, connection: Connection, conversation_id: str) -> int:
    table = widget_turns.c
    query = sa.select(sa.func.coalesce(sa.func.max(table.number), 0))
    return int(
        connection.execute(
            query.where(table.tenant_id == tenant_id, table.conversation_id == conversation_id)
        ).scalar_one()
    )


def get_turn(tenant_id: str, connection: Connection, conversation_id: str, turn_id: str) -> Turn | None:
    row = connection.execute(sa.select(widget_turns).where(*_is_turn(tenant_id, conversation_id, turn_id))).first()
    return _turn(row) if row else None


def find_reply(tenant_id: str, connection: Connection, conversation_id: str, turn_id: str) -> Turn | None:
    """The agent's answer to a visitor's message."""
    table = widget_turns.c
    row = connection.execute(
        sa.select(widget_turns)
        .where(
            table.tenant_id == tenant_id,
            table.conversation_id == conversation_id,
            table.reply_to == turn_id,
        )
        .order_by(table.number.desc())
        .limit(1)
    ).first()
    return _turn(row) if row else None


def list_turns(
    tenant_id: str, connection: Connection, conversation_id: str, *, newest: int | None = None
) -> list[Turn]:
    """In their order; with `newest` only that many of the last."""
    table = widget_turns.c
    query = sa.select(widget_turns).where(table.tenant_id == tenant_id, table.conversation_id == conversation_id)
    rows = connection.execute(query.order_by(table.number.desc()).limit(newest))
    return [_turn(row) for row in rows][::-1]


def has_reply(tenant_id: str, connection: Connection, conversation_id: str) -> bool:
    """Whether the agent or a person has said anything in it."""
    table = widget_turns.c
    query = sa.select(table.id).where(
        table.tenant_id == tenant_id, table.conversation_id == conversation_id, table.role.in_(("agent", "operator"))
    )
    return connection.execute(query.limit(1)).first() is not None


def update_turn(
    tenant_id: str,
    connection: Connection,
    conversation_id: str,
    turn_id: str,
    *,
    only: Sequence[Status] | None = None,
    of_attempt: str | None = None,
    **values: Any,
) -> bool:
    """Sets the given columns; with `only` where its status is one of these, with `of_attempt` where that try is its
    last. Whether there was such a turn."""
    statement = sa.update(widget_turns).where(*_is_turn(tenant_id, conversation_id, turn_id))
    if only is not None:
        statement = statement.where(widget_turns.c.status.in_(only))
    if of_attempt is not None:
        statement = statement.where(widget_turns.c.attempt == of_attempt)
    return connection.execute(statement.values(**values)).rowcount == 1


def _is_turn(tenant_id: str, conversation_id: str, turn_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    table = widget_turns.c
    return (table.tenant_id == tenant_id, table.conversation_id == conversation_id, table.id == turn_id)


def forget_chat(tenant_id: str, connection: Connection, chat_id: str) -> None:
    """Its conversations stay, as those of no chat. Before the chat is deleted: the database would lock them after the
    tenant, against the order of locks."""
    table = widget_conversations.c
    mine = table.tenant_id == tenant_id, table.chat_id == chat_id
    # In the order in which all take several: an update takes them as they lie.
    connection.execute(sa.select(table.id).where(*mine).order_by(table.id).with_for_update()).all()
    connection.execute(sa.update(widget_conversations).where(*mine).values(chat_id=None))


@across_tenants("the sweep analyses the conversations of all tenants")
def list_unanalysed(connection: Connection, *, quiet_since: datetime, limit: int) -> list[WidgetConversation]:
    """Conversations with something new in them in which nobody has said anything since `quiet_since`."""
    table = widget_conversations.c
    rows = connection.execute(
        sa.select(widget_conversations)
        .where(table.analysed_turns < table.turns, table.last_at < quiet_since)
        .order_by(table.last_at)
        .limit(limit)
    )
    return [_conversation(row) for row in rows]
