"""Where a company is named: its names as they are inflected, transliterated, run together and misheard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from ingest.analysis.quotations import fold
from ingest.analysis.rules.criteria_speech import Run
from ingest.analysis.rules.morphology import analyser

_ALIKE = 0.82  # of the letters of a name that a recogniser misheard
_NEARLY_ALIKE = 0.7  # where a whole word of it was heard right
_ADDRESS_BEFORE = re.compile(r"[@/]\S{0,40}$|\w\.$")  # of mail or the web: no one names a company by it
_ADDRESS_AFTER = re.compile(r"@|\.\w")
_SHORTEST_MISHEARD = 6  # letters
_OWN_WORD = 8  # letters of a Latin name that is taken for no other word
_GENERIC = frozenset(
    [
        "ооо",
        "оао",
        "зао",
        "пао",
        "ао",
        "ип",
        "нко",
        "тоо",
        "компания",
        "компании",
        "фирма",
        "группа",
        "групп",
        "холдинг",
        "магазин",
        "интернет",
        "клиника",
        "центр",
        "салон",
        "студия",
        "школа",
        "банк",
        "отель",
        "гостиница",
        "ресторан",
        "кафе",
        "сервис",
        "автосервис",
        "служба",
        "завод",
        "торговый",
        "дом",
        "медицинский",
        "стоматология",
        "агентство",
        "фитнес",
        "клуб",
        "спортклуб",
        "автосалон",
        "турагентство",
        "бюро",
        "ателье",
        "цветы",
        "цветочный",
        "доставка",
        "транспортная",
        "логистика",
        "страховая",
        "обжарочная",
        "пекарня",
        "мастерская",
        "типография",
        "аптека",
        "прачечная",
        "такси",
        "ферма",
        "химчистка",
        "автошкола",
        "автомойка",
        "пиццерия",
        "парикмахерская",
        "ветклиника",
        "зоомагазин",
        "ломбард",
        "языковая",
        "лаборатория",
        "inc",
        "ltd",
        "llc",
        "gmbh",
        "plc",
        "co",
        "corp",
        "company",
        "group",
        "the",
        "and",
        "services",
        "service",
        "solutions",
        "clinic",
        "dental",
        "hotel",
        "bank",
        "school",
        "shop",
        "store",
        "studio",
        "center",
        "centre",
        "agency",
        "logistics",
        "insurance",
        "energy",
        "telecom",
        "family",
        "pos",
        "systems",
        "software",
        "hosting",
        "supplies",
        "supply",
        "motors",
        "auto",
        "garage",
        "freight",
        "utilities",
        "water",
        "electric",
        "partners",
        "associates",
    ]
)
_SMALL = frozenset(["и", "в", "на", "с", "у", "the", "and", "of", "a", "de", "и&"])
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r'"([^"]{2,60})"')
_INTRODUCING = re.compile(
    r"\b(?:из|это|компани\w|здравств\w{1,5}|добрый|доброе|слушаю|меня зовут|вас приветствует|"
    r"from|this is|speaking|here|calling|hello|hi|good (?:morning|afternoon|evening)|how can|how may)\b"
)
_CAMEL = re.compile(r"(?<=[a-zа-яё])(?=[A-ZА-ЯЁ])")
_LATIN = str.maketrans(
    {
        "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ж": "zh", "з": "z", "и": "i", "й": "i", "к": "k",
        "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f", "х": "h",
        "ц": "ts", "ч": "ch", "ш": "sh", "щ": "sh", "ъ": "", "ы": "i", "ь": "", "э": "e", "ю": "iu", "я": "ia",
    }
)  # fmt: skip
_SOUNDS = (
    (re.compile(r"ph"), "f"), (re.compile(r"ck|qu|q|c(?![hieay])"), "k"), (re.compile(r"c(?=[iey])"), "s"),
    (re.compile(r"x"), "ks"), (re.compile(r"w"), "v"), (re.compile(r"y|j"), "i"), (re.compile(r"ee|ea"), "i"),
    (re.compile(r"oo|ou"), "u"), (re.compile(r"(?<![sc])h"), ""), (re.compile(r"(.)\1+"), r"\1"),
)  # fmt: skip


@dataclass(frozen=True)
class Brand:
    """A company's names, ready to be looked for."""

    whole: re.Pattern[str] | None
    core: re.Pattern[str] | None  # one word that may mean something else as well
    sounds: tuple[tuple[int, str], ...]  # how many words, and how they sound together

    def spans(self, run: Run) -> Iterator[tuple[int, int]]:
        """Where the run names the company beyond doubt."""
        if self.whole:
            yield from (
                match.span() for match in self.whole.finditer(run.text) if not _in_address(run.text, *match.span())
            )
        if self.core:
            for match in self.core.finditer(run.text):
                if _in_address(run.text, *match.span()):
                    continue
                first = run.original[match.start()]
                if first.isupper() and run.text[: match.start()].rstrip(' \n"')[-1:] not in ("", *".!?…"):
                    yield match.span()

    def named(self, run: Run, introducing: bool = False) -> tuple[int, int] | None:
        """Where the run first names the company. Whoever introduces themselves may be misheard by the recogniser."""
        found = next(self.spans(run), None)
        if found is None and introducing:
            found = self._introduced(run) or self._misheard(run.text[:400])
        return found

    def _introduced(self, run: Run) -> tuple[int, int] | None:
        for match in self.core.finditer(run.text, 0, 200) if self.core else ():
            begins = match.start() <= 3 and run.text[match.end() : match.end() + 1] in (",", ".", "!")
            if begins or _INTRODUCING.search(run.text, max(0, match.start() - 30), match.end() + 30):
                return match.span()
        return None

    def _misheard(self, text: str) -> tuple[int, int] | None:
        words = list(_WORD.finditer(text))
        for count, sound in self.sounds:
            for size in (count, count + 1, count - 1):
                for at in range(len(words) - size + 1 if size > 0 else 0):
                    start, end = words[at].start(), words[at + size - 1].end()
                    heard = sounds(text[start:end])
                    if abs(len(heard) - len(sound)) > 2 or _in_address(text, start, end):
                        continue
                    last = sounds(words[at + size - 1].group())
                    least = _NEARLY_ALIKE if size > 1 and len(last) >= 4 and sound.endswith(last) else _ALIKE
                    if SequenceMatcher(None, heard, sound, autojunk=False).ratio() >= least:
                        return start, end
        return None


