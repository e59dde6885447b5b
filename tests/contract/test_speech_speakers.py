"""Who takes part in a call: `speakers` in both forms, what is refused of it, what becomes of it, what it implies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.contract.conftest import HeardCalls
from tests.contract.recordings import multipart, tone, wav
from tests.contract.test_speech_fields import AUDIO, PATH, communication, parameters, refused
from tests.support.server import Account

LINK = "http://127.0.0.1:9/call.wav"
"""Nobody serves it, and the server may not call it: the task ends in error, and its people are there all the same."""
Sending = Callable[..., httpx2.Response]


def by_form(account: Account, speakers: Any, **fields: Any) -> httpx2.Response:
    texts = {name: value if isinstance(value, str) else str(value) for name, value in fields.items()}
    return account.upload_audio(AUDIO, speakers=json.dumps(speakers), **texts)


def by_json(account: Account, speakers: Any, **fields: Any) -> httpx2.Response:
    return account.post(PATH, json={"fileUrl": LINK, "speakers": speakers, **fields})


both_forms = pytest.mark.parametrize("send", [by_form, by_json], ids=["multipart", "json"])


def profile(account: Account, external_id: str) -> dict[str, Any]:
    answer = account.get("/public/v1/speakers/profile", params={"speaker_external_id": external_id})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.proves(
    "speech.speakers.multipart-json-string",
    "speech.speakers.json-array",
    "speech.speakers.kept",
    "speech.speaker.name.kept",
    "speech.speaker.department.optional",
    "speech.speakers.order-has-no-say",
)
@both_forms
def test_the_people_of_a_call_come_back(small_account: Account, send: Sending) -> None:
    people = [
        {"id": "crm-7", "name": "Анна О'Нил", "role": "client"},
        {"id": "ж" * 50, "name": "Борис", "role": "sales", "department": "Продажи", "colour": ["red"]},
        {"name": "Без номера"},
        {"id": "only an id"},
        {},
    ]
    answer = send(small_account, people)
    found = communication(small_account, answer)["speakers"]
    assert [(each["external_id"], each["name"], each["role"]) for each in found] == [
        ("crm-7", "Анна О'Нил", "client"),
        ("ж" * 50, "Борис", "sales"),
        ("", "Без номера", "unknown"),
        ("only an id", "", "unknown"),
        ("", "", "unknown"),
    ]
    assert {each["label"] for each in found} == {None}
    assert parameters(small_account, answer)["expected_speakers"] == 5
    sales, client = profile(small_account, "ж" * 50), profile(small_account, "crm-7")
    assert (sales["speaker_name"], sales["speaker_department"]) == ("Борис", "Продажи")
    assert (client["speaker_name"], client["speaker_department"]) == ("Анна О'Нил", None)


@pytest.mark.proves(
    "speech.speaker.role.values",
    "speech.speaker.role.other-becomes-employee",
    "speech.speaker.role.empty-becomes-unknown",
)
@both_forms
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("client", "client"),
        ("sales", "sales"),
        ("support", "support"),
        ("employee", "employee"),
        ("unknown", "unknown"),
        ("director", "employee"),
        ("Client", "employee"),
        ("x" * 5000, "employee"),
        ("", "unknown"),
        ("  ", "unknown"),
        (None, "unknown"),
    ],
)
def test_a_role_is_one_of_five(small_account: Account, send: Sending, given: str | None, kept: str) -> None:
    answer = send(small_account, [{"id": "7", "role": given}])
    (person,) = communication(small_account, answer)["speakers"]
    assert person["role"] == kept


@pytest.mark.proves("speech.speakers.wrong", "speech.speaker.id.length", "speech.speakers.json-array")
@both_forms
@pytest.mark.parametrize(
    ("speakers", "param"),
    [
        ({"id": "7"}, "speakers"),
        ("Anna", "speakers"),
        (7, "speakers"),
        (True, "speakers"),
        ([{"id": "7"}] * 101, "speakers"),
        ([["7"]], "speakers.0"),
        (["Anna"], "speakers.0"),
        ([{"id": "7"}, None], "speakers.1"),
        ([{"id": 7}], "speakers.0.id"),
        ([{"id": "x" * 51}], "speakers.0.id"),
        ([{"name": "Anna"}, {"id": "я" * 51}], "speakers.1.id"),
        ([{"id": "a\x00b"}], "speakers.0.id"),
        ([{"name": ["Anna"]}], "speakers.0.name"),
        ([{"name": "x" * 201}], "speakers.0.name"),
        ([{"name": "a\x00b"}], "speakers.0.name"),
        ([{"role": 1}], "speakers.0.role"),
        ([{"department": {}}], "speakers.0.department"),
        ([{"department": "x" * 201}], "speakers.0.department"),
    ],
    ids=lambda value: str(value)[:40].replace("\x00", "NUL"),
)
def test_speakers_that_are_none_are_400_naming_the_place(
    account: Account, send: Sending, speakers: Any, param: str
) -> None:
    refused(send(account, speakers), param)


@pytest.mark.proves("speech.speakers.multipart-json-string", "speech.speakers.wrong")
@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[{",
        "[{'id': '7'}]",
        '[{"id": "7"}] and more',
        '[{"name": "\\ud800"}]',
        "null",
        "[" * 100_000,
        '[{"id": ' + "9" * 100_000 + "}]",
    ],
    ids=lambda text: str(text)[:24],
)
def test_a_text_that_is_no_array_of_json_is_400_naming_speakers(account: Account, text: str) -> None:
    answer = account.upload_audio(AUDIO, speakers=text)
    assert answer.status_code == 400, answer.text
    assert str(answer.json()["error"]["param"]).startswith("speakers")


@pytest.mark.proves("speech.speakers.wrong")
def test_speakers_twice_in_a_form_are_400_naming_it(account: Account) -> None:
    people = b'[{"id": "7"}]'
    refused(
        account.post(PATH, **multipart(("speakers", people, ""), ("speakers", people, ""), ("file", AUDIO, "a.wav"))),
        "speakers",
    )


@both_forms
def test_the_same_person_twice_is_one_and_the_later_word_counts(small_account: Account, send: Sending) -> None:
    people = [
        {"id": "7", "name": "Anna", "role": "client"},
        {"name": "Boris"},
        {"id": " 7 ", "name": "", "role": "sales", "department": "North"},
        {"name": "BORIS", "role": "support"},
    ]
    answer = send(small_account, people)
    found = communication(small_account, answer)["speakers"]
    assert [(each["external_id"], each["name"], each["role"]) for each in found] == [
        ("7", "Anna", "sales"),
        ("", "BORIS", "support"),
    ]
    assert profile(small_account, "7")["speaker_department"] == "North"
    assert parameters(small_account, answer)["expected_speakers"] == 2


@both_forms
def test_a_profile_follows_the_calls_and_each_call_keeps_its_own_role(small_account: Account, send: Sending) -> None:
    first = send(small_account, [{"id": "7", "name": "Anna", "role": "client", "department": "North"}])
    second = send(small_account, [{"id": "7", "name": "Anna Smith", "role": "support", "department": ""}])
    found = profile(small_account, "7")
    assert (found["speaker_name"], found["speaker_role"], found["speaker_department"]) == (
        "Anna Smith",
        "support",
        "North",
    )
    roles = [communication(small_account, answer)["speakers"][0]["role"] for answer in (first, second)]
    assert roles == ["client", "support"]


@both_forms
def test_a_call_that_is_refused_makes_no_profile(new_small_account: Callable[..., Account], send: Sending) -> None:
    account = new_small_account(balance_rub="0")
    wrong = {"record_id": "x" * 31} if send is by_json else {}  # what a link costs is not known yet
    answer = send(account, [{"id": "7", "name": "Anna"}], **wrong)
    assert answer.status_code == (400 if wrong else 403), answer.text
    missing = account.get("/public/v1/speakers/profile", params={"speaker_external_id": "7"})
    assert missing.status_code == 404


@both_forms
def test_an_upload_that_is_repeated_by_its_key_makes_nobody_twice(small_account: Account, send: Sending) -> None:
    account = small_account
    key = {"Idempotency-Key": f"people-{send.__name__}"}
    body: dict[str, Any] = {"json": {"fileUrl": LINK, "speakers": [{"name": ""}]}}
    if send is by_form:
        body = {"files": {"file": ("a.wav", AUDIO)}, "data": {"speakers": '[{"name": ""}]'}}
    answers = [account.post(PATH, headers=key, **body) for _ in range(2)]
    assert answers[0].status_code == answers[1].status_code == 202
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    assert len(communication(account, answers[1])["speakers"]) == 1
    other = {"json": {"fileUrl": LINK + "2"}} if send is by_json else {"files": {"file": ("a.wav", wav(tone(0.6)))}}
    reused = account.post(PATH, headers=key, **other)
    assert (reused.status_code, reused.json()["error"]["code"]) == (422, "idempotency_key_reused")


@pytest.mark.proves(
    "speech.sync.summary-moves-to-async", "speech.speakers.imply-summary", "speech.speakers.explicit-summary-false"
)
@pytest.mark.parametrize(
    ("fields", "summary"),
    [
        ({"summary": "true"}, True),
        ({"speakers": '[{"id": "7"}]'}, True),
        ({"speakers": "[{}]"}, True),
        ({"speakers": '[{"id": "7"}]', "summary": ""}, True),
        ({"speakers": '[{"id": "7"}]', "summary": "false"}, False),
        ({"speakers": "[]"}, False),
        ({"user_summary": "What was said?"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_a_sync_request_that_asks_for_a_summary_goes_async(
    small_account: Account, fields: dict[str, str], summary: bool
) -> None:
    answer = small_account.upload_audio(AUDIO, mode="sync", **fields)
    if summary:
        found = parameters(small_account, answer)
        assert (found["summary"], found["sync"]) == (True, False)
    else:
        assert answer.status_code == 502, answer.text  # it stayed sync: no model is installed on that server


@pytest.mark.proves("speech.speakers.imply-summary", "speech.speakers.explicit-summary-false")
@pytest.mark.parametrize(
    ("fields", "summary"),
    [
        ({}, False),
        ({"summary": True}, True),
        ({"speakers": [{}]}, True),
        ({"speakers": [{}], "summary": None}, True),
        ({"speakers": [{}], "summary": False}, False),
        ({"speakers": []}, False),
        ({"speakers": None}, False),
    ],
    ids=str,
)
def test_speakers_imply_a_summary_in_json_too(small_account: Account, fields: dict[str, Any], summary: bool) -> None:
    answer = small_account.post(PATH, json={"fileUrl": LINK, **fields})
    assert parameters(small_account, answer)["summary"] is summary


@pytest.mark.models
@pytest.mark.proves("speech.channel-speakers.speakers-have-no-say", "speech.speakers.order-has-no-say")
def test_order_and_role_of_the_people_have_no_say_in_the_labels(heard: HeardCalls) -> None:
    """The first of them is the employee, and the left channel is the client's."""
    people = heard.swapped.communication["speakers"]
    assert [(each["name"], each["role"], each["label"]) for each in people] == [
        ("Polar Owl", "employee", None),
        ("Sarah", "client", None),
    ]
    assert "silver lane" in heard.swapped.said_by("SPEAKER_00")
    assert "good afternoon" in heard.swapped.said_by("SPEAKER_01")
