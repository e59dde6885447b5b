"""What a person of the cabinet changes, or takes along, is in the audit log, whichever operation did it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from api.app import LAYERS
from api.http import NoInput, Operation
from store import audit
from store.audit import AuditEntry
from store.ids import new_id
from tests.contract.access import KEYED, SECRET, Owner, Row, make_owner
from tests.contract.recordings import tone, wav
from tests.support.cabinet import signed_in
from tests.support.server import Account, RunningServer

BOSS = "boss@shop.example"
AUDITED = {
    (operation.method, prefix + operation.path): operation.audited
    for prefix, operations in LAYERS.values()
    for operation in operations
    if operation.audited
}
# What is being analysed is not corrected, and what is deleted is not changed.
ROWS = sorted(
    (row for row in KEYED if (row.method, row.path) in AUDITED),
    key=lambda row: (row.method == "DELETE", row.path.endswith("/analysis")),
)
NAMED = ("key.", "operator.", "chat.")
"""Kinds whose details say what a thing is called, or whose address a person has: of the account's own choosing."""
TASK = "/v1/audio/transcriptions"


@pytest.fixture(scope="module")
def owner(server: RunningServer) -> Owner:
    return make_owner(server.new_client("owner who is watched"))


@pytest.fixture(scope="module")
def browser(owner: Owner) -> Iterator[httpx2.Client]:
    with signed_in(owner.account, "owner", BOSS) as browser:
        yield browser


def entries(account: Account) -> list[AuditEntry]:
    with account.server.database.read() as connection:
        return audit.list_page(account.tenant_id, connection, limit=1000)[0]


def done_since(account: Account, before: list[AuditEntry]) -> list[AuditEntry]:
    known = {entry.id for entry in before}
    return [entry for entry in entries(account) if entry.id not in known]


def ask(owner: Owner, browser: httpx2.Client, row: Row) -> httpx2.Response:
    url, options = owner.url(row), owner.options(row)
    if row.path.startswith(TASK):
        made = browser.post(TASK, files={"file": ("call.wav", wav(tone(600)))}, data={"summary": "false"})
        if row.method == "POST":
            return made
        url = f"{TASK}/tasks/{made.json()['task_id']}"
    return browser.request(row.method, url, **options)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.name))
def test_what_a_person_does_is_noted_with_their_name(owner: Owner, browser: httpx2.Client, row: Row) -> None:
    before = entries(owner.account)
    answer = ask(owner, browser, row)
    assert answer.status_code < 300, answer.text
    noted = done_since(owner.account, before)
    assert AUDITED[row.method, row.path][0] in {entry.action for entry in noted}
    assert {entry.actor for entry in noted} == {f"cabinet {BOSS}"}
    for entry in noted:
        assert entry.action.startswith(NAMED) or SECRET not in json.dumps(entry.details), entry


def test_all_that_says_so_was_tried() -> None:
    assert {(row.method, row.path) for row in ROWS} == AUDITED.keys()


def test_every_operation_that_changes_something_says_what_is_noted() -> None:
    def change(call: Any) -> NoInput:
        return call.body  # type: ignore[no-any-return]

    with pytest.raises(AssertionError, match="say what the audit log has"):
        Operation("POST", "/v1/things", change, "Make a thing", None)
    assert Operation("POST", "/v1/things", change, "Make a thing", None, unaudited="Nothing is kept.").unaudited


@pytest.fixture
def account(new_account: Any) -> Account:
    made: Account = new_account(email=f"owner-{new_id()}@shop.example")
    return made


POSTED = {"kind": "chat", "channel_type": "telegram", "content": [{"text": "hello"}]}


def test_what_programs_bring_in_by_the_thousand_does_not_bury_the_rest(account: Account) -> None:
    before, space = entries(account), account.new_space()
    assert account.post("/public/v1/communications", json=POSTED).status_code == 202
    document = account.add_document(space, b"# Prices\n\nForty roubles.", "prices.md")
    assert account.request("DELETE", f"/public/v1/kb/documents/{document['id']}").status_code == 204
    noted = done_since(account, before)
    assert [entry.action for entry in noted] == ["document.deleted", "space.created"]
    assert {entry.actor for entry in noted} == {f"key {account.made.api_key[:14]}"}


def test_what_is_done_once_is_noted_once_and_what_changes_nothing_is_not(account: Account) -> None:
    with signed_in(account, "operator", BOSS) as browser:
        again = {"Idempotency-Key": new_id()}
        made = [browser.post("/public/v1/communications", json=POSTED, headers=again) for _ in range(2)]
        (id_,) = {answer.json()["communication_id"] for answer in made}
        known = {**POSTED, "request_record_id": "1"}
        for _ in range(2):
            assert browser.post("/public/v1/communications", json=known).status_code == 202
        same = browser.patch(f"/public/v1/communications/{id_}/content/0", json={"text": "hello"})
        assert same.status_code == 200, same.text
        assert browser.delete(f"/public/v1/views/{new_id()}").status_code == 404
    actions = [entry.action for entry in entries(account) if entry.actor == f"cabinet {BOSS}"]
    assert actions == ["communication.imported", "communication.imported", "session.opened"]


def test_an_export_of_many_conversations_is_one_entry_with_their_number(account: Account) -> None:
    mails = "".join(
        "From a@shop.example Mon Mar  2 10:00:00 2026\nFrom: a@shop.example\nTo: b@shop.example\n"
        f"Subject: {topic}\nMessage-ID: <{topic}@x>\nDate: Mon, 2 Mar 2026 10:00:00 +0300\n\nAbout {topic}.\n\n"
        for topic in ("lamps", "owls")
    )
    with signed_in(account, "operator", BOSS) as browser:
        for _ in range(2):
            answer = browser.post("/public/v1/communications", files={"file": ("mails.mbox", mails.encode())})
            assert answer.status_code == 202, answer.text
    (imported,) = [entry for entry in entries(account) if entry.action == "communication.imported"]
    assert (imported.details, imported.subject) == ({"count": 2}, None)


def test_kinds_are_filtered_together(account: Account) -> None:
    account.new_space()
    account.post("/public/v1/views", json={"name": "Mine", "filters": {"kind": "call"}})
    for asked, found in (
        ("view,space", ["view.saved", "space.created"]),
        ("space.created", ["space.created"]),
        ("spac", []),
    ):
        items = account.get("/public/v1/audit", params={"action": asked}).json()["items"]
        assert [item["action"] for item in items] == found
