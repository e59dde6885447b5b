"""An account's export: one archive of everything that it has, written straight into the blob store.

Rows become lines of JSON, files stay as they are. Only what would open a door, what is counted from the rest and what
only the server works with is left out (`_LEFT_OUT`); a table that is not named here is exported under its own name.
"""

from __future__ import annotations

import base64
import json
import re
import time
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

import structlog

from ingest import announced_blobs
from ingest.outages import lasting_step
from ingest.timelines import follow
from ingest.workshop import EXPORTS_QUEUE, Workshop, start_or_leave, workshop
from store import account_exports, account_rows, accounts, audit, index_work, meters
from store.account_exports import Export
from store.account_rows import Record
from store.blobs import BlobMissing, BlobWriter
from store.database import Connection, now
from store.errors import Unavailable
from store.index_work import DELETE_BLOB
from store.jobs import ENDED_BADLY, StepsChanged, workflow

log = structlog.get_logger(__name__)

KEPT = timedelta(days=1)
FAILED = "The archive could not be made."
_ROWS_AT_ONCE = 500
_TOLD_EVERY_S = 1.0
_OUTLASTED_S = 30.0
_ROWS_SHARE = 0.5
_NAME_CHARACTERS = 120
_UNSAFE = re.compile(r"[^\w. ()+@-]|^\.+")

_PLACES = {
    "communications": "communications.jsonl",
    "speakers": "people/people.jsonl",
    "summary_items": "people/memory_and_promises.jsonl",
    "kb_spaces": "knowledge/spaces.jsonl",
    "kb_documents": "knowledge/documents.jsonl",
    "kb_chunks": "knowledge/chunks.jsonl",
    "chats": "chats/chats.jsonl",
    "widget_conversations": "chats/conversations.jsonl",
    "widget_turns": "chats/messages.jsonl",
    "camera_streams": "cameras/streams.jsonl",
    "camera_events": "cameras/events.jsonl",
    "camera_hours": "cameras/traffic.jsonl",
    "camera_queues": "cameras/queues.jsonl",
    "ledger_transactions": "billing/transactions.jsonl",
    "ledger_entries": "billing/entries.jsonl",
    "usage_records": "billing/usage.jsonl",
    "quality_settings": "settings/quality.jsonl",
    "api_keys": "settings/api_keys.jsonl",
    "audit_entries": "audit.jsonl",
}
_WITH_COMMUNICATION = {
    "content_items": "content",
    "communication_speakers": "participants",
    "transcription_tasks": "recognition",
    "summaries": "summaries",
    "qc_evaluations": "quality_control",
}
_LEFT_OUT = {
    "cabinet_sessions": "opens the cabinet",
    "session_codes": "opens the cabinet",
    "idempotency_keys": "answers of the last day, for repeated requests",
    "index_work": "what the index still has to do",
    "account_exports": "this archive and others",
    "camera_visitors": "vectors that tell a day's passers-by apart, and end with the day",
    "communication_figures": "counted from the communications",
    "participation_figures": "counted from the communications",
}
_COLUMNS_LEFT_OUT = {
    ("api_keys", "signing_secret"),
    ("camera_streams", "url"),  # with its password; shown_url is without
    ("camera_streams", "progress"),
    ("transcription_tasks", "result"),  # the content once more
}
_FILES = (
    ("transcription_tasks", "blob_key", "file_name", "files/recordings"),
    ("media", "blob_key", "name", "files/media"),
    ("kb_documents", "blob_key", "file_name", "files/documents"),
    ("camera_events", "snapshot_key", None, "files/snapshots"),
)
_README = """Everything that the account "{name}" had on {day}.

*.jsonl     one object a line. communications.jsonl has each conversation with its content, who took part, summary and
            quality control; people/ what is remembered of whom; knowledge/, chats/, cameras/, billing/ and settings/
            what their names say. What has no place of its own is under other/.
files/      recordings, files of messages, documents and snapshots of cameras, named by the ids that the lines have.
account.json  the account's settings.

Times are UTC (ISO 8601), amounts in millionths of a rouble, bytes base64. Secrets (keys, passwords of cameras) are not
in it, nor what is counted from the rest.
"""


class _Withdrawn(Exception):
    """The export was deleted while it was made."""


def order(tenant_id: str, connection: Connection, *, actor: str) -> Export:
    """A new export, or the one that is being made: one at a time is enough. The caller starts it after the commit."""
    accounts.get_tenant(tenant_id, connection, lock=True)
    unfinished = account_exports.find_unfinished(tenant_id, connection)
    return unfinished or account_exports.create(tenant_id, connection, actor=actor)


