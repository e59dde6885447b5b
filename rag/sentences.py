"""Where Russian and English sentences end, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Abbreviations that a name, number or noun follows: a sentence never ends with them.
_NEVER_LAST = frozenset(
    "т.е т.к т.н т.о ул пл пер пр-т просп наб бул ш д кв корп стр оф эт обл р-н пос дер с п пп ст ч гл разд прил рис табл "
    "см ср напр тел доб им св акад проф доц канд г-н г-жа гр тов инж зам зав ред сост изд англ рус лат нем фр "
    "mr mrs ms dr prof st vs e.g i.e no nos fig eq cf pp vol ch sec gen rep sen hon rev capt lt col mt approx dept".split()
)
# Abbreviations that may end a sentence: they do where a capital letter follows.
_CAPITAL = re.compile(r"[A-ZА-ЯЁ]")
_END = re.compile(
    r"(?P<before>[^\s.!?…]*(?:\.[^\s.!?…]+)*)(?P<mark>[.!?…]+)(?P<closing>[\"'»”’)\]]*)(?P<space>\s+)|[。！？]+"
)
_STARTS_SENTENCE = re.compile(r"[\"'«“„(\[—–-]*\s*[A-ZА-ЯЁ0-9]")
_NUMBERED = re.compile(r"\(?\d{1,3}(?:\.\d{1,3})*")
_OPENING = "\"'«“„(["


def sentence_ends(text: str) -> Iterator[int]:
    """Offsets just behind each sentence's last mark, in order; the end of the text itself is not among them."""
    for match in _END.finditer(text):
        if match["mark"] is None:
            if match.end() < len(text):
                yield match.end()
        elif match.end() < len(text) and _is_end(text, match):
            yield match.end("closing")


def _is_end(text: str, match: re.Match[str]) -> bool:
    if not _STARTS_SENTENCE.match(text, match.end()):
        return False
    if match["mark"] != "." or match["closing"]:
        return True
    word = match["before"].lstrip(_OPENING)
    if word.lower() in _NEVER_LAST:
        return False
    if len(word) == 1 and word.isalpha():
        # An initial, or a year's "г.": "А. Петров" and "г. Москва" go on, "в 2024 г. Цена" does not.
        after_number = text[: match.start()].rstrip()[-1:].isdigit()
        return word in "гвр" and after_number and bool(_CAPITAL.match(text, match.end()))
    # "1. " or "2.3. " at the beginning of a line is a number of a list.
    return not (_NUMBERED.fullmatch(word) and text[: match.start()].rpartition("\n")[2].strip() == "")
