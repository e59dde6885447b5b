"""Exports from disk: imported with the files beside them, once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from api import commands_imports
from api.commands_imports import Exports
from api.commands_ingest import list_files
from ingest.messages import detect
from ingest.messages.imported import ImportedConversation
from store import communications
from store.blobs import Blobs
from tests.contract.recordings import png
from tests.contract.test_imports_exports import MAIL, OTHER, mbox
from tests.support.server import Account

CHAT = {
    "name": "Anna",
    "type": "personal_chat",
    "id": 77,
    "messages": [
        {
            "id": 1,
            "type": "message",
            "date_unixtime": "1772614800",
            "from": "Anna",
            "from_id": "user1",
            "text": "Look",
            "photo": "photos/photo_1.jpg",
        },
        {
            "id": 2,
            "type": "message",
            "date_unixtime": "1772614860",
            "from": "Shop",
            "from_id": "user2",
            "text": "I see",
        },
    ],
}


@pytest.fixture
def exports(account: Account) -> Exports:
    return Exports(
        account.server.settings, account.server.database, Blobs(account.server.settings), account.tenant_id, ["Shop"]
    )


def test_exports_on_disk_are_imported_once_with_the_files_beside_them(
    account: Account, exports: Exports, tmp_path: Path
) -> None:
    (tmp_path / "photos").mkdir()
    photo = tmp_path / "photos" / "photo_1.jpg"
    photo.write_bytes(png())
    (tmp_path / "result.json").write_text(json.dumps(CHAT))
    (tmp_path / "box.mbox").write_bytes(mbox(MAIL, OTHER))
    (tmp_path / "broken.eml").write_bytes(b"From: \x00\nTo:")
    (tmp_path / "notes.txt").write_text("A note for ourselves.")
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    rows = {Path(row["file"]).name: row for row in exports.ingest(files)}
    assert rows["result.json"]["state"] == "1 imported, 0 known"
    assert rows["box.mbox"]["state"] == "2 imported, 0 known"
    assert "notes.txt" not in rows
    assert all(map(exports.has, (photo, tmp_path / "result.json", tmp_path / "box.mbox")))
    assert not exports.has(tmp_path / "notes.txt")
    with account.server.database.read() as connection:
        content = communications.list_content(account.tenant_id, connection, rows["result.json"]["id"])
    assert [item.text for _, item in content] == ["Look", "I see"]
    ref = content[0][1].media[0]["ref"]
    assert account.get(f"/public/v1/media/{ref}").content == png()
    again = {Path(row["file"]).name: row["state"] for row in exports.ingest(files)}
    assert (again["result.json"], again["box.mbox"]) == ("0 imported, 1 known", "0 imported, 2 known")


class Here:
    """Does a child's work in this process, so that a test can have its reader stumble."""

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def run(self, function: Callable[..., Any], *arguments: object) -> Any:
        return function(*arguments)


def test_an_export_that_breaks_its_reader_or_cannot_be_opened_is_told_of_and_the_rest_goes_on(
    exports: Exports, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_export = detect.read_export
    errors = {"a.eml": KeyError("hurt"), "b.eml": PermissionError(13, "Permission denied")}

    def read(path: Path, *arguments: Any, **options: Any) -> Iterator[ImportedConversation]:
        if path.name in errors:
            raise errors[path.name]
        yield from read_export(path, *arguments, **options)

    monkeypatch.setattr(detect, "read_export", read)
    monkeypatch.setattr(commands_imports, "ChildPool", Here)
    for name in ("a.eml", "b.eml", "c.eml"):
        (tmp_path / name).write_bytes(MAIL)
    rows = exports.ingest(sorted(tmp_path.glob("*.eml")))
    assert [row["state"] for row in rows] == [
        "skipped: It cannot be read.",
        "failed: Permission denied",
        "1 imported, 0 known",
    ]


def test_a_file_that_a_chat_names_and_whatsapp_did_not_is_left_to_itself(
    account: Account, exports: Exports, tmp_path: Path
) -> None:
    folder = tmp_path / "Downloads"
    folder.mkdir()
    (folder / "passwords.txt").write_text("hunter2")
    (folder / "IMG-20260304-WA0001.jpg").write_bytes(png())
    chat = folder / "WhatsApp Chat with Anna.txt"
    chat.write_text(
        "3/4/26, 10:15 - Anna: passwords.txt (file attached)\n"
        "3/4/26, 10:16 - Anna: IMG-20260304-WA0001.jpg (file attached)\n"
    )
    (row,) = exports.ingest(sorted(folder.iterdir()))
    with account.server.database.read() as connection:
        content = communications.list_content(account.tenant_id, connection, row["id"])
    first, second = (item.media[0] for _, item in content)
    assert (first["name"], first["ref"]) == ("passwords.txt", "")
    assert (second["name"], second["type"], second["ref"] != "") == ("IMG-20260304-WA0001.jpg", "image", True)
    assert not exports.has(folder / "passwords.txt")
    assert exports.has(folder / "IMG-20260304-WA0001.jpg")


def test_a_link_in_a_folder_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("secret")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "own.txt").write_text("own")
    (folder / "link.txt").symlink_to(outside)
    assert list_files([folder]) == [folder / "own.txt"]
