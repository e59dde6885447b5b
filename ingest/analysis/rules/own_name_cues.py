"""By which words people give their own name, ask for another's, call somebody, or speak of somebody. Both languages."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from ingest.analysis.rules.call_cues import LEFT_EDGE, ROLE
from ingest.analysis.rules.mentions import Mention
from ingest.analysis.rules.morphology import read

_B = r"(?<![^\W\d_])"  # the beginning of a word
_E = r"(?![^\W\d_])"


class OwnSpan(NamedTuple):
    """`start` and `end` span the cue and the name, `name_start` begins the name."""

    name_start: int
    start: int
    end: int
    name: str


# A cue with a name behind it, the words that may stand between counted in characters of one clause.
_CUE_THEN_NAME = tuple(
    (re.compile(_B + cue + _E), most, kind)
    for cue, most, kind in (
        (r"(?:меня (?:тоже )?(?:зовут|звать)|зовут меня|звать меня)", 14, "any"),
        (r"(?:мо[ея] имя|имя мое|имя у меня|моя фамилия|фамилия моя|представлюсь)", 14, "any"),
        (r"(?:зовите меня|обращайтесь ко мне|можно просто|можете звать меня)", 14, "name"),
        (r"вас (?:снова |вновь |опять )?(?:беспокоит|приветствует|тревожит|поздравляет|консультирует)", 60, "name"),
        (
            r"(?:с вами|вам|вас) (?:снова |вновь |опять )?(?:говорит|разговаривает|общается|звонит|пишет|помогает|"
            r"на связи)",
            60,
            "name",
        ),
        (r"(?:с вами|на связи|на линии|у телефона|на проводе|у аппарата)", 45, "name"),
        (r"(?:беспокоит|приветствует)", 30, "said"),
        (r"(?:говорит|пишет вам|вам пишет|звонит вам)", 30, "said"),
        (r"меня(?= [^\W\d_]{2,20} (?:зовут|звать))", 2, "any"),
        (r"зовут", 2, "said"),
        (r"(?:это|я)(?: снова| опять| вновь| тоже)?", 24, "this"),
        (rf"{ROLE}", 3, "role"),
        (r"(?:my (?:\w{2,8} )?name (?:is|was)|my (?:\w{2,8} )?name'?s|the name's|the name is|name's)", 14, "any"),
        (r"(?:call me|i go by|i'm called|i am called|introduce myself,? )", 10, "name"),
        (r"(?:you're|you are|you're now|you are now) (?:speaking|talking|chatting|through) (?:to|with)", 14, "name"),
        (r"(?:you've|you have) reached", 14, "reached"),
        (r"(?:this is|it'?s|it is|this's|i'm|i am|im)", 6, "this"),
    )
)
# A name with a cue behind it.
_NAME_THEN_CUE = re.compile(
    r",? {0,3}(?:(?:вас |внимательно |вам )?(?:слушает|слушаю)|(?:уже |снова )?на (?:связи|линии|проводе)|"
    r"у (?:телефона|аппарата)|вас беспокоит|беспокоит|"
    r"меня зовут|зовут меня|мое имя|that's me|thats me|это я|speaking|here(?! is| are|'s)|calling|"
    r"on the line|at your service|(?:is )?my name)(?![^\W\d_])"
)
_HELP_THEN = re.compile(
    r", {0,3}(?:добрый день, |здравствуйте, )?(?:слушаю|чем (?:я )?(?:могу|вам)|how (?:can|may) i|what can i)"
)
_OF_A_COMPANY = r" of (?!(?:course|the|a|an|you|your|our|my|his|her|all|them|it)\b)(?=[^\W\d_]{2})"  # "Kate of Acme"
_FROM_THEN = re.compile(
    r",? {0,3}(?:from|with|at|over at|out of|calling|speaking|here|again|too|as well)(?![^\W\d_])|"
    rf"{_OF_A_COMPANY}|,? {{0,3}}(?:из|с|от|"
    r"компани\w)(?![^\W\d_])"
)
# "Hello, Kate from Acme Lamps.": how a call is answered. Who calls Kate so goes on, or asks.
_GREETED = re.compile(
    r"\W{0,3}(?:hello|hello there|hi|good (?:morning|afternoon|evening)|здравствуйте|добрый (?:день|вечер)|"
    r"доброе утро)[,.!] {1,3}"
)
_OF_A_PLACE = re.compile(
    r" (?:from|with|at|of|из) (?!you|your|the same|вашего|вашей|за )[^\W\d_]{2,30}(?: [^\W\d_]{2,30}){0,2} {0,2}"
    r"(?=[.!]|$)"
)
_AT_A_PLACE = re.compile(
    r" (?:from|with|at) (?!you|your|the same)[^\W\d_]{2,30}(?: [^\W\d_]{2,30}){0,1}"
    r"(?= {0,2}(?:[,.!]|$)| here| calling| again)"
)
_QUESTION = re.compile(
    r"(?!, {0,3}(?:(?:so |and |а )?(?:how (?:can|may|could|are)|what can|what's|may i|"
    r"can i|could i|who am i|with whom|"
    r"чем (?:я |мы )?(?:могу|можем|вам)|как (?:я )?(?:могу|можно|к вам|вас)|слушаю|"
    r"что (?:у вас|случилось|подсказать))))"
    r"[^.!\n⏎]{0,60}\?"
)
# What somebody else said: "мне сказали: меня зовут Катя", "she said this is Kate".
_REPORTED = re.compile(
    r"(?:(?<!я )(?<!я уже )(?<!я же )(?:сказал[аи]?|говорит|говорят|говорил[аи]?|ответил[аи]?|ответили|написал[аи]?|"
    r"представил(?:ся|ась|ись)|объявил[аи]?|заявил[аи]?|уверял[аи]?|отвечает|отвечают|пишет|пишут|услышал[аи]?)"
    r"(?: (?:мне|нам|ему|ей|так|что|как|она|он|девушка|женщина|мужчина|оператор|менеджер)){0,2}|"
    r"(?<!i )(?<!i've )(?<!i just )(?<!i already )(?:said|told (?:me|us|him|her|them)|says|saying|went|goes|"
    r"answered|replied|wrote|was like|is like|claimed|"
    r"introduced (?:himself|herself|themselves))(?: (?:to me|that|as|like|hi|hello)){0,2})"
    r"(?:[\s,:«\"“'—–-]{1,6}|[\s,:«\"“'—–-]{1,4}(?:да|здравствуйте|добрый день|алло|hi|hello|good morning)"
    r"[\s,.!—–-]{1,4})$"
)
_QUOTES_OTHER = re.compile(r":\s{0,2}[«\"“][^»\"”]{0,80}$")
_ASKED_AT_ONCE = re.compile(r",? {0,3}(?:да|верно|правильно|right|correct)? {0,3}\?")
_NOT_OWN_BEFORE = re.compile(
    r"(?:как|его|ее|их|вас|тебя|мужа|жену|сына|дочь|мне|ему|ей|он|она|они|что|а это|не|is|not|where|if|"
    r"and|that|think|say|says|said) {0,3}$"
)
_STOP_BETWEEN = re.compile(
    r"[.!?\n⏎«»\"“:]|(?:^|[^\w])(?:как|что|не|you|not|for|about|с вами|who|how|what|where)(?![^\W\d_])"
)
_ROLE_ONLY = re.compile(_B + ROLE + r"(?: [^\W\d_]{1,30}){0,4} {0,2}$")
_STARTS = re.compile(
    r"(?:^|[.!?…\n⏎,:;—–-]) {0,3}(?:(?:а|и|да|ну|так|алло|hi there|right|hi|hello|hey|yes|yeah|oh|so|"
    r"and)[, ]{1,3})?(?:здравствуйте|добрый \w{4,5}|доброе утро|привет|good \w{7,9})?[,.! ]{0,3}$"
)
_RIGHT_OF_THIS = re.compile(
    r" {0,3}(?:$|[,.!;:—–\n⏎-]|(?:из|с|по|насчет|компани\w|от|ваш|менеджер|from|with|at|calling|speaking|"
    r"here|again|over|and i|the|your|too|as well|also|тоже)(?![^\W\d_])|"
    rf"{_OF_A_COMPANY})"
)
ASKS_NAME = re.compile(
    r"как (?:к вам|мне|я могу|я|могу|можно|лучше)[^.!?]{0,25}(?:обращаться|называть|звать|обратиться)|"
    r"как вас (?:зовут|звать|величать|по имени|называть)|"
    r"как ваше имя|ваше имя|как (?:могу|можно) (?:к вам )?(?:обращаться|обратиться)|к вам (?:могу |"
    r"можно )?обращаться|представьтесь|назовите (?:пожалуйста,? |,? ?пожалуйста,? )?(?:ваше |свое |вашу |"
    r"свою )?(?:имя|фамили)|"
    r"(?:ваш\w?|свои?\w?) (?:фамили|фио|имя)|с кем (?:я )?(?:говорю|разговариваю|имею честь|общаюсь)|"
    r"на чье имя|на кого (?:записать|оформить|оформлять|записываю)|ваши (?:фамилию|данные)|"
    r"фамилию (?:и имя )?(?:скажите|подскажите|назовите|пожалуйста)|(?:скажите|подскажите) (?:ваш\w |"
    r"пожалуйста )?(?:фамили|имя)|кто (?:это )?(?:говорит|звонит|у телефона)|"
    r"(?:what(?:'s| is| was)|may i (?:have|get|ask)|can i (?:have|get|ask|take)|could i (?:have|get|ask|"
    r"take)|could you (?:give|tell) me|grab) (?:for )?your (?:\w{3,5} )?name|"
    r"your (?:full |first |last |good )?name,? (?:please|sir|ma'am)|and your name|name please|"
    r"who am i (?:speaking|talking|chatting)|who(?:'s| is) (?:this|calling|speaking)|who do i have the|"
    r"whom am i|"
    r"how (?:should|may|can|shall|do) i (?:address|call)|what (?:should|can|may|do) i call you|what name|"
    r"under (?:what|which) name|who'?s (?:the|this) (?:\w{4,11} )?(?:under|for)\?"
)
AND = re.compile(r" {1,3}(?:и|или|and|or|&) {1,3}")
TITLE_BEFORE = re.compile(r"(?:mister|mr|mrs|ms|miss|dr|sir|madam|господин|госпожа|г-н|г-жа)\.? {0,3}$")
IS_IT = re.compile(
    r"(?:^|[^\w])(?:это|вы|(?:говорю|разговариваю|общаюсь) с|is this|is that|am i (?:speaking|talking|"
    r"chatting) (?:with|to)|this is|you must be|do i have|and you are|you're) {0,3}$"
)
ASKED = re.compile(r"[^.!\n⏎]{0,60}\?")
_IS_IT_SURELY = re.compile(r"(?:is this|am i (?:speaking|talking|chatting) (?:with|to)) {0,3}$")


# Kinds of businesses and departments: "Юля, обжарочная «Зерно»" is who calls.
_ORGANISATION = (
    r"(?:«|\"|(?:интернет-|авто|транспортн\w\w |строительн\w\w |управляющ\w\w |торгов\w\w |"
    r"страхов\w\w )?(?:компани|фирм|магазин|клиник|центр|служб|отдел|банк|салон|студи|агентств|школ|"
    r"сервис|склад|рестора|кафе|гостиниц|отел|завод|типограф|доставк|обжарочн|поддержк|бухгалтери|"
    r"стоматолог|пекарн|мастерск|ателье|аптек|лаборатор|ооо|поставщик|оператор|"
    r"провайдер|техподдержк|логистик|турфирм|университет|институт|академи|клуб|фитнес|мебел|автосервис|"
    r"автосалон|шиномонтаж|библиотек|музе|театр|химчистк|прачечн|ресепшен|регистратур|приемн))"
)
_ROLE_OR_PLACE = re.compile(
    rf", {{0,3}}(?:{_ORGANISATION}|{ROLE}|управляющ|администратор|завхоз|закупщик|снабженец|директор|"
    rf"владел|хозя|from |with |over at |at |account manager|manager)[^.!?\n]{{0,60}}(?:[.!\n]|$)"
)
_PLACE_BEFORE = re.compile(
    rf"^(?:[^.!?]{{0,30}}(?:здравствуйте|добрый день|доброе утро|"
    rf"добрый вечер)[,!. ]{{1,3}})?[^.!?]{{0,40}}(?:{_ORGANISATION})[^.!?]{{0,40}}, {{0,2}}$"
)
_GREETS_NEXT = re.compile(r", {0,3}(?:здравствуйте|добрый|доброе|приветствую|слушаю|good |hello|hi |how |чем )")
_GREETING_ONLY = re.compile(
    r"(?:алло |да )?(?:здравствуйте|добрый день|доброе утро|добрый вечер)[^,.!?]{0,50}$|(?:компания|"
    r"клиника|стоматология|магазин|салон|сервис|служба)[^,.!?]{0,50}$"
)


def own_spans(text: str, mentions: Sequence[Mention]) -> list[OwnSpan]:
    """Where the speaker gives their own name by a cue, by order of the names."""
    plain = text.lower().replace("ё", "е")
    return [span for span in spans_by_cue(text, mentions) if not _is_reported(plain, span)]


def reported_spans(text: str, mentions: Sequence[Mention]) -> list[OwnSpan]:
    """Where the speaker repeats how somebody else gave theirs."""
    plain = text.lower().replace("ё", "е")
    return [span for span in spans_by_cue(text, mentions) if _is_reported(plain, span)]


def _is_reported(plain: str, span: OwnSpan) -> bool:
    before = plain[max(span.start - 90, 0) : span.start]
    return _REPORTED.search(before) is not None or _QUOTES_OTHER.search(before) is not None


def spans_by_cue(text: str, mentions: Sequence[Mention]) -> list[OwnSpan]:
    """Where somebody's own name is given, by whomever."""
    plain = text.lower().replace("ё", "е")
    starts = [mention.start for mention in mentions]
    bare = _MARKS.search(plain) is None  # as a recogniser leaves it
    low = bare and text.islower()
    found: dict[int, OwnSpan] = {}
    for pattern, most, kind in _CUE_THEN_NAME:
        for match in pattern.finditer(plain[: _searched(mentions, text)]):
            at = bisect_left(starts, match.end())
            mention = mentions[at] if at < len(mentions) else None
            if mention is not None and mention.start - match.end() <= most and _fits(plain, match, mention, kind, bare):
                found.setdefault(mention.start, OwnSpan(mention.start, match.start(), mention.end, mention.text))
            elif kind == "any":
                unknown = _UNKNOWN_NAME.match(text, match.end()) or (_low_name(text, match.end()) if low else None)
                if unknown and not _NOT_OWN_BEFORE.search(plain[max(match.start() - 12, 0) : match.start()]):
                    found.setdefault(
                        unknown.start(1), OwnSpan(unknown.start(1), match.start(), unknown.end(1), unknown[1])
                    )
    for match in _FROM_A_PLACE.finditer(plain, 0, 200):
        reading = read(match[1].split()[0])
        if not reading.known or reading.given > 0.5:
            at = match.start(1)
            found.setdefault(at, OwnSpan(at, at, match.end(1), text[at : match.end(1)]))
    for mention in mentions:
        if mention.start not in found and (end := _cue_after(plain, text, mention)):
            found[mention.start] = OwnSpan(mention.start, mention.start, end, mention.text)
    return [found[start] for start in sorted(found)]


