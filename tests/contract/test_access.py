"""Every route and every tool against every kind of key that must not open it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.routing import Mount, Route

from accounts import partners
from accounts.clients import add_key
from accounts.keys import Keyring
from api.app import create_app
from store import accounts
from store.ids import new_id
from store.settings import Settings
from tests.contract.access import FOREIGN, KEYED, ROWS, SECRET, TOOLS, Owner, Row, integration_secret, make_owner
from tests.contract.partner import make_partner
from tests.support.server import Account, RunningServer

MISSING = ("missing_api_key", {})
BAD_KEYS = {
    "no key": "missing_api_key",
    "another scheme": "malformed_bearer",
    "unknown key": "invalid_api_key",
    "revoked key": "invalid_api_key",
    "integration secret": "invalid_api_key",
    "partner key": "invalid_api_key",
    "public key of a widget": "invalid_api_key",
    "token of a visitor": "invalid_api_key",
}
BAD_SECRETS = {
    "no secret": (401, "unauthorized"),
    "another scheme": (401, "unauthorized"),
    "secret as x-api-key": (401, "unauthorized"),
    "unknown secret": (401, "unauthorized"),
    "client key": (401, "unauthorized"),
    "revoked client key": (401, "unauthorized"),
    "public key of a widget": (401, "unauthorized"),
    "secret as a client key": (401, "unauthorized"),
    "token of a visitor": (401, "unauthorized"),
    "rotated secret": (401, "unauthorized"),
    "wrong address": (403, "ip_not_allowed"),
    "no address": (403, "ip_not_allowed"),
    "disabled": (403, "ip_not_allowed"),
}
# Where the owner sees a thing: at its own address, or in a list.
SHOWN_AT = {
    "space_id": "/public/v1/kb/spaces/{space_id}",
    "document_id": "/public/v1/kb/documents/{document_id}",
    "question_id": "/public/v1/kb/spaces/{space_id}/questions",
    "evaluation_id": "/public/v1/kb/evaluations/{evaluation_id}",
    "communication_id": "/public/v1/communications?id={communication_id}",
    "record_id": "/public/v1/communications?request_record_id={record_id}",
    "ref": "/public/v1/media/{ref}",
    "task_id": "/v1/audio/transcriptions/tasks/{task_id}",
    "view_id": "/public/v1/views",
    "export_id": "/public/v1/account/exports/{export_id}",
    "speaker_id": "/public/v1/speakers/{speaker_id}",
    "other_speaker_id": "/public/v1/speakers/{other_speaker_id}",
    "speaker_external_id": "/public/v1/speakers/profile?speaker_external_id={speaker_external_id}",
    "commitment_id": "/public/v1/commitments?state=all&limit=100",
    "chat_id": "/public/v1/chats/{chat_id}",
    "conversation_id": "/public/v1/conversations/{conversation_id}",
    "stream_id": "/vision/v1/streams/{stream_id}",
    "delivery_id": "/public/v1/webhook-deliveries?limit=100",
    "payment_link_id": "/public/v1/payment-link/{payment_link_id}",
    "key_id": "/public/v1/keys?limit=100",
    "operator_id": "/public/v1/operators?limit=100",
}
foreign_rows = pytest.mark.parametrize("row", FOREIGN, ids=lambda row: str(row.name))
partner_rows = pytest.mark.parametrize(
    "row", [row for row in ROWS if row.guard == "integration"], ids=lambda row: str(row.name)
)
keyed_rows = pytest.mark.parametrize("row", KEYED, ids=lambda row: str(row.name))
list_rows = pytest.mark.parametrize(
    "row", [row for row in KEYED if row.method == "GET" and row.foreign is None], ids=lambda row: str(row.name)
)


visitor_rows = pytest.mark.parametrize(
    "row", [row for row in ROWS if row.guard == "visitor"], ids=lambda row: str(row.name)
)


@pytest.fixture(scope="session")
def owner(server: RunningServer) -> Owner:
    return make_owner(server.new_client("owner of everything"))


@pytest.fixture(scope="session")
def stranger(server: RunningServer) -> Account:
    return server.new_client("stranger")


@pytest.fixture(scope="session")
def bad_headers(server: RunningServer, owner: Owner) -> dict[str, dict[str, str]]:
    key = owner.account.made.api_key
    secrets = {
        "unknown key": "sk_live_" + "A" * 43,
        "revoked key": revoked_key(server, owner.account),
        "integration secret": integration_secret(server, "some partner"),
        "partner key": "sk_partner_" + key.removeprefix("sk_live_"),
        "public key of a widget": owner.account.made.chat.public_key,
        "token of a visitor": visitor_token(owner.account),
    }
    headers = {name: {"Authorization": f"Bearer {secret}"} for name, secret in secrets.items()}
    return {"no key": {}, "another scheme": {"Authorization": f"Basic {key}"}, **headers}


@pytest.fixture(scope="session")
def everybody(owner: Owner, bad_headers: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The same, and a client with its key."""
    return {**bad_headers, "client key": owner.account.headers}


