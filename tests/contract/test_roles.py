"""What a viewer, an operator and an owner may do by the cabinet's cookie, over the whole table of access."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import httpx2
import pytest

from accounts import webhooks
from accounts.outbound import without_path
from api.app import LAYERS
from store import accounts, camera_streams
from store.ids import new_id
from store.operators import ROLES
from tests.contract.access import FOREIGN, KEYED, ROWS, SECRET, TOOLS, Guard, Owner, Row, add_camera, make_owner
from tests.contract.test_access import assert_holds_nothing_of, calling, list_rows, open_url
from tests.support.cabinet import add_operator, mailed_code, new_browser, signed_in
from tests.support.server import Account, RunningServer

NEEDED = {
    (operation.method, prefix + operation.path): operation.needed_role
    for layer, (prefix, operations) in LAYERS.items()
    if layer != "integration"
    for operation in operations
}
REFUSED = [(row, role) for row in KEYED for role in ROLES if ROLES.index(role) < ROLES.index(row.needed_role)]
ALLOWED = [(row, role) for row in KEYED for role in ROLES[1:] if ROLES.index(role) >= ROLES.index(row.needed_role)]


def rows_for(*guards: Guard) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", [row for row in ROWS if row.guard in guards], ids=lambda row: str(row.name))


@pytest.fixture(scope="module")
def owner(server: RunningServer) -> Owner:
    return make_owner(server.new_client("owner with people"))


@pytest.fixture(scope="module")
def browsers(owner: Owner) -> Iterator[dict[str, httpx2.Client]]:
    stranger = owner.account.server.new_client("stranger with people")
    with (
        signed_in(owner.account, "viewer") as viewer,
        signed_in(owner.account, "operator") as operator,
        signed_in(owner.account, "owner") as owning,
        signed_in(stranger, "owner") as owning_another,
    ):
        yield {"viewer": viewer, "operator": operator, "owner": owning, "owner of another": owning_another}


@pytest.fixture(scope="module")
def paused(server: RunningServer) -> Iterator[tuple[Owner, httpx2.Client]]:
    """An owner's things, and the browser of somebody who may do everything about them."""
    made = make_owner(server.new_client("paused with people"))
    with signed_in(made.account, "owner") as browser:
        yield made, browser


def test_every_operation_needs_the_role_that_the_table_says() -> None:
    assert {(row.method, row.path): row.needed_role for row in KEYED} == NEEDED


@pytest.mark.parametrize(("row", "role"), REFUSED, ids=lambda value: value.name if isinstance(value, Row) else value)
def test_who_has_less_than_the_role_is_refused(
    owner: Owner, browsers: dict[str, httpx2.Client], row: Row, role: str
) -> None:
    answer = browsers[role].request(row.method, owner.url(row), **owner.options(row))
    assert answer.status_code == 403, answer.text
    error = answer.json()["error"]
    assert (error["type"], error["code"]) == ("permission_error", "role_not_allowed")


@pytest.mark.parametrize("row", [row for row in KEYED if row.needed_role == "viewer"], ids=lambda row: str(row.name))
def test_a_viewer_reads_what_a_key_reads(owner: Owner, browsers: dict[str, httpx2.Client], row: Row) -> None:
    options = owner.options(row)
    by_key = owner.account.request(row.method, owner.url(row), **options)
    assert browsers["viewer"].request(row.method, owner.url(row), **options).status_code == by_key.status_code


@pytest.mark.parametrize("row", FOREIGN, ids=lambda row: str(row.name))
def test_the_owner_of_another_account_finds_nothing(owner: Owner, browsers: dict[str, httpx2.Client], row: Row) -> None:
    answer = browsers["owner of another"].request(row.method, owner.url(row), **owner.options(row))
    assert answer.status_code == row.foreign, answer.text


@list_rows
def test_a_list_holds_nothing_for_the_owner_of_another_account(
    owner: Owner, browsers: dict[str, httpx2.Client], row: Row
) -> None:
    answer = browsers["owner of another"].get(owner.url(row))
    assert answer.status_code == browsers["owner"].get(owner.url(row)).status_code, answer.text
    assert_holds_nothing_of(owner, answer.text)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_finds_nothing_for_the_owner_of_another_account(
    owner: Owner, browsers: dict[str, httpx2.Client], name: str
) -> None:
    for arguments, _ in TOOLS[name]:
        filled = owner.filled(arguments)
        answer = browsers["owner of another"].post(f"/public/v1/tools/{name}", json=filled)
        assert answer.status_code < 500, answer.text
        assert_holds_nothing_of(owner, answer.text, except_for=json.dumps(filled))


@pytest.mark.parametrize("role", ROLES)
@rows_for("mcp", "visitor", "integration")
def test_a_session_of_the_cabinet_is_neither_an_agents_nor_a_visitors_nor_a_partners(
    owner: Owner, browsers: dict[str, httpx2.Client], row: Row, role: str
) -> None:
    options = owner.options(row)
    options["headers"] = {**browsers[role].headers, **options["headers"]}
    with calling(owner.account, f"127.9.2.{1 + ROLES.index(role)}") as client:
        client.cookies = browsers[role].cookies
        answer = client.request(row.method, owner.url(row), **options)
    assert answer.status_code == 401, answer.text


@pytest.mark.parametrize("role", ROLES)
@rows_for("open")
def test_what_is_open_is_the_same_for_who_has_signed_in(
    owner: Owner, browsers: dict[str, httpx2.Client], row: Row, role: str
) -> None:
    options = {"json": row.json} if row.json is not None else {}
    with calling(owner.account, f"127.9.3.{1 + ROLES.index(role)}") as client:
        nobody = client.request(row.method, open_url(row), **options)
        client.cookies = browsers[role].cookies
        answer = client.request(row.method, open_url(row), headers=browsers[role].headers, **options)
    assert answer.status_code == nobody.status_code < 500
    assert_holds_nothing_of(owner, answer.text)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("path", ["/cabinet", "/cabinet/settings"])
