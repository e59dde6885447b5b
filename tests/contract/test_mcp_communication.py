"""The tool that reads one conversation: its card, and its text in parts that fit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rag.language_model import estimate_tokens
from store import analysis, communications, speakers
from store.analysis import NewItem
from store.communications import ContentItem
from store.speakers import Attending
from tests.contract.conftest import HeardCalls
from tests.contract.material import keep_communication
from tests.contract.mcp import HANDSHAKE_VERSIONS, OLDEST, found_by, refusal, rpc
from tests.contract.mcp_archive import found_in, pages
from tests.contract.mcp_resources import read
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


@pytest.mark.proves("mcp.answer-size")
@pytest.mark.parametrize("version", [OLDEST, HANDSHAKE_VERSIONS[-1]])
@pytest.mark.parametrize("label", ["8495123456" * 6 + "7890", "ქართული " * 8], ids=["digits", "Georgian"])
def test_a_chat_of_very_many_short_messages_keeps_the_bound(account: Account, label: str, version: str) -> None:
    id_ = keep_communication(account, ("A", "Hello."), kind="chat", channel_type="telegram")
    written = datetime(2026, 2, 1, 10, tzinfo=UTC)
    messages = [
        ContentItem("chat_message", f"ok {number}", label, at=written + timedelta(seconds=number))
        for number in range(2_000)
    ]
    with account.server.database.write() as connection:
        communications.replace_content(account.tenant_id, connection, id_, messages)
    seen: list[int] = []
    for result in pages(account, "get_communication", {"communication_id": id_}, version):
        (content,) = result["content"]
        structured = json.dumps(result.get("structuredContent"), ensure_ascii=False)
        assert estimate_tokens(content["text"]) + estimate_tokens(structured) <= MOST_TOKENS
        seen += [turn["idx"] for turn in found_in(result)["content"]]
    assert seen == list(range(2_000))


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


def keep_rich(account: Account, *turns: tuple[str, str], promises: int, facts: int, people: int) -> str:
    """A conversation of which analysis found much."""
    id_ = keep_communication(account, *turns)
    said = {"idx": 1, "start_ms": 1000}
    items = [
        NewItem("commitment", f"Promise {number}.", meta={**said, "deadline": "2026-03-01"})
        for number in range(promises)
    ]
    items += [NewItem("criteria", f"Fact {number}.", "topic", meta={"engine": "built-in"}) for number in range(facts)]
    with account.server.database.write() as connection:
        analysis.put_summary(account.tenant_id, connection, id_, text=None, items=items)
        ids = [
            speakers.upsert(account.tenant_id, connection, external_id=f"p{number}", name=f"Person {number}").id
            for number in range(people)
        ]
        speakers.attach(account.tenant_id, connection, id_, [Attending(each, "employee") for each in ids])
    return id_


@pytest.mark.proves("mcp.tool.get-communication", "mcp.answer-size")
@pytest.mark.parametrize("detail", ["card", "full"])
def test_a_card_tells_how_much_it_has_and_goes_on_until_all_was_given(account: Account, detail: str) -> None:
    id_ = keep_rich(account, ("A", "Hello."), ("B", "Good day."), promises=46, facts=20, people=62)
    asked = {"communication_id": id_, "detail": detail}
    first = found_by(account, "get_communication", **asked)
    assert (first["promises_total"], first["facts_total"], first["participants_total"]) == (46, 20, 62)
    shown = (len(first["items"]), len(first["participants"]))
    assert first["more"] == "{} of 66 facts and promises, {} of 62 participants; the rest: next_cursor".format(*shown)
    assert {name: first["items"][0][name] for name in ("idx", "start_ms", "deadline")} == {
        "idx": 1,
        "start_ms": 1000,
        "deadline": "2026-03-01",
    }
    cards = [first]
    while cards[-1]["next_cursor"]:
        cards.append(found_by(account, "get_communication", **asked, cursor=cards[-1]["next_cursor"]))
        assert len(cards) < 9
    items = [item for card in cards for item in card["items"]]
    assert [item["content"] for item in items] == [
        *(f"Promise {number}." for number in range(46)),
        *(f"Fact {number}." for number in range(20)),
    ]
    assert len({item["id"] for item in items}) == 66
    assert {person["name"] for card in cards for person in card["participants"]} == {f"Person {n}" for n in range(62)}
    assert [turn["text"] for card in cards for turn in card["content"]] == ["Hello.", "Good day."] * (detail == "full")
    assert cards[-1]["more"] is None


def test_the_text_and_the_items_of_a_long_conversation_go_on_together(account: Account) -> None:
    turns = [("A", f"Реплика номер {number}: " + "мы говорили о доставке кофе " * 20) for number in range(120)]
    id_ = keep_rich(account, *turns, promises=46, facts=0, people=1)
    cards = list(cards_of(account, id_))
    assert [turn["idx"] for card in cards for turn in card["content"]] == list(range(120))
    assert len({item["id"] for card in cards for item in card["items"]}) == 46
    assert all(len(card["participants"]) == 1 for card in cards), "turns are read by their labels"


@pytest.mark.proves("mcp.answer-size")
def test_the_resource_tells_how_much_it_left_out_and_where_that_is(account: Account) -> None:
    id_ = keep_rich(account, ("A", "Hello."), ("B", "Good day."), promises=46, facts=31, people=62)
    uri = f"parley://communications/{id_}"
    text = read(account, uri)
    # Behind the text where it is short, so that nothing is left for another part.
    for lead, last in (("30 of 46", "Promise 45."), ("30 of 31", "Fact 30."), ("50 of 62", "Person 61")):
        (line,) = [line for line in text.splitlines() if line.startswith(lead) or f"{lead[:2]} из {lead[-2:]};" in line]
        rest = read(account, line.split()[-1])
        assert last in rest
        assert last in text
        assert "Hello." not in rest
    assert "[1] 0:00:01" in text
