"""What is remembered of one person as pages, and where in a conversation it was said."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.analysis import Item, summary_items
from store.communications import content_items


def list_memory_page(tenant_id: str, connection: Connection, speaker_id: str, *, limit: int, offset: int) -> list[Item]:
    """Newest first."""
    table = summary_items.c
    query = (
        sa.select(*(table[name] for name in Item.__dataclass_fields__))
        .where(table.tenant_id == tenant_id, table.speaker_id == speaker_id, table.item_type == "memory")
        .order_by(table.created_at.desc(), table.id.desc())
    )
    return [Item(*row) for row in connection.execute(query.limit(limit).offset(offset))]


def count_memory(tenant_id: str, connection: Connection, speaker_id: str) -> int:
    table = summary_items.c
    query = sa.select(sa.func.count()).where(
        table.tenant_id == tenant_id, table.speaker_id == speaker_id, table.item_type == "memory"
    )
    return connection.execute(query).scalar_one()


def find_turns(tenant_id: str, connection: Connection, quotes: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """By (communication id, quotation): the index of the first turn that holds it word for word."""
    table, found = content_items.c, {}
    for communication_id, quote in dict.fromkeys(quotes):
        query = (
            sa.select(sa.func.min(table.idx))
            .where(table.tenant_id == tenant_id, table.communication_id == communication_id)
            .where(table.text.contains(quote, autoescape=True))
        )
        idx = connection.execute(query).scalar_one()
        if idx is not None:
            found[communication_id, quote] = idx
    return found
