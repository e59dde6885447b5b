from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.messages.whatsapp import chat_name
from tests.ingest.messages.exports import SAMPLES, START, Read, archive

RUSSIAN = SAMPLES / "Чат WhatsApp с Анна.txt"
NAME = "WhatsApp Chat with Anna.txt"


def test_a_chat_of_android_in_russian_is_read(read: Read) -> None:
    first, second = read(RUSSIAN, zone="Europe/Moscow", own_names=["+7 999 111-22-33"])
    assert (first.channel_type, first.title, first.direction, first.occured_at) == ("whatsapp", "Анна", "in", START)
    assert [(turn.label, turn.text, [media.type for media in turn.media]) for turn in first.turns] == [
        ("SPEAKER_00", "Здравствуйте!\nНужен замер:\nкрыша и забор", []),
        ("SPEAKER_00", "вот крыша", ["image"]),
        ("SPEAKER_01", "", ["file"]),
        ("SPEAKER_01", "Приедем 4.03", []),
    ]
    assert [(person.name, person.external_id, person.role) for person in first.people] == [
        ("Анна", None, "client"),
        ("+7 999 111-22-33", "+79991112233", "employee"),
    ]
    assert [turn.text for turn in second.turns] == ["ждём"]
    assert second.record_id.endswith("-20260304T090000")
    assert len(second.record_id) <= 64


def test_a_chat_of_an_iphone_is_read(read: Read) -> None:
    first, second = read(SAMPLES / "_chat.txt", declared_name="WhatsApp Chat - Kate Brown.txt")
    assert first.title == "Kate Brown"
    assert first.turns[0].at == datetime(2026, 3, 3, 21, 5, 9, tzinfo=UTC)
    assert [(turn.text, [(media.type, media.name) for media in turn.media]) for turn in first.turns] == [
        ("Hello there", []),
        ("", [("image", "00000012-PHOTO-2026-03-03-21-06-00.jpg")]),
        ("", [("audio", None)]),
    ]
    assert [person.name for person in first.people] == ["Kate Brown", "Tom"]
    assert [(turn.text, turn.at) for turn in second.turns] == [("See you", datetime(2026, 3, 13, 0, 1, tzinfo=UTC))]


def test_the_archive_of_a_chat_brings_its_files_and_its_name(read: Read, tmp_path: Path) -> None:
    files = {
        "_chat.txt": (SAMPLES / "_chat.txt").read_bytes(),
        "00000012-PHOTO-2026-03-03-21-06-00.jpg": b"\xff\xd8\xff",
    }
    first, _ = read(archive(tmp_path / "WhatsApp Chat - Kate Brown.zip", files))
    assert first.title == "Kate Brown"
    assert first.turns[1].media[0].path.read_bytes() == b"\xff\xd8\xff"
    text, _ = read(SAMPLES / "_chat.txt", declared_name="WhatsApp Chat with Kate Brown (2).txt")
    assert text.record_id == first.record_id


@pytest.mark.parametrize(
    ("lines", "days"),
    [
        (["03/04/26, 10:15 - A: x", "13/04/26, 10:15 - A: y"], [(4, 3), (4, 13)]),
        (["03/04/26, 10:15 - A: x", "04/13/26, 10:15 - A: y"], [(3, 4), (4, 13)]),
        (["12/01/26, 10:15 - A: x", "01/02/26, 10:15 - A: y"], [(1, 12), (2, 1)]),
        (["11/12/25, 10:15 - A: x", "01/02/26, 10:15 - A: y", "01/03/26, 1:00 - A: z"], [(11, 12), (1, 2), (1, 3)]),
        (["3/4/26, 10:15 AM - A: x", "3/4/26, 11:15 PM - A: y"], [(3, 4), (3, 4)]),
        (["3/4/26, 10:15 - A: x", "3/4/26, 23:15 - A: y"], [(4, 3), (4, 3)]),
        (["3.4.26, 10:15 - A: x", "3.4.26, 23:15 - A: y"], [(4, 3), (4, 3)]),
        (["2026-03-04, 10:15 - A: x", "2026-03-05, 23:15 - A: y"], [(3, 4), (3, 5)]),
        (["[2026/03/04, 10:15:00] A: x", "[2026/03/05, 1:15:00] A: y"], [(3, 4), (3, 5)]),
    ],
)
def test_day_and_month_are_told_by_the_whole_file(read: Read, lines: list[str], days: list[tuple[int, int]]) -> None:
    sessions = read("\n".join(lines), declared_name=NAME)
    at = [turn.at for session in sessions for turn in session.turns]
    assert [(each.month, each.day) for each in at] == days


