from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.documents.parse import Limits, ParsedDocument, parse


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., ParsedDocument]:
    """Parses bytes, or a text as UTF-8, under a file name."""

    def run(content: bytes | str, name: str = "document.txt", limits: Limits | None = None) -> ParsedDocument:
        path = tmp_path / "blob"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return parse(path, name, limits)

    return run
