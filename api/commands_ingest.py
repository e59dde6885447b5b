"""`parley ingest`: files from disk into a client's account, through the same doors as uploads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from api.commands_accounts import require_tenant
from ingest import calls
from ingest.call_charges import believable_ms
from ingest.children import ChildError, ChildPool
from ingest.documents import documents
from ingest.speech.decode import Undecodable, probe
from store import knowledge
from store.blobs import Blobs
from store.database import Database, now
from store.errors import NotFound, NotPermitted
from store.ids import new_id, parse_id
from store.migrate import open_current
from store.settings import Settings

DOCUMENT_SUFFIXES = frozenset({".txt", ".md", ".markdown", ".html", ".htm", ".pdf"})
DEFAULT_SPACE = "Documents"


def ingest_files(settings: Settings, paths: list[Path], tenant: str, space: str | None) -> list[dict[str, Any]]:
    """One row a file. Documents go into `space`, audio becomes calls; a running server starts on them within seconds.

    Raises NotFound for an unknown client or path, InvalidRequest for an old database.
    """
    with open_current(settings) as database:
        with database.read() as connection:
            tenant_id = require_tenant(connection, tenant).id
        blobs = Blobs(settings)
        # A file from anywhere may crash what looks at it: never in this process.
        with ChildPool("probing", 1, 60.0, settings.child_memory_bytes) as pool:
            return [_ingest(settings, database, blobs, pool, tenant_id, path, space) for path in _files(paths)]


def _files(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith("."))
        elif path.is_file():
            found.append(path)
        else:
            raise NotFound(f"no file {path}")
    return found


def _ingest(
    settings: Settings,
    database: Database,
    blobs: Blobs,
    pool: ChildPool,
    tenant_id: str,
    path: Path,
    space: str | None,
) -> dict[str, Any]:
    row: dict[str, Any] = {"file": str(path), "as": "", "id": None, "state": ""}
    if path.suffix.lower() in DOCUMENT_SUFFIXES:
        return row | _ingest_document(database, blobs, tenant_id, path, space or DEFAULT_SPACE)
    if path.stat().st_size > settings.max_audio_bytes:
        return row | {"state": f"skipped: larger than {settings.max_audio_bytes} bytes"}
    try:
        info = pool.run(probe, path)
    except (Undecodable, ChildError):
        return row | {"state": "skipped: neither a known document nor audio"}
    task_id = new_id()
    key = f"{tenant_id}/audio/{task_id}"
    blobs.put_file(key, path)
    try:
        task = calls.record(
            database,
            tenant_id,
            task_id=task_id,
            blob_key=key,
            file_name=path.name,
            occured_at=now(),
            request_record_id=None,
            direction=None,
            expected_ms=believable_ms(info, path.stat().st_size),
            parameters={"language": None, "channel_speakers": True, "words": False, "sync": False},
        )
    except NotPermitted as refused:
        blobs.delete(key)
        return row | {"state": f"refused: {refused.message}"}
    return row | {"as": "call", "id": task.communication_id, "state": "accepted"}


def _ingest_document(database: Database, blobs: Blobs, tenant_id: str, path: Path, space: str) -> dict[str, Any]:
    document_id = new_id()
    key = f"{tenant_id}/documents/{document_id}"
    blob = blobs.put_file(key, path)
    space_id = _space_id(database, tenant_id, space)
    document, is_new = documents.record(
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
    return {"as": "document", "id": document.id, "state": "accepted" if is_new else "was there"}


def _space_id(database: Database, tenant_id: str, space: str) -> str:
    """A space by its id or name; a name that is new makes one."""
    with database.write() as connection:
        known = parse_id(space)
        if known and knowledge.get_space(tenant_id, connection, known):
            return known
        found = knowledge.find_space(tenant_id, connection, name=space)
        return (found or knowledge.create_space(tenant_id, connection, name=space, description="")).id