@pytest.mark.parametrize(
    ("time", "hour"),
    [("12:05 AM", 0), ("12:05 PM", 12), ("1:05 pm", 13), ("9:05\u202fp.\u202fm.", 21), ("21:05", 21), ("9.05", 9)],
)
def test_hours_are_read_by_both_clocks(read: Read, time: str, hour: int) -> None:
    (session,) = read(f"3/4/26, {time} - Anna: Hello", declared_name=NAME)
    assert session.turns[0].at.hour == hour


@pytest.mark.parametrize(
    "line",
    [
        "Messages and calls are end-to-end encrypted. No one outside of this chat can read them.",
        'Bob changed the subject from "Roof: 1" to "Roof: 2"',
        "Bob added Carl",
        "Bob: This message was deleted",
        "Bob: Вы удалили это сообщение",
        "Bob: Missed voice call",
        "Bob: Пропущенный видеозвонок",
        "Bob: null",
        "https://example.com",
    ],
)
def test_lines_of_the_system_are_left_out(read: Read, line: str) -> None:
    (session,) = read(f"3/4/26, 10:15 - Bob: Hello\n3/4/26, 10:16 - {line}\n", declared_name=NAME)
    assert [turn.text for turn in session.turns] == ["Hello"]


def test_lines_of_the_system_are_left_out_on_an_iphone(read: Read) -> None:
    text = "[03.04.2026, 10:15:00] Bob: Hello\n[03.04.2026, 10:15:01] Roof group: \u200eBob created this group\n"
    (session,) = read(text, declared_name=NAME)
    assert [turn.text for turn in session.turns] == ["Hello"]


def test_a_date_in_the_other_style_is_text(read: Read) -> None:
    text = "3/4/26, 10:15 - Bob: He wrote:\n[3/4/26, 10:15:00] Carl: Hi\n3/4/26, 10:16 - Bob: so\n"
    (session,) = read(text, declared_name=NAME)
    assert [turn.text for turn in session.turns] == ["He wrote:\n[3/4/26, 10:15:00] Carl: Hi", "so"]


def test_a_newer_export_adds_to_the_last_session_whatever_the_zone(read: Read) -> None:
    old = read("3/4/26, 10:15 - Bob: 1\n3/14/26, 10:15 - Bob: 2\n", declared_name=NAME)
    text = "3/4/26, 10:15 - Bob: 1\n3/14/26, 10:15 - Bob: 2\n3/14/26, 10:15 - Bob: 3\n3/20/26, 10:15 - Bob: 4\n"
    new = read(text, declared_name="WhatsApp Chat with Anna (1).txt", zone="UTC")
    assert new[0] == old[0]
    assert new[1].turns[:1] == old[1].turns
    assert new[1].record_id == old[1].record_id
    elsewhere = read(text, declared_name=NAME, zone="Asia/Tokyo")
    assert [each.record_id for each in elsewhere] == [each.record_id for each in new]


@pytest.mark.parametrize(
    ("file", "chat"),
    [
        ("WhatsApp Chat with Anna.txt", "Anna"),
        ("WhatsApp Chat - Roof & Co.zip", "Roof & Co"),
        ("Чат WhatsApp с контактом Анна Петрова (3).zip", "Анна Петрова"),
        ("Чат WhatsApp с Анна.txt", "Анна"),
        ("_chat.txt", None),
        ("notes.txt", None),
    ],
)
def test_a_chat_is_named_by_its_file(file: str, chat: str | None) -> None:
    assert chat_name(file) == chat


