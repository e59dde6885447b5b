"""Installations that are backed up and restored, without a server and with what servers do meanwhile."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

from accounts.keys import Keyring
from api.backup import make_backup
from store import installation, migrate
from store.blobs import Blobs
from store.database import Database
from store.settings import Settings
from tests.contract.recordings import tone, wav
from tests.support.filled import fill
from tests.support.forks import run_parley
from tests.support.server import Account, RunningServer

WAIT_S = 180.0


def into(folder: Path, **values: Any) -> Settings:
    return Settings(data_dir=folder, _env_file=None, **values)  # type: ignore[call-arg]


def made_of(settings: Settings, schema: str, path: Path) -> Database:
    """A backup of an installation with that schema, a row in every table and a blob; its database."""
    database = Database(settings)
    migrate.migrate(database, schema)
    fill(database)
    with database.write() as connection:
        if installation.is_known(connection):
            installation.take_over(connection, Keyring.of(settings).installation_id)
    Blobs(settings).put("kept/audio/1", b"sound")
    make_backup(settings, path)
    return database


def parley(server: RunningServer, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**server.environment, **{f"PARLEY_{name.upper()}": value for name, value in settings.items()}}
    return run_parley(arguments, environment, WAIT_S)


class LoadOfUploads(threading.Thread):
    """Adds documents and calls until it is stopped."""

    def __init__(self, account: Account, space_id: str) -> None:
        super().__init__(daemon=True)
        self.account, self.space_id = account, space_id
        self.documents = 0
        self.statuses: set[int] = set()
        self._stop_now = threading.Event()

    def run(self) -> None:
        number = 0
        while not self._stop_now.is_set():
            number += 1
            text = f"# Page {number}\n\nThe gravelmoth number {number} costs {number} roubles.".encode()
            answer = self.account.upload_document(self.space_id, text, f"{number}.md")
            self.statuses.add(answer.status_code)
            self.documents += answer.status_code == 202
            if number % 5 == 0:
                self.statuses.add(self.account.upload_audio(wav(tone(1)), f"{number}.wav").status_code)

    def end(self) -> None:
        self._stop_now.set()
        self.join(WAIT_S)
