"""Files of imported messages: stored with them, uploaded before them, and gone with them, on both databases."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from ingest import import_media
from ingest.imports import UnusableMedia
from ingest.messages.imported import ImportedConversation, ImportedMedia, ImportedTurn
from ingest.retention import remove_batch
from ingest.workshop import Workshop
from store import accounts, communications, index_work, media
from store.database import now
from store.ids import new_id
from store.index_work import DELETE_BLOB, INDEX_COMMUNICATION
from tests.ingest.office import NOON, PNG, Office, chat
from tests.ingest.office import office as office
from tests.store.conftest import database as database


def test_files_of_an_export_are_stored_with_their_conversation_and_told_by_content(
    office: Office, tmp_path: Path
) -> None:
    photo, page = tmp_path / "photo", tmp_path / "page"
    photo.write_bytes(PNG)
    page.write_bytes(b"<script>alert(1)</script>")
    turns = (
        ImportedTurn("", None, NOON, media=(ImportedMedia("file", "a.png", "text/html", path=photo),)),
        ImportedTurn("And", None, NOON, media=(ImportedMedia("audio", "b.mp3", "audio/mpeg", path=page),)),
        ImportedTurn("Again", None, NOON, media=(ImportedMedia("image", None, path=photo),)),
        ImportedTurn("", None, NOON, media=(ImportedMedia("video", "gone.mp4", "video/mp4", 5),)),
    )
    found = office.record(chat(turns=turns))
    first, second, third, fourth = (item.media[0] for item in office.content(found.communication_id))
    assert (first["type"], first["mime"], first["name"], first["size_bytes"]) == ("image", "image/png", "a.png", 108)
    assert (second["type"], second["mime"]) == ("file", "text/plain")
    assert third["ref"] == first["ref"]
    assert (fourth["type"], fourth["ref"], fourth["name"]) == ("video", "", "gone.mp4")
    assert len(office.stored_files()) == 2
    # Again, and grown: only what is new is stored.
    office.record(chat(turns=turns))
    office.record(chat(turns=(*turns, ImportedTurn("", None, NOON, media=(ImportedMedia("image", None, path=photo),)))))
    assert len(office.stored_files()) == 3


def add_upload(office: Office, *, data: bytes = PNG, days: float = 0) -> str:
    with office.database.write() as connection:
        row = media.create(
            office.tenant_id,
            connection,
            type="image",
            mime="image/png",
            name="a.png",
            size_bytes=len(data),
            blob_key=f"{office.tenant_id}/media/{len(office.stored_files())}",
            sha256=f"{hash(data):x}",
        )
        if days:
            connection.execute(media.media.update().values(created_at=now() - timedelta(days=days)))
    office.blobs.put(row.blob_key, data)
    return row.id


def with_upload(ref: str, **values: object) -> ImportedConversation:
    turns = (ImportedTurn("Look", None, NOON, media=(ImportedMedia("image", ref=ref),)),)
    return chat(turns=turns, **values)


def test_an_uploaded_file_belongs_to_one_communication(office: Office) -> None:
    ref = add_upload(office)
    first = office.record(with_upload(ref, record_id="one", grows=False))
    assert office.record(with_upload(ref, record_id="one", grows=False)).state == "known"
    with pytest.raises(UnusableMedia) as refused:
        office.record(with_upload(ref, record_id="two"))
    assert (refused.value.ref, office.count()) == (ref, 1)
    # The same file uploaded again with the same message is the same message.
    again = office.record(with_upload(add_upload(office), record_id="one", grows=False))
    assert again.communication_id == first.communication_id


def test_racers_for_one_uploaded_file_leave_it_with_one(office: Office) -> None:
    ref = add_upload(office)
    barrier = threading.Barrier(4)

    def race(number: int) -> str:
        barrier.wait()
        try:
            return office.record(with_upload(ref, record_id=f"race-{number}")).state
        except UnusableMedia:
            return "refused"

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(race, range(4))) == ["new", "refused", "refused", "refused"]
    assert office.count() == 1


@pytest.fixture
def house(office: Office, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """As much of a workshop as housekeeping needs."""

    class Stub:
        settings, database, blobs = office.settings, office.database, office.blobs

    stub: Workshop = Stub()  # type: ignore[assignment]
    monkeypatch.setattr(import_media, "workshop", lambda: stub)
    return stub


def test_an_upload_that_no_message_names_goes_after_a_day(office: Office, house: Workshop) -> None:
    named = add_upload(office, days=2)
    office.record(with_upload(named))
    add_upload(office, data=PNG + b"2", days=0.5)
    import_media.sweep()
    assert len(office.stored_files()) == 2
    with office.database.write() as connection:
        connection.execute(media.media.update().values(created_at=now() - timedelta(days=2)))
    import_media.sweep()
    assert len(office.stored_files()) == 1
    with office.database.read() as connection:
        assert media.get(office.tenant_id, connection, named) is not None
        assert index_work.list_open(connection, limit=10)[0].action == INDEX_COMMUNICATION
    import_media.sweep()


def test_what_a_crash_left_of_an_import_goes_after_a_day(office: Office, house: Workshop) -> None:
    folder = import_media.work_folder(office.settings)
    old, young = folder / "old", folder / "young"
    for each in (old, young):
        each.mkdir(parents=True)
        (each / "conversations").write_bytes(b"x")
    os.utime(old, (0, 0))
    import_media.sweep_folders()
    assert [each.name for each in folder.iterdir()] == ["young"]


def test_files_go_with_their_communication(office: Office, house: Workshop) -> None:
    found = office.record(with_upload(add_upload(office)))
    with office.database.write() as connection:
        accounts.update_tenant(office.tenant_id, connection, retention_days=30)
        rows = communications.communications
        connection.execute(
            rows.update().values(created_at=now() - timedelta(days=400), updated_at=now() - timedelta(days=400))
        )
        connection.execute(rows.update().values(occured_at=now() - timedelta(days=400)))
    work = remove_batch(house, office.tenant_id)
    blobs = [each for each in work if each.action == DELETE_BLOB]
    assert work[-len(blobs) :] == blobs, "what is said is forgotten before files are cleared"
    assert [office.blobs.exists(each.blob_key or "") for each in blobs] == [True]
    with office.database.read() as connection:
        assert media.list_of(office.tenant_id, connection, [found.communication_id]) == []
        assert communications.get(office.tenant_id, connection, found.communication_id) is None


MANY = 6_000
"""More than one statement names; tests/soak takes more than PostgreSQL could bear in one."""


def add_rows(office: Office, communication_id: str, count: int) -> list[str]:
    row = {
        "tenant_id": office.tenant_id,
        "communication_id": communication_id,
        "type": "image",
        "mime": "image/png",
        "name": "a.png",
        "size_bytes": 1,
        "sha256": "0" * 64,
        "created_at": now(),
    }
    ids = [new_id() for _ in range(count)]
    with office.database.write() as connection:
        rows = [{**row, "id": each, "blob_key": f"{office.tenant_id}/media/{each}"} for each in ids]
        connection.execute(media.media.insert(), rows)
    return ids


def test_many_files_go_with_their_communication_and_no_others(office: Office, house: Workshop) -> None:
    assert_files_go(office, MANY)


def assert_files_go(office: Office, count: int) -> None:
    found = office.record(chat("One"))
    other = office.record(chat("Two", record_id="other"))
    ids = add_rows(office, found.communication_id, count)
    (kept,) = add_rows(office, other.communication_id, 1)
    with office.database.write() as connection:
        assert set(media.get_many(office.tenant_id, connection, [*ids, kept])) == {*ids, kept}
        work = import_media.forget(office.tenant_id, connection, [found.communication_id])
        assert {(each.subject_id, each.action, each.blob_key) for each in work} == {
            (each, DELETE_BLOB, f"{office.tenant_id}/media/{each}") for each in ids
        }
        assert media.list_of(office.tenant_id, connection, [found.communication_id]) == []
        assert media.get(office.tenant_id, connection, kept) is not None
        index_work.withdraw(office.tenant_id, connection, DELETE_BLOB, ids)
        assert {each.action for each in index_work.list_open(connection)} == {INDEX_COMMUNICATION}