GIVEN = [
    "IMG-20260304-WA0001.jpg",
    "VID-20260304-WA0012.mp4",
    "PTT-20260304-WA0003.opus",
    "AUD-20260304-WA0004.m4a",
    "DOC-20260304-WA0005.pdf",
    "DOC-20260304-WA0005..pdf",
    "STK-20260304-WA0006.webp",
    "00000012-PHOTO-2026-03-03-21-06-00.jpg",
    "00012345-AUDIO-2026-03-03-21-06-00.opus",
    "00000034-Contract with Roof.pdf",
]
TYPED = [
    "passwords.txt",
    "Contract.pdf",
    "20260304-salaries.xlsx",
    "03042026-salaries.xlsx",
    "IMG-20260304.jpg",
    "IMG_20260304_101500.jpg",
    "my IMG-20260304-WA0001.jpg",
    "IMG-20260304-WA0001.jpg.txt",
    "WhatsApp Chat with Anna.txt",
]


def brought(read: Read, folder: Path, names: list[str], **options: str) -> list[str]:
    """Which of these names, written as sent files, bring the file in the folder along."""
    folder.mkdir(exist_ok=True)
    lines = [f"3/4/26, 10:15 - Bob: {name} (file attached)" for name in names]
    for name in names:
        (folder / name).write_bytes(b"of the folder")
    export = folder / NAME
    export.write_text("\n".join(lines))
    (session,) = read(export, export_folder=folder, **options)
    files = [media for turn in session.turns for media in turn.media]
    assert [media.name for media in files] == names
    return [media.name for media in files if media.path is not None]


def test_of_a_folder_that_may_hold_anything_only_files_named_by_whatsapp_are_taken(read: Read, tmp_path: Path) -> None:
    assert brought(read, tmp_path / "Downloads", GIVEN + TYPED[:-1]) == GIVEN
    assert brought(read, tmp_path / "_chat", TYPED) == []


@pytest.mark.parametrize("name", ["WhatsApp Chat with Anna", "Чат WhatsApp с контактом Анна (2)"])
def test_of_a_folder_that_is_the_chats_own_all_its_files_are_taken(read: Read, tmp_path: Path, name: str) -> None:
    assert brought(read, tmp_path / name, GIVEN + TYPED[:-1]) == GIVEN + TYPED[:-1]


def test_an_iphones_line_names_no_file_of_the_folder_either(read: Read, tmp_path: Path) -> None:
    (tmp_path / "passwords.txt").write_bytes(b"hunter2")
    text = "[03.04.2026, 10:15:00] Bob: \u200e<attached: passwords.txt>\n"
    (session,) = read(text, declared_name=NAME, export_folder=tmp_path)
    assert [(media.name, media.path) for media in session.turns[0].media] == [("passwords.txt", None)]


def test_hostile_lines_are_held(read: Read) -> None:
    lines = [
        "3/4/26, 10:15 - Bob: Hello",
        "99/99/9999, 99:99 - Bob: no day",
        "3/4/26, 10:15 - " + "B" * 5000 + ": a name too long",
        "3/4/26, 10:15 - Bob: " + "long " * 300_000,
        "3/4/26, 10:16 - Bob: ../../etc/passwd.txt (file attached)",
        "3/4/26, 10:17 - Bob: a\0b",
        "3/4/26, 10:18 - Bob: " + "<" * 100_000,
    ]
    (session,) = read("\n".join(lines), declared_name=NAME)
    texts = [turn.text for turn in session.turns]
    assert texts[:2] == ["Hello", "no day"]
    assert texts[2].endswith("[…]")
    assert texts[3] == "../../etc/passwd.txt (file attached)"
    assert texts[4] == "ab"
    assert max(map(len, texts)) <= 200_000
