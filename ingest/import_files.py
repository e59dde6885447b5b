"""Exports of mail boxes and chats: taken apart in a child process, then stored conversation by conversation.

The child leaves what it found in a file, so that neither side has a whole mail box in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from ingest.import_media import own_folder
from ingest.imports import Imported, Wishes, record
from ingest.messages.imported import ImportedConversation
from ingest.messages.reading import Unreadable
from ingest.messages.taking_apart import take_apart, taken_apart
from store import accounts
from store.blobs import Blobs
from store.database import Database
from store.settings import Settings

log = structlog.get_logger(__name__)

Run = Callable[..., int]
"""Runs a function with its arguments in a child process, as `ChildPool.run` does."""


def import_file(
    database: Database,
    blobs: Blobs,
    settings: Settings,
    tenant_id: str,
    run: Run,
    path: Path,
    *,
    file_name: str,
    wishes: Wishes,
    own: Sequence[str] = (),
    export_folder: Path | None = None,
    stored: Callable[[Imported, ImportedConversation], None] = lambda _found, _conversation: None,
) -> list[Imported]:
    """Imports an export: what became of each of its conversations. `own` are addresses, domains and names of the
    company; files beside an unpacked export are found in `export_folder`. `stored` is told of each once it is
    committed. Importing it again goes on where it was broken off.

    Raises Unreadable, the child pool's errors, and NotPermitted where the balance cannot bear a
    conversation's analysis: those before it are stored.
    """
    with database.read() as connection:
        tenant = accounts.get_tenant(tenant_id, connection)
    assert tenant is not None, "a caller has an account"
    results = []
    with own_folder(settings) as folder:
        try:
            count = run(take_apart, path, folder, tuple(own), tenant.time_zone, file_name, export_folder)
        except Unreadable as error:
            if error.fault:
                log.error("a reader of exports failed", fault=error.fault)
            raise
        for conversation in taken_apart(folder, count):
            found = record(database, blobs, settings, tenant_id, conversation, wishes)
            stored(found, conversation)
            results.append(found)
    return results


def own_of(text: str) -> tuple[str, ...]:
    """Of a comma-separated list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
