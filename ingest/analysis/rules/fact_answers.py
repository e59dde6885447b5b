"""Short answers that are facts only by what was asked: "How many chairs have you got?" "Nine.\""""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ingest.analysis.rules.facts_en_told import COUNT, RELATIVE
from ingest.analysis.rules.facts_ru import NUMBER
from ingest.analysis.rules.facts_ru_told import RELATIVE as RELATIVE_RU

_MOST_ANSWER = 160  # characters: who tells more tells it in sentences of their own
_SENTENCE = re.compile(r"[^.!?\n]{1,200}[.!]?")
_DIGIT_RU = (
    r"(?:\d{1,4}|ноль|нуль|три нуля|два нуля|один|одна|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|"
    r"\w{3,8}надцать|двадцать|"
    r"тридцать|сорок|пятьдесят|шестьдесят|семьдесят|восемьдесят|девяносто|сто|двести|триста|четыреста|пятьсот|"
    r"шестьсот|семьсот|восемьсот|девятьсот|плюс)"
)
_DIGIT_EN = (
    r"(?:\d{1,4}|zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{3,6}teen|twenty|thirty|"
    r"forty|fifty|"
    r"sixty|seventy|eighty|ninety|hundred|double|triple|plus)"
)
SPOKEN_PHONE = {
    "ru": re.compile(rf"(?<![а-я\d]){_DIGIT_RU}(?:[ ,.-]{{1,3}}{_DIGIT_RU}){{4,14}}(?![а-я\d])"),
    "en": re.compile(rf"(?<![a-z\d]){_DIGIT_EN}(?:[ ,.-]{{1,3}}{_DIGIT_EN}){{5,14}}(?![a-z\d])"),
}
SAYS_PHONE = re.compile(
    r"(?:номер|телефон|мобильн|городской|пишите|записывайте|звоните|набирайте|landline|mobile|cell|number|phone|"
    r"reach me|call me|"
    r"ring me|text me|it's|this one)[^.!?\d]{0,30}$"
)
_LOCAL = 7  # figures of a number within a town
_LONG_PHONE = re.compile(r"(?<!\d)\+?\d[\d ()-]{8,16}\d")
_SHORT_PHONE = re.compile(r"(?<![\w+-])\d{3}[ -]\d{4}(?![\w-])")


class _Question(NamedTuple):
    key: str
    asks: re.Pattern[str]
    answer: re.Pattern[str]


def _q(key: str, asks: str, answer: str) -> _Question:
    return _Question(key, re.compile(asks), re.compile(answer))


