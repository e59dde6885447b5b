"""Who says their own name, who is called by name, and whether two names are one person's. Russian and English.

Offsets are into the given text; only its first `mentions.MOST_CHARACTERS` are searched.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ingest.analysis.rules import call_cues
from ingest.analysis.rules import own_name_cues as cues
from ingest.analysis.rules.lone_names import lone_answer, signatures
from ingest.analysis.rules.mentions import MOST_CHARACTERS, Mention, Word, find_mentions, words_of
from ingest.analysis.rules.morphology import read
from ingest.analysis.rules.name_forms import (
    english_first_name,
    father_of,
    full_names,
    is_listed,
    is_said_patronymic,
    looks_like_patronymic,
    skeleton,
)

_WORD_OF_NAME = re.compile(r"[^\W\d_]{1,60}")
_MOST_NAME_CHARACTERS = 200
_LEAST_SHORT = 3
_QUOTED = re.compile(r"[«\"“][^»\"”]{0,100}[»\"”]")
# Words of accounts and departments that stand where a name should: no part of anybody's name.
_NO_NAMES_LIST = """
mister mr mrs ms miss dr sir madam господин госпожа support sales team client customer unknown agent rep csr desk help
helpdesk visitor guest user operator advisor adviser manager account accounts receivable payable order orders
delivery deliveries dispatch reception receptionist front office service services info admin administrator billing
live chat bot caller number hidden private anonymous staff member department dept technician driver owner buyer the
of from and for company ltd llc inc gmbh shop store hotel clinic school bank care center centre line hotline booking
bookings reservations warehouse claims returns marketing finance hr it contact lead employee specialist assistant
ооо зао оао ип пао
"""
_NO_NAMES = frozenset(_NO_NAMES_LIST.split())
_TITLE = re.compile(r"\W{0,3}(?:mister|mr|mrs|ms|miss|dr|господин|госпожа|г-н|г-жа)\b")
_RELATIONS = re.compile(
    r"\b(?:мама|папа|муж|жена|сын|дочь|брат|сестра|бабушка|дедушка|тётя|тетя|дядя|mother|father|mum|mom|"
    r"dad|wife|husband|son|daughter)\b"
)


class OwnName(NamedTuple):
    """`words` are verbatim: the cue with the name ("меня зовут Анна"), which is what to quote."""

    name: str
    words: str


class Called(NamedTuple):
    """Somebody is called by this name at text[start:end]."""

    name: str
    start: int
    end: int


class _Parts(NamedTuple):
    """A name taken apart; sets of skeletons, one for each word."""

    given: frozenset[str]
    father: str
    rest: tuple[frozenset[str], ...]


def own_names(text: str, language: str, known: Collection[str] = ()) -> list[OwnName]:
    """Names that the speaker gives as their own, in their order; each is said by a cue, or signs a mail.

    `known` are names to expect, which need not be in any dictionary.
    """
    del language  # both languages' cues are tried: people mix them
    mentions = find_mentions(text, _keys(known))
    text = text[: 10 * MOST_CHARACTERS]
    found = [*cues.named_by_cue(text, mentions), *signatures(text, mentions)]
    found.sort(key=lambda each: each[0])
    named = dict.fromkeys(OwnName(name, text[start:end]) for start, end, name in found)
    return list(named)


def reported_names(text: str, language: str, known: Collection[str] = ()) -> list[str]:
    """Names that others gave as theirs, by what the speaker tells of it: "мне сказали: меня зовут Катя"."""
    del language
    spans = cues.reported_spans(text[: 10 * MOST_CHARACTERS], find_mentions(text, _keys(known)))
    return [span.name for span in spans]


def leading_name(text: str, language: str, known: Collection[str] = ()) -> OwnName | None:
    """The name that a text begins with and that is a sentence by itself, as an answer to "how shall I call you?"."""
    del language
    answer = lone_answer(text, find_mentions(text[:400], _keys(known)))
    return OwnName(answer, answer) if answer else None


def asks_name(text: str, language: str) -> bool:
    """Whether the speaker asks who the other one is, or how to call them."""
    del language
    return cues.ASKS_NAME.search(text.lower().replace("ё", "е")) is not None


def addressed_names(text: str, language: str) -> list[str]:
    """Names that somebody is called by, each time anew; only what can be nothing but a name. See `calls`."""
    return [call.name for call in calls(text, language)]


def calls(text: str, language: str, known: Collection[str] = ()) -> list[Called]:
    """Where somebody is called by name: not where they are spoken of, and not where a speaker names themselves."""
    del language
    text = text[:MOST_CHARACTERS]
    keys = _keys(known)
    mentions = find_mentions(text, keys)
    own = {span.name_start for span in cues.spans_by_cue(text, mentions)}
    own |= {start for start, _, _ in signatures(text, mentions)}
    words = words_of(text)
    surnames = _bare_surnames(known)
    found = []
    for at, mention in enumerate(mentions):
        if mention.start in own or _is_listed_with(text, mentions, at) or _is_bare_surname(mention, surnames):
            continue
        if _is_call(text, words, mention, expected=_is_expected(mention, keys)):
            found.append(Called(mention.text, mention.start, mention.end))
    return found


def _bare_surnames(names: Collection[str]) -> frozenset[str]:
    """Of people whose first names are known: nobody is called by the bare surname."""
    parts = [_parts(name[:_MOST_NAME_CHARACTERS]) for name in names]
    given = frozenset().union(*(each.given for each in parts))
    return frozenset().union(*(word for each in parts if each.given for word in each.rest)) - given


def _is_bare_surname(mention: Mention, surnames: frozenset[str]) -> bool:
    return not mention.titled and " " not in mention.text and not _surname_keys(mention.text).isdisjoint(surnames)


def _is_expected(mention: Mention, keys: Collection[str]) -> bool:
    return any(not (_given_keys(word) | _surname_keys(word)).isdisjoint(keys) for word in mention.text.split())


def addressed(text: str, name: str, language: str) -> list[tuple[int, int]]:
    """Where somebody of this name is called by it: any form of it, and their surname behind a title."""
    found = calls(text, language, (name,))
    return [(call.start, call.end) for call in found if same_person(call.name, name, language)]


@lru_cache(maxsize=4_000)
def same_person(name: str, full_name: str, language: str) -> bool:
    """Whether both may name one person: whatever both have of first name, patronymic and surname is alike, in any
    case, diminutive or alphabet, and there is something that both have."""
    del language
    ours, theirs = _parts(name[:_MOST_NAME_CHARACTERS]), _parts(full_name[:_MOST_NAME_CHARACTERS])
    if _is_single(ours) and theirs.given and any(not word.isdisjoint(theirs.given) for word in ours.rest):
        return True
    if _is_single(theirs) and ours.given and any(not word.isdisjoint(ours.given) for word in theirs.rest):
        return True
    if _is_single(ours) and _is_short(ours.rest[0], theirs.given):
        return True
    alike = 0
    if ours.given and theirs.given:
        if ours.given.isdisjoint(theirs.given) and not _is_short(ours.given, theirs.given):
            return _turned(ours, theirs)
        alike += 1
    if ours.father and theirs.father:
        if ours.father != theirs.father:
            return False
        alike += 1
    if ours.rest and theirs.rest:
        if any(not a.isdisjoint(b) for a in ours.rest for b in theirs.rest):
            alike += 1
        elif not ours.given or not theirs.given or not _stray(ours, theirs):
            return False
    if not alike and ours.rest and not ours.given and not ours.father and theirs.given:
        # A single word that is no known name: what they are called by in the other name, whichever word that is.
        return any(not word.isdisjoint(theirs.given) for word in ours.rest)
    if not alike and theirs.rest and not theirs.given and not theirs.father and ours.given:
        return any(not word.isdisjoint(ours.given) for word in theirs.rest)
    return alike > 0


def could_be(name: str, full_name: str) -> bool:
    """Whether a first name may be of somebody of whom only a surname and an initial are known: "Эдита", "Э. Штерн"."""
    ours, theirs = _parts(name[:_MOST_NAME_CHARACTERS]), _parts(full_name[:_MOST_NAME_CHARACTERS])
    if ours.rest or not ours.given or theirs.given or not theirs.rest:
        return False
    initial = re.match(r"\W{0,3}([^\W\d_])\.", full_name)
    return initial is None or any(key.startswith(skeleton(initial[1])) for key in ours.given)


def _is_single(parts: _Parts) -> bool:
    """A word that is no known name: a first name or a surname."""
    return len(parts.rest) == 1 and not parts.given and not parts.father


def _is_short(name: frozenset[str], full: frozenset[str]) -> bool:
    """ "Ade" of "Adebayo": how names that are in no list are made short."""
    return any(
        _LEAST_SHORT <= len(short) <= len(long) - 2 and long.startswith(short)
        for short in name
        for long in full
        if not is_listed(long) and not is_listed(short)
    )


def _turned(ours: _Parts, theirs: _Parts) -> bool:
    """ "Whitaker" against "Joanne Whitaker": a surname that is a first name elsewhere ("James", "Роман")."""
    if ours.rest or ours.father:
        return False
    return any(not ours.given.isdisjoint(word) for word in theirs.rest)


def _stray(ours: _Parts, theirs: _Parts) -> bool:
    """Whether words that differ are no surnames: "Лепесток | Вика", "Вика (поддержка)" have more than a name."""
    return len(ours.rest) > 1 and len(theirs.rest) > 1 and bool(ours.father and theirs.father)


@lru_cache(maxsize=4_000)
def _parts(name: str) -> _Parts:
    words = _words_of_name(name)
    if len(words) == 1 and _TITLE.match(name.lower()):
        return _Parts(frozenset(), "", (_surname_keys(words[0]),))
    father = next((word for at, word in enumerate(words) if _is_patronymic(word, alone=len(words) == 1)), "")
    others = [word for word in words if word != father]
    given = next((word for word in others if _is_given(word)), "")
    if not given and others and (father or (len(others) > 1 and others[0].isascii())):
        given = others[0]
    rest = tuple(_surname_keys(word) for word in others if word != given)
    return _Parts(_given_keys(given) if given else frozenset(), father_of(_direct(father)) if father else "", rest)


def _direct(patronymic: str) -> str:
    """In the nominative: "маратовича" is "маратович"."""
    reading = read(patronymic)
    if not reading.known or reading.patronymic < 0.5 or reading.patronymic_direct > 0.5:
        return patronymic
    return next((lemma for lemma in sorted(reading.lemmas) if looks_like_patronymic(lemma)), patronymic)


def _words_of_name(name: str) -> list[str]:
    bare = _QUOTED.sub(" ", name.partition("@")[0].replace("_", " "))
    words = [word for word in _WORD_OF_NAME.findall(bare) if len(word) > 1 and word.lower() not in _NO_NAMES]
    return [word for word in words if word.isascii() or _may_be_name(word)][:6]


def _may_be_name(word: str) -> bool:
    reading = read(word)
    return not reading.known or is_listed(word) or reading.given + reading.patronymic + reading.surname > 0.01


def is_personal(name: str | None) -> bool:
    """Whether a participant's name names a person: not "Help desk", "Клиент 12", "Мама Кирилла" or a phone number."""
    if not name or _RELATIONS.search(name.lower()):
        return False
    parts = _parts(name[:_MOST_NAME_CHARACTERS])
    return bool(parts.given or parts.father or parts.rest)


