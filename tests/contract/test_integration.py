"""A partner makes and updates its clients, and reads what became of them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Barrier
from typing import Any
from uuid import UUID

import httpx2
import pytest

from store import accounts
from store.ids import new_id
from tests.contract.partner import Partner, make_partner, opens
from tests.support.server import RunningServer

CREATION = {
    "created",
    "tenant_id",
    "client_id",
    "external_id",
    "is_active",
    "balance_rub",
    "api_key",
    "api_key_prefix",
    "tariff",
}
STATUS = CREATION - {"created", "api_key"} | {"name", "email", "created_at", "updated_at"}
RACERS = 64


@pytest.fixture(scope="module")
def partner(server: RunningServer) -> Partner:
    return make_partner(server)


def error(answer: httpx2.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    found: dict[str, Any] = answer.json()["error"]
    assert set(found) == {"code", "message", "details"}
    assert isinstance(found["code"], str)
    assert isinstance(found["message"], str)
    assert found["message"]
    assert isinstance(found["details"], dict)
    return found


@pytest.mark.proves(
    "integration.create.201",
    "integration.create.response",
    "integration.record.key-prefix",
    "integration.state.new-is-active",
    "integration.v1",
    "addresses.integration",
)
def test_a_creation_answers_all_that_the_partner_has_to_keep(partner: Partner) -> None:
    external_id = new_id()
    answer = partner.put(external_id, name="Shop", email=f"{external_id}@shop.example")
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert set(made) == CREATION
    assert (made["created"], made["external_id"], made["is_active"]) == (True, external_id, True)
    assert str(UUID(made["tenant_id"])) == made["tenant_id"] != made["client_id"] == str(UUID(made["client_id"]))
    assert made["api_key"].startswith("sk_live_")
    assert made["api_key"].startswith(made["api_key_prefix"])
    assert len("sk_live_") < len(made["api_key_prefix"]) < len(made["api_key"]) / 2
    assert opens(partner.server, made["api_key"])


@pytest.mark.proves("authentication.key.made-by-partner")
def test_the_key_opens_speech_public_and_mcp(partner: Partner) -> None:
    headers = {"Authorization": f"Bearer {partner.made()['api_key']}"}
    url = partner.server.url
    task = httpx2.get(f"{url}/v1/audio/transcriptions/tasks/{new_id()}", headers=headers)
    assert task.status_code == 404, task.text
    assert httpx2.get(url + "/public/v1/chats/list", headers=headers).status_code == 200
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    assert httpx2.post(url + "/mcp", headers=headers, json=body).json()["result"]["tools"]


@pytest.mark.proves("integration.get.response", "integration.get.no-key", "integration.record.times")
def test_the_status_has_all_but_the_key(partner: Partner) -> None:
    made = partner.made(name="Магазин", email=f"{new_id()}@Shop.example")
    status = partner.status(made["external_id"])
    assert set(status) == STATUS
    same = STATUS & CREATION
    assert {name: status[name] for name in same} == {name: made[name] for name in same}
    assert (status["name"], status["email"].endswith("@shop.example")) == ("Магазин", True)
    assert made["api_key"] not in json.dumps(status)
    for name in ("created_at", "updated_at"):
        assert datetime.fromisoformat(status[name]).utcoffset() is not None


@pytest.mark.proves("integration.record.balance-number", "integration.record.tariff", "integration.record.tariff.rate")
def test_balance_and_tariff_are_numbers(partner: Partner) -> None:
    made = partner.made()
    assert isinstance(made["balance_rub"], int | float)
    tariff = made["tariff"]
    assert set(tariff) == {"version_id", "label", "rates"}
    assert UUID(tariff["version_id"])
    assert tariff["label"]
    assert {rate["product"] for rate in tariff["rates"]} >= {"transcription", "chat", "summary", "qc", "memory"}
    for rate in tariff["rates"]:
        assert set(rate) == {"option_id", "product", "unit", "name", "amount_rub", "llm_model"}
        assert isinstance(rate["amount_rub"], int | float)
        assert rate["amount_rub"] > 0
        assert all(isinstance(rate[name], str) and rate[name] for name in ("option_id", "product", "unit", "name"))
        assert rate["llm_model"] is None or isinstance(rate["llm_model"], str)


@pytest.mark.proves(
    "integration.create.idempotent",
    "integration.update.200",
    "integration.update.key-only-when-made",
    "integration.update.left-out-stays",
    "integration.state.update-keeps-state",
)
def test_the_same_external_id_again_updates_the_client(partner: Partner) -> None:
    email = f"{new_id()}@shop.example"
    made = partner.made(name="Before", email=email)
    external_id = made["external_id"]
    again = partner.put(external_id)
    assert again.status_code == 200, again.text
    assert again.json() == {**partner.status(external_id), "created": False}
    assert (again.json()["name"], again.json()["email"]) == ("Before", email)
    changed = partner.put(external_id, name="After", email=email.upper()).json()
    assert (changed["name"], changed["email"], changed["is_active"]) == ("After", email, True)
    assert partner.put(external_id, email=f"new-{email}", name=None).json()["email"] == f"new-{email}"
    status = partner.status(external_id)
    assert (status["name"], status["api_key_prefix"]) == ("After", made["api_key_prefix"])
    assert status["tenant_id"] == made["tenant_id"]
    assert status["updated_at"] > status["created_at"]
    assert opens(partner.server, made["api_key"])


@pytest.mark.proves("integration.create.rotate-key", "integration.update.key-only-when-made")
def test_rotate_key_gives_a_known_client_a_new_key_and_ends_the_old_one(partner: Partner) -> None:
    made = partner.made(rotate_key=True)
    answer = partner.put(made["external_id"], rotate_key=True)
    assert answer.status_code == 200, answer.text
    updated = answer.json()
    assert set(updated) == STATUS | {"created", "api_key"}
    assert updated["created"] is False
    assert updated["api_key"] != made["api_key"]
    assert updated["api_key"].startswith(updated["api_key_prefix"])
    assert (opens(partner.server, made["api_key"]), opens(partner.server, updated["api_key"])) == (False, True)
    assert "api_key" not in partner.put(made["external_id"], rotate_key=False).json()
    assert opens(partner.server, updated["api_key"])


@pytest.mark.proves("integration.update.rotate-keeps-inactive", "integration.state.update-keeps-state")
def test_an_update_leaves_an_inactive_client_inactive(partner: Partner) -> None:
    external_id = partner.made()["external_id"]
    partner.done(external_id, "deactivate")
    updated = partner.put(external_id, name="Other", rotate_key=True).json()
    assert (updated["is_active"], updated["name"]) == (False, "Other")
    assert opens(partner.server, updated["api_key"])
    assert partner.status(external_id)["is_active"] is False


@pytest.mark.proves("integration.create.per-integration", "integration.get.404")
def test_two_integrations_have_two_clients_of_one_external_id(partner: Partner, server: RunningServer) -> None:
    other = make_partner(server)
    external_id = new_id()
    mine = partner.made(external_id, name="mine")
    assert error(other.get(external_id), 404)["code"] == "client_not_found"
    theirs = other.made(external_id, name="theirs")
    assert mine["tenant_id"] != theirs["tenant_id"]
    other.done(external_id, "deactivate")
    assert (partner.status(external_id)["name"], partner.status(external_id)["is_active"]) == ("mine", True)
    assert (other.status(external_id)["name"], other.status(external_id)["is_active"]) == ("theirs", False)


@pytest.mark.proves(
    "integration.create.email-taken", "integration.record.email-unique", "integration.error.email-taken-details"
)
def test_an_email_of_another_account_is_refused_and_nothing_changes(partner: Partner, server: RunningServer) -> None:
    taken = f"{new_id()}@shop.example"
    make_partner(server).made(email=taken)
    own = server.new_client(f"own {new_id()}", email=f"own-{taken}")
    known = partner.made(name="Before")
    for email in (taken, taken.upper(), f"own-{taken}"):
        external_id = new_id()
        refused = error(partner.put(external_id, email=email), 422)
        assert (refused["code"], refused["details"]) == ("email_taken", {"email": email})
        assert partner.get(external_id).status_code == 404
        again = error(partner.put(known["external_id"], email=email, name="After", rotate_key=True), 422)
        assert (again["code"], again["details"]) == ("email_taken", {"email": email})
    assert partner.status(known["external_id"])["name"] == "Before"
    assert opens(server, known["api_key"])
    assert opens(server, own.made.api_key)


@pytest.mark.proves(
    "integration.create.external-id",
    "integration.create.email",
    "integration.create.widget-origin-override",
    "integration.create.validation-error",
    "integration.create.unknown-field",
    "integration.error.body",
)
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "external_id"),
        ({"external_id": ""}, "external_id"),
        ({"external_id": "x" * 129}, "external_id"),
        ({"external_id": "a\nb"}, "external_id"),
        ({"external_id": "a\x7f"}, "external_id"),
        ({"external_id": 7}, "external_id"),
        ({"external_id": None}, "external_id"),
        ({"external_id": "valid", "name": ""}, "name"),
        ({"external_id": "valid", "name": " "}, "name"),
        ({"external_id": "valid", "name": "x" * 201}, "name"),
        ({"external_id": "valid", "name": ["a"]}, "name"),
        ({"external_id": "valid", "email": "nobody"}, "email"),
        ({"external_id": "valid", "email": ""}, "email"),
        ({"external_id": "valid", "email": "a@b@c.example"}, "email"),
        ({"external_id": "valid", "email": "x" * 320 + "@shop.example"}, "email"),
        ({"external_id": "valid", "widget_origin_override": "shop.example"}, "widget_origin_override"),
        ({"external_id": "valid", "widget_origin_override": "ftp://shop.example"}, "widget_origin_override"),
        ({"external_id": "valid", "widget_origin_override": "https://shop.example/page"}, "widget_origin_override"),
        ({"external_id": "valid", "widget_origin_override": "https://a:b@shop.example"}, "widget_origin_override"),
        ({"external_id": "valid", "widget_origin_override": "https://*.example"}, "widget_origin_override"),
        ({"external_id": "valid", "widget_origin_override": "https://shop.example:99999"}, "widget_origin_override"),
        ({"external_id": "valid", "rotate_key": "yes"}, "rotate_key"),
        ({"external_id": "valid", "rotate_key": None}, "rotate_key"),
        ({"external_id": "valid", "phone": "1"}, "phone"),
        ({"external_id": "valid", "api_key": "sk_live_mine"}, "api_key"),
    ],
)
def test_a_wrong_field_is_named_and_makes_nothing(partner: Partner, body: dict[str, Any], field: str) -> None:
    refused = error(partner.request("POST", json=body), 422)
    assert (refused["code"], refused["details"]["field"]) == ("validation_error", field)
    assert partner.get("valid").status_code == 404


@pytest.mark.proves("integration.create.validation-error")
@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b'"x"', b'{"external_id": "\\u0000"}', b"\xff\xfe"])
def test_a_body_that_is_no_object_is_a_validation_error(partner: Partner, raw: bytes) -> None:
    answer = partner.request("POST", content=raw, headers={"Content-Type": "application/json"})
    assert error(answer, 422)["code"] == "validation_error"


@pytest.mark.proves("integration.create.external-id")
@pytest.mark.parametrize(
    "external_id",
    [
        "x",
        "x" * 128,
        "Ж" * 128,
        "🦉" * 128,
        "a/b",
        "/a/",
        "a%2Fb",
        "a b?c#d&e=f+g",
        "..",
        "a/deactivate",
        "a/api-key/rotate",
    ],
    ids=ascii,
)
def test_an_external_id_is_any_text_and_goes_into_paths_percent_encoded(
    server: RunningServer, external_id: str
) -> None:
    partner = make_partner(server)
    made = partner.made(external_id)
    assert made["external_id"] == external_id
    # Made by hand: a client library takes ".." out of a path before it sends it.
    encoded = "".join(f"%{byte:02X}" for byte in external_id.encode())
    assert partner.request("GET", f"/{encoded}").json()["tenant_id"] == made["tenant_id"]
    assert partner.request("POST", f"/{encoded}/deactivate").json()["external_id"] == external_id
    assert partner.request("POST", f"/{encoded}/api-key/rotate").json()["error"]["code"] == "client_inactive"
    assert partner.request("POST", f"/{encoded}/reactivate").json()["is_active"] is True
    assert partner.request("POST", f"/{encoded}/api-key/rotate").json()["external_id"] == external_id


@pytest.mark.proves("integration.get.404")
@pytest.mark.parametrize("path", ["/unknown", "/", "/%00", "/%FF", "/" + "x" * 129, "/unknown/deactivate"])
def test_what_is_no_client_is_404_client_not_found(partner: Partner, path: str) -> None:
    found = error(partner.request("GET", path), 404)
    assert (found["code"], found["details"]) == ("client_not_found", {})


@pytest.mark.proves("integration.create.race", "integration.create.idempotent")
def test_creations_at_once_make_one_client_and_give_its_first_key_once(server: RunningServer) -> None:
    partner = make_partner(server)
    external_id, email = new_id(), f"{new_id()}@shop.example"
    barrier = Barrier(RACERS)

    def create(_number: int) -> httpx2.Response:
        barrier.wait()
        return partner.put(external_id, name="Shop", email=email)

    with ThreadPoolExecutor(RACERS) as pool:
        answers = list(pool.map(create, range(RACERS)))
    assert sorted(answer.status_code for answer in answers) == [200] * (RACERS - 1) + [201]
    made = next(answer.json() for answer in answers if answer.status_code == 201)
    assert [answer.json()["api_key"] for answer in answers if "api_key" in answer.json()] == [made["api_key"]]
    assert {answer.json()["tenant_id"] for answer in answers} == {made["tenant_id"]}
    with server.database.read() as connection:
        assert len(accounts.list_by_external_id(connection, external_id)) == 1
        assert len(accounts.list_keys(made["tenant_id"], connection)) == 1
    assert opens(server, made["api_key"])


@pytest.mark.proves("integration.create.starts-with")
def test_a_client_starts_with_the_features_of_its_integration(server: RunningServer) -> None:
    made = make_partner(server, features=("kb", "qc")).made()
    assert made["balance_rub"] == 0
    headers = {"Authorization": f"Bearer {made['api_key']}"}
    refused = httpx2.get(server.url + "/public/v1/chats/list", headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "feature_disabled")
    assert httpx2.get(server.url + "/public/v1/kb/spaces", headers=headers).status_code == 200


@pytest.mark.proves("integration.widget-origin.added", "integration.create.widget-origin-override")
def test_a_widget_origin_is_added_to_those_that_are_there(partner: Partner) -> None:
    made = partner.made(widget_origin_override="https://Shop.Example:443/")
    external_id = made["external_id"]
    for origin in ("http://localhost:3000", "https://shop.example", "https://магазин.example", "http://[::1]:80"):
        assert partner.put(external_id, widget_origin_override=origin).status_code == 200
    headers = {"Authorization": f"Bearer {made['api_key']}"}
    settings = httpx2.get(partner.server.url + "/public/v1/settings", headers=headers).json()
    assert settings["widget_origins"] == [
        "https://shop.example",
        "http://localhost:3000",
        "https://xn--80aairftm.example",
        "http://[::1]",
    ]
    chats = httpx2.get(partner.server.url + "/public/v1/chats/list", headers=headers).json()
    visitor = {"public_key": chats["items"][0]["public_key"]}
    for origin, status in (("http://localhost:3000", 201), ("https://elsewhere.example", 403)):
        answer = httpx2.post(partner.server.url + "/widget/v1/visitors", json=visitor, headers={"Origin": origin})
        assert answer.status_code == status, answer.text


@pytest.mark.proves("integration.create.no-email-no-session-link")
def test_without_an_email_there_is_no_session_link(partner: Partner) -> None:
    made = partner.made()
    url, headers = partner.server.url + "/public/v1/session-link", {"Authorization": f"Bearer {made['api_key']}"}
    refused = httpx2.post(url, headers=headers)
    assert refused.status_code == 422, refused.text
    partner.put(made["external_id"], email=f"{new_id()}@shop.example")
    assert httpx2.post(url, headers=headers).status_code == 200


def test_an_idempotency_key_gives_the_first_answer_again_with_its_key(partner: Partner) -> None:
    external_id = new_id()
    options = {"json": {"external_id": external_id}, "headers": {"Idempotency-Key": new_id()}}
    first, second = partner.request("POST", **options), partner.request("POST", **options)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert opens(partner.server, first.json()["api_key"])
    key = {"Idempotency-Key": new_id()}
    rotated = [partner.request("POST", f"/{external_id}/api-key/rotate", headers=key).json() for _ in range(2)]
    assert rotated[0] == rotated[1]
    assert opens(partner.server, rotated[0]["api_key"])
