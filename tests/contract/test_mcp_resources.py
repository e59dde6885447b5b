"""Communications, documents and people as resources: listed newest first, found by the protocol, kept apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mcp_types as types
import pytest
import sqlalchemy as sa
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError

from rag.language_model import estimate_tokens
from store import analysis, communications, knowledge, speakers
from store.database import now
from tests.contract.material import keep_communication
from tests.contract.mcp import HANDSHAKE_VERSIONS, NEWEST, OLDEST, rpc, with_session
from tests.contract.mcp_resources import (
    INVALID_PARAMS,
    NEWER,
    NOT_FOUND,
    VERSIONS,
    add_person,
    ask,
    listed,
    read,
    remember,
)
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account
from tests.support.stored_documents import add_document


@pytest.fixture
def english(new_account: Callable[..., Account]) -> Account:
    return new_account(language="en", time_zone="Asia/Yekaterinburg")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_official_client_lists_and_reads_by_every_newer_version(account: Account, version: str) -> None:
    call = keep_communication(account, ("SPEAKER_00", "Здравствуйте"), at="2026-02-01T10:00:00+00:00")
    document = add_document(account.server.database, account.tenant_id, "Прайс: 90 рублей", "Прайс")
    person = add_person(account, "Иван Рогов", **{call: "SPEAKER_00"})

    async def work(session: ClientSession) -> tuple[list[types.Resource], list[types.ResourceTemplate], list[str]]:
        resources = (await session.list_resources()).resources
        texts = []
        for resource in resources:
            (content,) = (await session.read_resource(resource.uri)).contents
            assert isinstance(content, types.TextResourceContents)
            texts.append(content.text)
        return resources, (await session.list_resource_templates()).resource_templates, texts

    resources, templates, texts = with_session(account, version, work)
    found = {resource.uri: (resource, text) for resource, text in zip(resources, texts, strict=True)}
    assert set(found) == {
        f"parley://communications/{call}", f"parley://documents/{document.id}", f"parley://people/{person}"
    }  # fmt: skip
    assert [each.uri_template for each in templates] == [
        *(f"parley://{kind}/{{id}}{{?from}}" for kind in ("communications", "documents", "people", "cameras")),
        "parley://camera-events{?from,to,scenario,type,text,stream_id,cursor}",
    ]
    resource, text = found[f"parley://communications/{call}"]
    assert (resource.mime_type, resource.size) == ("text/markdown", len("Здравствуйте".encode()))
    assert resource.annotations is not None
    assert resource.annotations.audience == ["user", "assistant"]
    is_titled = version >= "2025-06-18"
    assert (resource.annotations.last_modified is not None) == is_titled
    assert (resource.name, resource.title) == (
        ("call 2026-02-01 13:00", "A kept call") if is_titled else ("A kept call", None)
    )
    assert "> Здравствуйте" in text
    assert "> Прайс: 90 рублей" in found[f"parley://documents/{document.id}"][1]
    assert "> Иван Рогов" in found[f"parley://people/{person}"][1]


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "resources/read"])
def test_the_oldest_version_has_no_resources(account: Account, method: str) -> None:
    for headers in ({}, {"mcp_protocol_version": OLDEST}):
        answer = rpc(account, method, {"uri": "parley://people/x"}, **headers)
        assert answer["error"]["code"] == -32601


def test_lists_are_newest_first_and_every_page_is_reached(account: Account) -> None:
    """Communications count by when they took place, documents and people by when they came."""
    tenant = account.tenant_id
    with account.server.database.write() as connection:
        for number in range(230):
            communications.create(
                tenant,
                connection,
                kind="call",
                channel_type="phone",
                occured_at=now().replace(microsecond=0),  # many at one moment
                title=f"Call {number}",
            )
        for number in range(30):
            speakers.upsert(tenant, connection, external_id=f"p{number}", name=f"P {number}")
    space = account.new_space()
    for number in range(5):
        add_document(account.server.database, tenant, f"Text {number}", f"D {number}", space)
    first = ask(account, "resources/list")["result"]
    assert len(first["resources"]) == 100
    with account.server.database.write() as connection:  # what comes in between moves no page
        speakers.upsert(tenant, connection, external_id="newcomer", name="Newcomer")
    uris = [each["uri"] for each in first["resources"]]
    cursor = first["nextCursor"]
    while cursor is not None:
        result = ask(account, "resources/list", cursor=cursor)["result"]
        uris += [each["uri"] for each in result["resources"]]
        cursor = result.get("nextCursor")
    kinds = [uri.split("/")[2] for uri in uris]
    assert len(uris) == len(set(uris)) == 265
    assert {kind: kinds.count(kind) for kind in kinds} == {"communications": 230, "people": 30, "documents": 5}
    assert kinds[:5] == ["documents"] * 5
    old = keep_communication(account, ("A", "x"), at="2019-01-01T00:00:00Z")
    assert listed(account)[-1]["uri"] == f"parley://communications/{old}"


@pytest.mark.proves("mcp.answer-size")
@pytest.mark.parametrize("title", ["8495123456 " * 20, "ქართული " * 25], ids=["digits", "Georgian"])
def test_a_page_of_long_names_ends_at_the_bound(account: Account, title: str) -> None:
    with account.server.database.write() as connection:
        for _ in range(150):
            communications.create(
                account.tenant_id, connection, kind="call", channel_type="phone", occured_at=now(), title=title
            )
    uris: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        result = ask(account, "resources/list", **cursor)["result"]
        assert estimate_tokens(json.dumps(result, ensure_ascii=False, separators=(",", ":"))) <= 20_000
        assert 0 < len(result["resources"]) < 100
        uris += [each["uri"] for each in result["resources"]]
        if "nextCursor" not in result:
            break
        cursor = {"cursor": result["nextCursor"]}
    assert len(uris) == len(set(uris)) == 150


@pytest.mark.parametrize("cursor", ["", "nonsense", "e30", "eyJvZmZzZXQiOjF9", "привет", "\x00"])
def test_a_cursor_that_is_none_is_refused(account: Account, cursor: str) -> None:
    assert ask(account, "resources/list", cursor=cursor)["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "parley://",
        "parley://communications",
        "parley://communications/",
        f"parley://communications/{UNKNOWN_ID}",
        f"parley://documents/{UNKNOWN_ID}",
        f"parley://people/{UNKNOWN_ID}",
        f"parley://keys/{UNKNOWN_ID}",
        "parley://people/../communications",
        f"PARLEY://people/{UNKNOWN_ID}",
        f"parley://people/{UNKNOWN_ID}\n",
        f"parley://people/{UNKNOWN_ID}?from=",
        f"parley://people/{UNKNOWN_ID}?from=-1",
        f"parley://people/{UNKNOWN_ID}?from=1&x=2",
        f"parley://people/{UNKNOWN_ID}?from=99999999999999999999",
        "file:///etc/passwd",
        "http://127.0.0.1/",
        "parley://people/" + "a" * 10_000,
    ],
)
def test_what_is_not_there_is_not_found_as_each_version_says(account: Account, uri: str) -> None:
    for version in HANDSHAKE_VERSIONS[1:]:
        error = ask(account, "resources/read", version, uri=uri)["error"]
        assert error["code"] == NOT_FOUND
        assert error["data"] == {"uri": uri[:200]}
        assert len(error["message"]) < 300

    async def work(session: ClientSession) -> MCPError:
        with pytest.raises(MCPError) as refused:
            await session.read_resource(uri)
        return refused.value

    assert with_session(account, NEWEST, work).code == INVALID_PARAMS


def test_a_document_that_is_not_read_yet_is_not_listed(english: Account) -> None:
    document = add_document(english.server.database, english.tenant_id, "text", "T")
    with english.server.database.write() as connection:
        own = knowledge.documents.c.id == document.id
        connection.execute(sa.update(knowledge.documents).where(own).values(version=0, status="processing"))
    assert listed(english) == []
    assert "- status: processing" in read(english, f"parley://documents/{document.id}")


def test_features_that_are_off_show_nothing_of_theirs(new_account: Callable[..., Account]) -> None:
    bare = new_account(features=("chat",), language="en")
    call = keep_communication(bare, ("SPEAKER_00", "Hello"))
    person = add_person(bare, "Ann", **{call: "SPEAKER_00"})
    remember(bare, call, person, "She has a cat.")
    document = add_document(bare.server.database, bare.tenant_id, "text", "T")
    with bare.server.database.write() as connection:
        analysis.put_qc(
            bare.tenant_id, connection, call, scenario_code="support", score_pct=75.0, comment=None, status="success",
            criteria=[],
        )  # fmt: skip
    assert {each["uri"] for each in listed(bare)} == {f"parley://communications/{call}", f"parley://people/{person}"}
    templates = ask(bare, "resources/templates/list")["result"]["resourceTemplates"]
    assert [each["name"] for each in templates] == ["communication", "person"]
    assert ask(bare, "resources/read", uri=f"parley://documents/{document.id}")["error"]["code"] == NOT_FOUND
    assert "75 %" not in read(bare, f"parley://communications/{call}")
    assert "has a cat" not in read(bare, f"parley://people/{person}")


def test_what_was_deleted_is_gone(account: Account) -> None:
    call = keep_communication(account, ("SPEAKER_00", "Hello"))
    person = add_person(account, "Ann", **{call: "SPEAKER_00"})
    document = add_document(account.server.database, account.tenant_id, "text", "T").id
    assert len(listed(account)) == 3
    assert account.request("DELETE", f"/public/v1/speakers/{person}").status_code == 204
    assert account.request("DELETE", f"/public/v1/kb/documents/{document}").status_code == 204
    assert [each["uri"] for each in listed(account)] == [f"parley://communications/{call}"]
    for uri in (f"parley://people/{person}", f"parley://documents/{document}"):
        assert ask(account, "resources/read", uri=uri)["error"]["code"] == NOT_FOUND
    assert "Ann" not in read(account, f"parley://communications/{call}")


def test_another_tenants_things_are_not_there(account: Account, new_account: Callable[..., Account]) -> None:
    call = keep_communication(account, ("SPEAKER_00", "Hello"))
    person = add_person(account, "Ann", **{call: "SPEAKER_00"})
    document = add_document(account.server.database, account.tenant_id, "text", "T")
    other = new_account()
    assert listed(other) == []
    for uri in [each["uri"] for each in listed(account)]:
        assert ask(other, "resources/read", uri=uri)["error"]["code"] == NOT_FOUND
    for kind, id_ in (("communications", call), ("people", person), ("documents", document.id)):
        ref = {"type": "ref/resource", "uri": f"parley://{kind}/{{id}}{{?from}}"}
        for typed in ("", id_, id_[:8], "Ann"):
            argument = {"name": "id", "value": typed}
            answer = ask(other, "completion/complete", ref=ref, argument=argument)
            assert answer["result"]["completion"]["values"] == []
        argument = {"name": "id", "value": id_}
        completion = ask(account, "completion/complete", ref=ref, argument=argument)["result"]["completion"]
        assert completion["values"] == [id_]


def test_a_key_sees_documents_of_its_own_spaces_alone(account: Account) -> None:
    secret = add_document(account.server.database, account.tenant_id, "secret", "Secret")
    hours = add_document(account.server.database, account.tenant_id, "hours", "Hours")
    own_key = account.get("/public/v1/keys").json()["items"][0]["id"]
    access = {"access": {"chat_ids": [], "key_ids": [own_key]}}
    assert account.request("PATCH", f"/public/v1/kb/spaces/{secret.space_id}", json=access).status_code == 200
    key = account.post("/public/v1/keys", json={"name": "Other"}).json()["api_key"]

    def seen(method: str, **params: Any) -> dict[str, Any]:
        return rpc(Account(account.server, replace(account.made, api_key=key)), method, params, **NEWER)

    assert [each["uri"] for each in seen("resources/list")["result"]["resources"]] == [f"parley://documents/{hours.id}"]
    assert seen("resources/read", uri=f"parley://documents/{secret.id}")["error"]["code"] == NOT_FOUND
    assert "> hours" in seen("resources/read", uri=f"parley://documents/{hours.id}")["result"]["contents"][0]["text"]
    ref = {"type": "ref/resource", "uri": "parley://documents/{id}{?from}"}
    completion = seen("completion/complete", ref=ref, argument={"name": "id", "value": ""})["result"]["completion"]
    assert completion["values"] == [hours.id]
    assert "> secret" in read(account, f"parley://documents/{secret.id}")


def test_ids_are_completed_by_their_beginning_and_people_by_name(account: Account) -> None:
    ids = [keep_communication(account, ("A", "x")) for _ in range(25)]
    ann = add_person(account, "Анна Ёлкина")

    def completed(kind: str, typed: str, name: str = "id") -> dict[str, Any]:
        ref = {"type": "ref/resource", "uri": f"parley://{kind}/{{id}}{{?from}}"}
        answer = ask(account, "completion/complete", ref=ref, argument={"name": name, "value": typed})
        found: dict[str, Any] = answer.get("result", {}).get("completion") or answer["error"]
        return found

    newest_first = sorted(ids, reverse=True)
    assert completed("communications", "") == {"values": newest_first[:20], "hasMore": True}
    assert completed("communications", ids[3].upper()) == {"values": [ids[3]], "hasMore": False}
    assert completed("communications", ids[3][:-1])["values"] == [
        each for each in newest_first if each.startswith(ids[3][:-1])
    ]
    for typed in ("zz", "%", "_", "0" * 40, "\x00%", "a" * 5000):
        assert completed("communications", typed)["values"] == []
    assert completed("people", "ёлк")["values"] == [ann]
    assert completed("people", "АНН")["values"] == [ann]
    assert completed("communications", "5", name="from")["values"] == []
    assert completed("communications", "", name="tenant")["code"] == INVALID_PARAMS
    assert completed("keys", "")["code"] == INVALID_PARAMS
