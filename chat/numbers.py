"""Numbers that an answer states and its sources lack."""

from __future__ import annotations

from chat.citations import CITATION
from rag import numbers
from rag.numbers import numbers_in

__all__ = ["numbers_in", "unsupported_numbers"]


def unsupported_numbers(answer: str, allowed: set[str]) -> list[str]:
    """`rag.numbers.unsupported_numbers`; citations do not count."""
    return numbers.unsupported_numbers(CITATION.sub(" ", answer), allowed)
