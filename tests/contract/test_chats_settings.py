"""GET /v1/chats/{id}: a chat with what its visitors are greeted by."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from store import chats
from store.ids import new_id
from tests.contract.described import get_described
from tests.support.server import Account

PATH = "/public/v1/chats/{chat_id}"


def read(account: Account) -> dict[str, object]:
    return get_described(account, PATH.format(chat_id=account.chat_id), described_as=PATH)


@pytest.mark.proves("chats.settings.read")
def test_a_chat_is_read_as_it_is_listed_and_with_its_greeting(account: Account) -> None:
    with account.server.database.write() as connection:
        chats.update(
            account.tenant_id, connection, account.chat_id, greeting="Здравствуйте!", suggestions=["Где заказ?"]
        )
    chat = read(account)
    (item,) = get_described(account, "/public/v1/chats/list")["items"]
    assert {name: chat[name] for name in item} == item
    assert (chat["greeting"], chat["suggestions"], chat["is_active"]) == ("Здравствуйте!", ["Где заказ?"], True)
    assert set(chat) - set(item) == {"greeting", "suggestions", "is_active"}
    with account.server.database.write() as connection:
        chats.update(account.tenant_id, connection, account.chat_id, is_active=False)
    assert read(account)["is_active"] is False


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