def start(export: Export) -> None:
    """Twice is harmless; what cannot be started now the sweeper starts."""
    start_or_leave(export.id, _enqueue, export.tenant_id, export.id)


def _enqueue(tenant_id: str, export_id: str) -> None:
    workshop().jobs.enqueue(
        EXPORTS_QUEUE, f"export-{export_id}", export_account, tenant_id, export_id, partition=tenant_id
    )


@workflow(name="export_account")
def export_account(tenant_id: str, export_id: str) -> None:
    try:
        _build(tenant_id, export_id)
    except StepsChanged:
        raise
    # Whatever kept it from being made, who waits for it is told.
    except Exception as error:
        log.error("an export cannot be made", export_id=export_id, error=str(error))
        _end(tenant_id, export_id, "error", error_message=FAILED)


@lasting_step("build_export")
def _build(tenant_id: str, export_id: str) -> None:
    house = workshop()
    with house.database.read() as connection:
        export = account_exports.get(tenant_id, connection, export_id)
    if export is None or export.status not in account_exports.UNFINISHED:
        return
    announced_blobs.announce(house.database, tenant_id, export.blob_key)
    try:
        with house.blobs.writer(export.blob_key) as writer:
            _Archive(house, export, writer).write()
            info = writer.commit()
    except _Withdrawn:
        return
    made = {"size_bytes": info.size, "sha256": info.sha256}
    if not _end(tenant_id, export_id, "success", blob_key=export.blob_key, **made):
        announced_blobs.discard(house.database, house.blobs, tenant_id, export.blob_key)


def _end(
    tenant_id: str,
    export_id: str,
    status: Literal["success", "error"],
    *,
    blob_key: str | None = None,
    **values: Any,
) -> bool:
    """False where it has ended, or was deleted; else the blob is the export's from then on."""
    ended_at = now()
    values |= {"status": status, "progress": 1.0, "ended_at": ended_at, "expires_at": ended_at + KEPT}
    with workshop().database.write() as connection:
        ended = account_exports.update(tenant_id, connection, export_id, **values)
        if ended and blob_key is not None:
            announced_blobs.take_in(tenant_id, connection, blob_key)
    if ended:
        meters.ended("export", status)
    return ended


def remove(house: Workshop, export: Export, *, actor: str | None = None) -> None:
    """Takes an export away, with its archive: by who wanted it gone, or since its day is over."""
    tenant_id, key = export.tenant_id, export.blob_key
    with house.database.write() as connection:
        account_exports.delete(tenant_id, connection, export.id)
        # Under another subject than it was announced: whoever makes it still may store it after this.
        work = index_work.add(tenant_id, connection, action=DELETE_BLOB, subject_id=export.id, blob_key=key)
        if actor is not None:
            audit.add(tenant_id, connection, actor=actor, action="account.export_deleted", subject=export.id)
    follow(house, [work])


def sweep() -> None:
    """Starts exports that a crash left unstarted, ends those whose job ended without telling, removes those whose day
    is over."""
    house = workshop()
    before = now() - timedelta(seconds=house.settings.sweep_s)
    with house.database.read() as connection:
        waiting = account_exports.list_unfinished(connection, before=before)
        expired = account_exports.list_expired(connection)
    statuses = house.jobs.statuses([f"export-{export.id}" for export in waiting]) if waiting else {}
    for export in waiting:
        status = statuses.get(f"export-{export.id}")
        if status is None:
            start(export)
        elif status in ENDED_BADLY:
            _end(export.tenant_id, export.id, "error", error_message=FAILED)
    for export in expired:
        remove(house, export)


class _Sink:
    """What zipfile writes to: a stream that cannot be sought in."""

    def __init__(self, writer: BlobWriter) -> None:
        self._writer = writer

    def write(self, data: bytes) -> int:
        self._writer.write(data)
        return len(data)

    def flush(self) -> None:
        """The blob is flushed with its commit."""

    def close(self) -> None:
        """The writer is closed by whoever opened it."""


