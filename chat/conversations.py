"""Conversations of the site widget: what a visitor sends is stored before anybody answers, by the agent or by a person.

A conversation is a communication of kind chat, channel widget; its turns (`store.widget`) tell what became of each
message. Row locks go communication, then conversation, then tenant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from accounts import webhooks
from chat.answers import State, Withdrawn
from chat.contract import Message
from store import audit, communications, imports, index_work, widget
from store.communications import ContentItem
from store.database import Connection, Database, now
from store.errors import Conflict, NotFound
from store.ids import new_id
from store.index_work import INDEX_COMMUNICATION
from store.widget import Turn, WidgetConversation
from store.widget_roles import Role

VISITOR_LABEL = "visitor"
AGENT_LABEL = "agent"
OPERATOR_LABEL = "operator"
HISTORY_TURNS = 12
STALE_S = 15.0
"""An answer of which its process has said nothing for so long is nobody's any more."""
INDEX_AFTER_S = 5.0
PERSON_REQUESTED = "conversation.person_requested"
CONTACT_LEFT = "conversation.contact_left"
_TITLE_CHARACTERS = 120
_LABELS: dict[Role, str] = {"visitor": VISITOR_LABEL, "agent": AGENT_LABEL, "operator": OPERATOR_LABEL}

Next = Literal["ask", "wait", "replay", "person"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """What is to be done about a visitor's message: have it answered, wait for the answer in work, give the one that
    is there, or leave it to a person. `history` goes before a message that is to be answered."""

    next: Next
    turn: Turn
    reply: Turn | None = None
    history: tuple[Message, ...] = ()


def accept(
    database: Database, tenant_id: str, chat_id: str, conversation_id: str, message_id: str, text: str
) -> Accepted:
    """Stores a visitor's message, once however often it is sent; the first one makes the conversation.

    Raises Conflict where the id was used for another text.
    """
    with database.write() as connection:
        conversation = _locked(tenant_id, connection, conversation_id, chat_id=chat_id, title=text)
        turn = widget.get_turn(tenant_id, connection, conversation_id, message_id)
        taken_over = conversation.operator_name is not None
        if turn is None:
            turn = _add(
                tenant_id,
                connection,
                conversation,
                message_id,
                "visitor",
                text,
                "kept" if taken_over else "answering",
                touched_at=now(),
                attempt=None if taken_over else new_id(),
            )
            if taken_over:
                return Accepted("person", turn)
            return Accepted("ask", turn, history=_history(tenant_id, connection, turn))
        if turn.role != "visitor" or turn.text != text:
            raise Conflict("This id was used for another message.", code="message_id_reused")
        if turn.status == "answered":
            return Accepted("replay", turn, widget.find_reply(tenant_id, connection, conversation_id, message_id))
        if turn.status == "kept" or taken_over:
            widget.update_turn(tenant_id, connection, conversation_id, message_id, status="kept")
            return Accepted("person", turn)
        if turn.status == "answering" and not is_stale(turn):
            return Accepted("wait", turn)
        again: dict[str, Any] = {"status": "answering", "touched_at": now(), "attempt": new_id()}
        widget.update_turn(tenant_id, connection, conversation_id, message_id, **again)
        return Accepted("ask", replace(turn, **again), history=_history(tenant_id, connection, turn))


def asks_agent(database: Database, tenant_id: str, conversation_id: str, message_id: str | None) -> bool:
    """Whether the agent would be asked: about something new, or once more about what it has not answered."""
    with database.read() as connection:
        conversation = widget.get(tenant_id, connection, conversation_id)
        if conversation is None:
            return True
        if conversation.operator_name is not None:
            return False
        turn = widget.get_turn(tenant_id, connection, conversation_id, message_id) if message_id else None
    return turn is None or turn.status in ("failed", "cancelled") or (turn.status == "answering" and is_stale(turn))


def is_stale(turn: Turn) -> bool:
    """Whether the process that answered it is gone."""
    assert turn.touched_at is not None, "what is answered was touched"
    return now() - turn.touched_at > timedelta(seconds=STALE_S)


def touch(database: Database, turn: Turn) -> State:
    """Says that the answer is in work, and tells whether it is wanted."""
    with database.write(durable=False) as connection:
        if widget.update_turn(
            turn.tenant_id,
            connection,
            turn.conversation_id,
            turn.id,
            only=["answering"],
            of_attempt=turn.attempt,
            touched_at=now(),
        ):
            return "wanted"
        found = widget.get_turn(turn.tenant_id, connection, turn.conversation_id, turn.id)
    if found is not None and found.status == "answered" and found.attempt == turn.attempt:
        return "wanted"  # it was kept a moment ago, and its end is about to be told
    return "handed_over" if found is not None and found.status == "kept" else "cancelled"


def keep_answer(connection: Connection, turn: Turn, reply_id: str, markdown: str, answer: dict[str, Any]) -> None:
    """The agent's answer, in the transaction that charges it. Raises Withdrawn."""
    conversation = _locked(turn.tenant_id, connection, turn.conversation_id)
    if not widget.update_turn(
        turn.tenant_id,
        connection,
        turn.conversation_id,
        turn.id,
        only=["answering"],
        of_attempt=turn.attempt,
        status="answered",
    ):
        raise Withdrawn
    _add(
        turn.tenant_id,
        connection,
        conversation,
        reply_id,
        "agent",
        markdown,
        "kept",
        reply_to=turn.id,
        answer=answer,
    )


def end_without_answer(database: Database, turn: Turn, status: Literal["failed", "cancelled"]) -> None:
    """What was not answered can be asked again."""
    with database.write() as connection:
        widget.update_turn(
            turn.tenant_id,
            connection,
            turn.conversation_id,
            turn.id,
            only=["answering"],
            of_attempt=turn.attempt,
            status=status,
        )


def cancel(database: Database, tenant_id: str, conversation_id: str, message_id: str) -> bool:
    """The visitor wants no answer. Whether one was in work. Raises NotFound."""
    with database.write() as connection:
        if widget.get_turn(tenant_id, connection, conversation_id, message_id) is None:
            raise NotFound("No such message.")
        return widget.update_turn(
            tenant_id, connection, conversation_id, message_id, only=["answering"], status="cancelled"
        )


def take_over(
    database: Database, tenant_id: str, conversation_id: str, operator_name: str, *, replace: bool, actor: str
) -> list[Turn]:
    """From here on a person answers. The messages whose answers are to stop. Raises NotFound, and Conflict where
    another person has the conversation and is not to be replaced."""
    with database.write() as connection:
        conversation = _locked(tenant_id, connection, conversation_id)
        if conversation.operator_name not in (None, operator_name) and not replace:
            raise Conflict("Another person has the conversation; `replace` takes it from them.", code="taken_over")
        widget.update(tenant_id, connection, conversation.id, operator_name=operator_name, person_requested_at=None)
        turns = widget.list_turns(tenant_id, connection, conversation.id)
        stopped = [turn for turn in turns if turn.status == "answering"]
        for turn in stopped:
            widget.update_turn(tenant_id, connection, conversation.id, turn.id, status="kept")
        if conversation.operator_name != operator_name:
            audit.add(tenant_id, connection, actor=actor, action="conversation.taken_over", subject=conversation.id)
    return stopped


def hand_back(database: Database, tenant_id: str, conversation_id: str, *, actor: str) -> None:
    """The agent answers again. Raises NotFound."""
    with database.write() as connection:
        conversation = _locked(tenant_id, connection, conversation_id)
        widget.update(tenant_id, connection, conversation.id, operator_name=None, person_requested_at=None)
        if conversation.operator_name is not None or conversation.person_requested_at is not None:
            audit.add(tenant_id, connection, actor=actor, action="conversation.released", subject=conversation.id)


def say(
    database: Database,
    tenant_id: str,
    conversation_id: str,
    text: str,
    *,
    author: str | None = None,
    also: Callable[[Connection, Turn], None] | None = None,
) -> Turn:
    """The message of an operator, of the one who took the conversation over where no `author` is named; `also` runs in
    its transaction. Raises NotFound, and Conflict where the agent has the conversation."""
    with database.write() as connection:
        conversation = _locked(tenant_id, connection, conversation_id)
        if conversation.operator_name is None:
            raise Conflict("Take the conversation over before you answer in it.", code="not_taken_over")
        author = author or conversation.operator_name
        turn = _add(tenant_id, connection, conversation, new_id(), "operator", text, "kept", author=author)
        if also is not None:
            also(connection, turn)
        return turn


def request_person(
    database: Database,
    tenant_id: str,
    chat_id: str,
    conversation_id: str,
    contact: dict[str, str],
    message: str | None,
) -> None:
    """The visitor asks for a person, and may say how to be reached; the account is told by its webhook, of a contact
    that comes later too."""
    with database.write() as connection:
        title = message or contact.get("name") or contact.get("email") or contact.get("phone") or "—"
        conversation = _locked(tenant_id, connection, conversation_id, chat_id=chat_id, title=title)
        values: dict[str, Any] = {"last_at": now()}
        if contact:
            values["contact"] = {**(conversation.contact or {}), **contact}
        if conversation.operator_name is None:
            values["person_requested_at"] = conversation.person_requested_at or now()
        widget.update(tenant_id, connection, conversation_id, **values)
        if message:
            _add(tenant_id, connection, conversation, new_id(), "visitor", message, "kept")
        # One event a request: a visitor who asks again while nobody came is the same request.
        asked_at = values.get("person_requested_at")
        event = subject = None
        if asked_at is not None and conversation.person_requested_at is None:
            event, subject = PERSON_REQUESTED, f"{conversation_id}:{asked_at.isoformat()}"
        elif contact and not conversation.contact:
            event, subject = CONTACT_LEFT, conversation_id
        delivery = None
        if event is not None and subject is not None:
            told = {"communication_id": conversation_id, "chat_id": chat_id}
            delivery = webhooks.emit(tenant_id, connection, event=event, subject=subject, fields=told)
    webhooks.start(delivery)


def rate(
    database: Database, tenant_id: str, conversation_id: str, reply_id: str, value: str | None, comment: str | None
) -> None:
    """What a visitor thinks of an agent's answer. Raises NotFound."""
    with database.write() as connection:
        turn = widget.get_turn(tenant_id, connection, conversation_id, reply_id)
        if turn is None or turn.role != "agent":
            raise NotFound("No such answer.")
        widget.update_turn(
            tenant_id, connection, conversation_id, reply_id, feedback=value, comment=comment if value else None
        )


def read(database: Database, tenant_id: str, conversation_id: str) -> tuple[WidgetConversation | None, list[Turn]]:
    with database.read() as connection:
        conversation = widget.get(tenant_id, connection, conversation_id)
        turns = widget.list_turns(tenant_id, connection, conversation_id) if conversation else []
    return conversation, turns


def read_turn(database: Database, tenant_id: str, conversation_id: str, message_id: str) -> tuple[Turn, Turn | None]:
    """A visitor's message and its answer. Raises NotFound."""
    with database.read() as connection:
        turn = widget.get_turn(tenant_id, connection, conversation_id, message_id)
        if turn is None or turn.role != "visitor":
            raise NotFound("No such message.")
        return turn, widget.find_reply(tenant_id, connection, conversation_id, message_id)


def _locked(
    tenant_id: str, connection: Connection, conversation_id: str, *, chat_id: str | None = None, title: str = ""
) -> WidgetConversation:
    """The conversation, in the order of locks; made where there is none and `chat_id` is given. Raises NotFound."""
    if not communications.lock(tenant_id, connection, conversation_id):
        if chat_id is None:
            raise NotFound("No such conversation.")
        # The same first message may be sent twice at once.
        imports.wait_for_others(tenant_id, connection, conversation_id)
        if not communications.lock(tenant_id, connection, conversation_id):
            communications.create(
                tenant_id,
                connection,
                kind="chat",
                channel_type="widget",
                occured_at=now(),
                title=" ".join(title.split())[:_TITLE_CHARACTERS],
                direction="in",
                communication_id=conversation_id,
            )
            widget.create(tenant_id, connection, conversation_id, chat_id=chat_id)
    conversation = widget.get(tenant_id, connection, conversation_id, lock=True)
    if conversation is None:
        raise NotFound("No such conversation.")
    return conversation


def _add(
    tenant_id: str,
    connection: Connection,
    conversation: WidgetConversation,
    turn_id: str,
    role: Role,
    text: str,
    status: widget.Status,
    **values: Any,
) -> Turn:
    """A turn, in the communication too, and the index follows."""
    turn = widget.add_turn(tenant_id, connection, conversation, turn_id, role, text, status, **values)
    item = ContentItem(kind="chat_message", text=text, label=_LABELS[role], at=turn.at)
    communications.append_content(tenant_id, connection, conversation.id, [item])
    communications.update(tenant_id, connection, conversation.id)
    # Once for what is said in one go, and not while it is answered.
    due = now() + timedelta(seconds=INDEX_AFTER_S)
    index_work.add_many(
        tenant_id, connection, action=INDEX_COMMUNICATION, blob_keys={conversation.id: None}, not_before=due
    )
    return turn


def _history(tenant_id: str, connection: Connection, turn: Turn) -> tuple[Message, ...]:
    """What was said before a message, oldest first. Messages that nobody answered are part of it."""
    before = widget.list_turns(tenant_id, connection, turn.conversation_id, newest=HISTORY_TURNS + 1)
    return tuple(
        Message(role="user" if each.role == "visitor" else "assistant", content=each.text)
        for each in before
        if each.number < turn.number
    )[-HISTORY_TURNS:]
