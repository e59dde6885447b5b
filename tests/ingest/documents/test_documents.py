"""What documents leave in index and blobs, whatever came between: nothing that is not theirs, and nothing missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accounts import ledger
from api.commands_ingest import ingest_files
from ingest import timelines
from ingest.announced_blobs import announce, take_in
from ingest.documents import documents, links
from ingest.documents.passages import document_passages, settle_document
from rag.generation import Passage
from rag.index import Value
from store import index_work, kb_spaces, knowledge
from store.blobs import Blobs
from store.errors import NotFound, Unavailable
from store.ids import new_id
from tests.contract.recordings import tone, wav
from tests.ingest.test_filling import House
from tests.ingest.test_filling import house as house
from tests.support.announced import noted, pass_a_day
from tests.support.stored_documents import StoredDocument, add_document

WORDS = b"The owl lives in the store."


@pytest.fixture
def blobs(house: House, monkeypatch: pytest.MonkeyPatch) -> Blobs:
    made = Blobs(house.settings)
    house.blobs = made
    monkeypatch.setattr(timelines, "workshop", lambda: house)
    return made


def stored(house: House, blobs: Blobs) -> list[str]:
    return sorted(entry.key for entry in blobs.list(f"{house.tenant_id}/documents"))


def upload(house: House, blobs: Blobs) -> tuple[str, dict[str, Any]]:
    """A blob as an upload stores it before its row is written, and what the row will say."""
    document_id = new_id()
    key = f"{house.tenant_id}/documents/{document_id}"
    announce(house.database, house.tenant_id, key)
    values = {"document_id": document_id, "title": "t", "file_name": "t.txt", "blob_key": key}
    return key, values | {"blob": blobs.put(key, WORDS)}


def new_space(house: House) -> str:
    with house.database.write() as connection:
        return kb_spaces.create_space(house.tenant_id, connection, name="s", description="").id


def record(house: House, blobs: Blobs, space_id: str, values: dict[str, Any]) -> tuple[knowledge.Document, bool]:
    return documents.record(house.database, blobs, house.tenant_id, space_id=space_id, **values)


def test_an_upload_that_a_kill_kept_from_being_recorded_goes_after_a_day_and_no_other(
    house: House, blobs: Blobs
) -> None:
    killed, _ = upload(house, blobs)
    kept, values = upload(house, blobs)
    record(house, blobs, new_space(house), values)
    assert noted(house.database) == {killed}
    timelines.sweep()
    assert stored(house, blobs) == sorted([killed, kept]), "it may yet be recorded"
    pass_a_day(house.database)
    timelines.sweep()
    assert (stored(house, blobs), noted(house.database)) == ([kept], set())


def test_bytes_that_are_there_already_and_those_of_a_space_that_is_gone_leave_nothing(
    house: House, blobs: Blobs
) -> None:
    space_id = new_space(house)
    kept, values = upload(house, blobs)
    first, begins = record(house, blobs, space_id, values)
    assert begins
    again, begins = record(house, blobs, space_id, upload(house, blobs)[1])
    assert (again.id, begins) == (first.id, False)
    with pytest.raises(NotFound):
        record(house, blobs, new_id(), upload(house, blobs)[1])
    assert (stored(house, blobs), noted(house.database)) == ([kept], set())


def fetched(house: House, blobs: Blobs) -> tuple[str, str]:
    """A document by a link whose first run has fetched its bytes, and their key."""
    values = {"document_id": new_id(), "title": "t", "file_name": "t", "blob_key": "", "url": "https://a.example/"}
    document, _ = record(house, blobs, new_space(house), values)
    key = links.fetched_key(house.tenant_id, document.id, 1)
    assert keep(house, document.id, key)
    blobs.put(key, WORDS)
    return document.id, key


def keep(house: House, document_id: str, key: str) -> bool:
    return links.keep(house, house.tenant_id, document_id, 1, key)  # type: ignore[arg-type]


def finish(house: House, document_id: str, key: str) -> None:
    with house.database.write() as connection:
        assert knowledge.switch_version(house.tenant_id, connection, document_id, 1, 1, blob_key=key)
        take_in(house.tenant_id, connection, key)


def test_who_was_given_up_and_fetches_on_has_nothing_deleted_that_another_took_in(house: House, blobs: Blobs) -> None:
    document_id, key = fetched(house, blobs)
    assert noted(house.database) == {key}
    finish(house, document_id, key)
    assert not keep(house, document_id, key), "its run is over"
    assert (stored(house, blobs), noted(house.database)) == ([key], set())


def test_what_a_run_fetched_stays_as_long_as_the_run_waits(house: House, blobs: Blobs) -> None:
    document_id, key = fetched(house, blobs)
    for _ in range(2):
        pass_a_day(house.database)
        timelines.sweep()
        assert stored(house, blobs) == [key]
    with house.database.write() as connection:
        knowledge.begin_reindex(house.tenant_id, connection, document_id)
    pass_a_day(house.database)
    timelines.sweep()
    assert (stored(house, blobs), noted(house.database)) == ([], set())


def test_what_is_taken_in_after_the_sweeper_listed_it_stays(house: House, blobs: Blobs) -> None:
    document_id, key = fetched(house, blobs)
    pass_a_day(house.database)
    with house.database.read() as connection:
        (listed,) = index_work.list_open(connection)
    finish(house, document_id, key)
    timelines.do_index_work(house, listed)  # type: ignore[arg-type]
    assert stored(house, blobs) == [key]


def put_stray(house: House, document: StoredDocument) -> str:
    """A point of the document that no version of it has."""
    stray = new_id()
    payload: dict[str, Value] = {"kind": "document", "document_id": document.id, "space_id": document.space_id}
    house.indexes.put(house.tenant_id, [Passage(stray, "stray", payload)])
    return stray


def test_what_is_deleted_leaves_the_index_while_the_bucket_is_away(
    house: House, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_key: str) -> None:
        raise Unavailable("The blob store does not answer.")

    document = add_document(house.database, house.tenant_id, "Сова живёт на складе.")
    put_stray(house, document)
    key = f"{house.tenant_id}/documents/{document.id}"
    blobs.put(key, WORDS)
    with house.database.write() as connection:
        action = index_work.FORGET_DOCUMENT
        index_work.add(house.tenant_id, connection, action=action, subject_id=document.id, blob_key=key)
    with house.database.read() as connection:
        (listed,) = index_work.list_open(connection)
    monkeypatch.setattr(blobs, "delete", away)
    with pytest.raises(Unavailable):
        timelines.do_index_work(house, listed)  # type: ignore[arg-type]
    assert house.ids(document) == set()
    monkeypatch.undo()
    timelines.do_index_work(house, listed)  # type: ignore[arg-type]
    assert stored(house, blobs) == []


def test_the_index_comes_to_agree_with_the_store(house: House) -> None:
    document = add_document(house.database, house.tenant_id, "Сова живёт на складе.")
    other = add_document(house.database, house.tenant_id, "Лиса живёт на складе.")
    strays = {put_stray(house, document)}
    assert house.ids(document) == strays
    put_stray(house, other)
    settle_document(house, house.tenant_id, document.id)  # type: ignore[arg-type]
    assert house.ids(document) == {document.chunk_id}
    assert document.chunk_id not in house.ids(other) != set(), "another's are not touched"


def test_what_a_late_worker_takes_out_of_a_version_is_put_in_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = add_document(house.database, house.tenant_id, "Сова живёт на складе.")
    put_stray(house, document)
    delete_points = house.indexes.delete_points

    def delete_more(tenant_id: str, ids: set[str]) -> None:
        monkeypatch.undo()
        delete_points(tenant_id, ids | {document.chunk_id})

    with house.database.read() as connection:
        chunks, _ = knowledge.list_chunks(house.tenant_id, connection, document.id, limit=10)
        row = knowledge.get_document(house.tenant_id, connection, document.id)
    assert row is not None
    house.indexes.put(house.tenant_id, document_passages(row, chunks))
    monkeypatch.setattr(house.indexes, "delete_points", delete_more)
    settle_document(house, house.tenant_id, document.id)  # type: ignore[arg-type]
    assert house.ids(document) == {document.chunk_id}


def test_a_deleted_document_is_taken_out_of_the_index_whole(house: House) -> None:
    document = add_document(house.database, house.tenant_id, "Сова живёт на складе.")
    settle_document(house, house.tenant_id, document.id)  # type: ignore[arg-type]
    assert house.ids(document) == {document.chunk_id}
    with house.database.write() as connection:
        knowledge.delete_document(house.tenant_id, connection, document.id)
    settle_document(house, house.tenant_id, document.id)  # type: ignore[arg-type]
    assert house.ids(document) == set()


def test_recordings_become_calls_and_documents_go_into_the_space(house: House, blobs: Blobs, tmp_path: Path) -> None:
    recording, document = tmp_path / "talk.wav", tmp_path / "rules.md"
    recording.write_bytes(wav(tone(1.0)))
    document.write_text("# Rules\n\nThe shop opens at nine.\n")
    money: dict[str, Any] = {"amount_micro": 10**9, "source": "test", "source_ref": None, "description": "test"}
    with house.database.write() as connection:
        ledger.credit(house.tenant_id, connection, key="test", **money)
    as_call, as_document = ingest_files(house.settings, [recording, document], house.tenant_id, "Talks")
    assert (as_call["as"], as_document["as"]) == ("call", "document")
    assert stored(house, blobs) == [f"{house.tenant_id}/documents/{as_document['id']}"]
    assert noted(house.database) == set()


POLISH = "Żółta łódź stoi przy śluzie i czeka na gości."
JAPANESE = "倉庫の鍵は赤い箱の中にあります。"


@pytest.mark.parametrize(
    ("raw", "charset", "told"),
    [
        (POLISH.encode("iso8859-2"), "ISO-8859-2", POLISH),
        (JAPANESE.encode("shift_jis"), "Shift_JIS", JAPANESE),
        (POLISH.encode(), "iso-8859-2", POLISH),
        (JAPANESE.encode("shift_jis"), "gb2312", None),
        (POLISH.encode("iso8859-2"), "idna", None),
        (POLISH.encode("iso8859-2"), "no such thing\0", None),
        (POLISH.encode("iso8859-2"), None, None),
        (b"%PDF-1.7\xff\xfe", "iso-8859-2", None),
        (b"\xb6" * 60, "iso-8859-2", None),
    ],
    ids=[
        "Polish",
        "Japanese",
        "UTF-8 all the same",
        "not right",
        "no charset",
        "unknown",
        "none",
        "a PDF",
        "too large",
    ],
)
def test_a_text_is_read_in_the_encoding_that_its_server_names(
    tmp_path: Path, raw: bytes, charset: str | None, told: str | None
) -> None:
    path = tmp_path / "blob"
    path.write_bytes(raw)
    read = links.in_unicode(path, charset, tmp_path / "work", max_bytes=100)
    if told is None:
        assert read == path
    else:
        assert read.read_bytes().decode("utf-8-sig") == told
    assert path.read_bytes() == raw
