"""What an account sets for itself, its keys, and the log of what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from accounts.clients import MAX_LIVE_KEYS
from api import account as account_api
from api.account import AUDIT_KEPT_DAYS
from api.deliveries import TESTS_PER_MINUTE
from store import accounts, audit
from store.database import now
from store.ids import new_id
from tests.contract.partner import opens
from tests.support.ids import UNKNOWN_ID
from tests.support.receiver import Receiver, Reply, receiving
from tests.support.server import Account, RunningServer

SETTINGS = "/public/v1/settings"
KEYS = "/public/v1/keys"
AUDIT = "/public/v1/audit"
UNSET = {
    "webhook_url": None,
    "time_zone": "Europe/Moscow",
    "language": "ru",
    "widget_origins": [],
    "retention": None,
    "audio_retention": None,
    "camera_retention": 30,
    "memory": True,
    "qc": True,
    "voices": False,
}
RACERS = 16


def unset(account: Account) -> dict[str, Any]:
    """What a new account has set."""
    return {"name": account.made.tenant.name, **UNSET}


def patch(account: Account, **fields: Any) -> httpx2.Response:
    return account.request("PATCH", SETTINGS, json=fields)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.proves("account.settings.read", "account.settings.fields")
def test_a_new_account_has_settings_to_begin_with(account: Account) -> None:
    answer = account.get(SETTINGS)
    assert (answer.status_code, answer.json()) == (200, unset(account))


@pytest.mark.proves("account.settings.change", "account.settings.fields")
def test_what_is_named_changes_and_the_rest_stays(account: Account) -> None:
    expected = unset(account)
    for changes in (
        {"name": "Ромашка"},
        {"time_zone": "Asia/Omsk"},
        {"language": "en", "retention": 90},
        {"widget_origins": ["https://shop.example", "http://localhost:3000"]},
        {"memory": False, "qc": False, "voices": True},
        {"retention": None},
        {"camera_retention": 7, "audio_retention": 14},
        {"widget_origins": []},
        {},
    ):
        expected |= changes
        answer = patch(account, **changes)
        assert (answer.status_code, answer.json()) == (200, expected)
        assert account.get(SETTINGS).json() == expected


def test_origins_are_kept_once_each_as_browsers_send_them(account: Account) -> None:
    sent = ["https://Shop.Example:443/", "https://shop.example", "http://shop.example:8080", "https://магазин.рф"]
    assert patch(account, widget_origins=sent).json()["widget_origins"] == [
        "https://shop.example",
        "http://shop.example:8080",
        "https://xn--80aairftm.xn--p1ai",
    ]


@pytest.mark.proves("account.settings.change")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("time_zone", "Moscow"),
        ("time_zone", "../../etc/passwd"),
        ("time_zone", ""),
        ("time_zone", None),
        ("time_zone", "x" * 100),
        ("language", "de"),
        ("language", None),
        ("widget_origins", "https://shop.example"),
        ("widget_origins", ["shop.example"]),
        ("widget_origins", ["https://shop.example/page"]),
        ("widget_origins", [7]),
        ("widget_origins", None),
        ("widget_origins", [f"https://{number}.example" for number in range(51)]),
        ("retention", 0),
        ("retention", -1),
        ("retention", 36_501),
        ("retention", 1.5),
        ("retention", "30"),
        ("retention", True),
        ("audio_retention", 0),
        ("audio_retention", 36_501),
        ("audio_retention", "30"),
        ("camera_retention", 0),
        ("camera_retention", 36_501),
        ("camera_retention", None),
        ("memory", None),
        ("memory", "true"),
        ("qc", 1),
        ("voices", {}),
        ("webhook_url", "shop.example/hook"),
        ("webhook_url", "ftp://shop.example"),
        ("webhook_url", "https://"),
        ("webhook_url", "https://shop.example/" + "x" * 4096),
        ("webhook_url", 7),
        ("balance_rub", 100),
        ("allow_credit", True),
        ("is_active", True),
    ],
)
def test_a_wrong_value_is_named_and_changes_nothing(account: Account, field: str, value: Any) -> None:
    refused = patch(account, **{"retention": 7, field: value})
    assert refused.status_code == 400, refused.text
    error = refused.json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", "invalid_request_error")
    assert error["param"].split(".")[0] == field
    assert account.get(SETTINGS).json() == unset(account)


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that may call loopback out."""
    running = RunningServer(tmp_path_factory.mktemp("open-server"), allowed_networks="127.0.0.0/8")
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


