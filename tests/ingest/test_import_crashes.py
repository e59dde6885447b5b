"""What a kill leaves of an import goes by itself: blobs that nobody took in, and folders that nobody is at."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from ingest import import_media, timelines
from ingest.announced_blobs import announce, discard
from ingest.import_media import Files, add_upload, own_folder
from ingest.imports import Wishes, record
from ingest.messages.imported import ImportedMedia, ImportedTurn
from ingest.workshop import Workshop
from store import communications
from store.blobs import BlobInfo, Blobs
from store.ids import new_id
from store.media import Media
from tests.contract.test_imports import PATH
from tests.contract.test_imports_exports import MAIL
from tests.ingest.office import NOON, PNG, Office, chat
from tests.ingest.office import office as office
from tests.ingest.test_retention import WAIT_S, wait_for
from tests.store.conftest import database as database
from tests.support.announced import noted, pass_a_day
from tests.support.server import RunningServer


@pytest.fixture
def house(office: Office, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """As much of a workshop as housekeeping needs."""

    class Stub:
        settings, database, blobs = office.settings, office.database, office.blobs

    stub: Workshop = Stub()  # type: ignore[assignment]
    monkeypatch.setattr(import_media, "workshop", lambda: stub)
    monkeypatch.setattr(timelines, "workshop", lambda: stub)
    return stub


def turns_with(folder: Path, *names: str) -> tuple[ImportedTurn, ...]:
    for name in names:
        (folder / name).write_bytes(PNG)
    return tuple(
        ImportedTurn(name, None, NOON, media=(ImportedMedia("image", name, path=folder / name),)) for name in names
    )


def test_files_that_a_kill_kept_from_being_taken_in_go_after_a_day(
    office: Office, house: Workshop, tmp_path: Path
) -> None:
    Files(office.database, office.blobs, office.tenant_id, {}).put(turns_with(tmp_path, "a.png", "b.png"))
    # The process ends here.
    assert len(office.stored_files()) == 2
    timelines.sweep()
    assert len(office.stored_files()) == 2, "they may yet be taken in"
    pass_a_day(office.database)
    timelines.sweep()
    assert (office.stored_files(), noted(office.database)) == ([], set())


def test_each_file_is_noted_before_it_is_stored(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_file = office.blobs.put_file
    stored = []

    def put(key: str, path: Path) -> BlobInfo:
        assert key in noted(office.database)
        stored.append(key)
        return put_file(key, path)

    monkeypatch.setattr(office.blobs, "put_file", put)
    office.record(chat(turns=turns_with(tmp_path, "a.png", "b.png")))
    assert sorted(stored) == sorted(office.stored_files())
    assert noted(office.database) == set()


def test_files_that_are_taken_in_stay(office: Office, house: Workshop, tmp_path: Path) -> None:
    office.record(chat(turns=turns_with(tmp_path, "a.png", "b.png")))
    pass_a_day(office.database)
    assert noted(office.database) == set()
    assert len(office.stored_files()) == 2


def test_what_fails_leaves_neither_files_nor_notes(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = turns_with(tmp_path, "a.png", "b.png")

    def fail(*_: object) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        record(office.database, office.blobs, office.settings, office.tenant_id, chat(turns=turns), Wishes(), also=fail)
    assert (office.stored_files(), noted(office.database)) == ([], set())
    put_file = office.blobs.put_file

    def fill(key: str, path: Path) -> BlobInfo:
        if path.name == "b.png":
            raise OSError("the disk is full")
        return put_file(key, path)

    monkeypatch.setattr(office.blobs, "put_file", fill)
    with pytest.raises(OSError, match="full"):
        office.record(chat(turns=turns))
    assert (office.stored_files(), noted(office.database), office.count()) == ([], set(), 0)


def test_an_upload_goes_where_a_kill_came_and_stays_where_it_was_taken_in(office: Office, house: Workshop) -> None:
    def upload(media_id: str) -> BlobInfo:
        key = import_media.blob_key(office.tenant_id, media_id)
        announce(house.database, office.tenant_id, key)
        assert noted(office.database) == {key}
        return office.blobs.put(key, PNG)

    def nothing(_connection: object, _row: Media) -> None: ...

    killed, taken = new_id(), new_id()
    upload(killed)
    pass_a_day(office.database)
    timelines.sweep()
    assert (office.stored_files(), noted(office.database)) == ([], set())
    add_upload(house, office.tenant_id, media_id=taken, blob=upload(taken), name="a.png", also=nothing)
    pass_a_day(office.database)
    timelines.sweep()
    assert office.stored_files() == [import_media.blob_key(office.tenant_id, taken)]


def test_a_blob_that_cannot_be_removed_now_goes_later(
    office: Office, house: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = import_media.blob_key(office.tenant_id, "a")
    announce(house.database, office.tenant_id, key)
    office.blobs.put(key, PNG)

    def away(_: str) -> None:
        raise RuntimeError("the blob store is away")

    with monkeypatch.context() as patch:
        patch.setattr(office.blobs, "delete", away)
        discard(house.database, house.blobs, office.tenant_id, key)
    assert (office.blobs.exists(key), noted(office.database)) == (True, {key})
    pass_a_day(office.database)
    timelines.sweep()
    assert (office.blobs.exists(key), noted(office.database)) == (False, set())


HOLD = """
import sys
from pathlib import Path
from ingest.import_media import own_folder
from store.settings import Settings
with own_folder(Settings(data_dir=Path(sys.argv[1]), _env_file=None)) as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_a_folder_stays_while_its_import_lives_in_whatever_process_and_goes_after_a_kill(
    office: Office, house: Workshop
) -> None:
    command = [sys.executable, "-c", HOLD, str(office.settings.data_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        os.utime(folder, (0, 0))
        import_media.sweep_folders()
        assert folder.is_dir()
        process.kill()
    import_media.sweep_folders()
    assert not folder.exists()


def test_an_imports_folder_is_its_own_and_gone_afterwards(office: Office, house: Workshop) -> None:
    with own_folder(office.settings) as first, own_folder(office.settings) as second:
        assert first != second
        os.utime(first, (0, 0))
        import_media.sweep_folders()
        assert first.is_dir()
    assert list(import_media.work_folder(office.settings).iterdir()) == []


def test_the_export_of_an_import_that_a_kill_ended_goes_after_a_day(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", sweep_s="0.5")
    blobs = Blobs(server.settings)
    is_writing = threading.Event()

    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="one.eml"\r\n\r\n'
        assert is_writing.wait(WAIT_S)
        yield MAIL + b"\r\n--b--\r\n"

    try:
        account = server.start().new_client("client")

        def send() -> bool:
            headers = {"Content-Type": "multipart/form-data; boundary=b"}
            with suppress(httpx2.HTTPError):
                account.post(PATH, content=body(), headers=headers)
                return True
            return False

        def stored() -> list[str]:
            return [entry.key for entry in blobs.list(f"{account.tenant_id}/imports")]

        with ThreadPoolExecutor(1) as threads:
            sending = threads.submit(send)
            wait_for(lambda: bool(noted(server.database)), server)
            with server.database.write():
                # The import waits for this writer, when its export is stored.
                is_writing.set()
                wait_for(lambda: bool(stored()), server)
                server.kill()
            assert not sending.result(), "it was killed before it could answer"
        assert noted(server.database) == set(stored())
        server.start()
        with server.database.read() as connection:
            assert communications.count(account.tenant_id, connection) == 0
        pass_a_day(server.database)
        wait_for(lambda: not stored() and not noted(server.database), server)
    finally:
        server.close()
