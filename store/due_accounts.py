"""Which accounts have something that they keep no longer: asked of all at once, so that few need their own look."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.accounts import tenants
from store.database import now
from store.scope import across_tenants

Account = str | sa.Column[str]
"""One, or whichever a query around it looks at."""


@across_tenants("who calls says why")
def list_due(
    connection: Connection, days: sa.Column[Any], expired: Callable[[sa.Column[str], datetime], sa.Select[Any]]
) -> list[str]:
    """Ids of the accounts of which `expired` finds anything from before so many days as that column of theirs says: a
    statement for each number of days, however many accounts there are."""
    found: list[str] = []
    for number in connection.execute(sa.select(days).where(days.is_not(None)).distinct()).scalars().all():
        anything = expired(tenants.c.id, now() - timedelta(days=number)).correlate(tenants).exists()
        found += connection.execute(sa.select(tenants.c.id).where(days == number, anything)).scalars()
    return sorted(found)
