"""What a model is asked to answer. Strict: nothing is converted; what the words prove is checked afterwards."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rag.structured import StrictAnswer

Short = Annotated[str, Field(max_length=400)]
QuoteText = Annotated[str, Field(max_length=1000)]
SummaryField = Annotated[str, Field(min_length=1, max_length=4000, pattern=r"\S")]
CategoryCode = Literal["no_contact", "sales", "renewal", "support", "billing", "supply", "complaint", "internal"]


class TextAnswer(StrictAnswer):
    summary: SummaryField


class ItemAnswer(StrictAnswer):
    key: Annotated[str, Field(max_length=40)]
    content: Short
    quote: QuoteText


class CommitmentAnswer(StrictAnswer):
    content: Short
    quote: QuoteText
    deadline: Short


class WholeAnswer(TextAnswer):
    category: CategoryCode
    category_quote: QuoteText


class SummaryAnswer(WholeAnswer):
    items: Annotated[tuple[ItemAnswer, ...], Field(max_length=30)]
    commitments: Annotated[tuple[CommitmentAnswer, ...], Field(max_length=60)]


class CriterionAnswer(StrictAnswer):
    code: Annotated[str, Field(max_length=60)]
    value: bool | float | None
    quote: QuoteText


class CriteriaAnswer(StrictAnswer):
    criteria: Annotated[tuple[CriterionAnswer, ...], Field(max_length=40)]


class FactAnswer(StrictAnswer):
    who: Annotated[str, Field(max_length=60)]
    key: Annotated[str, Field(max_length=80)]
    content: Short
    quote: QuoteText


class FactsAnswer(StrictAnswer):
    facts: Annotated[tuple[FactAnswer, ...], Field(max_length=40)]
