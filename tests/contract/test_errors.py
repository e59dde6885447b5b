"""The one error body of Speech and Public, and the headers that every answer has."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx2
import pytest
import sqlalchemy as sa

from tests.contract.conftest import CHAT_REQUESTS_PER_MINUTE
from tests.contract.partner import CLIENTS, make_partner
from tests.contract.recordings import multipart, tone, wav, wav_of_size
from tests.support.server import Account, RunningServer

SPACES = "/public/v1/kb/spaces"
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def checked_error(answer: httpx2.Response, status: int, kind: str) -> dict[str, Any]:
    """The error of an answer, whose form is checked: an object with four fields and nothing else."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert set(answer.json()) == {"error"}
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str)
    assert error["message"]
    assert error["type"] == kind
    assert all(error[name] is None or isinstance(error[name], str) for name in ("param", "code"))
    return error


def messages_path(account: Account) -> str:
    return f"/public/v1/chats/{account.chat_id}/messages"


@pytest.mark.proves("errors.shared-body", "errors.public-error-object", "errors.type.400", "errors.status.400")
def test_a_400_and_a_404_have_the_shared_body_on_both_layers(account: Account) -> None:
    speech = checked_error(account.upload_audio(b"", mode="never"), 400, "invalid_request_error")
    public = checked_error(account.get("/public/v1/communications?id=1"), 400, "invalid_request_error")
    assert (speech["param"], public["param"]) == ("mode", "id")
    missing = checked_error(account.get(f"/public/v1/communications?id={UNKNOWN_ID}"), 404, "not_found_error")
    assert (missing["param"], missing["code"]) == (None, None)


@pytest.mark.proves("errors.type.403")
def test_a_403_is_a_permission_error(new_account: Callable[..., Account], pause: Callable[..., None]) -> None:
    without_chat = new_account(features=("kb",))
    error = checked_error(without_chat.get("/public/v1/chats/list"), 403, "permission_error")
    assert error["code"] == "feature_disabled"
    pause(without_chat)
    error = checked_error(without_chat.upload_audio(b""), 403, "permission_error")
    assert error["code"] == "client_inactive"


@pytest.mark.proves("errors.type.413")
def test_a_413_is_an_invalid_request_error(small_account: Account, account: Account) -> None:
    checked_error(small_account.upload_audio(wav_of_size(500_000)), 413, "invalid_request_error")
    body = json.dumps({"name": "x" * 1_100_000}).encode()
    checked_error(account.post(SPACES, content=body), 413, "invalid_request_error")

    def chunks() -> Any:  # of a length that is not said beforehand
        for _ in range(40):
            yield b" " * 65_536

    checked_error(account.post(SPACES, content=chunks()), 413, "invalid_request_error")


@pytest.mark.proves("errors.type.429", "errors.type.503", "errors.retry-after", "errors.5xx.says-only-id")
def test_a_503_and_a_429_say_when_to_come_again(small_account: Account) -> None:
    """The small server wants a local model that is not installed."""
    space_id = small_account.new_space()
    document = small_account.add_document(space_id, b"The warehouse opens at seven in the morning.", "hours.txt")
    assert document["status"] == "success", document
    question = {"text": "When does the warehouse open?"}
    for _ in range(CHAT_REQUESTS_PER_MINUTE):
        answer = small_account.post(messages_path(small_account), json=question)
        if answer.status_code == 429:  # a new minute began between two questions
            break
        error = checked_error(answer, 503, "unavailable_error")
        assert int(answer.headers["Retry-After"]) > 0
        assert_says_only_the_id(answer, error)
    for _ in range(CHAT_REQUESTS_PER_MINUTE + 1):
        answer = small_account.post(messages_path(small_account), json=question)
        if answer.status_code == 429:
            break
    checked_error(answer, 429, "rate_limit_error")
    assert 0 < int(answer.headers["Retry-After"]) <= 60


@pytest.mark.proves("errors.type.5xx", "errors.5xx.says-only-id", "errors.request-id.always")
def test_a_500_and_a_502_say_no_more_than_the_request_id(small_account: Account) -> None:
    failed = small_account.upload_audio(wav(tone(1.0)), mode="sync")  # no speech model is installed there
    assert_says_only_the_id(failed, checked_error(failed, 502, "api_error"))
    rename_table(small_account.server, "chats", "chats_away")
    try:
        broken = small_account.get("/public/v1/chats/list", headers={"X-Request-Id": "broken-1"})
    finally:
        rename_table(small_account.server, "chats_away", "chats")
    assert_says_only_the_id(broken, checked_error(broken, 500, "api_error"))
    assert '"request_id": "broken-1"' in small_account.server.log()
    assert small_account.get("/public/v1/chats/list").status_code == 200


def rename_table(server: RunningServer, name: str, new_name: str) -> None:
    with server.database.write() as connection:
        connection.execute(sa.text(f"ALTER TABLE {name} RENAME TO {new_name}"))


