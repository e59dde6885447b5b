"""Every tool over much data and over the longest texts: no answer is over the bound, and every page is reached.

100,000 communications are in tests/soak/test_mcp_archive.py.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest

from bench.mcp_data import Company
from rag.embedding import choose_embedder
from rag.language_model import estimate_tokens
from store.communications import content_items
from tests.contract.mcp import HANDSHAKE_VERSIONS, OLDEST, found_by, rpc, wait_until
from tests.contract.mcp_archive import (
    ASKED,
    MOST_TOKENS,
    Archive,
    everything,
    found_in,
    index,
    largest,
    make_archive,
    pages,
    stretch,
    walked,
)
from tests.support.server import RunningServer

DOCUMENTS = 2_500
FOUND = 120
PASSAGE_CHARACTERS = 350

FEWEST_FOUND = {
    "search_communications": 50,
    "search_commitments": 40,
    "search_memory": 30,
    "search_documents": 50,
    "search_product_docs": 50,
}


def cases(*, lists: bool = True, searches: bool = True) -> list[Any]:
    """(tool, arguments) of all that is asked; searches are those that name a query."""
    return [
        pytest.param(tool, asked, id=f"{tool}-{number}")
        for tool, ways in ASKED.items()
        for number, asked in enumerate(ways)
        if (searches if "query" in asked else lists)
    ]


@pytest.fixture(scope="module")
def archive(server: RunningServer) -> Archive:
    """Much of everything. It is in no index."""
    account = server.new_client("the client with an archive")
    company = Company(communications=1_200, clients=160, days=25)
    return make_archive(account, company, documents=DOCUMENTS, chunks=700, spaces=60)


@pytest.fixture(scope="module")
def searched(server: RunningServer) -> Archive:
    """All of it is in the index."""
    account = server.new_client("the client who searches")
    company = Company(communications=FOUND, clients=40, days=25, long_call_turns=50)
    made = make_archive(account, company, documents=FOUND, chunks=1, spaces=0)
    index(made)
    if choose_embedder(server.settings) is not None:
        # Until then pages of the documentation are found by words alone; afterwards they have other places.
        asked = "Как проверить подпись вебхука?"
        wait_until(lambda: bool(found_by(account, "search_product_docs", query=asked)["items"]))
    return made


@pytest.fixture(scope="module")
def wordy(server: RunningServer) -> Archive:
    """Everything in it is as long as can be, and of what takes most tokens: numbers, in short lines."""
    account = server.new_client("the wordy client")
    company = Company(communications=55, clients=55, days=25, long_call_turns=60)
    made = make_archive(account, company, documents=55, chunks=55, spaces=55)
    for characters in (PASSAGE_CHARACTERS, 1_500):  # no more than shows in the index, which takes its time
        stretch(made, "1 234\n567 ", characters)
        if characters == PASSAGE_CHARACTERS:
            index(made)
    return made


def test_every_tool_is_asked(archive: Archive) -> None:
    listed = {tool["name"] for tool in rpc(archive.account, "tools/list")["result"]["tools"]}
    assert listed <= set(ASKED)


@pytest.mark.proves("mcp.answer-size")
@pytest.mark.parametrize(("tool", "asked"), cases())
def test_no_answer_is_over_the_bound(wordy: Archive, tool: str, asked: dict[str, Any]) -> None:
    arguments = largest(wordy, tool, wordy.named(asked))
    for version in (OLDEST, HANDSHAKE_VERSIONS[-1]):
        for result in islice(pages(wordy.account, tool, arguments, version), 3):
            (content,) = result["content"]
            structured = json.dumps(result.get("structuredContent"), ensure_ascii=False)
            assert estimate_tokens(content["text"]) + estimate_tokens(structured) <= MOST_TOKENS


@pytest.mark.parametrize(("tool", "asked"), cases(searches=False))
def test_no_answer_over_rest_is_over_the_bound(wordy: Archive, tool: str, asked: dict[str, Any]) -> None:
    arguments = largest(wordy, tool, wordy.named(asked))
    answer = wordy.account.post(f"/public/v1/tools/{tool}", json=arguments)
    assert answer.status_code == 200, answer.text
    assert estimate_tokens(answer.text) <= MOST_TOKENS


@pytest.mark.proves("mcp.args.cursor")
@pytest.mark.parametrize(("tool", "asked"), cases(searches=False))
def test_every_page_of_a_list_is_reached_and_nothing_comes_twice(
    archive: Archive, tool: str, asked: dict[str, Any]
) -> None:
    seen = walked(archive, tool, asked)
    assert len(set(seen)) == len(seen)
    expected = everything(archive, tool, asked)
    assert expected is None or set(seen) == expected


@pytest.mark.parametrize(("tool", "asked"), cases(lists=False))
def test_every_page_of_a_search_is_reached_and_nothing_comes_twice(
    searched: Archive, tool: str, asked: dict[str, Any]
) -> None:
    seen = walked(searched, tool, asked)
    assert len(set(seen)) == len(seen)
    assert len(seen) > FEWEST_FOUND[tool]


def test_a_call_of_six_hours_is_read_whole_over_its_pages(archive: Archive) -> None:
    arguments = {"communication_id": archive.filled.long_call_id}
    turns = [
        turn for page in pages(archive.account, "get_communication", arguments) for turn in found_in(page)["content"]
    ]
    with archive.account.server.database.read() as connection:
        rows = connection.execute(
            content_items.select()
            .where(content_items.c.communication_id == archive.filled.long_call_id)
            .order_by(content_items.c.idx)
        ).all()
    assert [(turn["idx"], turn["text"]) for turn in turns] == [(row.idx, row.text) for row in rows]
    assert len(turns) == 4_000