_MARKS = re.compile(r"[.,!?;:]")
_SOMEBODY_HERE = re.compile(r"\b(?:no|not|a|any|the|have|got|see|with|for|need|want|find|is|are|was) {0,3}$")
# "Это Тёплый Дом Сервис, Жанна.": who calls from where.
_NAMED_PLACE = re.compile(
    r"(?:[Ээ]то|[Бб]еспокоит|[Зз]вонит|[Tt]his is|[Ii]t's|[Cc]alling from) "
    r"[«\"]?[A-ZА-ЯЁ][^\W\d_]{1,20}(?:[ -][A-ZА-ЯЁ][^\W\d_]{1,20}){0,4}[»\"]?, {0,2}$"
)
_IN_A_SENTENCE = re.compile(r"[^\W\d_]{1,30} [^\W\d_]{1,30}[, ]{1,3}$")
# "это эвелина из меридиана": a name of no list.
_FROM_A_PLACE = re.compile(
    r"(?:^|[.,!] |(?:здравствуйте|здрасте|здрасьте|добрый день|добрый вечер|доброе утро|привет|алло|да) )"
    r"это ([а-я]{3,20}(?: [а-я]{3,20})?) (?:из|с) (?!за )[а-я«]"
)
_LOW_NAME = re.compile(r" {1,2}(?:is )?([^\W\d_]{2,20})(?= |$)")
_NO_LOW_NAME_LIST = """
a an the not is was it that this what and or but i you he she we they on in at from for with under spelled
spelt wrong there here correct right just also still actually changed like first last full а и но не вот как
да нет это там тут он она мы вы я так ну э эм
"""
_NO_LOW_NAME = frozenset(_NO_LOW_NAME_LIST.split())
_UNKNOWN_NAME = re.compile(r" {1,3}([^\W\d_a-zа-яё][^\W\d_]{1,30}(?: [^\W\d_a-zа-яё][^\W\d_]{1,30}){0,2})")


