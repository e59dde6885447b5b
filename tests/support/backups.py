"""Installations that are backed up and restored, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from api.backup import make_backup
from store import migrate
from store.blobs import Blobs
from store.database import Database
from store.settings import Settings
from tests.support.filled import fill


def into(folder: Path, **values: Any) -> Settings:
    return Settings(data_dir=folder, _env_file=None, **values)  # type: ignore[call-arg]


def made_of(settings: Settings, schema: str, path: Path) -> Database:
    """A backup of an installation with that schema, a row in every table and a blob; its database."""
    database = Database(settings)
    migrate.migrate(database, schema)
    fill(database)
    Blobs(settings).put("kept/audio/1", b"sound")
    make_backup(settings, path)
    return database
