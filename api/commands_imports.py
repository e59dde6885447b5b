"""`parley ingest` of mail boxes and chat exports: files beside an unpacked export are its own, and come in with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.children import ChildError, ChildPool
from ingest.import_files import import_file
from ingest.imports import Imported, Wishes
from ingest.messages.detect import is_export
from ingest.messages.imported import ImportedConversation
from ingest.messages.reading import Unreadable
from store.blobs import Blobs
from store.database import Database
from store.errors import NotPermitted
from store.settings import Settings

_TIMEOUT_S = 600.0
_SUFFIXES = frozenset({".eml", ".mbox", ".mbx", ".json", ".html", ".htm", ".txt", ".zip"})
_FURTHER_PAGE = re.compile(r"messages[0-9]{1,6}\.html")


@dataclass(slots=True)
class Exports:
    """The exports among files from disk. Files that belong to them are nothing by themselves."""

    settings: Settings
    database: Database
    blobs: Blobs
    tenant_id: str
    own: Sequence[str] = ()
    summary: bool = False
    _taken: set[Path] = field(default_factory=set)

    def ingest(self, paths: Sequence[Path]) -> list[dict[str, Any]]:
        """Imports what is an export, one row each; a running server goes on with analysis and index."""
        rows = []
        # A file from anywhere may crash what looks at it: never in this process.
        with ChildPool("exports", 1, _TIMEOUT_S, self.settings.child_memory_bytes) as pool:
            for path in paths:
                if path.suffix.lower() in _SUFFIXES and self._is_export(pool, path):
                    self._taken.add(path.resolve())
                    if not _is_further_page(path):
                        rows.append(self._row(pool, path))
        return rows

    def has(self, path: Path) -> bool:
        """Whether the file came in as an export, or with one."""
        return path.resolve() in self._taken

    def _is_export(self, pool: ChildPool, path: Path) -> bool:
        try:
            return pool.run(is_export, path)
        except ChildError:
            return False

    def _row(self, pool: ChildPool, path: Path) -> dict[str, Any]:
        row: dict[str, Any] = {"file": str(path), "as": "conversations", "id": None}
        try:
            found = import_file(
                self.database,
                self.blobs,
                self.settings,
                self.tenant_id,
                pool.run,
                path.absolute(),
                file_name=path.name,
                wishes=Wishes(self.summary),
                own=self.own,
                export_folder=path.absolute().parent,
                stored=self._take,
            )
        except Unreadable as error:
            return row | {"state": f"skipped: {error.message}"}
        except ChildError:
            return row | {"state": "skipped: it cannot be read"}
        except OSError as error:
            return row | {"state": f"failed: {error.strerror or type(error).__name__}"}
        except NotPermitted as refused:
            return row | {"state": f"refused: {refused.message}"}
        known = sum(each.state == "known" for each in found)
        newest = max(found, key=lambda each: each.occured_at, default=None)
        state = f"{len(found) - known} imported, {known} known"
        return row | {"id": newest.communication_id if newest else None, "state": state}

    def _take(self, _: Imported, conversation: ImportedConversation) -> None:
        files = (file.path for turn in conversation.turns for file in turn.media if file.path is not None)
        self._taken.update(path.resolve() for path in files)


def _is_further_page(path: Path) -> bool:
    """The first page of an export in HTML brings the others with it."""
    return _FURTHER_PAGE.fullmatch(path.name) is not None and (path.parent / "messages.html").is_file()
