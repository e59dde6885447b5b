"""Words that a client said of themselves, put as a short line of a profile."""

from __future__ import annotations

import re

from ingest.analysis.rules import facts_en, facts_ru
from ingest.analysis.rules.morphology import analyser, read

_MOST_CHARACTERS = 160
_MOST_VERBS = 3
_WORD = re.compile(r"[^\W\d_]{1,40}")
_ENGLISH_STARTS = (
    (re.compile(r"^(?:i|we)(?:'ve got| have got|'ve| have)\b", re.I), "Has"),
    (re.compile(r"^(?:i'm|i am)\b", re.I), "Is"),
    (re.compile(r"^(?:we're|we are) (?=\w+ing\b)", re.I), ""),
    (re.compile(r"^(?:we're|we are) an? ", re.I), ""),
    (re.compile(r"^(?:we're|we are)\b", re.I), "Are"),
    (re.compile(r"^(?:i|we) (?=can\b|can't\b|cannot\b|will\b|won't\b|must\b|never\b)", re.I), ""),
    (re.compile(r"^we were\b", re.I), "Were"),
    (re.compile(r"^(?:it's|this is|mine's|mine is) ", re.I), ""),
    (re.compile(r"^(?:i|we) don't\b", re.I), "Does not"),
    (re.compile(r"^(?:my|our) ", re.I), ""),
)
_ENGLISH_VERB = re.compile(
    r"^(?:i|we) (?:(also|always|never|only|usually|currently|already|now|still|just) )?([a-z]{2,12})\b", re.I
)
_IRREGULAR = {"have": "has", "be": "is", "do": "does", "go": "goes", "carry": "carries", "fly": "flies"}
_NO_PLAN = re.compile(
    r"\b(?:по?звон|перезвон|пришл|отправ|скин|подъед|приед|заед|забер|привез|подума|посмотр|скажу|напиш|сообщ|"
    r"переда|о?плач|о?плат|внес|вноси|законч|истека|обеща|звон|верн|дож|ждать|ждем|pay|paid|call|cancel|refund|"
    r"complain|claim|sue|wait)"
)
REVOKES = re.compile(  # the wish to be called
    r"(?:больше[^.!?]{0,25}\bне\b|\bне\b[^.!?]{0,25}больше|\bне (?:хо|жела))[^.!?]{0,30}\bзв|"
    r"\bне зв[^.!?]{0,20} больше|(?:перестаньте|прекратите)[^.!?]{0,12} зв|"
    r"(?:call|ring|phon)\w{0,5} (?:me|us|this number|here) (?:any ?more|again|ever)|(?:stop|quit) (?:call|"
    r"ring|phon)ing|"
    r"(?:don't|do not|no longer) (?:want|wish)[^.!?]{0,25} (?:call|rung|ring|phon)"
)
# A sentence that breaks off: "только я не люблю".
_CUT_OFF = re.compile(
    r"\b(?:(?:не )?(?:люблю|любит|любим|любят|предпочита(?:ю|ет|ем|ют)|хочу|хочет|хотим|хотят|могу|может|обожа(?:ю|ет)|"
    r"переношу|переносит)|и|в|на|с|к|по|для|что|чтобы|или|но|а|the|an?|to|and|or|of|with|for|in|at|my|our|because|"
    r"(?:don't|not|i|we|also|only) (?:like|want|prefer))$"
)
_NOW = re.compile(r"(?:^|(?<=\bi )|(?<=\bwe ))now,? | (?:now|these days|at the moment)$", re.IGNORECASE)
_EVERY_FACT = frozenset("also always never only both that this have from with been".split())  # noqa: SIM905
_PAST = frozenset("moved relocated were was had bought sold got used opened".split())  # noqa: SIM905


def content_of(words: str, key: str, language: str) -> str:
    """A short line in the conversation's language; "" where too little is left of it."""
    rules = facts_en if language == "en" else facts_ru
    text = " ".join(words.split())
    label = rules.LABELS.get(key)
    if label:
        return f"{label}: {_spoken_mail(text) if key == 'email' else text}"
    if key == "contact:time" and REVOKES.search(text.lower().replace("ё", "е")):
        return "Does not want to be called" if language == "en" else "Не хочет, чтобы звонили"
    for _ in range(6):
        match = rules.LEAD.match(text)
        if match is None:
            break
        if language != "en" and match.group().strip(" ,.").lower() in ("я", "мы"):
            text = _third_person(text)
            break
        text = text[match.end() :]
    text = _english(_NOW.sub("", text)) if language == "en" else _first_verb_turned(text)
    text = text.strip(" ,.;:!—–-")
    if _CUT_OFF.search(text.lower()):
        return ""
    if len(text) > _MOST_CHARACTERS:
        text = text[:_MOST_CHARACTERS].rsplit(" ", 1)[0] + "…"
    if len(_WORD.findall(text)) < 2:
        text = " ".join(words.split())  # "у нас собака"
    return text[:1].upper() + text[1:] if len(_WORD.findall(text)) >= 2 else ""


