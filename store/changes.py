"""Which communications a transaction has changed. What follows from a communication is made anew before the transaction
ends, once, however many statements changed it; see `Database.write()`."""

from __future__ import annotations

from sqlalchemy.engine import Connection

_KEY = "changed_communications"


def communication_changed(tenant_id: str, connection: Connection, communication_id: str) -> None:
    """To be called by whoever writes a communication, its timeline, its people or what analysis found in it."""
    connection.info.setdefault(_KEY, set()).add((tenant_id, communication_id))


def take_changed(connection: Connection) -> set[tuple[str, str]]:
    """(tenant id, communication id) of what changed since the last time."""
    changed: set[tuple[str, str]] = connection.info.pop(_KEY, set())
    return changed
