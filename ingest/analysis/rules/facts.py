"""Lasting facts about clients, out of what they say of themselves: where they are, what they own, whom they live with,
how they like to be reached, what they plan. Few and sure: a wrong one in a profile is worse than none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from types import ModuleType

from ingest.analysis.conversation import Conversation, Turn
from ingest.analysis.findings import Binding, Fact, Quote, Sides
from ingest.analysis.hostile import is_instruction
from ingest.analysis.rules import facts_en, facts_en_told, facts_en_ways, facts_ru, facts_ru_told, facts_ru_ways
from ingest.analysis.rules.fact_answers import answered, gives_phone, last_question, may_be_phone, spoken_phones
from ingest.analysis.rules.fact_wording import REVOKES, content_of, is_place, key_word, may_be_plan, subject
from ingest.analysis.rules.morphology import read

MOST_FACTS = 40  # of a person in one conversation
_MOST_OF_TURN = 20_000
_MOST_TURNS = 10_000
_FAR = 22  # characters of a clause before what tells the fact
_CLAUSE = re.compile(r"[^.!?…;\n⏎]{1,400}[.!?…;]?")
_EMAIL = re.compile(r"(?<![\w.+-])[A-Za-z0-9][A-Za-z0-9._+-]{0,60}@[A-Za-z0-9-]{1,60}(?:\.[A-Za-z0-9-]{1,30}){1,4}")
_PHONE = re.compile(r"(?<![\w+])\+?\d[\d ()-]{5,20}\d(?!\w)")
_HANDLE = re.compile(r"(?<![\w.@])@[A-Za-z][A-Za-z0-9_]{3,31}(?![\w.@])")
# Kinds of which somebody has many: each is about something.
_MANY = frozenset(
    (
        "plan",
        "preference",
        "family",
        "family:event",
        "family:likes",
        "family:age",
        "family:place",
        "family:job",
        "health",
        "documents",
        "business",
        "company:change",
        "schedule",
        "access",
        "home",
        "away",
        "assets",
        "lacks",
        "contact:person",
        "equipment",
        "pet",
        "size",
        "age",
        "decides",
        "supplier",
    )
)
_TOLD = {
    facts_en: facts_en_told.RULES + facts_en_ways.RULES,
    facts_ru: facts_ru_told.RULES + facts_ru_ways.RULES,
}
_QUESTION_WORD = re.compile(
    r"\b(?:ли|разве|неужели|почему|зачем|сколько|когда|какой|какие|where|why|how|what|when|which|do you|"
    r"can you|is it|are you)\b"
)
_RECENT = 300  # characters before, in which somebody of the family was spoken of
_A_NAME = 0.3
_OF_FAMILY = re.compile(
    rf"(?<![^\W\d_])(?:{facts_en_told.RELATIVE}|{facts_ru_told.RELATIVE}|my \w{{3,12}}|кот|собак|ребен)"
)
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s)|\n|⏎")
_MOST_OF_SENTENCE = 400
_TO_REMEMBER = re.compile(
    r"\b(?:remember|memori[sz]e|store|save) that\b|\b(?:запомни|сохрани|зафиксируй)(?:те)?,? что\b|"
    r"\b(?:запиши|сохрани|добавь|внеси|занеси|save|store|add|write|put|record|commit)[^.!?]{0,60}\b"
    r"(?:(?:в|to|in|into) (?:(?:your|the|my|свою|твою|вашу|мою) )?(?:long-term |долгосрочную )?"
    r"(?:памят[ьи]|профиль|memory|profile))\b"
)
_MOST_OF_A_HOUSEHOLD = 12
_AT_WORK = re.compile(
    r"(?:офис|компани|фирм|отдел|штат|коллектив|команд|цех|сотрудник|персонал|office|company|firm|team|staff|"
    r"department|employ)"
)
_MANY_WORDS = re.compile(
    r"\b(?:\w{2,8}надцать|двадцать|тридцать|сорок|\w{3,6}десят|девяносто|сто|двести|триста|\w{3,6}teen|twenty|thirty|"
    r"forty|fifty|sixty|seventy|eighty|ninety|hundred)\b"
)
_COMMA = re.compile(r",|\s[—–-]\s")


def find_facts(conversation: Conversation, sides: Sides, bindings: Sequence[Binding]) -> tuple[Fact, ...]:
    """Of the clients that are bound, in the order they were told; the later one of two under one key."""
    person_of = {binding.label: binding.person_id for binding in bindings}
    person_of |= {person.label: person.id for person in conversation.people if person.label}
    staff = {person.id for person in conversation.people if person.side == "employee"}
    clients = {
        label: person_of[label] for label in sides.clients if label in person_of and person_of[label] not in staff
    }
    if not clients:
        return ()
    rules = facts_en if conversation.language == "en" else facts_ru
    company = _plain(" ".join(conversation.company.contacts))
    found: dict[tuple[str, str], Fact] = {}
    before_of: dict[str, str] = {}
    turns = conversation.turns[:_MOST_TURNS]
    for before, turn in pairwise((Turn(-1, ""), *turns)):
        person_id = clients.get(turn.label or "")
        if person_id is None:
            continue
        asked = _plain(before.text[-400:]) if before.label != turn.label else ""
        for key, start, end in _find(
            turn.text[:_MOST_OF_TURN], asked, company, rules, conversation.language, before_of.get(person_id, "")
        ):
            words = turn.text[start:end]
            if _is_dictated(turn.text, start, end):
                continue
            content = content_of(words, key, conversation.language) or _with_question(words, before.text)
            if content:
                fact = Fact(person_id, key, content, Quote(words, turn.idx, turn.label))
                _silence(found, fact)
                found.pop((person_id, key), None)
                found[person_id, key] = fact
        before_of[person_id] = (before_of.get(person_id, "") + " " + _plain(turn.text[-_RECENT:]))[-_RECENT:]
    return _the_first(found.values())


def _silence(found: dict[tuple[str, str], Fact], fact: Fact) -> None:
    """Who wants no more calls has taken back how to be called."""
    if fact.key != "contact:time" or not REVOKES.search(_plain(fact.quote.text)):
        return
    channel = found.get((fact.person_id, "contact:channel"))
    if channel is not None and re.search(r"\b(?:зво|call|ring\b|phone)", _plain(channel.content)):
        del found[fact.person_id, "contact:channel"]


def _is_dictated(text: str, start: int, end: int) -> bool:
    """Whether the sentence speaks to whoever keeps the facts: it proves none."""
    first = max(
        (found.end() for found in _SENTENCE_END.finditer(text, max(start - _MOST_OF_SENTENCE, 0), start)),
        default=max(start - _MOST_OF_SENTENCE, 0),
    )
    last = _SENTENCE_END.search(text, end, end + _MOST_OF_SENTENCE)
    sentence = text[first : last.end() if last else end + _MOST_OF_SENTENCE].strip()
    return _TO_REMEMBER.search(_plain(sentence)) is not None or is_instruction(sentence)


def _with_question(words: str, asked: str) -> str:
    """ "Сколько у вас точек? Три": what is too short to be understood by itself."""
    question = " ".join(last_question(asked[-400:]).split())
    return f"{question[:1].upper()}{question[1:]} {words}" if 8 < len(question) <= 120 else ""


def _the_first(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    counts: dict[str, int] = {}
    kept = []
    for fact in facts:
        counts[fact.person_id] = counts.get(fact.person_id, 0) + 1
        if counts[fact.person_id] <= MOST_FACTS:
            kept.append(fact)
    return tuple(kept)


def _find(
    text: str, asked: str, company: str, rules: ModuleType, language: str, before: str
) -> Iterator[tuple[str, int, int]]:
    """(key, start, end) of each fact's words. `asked` is what was said to them last, `before` what they said before."""
    plain = _plain(text)
    if len(plain) != len(text):
        return
    taken: list[tuple[int, int]] = []
    for key, start, end in _details(plain, asked, company, rules):
        if not _within(start, end, taken):
            taken.append((start, end))
            yield key, start, end
    for start, end in spoken_phones(plain, rules.ASKS_PHONE.search(asked) is not None, language):
        if gives_phone(asked, language):
            break  # they repeat what they are told
        if not _within(start, end, taken) and not _OTHER_NUMBER.search(plain[max(start - 40, 0) : start]):
            taken.append((start, end))
            yield "phone", start, end
    for key, start, end in answered(asked, plain, language):
        if not _within(start, end, taken):
            about = subject(plain[start:end], verb=False) if key in _MANY else ""
            taken.append((start, end))
            yield (f"{key}:{about}" if about else key), start, end
    for clause in _CLAUSE.finditer(plain):
        words = clause.group()
        said = before + plain[max(clause.start() - _RECENT, 0) : clause.start()]
        if words.endswith("?") or len(words) < 8:
            continue
        for key, pattern in (*rules.RULES, *_TOLD[rules]):
            match = pattern.search(words)
            if match is None:
                continue
            start, end = _around(words, match)
            doubt = rules.NO_FACT.search(words, max(start - 10, 0), end) if key != "client:since" else None
            if doubt is not None and doubt.start() >= match.end():
                end, doubt = doubt.start(), None
                end = len(words[:end].rstrip(" ,-—"))
            if doubt is not None or _QUESTION_WORD.search(words[start:end]) or not _holds(key, match, said, words):
                continue
            if key in ("family:size", "household") and _is_staff(words[start:end], said + words):
                key = "company:size"
            if key == "plan" and not may_be_plan(words[start:end]):
                continue
            what = match.groupdict().get("what")
            about = key_word(what) if what else subject(words[start:end], verb=key == "plan") if key in _MANY else ""
            start, end = clause.start() + start, clause.start() + end
            if _within(start, end, taken):
                continue
            taken.append((start, end))
            yield (f"{key}:{about}" if about else key), start, end