def _is_patronymic(word: str, *, alone: bool) -> bool:
    reading = read(word)
    if reading.patronymic > 0.5 or (not alone and not reading.known and is_said_patronymic(word)):
        return True
    return looks_like_patronymic(word) and not alone and reading.surname < 0.3


def _is_given(word: str) -> bool:
    if is_listed(word) or english_first_name(word) > 0:
        return True
    reading = read(word)
    return reading.given > (0.0 if reading.known else 0.5) and reading.surname < 0.7


def _given_keys(word: str) -> frozenset[str]:
    """Skeletons of the full names it may be; of another case too ("Анне", "Сашей")."""
    keys = set(full_names(word))
    if not word.isascii():
        reading = read(word)
        if reading.given_direct == 0 or not is_listed(word):
            for lemma in reading.lemmas:
                keys |= full_names(lemma)
    return frozenset(keys)


def _surname_keys(word: str) -> frozenset[str]:
    """Both genders' forms are one ("Лебедев", "Лебедева", "Lebedeva")."""
    forms = {word, *(read(word).lemmas if not word.isascii() else ())}
    keys = set()
    for form in forms:
        key = skeleton(form)
        keys.add(key)
        for feminine, masculine in (("aia", "i"), ("ova", "ov"), ("eva", "ev"), ("ina", "in")):
            if key.endswith(feminine) and len(key) > len(feminine) + 2:
                keys.add(key[: -len(feminine)] + masculine)
    return frozenset(keys) | (_given_keys(word) if is_listed(word) else frozenset())


