"""Waveforms of recordings: made by a child when somebody first looks, then kept."""

from __future__ import annotations

from ingest.speech.peaks import peaks_of
from ingest.workshop import Workshop, run_or_shut_down
from store import transcriptions, waveforms
from store.waveforms import Waveform


def waveform_of(house: Workshop, tenant_id: str, communication_id: str) -> Waveform | None:
    """None where there is no recording that was recognised. Raises BlobMissing, Undecodable and ChildError."""
    with house.database.read() as connection:
        kept = waveforms.get(tenant_id, connection, communication_id)
        newest = transcriptions.newest_of(tenant_id, connection, communication_id)
        if newest is None or newest[1] != "success":
            return None
        if kept is not None and kept.task_id == newest[0]:
            return kept
        task = transcriptions.get(tenant_id, connection, newest[0])
    if task is None:
        return None
    with house.blobs.as_file(task.blob_key) as path:
        duration_ms, peaks = run_or_shut_down(house.pools.decoding, peaks_of, path, urgent=True, owner=tenant_id)
    made = Waveform(task.id, duration_ms, peaks)
    with house.database.write() as connection:
        waveforms.put(tenant_id, connection, communication_id, made)
    return made