class _Archive:
    """Writes the archive in bounded memory, and tells how far it is."""

    def __init__(self, house: Workshop, export: Export, writer: BlobWriter) -> None:
        self._house = house
        self._tenant_id = export.tenant_id
        self._export_id = export.id
        self._zip = zipfile.ZipFile(_Sink(writer), "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self._told_at_s = 0.0
        self._tables = {table.name: table for table in account_rows.tables()}

    def write(self) -> None:
        with self._zip:
            with self._house.database.read() as connection:
                tenant = accounts.get_tenant(self._tenant_id, connection)
                counts = account_rows.count(self._tenant_id, connection)
            if tenant is None:
                raise _Withdrawn
            today = now().astimezone(ZoneInfo(tenant.time_zone))
            self._zip.writestr("README.txt", _README.format(name=tenant.name, day=f"{today:%Y-%m-%d}"))
            settings = {name: getattr(tenant, name) for name in tenant.__dataclass_fields__}
            self._zip.writestr("account.json", json.dumps(settings, default=_shown, ensure_ascii=False, indent=2))
            self._write_rows(counts)
            self._write_files(sum(counts.get(name, 0) for name, *_ in _FILES))

    def _write_rows(self, counts: dict[str, int]) -> None:
        exported = [name for name in counts if name not in _LEFT_OUT and name not in _WITH_COMMUNICATION]
        total, done = max(1, sum(counts[name] for name in exported)), 0
        for name in sorted(exported):
            with self._zip.open(_PLACES.get(name, f"other/{name}.jsonl"), "w", force_zip64=True) as file:
                for rows in self._pages(name):
                    lines = self._nested(rows) if name == "communications" else [self._line(name, row) for row in rows]
                    for line in lines:
                        file.write(json.dumps(line, default=_shown, ensure_ascii=False).encode() + b"\n")
                    done += len(rows)
                    self._tell(_ROWS_SHARE * done / total)

    def _nested(self, rows: Sequence[Record]) -> list[dict[str, Any]]:
        """Communications with what belongs to them."""
        lines = {row.id: self._line("communications", row) for row in rows}
        with self._house.database.read() as connection:
            for name, place in _WITH_COMMUNICATION.items():
                for line in lines.values():
                    line[place] = []
                for row in account_rows.of_communications(self._tenant_id, connection, self._tables[name], list(lines)):
                    lines[row.communication_id][place].append(self._line(name, row))
        return list(lines.values())

    def _write_files(self, total: int) -> None:
        done = 0
        for name, key_column, name_column, folder in _FILES:
            for rows in self._pages(name):
                for row in rows:
                    done += 1
                    key = getattr(row, key_column)
                    if key:
                        called = getattr(row, name_column) if name_column else None
                        self._write_file(key, f"{folder}/{_file_name(row.id, called or _ending(name))}")
                    self._tell(_ROWS_SHARE + (1 - _ROWS_SHARE) * done / max(1, total))

    def _write_file(self, key: str, path: str) -> None:
        try:
            pieces = self._opened(key)
        except BlobMissing:  # deleted meanwhile, or over its time
            return
        entry = zipfile.ZipInfo(path, now().timetuple()[:6])
        entry.compress_type = zipfile.ZIP_STORED  # what is large is compressed already
        with self._zip.open(entry, "w", force_zip64=True) as file:
            for piece in pieces:
                file.write(piece)
                self._tell(None)

    def _opened(self, key: str) -> Iterator[bytes]:
        """Raises BlobMissing, and Unavailable where the store does not answer for a while: all that is packed already
        would be packed anew."""
        until_s = time.monotonic() + _OUTLASTED_S
        while True:
            try:
                return self._house.blobs.stream(key)
            except Unavailable:
                if time.monotonic() >= until_s:
                    raise
                time.sleep(1.0)

    def _pages(self, name: str) -> Iterator[Sequence[Record]]:
        table = self._tables[name]
        key = [column.name for column in table.primary_key.columns]
        after: list[Any] | None = None
        while True:
            with self._house.database.read() as connection:
                rows = account_rows.page(self._tenant_id, connection, table, after=after, limit=_ROWS_AT_ONCE)
            if rows:
                yield rows
            if len(rows) < _ROWS_AT_ONCE:
                return
            after = [getattr(rows[-1], each) for each in key]

    def _line(self, name: str, row: Record) -> dict[str, Any]:
        return {
            column: value
            for column, value in row._mapping.items()
            if column != "tenant_id" and not column.endswith("_hash") and (name, column) not in _COLUMNS_LEFT_OUT
        }

    def _tell(self, progress: float | None) -> None:
        """Raises _Withdrawn where nobody wants it any more."""
        if time.monotonic() - self._told_at_s < _TOLD_EVERY_S:
            return
        self._told_at_s = time.monotonic()
        values = {"status": "processing"} | ({} if progress is None else {"progress": min(progress, 0.99)})
        with self._house.database.write(durable=False) as connection:
            if not account_exports.update(self._tenant_id, connection, self._export_id, **values):
                raise _Withdrawn


def _file_name(row_id: str, name: str) -> str:
    """One that every system takes, and that leads out of no folder."""
    safe = _UNSAFE.sub("_", name)[-_NAME_CHARACTERS:]
    return f"{row_id}{safe}" if safe.startswith(".") else f"{row_id}-{safe}"


def _ending(table: str) -> str:
    return "snapshot.jpg" if table == "camera_events" else "file"


def _shown(value: Any) -> Any:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value)
