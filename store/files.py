"""Small files that the installation makes once and keeps."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

SECRET_FILE = "secret.key"  # noqa: S105 - the name of a file
"""In the data dir: what keys are found by and secrets are encrypted under, where no setting gives it."""


def kept_bytes(path: Path, size: int) -> bytes:
    """The file's content: random bytes that the first process to ask made. Readable by the owner alone, and there
    whole or not at all, also when several processes are first at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_bytes(secrets.token_bytes(size))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first: what it made counts
        finally:
            draft.unlink()
    return path.read_bytes()
