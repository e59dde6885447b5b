"""Who may call as a partner, and from where."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from accounts import partners
from accounts.keys import Keyring
from store.ids import new_id
from tests.contract.partner import CLIENTS, Partner, make_partner, opens
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account, RunningServer

CALLER = "203.0.113.7"
PROXY = "198.51.100.9"


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server behind two proxies: one on loopback, one at PROXY, and one of IPv6. It gives a signup credit."""
    running = RunningServer(
        tmp_path_factory.mktemp("proxied"),
        trusted_proxies=f"127.0.0.0/8, {PROXY}, 2001:db8:f::/48",
        signup_credit="12.34",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture(scope="module")
def partner(server: RunningServer) -> Partner:
    return make_partner(server)


def refusal(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.proves("integration.auth.401", "authentication.partner.only-integration")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_missing_or_wrong_secret_is_401(partner: Partner, account: Account, method: str) -> None:
    good = partner.secret
    for headers in (
        {},
        {"Authorization": good},
        {"Authorization": f"Basic {good}"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {good}x"},
        {"Authorization": f"Bearer {good[:-1]}"},
        {"Authorization": f"Bearer {good.swapcase()}"},
        {"Authorization": "Bearer int_live_" + "A" * 43},
        {"Authorization": "Bearer " + "int_live_" * 1000},
        {"Authorization": f"Bearer {account.made.api_key}"},
        {"Authorization": f"Bearer {good.replace('int_live_', 'sk_live_')}"},
        {"x-api-key": good},
    ):
        url = partner.server.url + CLIENTS + ("" if method == "POST" else "/x")
        answer = httpx2.request(method, url, headers=headers, json={"external_id": ""} if method == "POST" else None)
        assert refusal(answer) == (401, "unauthorized"), headers
        assert set(answer.json()["error"]) == {"code", "message", "details"}
        assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.proves("authentication.client.not-integration", "authentication.prefixes.not-interchangeable")
def test_a_client_key_does_not_open_the_integration_api(partner: Partner) -> None:
    made = partner.made()
    for key in (made["api_key"], made["api_key"].replace("sk_live_", "int_live_")):
        answer = httpx2.get(
            f"{partner.server.url}{CLIENTS}/{made['external_id']}", headers={"Authorization": f"Bearer {key}"}
        )
        assert refusal(answer) == (401, "unauthorized")


@pytest.mark.proves("authentication.partner.only-integration")
@pytest.mark.parametrize(
    "path", ["/public/v1/settings", "/public/v1/chats/list", f"/v1/audio/transcriptions/tasks/{UNKNOWN_ID}"]
)
def test_a_partner_secret_opens_nothing_of_clients(partner: Partner, path: str) -> None:
    answer = httpx2.get(partner.server.url + path, headers=partner.headers)
    assert refusal(answer) == (401, "invalid_api_key")


@pytest.mark.proves("integration.auth.allowlist", "integration.allowlist.empty", "integration.allowlist.networks")
@pytest.mark.parametrize(
    ("networks", "allowed"),
    [
        ([], False),
        (["127.0.0.1"], True),
        (["127.0.0.0/8"], True),
        (["::ffff:127.0.0.1"], True),
        (["::ffff:127.0.0.0/104"], True),
        (["0.0.0.0/0"], True),
        (["10.0.0.0/8", "127.0.0.1/32"], True),
        (["127.0.0.2"], False),
        (["10.0.0.0/8"], False),
        (["::1"], False),
        (["::/0"], False),
    ],
    ids=str,
)
def test_only_addresses_of_the_allowlist_may_call(server: RunningServer, networks: list[str], allowed: bool) -> None:
    partner = make_partner(server, networks=networks)
    answer = partner.put(new_id())
    assert answer.status_code == (201 if allowed else 403), answer.text
    if not allowed:
        assert refusal(answer) == (403, "ip_not_allowed")
        assert refusal(partner.get("unknown")) == (403, "ip_not_allowed")


@pytest.mark.proves("integration.auth.disabled")
def test_a_disabled_integration_is_refused_like_a_wrong_address(server: RunningServer) -> None:
    partner = make_partner(server)
    made = partner.made()
    with server.database.write() as connection:
        partners.switch(connection, partner.name, is_enabled=False)
    assert refusal(partner.get(made["external_id"])) == (403, "ip_not_allowed")
    assert refusal(partner.put(made["external_id"])) == (403, "ip_not_allowed")
    assert opens(server, made["api_key"])
    with server.database.write() as connection:
        partners.switch(connection, partner.name, is_enabled=True)
    assert partner.get(made["external_id"]).status_code == 200


@pytest.mark.proves("integration.auth.401", "integration.auth.allowlist")
def test_the_secret_is_looked_at_before_the_address_and_both_before_the_body(server: RunningServer) -> None:
    partner = make_partner(server, networks=())
    url = server.url + CLIENTS
    assert refusal(httpx2.post(url, content=b"{")) == (401, "unauthorized")
    assert refusal(httpx2.post(url, content=b"{", headers=partner.headers)) == (403, "ip_not_allowed")


def test_a_rotated_secret_is_dead_at_once(server: RunningServer) -> None:
    partner = make_partner(server)
    with server.database.write() as connection:
        _, secret = partners.rotate_secret(connection, Keyring.of(server.settings), partner.id)
    assert refusal(partner.put(new_id())) == (401, "unauthorized")
    answer = partner.request("POST", json={"external_id": new_id()}, headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 201, answer.text


@pytest.mark.proves("integration.allowlist.proxies")
def test_without_trusted_proxies_a_forwarded_address_counts_for_nothing(server: RunningServer) -> None:
    partner = make_partner(server, networks=[CALLER])
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP"):
        value = f"for={CALLER}" if name == "Forwarded" else CALLER
        assert refusal(partner.request("GET", "/x", headers={name: value})) == (403, "ip_not_allowed")


@pytest.mark.proves("integration.allowlist.proxies", "integration.allowlist.networks")
@pytest.mark.parametrize(
    ("forwarded", "allowed"),
    [
        (CALLER, True),
        (f"{CALLER}:4711", True),
        (f"::ffff:{CALLER}", True),
        ("2001:db8:1::5", True),
        ("[2001:db8:1::5]:4711", True),
        # What a caller wrote itself stands before what the proxies added.
        (f"{CALLER}, 192.0.2.1", False),
        (f"192.0.2.1, {CALLER}", True),
        (f"192.0.2.1, {CALLER}, {PROXY}", True),
        (f"192.0.2.1, {CALLER}, 2001:db8:f::1, ::ffff:{PROXY}, 127.0.0.2", True),
        (f"{CALLER}, 192.0.2.1, {PROXY}", False),
        (f"{CALLER}, unknown", False),
        (f"{CALLER}, 203.0.113.7.", False),
        (f"{CALLER}, 0203.0.113.7", False),
        (f"{CALLER}, 3405803783", False),
        (f"{CALLER}, {CALLER}/32", False),
        ("2001:db8:2::5", False),
        ("127.0.0.1", False),
        ("localhost", False),
        ("_hidden", False),
        ("", False),
        (",", False),
    ],
)
def test_behind_a_trusted_proxy_the_last_address_that_is_no_proxy_counts(
    proxied: RunningServer, forwarded: str, allowed: bool
) -> None:
    partner = make_partner(proxied, networks=[CALLER, "2001:db8:1::/48"])
    answer = partner.request("GET", "/x", headers={"X-Forwarded-For": forwarded})
    assert refusal(answer) == ((404, "client_not_found") if allowed else (403, "ip_not_allowed"))


@pytest.mark.proves("integration.allowlist.proxies")
def test_a_header_sent_twice_is_one_chain(proxied: RunningServer) -> None:
    partner = make_partner(proxied, networks=[CALLER])
    for chain, expected in (((CALLER, "192.0.2.1"), 403), (("192.0.2.1", CALLER), 404)):
        headers = [("Authorization", f"Bearer {partner.secret}"), *(("X-Forwarded-For", each) for each in chain)]
        answer = httpx2.get(f"{proxied.url}{CLIENTS}/x", headers=headers)
        assert answer.status_code == expected, answer.text


@pytest.mark.proves("integration.create.starts-with", "integration.record.balance-number")
def test_a_client_starts_with_the_signup_credit(proxied: RunningServer) -> None:
    partner = make_partner(proxied)
    made = partner.made()
    assert made["balance_rub"] == partner.status(made["external_id"])["balance_rub"] == 12.34
    headers = {"Authorization": f"Bearer {made['api_key']}"}
    assert httpx2.get(proxied.url + "/public/v1/balance", headers=headers).json()["balance_rub"] == "12.34"