_CYRILLIC_WORD = re.compile(r"[а-я]{2,40}")
_SPEAKS = frozenset("говорит беспокоит приветствует звонит пишет".split())  # noqa: SIM905


def _low_name(text: str, at: int) -> re.Match[str] | None:
    """A name of no list behind "my name is", where a recogniser left no capitals and no marks."""
    found = _LOW_NAME.match(text, at)
    return None if found is None or found[1] in _NO_LOW_NAME or read(found[1]).part in ("VERB", "PREP") else found


def _searched(mentions: Sequence[Mention], text: str) -> int:
    from ingest.analysis.rules.mentions import MOST_CHARACTERS

    return min(len(text), MOST_CHARACTERS)


def _fits(plain: str, match: re.Match[str], mention: Mention, kind: str, bare: bool) -> bool:
    between = plain[match.end() : mention.start]
    before = plain[max(match.start() - 40, 0) : match.start()]
    after = plain[mention.end : mention.end + 70]
    if _STOP_BETWEEN.search(between) or _NOT_OWN_BEFORE.search(before):
        return False
    if any(read(word).part == "VERB" and word not in _SPEAKS for word in _CYRILLIC_WORD.findall(between)):
        return False  # "с вами свяжется Антон"
    if kind == "any":
        return not mention.titled or not _QUESTION.match(after)
    if not mention.sure and between.strip():
        return False
    if kind == "name":
        return not _ASKED_AT_ONCE.match(after)
    if kind == "reached":
        return mention.sure
    if kind == "said":
        return mention.sure and _STARTS.search(before) is not None and _RIGHT_OF_THIS.match(after) is not None
    if kind == "role":
        # "администратор Ольга, слушаю вас" at the beginning; elsewhere a role with a name is somebody else.
        if match.start() > 90 or not _introduces(plain, mention):
            return False
        return _STARTS.search(before) is not None or _GREETING_ONLY.match(plain[: match.start()]) is not None
    words_between = [word for word in re.findall(r"[^\W\d_]{1,40}", between) if not re.fullmatch(ROLE.strip(), word)]
    if len(words_between) > 0 and not re.search(ROLE, between):
        return False
    ends = not after.strip() and mention.sure and match.group() in ("this is", "im", "i'm", "i am")
    if ends and bare:
        return True  # "no she's out this is katya", as a recogniser leaves it
    if match.group() == "я" and mention.last - mention.first > 1 and not between.strip() and bare:
        return True  # "а я климова тамара"
    if not before and not after and match.group() == "это":
        return False  # "это тимур валеев" alone: without marks it asks as well
    if match.group().startswith("it") and _IN_A_SENTENCE.search(before) and not _FROM_THEN.match(after):
        return False  # "I don't touch that, it's Ron"
    if match.group() == "this is" and mention.sure and _FROM_THEN.match(after):
        return True
    if _QUESTION.match(after) or not (_STARTS.search(before) or before.endswith(("and ", "hi ", "hello "))):
        return False
    return _RIGHT_OF_THIS.match(after) is not None and (mention.sure or _FROM_THEN.match(after) is not None)


