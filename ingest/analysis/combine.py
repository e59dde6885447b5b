"""Both engines together, field by field: rules check what a model says, and the better by measurement decides."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ingest.analysis.catalogs import CATEGORIES
from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import BUILT_IN, Commitment, Fact, Judgement, KeyItem, Quote, Sides, Summary, Vote
from ingest.analysis.hostile import is_instruction
from ingest.analysis.model.evidence import prove
from ingest.analysis.model.schemas import CommitmentAnswer, ItemAnswer
from ingest.analysis.safe_texts import SafeTexts
from rag.numbers import numbers_in, unsupported_numbers

FIELDS = frozenset({"text", "user_summary", "category", "items", "commitments", "criteria", "facts"})
LOCAL_FIELDS = frozenset({"user_summary"})
"""What the small local model is trusted with: the report, which nobody else can write. Of its summaries of nine
conversations five could be kept, and those confused who had said what; the rest is the built-in engine's, too."""

_AROUND = 2000  # characters on each side of a quotation


NEEDS_AGGRESSION = frozenset({"aggression_response"})
"""Null where the client was civil, whatever a model makes of the answer."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A model's summary before anything of it is believed. `category` comes with its quotation."""

    text: str
    category: tuple[str, str] | None = None
    items: tuple[ItemAnswer, ...] = ()
    commitments: tuple[CommitmentAnswer, ...] | None = None


def summary(
    conversation: Conversation,
    sides: Sides,
    built_in: Summary,
    draft: Draft | None,
    *,
    engine: str,
    fields: Collection[str],
    user_summary: str | None = None,
    tokens: int = 0,
    safe: SafeTexts | None = None,
) -> Summary:
    """Of both engines. What the model is not trusted with, did not give or cannot prove is the built-in engine's. Who
    has the conversation's `safe` texts already gives them."""
    safe = safe or SafeTexts(conversation)
    engines = dict.fromkeys(("text", "category", "items", "commitments", "bindings"), BUILT_IN)
    text, category, items, commitments = built_in.text, built_in.category, built_in.items, built_in.commitments
    if draft is not None and "text" in fields:
        text, engines["text"] = draft.text, engine
    if draft is not None and "category" in fields and _is_justified(safe, draft.category):
        assert draft.category is not None
        category, engines["category"] = draft.category[0], engine
    if category != built_in.category:
        items = tuple(item for item in items if category and item.key in CATEGORIES[category].keys)
    if draft is not None and "items" in fields and (proven := _items(safe, category, draft.items)):
        items, engines["items"] = proven, engine
    if draft is not None and "commitments" in fields and draft.commitments is not None:
        kept = _commitments(safe, sides, built_in.commitments, draft.commitments)
        if kept or not draft.commitments:  # a list of which nothing is true says nothing
            commitments, engines["commitments"] = kept, engine
    if user_summary is not None:
        engines["user_summary"] = engine
    return Summary(text, category, items, commitments, built_in.bindings, user_summary, engines, tokens)


def judge(
    codes: Sequence[str],
    rules: Mapping[str, Vote],
    model: Mapping[str, Vote],
    *,
    deterministic: Collection[str],
    fields: Collection[str],
) -> tuple[Judgement, ...]:
    """Rules decide what is deterministic, and what the model leaves open; a trusted model the rest. All votes stay."""
    return tuple(
        _judgement(code, rules.get(code), model.get(code) if "criteria" in fields else None, code in deterministic)
        for code in codes
    )


def engines_of(judgements: Sequence[Judgement]) -> dict[str, str]:
    """By criterion, whose vote it is."""
    return {judgement.code: judgement.vote.engine for judgement in judgements}


def facts(built_in: Sequence[Fact], model: Sequence[Fact], *, fields: Collection[str]) -> tuple[Fact, ...]:
    """The model's facts, and those of the rules that rest on other words."""
    if "facts" not in fields:
        return tuple(built_in)
    keys = {(fact.person_id, fact.key) for fact in model}
    others = [
        fact
        for fact in built_in
        if (fact.person_id, fact.key) not in keys and not any(_share_words(fact.quote, other.quote) for other in model)
    ]
    return (*model, *others)