def assert_says_only_the_id(answer: httpx2.Response, error: dict[str, Any]) -> None:
    request_id = answer.headers["X-Request-Id"]
    assert f"(request {request_id})" in error["message"]
    for telling in ("model", "sqlite", "chats", "Traceback", "/", "engine"):
        assert telling not in error["message"].replace(request_id, "").lower()
    assert error["param"] is None


@pytest.mark.proves("errors.type.409-422", "errors.status.422")
def test_a_409_and_a_422_are_invalid_request_errors(account: Account) -> None:
    """What conflicts with the present state, and what is understood and cannot be done."""
    key_id = account.get("/public/v1/keys").json()["items"][0]["id"]
    checked_error(account.request("DELETE", f"/public/v1/keys/{key_id}"), 409, "invalid_request_error")
    no_email = checked_error(account.post("/public/v1/session-link"), 422, "invalid_request_error")
    assert no_email["code"]


def partner_error(answer: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    """The details of an error of the Integration API, whose form is checked."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert set(answer.json()) == {"error"}
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["code"] == code
    assert isinstance(error["message"], str)
    assert error["message"]
    details: dict[str, Any] = error["details"]
    return details


@pytest.mark.proves("errors.integration-body", "errors.unknown-field.integration")
def test_integration_answers_every_error_in_its_own_body(server: RunningServer) -> None:
    partner = make_partner(server)
    too_large = json.dumps({"external_id": "x", "name": "x" * 1_100_000}).encode()
    assert partner_error(partner.put("x", colour="red"), 422, "validation_error") == {"field": "colour"}
    assert partner_error(partner.put(""), 422, "validation_error") == {"field": "external_id"}
    assert partner_error(partner.put("x", rotate_key="yes"), 422, "validation_error") == {"field": "rotate_key"}
    for broken in (b"", b"{", b"[1]", b"\xff", b'{"external_id": "\\u0000"}', b"[" * 50_000):
        partner_error(partner.request("POST", content=broken), 422, "validation_error")
    bad_key = {"Idempotency-Key": "a" * 256}
    details = partner_error(partner.request("POST", json={}, headers=bad_key), 422, "validation_error")
    assert details["field"] in ("external_id", "Idempotency-Key")
    partner_error(partner.request("POST", content=too_large), 413, "body_too_large")
    partner_error(partner.get("nobody"), 404, "client_not_found")
    partner_error(partner.request("DELETE"), 405, "method_not_allowed")
    nowhere = httpx2.get(server.url + "/integration/v2/clients", headers=partner.headers)
    partner_error(nowhere, 404, "not_found")
    assert partner_error(httpx2.post(server.url + CLIENTS, json={}), 401, "unauthorized") == {}
    malformed = httpx2.post(server.url + CLIENTS, json={}, headers={"Authorization": "Basic x"})
    partner_error(malformed, 401, "unauthorized")


@pytest.mark.proves("errors.integration-body")
def test_integration_answers_an_unforeseen_failure_in_its_own_body(small_server: RunningServer) -> None:
    partner = make_partner(small_server)
    made = partner.made()
    rename_table(small_server, "tariff_rates", "tariff_rates_away")
    try:
        broken = partner.get(made["external_id"])
    finally:
        rename_table(small_server, "tariff_rates_away", "tariff_rates")
    assert partner_error(broken, 500, "internal_error") == {}
    assert f"(request {broken.headers['X-Request-Id']})" in broken.json()["error"]["message"]
    assert partner.get(made["external_id"]).status_code == 200


@pytest.mark.proves("errors.unknown-field.refused", "errors.unknown-field.ignored")
def test_an_unknown_field_is_refused_only_where_the_contract_closes_the_object(account: Account) -> None:
    answer = account.post(messages_path(account), json={"text": "hello", "temperature": 1})
    assert checked_error(answer, 400, "invalid_request_error")["param"] == "temperature"
    history = [{"role": "user", "content": "hello", "at": "now"}]
    answer = account.post(messages_path(account), json={"text": "hello", "history": history})
    assert checked_error(answer, 400, "invalid_request_error")["param"] == "history.0.at"
    assert account.post(SPACES, json={"name": "A", "description": "", "colour": "red"}).status_code == 201
    assert account.get(SPACES + "?colour=red").status_code == 200
    answer = account.upload_audio(b"", colour="red")
    assert checked_error(answer, 400, "invalid_request_error")["param"] == "file"


BAD_JSON = [
    b"",
    b"{",
    b'{"name": "A",}',
    b"name=A",
    b'{"name": "A"} {}',
    b'{"name": "\xff\xfe"}',
    b'{"name": NaN}',
    b"[" * 50_000,
    b'{"name": ' * 10_000,
    '{"name": "A"}'.encode("utf-16"),
]


@pytest.mark.proves("errors.broken-json")
@pytest.mark.parametrize("body", BAD_JSON, ids=lambda body: repr(body[:24]))
@pytest.mark.parametrize("target", ["spaces", "messages"])
def test_a_body_that_is_no_json_is_400(account: Account, body: bytes, target: str) -> None:
    path = SPACES if target == "spaces" else messages_path(account)
    answer = account.post(path, content=body, headers={"Content-Type": "application/json"})
    assert checked_error(answer, 400, "invalid_request_error")["code"] == "invalid_request_error"


@pytest.mark.proves("errors.wrong-types")
@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"text": 1}, "text"),
        ({"text": None}, "text"),
        ({"text": ["hello"]}, "text"),
        ({}, "text"),
        ({"text": "hello", "history": "none"}, "history"),
        ({"text": "hello", "history": [1]}, "history.0"),
        ({"text": "hello", "history": [{"role": "system", "content": "x"}]}, "history.0.role"),
        ({"text": "hello", "history": [{"role": "user", "content": 1}]}, "history.0.content"),
        ({"text": "hello", "space_ids": "all"}, "space_ids"),
        ({"text": "hello", "space_ids": [7]}, "space_ids.0"),
        ({"text": "hello", "space_ids": ["x"]}, "space_ids.0"),
        ([], None),
        ("text", None),
        (None, None),
    ],
)
def test_a_field_of_a_wrong_type_is_400_naming_it(account: Account, body: Any, param: str | None) -> None:
    answer = account.post(messages_path(account), json=body)
    assert checked_error(answer, 400, "invalid_request_error")["param"] == param


@pytest.mark.parametrize("escape", [b"\\u0000", b"\\ud800"])
def test_characters_that_no_database_takes_are_400(account: Account, escape: bytes) -> None:
    for path, field in ((SPACES, b"name"), (messages_path(account), b"text")):
        body = b'{"' + field + b'": "A' + escape + b'B"}'
        checked_error(account.post(path, content=body), 400, "invalid_request_error")


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("id=%00", "id"),
        ("id=%ff", "id"),
        ("request_record_id=a%00b", "request_record_id"),
        ("request_record_id=" + "a" * 5000, "request_record_id"),
        ("id=" + "1" * 5000, "id"),
    ],
)
def test_a_query_that_makes_no_sense_is_400(account: Account, query: str, param: str) -> None:
    answer = account.get(f"/public/v1/communications?{query}")
    assert checked_error(answer, 400, "invalid_request_error")["param"] == param


@pytest.mark.parametrize("text", ["%00", "%ff", "..%2f..%2fetc", "1" * 3000, "null", "%F0%9F%A6%89", "-1"])
def test_a_path_that_names_nothing_is_404(account: Account, text: str) -> None:
    for path in ("/v1/audio/transcriptions/tasks/", SPACES + "/", "/public/v1/kb/documents/"):
        checked_error(account.get(path + text), 404, "not_found_error")


@pytest.mark.proves("errors.documented-field.never-ignored")
def test_a_documented_field_is_never_passed_over(account: Account) -> None:
    document = httpx2.get(account.server.url + "/openapi/speech.json").json()
    documented = set(document["components"]["schemas"]["Upload"]["properties"])
    assert documented >= {"diarize", "summary", "user_summary", "speakers", "webhook_url", "mode", "language"}
    for name in sorted(documented - {"file", "user_summary", "speakers", "record_id", "webhook_url"}):
        answer = account.upload_audio(b"", **{name: "?"})  # what each takes is elsewhere
        assert checked_error(answer, 400, "invalid_request_error")["param"] == name
    wrong = {"user_summary": "x" * 64_001, "record_id": "x" * 31, "speakers": "?", "webhook_url": "ftp://example.com"}
    for name, text in wrong.items():
        answer = account.upload_audio(b"", **{name: text})
        assert checked_error(answer, 400, "invalid_request_error")["param"] == name


@pytest.mark.proves("errors.request-id.always", "errors.request-id.echoed", "errors.request-id.implausible")
@pytest.mark.parametrize("path", ["/public/v1/chats/list", "/v1/audio/transcriptions/tasks/1", "/healthz", "/nothing"])
def test_every_answer_carries_a_request_id(account: Account, path: str) -> None:
    ids = [account.get(path).headers["X-Request-Id"] for _ in range(2)]
    assert len({UUID(each) for each in ids}) == 2
    without_key = httpx2.get(account.server.url + path)
    assert UUID(without_key.headers["X-Request-Id"])
    for plausible in ("7", "order-42.try_1:a", "a" * 128):
        assert account.get(path, headers={"X-Request-Id": plausible}).headers["X-Request-Id"] == plausible
    for implausible in ("", "a" * 129, "two words", 'quote"', "<b>", "no/slash", "semi;colon"):
        answered = account.get(path, headers={"X-Request-Id": implausible}).headers["X-Request-Id"]
        assert UUID(answered)


def test_what_was_wrong_is_not_echoed_without_bounds(account: Account) -> None:
    long = "x" * 20_000
    answer = account.post("/v1/audio/transcriptions", **multipart(("mode", long.encode(), ""), ("file", b"", "a")))
    assert len(answer.content) < 1000
    answer = account.post("/v1/audio/transcriptions", **multipart((long[:3000], b"1", ""), (long[:3000], b"2", "")))
    assert len(answer.content) < 1000
    answer = account.post(messages_path(account), json={"text": "hello", long: 1})
    assert checked_error(answer, 400, "invalid_request_error")
    assert len(answer.content) < 1000