@pytest.mark.proves("webhooks.account-url.tested", "webhooks.account-url.empty-disables")
@pytest.mark.parametrize("empty", ["", None])
def test_a_webhook_url_is_kept_once_its_receiver_answered_and_let_go_when_empty(
    open_server: RunningServer, receiver: Receiver, empty: str | None
) -> None:
    account = open_server.new_client(f"client {new_id()}")
    answer = patch(account, webhook_url=receiver.url())
    assert (answer.status_code, answer.json()["webhook_url"]) == (200, receiver.url())
    (tried,) = receiver.at("/hook")
    assert tried.is_signed_by(account.made.api_key)
    assert patch(account, webhook_url=receiver.url(), language="en").status_code == 200
    assert receiver.at("/hook") == [tried], "an URL that is there already is not tried again"
    cleared = patch(account, webhook_url=empty)
    assert (cleared.status_code, cleared.json()["webhook_url"]) == (200, None)
    assert receiver.at("/hook") == [tried]
    secret_path = receiver.url("/hook/of/a/secret")
    assert patch(account, webhook_url=secret_path).status_code == 200
    assert "secret" not in account.get(AUDIT).text


@pytest.mark.proves("webhooks.account-url.tested")
def test_a_webhook_url_whose_test_fails_is_refused_with_the_reason(
    open_server: RunningServer, receiver: Receiver
) -> None:
    account = open_server.new_client(f"client {new_id()}")
    for url, reason in (
        (receiver.answer("/fails", Reply(500)), "500"),
        (receiver.answer("/moved", Reply(302, headers={"Location": "/hook"})), "redirects"),
        ("http://10.1.2.3/hook", "public"),
    ):
        refused = patch(account, webhook_url=url, language="en")
        assert refused.status_code == 400, refused.text
        error = refused.json()["error"]
        assert error["param"] == "webhook_url"
        assert reason in error["message"]
    assert account.get(SETTINGS).json() == unset(account)


def test_addresses_are_tried_within_the_limit_of_tests(open_server: RunningServer, receiver: Receiver) -> None:
    account = open_server.new_client(f"client {new_id()}")
    statuses = []
    while 429 not in statuses and len(statuses) <= 2 * TESTS_PER_MINUTE:  # a minute may end in between
        statuses.append(patch(account, webhook_url=receiver.url(f"/{len(statuses)}")).status_code)
    assert len(statuses) > TESTS_PER_MINUTE
    assert (set(statuses[:-1]), statuses[-1]) == ({200}, 429)
    assert len(receiver.requests) == len(statuses) - 1
    assert patch(account, language="en").status_code == 200
    assert patch(account, webhook_url=None).status_code == 200


def test_a_receiver_that_keeps_its_tester_waiting_keeps_no_other_tenant_waiting(open_server: RunningServer) -> None:
    slow, other = (open_server.new_client(f"client {new_id()}") for _ in range(2))
    with receiving() as quick, ThreadPoolExecutor(2) as pool:
        with receiving() as tar_pit:
            url = tar_pit.answer("/hook", Reply(hangs=True))
            waiting = [pool.submit(patch, slow, webhook_url=url) for _ in range(2)]
            tar_pit.wait("/hook", 2)
            refused = patch(slow, webhook_url=quick.url("/third"))
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
            assert patch(other, webhook_url=quick.url("/other")).status_code == 200
        assert [each.result().status_code for each in waiting] == [400, 400]
        assert patch(slow, webhook_url=quick.url("/fourth")).status_code == 200
        assert [each.path for each in quick.requests] == ["/other", "/fourth"]


