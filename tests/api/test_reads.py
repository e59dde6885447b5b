"""What the Public reads cost in statements: as many for a full page as for an empty one, in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import event
from starlette.requests import Request
from starlette.responses import Response

from accounts.clients import create_client
from accounts.keys import Keyring
from api import communications as layer
from api.http import route
from store import analysis, communications, speakers
from store.analysis import NewItem
from store.communications import ContentItem
from store.database import Database, now
from store.ids import new_id
from store.migrate import migrate
from store.settings import Settings
from store.speakers import Attending

ROUTES = {operation.path: route(operation) for operation in layer.OPERATIONS}


class House:
    """A database with one client, and its operations asked without a server."""

    def __init__(self, data_dir: Path) -> None:
        settings = Settings(data_dir=data_dir, _env_file=None)  # type: ignore[call-arg]
        self.database = Database(settings)
        migrate(self.database)
        keyring = Keyring(b"k" * 32)
        with self.database.write() as connection:
            made = create_client(connection, keyring, external_id="client")
        self.tenant_id, self.key = made.tenant.id, made.api_key
        self.services = SimpleNamespace(settings=settings, keyring=keyring, database=self.database)

    def get(self, path: str, query: str) -> tuple[int, bytes, list[str]]:
        """Status, body and the statements that were run."""
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": query.encode(),
            "headers": [(b"authorization", f"Bearer {self.key}".encode())],
            "app": SimpleNamespace(state=SimpleNamespace(services=self.services)),
        }

        async def ask() -> Response:
            answer: Response = await ROUTES[path].endpoint(Request(scope))
            return answer

        with self.statements() as seen:
            response = asyncio.run(ask())
        return response.status_code, bytes(response.body), seen

    @contextmanager
    def statements(self) -> Iterator[list[str]]:
        seen: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            seen.append(statement)

        def begin(_connection: Any) -> None:
            seen.append("BEGIN")

        event.listen(self.database.engine, "before_cursor_execute", note)
        event.listen(self.database.engine, "begin", begin)
        try:
            yield seen
        finally:
            event.remove(self.database.engine, "before_cursor_execute", note)
            event.remove(self.database.engine, "begin", begin)

    def add_call(self, *people: str) -> str:
        with self.database.write() as connection:
            row = communications.create(
                self.tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title="A call"
            )
            turns = [ContentItem("audio_utterance", str(number), "SPEAKER_00", number, number) for number in range(9)]
            communications.replace_content(self.tenant_id, connection, row.id, turns)
            found = [speakers.upsert(self.tenant_id, connection, external_id=each, name=each) for each in people]
            attending = [Attending(person.id, "client") for person in found]
            speakers.attach(self.tenant_id, connection, row.id, attending)
            items = [NewItem("criteria", str(number)) for number in range(9)]
            analysis.put_summary(self.tenant_id, connection, row.id, text="t", items=items)
        return row.id


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.database.close()


def test_a_communication_is_read_in_one_transaction_of_five_statements(house: House) -> None:
    call_id = house.add_call("anna", "boris")
    status, body, seen = house.get("/v1/communications", f"id={call_id}")
    assert status == 200
    assert b"boris" in body
    assert [statement for statement in seen if statement.startswith("BEGIN")] == ["BEGIN"]
    assert len([statement for statement in seen if statement.startswith("SELECT")]) == 5
    assert len(seen) == 6


def test_a_page_takes_as_many_statements_however_many_it_holds(house: House) -> None:
    house.add_call("boris")
    for _ in range(12):
        house.add_call("anna", "boris", new_id())
    counts = []
    for query in ("speaker_name=boris&limit=1", "speaker_name=boris&limit=100", "speaker_name=anna&limit=5"):
        status, body, seen = house.get("/v1/communications/list", query)
        assert status == 200
        assert b'"name":"boris"' in body
        counts.append(len(seen))
    assert counts == [5, 5, 5]  # begin, key, person, page, people of the page
