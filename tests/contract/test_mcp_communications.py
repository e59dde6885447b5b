"""The tool that finds calls, chats and mails: by which filters, page by page, and within which size."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag.language_model import estimate_tokens
from tests.contract.conftest import HeardCalls
from tests.contract.material import keep_communication
from tests.contract.mcp import found_by, refusal, rpc
from tests.support.server import Account

MOST_TOKENS = 20_000
ITEM = {"id", "kind", "channel_type", "occured_at", "title", "snippet", "score"}


@pytest.fixture
def kept(account: Account) -> dict[str, str]:
    """Six communications of the account: name to id."""
    make: dict[str, dict[str, Any]] = {
        "old call": {"at": "2026-01-05T10:00:00+00:00"},
        "call": {"at": "2026-01-10T10:00:00+00:00"},
        "call out": {"at": "2026-01-11T10:00:00+00:00", "direction": "out"},
        "telegram": {"at": "2026-01-12T10:00:00+00:00", "kind": "chat", "channel_type": "telegram"},
        "whatsapp": {"at": "2026-01-13T10:00:00+00:00", "kind": "chat", "channel_type": "whatsapp"},
        "mail": {"at": "2026-01-14T10:00:00+00:00", "kind": "email", "channel_type": "email", "direction": "out"},
    }
    return {
        name: keep_communication(account, ("SPEAKER_00", f"Here speaks the {name}."), **values)
        for name, values in make.items()
    }


def names_found(account: Account, kept: dict[str, str], **arguments: Any) -> list[str]:
    by_id = {id_: name for name, id_ in kept.items()}
    return [by_id[item["id"]] for item in found_by(account, "search_communications", **arguments)["items"]]


@pytest.mark.proves("mcp.tool.search-communications", "mcp.args.query")
def test_without_a_query_the_newest_calls_chats_and_mails_come_first(account: Account, kept: dict[str, str]) -> None:
    newest_first = ["mail", "whatsapp", "telegram", "call out", "call", "old call"]
    assert names_found(account, kept) == newest_first
    items = found_by(account, "search_communications")["items"]
    assert {item["kind"] for item in items} == {"call", "chat", "email"}
    assert items[0]["snippet"] == "Here speaks the mail."
    assert items[0]["score"] is None


@pytest.mark.proves(
    "mcp.tool.search-communications.kind",
    "mcp.tool.search-communications.channel-type",
    "mcp.tool.search-communications.direction",
)
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kind": "call"}, ["call out", "call", "old call"]),
        ({"kind": "chat"}, ["whatsapp", "telegram"]),
        ({"kind": "email"}, ["mail"]),
        ({"channel_type": "telegram"}, ["telegram"]),
        ({"channel_type": "phone"}, ["call out", "call", "old call"]),
        ({"channel_type": "widget"}, []),
        ({"direction": "out"}, ["mail", "call out"]),
        ({"direction": "out", "kind": "call"}, ["call out"]),
        ({"direction": "out", "channel_type": "email"}, ["mail"]),
    ],
)
def test_filters_leave_what_fits_all_of_them(
    account: Account, kept: dict[str, str], filters: dict[str, str], expected: list[str]
) -> None:
    assert names_found(account, kept, **filters) == expected


@pytest.mark.proves("mcp.args.from-to")
def test_bounds_may_be_whole_days_of_the_accounts_zone(new_account: Any) -> None:
    account = new_account(time_zone="Asia/Vladivostok")  # ten hours ahead of UTC
    kept = {
        name: keep_communication(account, ("A", name), at=at)
        for name, at in (
            ("the evening before", "2026-01-11T13:59:59+00:00"),
            ("the first moment", "2026-01-11T14:00:00+00:00"),
            ("the last second", "2026-01-12T13:59:59+00:00"),
            ("the next day", "2026-01-12T14:00:00+00:00"),
        )
    }
    assert names_found(account, kept, from_="2026-01-12", to="2026-01-12") == ["the last second", "the first moment"]
    assert names_found(account, kept, to="2026-01-11") == ["the evening before"]
    assert names_found(account, kept, from_="2026-01-13") == ["the next day"]
    for far in ("0001-01-01", "9999-12-31", "9999-12-31T23:59:59Z", 5):
        assert "to" in refusal(account, "search_communications", to=far)


@pytest.mark.proves("mcp.args.from-to")
def test_from_is_inclusive_and_to_exclusive(account: Account, kept: dict[str, str]) -> None:
    assert names_found(account, kept, from_="2026-01-12T10:00:00Z") == ["mail", "whatsapp", "telegram"]
    assert names_found(account, kept, to="2026-01-10T10:00:00Z") == ["old call"]
    bounds = {"from_": "2026-01-11T13:00:00+03:00", "to": "2026-01-12T10:00:00.000001Z"}
    assert names_found(account, kept, **bounds) == ["telegram", "call out"]
    assert "time zone" in refusal(account, "search_communications", from_="2026-01-12T10:00:00")
    assert "from" in refusal(account, "search_communications", from_="yesterday")


@pytest.mark.proves("mcp.args.limit", "mcp.args.cursor", "mcp.result.one-object")
def test_pages_go_on_where_the_last_one_ended(account: Account) -> None:
    ids = [keep_communication(account, ("A", f"Turn {number}"), at="2026-01-05T10:00:00+00:00") for number in range(23)]
    first = found_by(account, "search_communications")
    assert set(first) == {"text_is", "items", "next_cursor"}
    assert len(first["items"]) == 10
    seen = [item["id"] for item in first["items"]]
    cursor = first["next_cursor"]
    while cursor is not None:
        page = found_by(account, "search_communications", cursor=cursor, limit=7)
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert len(seen) == len(ids)
    assert set(seen) == set(ids)
    assert len(found_by(account, "search_communications", limit=50)["items"]) == 23


@pytest.mark.proves("mcp.args.limit", "mcp.args.cursor")
@pytest.mark.parametrize("tool", ["search_communications", "search_documents"])
def test_a_limit_or_cursor_that_is_none_is_refused(account: Account, tool: str) -> None:
    for limit in (0, 51, -1, 2.5, "10"):
        assert "limit" in refusal(account, tool, query="delivery", limit=limit)
    for cursor in ("nonsense", "", "e30", "eyJvZmZzZXQiOi0xfQ", "eyJhdCI6MSwiaWQiOjJ9", "привет"):
        assert "cursor" in refusal(account, tool, query="delivery", cursor=cursor)
    assert "cursor" in refusal(account, "search_communications", cursor="eyJvZmZzZXQiOi0xfQ")
    assert "cursor" in refusal(account, "search_communications", cursor="eyJhdCI6MSwiaWQiOjJ9")


@pytest.mark.models
@pytest.mark.proves("mcp.tool.search-communications", "mcp.result.items-like-context", "mcp.links")
def test_a_call_is_found_by_what_was_said_in_it(heard: HeardCalls) -> None:
    account = heard.english.account
    found = found_by(account, "search_communications", query="the studio on the silver lane", direction="out")
    (item,) = found["items"]
    assert set(item) == ITEM | {"start_ms", "url", "direction", "category", "people"}
    assert item["people"] == []
    assert item["id"] == heard.english.accepted["communication_id"]
    assert (item["kind"], item["channel_type"]) == ("call", "phone")
    assert item["occured_at"] == "2026-03-04T05:06:07+03:00"
    assert "silver" in item["snippet"].lower()
    assert isinstance(item["score"], float)
    assert item["url"] == f"{account.server.url}/cabinet/communications/{item['id']}"


@pytest.mark.models
@pytest.mark.proves("mcp.tool.search-communications.direction", "mcp.args.from-to", "mcp.args.cursor")
def test_filters_and_pages_hold_for_a_search_too(heard: HeardCalls) -> None:
    account, moment = heard.english.account, "2026-03-04T02:06:07Z"
    sarah = {"query": "Sarah from Silver Lane Studio"}

    def ids(**arguments: Any) -> list[str]:
        return [item["id"] for item in found_by(account, "search_communications", **sarah, **arguments)["items"]]

    english = heard.english.accepted["communication_id"]
    assert ids(direction="in") == [heard.swapped.accepted["communication_id"]]
    assert ids(kind="chat") == ids(channel_type="widget") == []
    assert english in ids(from_=moment, kind="call")
    assert english not in ids(from_="2026-03-04T02:06:08Z")
    assert ids(to="2026-03-04T02:06:08Z") == [english]
    assert ids(to=moment) == []
    everything, seen, cursor = ids(limit=50), [], None
    while True:
        page = found_by(account, "search_communications", **sarah, limit=1, **({"cursor": cursor} if cursor else {}))
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == everything
    assert len(seen) >= 4


@pytest.mark.proves("mcp.answer-size")
def test_a_full_page_stays_within_the_size_and_says_what_was_cut(account: Account) -> None:
    for number in range(50):
        keep_communication(account, *[("A", f"{number} " + "мы говорили о доставке кофе " * 20)] * 6)
    answer = rpc(account, "tools/call", {"name": "search_communications", "arguments": {"limit": 50}})
    text = answer["result"]["content"][0]["text"]
    assert estimate_tokens(text) <= MOST_TOKENS
    items = json.loads(text)["items"]
    assert len(items) == 50
    assert all(item["snippet"].endswith(" …") for item in items)