@pytest.mark.proves("account.keys.create", "account.keys.list", "account.keys.delete")
def test_keys_are_made_shown_once_listed_and_ended_at_once(account: Account) -> None:
    made = account.post(KEYS, json={"name": " CRM "})
    assert made.status_code == 201, made.text
    record = made.json()
    key = record.pop("api_key")
    assert set(record) == {"id", "name", "prefix", "issuer", "created_at", "revoked_at"}
    assert (record["name"], record["issuer"], record["revoked_at"]) == ("CRM", "account", None)
    assert key.startswith(record["prefix"])
    assert opens(account.server, key)
    listed = account.get(KEYS)
    assert listed.json()["pagination"] == {"limit": 20, "offset": 0, "count": 2, "total": 2}
    assert listed.json()["items"][0] == record
    assert listed.json()["items"][1]["name"] == "first key"
    assert key not in listed.text
    for _ in range(2):
        deleted = account.request("DELETE", f"{KEYS}/{record['id']}")
        assert (deleted.status_code, deleted.content) == (204, b"")
        assert not opens(account.server, key)
    ended = account.get(KEYS, params={"limit": 1}).json()
    assert ended["items"][0]["revoked_at"] is not None
    assert ended["pagination"] == {"limit": 1, "offset": 0, "count": 1, "total": 2}
    assert account.get(KEYS, params={"offset": 2}).json()["items"] == []


