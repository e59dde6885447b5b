"""GET /v1/communications: how one is found, what it holds, and what is left out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from store import communications, transcriptions
from store.communications import Communication, ContentItem
from store.ids import new_id
from tests.contract.conftest import ENGLISH_S, HeardCalls
from tests.contract.recordings import tone, wav
from tests.support.server import Account

PATH = "/public/v1/communications"
JOB_STATUSES = {"pending", "processing", "success", "error", "skipped"}
AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def add(account: Account, *items: ContentItem, **values: Any) -> Communication:
    """A communication as a channel adapter stores one."""
    given = {"kind": "chat", "channel_type": "telegram", "occured_at": AT, "title": "A talk", **values}
    with account.server.database.write() as connection:
        row = communications.create(account.tenant_id, connection, **given)
        communications.replace_content(account.tenant_id, connection, row.id, items)
    return row


def read(account: Account, **query: str) -> dict[str, Any]:
    answer = account.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.proves("communications.get.by-id", "communications.get.by-request-record-id")
def test_a_communication_is_found_by_either_id(account: Account) -> None:
    row = add(account, request_record_id="crm-1")
    add(account, request_record_id="crm-2")
    assert read(account, id=row.id)["request_record_id"] == "crm-1"
    assert read(account, id=row.id.upper())["id"] == row.id
    assert read(account, request_record_id="crm-1")["id"] == row.id


@pytest.mark.proves("communications.get.both-must-match", "communications.get.404")
def test_with_both_ids_both_must_match(account: Account) -> None:
    row = add(account, request_record_id="crm-1")
    add(account, request_record_id="crm-2")
    assert read(account, id=row.id, request_record_id="crm-1")["id"] == row.id
    for query in (
        {"id": row.id, "request_record_id": "crm-2"},
        {"id": new_id(), "request_record_id": "crm-1"},
        {"id": new_id()},
        {"request_record_id": "crm-3"},
        {"request_record_id": "CRM-1 "},
    ):
        answer = account.get(PATH, params=query)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, None)


@pytest.mark.proves(
    "communications.get.one-required", "communications.get.id-uuid", "communications.get.request-record-id.length"
)
@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({}, "id"),
        ({"limit": "1"}, "id"),
        ({"id": ""}, "id"),
        ({"id": "7"}, "id"),
        ({"id": "{01890000-0000-7000-8000-000000000000}"}, "id"),
        ({"id": "01890000000070008000000000000000"}, "id"),
        ({"id": "x", "request_record_id": "crm-1"}, "id"),
        ({"request_record_id": ""}, "request_record_id"),
        ({"request_record_id": "я" * 65}, "request_record_id"),
    ],
)
def test_a_query_that_names_nothing_is_400(account: Account, query: dict[str, str], param: str) -> None:
    answer = account.get(PATH, params=query)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == param


@pytest.mark.proves("communications.get.request-record-id.length")
@pytest.mark.parametrize("record_id", ["1", "я" * 64])
def test_a_record_id_of_1_to_64_characters_is_looked_for(account: Account, record_id: str) -> None:
    row = add(account, request_record_id=record_id)
    assert read(account, request_record_id=record_id)["id"] == row.id


@pytest.mark.proves("speech.record-id.not-unique")
def test_the_newest_of_several_with_one_record_id_is_read(small_account: Account) -> None:
    ids = [
        small_account.upload_audio(wav(tone(0.5)), record_id="same", occured_at=f"2026-03-0{day}T00:00:00Z").json()[
            "communication_id"
        ]
        for day in (3, 2, 1)  # the newest is the one sent last, whenever it took place
    ]
    assert len(set(ids)) == 3
    assert read(small_account, request_record_id="same")["id"] == ids[-1]
    assert read(small_account, request_record_id="same", id=ids[0])["id"] == ids[0]


@pytest.mark.proves(
    "communications.details.kind",
    "communications.details.channel-type",
    "communications.details.direction",
    "communications.details.request-record-id",
    "communications.details.communication-status",
)
@pytest.mark.parametrize(
    ("kind", "channel_type", "direction", "record_id", "is_closed"),
    [
        ("call", "phone", "in", "crm-1", True),
        ("call", "phone", "out", None, False),
        ("chat", "telegram", None, "crm-2", False),
        ("chat", "whatsapp", None, None, True),
        ("chat", "widget", None, None, False),
        ("email", "email", None, None, True),
    ],
)
def test_every_kind_and_channel_is_given_back(
    account: Account, kind: str, channel_type: str, direction: str | None, record_id: str | None, is_closed: bool
) -> None:
    row = add(
        account,
        kind=kind,
        channel_type=channel_type,
        direction=direction,
        request_record_id=record_id,
        is_closed=is_closed,
    )
    details = read(account, id=row.id)
    assert (details["kind"], details["channel_type"], details["direction"]) == (kind, channel_type, direction)
    assert details["request_record_id"] == record_id
    assert details["communication_status"] == ("closed" if is_closed else "active")


@pytest.mark.proves(
    "communications.details.tenant-id",
    "communications.details.id",
    "communications.details.kind",
    "communications.details.channel-type",
    "communications.details.created-at",
    "communications.details.occured-at",
    "communications.details.duration-ms",
    "communications.details.language",
    "communications.details.transcription-status",
    "communications.details.content",
    "communications.details.communication-status",
)
def test_an_upload_that_is_not_recognised_yet_reads_as_such(small_account: Account) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    accepted = small_account.upload_audio(wav(tone(0.5)), "call.wav", direction="in").json()
    early = read(small_account, id=accepted["communication_id"])
    assert UUID(early["id"]) == UUID(accepted["communication_id"])
    assert early["tenant_id"] == small_account.tenant_id
    assert (early["kind"], early["channel_type"], early["direction"]) == ("call", "phone", "in")
    for name in ("created_at", "occured_at"):
        assert before <= datetime.fromisoformat(early[name]) <= datetime.now(UTC)
    for name in ("duration_ms", "language", "content"):
        assert early[name] is None
    assert early["transcription_status"] in ("pending", "processing", "error")
    assert early["communication_status"] == "active"
    small_account.finished_task(accepted["task_id"])
    late = read(small_account, id=accepted["communication_id"])
    assert (late["transcription_status"], late["content"]) == ("error", None)


@pytest.mark.proves(
    "communications.details.transcription-status",
    "communications.details.transcription-status.null",
    "communications.details.summary-status",
    "communications.details.qc-status",
    "communications.details.memory-status",
    "communications.details.missing-job-is-skipped",
    "communications.details.unanalysed-nulls",
    "communications.details.speakers",
    "analysis.status.no-not-requested",
)
@pytest.mark.parametrize("status", ["pending", "processing", "success", "error", None])
def test_generations_without_a_job_read_as_skipped_whatever_the_recognition_does(
    account: Account, status: str | None
) -> None:
    row = add(account, kind="call", channel_type="phone")
    if status:
        with account.server.database.write() as connection:
            task = transcriptions.create(
                account.tenant_id,
                connection,
                communication_id=row.id,
                blob_key="none",
                file_name="call.wav",
                parameters={},
                occured_at=AT,
            )
            transcriptions.update(account.tenant_id, connection, task.id, status=status)
    answer = account.get(PATH, params={"id": row.id})
    details = answer.json()
    if status in ("pending", "processing"):
        with account.server.database.write() as connection:  # before the sweeper looks for it
            transcriptions.update(account.tenant_id, connection, task.id, status="error")
    assert details["transcription_status"] == status
    for name in ("summary", "qc", "memory"):
        assert details[f"{name}_generation_status"] == "skipped"
        assert details[f"{name}_generation_status"] in JOB_STATUSES
    for name in (
        "transcription_error_message",
        "qc_generation_error_message",
        "qc_generation_updated_at",
        "qc_evaluation",
        "summary_text",
        "user_summary",
        "category",
        "category_label",
    ):
        assert details[name] is None, name
    assert (details["summary_items"], details["speakers"]) == ([], [])
    assert "not_requested" not in answer.text


@pytest.mark.proves("analysis.status.no-not-requested")
def test_the_description_of_a_communication_has_the_documented_values(account: Account) -> None:
    document = account.get("/openapi/public.json")
    assert "not_requested" not in document.text
    schemas = document.json()["components"]["schemas"]
    for name in ("summary", "qc", "memory"):
        values = schemas["CommunicationDetails"]["properties"][f"{name}_generation_status"]["enum"]
        assert set(values) == JOB_STATUSES
    assert schemas["CommunicationDetails"]["properties"]["speakers"]["items"]["$ref"].endswith("/CommunicationSpeaker")
    speaker = schemas["CommunicationSpeaker"]["properties"]
    assert set(speaker) == {"id", "external_id", "name", "role", "label"}
    assert {each["type"] for each in speaker["label"]["anyOf"]} == {"string", "null"}


@pytest.mark.proves(
    "communications.content.idx",
    "communications.content.kind",
    "communications.content.at",
    "communications.content.text",
    "communications.content.text.empty-for-media",
    "communications.content.offsets-null-for-messages",
    "communications.content.label",
    "communications.content.media",
    "communications.content.no-empty-items",
    "communications.content.no-extra-properties",
)
def test_the_timeline_is_given_in_order_and_without_empty_items(account: Account) -> None:
    picture = {"type": "image", "ref": "a/b", "mime": "image/png", "name": "b.png", "size_bytes": 3}
    row = add(
        account,
        ContentItem("chat_message", "Hello", "SPEAKER_00", at=AT),
        ContentItem("chat_message", "", "SPEAKER_01", at=AT),
        ContentItem("chat_message", "", "SPEAKER_01", at=None, media=[picture]),
        ContentItem("email_message", "Good bye", None, at=AT + timedelta(hours=1)),
    )
    content = read(account, id=row.id)["content"]
    fields = {"idx", "kind", "at", "text", "label", "start_ms", "end_ms", "media"}
    assert [set(item) for item in content] == [fields] * 3
    assert [item["idx"] for item in content] == sorted(item["idx"] for item in content)
    assert content[0]["idx"] == 0
    assert [item["text"] for item in content] == ["Hello", "", "Good bye"]
    assert [item["kind"] for item in content] == ["chat_message", "chat_message", "email_message"]
    assert [item["label"] for item in content] == ["SPEAKER_00", "SPEAKER_01", None]
    assert [item["at"] for item in content] == ["2026-03-04T05:06:07.000Z", None, "2026-03-04T06:06:07.000Z"]
    assert [(item["start_ms"], item["end_ms"]) for item in content] == [(None, None)] * 3
    assert [len(item["media"]) for item in content] == [0, 1, 0]
    assert content[1]["media"][0] | picture == content[1]["media"][0]


@pytest.mark.models
@pytest.mark.proves(
    "communications.details.kind",
    "communications.details.channel-type",
    "communications.details.communication-status",
    "communications.details.duration-ms",
    "communications.details.language",
    "communications.status.call-closes",
    "speech.record-id.kept",
    "speech.direction.kept",
    "speech.occured-at.kept",
)
def test_a_recognised_call_is_closed_and_knows_its_length_and_language(heard: HeardCalls) -> None:
    details = heard.english.communication
    assert (details["kind"], details["channel_type"], details["communication_status"]) == ("call", "phone", "closed")
    assert details["language"] == "en"
    assert abs(details["duration_ms"] - ENGLISH_S * 1000) < 100
    assert details["duration_ms"] == heard.english.result["audio_duration_ms"]
    assert (details["request_record_id"], details["direction"]) == ("crm-7781", "out")
    assert details["occured_at"] == "2026-03-04T02:06:07.000Z" == heard.english.record["occured_at"]
    assert heard.mixed.communication["language"] == "ru"


@pytest.mark.models
@pytest.mark.proves(
    "communications.content.idx",
    "communications.content.kind",
    "communications.content.at",
    "communications.content.label",
    "communications.content.start-ms",
    "communications.content.end-ms",
    "communications.content.media",
    "speech.text-only-in-content",
)
def test_the_whole_text_of_a_call_is_in_its_timeline(heard: HeardCalls) -> None:
    for upload in heard.asynchronous:
        details = upload.communication
        content = details["content"]
        occured_at = datetime.fromisoformat(details["occured_at"])
        assert " ".join(item["text"] for item in content) == upload.result["text"]
        assert [item["idx"] for item in content] == list(range(len(content)))
        assert [item["label"] for item in content] == [each["speaker"] for each in upload.result["segments"]]
        assert [item["start_ms"] for item in content] == sorted(item["start_ms"] for item in content)
        for item in content:
            assert (item["kind"], item["media"]) == ("audio_utterance", [])
            assert 0 <= item["start_ms"] <= item["end_ms"] <= details["duration_ms"]
            at = datetime.fromisoformat(item["at"])
            assert abs(at - occured_at - timedelta(milliseconds=item["start_ms"])) <= timedelta(milliseconds=1)


def test_a_new_upload_does_not_change_another_accounts_communications(
    new_small_account: Callable[..., Account],
) -> None:
    first, second = new_small_account(), new_small_account()
    first_id = first.upload_audio(wav(tone(0.5)), record_id="shared").json()["communication_id"]
    second_id = second.upload_audio(wav(tone(0.5)), record_id="shared").json()["communication_id"]
    assert read(first, request_record_id="shared")["id"] == first_id
    assert read(second, request_record_id="shared")["id"] == second_id
