"""Conversations of the site widget whose visitor has gone: analysed as any other, once for what was said."""

from __future__ import annotations

from datetime import timedelta

import structlog

from ingest import analyses, analysis_job
from ingest.workshop import workshop
from store import accounts, communications, widget
from store.analyses import Analysis
from store.database import now
from store.widget import WidgetConversation

A_SWEEP = 50

log = structlog.get_logger(__name__)


def analyse_ended() -> None:
    """The sweep. A conversation that goes on later is analysed again when it has ended again."""
    house = workshop()
    since = now() - timedelta(seconds=house.settings.widget_quiet_s)
    with house.database.read() as connection:
        ended = widget.list_unanalysed(connection, quiet_since=since, limit=A_SWEEP)
    for conversation in ended:
        # One that cannot be analysed must not keep the others from it; it is tried again.
        try:
            order = _order(conversation)
        except Exception:
            log.exception("a conversation could not be analysed", communication_id=conversation.id)
            continue
        if order is not None:
            analysis_job.start(order)


def _order(seen: WidgetConversation) -> Analysis | None:
    """None where somebody said something meanwhile, and where the account cannot have it analysed."""
    house = workshop()
    with house.database.write() as connection:
        communications.lock(seen.tenant_id, connection, seen.id)
        conversation = widget.get(seen.tenant_id, connection, seen.id, lock=True)
        if conversation is None or conversation.turns != seen.turns or conversation.analysed_turns >= seen.turns:
            return None
        # Whether or not it is borne: an account that was paused for want of money is not asked again and again.
        widget.update(seen.tenant_id, connection, seen.id, analysed_turns=seen.turns)
        tenant = accounts.get_tenant(seen.tenant_id, connection)
        if tenant is None or not tenant.is_active:
            return None
        if not widget.has_reply(seen.tenant_id, connection, seen.id):
            return None  # nobody has answered, so there is no conversation yet, and a stranger spends no money
        return analyses.order(seen.tenant_id, connection, house.settings, seen.id)