@lru_cache(maxsize=1_000)
def _keys_of(name: str) -> frozenset[str]:
    parts = _parts(name[:_MOST_NAME_CHARACTERS])
    return parts.given.union(*parts.rest)


def _keys(names: Collection[str]) -> frozenset[str]:
    return frozenset().union(*(_keys_of(name) for name in names))


def _is_listed_with(text: str, mentions: Sequence[Mention], at: int) -> bool:
    """ "Иван, Пётр и Анна приедут": names in a row are spoken of, joined by "и" or "and"."""
    gaps = {left.end: text[left.end : right.start] for left, right in pairwise(mentions[max(at - 2, 0) : at + 3])}
    beside = [gaps.get(mention.end, ".") for mention in mentions[max(at - 1, 0) : at + 1]]
    return any(cues.AND.fullmatch(gap) for gap in beside) or (
        any(gap.strip() == "," for gap in beside) and any(cues.AND.fullmatch(gap) for gap in gaps.values())
    )


def _is_register_entry(mention: Mention) -> bool:
    """ "Ермакова Светлана Юрьевна": how people are looked up, not called."""
    words = mention.text.split()
    if len(words) < 2 or read(words[0]).surname <= 0.3:
        return False
    return read(words[-1]).patronymic > 0.5 or (len(words) == 2 and read(words[0]).given < 0.1 < read(words[1]).given)


