"""The bound on an answer: what is quoted is cut, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from pydantic import BaseModel
from pydantic_core import to_json

from mcp_server.bounds import MOST_TOKENS, bounded
from mcp_server.cards.frame import Words, part
from mcp_server.quoting import Block, quote
from mcp_server.readable import readable
from mcp_server.registry import ToolContext
from mcp_server.tools.shapes import QUOTED, Quoted
from rag.language_model import estimate_tokens


class Item(BaseModel):
    id: str
    title: Quoted
    names: list[Quoted]
    note: Quoted | None = None
    status: str


class Page(BaseModel):
    text_is: str = QUOTED
    items: list[Item]
    first: Item | None = None
    next_cursor: str | None


def page_of(text: str, items: int = 50) -> Page:
    item = Item(id="x" * 36, title=text[:300], names=[text[:200]] * 4, note=text, status="success " * 5)
    return Page(items=[item] * items, first=item, next_cursor="cursor " * 20)


@pytest.mark.parametrize(
    "text", ["слово " * 200, "1234567890" * 120, '"\\\n' * 400, "щ" * 1_200, "🦉 " * 600, "ქ" * 1_200]
)
def test_a_page_of_the_longest_texts_is_cut_to_the_bound(text: str) -> None:
    page = page_of(text)
    cut = bounded(page)
    assert estimate_tokens(to_json(cut).decode()) <= MOST_TOKENS < estimate_tokens(to_json(page).decode())
    assert isinstance(cut, Page)
    assert cut.first is not None
    for before, after in zip([*page.items, page.first], [*cut.items, cut.first], strict=True):
        assert before is not None
        assert (after.id, after.status) == (before.id, before.status)
        assert after.note is not None
        assert after.note.endswith(" …")
        assert text.startswith(after.note[:-2])
        assert [name[:-2] for name in after.names] == [text[: len(name) - 2] for name in after.names]
    assert (cut.next_cursor, cut.text_is) == (page.next_cursor, QUOTED)


def test_what_fits_is_as_it_was() -> None:
    page = page_of("слово " * 20)
    assert bounded(page) is page


@pytest.mark.parametrize("text", ["12\n" * 400, "ab\n\n" * 300, "1234567890" * 120])
def test_its_readable_form_keeps_the_bound_too(text: str) -> None:
    cut = bounded(page_of(text, items=24), MOST_TOKENS // 2)
    assert estimate_tokens(readable(cut)) <= MOST_TOKENS // 2
    assert estimate_tokens(to_json(cut).decode()) <= MOST_TOKENS // 2


@pytest.mark.parametrize("text", ["12 345; " * 500, "ქართული " * 500, "слово " * 600])
def test_what_stands_before_a_long_text_leaves_room_for_it(text: str) -> None:
    head = ["# Call", *(f"## Part {number}\n{quote(text)}" for number in range(12))]
    words = Words(cast(ToolContext, SimpleNamespace(tenant=SimpleNamespace(language="en"))))
    card = part(words, head, [Block(0, "## Text", text)], None, "parley://communications/1", most_tokens=10_000)
    assert card is not None
    assert estimate_tokens(card.text) <= 10_000
    assert all(f"## Part {number}" in card.text for number in range(12))
