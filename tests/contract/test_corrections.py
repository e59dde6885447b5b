"""Corrections of a timeline with their history, analysing anew, and deleting a communication with all of it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from store import accounts, analyses, analysis, communications, index_work, speakers, transcriptions, voices
from store.analysis import NewItem
from store.blobs import BlobMissing, Blobs
from store.communications import ContentItem
from store.database import now
from store.ids import new_id
from store.speakers import Attending
from store.voices import Voice
from tests.contract.described import get_described
from tests.contract.waiting import eventually
from tests.support.server import Account

PATH = "/public/v1/communications"
SAID = ("Where is my gravelmoth lamp", "It leaves today before noon", "Thank you very much indeed")


def add_call(account: Account, *, labels: tuple[str, ...] = ("SPEAKER_00", "SPEAKER_01", "SPEAKER_02")) -> str:
    with account.server.database.write() as connection:
        row = communications.create(
            account.tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title="", is_closed=True
        )
        items = [
            ContentItem("audio_utterance", text, label, number * 1000, number * 1000 + 900, row.occured_at)
            for number, (text, label) in enumerate(zip(SAID, labels, strict=True))
        ]
        communications.replace_content(account.tenant_id, connection, row.id, items)
        index_work.add(account.tenant_id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=row.id)
    return row.id


def read(account: Account, call: str) -> dict[str, Any]:
    return get_described(account, PATH, id=call)


def correct(account: Account, call: str, idx: object, **body: Any) -> Any:
    return account.request("PATCH", f"{PATH}/{call}/content/{idx}", json=body)


def correct_speaker(account: Account, call: str, **body: Any) -> Any:
    return account.request("PATCH", f"{PATH}/{call}/speakers", json=body)


def history(account: Account, call: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = get_described(
        account, f"{PATH}/{call}/corrections", described_as=f"{PATH}/{{communication_id}}/corrections"
    )["items"]
    return items


def found(account: Account, words: str) -> list[str]:
    page = get_described(account, f"{PATH}/search", query=words)
    return [each["id"] for each in page["items"] if words.split()[0] in each["passage"]["text"]]


def test_a_corrected_text_is_read_found_and_remembered_with_what_was_there(account: Account) -> None:
    call = add_call(account)
    answer = correct(account, call, 0, text="Where is my quillfeather lamp")
    assert answer.status_code == 200, answer.text
    assert read(account, call)["content"][0]["text"] == "Where is my quillfeather lamp"
    (kept,) = history(account, call)
    assert (kept["kind"], kept["idx"], kept["before"], kept["after"]) == (
        "text",
        0,
        SAID[0],
        "Where is my quillfeather lamp",
    )
    assert kept["actor"].startswith("key sk_live_")
    # The index follows before the answer.
    assert found(account, "quillfeather lamp") == [call]
    assert found(account, "gravelmoth lamp") == []
    correct(account, call, 0, text=SAID[0])
    assert [each["after"] for each in history(account, call)] == [SAID[0], "Where is my quillfeather lamp"]


def test_the_same_text_again_is_no_correction(account: Account) -> None:
    call = add_call(account)
    assert correct(account, call, 0, text=SAID[0]).status_code == 200
    assert history(account, call) == []


def test_a_turn_can_be_given_to_another_speaker(account: Account) -> None:
    call = add_call(account)
    assert correct(account, call, 2, label="SPEAKER_00").status_code == 200
    assert [item["label"] for item in read(account, call)["content"]] == ["SPEAKER_00", "SPEAKER_01", "SPEAKER_00"]
    (kept,) = history(account, call)
    assert (kept["kind"], kept["before"], kept["after"]) == ("label", "SPEAKER_02", "SPEAKER_00")


def test_wrong_corrections_are_refused(account: Account, new_account: Callable[..., Account]) -> None:
    call = add_call(account)
    assert correct(account, call, 0).status_code == 400
    assert correct(account, call, 0, text="  ").json()["error"]["param"] == "text"
    assert correct(account, call, 0, label="SPEAKER_09").json()["error"]["param"] == "label"
    assert correct(account, call, 0, other="x").status_code == 400
    for idx in (3, 10**9, "9" * 5000, "first", "-1"):
        assert correct(account, call, idx, text="Hello").status_code == 404, idx
    assert correct_speaker(account, call, label="SPEAKER_07", name="Anna").status_code == 404
    assert correct_speaker(account, call, label="SPEAKER_00", speaker_id=new_id()).json()["error"]["param"] == (
        "speaker_id"
    )
    other = new_account()
    assert correct(other, call, 0, text="Hello").status_code == 404
    assert correct_speaker(other, call, label="SPEAKER_00", name="Eve").status_code == 404
    assert other.get(f"{PATH}/{call}/corrections").status_code == 404
    assert history(account, call) == []


def test_a_voice_is_said_to_be_somebodys_and_nobodys_again(account: Account) -> None:
    call = add_call(account)
    assert correct_speaker(account, call, label="SPEAKER_00", name="Анна", role="client").status_code == 200
    (anna,) = read(account, call)["speakers"]
    assert (anna["name"], anna["role"], anna["label"]) == ("Анна", "client", "SPEAKER_00")
    with account.server.database.write() as connection:
        boris = speakers.upsert(account.tenant_id, connection, external_id="b-1", name="Boris", role="support")
    assert correct_speaker(account, call, label="SPEAKER_00", speaker_id=boris.id).status_code == 200
    labels = {each["name"]: each["label"] for each in read(account, call)["speakers"]}
    assert labels == {"Анна": None, "Boris": "SPEAKER_00"}
    assert correct_speaker(account, call, label="SPEAKER_00").status_code == 200
    assert all(each["label"] is None for each in read(account, call)["speakers"])
    kept = [(each["kind"], each["before"], each["after"]) for each in history(account, call)]
    assert kept == [("speaker", "Boris", None), ("speaker", "Анна", "Boris"), ("speaker", None, "Анна")]


def test_who_was_another_was_not_heard_there(account: Account) -> None:
    call = add_call(account)
    correct_speaker(account, call, label="SPEAKER_00", name="Boris", role="client")
    boris = read(account, call)["speakers"][0]["id"]
    with account.server.database.write() as connection:
        heard = {"SPEAKER_00": Voice((1.0, 0.0), 5000)}
        voices.put_heard(account.tenant_id, connection, call, model="test", voices=heard)
        assert voices.teach(account.tenant_id, connection, call, "SPEAKER_00", boris)
    assert correct_speaker(account, call, label="SPEAKER_00", name="Анна", role="client").status_code == 200
    assert voices_of(account) == ([], [None]), "Anna's voice is not Boris's"
    anna = next(each["id"] for each in read(account, call)["speakers"] if each["name"] == "Анна")
    assert correct_speaker(account, call, label="SPEAKER_02", speaker_id=anna).status_code == 200
    assert account.request("DELETE", f"/public/v1/speakers/{anna}").status_code == 204
    assert voices_of(account) == ([], []), "who is forgotten is heard nowhere"


def voices_of(account: Account) -> tuple[list[str], list[str | None]]:
    """Whose voices are known, and whom each that was heard taught."""
    known, heard = voices.speaker_voices.c, voices.heard_voices.c
    with account.server.database.read() as connection:
        return (
            list(connection.execute(sa.select(known.speaker_id).where(known.tenant_id == account.tenant_id)).scalars()),
            list(
                connection.execute(
                    sa.select(heard.taught_speaker_id).where(heard.tenant_id == account.tenant_id)
                ).scalars()
            ),
        )


def test_one_voice_that_was_taken_for_two_becomes_one(account: Account) -> None:
    call = add_call(account)
    with account.server.database.write() as connection:
        heard = {label: Voice((1.0, 0.0), 5000) for label in ("SPEAKER_00", "SPEAKER_02")}
        voices.put_heard(account.tenant_id, connection, call, model="test", voices=heard)
    correct_speaker(account, call, label="SPEAKER_00", name="Анна", role="client")
    anna = read(account, call)["speakers"][0]["id"]
    assert correct_speaker(account, call, label="SPEAKER_02", speaker_id=anna).status_code == 200
    details = read(account, call)
    assert [item["label"] for item in details["content"]] == ["SPEAKER_00", "SPEAKER_01", "SPEAKER_00"]
    assert [each["label"] for each in details["speakers"]] == ["SPEAKER_00"]
    assert voices_of(account) == ([], [None]), "nothing is kept under a label that is not there"


def test_nothing_is_corrected_or_ordered_while_it_is_analysed(account: Account) -> None:
    call = add_call(account)
    with account.server.database.write() as connection:
        # Waits for a text that never comes, so that nobody works on it.
        analyses.put(
            account.tenant_id,
            connection,
            call,
            task_id=None,
            user_prompt=None,
            webhook_url=None,
            key_id=None,
            is_ready=False,
            hold_key=f"analysis:{call}",
            analysis_id=new_id(),
        )
    for answer in (
        correct(account, call, 0, text="Hello"),
        correct_speaker(account, call, label="SPEAKER_00", name="Anna"),
        account.post(f"{PATH}/{call}/analysis", json={}),
    ):
        assert answer.status_code == 409, answer.text
        assert answer.json()["error"]["code"] == "in_work"


def test_an_analysis_is_made_again_of_the_corrected_text_and_charged_like_the_first(
    account: Account,
) -> None:
    call = add_call(account)

    def analysed() -> dict[str, Any]:
        return eventually(lambda: read(account, call), lambda found: found["summary_generation_status"] == "success")

    before = Decimal(account.balance()["balance_rub"])
    assert read(account, call)["analysed_at"] is None
    ordered = account.post(f"{PATH}/{call}/analysis", json={})
    assert ordered.status_code == 202, ordered.text
    assert ordered.json()["summary_generation_status"] == "pending"
    first_at = analysed()["analysed_at"]
    eventually(lambda: account.debits(), lambda debits: len(debits) == 1)
    correct(account, call, 1, text="We will send the quillfeather lamp tomorrow")
    eventually(
        lambda: account.post(f"{PATH}/{call}/analysis", json={}, headers={"Idempotency-Key": "again"}),
        lambda answer: answer.status_code == 202,
    )
    again = account.post(f"{PATH}/{call}/analysis", json={}, headers={"Idempotency-Key": "again"})
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (202, "true")
    first, second = eventually(lambda: account.debits(), lambda debits: len(debits) == 2)
    assert first["amount_rub"] == second["amount_rub"]
    assert Decimal(account.balance()["balance_rub"]) < before
    (corrected,) = history(account, call)
    assert first_at < corrected["created_at"] < analysed()["analysed_at"], "which is of the corrected text"


def test_what_the_balance_cannot_bear_is_not_analysed(new_account: Callable[..., Account]) -> None:
    poor = new_account(balance_rub="0")
    call = add_call(poor)
    answer = poor.post(f"{PATH}/{call}/analysis", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "client_inactive")


def test_nothing_is_analysed_where_nothing_was_said(account: Account) -> None:
    with account.server.database.write() as connection:
        row = communications.create(
            account.tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title=""
        )
    answer = account.post(f"{PATH}/{row.id}/analysis", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_content")


def test_a_deleted_communication_leaves_nothing_behind(account: Account) -> None:
    call = add_call(account)
    key = f"{account.tenant_id}/audio/{new_id()}"
    blobs = Blobs(account.server.settings)
    blobs.put(key, b"sound")
    with account.server.database.write() as connection:
        task = transcriptions.create(
            account.tenant_id,
            connection,
            communication_id=call,
            blob_key=key,
            file_name="call.wav",
            parameters={},
            occured_at=now(),
        )
        transcriptions.update(account.tenant_id, connection, task.id, status="success", progress=1.0)
        person = speakers.upsert(account.tenant_id, connection, external_id="p", name="Anna", role="client")
        speakers.attach(account.tenant_id, connection, call, [Attending(person.id, "client", "SPEAKER_00")])
        fact = NewItem("memory", "Owns a gravelmoth lamp", speaker_id=person.id)
        analysis.add_memory(account.tenant_id, connection, call, [fact])
        index_work.add(account.tenant_id, connection, action=index_work.INDEX_MEMORY, subject_id=person.id)
    correct(account, call, 1, text="It leaves tomorrow")
    eventually(lambda: found(account, "gravelmoth lamp"), bool)
    learned = get_described(account, f"{PATH}/{call}/memory", described_as=f"{PATH}/{{communication_id}}/memory")[
        "items"
    ]
    assert [each["content"] for each in learned] == ["Owns a gravelmoth lamp"]
    assert account.request("DELETE", f"{PATH}/{call}").status_code == 204
    assert account.get(PATH, params={"id": call}).status_code == 404
    assert account.request("DELETE", f"{PATH}/{call}").status_code == 404
    for path in ("corrections", "memory", "words", "waveform", "export?format=txt"):
        assert account.get(f"{PATH}/{call}/{path}").status_code == 404, path
    assert found(account, "gravelmoth lamp") == []
    assert "gravelmoth" not in str(account.call_tool("search_memory", query="lamp"))
    assert account.get(f"/public/v1/media/{call}").status_code == 404
    with pytest.raises(BlobMissing):
        blobs.size(key)
    with account.server.database.read() as connection:
        assert accounts.get_tenant(account.tenant_id, connection) is not None
        assert index_work.get(account.tenant_id, connection, index_work.DELETE_BLOB, task.id) is None


def test_another_account_deletes_nothing(account: Account, new_account: Callable[..., Account]) -> None:
    call = add_call(account)
    assert new_account().request("DELETE", f"{PATH}/{call}").status_code == 404
    assert read(account, call)["id"] == call
