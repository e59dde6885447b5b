"""What a chat message costs: held before the model is asked, charged with its answer, released where there is none."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from functools import partial

import anyio
import structlog
from anyio.to_thread import run_sync

from accounts import ledger
from chat.contract import Done, Event, Usage
from chat.spent import Spent
from store import meters
from store.database import Connection, Database, now
from store.errors import NotPermitted, ParleyError

log = structlog.get_logger(__name__)

# A hold whose process died is released after this long; no answer takes as long, also by a clock that was set an hour
# forward meanwhile.
HOLD_S = 2 * 3600.0
_DESCRIPTION = "Chat message"


def hold_message(database: Database, tenant_id: str, message_id: str, llm_model: str | None) -> None:
    """`llm_model` is the one that may be asked: its rate is the message's.

    Raises NotPermitted client_inactive where the balance cannot bear a message; the client is paused then.
    """
    with database.write() as connection:
        held = ledger.hold(
            tenant_id,
            connection,
            key=_hold_key(message_id),
            lines=[ledger.Line("chat", 1, llm_model)],
            source="chat_message",
            source_ref=message_id,
            expires_at=now() + timedelta(seconds=HOLD_S),
        )
    if not held:
        raise NotPermitted("The balance does not cover a message; the client is paused.", code="client_inactive")


async def billed(
    database: Database,
    tenant_id: str,
    message_id: str,
    llm_model: str | None,
    events: AsyncGenerator[Event, None],
    spent: Spent,
    also: Callable[[Connection, Done], None] | None = None,
) -> AsyncGenerator[Event, None]:
    """Passes the events of a held message on. It is charged before the last one is passed on, with `also` in the same
    transaction; where there is no answer, or nobody waits for it any more, it is released. What was `spent` on models
    is accounted for either way."""
    charged = False
    try:
        async for event in events:
            if isinstance(event, Done):
                await run_sync(_charge, database, tenant_id, message_id, llm_model, event, also)
                charged = True
                _account(tenant_id, message_id, spent.usage, is_answered=True)
            yield event
    finally:
        # The caller may have been cancelled: its money is given back all the same.
        with anyio.CancelScope(shield=True):
            await events.aclose()
            if not charged:
                _account(tenant_id, message_id, spent.usage, is_answered=False)
                await run_sync(partial(_release, database, tenant_id, message_id))


def _charge(
    database: Database,
    tenant_id: str,
    message_id: str,
    llm_model: str | None,
    done: Done,
    also: Callable[[Connection, Done], None] | None,
) -> None:
    line = ledger.Line("chat", 1, llm_model)
    with database.write() as connection:
        # First: the conversation's row is locked before the account's, as everywhere.
        if also is not None:
            also(connection, done)
        ledger.use(tenant_id, connection, hold_key=_hold_key(message_id), key=f"chat:{message_id}", line=line)
        ledger.charge(tenant_id, connection, hold_key=_hold_key(message_id), description=_DESCRIPTION)


def _account(tenant_id: str, message_id: str, usage: Usage, *, is_answered: bool) -> None:
    """What the operator pays the provider, apart from what the client is charged."""
    if not usage.model_calls:
        return
    tokens = usage.tokens
    meters.tokens(usage.model, "chat", prompt=tokens.prompt_tokens, completion=tokens.completion_tokens)
    log.info(
        "chat_answered" if is_answered else "chat_broken_off",
        tenant_id=tenant_id,
        message_id=message_id,
        model=usage.model,
        model_calls=usage.model_calls,
        tool_calls=usage.tool_calls,
        prompt_tokens=tokens.prompt_tokens,
        completion_tokens=tokens.completion_tokens,
        estimated=tokens.estimated,
    )


def _release(database: Database, tenant_id: str, message_id: str) -> None:
    try:
        with database.write() as connection:
            ledger.release(tenant_id, connection, hold_key=_hold_key(message_id))
    except ParleyError:
        log.warning("a message's hold is left to expire", message_id=message_id)


def _hold_key(message_id: str) -> str:
    return f"message:{message_id}"
