"""Which keys open what, and what a refusal says."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import httpx2
import pytest

from tests.contract.access import integration_secret
from tests.contract.recordings import tone, wav
from tests.support.server import Account, RunningServer

CHATS = "/public/v1/chats/list"
TASK = "/v1/audio/transcriptions/tasks/01890000-0000-7000-8000-000000000000"


def ask(server: RunningServer, path: str, **headers: str) -> httpx2.Response:
    return httpx2.get(server.url + path, headers=headers)


@pytest.mark.proves("authentication.key.prefix")
def test_a_client_key_starts_with_its_prefix(account: Account) -> None:
    assert account.made.api_key.startswith("sk_live_")


@pytest.mark.proves("authentication.public.bearer", "authentication.public.x-api-key")
def test_the_public_api_takes_the_key_in_either_header(account: Account) -> None:
    key = account.made.api_key
    for headers in ({"Authorization": f"Bearer {key}"}, {"Authorization": f"bearer {key}"}, {"x-api-key": key}):
        answer = ask(account.server, CHATS, **headers)
        assert answer.status_code == 200, answer.text
        assert [chat["id"] for chat in answer.json()["items"]] == [account.chat_id]


@pytest.mark.proves("authentication.speech.bearer")
def test_speech_takes_the_key_as_a_bearer_only(account: Account) -> None:
    key = account.made.api_key
    assert ask(account.server, TASK, Authorization=f"Bearer {key}").status_code == 404
    answer = ask(account.server, TASK, **{"x-api-key": key})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "missing_api_key")


@pytest.mark.proves(
    "authentication.401.missing-api-key",
    "authentication.401.invalid-api-key",
    "communications.get.401",
    "speech.poll.401",
    "speech.error.401",
    "errors.type.401",
    "errors.auth-body",
)
@pytest.mark.parametrize("path", [CHATS, TASK, "/public/v1/communications?request_record_id=1"])
@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "missing_api_key"),
        ({"Authorization": "Bearer sk_live_" + "x" * 43}, "invalid_api_key"),
        ({"Authorization": "Bearer nothing"}, "invalid_api_key"),
        ({"Authorization": "Bearer " + "sk_live_" * 1000}, "invalid_api_key"),
        ({"Authorization": "Bearer sk_live_\xff\xfe"}, "invalid_api_key"),
    ],
)
def test_a_401_says_which_kind_it_is(server: RunningServer, path: str, headers: dict[str, str], code: str) -> None:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    answer = httpx2.get(server.url + path, headers=raw)
    assert answer.status_code == 401, answer.text
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"]
    assert (error["type"], error["param"], error["code"]) == ("authentication_error", None, code)


@pytest.mark.proves("authentication.401.malformed-bearer", "authentication.malformed-bearer.forms")
@pytest.mark.parametrize("path", [CHATS, TASK])
@pytest.mark.parametrize("value", ["Basic {key}", "{key}", "Bearer", "Token {key}", ""])
def test_an_authorization_that_is_no_bearer_is_malformed(account: Account, path: str, value: str) -> None:
    key = account.made.api_key
    # A good key in the other header does not mend it.
    answer = ask(account.server, path, Authorization=value.format(key=key), **{"x-api-key": key})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "malformed_bearer")


@pytest.mark.proves("authentication.prefixes.not-interchangeable")
def test_a_key_of_another_kind_is_no_client_key(account: Account) -> None:
    key = account.made.api_key
    others = [
        integration_secret(account.server, "a partner of its own"),
        key.replace("sk_live_", "int_live_"),
        key.replace("sk_live_", "sk_partner_"),
        key.removeprefix("sk_live_"),
        account.made.chat.public_key,
    ]
    for other in others:
        for headers in ({"Authorization": f"Bearer {other}"}, {"x-api-key": other}):
            answer = ask(account.server, CHATS, **headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


@pytest.mark.proves("authentication.paused.back")
def test_an_upload_works_again_once_the_client_is_active_again(
    small_account: Account, pause: Callable[..., None]
) -> None:
    audio = wav(tone(1.0))
    pause(small_account)
    refused = small_account.upload_audio(audio)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "client_inactive")
    pause(small_account, active=True)
    accepted = small_account.upload_audio(audio)
    assert accepted.status_code == 202, accepted.text
    assert UUID(accepted.json()["task_id"])
