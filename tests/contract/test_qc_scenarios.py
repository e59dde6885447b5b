"""What an account has quality control look at: read, replaced as a whole, refused by its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from ingest.analysis.catalogs import CRITERIA, SCENARIOS
from tests.contract.described import get_described
from tests.support.server import Account

PATH = "/public/v1/qc/scenarios"
CODES = list(SCENARIOS)


def read(account: Account) -> dict[str, Any]:
    return get_described(account, PATH)


def put(account: Account, body: Any) -> httpx2.Response:
    return account.request("PUT", PATH, json=body)


def replaced(account: Account, body: Any) -> dict[str, Any]:
    answer = put(account, body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert read(account) == found
    return found


@pytest.mark.proves("account.qc-scenarios.read")
def test_a_new_account_has_the_catalogs_scenarios_switched_on(account: Account) -> None:
    found = read(account)
    assert [item["code"] for item in found["items"]] == CODES
    assert len(CODES) == 12
    for item in found["items"]:
        scenario = SCENARIOS[item["code"]]
        assert (item["name"], item["description"], item["enabled"]) == (scenario.ru, scenario.is_ru, True)
        assert [each["code"] for each in item["criteria"]] == list(scenario.criteria)
        for each in item["criteria"]:
            criterion = CRITERIA[each["code"]]
            assert each == {
                "code": criterion.code,
                "name": criterion.ru,
                "value_type": criterion.value_type,
                "description": criterion.asks_ru,
                "enabled": True,
            }
    assert found["company"] == {"names": [account.made.tenant.name], "contacts": [], "notices": []}


@pytest.mark.proves("account.qc-scenarios.read", "account.qc-scenarios.write")
def test_what_is_read_can_be_sent_back_and_still_follows_the_language(account: Account) -> None:
    before = read(account)
    assert replaced(account, before) == before
    account.request("PATCH", "/public/v1/settings", json={"language": "en"})
    assert read(account)["items"][0]["name"] == SCENARIOS[CODES[0]].en
    assert read(account)["items"][0]["criteria"][0]["description"] == CRITERIA["greeting"].asks_en


@pytest.mark.proves("account.qc-scenarios.write")
def test_an_account_orders_words_and_switches_for_itself(account: Account) -> None:
    body = {
        "items": [
            {
                "code": "complaint",
                "name": " Жалобы на доставку ",
                "description": "Клиент жалуется на доставку.",
                "criteria": [
                    {"code": "farewell"},
                    {"code": "address_by_name", "enabled": False, "value_type": "numeric"},
                    {"code": "greeting", "name": "Привет", "description": "Сказал «доброго времени суток»."},
                ],
            },
            {"code": "base_etiquette", "enabled": False},
        ],
        "company": {
            "names": ["Сова", "Сова ", "  ", "Polar Owl"],
            "contacts": ["8 800 000-00-00"],
            "notices": ["Запись"],
        },
    }
    found = replaced(account, body)
    first, second, *rest = found["items"]
    assert (first["code"], first["name"], first["description"], first["enabled"]) == (
        "complaint",
        "Жалобы на доставку",
        "Клиент жалуется на доставку.",
        True,
    )
    assert [(each["code"], each["name"], each["enabled"]) for each in first["criteria"]] == [
        ("farewell", CRITERIA["farewell"].ru, True),
        ("address_by_name", CRITERIA["address_by_name"].ru, False),
        ("greeting", "Привет", True),
    ]
    assert first["criteria"][2]["description"] == "Сказал «доброго времени суток»."
    assert (second["code"], second["enabled"], len(second["criteria"])) == (
        "base_etiquette",
        False,
        len(SCENARIOS["base_etiquette"].criteria),
    )
    assert [item["code"] for item in rest] == [code for code in CODES if code not in ("complaint", "base_etiquette")]
    assert not any(item["enabled"] for item in rest)
    assert found["company"] == {
        "names": ["Сова", "Polar Owl"],
        "contacts": ["8 800 000-00-00"],
        "notices": ["Запись"],
    }


@pytest.mark.proves("account.qc-scenarios.write")
def test_the_whole_is_replaced_and_nothing_of_before_stays(account: Account) -> None:
    replaced(account, {"items": [{"code": "complaint", "name": "Mine"}], "company": {"names": ["Owl"]}})
    found = replaced(account, {"items": [{"code": "retention"}]})
    assert [item["code"] for item in found["items"] if item["enabled"]] == ["retention"]
    complaint = next(item for item in found["items"] if item["code"] == "complaint")
    assert complaint["name"] == SCENARIOS["complaint"].ru
    assert found["company"]["names"] == [account.made.tenant.name]
    assert not any(item["enabled"] for item in replaced(account, {"items": []})["items"])


@pytest.mark.proves("account.qc-scenarios.write")
@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "items"),
        ({"items": None}, "items"),
        ({"items": {"code": "complaint"}}, "items"),
        ({"items": [{}]}, "items.0.code"),
        ({"items": [{"code": "haggling"}]}, "items.0.code"),
        ({"items": [{"code": "complaint"}, {"code": "retention"}, {"code": "complaint"}]}, "items.2.code"),
        ({"items": [{"code": code} for code in (*CODES, "complaint")]}, "items"),
        ({"items": [{"code": "complaint", "colour": "red"}]}, "items.0.colour"),
        ({"items": [{"code": "complaint", "name": "x" * 201}]}, "items.0.name"),
        ({"items": [{"code": "complaint", "name": 7}]}, "items.0.name"),
        ({"items": [{"code": "complaint", "description": "x" * 2001}]}, "items.0.description"),
        ({"items": [{"code": "complaint", "enabled": "yes"}]}, "items.0.enabled"),
        ({"items": [{"code": "complaint", "enabled": None}]}, "items.0.enabled"),
        ({"items": [{"code": "complaint", "criteria": [{"code": "manners"}]}]}, "items.0.criteria.0.code"),
        (
            {"items": [{"code": "complaint", "criteria": [{"code": "thanks"}, {"code": "thanks"}]}]},
            "items.0.criteria.1.code",
        ),
        (
            {"items": [{"code": "complaint", "criteria": [{"code": "thanks", "value_type": "numeric"}]}]},
            "items.0.criteria.0.value_type",
        ),
        (
            {"items": [{"code": "complaint", "criteria": [{"code": "thanks", "weight": 2}]}]},
            "items.0.criteria.0.weight",
        ),
        ({"items": [{"code": "complaint", "criteria": [{"code": "thanks"}] * 21}]}, "items.0.criteria"),
        ({"items": [], "company": {"names": ["x" * 201]}}, "company.names.0"),
        ({"items": [], "company": {"names": ["x"] * 51}}, "company.names"),
        ({"items": [], "company": {"contacts": [7]}}, "company.contacts.0"),
        ({"items": [], "company": {"notices": ["x" * 2001]}}, "company.notices.0"),
        ({"items": [], "company": {"phone": "1"}}, "company.phone"),
        ({"items": [], "company": None}, "company"),
        ({"items": [], "language": "ru"}, "language"),
    ],
    ids=lambda value: str(value)[:70],
)
def test_what_is_wrong_is_refused_by_its_place_and_changes_nothing(
    new_account: Callable[..., Account], body: dict[str, Any], param: str
) -> None:
    account = new_account()
    before = read(account)
    answer = put(account, body)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["param"]) == (400, "invalid_request_error", param), answer.text
    assert read(account) == before


def test_what_was_changed_or_taken_out_can_be_read_as_it_was(account: Account) -> None:
    before = read(account)
    replaced(account, {"items": [{"code": "complaint", "name": "Mine", "criteria": []}], "company": {"names": ["Owl"]}})
    defaults = get_described(account, PATH, defaults="true")
    assert defaults == before
    assert {each["code"] for item in defaults["items"] for each in item["criteria"]} == set(CRITERIA)
    assert replaced(account, defaults) == before
    refused = account.get(PATH, params={"defaults": "some"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "defaults")


def test_a_change_is_in_the_audit_log(account: Account) -> None:
    replaced(account, {"items": [{"code": "retention"}, {"code": "complaint", "enabled": False}]})
    entry = account.get("/public/v1/audit").json()["items"][0]
    assert (entry["action"], entry["details"]) == ("qc_scenarios.changed", {"enabled": ["retention"]})
    assert entry["actor"].startswith("key sk_live_")


def test_settings_need_no_feature_and_while_paused_they_can_only_be_read(
    new_account: Callable[..., Account], pause: Callable[..., None]
) -> None:
    account = new_account(features=("chat",))
    replaced(account, {"items": [{"code": "retention"}]})
    pause(account)
    assert [item["code"] for item in read(account)["items"] if item["enabled"]] == ["retention"]
    answer = put(account, {"items": []})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "client_inactive")


def test_each_account_has_its_own(new_account: Callable[..., Account]) -> None:
    one, other = new_account(), new_account()
    replaced(one, {"items": [{"code": "retention", "name": "Ours alone"}]})
    assert "Ours alone" not in other.get(PATH).text
    assert all(item["enabled"] for item in read(other)["items"])