def revoked_key(server: RunningServer, account: Account) -> str:
    with server.database.write() as connection:
        record, secret = add_key(account.tenant_id, connection, Keyring.of(server.settings), name="gone")
        assert accounts.revoke_key(account.tenant_id, connection, record.id)
    return secret


def visitor_token(account: Account, client: Any = httpx2, origin: str = f"https://{SECRET}.example") -> str:
    """Of somebody who has just met the widget of the account's chat. `client`: who calls, from where."""
    body, headers = {"public_key": account.made.chat.public_key}, {"Origin": origin}
    answer = client.post(account.server.url + "/widget/v1/visitors", json=body, headers=headers)
    assert answer.status_code < 300, answer.text
    return str(answer.json()["token"])


def app_routes(folder: Path) -> Iterator[tuple[str, str]]:
    for route in create_app(Settings(data_dir=folder, _env_file=None)).routes:  # type: ignore[call-arg]
        if isinstance(route, Mount):
            yield "GET", route.path
        else:
            assert isinstance(route, Route), route
            # The MCP endpoint answers every method itself; POST is the one that it serves.
            yield from ((method, route.path) for method in (route.methods or {"POST"}) - {"HEAD"})


def test_the_table_has_every_route_of_the_server_and_no_other(tmp_path: Path) -> None:
    # Assets are there once the web part is built.
    routes = set(app_routes(tmp_path)) | {("GET", "/assets"), ("GET", "/cabinet/assets")}
    assert {(row.method, row.path) for row in ROWS} == routes


def test_each_row_says_what_who_is_paused_and_what_other_tenants_get() -> None:
    assert [row.name for row in KEYED if row.paused is None] == []
    # Lists by somebody's id, which are empty, and tools: asked below in other ways.
    silent = {row.name for row in KEYED if row.ids and row.foreign is None and "/tools/" not in row.path}
    assert silent == {
        "GET /public/v1/communications/list?speaker_external_id={speaker_external_id}",
        "GET /vision/v1/events?stream_id={stream_id}",
    }


def test_the_table_has_every_tool(stranger: Account) -> None:
    listed = stranger.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).json()
    assert {tool["name"] for tool in listed["result"]["tools"]} == set(TOOLS)


@pytest.mark.proves("authentication.every-route", "authentication.401.revoked-key")
@pytest.mark.parametrize("kind", BAD_KEYS)
@keyed_rows
def test_a_key_that_is_none_is_401_on_every_route(
    owner: Owner, bad_headers: dict[str, dict[str, str]], row: Row, kind: str
) -> None:
    options = {**owner.options(row), "headers": bad_headers[kind]}
    answer = httpx2.request(row.method, owner.account.server.url + owner.url(row), **options)
    assert answer.status_code == 401, answer.text
    error = answer.json()["error"]
    assert (error["type"], error["code"], error["param"]) == ("authentication_error", BAD_KEYS[kind], None)


@pytest.mark.parametrize("kind", BAD_KEYS)
def test_a_key_that_is_none_is_401_at_the_mcp_endpoint(
    owner: Owner, bad_headers: dict[str, dict[str, str]], kind: str
) -> None:
    row = next(row for row in ROWS if row.guard == "mcp")
    answer = httpx2.post(owner.account.server.url + row.path, json=row.json, headers=bad_headers[kind])
    assert (answer.status_code, answer.json()) == (401, {"error": "unauthorized"})


