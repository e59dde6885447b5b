"""Where a call's recording comes from: an upload that is a blob already, or a link that its job fetches into one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from ingest.children import ChildDied, ChildOutOfMemory, ChildTimedOut
from ingest.fetching import fetch_into_blob
from ingest.speech.decode import AudioInfo, Undecodable, probe
from ingest.workshop import TRIES, Workshop, run_or_shut_down
from store import transcriptions
from store.blobs import BlobMissing
from store.transcriptions import Task

_MAX_NAME_CHARACTERS = 200


class ProbeFailed(Undecodable):
    """The child that looked at a recording died, or took too long or too much memory, which may as well be the
    machine's fault."""


def probe_blob(house: Workshop, tenant_id: str, key: str, *, urgent: bool = False) -> AudioInfo:
    """What a recording holds, looked at in a child process. Raises Undecodable."""
    with house.blobs.as_file(key) as path:
        try:
            return run_or_shut_down(house.pools.probing, probe, path, urgent=urgent, owner=tenant_id, tries=TRIES)
        except (ChildDied, ChildTimedOut, ChildOutOfMemory):
            raise ProbeFailed("nothing in it can be decoded") from None


def name_in(url: str) -> str:
    """The file's name as far as a URL tells it; empty where the path does not end in one: without an ending it may well
    be the link's secret."""
    name = PurePosixPath(unquote(urlsplit(url).path).replace("\\", "/")).name
    if not PurePosixPath(name).suffix:
        return ""
    return "".join(character for character in name if character.isprintable())[:_MAX_NAME_CHARACTERS]


def fetch_recording(house: Workshop, task: Task, *, go_on: Callable[[], bool]) -> int:
    """Brings what is at the task's `file_url` into its blob; how many bytes it has.

    What an earlier run brought is not fetched again: links may well be good for one use. Raises what
    `fetching.fetch_into_blob` raises.
    """
    try:
        return house.blobs.size(task.blob_key)
    except BlobMissing:
        pass
    url = task.parameters["file_url"]
    fetched = fetch_into_blob(
        house, url, task.blob_key, max_bytes=house.settings.max_audio_bytes, go_on=go_on, what="the fileUrl"
    )
    if fetched.file_name:
        with house.database.write(durable=False) as connection:
            transcriptions.update(task.tenant_id, connection, task.id, file_name=fetched.file_name)
    return fetched.blob.size
