"""A partner rotates keys, pauses its clients and takes them up again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import httpx2
import pytest

from accounts import clients
from store import accounts
from store.ids import new_id
from tests.contract.partner import Partner, give_money, make_partner, opens
from tests.contract.recordings import tone, wav
from tests.support.server import RunningServer

IDS = {"tenant_id", "client_id", "external_id"}
NEW_KEY = {"api_key", "api_key_prefix"}
ACTIONS = ("api-key/rotate", "deactivate", "reactivate")
RACERS = 24


@pytest.fixture(scope="module")
def partner(server: RunningServer) -> Partner:
    return make_partner(server)


@pytest.fixture
def made(partner: Partner) -> dict[str, Any]:
    return partner.made()


def own_key(server: RunningServer, api_key: str) -> str:
    """A key that the account makes itself."""
    headers = {"Authorization": f"Bearer {api_key}"}
    answer = httpx2.post(server.url + "/public/v1/keys", headers=headers, json={"name": "own"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["api_key"])


def upload(server: RunningServer, api_key: str) -> httpx2.Response:
    return httpx2.post(
        server.url + "/v1/audio/transcriptions",
        headers={"Authorization": f"Bearer {api_key}"},
        files={"file": ("call.wav", wav(tone(1.0)))},
    )


@pytest.mark.proves("integration.rotate.response", "integration.state.rotate", "integration.keys.own-stay")
def test_rotation_ends_the_old_key_at_once_and_shows_the_new_one(partner: Partner, made: dict[str, Any]) -> None:
    own = own_key(partner.server, made["api_key"])
    rotated = partner.done(made["external_id"], "api-key/rotate")
    assert set(rotated) == IDS | NEW_KEY
    assert {name: rotated[name] for name in IDS} == {name: made[name] for name in IDS}
    assert rotated["api_key"].startswith(rotated["api_key_prefix"])
    keys = (made["api_key"], rotated["api_key"], own)
    assert [opens(partner.server, key) for key in keys] == [False, True, True]
    assert partner.status(made["external_id"])["api_key_prefix"] == rotated["api_key_prefix"]


@pytest.mark.proves("integration.state.rotate-inactive")
def test_rotation_for_an_inactive_client_is_a_conflict(partner: Partner, made: dict[str, Any]) -> None:
    partner.done(made["external_id"], "deactivate")
    refused = partner.act(made["external_id"], "api-key/rotate")
    assert refused.status_code == 409, refused.text
    assert refused.json()["error"]["code"] == "client_inactive"
    assert opens(partner.server, made["api_key"])


@pytest.mark.proves("integration.deactivate.response", "integration.state.deactivate", "integration.states.idempotent")
def test_a_deactivated_client_keeps_its_keys_and_reads(partner: Partner, made: dict[str, Any]) -> None:
    states = [partner.done(made["external_id"], "deactivate") for _ in range(2)]
    assert states[0] == states[1] == {**{name: made[name] for name in IDS}, "is_active": False}
    refused = upload(partner.server, made["api_key"])
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "client_inactive")
    headers = {"Authorization": f"Bearer {made['api_key']}"}
    for path in ("/public/v1/chats/list", "/public/v1/balance", "/public/v1/balance/history"):
        assert httpx2.get(partner.server.url + path, headers=headers).status_code == 200
    body = {"amount_rub": 50}
    topped = httpx2.post(partner.server.url + "/public/v1/payment-link", headers=headers, json=body)
    assert topped.status_code != 403, topped.text
    status = partner.status(made["external_id"])
    assert (status["is_active"], status["api_key_prefix"]) == (False, made["api_key_prefix"])


@pytest.mark.proves(
    "integration.reactivate.response",
    "integration.state.reactivate",
    "integration.reactivate.always-new-key",
    "integration.states.idempotent",
    "integration.keys.own-stay",
)
def test_reactivation_gives_a_new_key_each_time(partner: Partner, made: dict[str, Any]) -> None:
    own = own_key(partner.server, made["api_key"])
    partner.done(made["external_id"], "deactivate")
    first, second = (partner.done(made["external_id"], "reactivate") for _ in range(2))
    for answer in (first, second):
        assert set(answer) == IDS | NEW_KEY | {"is_active"}
        assert answer["is_active"] is True
    keys = (made["api_key"], first["api_key"], second["api_key"], own)
    assert [opens(partner.server, key) for key in keys] == [False, False, True, True]
    assert partner.status(made["external_id"])["api_key_prefix"] == second["api_key_prefix"]
    give_money(partner.server, made["tenant_id"])
    accepted = upload(partner.server, second["api_key"])
    assert accepted.status_code == 202, accepted.text


@pytest.mark.proves("integration.state.reactivate")
@pytest.mark.parametrize("reason", [clients.OPERATOR_PAUSE, "balance"])
def test_reactivation_lifts_any_pause(partner: Partner, made: dict[str, Any], reason: str) -> None:
    with partner.server.database.write() as connection:
        accounts.update_tenant(made["tenant_id"], connection, is_active=False, pause_reason=reason)
    assert partner.status(made["external_id"])["is_active"] is False
    assert partner.done(made["external_id"], "reactivate")["is_active"] is True
    with partner.server.database.read() as connection:
        tenant = accounts.get_tenant(made["tenant_id"], connection)
    assert tenant is not None
    assert (tenant.is_active, tenant.pause_reason) == (True, None)


def test_a_pause_by_the_partner_outweighs_one_for_the_balance(partner: Partner, made: dict[str, Any]) -> None:
    with partner.server.database.write() as connection:
        accounts.update_tenant(made["tenant_id"], connection, is_active=False, pause_reason="balance")
    partner.done(made["external_id"], "deactivate")
    with partner.server.database.read() as connection:
        tenant = accounts.get_tenant(made["tenant_id"], connection)
    assert tenant is not None
    assert tenant.pause_reason == clients.PARTNER_PAUSE


@pytest.mark.proves("integration.rotate.404", "integration.deactivate.404", "integration.reactivate.404")
@pytest.mark.parametrize("action", ACTIONS)
def test_an_unknown_client_is_404(partner: Partner, server: RunningServer, action: str) -> None:
    external_id = new_id()
    make_partner(server).made(external_id)
    for unknown in (external_id, new_id(), "x" * 200, "\x00"):
        refused = partner.act(unknown, action)
        assert refused.status_code == 404, refused.text
        assert refused.json()["error"]["code"] == "client_not_found"


@pytest.mark.proves("authentication.client.shown-once")
def test_a_key_is_shown_by_what_made_it_and_never_again(partner: Partner, made: dict[str, Any]) -> None:
    external_id = made["external_id"]
    keys = [made["api_key"], partner.done(external_id, "api-key/rotate")["api_key"]]
    keys.append(partner.done(external_id, "reactivate")["api_key"])
    headers = {"Authorization": f"Bearer {keys[-1]}"}
    own = httpx2.post(partner.server.url + "/public/v1/keys", headers=headers, json={"name": "own"}).json()["api_key"]
    shown = [partner.get(external_id).text, partner.put(external_id, name="Other").text]
    shown += [
        httpx2.get(partner.server.url + f"/public/v1/{name}", headers=headers).text
        for name in ("keys", "audit", "settings")
    ]
    shown.append(partner.act(external_id, "deactivate").text)
    assert [key for key in (*keys, own) for text in shown if key in text] == []


@pytest.mark.proves("integration.state.rotate")
def test_rotations_at_once_leave_one_key_that_works(partner: Partner, made: dict[str, Any]) -> None:
    barrier = Barrier(RACERS)

    def rotate(number: int) -> str:
        barrier.wait()
        return str(partner.done(made["external_id"], ACTIONS[2 * (number % 2)])["api_key"])

    with ThreadPoolExecutor(RACERS) as pool:
        keys = list(pool.map(rotate, range(RACERS)))
    assert len(set(keys)) == RACERS
    working = [key for key in keys if opens(partner.server, key)]
    assert len(working) == 1
    assert working[0].startswith(partner.status(made["external_id"])["api_key_prefix"])


def test_what_a_partner_does_stands_in_the_clients_audit(partner: Partner, made: dict[str, Any]) -> None:
    external_id = made["external_id"]
    partner.put(external_id, name="Other")
    partner.put(external_id, name="Other")  # changes nothing
    partner.done(external_id, "api-key/rotate")
    for _ in range(2):
        partner.done(external_id, "deactivate")
    key = partner.done(external_id, "reactivate")["api_key"]
    headers = {"Authorization": f"Bearer {key}"}
    entries = httpx2.get(partner.server.url + "/public/v1/audit", headers=headers).json()["items"]
    assert [entry["action"] for entry in entries] == [
        "client.reactivated",
        "client.deactivated",
        "key.rotated",
        "client.updated",
        "client.created",
    ]
    assert {entry["actor"] for entry in entries} == {f"integration {partner.name}"}
