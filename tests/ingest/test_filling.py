"""An index is filled from the store while the store goes on changing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sqlalchemy as sa

from ingest import reindex
from ingest.filling import fill_document
from ingest.timelines import communication_passages
from rag.index import Filter
from rag.index_places import FolderPlace
from rag.indexes import Indexes
from store import analysis, communications, index_work, knowledge, speakers
from store.accounts import create_tenant
from store.database import Database, now
from store.migrate import migrate
from store.settings import load_settings
from tests.support.embedders import NEW, HashEmbedder, Models
from tests.support.stored_documents import StoredDocument, add_document

NAME = "new-model"


class House(SimpleNamespace):
    """The parts of a workshop that filling needs."""

    database: Database
    indexes: Indexes
    embedder: HashEmbedder
    tenant_id: str

    def ids(self, document: StoredDocument) -> set[str]:
        return self.indexes.ids_of(self.tenant_id, document_id=document.id)

    def while_embedding(self, change: Callable[[], None]) -> None:
        """Has `change` happen once, while passages are embedded."""

        def once() -> None:
            self.embedder.before = lambda: None
            change()

        self.embedder.before = once


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    settings = load_settings(data_dir=tmp_path)
    database = Database(settings)
    migrate(database)
    models = Models()

    def missed(name: str, tenant_id: str | None) -> None:
        with database.write() as connection:
            index_work.note_refill(connection, name, tenant_id)

    indexes = Indexes(FolderPlace(settings), NEW, models.load, missed)
    with database.write() as connection:
        tenant = create_tenant(connection, name="A company")
    assert tenant is not None
    made = House(
        settings=settings, database=database, indexes=indexes, embedder=models.loaded[NAME], tenant_id=tenant.id
    )
    monkeypatch.setattr(reindex, "workshop", lambda: made)
    yield made
    indexes.close()
    database.close()


def fill(house: Any, document: StoredDocument) -> None:
    fill_document(house, NAME, house.tenant_id, document.id)


def test_a_document_that_is_deleted_while_it_is_filled_in_leaves_nothing(house: House) -> None:
    document = add_document(house.database, house.tenant_id, "Сова живёт на складе.")

    def delete() -> None:
        with house.database.write() as connection:
            assert knowledge.delete_document(house.tenant_id, connection, document.id)
        house.indexes.delete(house.tenant_id, document_id=document.id)

    house.while_embedding(delete)
    fill(house, document)
    assert house.ids(document) == set()


def test_a_version_that_comes_while_the_one_before_is_filled_in_is_what_is_there(house: House) -> None:
    document = add_document(house.database, house.tenant_id, "Сова живёт на складе.")
    later = document.next_version("Лиса живёт на складе.")
    house.while_embedding(lambda: later.store(house.database))
    fill(house, document)
    assert house.ids(document) == {later.chunk_id} != {document.chunk_id}


def test_points_of_an_earlier_release_are_told_who_took_part_without_being_embedded_again(house: House) -> None:
    with house.database.write() as connection:
        talk = communications.create(
            house.tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title="A call"
        )
        said = communications.ContentItem("audio_utterance", "Сова на складе", "A", 0, 900)
        communications.replace_content(house.tenant_id, connection, talk.id, [said])
        person = speakers.upsert(house.tenant_id, connection, external_id="1", name="Анна")
        speakers.attach(house.tenant_id, connection, talk.id, [speakers.Attending(person.id, "client")])
        analysis.put_summary(house.tenant_id, connection, talk.id, text=None, category="supply")
    wanted = house.indexes.wanted
    assert wanted is not None
    passages = communication_passages(cast(Any, house), house.tenant_id, talk.id)
    new_fields = ("participants", "participant_roles", "category")
    earlier = [
        replace(each, payload={name: value for name, value in each.payload.items() if name not in new_fields})
        for each in passages
    ]
    house.indexes.put(house.tenant_id, earlier)
    (house.settings.data_dir / "index" / NAME / "shards" / "complete").touch()
    assert (wanted.index.is_complete(), wanted.index.is_current()) == (True, False)
    house.embedder.fails = True
    run_job(house)
    assert wanted.index.is_current()
    told = wanted.index.passages(house.tenant_id, [each.id for each in passages])
    (point,) = (told[each.id].payload for each in passages)
    assert {name: point[name] for name in new_fields} == {
        "participants": [person.id],
        "participant_roles": ["client"],
        "category": "supply",
    }
    assert point.keys() - set(new_fields) == {name for name, value in earlier[0].payload.items() if value is not None}


@pytest.mark.parametrize("text", ["Сова на складе", ""])
def test_a_mail_of_an_earlier_release_is_found_by_its_subject_after_the_pass(house: House, text: str) -> None:
    with house.database.write() as connection:
        mail = communications.create(
            house.tenant_id, connection, kind="email", channel_type="email", occured_at=now(), title="Лиса"
        )
        turn = communications.ContentItem("email_message", text, "A", media=[{"ref": None, "name": "a.pdf"}])
        communications.replace_content(house.tenant_id, connection, mail.id, [turn])
    wanted = house.indexes.wanted
    assert wanted is not None
    passages = communication_passages(cast(Any, house), house.tenant_id, mail.id)
    untitled = [replace(each, payload=each.payload | {"title": None}, context="") for each in passages if text]
    house.indexes.put(house.tenant_id, untitled)
    (house.settings.data_dir / "index" / NAME / "shards" / "complete").write_text("2")
    run_job(house)
    assert wanted.index.is_current()
    (hit,) = wanted.index.search_text(house.tenant_id, "лиса", Filter(), 5)
    assert hit.payload["communication_id"] == mail.id


def run_job(house: House) -> None:
    """The job as it runs, without the runtime that makes it durable."""
    inspect.unwrap(reindex.reindex_everything)(NAME)


def test_the_index_is_complete_after_a_pass_in_which_nothing_was_missed(house: House) -> None:
    documents = [add_document(house.database, house.tenant_id, f"Сова {number}") for number in range(3)]
    wanted = house.indexes.wanted
    assert wanted is not None
    house.embedder.fails = True
    run_job(house)
    assert not wanted.index.is_complete()
    with house.database.write() as connection:
        (noted,) = index_work.list_refills(connection, NAME)
        assert not noted.is_due, "a provider that is away is not asked again at once"
        index_work.note_refill(connection, NAME)
    house.embedder.fails = False

    def miss() -> None:
        """As where another process could not write to this index."""
        added = add_document(house.database, house.tenant_id, "Рысь")
        documents.append(added)
        with house.database.write() as connection:
            index_work.note_refill(connection, NAME, house.tenant_id)

    house.while_embedding(miss)
    run_job(house)
    assert wanted.index.is_complete()
    assert [house.ids(each) for each in documents] == [{each.chunk_id} for each in documents]
    with house.database.read() as connection:
        assert index_work.list_refills(connection, NAME) == []
        assert connection.execute(sa.select(sa.func.count()).select_from(index_work.index_work)).scalar_one() == 0
