"""The tools over the knowledge base, the schemas of all tools, and whose data they show."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import jsonschema
import pytest

from tests.contract import material
from tests.contract.conftest import Library
from tests.contract.mcp import found_by, refusal, rpc
from tests.support.server import Account

TOOLS = [
    "search_speakers",
    "search_communications",
    "search_commitments",
    "search_memory",
    "get_period_metrics",
    "rank_people",
    "rank_signals",
    "rank_qc",
    "get_communication",
    "get_qc_evaluation",
    "search_documents",
    "search_product_docs",
    "list_kb_spaces",
    "list_kb_documents",
    "list_kb_chunks",
]
OF_FEATURES = {
    "kb": {"search_documents", "list_kb_spaces", "list_kb_documents", "list_kb_chunks"},
    "qc": {"get_qc_evaluation", "rank_qc"},
    "memory": {"search_memory"},
}
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.mark.proves("mcp.tool.search-documents", "mcp.result.items-like-context", "mcp.links")
def test_the_text_of_a_pdf_is_found_with_its_page_and_link(library: Library) -> None:
    page = found_by(library.account, "search_documents", query="torque of the boiler bolts")
    assert set(page) == {"text_is", "items", "next_cursor"}
    item = page["items"][0]
    in_context = {"document_id", "space_id", "chunk_id", "title", "snippet", "page", "url", "score"}
    assert set(item) == {*in_context, "updated_at"}
    document = library.account.get(f"/public/v1/kb/documents/{library.pdf_id}").json()
    updated_at = datetime.fromisoformat(document["updated_at"]).replace(microsecond=0)
    assert datetime.fromisoformat(item["updated_at"]) == updated_at
    assert material.HANDBOOK_ANSWER in item["snippet"]
    assert (item["document_id"], item["space_id"], item["page"]) == (library.pdf_id, library.prices, 2)
    assert "Field engineer handbook" in item["title"]
    chunk = f"{library.pdf_id}#chunk-{item['chunk_id']}"
    assert item["url"] == f"{library.account.server.url}/cabinet/documents/{chunk}"
    chunks = library.account.get(f"/public/v1/kb/documents/{library.pdf_id}/chunks").json()["items"]
    assert item["chunk_id"] in [each["id"] for each in chunks]


@pytest.mark.proves("mcp.tool.search-documents")
@pytest.mark.parametrize(
    ("query", "fact"),
    [
        ("сколько стоит доставка в пригород", "1 100 рублей"),
        ("замена картриджа", "2 340 рублей"),
        ("can I return a coffee machine", "fourteen days"),
        ("where do visitors park", "gate seven"),
    ],
)
def test_documents_are_searched_in_both_languages(library: Library, query: str, fact: str) -> None:
    items = found_by(library.account, "search_documents", query=query)["items"]
    assert fact in items[0]["snippet"]
    assert [item["score"] for item in items] == sorted((item["score"] for item in items), reverse=True)


@pytest.mark.proves("mcp.args.space-ids")
def test_space_ids_limit_the_search(library: Library) -> None:
    def spaces(*space_ids: str) -> set[str]:
        found = found_by(library.account, "search_documents", query="coffee", space_ids=list(space_ids), limit=50)
        return {item["space_id"] for item in found["items"]}

    assert spaces(library.rules) == {library.rules}
    assert spaces(library.prices) == {library.prices}
    assert spaces(library.prices, library.rules) == {library.prices, library.rules}
    assert spaces(NOBODY) == set()
    for wrong in ([], ["x"], "x", [5]):
        assert "space_ids" in refusal(library.account, "search_documents", query="coffee", space_ids=wrong)


@pytest.mark.proves("mcp.args.query-required-for-documents")
def test_documents_are_not_searched_without_a_query(library: Library) -> None:
    for arguments in ({}, {"query": None}, {"query": ""}, {"query": "x" * 1001}):
        assert "query" in refusal(library.account, "search_documents", **arguments)


@pytest.mark.proves("mcp.args.cursor", "mcp.args.limit")
def test_pages_of_a_search_make_up_the_whole(library: Library) -> None:
    whole = found_by(library.account, "search_documents", query="coffee", limit=50)
    assert whole["next_cursor"] is None
    seen: list[str] = []
    cursor: str | None = None
    while True:
        after: dict[str, str] = {"cursor": cursor} if cursor else {}
        page = found_by(library.account, "search_documents", query="coffee", limit=2, **after)
        seen += [item["chunk_id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        assert len(page["items"]) == 2
    assert seen == [item["chunk_id"] for item in whole["items"]]
    assert len(seen) > 4


@pytest.mark.proves("mcp.args.limit")
def test_a_search_gives_ten_items_unless_asked_otherwise(account: Account) -> None:
    space_id = account.new_space()
    paragraphs = "\n\n".join(f"# Part {number}\n\n" + f"Coffee of sort {number}. " * 30 for number in range(14))
    assert account.add_document(space_id, paragraphs.encode(), "sorts.md")["chunk_count"] > 12
    first = found_by(account, "search_documents", query="coffee")
    assert len(first["items"]) == 10
    assert first["next_cursor"]
    assert len(found_by(account, "search_documents", query="coffee", limit=1)["items"]) == 1


@pytest.mark.proves("mcp.tool.list-kb-spaces", "mcp.result.one-object")
def test_spaces_are_listed_with_their_number_of_documents(library: Library) -> None:
    page = found_by(library.account, "list_kb_spaces")
    assert page["next_cursor"] is None
    assert [(item["id"], item["name"], item["document_count"]) for item in page["items"]] == [
        (library.prices, "Prices", 3),
        (library.rules, "Rules", 2),
    ]
    first = found_by(library.account, "list_kb_spaces", limit=1)
    assert [item["id"] for item in first["items"]] == [library.prices]
    second = found_by(library.account, "list_kb_spaces", limit=1, cursor=first["next_cursor"])
    assert [item["id"] for item in second["items"]] == [library.rules]
    assert second["next_cursor"] is None


@pytest.mark.proves("mcp.own-account-only")
def test_another_account_finds_nothing_of_it(library: Library, account: Account) -> None:
    assert found_by(account, "list_kb_spaces")["items"] == []
    for arguments in ({}, {"space_ids": [library.prices]}):
        found = found_by(account, "search_documents", query="torque of the boiler bolts", **arguments)
        assert (found["items"], found["next_cursor"]) == ([], None)


@pytest.mark.proves("mcp.tools-list.shape", "mcp.schema.strict", "mcp.read-only")
def test_the_list_of_tools_describes_each_strictly(account: Account) -> None:
    tools = rpc(account, "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    for tool in tools:
        assert tool["description"]
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        jsonschema.Draft202012Validator.check_schema(schema)
        assert tool["annotations"]["readOnlyHint"] is True


def search_arguments() -> list[dict[str, Any]]:
    return [
        {"query": "x"},
        {"query": "x", "limit": 50},
        {"query": ""},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 1.5},
        {"query": "x", "limit": True},
        {"query": "x", "other": 1},
        {"query": ["x"]},
    ]


@pytest.mark.proves("mcp.schema.strict", "mcp.error.wrong-arguments")
@pytest.mark.parametrize("arguments", search_arguments())
@pytest.mark.parametrize("name", ["search_communications", "search_documents"])
def test_a_call_is_taken_exactly_when_its_arguments_match_the_schema(
    account: Account, name: str, arguments: dict[str, Any]
) -> None:
    schema = next(tool for tool in rpc(account, "tools/list")["result"]["tools"] if tool["name"] == name)["inputSchema"]
    matches = jsonschema.Draft202012Validator(schema).is_valid(arguments)
    answer = account.call_tool(name, **arguments)
    assert ("result" in answer) is matches, answer


@pytest.mark.proves("mcp.tools-call.result", "mcp.tools-call.text-is-json")
@pytest.mark.parametrize("tool", ["search_communications", "search_documents", "list_kb_spaces"])
def test_a_result_is_one_text_with_json(account: Account, tool: str) -> None:
    arguments = {"query": "coffee"} if tool == "search_documents" else {}
    result = rpc(account, "tools/call", {"name": tool, "arguments": arguments})["result"]
    assert set(result) == {"content", "isError"}
    (content,) = result["content"]
    assert set(content) == {"type", "text"}
    assert content["type"] == "text"
    assert content["text"].startswith("{")
    assert result["isError"] is False
    assert found_by(account, tool, **arguments)["items"] == []


@pytest.mark.proves("mcp.tool.qc-needs-feature", "mcp.qc-off.not-listed")
def test_tools_of_a_feature_that_the_account_lacks_are_not_there(new_account: Callable[..., Account]) -> None:
    account = new_account(features=["chat"])
    lacking = set().union(*OF_FEATURES.values())
    listed = [tool["name"] for tool in rpc(account, "tools/list")["result"]["tools"]]
    assert listed == [name for name in TOOLS if name not in lacking]
    for name in lacking:
        assert refusal(account, name) == f"tool not found: {name}"
    with_quality = new_account(features=["chat", "qc"])
    listed = [tool["name"] for tool in rpc(with_quality, "tools/list")["result"]["tools"]]
    assert listed == [name for name in TOOLS if name not in lacking - OF_FEATURES["qc"]]
