"""What vehicles' plates can look like: Russia's by GOST R 50577, and common ones of Europe.

A reader takes O for 0 and 8 for B; a format says where letters and where digits stand, so that such mistakes can be put
right. In a pattern L is a letter, D a digit, R a digit of the region, and all else stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

RUSSIAN_LETTERS = "ABEKMHOPCTYX"
"""Those that look alike in both alphabets; plates are kept with the Latin ones."""
_CYRILLIC = str.maketrans("АВЕКМНОРСТУХ", RUSSIAN_LETTERS)
_TO_LETTER = str.maketrans("0158426", "OISBAZG")
_TO_DIGIT = str.maketrans("OQDUIZSBAG", "0000125846")
# Of these only some are letters of a Russian plate.
_TO_RUSSIAN = str.maketrans("0648DQNVW", "OBABOOHYM")


@dataclass(frozen=True, slots=True)
class PlateFormat:
    country: str  # ISO 3166-1 alpha-2
    kind: str
    pattern: str
    letters: str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Plate:
    """`changes`: how many characters were taken for others."""

    text: str
    country: str
    kind: str
    changes: int


_UK_LETTERS = "ABCDEFGHJKLMNOPRSTUVWXYZ"  # neither I nor Q
_SPANISH_LETTERS = "BCDFGHJKLMNPRSTVWXYZ"
_ITALIAN_LETTERS = "ABCDEFGHJKLMNPRSTVWXYZ"
_FRENCH_LETTERS = "ABCDEFGHJKLMNPQRSTVWXYZ"

FORMATS = (
    PlateFormat("RU", "car", "LDDDLLRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "car", "LDDDLLRRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "taxi", "LLDDDRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "taxi", "LLDDDRRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "trailer", "LLDDDDRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "trailer", "LLDDDDRRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "motorcycle", "DDDDLLRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "police", "LDDDDRR", RUSSIAN_LETTERS),
    PlateFormat("GB", "car", "LLDDLLL", _UK_LETTERS),
    PlateFormat("ES", "car", "DDDDLLL", _SPANISH_LETTERS),
    PlateFormat("IT", "car", "LLDDDLL", _ITALIAN_LETTERS),
    PlateFormat("FR", "car", "LLDDDLL", _FRENCH_LETTERS),
    PlateFormat("NL", "car", "LLDDDL"),
    PlateFormat("NL", "car", "LDDDLL"),
    PlateFormat("NL", "car", "DLLLDD"),
    PlateFormat("NL", "car", "DDLLLD"),
    PlateFormat("NL", "car", "LLLDDL"),
    PlateFormat("BE", "car", "DLLLDDD"),
    PlateFormat("PT", "car", "LLDDLL"),
    PlateFormat("SE", "car", "LLLDDD"),
    PlateFormat("LT", "car", "LLLDDD"),
    PlateFormat("FI", "car", "LLLDDD"),
    PlateFormat("HU", "car", "LLLLDDD"),
    PlateFormat("HR", "car", "LLDDDLL"),
    PlateFormat("HR", "car", "LLDDDDLL"),
    PlateFormat("CZ", "car", "DLDDDDD"),
    PlateFormat("SK", "car", "LLDDDLL"),
    PlateFormat("EE", "car", "DDDLLL"),
    PlateFormat("LV", "car", "LLDDDD"),
    PlateFormat("NO", "car", "LLDDDDD"),
    PlateFormat("DK", "car", "LLDDDDD"),
    *(
        PlateFormat("DE", "car", "L" * (place + letters) + "D" * digits)
        for place in (1, 2, 3)
        for letters in (1, 2)
        for digits in (2, 3, 4)
        if place + letters + digits <= 8
    ),
    *(PlateFormat("PL", "car", "L" * letters + "DDDDD") for letters in (2, 3)),
)
_REGION = re.compile(r"0[1-9]|[1-9]\d{1,2}")


def normal_text(text: str) -> str:
    """Upper case Latin letters and digits alone; Cyrillic ones that look alike are taken over."""
    return re.sub(r"[^A-Z0-9]", "", text.upper().translate(_CYRILLIC))


def read_plate(text: str, *, countries: tuple[str, ...] | None = None) -> Plate | None:
    """The plate in what a reader made of a picture: the format that takes the fewest changes, of equals the first in
    FORMATS. None where nothing fits. `countries` leaves the others out."""
    kept = normal_text(text)
    fitting = (
        Plate(changed, form.country, form.kind, changes)
        for form in FORMATS
        if countries is None or form.country in countries
        for changed, changes in _fitted(kept, form)
    )
    return min(fitting, key=lambda plate: plate.changes, default=None)


def _fitted(text: str, form: PlateFormat) -> Iterator[tuple[str, int]]:
    if len(text) != len(form.pattern):
        return
    is_russian = form.letters is RUSSIAN_LETTERS
    found = []
    for character, wanted in zip(text, form.pattern, strict=True):
        if wanted == "L":
            if character not in form.letters:
                character = character.translate(_TO_RUSSIAN if is_russian else _TO_LETTER)
            if character not in form.letters:
                return
        else:
            character = character.translate(_TO_DIGIT)
            if not character.isdigit():
                return
        found.append(character)
    changed = "".join(found)
    if "R" in form.pattern and not _REGION.fullmatch(changed[form.pattern.index("R") :]):
        return
    digits = "".join(character for character, wanted in zip(changed, form.pattern, strict=True) if wanted == "D")
    if is_russian and not digits.strip("0"):
        return  # no series begins with 000
    yield changed, sum(before != after for before, after in zip(text, changed, strict=True))