@lru_cache(maxsize=256)
def brand(names: tuple[str, ...]) -> Brand:
    """The names, without what they share with other companies ("ООО", "Ltd", "клиника")."""
    whole: list[str] = []
    core: list[str] = []
    heard: list[tuple[int, str]] = []
    for name in names[:20]:
        words = [fold(part) for word in _WORD.findall(name[:120]) for part in _CAMEL.split(word)]
        if not words:
            continue
        proper = [word for word in words if word not in _GENERIC and word not in _SMALL and len(word) > 1] or words
        if len(words) > 1 or not _common(words[0]):
            whole.append(_together(words))
        quoted = _QUOTED.search(fold(name[:120]))
        if quoted and (inner := _WORD.findall(quoted.group(1))):
            whole.append('"' + _together(inner)[2:-2] + '"')
            proper = inner
        if len(proper) > 1:
            whole.append(_together(proper))
        elif len(proper[0]) >= 3:
            (core if _common(proper[0]) else whole).append(_together(proper))
        if len(words) > 1 and len(words[0]) > 3 and words[0] not in _GENERIC:  # "Granite" of "Granite Climbing"
            core.append(_together(words[:1]))
            whole += [_together(words[:size]) for size in range(2, min(len(words), 5)) if words[size - 1] not in _SMALL]
        sound = sounds("".join(words))
        if len(sound) >= _SHORTEST_MISHEARD:
            heard.append((len(_WORD.findall(name[:120])), sound))
    return Brand(_any(whole), _any(core), tuple(heard))


def _in_address(text: str, start: int, end: int) -> bool:
    return bool(_ADDRESS_BEFORE.search(text[max(0, start - 42) : start]) or _ADDRESS_AFTER.match(text, end))


def sounds(text: str) -> str:
    """Letters by how they sound, about: one form for Cyrillic and Latin."""
    latin = "".join(_WORD.findall(text.translate(_LATIN)))
    for pattern, sound in _SOUNDS:
        latin = pattern.sub(sound, latin)
    return latin


def _any(patterns: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(dict.fromkeys(patterns))) if patterns else None


def _together(words: list[str]) -> str:
    return r"\b" + r"\W{0,3}(?:(?:and|n|и)\W{1,2})?".join(_inflected(word) for word in words) + r"\b"


def _inflected(word: str) -> str:
    if not re.fullmatch("[а-я]+", word) or len(word) < 3:
        return re.escape(word) + ("(?:'?s)?" if len(word) > 3 else "")
    stem = word.rstrip("аеиоуыэюяьй")
    stem = stem if len(stem) >= 3 else word
    forms = {fold(form.word) for parse in analyser().parse(word)[:3] for form in parse.lexeme}
    return "(?:" + "|".join([*sorted(forms, key=len, reverse=True), re.escape(stem) + r"\w{0,3}"]) + ")"


def _common(word: str) -> bool:
    """Whether a name's only word means something besides the company."""
    return bool(analyser().word_is_known(word)) if re.fullmatch("[а-я]+", word) else len(word) < _OWN_WORD
