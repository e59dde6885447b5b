"""A communication of the store as analysis reads it."""

from __future__ import annotations

import re

from ingest.analysis.catalogs import Language
from ingest.analysis.conversation import Conversation, Person, Turn
from ingest.analysis.scenarios import QualitySettings, quality_settings
from store import communications, speakers
from store import quality_settings as stored_settings
from store.accounts import Tenant
from store.database import Connection

_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_SAMPLE_CHARACTERS = 20_000


def read_settings(tenant: Tenant, connection: Connection) -> QualitySettings:
    """The account's scenarios, criteria and words of its own."""
    stored = stored_settings.get(tenant.id, connection)
    return quality_settings(stored, language=tenant.language, tenant_name=tenant.name)


def read_conversation(tenant: Tenant, connection: Connection, communication_id: str) -> Conversation | None:
    """None where the communication is gone."""
    row = communications.get(tenant.id, connection, communication_id)
    if row is None:
        return None
    content = communications.list_content(tenant.id, connection, communication_id)
    people = speakers.list_participants(tenant.id, connection, communication_id)
    turns = tuple(Turn(idx, item.text, item.label, item.at, item.start_ms) for idx, item in content if item.text)
    return Conversation(
        id=row.id,
        kind=row.kind,
        channel_type=row.channel_type,
        direction=row.direction,
        language=language_of(turns, row.language or tenant.language),
        # Of a call it is the name of a file.
        subject=row.title if row.kind == "email" else "",
        occured_at=row.occured_at,
        time_zone=tenant.time_zone,
        company=read_settings(tenant, connection).company,
        turns=turns,
        people=tuple(
            Person(person.id, person.name, person.role, person.label, person.external_id) for person in people
        ),
    )


def language_of(turns: tuple[Turn, ...], default: str) -> Language:
    """Told by the script of what was said: it is what rules and prompts have to fit, whatever was declared."""
    sample = " ".join(turn.text[:500] for turn in turns[:200])[:_SAMPLE_CHARACTERS]
    cyrillic, latin = len(_CYRILLIC.findall(sample)), len(_LATIN.findall(sample))
    if cyrillic + latin < 20:
        return "en" if default == "en" else "ru"
    return "ru" if cyrillic * 2 >= latin else "en"
