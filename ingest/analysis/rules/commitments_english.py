"""Promises in English: "I'll", "we are going to", "you'll have it by", "someone will be in touch"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from ingest.analysis.rules.commitments_clauses import Clause, Found, Strength, Token, strongest, topics
from ingest.analysis.rules.commitments_english_words import (
    ABOUT,
    ADVERBS,
    AM,
    ASK,
    AT_ONCE,
    AVAILABLE,
    BE,
    CALLS,
    COME,
    CONTACT,
    DOUBTS,
    FIRM,
    FREE,
    HAPPY,
    HEDGES,
    HELD,
    I_WILL,
    MODALS,
    NEVER,
    NOTES,
    NOW,
    OF_ITSELF,
    PLACES,
    POLITE,
    PRONOUNS,
    REPORT,
    ROLES,
    SCHEDULED,
    SEND,
    SHALL,
    SMALL,
    SPARED,
    STATES,
    TALK,
    THEY_WILL,
    THINGS,
    WE,
    YOU_WILL,
)
from ingest.analysis.rules.deadlines_tokens import SYMBOLS, bag

OPENERS = bag("and but so then or because")
SUBJECTS = bag(
    "i i'll ill i'm im we we'll we're you you'll youll he she they they'll it it'll that the our my your someone "
    "somebody if when once could can would should what how"
)


def breaks(current: Sequence[Token], token: Token) -> bool:
    """Whether a new subject begins another clause, where nobody wrote the comma."""
    opens = token.text in I_WILL | YOU_WILL | THEY_WILL | AM | WE
    return opens and len(current) > 3 and current[-1].text not in ASK | OPENERS | {"that", "than", "if", "like"}


def find(clause: Clause, before: tuple[Clause, ...], internal: bool) -> Found | None:
    """What `clause` promises; `before` are the clauses of the same sentence that precede it."""
    words = _spelt_out(clause.words)
    if clause.asks or _reported(words) or (before and _reported(before[-1].words)):
        return None
    if HEDGES.intersection(words) or (before and HEDGES.intersection(before[-1].words)):
        return None
    if disclaims(words) or (before and words[0] not in OPENERS and disclaims(before[-1].words)):
        return None
    conditional = _condition(words, before)
    if conditional == "offer":
        return None
    asked = next((word in ASK for word in words if word not in OPENERS), False)
    strengths: list[Strength] = []
    verbs: set[str] = set()
    arrives = company = False
    for at in range(len(words)):
        trigger = _trigger(words, at, before)
        if trigger is None:
            continue
        if asked and trigger[0] != "who":
            asked = False
            continue
        who, first = trigger
        if who in ("others", "who") and internal:
            continue
        for strength, verb in _verbs(words, first, who, internal):
            if strength == "none":
                continue
            strengths.append(strength)
            verbs.add(family(verb))
            arrives = arrives or verb in COME or (verb == "be" and who == "i")
            company = company or who in ("others", "who", "you", "expect")
    if not strengths:
        return None
    strength = strongest(strengths)
    if conditional == "other":
        strength = "own"
    elif NOW.intersection(words) and "contact" not in verbs:
        strength = "dated"
    of_that = PRONOUNS.intersection(words) or not {"a", "an", "the"}.intersection(words)
    joins: Literal["", "and", "list", "so"] = "so" if verbs == {"have"} and of_that else ""
    if next((word for word in words if word not in OPENERS), "") in ("it", "it'll", "itll", "that'll", "they'll"):
        joins = "list"  # "we'll take it off, it'll show by Friday"
    return Found(strength, frozenset(verbs), _topics(words), arrives, company, joins)


def _spelt_out(words: tuple[str, ...]) -> tuple[str, ...]:
    """ "The engineer'll call", "the supervisor's going to" in words of their own."""
    spelt: list[str] = []
    for word in words:
        if word.endswith(("'ll", "'s")) and word.partition("'")[0] in ROLES:
            spelt += [word.partition("'")[0], "will" if word.endswith("'ll") else "is"]
        else:
            spelt.append(word)
    return tuple(spelt)


def is_fragment(clause: Clause) -> bool:
    """Whether the clause says no more than when or where."""
    if clause.words[-2:] == ("it", "is"):
        return True
    if any(word.endswith("'s") and word[:-2] not in SYMBOLS for word in clause.words):
        return False  # "Ron's back at one"
    return not (WE | PRONOUNS | AM | I_WILL | YOU_WILL | THEY_WILL | BE | {"you", "they"}).intersection(clause.words)


def is_offer(clause: Clause) -> bool:
    """ "..., if you order today", and not "..., if you don't mind"."""
    return clause.words[0] == "if" and not POLITE.intersection(clause.words) and _condition(clause.words, ()) == "offer"


def disclaims(words: tuple[str, ...]) -> bool:
    """ "We can't guarantee", "no promises"."""
    return any(
        word in DOUBTS
        and {"can't", "cannot", "couldn't", "won't", "not", "don't", "no", "never"}.intersection(words[:at])
        for at, word in enumerate(words)
    )


def _reported(words: tuple[str, ...]) -> bool:
    """ "They said", and not "as I said"."""
    return any(word in REPORT and words[at - 1] not in ("i", "we") for at, word in enumerate(words) if at)


def family(verb: str) -> str:
    for name, verbs in (("contact", CONTACT), ("send", SEND), ("come", COME)):
        if verb in verbs:
            return name
    return verb


def _topics(words: tuple[str, ...]) -> frozenset[str]:
    return topics([word for word in words if word not in FIRM | SMALL | ADVERBS | SHALL | MODALS])


def _condition(words: tuple[str, ...], before: tuple[Clause, ...]) -> str:
    for clause in (words, *(one.words for one in before[-2:] if "if" in one.words[:3])):
        if "if" in clause:
            rest = clause[clause.index("if") + 1 :]
            return (
                "offer"
                if {"you", "you'd", "you're", "your", "you'll", "needed", "necessary"}.intersection(rest[:3])
                else "other"
            )
    return ""


def _trigger(words: tuple[str, ...], at: int, before: tuple[Clause, ...]) -> tuple[str, int] | None:
    """Who promises, and where their verb is, if a promise begins at `at`."""
    word = words[at]
    after = words[at + 1] if at + 1 < len(words) else ""
    last = words[at - 1] if at else ""
    if word in I_WILL:
        return "i", at + 1
    if word == "well" and at + 2 < len(words) and after in FIRM | {"get"}:
        return "well", at + 1
    if word in WE and after in SHALL:
        return "i", at + 2
    if word in WE and after in ("promise", "aim") and words[at + 2 : at + 3] == ("to",):
        return "i", at + 3
    if word == "will" and (at == 0 or last in OPENERS) and after in FIRM | {"get", "do"}:
        return "i", at + 1
    going = word in AM or (word in ("am", "are") and last in WE)
    if going and _is_going(words, at + 1):
        return "i", _after_going(words, at + 1)
    if going and (after.endswith("ing") or (words[at + 2 : at + 3] and words[at + 2].endswith("ing"))):
        return "progressive", at + 1
    if (
        word == "expect"
        and (at == 0 or (last in OPENERS | {"please"} and at < 3))
        and ({"call", "email", "reply", "answer", "visit", "text", "note"} | THINGS).intersection(
            words[at + 1 : at + 7]
        )
    ):
        return "expect", at
    if (
        word == "consider"
        and after in ("it", "that")
        and words[at + 2 : at + 3] in (("done",), ("sorted",), ("fixed",))
    ):
        return "consider", at
    if word == "i" and after == "owe" and words[at + 2 : at + 3] == ("you",):
        return "owe", at + 1
    if word == "let" and after == "me":
        return "let", at + 2
    if word in WE and after == "won't":
        return "spare", at + 2
    if word in SCHEDULED and THINGS.intersection(words[:at]) and _is_scheduled(words, at):
        return "scheduled", at
    if word in YOU_WILL:
        return "you", at + 1
    if word == "you" and after in SHALL:
        return "you", at + 2
    if word in THEY_WILL:
        return "others", at + 1
    if word in SHALL and last == "who" and ROLES.intersection((*words[:at], *(before[-1].words if before else ()))):
        return "who", at + 1
    if word in SHALL and last and last not in WE | {"you", "which", "who", "what", "that'll"} and at:
        return "others", at + 1
    if word in ("is", "are", "he's", "she's", "they're", "it's") and _is_going(words, at + 1) and (at or "'" in word):
        return "others", _after_going(words, at + 1)
    return None


def _is_scheduled(words: tuple[str, ...], at: int) -> bool:
    """ "A new kit leaves here today", "is going out tomorrow", and not "will go", "to go", "goes wrong"."""
    if words[at].endswith("ing"):
        return words[at - 1] in ("is", "are") and words[at + 1 : at + 2] != ("to",)
    if words[at] in ("go", "ship", "leave"):
        subject = words[at - 2] if words[at - 1] == "themselves" and at > 1 else words[at - 1]
        several = subject in THINGS and subject.endswith("s")
        return several and (words[at] != "go" or words[at + 1 : at + 2] == ("out",))
    if {"will", "to", "if", "when", "can", "would"}.intersection(words[:at]):
        return False
    return words[at] != "goes" or words[at + 1 : at + 2] in (("out",), ("to",), ("off",), ("today",), ("tomorrow",))


def _is_going(words: tuple[str, ...], at: int) -> bool:
    while at < len(words) and words[at] in ADVERBS:
        at += 1
    return words[at : at + 2] == ("going", "to") or words[at : at + 1] == ("gonna",)


def _after_going(words: tuple[str, ...], at: int) -> int:
    while words[at] not in ("going", "gonna"):
        at += 1
    return at + (2 if words[at] == "going" else 1)


def _verbs(words: tuple[str, ...], first: int, who: str, internal: bool) -> list[tuple[Strength, str]]:
    """The verb after the trigger and those joined to it by "and"."""
    found: list[tuple[Strength, str]] = []
    at = first
    while at < len(words) and words[at] in ADVERBS:
        at += 1
    tries = words[at : at + 1] == ("try",) and words[at + 1 : at + 2] in (("to",), ("and",))
    at += 2 if tries else 0
    if at >= len(words) or words[at] in ("not", "you", "i", "we") or words[at] in MODALS:
        return []
    subject = frozenset(words[max(0, first - 3) : first])
    task = internal and bool({"i", "i'll", "ill", "i'm"} & subject) and not {"we", "we'll", "we're"} & subject
    strength, verb = _strength(words, at, who, task)
    found.append(("dated" if tries and strength == "firm" else strength, verb))
    for following in range(at + 1, min(len(words) - 1, at + 25)):
        if words[following] == "and" and who != "progressive":
            next_ = following + 1
            while next_ < len(words) - 1 and words[next_] in ("then", "also", "will"):
                next_ += 1
            if words[next_] in FIRM or words[next_] == "get":
                found.append(_strength(words, next_, who, task))
    return found


def _strength(words: tuple[str, ...], at: int, who: str, task: bool) -> tuple[Strength, str]:
    verb, rest = words[at], words[at + 1 :]
    you = bool({"you", "your"} & set(rest))
    if who == "progressive":
        now = verb == "looking" or (verb in ("calling", "phoning", "ringing", "writing") and ABOUT.intersection(rest))
        return ("none" if now else "firm" if _is_free(rest) else "dated"), _stem(verb)
    if who == "you" and (verb, rest[:1]) == ("have", ("to",)):
        return "none", verb
    if who == "you":
        told = verb == "be" and rest[:1] and rest[0].endswith("ed") and rest[0] not in ("charged", "billed", "asked")
        return ("dated" if told or verb in ("have", "get", "receive", "hear") else "none"), "have"
    if who == "expect":
        return "dated", "call"
    if who in ("consider", "owe", "scheduled"):
        return ("firm" if who == "consider" else "dated"), "do" if who == "consider" else verb
    if who == "spare":
        return ("limit" if verb in SPARED and (you or verb not in ("stop", "close")) else "none"), verb
    if who == "let":
        back = "back" in rest[:2] and bool({"to", "you"}.intersection(rest[:4]))
        return ("firm" if back or (you and verb in CONTACT) else "none"), "call"
    if verb in HELD and {"until", "till"}.intersection(rest):
        return "limit", verb
    if verb == "keep" and {"posted", "updated", "informed", "loop"}.intersection(rest[:4]) and you:
        return "dated", verb
    if verb == "give" and CALLS.intersection(rest[1:5]):
        return "firm", "call"
    if verb in ("leave", "stick", "pop", "drop") and NOTES.intersection(rest[:4]):
        return "firm", verb
    if verb == "leave" and ("for", "you") in pairwise(rest):
        return "firm", verb
    if verb in ("put", "set") and "aside" in rest[:8]:
        return "firm", "put"
    if (verb, rest[:1]) in (("look", ("after",)), ("see", ("to",))):
        return "firm", verb
    if verb == "be" and ((rest[:1] and rest[0] in STATES) or AVAILABLE.intersection(rest)):
        return "none", verb
    if who == "i" and verb not in NEVER and _is_free(rest):
        return "firm", verb
    if verb == "be":
        if HAPPY.intersection(rest[:2]):
            return "none", verb
        if (rest[:1] == ("in",) and "touch" in rest[:3]) or rest[:1] == ("calling",):
            return "firm", "call"
        return ("dated" if who != "i" or (rest[:1] and rest[0] in PLACES) else "none"), "be"
    if verb == "have" and you and {"him", "her", "them"}.union(ROLES).intersection(rest[:3]):
        return "firm", "call"
    if verb == "have":
        return ("dated" if rest[:1] != ("to",) and rest[:2] != ("a", "look") else "none"), "send" if you else verb
    if verb in ("get", "have") and "to" in rest[:4] and CONTACT.intersection(rest[:6]) and you:
        return "firm", "call"
    if verb == "get":
        if "back" in rest[:3] or "touch" in rest[:4]:
            return "firm", "call"
        if rest[:1] == ("you",) and THINGS.intersection(rest):
            return "firm", "send"
        return ("firm" if task and rest and rest[0] not in ("to", "started") else "dated"), verb
    if verb in ("book", "put", "schedule", "pencil", "sign") and rest[:1] == ("you",):
        return "limit", verb
    if who == "who":
        return ("firm" if you and verb in FIRM else "dated"), verb
    if who == "others":
        return _of_others(words, at, you)
    if verb == "let" and ("know" not in rest[:5] or rest[:1] == ("me",)):
        return "none", verb
    if verb == "make" and "sure" not in rest[:1]:
        return "dated", verb
    if verb == "follow" and "up" not in rest[:1]:
        return "none", verb
    if verb == "ask":
        others = {"him", "her", "them"}.union(ROLES).intersection(rest[:3]) and "to" in rest[:5]
        if not others and not task:
            return ("none" if rest[:1] == ("you",) else "dated"), verb
        return ("firm" if others or rest[:1] != ("you",) else "none"), verb
    if verb == "try" and rest[:2] == ("you", "again"):
        return "dated", "call"
    if (verb, rest[:1]) == ("look", ("into",)) or (verb, rest[:1]) == ("take", ("care",)):
        return "firm", verb
    if verb in NEVER or (verb == "see" and rest[:1] == ("you",)):
        return "none", verb
    if verb == "come" and rest[:1] == ("back",) and you:
        return "firm", "call"
    if rest[:2] == ("my", "screen") or rest[:1] == ("about",) or (task and verb in TALK):
        return "none", verb
    if verb in AT_ONCE:
        taken = verb in ("take", "set", "find", "book", "check", "ask") and rest[:1] not in (("a",), ("you",), ())
        return ("firm" if task and taken else "dated"), verb
    return ("firm" if verb in FIRM or task else "dated"), verb


def _is_free(rest: tuple[str, ...]) -> bool:
    """ "Free of charge", "at no cost", "on us"."""
    return not set(pairwise(rest)).isdisjoint(FREE)


def _of_others(words: tuple[str, ...], at: int, you: bool) -> tuple[Strength, str]:
    verb = words[at]
    before = frozenset(words[:at])
    if before & ROLES:
        return ("firm" if you and verb in FIRM else "dated"), verb
    if verb in OF_ITSELF:
        return "none", verb
    if you and verb in CONTACT:
        return "firm", verb
    if before & (THINGS | PRONOUNS) or THEY_WILL & before or verb in FIRM:
        return "dated", verb
    return "none", verb


def _stem(verb: str) -> str:
    base = verb.removesuffix("ing")
    return next((one for one in FIRM if one in (base, base + "e")), base)
