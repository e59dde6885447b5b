"""The built-in engine: rules and embedding similarity, for a child process, without a language model.

What it makes is marked as its own, and what it cannot know stays empty. The server imports this module, and only the
child the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import BUILT_IN, Fact, Sides, Summary, Vote
from ingest.analysis.safe_texts import withheld_texts
from rag.embedding import EmbedderSpec, embed_queries_of


@dataclass(frozen=True, slots=True)
class Judged:
    """`ranked` are the scenarios, best first, with their scores; `votes` go by criterion."""

    sides: Sides
    ranked: tuple[tuple[str, float], ...]
    votes: dict[str, Vote]


def summarise(conversation: Conversation, spec: EmbedderSpec | None) -> tuple[Sides, Summary]:
    """Who is who, and what the conversation comes to. A report by somebody's own prompt is beyond rules."""
    from ingest.analysis.rules.bindings import bind
    from ingest.analysis.rules.categories import tell_category
    from ingest.analysis.rules.categories_evidence import gather
    from ingest.analysis.rules.commitments import find_commitments
    from ingest.analysis.rules.digest import digest
    from ingest.analysis.rules.items import find_items
    from ingest.analysis.rules.sides import tell_sides

    embed = partial(embed_queries_of, spec) if spec else None
    sides = tell_sides(conversation)
    evidence = gather(conversation, sides, embed)
    category = tell_category(conversation, sides, embed, evidence).code
    items = find_items(conversation, sides, category, embed, evidence)
    commitments = find_commitments(conversation, sides)
    text = digest(conversation, sides, category, items, commitments, embed, evidence) or None
    found = Summary(
        text=text,
        category=category,
        items=items,
        commitments=commitments,
        bindings=bind(conversation, sides),
        engines=dict.fromkeys(("text", "category", "items", "commitments", "bindings"), BUILT_IN),
    )
    return sides, found


def evaluate(
    conversation: Conversation, category: str | None, codes: Sequence[str], spec: EmbedderSpec | None
) -> Judged:
    """Which scenarios fit, and the rules' votes on criteria."""
    from ingest.analysis.rules.criteria import judge
    from ingest.analysis.rules.scenarios import rank_scenarios
    from ingest.analysis.rules.sides import tell_sides

    embed = partial(embed_queries_of, spec) if spec else None
    sides = tell_sides(conversation)
    ranked = rank_scenarios(conversation, sides, category, embed)
    return Judged(sides, tuple(ranked), judge(conversation, sides, codes))


def remember(conversation: Conversation) -> tuple[Sides, tuple[Fact, ...]]:
    """What is worth remembering of the clients. Labels are bound by now, as far as they can be."""
    from ingest.analysis.rules.bindings import bind
    from ingest.analysis.rules.facts import find_facts
    from ingest.analysis.rules.sides import tell_sides

    sides = tell_sides(conversation)
    return sides, find_facts(conversation, sides, bind(conversation, sides))


def withhold(conversation: Conversation) -> dict[int, str]:
    """For `Analyst`: the texts, by the turns' `idx`, from which sentences that speak to a language model are withheld.
    It takes seconds where somebody writes a megabyte of them."""
    return withheld_texts(conversation)
