"""Exports of a communication, the waveform of its recording, and when its words were said."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from datetime import UTC, datetime

import pypdfium2
import pytest

from store import analysis, communications, speakers, transcriptions
from store.analysis import CriterionResult, NewItem
from store.blobs import Blobs
from store.communications import ContentItem
from store.ids import new_id
from store.speakers import Attending
from tests.contract.described import get_described
from tests.contract.recordings import spoken, tone, wav
from tests.support.server import Account

PATH = "/public/v1/communications"
AT = datetime(2026, 3, 4, 9, tzinfo=UTC)
HOSTILE = "<b>жирный</b> & <script>alert(1)</script> <para>"


def add_call(account: Account) -> str:
    with account.server.database.write() as connection:
        row = communications.create(
            account.tenant_id,
            connection,
            kind="call",
            channel_type="phone",
            occured_at=AT,
            title="",
            direction="in",
            request_record_id="crm-1",
            duration_ms=65_000,
        )
        turns = [
            ContentItem("audio_utterance", "Здравствуйте, где мой заказ?", "SPEAKER_00", 0, 1500, AT),
            ContentItem("audio_utterance", HOSTILE, "SPEAKER_01", 61_250, None, AT),
        ]
        communications.replace_content(account.tenant_id, connection, row.id, turns)
        person = speakers.upsert(account.tenant_id, connection, external_id="c", name="Анна <i>", role="client")
        speakers.attach(account.tenant_id, connection, row.id, [Attending(person.id, "client", "SPEAKER_00")])
        items = [
            NewItem("commitment", "Перезвонить", None, {"deadline": "2026-03-06"}, person.id),
            NewItem("commitment", "Найти заказ.", None, {"deadline": "2026-11-12T15:00:00+05:00"}, person.id),
            NewItem("criteria", "Заказ потерян", "topic"),
            NewItem("criteria", "Сегодня же", "urgency"),
            NewItem("criteria", "Заказ потерян", "order_status"),
        ]
        analysis.put_summary(
            account.tenant_id, connection, row.id, text="Клиент спросил о заказе.", category="supply", items=items
        )
        analysis.put_qc(
            account.tenant_id,
            connection,
            row.id,
            scenario_code="existing_case",
            score_pct=50.0,
            comment=None,
            status="partial",
            criteria=[
                CriterionResult("greeting", "binary", True, "Здравствуйте"),
                CriterionResult("verification_done", "binary", None, state="not_applicable"),
                CriterionResult("tone_of_voice", "numeric", 0.84),
                CriterionResult("thanks", "binary", None, state="undecided"),
                CriterionResult("farewell", "binary", False),
            ],
        )
    return row.id


def export(account: Account, call: str, kind: str, **query: str) -> bytes:
    answer = account.get(f"{PATH}/{call}/export", params={"format": kind, **query})
    assert answer.status_code == 200, answer.text
    assert re.search(rf'^attachment; filename="call-2026-03-04-\d{{4}}\.{kind}"', answer.headers["content-disposition"])
    return answer.content


def test_text_has_the_analysis_and_who_said_what(account: Account) -> None:
    text = export(account, add_call(account), "txt").decode()
    for part in ("crm-1", "Анна <i>", "Клиент спросил о заказе."):
        assert part in text, part
    assert "[0:00] Анна <i>: Здравствуйте, где мой заказ?" in text
    assert f"[1:01] SPEAKER_01: {HOSTILE}" in text


def section(text: str, heading: str) -> list[str]:
    lines = text.splitlines()
    at = lines.index(heading) + 1
    return lines[at : lines.index("", at)]


def test_facts_stand_under_their_names_and_each_once(account: Account) -> None:
    text = export(account, add_call(account), "txt").decode()
    assert section(text, "ФАКТЫ") == ["• Тема, статус заказа: Заказ потерян", "• Срочность: Сегодня же"]


def test_days_are_written_as_people_read_them_in_the_accounts_time_zone(account: Account) -> None:
    assert account.request("PATCH", "/public/v1/settings", json={"time_zone": "Asia/Yekaterinburg"}).is_success
    call = add_call(account)
    text = export(account, call, "txt").decode()
    assert text.startswith("Звонок, входящий, 4 марта 2026, 14:00, 1:05\n")
    assert section(text, "ОБЕЩАНО") == [
        "• Перезвонить (до 6 марта 2026)",
        "• Найти заказ (до 12 ноября 2026, 15:00)",
    ]
    assert account.request("PATCH", "/public/v1/settings", json={"time_zone": "UTC"}).is_success
    assert "до 12 ноября 2026, 10:00" in export(account, call, "txt").decode()


def test_the_criteria_stand_with_their_results_and_words(account: Account) -> None:
    text = export(account, add_call(account), "txt").decode()
    assert section(text, "КАЧЕСТВО") == [
        "Обращение по открытому вопросу",
        "• Прощание: не выполнено",
        "• Благодарность: не удалось решить",
        "• Приветствие: выполнено — «Здравствуйте»",
        "• Тон: 0,8",
        "Здесь не применимо: Клиент проверен",
    ]


def test_headings_and_names_are_in_the_language_that_is_asked_for(account: Account) -> None:
    scenario = {"code": "existing_case", "name": "Наши заказы", "criteria": [{"code": "greeting", "name": "Привет"}]}
    assert account.request("PUT", "/public/v1/qc/scenarios", json={"items": [scenario]}).is_success
    call = add_call(account)
    text = export(account, call, "txt", language="en").decode()
    assert text.startswith("Call, incoming, 4 March 2026, 12:00, 1:05\nRecord: crm-1\nCategory: Orders and delivery\n")
    assert section(text, "PROMISED")[1] == "• Найти заказ (by 12 November 2026, 13:00)"
    assert section(text, "FACTS")[0] == "• Topic, order status: Заказ потерян"
    # What an account words itself is in its own words.
    assert section(text, "QUALITY") == [
        "Наши заказы",
        "• Farewell: not met",
        "• Thanks: could not be decided",
        "• Привет: met — “Здравствуйте”",
        "• Tone of voice: 0.8",
        "Does not apply here: Client verified",
    ]
    assert export(account, call, "json", language="en") == export(account, call, "json")
    refused = account.get(f"{PATH}/{call}/export", params={"format": "txt", "language": "de"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "language")


@pytest.mark.parametrize(
    ("title", "shown"),
    [("Счёт <b>12</b>", ["Тема: Счёт <b>12</b>", "Запись: mail-1"]), ("mail-1", ["Запись: mail-1"])],
    ids=["subject", "none"],
)
def test_a_mail_has_its_subject(account: Account, title: str, shown: list[str]) -> None:
    with account.server.database.write() as connection:
        mail = communications.create(
            account.tenant_id,
            connection,
            kind="email",
            channel_type="email",
            occured_at=AT,
            title=title,
            request_record_id="mail-1",
        )
    lines = account.get(f"{PATH}/{mail.id}/export", params={"format": "txt"}).text.splitlines()
    assert lines[: lines.index("")] == ["Письма, 4 марта 2026, 12:00", *shown]


def test_subtitles_are_numbered_and_never_overlap_a_blank_line(account: Account) -> None:
    assert export(account, add_call(account), "srt").decode() == (
        "1\n00:00:00,000 --> 00:00:01,500\nАнна <i>: Здравствуйте, где мой заказ?\n\n"
        f"2\n00:01:01,250 --> 00:01:09,250\nSPEAKER_01: {HOSTILE}\n"
    )


def test_a_pdf_shows_cyrillic_and_takes_no_text_for_markup(account: Account) -> None:
    document = pypdfium2.PdfDocument(export(account, add_call(account), "pdf"))
    text = "".join(page.get_textpage().get_text_bounded() for page in document)
    for part in (
        "Здравствуйте, где мой заказ?",
        "Клиент спросил о заказе.",
        "<script>alert(1)</script>",
        "Анна <i>",
        "Найти заказ (до 12 ноября 2026, 13:00)",
        "Приветствие: выполнено — «Здравствуйте»",
    ):
        assert part in text, part


def test_json_is_the_communication_as_it_is_read(account: Account) -> None:
    call = add_call(account)
    assert export(account, call, "json") == account.get(PATH, params={"id": call}).content
    get_described(account, f"{PATH}/{call}/export", described_as=f"{PATH}/{{communication_id}}/export", format="json")


def test_a_chat_has_no_subtitles_and_nobody_gets_anothers(
    account: Account, new_account: Callable[..., Account]
) -> None:
    said = {"kind": "chat", "channel_type": "telegram", "content": [{"text": "Hello"}]}
    chat = account.post(PATH, json=said).json()["communication_id"]
    path = f"{PATH}/{chat}/export"
    assert account.get(path, params={"format": "srt"}).json()["error"]["param"] == "format"
    assert account.get(path, params={"format": "docx"}).json()["error"]["param"] == "format"
    assert account.get(path).status_code == 400
    assert "Hello" in account.get(path, params={"format": "txt"}).text
    assert account.get(path, params={"format": "pdf"}).content.startswith(b"%PDF")
    other = new_account()
    for kind in ("txt", "json", "pdf"):
        assert other.get(path, params={"format": kind}).status_code == 404


def keep_recording(account: Account, call: str, audio: bytes, result: dict[str, object] | None = None) -> str:
    key = f"{account.tenant_id}/audio/{new_id()}"
    Blobs(account.server.settings).put(key, audio)
    with account.server.database.write() as connection:
        task = transcriptions.create(
            account.tenant_id,
            connection,
            communication_id=call,
            blob_key=key,
            file_name="call.wav",
            parameters={"words": True},
            occured_at=AT,
        )
        transcriptions.update(account.tenant_id, connection, task.id, status="success", progress=1.0, result=result)
    return key


def loud_then_silent() -> bytes:
    """Two seconds of a tone, then two of nothing, mono at 16 kHz."""
    sound = [round(12_000 * math.sin(number / 6)) for number in range(32_000)] + [0] * 32_000
    data = struct.pack(f"<{len(sound)}h", *sound)
    head = struct.pack(
        "<4sI8sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVEfmt ", 16, 1, 1, 16_000, 32_000, 2, 16, b"data", len(data)
    )
    return head + data


def test_a_waveform_is_made_once_and_kept(account: Account, new_account: Callable[..., Account]) -> None:
    call = add_call(account)
    path = f"{PATH}/{call}/waveform"
    assert account.get(path).status_code == 404
    key = keep_recording(account, call, loud_then_silent())
    found = get_described(account, path, described_as=f"{PATH}/{{communication_id}}/waveform")
    half = len(found["peaks"]) // 2
    assert found["duration_ms"] == 4000
    assert min(found["peaks"][2 : half - 2]) > 230
    assert max(found["peaks"][half + 2 :]) < 20
    Blobs(account.server.settings).delete(key)
    assert account.get(path).json() == found
    assert new_account().get(path).status_code == 404


def test_a_recording_that_nobody_can_read_has_no_waveform(account: Account) -> None:
    call = add_call(account)
    keep_recording(account, call, b"no sound at all")
    assert account.get(f"{PATH}/{call}/waveform").status_code == 404


def test_words_are_told_with_their_turn_until_somebody_corrects_it(account: Account) -> None:
    call = add_call(account)
    words = [{"word": "Здравствуйте,", "start": 0.0}, {"word": "где", "start": 0.7}]
    segments = [
        {"text": "Здравствуйте, где мой заказ?", "start": 0.0, "end": 1.5, "speaker": "SPEAKER_00", "words": words},
        {"text": "Not what stands there", "start": 61.25, "end": 62.0, "speaker": "SPEAKER_01", "words": words},
    ]
    keep_recording(account, call, b"", {"language": "ru", "text": "", "audio_duration_ms": 1, "segments": segments})
    path, described = f"{PATH}/{call}/words", f"{PATH}/{{communication_id}}/words"
    assert get_described(account, path, described_as=described)["items"] == [
        {"idx": 0, "words": [{"word": "Здравствуйте,", "start_ms": 0}, {"word": "где", "start_ms": 700}]}
    ]
    assert account.request("PATCH", f"{PATH}/{call}/content/0", json={"text": "Добрый день"}).status_code == 200
    assert get_described(account, path, described_as=described)["items"] == []


@pytest.mark.parametrize("seconds", [0.01, 3.0])
def test_short_recordings_have_fewer_parts(account: Account, seconds: float) -> None:
    call = add_call(account)
    keep_recording(account, call, wav(tone(seconds)))
    found = get_described(account, f"{PATH}/{call}/waveform", described_as=f"{PATH}/{{communication_id}}/waveform")
    assert 1 <= len(found["peaks"]) <= seconds * 50 + 1


def test_an_uploaded_recording_comes_back_with_waveform_and_words(account: Account) -> None:
    accepted = account.upload_audio(wav(spoken("04", 0, 4)), timestamp_detail="word", language="en").json()
    assert account.finished_task(accepted["task_id"])["transcription_status"] == "success"
    call = accepted["communication_id"]
    assert account.get(f"{PATH}/{call}/waveform").json()["duration_ms"] == pytest.approx(4000, abs=100)
    items = account.get(f"{PATH}/{call}/words").json()["items"]
    content = account.get(PATH, params={"id": call}).json()["content"]
    assert [item["idx"] for item in items] == [item["idx"] for item in content]
