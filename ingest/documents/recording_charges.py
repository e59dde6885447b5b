"""What a recording of the knowledge base costs: held before it is recognised, charged when its document is found, else
released.

Usage is kept under the document and its bytes: indexing the same bytes again costs nothing.
"""

from __future__ import annotations

from typing import TypedDict

from accounts import ledger
from accounts.ledger import Line
from store import billing
from store.database import Connection

_DESCRIPTION = "Transcription of a recording in the knowledge base"


class Heard(TypedDict):
    """What was decoded, and of which bytes."""

    audio_ms: int
    sha256: str


def hold(tenant_id: str, connection: Connection, document_id: str, run: int, heard: Heard) -> bool:
    """False where the balance cannot bear it; the client is paused then."""
    if billing.has_usage(tenant_id, connection, _usage_key(document_id, heard)):
        return True
    return ledger.hold(
        tenant_id,
        connection,
        key=_hold_key(document_id, run),
        lines=[_line(heard)],
        source="document",
        source_ref=document_id,
    )


def charge(tenant_id: str, connection: Connection, document_id: str, run: int, heard: Heard) -> None:
    """One debit by started second of decoded audio; none for bytes that were charged before."""
    hold_key = _hold_key(document_id, run)
    if billing.find_hold(tenant_id, connection, hold_key) is None:
        return
    ledger.use(tenant_id, connection, hold_key=hold_key, key=_usage_key(document_id, heard), line=_line(heard))
    ledger.charge(tenant_id, connection, hold_key=hold_key, description=_DESCRIPTION)


def release(tenant_id: str, connection: Connection, document_id: str, run: int) -> None:
    """What was not done costs nothing. Harmless where nothing is held."""
    ledger.release(tenant_id, connection, hold_key=_hold_key(document_id, run))


def _hold_key(document_id: str, run: int) -> str:
    return f"document:{document_id}:{run}"


def _usage_key(document_id: str, heard: Heard) -> str:
    return f"transcription:{document_id}:{heard['sha256']}"


def _line(heard: Heard) -> Line:
    return Line("transcription", -(-heard["audio_ms"] // 1000))