def _judgement(code: str, rule: Vote | None, model: Vote | None, is_deterministic: bool) -> Judgement:
    votes = tuple(vote for vote in (rule, model) if vote is not None)
    no_occasion = code in NEEDS_AGGRESSION and rule is not None and rule.state == "not_applicable"
    order = [rule, model] if is_deterministic or no_occasion else [model, rule]
    open_vote = Vote(BUILT_IN, "undecided")
    decided = next((vote for vote in order if vote is not None and vote.state != "undecided"), None)
    return Judgement(code, decided or (votes[0] if votes else open_vote), votes)


def _is_justified(safe: SafeTexts, category: tuple[str, str] | None) -> bool:
    return category is not None and category[0] in CATEGORIES and prove(safe, category[1], None) is not None


def _items(safe: SafeTexts, category: str | None, answers: Sequence[ItemAnswer]) -> tuple[KeyItem, ...]:
    keys = CATEGORIES[category].keys if category in CATEGORIES else ()
    found: dict[tuple[str, str], KeyItem] = {}
    for answer in answers:
        content = " ".join(answer.content.split())
        quote = prove(safe, answer.quote, None) if answer.key in keys else None
        if quote is None or not content or is_instruction(content):
            continue
        if unsupported_numbers(content, numbers_in([_turn_text(safe.conversation, quote)])):
            content = quote.text
        found.setdefault((answer.key, content.casefold()), KeyItem(answer.key, content, quote))
    return tuple(found.values())


def _commitments(
    safe: SafeTexts, sides: Sides, ruled: Sequence[Commitment], answers: Sequence[CommitmentAnswer]
) -> tuple[Commitment, ...]:
    """The model's promises in words of employees. Where the rules found the same one, its deadline is theirs."""
    kept: list[Commitment] = []
    for answer in answers:
        quote = prove(safe, answer.quote, sides.employees)
        content = " ".join(answer.content.split())
        if quote is None or any(_share_words(quote, other.quote) for other in kept):
            continue
        if not content or is_instruction(content) or _says_more(content, safe.conversation, quote):
            content = quote.text
        same = next((one for one in ruled if _share_words(quote, one.quote)), None)
        if same is not None and same.deadline is not None:
            due: tuple[str | None, str | None] = (same.deadline, same.deadline_text)
        else:
            due = _deadline(safe.conversation, quote, answer.deadline)
        kept.append(Commitment(content, quote, *due))
    return tuple(kept)


def _deadline(conversation: Conversation, quote: Quote, words: str) -> tuple[str | None, str | None]:
    """Of the words of the promise, else of those that the model says are its deadline, if they stand in that turn."""
    from ingest.analysis.rules.deadlines import find_deadline

    turn = next(turn for turn in conversation.turns if turn.idx == quote.idx and turn.label == quote.label)
    said_at = turn.at or conversation.occured_at
    found = find_deadline(quote.text, said_at, conversation.zone, conversation.language)
    if found is None and words.strip() and (at := turn.text.casefold().find(words.strip().casefold())) >= 0:
        said = turn.text[at : at + len(words.strip())]
        found = find_deadline(said, said_at, conversation.zone, conversation.language)
    return (found.iso, found.text) if found is not None else (None, None)


def _says_more(content: str, conversation: Conversation, quote: Quote) -> bool:
    return bool(unsupported_numbers(content, numbers_in([_turn_text(conversation, quote)])))


def _turn_text(conversation: Conversation, quote: Quote) -> str:
    """The turn that is quoted; of a huge one what is said around the quotation."""
    text = next(turn.text for turn in conversation.turns if turn.idx == quote.idx and turn.label == quote.label)
    at = text.find(quote.text)
    return text[max(at - _AROUND, 0) : at + len(quote.text) + _AROUND]


def _share_words(one: Quote, other: Quote) -> bool:
    """Whether both quote the same words of one turn, one of them perhaps more of it."""
    if (one.idx, one.label) != (other.idx, other.label):
        return False
    first, second = one.text.casefold(), other.text.casefold()
    if first in second or second in first:
        return True
    words = set(first.split())
    return len(words & set(second.split())) > 0.5 * min(len(words), len(set(second.split())))
