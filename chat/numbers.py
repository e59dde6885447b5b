"""Numbers that an answer states and its sources lack."""

from __future__ import annotations

from chat.citations import CITATION
from rag import numbers
from rag.numbers import numbers_in

__all__ = ["numbers_in", "unsupported_numbers"]


def unsupported_numbers(answer: str, allowed: set[str]) -> list[str]:
    """Numbers in figures and in words that `answer` states and `allowed` lacks; citations do not count."""
    plain = CITATION.sub(" ", answer)
    return [*numbers.unsupported_numbers(plain, allowed), *numbers.unsupported_spelled(plain, allowed)]
