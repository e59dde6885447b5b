from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ingest.messages.detect import read_export
from ingest.messages.imported import ImportedConversation
from tests.ingest.messages.exports import Read


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads an export that is a file, or the content of one."""

    def read(export: Path | bytes | str, **options: Any) -> list[ImportedConversation]:
        if not isinstance(export, Path):
            path = tmp_path / "export"
            path.write_bytes(export.encode() if isinstance(export, str) else export)
            export = path
        return list(read_export(export, tmp_path / "work", **options))

    return read