def test_the_cabinet_opens_to_every_role(browsers: dict[str, httpx2.Client], path: str, role: str) -> None:
    assert browsers[role].get(path).status_code == 200


@pytest.mark.parametrize("role", ROLES)
def test_each_role_goes_over_to_accounts_of_its_own_alone_and_signs_out(
    owner: Owner, server: RunningServer, role: str
) -> None:
    email = f"{new_id()}@shop.example"
    here = add_operator(owner.account, role, email)
    own = add_operator(server.new_client(f"also of the {role}"), role, email)
    foreign = add_operator(server.new_client(f"elsewhere of {role}"), role)
    with new_browser(owner.account) as browser:
        entered = {"code": mailed_code(owner.account, email), "account": here.id}
        assert browser.post("/cabinet/enter", data=entered).status_code == 303
        assert browser.post("/cabinet/switch", data={"account": foreign.id}).status_code == 404
        assert browser.post("/cabinet/switch", data={"account": own.id}).status_code == 303
        assert browser.get("/cabinet").status_code == 200
        kept = dict(browser.cookies)
        assert browser.post("/cabinet/logout").status_code == 200
        browser.cookies.update(kept)
        for path in ("/cabinet/switch", "/cabinet/logout"):
            assert browser.post(path, data={"account": own.id}).status_code == 401


@pytest.mark.parametrize(("row", "role"), ALLOWED, ids=lambda value: value.name if isinstance(value, Row) else value)
def test_who_has_the_role_may_do_what_a_key_may(
    owner: Owner, browsers: dict[str, httpx2.Client], row: Row, role: str
) -> None:
    answer = browsers[role].request(row.method, owner.url(row), **owner.options(row))
    assert answer.status_code < 500
    assert answer.status_code not in (401, 403), answer.text


@pytest.mark.parametrize("row", KEYED, ids=lambda row: str(row.name))
def test_people_of_a_paused_client_may_do_what_its_key_may(
    paused: tuple[Owner, httpx2.Client], pause: Callable[..., None], row: Row
) -> None:
    owner, browser = paused
    pause(owner.account)
    try:
        answer = browser.request(row.method, owner.url(row), **owner.options(row))
    finally:
        pause(owner.account, active=True)
    assert answer.status_code == row.paused, answer.text


def test_an_operator_works_with_content(owner: Owner, browsers: dict[str, httpx2.Client]) -> None:
    made = browsers["operator"].post("/public/v1/kb/spaces", json={"name": f"Space {new_id()}", "description": ""})
    assert made.status_code == 201, made.text
    path = f"/public/v1/kb/spaces/{made.json()['id']}"
    assert browsers["operator"].patch(path, json={"name": "Other"}).status_code == 200
    assert browsers["operator"].delete(path).status_code == 204


def test_another_role_is_in_force_at_once_and_so_is_a_removal(owner: Owner) -> None:
    email = f"{new_id()}@shop.example"
    add_operator(owner.account, "owner")  # else this one would be the last
    with signed_in(owner.account, "viewer", email) as browser:
        listed = owner.account.get("/public/v1/operators", params={"limit": 100}).json()["items"]
        (operator_id,) = [each["id"] for each in listed if each["email"] == email]
        path = f"/public/v1/operators/{operator_id}"
        assert browser.patch("/public/v1/settings", json={}).status_code == 403
        assert owner.account.request("PATCH", path, json={"role": "owner"}).status_code == 200
        assert browser.patch("/public/v1/settings", json={}).status_code == 200
        assert owner.account.request("DELETE", path).status_code == 204
        assert browser.get("/public/v1/settings").status_code == 401
        assert browser.get("/cabinet").status_code == 401


def test_the_path_that_webhooks_go_to_is_shown_to_whoever_may_change_it(new_account: Callable[..., Account]) -> None:
    account, hidden, whole = new_account(), "https://crm.example:8443/…", f"https://crm.example:8443/{SECRET}?a=b"
    with account.server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, webhook_url=whole)
        webhooks.emit(account.tenant_id, connection, event="kb.completed", subject="1", fields={}, url=whole)
        stream_id = add_camera(account, connection)
        camera_streams.update(account.tenant_id, connection, stream_id, webhook_url=whole)

    def shown_to(caller: Account | httpx2.Client) -> tuple[str, ...]:
        (delivery,) = caller.get("/public/v1/webhook-deliveries").json()["items"]
        (stream,) = caller.get("/vision/v1/streams").json()["items"]
        same = caller.get(f"/vision/v1/streams/{stream_id}").json()
        assert same["webhook_url"] == stream["webhook_url"]
        return caller.get("/public/v1/settings").json()["webhook_url"], delivery["url"], stream["webhook_url"]

    assert shown_to(account) == (whole, whole, whole)
    expected = {"owner": (whole, whole, whole), "operator": (hidden, hidden, whole), "viewer": (hidden, hidden, hidden)}
    for role, shown in expected.items():
        with signed_in(account, role) as browser:
            assert shown_to(browser) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://crm.example", "https://crm.example"),
        ("https://crm.example/", "https://crm.example/"),
        ("https://crm.example?token=x", "https://crm.example/…"),
        ("http://[::1]:80/#x", "http://[::1]:80/…"),
    ],
)
def test_what_is_shown_of_an_address_says_whose_it_is(url: str, shown: str) -> None:
    assert without_path(url) == shown
