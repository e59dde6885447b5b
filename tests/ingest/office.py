"""An account without a server, and conversations that come in as text, for the tests of imports."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from accounts import ledger
from accounts.clients import create_client
from accounts.keys import Keyring
from ingest.imports import Imported, Wishes, record
from ingest.messages.imported import ImportedConversation, ImportedPerson, ImportedTurn
from store import communications
from store.blobs import Blobs
from store.communications import Communication, ContentItem
from store.database import Database
from store.settings import Settings
from tests.store.conftest import database as database

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


class Office:
    """An account over a database, without a server."""

    def __init__(self, database: Database, folder: Path, *, balance_rub: str = "1000") -> None:
        self.database = database
        self.settings = Settings(data_dir=folder, _env_file=None)  # type: ignore[call-arg]
        self.blobs = Blobs(self.settings)
        with database.write() as connection:
            made = create_client(
                connection, Keyring.of(self.settings), external_id="shop", signup_credit=Decimal(balance_rub)
            )
        self.tenant_id = made.tenant.id

    def record(self, conversation: ImportedConversation, *, summary: bool = False) -> Imported:
        return record(self.database, self.blobs, self.settings, self.tenant_id, conversation, Wishes(summary))

    def row(self, communication_id: str) -> Communication:
        with self.database.read() as connection:
            found = communications.get(self.tenant_id, connection, communication_id)
        assert found is not None
        return found

    def content(self, communication_id: str) -> list[ContentItem]:
        with self.database.read() as connection:
            return [item for _, item in communications.list_content(self.tenant_id, connection, communication_id)]

    def texts(self, communication_id: str) -> list[str]:
        return [item.text for item in self.content(communication_id)]

    def count(self) -> int:
        with self.database.read() as connection:
            return communications.count(self.tenant_id, connection)

    def balance(self) -> ledger.Balance:
        with self.database.read() as connection:
            return ledger.balance(self.tenant_id, connection)

    def stored_files(self) -> list[str]:
        return [entry.key for entry in self.blobs.list(f"{self.tenant_id}/media")]


@pytest.fixture
def office(database: Database, tmp_path: Path) -> Office:
    return Office(database, tmp_path)


def chat(*texts: str, **values: object) -> ImportedConversation:
    turns = tuple(
        ImportedTurn(text, f"SPEAKER_{number % 2:02d}", NOON + timedelta(minutes=number))
        for number, text in enumerate(texts)
    )
    people = (
        ImportedPerson("SPEAKER_00", "Anna", "user1", "client"),
        ImportedPerson("SPEAKER_01", "Boris", "user2", "employee"),
    )
    made = ImportedConversation("chat", "telegram", NOON, turns, people, record_id="chat-1", grows=True)
    return replace(made, **values)  # type: ignore[arg-type]
