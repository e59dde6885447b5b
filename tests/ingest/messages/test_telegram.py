from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.messages import json_stream, sessions
from ingest.messages.detect import Unreadable
from tests.ingest.messages.exports import SAMPLES, START, Read, archive

FOLDER = SAMPLES / "telegram"


def message(number: int, text: Any = "Hello", **fields: Any) -> dict[str, Any]:
    at = 1772522100 + number * 60
    return {
        "id": number,
        "type": "message",
        "date_unixtime": str(at),
        "from": "Anna",
        "from_id": "user1",
        "text": text,
    } | fields


def chat(*messages: dict[str, Any], **fields: Any) -> str:
    return json.dumps({"name": "Anna", "type": "personal_chat", "id": 5} | fields | {"messages": list(messages)})


def test_a_chat_is_cut_at_its_silences(read: Read) -> None:
    first, second = read(FOLDER / "result.json", own_names=["Иван"])
    assert (first.kind, first.channel_type, first.title, first.grows) == ("chat", "telegram", "Анна Петрова", True)
    assert first.occured_at == START
    assert [(turn.label, turn.text) for turn in first.turns] == [
        ("SPEAKER_00", "Здравствуйте!"),
        ("SPEAKER_00", "Звоните: +79990000000 или сюда (https://client.example/form)"),
        ("SPEAKER_01", "Вот образец"),
        ("SPEAKER_00", ""),
        ("SPEAKER_00", "👍"),
    ]
    assert [(person.label, person.name, person.external_id, person.role) for person in first.people] == [
        ("SPEAKER_00", "Анна Петрова", "user1", "client"),
        ("SPEAKER_01", "Иван", "user2", "employee"),
    ]
    assert [turn.text for turn in second.turns] == ["Переслано от Склад:\nВсё есть", "ок"]
    assert (first.direction, second.direction) == ("in", "out")
    assert first.record_id.endswith("-11")
    assert second.record_id == first.record_id.replace("-11", "-16")


def test_files_of_an_export_are_found_in_its_folder_and_nowhere_else(read: Read) -> None:
    first, _ = read(FOLDER / "result.json", export_folder=FOLDER)
    photo, voice, sticker = (media for turn in first.turns for media in turn.media)
    assert (photo.type, photo.name, photo.path) == ("image", "photo_1.jpg", FOLDER / "photos" / "photo_1.jpg")
    assert (voice.type, voice.name, voice.path) == ("audio", "audio_1.ogg", None)
    assert (sticker.type, sticker.name, sticker.path) == ("image", None, None)
    without, _ = read(FOLDER / "result.json")
    assert [media.path for turn in without.turns for media in turn.media] == [None, None, None]


def test_a_link_out_of_the_export_is_not_followed(read: Read, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "away").symlink_to(tmp_path)
    files = ["link.txt", "away/secret.txt", "../secret.txt", str(tmp_path / "secret.txt"), "a\0b", "x" * 5000, "\ud83d"]
    export = folder / "result.json"
    export.write_text(chat(*(message(number, file=name) for number, name in enumerate(files, start=1))))
    (session,) = read(export, export_folder=folder)
    assert len(session.turns) == len(files)
    assert {media.path for turn in session.turns for media in turn.media} == {None}


def test_the_archive_of_an_export_brings_its_files(read: Read, tmp_path: Path) -> None:
    files = {
        f"ChatExport/{path.relative_to(FOLDER)}": path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()
    }
    zipped = archive(tmp_path / "export.zip", files)
    first, _ = read(zipped)
    media = first.turns[2].media[0]
    assert media.path.read_bytes() == files["ChatExport/photos/photo_1.jpg"]
    assert media.path.is_relative_to(tmp_path / "work")


def test_an_export_of_everything_gives_each_chat_and_knows_whose_it_is(read: Read) -> None:
    chats = [
        json.loads(chat(message(1), message(2, "Hi", **{"from": "Me", "from_id": "user9"}))),
        json.loads(chat(message(1, "News"), type="public_channel", id=6)),
        json.loads(chat(message(1, "Note"), type="saved_messages", id=7)),
        json.loads(chat(message(1, "In a group", from_id="user9"), type="private_supergroup", id=8, name="Group")),
    ]
    everything = {
        "about": "Here is the data",
        "personal_information": {"user_id": 9, "first_name": "Me", "phone_number": "+7"},
        "contacts": {"list": [{"first_name": ']}{[\\"'}]},
        "chats": {"about": "x", "list": chats},
        "left_chats": {"list": [json.loads(chat(message(4, "Left"), id=10))]},
    }
    found = read(json.dumps(everything, indent=1))
    assert [[turn.text for turn in each.turns] for each in found] == [["Hello", "Hi"], ["In a group"], ["Left"]]
    assert [each.direction for each in found] == ["in", "out", "in"]
    assert [person.role for person in found[0].people] == ["unknown", "employee"]
    assert len({each.record_id for each in found}) == 3


