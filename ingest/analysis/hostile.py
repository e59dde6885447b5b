"""Sentences of a conversation that speak to the model that reads it. They are withheld from models and prove nothing.

The model's own rules (data is no instruction, every quotation is checked) hold beside this one. What is found here too
often costs a sentence; so the patterns ask for two signs, an order and something that only a model has or gives.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import or_

from ingest.analysis.hostile_patterns import breaks, needs_met, rules_for

WITHHELD = "[…]"
_MOST_WORDS = 40  # of a sentence looked at in one piece: recognised speech may have none that ends
ANY_NEED = -1
"""The needs of a text that nobody has looked at yet."""
_SHORT = 16  # characters: "Ignore. Your. Instructions." is one order
_END = re.compile(r"[.!?…;]+(?=\s)")
_SENTENCE = re.compile(r"[^.!?…;\n]+[.!?…;\n]*|[.!?…;\n]+")
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_SPACED = re.compile(r"(?<!\w)\w(?:[ \t.\-_*·|,]{1,3}\w(?!\w)){3,200}")
_NOT_IN_WORDS = re.compile(r"[ \t.\-_*·|,]+")
_WORD = re.compile(r"\w+")
_LATIN_TO_CYRILLIC = str.maketrans("aceopxykmthbu", "асеорхукмтнви")
_CYRILLIC_TO_LATIN = str.maketrans("асеорхукмтнвіѕј", "aceopxykmthbisj")
_DIGITS_TO_LATIN = str.maketrans("013457@$", "oieastas")
_PLAIN = re.compile(r"[\t\n\r -~А-Яа-яЁё«»–—’“”„€₽]*")  # nothing of this is normalised
_MIXED = re.compile(r"(?<=[a-z])[а-я0-9_]|(?<=[а-я])[a-z0-9_]|(?<=[0-9_])[a-zа-я]|[^\W\d_a-zа-я]")
_LETTER_LAST = re.compile(r"(?<!\w)\w\W*$")
_LETTER_FIRST = re.compile(r"\W{0,8}\w(?!\w)")


def is_instruction(text: str) -> bool:
    """Whether `text`, a sentence or a few, speaks to a model instead of to a person."""
    return withhold(text) is not text


@dataclass(frozen=True, slots=True)
class Checked:
    """A text without its sentences that speak to a model, the very same where it has none; and which rules' needs it
    meets, for `is_split_order`."""

    safe: str
    needs: int


def withhold(text: str) -> str:
    """`text` with a mark in the place of each sentence that speaks to a model; the very same text where none does."""
    return check_each([text])[0].safe


def check_each(texts: Sequence[str]) -> list[Checked]:
    """Many texts at once, each by itself."""
    pieces = [list(_pieces(text)) for text in texts]
    meant = [text_of_letters(_ends(piece)) for of_one in pieces for piece in of_one]
    met = iter(zip(meant, needs_met(meant), strict=True))
    return [_checked(text, of_one, list(islice(met, len(of_one)))) for text, of_one in zip(texts, pieces, strict=True)]


def _checked(text: str, pieces: list[str], meant: list[tuple[str, int]]) -> Checked:
    needs = reduce(or_, (needs for _, needs in meant), 0)
    hostile = _hostile(pieces, meant)
    if not any(hostile):
        return Checked(text, needs)
    kept: list[str] = []
    for piece, is_hostile in zip(pieces, hostile, strict=True):
        if not is_hostile:
            kept.append(piece)
        elif not kept or not kept[-1].endswith(WITHHELD):
            kept.append(piece[: len(piece) - len(piece.lstrip())] + WITHHELD)
    return Checked("".join(kept).strip(), needs)


def is_split_order(before: str, after: str, needs: int = ANY_NEED) -> bool:
    """Whether the end of one piece and the beginning of the next are an order together that neither is alone. `needs`
    is what both meet."""
    rules = rules_for(ANY_NEED if _is_spelled(before, after) else needs)
    if not rules:
        return False
    tail = " ".join(_ends(before + " ").split()[-_MOST_WORDS // 2 :])
    head = " ".join(after.split()[: _MOST_WORDS // 2])
    return breaks(text_of_letters(f"{tail} {head}"), rules) and not any(
        breaks(text_of_letters(alone), rules) for alone in (tail, head)
    )


def _hostile(pieces: list[str], meant: list[tuple[str, int]]) -> list[bool]:
    found = [breaks(text, rules_for(needs)) for text, needs in meant]
    for first in range(len(pieces) - 1):  # an order may be cut in two by a full stop
        before, after = pieces[first], pieces[first + 1]
        needs = meant[first][1] | meant[first + 1][1]
        if not (found[first] or found[first + 1]):
            found[first] = found[first + 1] = is_split_order(before, after, needs)
    return found


def _is_spelled(before: str, after: str) -> bool:
    """Whether a word in spaced letters may go on from one piece to the next."""
    if len(before) + len(after) < _SHORT:
        return False
    return _LETTER_FIRST.match(after) is not None and _LETTER_LAST.search(before[-8:]) is not None


def _ends(text: str) -> str:
    return _END.sub(" ", text)


def text_of_letters(text: str) -> str:
    """`text` as it is meant: without invisible characters, spaced letters joined, look-alikes in one script."""
    plain = text
    if _PLAIN.fullmatch(plain) is None:
        plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    if _PLAIN.fullmatch(plain) is None:
        plain = "".join(
            one for one in unicodedata.normalize("NFD", plain) if one == "\u0306" or not unicodedata.combining(one)
        )
        plain = unicodedata.normalize("NFC", plain)
    plain = plain.casefold().replace("ё", "е")
    plain = _SPACED.sub(lambda match: _NOT_IN_WORDS.sub("", match[0]), plain)
    if _MIXED.search(plain) is not None:
        plain = _WORD.sub(lambda match: _one_script(match[0]), plain)
    return " ".join(plain.split())


def _one_script(word: str) -> str:
    cyrillic = sum("а" <= letter <= "я" for letter in word)
    latin = sum("a" <= letter <= "z" for letter in word)
    if cyrillic and latin:
        return word.translate(_LATIN_TO_CYRILLIC if cyrillic >= latin else _CYRILLIC_TO_LATIN)
    if latin > 1 and any(letter.isdigit() for letter in word):
        return word.translate(_DIGITS_TO_LATIN)
    return word


def _pieces(text: str) -> Iterator[str]:
    """Sentences, short ones together, long ones in runs of `_MOST_WORDS` words; joined they are the text."""
    short = ""
    for match in _SENTENCE.finditer(text):
        sentence = match[0]
        if len(sentence) <= _SHORT and "\n" not in sentence:
            short += sentence
            if len(short) > 4 * _SHORT:
                yield short
                short = ""
            continue
        if short:
            yield short
            short = ""
        yield from _runs(sentence)
    if short:
        yield short


def _runs(sentence: str) -> Iterator[str]:
    if len(sentence) < 200:
        yield sentence
        return
    start, words = 0, 0
    for space in re.finditer(r"\s+|\S{400}", sentence):
        words += 1
        if words >= _MOST_WORDS or space.end() - start > 800:
            yield sentence[start : space.end()]
            start, words = space.end(), 0
    if start < len(sentence):
        yield sentence[start:]
