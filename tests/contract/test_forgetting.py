"""Who is forgotten is named nowhere: neither by a name of before, nor by the file that a call came in."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from store import analysis, communications, corrections
from store.database import metadata, now
from tests.contract.recordings import tone, wav
from tests.support.server import Account
from tests.support.talks import BORIS, Someone, Talk, add_talk, fact, promise

PATH = "/public/v1/speakers"


def anna_was_petrova(account: Account) -> Talk:
    """A conversation in which everything calls Anna what she is not called any more."""
    talk = add_talk(
        account,
        people={"SPEAKER_00": BORIS, "SPEAKER_01": Someone("Анна Петрова", "cl-anna")},
        turns=[("SPEAKER_00", "Добрый день."), ("SPEAKER_01", "Здравствуйте.")],
        promises=[promise("Отправить Анне Петровой счёт", "SPEAKER_00", quote="Добрый день.")],
        facts=[fact("Работает с Анной Петровой", "SPEAKER_00", quote="Добрый день.")],
        title="Звонок Анны Петровой",
    )
    with account.server.database.write() as connection:
        analysis.put_summary(
            account.tenant_id,
            connection,
            talk.id,
            text="Анна Петрова спросила о счёте.",
            user_summary="С Анной Петровой говорили о счёте.",
            category="support",
            items=[],
        )
        corrections.add(
            account.tenant_id, connection, talk.id, kind="speaker", before="Анна Петрова", after="Boris", actor="x"
        )
    return talk


def rows_that_name(account: Account, *parts: str) -> list[str]:
    """Every row of the account that names one of them, whatever the case."""
    found = []
    with account.server.database.read() as connection:
        for table in metadata.sorted_tables:
            if "tenant_id" in table.c:
                for row in connection.execute(sa.select(table).where(table.c.tenant_id == account.tenant_id)):
                    text = repr(tuple(row))
                    found += [f"{table.name} {text}" for part in parts if part.lower() in text.lower()]
    return found


def forget(account: Account, speaker_id: str) -> None:
    assert account.request("DELETE", f"{PATH}/{speaker_id}").status_code == 204


@pytest.mark.parametrize("way", ["by a call", "by hand", "by hand, before a merge"])
def test_a_name_of_before_is_forgotten_with_the_one_of_now(account: Account, way: str) -> None:
    talk = anna_was_petrova(account)
    anna = talk.people["SPEAKER_01"]
    if way == "by a call":
        add_talk(
            account,
            people={"SPEAKER_00": Someone("Анна Смирнова", "cl-anna")},
            turns=[("SPEAKER_00", "Это снова я.")],
        )
    else:
        assert account.request("PATCH", f"{PATH}/{anna}", json={"name": "Анна Смирнова"}).status_code == 200
    if way == "by hand, before a merge":
        other = add_talk(account, people={"SPEAKER_00": Someone("Аня")}, turns=[("SPEAKER_00", "Это я.")])
        kept = other.people["SPEAKER_00"]
        assert account.post(f"{PATH}/{kept}/merge", json={"speaker_id": anna}).status_code == 200
        anna = kept
    assert rows_that_name(account, "Петров") != []
    assert account.get(f"{PATH}/profile", params={"speaker_name": "Анна Петрова"}).status_code == 404
    forget(account, anna)
    assert rows_that_name(account, "Петров", "Смирнов") == []
    assert title(account, talk.id) == "Звонок —"
    assert read(account, talk.id)["summary_text"] == "— спросила о счёте."


@pytest.mark.parametrize(
    ("name", "written", "left"),
    [
        ("Ann", "Ann's manual: Annual plan, to Ann.", "—'s manual: Annual plan, to —."),
        ("Ann Lee", "Ann Lee called Ann Leeson.", "— called Ann Leeson."),
        ("Макс", "Максим Орлов ждёт Макса, Максом доволен.", "Максим Орлов ждёт —, — доволен."),
        ("Иван Петров", "Ивана Петрова ждёт Иван Петрович, с Иваном Петровым.", "— ждёт Иван Петрович, с —."),
    ],
)
def test_words_and_names_that_begin_alike_stay_as_they_are(
    account: Account, name: str, written: str, left: str
) -> None:
    talk = written_about(account, name, written)
    forget(account, talk.people["SPEAKER_00"])
    assert title(account, talk.id) == left
    assert_written(account, talk, left)


def test_a_double_name_is_somebody_elses(account: Account) -> None:
    talk = written_about(account, "Иван Петров", "Иван Петров и Иван Петров-Водкин, Иван Петров-то.")
    forget(account, talk.people["SPEAKER_00"])
    assert_written(account, talk, "— и Иван Петров-Водкин, —-то.")


def written_about(account: Account, name: str, text: str) -> Talk:
    """A conversation with Максим Орлов, of which the text is title, summary and what he is remembered by."""
    talk = add_talk(
        account,
        people={"SPEAKER_00": Someone(name, "cl-1"), "SPEAKER_01": Someone("Максим Орлов", "cl-2")},
        turns=[("SPEAKER_00", "Добрый день."), ("SPEAKER_01", "Здравствуйте.")],
        facts=[fact(text, "SPEAKER_01", quote="Здравствуйте.")],
        title=text,
    )
    with account.server.database.write() as connection:
        analysis.put_summary(
            account.tenant_id, connection, talk.id, text=text, user_summary=text, category="support", items=[]
        )
    return talk


def assert_written(account: Account, talk: Talk, text: str) -> None:
    found = read(account, talk.id)
    assert (found["summary_text"], found["user_summary"]) == (text, text)
    colleague = account.get(f"{PATH}/profile", params={"speaker_external_id": "cl-2"}).json()
    assert colleague["speaker_name"] == "Максим Орлов"
    assert [item["content"] for item in colleague["summary_items"]] == [text]


def test_a_name_of_long_ago_is_forgotten_too(account: Account) -> None:
    talk = anna_was_petrova(account)
    anna = talk.people["SPEAKER_01"]
    for number in range(5):
        assert account.request("PATCH", f"{PATH}/{anna}", json={"name": f"Анна {number}"}).status_code == 200
    forget(account, anna)
    assert rows_that_name(account, "Петров") == []


@pytest.mark.parametrize(
    ("file_name", "left"),
    [
        ("Anna Petrova.wav", "—.wav"),
        ("petrova_anna-2026-03-04.wav", "—-2026-03-04.wav"),
        ("call of AnnaPetrova2.wav", "call of —2.wav"),
        ("Joanna Petrova.wav", "Joanna Petrova.wav"),
    ],
)
def test_a_recording_is_not_called_by_who_is_forgotten(account: Account, file_name: str, left: str) -> None:
    people = json.dumps([{"id": "cl-anna", "name": "Anna Petrova"}])
    answer = account.upload_audio(wav(tone(1)), file_name, speakers=people, summary="false")
    assert answer.status_code == 202, answer.text
    id_ = account.finished_task(answer.json()["task_id"])["communication_id"]
    (anna,) = read(account, id_)["speakers"]
    assert read(account, id_)["recording"]["name"] == file_name
    forget(account, anna["id"])
    assert (read(account, id_)["recording"]["name"], title(account, id_)) == (left, left.removesuffix(".wav"))
    sound = account.get(f"/public/v1/media/{id_}")
    assert sound.status_code == 200
    if left != file_name:
        assert "anna" not in sound.headers["content-disposition"].lower()
        assert rows_that_name(account, "petrova") == []


def test_a_file_of_a_message_is_not_called_by_who_is_forgotten(account: Account) -> None:
    uploaded = account.post("/public/v1/media", files={"file": ("Смирнова_Анна.txt", b"An offer.")}).json()
    body: dict[str, Any] = {
        "kind": "chat",
        "channel_type": "telegram",
        "occured_at": (now() - timedelta(hours=1)).isoformat(),
        "speakers": [{"id": "cl-anna", "name": "Анна Смирнова", "role": "client", "label": "a"}],
        "content": [{"label": "a", "text": "The offer", "media": [{"ref": uploaded["ref"]}]}],
    }
    answer = account.post("/public/v1/communications", json=body)
    assert answer.status_code < 300, answer.text
    id_ = answer.json()["communication_id"]
    (anna,) = read(account, id_)["speakers"]
    assert "Смирнова_Анна" in json.dumps(read(account, id_), ensure_ascii=False)
    forget(account, anna["id"])
    assert "—.txt" in json.dumps(read(account, id_)["content"], ensure_ascii=False)
    assert rows_that_name(account, "Смирнова") == []
    assert (
        "—".encode().hex("%").upper()
        in account.get(f"/public/v1/media/{uploaded['ref']}").headers["content-disposition"]
    )


def read(account: Account, communication_id: str) -> dict[str, Any]:
    found: dict[str, Any] = account.get("/public/v1/communications", params={"id": communication_id}).json()
    return found


def title(account: Account, communication_id: str) -> str:
    with account.server.database.read() as connection:
        found = communications.get(account.tenant_id, connection, communication_id)
    assert found is not None
    return found.title
