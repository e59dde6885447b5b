"""What Word keeps apart from the text: styles, with the headings among them, and the numbers of lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ingest.documents.xml import below

BODY_LEVEL = 9
_MAX_PARENTS = 20
_MAX_NUMBER = 1_000_000
_MAX_LEVELS = 9
_MAX_MARKER_CHARACTERS = 60
# Built-in styles have English names in every language of Word.
_HEADING = re.compile(r"heading (\d)\b", re.IGNORECASE)
_PLACE = re.compile(r"%([1-9])")


def is_on(parent: Element | None, name: str) -> bool | None:
    """A switch such as w:b or w:vanish; None where it is not there."""
    found = parent.find(name) if parent is not None else None
    return None if found is None else found.get("w:val", "true") not in ("0", "false", "off", "none")


def number_of(text: str | None, default: int, most: int = _MAX_NUMBER) -> int:
    """A number that a document gives, within bounds."""
    if text is None or len(text) > 12 or not text.lstrip("-").isdecimal() or text.count("-") > 1:
        return default
    return max(-1, min(int(text), most))


def _value(parent: Element | None, *names: str) -> str | None:
    found = below(parent, *names)
    return found.get("w:val") if found is not None else None


@dataclass(slots=True)
class Style:
    """`outline_level` is 0 to 8 for headings; -1 for the document's title; BODY_LEVEL for text."""

    name: str = ""
    parent: str | None = None
    outline_level: int | None = None
    list_id: str | None = None
    list_level: int | None = None
    is_hidden: bool | None = None
    is_bold: bool | None = None

    @property
    def is_contents(self) -> bool:
        """Of a table of contents, which says again what the headings say."""
        return self.name.startswith("toc ")


class Styles:
    """The styles of a document by id, each with what it takes from those that it is based on."""

    def __init__(self, elements: Iterable[Element] = ()) -> None:
        self._own = {element.get("w:styleId", ""): self._read(element) for element in elements}
        self._whole: dict[str, Style] = {}

    def style(self, style_id: str | None) -> Style:
        if style_id is None:
            return Style()
        if style_id not in self._whole:
            self._whole[style_id] = self._resolve(style_id)
        return self._whole[style_id]

    def _resolve(self, style_id: str) -> Style:
        own = self._own.get(style_id, Style())
        result = Style(own.name)
        current: Style | None = own
        for _ in range(_MAX_PARENTS):
            if current is None:
                break
            for name in ("outline_level", "list_id", "list_level", "is_hidden", "is_bold"):
                if getattr(result, name) is None:
                    setattr(result, name, getattr(current, name))
            current = self._own.get(current.parent) if current.parent is not None else None
        return result

    @staticmethod
    def _read(element: Element) -> Style:
        name = (_value(element, "w:name") or "").casefold()
        level = _value(element, "w:pPr", "w:outlineLvl")
        heading = _HEADING.match(name)
        style = Style(name, _value(element, "w:basedOn"))
        if name == "title":
            style.outline_level = -1
        elif level is not None:
            style.outline_level = number_of(level, BODY_LEVEL, BODY_LEVEL)
        elif heading:
            style.outline_level = int(heading[1]) - 1
        style.list_id = _value(element, "w:pPr", "w:numPr", "w:numId")
        list_level = _value(element, "w:pPr", "w:numPr", "w:ilvl")
        style.list_level = number_of(list_level, 0, _MAX_LEVELS - 1) if list_level is not None else None
        style.is_hidden = is_on(element.find("w:rPr"), "w:vanish")
        style.is_bold = is_on(element.find("w:rPr"), "w:b")
        return style


@dataclass(frozen=True, slots=True)
class _Level:
    form: str = "decimal"
    text: str = ""
    start: int = 1
    style_id: str | None = None


@dataclass(slots=True)
class _List:
    """An abstract list: its levels, and how far each has counted."""

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # list ids whose own starts were taken


class Numbering:
    """The numbers of lists and headings, counted on with each `marker`."""

    def __init__(self, elements: Iterable[Element] = ()) -> None:
        self._abstract: dict[str, _List] = {}
        self._lists: dict[str, tuple[str, dict[int, int]]] = {}
        for element in elements:
            if element.tag == "w:abstractNum":
                self._abstract[element.get("w:abstractNumId", "")] = _List(dict(map(_level, element.findall("w:lvl"))))
            else:
                starts = {
                    number_of(change.get("w:ilvl"), 0): number_of(_value(change, "w:startOverride"), 1)
                    for change in element.findall("w:lvlOverride")
                    if change.find("w:startOverride") is not None
                }
                self._lists[element.get("w:numId", "")] = (_value(element, "w:abstractNumId") or "", starts)

    def level_of_style(self, list_id: str, style_id: str | None) -> int:
        """The level of a list that belongs to a style, such as the second for "Heading 2"."""
        levels = self._abstract.get(self._lists.get(list_id, ("", {}))[0], _List()).levels
        return next((at for at, level in levels.items() if style_id and level.style_id == style_id), 0)

    def marker(self, list_id: str, at: int) -> str:
        """The number or bullet of the next item: "2.1.", "-"; empty where the list shows none."""
        abstract_id, starts = self._lists.get(list_id, ("", {}))
        found = self._abstract.get(abstract_id)
        if found is None or at not in found.levels:
            return "-" if list_id in self._lists else ""
        if list_id not in found.seen:
            found.seen.add(list_id)
            found.counts.update({depth: start - 1 for depth, start in starts.items()})
        level = found.levels[at]
        found.counts[at] = min(found.counts.get(at, level.start - 1) + 1, _MAX_NUMBER)
        for deeper in [other for other in found.counts if other > at]:
            del found.counts[deeper]
        if level.form == "none":
            return ""
        if level.form == "bullet" or not level.text:
            return "-"
        return _PLACE.sub(lambda place: _count(found, int(place[1]) - 1), level.text)[:_MAX_MARKER_CHARACTERS]


def _count(of: _List, at: int) -> str:
    level = of.levels.get(at, _Level())
    return _FORMS.get(level.form, str)(of.counts.get(at, level.start))


def _level(element: Element) -> tuple[int, _Level]:
    level = _Level(
        _value(element, "w:numFmt") or "decimal",
        (_value(element, "w:lvlText") or "")[:_MAX_MARKER_CHARACTERS],
        number_of(_value(element, "w:start"), 1),
        _value(element, "w:pStyle"),
    )
    return number_of(element.get("w:ilvl"), 0), level


def letters(number: int, alphabet: str) -> str:
    """a to z, then aa, bb: the letter as often as the alphabet was gone through."""
    if not 0 < number <= 10 * len(alphabet):
        return str(number)
    return alphabet[(number - 1) % len(alphabet)] * ((number - 1) // len(alphabet) + 1)


def roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    signs = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"))
    result = ""
    for value, sign in (*signs, (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        result += sign * (number // value)
        number %= value
    return result


LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщэюя"  # Word counts without ё, й, ъ, ы, ь
_FORMS: dict[str, Callable[[int], str]] = {
    "lowerLetter": lambda number: letters(number, LATIN),
    "upperLetter": lambda number: letters(number, LATIN).upper(),
    "russianLower": lambda number: letters(number, _RUSSIAN),
    "russianUpper": lambda number: letters(number, _RUSSIAN).upper(),
    "lowerRoman": lambda number: roman(number).lower(),
    "upperRoman": roman,
    "decimalZero": lambda number: f"{number:02}",
}
