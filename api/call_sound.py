"""What a player shows of a recording: its waveform, and when each word was said."""

from __future__ import annotations

from weakref import WeakValueDictionary

from anyio import CapacityLimiter, Lock, to_thread
from pydantic import BaseModel, Field

from api.http import Call, NoInput, Operation
from ingest.children import ChildError
from ingest.speech.samples import Undecodable
from ingest.waveforms import waveform_of
from ingest.workshop import ShuttingDown
from store import communications, transcriptions
from store.blobs import BlobMissing
from store.errors import NotFound, Unavailable

NoCall = Call[NoInput, NoInput]


class WaveformBody(BaseModel):
    """The loudest of each of so many equal parts: 0 for silence, 255 for the loudest of the recording."""

    duration_ms: int
    peaks: list[int] = Field(description="At most 1,200, fewer of a short recording.")


class SpokenWord(BaseModel):
    word: str
    start_ms: int


class SpokenItem(BaseModel):
    """The words of the timeline's item `idx`."""

    idx: int
    words: list[SpokenWord]


class SpokenWords(BaseModel):
    """Items whose text was corrected since are left out."""

    items: list[SpokenItem]


# An hour of sound takes seconds: no more of them at once than leave threads for everything else, each made once.
_MAKING = CapacityLimiter(2)
_LINES: WeakValueDictionary[str, Lock] = WeakValueDictionary()


async def read_waveform(call: NoCall) -> WaveformBody:
    communication_id = call.path_id("communication_id", "recording")
    line = _LINES.setdefault(f"{call.tenant_id} {communication_id}", Lock())
    async with line:
        return await to_thread.run_sync(_waveform, call, communication_id, limiter=_MAKING)


def _waveform(call: NoCall, communication_id: str) -> WaveformBody:
    try:
        found = waveform_of(call.services.workshop, call.tenant_id, communication_id)
    except (BlobMissing, Undecodable):
        found = None
    except ShuttingDown:
        raise Unavailable("The server is stopping.") from None
    except ChildError:
        raise Unavailable("The recording cannot be read now.", retry_after_s=30) from None
    if found is None:
        raise NotFound("No such recording.")
    return WaveformBody(duration_ms=found.duration_ms, peaks=list(found.peaks))


def list_words(call: NoCall) -> SpokenWords:
    communication_id = call.path_id("communication_id", "communication")
    with call.services.database.read() as connection:
        if communications.get(call.tenant_id, connection, communication_id) is None:
            raise NotFound("No such communication.")
        newest = transcriptions.newest_of(call.tenant_id, connection, communication_id)
        task = transcriptions.get(call.tenant_id, connection, newest[0]) if newest else None
        content = dict(communications.list_content(call.tenant_id, connection, communication_id))
    segments = (task.result or {}).get("segments", []) if task is not None else []
    items = []
    for idx, segment in enumerate(segments):
        item = content.get(idx)
        words = segment.get("words") or []
        # The words are those that were recognised, not those that somebody put in their place.
        if not words or item is None or item.text != segment.get("text"):
            continue
        said = [SpokenWord(word=each["word"], start_ms=round(each["start"] * 1000)) for each in words]
        items.append(SpokenItem(idx=idx, words=said))
    return SpokenWords(items=items)


_COMMUNICATION = "/v1/communications/{communication_id}"
OPERATIONS = (
    Operation(
        "GET",
        _COMMUNICATION + "/waveform",
        read_waveform,
        "Read a recording's waveform",
        response=WaveformBody,
        errors=(401, 404, 503),
    ),
    Operation(
        "GET",
        _COMMUNICATION + "/words",
        list_words,
        "List the words of a recording",
        response=SpokenWords,
        errors=(401, 404),
    ),
)
