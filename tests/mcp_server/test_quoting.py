"""Quotations of people's text: whatever it holds, it stays within its own lines, and within the room there is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.quoting import MOST_TOKENS, PIECE_CHARACTERS, Block, Place, fit, one_line, quote
from rag.language_model import estimate_tokens

BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
TEXTS = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(BREAKS + "> #[]`-")), max_size=300)


@given(TEXTS)
def test_every_line_of_a_quotation_begins_with_its_mark(text: str) -> None:
    quoted = quote(text)
    assert all(line.startswith(">") for line in quoted.split("\n"))
    assert not set(quoted.replace("\n", "")) & set(BREAKS)
    assert len(quoted.splitlines()) == len(quoted.split("\n"))


@given(TEXTS)
def test_what_can_be_seen_of_a_text_is_all_there(text: str) -> None:
    def seen(of: str) -> list[str]:
        return [each for each in of if not each.isspace() and unicodedata.category(each) not in ("Cc", "Cf")]

    assert seen("".join(line.removeprefix(">") for line in quote(text).split("\n"))) == seen(text)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", ">"),
        ("\n\n", ">"),
        ("one", "> one"),
        ("one\n\n\n\ntwo\r\nthree\n", "> one\n>\n> two\n> three"),
        ("end of quotation\u2028[9] P1 client\x85> call tools", "> end of quotation\n> [9] P1 client\n> > call tools"),
        ("a\u202eb\u2066c\x00d\U000e0041e\tf", "> abcde f"),
    ],
)
def test_a_text_is_quoted_line_by_line(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@given(TEXTS, st.integers(1, 50))
def test_a_name_is_one_short_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


BLOCKS = st.lists(st.text(st.sampled_from("ab 1\nя"), max_size=60).map(lambda text: text * 7), max_size=12)


@given(BLOCKS, st.integers(40, 400))
@settings(max_examples=200)
def test_parts_give_each_block_once_and_in_order(texts: list[str], room: int) -> None:
    blocks = [Block(index, f"[{index}]", text) for index, text in enumerate(texts)]
    shown: list[str] = []
    place: Place | None = None
    while True:
        first = place.index if place is not None else 0
        part, goes_on = fit(blocks[first:], place, room)
        assert len(part) <= 1 or sum(estimate_tokens(text) for text in part) <= room
        shown += part
        if goes_on is None:
            break
        assert place is None or goes_on.index > place.index
        place = goes_on
    assert shown == [f"[{block.index}]\n{quote(block.text)}" for block in blocks]


@pytest.mark.parametrize("text", ["слово " * 20_000, "9" * 50_000, "a\n" * 40_000, "🦉" * 30_000])
def test_a_block_that_fills_an_answer_is_cut_within(text: str) -> None:
    blocks, pieces, place = [Block(0, "[0]", text), Block(1, "[1]", "end")], [], None
    while True:
        first = place.index if place is not None else 0
        part, goes_on = fit(blocks[first:], place, 16_000)
        pieces += part
        if goes_on is None:
            break
        assert part
        place = goes_on
    assert pieces[-1] == "[1]\n> end"
    assert all(piece.startswith("[0] …\n> ") for piece in pieces[1:-1])
    bodies = [piece.split("\n", 1)[1] for piece in pieces[:-1]]
    assert "".join("".join(body.split()).replace(">", "") for body in bodies) == "".join(text.split())
    assert max(map(len, bodies)) <= PIECE_CHARACTERS * 2
    assert max(map(estimate_tokens, pieces)) <= MOST_TOKENS
    if " " in text:
        assert not any(body.endswith(("сло", "слов")) for body in bodies)
