"""The tool that reads one conversation: its card, and its text in parts that fit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rag.language_model import estimate_tokens
from tests.contract.conftest import HeardCalls
from tests.contract.material import keep_communication
from tests.contract.mcp import found_by, refusal, rpc
from tests.support.server import Account

MOST_TOKENS = 20_000
ITEM = {"id", "kind", "channel_type", "occured_at", "title", "snippet", "score"}


@pytest.mark.models
@pytest.mark.proves("mcp.tool.get-communication", "mcp.args.communication-id", "mcp.result.one-object", "mcp.links")
def test_the_card_of_a_call_has_its_statuses_and_utterances(heard: HeardCalls) -> None:
    account, id_ = heard.english.account, heard.english.accepted["communication_id"]
    card = found_by(account, "get_communication", communication_id=id_)
    assert card["id"] == id_
    assert card["transcription_status"] == "success"
    assert card["communication_status"] == "closed"
    assert (card["direction"], card["request_record_id"], card["language"]) == ("out", "crm-7781", "en")
    assert card["url"] == f"{account.server.url}/cabinet/communications/{id_}"
    read = heard.english.communication["content"]
    assert [(turn["label"], turn["start_ms"], turn["text"]) for turn in card["content"]] == [
        (item["label"], item["start_ms"], item["text"]) for item in read
    ]
    assert card["next_cursor"] is None


@pytest.mark.proves("mcp.tool.get-communication", "mcp.args.communication-id", "mcp.own-account-only")
def test_a_communication_that_is_not_the_accounts_is_not_found(account: Account, new_account: Any) -> None:
    foreign = keep_communication(new_account(), ("A", "Nobody else reads this."))
    for id_ in (foreign, "00000000-0000-4000-8000-000000000000"):
        assert refusal(account, "get_communication", communication_id=id_) == f"communication not found: {id_}"
    assert "communication_id" in refusal(account, "get_communication")
    assert found_by(account, "search_communications")["items"] == []


def cards_of(account: Account, communication_id: str) -> Iterator[dict[str, Any]]:
    """A conversation part by part, each within what an answer may have."""
    cursor: dict[str, str] = {}
    while True:
        arguments = {"communication_id": communication_id, **cursor}
        answer = rpc(account, "tools/call", {"name": "get_communication", "arguments": arguments})
        text = answer["result"]["content"][0]["text"]
        assert estimate_tokens(text) <= MOST_TOKENS
        card = json.loads(text)
        yield card
        if card["next_cursor"] is None:
            return
        cursor = {"cursor": card["next_cursor"]}


@pytest.mark.proves("mcp.answer-size")
def test_a_long_conversation_comes_in_parts_that_lose_nothing(account: Account) -> None:
    turns = [("SPEAKER_00", f"Реплика номер {number}: " + "мы говорили о доставке кофе " * 20) for number in range(200)]
    turns[100] = ("SPEAKER_01", "Очень длинное письмо без конца. " * 3000)
    id_ = keep_communication(account, *turns)
    texts, parts = [""] * len(turns), 0
    for card in cards_of(account, id_):
        for turn in card["content"]:
            shown, mark, _ = turn["text"].partition(" … (cut")
            texts[turn["idx"]] += shown
            assert not mark or card["next_cursor"]
        parts += 1
    assert texts == [text for _, text in turns]
    assert parts > 3


@pytest.mark.proves("mcp.answer-size")
def test_what_costs_many_tokens_comes_in_more_parts(account: Account) -> None:
    digits = "8 495 1234567, " * 12_000
    id_ = keep_communication(account, ("A", "Read me the numbers."), ("B", digits), ("A", "中文" * 9_000))
    texts = ["", "", ""]
    for card in cards_of(account, id_):
        for turn in card["content"]:
            texts[turn["idx"]] += turn["text"].partition(" … (cut")[0]
    assert texts == ["Read me the numbers.", digits, "中文" * 9_000]


def test_a_call_of_six_hours_is_read_to_its_end(account: Account) -> None:
    turns = [(f"SPEAKER_0{number % 2}", f"Реплика {number} о заказе и доставке.") for number in range(7_200)]
    id_ = keep_communication(account, *turns)
    seen: list[int] = []
    cursor = None
    while True:
        arguments = {"communication_id": id_, **({"cursor": cursor} if cursor else {})}
        card = found_by(account, "get_communication", **arguments)
        assert estimate_tokens(json.dumps(card, ensure_ascii=False)) <= MOST_TOKENS
        seen += [turn["idx"] for turn in card["content"]]
        cursor = card["next_cursor"]
        if cursor is None:
            break
    assert seen == list(range(7_200))


def test_a_card_alone_has_no_text_and_costs_little(account: Account) -> None:
    id_ = keep_communication(account, *[("A", "мы говорили о доставке кофе " * 20)] * 50)
    card = found_by(account, "get_communication", communication_id=id_, detail="card")
    assert (card["id"], card["content"], card["next_cursor"]) == (id_, [], None)
    assert estimate_tokens(json.dumps(card, ensure_ascii=False)) < 500
    assert found_by(account, "get_communication", communication_id=id_)["content"]
    assert "detail" in refusal(account, "get_communication", communication_id=id_, detail="summary")


@pytest.mark.proves("mcp.args.communication-id")
@pytest.mark.parametrize("cursor", ["x", "eyJpZHgiOi0xfQ", "eyJpZHgiOiIxIn0", "eyJpZHgiOi0xLCJmcm9tIjowfQ"])
def test_a_part_that_is_none_is_refused(account: Account, cursor: str) -> None:
    id_ = keep_communication(account, ("A", "Hello."))
    assert "cursor" in refusal(account, "get_communication", communication_id=id_, cursor=cursor)
