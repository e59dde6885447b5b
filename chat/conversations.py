"""Conversations of the site widget: stored as communications of kind chat, channel widget."""

from __future__ import annotations

from collections.abc import Sequence

from chat.contract import Message
from store import communications, index_work
from store.communications import ContentItem
from store.database import Connection, Database, now
from store.index_work import INDEX_COMMUNICATION

VISITOR_LABEL = "visitor"
AGENT_LABEL = "agent"
HISTORY_TURNS = 12
_TITLE_CHARACTERS = 120


def read_history(database: Database, tenant_id: str, conversation_id: str) -> list[Message]:
    """The last turns, oldest first."""
    return [
        Message(role="user" if item.label == VISITOR_LABEL else "assistant", content=item.text)
        for _, item in read_turns(database, tenant_id, conversation_id)[-HISTORY_TURNS:]
    ]


def read_turns(database: Database, tenant_id: str, conversation_id: str) -> list[tuple[int, ContentItem]]:
    with database.read() as connection:
        return communications.list_content(tenant_id, connection, conversation_id)


def append(tenant_id: str, connection: Connection, conversation_id: str, turns: Sequence[tuple[str, str]]) -> None:
    """Adds (label, text) turns, and has the index follow; the first ones make the conversation."""
    moment = now()
    items = [ContentItem(kind="chat_message", text=text, label=label, at=moment) for label, text in turns]
    if communications.get(tenant_id, connection, conversation_id) is None:
        communications.create(
            tenant_id,
            connection,
            kind="chat",
            channel_type="widget",
            occured_at=moment,
            title=" ".join(turns[0][1].split())[:_TITLE_CHARACTERS],
            direction="in",
            communication_id=conversation_id,
        )
    communications.append_content(tenant_id, connection, conversation_id, items)
    communications.update(tenant_id, connection, conversation_id)
    index_work.add(tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=conversation_id)
