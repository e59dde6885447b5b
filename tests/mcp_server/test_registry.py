"""The registry, and a snapshot of what a client is told of each tool: a change of it is seen in review.

`python -m tests.mcp_server.test_registry` writes the snapshots anew and prints about how many tokens each tool costs.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import BaseModel, Field

from mcp_server import protocol
from mcp_server.registry import Arguments, InvalidArguments, Registry, Tool, ToolContext, ToolError, ToolNotFound
from mcp_server.tools import make_registry
from mcp_server.tools.shapes import cursor_offset, make_cursor, open_cursor, shorten
from rag.language_model import estimate_tokens
from store.accounts import FEATURES, Tenant

SNAPSHOTS = Path(__file__).parent / "snapshots"
MOST_TOKENS = 6_000  # of all tools together


def tenant(*features: str) -> Tenant:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Tenant(
        id="t",
        client_id="c",
        integration_id=None,
        external_id=None,
        name="T",
        email=None,
        is_active=True,
        features=features,
        language="ru",
        time_zone="Europe/Moscow",
        widget_origins=(),
        pause_reason=None,
        allow_credit=False,
        tariff_version_id=None,
        webhook_url=None,
        retention_days=None,
        memory_enabled=True,
        qc_enabled=True,
        voices_enabled=False,
        camera_limit=4,
        camera_days=30,
        audio_days=None,
        paused_since=None,
        deleting_since=None,
        created_at=moment,
        updated_at=moment,
    )


def context(*features: str) -> ToolContext:
    return ToolContext(tenant=tenant(*features), database=cast(Any, None), retriever=cast(Any, None), public_url="")


class Word(Arguments):
    word: str = Field(min_length=1)
    times: int = 2


class Answer(BaseModel):
    text: str


def repeat(_: ToolContext, arguments: Word) -> Answer:
    return Answer(text=arguments.word * arguments.times)


def make(name: str = "repeat", feature: str | None = None) -> Tool:
    return Tool(name=name, title="R", description="D", arguments=Word, result=Answer, function=repeat, feature=feature)


def described() -> dict[str, dict[str, Any]]:
    """What tools/list says of each tool of the product in a version that has all of it."""
    return {
        tool.name: protocol.described(tool, "2025-11-25").model_dump(mode="json", by_alias=True, exclude_none=True)
        for tool in make_registry().list_tools(tenant(*FEATURES))
    }


def test_a_call_checks_its_arguments_and_gives_the_tools_result() -> None:
    registry = Registry([make()])
    assert registry.call(context(), "repeat", {"word": "ab"}) == Answer(text="abab")
    assert registry.call(context(), "repeat", {"word": "ab", "times": 1}) == Answer(text="ab")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (None, "word: Field required"),
        ({}, "word: Field required"),
        ({"word": ""}, "word: "),
        ({"word": 5}, "word: "),
        ({"word": "a", "times": "2"}, "times: "),
        ({"word": "a", "times": True}, "times: "),
        ({"word": "a", "times": 10.5}, "times: "),
        ({"word": "a", "times": "10.0"}, "times: "),
        ({"word": "a", "times": 1e400}, "times: "),
        ({"word": "a", "tenant_id": "t"}, "tenant_id: "),
        ({"word": float("nan")}, ""),
    ],
)
def test_arguments_that_do_not_match_are_named(arguments: dict[str, Any] | None, problem: str) -> None:
    with pytest.raises(InvalidArguments, match=f"invalid arguments of repeat: {problem}"):
        Registry([make()]).call(context(), "repeat", arguments)


def test_a_float_without_a_fraction_is_an_integer_as_in_json_schema() -> None:
    registry = Registry([make()])
    assert registry.call(context(), "repeat", {"word": "a", "times": 10.0}) == Answer(text="a" * 10)
    with pytest.raises(InvalidArguments, match="word: "):
        registry.call(context(), "repeat", {"word": 10.0})


def test_a_name_that_a_client_made_up_is_repeated_in_part() -> None:
    with pytest.raises(InvalidArguments) as caught:
        Registry([make()]).call(context(), "repeat", {"word": "a", "x" * 100_000: 1})
    assert len(str(caught.value)) < 200


def test_a_tool_of_a_feature_that_the_account_lacks_is_neither_listed_nor_called() -> None:
    registry = Registry([make("open"), make("scored", "qc")])
    assert [tool.name for tool in registry.list_tools(tenant())] == ["open"]
    assert [tool.name for tool in registry.list_tools(tenant("qc"))] == ["open", "scored"]
    assert registry.call(context("qc"), "scored", {"word": "a"}) == Answer(text="aa")
    for name in ("scored", "unknown"):
        with pytest.raises(ToolNotFound, match=f"tool not found: {name}"):
            registry.call(context(), name, {"word": "a"})


def test_two_tools_cannot_have_one_name() -> None:
    with pytest.raises(AssertionError, match="unique"):
        Registry([make(), make()])


class Listing(Arguments):
    word: str = ""
    limit: int = 10
    cursor: str | None = None


class Other(Listing):
    pass


def at(cursor: str | None, **arguments: Any) -> Listing:
    return Listing(cursor=cursor, **arguments)


def test_a_cursor_gives_back_what_was_put_in_and_no_other_is_taken() -> None:
    asked = Listing()
    assert cursor_offset(asked) == 0
    assert cursor_offset(at(make_cursor(asked, offset=7))) == 7
    assert open_cursor(at(make_cursor(asked, a=1, b="я")), "a", "b") == {"a": 1, "b": "я"}
    invalid = (make_cursor(asked, a=1), make_cursor(asked, offset=-1), make_cursor(asked, offset=1001))
    for wrong in ("", "x", "e30", "й", *invalid):
        with pytest.raises(ToolError, match="cursor"):
            cursor_offset(at(wrong))
    for value in (True, 1.0, "1", None):
        with pytest.raises(ToolError, match="cursor"):
            cursor_offset(at(make_cursor(asked, offset=value)))


def test_a_cursor_goes_on_in_its_own_list_alone() -> None:
    cursor = make_cursor(Listing(word="a"), offset=7)
    assert cursor_offset(at(cursor, word="a", limit=50)) == 7
    for other in (at(cursor), at(cursor, word="b"), Other(cursor=cursor, word="a")):
        with pytest.raises(ToolError, match="leave it out to begin again"):
            cursor_offset(other)


def test_a_text_is_cut_between_words_and_the_cut_is_shown() -> None:
    assert shorten("one two three", 13) == "one two three"
    assert shorten("one two three", 9) == "one two …"
    assert shorten("x" * 20, 5) == "xxxxx …"


@pytest.mark.parametrize("name", sorted(described()))
def test_a_tool_is_described_as_its_snapshot_says(name: str) -> None:
    kept = json.loads((SNAPSHOTS / f"{name}.json").read_text(encoding="utf-8"))
    assert described()[name] == kept, "write it anew: python -m tests.mcp_server.test_registry"


def test_every_snapshot_is_of_a_tool() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.json")} == set(described())


def test_each_description_names_the_tool_for_what_this_one_is_not() -> None:
    names = set(described())
    for name, tool in described().items():
        assert any(other in tool["description"] for other in names - {name}), name


def test_the_descriptions_stay_small() -> None:
    costs = {name: _tokens(tool) for name, tool in described().items()}
    print(f"\ntokens of the tools' descriptions, about: {costs}, together {sum(costs.values())}")
    assert sum(costs.values()) <= MOST_TOKENS


def _tokens(tool: dict[str, Any]) -> int:
    return estimate_tokens(json.dumps(tool, ensure_ascii=False, separators=(",", ":")))  # as it is sent


if __name__ == "__main__":
    for stale in SNAPSHOTS.glob("*.json"):
        stale.unlink()
    for tool_name, tool in described().items():
        text = json.dumps(tool, ensure_ascii=False, indent=2)
        (SNAPSHOTS / f"{tool_name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{tool_name}: about {_tokens(tool)} tokens")
