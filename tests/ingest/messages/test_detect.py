from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from ingest.messages import archive as archives
from ingest.messages.detect import Unreadable, is_export
from tests.ingest.messages.exports import SAMPLES, Read, archive, mail


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"Just a text\nwith lines\n",
        b"# A document\n\nTo: nobody\n",
        b"<html><body>a page</body></html>",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100,
        b"!BDN" + b"\0" * 100,
        b"%PDF-1.7",
        b"PK\x03\x04 and no more",
        b"PK\x05\x06" + b"\0" * 18,
        bytes(range(256)) * 10,
        b"2026-03-03 10:15:00 - INFO: started\n2026-03-03 10:15:01 - INFO: ready\n",
        b"[1, 2]",
        b"Note: a\nTitle: b\n\ntext",
    ],
    ids=lambda content: repr(content[:12]),
)
def test_what_is_no_export_is_refused(read: Read, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as refused:
        read(content)
    assert refused.value.message
    assert not is_export(tmp_path / "export")


@pytest.mark.parametrize("name", ["roof.mbox", "telegram/result.json", "telegram_html/messages.html", "_chat.txt"])
def test_exports_are_told_by_their_content(tmp_path: Path, name: str) -> None:
    path = tmp_path / "upload"
    path.write_bytes((SAMPLES / name).read_bytes())
    assert is_export(path, "upload")


def test_an_archive_of_mails_is_one_box(read: Read, tmp_path: Path) -> None:
    mails = {
        "mails/1.eml": mail("One").as_bytes(),
        "mails/2.eml": mail("Two", number=2, answers=1).as_bytes(),
        "mails/readme.txt": b"nothing",
        "__MACOSX/mails/._1.eml": b"From: x\nSubject: y\n\n",
    }
    (thread,) = read(archive(tmp_path / "mails.zip", mails))
    assert [turn.text for turn in thread.turns] == ["One", "Two"]
    assert list((tmp_path / "work").iterdir()) == []


def test_an_archive_of_several_chats_gives_them_all(read: Read, tmp_path: Path) -> None:
    files = {
        "a/WhatsApp Chat with Anna.txt": b"3/4/26, 10:15 - Anna: Hello\n",
        "b/WhatsApp Chat with Bob.txt": b"3/4/26, 10:15 - Bob: Hello\n",
    }
    assert [each.title for each in read(archive(tmp_path / "chats.zip", files))] == ["Anna", "Bob"]


def test_files_that_were_sent_in_a_chat_are_no_exports_themselves(read: Read, tmp_path: Path) -> None:
    files = {
        "Export/result.json": (SAMPLES / "telegram" / "result.json").read_bytes(),
        "Export/files/fwd.eml": mail("Sent in the chat").as_bytes(),
        **{f"Export/files/{number:04}.txt": b"text" for number in range(300)},
    }
    assert {each.channel_type for each in read(archive(tmp_path / "export.zip", files))} == {"telegram"}
    files = {"_chat.txt": (SAMPLES / "_chat.txt").read_bytes(), "1.eml": mail("Sent").as_bytes()}
    assert {each.channel_type for each in read(archive(tmp_path / "chat.zip", files))} == {"whatsapp"}


def test_an_archive_without_an_export_is_refused(read: Read, tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no export in the ZIP"):
        read(archive(tmp_path / "a.zip", {"a.txt": b"hello", "b.json": b"{}", "c.eml": b"hello"}))


def test_an_archive_that_unpacks_to_too_much_is_refused(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(Unreadable, match="unpacks to more"):
        read(archive(tmp_path / "bomb.zip", {"1.eml": mail("One").as_bytes(), "zeros": b"\0" * 1000}))


def test_an_archive_of_too_many_files_is_refused(read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "many.zip", {f"{number}.eml": b"" for number in range(30)})
    monkeypatch.setattr(archives, "MAX_FILES", 20)
    with pytest.raises(Unreadable, match="more than 20 files"):
        read(path)
    monkeypatch.setattr(archives, "_MAX_DIRECTORY_BYTES", 100)
    with pytest.raises(Unreadable, match="too many files"):
        read(path)


def test_an_encrypted_archive_is_refused(read: Read, tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"_chat.txt": b"x"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(Unreadable, match="encrypted"):
        read(path)


def test_paths_out_of_an_archive_and_links_in_it_are_left_alone(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as target:
        target.writestr("x/WhatsApp Chat with Anna.txt", "3/4/26, 10:15 - Anna: link.jpg (file attached)\n")
        target.writestr("../evil.eml", mail("Evil").as_bytes())
        target.writestr("/evil.eml", mail("Evil").as_bytes())
        target.writestr("C:\\evil.eml", mail("Evil").as_bytes())
        link = zipfile.ZipInfo("x/link.jpg")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        target.writestr(link, "/etc/passwd")
    (session,) = read(path)
    assert [(media.name, media.path) for media in session.turns[0].media] == [("link.jpg", None)]
    assert not list(tmp_path.rglob("evil.eml"))


def test_a_broken_file_in_an_archive_is_only_named(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "hurt.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as target:
        target.writestr("WhatsApp Chat with Anna.txt", "3/4/26, 10:15 - Anna: a.jpg (file attached)\n")
        target.writestr("a.jpg", b"content of the picture")
    path.write_bytes(path.read_bytes().replace(b"content of the", b"CONTENT OF THE"))
    (session,) = read(path)
    assert [(media.name, media.path) for media in session.turns[0].media] == [("a.jpg", None)]