def _is_staff(words: str, said: str) -> bool:
    """ "Нас 45 человек": too many for a household, or of an office."""
    count = re.search(r"\d{1,6}", words)
    many = int(count[0]) > _MOST_OF_A_HOUSEHOLD if count else _MANY_WORDS.search(words) is not None
    return many or _AT_WORK.search(said) is not None


def _holds(key: str, match: re.Match[str], said: str, words: str) -> bool:
    """What a pattern leaves to be checked: that a place is one, a name is one, and that "she" is of the family."""
    groups = match.groupdict()
    if groups.get("place") and not is_place(groups["place"]):
        return False
    if groups.get("name") and read(groups["name"]).given < _A_NAME:
        return False
    if key in ("family:age", "family:place", "family:job"):
        return _OF_FAMILY.search(said + words[: match.end()]) is not None
    return True


def _details(plain: str, asked: str, company: str, rules: ModuleType) -> Iterator[tuple[str, int, int]]:
    """Addresses, mailboxes and numbers."""
    for pattern in (_EMAIL, rules.EMAIL_SPOKEN):
        for match in pattern.finditer(plain):
            if match.group() not in company and not _yours(plain, match.start()):
                yield "email", match.start(), match.end()
    for match in _HANDLE.finditer(plain):
        if match.group() not in company and not _yours(plain, match.start()):
            yield "messenger", match.start(), match.end()
    for match in _PHONE.finditer(plain):
        digits = re.sub(r"\D", "", match.group())
        ours = digits not in re.sub(r"\D", "", company) and not _yours(plain, match.start())
        told = rules.ASKS_PHONE.search(asked) or _MY_NUMBER.search(plain[max(match.start() - 40, 0) : match.start()])
        told = told and not _OTHER_NUMBER.search(plain[max(match.start() - 40, 0) : match.start()])
        told = told and may_be_phone(digits) and not _IS_AMOUNT.match(plain[match.end() : match.end() + 20])
        if told and ours and (match.group().startswith("+") or len(digits) in (7, 10, 11)):
            yield "phone", match.start(), match.end()
    for match in rules.ADDRESS.finditer(plain):
        if not _yours(plain, match.start()) and (
            rules.ASKS_ADDRESS.search(asked) or _OWN_PLACE.search(plain[max(match.start() - 60, 0) : match.start()])
        ):
            yield "address", match.start(), match.end()
    match_ = rules.TAX_NUMBER.search(plain)
    if match_:
        yield "tax_number", match_.start("fact"), match_.end("fact")
    elif rules.ASKS_TAX.search(asked) and (match_ := re.search(r"(?<!\d)\d{10}(?:\d\d)?(?!\d)", plain)):
        yield "tax_number", match_.start(), match_.end()