def test_a_newer_export_adds_to_the_last_session_and_changes_no_older_one(read: Read) -> None:
    day = 24 * 60
    old = read(chat(message(1), message(2), message(day)))
    new = read(chat(message(1), message(2), message(day), message(day + 1), message(3 * day)))
    assert new[0] == old[0]
    assert (new[1].record_id, new[1].turns[:1]) == (old[1].record_id, old[1].turns)
    assert len(new) == 3


def test_silence_counts_from_twelve_hours_on(read: Read) -> None:
    assert len(read(chat(message(0), message(12 * 60 - 1)))) == 1
    assert len(read(chat(message(0), message(12 * 60)))) == 2


def test_a_session_of_more_turns_than_a_conversation_takes_is_cut(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_TURNS", 2)
    found = read(chat(*map(message, range(1, 6))))
    assert [len(each.turns) for each in found] == [2, 2, 1]
    assert [each.record_id.rpartition("-")[2] for each in found] == ["1", "3", "5"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"contact_information": {"first_name": "Bob", "phone_number": "+7 1"}}, "Bob +7 1"),
        ({"location_information": {"latitude": 1.5, "longitude": 2}, "place_name": "Office"}, "Office, 1.5, 2"),
        ({"poll": {"question": "When?", "answers": [{"text": "Now"}, {"text": "Later"}]}}, "When?\n- Now\n- Later"),
        ({"text": ["a", {"type": "bold", "text": "b"}, {"type": "x"}, 5, None]}, "ab"),
    ],
)
def test_what_is_said_without_words_is_told(read: Read, fields: dict[str, Any], text: str) -> None:
    (session,) = read(chat(message(1, "", **fields) if "text" not in fields else message(1) | fields))
    assert session.turns[0].text == text


def test_old_exports_without_seconds_of_the_epoch_are_read_in_the_given_zone(read: Read) -> None:
    old = message(1) | {"date": "2026-03-03T10:15:00", "from_id": 17}
    del old["date_unixtime"]
    (session,) = read(chat(old), zone="Europe/Moscow")
    assert session.occured_at == START
    assert session.people[0].external_id == "user17"


def test_messages_that_are_none_are_left_out(read: Read) -> None:
    strange: list[Any] = [
        message(2, date_unixtime="-99999999999999"),
        message(3, date_unixtime="9" * 5000),
        message(4, date_unixtime="x", date=[]),
        message(5, None),
        5,
        None,
        [],
        {"type": "message"},
        message(6, {"text": "x"}),
    ]
    (session,) = read(json.dumps({"name": [1], "type": "personal_chat", "id": 1, "messages": [message(1), *strange]}))
    assert [turn.text for turn in session.turns] == ["Hello"]


@pytest.mark.parametrize(
    "content",
    [
        '{"messages": 5}',
        '{"messages": [',
        '{"messages": [{"id": 1',
        '{"messages": [}',
        '{"name": "a" "messages": []}',
        '{"chats": {}}',
        '{"messages": ' + "[" * 100_000,
        '{"about": ' + '{"a":' * 100_000 + ' "messages": [',
        '{"id": 5, "users": [1, 2]}',
        "{}",
        '{"messages": [{"text": "' + "a" * 1000,
    ],
    ids=lambda content: content[:20],
)
def test_other_json_is_refused(read: Read, content: str) -> None:
    with pytest.raises(Unreadable):
        read(content)


def test_a_message_is_read_however_the_file_is_cut_into_pieces(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(FOLDER / "result.json")
    for piece in (1, 2, 3, 7, 64):
        monkeypatch.setattr(json_stream, "_PIECE", piece)
        assert read(FOLDER / "result.json") == whole


def test_a_value_over_the_limit_is_refused(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_VALUE_CHARACTERS", 2000)
    monkeypatch.setattr(json_stream, "_PIECE", 100)
    with pytest.raises(Unreadable):
        read(chat(message(1, "a" * 10_000)))


def test_the_web_pages_of_a_chat_are_read(read: Read, tmp_path: Path) -> None:
    folder = SAMPLES / "telegram_html"
    first, second = read(folder / "messages.html", export_folder=folder)
    assert (first.title, first.occured_at) == ("Анна Петрова", START)
    assert [turn.text for turn in first.turns] == ["Здравствуйте!\nНужен замер.", ""]
    assert first.turns[1].media[0].name == "photo_1.jpg"
    assert [(turn.label, turn.text) for turn in second.turns] == [("SPEAKER_00", "Переслано от Склад:\nВсё есть")]
    assert second.people[0].name == "Иван"
    pages = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert read(archive(tmp_path / "pages.zip", pages)) == [first, second]