def key_word(what: str) -> str:
    """A stable form of a noun for a key: its dictionary form."""
    first = what.strip("«» ").lower()[:40]
    if "а" <= first[:1] <= "я":
        return read(first.split()[-1]).normal if first.split() else first
    return first.rstrip("s") if len(first) > 3 and not first.endswith("ss") else first


def is_place(word: str) -> bool:
    """Whether a Russian word is a place's name in the dictionary."""
    return any("Geox" in parse.tag for parse in analyser().parse(word))


def may_be_plan(words: str) -> bool:
    """Whether Russian words are of what comes, and of no payment or end: "в мае закончилась подписка" is no plan."""
    if _NO_PLAN.search(words.lower()):
        return False
    readings = [read(word) for word in _WORD.findall(words) if "а" <= word[0].lower() <= "я"]
    return not any(reading.part == "VERB" and reading.tense == "past" for reading in readings)


def subject(words: str, *, verb: bool) -> str:
    """What one of many facts of a kind is about, for its key: its first verb ("открывать"), or else a noun."""
    found = [word.lower() for word in _WORD.findall(words) if len(word) > 3]
    russian = [read(word) for word in found if "а" <= word[0] <= "я"]
    if russian:
        parts = ("VERB", "INFN") if verb else ("NOUN",)
        first = next((reading.normal for reading in russian if reading.part in parts), "")
        return first or next((reading.normal for reading in russian if reading.part == "NOUN"), russian[0].normal)
    plain = [word for word in found if word not in _EVERY_FACT]
    if not plain:
        return ""
    return plain[0] if verb else key_word(plain[-1])


def _spoken_mail(text: str) -> str:
    """ "jwhitaker at example dot com" as it is written."""
    if "@" in text:
        return text
    for said, sign in (
        (r" (?:собака|at) ", "@"),
        (r" (?:точка|dot) ", "."),
        (r" (?:тире|дефис|dash) ", "-"),
        (r" (?:подчеркивание|underscore) ", "_"),
    ):
        text = re.sub(said, sign, text, flags=re.IGNORECASE)
    return text.replace(" ", "")


def _third_person(text: str) -> str:
    """ "Я живу в Казани" as "Живёт в Казани"; "мы работаем" as "Работают"."""
    words = text.split(" ")
    plural = words[0].strip(",").lower() == "мы"
    turned = [word for word in words[1:] if word.strip(",").lower() != "теперь"]
    left = _MOST_VERBS
    for at, word in enumerate(turned):
        if left == 0:
            break
        parses = analyser().parse(word.strip(",.").lower())
        best = next((parse for parse in parses if parse.tag.POS == "VERB" and parse.tag.person == "1per"), None)
        if best is None:
            continue
        form = best.inflect({"3per", "plur" if plural else "sing"})
        if form is not None:
            turned[at] = word.replace(word.strip(",."), form.word)
            left -= 1
    return " ".join(turned)


def _first_verb_turned(text: str) -> str:
    """ "Живу в Казани", with no "я" before it, as "Живёт в Казани"."""
    first = text.split(" ", 1)[0].strip(",").lower()
    reading = read(first) if first else None
    if reading is None or reading.part != "VERB" or reading.person != "1per":
        return text
    return _third_person(("мы " if first.endswith("м") else "я ") + text)


def _english(text: str) -> str:
    for pattern, put in _ENGLISH_STARTS:
        replaced, count = pattern.subn(put, text, count=1)
        if count:
            return replaced.strip()
    match = _ENGLISH_VERB.match(text)
    if match:
        adverb, verb = match[1], match[2].lower()
        if verb not in _PAST and not verb.endswith("ed"):
            verb = _IRREGULAR.get(verb) or verb + ("es" if verb.endswith(("ch", "sh", "s", "x", "o")) else "s")
        return " ".join(part for part in (adverb, verb) if part) + text[match.end() :]
    return text
