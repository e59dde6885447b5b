"""Which accounts moves carried, noted in the data folder. One of them that only the target has was deleted on the
source since, and is deleted there too; any other is somebody else's, or came to be there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

_FILE = "moved-accounts.json"


def carried(*folders: Path) -> set[str]:
    """What is noted in any of the folders."""
    files = [folder / _FILE for folder in folders]
    return {tenant_id for file in files if file.exists() for tenant_id in json.loads(file.read_text())}


def note(folder: Path, tenant_ids: Iterable[str]) -> None:
    """Adds accounts that are about to be carried: none of them is there before it is noted."""
    draft = folder / f"{_FILE}.draft"
    with draft.open("w") as file:
        json.dump(sorted({*tenant_ids, *carried(folder)}), file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / _FILE)
