"""Promises in Russian: who does what in the future, by the morphology of the verb and the words around it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from ingest.analysis.rules.commitments_clauses import Clause, Found, Strength, Token, strongest, topics
from ingest.analysis.rules.commitments_russian_verbs import Verb, holds_verb, is_promising, lemmas, verb_of
from ingest.analysis.rules.commitments_russian_words import (
    ANSWERS,
    ARRIVES,
    AT_ONCE,
    AWAITED,
    BOOK,
    COME,
    CONTACT,
    DISCLAIMED,
    EVENTS,
    FAMILY,
    FIRM,
    FREE,
    GIVEN,
    HEDGES,
    HOLD,
    IMPERFECTIVE,
    KEPT,
    NEVER,
    NOTED,
    NOW,
    OFFER,
    PLACES,
    PLURALS,
    POLICY,
    POLITE,
    QUESTION,
    READY,
    REPORT,
    RESTORED,
    ROLES,
    SEND,
    SMALL,
    SPARED,
    SPEECH,
    SUBJECT,
    SURELY,
    TALK,
    THINGS,
    THIRD,
    TRY,
    WORKS,
    YOU,
)
from ingest.analysis.rules.deadlines_tokens import bag
from ingest.analysis.rules.morphology import analyser

OPENERS = bag("и а но потом тогда поэтому то либо затем")
_SHORT = 10  # words
SUBJECTS = bag("я мы вы он она они оно вам вас с это если когда наш наша наши ваш у потом")


def breaks(current: Sequence[Token], token: Token) -> bool:
    """Whether a new subject begins another clause: "хорошо что сказали | я предупрежу"."""
    if token.text in ("а", "но") and len(current) > 1:
        return holds_verb(current)
    if token.text not in SUBJECT or current[-1].text in QUESTION | {"что", "и", "а", "но"}:
        return False
    return holds_verb(current)


def find(clause: Clause, before: tuple[Clause, ...], internal: bool) -> Found | None:
    """What `clause` promises; `before` are the clauses of the same sentence that precede it."""
    words = clause.words
    offers = OFFER.intersection(words) - (READY if {"будет", "будут"}.intersection(words) else set())
    if offers == {"может"} and any(is_promising(word) for word in words[: words.index("может")]):
        offers = frozenset()  # "спрошу и отпишусь, может перенесёт"
    if clause.asks or "ли" in words or (offers and "давайте" not in words):
        return None
    if HEDGES.intersection(words) or (before and HEDGES.intersection(before[-1].words[:3])):
        return None
    if words[0] in ("чтобы", "хотя") or _reported(words, before):
        return None
    if disclaims(words) or (before and words[0] not in OPENERS and disclaims(before[-1].words)):
        return None
    if _is_policy(words) or (before and _is_policy(before[-1].words)):
        return None
    conditional = _condition(words, before)
    if conditional == "offer":
        return None
    subordinate = next((word in QUESTION for word in words if word not in OPENERS), False) and "только" not in words[:3]
    strengths: list[Strength] = []
    verbs: set[str] = set()
    arrives = company = habit = False
    for at, word in enumerate(words):
        verb = verb_of(word)
        if verb is None or verb.part == "INFN" or (verb.part == "VERB" and verb.tense == "past"):
            continue
        if subordinate:
            subordinate = False  # "когда приеду" is none, "позвоню" after it may be one
            continue
        strength, name = _strength(verb, at, words, internal)
        if strength == "none":
            continue
        strengths.append(strength)
        verbs.add(family(name))
        arrives = arrives or ((name in COME or name == "быть") and not THINGS.intersection(words))
        habit = habit or (verb.tense == "pres" and verb.person == "1per")
        company = company or verb.person != "1per" or (verb.plural and bool(YOU.intersection(words)))
    owed = _owed(words)
    if owed:
        strengths.append(owed)
        verbs.add("owe")
    if not strengths:
        return None
    strength = strongest(strengths)
    if conditional == "other":
        strength = "own"
    elif NOW.intersection(words) and "contact" not in verbs:
        strength = "dated"
    return Found(strength, frozenset(verbs), _topics(words), arrives, company, _joins(words), habit)


def is_fragment(clause: Clause) -> bool:
    """Whether the clause says no more than when or where."""
    return not any((verb := verb_of(word)) is not None and verb.part in ("VERB", "INFN") for word in clause.words)


def _joins(words: tuple[str, ...]) -> Literal["", "and", "list", "then"]:
    if words[0] == "и":
        return "and"
    if len(words) > 1 and (is_promising(words[0]) or (words[0] in ("сразу", "там", "тут") and is_promising(words[1]))):
        return "then"  # "к среде сделаю, пришлю в чат"
    return "" if SUBJECT.intersection(words) or words[0] in OPENERS else "list"


def is_offer(clause: Clause) -> bool:
    """ "..., если закажете сегодня", and not "..., если вы не против"."""
    return (
        clause.words[0] == "если" and not POLITE.intersection(clause.words) and _condition(clause.words, ()) == "offer"
    )


def disclaims(words: tuple[str, ...]) -> bool:
    """ "Обещать не буду", "не уверена"."""
    return any(
        word in DISCLAIMED and "не" in words[max(0, at - 2) : at + 2] and "уверен" not in words[at + 1 : at + 2]
        for at, word in enumerate(words)
    )


def _is_policy(words: tuple[str, ...]) -> bool:
    """ "При заказе до двух"."""
    return any(first == "при" and second in POLICY for first, second in pairwise(words))


def _reported(words: tuple[str, ...], before: tuple[Clause, ...]) -> bool:
    """ "Сказали что перезвонят", and not "хорошо, что сказали"."""
    for at, word in enumerate(words):
        if word in REPORT and (words[at + 1 : at + 2] == ("что",) or (at + 1 < len(words) and verb_of(words[-1]))):
            return True
    return bool(before) and words[0] == "что" and bool(REPORT.intersection(before[-1].words))


def family(normal: str) -> str:
    """One name for verbs that say the same promise in other words."""
    for name, verbs in (("contact", CONTACT), ("send", SEND), ("come", COME)):
        if normal in verbs:
            return name
    return normal


def _topics(words: tuple[str, ...]) -> frozenset[str]:
    return topics([word for word in words if word not in SMALL and verb_of(word) is None])


def _condition(words: tuple[str, ...], before: tuple[Clause, ...]) -> str:
    """`offer` where it hangs on what the other wants or does, `other` where on anything else."""
    for clause in (words, *(one.words for one in before[-2:] if one is before[-1] or "если" in one.words[:3])):
        if "если" not in clause:
            continue
        at = clause.index("если")
        rest = clause[at + 1 :]
        if (rest[:1] == ("что",) and len(rest) <= 2) or ("не", "так") in pairwise(rest[:6]):
            continue
        if {"сам", "сама", "сами"}.intersection(words):
            return "other"
        if YOU.intersection(rest[:4]) or {
            "вы",
            "ты",
            "нужно",
            "надо",
            "удобно",
            "интересно",
            "понадобится",
            "ваш",
            "ваше",
            "ваша",
            "ваши",
        }.intersection(rest[:5]):
            return "offer"
        if any((verb := verb_of(word)) is not None and verb.person == "2per" for word in rest[:6]):
            return "offer"
        return "other"
    return ""


def _strength(verb: Verb, at: int, words: tuple[str, ...], internal: bool) -> tuple[Strength, str]:
    name = verb.normal
    if {"пусть", "пускай"}.intersection(words[:at]) or (verb.person == "3per" and "давайте" in words[:at]):
        return "none", name
    if _denied(at, words) and name != "забыть":
        spared = name in SPARED or (name == "быть" and SPARED.intersection(lemmas(words)))
        return ("limit" if spared and not internal and verb.tense == "futr" else "none"), name
    infinitive = _infinitive_after(at, words)
    if verb.person == "1per":
        if name in TRY or name == "забыть":
            if infinitive and name in ("попробовать", "постараться"):
                return ("dated" if infinitive not in NEVER else "none"), infinitive
            return _of(infinitive, "dated" if infinitive else "none") if infinitive else ("none", name)
        if name == "быть":
            if infinitive:
                return ("dated", infinitive) if infinitive not in NEVER else ("none", name)
            stays = "до" in words and {"офисе", "связи", "месте"}.intersection(words)
            return ("dated" if PLACES.intersection(words) and not stays else "none"), name
        if name == "попросить" and infinitive and words[at + 1 : at + 2] != ("вас",):
            return ("firm" if infinitive in FIRM else "dated"), infinitive
        if _perfective(name) in HOLD:
            return "limit", _perfective(name)
        if internal and name in ("встречаться", "встретиться"):
            return "none", name
        if name in BOOK:
            return ("limit" if name == "перенести" or YOU.intersection(words) else "own"), name
        if name == "взять" and {"контроль", "себя"}.intersection(words):
            return "firm", name
        if (
            name == "написать"
            and words[at + 1 : at + 2] == ("в",)
            and words[at + 2 : at + 3]
            and words[at + 2].startswith(NOTED)
        ):
            return "none", name
        if name in NEVER and name not in AT_ONCE:
            return "none", name
        if verb.plural and "давайте" in words and not {"мы", "я"}.intersection(words):
            return "none", name
        if _is_told_ahead(name, words):
            return "firm", name
        if name in ("сделать", "закрыть") and any(word.startswith(WORKS) for word in words):
            return "firm", name
        if verb.tense == "futr" and (_is_free(words) or (SURELY.intersection(words) and name not in AT_ONCE)):
            return "firm", name
        if name == "разобраться" and len(words) == 1:
            return "none", name
        if verb.tense == "futr":
            if name == "посмотреть" and verb.plural:
                return "none", name
            told = len(words) > 1 or name in ("сделать", "заняться", "подготовить", "проверить")
            own_task = internal and told and not verb.plural and name not in SPEECH | AT_ONCE | TALK
            return _of(name, "own" if name in SPEECH else "firm" if own_task else "dated")
        if verb.tense == "pres" and not verb.perfective and family(_perfective(name)) != name:
            return "dated", _perfective(name)
        return "none", name
    if verb.person == "2per" and verb.tense == "futr" and verb.plural:
        return ("dated" if name == "получить" else "none"), name
    if verb.person == "3per" and verb.tense == "futr" and not internal:
        return _of_others(verb, at, words, infinitive)
    return "none", name


def _of(name: str | None, else_: Strength) -> tuple[Strength, str]:
    name = name or ""
    if name in FIRM:
        return "firm", name
    return (else_ if name not in NEVER or name in AT_ONCE else "none"), name


def _of_others(verb: Verb, at: int, words: tuple[str, ...], infinitive: str | None) -> tuple[Strength, str]:
    """Promises for somebody else of the company, and impersonal ones."""
    around = frozenset(words) | {part for word in words if "-" in word for part in word.split("-")}
    name = verb.normal
    done = next(
        (one for one in map(verb_of, words[max(0, at - 4) : at + 5]) if one and one.part in ("PRTS", "ADJS")), None
    )
    if name == "быть":
        if done is None:
            if around & (ROLES | THINGS) and (
                around & PLACES or infinitive in ("лежать", "ждать", "стоять", "ожидать")
            ):
                return "dated", name
            if around & KEPT and _thing(words[:at]):
                return "dated", name
            answer = bool(around & ANSWERS) and infinitive is None
            return ("dated" if answer or ({"вас", "вам"} & around and "у" in around) else "none"), name
        return ("dated" if done.normal != "должный" else "none"), done.normal
    you = bool(YOU & around)
    if {"освободившийся", "свободный"} & around:
        return "none", name
    if around & ROLES:
        works = name == "сделать" and any(word.startswith(WORKS) for word in words)
        return ("firm" if works or name in CONTACT | COME or (you and name in FIRM) else "dated"), name
    if name in CONTACT | COME and _actor(words):
        return ("firm" if you or _is_free(words) else "dated"), name
    if you and name in CONTACT and around & THIRD:
        return "firm", name
    if verb.plural and you and name in GIVEN and not around & PLURALS:
        return "dated", name
    if verb.plural and not around & (THINGS | {"вы", "мы"}) and name in FIRM | RESTORED:
        return ("firm" if you and name in FIRM else "dated"), name
    if name in CONTACT and _somebody(words):
        return "firm", name
    if (around & THINGS and name in ARRIVES) or around & THIRD or _somebody(words):
        return ("dated" if name in FIRM or name in ARRIVES else "none"), name
    return "none", name


def _somebody(words: tuple[str, ...]) -> bool:
    return any("Name" in parse.tag for word in words if len(word) > 3 for parse in analyser().parse(word[:30])[:1])


def _thing(words: tuple[str, ...]) -> bool:
    """A thing in the nominative, and not an event or a shop."""
    return any(
        {"NOUN", "inan", "nomn"} in parse.tag and parse.normal_form not in EVENTS
        for word in words[-8:]
        if len(word) > 2
        for parse in analyser().parse(word[:30])[:2]
    )


def _is_told_ahead(name: str, words: tuple[str, ...]) -> bool:
    """What is firm by the words around: "напомню за день", "поговорю с бухгалтерией", "вернусь к вам с ответом"."""
    if name == "напомнить":
        return "накануне" in words or "заранее" in words or ("за", "день") in pairwise(words)
    if name in ("поговорить", "связаться", "обсудить"):
        return "с" in words and "вами" not in words
    if name == "дать":
        return "знать" in words
    return name == "вернуться" and "вам" in words


def _actor(words: tuple[str, ...]) -> bool:
    """Somebody of a trade or office ("лаборант"): an animate noun in the nominative."""
    return any(
        {"NOUN", "anim", "nomn", "sing"} in parse.tag and parse.normal_form not in FAMILY
        for word in words
        if len(word) > 4
        for parse in analyser().parse(word[:30])[:1]
    )


def _denied(at: int, words: tuple[str, ...]) -> bool:
    return "не" in words[max(0, at - 2) : at] or "никогда" in words[max(0, at - 3) : at] or "вряд" in words


def _infinitive_after(at: int, words: tuple[str, ...]) -> str | None:
    for word in words[at + 1 : at + 7]:
        verb = verb_of(word)
        if verb is not None and verb.part == "INFN":
            return verb.normal
    return None


def _perfective(name: str) -> str:
    return IMPERFECTIVE.get(name, name)


def _is_free(words: tuple[str, ...]) -> bool:
    """ "За наш счёт", "бесплатно"."""
    return (
        bool(FREE.intersection(words))
        or ("без", "доплаты") in pairwise(words)
        or any(
            words[at] == "за" and words[at + 1] in ("наш", "свой") and words[at + 2].startswith("счет")
            for at in range(len(words) - 2)
        )
    )


def _owed(words: tuple[str, ...]) -> Strength | None:
    """ "Договор за мной", "с меня смета", "ждите звонка", "в пятницу счёт у вас"."""
    if any((verb := verb_of(word)) and verb.part == "VERB" for word in words):
        return None
    pairs = set(pairwise(words))
    if pairs & {("за", "мной"), ("за", "нами"), ("с", "меня"), ("с", "нас")}:
        return "dated"
    if AWAITED.intersection(words):
        awaited = lemmas(words)
        if "звонок" in awaited:
            return "firm"
        return "dated" if awaited & (THINGS | ROLES) or {"меня", "нас"}.intersection(words) else None
    at = next((at for at, pair in enumerate(pairwise(words)) if pair == ("у", "вас")), 0)
    subject = (at and (THINGS | ROLES).intersection(words[:at])) or (at and _somebody(words[:at]))
    return "dated" if subject and len(words) < _SHORT else None