@pytest.mark.parametrize("kind", [*(kind for kind in BAD_KEYS if kind != "token of a visitor"), "client key"])
@visitor_rows
def test_only_a_visitors_token_opens_the_widgets_conversation(
    owner: Owner, everybody: dict[str, dict[str, str]], row: Row, kind: str
) -> None:
    options = owner.options(row)
    options["headers"] = {**options["headers"], **everybody[kind]}
    answer = httpx2.request(row.method, owner.account.server.url + row.path, **options)
    assert answer.status_code == 401, answer.text
    expected = "malformed_bearer" if kind == "another scheme" else "invalid_visitor_token"
    assert answer.json()["error"]["code"] == expected


EVERYBODY = [*BAD_KEYS, "client key"]


@pytest.mark.parametrize("kind", EVERYBODY)
@pytest.mark.parametrize("row", [row for row in ROWS if row.guard == "session"], ids=lambda row: str(row.name))
def test_nobody_but_who_signed_in_sees_the_cabinet(
    owner: Owner, everybody: dict[str, dict[str, str]], row: Row, kind: str
) -> None:
    answer = httpx2.request(row.method, owner.account.server.url + open_url(row), headers=everybody[kind])
    assert answer.status_code == 401
    assert_holds_nothing_of(owner, answer.text)


@pytest.mark.parametrize("kind", EVERYBODY)
@pytest.mark.parametrize("row", [row for row in ROWS if row.guard == "open"], ids=lambda row: str(row.name))
def test_what_is_open_tells_everybody_the_same_and_nothing_of_anybody(
    owner: Owner, everybody: dict[str, dict[str, str]], row: Row, kind: str
) -> None:
    options = {"json": row.json} if row.json is not None else {}
    with calling(owner.account, f"127.9.0.{1 + EVERYBODY.index(kind)}") as client:
        nobody, answer = (
            client.request(row.method, open_url(row), headers=each, **options) for each in ({}, everybody[kind])
        )
    assert answer.status_code == nobody.status_code < 500
    assert_holds_nothing_of(owner, answer.text)


def open_url(row: Row) -> str:
    """With a secret that nobody was given, and a file that is not there."""
    path = row.path.replace("{page:path}", "settings").replace("{token}", "A" * 43)
    return path + ("/none.js" if path.endswith("/assets") else "") + row.query


def calling(account: Account, address: str) -> httpx2.Client:
    """From an address of its own, since those of the widget may call only so often."""
    return httpx2.Client(base_url=account.server.url, transport=httpx2.HTTPTransport(local_address=address))


@visitor_rows
def test_a_visitor_of_another_tenant_sees_and_changes_nothing(owner: Owner, stranger: Account, row: Row) -> None:
    nothing = Owner(stranger, {name: new_id() for name in owner.ids}, owner.partner)
    with calling(stranger, "127.9.1.1") as client:
        token = visitor_token(stranger, client, stranger.server.url)
        options = {**owner.options(row), "headers": {"Origin": stranger.server.url, "Authorization": f"Bearer {token}"}}
        answer = client.request(row.method, owner.url(row), **options)
        options["json"] = nothing.filled(row.json)
        unknown = client.request(row.method, nothing.url(row), **options)
    assert answer.status_code == unknown.status_code
    assert_holds_nothing_of(owner, answer.text)


@visitor_rows
def test_the_widget_of_a_paused_client_answers_nobody(owner: Owner, pause: Callable[..., None], row: Row) -> None:
    with calling(owner.account, "127.9.1.2") as client:
        token = visitor_token(owner.account, client)
        options = owner.options(row)
        options["headers"] = {**options["headers"], "Authorization": f"Bearer {token}"}
        pause(owner.account)
        try:
            answer = client.request(row.method, owner.url(row), **options)
        finally:
            pause(owner.account, active=True)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "client_inactive")


@pytest.mark.parametrize("row", [row for row in KEYED if row.guard == "key"], ids=lambda row: str(row.name))
def test_x_api_key_is_refused_on_public_routes_when_it_is_none(
    owner: Owner, bad_headers: dict[str, dict[str, str]], row: Row
) -> None:
    key = bad_headers["revoked key"]["Authorization"].removeprefix("Bearer ")
    options = {**owner.options(row), "headers": {"x-api-key": key}}
    answer = httpx2.request(row.method, owner.account.server.url + owner.url(row), **options)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


