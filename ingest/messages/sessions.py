"""Cuts a chat into conversations at its silences, and says who takes part in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from ingest.messages.imported import ImportedConversation, ImportedMedia, ImportedPerson, ImportedTurn
from ingest.messages.reading import (
    MAX_NAME_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    MAX_TURNS,
    SESSION_SILENCE,
    Own,
    external_id,
    label_of,
    one_line,
)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """`key` names it within its chat and stays the same in a later export; `author` tells people apart."""

    key: str
    author: str
    name: str | None
    at: datetime
    text: str
    media: tuple[ImportedMedia, ...] = ()


@dataclass(frozen=True, slots=True)
class Chat:
    """`record` begins the name of each of its conversations; `own_ids` are authors known to be the company's."""

    channel_type: str
    record: str
    title: str
    own: Own
    own_ids: frozenset[str] = frozenset()
    authors_have_ids: bool = True


@dataclass(slots=True)
class _Session:
    key: str
    at: datetime
    turns: list[ImportedTurn] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    names: dict[str, str | None] = field(default_factory=dict)


def sessions(chat: Chat, messages: Iterable[ChatMessage]) -> Iterator[ImportedConversation]:
    """One conversation a session. Cuts depend on what came before only, so more messages change no older session."""
    session: _Session | None = None
    last: datetime | None = None
    for message in messages:
        if not message.text and not message.media:
            continue
        is_over = last is not None and message.at - last >= SESSION_SILENCE
        if session is None or is_over or len(session.turns) >= MAX_TURNS:
            if session is not None:
                yield _conversation(chat, session)
            session = _Session(message.key, message.at)
        last = message.at if last is None else max(last, message.at)
        label = session.labels.setdefault(message.author, label_of(len(session.labels)))
        session.names[message.author] = message.name or session.names.get(message.author)
        session.turns.append(ImportedTurn(message.text, label, message.at, media=message.media))
    if session is not None:
        yield _conversation(chat, session)


def _conversation(chat: Chat, session: _Session) -> ImportedConversation:
    people = tuple(_person(chat, author, label, session.names[author]) for author, label in session.labels.items())
    return ImportedConversation(
        kind="chat",
        channel_type=chat.channel_type,
        occured_at=session.at,
        turns=tuple(session.turns),
        people=people,
        direction=_direction(chat, session),
        record_id=f"{chat.record}-{session.key}",
        title=one_line(chat.title, MAX_TITLE_CHARACTERS),
        grows=True,
    )


def _person(chat: Chat, author: str, label: str, name: str | None) -> ImportedPerson:
    outsider = "client" if chat.own else "unknown"
    role = "employee" if _is_own(chat, author, name) else outsider
    shown = one_line(name, MAX_NAME_CHARACTERS) if name else None
    # Without ids a name says nothing outside its chat; a phone does.
    is_id = chat.authors_have_ids or author.startswith("+")
    return ImportedPerson(label, shown or None, external_id(author) if is_id else None, role)


def _direction(chat: Chat, session: _Session) -> str | None:
    if not chat.own and not chat.own_ids:
        return None
    author = next(iter(session.labels))
    return "out" if _is_own(chat, author, session.names[author]) else "in"


def _is_own(chat: Chat, author: str, name: str | None) -> bool:
    return author in chat.own_ids or chat.own.has_name(author, name)
