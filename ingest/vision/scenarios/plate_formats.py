"""What vehicles' plates can look like: Russia's by GOST R 50577, and common ones of Europe.

A reader takes O for 0 and 8 for B; a format says where letters and where digits stand, so that a reader can be told
what may be there. In a pattern L is a letter, D a digit, R a digit of the region, S what ends a German plate of an
electric or an old car. What several countries write alike is listed for each, so that it is taken for none of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

RUSSIAN_LETTERS = "ABEKMHOPCTYX"
"""Those that look alike in both alphabets; plates are kept with the Latin ones."""
_CYRILLIC = str.maketrans("АВЕКМНОРСТУХ", RUSSIAN_LETTERS)
_DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class PlateFormat:
    country: str  # ISO 3166-1 alpha-2
    kind: str
    pattern: str
    letters: str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    beginning: str = ""  # a regular expression of how all of them begin, where the pattern does not say it

    def allowed(self, wanted: str) -> str:
        """The characters that may stand where the pattern has `wanted`."""
        return {"L": self.letters, "S": "EH"}.get(wanted, _DIGITS)

    @property
    def shown(self) -> str:
        """Letters as L, digits as D."""
        return self.pattern.replace("R", "D").replace("S", "L")


_UK_LETTERS = "ABCDEFGHJKLMNOPRSTUVWXYZ"  # neither I nor Q
_SPANISH_LETTERS = "BCDFGHJKLMNPRSTVWXYZ"
_ITALIAN_LETTERS = "ABCDEFGHJKLMNPRSTVWXYZ"
_FRENCH_LETTERS = "ABCDEFGHJKLMNPQRSTVWXYZ"
_BULGARIAN_LETTERS = "ABCEHKMOPTXY"  # those that look alike in both alphabets, as the Ukrainian ones
_UKRAINIAN_LETTERS = "ABCEHIKMOPTX"
_CANTONS = "AG|AI|AR|BE|BL|BS|FR|GE|GL|GR|JU|LU|NE|NW|OW|SG|SH|SO|SZ|TG|TI|UR|VD|VS|ZG|ZH"
_COUNTIES_OF_ROMANIA = (
    "AB|AG|AR|BC|BH|BN|BR|BT|BV|BZ|CJ|CL|CS|CT|CV|DB|DJ|GJ|GL|GR|HD|HR|IF|IL|IS|MH|MM|MS|NT|OT|PH|SB|SJ|SM|SV|TL|TM|TR"
    "|VL|VN|VS"
)
_COUNTIES_OF_IRELAND = "C|CE|CN|CW|D|DL|G|KE|KK|KY|L|LD|LH|LM|LS|MH|MN|MO|OY|RN|SO|T|W|WH|WW|WX"  # since 2014

FORMATS = (
    PlateFormat("RU", "car", "LDDDLLRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "car", "LDDDLLRRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "taxi", "LLDDDRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "taxi", "LLDDDRRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "trailer", "LLDDDDRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "trailer", "LLDDDDRRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "motorcycle", "DDDDLLRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "transit", "LLDDDLRR", RUSSIAN_LETTERS),
    PlateFormat("RU", "transit", "LLDDDLRRR", RUSSIAN_LETTERS),
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
    *(
        PlateFormat("DE", "electric or historic car", "L" * letters + "D" * digits + "S")
        for letters in (2, 3, 4, 5)
        for digits in (2, 3, 4)
        if letters + digits < 8
    ),
    *(PlateFormat("PL", "car", "L" * letters + "DDDDD") for letters in (2, 3)),
    *(PlateFormat("AT", "car", pattern) for pattern in ("LDDDDDL", "LDDDDLL", "LLDDDL", "LLDDDLL", "LLDDDDL")),
    *(PlateFormat("CH", "car", "LL" + "D" * digits, beginning=_CANTONS) for digits in (3, 4, 5, 6)),
    *(
        PlateFormat(
            "IE", "car", "DDD" + "L" * letters + "D" * digits, beginning=rf"\d\d[12](?:{_COUNTIES_OF_IRELAND})\d"
        )
        for letters in (1, 2)
        for digits in (3, 4, 5)
    ),
    PlateFormat("RO", "car", "LLDDLLL", beginning=_COUNTIES_OF_ROMANIA),
    PlateFormat("RO", "car", "LDDDLLL", beginning="B"),
    PlateFormat("RO", "car", "LDDLLL", beginning="B"),
    PlateFormat("BG", "car", "LDDDDLL", _BULGARIAN_LETTERS),
    PlateFormat("BG", "car", "LLDDDDLL", _BULGARIAN_LETTERS),
    PlateFormat("UA", "car", "LLDDDDLL", _UKRAINIAN_LETTERS),
)
_REGION = re.compile(r"0[1-9]|[1-9]\d{1,2}")


def normal_text(text: str) -> str:
    """Upper case Latin letters and digits alone; Cyrillic ones that look alike are taken over."""
    return re.sub(r"[^A-Z0-9]", "", text.upper().translate(_CYRILLIC))


def fits(text: str, form: PlateFormat) -> bool:
    """Whether the text, of capital letters and digits, is as the format has it."""
    if len(text) != len(form.pattern) or not re.match(form.beginning, text):
        return False
    if any(character not in form.allowed(wanted) for character, wanted in zip(text, form.pattern, strict=True)):
        return False
    if "R" in form.pattern and not _REGION.fullmatch(text[form.pattern.index("R") :]):
        return False
    digits = "".join(character for character, wanted in zip(text, form.pattern, strict=True) if wanted == "D")
    return form.country != "RU" or bool(digits.strip("0"))  # no series begins with 000