@pytest.mark.proves("account.keys.delete")
def test_a_key_may_end_itself_but_not_the_last_one(account: Account) -> None:
    first = account.get(KEYS).json()["items"][0]
    refused = account.request("DELETE", f"{KEYS}/{first['id']}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "last_key")
    second = account.post(KEYS, json={"name": "second"}).json()
    assert account.request("DELETE", f"{KEYS}/{first['id']}").status_code == 204
    assert account.get(KEYS).status_code == 401
    assert opens(account.server, second["api_key"])


@pytest.mark.proves("account.keys.delete")
def test_keys_that_end_each_other_at_once_leave_one(account: Account) -> None:
    keys = [(account.get(KEYS).json()["items"][0]["id"], account.made.api_key)]
    for number in range(RACERS - 1):
        made = account.post(KEYS, json={"name": str(number)}).json()
        keys.append((made["id"], made["api_key"]))
    barrier = Barrier(RACERS)

    def end(number: int) -> int:
        barrier.wait()
        url = f"{account.server.url}{KEYS}/{keys[number][0]}"
        return httpx2.delete(url, headers=bearer(keys[number][1]), timeout=60).status_code

    with ThreadPoolExecutor(RACERS) as pool:
        statuses = sorted(pool.map(end, range(RACERS)))
    assert statuses == [204] * (RACERS - 1) + [409]
    assert sum(opens(account.server, key) for _, key in keys) == 1


@pytest.mark.parametrize("key_id", [UNKNOWN_ID, "none", "%00"])
def test_an_unknown_key_is_404(account: Account, key_id: str) -> None:
    assert account.request("DELETE", f"{KEYS}/{key_id}").status_code == 404


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": " "}, {"name": "x" * 201}, {"name": 7}, {"name": "a\nb"}])
def test_a_key_needs_a_name(account: Account, body: dict[str, Any]) -> None:
    refused = account.post(KEYS, json=body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "name")


def test_there_is_a_bound_on_live_keys(account: Account) -> None:
    with account.server.database.write() as connection:
        for number in range(MAX_LIVE_KEYS - 1):
            accounts.add_key(
                account.tenant_id,
                connection,
                name="many",
                prefix="sk_live_none",
                key_hash=new_id() + str(number),
                signing_secret=b"",
                issuer="account",
            )
    refused = account.post(KEYS, json={"name": "one more"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_many_keys")


def test_an_idempotency_key_makes_one_api_key(account: Account) -> None:
    header = {"Idempotency-Key": new_id()}
    first, second = (account.post(KEYS, json={"name": "once"}, headers=header) for _ in range(2))
    assert first.json() == second.json()
    assert account.get(KEYS).json()["pagination"]["total"] == 2
    other = account.post(KEYS, json={"name": "other"}, headers=header)
    assert other.status_code == 422, other.text


@pytest.mark.proves("account.audit.read")
def test_the_audit_says_newest_first_what_was_done_and_by_whom(
    account: Account, new_account: Callable[..., Account]
) -> None:
    made = account.post(KEYS, json={"name": "CRM"}).json()
    patch(account, language="en", retention=30)
    patch(account, language="en")  # changes nothing
    account.request("DELETE", f"{KEYS}/{made['id']}")
    answer = account.get(AUDIT).json()
    entries = answer["items"]
    assert answer["pagination"] == {"limit": 20, "offset": 0, "count": 4, "total": 4}
    assert [entry["action"] for entry in entries] == [
        "key.revoked",
        "settings.changed",
        "key.created",
        "client.created",
    ]
    prefix = account.made.api_key[: len("sk_live_") + 6]
    assert [entry["actor"] for entry in entries] == [f"key {prefix}"] * 3 + ["operator"]
    assert entries[0]["subject"] == entries[2]["subject"] == made["id"]
    assert entries[1]["details"] == {"language": "en", "retention_days": 30}
    for entry in entries:
        assert set(entry) == {"id", "at", "actor", "action", "subject", "details"}
    page = account.get(AUDIT, params={"limit": 2, "offset": 1}).json()
    assert page["items"] == entries[1:3]
    assert page["pagination"] == {"limit": 2, "offset": 1, "count": 2, "total": 4}
    assert [entry["action"] for entry in new_account().get(AUDIT).json()["items"]] == ["client.created"]


@pytest.mark.parametrize("path", [KEYS, AUDIT])
@pytest.mark.parametrize(("name", "value"), [("limit", "0"), ("limit", "101"), ("limit", "x"), ("offset", "-1")])
def test_a_page_out_of_bounds_is_refused(account: Account, path: str, name: str, value: str) -> None:
    refused = account.get(path, params={name: value})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, name)


def test_the_audit_forgets_what_is_older_than_400_days(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        assert account.post(KEYS, json={"name": str(number)}).status_code == 201
    long_ago = now() - timedelta(days=AUDIT_KEPT_DAYS, minutes=1)
    entries = audit.audit_entries
    with account.server.database.write() as connection:
        connection.execute(sa.update(entries).where(entries.c.tenant_id == account.tenant_id).values(at=long_ago))
    assert patch(account, language="en").status_code == 200
    monkeypatch.setattr(account_api, "_PURGED_AT_ONCE", 2)
    account_api.forget_old_audit(account.server.database)
    items = account.get(AUDIT).json()["items"]
    assert [each["action"] for each in items] == ["settings.changed"]


def test_a_paused_account_can_end_a_key_and_changes_nothing_else(account: Account, pause: Callable[..., None]) -> None:
    made = account.post(KEYS, json={"name": "leaked"}).json()
    pause(account)
    for refused in (patch(account, language="en"), account.post(KEYS, json={"name": "new"})):
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "client_inactive")
    assert account.request("DELETE", f"{KEYS}/{made['id']}").status_code == 204
    assert not opens(account.server, made["api_key"])


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "Ж" * 201])
def test_a_name_that_is_none_is_refused(account: Account, name: str) -> None:
    answer = patch(account, name=name)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "name")


def test_the_log_is_filtered_by_who_what_and_when(account: Account) -> None:
    patch(account, language="en")
    account.post(KEYS, json={"name": "first"})
    key = account.post(KEYS, json={"name": "second"}).json()["id"]
    account.request("DELETE", f"{KEYS}/{key}")

    def actions(**query: str) -> list[str]:
        found = account.get(AUDIT, params=query).json()
        assert found["pagination"]["total"] == len(found["items"])
        return [entry["action"] for entry in found["items"]]

    assert actions(action="key") == ["key.revoked", "key.created", "key.created"]
    assert actions(action="key.revoked") == ["key.revoked"]
    assert actions(action="k") == []
    assert actions(actor="SK_LIVE", action="settings") == ["settings.changed"]
    assert actions(actor="%") == []
    assert actions(**{"from": "2100-01-01T00:00:00Z"}) == []
    assert len(actions(to="2100-01-01T00:00:00Z")) == len(actions())
