"""A chat without a model tells promises and complaints from what analysis noted, to the company's own people alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from store.analysis import NewItem
from store.database import now
from tests.contract.site_page import Page
from tests.support.server import Account
from tests.support.talks import ANNA, BORIS, Talk, add_talk, promise

PEOPLE = {"SPEAKER_00": BORIS, "SPEAKER_01": ANNA}


def signal(key: str, content: str, label: str) -> NewItem:
    return NewItem("criteria", content, key, {"quote": content, "idx": 1, "label": label}, label)


@pytest.fixture
def talk(account: Account) -> Talk:
    answer = account.request("PATCH", f"/public/v1/chats/{account.chat_id}", json={"model": "none"})
    assert answer.status_code == 200, answer.text
    day = now().date()
    add_talk(account, people={"SPEAKER_00": ANNA}, turns=[("SPEAKER_00", "Your coffee is cold.")], category="complaint")
    return add_talk(
        account,
        people=PEOPLE,
        turns=[("SPEAKER_00", "I will send the invoice."), ("SPEAKER_01", "You charged us twice.")],
        promises=[
            promise("Send the invoice", "SPEAKER_00", due=day - timedelta(days=3)),
            promise("Bring a spare machine", "SPEAKER_00", due=day + timedelta(days=6)),
            signal("disputes", "You charged us twice.", "SPEAKER_01"),
        ],
        title="An invoice",
    )


def ask(account: Account, text: str) -> tuple[str, list[dict[str, Any]]]:
    """The answer, and the conversations that it rests on."""
    answer = account.post(f"/public/v1/chats/{account.chat_id}/messages", json={"text": text})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    return found["markdown"], found["context"]["communications"]


def test_promises_of_all_and_of_one_are_told_with_their_conversation(account: Account, talk: Talk) -> None:
    markdown, context = ask(account, "What did we promise our customers?")
    assert "**Boris Keeper:** Bring a spare machine — by " in markdown
    assert ", overdue [1]" in markdown
    assert [(each["id"], each["title"]) for each in context] == [(talk.id, "An invoice")]
    markdown, _ = ask(account, "Какие обещания просрочены?")
    assert "Send the invoice" in markdown
    assert "Bring a spare machine" not in markdown
    markdown, context = ask(account, "What did Boris Keeper promise?")
    assert markdown.startswith("Promises in conversations of Boris Keeper")
    assert [each["id"] for each in context] == [talk.id]


def test_complaints_are_told_from_signals_and_categories(account: Account, talk: Talk) -> None:
    markdown, context = ask(account, "What do customers complain about?")
    assert "**Dispute:** You charged us twice. [" in markdown
    assert "**Complaint:** Your coffee is cold. [" in markdown
    assert len(context) == 2


def test_who_may_not_look_into_conversations_is_told_nothing(
    account: Account, talk: Talk, open_page: Callable[..., Page]
) -> None:
    page = open_page(account)
    assert "nvoice" not in page.ask(page.visitor(), "What did we promise our customers?")["markdown"]
    answer = account.request("PATCH", f"/public/v1/chats/{account.chat_id}", json={"tools": ["search_documents"]})
    assert answer.status_code == 200, answer.text
    assert ask(account, "What did we promise our customers?")[1] == []


def test_promises_of_another_account_are_no_records_here(account: Account, talk: Talk) -> None:
    other = account.server.new_client("another")
    assert other.request("PATCH", f"/public/v1/chats/{other.chat_id}", json={"model": "none"}).status_code == 200
    for question in ("What did Boris Keeper promise?", "What did we promise our customers?"):
        markdown, context = ask(other, question)
        assert ("nvoice" in markdown, context) == (False, [])