_ANY = r"[^\W\d_]{3}[^.!?]{3}|\d"
_NOT_A_THING = (
    r"номер|ошибк|заказ|договор|врем|дат[аыу]|день|дни|числ|цвет|вопрос|проблем|сумм|адрес|лампочк|индикатор|причин|"
    r"код|пункт|"
    r"тема|имя|фамили|тариф хот|планир|бюджет|срок"
)
_NOT_A_THING_EN = (
    r"error|number|time|day|date|order|colou?r|message|light|problem|name|reason|address|email|code|month|budget|"
    r"seem|happen|"
    r"issue|going on|say|see|want|need|screen|postcode|zip|price|amount|trouble|matter|reference"
)
QUESTIONS: dict[str, tuple[_Question, ...]] = {
    "ru": (
        _q(
            "size",
            r"^(?=[^?]*(?:у вас|вас |вы |ваш|человек|сотрудник|точек|квадрат|дет[ей]|лет |касс|номеров|мест|стол|"
            r"кабинет|машин|"
            r"этаж|ярус|соток|станк|комнат|кресел|лиценз|филиал|ученик))[^?]*(?:сколько|площадь|какая площадь|"
            r"какой метраж|какой площад|"
            r"какого размера)(?![^?]{0,40}(?:стоит|ждать|времени|рублей|денег|платить|дней|заказыва|штук (?:вам|вы)|"
            r"хватит|"
            r"нужн|надо|бюджет|раз |приш|взять|хотите|перезагруж|звонил|час))",
            NUMBER,
        ),
        _q(
            "equipment",
            rf"(?:как(?:ой|ая|ое|ие)|что за|на ч[её]м|чем) (?!у вас (?:вопрос|"
            rf"проблем))(?![^?]{{0,50}}(?:{_NOT_A_THING}))[^?]{{0,50}}"
            r"(?:у вас|ваш|вы |дом|машин|кот[её]л|модел|марк|порода|телефон|роутер|систем|программ|стоит|"
            r"пользуетесь|работаете|касса|вед[её]те|считаете|ездите|печатаете)",
            _ANY,
        ),
        _q("age", r"сколько (?:вам |ему |ей |ребенку |им |полных )?лет|какой возраст|возраст", NUMBER),
        _q(
            "family",
            r"для кого|на кого|кто (?:поедет|пациент|ребенок|будет заниматься|летит)|кого (?:запис|везете)|"
            r"сколько вас",
            RELATIVE_RU,
        ),
        _q(
            "supplier",
            r"(?:кто (?:сейчас |у вас |вас )*(?:обслужива|возит|поставля|чинит)|у кого (?:сейчас )?(?:бер|закупа|"
            r"покупа)|чем (?:сейчас )?"
            r"пользуетесь|где (?:сейчас )?(?:берете|покупаете|закупаете)|с кем (?:сейчас )?работаете)",
            _ANY,
        ),
        _q(
            "business",
            r"чем (?:вы |ваша компания )?занима|что за (?:компани|бизнес|заведен|организаци|помещен)|какая (?:сфера|"
            r"отрасль|деятельност)|"
            r"какое (?:у вас )?(?:заведен|помещен|производств)|режим налог|налогообложен|на какой систем",
            _ANY,
        ),
        _q(
            "city",
            r"(?:из какого|в каком|какой) (?:вы )?город|откуда вы|вы откуда|где вы (?:наход|живете)|где (?:наход|"
            r"располож)|какой район",
            _ANY,
        ),
        _q(
            "schedule",
            r"(?:режим работы|график|до скольк|во сколько вы (?:открыв|закрыв)|когда (?:вам |вас |вы )(?:обычно |"
            r"лучше |удобн\w )?(?:звон|набир|"
            r"дома|на месте|бывает))",
            r"\d|" + NUMBER + r"|утр|вечер|будн|выходн|по (?:понед|втор|сред|чет|пят|суб)",
        ),
        _q(
            "health:allergy",
            r"аллерги|хроническ|противопоказан|принимаете (?:какие|лекарств)",
            r"(?:на|есть|у|пью|принимаю) [а-я]{4}",
        ),
        _q(
            "pet", r"животн|питомц|собак\w? (?:есть|нет)|кошк", r"(?:кот|кош|собак|пес|попуг|корги|такса|хомяк|две|два)"
        ),
        _q(
            "decides",
            r"кто (?:у вас )?(?:принимает|решает|подписывает|занимается|отвечает)|с кем (?:обсуд|соглас)|лпр|"
            r"к кому обрат",
            _ANY,
        ),
        _q(
            "client:since",
            r"(?:раньше|до этого|прежде) (?:у нас |к нам )?(?:были|обращ|пользов|заказыв)|были (?:у нас|раньше)|"
            r"первый раз|впервые|давно (?:у|с) нас",
            r"(?:год|лет|месяц|раз\b|впервые|прошл|летом|зимой|осенью|весной|январ|феврал|март|апрел|ма[йея]|июн|"
            r"июл|август|сентябр|октябр|ноябр|декабр)",
        ),
        _q(
            "contact:channel",
            r"(?:куда|как) (?:вам )?(?:лучше |удобнее )?(?:прислать|написать|отправить|связаться|сообщить|скинуть)|"
            r"на почту или|"
            r"звонить или писать|позвонить или написать",
            r"почт|ватсап|вотсап|телегр|смс|сюда|звон|макс\b|вайбер",
        ),
    ),
    "en": (
        _q(
            "size",
            r"how (?:many|big|large)(?![^?]{0,30}(?:times|days|hours|did|were|would you (?:like|need)|"
            r"do you (?:want|need|wish)|minutes))"
            r"[^?]{0,50}(?:you|your|there|it)|what size (?:is|are)",
            COUNT + r"|\d",
        ),
        _q(
            "equipment",
            rf"(?:what|which) (?:sort|kind|type|make|model|brand|year|phone|device|system|software|breed|machine|"
            rf"printer|version|car|plan|"
            rf"boiler|router|browser|laptop|till|provider)(?![^?]{{0,30}}(?:{_NOT_A_THING_EN}))[^?]{{0,40}}|"
            rf"what are you (?:using|on|running|driving)|what do you "
            r"(?:use|drive|run|have (?:at|there|now))|what have you got|are you on (?:the |a |an )?(?:phone|ipad|"
            r"iphone|android|windows|mac|app)",
            _ANY,
        ),
        _q("age", r"how old|what age|what year (?:is|was)", COUNT + r"|\d|years|months"),
        _q("family", r"who(?:'s| is| are) (?:it|this|that|they|the \w{3,10}) for|for whom", RELATIVE + r"|\d"),
        _q(
            "supplier",
            r"who (?:do you|are you|did you|does your|supplies|services|looks after)[^?]{0,30}(?:use|with|now|"
            r"at the moment|currently|get)|"
            r"current (?:provider|supplier|insurer|vendor)|where do you (?:get|buy)",
            _ANY,
        ),
        _q(
            "business",
            r"what (?:do you do|does your (?:company|business)|line of work|kind of (?:business|place|company|shop)|"
            r"sort of (?:business|place|company))|"
            r"what's your (?:business|company|trade)",
            _ANY,
        ),
        _q(
            "city",
            r"where (?:are you|do you live|you based|abouts|are they|is (?:it|the (?:office|shop|house|property)))|"
            r"which (?:city|town|part|area)|whereabouts",
            r"[a-z]{4}",
        ),
        _q(
            "schedule",
            r"what (?:hours|time) (?:do|are) you (?:open|close|there|home|usually|work)|when are you (?:usually |"
            r"normally )?(?:open|home|in|there)|"
            r"best time to (?:call|reach)|good time to (?:call|reach)|is there a day|when('s| is) (?:good|best)|"
            r"which days",
            r"\d|noon|morning|evening|after|before|day",
        ),
        _q(
            "health:allergy",
            r"allerg|dietary|medical condition|medication",
            r"(?:to|allergic|on|gluten|dairy|nuts?|vegan|veg|diabet)\b",
        ),
        _q(
            "pet",
            r"(?:any|have|got) (?:\w{1,8} )?(?:pets|dogs?|cats?|animals)",
            r"(?:dogs?|cats?|labrador|terrier|spaniel|collie|parrot|rabbit|two|one)\b",
        ),
        _q(
            "decides",
            r"who (?:makes|decides|signs|handles|else (?:is|needs)|would (?:sign|decide))|decision maker|"
            r"who should i (?:talk|speak|send)",
            _ANY,
        ),
        _q(
            "client:since",
            r"(?:been (?:here|with us|in) before|used us before|first time|how long have you (?:been|had|lived|"
            r"used))",
            r"years?|months?|since|first|last|\d{4}",
        ),
        _q(
            "contact:channel",
            r"(?:email or|text or|phone or|call or|or (?:is )?(?:email|text)|how (?:should|can|would you like) (?:i|"
            r"we|us)[^?]{0,20}(?:reach|contact|send))",
            r"email|text|phone|call|whatsapp|post|landline|mobile",
        ),
    ),
}
_NO_ANSWER = re.compile(
    r"\W{0,3}(?:не знаю|не помню|без понятия|а что|зачем|какая разница|сколько|что\b|как это|нет\W{0,3}$|да\W{0,3}$|"
    r"i don't know|dunno|no idea|"
    r"why|what\b|how\b|none of|not sure|no\W{0,3}$|yes\W{0,3}$|hmm|let me|sorry|минут|секунд|сейчас|щас|one sec|"
    r"just a)"
)
_TROUBLE = re.compile(
    r"не работа|ошибк|сломал|завис|пропал|не груз|не откр|горит|мигает|вылета|doesn't work|not working|error|"
    r"broke(?!n arm)|stuck|frozen|"
    r"won't|can't|crash|wrong|мне надо|мне нужн|хочу|хотел|i want|i need|i'd like|would like|заказал|ordered"
)
_FILLER = re.compile(
    r"\W{0,4}(?:(?:ну|да|э+|эм+|а|так|ой|ага|угу|well|um+|uh+|oh|er|so|yes|yeah|hm+|right|okay|ok)\W{0,4}){0,3}"
)
_LAST_QUESTION = re.compile(r"[^.!?]{0,200}\?[^?]{0,40}$")


