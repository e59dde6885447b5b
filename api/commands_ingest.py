"""`parley ingest`: files from disk into a client's account, through the same doors as uploads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from api.commands_accounts import require_tenant
from api.commands_imports import Exports
from ingest import announced_blobs, calls
from ingest.call_charges import believable_ms
from ingest.children import ChildError, ChildPool
from ingest.documents import documents
from ingest.import_files import own_of
from ingest.speech.decode import Undecodable, probe
from store import kb_spaces
from store.blobs import Blobs
from store.database import Database, now
from store.errors import NotFound, NotPermitted
from store.ids import new_id, parse_id
from store.logging import configure_logging
from store.migrate import open_current
from store.settings import Settings

DOCUMENT_SUFFIXES = frozenset(
    """
    .txt .md .markdown .html .htm .xhtml .pdf .docx .docm .dotx .pptx .pptm .ppsx .xlsx .xlsm .xlsb .xls .ods .odt .odp
    .rtf .epub .csv .tsv .json .yaml .yml .log .png .jpg .jpeg .tif .tiff .webp .bmp .gif
    """.split()  # noqa: SIM905
)
DEFAULT_SPACE = "Documents"


def ingest_files(
    settings: Settings, paths: list[Path], tenant: str, space: str | None, *, own: str = "", summary: bool = False
) -> list[dict[str, Any]]:
    """One row a file. Documents go into `space`, audio becomes calls, exports of mail boxes and messengers chats and
    mails; a running server starts on them within seconds. `own` tells the company's people in exports.

    Raises NotFound for an unknown client or path, InvalidRequest for an old database.
    """
    configure_logging(settings)  # the rows have the output to themselves
    with open_current(settings) as database:
        with database.read() as connection:
            tenant_id = require_tenant(connection, tenant).id
        blobs = Blobs(settings)
        files = list_files(paths)
        exports = Exports(settings, database, blobs, tenant_id, own_of(own), summary)
        rows = exports.ingest(files)
        # A file from anywhere may crash what looks at it: never in this process.
        with ChildPool("probing", 1, 60.0, settings.child_memory_bytes) as pool:
            ingest = partial(_ingest, settings, database, blobs, pool, tenant_id, space, summary)
            return rows + [_row(path, ingest) for path in files if not exports.has(path)]


def list_files(paths: list[Path]) -> list[Path]:
    """The files that are named, and those of folders that are. Raises NotFound for what is neither."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            # A link may lead out of the folder that was named.
            inside = (each for each in path.rglob("*") if each.is_file() and not each.is_symlink())
            found += sorted(each for each in inside if not each.name.startswith("."))
        elif path.is_file():
            found.append(path)
        else:
            raise NotFound(f"no file {path}")
    return found


def _row(path: Path, ingest: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """A file that this machine cannot read is told of; the others go on."""
    row: dict[str, Any] = {"file": str(path), "as": "", "id": None, "state": ""}
    try:
        return row | ingest(path)
    except OSError as error:
        return row | {"state": f"failed: {error.strerror or type(error).__name__}"}


def _ingest(
    settings: Settings,
    database: Database,
    blobs: Blobs,
    pool: ChildPool,
    tenant_id: str,
    space: str | None,
    summary: bool,
    path: Path,
) -> dict[str, Any]:
    if path.suffix.lower() in DOCUMENT_SUFFIXES:
        return _ingest_document(database, blobs, tenant_id, path, space or DEFAULT_SPACE)
    if path.stat().st_size > settings.max_audio_bytes:
        return {"state": f"skipped: larger than {settings.max_audio_bytes} bytes"}
    try:
        info = pool.run(probe, path)
    except (Undecodable, ChildError):
        return {"state": "skipped: neither a known document nor audio"}
    task_id = new_id()
    key = f"{tenant_id}/audio/{task_id}"
    announced_blobs.announce(database, tenant_id, key)
    blobs.put_file(key, path)
    try:
        task = calls.record(
            database,
            settings,
            tenant_id,
            task_id=task_id,
            blob_key=key,
            file_name=path.name,
            occured_at=now(),
            request_record_id=None,
            direction=None,
            expected_ms=believable_ms(info, path.stat().st_size),
            parameters={"language": None, "channel_speakers": True, "words": False, "sync": False, "summary": summary},
            also=lambda connection, task: announced_blobs.take_in(tenant_id, connection, task.blob_key),
        )
    except NotPermitted as refused:
        announced_blobs.discard(database, blobs, tenant_id, key)
        return {"state": f"refused: {refused.message}"}
    return {"as": "call", "id": task.communication_id, "state": "accepted"}


def _ingest_document(database: Database, blobs: Blobs, tenant_id: str, path: Path, space: str) -> dict[str, Any]:
    document_id = new_id()
    key = f"{tenant_id}/documents/{document_id}"
    announced_blobs.announce(database, tenant_id, key)
    blob = blobs.put_file(key, path)
    space_id = _space_id(database, tenant_id, space)
    document, begins = documents.record(
        database,
        blobs,
        tenant_id,
        document_id=document_id,
        space_id=space_id,
        title=path.name,
        file_name=path.name,
        blob_key=key,
        blob=blob,
    )
    return {"as": "document", "id": document.id, "state": "accepted" if begins else "was there"}


def _space_id(database: Database, tenant_id: str, space: str) -> str:
    """A space by its id or name; a name that is new makes one."""
    with database.write() as connection:
        known = parse_id(space)
        if known and kb_spaces.get_space(tenant_id, connection, known):
            return known
        found = kb_spaces.find_space(tenant_id, connection, name=space)
        return (found or kb_spaces.create_space(tenant_id, connection, name=space, description="")).id
