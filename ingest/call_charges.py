"""What a call costs: held with its upload, raised to what was decoded, charged when it is recognised, else released.

A call that is analysed besides is charged once for all of it, when its analysis has ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from accounts import ledger
from accounts.ledger import Line
from ingest.speech.decode import AudioInfo
from store.database import Connection
from store.transcriptions import Task

LEAST_BITS_PER_S = 400  # no speech codec needs less
UNHELD_MS = 10_000
_DESCRIPTION = "Transcription of a call"


def believable_ms(info: AudioInfo, size_bytes: int) -> int | None:
    """The length that the container claims, as far as a file of this size can hold it: what a damaged header claims
    must not pause a client."""
    return None if info.duration_ms is None else min(info.duration_ms, size_bytes * 8000 // LEAST_BITS_PER_S)


def hold(
    tenant_id: str, connection: Connection, communication_id: str, audio_ms: int, analysis: Sequence[Line] = ()
) -> bool:
    """False where the balance cannot bear it; the client is paused then. `analysis`: what follows the recognition."""
    return ledger.hold(
        tenant_id,
        connection,
        key=hold_key(communication_id),
        lines=[_transcription(audio_ms), *analysis],
        source="communication",
        source_ref=communication_id,
    )


def hold_decoded(connection: Connection, task: Task, audio_ms: int, analysis: Sequence[Line] = ()) -> bool:
    """Has the hold cover what was really decoded: the file said nothing of its length at the upload, or something
    else. A few seconds more are part of work that has begun."""
    if not hold(task.tenant_id, connection, task.communication_id, audio_ms, analysis):
        return False
    expected_ms = task.parameters.get("expected_ms")
    if expected_ms is None or audio_ms <= expected_ms + UNHELD_MS:
        return True
    return ledger.extend(
        task.tenant_id,
        connection,
        hold_key=hold_key(task.communication_id),
        lines=[_transcription(audio_ms), *analysis],
    )


def charge(connection: Connection, task: Task, *, goes_on: bool = False) -> None:
    """One debit for what was decoded; where the work `goes_on`, its end brings the debit."""
    assert task.audio_ms is not None, "a call that was recognised was decoded"
    # A call that an older release accepted was not held at its upload.
    if not hold(task.tenant_id, connection, task.communication_id, task.audio_ms):
        return
    key = hold_key(task.communication_id)
    ledger.use(
        task.tenant_id,
        connection,
        hold_key=key,
        key=f"transcription:{task.id}",
        line=_transcription(task.audio_ms),
    )
    if not goes_on:
        ledger.charge(task.tenant_id, connection, hold_key=key, description=_DESCRIPTION)


def release(connection: Connection, task: Task) -> None:
    """What was not done costs nothing."""
    ledger.release(task.tenant_id, connection, hold_key=hold_key(task.communication_id))


def hold_key(communication_id: str) -> str:
    return f"communication:{communication_id}"


def _transcription(audio_ms: int) -> Line:
    """Charged by started second of decoded audio."""
    return Line("transcription", -(-audio_ms // 1000))