def _introduces(plain: str, mention: Mention) -> bool:
    after = plain[mention.end : mention.end + 60]
    return bool(_HELP_THEN.match(after) or re.match(r",? {0,3}(?:здравствуйте|добрый|доброе|слушаю|$|[.!])", after))


def _cue_after(plain: str, text: str, mention: Mention) -> int | None:
    """Where the cue behind a name ends: "Derek speaking", "Анна слушает", "Kate here"."""
    before = plain[max(mention.start - 60, 0) : mention.start]
    match = _NAME_THEN_CUE.match(plain, mention.end)
    if match:
        cue = match.group().strip(" ,")
        if cue in ("here", "calling", "speaking") and (_is_asked(before) or match.group().startswith(",")):
            return None
        if cue == "here" and _SOMEBODY_HERE.search(before):
            return None
        if cue in ("слушаю", "вас слушаю", "слушаю вас", "внимательно слушаю"):
            bare = mention.sure and not _MARKS.search(plain[: match.start()])
            return match.end() if match.start() < 90 and (bare or _after_other_words(before)) else None
        if LEFT_EDGE.search(before) or cue not in ("здесь",):
            return match.end() if mention.sure or LEFT_EDGE.search(before) else None
    # "Клиника Здоровье, Ольга, чем могу помочь": there is more than a greeting before the name.
    help_ = _HELP_THEN.match(plain, mention.end)
    if help_ and mention.sure and mention.start < 90 and _after_other_words(before):
        return mention.end
    starts = mention.start < 80 and mention.sure and not mention.titled
    if starts and LEFT_EDGE.search(before) and (place := _ROLE_OR_PLACE.match(plain, mention.end)):
        return place.end()
    if starts and _PLACE_BEFORE.match(plain[: mention.start]) and _GREETS_NEXT.match(plain, mention.end):
        return mention.end
    placed = mention.sure and _NAMED_PLACE.search(text[max(mention.start - 90, 0) : min(mention.start, 120)])
    if placed and re.match(r"\s{0,3}(?:$|[.!\n])", plain[mention.end : mention.end + 5]):
        return mention.end
    if starts and (greeted := _GREETED.fullmatch(plain[: mention.start])) and greeted.end() == mention.start:
        started = _OF_A_PLACE.match(plain[mention.end : mention.end + 110])
        return mention.end + started.end() if started else None
    if starts and not before.strip(" .,!-—") and mention.end < len(plain):
        started = _AT_A_PLACE.match(plain[mention.end : mention.end + 110])
        return mention.end + started.end() if started else None
    return None


def _is_asked(before: str) -> bool:
    return re.search(r"(?:is|if|was|are you) {0,2}$", before) is not None


def _after_other_words(before: str) -> bool:
    rest = re.sub(r"здравствуйте|добрый (?:день|вечер)|доброе утро|good \w{7,9}|hello|hi|да|алло|yes", "", before)
    return len(re.findall(r"[^\W\d_]{3,}", rest)) > 0 and LEFT_EDGE.search(before) is not None


def named_by_cue(text: str, mentions: Sequence[Mention]) -> list[tuple[int, int, str]]:
    """(start, end, name), the span with its cue."""
    return [(span.start, span.end, span.name) for span in own_spans(text, mentions)]
