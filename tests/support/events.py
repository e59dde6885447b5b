"""Webhook events made in the database of a running server, as a job makes them, and what became of them."""

from __future__ import annotations

import time
from typing import Any

from accounts import webhooks
from store import deliveries
from store.ids import new_id
from tests.support.server import Account

WAIT_S = 90.0


def emit(account: Account, url: str | None, count: int = 1, *, event: str = "kb.completed") -> list[str]:
    """Ids of events that were committed and not started: the server's sweeper finds them."""
    ids = []
    with account.server.database.write() as connection:
        for _ in range(count):
            subject = new_id()
            fields = {"document_id": subject, "space_id": subject}
            made = webhooks.emit(account.tenant_id, connection, event=event, subject=subject, fields=fields, url=url)
            assert made is not None
            ids.append(made.id)
    return ids


def ended(account: Account, ids: list[str], *, wait_s: float = WAIT_S) -> list[dict[str, Any]]:
    """The deliveries as the API gives them, once none of them is pending."""
    deadline = time.monotonic() + wait_s
    while True:
        with account.server.database.read() as connection:
            rows = [deliveries.get(account.tenant_id, connection, delivery_id) for delivery_id in ids]
        waiting = [row.id for row in rows if row is not None and row.status == "pending"]
        if not waiting:
            return [found for found in listed(account) if found["id"] in ids]
        assert time.monotonic() < deadline, f"{len(waiting)} of {len(ids)} wait:\n{account.server.log()[-4000:]}"
        time.sleep(0.05)


def listed(account: Account, **query: Any) -> list[dict[str, Any]]:
    """All deliveries."""
    return account.items_of("/public/v1/webhook-deliveries", **query)
