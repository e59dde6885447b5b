"""Numbers of freight containers by ISO 6346: the owner's letters, that of the category, six digits and one to check."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[A-Z]{3}[UJZ]\d{7}")
# What a reader takes for another in a place where only letters, or only digits, can stand.
_AS_LETTERS = str.maketrans("0158", "OISB")
_AS_DIGITS = str.maketrans("OQDIZSB", "0001258")


def _values() -> dict[str, int]:
    """The letters' values: 10 to 38 without the multiples of 11."""
    numbers = (number for number in range(10, 39) if number % 11)
    return {letter: next(numbers) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


_VALUES = _values()


def check_digit(prefix: str) -> int:
    """Of the first ten characters, upper case."""
    total = sum((_VALUES.get(character) or int(character)) << place for place, character in enumerate(prefix))
    return total % 11 % 10


def read_container_number(text: str) -> str | None:
    """The number in what a reader made of it, with mistaken letters and digits put right; None where there is none
    whose check digit fits."""
    kept = re.sub(r"[^A-Z0-9]", "", text.upper())
    for start in range(len(kept) - 10):
        piece = kept[start : start + 11]
        number = piece[:4].translate(_AS_LETTERS) + piece[4:].translate(_AS_DIGITS)
        if _NUMBER.fullmatch(number) and check_digit(number[:10]) == int(number[10]):
            return number
    return None