_OTHER_NUMBER = re.compile(
    r"(?:заказ|договор|счет|карт|баланс|сумм|бюджет|\bдолг\b|\bкод\b|\bпин\b|бонус|балл|"
    r"стоит|скидк|лицев|полис|накладн|паспорт|заявк|трек|инн|order|account|policy|invoice|"
    r"ticket|card|case|tracking|"
    r"balance|amount|budget|debt|\bcode|\bpin\b|points|price|cost|licen[cs]e|reference|ref|serial|site|"
    r"meter)[^.!?\d]{0,20}$"
)
_MY_NUMBER = re.compile(
    r"(?:номер|телефон|мобильн|сотов|звоните|звонить|набирайте|набрать|для связи|ватсап|вотсап|вайбер|"
    r"number|cell|reach|"
    r"phone|mobile|landline|(?:call|text|ring) me\b|whatsapp)[^.!?\d]{0,25}$|(?:^|\W)(?:мой|my)\W{1,3}$"
)
_IS_AMOUNT = re.compile(r"\s{0,2}(?:руб|р\.|₽|\$|€|£|долл|евро|тысяч|процент|%|штук|dollar|euro|pound|usd|eur|percent)")
_OWN_PLACE = re.compile(
    r"(?:живу|живем|переехал\w|адрес|у меня|у нас|мы на|мы переехали|доставк\w|привез\w{2,4}|нахо\w{3,6}|"
    r"i live|i'm at|we're at|my address|our address|address is|deliver\w{0,3} (?:it )?to|moved to|it's|"
    r"come to)[^.!?]{0,35}$"
)