_MARKS = re.compile(r"[.,!?]")


def _is_entry(text: str, mention: Mention) -> bool:
    """ "Look it up by my name. Magdalena Kowalczyk": first name and surname as a sentence by themselves."""
    words = mention.text.split()
    if len(words) < 2 or mention.titled or _has_patronymic(mention):
        return False
    alone = not text[: mention.start].rstrip() or text[: mention.start].rstrip()[-1] in ".!?…\n"
    return alone and re.match(r"\s{0,3}(?:$|[.\n])", text[mention.end : mention.end + 5]) is not None


def _has_patronymic(mention: Mention) -> bool:
    words = mention.text.split()
    return len(words) == 2 and _is_patronymic(words[1], alone=False)


def _is_call(text: str, words: Sequence[Word], mention: Mention, *, expected: bool) -> bool:
    before = text[max(mention.start - 60, 0) : mention.start].lower().replace("ё", "е")
    after = text[mention.end : mention.end + 60].lower().replace("ё", "е")
    if mention.titled:
        before = cues.TITLE_BEFORE.sub("", before)
    if before.rfind("«") > before.rfind("»"):
        return False  # what somebody else said, as it is told
    left, right = call_cues.left_of(before), call_cues.right_of(after)
    if right == "end" and call_cues.ASKED_BEFORE.search(before) and not call_cues.OWNED_BEFORE.search(before):
        return mention.sure or expected  # "how many have you got Kate", "anything else I can help with Graham?"
    if call_cues.ONE_OF_BEFORE.search(before) or _is_entry(text, mention):
        return False
    if cues.IS_IT.search(before) and cues.ASKED.match(after):
        return True  # "Это Иван Петрович?", "Am I speaking with Mr Carter?"
    if (
        left == "about"
        and right == "call"
        and expected
        and _has_patronymic(mention)
        and call_cues.IS_DONE.search(before)
    ):
        return True  # "никто не грозит ринат маратыч я"
    if left == "about" or right == "about" or _is_register_entry(mention):
        return False
    if left == "calls":  # a greeting, thanks, "уважаемый"
        if right == "other" and before.rstrip().endswith((",", ".", "!")):
            return False  # "Hello, Delacroix residence": a clause of its own
        return mention.sure or expected or right in ("edge", "end")
    if left == "edge":
        if right in ("edge", "call"):
            return mention.sure or expected
        if right == "end":
            whole = not text[: mention.start].strip(" \t.,!?…—-") and not text[mention.end :].strip(" \t.,…—-")
            return (mention.sure or expected) and (expected or not whole)
        # "ринат маратович разговор записывается": by name and patronymic at the start, as a recogniser leaves it.
        bare = right == "other" and not text[: mention.start].strip() and not _MARKS.search(text)
        return bare and (mention.sure or expected) and _has_patronymic(mention)
    # In the middle of words without punctuation, as a recogniser leaves it.
    following = words[mention.last] if mention.last < len(words) else None
    if right == "call" and (mention.sure or expected):
        return left == "loose" or following is not None
    return left == "loose" and right in ("edge", "end") and (mention.sure or expected)