@pytest.mark.proves("authentication.foreign.404", "errors.type.404", "errors.status.404")
@foreign_rows
def test_things_of_another_tenant_are_like_things_that_do_not_exist(owner: Owner, stranger: Account, row: Row) -> None:
    assert_is_there(owner, row.ids)
    answer = stranger.request(row.method, owner.url(row), **owner.options(row))
    assert_is_there(owner, row.ids)
    nothing = Owner(stranger, {name: new_id() for name in owner.ids}, owner.partner)
    unknown = stranger.request(row.method, nothing.url(row), **owner.options(row))
    assert (answer.status_code, answer.json()) == (unknown.status_code, unknown.json())
    assert answer.status_code == row.foreign
    error = answer.json()["error"]
    assert (error["type"], error["code"], error["param"]) == ("not_found_error", None, None)


def test_what_a_stranger_tried_changed_nothing(owner: Owner, stranger: Account) -> None:
    for row in FOREIGN:
        if row.method != "GET":
            stranger.request(row.method, owner.url(row), **owner.options(row))
    assert_is_there(owner, SHOWN_AT)
    space = owner.account.get(owner.filled("/public/v1/kb/spaces/{space_id}")).json()
    document = owner.account.get(owner.filled("/public/v1/kb/documents/{document_id}")).json()
    assert (space["name"], space["document_count"], document["status"]) == (f"Space {SECRET}", 1, "success")


def assert_is_there(owner: Owner, names: Iterable[str]) -> None:
    """What another tenant is refused proves something only where the owner itself has it."""
    for name in set(names) - {"idx"}:
        answer = owner.account.get(owner.filled(SHOWN_AT[name]))
        assert answer.status_code == 200, f"{name}: {answer.text}"
        assert f"{{{name}}}" in SHOWN_AT[name] or owner.ids[name] in answer.text, f"{name} is gone"


@pytest.fixture(scope="session")
def bad_secrets(server: RunningServer, owner: Owner) -> dict[str, dict[str, str]]:
    good = owner.partner.secret
    away, nowhere = make_partner(server, networks=["192.0.2.1"]), make_partner(server, networks=[])
    disabled, rotated = make_partner(server), make_partner(server)
    with server.database.write() as connection:
        partners.switch(connection, disabled.id, is_enabled=False)
        partners.rotate_secret(connection, Keyring.of(server.settings), rotated.id)
    secrets = {
        "unknown secret": "int_live_" + "A" * 43,
        "client key": owner.account.made.api_key,
        "revoked client key": revoked_key(server, owner.account),
        "public key of a widget": owner.account.made.chat.public_key,
        "secret as a client key": good.replace("int_live_", "sk_live_"),
        "token of a visitor": visitor_token(owner.account),
        "rotated secret": rotated.secret,
        "wrong address": away.secret,
        "no address": nowhere.secret,
        "disabled": disabled.secret,
    }
    headers = {name: {"Authorization": f"Bearer {secret}"} for name, secret in secrets.items()}
    others = {"another scheme": {"Authorization": f"Basic {good}"}, "secret as x-api-key": {"x-api-key": good}}
    return {"no secret": {}, **others, **headers}


@pytest.mark.proves(
    "integration.auth.401",
    "integration.auth.allowlist",
    "integration.auth.disabled",
    "authentication.client.not-integration",
)
@pytest.mark.parametrize("kind", BAD_SECRETS)
@partner_rows
def test_a_secret_that_is_none_opens_no_route_of_integration(
    owner: Owner, bad_secrets: dict[str, dict[str, str]], row: Row, kind: str
) -> None:
    options = {**owner.options(row), "headers": bad_secrets[kind]}
    answer = httpx2.request(row.method, owner.account.server.url + owner.url(row), **options)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["details"]) == (*BAD_SECRETS[kind], {})


@partner_rows
def test_the_owners_secret_opens_every_route_of_integration(owner: Owner, row: Row) -> None:
    options = {**owner.options(row), "headers": owner.partner.headers}
    answer = httpx2.request(row.method, owner.account.server.url + owner.url(row), **options)
    assert answer.status_code in (200, 409), answer.text
    assert owner.ids["external_id"] in answer.text or answer.json()["error"]["code"] == "client_inactive"