def _yours(plain: str, at: int) -> bool:
    return (
        re.search(r"\b(?:ваш\w{0,3}|у вас|вы|вам|your|yours)\b[^.!?]{0,25}$", plain[max(at - 40, 0) : at]) is not None
    )


def _within(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    return any(start < other_end and other_start < end for other_start, other_end in taken)


def _around(words: str, match: re.Match[str]) -> tuple[int, int]:
    """The part of a clause that the match needs: from the comma before it to the next one behind it."""
    if "fact" in match.groupdict() and match["fact"]:
        return match.span("fact")
    start = max((found.end() for found in _COMMA.finditer(words, 0, match.start())), default=0)
    if match.start() - start > _FAR:
        start = match.start()  # a recogniser leaves no marks between sentences
    following = _COMMA.search(words, match.end())
    end = following.start() if following else len(words)
    if end - match.end() > 80:
        end = words.rfind(" ", match.end(), match.end() + 60)
        end = end if end > 0 else match.end()
    while start < end and not words[start].isalnum():
        start += 1
    while end > start and not words[end - 1].isalnum() and words[end - 1] not in "»)%":
        end -= 1
    return start, end


def _plain(text: str) -> str:
    """Lower case, of the same length as the text, so that offsets hold."""
    lower = text.lower().replace("ё", "е").replace("’", "'")
    return lower if len(lower) == len(text) else text.replace("ё", "е").replace("’", "'")