def last_question(asked: str) -> str:
    """The question that a text ends with; all of it, cut, where a recogniser left no marks."""
    found = _LAST_QUESTION.search(asked)
    if found:
        return found.group().strip()
    return asked[-200:].strip() if not re.search(r"[.!?]", asked) else ""


def answered(asked: str, plain: str, language: str) -> Iterator[tuple[str, int, int]]:
    """(key, start, end) of what answers the question that was asked before, in both texts' folded form."""
    if not asked or not plain.strip():
        return
    question = last_question(asked)
    if not question or _NO_ANSWER.match(plain):
        return
    first = _SENTENCE.search(plain)
    while first is not None and _FILLER.fullmatch(first.group()):
        first = _SENTENCE.search(plain, first.end())  # "Ну... Три."
    if first is None or plain[first.end() : first.end() + 1] == "?":
        return
    for key, asks, answer in QUESTIONS["en" if language == "en" else "ru"]:
        if not asks.search(question):
            continue
        words = first.group()
        if len(words) <= _MOST_ANSWER and answer.search(words) and not _TROUBLE.search(words):
            start = first.start() + len(words) - len(words.lstrip(" ,.-—"))
            end = first.start() + len(words.rstrip(" ,.!-—"))
            yield key, start, end
        return


def spoken_phones(plain: str, asks_phone: bool, language: str) -> Iterator[tuple[int, int]]:
    """Numbers of a telephone said in words, or a short one in figures, where it was asked for or is said to be one."""
    patterns = (SPOKEN_PHONE["en" if language == "en" else "ru"], _SHORT_PHONE)
    for pattern in patterns:
        for match in pattern.finditer(plain):
            if asks_phone or SAYS_PHONE.search(plain[max(match.start() - 45, 0) : match.start()]):
                yield match.span()


def may_be_phone(digits: str) -> bool:
    """Whether figures look like a telephone's: no round sum and no local number that begins with 0 or 1."""
    if len(digits) == _LOCAL and digits[0] in "01":
        return False
    return not re.search(r"0{5,}$", digits) and len(set(digits)) > 1


def gives_phone(asked: str, language: str) -> bool:
    """Whether a number was told last, and none asked for."""
    if asked.rstrip().endswith("?"):
        return False
    patterns = (SPOKEN_PHONE["en" if language == "en" else "ru"], _SHORT_PHONE, _LONG_PHONE)
    return any(pattern.search(asked) for pattern in patterns)
