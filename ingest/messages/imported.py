"""A conversation that comes in as text: what a mail box, a chat's export or a program gives, before it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

MediaType = Literal["audio", "image", "video", "file"]
Kind = Literal["call", "chat", "email"]
ITEM_KINDS = {"call": "audio_utterance", "chat": "chat_message", "email": "email_message"}


@dataclass(frozen=True, slots=True)
class ImportedMedia:
    """A file of a message. Either `path` (it is stored with the conversation) or `ref` (uploaded before) is set; both
    are None for a file that the export names and does not hold."""

    type: MediaType
    name: str | None = None
    mime: str | None = None
    size_bytes: int | None = None
    path: Path | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    text: str
    label: str | None = None
    at: datetime | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    media: tuple[ImportedMedia, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedPerson:
    """`external_id` is what the source calls them by: a mail address, a phone, a messenger's id."""

    label: str | None
    name: str | None = None
    external_id: str | None = None
    role: str | None = None
    department: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """`record_id` names it at its source, at most 64 characters. `grows`: a later import under the same record id that
    begins with the same turns is the same conversation with more in it."""

    kind: Kind
    channel_type: str
    occured_at: datetime
    turns: tuple[ImportedTurn, ...]
    people: tuple[ImportedPerson, ...] = ()
    direction: str | None = None
    language: str | None = None
    record_id: str | None = None
    title: str = ""
    grows: bool = False