@pytest.mark.proves("integration.create.per-integration")
@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row.guard == "integration" and row.foreign is not None],
    ids=lambda row: str(row.name),
)
def test_a_client_of_another_integration_is_like_one_that_does_not_exist(owner: Owner, row: Row) -> None:
    other = make_partner(owner.account.server)
    nothing = Owner(owner.account, {name: new_id() for name in owner.ids}, other)
    base = owner.account.server.url
    answers = [httpx2.request(row.method, base + each.url(row), headers=other.headers) for each in (owner, nothing)]
    assert answers[0].status_code == answers[1].status_code == row.foreign
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["error"]["code"] == "client_not_found"
    assert owner.partner.get(owner.ids["external_id"]).status_code == 200


@list_rows
def test_a_list_holds_nothing_of_another_tenant(owner: Owner, stranger: Account, row: Row) -> None:
    own, others = owner.account.get(owner.url(row)), stranger.get(owner.url(row))
    assert own.status_code == others.status_code == 200
    assert row.plain or any(id_ in own.text for id_ in owner.ids.values()), (
        "the owner sees nothing itself: this proves nothing"
    )
    assert_holds_nothing_of(owner, others.text)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_finds_nothing_of_another_tenant(owner: Owner, stranger: Account, name: str) -> None:
    for arguments, owner_finds in TOOLS[name]:
        filled = owner.filled(arguments)
        own, others = tool_text(owner.account, name, filled), tool_text(stranger, name, filled)
        assert not owner_finds or SECRET in own, f"the owner itself does not find it: {own}"
        asked = json.dumps(filled)
        assert_holds_nothing_of(owner, others, except_for=asked)
        by_rest = stranger.post(f"/public/v1/tools/{name}", json=filled)
        assert by_rest.status_code < 500, by_rest.text
        assert_holds_nothing_of(owner, by_rest.text, except_for=asked)


@pytest.mark.parametrize("space_ids", [[], ["{space_id}"]], ids=["all spaces", "the owner's space"])
def test_a_chat_tells_nothing_of_another_tenant(owner: Owner, stranger: Account, space_ids: list[str]) -> None:
    body = owner.filled({"text": f"What does the {SECRET} cost?", "space_ids": space_ids})
    own = owner.account.post(f"/public/v1/chats/{owner.account.chat_id}/messages", json=body)
    assert own.json()["context"]["documents"], own.text
    answer = stranger.post(f"/public/v1/chats/{stranger.chat_id}/messages", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["context"] == {"communications": [], "documents": [], "memory": []}
    assert "ninety" not in answer.text
    assert_holds_nothing_of(owner, answer.text, except_for=SECRET)


@pytest.mark.models
def test_words_of_a_recognised_call_are_found_by_its_tenant_alone(heard: Any, stranger: Account) -> None:
    call_id = heard.english.accepted["communication_id"]
    for arguments in ({"query": "Polar Owl Sarah Silver Lane Studio order"}, {}):
        assert call_id in tool_text(heard.english.account, "search_communications", arguments)
        assert call_id not in tool_text(stranger, "search_communications", arguments)


# Below all that asks about the owner's things: what a paused client may still end is gone then.
@pytest.mark.proves(
    "authentication.paused.reads-stay",
    "authentication.paused.refused",
    "authentication.paused.403-not-401",
    "communications.get.paused",
    "speech.poll.paused",
    "speech.error.403-client-inactive",
    "money.paused.no-paid-work",
)
@pytest.mark.parametrize("row", [row for row in ROWS if row.paused is not None], ids=lambda row: str(row.name))
def test_a_paused_client_may_read_and_is_refused_all_else(owner: Owner, pause: Callable[..., None], row: Row) -> None:
    pause(owner.account)
    try:
        answer = owner.account.request(row.method, owner.url(row), **owner.options(row))
    finally:
        pause(owner.account, active=True)
    assert answer.status_code == row.paused, answer.text
    if row.paused == 403:
        error = answer.json()["error"]
        assert (error["type"], error["code"], error["param"]) == ("permission_error", "client_inactive", None)


def tool_text(account: Account, name: str, arguments: dict[str, Any]) -> str:
    """The whole answer as text: a result or a refusal."""
    return json.dumps(account.call_tool(name, **arguments), ensure_ascii=False)


def assert_holds_nothing_of(owner: Owner, text: str, *, except_for: str = "") -> None:
    """No id of the owner's and not the secret word, but for what the question itself named."""
    for planted in (*owner.ids.values(), SECRET):
        assert planted in except_for or planted not in text, f"{planted} in {text}"
