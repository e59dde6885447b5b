"""Chats as an account sets them: made, read, changed, ended, and given another key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from api.chats import MOST_CHATS
from store import chats
from store.ids import new_id
from tests.contract.described import get_described
from tests.contract.site_page import CONFIG
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account

CHATS = "/public/v1/chats"
PATH = "/public/v1/chats/{chat_id}"
UNSET: dict[str, Any] = {
    "greeting": "",
    "suggestions": [],
    "instructions": "",
    "model": None,
    "tools": None,
    "site_tools": [],
    "site_space_ids": [],
    "theme": {"accent": None, "scheme": "auto", "position": "right"},
    "languages": [],
    "allowed_origins": [],
    "messages_per_day": None,
    "is_active": True,
}
FLOW_ID = "7f0c1c4e-29d4-4d7c-9a0e-0d5ed7a1a111"


def path(account: Account, chat_id: str | None = None) -> str:
    return PATH.format(chat_id=chat_id or account.chat_id)


def read(account: Account, chat_id: str | None = None) -> dict[str, Any]:
    return get_described(account, path(account, chat_id), described_as=PATH)


def patch(account: Account, chat_id: str | None = None, **fields: Any) -> httpx2.Response:
    return account.request("PATCH", path(account, chat_id), json=fields)


def patched(account: Account, chat_id: str | None = None, **fields: Any) -> dict[str, Any]:
    answer = patch(account, chat_id, **fields)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def make(account: Account, **fields: Any) -> dict[str, Any]:
    answer = account.post(CHATS, json={"name": "Shop", **fields})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def audited(account: Account) -> list[tuple[str, str | None]]:
    items = account.get("/public/v1/audit").json()["items"]
    return [(item["action"], item["subject"]) for item in items if item["action"].startswith("chat.")]


@pytest.mark.proves("chats.settings.read")
def test_a_chat_is_read_as_it_is_listed_and_with_all_that_is_set(account: Account) -> None:
    chat = read(account)
    (item,) = get_described(account, "/public/v1/chats/list")["items"]
    assert chat == {**item, **UNSET}


@pytest.mark.proves("chats.settings.read")
def test_a_chat_is_read_by_its_account_with_the_chat_product(
    account: Account, new_account: Callable[..., Account], pause: Callable[..., None]
) -> None:
    for chat_id in (new_account().chat_id, new_id(), "x", "a" * 300):
        assert account.get(PATH.format(chat_id=chat_id)).status_code == 404, chat_id
    without = new_account(features=["kb"])
    refused = without.get(PATH.format(chat_id=without.chat_id))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "feature_disabled")
    assert httpx2.get(account.server.url + PATH.format(chat_id=account.chat_id)).status_code == 401
    pause(account)
    assert read(account)["id"] == account.chat_id


@pytest.mark.proves("chats.settings.create")
def test_a_chat_is_made_with_what_is_left_out_as_a_new_one_has_it(account: Account) -> None:
    made = make(account, name=" Shop ")
    assert made == read(account, made["id"])
    assert {name: made[name] for name in UNSET} == UNSET
    assert (made["name"], made["header_title"], made["is_default"]) == ("Shop", "Shop", False)
    assert made["public_key"].startswith("wk_")
    assert made["public_key"] != account.made.chat.public_key
    assert [item["id"] for item in account.get(CHATS + "/list").json()["items"]] == [account.chat_id, made["id"]]
    assert audited(account)[0] == ("chat.created", made["id"])


def all_fields(account: Account) -> dict[str, Any]:
    first, second = account.new_space("First"), account.new_space("Second")
    return {
        "name": "Site",
        "header_title": "Полярная сова",
        "greeting": "Здравствуйте!\nЧем помочь?",
        "suggestions": ["Где мой заказ?", "Prices?"],
        "instructions": "Speak kindly.",
        "model": "none",
        "default_space_ids": [first, second],
        "tools": ["search_documents", "search_memory"],
        "site_tools": ["get_communication"],
        "site_space_ids": [second],
        "theme": {"accent": "#3366cC", "scheme": "dark", "position": "left"},
        "languages": ["en"],
        "allowed_origins": ["https://shop.example"],
        "messages_per_day": 500,
        "workflow_flow_id": FLOW_ID,
        "is_default": True,
        "is_active": True,
    }


@pytest.mark.proves("chats.settings.create", "chats.settings.change", "chats.workflow-flow-id.inert")
@pytest.mark.parametrize("how", ["made", "changed"])
def test_every_field_is_set_and_kept(account: Account, how: str) -> None:
    fields = all_fields(account)
    other = make(account)["id"] if how == "changed" else None
    answer = make(account, **fields) if other is None else patched(account, other, **fields)
    assert answer == read(account, answer["id"])
    assert {name: answer[name] for name in fields} == fields
    assert read(account)["is_default"] is False
    # A flow's id starts nothing: the chat answers as any other does.
    said = account.post(path(account, answer["id"]) + "/messages", json={"text": "Where is my order?"})
    assert said.status_code == 200


@pytest.mark.proves("chats.settings.change")
def test_what_is_left_out_of_a_change_stays(account: Account) -> None:
    before = patched(account, **all_fields(account))
    assert patched(account) == before
    assert audited(account) == [("chat.changed", account.chat_id)]
    after = patched(account, greeting="Hello", theme={"position": "right"})
    assert after == {
        **before,
        "greeting": "Hello",
        "theme": {**before["theme"], "position": "right"},
        "updated_at": after["updated_at"],
    }
    emptied = patched(account, **{**UNSET, "workflow_flow_id": None, "default_space_ids": []})
    assert {name: emptied[name] for name in UNSET} == UNSET


@pytest.mark.proves("chats.settings.change")
def test_lists_hold_each_thing_once_and_origins_as_browsers_write_them(account: Account) -> None:
    space = account.new_space()
    chat = patched(
        account,
        default_space_ids=[space, space.upper()],
        tools=["search_documents", "search_documents"],
        languages=["ru", "en", "ru"],
        allowed_origins=["HTTPS://Shop.Example:443/", "https://shop.example"],
    )
    assert chat["default_space_ids"] == [space]
    assert chat["tools"] == ["search_documents"]
    assert chat["languages"] == ["ru", "en"]
    assert chat["allowed_origins"] == ["https://shop.example"]


@pytest.mark.proves("chats.settings.create", "chats.settings.change")
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"name": ""}, "name"),
        ({"name": "  "}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\u0007b"}, "name"),
        ({"header_title": ""}, "header_title"),
        ({"header_title": "x" * 201}, "header_title"),
        ({"greeting": "x" * 1001}, "greeting"),
        ({"greeting": None}, "greeting"),
        ({"instructions": "x" * 8001}, "instructions"),
        ({"instructions": 5}, "instructions"),
        ({"model": "openai/unknown"}, "model"),
        ({"model": ""}, "model"),
        ({"default_space_ids": ["x"]}, "default_space_ids.0"),
        ({"default_space_ids": [UNKNOWN_ID]}, "default_space_ids"),
        ({"site_space_ids": [UNKNOWN_ID]}, "site_space_ids"),
        ({"site_space_ids": None}, "site_space_ids"),
        ({"tools": ["rank_qc"]}, "tools.0"),
        ({"tools": []}, "tools"),
        ({"site_tools": ["search_memory"]}, "site_tools.0"),
        ({"site_tools": None}, "site_tools"),
        ({"suggestions": ["x"] * 7}, "suggestions"),
        ({"suggestions": ["ok", "x" * 201]}, "suggestions.1"),
        ({"suggestions": [" "]}, "suggestions.0"),
        ({"theme": {"accent": "red"}}, "theme.accent"),
        ({"theme": {"accent": "#12345g"}}, "theme.accent"),
        ({"theme": {"scheme": "blue"}}, "theme.scheme"),
        ({"theme": {"position": "top"}}, "theme.position"),
        ({"theme": {"font": "serif"}}, "theme.font"),
        ({"theme": None}, "theme"),
        ({"languages": ["de"]}, "languages.0"),
        ({"allowed_origins": ["shop.example"]}, "allowed_origins"),
        ({"allowed_origins": [f"https://{n}.example" for n in range(51)]}, "allowed_origins"),
        ({"messages_per_day": 0}, "messages_per_day"),
        ({"messages_per_day": 1_000_001}, "messages_per_day"),
        ({"messages_per_day": "5"}, "messages_per_day"),
        ({"workflow_flow_id": "x"}, "workflow_flow_id"),
        ({"is_default": False}, "is_default"),
        ({"is_default": True, "is_active": False}, "is_default"),
        ({"is_active": None}, "is_active"),
        ({"public_key": "wk_mine"}, "public_key"),
        ({"modes": []}, "modes"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_no_setting_is_400_naming_the_field(account: Account, fields: dict[str, Any], param: str) -> None:
    before = read(account)
    for answer in (patch(account, **fields), account.post(CHATS, json={"name": "New", **fields})):
        assert answer.status_code == 400, answer.text
        error = answer.json()["error"]
        assert (error["type"], error["param"]) == ("invalid_request_error", param)
        assert param in error["message"]
    assert read(account) == before
    assert len(account.get(CHATS + "/list").json()["items"]) == 1


@pytest.mark.proves("chats.settings.change")
def test_a_model_that_is_not_there_is_refused_with_those_that_are(account: Account) -> None:
    message = patch(account, model="openai/unknown").json()["error"]["message"]
    assert message == "model: no such model. There are none; null is the server's own."


@pytest.mark.proves("chats.settings.change")
def test_a_chat_has_only_spaces_that_the_caller_may_see(account: Account, new_account: Callable[..., Account]) -> None:
    foreign = new_account().new_space()
    limited = account.new_space("Limited")
    key = account.post("/public/v1/keys", json={"name": "other"}).json()
    own = account.post("/public/v1/keys", json={"name": "own"}).json()
    with_own = {"Authorization": f"Bearer {own['api_key']}"}
    access = {"chat_ids": [], "key_ids": [own["id"]]}
    answer = httpx2.patch(
        account.server.url + f"/public/v1/kb/spaces/{limited}", json={"access": access}, headers=with_own
    )
    assert answer.status_code == 200, answer.text
    assert patch(account, default_space_ids=[foreign]).status_code == 400
    url = account.server.url + path(account)
    with_other = {"Authorization": f"Bearer {key['api_key']}"}
    body = {"site_space_ids": [limited]}
    assert httpx2.patch(url, json=body, headers=with_other).status_code == 400
    assert httpx2.patch(url, json=body, headers=with_own).status_code == 200
    # What is there may be sent back as it was read.
    assert httpx2.patch(url, json={**body, "greeting": "Hi"}, headers=with_other).status_code == 200
    # What one field may see is not moved into another, nor opened by what is left out.
    moved = httpx2.patch(url, json={"default_space_ids": [limited]}, headers=with_other)
    assert (moved.status_code, moved.json()["error"]["param"]) == (400, "default_space_ids")
    for ids, default in (([limited], []), ([account.new_space("Open")], [limited])):
        widest = {"site_space_ids": ids, "default_space_ids": default}
        assert httpx2.patch(url, json=widest, headers=with_own).status_code == 200
        emptied = httpx2.patch(url, json={"site_space_ids": []}, headers=with_other)
        assert (emptied.status_code, emptied.json()["error"]["param"]) == (400, "site_space_ids")
    assert httpx2.patch(url, json={"site_space_ids": []}, headers=with_own).status_code == 200


@pytest.mark.proves("chats.settings.delete")
def test_a_deleted_chat_is_gone_and_the_oldest_active_one_is_the_default(account: Account) -> None:
    off, second, third = (make(account, name=name) for name in ("off", "second", "third"))
    patched(account, off["id"], is_active=False)
    assert account.request("DELETE", path(account)).status_code == 204
    for method, under in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/messages"), ("POST", "/rotate-key")):
        body = {"json": {"text": "Hello"} if under else {}} if method in ("POST", "PATCH") else {}
        assert account.request(method, path(account) + under, **body).status_code == 404, (method, under)
    config = httpx2.get(account.server.url + CONFIG, params={"key": account.made.chat.public_key})
    assert config.status_code == 404
    assert [read(account, each["id"])["is_default"] for each in (off, second, third)] == [False, True, False]
    assert audited(account)[0] == ("chat.deleted", account.chat_id)
    for each in (off, second, third):
        assert account.request("DELETE", path(account, each["id"])).status_code == 204
    assert account.get(CHATS + "/list").json()["items"] == []
    assert make(account)["is_default"] is True


@pytest.mark.proves("chats.settings.delete")
def test_a_space_that_was_limited_to_a_deleted_chat_can_be_limited_anew(account: Account) -> None:
    chat, space = make(account), f"/public/v1/kb/spaces/{account.new_space()}"
    keys = [account.get("/public/v1/keys").json()["items"][0]["id"]]
    access = {"access": {"chat_ids": [chat["id"], account.chat_id], "key_ids": keys}}
    assert account.request("PATCH", space, json=access).status_code == 200
    assert account.request("DELETE", path(account, chat["id"])).status_code == 204
    left = account.get(space).json()["access"]
    assert left == {"chat_ids": [account.chat_id], "key_ids": keys}
    assert account.request("PATCH", space, json={"access": left}).status_code == 200


@pytest.mark.proves("chats.settings.change")
def test_a_default_chat_that_is_switched_off_gives_its_place_to_the_oldest_active_one(account: Account) -> None:
    second = make(account)["id"]
    assert patched(account, is_active=False)["is_default"] is False
    assert read(account, second)["is_default"] is True
    refused = patch(account, is_default=True)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "is_default")
    assert patched(account, is_active=True, is_default=True)["is_default"] is True
    assert read(account, second)["is_default"] is False
    # The last one may be switched off, and is the default still.
    assert account.request("DELETE", path(account, second)).status_code == 204
    assert patched(account, is_active=False)["is_default"] is True


@pytest.mark.proves("chats.settings.change")
def test_a_key_that_was_rotated_opens_nothing(account: Account) -> None:
    def opens(key: str) -> int:
        return httpx2.get(account.server.url + CONFIG, params={"key": key}).status_code

    old = account.made.chat.public_key
    assert opens(old) == 200
    answer = account.post(path(account) + "/rotate-key")
    assert answer.status_code == 200
    assert answer.json() == read(account)
    new = answer.json()["public_key"]
    assert (opens(old), opens(new)) == (404, 200)
    assert audited(account)[0] == ("chat.key_rotated", account.chat_id)
    again = {"Idempotency-Key": new_id()}
    first, second = (account.post(path(account) + "/rotate-key", headers=again) for _ in range(2))
    assert first.json() == second.json()
    assert first.json()["public_key"] != new


@pytest.mark.proves("chats.settings.create")
def test_an_account_has_a_hundred_chats_and_a_repeated_request_makes_one(account: Account) -> None:
    with account.server.database.write() as connection:
        for number in range(MOST_CHATS - 2):
            key = f"wk_{new_id()}"
            chats.create(account.tenant_id, connection, name=f"{number}", header_title="x", public_key=key)
    again = {"Idempotency-Key": new_id()}
    answers = [account.post(CHATS, json={"name": "The last"}, headers=again) for _ in range(2)]
    assert {answer.status_code for answer in answers} == {201}
    assert answers[0].json() == answers[1].json()
    refused = account.post(CHATS, json={"name": "One more"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_many_chats")
    assert len(account.get(CHATS + "/list").json()["items"]) == MOST_CHATS
