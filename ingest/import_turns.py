"""What follows from a conversation that comes in as text: what names it, its language, title and times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import islice

from ingest.messages.imported import ITEM_KINDS, ImportedConversation, ImportedMedia, ImportedTurn
from store.communications import ContentItem
from store.media import Media

_SAMPLE_TURNS = 400
_SAMPLE_CHARACTERS = 500  # of a turn
_LEAST_CYRILLIC = 0.3
_TITLE_CHARACTERS = 300
_NAMES_IN_TITLE = 3

Identity = tuple[str, str | None, str | None, int | None, int | None]


def identity_of(turn: ImportedTurn | ContentItem) -> Identity:
    """What makes a turn the same one in a later import. Files are left out: an export may come without them."""
    return turn.text, turn.label, turn.at.isoformat() if turn.at else None, turn.start_ms, turn.end_ms


def import_key(conversation: ImportedConversation, uploaded: Mapping[str, Media]) -> str | None:
    """Of the record id and the content, 64 characters. None without a record id: such a conversation is a new one each
    time. Uploaded files count by their bytes, so that sending all of it again is the same."""
    if conversation.record_id is None:
        return None
    digest = hashlib.sha256(json.dumps([conversation.record_id, conversation.kind]).encode())
    for turn in conversation.turns:
        files = [] if conversation.grows else [_name_of(file, uploaded) for file in turn.media]
        digest.update(json.dumps([*identity_of(turn), files]).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def _name_of(file: ImportedMedia, uploaded: Mapping[str, Media]) -> str:
    return uploaded[file.ref].sha256 if file.ref is not None else f"{file.name} {file.size_bytes}"


def language_of(conversation: ImportedConversation) -> str | None:
    """The given one, else what the script tells: a Russian text has foreign names in it, an English one no Cyrillic."""
    if conversation.language is not None:
        return conversation.language
    cyrillic = latin = 0
    for text in _sample(conversation):
        lower = text.lower()
        cyrillic += sum("а" <= letter <= "я" or letter == "ё" for letter in lower)
        latin += sum("a" <= letter <= "z" for letter in lower)
    if not cyrillic + latin:
        return None
    return "ru" if cyrillic >= _LEAST_CYRILLIC * (cyrillic + latin) else "en"


def _sample(conversation: ImportedConversation) -> Iterator[str]:
    """From all over it, so that a long quotation at the start does not decide."""
    step = max(1, len(conversation.turns) // _SAMPLE_TURNS)
    return (turn.text[:_SAMPLE_CHARACTERS] for turn in islice(conversation.turns, 0, None, step))


def duration_ms(conversation: ImportedConversation) -> int | None:
    """Of a call, as far as its turns tell."""
    if conversation.kind != "call":
        return None
    return max((turn.end_ms for turn in conversation.turns if turn.end_ms is not None), default=None)


def title_of(conversation: ImportedConversation) -> str:
    """The given one, else who talked, else the record's id."""
    names = [person.name for person in conversation.people if person.name]
    title = conversation.title or ", ".join(names[:_NAMES_IN_TITLE]) or conversation.record_id or conversation.kind
    return title[:_TITLE_CHARACTERS]


def item_of(conversation: ImportedConversation, turn: ImportedTurn) -> ContentItem:
    """The turn as it is stored, without its files. What was said in a call is as late as the call and its place in it,
    as it is for recordings."""
    at = turn.at
    if at is None and conversation.kind == "call" and turn.start_ms is not None:
        at = conversation.occured_at + timedelta(milliseconds=turn.start_ms)
    return ContentItem(ITEM_KINDS[conversation.kind], turn.text, turn.label, turn.start_ms, turn.end_ms, at)
