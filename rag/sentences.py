"""Where Russian and English sentences end, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Abbreviations that a name, number or noun follows: a sentence never ends with them.
_NEVER_LAST = frozenset(
    """
    т.е т.к т.н т.о ул пл пер пр-т просп наб бул ш д кв корп стр оф эт обл р-н пос дер с п пп ст ч гл разд прил рис
    табл см ср напр тел доб им св акад проф доц канд г-н г-жа гр тов инж зам зав ред сост изд англ рус лат нем фр
    mr mrs ms dr prof st vs e.g i.e no nos fig eq cf pp vol ch sec gen rep sen hon rev capt lt col mt approx dept
    """.split()  # noqa: SIM905
)
_MARK = re.compile(r"(?P<mark>[.!?…]+)[\"'»”’)\]]*|[。！？]+")
_NEXT_SENTENCE = re.compile(r"\s{1,40}[\"'«“„(\[—–-]{0,3}\s{0,3}[A-ZА-ЯЁ0-9]")
_CAPITAL = re.compile(r"\s{1,40}[A-ZА-ЯЁ]")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_LIST_NUMBER = re.compile(r"\(?\d{1,3}(?:\.\d{1,3})*")
_OPENING = "\"'«“„(["
_LOOK_BACK = 40


def sentence_ends(text: str) -> Iterator[int]:
    """Offsets just behind each sentence's last mark, in order; the end of the text itself is not among them.

    Takes time proportional to the text, whatever is in it.
    """
    for match in _MARK.finditer(text):
        end = match.end()
        if end < len(text) and (match["mark"] is None or _is_end(text, match)):
            yield end


def _is_end(text: str, match: re.Match[str]) -> bool:
    if not _NEXT_SENTENCE.match(text, match.end()):
        return False
    if match.group() != ".":
        return True
    before = text[max(match.start() - _LOOK_BACK, 0) : match.start()]
    words = before.split()
    if not words or before[-1].isspace():
        return True
    word = words[-1].lstrip(_OPENING)
    if word.lower() in _NEVER_LAST:
        return False
    if _INITIALS.fullmatch(word) and not word.lower().startswith(("т.", "н.", "p.", "a.")):
        # "А. Петров", "U.S. Army" and "г. Москва" go on; "в 2024 г. Цена" does not.
        after_number = len(words) > 1 and words[-2][-1].isdigit()
        return word in ("г", "в", "р", "м") and after_number and bool(_CAPITAL.match(text, match.end()))
    # "1. " or "2.3. " at the beginning of a line is a number of a list.
    line = before.rpartition("\n")[2]
    return not (_LIST_NUMBER.fullmatch(word) and line.strip() == word and (len(before) < _LOOK_BACK or "\n" in before))
