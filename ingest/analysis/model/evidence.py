"""What a model's word must rest on: quotations of the right person, numbers that were said, words in common."""

from __future__ import annotations

from collections.abc import Collection

from ingest.analysis.catalogs import CRITERIA
from ingest.analysis.findings import Quote, Value, Vote
from ingest.analysis.hostile import is_instruction
from ingest.analysis.model.schemas import CriterionAnswer
from ingest.analysis.safe_texts import SafeTexts
from rag.numbers import numbers_in, unsupported_numbers
from rag.text_terms import terms

TRUE_BY_ABSENCE = frozenset({"official_contacts_only"})
"""True where nothing to the contrary was said; what has to be shown is the breach."""
BREACH_WINS = frozenset({"official_contacts_only", "aggression_response"})
"""A breach that words prove outweighs any part of the conversation where all went well."""
_LEAST_IN_COMMON = 0.34


def prove(safe: SafeTexts, text: str, labels: Collection[str] | None) -> Quote | None:
    """The turn's own words behind a model's quotation; none where they are of a sentence that speaks to models."""
    quote = safe.quote(text, labels)
    return None if quote is None or is_instruction(quote.text) else quote


def prove_vote(safe: SafeTexts, answer: CriterionAnswer, labels: Collection[str], engine: str) -> Vote | None:
    """The vote that an answer comes to; None where its type is not the criterion's or its evidence is not there."""
    value = _typed(answer.code, answer.value)
    if value is None:
        return Vote(engine, "not_applicable") if answer.value is None else None
    quote = prove(safe, answer.quote, labels)
    if quote is None and (answer.quote.strip() or _needs_quote(answer.code, value)):
        return None
    return Vote(engine, "decided", value, quote)


def is_supported(content: str, quote: str) -> bool:
    """Whether a fact says what its quotation says, as far as words and numbers tell."""
    if not content.strip() or is_instruction(content) or unsupported_numbers(content, numbers_in([quote])):
        return False
    stated = set(terms(content))
    return bool(stated) and len(stated & set(terms(quote))) >= _LEAST_IN_COMMON * len(stated)


def _typed(code: str, value: bool | float | None) -> Value:
    """The value, where it has the criterion's type and lies within its bounds."""
    criterion = CRITERIA.get(code)
    if criterion is None or value is None:
        return None
    if criterion.value_type == "binary":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not 0 <= value <= (criterion.most if criterion.most is not None else 10_000):
        return None
    return float(value)


def _needs_quote(code: str, value: Value) -> bool:
    if isinstance(value, bool):
        return value is (code not in TRUE_BY_ABSENCE)
    return bool(value)
